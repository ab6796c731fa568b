"""Distances between poses of a chain, and the choice of the few of many that are furthest apart."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..kernels.spread import BALL, ITEM, SLIDES, TURNS, spacing, spread_out
from ..transforms import FloatArray
from .chain_solver import Prepared

Joints = tuple[NDArray[np.int64], FloatArray]
NO_STARTS = 0


def joints_of(prepared: Prepared) -> Joints:
    """Return the joints that move the frame, ITEM, and one over the largest difference of each; they are cached.

    Angles differ by at most half a turn, the short way round, or their range if that is less; prismatic joints by their
    range, or the length of the linkage if they have no limits.
    """
    return prepared.cache.get("spread", None, lambda: _joints_of(prepared))


def _joints_of(prepared: Prepared) -> Joints:
    chain, linkage = prepared.chain, prepared.linkage
    table, places = linkage.table, chain.plain[1]
    free = not prepared.settings.keeps_limits
    ranges = np.where(free, np.inf, linkage.upper[places] - linkage.lower[places])
    units = np.array([table[place].unit == "rad" for place in places.tolist()], np.bool_)
    usual = np.where(units, math.pi, linkage.length or 1.0)
    most = np.where(units | np.isinf(ranges), np.minimum(ranges, usual), ranges)
    kinds = np.where(table.periodic[places], TURNS, SLIDES)
    balls = [place for _, place in chain.balls]
    most = np.append(most, [math.pi] * len(balls))
    items = ITEM.pack(
        dtype=np.int64,
        shape=(len(most),),
        place=np.append(places, balls),
        kind=np.append(kinds, [BALL] * len(balls)),
    )
    return items, np.where(most > 0.0, 1.0 / np.where(most > 0.0, most, 1.0), 0.0)


def furthest_apart(
    prepared: Prepared,
    poses: FloatArray,
    good: NDArray[np.bool_],
    most: int,
    apart: float,
    starts: FloatArray | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each goal, the indices of good poses that are far apart, and their number.

    Args:
        prepared: The chain.
        poses: Poses of each goal, shape (m, c, nq).
        good: Which of them are solutions, shape (m, c).
        most: Largest number of poses per goal.
        apart: Two poses that differ by less in every joint are the same [rad, m]; zero for poses known to be distinct.
        starts: Poses (m, nq), or (nq,): the nearest to these is picked first; without them, the first good pose.

    Returns:
        Indices (m, most), in the order they were picked, -1 after the last; and counts (m,).
    """
    count, width, nq = poses.shape
    picked, counts = np.empty((count, most), np.int64), np.zeros(count, np.int64)
    homes = np.zeros((NO_STARTS, nq)) if starts is None else np.ascontiguousarray(np.broadcast_to(starts, (count, nq)))
    good = np.ascontiguousarray(good).view(np.uint8)
    spread_out(*joints_of(prepared), np.ascontiguousarray(poses), good, homes, apart, np.empty(width), picked, counts)
    return picked, counts


def spacings(prepared: Prepared, poses: FloatArray, good: NDArray[np.bool_]) -> FloatArray:
    """Return distances of the good ones of poses (m, k, nq): of the nearest two, and the mean of pairs, shape (m, 2).

    Both are shares, from 0 to 1; NaN if there are fewer than two good poses.
    """
    found = np.empty((len(poses), 2))
    spacing(*joints_of(prepared), np.ascontiguousarray(poses), np.ascontiguousarray(good).view(np.uint8), found)
    return found
