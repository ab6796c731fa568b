"""All poses of a parallel robot for one pose of its platform: all combinations of the solutions of its legs."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..goals import Reach, closings
from ..linkage.linkage import Linkage
from ..linkage.poses import keeps_limits
from ..transforms import FloatArray
from .platform_form import PlatformForm

REACHED = 1e-6  # share of the robot's size: a leg that misses by more has no solution; poses are checked by their gaps
EXACT = 1e-9  # share of the robot's size, and radians: largest error of the platform in a solution


class Ways(NamedTuple):
    """All poses of a parallel robot for a goal.

    Attributes:
        q: The poses, (k, nq), nearest to a start first.
        doubles: Which of them have a stretched or folded leg, where two solutions coincide, (k,).
        evidence: A text on why there is no pose; None if there is one.
    """

    q: FloatArray
    doubles: NDArray[np.bool_]
    evidence: str | None


def serves(form: PlatformForm, goal: Reach) -> bool:
    """Return whether a closed form supports a goal: a whole frame, or a point if the platform does not rotate."""
    rows = np.arange(6 if form.oriented else 3)
    return goal.free is None and goal.ranges is None and np.array_equal(goal.rows, rows)


def ways_of(form: PlatformForm, goal: Reach, start: FloatArray, apart: float, *, limited: bool) -> Ways:
    """Return all poses in which a platform reaches a goal.

    Args:
        form: The robot.
        goal: A goal that the form supports.
        start: A pose; results are sorted by distance from it.
        apart: Values of a leg that differ by less are one double solution.
        limited: Whether poses must keep within limits.
    """
    linkage = form.linkage
    target = np.ascontiguousarray(goal.target.reshape(1, 16) if form.oriented else goal.target[None, :3, 3])
    base = form.solve(target, start[None], (EXACT, EXACT), 1)[0][0]
    values, missing = form.ways(target[0], start)
    choices, twice = [], []
    for k, limb in enumerate(form.limbs):
        if np.isnan(missing[k]).all():
            continue
        within = np.flatnonzero(missing[k] <= REACHED * linkage.loop_size)  # false for NaN
        if not len(within):
            left = closings(linkage)[k - 1].error(linkage, base) if k else goal.error(linkage, base)
            path = f"{linkage.coordinates[limb.places[0]]!r}, {float(np.linalg.norm(left)):.3g} m at the nearest"
            return Ways(np.zeros((0, linkage.nq)), np.zeros(0, np.bool_), f"out of reach of the path of {path}")
        found = values[k, within, : len(limb.places)]
        alike = np.abs(found[:, None] - found).max(axis=-1) < apart
        first = np.flatnonzero(alike.argmax(axis=1) == np.arange(len(found)))
        choices.append([(limb.places, found[i]) for i in first])
        twice.append(alike.sum(axis=1)[first] > 1)
    q, doubles = [], []
    for picked in product(*(range(len(some)) for some in choices)):
        pose = base.copy()
        for some, i in zip(choices, picked, strict=True):
            places, found_values = some[i]
            pose[places] = found_values
        q.append(pose)
        doubles.append(any(two[i] for two, i in zip(twice, picked, strict=True)))
    return _judged(linkage, goal, start, np.array(q), np.array(doubles, np.bool_), limited=limited)


def _judged(
    linkage: Linkage, goal: Reach, start: FloatArray, q: FloatArray, doubles: NDArray[np.bool_], *, limited: bool
) -> Ways:
    """Return the poses with closed loops, the platform at its goal, and values within limits; nearest first."""
    closed = (np.abs(goal.error(linkage, q)) <= EXACT * max(linkage.loop_size, 1.0)).all(axis=-1)
    for loop in closings(linkage):
        closed &= (np.abs(loop.error(linkage, q)) <= REACHED * linkage.loop_size).all(axis=-1)
    inside = keeps_limits(linkage, q) if limited else np.ones(len(q), np.bool_)
    good = np.flatnonzero(closed & inside)
    away = np.linalg.norm(linkage.difference(start, q[good]), axis=-1)
    order = good[np.argsort(away, kind="stable")]
    evidence = None
    if not len(good):
        evidence = "its legs reach, but only beyond limits" if closed.any() else "its legs reach, but do not close"
    return Ways(q[order], doubles[order], evidence)
