"""Find detours where a path, followed frame by frame, reaches a dead end but another motion continues.

A redundant arm that moves from pose to pose may drift to a limit, and an arm at a singular pose may take a branch that
ends. Since the path is known, another motion is searched for: solutions at the missed frame are followed backwards and
forwards, and earlier poses are moved towards one of them, frame by frame, on their goals and without a jump.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.search_many import REACHED
from ..linkage.linkage import Linkage
from ..linkage.poses import advance, between, turned_back
from ..solvers import Prepared
from ..solvers.chain_step import Stayed
from ..transforms import FloatArray

STARTS, AROUND, NEAR = 1024, 256, 0.6  # random starts of a search; starts around the last pose, their deviation [rad]
DIGITS = 2  # decimals in which solutions must differ
FOLLOWED, MOST = 800, 400  # nearest solutions followed forwards; the longest of these, followed backwards
WINDOWS = (8, 16, 32, 64, 128, 256, 512)  # frames before the dead end at which the detour may begin
AHEAD = 256  # frames followed after the dead end
LONGEST = 0.45  # largest change of a value between frames [rad, m]
PULLS = (0.2, 0.35)  # largest change per frame towards another motion [rad, m]; the second is tried if the first fails
KEPT = 0.9  # share of the previous step that is used as the first guess
SAME = 1e-3  # poses that differ by less are equal [rad, m]


class Mark(NamedTuple):
    """The goal of a frame: its compiled search, and the target (4, 4)."""

    prepared: Prepared
    target: FloatArray

    def keep_up(self, q: FloatArray, last: Any) -> Stayed:
        """Return the solution that continues from a pose without a jump; `last` is the one before."""
        return self.prepared.follower.keep_up(self.target, q, last if isinstance(last, Stayed) else None)


class Ways(NamedTuple):
    """Poses (frames, m, nq) of several motions that start at a frame, and the number of frames of each (m,)."""

    poses: FloatArray
    lasts: NDArray[np.int64]


def way_around(marks: Sequence[Mark], poses: FloatArray, *, free: bool) -> tuple[int, FloatArray] | None:
    """Return another motion for a path that can be followed up to a frame but not to the next one.

    Args:
        marks: The goal of every frame.
        poses: Poses (k, nq) of the first k frames; frame k is the one that was missed.
        free: Whether the first frame may have any pose.

    Returns:
        The frame at which the new motion begins to differ, and its poses from there on (n, nq), beyond the dead end;
        None if none is found.
    """
    dead, linkage = len(poses), marks[0].prepared.linkage
    there = _solutions(marks[dead], poses[-1])
    if not len(there):
        return None
    ahead = _followed(linkage, marks[dead : dead + AHEAD], there)
    longest = np.argsort(-ahead.lasts, kind="stable")[:MOST]
    ahead = Ways(ahead.poses[:, longest], ahead.lasts[longest])
    back = _followed(linkage, marks[max(dead - WINDOWS[-1], 0) : dead + 1][::-1], ahead.poses[0])
    best: tuple[int, FloatArray] | None = None
    partings = dict.fromkeys(max(dead - window, 0) for window in WINDOWS)
    for pull, first in product(PULLS, partings):
        chosen = np.flatnonzero(back.lasts > dead - first)
        if not len(chosen):
            continue
        before = back.poses[dead - first : 0 : -1, chosen]
        whole = Ways(np.concatenate([before, ahead.poses[:, chosen]]), dead - first + ahead.lasts[chosen])
        way = _led_over(linkage, marks[first:], poses[first], whole, pull)
        if way is None and free and first == 0:
            way = whole.poses[: whole.lasts[0], 0]
        if way is not None and (best is None or first + len(way) > best[0] + len(best[1])):
            best = first, way
            if first + len(way) == dead + len(ahead.poses):
                break
    return best


def _solutions(mark: Mark, near: FloatArray) -> FloatArray:
    """Return distinct solutions of a target, including copies by whole turns, nearest to a pose first."""
    prepared, linkage = mark.prepared, mark.prepared.linkage
    rng = np.random.default_rng(prepared.seed)
    moves = NEAR * rng.standard_normal((AROUND, linkage.nv))
    moves[:, ~_moving(prepared)] = 0.0
    around, reached = _reached(mark, np.concatenate([near[None], advance(linkage, near, moves)]))
    poses = np.concatenate([around[reached], prepared.candidates(mark.target, STARTS, base=near)])
    turned = turned_back(linkage, poses, near, keep_limits=prepared.settings.keeps_limits)
    poses = np.concatenate([turned, poses])  # include other whole turns: the nearest may end at a limit
    poses = poses[np.unique(poses.round(DIGITS), axis=0, return_index=True)[1]]
    away = np.abs(between(linkage, near, poses, wrap=False)).max(axis=-1, initial=0.0)
    return poses[np.argsort(away, kind="stable")[:FOLLOWED]]


def _moving(prepared: Prepared) -> NDArray[np.bool_]:
    """Return which velocities move the frame."""
    table, moving = prepared.linkage.table, np.zeros(prepared.linkage.nv, np.bool_)
    moving[[table[q].v for q in prepared.chain.plain[1].tolist()]] = True
    for q, v in table.quaternions:
        moving[v : v + 3] = q in {place for _, place in prepared.chain.balls}
    return moving


def _reached(mark: Mark, guesses: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the poses that descents from guesses (m, nq) lead to, and which of them reach the target."""
    prepared, status = mark.prepared, np.zeros(len(guesses), np.int64)
    targets = np.tile(mark.target, (len(guesses), 1, 1))
    values, _ = prepared.search(targets, status, given=prepared.chain.values_of(guesses), restarts=0)
    return prepared.pose(values, guesses), status == REACHED


