"""Libraries of machine code: linked for this machine, run, and inspected."""

from __future__ import annotations

import ctypes
import math
import struct
from pathlib import Path

import numpy as np
import pytest

from linkwork.kernels.inspection import inspect
from linkwork.kernels.linker import link
from linkwork.kernels.targets import TARGETS, Target, host

llvm = pytest.importorskip("llvmlite.binding")
pytest.importorskip("ziglang")
pytest.importorskip("lief")

FUNCTIONS = ("sin", "cos", "tan", "acos", "asin", "atan")
# A function with features of those in packs: calls of libm, a large stack frame, a jump table.
TEXT = """
declare double @atan2(double, double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@answer = private constant i64 42
@table = private constant [2 x ptr] [ptr @answer, ptr @table]
{declared}
define i64 @{name}(ptr %block) {{
  %frame = alloca [100000 x i8]
  %size = load i64, ptr %block
  call void @llvm.memset.p0.i64(ptr %frame, i8 0, i64 %size, i1 false)
  %x_place = getelementptr i64, ptr %block, i64 1
  %x = load double, ptr %x_place
  %two = call double @atan2(double %x, double -0.5)
  %two_place = getelementptr i64, ptr %block, i64 2
  store double %two, ptr %two_place
{calls}
  %zero_place = getelementptr i8, ptr %frame, i64 %size
  %before = getelementptr i8, ptr %zero_place, i64 -1
  %zero = load i8, ptr %before
  %k = zext i8 %zero to i64
  %entry = getelementptr [2 x ptr], ptr @table, i64 0, i64 %k
  %there = load ptr, ptr %entry
  %result = load i64, ptr %there
  ret i64 %result
}}
"""
CALL = """
  %v{k} = call double @{function}(double %x)
  %p{k} = getelementptr i64, ptr %block, i64 {slot}
  store double %v{k}, ptr %p{k}"""


def compiled(target: Target, folder: Path, functions: tuple[str, ...] = FUNCTIONS) -> tuple[list[Path], list[str]]:
    """Write an object for each level of a target; return them and their exports."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    names = [target.symbol("trial", level) for level in target.levels]
    paths = [folder / f"{name}.o" for name in names]
    for level, name, path in zip(target.levels, names, paths, strict=True):
        calls = "".join(CALL.format(k=k, function=f, slot=3 + k) for k, f in enumerate(functions))
        declared = "\n".join(f"declare double @{f}(double)" for f in functions)
        module = llvm.parse_assembly(TEXT.format(name=name, calls=calls, declared=declared))
        machine = llvm.Target.from_triple(target.triple).create_target_machine(
            cpu=level.cpu, features=level.features, opt=3, reloc=target.relocation, codemodel="default"
        )
        module.triple, module.data_layout = target.triple, str(machine.target_data)
        path.write_bytes(machine.emit_object(module))
    return paths, names


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> tuple[Target, Path, list[str]]:
    """This machine's target, a library for it, and the library's exports."""
    target = host()
    if target is None:
        pytest.skip("no packs are made for this platform")
    folder = tmp_path_factory.mktemp("library")
    objects, names = compiled(target, folder)
    link(objects, names, target, folder / target.file)
    return target, folder / target.file, names


def test_a_library_runs_and_its_mathematics_is_that_of_c(here: tuple[Target, Path, list[str]]) -> None:
    _, library, names = here
    function = ctypes.CDLL(str(library))[names[0]]
    function.restype, function.argtypes = ctypes.c_int64, [ctypes.c_void_p]
    for x in np.random.default_rng(1).uniform(-1, 1, 200):
        block = np.array([90_000, struct.unpack("q", struct.pack("d", x))[0], *[0] * 8])
        assert function(block.ctypes.data) == 42
        expected = [math.atan2(x, -0.5), *(getattr(math, f)(x) for f in FUNCTIONS)]
        np.testing.assert_array_max_ulp(block.view(float)[2:9], np.array(expected), 1)


def test_a_library_shows_its_functions_and_wants_nothing(here: tuple[Target, Path, list[str]]) -> None:
    target, library, names = here
    assert inspect(library, names, target) == []
    assert inspect(library, [*names[1:], "other"], target) == ["does not show other", f"shows {names[0]}"]


def test_the_same_objects_give_the_same_bytes(here: tuple[Target, Path, list[str]], tmp_path: Path) -> None:
    target, library, names = here
    objects, _ = compiled(target, tmp_path)
    link(objects, names, target, tmp_path / target.file)
    assert (tmp_path / target.file).read_bytes() == library.read_bytes()


def test_a_function_that_is_not_there_is_named(here: tuple[Target, Path, list[str]], tmp_path: Path) -> None:
    target = here[0]
    objects, names = compiled(target, tmp_path, ("nowhere",))
    with pytest.raises(RuntimeError, match="nowhere"):
        link(objects, names, target, tmp_path / target.file)


def test_a_damaged_library_is_found_out(here: tuple[Target, Path, list[str]], tmp_path: Path) -> None:
    target, library, names = here
    for content in (library.read_bytes()[:3000], b"other", b""):
        (tmp_path / target.file).write_bytes(content)
        assert inspect(tmp_path / target.file, names, target)


def test_a_library_for_another_platform_is_found_out(here: tuple[Target, Path, list[str]]) -> None:
    target, library, names = here
    for other in TARGETS.values():
        assert bool(inspect(library, names, other)) == (other != target), other.name


def test_the_first_level_of_a_target_is_the_least() -> None:
    for target in TARGETS.values():
        assert [level.name for level in target.levels] == sorted(level.name for level in target.levels)
        assert bool(target.tag) == bool(target.marker) == (target.name != "wasm")
