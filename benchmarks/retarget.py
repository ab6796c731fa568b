"""Speed of retargeting: a walk, to a body of 25 joints of another height, on one core.

Two numbers: the solver alone with five goals per frame (two feet, two hands, the head) and a preferred pose; and the
whole of `lw.retarget`, from clip to clip (contacts, plans, one or two passes of the solver). GMR, which retargets to
humanoid robots, publishes 60 to 70 frames per second. The results are written to their section of results.md.

    python benchmarks/retarget.py [--rounds 5] [--frames 2000] [--json] [--no-write]
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from time import process_time
from typing import Any

import numpy as np
from results import arguments, publish

import linkwork as lw
from linkwork.motion.frame_goals import GoalTrack, follow
from linkwork.retargeting import retarget_with_report
from linkwork.transforms import FloatArray

SECTION = "retarget"
SIDES = ("left", "right")
WANTED = 2000.0  # frames per second
PUBLISHED = "60 to 70"
REACHED = 1e-3  # [m]: largest error of a goal of the solver alone


def walk(frames: int) -> lw.Clip:
    """Return a walk with a number of frames."""
    clip = lw.models.motion("human:floating")
    keys = [(float(time), pose) for time, pose in zip(clip.times, clip.poses, strict=True)]
    fine = lw.interpolate(clip.linkage, keys, fps=(frames - 1) / float(clip.times[-1]), kind="cubic")
    poses = clip.linkage.clamp(fine.poses)
    poses[:, clip.linkage.coordinate_index["root.x"]] += advance(fine)
    return lw.Clip(fine.linkage, fine.times, poses)


def advance(clip: lw.Clip) -> FloatArray:
    """Return the distance that a walk on the spot would cover if the lower foot did not slide back."""
    feet = np.stack([clip.forward(frame=f"{side}_foot")[:, :3, 3] for side in SIDES])
    speeds = np.gradient(feet[..., 0], clip.times, axis=1)
    lower = np.take_along_axis(speeds, feet[None, ..., 2].argmin(axis=1), axis=0)[0]
    way: FloatArray = np.concatenate([[0.0], np.cumsum((lower[1:] + lower[:-1]) * np.diff(clip.times) / -2.0)])
    return way


def five_goals(clip: lw.Clip) -> tuple[lw.Linkage, list[GoalTrack]]:
    """Return a body, the goals of its feet, hands and head from a walk, and its standing pose."""
    figure, ones = clip.linkage, np.ones(len(clip))
    tracks = [GoalTrack("place", f"{side}_foot", clip.forward(frame=f"{side}_foot")[:, :3, 3], ones) for side in SIDES]
    tracks += [GoalTrack("place", f"{side}_hand", clip.forward(frame=f"{side}_hand")[:, :3, 3], ones) for side in SIDES]
    tracks.append(GoalTrack("place", "crown", clip.forward(frame="crown")[:, :3, 3], ones))
    stand = np.repeat(figure.stored_pose("stand")[None], len(clip), axis=0)
    return figure, [*tracks, GoalTrack("pose", "", stand, 0.01 * ones)]


def best(action: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return the shortest CPU time of several rounds [s], after one that compiles, and the result."""
    result = action()
    times = []
    for _ in range(rounds):
        begin = process_time()
        result = action()
        times.append(process_time() - begin)
    return min(times), result


def run(*, rounds: int, frames: int) -> dict[str, Any]:
    one_core = hasattr(os, "sched_setaffinity")
    if one_core:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    clip = walk(frames)
    figure, tracks = five_goals(clip)
    print("solver ...", file=sys.stderr)
    spent, poses = best(lambda: follow(figure, tracks, figure.stored_pose("stand")), rounds)
    missed = max(
        float(np.linalg.norm(figure.forward(poses, frame=track.frame)[:, :3, 3] - track.values, axis=1).max())
        for track in tracks[:-1]
    )
    print("retarget ...", file=sys.stderr)
    child = lw.models.human(height=1.3, root="floating")
    whole, outcome = best(lambda: retarget_with_report(clip, child), rounds)
    return {
        "frames": len(clip),
        "joints": len(child.joints) - 1,
        "one_core": one_core,
        "solver": len(clip) / spent,
        "missed": missed,
        "retarget": len(clip) / whole,
        "report": asdict(outcome.report),
    }


def verdicts(report: dict[str, Any]) -> list[str]:
    lines = []
    for name, text in (("solver", "five goals per frame"), ("retarget", "`lw.retarget` from clip to clip")):
        met = "met" if report[name] >= WANTED else "MISSED"
        lines.append(f"- {met}: {WANTED:,.0f} frames per second, {text}; here {report[name]:,.0f}")
    met = "met" if report["missed"] <= REACHED else "MISSED"
    lines.append(
        f"- {met}: goals of the solver alone within {1e3 * REACHED:g} mm; here {1e3 * report['missed']:.2g} mm"
    )
    return lines


def section(report: dict[str, Any]) -> str:
    core = ", bound to one core" if report["one_core"] else ""
    made = report["report"]
    lines = [
        "## Retargeting",
        "",
        f"{date.today().isoformat()}, linkwork {lw.__version__}, Python {platform.python_version()}{core}. Made by "
        "`python benchmarks/retarget.py`.",
        "",
        f"| a walk of {report['frames']:,} frames, body of {report['joints']} joints | frames per CPU second |",
        "|---|---:|",
        f"| five goals and a preferred pose, solver alone | {report['solver']:,.0f} |",
        f"| `lw.retarget`, clip to clip | {report['retarget']:,.0f} |",
        f"| GMR, as published | {PUBLISHED} |",
        "",
        f"The retargeted walk has {made['contacts']} footsteps that slide {1e3 * made['slide']:.2g} mm at most, hands"
        f" within {1e2 * made['hands']:.2g} cm, jerk {made['jerk']:.2g} times the source's, {made['outside']} values"
        f" outside limits, {made['flips']} flips.",
        "",
        *verdicts(report),
    ]
    return "\n".join(lines)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds; the fastest counts")
    parser.add_argument("--frames", type=int, default=2000, help="frames of the walk")
    options = parser.parse_args()
    if options.rounds < 1 or options.frames < 10:
        parser.error("--rounds must be at least 1 and --frames at least 10")
    report = run(rounds=options.rounds, frames=options.frames)
    publish(SECTION, section(report), {**report, "verdicts": verdicts(report)}, options)


if __name__ == "__main__":
    main()
