"""Packs of machine code: which are used, which are refused and why; all instruction sets agree with the compiler."""

from __future__ import annotations

import ctypes
import json
import logging
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import children
import linkwork as lw
from linkwork.kernels import runtime
from linkwork.kernels.__main__ import take
from linkwork.kernels.build import symbols_of
from linkwork.kernels.declarations import Kernel, all_kernels
from linkwork.kernels.pack import HOME, LISTING, Pack, PackError
from linkwork.kernels.targets import TARGETS, Target, host
from linkwork.kernels.web import WEB_HOME

TARGET = host()
built = pytest.mark.skipif(
    TARGET is None or not (HOME / LISTING).exists(), reason="no pack is built here: make kernels"
)


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """Return a copy of the pack, to damage."""
    return shutil.copytree(HOME, tmp_path / "pack")


def rewrite(pack: Path, **changes: Any) -> None:
    listing = json.loads((pack / LISTING).read_text(encoding="utf-8"))
    (pack / LISTING).write_text(json.dumps(listing | changes), encoding="utf-8")


def without(pack: Path, name: str) -> None:
    listing = json.loads((pack / LISTING).read_text(encoding="utf-8"))
    del listing[name]
    (pack / LISTING).write_text(json.dumps(listing), encoding="utf-8")


def library(pack: Path) -> Path:
    assert TARGET is not None
    return pack / TARGET.file


def flip(pack: Path) -> None:
    content = bytearray(library(pack).read_bytes())
    content[len(content) // 2] ^= 1
    library(pack).write_bytes(content)


def replace_library(pack: Path, content: bytes) -> None:
    """Replace the library of a pack, with a matching listing."""
    import zlib

    library(pack).write_bytes(content)
    rewrite(pack, size=len(content), crc32=zlib.crc32(content))


OTHER = "linux-arm64" if TARGET is None or TARGET.name != "linux-arm64" else "linux-x86_64"
DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "gone": (shutil.rmtree, "there is none"),
    "no listing": (lambda pack: (pack / LISTING).unlink(), "there is none"),
    "listing cut": (lambda pack: (pack / LISTING).write_bytes((pack / LISTING).read_bytes()[:99]), "is damaged"),
    "listing of bytes": (lambda pack: (pack / LISTING).write_bytes(b"\xff\xfe\x00"), "is damaged"),
    "listing a list": (
        lambda pack: (pack / LISTING).write_text("[]", encoding="utf-8"),
        "is not a listing of format 1",
    ),
    "later format": (lambda pack: rewrite(pack, format=2), "is not a listing of format 1"),
    "no levels": (lambda pack: without(pack, "levels"), "has no levels"),
    "odd size": (lambda pack: rewrite(pack, size="many"), "has no size"),
    "foreign": (lambda pack: rewrite(pack, target=OTHER), f"it is for {OTHER}, and this is"),
    "older": (lambda pack: rewrite(pack, sources="1-00000000"), "it was made from other sources of the kernels"),
    "no library": (lambda pack: library(pack).unlink(), "cannot be read: No such file"),
    "library cut": (lambda pack: library(pack).write_bytes(library(pack).read_bytes()[:-1]), "is damaged"),
    "library empty": (lambda pack: library(pack).write_bytes(b""), "is damaged"),
    "a bit flipped": (flip, "is damaged"),
    "not a library": (lambda pack: replace_library(pack, b"MZ and more"), "cannot be loaded"),
    "listing a folder": (lambda pack: ((pack / LISTING).unlink(), (pack / LISTING).mkdir()), "Is a directory|denied"),
}


@built
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_pack_that_cannot_be_used_is_refused_with_a_sentence(pack: Path, damage: str) -> None:
    spoil, words = DAMAGES[damage]
    spoil(pack)
    with pytest.raises(PackError, match=words):
        Pack(pack)


@built
def test_a_library_without_its_functions_is_refused(pack: Path) -> None:
    rewrite(pack, levels=["v9"])
    with pytest.raises(PackError, match=r"is not in its library|lacks its lowest instruction set"):
        Pack(pack)


@built
def test_the_pack_has_every_kernel_for_every_level() -> None:
    assert TARGET is not None
    there, kernels = Pack(), all_kernels()
    wanted = {name for name, one in kernels.items() if set(one.symbols) <= symbols_of(TARGET, kernels)}
    assert set(there.listing["functions"]) == wanted
    assert {name for name in wanted if there.function(kernels[name]) is None} == set()
    for level in there.listing["levels"]:
        for symbol in symbols_of(TARGET, kernels):
            assert there.address(symbol, level)
    assert there.level == [*there.listing["levels"]][-1] or there.level in there.listing["levels"]


@built
def test_a_kernel_that_was_declared_otherwise_is_not_taken_from_the_pack() -> None:
    from linkwork.kernels.signatures import parse

    function = all_kernels()["tip_one"].function
    assert Pack().function(Kernel(function, (parse("i8[] f8[] f8[] f8[] -> b1"),), nogil=False)) is None


SCRIPT = """
import sys
import linkwork as lw
arm = lw.models.panda()
target = arm.forward(arm.stored_pose("ready"), frame="tip")
assert lw.solve(arm, lw.Reach("tip", orientation=target)).success
print("numba" in sys.modules)
"""


def run(code: str, **environment: str) -> Any:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LINKWORK_")}
    here = str(Path(lw.__file__).parents[1])
    return children.run(
        [sys.executable, "-c", code], env=kept | {"PYTHONPATH": here} | environment, text=True, encoding="utf-8"
    )


@built
def test_the_first_answer_needs_no_numba() -> None:
    done = run(SCRIPT, LINKWORK_KERNELS="pack")
    assert (done.stdout, done.stderr) == ("False\n", "")


