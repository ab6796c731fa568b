"""Recognise the closed form of an arm from its lines, seen from both ends; exact families before near ones.

If the lines miss a family by little (a calibrated arm), the family is that of adjusted lines, and Newton's method moves
its solutions to the actual lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import listed
from ...transforms import FloatArray
from .axes import Axes, nearest_points

EXACT = 1e-9  # largest deviation of axes from a family: angles [rad], and lengths as shares of the arm's size
CALIBRATED = 4e-3  # largest deviation of axes that are still solved by a family and polished
SLANTED = 1e-2  # smallest sine between axes that are not parallel
JOINTS = 6


@dataclass(frozen=True)
class Off:
    """Deviation of an arm from a family: length [m] and angle [rad]."""

    length: float = 0.0
    angle: float = 0.0

    def __add__(self, other: Off) -> Off:
        return Off(max(self.length, other.length), max(self.angle, other.angle))

    def share(self, size: float) -> float:
        """Return the larger of the two, the length as a share of a size."""
        return max(self.length / size, self.angle)


@dataclass(frozen=True)
class Condition:
    """Condition for one joint alone: move a point onto a plane or a sphere.

    Args:
        sphere: Whether it is a sphere.
        anchor: The plane's normal, or the sphere's centre, shape (3,). Plane or sphere contain the wanted point.
    """

    sphere: bool
    anchor: FloatArray


@dataclass(frozen=True)
class Reaching:
    """How three joints move a point to another: one of them is found from a condition, then the other two.

    Args:
        last: Whether the third joint is found first, and then the first two; else the first, and then the other two.
        first: Condition for the joint that is found first.
        second: Condition for the second joint of the pair.
    """

    last: bool
    first: Condition
    second: Condition


@dataclass(frozen=True, eq=False)
class Family:
    """A closed form that fits an arm.

    Args:
        name: Its name.
        axes: The lines for the solution, in its order: of the arm seen from its end, if `backwards`.
        backwards: Whether the arm is seen from its end.
        off: Deviation of these lines from those of the arm.
        centre: A point that the last joints do not move: all three of a wrist, or the last two, shape (3,).
        reaching: How a wrist's centre is moved to its position; None for the family of three parallel axes.
        sense: -1 for each line that points opposite to the joint's own, else 1.
        order: Index of the arm's joint for each line.
    """

    name: str
    axes: Axes
    backwards: bool
    off: Off
    centre: FloatArray
    reaching: Reaching | None = None
    sense: tuple[float, ...] = (1.0,) * JOINTS
    order: tuple[int, ...] = tuple(range(JOINTS))

    def exact(self, size: float) -> bool:
        """Return whether an arm of a size belongs to this family up to rounding."""
        return self.off.share(size) <= EXACT


# Properties of lines: each function returns lines that have the property exactly, and their deviation from given ones


def made_parallel(axes: Axes, joints: Sequence[int]) -> tuple[Axes, Off]:
    """Return axes with the directions of some joints made parallel to their mean."""
    chosen = list(joints)
    towards = np.sign(axes.direction[chosen] @ axes.direction[chosen[0]])
    mean = (towards[:, None] * axes.direction[chosen]).sum(axis=0)
    mean /= np.linalg.norm(mean)
    sines = np.linalg.norm(np.cross(axes.direction[chosen], mean), axis=1)
    direction = axes.direction.copy()
    if sines.max() > 0.0:
        direction[chosen] = towards[:, None] * mean
    return replace(axes, direction=direction), Off(angle=float(np.arcsin(min(sines.max(), 1.0))))


def made_meet(axes: Axes, joints: Sequence[int]) -> tuple[Axes, FloatArray, Off]:
    """Return axes with some lines moved through the point nearest to all of them, and that point."""
    chosen = list(joints)
    across = np.eye(3) - axes.direction[chosen, :, None] * axes.direction[chosen, None, :]
    place = np.linalg.lstsq(across.sum(axis=0), np.einsum("nij,nj->i", across, axes.point[chosen]), rcond=None)[0]
    away = np.linalg.norm(np.einsum("nij,nj->ni", across, place - axes.point[chosen]), axis=1)
    point = axes.point.copy()
    point[chosen] = place
    return replace(axes, point=point), place, Off(length=float(away.max()))


def sine(axes: Axes, a: int, b: int) -> float:
    """Return the sine of the angle between two lines."""
    return float(np.linalg.norm(np.cross(axes.direction[a], axes.direction[b])))


def kept_direction(axes: Axes, a: int, b: int) -> tuple[Axes, FloatArray, Off] | None:
    """Return a direction along which two joints move nothing, if there is one, and axes adjusted to have it exactly.

    Two parallel revolute joints have one, two prismatic joints, and one of each with perpendicular axes.
    """
    if axes.slides[a] and axes.slides[b]:
        normal = np.cross(axes.direction[a], axes.direction[b])
        length = float(np.linalg.norm(normal))
        return (axes, normal / length, Off()) if length > SLANTED else None
    if not axes.slides[a] and not axes.slides[b]:
        made, off = made_parallel(axes, (a, b))
        return (made, made.direction[a], off) if off.angle < 2.0 * CALIBRATED else None
    turn, slide = (b, a) if axes.slides[a] else (a, b)
    normal, way = axes.direction[turn], axes.direction[slide]
    along = float(normal @ way)
    if abs(along) > CALIBRATED:
        return None
    direction = axes.direction.copy()
    if along != 0.0:
        direction[slide] = (way - along * normal) / np.linalg.norm(way - along * normal)
    return replace(axes, direction=direction), normal, Off(angle=abs(along))


# How three joints reach


def ways_to_reach(axes: Axes) -> Iterator[tuple[Axes, Reaching, Off]]:
    """Yield ways in which the first three joints move a point to another, two roots at a time."""
    for last, alone, a, b in ((False, 0, 1, 2), (True, 2, 0, 1)):
        kept = kept_direction(axes, a, b)
        if kept is not None:
            made, normal, off = kept
            if _moves_off_plane(made, alone, normal) and _spans_plane(made, a, b, normal):
                across = np.cross(normal, made.direction[a])
                second = Condition(False, across) if made.slides[a] else Condition(True, made.point[a])
                yield made, Reaching(last, Condition(False, normal), second), off
        if not axes.slides[[a, b]].any() and sine(axes, a, b) > SLANTED:
            made, place, off = made_meet(axes, (a, b))
            if _moves_off_sphere(made, alone, place):
                yield made, Reaching(last, Condition(True, place), Condition(False, made.direction[a])), off


def _moves_off_plane(axes: Axes, joint: int, normal: FloatArray) -> bool:
    way = axes.direction[joint]
    return bool(abs(way @ normal) > SLANTED if axes.slides[joint] else np.linalg.norm(np.cross(way, normal)) > SLANTED)


def _moves_off_sphere(axes: Axes, joint: int, place: FloatArray) -> bool:
    arm = np.cross(axes.direction[joint], place - axes.point[joint])
    return bool(axes.slides[joint] or np.linalg.norm(arm) > CALIBRATED * axes.size)


def _spans_plane(axes: Axes, a: int, b: int, normal: FloatArray) -> bool:
    if axes.slides[[a, b]].any():
        return True
    return bool(np.linalg.norm(np.cross(normal, axes.point[b] - axes.point[a])) > CALIBRATED * axes.size)


# Families


def wrists(axes: Axes, *, backwards: bool) -> Iterator[Family]:
    """Yield the forms of an arm whose last three axes meet in a point."""
    if axes.slides[3:].any() or min(sine(axes, 3, 4), sine(axes, 4, 5)) < SLANTED:
        return
    made, centre, off = made_meet(axes, (3, 4, 5))
    for reached, reaching, more in ways_to_reach(made):
        name = "spherical shoulder" if backwards else "spherical wrist"
        yield Family(name, reached, backwards, off + more, centre, reaching)


def three_parallel(axes: Axes, *, backwards: bool) -> Iterator[Family]:
    """Yield the forms of an arm whose second, third and fourth axes are parallel, the last two meeting."""
    if axes.slides.any() or min(sine(axes, 0, 1), sine(axes, 3, 4), sine(axes, 4, 5)) < SLANTED:
        return
    made, off = made_parallel(axes, (1, 2, 3))
    apart = [nearest_points(made, 1, 2)[2], nearest_points(made, 2, 3)[2]]
    made, centre, more = made_meet(made, (4, 5))
    if min(apart) > CALIBRATED * axes.size:
        made, sense = _pointing_alike(made, centre)
        yield Family("three parallel axes", made, backwards, off + more, centre, sense=sense)


def _pointing_alike(axes: Axes, centre: FloatArray) -> tuple[Axes, tuple[float, ...]]:
    """Return axes with the three parallel lines pointing the same way, and their points at the centre's height."""
    direction, point, sense = axes.direction.copy(), axes.point.copy(), np.ones(JOINTS)
    along = direction[1].copy()
    sense[1:4] = np.sign(direction[1:4] @ along)
    direction[1:4] = along
    point[1:4] += ((centre - point[1:4]) @ along)[:, None] * along
    return replace(axes, direction=direction, point=point), tuple(sense.tolist())


