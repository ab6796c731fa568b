"""Calls of the soak test that solve for goals."""

from __future__ import annotations

from typing import Any

import numpy as np

import chains
import goal_variants
import linkwork as lw
from linkwork.solvers.options import TOLERANCE
from own_forward import places
from soak_judge import Judge, Wrong


class Solves(Judge):
    """Calls that solve single goals, in loops and in batches."""

    def batch(self) -> None:
        linkage = self.arm()
        frame, kind = self.tip(linkage), str(self.rng.choice(["pose", "pose", "position", "orientation"]))
        targets = self.targets(linkage, frame, self.rows)
        options: Any = chains.KINDS[kind] | {
            "seed": int(self.rng.integers(8)),  # a linkage caches the solvers of its last 64 settings
            "threads": int(self.rng.integers(1, 3)),
        }
        found = lw.solve_batch(linkage, frame, targets, progress=False, **options)
        self.judge(linkage, frame, found.q, found.success, targets, kind)

    def solve_one(self) -> None:
        linkage = self.arm()
        frame, kind = self.tip(linkage), str(self.rng.choice(["pose", "position"]))
        target = self.targets(linkage, frame, 1)[0]
        goal = lw.Reach(frame, pose=target) if kind == "pose" else lw.Reach(frame, position=target[:3, 3])
        method = str(self.rng.choice(list(lw.METHODS)))
        start = linkage.random_pose(self.rng) if self.rng.random() < 0.5 else None
        found = lw.solve(linkage, goal, start=start, method=method)
        self.judge(linkage, frame, found.q, found.success, target, kind)
        if self.rng.random() < 0.1:
            found.explain()

    def control_loop(self) -> None:
        linkage = self.arm()
        frame = self.tip(linkage)
        ik = lw.prepare(linkage, frame)
        q = linkage.random_pose(self.rng)
        for target in self.targets(linkage, frame, 10):
            found = ik(target, start=q)
            self.judge(linkage, frame, found.q, found.success, target)
            q = ik.step(target, q, dt=0.01)
            if not chains.within(linkage, np.atleast_2d(q)).all():
                raise Wrong(f"a step beyond limits: {q}")

    def every_solution(self) -> None:
        linkage = self.arm()
        frame = self.tip(linkage)
        target = self.targets(linkage, frame, 1)[0]
        found = lw.solve_all(linkage, lw.Reach(frame, pose=target), most=50)
        poses = found.q.reshape(-1, linkage.nq)
        if len(poses):
            self.judge(linkage, frame, poses, np.ones(len(poses), bool), target)

    def several_goals(self) -> None:
        name = str(self.rng.choice(list(goal_variants.LINKAGES)))
        make, frames = goal_variants.LINKAGES[name]
        linkage = goal_variants.heavy(make())
        q = linkage.random_pose(self.rng)
        kinds = self.rng.choice(list(lw.GOALS), size=int(self.rng.integers(1, 4)), replace=False)
        goals = [goal_variants.make(str(kind), linkage, frames, q) for kind in kinds]
        found = lw.solve(linkage, goals, start=linkage.random_pose(self.rng))
        self.solves += 1
        self.successes += bool(found.success)
        if found.success and not chains.within(linkage, found.q[None]).all():
            raise Wrong(f"a success beyond limits: {found.q}")
        for goal in goals:
            if found.success and isinstance(goal, lw.Reach) and not isinstance(goal, lw.Hold):
                target = places(linkage, q[None], goal.frame)[0]
                self.judge(linkage, goal.frame, found.q, True, target, counted=False)

    def body_batch(self) -> None:
        body = lw.models.human(root="floating")
        poses, hands = body.random_pose(self.rng, 50), ("left_hand", "right_hand")
        targets = {hand: places(body, poses, hand) for hand in hands}
        found = lw.solve_batch(body, targets, start="stand")
        for hand in hands:
            self.judge(body, hand, found.q, found.success, targets[hand], counted=hand == hands[0])

    def follow(self) -> None:
        linkage = self.arm()
        frame = self.tip(linkage)
        ends = self.targets(linkage, frame, 2)
        line = ends[0, :3, 3] + np.linspace(0.0, 1.0, 8)[:, None] * (ends[1] - ends[0])[:3, 3]
        goals = [lw.Reach(frame, position=point) for point in line]
        clip = lw.track(linkage, goals, start=linkage.random_pose(self.rng))
        for q, point, residual in zip(clip.poses, line, np.asarray(clip.residuals).max(axis=-1), strict=True):
            target = np.eye(4)
            target[:3, 3] = point
            self.judge(linkage, frame, q, residual <= TOLERANCE, target, "position")

    def obstacles(self) -> None:
        linkage, world = self.dressed_arm(), self.world()
        q = linkage.random_pose(self.rng)
        repr(lw.clearance(linkage, q, world).pair)
        target = self.targets(linkage, "tip", 1)[0]
        found = lw.solve(linkage, [lw.Reach("tip", pose=target), lw.Avoid(world)])
        self.judge(linkage, "tip", found.q, found.success, target)
        if found.success and lw.collides(linkage, found.q, world):
            raise Wrong(f"a success collides at {found.q.tolist()}")

    def spread(self) -> None:
        linkage = self.arm()
        frame = self.tip(linkage)
        targets = self.targets(linkage, frame, 20)
        found = lw.solve_batch(linkage, frame, targets, solutions=3, progress=False)
        for k, target in enumerate(targets):
            poses = found.q[k, : int(found.counts[k])]
            if len(poses):
                self.judge(linkage, frame, poses, np.ones(len(poses), bool), target)

    def guarded_loop(self) -> None:
        linkage, world = self.dressed_arm(), self.world()
        ik = lw.prepare(linkage, "tip", avoid=lw.Avoid(world))
        q = linkage.random_pose(self.rng)
        free = not lw.collides(linkage, q, world)
        for target in self.targets(linkage, "tip", 5):
            q = ik.step(target, q, dt=0.01)
            if free and lw.collides(linkage, q, world):
                raise Wrong(f"a guarded step collides at {q.tolist()}")

    def body_loop(self) -> None:
        body = lw.models.human(root="floating")
        goals = [
            lw.Reach("left_hand", position=(0.3, 0.4, 1.2)),
            lw.Hold("right_foot"),
            lw.LookAt("eyes", at=(2, 0, 1)),
        ]
        ik, q = lw.prepare(body, goals), body.pose("stand")
        for _ in range(5):
            q = ik.step(goals, q, dt=0.02)
        if not chains.within(body, np.atleast_2d(q)).all():
            raise Wrong(f"a step of the body beyond limits: {q}")
        lw.step(body, goals, q, 0.02)

    def free_batch(self) -> None:
        linkage, world = self.dressed_arm(), self.world()
        targets = self.targets(linkage, "tip", 60)
        found = lw.solve_batch(linkage, "tip", targets, avoid=lw.Avoid(world), progress=False)
        self.judge(linkage, "tip", found.q, found.success, targets)
        if found.success.any() and lw.collides(linkage, found.q[found.success], world).any():
            raise Wrong("a success of a batch collides")

    def explain(self) -> None:
        linkage = self.arm()
        frame = self.tip(linkage)
        target = self.targets(linkage, frame, 1)[0]
        target[:3, 3] *= 3.0
        found = lw.solve(linkage, lw.Reach(frame, pose=target))
        self.judge(linkage, frame, found.q, found.success, target)
        lw.diagnose(found)
        lw.race(linkage, lw.Reach(frame, position=target[:3, 3]), methods=["damped", "ccd"])
