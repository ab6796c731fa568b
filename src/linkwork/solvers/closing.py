"""Assemble mechanisms: the closed pose nearest to a given one, any closed pose, or all assembly modes.

From a nearby pose, Newton's method closes the loops. From anywhere else, compiled damped steps close them, from random
starts; each distinct closed pose found is an assembly mode.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ..errors import LoopError, OptionError
from ..goals import closings
from ..linkage.couplings import followed
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, clamped, same_pose
from ..transforms import FloatArray
from .loops import APART, Closure, free_velocities, least_squares, link_places, one_pose, pose_places, widest
from .options import whole

PULLS = 60  # largest number of steps along closed poses towards a wanted one
THERE = 1e-9  # two closed poses nearer than this, relative to the mechanism's size, are the same
TRIES, STARTS = 16384, 64  # largest number of random starts, and number of starts searched at once
FOLDED = 300  # starts that led to folded poses, after which the search ends
IDLE, SEEN_OFTEN = 60, 8  # the search ends after IDLE starts without a new pose, if each was found SEEN_OFTEN times
FEW = 60  # random starts of a search for one assembly
SEEN = 1e-6  # a coordinate that a unit motion changes by less is not a driver
OTHERS = 24  # other poses tried if one has more freedom than its joints and loops give: it may be folded


class Assemblies(Sequence[FloatArray]):
    """The assemblies of a mechanism: closed poses, nearest to a start first.

    Attributes:
        linkage: The linkage.
        poses: The poses, shape (n, nq).
        held: The coordinates that have the same value in all poses: those in `keep`, and more if the mechanism could
            still move.
        complete: Whether the search ended because it found no more, not because it reached its limit.

    Example:
        >>> import linkwork as lw
        >>> bars = lw.models.four_bar()
        >>> ways = lw.assemble(bars, start=bars.pose(crank=0.7), keep="crank")
        >>> ways, ways[1].round(3).tolist()
        (<2 assemblies of 'four_bar' with crank held>, [0.7, -1.973, -2.225])
    """

    def __init__(self, linkage: Linkage, poses: FloatArray, held: Sequence[str], *, complete: bool) -> None:
        self.linkage, self.poses, self.held, self.complete = linkage, poses, tuple(held), complete

    def __len__(self) -> int:
        return len(self.poses)

    @overload
    def __getitem__(self, index: int) -> FloatArray: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FloatArray]: ...
    def __getitem__(self, index: int | slice) -> FloatArray | Sequence[FloatArray]:
        return self.poses[index] if isinstance(index, slice) else self.poses[index].copy()

    def __repr__(self) -> str:
        ways = "1 assembly" if len(self) == 1 else f"{len(self)} assemblies"
        held = f" with {', '.join(self.held)} held" if self.held else ""
        return f"<{ways}{'' if self.complete else ' or more'} of {self.linkage.name!r}{held}>"


def assemble(
    linkage: Linkage,
    *,
    start: PoseLike | None = None,
    keep: Iterable[str] = (),
    tolerance: float | None = None,
    most: int = 64,
    seed: int = 0,
) -> Assemblies:
    """Return the assemblies of a mechanism: closed poses, found from random starts.

    A mechanism that can move has infinitely many closed poses. Then one coordinate per degree of freedom is held at its
    value in the first pose found, and the assemblies with these values are returned. Poses in which the mechanism can
    still move are left out: a Peaucellier linkage with coincident corners swings freely.

    Args:
        linkage: A linkage with loops.
        start: A pose: results are sorted by distance from it, and joints to keep have its values; neutral by default.
        keep: Names of joints, or coordinates, that keep their exact values.
        tolerance: Gap that counts as closed if it cannot be made smaller [m, rad]; each loop's own by default.
        most: Largest number of assemblies to find; a mechanism with many loops has very many.
        seed: Seed of the random starts.

    Raises:
        LoopError: If no assembly was found; the message gives the remaining gap.

    Example:
        >>> import linkwork as lw
        >>> leg = lw.models.jansen_leg()
        >>> len(lw.assemble(leg, start="start", keep="crank"))
        8
    """
    check_linkage(linkage)
    limit = whole("most", most, least=1)
    closure, pose = Closure(linkage, closings(linkage, tolerance)), clamped(linkage, one_pose(linkage, start))
    free, names = free_velocities(linkage, keep)
    rng = np.random.default_rng(seed)
    first = _least_free(closure, _first(closure, pose, free, names, rng), pose, free, rng)
    held = names
    if limit > 1:
        held = [*names, *_drivers(closure, first, free)]
        free, _ = free_velocities(linkage, held)
        pose = np.where(pose_places(linkage, ~free), first, pose)
    found = _Found(closure, first, free, limit)
    for _ in range(TRIES // STARTS):
        if found.enough:
            break
        for other in _all_closed(closure, _elsewhere(closure, pose, free, rng, STARTS), free):
            found.add(other)
    away = [float(np.linalg.norm(closure.way(pose, one))) for one in found.poses]
    nearest_first = np.array(found.poses)[np.argsort(away, kind="stable")]
    return Assemblies(linkage, nearest_first, held, complete=found.settled)


class _Found:
    """The assemblies found so far, and how often each was found.

    Args:
        closure: The loops.
        first: The first pose found.
        free: The free velocities; poses with more freedom than the first are rejected.
        limit: Largest number of assemblies.
    """

    def __init__(self, closure: Closure, first: FloatArray, free: NDArray[np.bool_], limit: int) -> None:
        self.closure, self.free, self.limit = closure, free, limit
        self.poses, self.hits, self.idle, self.folded = [first], [0], 0, 0
        self.least = closure.freedom(first, free) if limit > 1 else 0

    @property
    def settled(self) -> bool:
        """Whether many starts found nothing new, and every assembly was found several times."""
        return self.idle >= IDLE and min(self.hits) >= SEEN_OFTEN

    @property
    def enough(self) -> bool:
        """Whether to end the search."""
        return len(self.poses) >= self.limit or self.settled or self.folded >= FOLDED

    def add(self, other: FloatArray | None) -> None:
        """Count a closed pose, or with None a start that led to none."""
        self.idle += 1
        if other is None or len(self.poses) >= self.limit:
            return
        known = self._known(other)
        if known is not None:
            self.hits[known] += 1
        elif self.closure.freedom(other, self.free) <= self.least:
            self.poses.append(other)
            self.hits.append(1)
            self.idle = 0
        else:
            self.folded += 1

    def _known(self, other: FloatArray) -> int | None:
        """Return the index of a known assembly, compared by joints or, if some spin idly, by positions of links."""
        linkage, poses = self.closure.linkage, np.array(self.poses)
        if self.least:
            away = np.abs(link_places(linkage, poses) - link_places(linkage, other)).max(axis=(-2, -1))
            same = np.flatnonzero(away <= APART * self.closure.size)
        else:
            same = np.flatnonzero(same_pose(linkage, other, poses))
        return int(same[0]) if len(same) else None


def _first(
    closure: Closure, pose: FloatArray, free: NDArray[np.bool_], names: Sequence[str], rng: np.random.Generator
) -> FloatArray:
    """Return the closed pose nearest to a pose if the loops can be closed from there, else one from a random start."""
    begin, nearest = pose, pose
    for _ in range(FEW):
        found = _closed(closure, begin, free)
        if found is not None:
            return _nearest(closure, found, pose, free) if begin is pose else found
        begin = _elsewhere(closure, pose, free, rng)[0]
    nearest = closure.approach(pose, free)
    held = f" with {', '.join(map(repr, names))} kept" if names else ""
    raise LoopError(
        f"no pose of linkage {closure.linkage.name!r} closes its loops{held}, tried from {FEW} starts:"
        f" {widest(closure, nearest)}",
        gap=float(closure.gap(nearest)),
    )


def _least_free(
    closure: Closure, first: FloatArray, pose: FloatArray, free: NDArray[np.bool_], rng: np.random.Generator
) -> FloatArray:
    """Return a closed pose with less freedom than the first, if one is found; else the first."""
    usual = max(closure.count() - int((~free).sum()), 0)
    best, least = first, closure.freedom(first, free)
    for _ in range(OTHERS):
        if least <= usual:
            break
        other = _closed(closure, _elsewhere(closure, pose, free, rng)[0], free)
        freedom = least if other is None else closure.freedom(other, free)
        if other is not None and freedom < least:
            best, least = other, freedom
    return best


def _elsewhere(
    closure: Closure, pose: FloatArray, free: NDArray[np.bool_], rng: np.random.Generator, count: int = 1
) -> FloatArray:
    """Return random poses (count, nq) in which joints that are not free keep their values.

    Prismatic joints without limits are drawn within the size of the mechanism.
    """
    linkage = closure.linkage
    found, (q, v, _) = linkage.random_pose(rng, count), linkage.table.plain
    open_ended = q[linkage.table.slides[v] & np.isinf(linkage.lower[q]) & np.isinf(linkage.upper[q])]
    found[:, open_ended] *= closure.size  # they are drawn within a metre
    return np.where(pose_places(linkage, ~free), pose, found)


def _closed(closure: Closure, q: FloatArray, free: NDArray[np.bool_]) -> FloatArray | None:
    """Return the closed pose that a search from a pose finds, moving only free joints; or None."""
    return _all_closed(closure, q[None], free)[0]


def _all_closed(closure: Closure, starts: FloatArray, free: NDArray[np.bool_]) -> list[FloatArray | None]:
    """Return the closed poses that searches from poses (n, nq) find, or None for each that finds none."""
    linkage, program = closure.linkage, closure.program
    if linkage.couplings:  # followers start at the values that follow from their drivers
        starts = np.where(pose_places(linkage, ~free), starts, clamped(linkage, followed(linkage, starts)))
    if program is None:
        return [closure.newton(closure.approach(q, free), free) for q in starts]
    found, closed = program.closed(free, starts)
    return [q if good else None for q, good in zip(found, closed, strict=True)]


def _drivers(closure: Closure, q: FloatArray, free: NDArray[np.bool_]) -> list[str]:
    """Return coordinates that drive a mechanism at a closed pose, one per degree of freedom."""
    from scipy.linalg import qr

    linkage = closure.linkage
    plain = {int(v): linkage.coordinates[k] for k, v in zip(*linkage.table.plain[:2], strict=True)}
    columns = [v for v in np.flatnonzero(free) if int(v) in plain]
    ways = closure.ways(q, free)[:, columns]
    if not ways.size:
        return []
    r, order = qr(ways, mode="r", pivoting=True)
    seen = int((np.abs(np.diag(r)) > SEEN).sum())  # idle spin on ball joints moves no plain coordinate
    return [plain[int(columns[k])] for k in order[:seen]]


def close(
    linkage: Linkage, q: PoseLike | None, *, keep: Iterable[str] = (), tolerance: float | None = None
) -> FloatArray:
    """Return the nearest pose in which all loops close; the joints in `keep` do not move.

    The result is a local minimum of the distance; another assembly may be nearer.

    Args:
        linkage: A linkage with loops.
        q: The pose, or the name of a stored one. None assembles the mechanism from random starts, see
            `assemble`.
        keep: Names of joints that keep their exact values.
        tolerance: Gap that counts as closed if it cannot be made smaller [m, rad]; each loop's own by default.

    Raises:
        LoopError: If the loops cannot be closed from there; the message gives the remaining gap.

    Example:
        >>> import linkwork as lw
        >>> bars = lw.models.four_bar()
        >>> q = lw.close(bars, bars.pose(crank=0.7, base="start"), keep=("crank",))
        >>> bool(abs(lw.Close(bars.loops[0]).error(bars, q)).max() < 1e-9)
        True
    """
    check_linkage(linkage)
    if q is None:
        return assemble(linkage, keep=keep, tolerance=tolerance, most=1)[0]
    closure, pose = Closure(linkage, closings(linkage, tolerance)), one_pose(linkage, q)
    free, names = free_velocities(linkage, keep)
    start, kept = clamped(linkage, pose), pose_places(linkage, ~free)
    if np.abs(start - pose)[kept].max(initial=0.0) > 0.0:
        raise OptionError(
            f"one of the joints to keep, {', '.join(map(repr, names))}, is beyond its limits in this pose."
        )
    found = _closed(closure, start, free)
    if found is None:
        nearest = closure.approach(start, free)
        held = f" with {', '.join(map(repr, names))} kept" if names else ""
        raise LoopError(
            f"the loops of linkage {linkage.name!r} cannot be closed from this pose{held}: {widest(closure, nearest)}"
            " lw.assemble searches from other poses.",
            gap=float(closure.gap(nearest)),
        )
    return np.where(kept, pose, _nearest(closure, found, pose, free))


def _nearest(closure: Closure, q: FloatArray, wanted: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
    """Move a closed pose towards a wanted one, along closed poses, as long as it gets nearer, and return it."""
    linkage = closure.linkage
    away = float(np.linalg.norm(closure.way(q, wanted)))
    if away < THERE:
        return q
    for _ in range(PULLS):
        jacobian, way = closure.jacobian(q)[:, free], closure.way(q, wanted)[free]
        pull = np.zeros(linkage.nv)
        pull[free] = way - least_squares(jacobian, jacobian @ way, rank=closure.rank)
        if np.abs(pull).max() < THERE:
            break
        for halving in range(6):
            closer = closure.newton(closure.moved(q, pull / 2**halving), free)
            left = math.inf if closer is None else float(np.linalg.norm(closure.way(closer, wanted)))
            if left < away:
                break
        if closer is None or left > away * (1.0 - 1e-7):
            break
        q, away = closer, left
    return q
