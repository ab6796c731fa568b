"""Lesson 2: joints, and points in one frame and another."""

from __future__ import annotations

import math

from ...linkage.builder import Builder
from ..figure_linkages import linkage
from .lesson import Exercise, Lesson


def _tip() -> tuple[float, ...]:
    place = linkage("slide-arm").forward([math.radians(90), 2.0, 0.0], frame="tip")[:2, 3]
    return tuple(float(x) for x in place)


def _seen_from_the_link() -> tuple[float, ...]:
    point = linkage("slide-arm").convert((8, 3, 0), [math.radians(90), 0.0, 0.0], source="world", target="link1")
    return tuple(float(x) for x in point[:2])


def _links_of_no_length() -> float:
    """Return the number of links added when a ball joint is split into joints with one degree of freedom."""
    socket = Builder("socket").ball("shoulder", "arm").build()
    return float(len(socket.split().links) - len(socket.links))


LESSON = Lesson(
    2,
    "joints",
    "Joints and frames",
    "5.1, 5.1.2",
    ("frames",),
    (
        Exercise(
            "The arm of the figure has θ₁ = 90°, d₂ = 2 and θ₃ = 0°. Its links measure 6, 4 and 6. Where is the end "
            "effector? Type x, y.",
            _tip,
            tolerance=0.01,
            hint="At 90° everything points straight up. The slide adds its 2 to the first link.",
            why="6 + 2 + 4 + 6 = 18 along the y axis of the world.",
        ),
        Exercise(
            "θ₁ = 90°, and the origin of link 1 is at the base. A point is at (8, 3) in the world. Where is it in the "
            "frame of link 1? Type x, y.",
            _seen_from_the_link,
            tolerance=0.01,
            hint="Which way do the x and y axes of link 1 point now? Use the inverse of a turn by 90°.",
            why="The x axis of link 1 points up, its y axis to the left: 3 along x, −8 along y.",
        ),
        Exercise(
            "A ball joint is replaced by joints of one degree of freedom each. How many links of length zero come in "
            "between?",
            _links_of_no_length,
            tolerance=0.1,
            hint="n joints need n − 1 links between them.",
            why="Three revolute joints, two links of length zero.",
        ),
    ),
)
