"""Memory of retargeting a motion from file to file, by its number of frames.

A human of 25 joints walks, squats, waves and jumps; the motion is retargeted to a child of 1.2 m, or to a robot arm.
All lengths are measured from BVH to BVH, some of them also in other formats, with collision avoidance, and with the
command. Each motion has its own process. The results are written to their section of results.md.

    python benchmarks/retarget_memory.py [--frames 1000 10000 20000 40000 80000] [--json] [--no-write]
"""

from __future__ import annotations

import json
import logging
import os
import platform
import subprocess
import sys
import tempfile
from contextlib import suppress
from datetime import date
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from results import arguments, publish, say

import linkwork as lw
from linkwork.models.exercises import EXERCISES
from linkwork.motion.clips import BLOCK
from linkwork.motion.frame_files import Frames, frames_in
from linkwork.retargeting import retarget_file

SECTION = "retarget-memory"
FRAMES = (1000, 10_000, 20_000, 40_000, 80_000)
FPS = 24.0
LONG, ALLOWED = 20_000, 200.0  # beyond these frames, memory may grow by this many bytes per frame
WAYS = {  # from one format to another, to the body
    "BVH to CSV": (".bvh", ".csv"),
    "BVH to NPZ": (".bvh", ".npz"),
    "BVH to Parquet": (".bvh", ".parquet"),
    "BVH to BVH, avoiding itself": (".bvh", ".bvh"),
    "BVH to BVH, by the command": (".bvh", ".bvh"),
    "NPZ to BVH": (".npz", ".bvh"),
    "Parquet to BVH": (".parquet", ".bvh"),
    "GLB to BVH": (".glb", ".bvh"),
    "BVH to GLB": (".bvh", ".glb"),
    "BVH to USD, text": (".bvh", ".usda"),
    "BVH to USD, binary": (".bvh", ".usdc"),
    "BVH to BVH, on the spot": (".bvh", ".bvh"),
    "BVH to BVH, arms alone": (".bvh", ".bvh"),
    "BVH to BVH, arms over a walk": (".bvh", ".bvh"),
    "BVH to BVH, 30 a second": (".bvh", ".bvh"),
}
OTHERS = (20_000, 40_000, 80_000)  # numbers of frames for these
TARGETS = {"body": lambda: lw.models.human(height=1.2, root="floating"), "arm": lw.models.panda}


def write(path: Path, frames: int) -> None:
    """Write a motion with a number of frames."""
    human = lw.models.human(root="floating")
    parts = [EXERCISES[name](human) for name in ("walk", "squat", "wave", "jump", "walk")]
    once = parts[0].concatenate(*parts[1:], fade=0.2, align=True)
    lw.Clip(human, np.arange(frames) / FPS, np.resize(once.poses, (frames, human.nq))).save(path)


def measure(path: str, kind: str, suffix: str, way: str) -> None:
    """Retarget a motion in this process, and print memory and time."""
    begin, output = process_time(), f"{path}.out{suffix}"
    if "command" in way:
        from linkwork.cli.app import app

        with suppress(SystemExit):  # exit status 1: some frames are poor
            app(["retarget", path, "--to", "human:1.2,floating", "-o", output, "--quiet"])
    else:
        target = TARGETS[kind]()
        with frames_in(Path(output).parent):
            options = options_of(way, target, int(Path(path).stem))
        outcome = retarget_file(path, target, output, **options)
        if "a second" in way:
            outcome.clip.save(output, fps=30.0)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    frames = int(Path(path).stem)
    print(json.dumps({"frames": frames, "megabytes": peak / 1024.0, "seconds": process_time() - begin}))


def options_of(way: str, target: lw.Linkage, count: int) -> dict[str, Any]:
    """Return the options of a variant."""
    if "avoiding" in way:
        return {"avoid": lw.Avoid(margin=0.005)}
    if "on the spot" in way:
        return {"in_place": True}
    if "arms" not in way:
        return {}
    if "alone" in way:
        return {"parts": "arms"}
    walk, frames = EXERCISES["walk"](target), Frames(target.nq)
    for begin in range(0, count, BLOCK):
        frames.add(np.resize(walk.poses, (min(BLOCK, count - begin), target.nq)))
    return {"parts": "arms", "over": lw.Clip(target, np.arange(count) / FPS, frames.array())}


