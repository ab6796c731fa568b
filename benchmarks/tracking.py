"""Following paths frame by frame, compared with the Robotics Toolbox, ssik's `Tracker` and pink's step.

All get the same paths: smooth in joint space, over two thirds of every joint's range, with no step above 0.14 rad, so
that a continuous solution exists. A jump is a step above 0.5 rad. Every answer is checked by a chain in plain NumPy: a
frame is missed if its error exceeds 1e-4 m or 1e-3 rad. They take turns on one core; the ratio within one run counts.

    python benchmarks/tracking.py            print the tables and update results.md
    python benchmarks/tracking.py --quick    fewer paths and rounds
"""

from __future__ import annotations

import gc
import logging
import math
import platform
import time
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
from forward import machine
from ik import stay_on_one_core
from ik_peers import Array, Chain
from results import arguments, publish, say
from tracking_peers import Contender, ours, pink, robotics_toolbox, ssik

import linkwork as lw
from linkwork.errors import LinkworkError
from linkwork.solvers.chain import Chain as Joints, why_unsupported

SECTION = "tracking"
JUMP, LARGEST = 0.5, 0.14  # least step of a jump, and largest step of a path [rad, m]
SHARE = 0.7  # share of the joint ranges that paths use
FRAMES = 200  # least number in a path
FEWEST, MOST = 5, 9  # joints per arm


def smooth(arm: lw.Linkage, seed: int, frames: int = FRAMES) -> Array:
    """Return a path of poses (frames, nq): waves in every joint, with no step above the largest allowed."""
    rng, time_of = np.random.default_rng(seed), np.linspace(0.0, 1.0, frames)[:, None]
    low = np.where(np.isfinite(arm.lower), arm.lower, -math.pi)
    high = np.where(np.isfinite(arm.upper), arm.upper, math.pi)
    turns, phases = rng.uniform(0.5, 2.0, (3, arm.nq)), rng.uniform(0.0, 2.0 * math.pi, (3, arm.nq))
    parts = rng.uniform(0.2, 1.0, (3, arm.nq))
    waves = sum(parts[k] * np.sin(2.0 * math.pi * turns[k] * time_of + phases[k]) for k in range(3)) / parts.sum(axis=0)
    path = np.asarray((low + high) / 2.0 + SHARE / 2.0 * (high - low) * waves)
    steepest = float(np.abs(np.diff(path, axis=0)).max())
    return path if steepest <= LARGEST else smooth(arm, seed, math.ceil(1.01 * frames * steepest / LARGEST))


def race(chain: Chain, contenders: list[Contender], paths: list[Array], rounds: int) -> dict[str, dict[str, float]]:
    """Follow all paths with all libraries; return jumps, misses and us per frame."""
    goals = [chain.forward(path) for path in paths]
    count = sum(map(len, paths))
    found: dict[str, dict[str, float]] = {}
    for one in contenders:
        one.begin(paths[0][0])(goals[0][0])  # compiles
    gc.collect()
    gc.disable()
    for one in contenders:
        times, poses = [], []
        for turn in range(rounds):
            spent = 0.0
            for path, targets in zip(paths, goals, strict=True):
                frame, answers, listed = one.begin(path[0]), [], list(targets)
                began = time.process_time()
                for target in listed:
                    answers.append(frame(target))
                spent += time.process_time() - began
                if turn == 0:
                    poses.append(np.stack(answers))
            times.append(spent / count * 1e6)
        found[one.name] = {"us": min(times), **judged(chain, paths, goals, poses)}
    gc.enable()
    return found


def judged(chain: Chain, paths: list[Array], goals: list[Array], poses: list[Array]) -> dict[str, float]:
    """Return the result of the independent check of poses along paths."""
    steps = [np.abs(np.diff(q, axis=0, prepend=path[:1])).max() for q, path in zip(poses, paths, strict=True)]
    good = [chain.verified(q, targets) for q, targets in zip(poses, goals, strict=True)]
    off = [
        np.linalg.norm((chain.forward(q) - targets)[:, :3, 3], axis=1).max()
        for q, targets in zip(poses, goals, strict=True)
    ]
    return {
        "jumping": int(sum(step > JUMP for step in steps)),
        "largest": float(max(steps)),
        "missed": int(sum((~one).sum() for one in good)),
        "frames": sum(map(len, paths)),
        "worst": float(max(off)),
    }


# Many robots


def shipped_arms() -> list[tuple[str, lw.Linkage, str]]:
    """Return all arms of the robots in example-robot-data: chains of five to nine joints that end in a leaf."""
    try:
        files = distribution("example-robot-data").files or ()
    except PackageNotFoundError:
        return []
    found, seen = [], set()
    for path in sorted(str(file.locate()) for file in files if file.name.endswith(".urdf")):
        try:
            arm = lw.load(path)
        except LinkworkError as error:
            say(f"skipped: {error}")
            continue
        kind = (arm.nq, round(arm.length, 4))
        if kind in seen:
            continue
        seen.add(kind)
        parents = {arc.parent for arc in arm.arcs}
        sets: set[bytes] = set()
        for link in arm.links:
            if link in parents or why_unsupported(arm, link):
                continue
            joints = Joints(arm, link)
            if FEWEST <= joints.values <= MOST and joints.plain[1].tobytes() not in sets and len(sets) < 2:
                sets.add(joints.plain[1].tobytes())
                found.append((Path(path).stem, arm, link))
    return found


