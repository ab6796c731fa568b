"""Several distinct solutions of each goal: their number, their distance, and goals per second on one core.

Solutions of six joints are compared with those of `solve_all`. Those of redundant arms are compared with the
alternative: eight searches from random starts, without duplicates. Distances are those of `SolutionsBatch`: the largest
relative difference of a joint. Every solution is checked by forward kinematics.

    python benchmarks/several_solutions.py                                 200 goals per arm
    python benchmarks/several_solutions.py --robot fetch.urdf gripper_link --no-write     another arm
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
from forward import machine
from ik import stay_on_one_core
from results import arguments, publish, say

import linkwork as lw
from linkwork.linkage.poses import distinct
from linkwork.solvers.pose_spread import spacings

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import six_joint_arms

SECTION, WANTED, ROUNDS = "several_solutions", 8, 3
IIWA = "rtbdata/xacro/kuka_description/kuka_lbr_iiwa/urdf/lbr_iiwa_14_r820.urdf"
LEFT = ("left_shoulder", "left_elbow", "left_forearm_roll", "left_wrist")
FLAT: dict[str, Any] = {"position": "xy", "orientation": False}
Made = Callable[[], tuple[lw.Linkage, str]]
ARMS: dict[str, tuple[Made, dict[str, Any]]] = {
    "UR5": (lambda: (lw.models.ur5(), "tip"), {}),
    "Jaco 2": (lambda: (six_joint_arms.linkage("Jaco 2"), "tip"), {}),
    "Panda": (lambda: (lw.models.panda(), "tip"), {}),
    "LBR iiwa": (lambda: (lw.load(str(distribution("rtb-data").locate_file(IIWA))), "tool0"), {}),
    "a human's left arm": (lambda: (lw.models.human(), "left_hand"), {"joints": LEFT}),
    "planar, five joints": (lambda: (lw.models.planar([3, 2, 2, 1, 1]), "tip"), FLAT),
    "UR5, a place alone": (lambda: (lw.models.ur5(), "tip"), {"orientation": False}),
}


def random_pose_of(arm: lw.Linkage, joints: tuple[str, ...] | None, count: int) -> Any:
    """Return random poses; if only some joints are given, the others are neutral."""
    poses = arm.random_pose(2, count)
    if joints is None:
        return poses
    kept = np.tile(arm.neutral(), (count, 1))
    moved = [k for k, row in enumerate(arm.table) if row.joint in joints]
    kept[:, moved] = poses[:, moved]
    return kept


def restarts(ik: Any, targets: Any) -> tuple[Any, Any]:
    """Return the number of distinct poses that eight searches from random starts find, and their least distance."""
    counts, nearest = [], []
    for k, target in enumerate(targets):
        poses = np.concatenate([ik.candidates(target, 4 * WANTED, first=16 * k + again) for again in range(4)])
        poses = poses[:WANTED]
        poses = poses[distinct(ik.linkage, poses)]
        counts.append(len(poses))
        nearest.append(spacings(ik, poses[None], np.ones((1, len(poses)), np.bool_))[0, 0])
    return np.array(counts), np.array(nearest)


def measured(arm: lw.Linkage, frame: str, options: dict[str, Any], count: int) -> dict[str, Any]:
    """Return the results of an arm."""
    targets = arm.forward(random_pose_of(arm, options.get("joints"), count), frame=frame)

    def solve() -> lw.SolutionsBatch:
        return lw.solve_batch(arm, frame, targets, solutions=WANTED, threads=1, progress=False, **options)

    found, times = solve(), []
    for _ in range(ROUNDS):
        began = time.process_time()
        solve()
        times.append(time.process_time() - began)
    goals = [lw.Reach(frame, **_aim(target, options)) for target in targets]
    lw.solve_all(arm, goals[0], joints=options.get("joints"))
    began = time.process_time()
    every = [lw.solve_all(arm, goal, joints=options.get("joints")) for goal in goals[: max(count // 10, 10)]]
    alone = len(every) / (time.process_time() - began)
    tips = arm.forward(found.q[found.mask], frame=frame)
    off = np.abs(tips[:, :3, 3] - np.repeat(targets, found.mask.sum(axis=1), axis=0)[:, :3, 3]).max()
    row = {
        "reached": float(found.success.mean()), "each": float(found.mask.sum(axis=1).mean()), "off": float(off),
        "diversity": float(np.nanmedian(found.diversity)), "rate": count / min(times), "alone": alone,
    }  # fmt: skip
    if every[0].dimension == 0:
        counted = [len(lw.solve_all(arm, goal)) for goal in goals]
        return row | {"same": int((found.counts == counted).sum()), "missing": int((counted - found.counts).sum())}
    counts, nearest = restarts(lw.prepare(arm, frame, **options), targets)
    return row | {"restarts": float(counts.mean()), "restarts_diversity": float(np.nanmedian(nearest))}


def _aim(target: Any, options: dict[str, Any]) -> dict[str, Any]:
    if options.get("orientation", True):
        return {"pose": target}
    return {"position": target[:2, 3] if options.get("position") == "xy" else target[:3, 3]}


def section(found: dict[str, dict[str, Any]], where: str, count: int) -> str:
    """Return the tables."""
    lines = [
        "## Several solutions of each goal",
        "",
        f"linkwork {lw.__version__}, {where}. Made by `python benchmarks/several_solutions.py`: {count} random goals,",
        f"up to {WANTED} solutions each. Diversity is the distance of the nearest two, the median over goals,",
        f"from 0 to 1. The largest error of a solution is {1e3 * max(row['off'] for row in found.values()):.1g} mm.",
        "",
        "| Arm | goals per second | `solve_all` in a loop | solutions per goal | diversity | 8 random starts instead |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in found.items():
        if "same" in row:
            other = f"same as `solve_all` for {row['same']} of {count} goals, {row['missing']} missing"
        else:
            other = f"{row['restarts']:.1f} distinct, diversity {row['restarts_diversity']:.3f}"
        rates = f"{row['rate']:,.0f} | {row['alone']:,.0f}"
        lines.append(f"| {name} | {rates} | {row['each']:.2f} | {row['diversity']:.3f} | {other} |")
    return "\n".join(lines)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--goals", type=int, default=200)
    parser.add_argument("--robot", nargs=2, metavar=("FILE", "FRAME"), help="only this arm from a file, and its frame")
    options = parser.parse_args()
    one_core = stay_on_one_core()
    arms = ARMS
    if options.robot is not None:
        arms = {Path(options.robot[0]).stem: (lambda: (lw.load(options.robot[0]), options.robot[1]), {})}
    found = {}
    for name, (made, how) in arms.items():
        say(f"{name} ...")
        found[name] = measured(*made(), how, options.goals)
    where = f"{machine(one_core)['cpu']}, one core, Python {platform.python_version()}"
    publish(SECTION, section(found, where, options.goals), found, options)


if __name__ == "__main__":
    main()
