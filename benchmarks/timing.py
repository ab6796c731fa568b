"""The fastest timing of a path, compared with toppra: duration, whether limits are kept, and time to compute it.

Arms move through six random poses with random velocity and acceleration limits. Both get the same cubic spline, and
both trajectories are sampled a thousand times per second. The results are written to their section of results.md.

    python benchmarks/timing.py [--paths 5] [--json] [--no-write]
"""

from __future__ import annotations

import logging
import platform
from datetime import date
from importlib.metadata import version
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from results import arguments, publish

import linkwork as lw
from linkwork.motion.splines import unwound

SECTION = "timing"
PATHS = {
    "cubic, 50 frames per second": ("cubic", 50.0),
    "eased at its keys": ("ease", 50.0),
    "six poses alone": ("few", 0.0),
}
MODELS = ("ur5", "panda")
SAMPLES = 1000.0  # per second
CONSTANT = "ParametrizeConstAccel"  # toppra's motion as computed; its default fits a spline to it

Floats = NDArray[np.float64]


def motion(arm: lw.Linkage, kind: str, fps: float, seed: int) -> lw.Clip:
    keys = [(0.7 * k, arm.random_pose(seed + 100 * k)) for k in range(6)]
    clip = lw.interpolate(arm, keys, fps=fps, kind=kind) if fps else None
    times, poses = zip(*keys, strict=True)
    bare = lw.Clip(arm, np.array(times), np.array(poses)) if clip is None else clip
    return lw.Clip(arm, bare.times, unwound(arm, bare.poses))


def theirs(clip: lw.Clip, velocity: Floats, acceleration: Floats) -> Any:
    """Return toppra's trajectory on our initial grid, with limits kept at both ends of every step."""
    import toppra
    from toppra import algorithm, constraint

    both = constraint.DiscretizationType.Interpolation
    limits = [
        constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=1)),
        constraint.JointAccelerationConstraint(np.stack([-acceleration, acceleration], axis=1), both),
    ]
    path = toppra.SplineInterpolator(clip.times, clip.poses)
    begin, end = path.path_interval
    grid = np.union1d(np.linspace(begin, end, 1000), clip.times)
    return algorithm.TOPPRA(
        limits, path, gridpoints=grid, solver_wrapper="seidel", parametrizer=CONSTANT
    ).compute_trajectory(0, 0)


def excess(poses: Floats, velocity: Floats, acceleration: Floats) -> float:
    """Return the largest relative excess of samples over a limit; zero if all are kept."""
    rates, pushes = np.diff(poses, axis=0) * SAMPLES, np.diff(poses, 2, axis=0) * SAMPLES**2
    most = max(float((np.abs(rates) / velocity).max()), float((np.abs(pushes) / acceleration).max()))
    return max(0.0, most - 1.0)


def compare(clip: lw.Clip, velocity: Floats, acceleration: Floats) -> dict[str, float]:
    begin = process_time()
    ours = clip.retime(velocity=velocity, acceleration=acceleration)
    middle = process_time()
    other = theirs(clip, velocity, acceleration)
    end = process_time()
    fine = clip.retime(velocity=velocity, acceleration=acceleration, fps=SAMPLES)
    sampled = other(np.arange(0.0, other.duration, 1.0 / SAMPLES))
    return {
        "longer": ours.duration / other.duration - 1.0,
        "ours_above": excess(fine.poses, velocity, acceleration),
        "theirs_above": excess(sampled, velocity, acceleration),
        "ours_ms": 1e3 * (middle - begin),
        "theirs_ms": 1e3 * (end - middle),
    }


def run(*, paths: int) -> dict[str, Any]:
    logging.getLogger("toppra").setLevel(logging.ERROR)
    logging.getLogger("linkwork").setLevel(logging.ERROR)  # splines through random poses may exceed limits
    rows: dict[str, Any] = {}
    for title, (kind, fps) in PATHS.items():
        found = []
        for model in MODELS:
            arm = lw.models.build(model)
            for seed in range(paths):
                rng = np.random.default_rng(seed)
                limits = rng.uniform(0.5, 2.0, arm.nv), rng.uniform(1.0, 6.0, arm.nv)
                found.append(compare(motion(arm, kind, fps, seed), *limits))
        rows[title] = {key: [one[key] for one in found] for key in found[0]}
    return {
        "paths": paths * len(MODELS),
        "rows": rows,
        "versions": {n: version(n) for n in ("toppra", "numpy", "scipy")},
    }


def section(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    machine = f"{date.today()}, {platform.machine()}, Python {platform.python_version()}"
    head = f"{machine}, {versions}; {found['paths']} paths per row."
    lines = [
        "## The fastest timing of a path", "", head, "",
        "| path | duration, linkwork over toppra | above a limit: linkwork | toppra | time: linkwork | toppra |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for title, row in found["rows"].items():
        longer = np.array(row["longer"])
        span = f"{100 * longer.min():+.2f} to {100 * longer.max():+.2f} %"
        above = (f"{100 * max(row[key]):.2f} %" for key in ("ours_above", "theirs_above"))
        times = (f"{np.median(row[key]):.0f} ms" for key in ("ours_ms", "theirs_ms"))
        lines.append(f"| {title} | {span} | {' | '.join(above)} | {' | '.join(times)} |")
    return "\n".join(
        [*lines, "", "Above a limit: the largest excess of a velocity or an acceleration in samples, 1,000 per second."]
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--paths", type=int, default=5, help="paths per arm and kind")
    options = parser.parse_args()
    found = run(paths=options.paths)
    publish(SECTION, section(found), found, options)


if __name__ == "__main__":
    main()
