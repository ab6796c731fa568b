"""Lesson 10: singularities."""

from __future__ import annotations

import math

from ...explain.workspaces import manipulability
from ..arms import two_link
from .lesson import Exercise, Lesson

UPPER, LOWER = 15.0, 10.0


def _measure(bend: float) -> float:
    """Return the manipulability of the lesson's arm with its elbow bent by an angle [deg]."""
    return float(manipulability(two_link(UPPER, LOWER), [0.0, math.radians(bend)], "tip").measure)


def _fastest(bend: float) -> float:
    """Return the norm of the joint rates for one unit per second in the worst direction [rad/s]."""
    found = manipulability(two_link(UPPER, LOWER), [0.0, math.radians(bend)], "tip")
    return 1.0 / float(found.singular_values[-1])


def _best_bend() -> float:
    """Return the bend with the largest manipulability L1 L2 sin(bend), whose derivative is zero there [deg]."""
    return math.degrees(math.acos(0.0))


LESSON = Lesson(
    10,
    "singularities",
    "Singularities",
    "5.3.3",
    ("singularities",),
    (
        Exercise(
            "An arm with links of 15 and 10 has its elbow bent by 60°. What is its manipulability √det(JJᵀ)?",
            lambda: _measure(60.0),
            unit="",
            tolerance=0.1,
            hint="For two links it is L₁ L₂ |sin θ₂|.",
            why="150 · sin 60° is 87 percent of the 150 that it can have at best.",
        ),
        Exercise(
            "By how many degrees should the elbow of this arm be bent so that its manipulability is largest?",
            _best_bend,
            unit="deg",
            tolerance=0.5,
            hint="Where is |sin θ₂| largest?",
            why="At a right angle. Many robots are given a rest pose with the elbow near 90° for this reason.",
        ),
        Exercise(
            "The elbow is bent by 5° only. The tip should move at 1 unit a second in the direction in which it moves "
            "worst. How large are the joint rates then, as the length of the vector θ̇, in radians a second?",
            lambda: _fastest(5.0),
            unit="",
            tolerance=0.02,
            hint="The table of the lesson has the singular values for 5°. You need the smaller one, and its inverse.",
            why="It is 1/σ₂. Two radians a second for a tip that crawls.",
        ),
    ),
)
