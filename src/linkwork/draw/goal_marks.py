"""Draw the ranges of a goal as lines: a box of allowed positions, and a sector of allowed rotations for each axis."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..goals import Reach
from ..transforms import FloatArray

SPOKE, STEPS = 0.1, 33  # radius of a sector over the size of the picture, and number of points of its arc


def room_lines(goal: Reach | None, size: float) -> list[FloatArray]:
    """Return lines (k, 3) around the position of a goal; empty if it has no ranges or no position.

    Args:
        goal: The goal.
        size: Size of the picture [m]; infinite ranges are drawn with this length.
    """
    if goal is None or goal.ranges is None or not goal.coordinates:
        return []
    basis, place = goal.ranges.basis(goal.target), goal.target[:3, 3]
    reach = np.repeat([size, np.pi], 3)
    low, high = np.maximum(goal.ranges.low, -reach), np.minimum(goal.ranges.high, reach)
    return [place + line @ basis.T for line in (*_box(low[:3], high[:3]), *_sectors(low[3:], high[3:], SPOKE * size))]


def _box(low: FloatArray, high: FloatArray) -> list[FloatArray]:
    """Return the edges (2, 3) of a box; a box without extent along one or more axes has fewer."""
    edges = []
    for axis in np.flatnonzero(low < high):
        sides = [{low[k], high[k]} if k != axis else {0.0} for k in range(3)]
        for corner in product(*sides):
            edge = np.array([corner, corner])
            edge[:, axis] = low[axis], high[axis]
            edges.append(edge)
    return edges


def _sectors(low: FloatArray, high: FloatArray, radius: float) -> list[FloatArray]:
    """Return outlines (k, 3) of sectors: for each axis, the allowed rotation about it, swept by the next axis."""
    outlines = []
    for axis in np.flatnonzero(low < high):
        angles = np.linspace(low[axis], high[axis], STEPS)
        arc = np.zeros((STEPS, 3))
        arc[:, (axis + 1) % 3], arc[:, (axis + 2) % 3] = radius * np.cos(angles), radius * np.sin(angles)
        outlines.append(np.concatenate([np.zeros((1, 3)), arc, np.zeros((1, 3))]))
    return outlines
