"""Lesson 8: where the Jacobian's columns come from."""

from __future__ import annotations

import numpy as np

from ..textbook import START, arm
from .lesson import Exercise, Lesson

TURN = 0.1  # rotation of all joints together [rad]


def _first_column() -> float:
    return float(np.linalg.norm(arm().jacobian(START, "tip")[:2, 0]))


def _all_at_once() -> float:
    return float(np.linalg.norm(arm().jacobian(START, "tip")[:2].sum(axis=1)))


def _error(turn: float) -> float:
    """Return the distance of the tip from the Jacobian's prediction, after all joints have turned by an angle [rad]."""
    linkage, q, change = arm(), np.array(START), np.full(3, turn)
    before, after = (linkage.forward(pose, frame="tip")[:2, 3] for pose in (q, q + change))
    return float(np.linalg.norm(after - before - linkage.jacobian(q, "tip")[:2] @ change))


LESSON = Lesson(
    8,
    "jacobian",
    "Where the Jacobian's columns come from",
    "5.3.2",
    ("jacobian-columns",),
    (
        Exercise(
            "The arm of the lesson (15, 10, 5) is at θ = (π/8, π/4, π/4), its tip at (15.77, 19.60). The first joint "
            "turns at 1 radian a second. How fast does the tip move?",
            _first_column,
            unit="",
            tolerance=0.02,
            hint="The first joint is at the origin. What is the length of (0, 0, 1) × E?",
            why="The speed is the distance from the joint to the tip, √(15.77² + 19.60²).",
        ),
        Exercise(
            "In the same pose all three joints turn at 1 radian a second at once. How fast does the tip move?",
            _all_at_once,
            unit="",
            tolerance=0.05,
            hint=(
                "Add the three columns g₁ = (−19.60, 15.77), g₂ = (−13.86, 1.91) and g₃ = (−4.62, −1.91), then take "
                "the length."
            ),
            why="V = J (1, 1, 1) = (−38.08, 15.77). Vectors are added first; the lengths do not simply add up.",
        ),
        Exercise(
            "All three joints turn by 0.1 radians, and the tip is 0.419 away from where the Jacobian predicts it. How "
            "far away is it if they turn by 0.05 radians instead?",
            lambda: _error(TURN / 2.0),
            unit="",
            tolerance=0.004,
            hint="Run the last code block of the lesson with 0.05. Or think: half the step, how much of the error?",
            why="About a quarter. The error of a linear prediction grows with the square of the step.",
        ),
    ),
)
