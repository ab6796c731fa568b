"""Couplings: joints that follow one or several others, by ratios or a curve, with their own values in the pose.

A gear with one driver needs no coupling: it is a `Mimic`, which has no value of its own. Solves close couplings like
loops, one row each; `followed` sets the followers directly.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import JointNotFoundError, MimicError
from ..transforms import FloatArray, as_number, is_number, read_only, reraised_as
from .curves import CouplingCurve
from .tree import CLOSED, Drive, check_names

if TYPE_CHECKING:
    from .joints import Joint
    from .linkage import Linkage


@dataclass(frozen=True)
class Coupling:
    """A joint that follows others: ``follower = curve(sum of ratio * driver + phase) + offset``.

    The follower has a value of its own in the pose. Solves, `close` and `drive` hold the coupling, as they close loops;
    other poses may break it.

    Args:
        name: Name, unique among the couplings of a linkage.
        follower: The joint that follows, one with a single value, or a coordinate such as ``"hip.rx"``.
        drivers: The joint that it follows, or ratios by joint; a mimic joint can be a driver too.
        curve: The follower's value as a function of the driver's: a cam, a Geneva drive, a polynomial. None is a
            straight line, as for gears.
        phase: Added to the drivers' values before the curve is applied.
        offset: Added to the follower's value after the curve is applied.
        tolerance: Largest error of a coupling that holds [rad or m].

    Example:
        >>> Coupling("differential", "sun", {"carrier": 3.0, "ring": -2.0})
        <Coupling 'differential': sun = 3 carrier - 2 ring>
    """

    name: str
    follower: str
    drivers: tuple[tuple[str, float], ...]
    curve: CouplingCurve | None = None
    phase: float = 0.0
    offset: float = 0.0
    tolerance: float = CLOSED

    def __post_init__(self) -> None:
        given: Any = self.drivers
        given = {given: 1.0} if isinstance(given, str) else given
        what = f"coupling {self.name!r}"
        try:
            pairs = list(given.items() if isinstance(given, Mapping) else given)
            named = [(joint, as_number(ratio, f"ratio of {joint!r} in {what}")) for joint, ratio in pairs]
        except (TypeError, ValueError) as error:
            raise MimicError(
                f"drivers of {what} must be the name of a joint, or ratios by joint name, got {given!r}."
            ) from error
        names = [joint for joint, _ in named]
        if not named or not all(isinstance(joint, str) for joint in (self.follower, *names)):
            raise MimicError(f"{what} needs a follower and drivers by name, got {self.follower!r} and {given!r}.")
        if len({self.follower, *names}) <= len(names):
            raise MimicError(f"{what} names a joint twice: {', '.join([self.follower, *names])}.")
        if self.curve is not None and not isinstance(self.curve, CouplingCurve):
            raise MimicError(f"the curve of {what} must be a curve such as CamTable, got {self.curve!r}.")
        if not is_number(self.tolerance) or not 0.0 < self.tolerance < math.inf:
            raise MimicError(f"tolerance of {what} must be positive and finite, got {self.tolerance!r}.")
        with reraised_as(MimicError):
            numbers = {name: as_number(getattr(self, name), f"{name} of {what}") for name in ("phase", "offset")}
        vars(self).update(numbers, drivers=tuple(named), tolerance=float(self.tolerance))

    @property
    def joints(self) -> tuple[str, ...]:
        """The follower and its drivers."""
        return self.follower, *(joint for joint, _ in self.drivers)

    def renamed(self, names: Mapping[str, str]) -> Coupling:
        """Return the coupling with renamed joints and coordinates."""
        drivers = tuple((_renamed(joint, names), ratio) for joint, ratio in self.drivers)
        return replace(self, follower=_renamed(self.follower, names), drivers=drivers)

    def __repr__(self) -> str:
        return f"<Coupling {self.name!r}: {coupling_text(self)}>"


def coupling_text(coupling: Coupling) -> str:
    """Return a coupling as an equation: ``sun = 3 carrier - 2 ring``, ``lift = program(cam)``."""
    terms = " ".join(_term(ratio, joint, k == 0) for k, (joint, ratio) in enumerate(coupling.drivers))
    inside = f"{terms}{_plus(coupling.phase)}"
    text = inside if coupling.curve is None else f"{coupling.curve.kind}({inside})"
    return f"{coupling.follower} = {text}{_plus(coupling.offset)}"


def _renamed(name: str, names: Mapping[str, str]) -> str:
    if name in names:
        return names[name]
    joint, dot, coordinate = name.rpartition(".")
    return f"{names[joint]}.{coordinate}" if dot and joint in names else name


def _term(ratio: float, joint: str, first: bool) -> str:
    sign = ("-" if ratio < 0.0 else "") if first else ("- " if ratio < 0.0 else "+ ")
    return f"{sign}{joint}" if abs(ratio) == 1.0 else f"{sign}{abs(ratio):.6g} {joint}"


def _plus(number: float) -> str:
    return f" {'-' if number < 0.0 else '+'} {abs(number):.6g}" if number else ""


class CouplingRow(NamedTuple):
    """A coupling with the pose and velocity indices of its joints.

    Attributes:
        coupling: The coupling.
        q: Index of the follower in the pose.
        v: Index of the follower in the velocity.
        unit: The follower's unit, ``"rad"`` or ``"m"``.
        values: Indices of the drivers in the pose.
        rates: Indices of the drivers in the velocity.
        ratios: Their ratios, including the multipliers of mimic joints.
        shifts: Offsets of mimic joints among the drivers.
    """

    coupling: Coupling
    q: int
    v: int
    unit: str
    values: NDArray[np.int64]
    rates: NDArray[np.int64]
    ratios: FloatArray
    shifts: FloatArray

    def argument(self, poses: FloatArray) -> FloatArray:
        """Return the argument of the curve in poses (..., nq), shape (...)."""
        return np.asarray(poses[..., self.values] @ self.ratios + (self.coupling.phase + sum(self.shifts.tolist())))

    def value(self, poses: FloatArray) -> FloatArray:
        """Return the value that the follower should have in poses (..., nq), shape (...)."""
        at, curve = self.argument(poses), self.coupling.curve
        return np.asarray((at if curve is None else curve.value(at)) + self.coupling.offset)

    def slope(self, poses: FloatArray) -> FloatArray:
        """Return the slope of the curve there, shape (...)."""
        at, curve = self.argument(poses), self.coupling.curve
        return np.ones(at.shape) if curve is None else curve.slope(at)

    def bend(self, poses: FloatArray) -> FloatArray:
        """Return the second derivative of the curve there, shape (...)."""
        at, curve = self.argument(poses), self.coupling.curve
        return np.zeros(at.shape) if curve is None else curve.bend(at)


def rows_of(
    couplings: Sequence[Coupling], arcs: Sequence[Joint], drives: Sequence[Drive], where: str
) -> tuple[CouplingRow, ...]:
    """Return couplings with the indices of their joints, in an order in which drivers come first; checked.

    Raises:
        MimicError: If a joint follows twice, or joints follow each other in a circle.
        JointNotFoundError: If there is no such joint.
    """
    check_names("coupling", [coupling.name for coupling in couplings], where)
    rows = [_row(coupling, arcs, drives, where) for coupling in couplings]
    by_place = {row.q: row for row in rows}
    if len(by_place) < len(rows):
        names = [row.coupling.follower for row in rows if by_place[row.q] is not row]
        raise MimicError(f"joint {names[0]!r} in {where} follows by two couplings; keep one of them.")
    graph = {row.q: [int(place) for place in row.values if int(place) in by_place] for row in rows}
    try:
        return tuple(by_place[place] for place in TopologicalSorter(graph).static_order())
    except CycleError as error:
        ring = ", ".join(dict.fromkeys(by_place[place].coupling.follower for place in error.args[1]))
        raise MimicError(f"joints {ring} of {where} follow each other in a circle.") from error


def _row(coupling: Coupling, arcs: Sequence[Joint], drives: Sequence[Drive], where: str) -> CouplingRow:
    q, v, _, _, unit, mimic = _place(coupling.follower, coupling, arcs, drives, where)
    if mimic is not None:
        raise MimicError(f"{coupling.follower!r} in {where} mimics {mimic!r} and cannot follow {coupling.name!r} too.")
    found = [_place(joint, coupling, arcs, drives, where) for joint, _ in coupling.drivers]
    named = np.array([ratio for _, ratio in coupling.drivers])
    ratios, shifts = (read_only(named * [place[k] for place in found]) for k in (2, 3))
    values, rates = (read_only(np.array([place[k] for place in found], np.int64)) for k in (0, 1))
    if q in values.tolist():
        raise MimicError(f"coupling {coupling.name!r} in {where} lets {coupling.follower!r} follow itself.")
    return CouplingRow(coupling, q, v, unit, values, rates, ratios, shifts)


def _place(
    name: str, coupling: Coupling, arcs: Sequence[Joint], drives: Sequence[Drive], where: str
) -> tuple[int, int, float, float, str, str | None]:
    """Return pose index, velocity index, multiplier, offset, unit, and mimicked joint (or None) of a coordinate."""
    for arc, drive in zip(arcs, drives, strict=True):
        articulation = arc.articulation
        for k, coordinate in enumerate(arc.coordinates):
            if coordinate != name:
                continue
            rate = next((e.rate for e in articulation.elements if e.kind != "ball" and e.value == k), None)
            if rate is None:
                raise MimicError(
                    f"{name!r} is a part of a quaternion, which cannot be coupled ({coupling.name!r}); use Euler "
                    "angles."
                )
            leader = None if arc.mimic is None else arc.mimic.joint
            return drive.q + k, drive.v + rate, drive.multiplier, drive.offset, articulation.units[k], leader
        if arc.name == name:
            several = ", ".join(arc.coordinates) or "none"
            raise MimicError(f"coupling {coupling.name!r} takes one value; joint {name!r} has {several}.")
    known = [coordinate for arc in arcs for coordinate in arc.coordinates]
    raise JointNotFoundError(name, f"{where} (coupling {coupling.name!r})", known)


def followed(linkage: Linkage, q: FloatArray, changed: Iterable[int] | None = None) -> FloatArray:
    """Return poses (..., nq) in which followers have the values set by their drivers.

    Args:
        linkage: The linkage.
        q: The poses, which are not changed; without couplings, they are returned themselves.
        changed: Pose indices that were set: only followers of these are moved, unless they were set themselves. All by
            default.
    """
    if not linkage.couplings:
        return q
    result, given = np.array(q), None if changed is None else set(changed)
    for row in linkage.coupling_rows:
        if given is not None:
            if row.q in given or given.isdisjoint(row.values.tolist()):
                continue
            given.add(row.q)
        result[..., row.q] = row.value(result)
    return result


def couplings_of(linkage: Linkage, frame: str) -> list[str]:
    """Return the names of the couplings whose joints move a frame."""
    if not linkage.couplings:
        return []
    path, _ = linkage.path_to(frame)
    moving = {place for i in path for place in range(linkage.nq)[linkage.drives[i].columns]}
    return [row.coupling.name for row in linkage.coupling_rows if moving & {row.q, *row.values.tolist()}]


def geared(rows: Iterable[CouplingRow]) -> set[int]:
    """Return the pose indices whose whole turns matter: followers, and drivers unless every turn is the same."""
    places: set[int] = set()
    for row in rows:
        places.add(row.q)
        advance = None if row.coupling.curve is None else row.coupling.curve.advance
        places.update(
            int(place)
            for place, ratio in zip(row.values, row.ratios, strict=True)
            if advance != 0.0 or float(ratio) % 1.0 != 0.0
        )
    return places


def welded(linkage: Linkage, still: set[int], q: FloatArray) -> list[Coupling]:
    """Return the couplings that remain when values of a pose are held; followers that are then fixed are added.

    Args:
        linkage: The linkage.
        still: Pose indices that are held; followers whose drivers are all held are added.
        q: The pose.

    Raises:
        MimicError: If a follower should be held while one of its drivers moves.
    """
    left = {}
    for row in linkage.coupling_rows:
        coupling = row.coupling
        stays = [int(place) in still for place in row.values]
        if row.q in still:
            names = ", ".join(repr(joint) for joint, _ in coupling.drivers)
            raise MimicError(f"joint {coupling.follower!r} follows {names} by {coupling.name!r}; freeze that first.")
        if all(stays):
            still.add(row.q)
            continue
        gone = float((q[row.values] * row.ratios + row.shifts)[stays].sum())
        drivers = tuple(pair for pair, stay in zip(coupling.drivers, stays, strict=True) if not stay)
        left[coupling.name] = replace(coupling, drivers=drivers, phase=coupling.phase + gone)
    return [left[coupling.name] for coupling in linkage.couplings if coupling.name in left]


def kept_below(linkage: Linkage, joints: Collection[str], link: str) -> list[Coupling]:
    """Return the couplings among the joints below a link.

    Raises:
        MimicError: If one of these follows another joint.
    """
    kept = []
    for coupling in linkage.couplings:
        inside = [name in joints or name.rpartition(".")[0] in joints for name in coupling.joints]
        if all(inside):
            kept.append(coupling)
        elif inside[0]:
            above = ", ".join(repr(name) for name, own in zip(coupling.joints, inside, strict=True) if not own)
            raise MimicError(f"{coupling.follower!r} below {link!r} follows {above} above it; freeze that first.")
    return kept
