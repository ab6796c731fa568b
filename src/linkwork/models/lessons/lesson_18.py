"""Lesson 18: from method to production."""

from __future__ import annotations

import math

from ...explain.all_solutions import solve_all
from ...goals import Reach
from ...linkage.linkage import Linkage
from ...solvers import solve
from ..arms import panda, ur5
from .lesson import Exercise, Lesson


def reached(arm: Linkage, method: str, count: int) -> float:
    """Return the number of goals, made from random poses, that a method reaches from the pose ``ready``."""
    targets = arm.forward(arm.random_pose(0, count), frame="tip")
    ends = (solve(arm, Reach("tip", pose=target), start="ready", method=method) for target in targets)
    return float(sum(bool(end) for end in ends))


def ways() -> float:
    """Return the number of solutions of a UR5 for a pose."""
    arm = ur5()
    return float(len(solve_all(arm, Reach("tip", pose=arm.forward([0.3, -1.0, 1.2, -0.8, 0.9, 0.4], frame="tip"))).q))


LESSON = Lesson(
    number=18,
    name="production",
    title="From method to production",
    section="5.3.4",
    figures=("production",),
    exercises=(
        Exercise(
            "The 40 goals of the lesson's code, from panda.random_pose(0, 40), start 'ready': how many does 'damped' "
            "reach? (The figure has 40 other goals.)",
            lambda: reached(panda(), "damped", 40),
            tolerance=1.0,
            hint="Call the function reached of the lesson.",
            why="All 40 can be reached, and 'robust' reaches them. One start is not enough.",
        ),
        Exercise(
            "A method reaches a goal from a random start with probability 0.7. How many starts do you need so that it "
            "misses less than one goal in a million?",
            lambda: float(math.ceil(math.log(1e-6) / math.log(0.3))),
            tolerance=0.1,
            hint="k starts all fail with probability 0.3 to the power k. Take logarithms.",
            why="0.3¹¹ is 1.8 in a million, 0.3¹² is 0.5.",
        ),
        Exercise(
            "How many solutions has a UR5, lw.models.ur5(), for the position and orientation that its tip has in the "
            "pose (0.3, -1.0, 1.2, -0.8, 0.9, 0.4)?",
            ways,
            tolerance=0.1,
            hint="lw.solve_all with a Reach whose pose is arm.forward(q, frame='tip').",
            why="Shoulder left or right, elbow up or down, wrist turned or not: 2·2·2.",
        ),
    ),
)