def measured(path: Path, kind: str, suffix: str = ".bvh", way: str = "") -> dict[str, float]:
    """Return memory and time of a motion in its own process."""
    command = [sys.executable, __file__, "--measure", str(path), kind, suffix, way]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ, encoding="utf-8")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def run(counts: list[int]) -> dict[str, Any]:
    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in TARGETS}
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            path = Path(folder) / f"{count}.bvh"
            write(path, count)
            for kind in TARGETS:
                say(f"{count:,} frames onto the {kind}")
                found[kind].append(measured(path, kind))
            path.unlink()
    return found


def run_ways() -> dict[str, Any]:
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        for count in OTHERS:
            for suffix in dict.fromkeys(source for source, _ in WAYS.values()):
                write(Path(folder) / f"{count}{suffix}", count)
            for way, (source, result) in WAYS.items():
                say(f"{count:,} frames, {way}")
                found[way].append(measured(Path(folder) / f"{count}{source}", "body", result, way))
    return found


def growth(rows: list[dict[str, float]]) -> float | None:
    """Return the growth of memory beyond the first long motion [bytes per frame]; None without two long motions."""
    long = [row for row in rows if row["frames"] >= LONG]
    if len(long) < 2:
        return None
    return (long[-1]["megabytes"] - long[0]["megabytes"]) * 2**20 / (long[-1]["frames"] - long[0]["frames"])


def verdicts(found: dict[str, Any]) -> list[str]:
    lines = []
    for kind, rows in found.items():
        bytes_each = growth(rows)
        if bytes_each is not None:
            met = "met" if bytes_each <= ALLOWED else "MISSED"
            lines.append(
                f"- {met}: to the {kind}, at most {ALLOWED:g} bytes per frame; here {max(bytes_each, 0.0):.0f}"
            )
    return lines


def section(found: dict[str, Any], ways: dict[str, Any]) -> str:
    lines = [
        "## Memory of retargeted motions",
        "",
        f"{date.today().isoformat()}, linkwork {lw.__version__}, Python {platform.python_version()}. Made by"
        " `python benchmarks/retarget_memory.py`.",
        "",
        "| frames | MB, to a body | CPU seconds | MB, to an arm | CPU seconds |",
        "|---:|---:|---:|---:|---:|",
    ]
    for body, arm in zip(found["body"], found["arm"], strict=True):
        numbers = (f"{row['megabytes']:.0f} | {row['seconds']:.1f}" for row in (body, arm))
        lines.append(f"| {body['frames']:,} | {' | '.join(numbers)} |")
    lines += ["", *verdicts(found), ""]
    lines += ["Other variants, one run each; two runs of the same may differ by 15 MB, 250 bytes per frame here.", ""]
    titles = " | ".join(f"MB, {count:,} frames" for count in OTHERS)
    lines += [f"| to the body | {titles} | more bytes per frame |", f"|---|{'---:|' * (len(OTHERS) + 1)}"]
    for way, rows in ways.items():
        numbers = (f"{row['megabytes']:.0f}" for row in rows)
        lines.append(f"| {way} | {' | '.join(numbers)} | {max(growth(rows) or 0.0, 0.0):,.0f} |")
    return "\n".join(lines)


def main() -> None:
    logging.disable(logging.WARNING)
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:6])
        return
    parser = arguments(__doc__)
    parser.add_argument("--frames", type=int, nargs="+", default=list(FRAMES), help="lengths of motions")
    options = parser.parse_args()
    if min(options.frames) < 10:
        parser.error("--frames must be at least 10 each")
    found, ways = run(sorted(options.frames)), run_ways()
    publish(SECTION, section(found, ways), {**found, **ways, "verdicts": verdicts(found)}, options)


if __name__ == "__main__":
    main()
