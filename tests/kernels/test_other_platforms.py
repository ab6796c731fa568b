"""Packs of other platforms, run in emulators: the same calls give the same results.

``make wheels`` builds all packs and runs this with their folder in LINKWORK_PACKS. There is no emulator of macOS:
replay.c loads its libraries on Linux, which has the same calling convention. That tests their code, but not Apple's
loader.
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
from linkwork.kernels.web import FUNCTIONS
from recording import flat_image, read_answers

TESTS = Path(__file__).parents[1]
PACKS = Path(os.environ.get("LINKWORK_PACKS", ""))
GOALS = 10_000
ARM = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")  # Debian's qemu-user and libc6-arm64-cross
RUNS: dict[str, tuple[tuple[str, ...], str]] = {  # the emulator, and Zig's name of the target of replay.c
    "linux-x86_64": ((), "x86_64-linux-gnu.2.17"),
    "linux-arm64": (ARM, "aarch64-linux-gnu.2.17"),
    "macos-x86_64": ((), "x86_64-linux-gnu.2.17"),
    "macos-arm64": (ARM, "aarch64-linux-gnu.2.17"),
    "windows-x86_64": (("wine",), "x86_64-windows-gnu"),
    "wasm": (("node",), ""),
}
CASES = [(target, level.name) for target in TARGETS.values() for level in target.levels]

here = pytest.mark.skipif(
    "LINKWORK_PACKS" not in os.environ or sys.platform != "linux" or platform.machine() != "x86_64",
    reason="LINKWORK_PACKS is not set, or this is not Linux on x86-64",
)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """Calls of kernels, recorded while goals are solved: of all kernels, and of those in web pages."""
    folders = {web: tmp_path_factory.mktemp("recorded") for web in (False, True)}
    for web, folder in folders.items():
        words = [TESTS / "recording.py", folder, str(GOALS), *(FUNCTIONS if web else ())]
        subprocess.run([sys.executable, *words], check=True)
    return folders


def replayed(target: Target, level: str, recorded: Path) -> Path:
    """Replay recorded calls with a pack; return the file of its answers."""
    answers = recorded / f"{target.name}-{level}"
    if not answers.exists():
        library = (PACKS / target.name / target.file).resolve()
        if target.file == "pack.dylib":
            image = recorded / f"{target.name}.image"
            image.write_bytes(flat_image(library))
            library = image
        words = [harness(target, recorded), library, f"__{level}" if level else "", recorded / "calls", answers]
        quiet = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(recorded / "wine")}
        subprocess.run([*RUNS[target.name][0], *words], check=True, env=quiet, timeout=280)
    return answers


def harness(target: Target, folder: Path) -> Path:
    """Return the program that replays calls on a target; the one in C is compiled."""
    _, made_for = RUNS[target.name]
    if not made_for:
        return TESTS / "replay.mjs"
    program = folder / f"replay-{made_for}.exe"
    if not program.exists():
        command = [sys.executable, "-m", "ziglang", "cc", "-O2", "-target", made_for]
        subprocess.run([*command, str(TESTS / "replay.c"), "-o", str(program)], check=True, capture_output=True)
    return program


@here
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("target", "level"), CASES, ids=lambda case: getattr(case, "name", case))
def test_a_pack_answers_as_that_of_the_least_processor(
    target: Target, level: str, recordings: dict[bool, Path]
) -> None:
    recorded = recordings[target.name == "wasm"]
    emulator, _ = RUNS[target.name]
    if emulator and shutil.which(emulator[0]) is None:
        pytest.skip(f"{emulator[0]} is not installed")
    if not (PACKS / target.name).is_dir():
        pytest.skip(f"no pack for {target.name} was built")
    if level == "v4" and "avx512vl" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        pytest.skip("this processor has no AVX-512")
    first = replayed(TARGETS["linux-x86_64"], "v2", recorded)
    other = replayed(target, level, recorded)
    furthest: dict[tuple[str, str], float] = defaultdict(float)
    for (symbol, name, a), (_, _, b) in zip(read_answers(recorded, first), read_answers(recorded, other), strict=True):
        if not np.array_equal(a, b, equal_nan=True):
            away = float(np.max(np.abs(a.astype(float) - b.astype(float))))
            furthest[symbol, name] = max(furthest[symbol, name], away)
    assert not furthest


@here
@pytest.mark.parametrize("name", [*TARGETS])
def test_a_pack_lists_what_its_target_has(name: str) -> None:
    if not (PACKS / name).is_dir():
        pytest.skip(f"no pack for {name} was built")
    listing = json.loads((PACKS / name / "pack.json").read_text(encoding="utf-8"))
    assert listing["target"] == name
    assert listing["levels"] == [level.name for level in TARGETS[name].levels]
