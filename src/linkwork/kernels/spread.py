"""Of many poses that reach a goal, a few that are far apart: each next one is the furthest from those taken before it.

A joint differs by an angle, the short way round, or by a length; as a share of the most that it can differ by, joints
of all kinds compare. Two poses are as far apart as the joint that differs by the largest share.
"""

from __future__ import annotations

import math

from . import inner, kernel
from .layout import Layout

TURN, PER_TURN = 2.0 * math.pi, 0.5 / math.pi
SLIDES, TURNS, BALL = 0, 1, 2  # kinds of joints: a length, an angle, a quaternion
TIE = 1e-9  # branches are often as far apart as others to rounding: then the first of them is taken
ITEM = Layout("place", "kind")  # of a joint: where its value stands in a pose, and its kind


@inner
def difference(items, k, one, two):
    """Return by how much a joint differs in two poses [rad, m]."""
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
    """Return how far apart two poses are: the largest share, and the largest angle or length [rad, m]."""
    share, size = 0.0, 0.0
    for k in range(items.shape[0]):
        away = difference(items, k, one, two)
        share, size = max(share, shares[k] * away), max(size, away)
    return share, size


@inner
def first_of(items, poses, good, start, given):
    """Return the first of the good poses, or the one nearest to a start; -1 where none is good."""
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
    """Pick, for each goal, good ones of its poses (m, c, nq) that are apart from each other, and count them.

    Args:
        items: The joints that count: ITEM, shape (j, 2).
        shares: One over the most that each can differ by, shape (j,).
        poses: The poses of each goal.
        good: Which of them serve, shape (m, c).
        starts: The pose (m, nq) that the first one picked is nearest to, or none (0, nq): the first good one is first.
        apart: Two poses that differ by less than this in every joint are one [rad, m]; zero lets all be different.
        room: Numbers to work with, shape (c,).
        picked: Takes their numbers, in the order they were picked, -1 after the last; at most k, shape (m, k).
        counts: Takes how many they are, shape (m,).
    """
    most, given = picked.shape[1], starts.shape[0] > 0
    for goal in range(poses.shape[0]):
        own, serve = poses[goal], good[goal]
        for i in range(own.shape[0]):
            room[i] = (
                math.inf if serve[i] != 0 else -1.0
            )  # how far each is from all that were picked; -1: not to be had
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
    """Write how far apart the good ones of poses (m, k, nq) are: the nearest two of a goal, and pairs in the mean.

    `out` has the shape (m, 2): not numbers where fewer than two are good. `spread_out` has the other arguments.
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
