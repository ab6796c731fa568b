"""Lesson 13: the alternative Jacobian and the transpose."""

from __future__ import annotations

import math

import numpy as np

from ...transforms import FloatArray
from ..arms import planar
from .lesson import Exercise, Lesson

GOAL = np.array([-20.0, 5.0])


def worked_example() -> tuple[FloatArray, FloatArray]:
    """Return the Jacobian (2, 3) and the vector to the goal (2,) at the start of the chapter's worked example."""
    arm, start = planar([15, 10, 5]), [math.pi / 8, math.pi / 4, math.pi / 4]
    way: FloatArray = GOAL - arm.forward(start, frame="tip")[:2, 3]
    return arm.jacobian(start, "tip")[:2], way


def largest_scale() -> float:
    """Return the scale above which the part of the error along the largest singular value grows, elbow at 90°."""
    jacobian = planar([15, 10, 5]).jacobian([0.0, math.pi / 2, 0.0], "tip")[:2]
    return float(2.0 / np.linalg.svd(jacobian, compute_uv=False)[0] ** 2)


def first_turn() -> float:
    """Return the rotation of joint 1 in the first step, with the best scale [deg]."""
    jacobian, way = worked_example()
    moved = jacobian @ jacobian.T @ way
    scale = (way @ moved) / (moved @ moved)
    return math.degrees(float(scale * (jacobian.T @ way)[0]))


def pulled_column() -> tuple[float, float]:
    """Return the first column of the alternative Jacobian for a goal: z x (goal - joint 1), joint 1 at the origin."""
    goal = (10.0, 20.0)
    return -goal[1], goal[0]


LESSON = Lesson(
    number=13,
    name="transpose",
    title="Alternative and transpose",
    section="5.3.3",
    figures=("transpose-step",),
    exercises=(
        Exercise(
            "Links of 15, 10 and 5 in the pose (0, π/2, 0): above which scale α does the transpose jump past its goal "
            "and land further away?",
            largest_scale,
            tolerance=0.0001,
            hint="np.linalg.svd gives the singular values of the two rows x and y of J. The limit is 2/σ².",
            why="σ is 24.6 there, so the limit is 2/24.6². At the start of the worked example it is 2/28.2².",
        ),
        Exercise(
            "Now the pose is (π/8, π/4, π/4) and the goal is (-20, 5). With the scale that fits best, how far does "
            "joint 1 turn in the first step of the transpose?",
            first_turn,
            unit="deg",
            tolerance=0.5,
            hint="Compute W = J Jᵀ V, then α = V·W / W·W, then the first entry of α Jᵀ V, and turn it into degrees.",
            why="α is 0.00141, and joint 1 has the dot product 470.8 with V: together 0.66 rad.",
        ),
        Exercise(
            "The same arm stands at the origin and the goal is (10, 20). What is the first column of the alternative "
            "Jacobian, x and y? You need no computer.",
            pulled_column,
            unit="m",
            tolerance=0.01,
            hint="The cross product of the z axis and the vector from joint 1 to the goal: (x, y) becomes (-y, x).",
            why="The goal takes the place of the end effector, so the pose of the arm does not matter for joint 1.",
        ),
    ),
)
