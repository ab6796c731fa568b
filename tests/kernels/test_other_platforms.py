"""Packs of other platforms, run in emulators: the same calls give the same answers, success among them.

``make wheels`` builds all packs and runs this; without them there is nothing to run. macOS has no emulator.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from linkwork.kernels.targets import TARGETS, Target
from recording import read_answers

TESTS = Path(__file__).parents[1]
PACKS = Path(os.environ.get("LINKWORK_PACKS") or TESTS.parent / "build/packs")
GOALS = 10_000
EMULATORS = {
    "linux-x86_64": (),
    "linux-arm64": ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),  # Debian's qemu-user and libc6-arm64-cross
    "windows-x86_64": ("wine",),
    "wasm": ("node",),
}
HARNESSES = {
    "linux-x86_64": "x86_64-linux-gnu.2.17",
    "linux-arm64": "aarch64-linux-gnu.2.17",
    "windows-x86_64": "x86_64-windows-gnu",
}
CASES = [(target, level.name) for target in map(TARGETS.__getitem__, EMULATORS) for level in target.levels]
TOLERANCE = 1e-9
# In single precision, and for bodies, poses that are equally good lie further apart.
LOOSE = {("search_many", "float32"): 1e-2, ("search_bodies", "float64"): 1e-6, ("follow_one", "float64"): 1e-7}

here = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64" or not PACKS.is_dir(),
    reason=f"no packs in {PACKS}: make wheels builds them, on Linux for x86-64",
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calls of kernels, recorded while goals are solved."""
    folder = tmp_path_factory.mktemp("recorded")
    subprocess.run([sys.executable, TESTS / "recording.py", folder, str(GOALS)], check=True)
    return folder


def replayed(target: Target, level: str, recorded: Path) -> Path:
    """Call a pack with what was recorded; return the file of its answers."""
    answers = recorded / f"{target.name}-{level}"
    if not answers.exists():
        library = (PACKS / target.name / target.file).resolve()
        words = [harness(target, recorded), library, f"__{level}" if level else "", recorded / "calls", answers]
        quiet = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(recorded / "wine")}
        subprocess.run([*EMULATORS[target.name], *words], check=True, env=quiet, timeout=280)
    return answers


def harness(target: Target, folder: Path) -> Path:
    """Return the program that replays calls on a target; it is compiled where it is in C."""
    if target.name == "wasm":
        return TESTS / "replay.mjs"
    program = folder / f"replay-{target.name}.exe"
    if not program.exists():
        command = [sys.executable, "-m", "ziglang", "cc", "-O2", "-s", "-target", HARNESSES[target.name]]
        subprocess.run([*command, str(TESTS / "replay.c"), "-o", str(program)], check=True, capture_output=True)
    return program


@here
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("target", "level"), CASES, ids=lambda case: getattr(case, "name", case))
def test_a_pack_answers_as_that_of_the_least_processor(target: Target, level: str, recorded: Path) -> None:
    emulator = EMULATORS[target.name]
    if emulator and shutil.which(emulator[0]) is None:
        pytest.skip(f"{emulator[0]} is not installed")
    if not (PACKS / target.name).is_dir():
        pytest.skip(f"no pack for {target.name} was built")
    if level == "v4" and "avx512vl" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX-512")
    first = replayed(TARGETS["linux-x86_64"], "v2", recorded)
    other = replayed(target, level, recorded)
    furthest: dict[tuple[str, str, str], float] = defaultdict(float)
    for (kernel, name, a), (_, _, b) in zip(read_answers(recorded, first), read_answers(recorded, other), strict=True):
        if not np.array_equal(a, b, equal_nan=True):
            away = float(np.max(np.abs(a.astype(float) - b.astype(float))))
            furthest[kernel, name, a.dtype.name] = max(furthest[kernel, name, a.dtype.name], away)
    wrong = {key: away for key, away in furthest.items() if not away <= LOOSE.get(key[::2], TOLERANCE)}
    assert not wrong


@here
@pytest.mark.parametrize("name", [*TARGETS])
def test_a_pack_lists_what_its_target_has(name: str) -> None:
    if not (PACKS / name).is_dir():
        pytest.skip(f"no pack for {name} was built")
    listing = json.loads((PACKS / name / "pack.json").read_text())
    assert listing["target"] == name
    assert listing["levels"] == [level.name for level in TARGETS[name].levels]
