"""Compilation of kernels: cache, progress messages, memory and threads."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lief
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import children
import linkwork as lw
from linkages import JOINTS, one_joint, random_tree
from linkwork.kernels import compiler, part, sources
from linkwork.kernels.declarations import Kernel
from linkwork.kernels.objects import compile_object
from linkwork.kernels.signatures import parse
from linkwork.kernels.sources import source_hash

pytestmark = pytest.mark.slow
SLIDE = """
import linkwork as lw
slide = lw.Builder("slide").prismatic("s", "tip", axis="x").build()
print(slide.forward([2.0], frame="tip")[0, 3])
"""
MESSAGE = "linkwork: compiling kernels"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of the package to edit, without compiled kernels."""
    source = Path(lw.__file__).parent
    copy = tmp_path / "site" / "linkwork"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "pack"))
    return copy


def environment(package: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "LINKWORK_"))}
    return kept | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"} | more


def run(package: Path, script: str = SLIDE, complaint: str = "", **more: str) -> str:
    """Run a script with a copy of the package and return its output; stderr may only have the expected complaint."""
    command = [sys.executable, "-W", "error", "-c", script]
    done = children.run(command, env=environment(package, **more), text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert done.stderr[: len(complaint)] == complaint
    assert bool(done.stderr) == bool(complaint)
    return done.stdout.strip()


def compiled(folder: Path) -> dict[str, int]:
    """Return the compiled functions cached below a folder, with the time each was written."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*.kernel")}


# The cache


def test_a_kernel_is_compiled_once_and_again_after_an_edit_in_any_kernel_file(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert run(package, LINKWORK_CACHE_DIR=str(cache)) == "2.0"
    first = compiled(cache)
    assert first
    assert run(package, LINKWORK_CACHE_DIR=str(cache)) == "2.0"
    assert compiled(cache) == first
    rows = package / "kernels" / "joint_step.py"  # what the script calls is in chain.py
    before = rows.read_text(encoding="utf-8")
    after = before.replace("return p[0] + axis[0] * amount,", "return p[0] + axis[0] * amount * 10.0,")
    assert after != before
    rows.write_text(after, encoding="utf-8")
    assert run(package, LINKWORK_CACHE_DIR=str(cache)) == "20.0"
    rows.write_text(before, encoding="utf-8")
    assert run(package, LINKWORK_CACHE_DIR=str(cache)) == "2.0"


def test_the_hash_sees_every_change_of_a_file_and_of_its_name(tmp_path: Path) -> None:
    folders = {}
    for name, files in {
        "one": {"a.py": "x", "b.py": "y"},
        "same": {"b.py": "y", "a.py": "x"},
        "content": {"a.py": "x", "b.py": "z"},
        "name": {"a.py": "x", "c.py": "y"},
        "more": {"a.py": "x", "b.py": "y", "c.py": ""},
        "moved": {"a.py": "xb.py\0y", "b.py": ""},
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        folders[name] = source_hash(folder)
    assert folders["one"] == folders["same"]
    assert len(set(folders.values())) == len(folders) - 1


def block(package: Path) -> None:
    """Make the package's cache folder unusable, as on a read-only disk; permissions would not stop root."""
    (package / "kernels" / "__pycache__").write_text("not a folder", encoding="utf-8")


def test_an_install_that_cannot_be_written_to_keeps_its_cache_elsewhere(package: Path, tmp_path: Path) -> None:
    block(package)
    home = tmp_path / "home"
    home.mkdir()
    folders = {name: str(home) for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE")}
    assert run(package, **folders) == "2.0"
    first = compiled(home)
    assert first
    assert run(package, **folders) == "2.0"
    assert compiled(home) == first


def test_where_nothing_can_be_written_kernels_still_run(package: Path, tmp_path: Path) -> None:
    block(package)
    nowhere = tmp_path / "nowhere"
    nowhere.write_text("not a folder", encoding="utf-8")
    folders = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"), str(nowhere))
    assert run(package, complaint="compiled kernels cannot be kept", **folders) == "2.0"


# Numba without changes

PLAIN = """
import logging
logging.basicConfig(level=logging.DEBUG, format="%(name)s: %(message)s", filename={log!r})
logging.getLogger("numba").setLevel(logging.WARNING)
import linkwork as lw
from linkwork.kernels import compiler
slide = lw.Builder("slide").prismatic("s", "tip", axis="x").build()
print(slide.forward([2.0], frame="tip")[0, 3], slide.forward([[2.0]] * 9, frame="tip")[8, 0, 3])
assert compiler.PLAIN == "LINKWORK_PLAIN_NUMBA is set"
"""


def test_kernels_run_on_numba_as_it_comes_for_one_pose_and_for_lanes(package: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert run(package, PLAIN.format(log=str(log)), LINKWORK_PLAIN_NUMBA="1") == "2.0 2.0"
    assert set(log.read_text(encoding="utf-8").splitlines()) == {
        "linkwork: kernels are compiled by Numba, not taken from a pack: there is none",
        "linkwork: kernels are compiled by plain Numba: LINKWORK_PLAIN_NUMBA is set",
    }


def test_numba_is_left_alone_where_it_is_not_what_was_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LINKWORK_PLAIN_NUMBA", raising=False)
    assert compiler.why_plain() == ""
    monkeypatch.setitem(compiler.NEEDED, "numba.core.caching:FunctionCache._index_key", ("self", "key"))
    assert compiler.why_plain().startswith("numba.core.caching:FunctionCache._index_key of Numba")
    monkeypatch.setattr(compiler.numba, "__version__", "1.0.0")
    assert compiler.why_plain().startswith("Numba 1.0.0 is none of the tested versions")


@pytest.mark.parametrize("path", ["numba.core.nowhere:Cache", "numba.core.caching:FunctionCache._gone"])
def test_what_numba_no_longer_has_is_missed(path: str) -> None:
    assert compiler.missing({"numba.core.caching:FunctionCache.load_overload": ("self", "sig"), path: None}) == path


# Messages


def on_terminal(package: Path, cache: Path) -> tuple[str, str]:
    """Run with stderr on a terminal; return stdout and the text on the terminal."""
    pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
    ours, theirs = pty.openpty()
    done = children.run(
        [sys.executable, "-c", SLIDE],
        env=environment(package, LINKWORK_CACHE_DIR=str(cache)),
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        encoding="utf-8",
    )
    os.write(theirs, b"END")
    os.close(theirs)
    shown = b""
    while not shown.endswith(b"END"):
        shown += os.read(ours, 4096)
    os.close(ours)
    assert done.returncode == 0, shown.decode()
    return done.stdout.strip(), shown.decode().removesuffix("END")


def test_compiling_is_announced_once_on_a_terminal_and_only_when_it_happens(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    answer, shown = on_terminal(package, cache)
    assert answer == "2.0"
    assert shown.count(MESSAGE) == 1
    assert len(shown.splitlines()) == 1
    assert on_terminal(package, cache) == ("2.0", "")


# Memory and threads


LONG_PART = "\n".join(  # too long to be inlined
    [
        "import math",
        "@part",
        "def wave(x):",
        *(f"    x = math.sin({k}.0 * x) + math.cos(x / {k}.0)" for k in range(1, 60)),
        "    return x",
        "def waves(x):",
        "    return wave(x) + wave(2.0 * x)",
    ]
)


@pytest.mark.skipif(bool(compiler.PLAIN), reason="Numba is used as it comes")
def test_a_kernel_has_its_own_copy_of_every_part() -> None:
    # A weak symbol resolves to the first one loaded with its name: rounding would depend on what ran before.
    names: dict[str, Any] = {"part": part}
    exec(LONG_PART, names)
    text = compiler.kernel_text(Kernel(names["waves"], (parse("f8 -> f8"),), nogil=False), 0)
    code = compile_object(text, "x86_64-unknown-linux-gnu", "x86-64-v3", "", "waves")
    library = lief.ELF.parse(list(code))
    bindings = {symbol.name: symbol.binding for symbol in library.symbols}
    assert [name for name, binding in bindings.items() if binding == lief.ELF.Symbol.BINDING.WEAK] == []
    assert {name for name, binding in bindings.items() if binding == lief.ELF.Symbol.BINDING.GLOBAL} >= {"waves", "sin"}


def test_results_stay_right_while_memory_is_freed_and_reused() -> None:
    linkage = one_joint(JOINTS["floating"])
    poses = linkage.random_pose(0, 40)
    tips, jacobians, frames = (
        linkage.forward(poses, frame="tip"),
        linkage.jacobian(poses, "tip"),
        linkage.forward(poses),
    )
    expected = tips.copy(), jacobians.copy(), frames.array.copy()
    for size in (*range(1, 41), *range(1, 41)):
        part = poses[:size].copy()
        rubbish = [np.full(n, np.nan) for n in (8, 64, 128, 6 * 8 * linkage.nv, 16 * 8)]
        del rubbish
        results = linkage.forward(part, frame="tip"), linkage.jacobian(part, "tip"), linkage.forward(part).array
        del part
        gc.collect(0)
        for result, whole in zip(results, expected, strict=True):
            assert_array_equal(result, whole[:size])


LEAKS = """
import gc, tracemalloc
import numpy as np
import linkwork as lw
leg = lw.Builder("leg", root="floating").ball("hip", "thigh").revolute("knee", "shin").build()
poses, bad = leg.random_pose(0, 16), leg.random_pose(0, 16)
bad[15, 0] = np.nan

def refused():
    try:
        leg.forward(bad, frame="shin")
    except lw.errors.PoseValueError:
        return
    raise SystemExit("a NaN went through")

tip, jacobian = lambda: leg.forward(poses, frame="shin"), lambda: leg.jacobian(poses, "shin")
calls = [tip, lambda: leg.forward(poses), jacobian, refused]
for call in calls:
    call()
tracemalloc.start()

def held():
    gc.collect()
    return tracemalloc.get_traced_memory()[0]

for call in calls:
    before = held()
    for _ in range(500):
        call()
    print(held() - before)
"""


def test_repeated_calls_leak_nothing() -> None:
    counts = run(Path(lw.__file__).parent, LEAKS).splitlines()
    assert len(counts) == 4
    assert max(map(int, counts)) < 50_000  # a result has at least 2,048 bytes, so 500 would be a million


def test_numbers_are_taken_however_they_are_held() -> None:
    linkage = one_joint(JOINTS["ball"])
    poses = linkage.random_pose(0, 20)
    frozen = poses.copy()
    frozen.setflags(write=False)
    crooked = np.zeros(poses.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(poses.shape)  # not aligned
    crooked[:] = poses
    clip = lw.Clip(linkage, np.arange(20), poses)
    swapped = poses.astype(">f8")
    expected = linkage.forward(poses, frame="tip"), linkage.forward(poses).array, linkage.jacobian(poses, "tip")
    for q in (
        frozen,
        clip.poses,
        poses.tolist(),
        np.asfortranarray(poses),
        np.repeat(poses, 2, 0)[::2],
        crooked,
        swapped,
        poses.view(np.ma.MaskedArray),
    ):
        for got, want in zip(
            (linkage.forward(q, frame="tip"), linkage.forward(q).array, linkage.jacobian(q, "tip")),
            expected,
            strict=True,
        ):
            assert_array_equal(got, want)
        assert_array_equal(linkage.forward(q[3], frame="tip"), linkage.forward(poses[3], frame="tip"))
        assert_array_equal(linkage.jacobian(q[3], "tip"), linkage.jacobian(poses[3], "tip"))


def test_goals_and_starts_are_taken_however_they_are_held() -> None:
    arm = lw.models.planar([2, 1])
    poses = arm.random_pose(0, 20)
    targets = arm.forward(poses, frame="tip")
    for form in (lambda x: x, np.asfortranarray, lambda x: x.astype(np.float32), lambda x: x.tolist(), frozen_copy):
        for begin in (None, poses, poses[0], frozen_copy(poses), poses.tolist()):
            for dtype in ("float64", "float32"):
                assert lw.solve_batch(arm, "tip", form(targets), start=begin, dtype=dtype).success.all()
        for begin in (None, poses[0], frozen_copy(poses[0]), poses.tolist()[0]):
            assert lw.prepare(arm, "tip")(form(targets[0]), start=begin).success
            assert lw.solve(arm, lw.Reach("tip", orientation=form(targets[0])), start=begin).success
    assert lw.solve_all(arm, lw.Reach("tip", orientation=targets[0]))


def frozen_copy(array: np.ndarray) -> np.ndarray:
    result = array.copy()
    result.setflags(write=False)
    return result


def test_many_threads_get_what_one_gets() -> None:
    linkage = random_tree(np.random.default_rng(5), 20)
    frame = linkage.frames[-1]
    batches = [linkage.random_pose(seed, 50) for seed in range(32)]
    expected = [
        (linkage.forward(q).array, linkage.jacobian(q, frame), linkage.forward(q[0], frame=frame)) for q in batches
    ]
    fresh = linkage.replace(name="fresh")  # not packed yet, so that threads compete at its first use

    def work(q: np.ndarray) -> tuple[np.ndarray, ...]:
        return fresh.forward(q).array, fresh.jacobian(q, frame), fresh.forward(q[0], frame=frame)

    with ThreadPoolExecutor(8) as pool:
        for results, wanted in zip(pool.map(work, batches), expected, strict=True):
            for result, array in zip(results, wanted, strict=True):
                assert_array_equal(result, array)


@pytest.mark.parametrize("size", [2, 7, 8, 9, 15, 16, 17, 23, 64, 65])
def test_every_batch_size_gives_each_pose_its_own_result(size: int) -> None:
    linkage = one_joint(JOINTS["ball-ZYX"])
    poses = linkage.random_pose(0, size)
    for index, q in enumerate(poses):
        alone = np.repeat(q[None], 8, axis=0)
        assert_array_equal(linkage.forward(poses, frame="tip")[index], linkage.forward(alone, frame="tip")[0])
        assert_array_equal(linkage.forward(poses)["tip"][index], linkage.forward(alone)["tip"][3])
        assert_array_equal(linkage.jacobian(poses, "tip")[index], linkage.jacobian(alone, "tip")[7])


def test_kernels_are_kept_by_what_they_are_made_of_alone():
    names = {path.name for path in sources._imported(sources.FOLDER / "search_one.py")}
    assert {"aim.py", "search_many.py", "starts.py"} <= names
    assert "body_search.py" not in names
    assert sources.hash_of("raster") != sources.hash_of("chain") != sources.hash_of("")
