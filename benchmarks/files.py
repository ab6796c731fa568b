"""Speed of reading files: BVH compared with bvhio, and the URDF of a two-armed robot.

The BVH file is made here: 50 joints, 5,000 frames. The libraries take turns (A B A B ...) on one core, after their
values are compared; what counts is the ratio within one run. The results are written to their section of results.md.

    python benchmarks/files.py [--rounds 3] [--frames 5000] [--json] [--no-write]
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from results import arguments, publish

import linkwork as lw
import linkwork.kernels  # loaded, as after any forward kinematics
from linkwork.formats import bvh, urdf
from linkwork.formats.content import Content
from linkwork.formats.options import UP
from linkwork.transforms import transform, translation

BAXTER = "cmeel.prefix/share/example-robot-data/robots/baxter_description/urdf/baxter.urdf"
SECTION = "files"
OURS, THEIRS, POSABLE = "linkwork, read", "bvhio, readAsBvh", "bvhio, readAsHierarchy (can be posed)"
JOINTS = 50
RATIO, SECONDS, MILLISECONDS = 20.0, 0.3, 20.0
AGREEMENT = 1e-4  # bvhio stores 32 bits

Times = dict[str, list[float]]


def figure(joints: int) -> lw.Linkage:
    """Return a body of Euler joints in five limbs, with a floating root, as in motion capture files."""
    links = [lw.Link(f"bone{k}") for k in range(joints)]
    arcs = [
        lw.Joint(f"bone{k}", f"bone{max(0, k - 5)}", f"bone{k}", lw.Ball("ZXY"), translation([0.1 * (k % 5), 0.2, 0]))
        for k in range(1, joints)
    ]
    ends = [lw.Frame(f"bone{k}.end", f"bone{k}", translation([0, 0.1, 0])) for k in range(joints - 5, joints)]
    root = lw.Joint("bone0", None, "bone0", lw.Floating("ZXY"), transform(rotation=UP["y"]))
    return lw.Linkage(links, arcs, name="figure", frames=ends, root=root)


def motion(linkage: lw.Linkage, frames: int) -> lw.Clip:
    rng = np.random.default_rng(0)
    times = np.arange(frames) / 120.0
    swing, phase, pace = rng.uniform(0.1, 1.2, (3, linkage.nq))
    poses = swing * np.sin(phase * 6.0 + times[:, None] * pace)
    units = np.where(np.arange(linkage.nq) < 3, 100.0, 180.0 / np.pi)  # six decimals in centimetres and degrees
    return lw.Clip(linkage, times, np.round(poses * units, 6) / units)


def in_turns(actions: dict[str, Callable[[], Any]], rounds: int) -> tuple[Times, Times]:
    """Return CPU and wall time of every action [s], by name; in each round they run one after another."""
    spent: Times = {name: [] for name in actions}
    passed: Times = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            begin, start = process_time(), perf_counter()
            action()
            spent[name].append(process_time() - begin)
            passed[name].append(perf_counter() - start)
    return spent, passed


def compare(path: Path, clip: lw.Clip) -> None:
    """Compare the root positions that both read, before timing."""
    import bvhio

    rows = bvhio.readAsBvh(str(path)).Root.Keyframes
    theirs = np.array([list(rows[k].Position) for k in (0, len(rows) // 2, -1)]) * 0.01
    read = next(iter(bvh.read(path).clips.values()))
    ours = read.poses[[0, len(read) // 2, -1], :3]
    gap = float(np.abs(ours - theirs).max())
    if len(rows) != len(read) or gap > AGREEMENT or np.abs(read.poses - clip.poses).max() > 1e-9:
        raise SystemExit(f"bvhio and linkwork disagree on {len(rows)} and {len(read)} frames, largest gap {gap:.3g} m")


def run(*, rounds: int, frames: int) -> dict[str, Any]:
    one_core = hasattr(os, "sched_setaffinity")
    if one_core:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    report: dict[str, Any] = {"frames": frames, "joints": JOINTS, "missing": [], "one_core": one_core}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.bvh"
        linkage = figure(JOINTS)
        clip = motion(linkage, frames)
        bvh.write(Content(linkage, {"figure": clip}), path)
        report["megabytes"] = path.stat().st_size / 1e6
        actions: dict[str, Callable[[], Any]] = {
            OURS: lambda: bvh.read(path),
            "linkwork, write": lambda: bvh.write(Content(linkage, {"figure": clip}), Path(folder) / "again.bvh"),
        }
        try:
            import bvhio
        except ImportError as error:
            report["missing"].append(f"bvhio is not installed ({error}); install it with: pip install bvhio")
        else:
            compare(path, clip)
            actions[THEIRS] = lambda: bvhio.readAsBvh(str(path))
        print("BVH ...", file=sys.stderr)
        spent, passed = in_turns(actions, rounds)
        if THEIRS in actions:
            spent |= in_turns({POSABLE: lambda: bvhio.readAsHierarchy(str(path))}, 1)[0]
        report["seconds"] = {name: min(times) for name, times in spent.items()}
        report["wall"] = {name: min(times) for name, times in passed.items()}
    try:
        robot = Path(str(distribution("example-robot-data").locate_file(BAXTER)))
    except PackageNotFoundError:
        report["missing"].append("example-robot-data is not installed, so the URDF of Baxter is not timed")
    else:
        print("URDF ...", file=sys.stderr)
        spent, _ = in_turns({"urdf": lambda: urdf.read(robot)}, 10 * rounds)
        report["urdf"] = {"links": len(urdf.read(robot).linkage.links), "seconds": min(spent["urdf"])}
    return report


def verdicts(report: dict[str, Any]) -> list[str]:
    seconds = report["seconds"]
    lines = []
    for name in (THEIRS, POSABLE):
        if name in seconds:
            ratio = seconds[name] / seconds[OURS]
            lines.append(_verdict(ratio >= RATIO, f"BVH read {RATIO:g} times as fast as {name}", f"{ratio:.1f}"))
    size = f"{report['frames']:,} frames of {report['joints']} joints"
    for verb in ("read", "write"):
        wall = report["wall"][f"linkwork, {verb}"]
        lines.append(_verdict(wall < SECONDS, f"{verb} {size} in less than {SECONDS:g} s", f"{wall:.3f} s"))
    if "urdf" in report:
        spent = 1e3 * report["urdf"]["seconds"]
        text = f"URDF of Baxter in less than {MILLISECONDS:g} ms"
        lines.append(_verdict(spent < MILLISECONDS, text, f"{spent:.1f} ms"))
    return lines


def _verdict(met: bool, text: str, here: str) -> str:
    return f"- {'met' if met else 'MISSED'}: {text}; here {here}"


def section(report: dict[str, Any]) -> str:
    names = ("linkwork", "bvhio", "numpy")
    versions = ", ".join(f"{name} {_version(name)}" for name in names if _version(name))
    core = ", bound to one core" if report["one_core"] else ""
    lines = [
        "## Files",
        "",
        f"{date.today().isoformat()}, {versions}, Python {platform.python_version()}{core}. Made by "
        "`python benchmarks/files.py`.",
        "",
        f"| BVH, {report['joints']} joints, {report['frames']:,} frames, {report['megabytes']:.1f} MB "
        "| CPU time [s] | times the first |",
        "|---|---:|---:|",
    ]
    ours = report["seconds"][OURS]
    lines += [f"| {name} | {spent:.3f} | {spent / ours:.1f} |" for name, spent in report["seconds"].items()]
    if "urdf" in report:
        lines += ["", f"| URDF of Baxter, {report['urdf']['links']} links | CPU time [ms] |", "|---|---:|"]
        lines.append(f"| linkwork, read | {1e3 * report['urdf']['seconds']:.2f} |")
    lines += ["", *verdicts(report), *(f"- {line}" for line in report["missing"])]
    return "\n".join(lines)


def _version(package: str) -> str:
    try:
        return lw.__version__ if package == "linkwork" else version(package)
    except PackageNotFoundError:
        return ""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each library; ten times as many for URDF")
    parser.add_argument("--frames", type=int, default=5000, help="frames of the BVH file")
    options = parser.parse_args()
    if min(options.rounds, options.frames) < 1:
        parser.error("--rounds and --frames must be at least 1")
    report = run(rounds=options.rounds, frames=options.frames)
    publish(SECTION, section(report), {**report, "verdicts": verdicts(report)}, options)


if __name__ == "__main__":
    main()
