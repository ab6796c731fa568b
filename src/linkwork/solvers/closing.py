"""Mechanisms put together: closed poses, the one nearest to another or any, and all the ways there are.

From a pose nearby, Newton's method closes loops. From anywhere, compiled damped steps do, begun again at random; each
way to put a mechanism together that they find is an assembly mode.
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

PULLS = 60  # towards a pose along the closed ones
THERE = 1e-9  # as near as a closed pose need be to another, by the mechanism's size
TRIES, STARTS = 16384, 64  # random starts at most, and at once
FOLDED = 300  # starts that lead to poses folded into themselves, after which others are not looked for
IDLE, SEEN_OFTEN = 60, 8  # starts in a row that find nothing new, and how often the rarest way was found, to be done
FEW = 60  # random starts of a search for one assembly
SEEN = 1e-6  # a coordinate that a unit motion changes by less does not drive it
OTHERS = 24  # looked at where a pose has more freedom than joints and loops count: it may be folded into itself


class Assemblies(Sequence[FloatArray]):
    """The ways in which a mechanism can be put together, the nearest to a start first: closed poses.

    Attributes:
        linkage: The linkage.
        poses: The poses, shape (n, nq).
        held: The coordinates that have the same value in all of them: those to keep, and others if they leave the
            mechanism free to move.
        complete: Whether the search ended because it found nothing new, not because it had found enough.

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

    A mechanism that is free to move has closed poses without end. Then as many of its coordinates as it has freedom are
    held where the first pose found has them, and the ways that leave them there come back. Poses in which it could move
    all the same are left out: a Peaucellier whose corners lie on one another swings as it likes.

    Args:
        linkage: A linkage with loops.
        start: A pose that the answers are sorted by, and that says where joints to keep are; neutral by default.
        keep: Names of joints, or coordinates, that keep their values to the bit.
        tolerance: The gap that counts as closed where it cannot be made smaller [m, rad]; each loop's own by default.
        most: How many ways to look for; a mechanism of many loops has very many.
        seed: Of the random starts.

    Raises:
        LoopError: If no way was found; it says how far apart the loops stay.

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
    """The ways to put a mechanism together that have been found, and how often each was.

    Args:
        closure: The loops.
        first: The first that was found.
        free: The velocities that are free; ways in which these move more freely than in the first are none.
        limit: How many are wanted.
    """

    def __init__(self, closure: Closure, first: FloatArray, free: NDArray[np.bool_], limit: int) -> None:
        self.closure, self.free, self.limit = closure, free, limit
        self.poses, self.hits, self.idle, self.folded = [first], [0], 0, 0
        self.least = closure.freedom(first, free) if limit > 1 else 0

    @property
    def settled(self) -> bool:
        """Whether many starts found nothing new, and the rarest way has been found several times."""
        return self.idle >= IDLE and min(self.hits) >= SEEN_OFTEN

    @property
    def enough(self) -> bool:
        """Whether to look no further."""
        return len(self.poses) >= self.limit or self.settled or self.folded >= FOLDED

    def add(self, other: FloatArray | None) -> None:
        """Count a closed pose, or a start that led to none."""
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
        """Return which of the ways a pose is: by its joints or, where some spin idly, by where links are."""
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
    """Return a closed pose: the nearest to a pose if it can be closed from there, else one from a random start."""
    begin, nearest = pose, pose
    for _ in range(FEW):
        found = _closed(closure, begin, free)
        if found is not None:
            return _nearest(closure, found, pose, free) if begin is pose else found
        begin = _elsewhere(closure, pose, free, rng)[0]
    nearest = closure.approach(pose, free)
    held = f" with {', '.join(map(repr, names))} kept" if names else ""
    raise LoopError(
        f"no pose of linkage {closure.linkage.name!r} closes its loops{held}, tried from {FEW} places:"
        f" {widest(closure, nearest)}",
        gap=float(closure.gap(nearest)),
    )


