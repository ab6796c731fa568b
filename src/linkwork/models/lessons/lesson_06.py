"""Lesson 6: what inverse kinematics asks."""

from __future__ import annotations

import math

from ...explain.all_solutions import count_solutions
from ...goals import Reach
from ..arms import planar
from .lesson import Exercise, Lesson

LENGTHS = (15.0, 10.0, 5.0)


def _area() -> float:
    first, second, _ = LENGTHS
    return math.pi * ((first + second) ** 2 - (first - second) ** 2)


def _number_of_poses() -> float:
    first, second, _ = LENGTHS
    return float(count_solutions(planar([first, second]), Reach("tip", position=(0.0, second - first))).number)


def _any_direction() -> tuple[float, float]:
    """Return the radii between which the tip can reach a goal with any direction of the last link."""
    first, second, third = LENGTHS
    return abs(first - second) + third, first + second - third


LESSON = Lesson(
    6,
    "asking",
    "What inverse kinematics asks",
    "5.3",
    ("workspace",),
    (
        Exercise(
            "An arm in the plane has links of 15 and 10. How large is its reachable workspace, as an area?",
            _area,
            tolerance=5.0,
            hint="It is a ring. Its outer radius is the sum of the lengths. What is its inner radius?",
            why="π (25² − 5²). The hole in the middle cannot be reached: the shorter link cannot fold back far enough.",
        ),
        Exercise(
            "The goal of the same arm is at (0, -5). How many poses reach it?",
            _number_of_poses,
            tolerance=0.1,
            hint="How far is that from the base? What must the elbow do?",
            why="One: the arm is folded. On the inner edge, as on the outer one, the two poses become one.",
        ),
        Exercise(
            "A third link of 5 is added. In a ring about the base the end effector can point in every direction. Type "
            "the ring's inner and outer radius.",
            _any_direction,
            tolerance=0.1,
            hint="The wrist lies on a circle of radius 5 about the goal. All of it must be within the two links' ring.",
            why="Between 5 + 5 and 25 − 5. This is the dexterous workspace.",
        ),
    ),
)
