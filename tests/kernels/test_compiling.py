"""The compiled kernels as a package: their cache, what they say while compiling, memory and threads."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import children
import linkwork as lw
from linkages import JOINTS, one_joint, random_tree
from linkwork.kernels import compiler, kernel, part, source_hash
from linkwork.kernels.chain import jacobian_many, jacobian_one, tip_many, tip_one
from linkwork.kernels.search_many import search_many
from linkwork.kernels.search_one import search_one
from linkwork.kernels.tree import frames_many, frames_one

pytestmark = pytest.mark.slow
SLIDE = """
import linkwork as lw
slide = lw.Builder("slide").prismatic("s", "tip", axis="x").build()
print(slide.forward([2.0], frame="tip")[0, 3])
"""
MESSAGE = "linkwork: compiling kernels"
KERNELS = (tip_one, tip_many, jacobian_one, jacobian_many, frames_one, frames_many)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of the package to edit, freshly installed: nothing of it is compiled."""
    source = Path(lw.__file__).parent
    copy = tmp_path / "site" / "linkwork"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def environment(package: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return kept | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"} | more


def run(package: Path, script: str = SLIDE, **more: str) -> str:
    """Run a script on a copy of the package and return what it prints; nothing may reach stderr."""
    command = [sys.executable, "-W", "error", "-c", script]
    done = children.run(command, env=environment(package, **more), text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def compiled(folder: Path) -> dict[str, int]:
    """Return the compiled functions kept below a folder, with the time each was written."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}


# The cache


def test_a_kernel_is_compiled_once_and_again_after_an_edit_in_any_kernel_file(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert run(package, NUMBA_CACHE_DIR=str(cache)) == "2.0"
    first = compiled(cache)
    assert first
    assert run(package, NUMBA_CACHE_DIR=str(cache)) == "2.0"
    assert compiled(cache) == first
    rows = package / "kernels" / "joint_step.py"  # what the script calls is in chain.py
    before = rows.read_text()
    after = before.replace("return p[0] + axis[0] * amount,", "return p[0] + axis[0] * amount * 10.0,")
    assert after != before
    rows.write_text(after)
    assert run(package, NUMBA_CACHE_DIR=str(cache)) == "20.0"
    rows.write_text(before)
    assert run(package, NUMBA_CACHE_DIR=str(cache)) == "2.0"


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
            (folder / file).write_text(text)
        folders[name] = source_hash(folder)
    assert folders["one"] == folders["same"]
    assert len(set(folders.values())) == len(folders) - 1


def block(package: Path) -> None:
    """Make the package's own cache folder impossible, as on a read-only disk; permissions would not stop root."""
    (package / "kernels" / "__pycache__").write_text("not a folder")


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
    nowhere.write_text("not a folder")
    folders = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"), str(nowhere))
    assert run(package, **folders) == "2.0"


# Numba as it comes

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
    assert log.read_text().splitlines() == [
        "linkwork: kernels are compiled by plain Numba: LINKWORK_PLAIN_NUMBA is set"
    ]


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


# What is said


def on_terminal(package: Path, cache: Path) -> tuple[str, str]:
    """Run with stderr on a terminal; return stdout and what the terminal shows."""
    pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
    ours, theirs = pty.openpty()
    done = children.run(
        [sys.executable, "-c", SLIDE],
        env=environment(package, NUMBA_CACHE_DIR=str(cache)),
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
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


LONG_PART = "\n".join(  # so long that it is called, not copied into its callers
    [
        "import math",
        "@part",
        "def wave(x):",
        *(f"    x = math.sin({k}.0 * x) + math.exp(x / {k}.0)" for k in range(1, 60)),
        "    return x",
        "@kernel",
        "def waves(x):",
        "    return wave(x) + wave(2.0 * x)",
    ]
)


@pytest.mark.skipif(bool(compiler.PLAIN), reason="Numba is used as it comes")
def test_a_kernel_has_its_own_copy_of_every_part() -> None:
    # A weak symbol is resolved to the first of its name that was loaded: rounding would depend on what ran before.
    names: dict[str, Any] = {"kernel": kernel, "part": part}
    exec(LONG_PART, names)
    names["waves"](0.1)
    (code,) = names["waves"].inspect_asm().values()
    assert "wave" in code
    assert ".weak" not in code


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
from numba.core.runtime import rtsys
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
    stats = rtsys.get_allocation_stats()
    return tracemalloc.get_traced_memory()[0], stats.alloc - stats.free, stats.mi_alloc - stats.mi_free

for call in calls:
    before = held()
    for _ in range(500):
        call()
    print(*(after - start for after, start in zip(held(), before)))
"""


def test_repeated_calls_leak_nothing() -> None:
    counts = run(Path(lw.__file__).parent, LEAKS, NUMBA_NRT_STATS="1").splitlines()
    assert len(counts) == 4
    for traced, allocations, infos in (map(int, line.split()) for line in counts):
        assert traced < 50_000  # one result has 2,048 bytes at least: 500 would be a million
        assert (allocations, infos) == (0, 0)


def test_how_numbers_are_held_compiles_nothing_new() -> None:
    linkage = one_joint(JOINTS["ball"])
    poses = linkage.random_pose(0, 20)
    frozen = poses.copy()
    frozen.setflags(write=False)
    clip = lw.Clip(linkage, np.arange(20), poses)
    forms = (poses, frozen, clip.poses, poses.tolist(), poses.astype(np.float32), np.asfortranarray(poses), poses[::2])
    for batch in forms:
        for q in (batch, batch[0]):
            linkage.forward(q)
            linkage.forward(q, frame="tip")
            linkage.jacobian(q, "tip")
    assert {kernel.__name__: len(kernel.signatures) for kernel in KERNELS} == {kernel.__name__: 1 for kernel in KERNELS}


def test_how_goals_and_starts_are_held_compiles_the_search_once_for_each_precision() -> None:
    arm = lw.models.planar([2, 1])
    poses = arm.random_pose(0, 20)
    targets = arm.forward(poses, frame="tip")
    for form in (lambda x: x, np.asfortranarray, lambda x: x.astype(np.float32), lambda x: x.tolist(), frozen_copy):
        for begin in (None, poses, poses[0], frozen_copy(poses), poses.tolist()):
            for dtype in ("float64", "float32"):
                lw.solve_batch(arm, "tip", form(targets), start=begin, dtype=dtype)
        for begin in (None, poses[0], frozen_copy(poses[0]), poses.tolist()[0]):
            lw.prepare(arm, "tip")(form(targets[0]), start=begin)
            lw.solve(arm, lw.Reach("tip", orientation=form(targets[0])), start=begin)
    lw.solve_all(arm, lw.Reach("tip", orientation=targets[0]))
    assert len(search_one.signatures) == 1
    assert len(search_many.signatures) <= 2


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
    fresh = linkage.replace(name="fresh")  # not packed yet: threads meet at its first use

    def work(q: np.ndarray) -> tuple[np.ndarray, ...]:
        return fresh.forward(q).array, fresh.jacobian(q, frame), fresh.forward(q[0], frame=frame)

    with ThreadPoolExecutor(8) as pool:
        for results, wanted in zip(pool.map(work, batches), expected, strict=True):
            for result, array in zip(results, wanted, strict=True):
                assert_array_equal(result, array)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 15, 16, 17, 23, 64, 65])
def test_every_batch_size_gives_each_pose_its_own_result(size: int) -> None:
    linkage = one_joint(JOINTS["ball-ZYX"])
    poses = linkage.random_pose(0, size)
    for index, q in enumerate(poses):
        alone = np.repeat(q[None], 8, axis=0)
        assert_array_equal(linkage.forward(poses, frame="tip")[index], linkage.forward(alone, frame="tip")[0])
        assert_array_equal(linkage.forward(poses)["tip"][index], linkage.forward(alone)["tip"][3])
        assert_array_equal(linkage.jacobian(poses, "tip")[index], linkage.jacobian(alone, "tip")[7])
