"""Random arguments for the soak test, and checks of results with `own_forward`, independent of the solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import chains
import linkwork as lw
import six_joint_arms
import sixty_robots
from chains import random_chain
from contract import chain_frames
from linkages import random_tree
from linkwork.models.catalogue import MODELS, build
from linkwork.solvers.options import TOLERANCE
from own_forward import places

ROTATION = 1e-3  # default rotation tolerance [rad]
ROUNDING = 1e-7  # allowed excess of an error over its tolerance: both sides round
ROWS = 200_000  # largest number of rows of a batch
ARMS = [
    "irb140",
    "puma560_robot",
    "lbr_iiwa_14_r820",
    "kr16_2",
    "ur10_robot",
    "panda",
    "xarm7",
    "kinova",
    "talos_left_arm",
]


class Wrong(Exception):  # noqa: N818 - a finding, not an error of a call
    """A result is wrong."""


class Judge:
    """Random linkages, targets and motions, and checks of results."""

    def __init__(self, seed: int, rows: int = ROWS) -> None:
        self.rng, self.rows = np.random.default_rng(seed), rows
        self.solves = self.successes = 0
        self.robots: dict[str, lw.Linkage] = {}

    # Arguments

    def arm(self) -> lw.Linkage:
        """A serial arm: a commercial robot, a model, or a random chain."""
        kind = self.rng.integers(4)
        if kind == 3:
            return six_joint_arms.linkage(str(self.rng.choice(list(six_joint_arms.ARMS))))
        if kind == 0:
            name = str(self.rng.choice([name for name in ARMS if sixty_robots.is_installed(name)]))
            if name not in self.robots:
                self.robots[name] = lw.load(sixty_robots.installed(name))
            return self.robots[name]
        if kind == 1:
            return (lw.models.panda, lw.models.ur5, lambda: lw.models.planar([3, 2, 1]))[self.rng.integers(3)]()
        return random_chain(self.rng)

    def tip(self, linkage: lw.Linkage) -> str:
        """The frame at the end of an arm."""
        return "tip" if "tip" in linkage.frames else chain_frames(linkage, linkage.links)[0]

    def any_linkage(self) -> lw.Linkage:
        """A linkage of any kind."""
        kind = self.rng.integers(3)
        if kind == 0:
            return build(MODELS[str(self.rng.choice(list(MODELS)))].example)
        return random_tree(self.rng, int(self.rng.integers(1, 12))) if kind == 1 else self.arm()

    def targets(self, linkage: lw.Linkage, frame: str, count: int) -> np.ndarray:
        """Targets of a frame, most of them within reach."""
        found = places(linkage, linkage.random_pose(self.rng, count), frame)
        far = self.rng.random(count) < 0.1
        found[far, :3, 3] += self.rng.normal(scale=1.0, size=(int(far.sum()), 3))
        return found

    def clip(self) -> lw.Clip:
        linkage = self.any_linkage()
        poses = linkage.random_pose(self.rng, 3)
        kind = str(self.rng.choice(["linear", "cubic"]))
        return lw.interpolate(linkage, [(0.0, poses[0]), (0.4, poses[1]), (1.0, poses[2])], fps=10, kind=kind)

    def world(self) -> lw.World:
        """A few obstacles around an arm."""
        shapes = [lw.Sphere(0.1), lw.Box((0.1, 0.2, 0.3)), lw.Capsule(0.05, 0.3), lw.Cylinder(0.1, 0.2)]
        return lw.World([lw.Obstacle(shape, self.rng.uniform(-1, 1, 3)) for shape in shapes])

    def dressed_arm(self) -> lw.Linkage:
        """An arm whose links have shapes."""
        return lw.models.panda() if self.rng.random() < 0.5 else lw.models.ur5()

    # Checks

    def judge(
        self,
        linkage: lw.Linkage,
        frame: str,
        q: Any,
        success: Any,
        targets: Any,
        kind: str = "pose",
        *,
        counted: bool = True,  # False if these solves were counted for another goal already
    ) -> None:
        """Raise unless everything reported as a success is one."""
        q, success = np.atleast_2d(q), np.atleast_1d(success)
        targets = np.broadcast_to(targets, (len(q), 4, 4))
        if counted:
            self.solves += len(q)
            self.successes += int(success.sum())
        if not np.isfinite(q).all():
            raise Wrong(f"a pose that is not finite: {q[~np.isfinite(q).all(axis=1)][0]}")
        if not chains.within(linkage, q)[success].all():
            raise Wrong(f"a success beyond limits: {q[success & ~chains.within(linkage, q)][0]}")
        world = places(linkage, q, frame)
        away = np.linalg.norm((world - targets)[:, :3, 3], axis=1) if kind != "orientation" else np.zeros(len(q))
        turn = np.zeros(len(q))
        if kind != "position":
            turns = Rotation.from_matrix(np.swapaxes(world[:, :3, :3], 1, 2) @ targets[:, :3, :3])
            turn = turns.magnitude()
        false = success & ((away > TOLERANCE * (1.0 + ROUNDING)) | (turn > ROTATION * (1.0 + ROUNDING) + 1e-8))
        if false.any():
            k = int(np.flatnonzero(false)[0])
            raise Wrong(f"no success: {away[k]:.3g} m and {turn[k]:.3g} rad away at {q[k].tolist()} in {linkage!r}")

    def judge_place(self, linkage: lw.Linkage, q: np.ndarray, frame: str) -> None:
        """Raise unless a frame is where it should be."""
        if not np.allclose(linkage.forward(q)[frame], places(linkage, q, frame), atol=1e-9 * (1.0 + linkage.length)):
            raise Wrong(f"{frame!r} of {linkage!r} stands elsewhere at {q.tolist()}")

    def judge_loops(self, linkage: lw.Linkage, poses: np.ndarray) -> None:
        """Raise unless all loops are closed at some poses."""
        for q in poses:
            gap = max((float(np.abs(lw.Close(loop).error(linkage, q)).max()) for loop in linkage.loops), default=0.0)
            if gap > 1e-6 * max(1.0, linkage.loop_size):
                raise Wrong(f"closed loops of {linkage!r} gape by {gap}")
