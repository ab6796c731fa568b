"""Coal as a reference for answers to MotionBenchMaker's problems."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np

import linkwork as lw
from free_problems import placed
from linkwork.transforms import FloatArray


def joints(arm: lw.Linkage, one: str, two: str) -> int:
    """Return the number of joints between two links; with one or none, they always touch."""
    paths = [set(arm.path_to(name)[0]) for name in (one, two)]
    return sum(arm.arcs[arc].articulation.nv for arc in paths[0] ^ paths[1])


class Judge:
    """Coal with the spheres, obstacles and pairs of the files; computes the least distance at a pose."""

    def __init__(self, arm: lw.Linkage, problem: dict[str, Any]) -> None:
        self.arm, self.obstacles = arm, []
        for one in problem["obstacles"]:
            sizes = one["dimensions"]
            shape = coal.Box(*sizes) if one["kind"] == "box" else coal.Cylinder(sizes[1], sizes[0])
            self.obstacles.append((shape, self.transform(placed(one))))
        self.balls = [
            (node.name, visual.placement[:3, 3], visual.shape.radius)
            for node in arm.nodes
            for visual in node.visuals
            if visual.role == "collision"
        ]
        apart = {frozenset(pair) for pair in arm.disabled_pairs}
        names = sorted({name for name, _, _ in self.balls})
        self.pairs = {
            (a, b) for a in names for b in names if a < b and frozenset((a, b)) not in apart and joints(arm, a, b) > 1
        }

    @staticmethod
    def transform(matrix: FloatArray) -> Any:
        return coal.Transform3s(np.ascontiguousarray(matrix[:3, :3]), matrix[:3, 3].copy())

    def distance(self, q: FloatArray) -> float:
        """Return the least signed distance of a pose."""
        frames, least = self.arm.forward(q), np.inf
        places = [(frames[name] @ np.append(centre, 1.0))[:3] for name, centre, _ in self.balls]
        for (name, _, radius), place in zip(self.balls, places, strict=True):
            if name == self.arm.links[0]:  # the base does not move
                continue
            ball, at = coal.Sphere(radius), coal.Transform3s(np.eye(3), place)
            for shape, pose in self.obstacles:
                least = min(least, coal.distance(ball, at, shape, pose, coal.DistanceRequest(), coal.DistanceResult()))
        for (a, _, ra), pa in zip(self.balls, places, strict=True):
            for (b, _, rb), pb in zip(self.balls, places, strict=True):
                if (a, b) in self.pairs:
                    least = min(least, float(np.linalg.norm(pa - pb)) - ra - rb)
        return least