def orders(axes: Axes) -> Iterator[tuple[int, ...]]:
    """Yield equivalent orders of the joints: adjacent revolute and prismatic joints on one axis can be exchanged."""
    own = tuple(range(len(axes)))
    yield own
    for k in range(len(axes) - 1):
        if axes.slides[k] != axes.slides[k + 1] and sine(axes, k, k + 1) < EXACT:
            yield (*own[:k], k + 1, k, *own[k + 2 :])


def families(axes: Axes) -> Iterator[Family]:
    """Yield all closed forms that an arm of six joints may have, whatever its deviation from them."""
    for order in orders(axes):
        for backwards in (False, True):
            seen, places = axes.ordered(order), order
            if backwards:
                seen, places = seen.reversed(), order[::-1]
            for family in (*wrists(seen, backwards=backwards), *three_parallel(seen, backwards=backwards)):
                yield replace(family, order=places)


def recognised(axes: Axes) -> Family | str:
    """Return the closed form of an arm, or a text on why it has none: the nearest one, and the deviation from it."""
    if len(axes) != JOINTS:
        return f"it has {len(axes)} joints, and closed forms here are for {JOINTS}"
    size, nearest = axes.size, None
    for family in families(axes):
        if family.exact(size):
            return family
        if nearest is None or family.off.share(size) < nearest.off.share(size):
            nearest = family
    if nearest is not None and nearest.off.share(size) <= CALIBRATED:
        return nearest
    return _why_not(axes, nearest)


def _why_not(axes: Axes, nearest: Family | None) -> str:
    parallel = made_parallel(axes, (1, 2, 3))[1].angle
    apart = {joints: made_meet(axes, joints)[2].length for joints in ((3, 4, 5), (0, 1, 2))}
    meeting = [
        f"axes {listed([str(k + 1) for k in joints])} pass {in_words(length)} from a common point"
        for joints, length in apart.items()
        if not axes.slides[list(joints)].any()
    ]
    told = [*meeting, f"axes 2, 3 and 4 are {math.degrees(parallel):.3g}° from parallel"]
    if nearest is not None:
        told.insert(0, f"the nearest is {nearest.name!r}, {in_words(nearest.off.length)} off")
    return "; ".join(told)


def in_words(metres: float) -> str:
    """Return a length as text, in mm or m."""
    return f"{1e3 * metres:.3g} mm" if metres < 0.9995 else f"{metres:.3g} m"
