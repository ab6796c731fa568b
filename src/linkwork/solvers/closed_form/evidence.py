"""Texts on why a target has no solution: which of the three roots does not exist, and by how much."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...transforms import FloatArray
from .recognition import Condition, Family, in_words

ROOTS = 3
SLIGHT = 1e-9  # a root missed by less exists [m, rad]


def why_none(family: Family, branches: Any, joints: tuple[str, ...], motion: FloatArray, centre: str = "") -> str:
    """Return which root stops the branch that comes furthest, and by how much.

    Args:
        family: The family.
        branches: The kernel's notes on every branch, ignoring limits: BRANCH.
        joints: Names of the joints, in the arm's order.
        motion: The motion that the solved joints must make together, 4x4.
        centre: Name of the centre of a wrist; by default that of a spherical wrist or shoulder.
    """
    misses = np.where(np.isfinite(branches.miss), branches.miss, 0.0)
    stopped = np.argmax(np.concatenate([misses > SLIGHT, np.ones((len(misses), 1), bool)], axis=1), axis=1)
    best = max(range(len(misses)), key=lambda k: (stopped[k], -misses[k, min(stopped[k], ROOTS - 1)]))
    root = int(stopped[best])
    if root == ROOTS:
        return "every branch has all of its roots, but none is within the tolerance"
    names = tuple(joints[k] for k in family.order)
    miss, amounts = float(misses[best, root]), branches.amounts[best]
    if family.reaching is None:
        return _of_parallel(family, names, root, miss, amounts, motion)
    own = "shoulder centre, seen from the tip," if family.backwards else "wrist centre"
    return _of_wrist(family, names, root, miss, amounts, motion, centre or own)


def _of_wrist(
    family: Family, names: tuple[str, ...], root: int, miss: float, amounts: FloatArray, motion: FloatArray, what: str
) -> str:
    reaching = family.reaching
    assert reaching is not None
    if root == ROOTS - 1:
        return _of_angle(names[3], names[4], names[5], miss)
    alone, one, two = (2, 0, 1) if reaching.last else (0, 1, 2)
    place = motion[:3, :3] @ family.centre + motion[:3, 3]
    begin, end = family.centre, place
    if root == 0 and not reaching.last:
        return _of_first(what, names, reaching.first, miss)
    if root == 0:
        begin = _moved(family, alone, amounts, begin)
        return _of_condition(what, names[alone], reaching.first, miss, begin, end, names)
    if reaching.last:
        begin = _moved(family, alone, amounts, begin)
    else:
        end = _moved(family, alone, -amounts, end)
    return _of_condition(
        what, names[two], reaching.second, miss, _moved(family, two, amounts, begin), end, names, names[one]
    )


def _of_first(what: str, names: tuple[str, ...], condition: Condition, miss: float) -> str:
    others = f"{names[1]} and {names[2]}"
    if condition.sphere:
        return f"the {what} cannot be turned about {names[0]} to where {others} reach: it is {in_words(miss)} short"
    return f"the {what} is {in_words(miss)} too near to the axis of {names[0]}, given the offset of {others} from it"


def _of_condition(
    what: str,
    joint: str,
    condition: Condition,
    miss: float,
    reached: FloatArray,
    wanted: FloatArray,
    names: tuple[str, ...],
    about: str = "",
) -> str:
    if not condition.sphere:
        return f"the {what} is {in_words(miss)} beyond what {joint} reaches along the axis of {about or names[0]}"
    around = f"around {about}" if about else f"around the point where {names[0]} and {names[1]} meet"
    over = float(np.linalg.norm(wanted - condition.anchor) - np.linalg.norm(reached - condition.anchor))
    return f"the {what} is {in_words(abs(over))} {'inside the hole' if over < 0.0 else 'beyond the reach'} {around}"


def _of_parallel(
    family: Family, names: tuple[str, ...], root: int, miss: float, amounts: FloatArray, motion: FloatArray
) -> str:
    if root == 0:
        what = f"the point where {names[4]} and {names[5]} meet"
        return f"{what} is {in_words(miss)} too near to the axis of {names[0]}, given the offset of the arm from it"
    if root == 1:
        return _of_angle(names[1], names[4], names[5], miss)
    axes, along = family.axes, family.axes.direction[1]
    place = motion[:3, :3] @ family.centre + motion[:3, 3]
    end = _moved(family, 0, -amounts, place)
    end = end - _turned(along, float(amounts[1:4].sum()), family.centre - axes.point[3])
    reached = _moved(family, 2, amounts, axes.point[3])
    anchor = Condition(True, axes.point[1])
    return _of_condition(f"axis of {names[3]}", names[2], anchor, miss, reached, end, names, names[1])


def _of_angle(outer: str, middle: str, last: str, miss: float) -> str:
    share = math.degrees(math.acos(max(1.0 - miss, -1.0)))
    return f"{middle} cannot give the axis of {last} the required angle to that of {outer}: it is {share:.3g}° short"


def _turned(h: FloatArray, angle: float, v: FloatArray) -> FloatArray:
    c, s = math.cos(angle), math.sin(angle)
    return np.asarray(c * v + s * np.cross(h, v) + (1.0 - c) * (h @ v) * h)


def _moved(family: Family, joint: int, amounts: FloatArray, x: FloatArray) -> FloatArray:
    h, c = family.axes.direction[joint], family.axes.point[joint]
    if family.axes.slides[joint]:
        return np.asarray(x + amounts[joint] * h)
    return np.asarray(c + _turned(h, float(amounts[joint]), x - c))
