"""Lesson 15: FABRIK."""

from __future__ import annotations

import math

import numpy as np

from ...transforms import FloatArray
from ..arms import planar
from .lesson import Exercise, Lesson

GOAL = np.array([-20.0, 5.0])
LENGTHS = (15.0, 10.0, 5.0)
START = (math.pi / 8, math.pi / 4, math.pi / 4)


def pulled(point: FloatArray, neighbour: FloatArray, length: float) -> FloatArray:
    """Return a point pulled along the line to its neighbour until their distance is right."""
    way = point - neighbour
    result: FloatArray = neighbour + length * way / np.linalg.norm(way)
    return result


def points() -> FloatArray:
    """Return the joints and the tip of the chapter's arm at its start, shape (4, 2)."""
    frames = planar(LENGTHS).forward(START)
    return np.array([frames[name][:2, 3] for name in ("link1", "link2", "link3", "tip")])


def backward() -> FloatArray:
    """Return the points after a backward pass."""
    p = points()
    p[-1] = GOAL
    for i in (2, 1, 0):
        p[i] = pulled(p[i], p[i + 1], LENGTHS[i])
    return p


def left_the_base() -> float:
    """Return the distance of the first point from the base after a backward pass."""
    return float(np.linalg.norm(backward()[0]))


LESSON = Lesson(
    number=15,
    name="fabrik",
    title="FABRIK, and what came after",
    section="5.3.3",
    figures=("fabrik-passes",),
    exercises=(
        Exercise(
            "Links of 15, 10 and 5, pose (π/8, π/4, π/4), goal (-20, 5). Where is joint 3, x and y, after the first "
            "pull of the backward pass?",
            lambda: tuple(backward()[2]),
            unit="m",
            tolerance=0.05,
            hint="The end effector is on the goal now. Joint 3 goes to distance 5 from it, towards where it was.",
            why="It was far to the right of the goal and above it, so it ends up to the right of it, a little higher.",
        ),
        Exercise(
            "After the whole backward pass, how far is the first point from the base, where it belongs?",
            left_the_base,
            unit="m",
            tolerance=0.02,
            hint="Stop the lesson's function fabrik before p[0] = base, or step through the figure.",
            why="The forward pass puts it back. Then the end effector is 1.94 from the goal; one round later, 0.04.",
        ),
        Exercise(
            "The goal is (-35, 5), out of reach. FABRIK stretches the arm towards it. How much is missing in the end?",
            lambda: math.hypot(-35.0, 5.0) - sum(LENGTHS),
            unit="m",
            tolerance=0.02,
            hint="The best any arm can do is a straight line to the goal.",
            why="The goal is 35.36 from the base and the links add up to 30.",
        ),
    ),
)
