"""Bodies that avoid self-collisions: G1 and Talos reach across their own trunk, checked with MuJoCo's distances.

Both feet are held, the left hand goes to a position right of the middle, taken from a random collision-free pose, and
all links keep 2 mm apart, by the hulls of the robot's own collision meshes. An answer counts if the hand is there to
0.1 mm, the feet have not moved, and MuJoCo finds no overlap among the checked pairs of geometries. Times are CPU time,
on one core.

    python benchmarks/body_collision.py MENAGERIE            print the table and update results.md
    python benchmarks/body_collision.py MENAGERIE --quick    100 goals
    python benchmarks/body_collision.py MENAGERIE --no-write print only
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from forward import machine
from ik import stay_on_one_core
from ik_peers import Array
from results import arguments, publish

import linkwork as lw
from linkwork.collision.pair_table import counted

SECTION = "body-collision"
GOALS, FEW = 1000, 100
MARGIN = 0.002  # m
ACROSS, AHEAD = -0.03, 0.4  # m: the left hand is further right than the first, and at most the second ahead or behind
HEAD = (
    "| Robot | Goals | solved and clear | overlapping in MuJoCo | mean [ms] | median | 99th percentile |\n"
    "|---|---:|---:|---:|---:|---:|---:|"
)


@dataclass(frozen=True)
class Robot:
    """A file of MuJoCo Menagerie, the link of the left hand, and the links of both feet."""

    file: str
    hand: str
    feet: tuple[str, str]


ROBOTS = {
    "G1": Robot("unitree_g1/g1.xml", "left_wrist_yaw_link", ("left_ankle_roll_link", "right_ankle_roll_link")),
    "Talos": Robot("pal_talos/talos.xml", "arm_left_7_link", ("leg_left_6_link", "leg_right_6_link")),
}


class Judge:
    """MuJoCo's model of a robot, to find overlaps of the checked pairs."""

    def __init__(self, file: Path, body: lw.Linkage) -> None:
        import mujoco

        self.mujoco, self.body = mujoco, body
        self.model = mujoco.MjModel.from_xml_path(str(file))
        self.data = mujoco.MjData(self.model)
        self.links = [self.model.body(k).name for k in self.model.geom_bodyid.tolist()]
        solid = [k for k in range(self.model.ngeom) if self.model.geom_contype[k] or self.model.geom_conaffinity[k]]
        pairs = {frozenset(pair) for pair in counted(body)}
        self.pairs = [
            (a, b) for i, a in enumerate(solid) for b in solid[:i] if frozenset((self.links[a], self.links[b])) in pairs
        ]

    def least(self, q: Array) -> float:
        """Return the least distance of all pairs at a pose [m]; zero or less if some overlap."""
        model, data, world = self.model, self.data, self.body.forward(q)
        turned = np.empty(9)
        for k, link in enumerate(self.links):
            if link in world:
                self.mujoco.mju_quat2Mat(turned, model.geom_quat[k])
                data.geom_xmat[k] = (world[link][:3, :3] @ turned.reshape(3, 3)).ravel()
                data.geom_xpos[k] = world[link][:3, :3] @ model.geom_pos[k] + world[link][:3, 3]
        segment = np.zeros(6)
        return float(min(self.mujoco.mj_geomDistance(model, data, a, b, 1.0, segment) for a, b in self.pairs))


def begin(body: lw.Linkage, robot: Robot) -> Array:
    """Return a collision-free standing pose."""
    start = body.stored_pose("stand" if "stand" in body.poses else next(iter(body.poses)))
    feet = [lw.Hold(foot) for foot in robot.feet]
    return np.asarray(lw.solve(body, [*feet, lw.Avoid(margin=MARGIN)], start=start).q)


def places(body: lw.Linkage, robot: Robot, q: Array, count: int) -> Array:
    """Return positions of the hand across the trunk, from collision-free random poses of arm and trunk."""
    rng, legs = np.random.default_rng(1), {arc for foot in robot.feet for arc in body.path_to(foot)[0]}
    arcs = [arc for arc in body.path_to(robot.hand)[0] if arc not in legs]
    free = [k for arc in arcs for k in range(body.nq)[body.drives[arc].columns]]
    avoid, root, found = lw.Avoid(margin=1.1 * MARGIN), body.forward(q, frame=body.links[0]), list[Array]()
    while len(found) < count:
        poses = np.repeat(q[None], 1000, axis=0)
        poses[:, free] = rng.uniform(body.lower[free], body.upper[free], (len(poses), len(free)))
        hands = body.forward(poses, frame=robot.hand)[:, :3, 3]
        seen = (hands - root[:3, 3]) @ root[:3, :3]
        across = (seen[:, 1] < ACROSS) & (np.abs(seen[:, 0]) < AHEAD)
        clear = avoid.clearance(body, poses[across]) >= avoid.margin
        found += list(hands[across][clear])
    return np.array(found[:count])


def measured(folder: Path, robot: Robot, count: int) -> dict[str, float]:
    """Return the number of goals that a robot reaches without touching itself, and the times [ms]."""
    body = lw.load(folder / robot.file)
    q, judge = begin(body, robot), Judge(folder / robot.file, body)
    feet = [lw.Hold(foot).resolve(body, q) for foot in robot.feet]
    goals = [[*feet, lw.Reach(robot.hand, position=p), lw.Avoid(margin=MARGIN)] for p in places(body, robot, q, count)]
    ik = lw.prepare(body, goals[0])
    ik(goals[0], start=q)
    times, answers = [], []
    for one in goals:
        began = time.process_time_ns()
        answers.append(ik(one, start=q))
        times.append(1e-6 * (time.process_time_ns() - began))
    there = [one[2].error(body, found.q) for one, found in zip(goals, answers, strict=True)]
    stood = [max(np.abs(foot.error(body, found.q)).max() for foot in feet) for found in answers]
    reached = [np.linalg.norm(off) <= 1e-4 and still <= 1e-3 for off, still in zip(there, stood, strict=True)]
    overlaps = [judge.least(found.q) <= 0.0 for found in answers]
    good = sum(a and not b and f.success for a, b, f in zip(reached, overlaps, answers, strict=True))
    spread = {"mean": np.mean(times), "median": np.median(times), "p99": np.percentile(times, 99)}
    return {"goals": len(goals), "solved": int(good), "overlapping": sum(overlaps)} | {
        k: float(v) for k, v in spread.items()
    }


def table(found: dict[str, dict[str, float]]) -> str:
    """Return the results as Markdown."""
    rows = [
        f"| {name} | {row['goals']:.0f} | {row['solved']:.0f} | {row['overlapping']:.0f} | {row['mean']:.2f} | "
        f"{row['median']:.2f} | {row['p99']:.2f} |"
        for name, row in found.items()
    ]
    return "\n".join([HEAD, *rows])


def main() -> None:
    """Measure and write."""
    parser = arguments(__doc__)
    parser.add_argument("folder", type=Path, help="mujoco_menagerie")
    parser.add_argument("--quick", action="store_true", help=f"{FEW} goals")
    parser.add_argument("--robot", choices=list(ROBOTS), help="one robot only")
    options: Any = parser.parse_args()
    one_core = stay_on_one_core()
    names = [options.robot] if options.robot else list(ROBOTS)
    found = {name: measured(options.folder, ROBOTS[name], FEW if options.quick else GOALS) for name in names}
    publish(SECTION, table(found), {"machine": machine(one_core), "robots": found}, options)


if __name__ == "__main__":
    main()
