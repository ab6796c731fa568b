"""Lesson 12: the null space and control terms."""

from __future__ import annotations

import numpy as np

from ...goals import Reach
from ...solvers.solving import solve
from ..arms import panda
from ..textbook import START, arm
from .lesson import Exercise, Lesson


def _spare() -> float:
    """Return the dimension of the Panda's null space: joint motions that keep the pose of its hand."""
    robot = panda()
    ready = robot.stored_pose("ready")
    here = Reach("tip", pose=robot.forward(ready, frame="tip"))
    return float(solve(robot, here, start=ready).freedom)


def _second_joint() -> float:
    first, second = arm().jacobian(START, "tip")[:2]
    way = np.cross(first, second)  # perpendicular to both rows, so it does not move the tip
    return float(way[1] / way[2])


def _after_one_step() -> float:
    angle, desired, gain = 0.2, 0.5, 0.5
    return angle - gain * (angle - desired)


LESSON = Lesson(
    12,
    "null-space",
    "The null space and control terms",
    "5.3.3",
    ("null-space", "follow"),
    (
        Exercise(
            "A Panda robot has 7 revolute joints. Its hand must keep its position and its orientation. How many "
            "dimensions does its null space have, in an ordinary pose?",
            _spare,
            unit="",
            tolerance=0.1,
            hint="Count the joints, and count the rows that position and orientation need in space.",
            why="7 − 6 = 1: the elbow can swing about the line from shoulder to wrist.",
        ),
        Exercise(
            "The arm (15, 10, 5) is at (π/8, π/4, π/4). The third joint turns by 1 degree and the tip stays where it "
            "is. By how many degrees does the second joint turn?",
            _second_joint,
            unit="deg",
            tolerance=0.01,
            hint="The null space is perpendicular to both rows of J. Which product of two vectors is?",
            why="The null space here is (1, −3.12, 5.12), or any multiple of it. Divide by 5.12.",
        ),
        Exercise(
            "A joint is at 0.2 radians, its desired angle is 0.5 and its gain 0.5. Assume that this joint does not "
            "move the tip at all. Where is the joint after one step of the form a (θ − θc)?",
            _after_one_step,
            unit="rad",
            tolerance=0.001,
            hint="The step is −z, with z = a (θ − θc).",
            why=(
                "z = −0.15, so the joint goes up by 0.15, half of the way. The printed square gives z = +0.045, and "
                "the joint would go down, away from 0.5."
            ),
        ),
    ),
)
