"""Lesson 1: hierarchies, and the walk over their tree."""

from __future__ import annotations

import math

import numpy as np

from ..arms import planar
from ..figure_linkages import linkage
from .lesson import Exercise, Lesson


def _moon() -> tuple[float, ...]:
    """Return the position of the moon after two rotations: about the sun, then about the planet."""
    place = planar([10, 1]).forward([math.radians(30), math.radians(90)], frame="tip")[:2, 3]
    return tuple(float(x) for x in place)


def _kept() -> float:
    """Return the number of matrices on the stack when link 2.1 is drawn: one for each arc on the path to it."""
    tree, link, count = linkage("two-arms"), "link21", 1
    parents = {joint.child: joint.parent for joint in (tree.joint(name) for name in tree.joints) if joint.parent}
    while link in parents:
        link, count = parents[link], count + 1
    return float(count)


def _moved() -> float:
    """Return the number of links that move when θ₂ changes."""
    figure = linkage("two-arms")
    before, after = (figure.forward(figure.pose(j2=angle)) for angle in (0.0, 1.0))
    return float(sum(not np.allclose(before[name], after[name]) for name in figure.links))


LESSON = Lesson(
    1,
    "hierarchies",
    "Hierarchies and traversal",
    "5.1, 5.2",
    ("tree-walk",),
    (
        Exercise(
            "The earth is 10 units from the sun, in the direction 30°. The moon is 1 unit from the earth; its angle is "
            "measured from the line that leads from the sun to the earth, and is 90°. Where is the moon, seen from the "
            "sun? Type x, y.",
            _moon,
            tolerance=0.01,
            hint="Turn by 30°, move 10, turn by 90°, move 1. The angles of both turns add up for the last move.",
            why="(10 cos 30° + cos 120°, 10 sin 30° + sin 120°). Two short descriptions, one after the other.",
        ),
        Exercise(
            "In the figure of this lesson: how many matrices are on the stack while link 2.1 is drawn?",
            _kept,
            tolerance=0.1,
            hint="One is pushed for every arc on the way down, the root arc included. What was popped does not count.",
            why="Three arcs lead to link 2.1. The matrices of link 1 and link 1.1 were popped before.",
        ),
        Exercise(
            "How many of the figure's five links move when only θ₂ changes?",
            _moved,
            tolerance=0.1,
            hint="An arc moves the node it leads to, and everything below that node.",
            why="Link 2 and link 2.1. A joint never moves what is above it or on another branch.",
        ),
    ),
)