COMPILED = """
import linkwork as lw
from linkwork.kernels.chain import tip_one
arm = lw.models.panda()
arm.forward(arm.neutral(), frame="tip")
print(type(tip_one).__name__)
"""


def test_the_compiler_is_used_where_it_is_asked_for() -> None:
    done = run(COMPILED, LINKWORK_KERNELS="jit")
    assert (done.stdout, done.stderr) == ("Compiled\n", "")


def test_an_unknown_choice_is_refused() -> None:
    done = run("import linkwork.kernels.chain", LINKWORK_KERNELS="both")
    assert "LINKWORK_KERNELS is 'pack', 'jit' or not set, got 'both'." in done.stderr


def test_where_the_pack_is_a_must_its_absence_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("linkwork.kernels.runtime.Pack", lambda: Pack(tmp_path))
    monkeypatch.setenv("LINKWORK_KERNELS", "pack")
    with pytest.raises(ImportError, match="LINKWORK_KERNELS=pack, but the pack cannot be used: there is none"):
        runtime.the_pack.__wrapped__()


def test_a_pack_that_is_refused_leaves_a_line_in_the_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("linkwork.kernels.runtime.Pack", lambda: Pack(tmp_path))
    monkeypatch.delenv("LINKWORK_KERNELS", raising=False)
    with caplog.at_level(logging.DEBUG, "linkwork"):
        assert runtime.the_pack.__wrapped__() == "there is none"
    assert "kernels are compiled by Numba, not taken from a pack: there is none" in caplog.text


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "numba" else find(name, *rest)
import linkwork as lw
try:
    lw.models.planar([1, 1]).forward([0, 0], frame="tip")
except lw.errors.MissingExtraError as error:
    print(error)
"""


def test_without_pack_and_numba_an_error_says_what_to_install() -> None:
    done = run(WITHOUT_NUMBA, LINKWORK_KERNELS="jit")
    assert done.stdout.startswith("compiling kernels, since no pack of machine code is used (")
    assert "pip install 'linkwork[jit]'" in done.stdout


# Levels

ANSWERS = """
import sys
import numpy as np
import linkwork as lw
arm, figure = lw.models.panda(), lw.models.human()
targets = arm.forward(arm.random_pose(0, 10_000), frame="tip")
batch = lw.solve_batch(arm, "tip", targets)
ones = np.array([lw.prepare(arm, "tip")(target).q for target in targets[:300]])
first = lw.solve(arm, lw.Reach("tip", orientation=targets[0]))
assert first.success
frames = figure.forward(figure.random_pose(0, 50)).array
single = lw.solve_batch(arm, "tip", targets, dtype="float32")
found = {"batch": batch.q, "success": batch.success, "ones": ones, "first": first.q, "frames": frames}
if "whole" in sys.argv:
    found["whole"] = lw.solve(figure, [lw.Reach("left_hand", position=(0.3, 0.4, 1.2)), lw.Rest()]).q
np.savez(sys.argv[1], single=single.success, **found)
"""


def answers(folder: Path, name: str, *words: str, **environment: str) -> dict[str, np.ndarray]:
    path = folder / f"{name}.npz"
    done = run(f"import sys\nsys.argv += {[str(path), *words]}\n{ANSWERS}", **environment)
    assert (done.returncode, done.stderr) == (0, "")
    with np.load(path) as file:
        return dict(file)


@built
def test_packs_that_were_built_elsewhere_are_taken_whole_or_not_at_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    homes = {TARGET.name: tmp_path / "home", "wasm": tmp_path / "home" / "web"}
    shutil.copytree(HOME, tmp_path / "packs" / TARGET.name, ignore=shutil.ignore_patterns("web"))
    assert take(tmp_path / "packs", homes) == 1
    assert "has none for wasm" in capsys.readouterr().err
    assert not homes["wasm"].exists()
    shutil.copytree(WEB_HOME, tmp_path / "packs" / "wasm")
    assert take(tmp_path / "packs", homes) == 0
    assert Pack(homes[TARGET.name]).listing == Pack(HOME).listing
    assert (homes["wasm"] / "linkwork.wasm").read_bytes() == (WEB_HOME / "linkwork.wasm").read_bytes()
    assert not list((tmp_path / "home").rglob("tmp*"))


@built
def test_all_levels_and_the_compiler_give_the_same_answers(tmp_path: Path, exhaustive: bool) -> None:
    there = Pack()
    levels = there.listing["levels"]
    fit = levels[: levels.index(there.level) + 1]
    found = {level: answers(tmp_path, level, "whole", LINKWORK_KERNELS="pack", LINKWORK_LEVEL=level) for level in fit}
    whole = ["whole"] if exhaustive else []  # compiling it takes half a minute; test_body_solver tests its parts
    first, compiled = found[fit[0]], answers(tmp_path, "jit", *whole, LINKWORK_KERNELS="jit")
    assert set(compiled) == set(first) - ({"whole"} - {*whole})
    for name, values in first.items():
        for level in fit[1:]:
            np.testing.assert_array_equal(found[level][name], values, f"{name} of {level}")
    for name, values in compiled.items():
        near = 1e-7 if name == "whole" else 1e-9  # its sines of large angles are from the C library
        np.testing.assert_allclose(values, first[name], rtol=0, atol=near, err_msg=name)


@built
def test_a_level_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_LEVEL", "v9")
    with pytest.raises(PackError, match="LINKWORK_LEVEL=v9 is none of"):
        Pack()


def test_targets_have_names_of_their_own() -> None:
    assert [target.name for target in TARGETS.values()] == [*TARGETS]
    assert all(isinstance(target, Target) and target.levels for target in TARGETS.values())
    assert ctypes.sizeof(ctypes.c_void_p) == 8 or TARGET is None