def _near(linkage: Linkage, a: FloatArray, b: FloatArray, most: float = LONGEST) -> NDArray[np.bool_]:
    """Return which poses differ from others by no more than one step."""
    return np.asarray(np.abs(between(linkage, a, b, wrap=False)).max(axis=-1, initial=0.0) <= most)


def _followed(linkage: Linkage, marks: Sequence[Mark], poses: FloatArray) -> Ways:
    """Return poses (m, nq) of the first frame followed through later frames, each as far as possible without a jump."""
    ways, lasts, alive = [poses], np.ones(len(poses), np.int64), np.arange(len(poses))
    motion = np.zeros((len(poses), linkage.nv))
    for mark in marks[1:]:
        if not len(alive):
            break
        now = ways[-1][alive]
        after, good = _reached(mark, advance(linkage, now, KEPT * motion[alive]))
        good &= _near(linkage, now, after)
        if not good.all():
            again = np.flatnonzero(~good)
            after[again], reached = _reached(mark, now[again])
            good[again] = reached & _near(linkage, now[again], after[again])
        alive = alive[good]
        row = ways[-1].copy()
        row[alive] = after[good]
        motion[alive] = between(linkage, now[good], row[alive], wrap=False)
        lasts[alive] += 1
        ways.append(row)
    return Ways(np.stack(ways), lasts)


def _led_over(linkage: Linkage, marks: Sequence[Mark], start: FloatArray, ways: Ways, pull: float) -> FloatArray | None:
    """Return poses (n, nq) from a start over to the motion that lasts longest, and along it to its end; or None."""
    led, alive = [np.tile(start, (len(ways.lasts), 1))], np.ones(len(ways.lasts), np.bool_)
    joined: tuple[int, int] | None = None  # the motion, and the first frame on it
    for k in range(1, int(ways.lasts.max())):
        alive &= ways.lasts > (k if joined is None else ways.lasts[joined[0]])
        rows = np.flatnonzero(alive)
        if not len(rows):
            break
        here, other, there = led[-1][rows], ways.poses[k - 1][rows], ways.poses[k][rows]
        over, along = between(linkage, here, other, wrap=False), between(linkage, other, there, wrap=False)
        size = np.abs(over).max(axis=-1, keepdims=True)
        after, good = _reached(
            marks[k], advance(linkage, here, along + over * np.minimum(1.0, pull / np.maximum(size, 1e-300)))
        )
        good &= _near(linkage, here, after)
        alive[rows[~good]] = False
        led.append(led[-1].copy())
        led[-1][rows] = after
        arrived = rows[good & _near(linkage, after, there, SAME)]
        if len(arrived):
            joined = int(arrived[np.argmax(ways.lasts[arrived])]), k
    if joined is None:
        return None
    way, k = joined
    return np.concatenate([[row[way] for row in led[: k + 1]], ways.poses[k + 1 : ways.lasts[way], way]])
