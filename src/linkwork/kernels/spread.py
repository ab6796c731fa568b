"""From many poses that reach a goal, pick a few that are far apart: each next one is the furthest from those picked.

A joint differs by an angle, the short way round, or by a length. Differences are divided by the largest possible one,
so that joints of all kinds compare. The distance of two poses is the largest such share over all joints.
"""

from __future__ import annotations

import math

from . import inner, kernel
from .layout import Layout

TURN, PER_TURN = 2.0 * math.pi, 0.5 / math.pi
SLIDES, TURNS, BALL = 0, 1, 2  # kinds of joints: length, angle, quaternion
TIE = 1e-9  # branches are often equally far apart up to rounding; then the first is picked
ITEM = Layout("place", "kind")  # of a joint: index of its value in a pose, and its kind


@inner
def difference(items, k, one, two):
    """Return the difference of one joint between two poses [rad, m]."""
    place, kind = items[k, ITEM.place], items[k, ITEM.kind]
    if kind == BALL:
        near, far = 0.0, 0.0
        for j in range(place, place + 4):
            near += (one[j] + two[j]) * (one[j] + two[j])
            far += (one[j] - two[j]) * (one[j] - two[j])
        return 4.0 * math.atan2(math.sqrt(min(near, far)), math.sqrt(max(near, far)))
    away = one[place] - two[place]
    if kind == TURNS:
        away -= TURN * math.floor(PER_TURN * away + 0.5)
    return abs(away)


@inner
def far_apart(items, shares, one, two):
    """Return the distance of two poses: the largest share, and the largest angle or length [rad, m]."""
    share, size = 0.0, 0.0
    for k in range(items.shape[0]):
        away = difference(items, k, one, two)
        share, size = max(share, shares[k] * away), max(size, away)
    return share, size


@inner
def first_of(items, poses, good, start, given):
    """Return the index of the first good pose, or of the good pose nearest to a given start; -1 if none is good."""
    best, least = -1, math.inf
    for i in range(poses.shape[0]):
        if good[i] == 0:
            continue
        if not given:
            return i
        square = 0.0
        for k in range(items.shape[0]):
            away = difference(items, k, poses[i], start)
            square += away * away
        if square < least:
            best, least = i, square
    return best


@kernel("i8[,] f8[] f8[,,] u1[,] f8[,] f8 f8[] i8[,] i8[]", nogil=True)
def spread_out(items, shares, poses, good, starts, apart, room, picked, counts):
    """Pick, for each goal, good poses of (m, c, nq) that are far apart from each other, and count them.

    Args:
        items: The joints that count: ITEM, shape (j, 2).
        shares: Reciprocal of the largest possible difference of each joint, shape (j,).
        poses: The poses of each goal.
        good: Which of them may be picked, shape (m, c).
        starts: Start poses (m, nq): the pose nearest to it is picked first. If empty (0, nq), the first good pose is.
        apart: Two poses that differ by less than this in every joint are the same [rad, m]; with 0, all are different.
        room: Workspace, shape (c,).
        picked: Receives the indices of the poses in the order picked, then -1; at most k, shape (m, k).
        counts: Receives the number of poses picked, shape (m,).
    """
    most, given = picked.shape[1], starts.shape[0] > 0
    for goal in range(poses.shape[0]):
        own, serve = poses[goal], good[goal]
        for i in range(own.shape[0]):
            room[i] = math.inf if serve[i] != 0 else -1.0  # distance from all picked poses; -1 if not available
        counts[goal] = 0
        for k in range(most):
            picked[goal, k] = -1
        new = first_of(items, own, serve, starts[goal if given else 0], given)
        while new >= 0 and counts[goal] < most:
            picked[goal, counts[goal]] = new
            counts[goal] += 1
            room[new] = -1.0
            furthest, best = -1, -1.0
            for i in range(own.shape[0]):
                if room[i] < 0.0:
                    continue
                share, size = far_apart(items, shares, own[new], own[i])
                room[i] = -1.0 if size < apart else min(room[i], share)
                if room[i] > best + TIE:
                    furthest, best = i, room[i]
            new = furthest


@kernel("i8[,] f8[] f8[,,] u1[,] f8[,]", nogil=True)
def spacing(items, shares, poses, good, out):
    """Write the spacing of the good poses of (m, k, nq): the smallest and the mean distance of pairs of a goal.

    `out` has the shape (m, 2); NaN if fewer than two poses are good. The other arguments are those of `spread_out`.
    """
    for goal in range(poses.shape[0]):
        own, pairs, least, total = poses[goal], 0, math.inf, 0.0
        for i in range(own.shape[0]):
            for j in range(i):
                if good[goal, i] != 0 and good[goal, j] != 0:
                    share, _ = far_apart(items, shares, own[i], own[j])
                    pairs, least, total = pairs + 1, min(least, share), total + share
        out[goal, 0] = least if pairs else math.nan
        out[goal, 1] = total / pairs if pairs else math.nan
