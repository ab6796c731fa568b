"""Closed forms of planar arms with two and three links: the chapter's figure 5.15, corrected.

The direction to the target is ``atan2(y, x)``; the figure prints an acos that loses the sign of y. The elbow angle is
pi minus the interior angle in the figure's last line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import GoalError, LinkageError, OptionError, OutOfReachError
from ..linkage.poses import wrapped
from ..transforms import as_vector, reraised_as

ELBOWS = ("down", "up")
SLACK = 1e-12  # of the arm's length: a target on the edge of reach may be off by rounding


def two_link_angles(upper: float, lower: float, target: ArrayLike, *, elbow: str = "down") -> tuple[float, float]:
    """Return the joint angles that put the tip of a planar two-link arm on a target.

    The law of cosines gives the elbow, ``cos(q2) = (x² + y² - upper² - lower²) / (2·upper·lower)``;
    the shoulder follows from the direction to the target. At the base of an arm with equal links, where any q1 is a
    solution, q1 is zero.

    Args:
        upper: Length of the first link [m].
        lower: Length of the second link [m].
        target: Tip position in the base frame [m], shape (2,).
        elbow: Which of the two solutions to return, ``"down"`` (q2 >= 0) or ``"up"``.

    Returns:
        Shoulder and elbow angles ``(q1, q2)`` [rad].

    Raises:
        OutOfReachError: If the target is outside [|upper - lower|, upper + lower].

    Example:
        >>> q1, q2 = two_link_angles(1.0, 1.0, (1.0, 1.0))
        >>> round(q1, 4), round(q2, 4)
        (0.0, 1.5708)
    """
    first, second = _lengths("two-link", (upper, lower), 2)
    x, y = _target(target)
    which = _elbow(elbow)
    _check_reach((first, second), math.hypot(x, y))
    return two_link(first, second, x, y)[which]


def three_link_angles(
    lengths: Sequence[float], target: ArrayLike, *, direction: float | None = None, elbow: str = "down"
) -> tuple[float, float, float]:
    """Return the joint angles that put the tip of a planar three-link arm on a target.

    The direction of the last link determines where the second link ends; the first two links reach that point.

    Args:
        lengths: The three lengths [m].
        target: Tip position in the base frame [m], shape (2,).
        direction: Direction of the last link, as an angle from the x axis [rad]. With None, it points from the base
            to the target or, if the other links cannot reach that, deviates as little as necessary.
        elbow: Which of the two solutions to return, ``"down"`` (q2 >= 0) or ``"up"``.

    Returns:
        The three joint angles [rad].

    Raises:
        OutOfReachError: If the arm cannot reach the target.

    Example:
        >>> [round(q, 4) for q in three_link_angles((1, 1, 1), (2, 1), direction=0.0)]
        [0.0, 1.5708, -1.5708]
    """
    first, second, third = _lengths("three-link", lengths, 3)
    x, y = _target(target)
    which = _elbow(elbow)
    if direction is None:
        _check_reach((first, second, third), math.hypot(x, y))
        direction = last_link(first, second, third, x, y)[which]
    elif not math.isfinite(direction):
        raise GoalError(f"direction must be a finite angle, got {direction!r}.")
    x, y = x - third * math.cos(direction), y - third * math.sin(direction)
    _check_reach((first, second), math.hypot(x, y), "the end of the second link would be")
    q1, q2 = two_link(first, second, x, y)[which]
    return q1, q2, _wrapped(direction - q1 - q2)


def two_link(upper: float, lower: float, x: float, y: float, facing: float = 0.0) -> list[tuple[float, float]]:
    """Return both solutions of a planar two-link arm, elbow down and up; out of reach, the closest poses.

    Args:
        upper: Length of the first link.
        lower: Length of the second link.
        x: x of the target.
        y: y of the target.
        facing: Direction of the arm if the target is at the base [rad].
    """
    r = math.hypot(x, y)
    towards = math.atan2(y, x) if r > 0.0 else facing
    bend = elbow_bend(upper, lower, r)
    lift = math.atan2(lower * math.sin(bend), upper + lower * math.cos(bend)) if r > 0.0 else 0.0
    return [(_wrapped(towards - lift), bend), (_wrapped(towards + lift), -bend)]


def last_link(
    first: float, second: float, third: float, x: float, y: float, facing: float = 0.0
) -> tuple[float, float]:
    """Return directions of the last of three links: from the base to the target, or with the least deviation needed.

    It may deviate to either side: the first direction belongs to the elbow down, the second to the elbow up.
    """
    r = math.hypot(x, y)
    nearest, farthest = abs(r - third), r + third  # distances from the base at which the second link may end
    wrist = min(max(nearest, abs(first - second)), farthest)
    off = half_angle(wrist**2 - nearest**2, farthest**2 - wrist**2) if r * third > 0.0 else 0.0
    towards = math.atan2(y, x) if r > 0.0 else facing
    return towards + off, towards - off


def elbow_bend(upper: float, lower: float, r: float) -> float:
    """Return the elbow angle, 0 (straight) to pi, at which two links span a distance or come closest to it.

    This is the law of cosines in half-angle form, ``tan²(a / 2) = ((u + l)² - r²) / (r² - (u - l)²)``, which keeps full
    precision at the edge of reach and at the base.
    """
    far, near = upper + lower, upper - lower
    return half_angle((far - r) * (far + r), (r - near) * (r + near))


def half_angle(opposite: float, adjacent: float) -> float:
    """Return the angle a with ``tan²(a / 2) = opposite / adjacent``; negative numbers are treated as zero."""
    return 2.0 * math.atan2(math.sqrt(max(opposite, 0.0)), math.sqrt(max(adjacent, 0.0)))


def _lengths(kind: str, lengths: Any, count: int) -> list[float]:
    with reraised_as(LinkageError):
        sizes: list[float] = as_vector(lengths, f"the lengths of a {kind} arm", count).tolist()
    if min(sizes) < 0.0:
        raise LinkageError(f"the lengths of a {kind} arm must not be negative, got {sizes}.")
    return sizes


def _target(target: ArrayLike) -> tuple[float, float]:
    with reraised_as(GoalError):
        x, y = as_vector(target, "the target of a planar arm", 2).tolist()
    return x, y


def _elbow(elbow: str) -> int:
    if elbow not in ELBOWS:
        raise OptionError(f"elbow is 'down' or 'up', got {elbow!r}.")
    return ELBOWS.index(elbow)


def _check_reach(lengths: Sequence[float], r: float, what: str = "the target is") -> None:
    far = sum(lengths)
    near = max(0.0, 2.0 * max(lengths) - far)
    if not near - SLACK * far <= r <= far + SLACK * far:
        sizes = " and ".join(f"{length:.6g}" for length in lengths)
        reached = f"links of {sizes} m reach from {near:.6g} to {far:.6g} m"
        raise OutOfReachError(f"{what} {r:.6g} m from the base; {reached}.")


def _wrapped(angle: float) -> float:
    return float(wrapped(np.asarray(angle)))