def _least_free(
    closure: Closure, first: FloatArray, pose: FloatArray, free: NDArray[np.bool_], rng: np.random.Generator
) -> FloatArray:
    """Return a closed pose, or another one if that leaves less freedom."""
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
    """Return random poses (count, nq) whose joints to keep are where they are.

    Slides without limits go as far as the mechanism is large.
    """
    linkage = closure.linkage
    found, (q, v, _) = linkage.random_pose(rng, count), linkage.table.plain
    open_ended = q[linkage.table.slides[v] & np.isinf(linkage.lower[q]) & np.isinf(linkage.upper[q])]
    found[:, open_ended] *= closure.size  # they are drawn within a metre
    return np.where(pose_places(linkage, ~free), pose, found)


def _closed(closure: Closure, q: FloatArray, free: NDArray[np.bool_]) -> FloatArray | None:
    """Return a closed pose that a search begun at a pose leads to, joints that are not free as they are; or None."""
    return _all_closed(closure, q[None], free)[0]


def _all_closed(closure: Closure, starts: FloatArray, free: NDArray[np.bool_]) -> list[FloatArray | None]:
    """Return the closed poses that searches begun at poses (n, nq) lead to, None for those that lead to none."""
    linkage, program = closure.linkage, closure.program
    if linkage.couplings:  # followers are put at once where their drivers have them
        starts = np.where(pose_places(linkage, ~free), starts, clamped(linkage, followed(linkage, starts)))
    if program is None:
        return [closure.newton(closure.approach(q, free), free) for q in starts]
    found, closed = program.closed(free, starts)
    return [q if good else None for q, good in zip(found, closed, strict=True)]


def _drivers(closure: Closure, q: FloatArray, free: NDArray[np.bool_]) -> list[str]:
    """Return coordinates that drive a mechanism at a closed pose: as many as it has freedom."""
    from scipy.linalg import qr

    linkage = closure.linkage
    plain = {int(v): linkage.coordinates[k] for k, v in zip(*linkage.table.plain[:2], strict=True)}
    columns = [v for v in np.flatnonzero(free) if int(v) in plain]
    ways = closure.ways(q, free)[:, columns]
    if not ways.size:
        return []
    r, order = qr(ways, mode="r", pivoting=True)
    seen = int((np.abs(np.diag(r)) > SEEN).sum())  # what spins idly on ball joints moves no plain coordinate
    return [plain[int(columns[k])] for k in order[:seen]]


def close(
    linkage: Linkage, q: PoseLike | None, *, keep: Iterable[str] = (), tolerance: float | None = None
) -> FloatArray:
    """Return the nearest pose in which all loops close; the joints in `keep` do not move.

    It is a local minimum of the distance: another assembly may be nearer.

    Args:
        linkage: A linkage with loops.
        q: The pose, or the name of a stored one. None assembles the mechanism from random starts, see
            `assemble`.
        keep: Names of joints that keep their values to the bit.
        tolerance: The gap that counts as closed where it cannot be made smaller [m, rad]; each loop's own by default.

    Raises:
        LoopError: If the loops cannot be closed from there; it says how far apart they stay.

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
            f"of the joints to keep, {', '.join(map(repr, names))}, one is beyond its limits in this pose."
        )
    found = _closed(closure, start, free)
    if found is None:
        nearest = closure.approach(start, free)
        held = f" with {', '.join(map(repr, names))} kept" if names else ""
        raise LoopError(
            f"the loops of linkage {linkage.name!r} cannot be closed from this pose{held}: {widest(closure, nearest)}"
            " lw.assemble looks for poses elsewhere.",
            gap=float(closure.gap(nearest)),
        )
    return np.where(kept, pose, _nearest(closure, found, pose, free))


def _nearest(closure: Closure, q: FloatArray, wanted: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
    """Return a closed pose drawn towards another along the closed ones, as long as that brings it nearer."""
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
