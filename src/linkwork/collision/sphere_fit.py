"""Cover a surface and its inside with spheres that stick out as little as possible.

A sphere around an inside point at distance `d` from the surface, of radius `d + e`, sticks out by `e` at most. For a
given `e` the spheres are chosen greedily, each covering most of what is left; for a given number the least `e` is
searched. Then two steps alternate: points are assigned to spheres, and centres move to where their spheres stick out
least.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..transforms import FloatArray
from .samples import IntArray, Samples

MOST_CENTRES, MOST_SHALLOW = 800, 300  # largest number of candidate centres inside, and on the surface
MOST_INSIDE = 500  # largest number of points inside that must be covered
ROUNDS, TRIES = 20, 1  # iterations of moving centres; number of random starts
LARGER = (1.5, 1.25, 1.0)  # tried errors, over the requested one
HAIR = 1e-9  # relative margin of radii, so that points on a sphere count as inside
STEPS = 8  # bisections in the search for the smallest error
Spheres = tuple[FloatArray, FloatArray, FloatArray]  # centres (n, 3), radii, largest distance that each sticks out
NUDGES: FloatArray = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z])


class SphereCover:
    """Finds spheres for one surface.

    Args:
        samples: The surface.
    """

    def __init__(self, samples: Samples) -> None:
        self.samples = samples
        random = np.random.default_rng(0)
        middles, depths = samples.depths
        if len(middles) > MOST_CENTRES:  # prefer ridges: the middles of thick and thin parts are the best centres
            kept = np.argsort(random.uniform(size=len(depths)) + ~samples.ridges, kind="stable")[:MOST_CENTRES]
            middles, depths = middles[kept], depths[kept]
        shallow = samples.balls[0]
        if len(shallow) > MOST_SHALLOW:
            shallow = shallow[random.permutation(len(shallow))[:MOST_SHALLOW]]
        self.centres, self.depths = np.concatenate([middles, shallow]), np.append(depths, np.zeros(len(shallow)))
        self.balls, self.around = self._cells()

    def _cells(self) -> tuple[FloatArray, FloatArray]:
        """Return balls that contain everything to be covered: centres (n, 3) and radii (n,)."""
        centres, radii = self.samples.balls
        inside, _ = self.samples.depths
        if len(inside) > MOST_INSIDE:
            inside = inside[np.random.default_rng(1).permutation(len(inside))[:MOST_INSIDE]]
        return np.concatenate([centres, inside]), np.append(radii, np.zeros(len(inside)))

    @cached_property
    def _excess(self) -> NDArray[np.float32]:
        """How far a sphere at a candidate sticks out if it just covers a cell, shape (cells, candidates) [m]."""
        middle = self.balls.mean(axis=0)
        theirs, ours = ((points - middle).astype(np.float32) for points in (self.balls, self.centres))
        table: NDArray[np.float32] = theirs @ (-2.0 * ours.T)
        table += (theirs**2).sum(axis=1)[:, None]
        table += (ours**2).sum(axis=1)
        np.sqrt(np.maximum(table, 0.0, out=table), out=table)
        table += self.around.astype(np.float32)[:, None]
        table -= self.depths.astype(np.float32)
        return table

    @cached_property
    def _alone(self) -> NDArray[np.float32]:
        """How far a sphere at each candidate sticks out if it just covers everything [m]."""
        return np.asarray(self._excess.max(axis=0))

    @property
    def single(self) -> float:
        """Smallest distance that a single sphere around everything sticks out [m]."""
        return float(self._alone.min())

    def chosen(self, error: float, most: int) -> IntArray | None:
        """Return candidates whose spheres cover everything and stick out no further; None if that takes too many."""
        covers = (self._excess <= error).astype(np.float32)
        left = np.ones(len(covers), np.bool_)
        gains = left.astype(np.float32) @ covers
        chosen: list[int] = []
        while left.any():
            best = int(gains.argmax())
            if len(chosen) == most or gains[best] == 0.0:
                return None
            new = left & (covers[:, best] > 0.0)
            gains -= np.ones(int(new.sum()), np.float32) @ covers[new]
            left &= ~new
            chosen.append(best)
        return np.array(chosen)

    def least(self, count: int) -> IntArray:
        """Return at most this number of candidates, whose spheres stick out as little as a search finds."""
        low, high = 0.0, self.single
        best = np.array([int(self._alone.argmin())])
        for _ in range(STEPS):
            middle = (low + high) / 2.0
            found = self.chosen(middle, count)
            if found is None:
                low = middle
            else:
                best, high = found, middle
        return best

    def best(self, count: int) -> Spheres:
        """Return at most this number of spheres that stick out little: the best of a few starts."""
        random = np.random.default_rng(2)
        starts = [self.least(count), self._furthest(count)]
        starts += [random.choice(len(self.centres), min(count, len(self.centres)), replace=False) for _ in range(TRIES)]
        _, chosen = min((self._settled(start) for start in starts), key=lambda found: found[0])
        return self._nudged(self.centres[chosen], self.depths[chosen], self._excess[:, chosen].argmin(axis=1))

    def within(self, error: float, most: int) -> Spheres:
        """Return few spheres that stick out no further than an error, or the largest number, which come near it.

        Moving the centres improves greedy spheres, so those for a larger error may be sufficient.
        """
        trials = [self.chosen(factor * error, most) for factor in LARGER]
        counts = sorted({len(chosen) for chosen in trials if chosen is not None}) or [most]
        if trials[-1] is None:
            counts.append(min(most, 2 * counts[-1]))
        found = [self.best(counts[0])]
        while float(found[-1][2].max()) > error and len(found) < len(counts):
            found.append(self.best(counts[len(found)]))
        return min(found[::-1], key=lambda spheres: max(float(spheres[2].max()), error))

    def _furthest(self, count: int) -> IntArray:
        """Return a number of candidates, each the best for the points that those before it cover worst."""
        chosen = [int(self._alone.argmin())]
        least = self._excess[:, chosen[0]]
        while len(chosen) < count:
            chosen.append(int(self._excess[int(least.argmax())].argmin()))
            least = np.minimum(least, self._excess[:, chosen[-1]])
        return np.array(chosen)

    def _settled(self, chosen: IntArray) -> tuple[float, IntArray]:
        """Return the smallest error and its candidates, after rounds of assigning cells to candidates and moving these.

        A candidate without cells moves to the cell that is covered worst.
        """
        excess, best = self._excess, (np.inf, chosen)
        for _ in range(ROUNDS):
            now = excess[:, chosen]
            owners, least = now.argmin(axis=1), now.min(axis=1)
            best = min(best, (float(least.max()), chosen), key=lambda found: found[0])
            order = np.argsort(owners, kind="stable")
            cuts = np.searchsorted(owners[order], np.arange(len(chosen) + 1)).tolist()
            sorted_, lost = excess[order], int(excess[int(least.argmax())].argmin())
            own = (sorted_[first:end] for first, end in pairwise(cuts))
            moved = np.array([int(rows.max(axis=0).argmin()) if len(rows) else lost for rows in own])
            if np.array_equal(moved, chosen):
                break
            chosen = moved
        return best

    def _nudged(self, centres: FloatArray, depths: FloatArray, owners: IntArray) -> Spheres:
        """Return spheres with centres refined beyond the grid of candidates, just large enough for their cells."""
        used = [k for k in range(len(centres)) if (owners == k).any()]
        places, radii, sticking = [], [], []
        for k in used:
            own = self._corners(owners == k)
            place, depth = centres[k], float(depths[k])
            best, step = float(np.linalg.norm(own - place, axis=1).max()) - depth, self.samples.cell / 2.0
            for _ in range(8):
                tries = place + step * NUDGES
                deep = self.samples.depth_of(tries)
                stick = np.linalg.norm(own[None] - tries[:, None], axis=2).max(axis=1) - deep
                if stick.min() < best:
                    place, best = tries[stick.argmin()], float(stick.min())
                else:
                    step /= 2.0
            places.append(place)
            sticking.append(best)
            radii.append(float(np.linalg.norm(own - place, axis=1).max()) * (1.0 + HAIR))
        return np.array(places), np.array(radii), np.array(sticking)

    def _corners(self, cells: IntArray) -> FloatArray:
        """Return the corners of the pieces in cells, and the points inside, that a sphere must contain."""
        count = len(self.samples.firsts)
        mine = cells[:count][self.samples.owners]
        corners = self.samples.pieces[mine].reshape(-1, 3)
        if len(corners) > 64:
            from scipy.spatial import ConvexHull, QhullError

            with suppress(QhullError):  # all corners are in one plane: keep them all
                corners = corners[ConvexHull(corners).vertices]
        return np.concatenate([corners, self.balls[count:][cells[count:]]])


def sphere_counts(covers: list[SphereCover], most: int, share: int, error: float | None) -> list[int]:
    """Return the number of spheres for each of many surfaces, so that all stick out about equally far.

    Args:
        covers: The surfaces.
        most: Largest number of spheres in all.
        share: Largest number for one surface.
        error: Allowed distance that they stick out, if `most` is enough for it; None for the smallest possible.
    """
    low, high = error or 0.0, max((cover.single for cover in covers), default=0.0)
    best = _counts(covers, low, share) if error is not None else []
    if best and sum(best) <= most:
        return best
    best = [1] * len(covers)
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        found = _counts(covers, middle, share)
        if sum(found) > most:
            low = middle
        else:
            best, high = found, middle
    return best


def _counts(covers: list[SphereCover], error: float, share: int) -> list[int]:
    """Return the number of spheres that each surface needs for an error, at most its share."""
    found = [cover.chosen(error, share) for cover in covers]
    return [share if own is None else len(own) for own in found]