def everywhere(each: int) -> dict[str, Any]:
    """Follow paths of many robots with `lw.track`: example-robot-data, and the models of linkwork."""
    models = [(name, getattr(lw.models, name)(), "tip") for name in ("panda", "ur5", "stanford")]
    names, jumps, missed, frames, waiting, largest, wide = set(), 0, 0, 0, 0, 0.0, 0
    for name, arm, frame in [*models, *shipped_arms()]:
        for seed in range(each):
            path = smooth(arm, seed)
            targets = arm.forward(path, frame=frame)
            clip = lw.track(arm, [lw.Reach(frame, pose=target) for target in targets], start=path[0])
            step = float(np.abs(np.diff(clip.poses, axis=0, prepend=path[:1])).max())
            lost = int((clip.residuals > (1e-4, 1e-3)).any(axis=1).sum())
            names.add(name)
            jumps, missed, frames, wide = jumps + (step > JUMP), missed + lost, frames + len(path), wide + 1
            waiting, largest = waiting + (lost > 0), max(largest, step)
    return {
        "robots": len(names), "paths": wide, "jumping": jumps, "largest": largest, "missed": missed,
        "frames": frames, "waiting": waiting,
    }  # fmt: skip


# The report


def section(found: dict[str, Any]) -> str:
    where = found["machine"]
    core = "one core" if where["one_core"] else f"{where['cores']} cores"
    lines = ["## Following paths", "", f"{where['cpu']}, {where['simd']}, {core}, {where['date']}.", ""]
    for name, rows in found["arms"].items():
        lines += [
            f"### {name}: {found['paths']} paths",
            "",
            "| | us per frame | paths with a jump | largest step | frames missed | worst position |",
            "|---|---|---|---|---|---|",
        ]
        for contender, row in rows.items():
            lines.append(
                f"| {contender} | {row['us']:.1f} | {row['jumping']} | {row['largest']:.2f} rad "
                f"| {row['missed']:,} of {row['frames']:,} | {1e3 * row['worst']:.3g} mm |"
            )
        lines.append("")
    many = found["everywhere"]
    lines += [
        f"`lw.track` on {many['paths']} such paths of {many['robots']} robots (example-robot-data, linkwork's models): "
        f"{many['jumping']} with a jump, largest step {many['largest']:.2f} rad; {many['missed']:,} of "
        f"{many['frames']:,} frames missed, on {many['waiting']} paths.",
        "",
        *found["verdicts"],
        "",
        "Versions: " + ", ".join(f"{name} {release}" for name, release in found["versions"].items()) + ".",
        *found["missing"],
    ]
    return "\n".join(lines)


def verdicts(found: dict[str, Any]) -> list[str]:
    """Return the bounds and whether they are met."""
    lines = []
    for name, rows in found["arms"].items():
        (step, mine), *_ = rows.items()
        others = {peer: row["us"] for peer, row in rows.items() if not peer.startswith("linkwork")}
        lines.append(f"- {'met' if not mine['jumping'] else 'MISSED'}: {name}, no jumps of {step}")
        if others:
            peer = min(others, key=others.__getitem__)
            ratio = others[peer] / mine["us"]
            met = "met" if ratio >= 2.0 else "MISSED"
            lines.append(
                f"- {met}: {name}, twice as fast as the fastest of the others; here {ratio:.1f} times ({peer})"
            )
    jumps = found["everywhere"]["jumping"]
    lines.append(f"- {'MISSED' if jumps else 'met'}: no jumps on the paths of all robots")
    lost = found["everywhere"]["missed"]
    lines.append(f"- {'MISSED' if lost else 'met'}: no frame missed on the paths of all robots; here {lost:,}")
    return lines


def run(paths: int, rounds: int, each: int) -> dict[str, Any]:
    logging.getLogger("linkwork").setLevel(logging.ERROR)  # remarks on missing meshes
    alone = stay_on_one_core()
    found: dict[str, Any] = {"paths": paths, "machine": machine(alone), "arms": {}, "versions": {}, "missing": []}
    for name, make, prebuilt in (("Panda", lw.models.panda, "panda"), ("UR5", lw.models.ur5, "ur5")):
        chain = Chain(make(), "tip")
        contenders = ours(chain)
        for build in (robotics_toolbox, pink, lambda chain, known=prebuilt: ssik(chain, known)):
            try:
                contenders.append(build(chain))
            except ImportError as error:
                line = f"Not installed ({error}); install it with: pip install 'linkwork[bench]'"
                found["missing"] += [] if line in found["missing"] else [line]
        found["versions"] |= {one.name.split(",")[0]: one.version for one in contenders}
        say(f"{name} ...")
        found["arms"][name] = race(chain, contenders, [smooth(chain.arm, seed) for seed in range(paths)], rounds)
    say("many robots ...")
    found["everywhere"] = everywhere(each)
    found["versions"] |= {"Python": platform.python_version(), "NumPy": np.__version__}
    found["verdicts"] = verdicts(found)
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="3 paths per arm, 1 round, 1 path per robot")
    options = parser.parse_args()
    found = run(*(3, 1, 1) if options.quick else (20, 3, 5))
    publish(SECTION, section(found), found, options)


if __name__ == "__main__":
    main()
