"""Lesson 3: Denavit-Hartenberg tables."""

from __future__ import annotations

from ...linkage.dh import from_dh
from ..arms import ur5
from .lesson import Exercise, Lesson


def _origin() -> tuple[float, ...]:
    return tuple(float(x) for x in from_dh([("90deg", 2, 3, 0)]).forward([0.0], frame="tip")[:3, 3])


def _axis() -> tuple[float, ...]:
    return tuple(float(x) for x in from_dh([(0, 0, 0, "90deg")]).forward([0.0], frame="tip")[:3, 2])


def _constant() -> float:
    """Return the number of constants in the table of a six-axis arm: three in each row."""
    return float(3 * len(ur5().as_dh("tip").rows))


LESSON = Lesson(
    3,
    "dh",
    "Denavit-Hartenberg",
    "5.1.2, appendix B.4",
    ("dh",),
    (
        Exercise(
            "A row in the standard convention has θ = 90°, d = 2, a = 3 and α = 0°. Where is the origin of the next "
            "frame? Type x, y, z.",
            _origin,
            tolerance=0.01,
            hint="First turn about z by 90°: where does x point now? Then 2 along z and 3 along the new x.",
            why="After the turn x points along the old y: (0, 3, 2).",
        ),
        Exercise(
            "Another row has only α = 90°; the other three numbers are 0. Which way does the new z axis point, seen "
            "from the frame before? Type x, y, z.",
            _axis,
            tolerance=0.01,
            hint="Turn about x by 90°, thumb along x: y goes to z. Where does z go?",
            why="z goes to −y. A row with α = ±90° sets the next joint's axis at a right angle to this one's.",
        ),
        Exercise(
            "A robot arm has six revolute joints. How many numbers of its table stay the same while it moves?",
            _constant,
            tolerance=0.1,
            hint="In the row of a revolute joint only θ changes.",
            why="Six rows, three constant numbers in each. They are the whole geometry of the arm.",
        ),
    ),
)
