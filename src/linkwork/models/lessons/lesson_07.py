"""Lesson 7: two links by analysis."""

from __future__ import annotations

import math

from ...solvers.closed_forms import two_link_angles
from .lesson import Exercise, Lesson

UPPER, LOWER = 15.0, 10.0  # as in the lesson's figure


def _elbow() -> float:
    return math.degrees(two_link_angles(UPPER, LOWER, (0.0, 20.0), elbow="down")[1])


def _hole() -> float:
    return abs(UPPER - LOWER)


def _nearest_with_a_limit() -> float:
    """Return the distance from shoulder to tip with the elbow folded to its limit."""
    inside = math.pi - math.radians(150.0)
    return math.sqrt(UPPER**2 + LOWER**2 - 2.0 * UPPER * LOWER * math.cos(inside))


LESSON = Lesson(
    7,
    "two-links",
    "Two links, by analysis",
    "5.3.1",
    ("two-links",),
    (
        Exercise(
            "An arm with links of 15 and 10 reaches for (0, 20), elbow down. By how many degrees is the elbow joint "
            "turned?",
            _elbow,
            unit="deg",
            tolerance=0.1,
            hint=(
                "The distance to the goal is d = 20. The law of cosines gives the angle γ inside the triangle; the "
                "joint turns by 180° − γ."
            ),
            why="cos γ = (225 + 100 − 400) / 300, so γ = 104.5°, and the joint turns by 180° − γ.",
        ),
        Exercise(
            "How near to its base can the tip of this arm (15 and 10) come?",
            _hole,
            unit="",
            tolerance=0.01,
            hint="Fold the second link back along the first.",
            why="Folded, the tip is |L₁ − L₂| from the base: the radius of the hole in the ring.",
        ),
        Exercise(
            "A real elbow does not fold completely. If the second joint can turn by at most 150°, how near to its base "
            "can the tip come?",
            _nearest_with_a_limit,
            unit="",
            tolerance=0.02,
            hint=(
                "At the limit the angle inside the triangle is γ = 180° − 150° = 30°. You know two sides and the angle "
                "between them."
            ),
            why="d² = L₁² + L₂² − 2 L₁ L₂ cos 30°. The limit makes the hole larger.",
        ),
    ),
)
