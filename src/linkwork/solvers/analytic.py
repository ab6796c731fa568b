"""Closed forms: planar arms of two and three links, and the two-bone limb in space with its swivel.

Imports `base`, `problem` and the path of `fabrik`. Joints are read off as lines, axis and point, where they stand at the
zero pose, so that neither names nor how frames are placed along an axis matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from .. import poses
from ..errors import GoalError, LinkageError, OptionError, TransformError
from ..goals import Goal, Reach
from ..joints import plane_basis
from ..linkage import Linkage
from ..transforms import FloatArray, as_vector, axis_rotation, quaternion_matrix
from .base import Method, Settings
from .fabrik import path_to
from .problem import Problem, State

ELBOWS = ("down", "up")
ROUND = 1e-9
TURN = 2.0 * math.pi
SERVES = (
    "it serves one Reach goal on a planar arm of two hinges (position), of three (position, or position and "
    "orientation), or on a limb: three hinges through one point or a ball, an elbow hinge, and what lies beyond "
    "(position; also orientation if that is a wrist of three hinges through one point or a ball)"
)


# Plain functions


def two_link_angles(upper: float, lower: float, target: ArrayLike, *, elbow: str = "down") -> tuple[float, float]:
    """Return the joint angles that put the tip of a planar two-link arm on a target.

    The law of cosines gives the elbow, ``cos(q2) = (x² + y² - upper² - lower²) / (2·upper·lower)``;
    the shoulder follows from the direction to the target. Both angles come from half-angle forms of that law, which
    are accurate at the edge of reach, too. At the base of an arm with equal links every q1 serves: it is zero.

    Args:
        upper: Length of the first link [m].
        lower: Length of the second link [m].
        target: Tip position in the base frame [m], shape (2,).
        elbow: Which of the two poses to return, ``"down"`` (q2 >= 0) or ``"up"``.

    Returns:
        Shoulder and elbow angles ``(q1, q2)`` [rad].

    Raises:
        GoalError: If the target is outside [|upper - lower|, upper + lower].

    Example:
        >>> q1, q2 = two_link_angles(1.0, 1.0, (1.0, 1.0))
        >>> round(q1, 4), round(q2, 4)
        (0.0, 1.5708)
    """
    upper, lower = _lengths("two-link", (upper, lower), 2)
    x, y = _target(target)
    _check_reach((upper, lower), math.hypot(x, y))
    return two_link(upper, lower, x, y)[_elbow(elbow)]


def three_link_angles(
    lengths: Sequence[float], target: ArrayLike, *, direction: float | None = None, elbow: str = "down"
) -> tuple[float, float, float]:
    """Return the joint angles of a planar three-link arm.

    The direction of the last link fixes where the second link must end, and the first two reach that point.

    Args:
        lengths: The three lengths [m].
        target: Tip position in the base frame [m], shape (2,).
        direction: Where the last link should point, as an angle from the x axis [rad]. None lets it point from the base
            towards the target or, where the others then cannot follow, as little off that as they need.
        elbow: Which of the two poses to return, ``"down"`` (q2 >= 0) or ``"up"``.

    Raises:
        GoalError: If the arm does not get there.

    Example:
        >>> [round(q, 4) for q in three_link_angles((1, 1, 1), (2, 1), direction=0.0)]
        [0.0, 1.5708, -1.5708]
    """
    sizes = _lengths("three-link", lengths, 3)
    x, y = _target(target)
    which = _elbow(elbow)
    if direction is None:
        _check_reach(sizes, math.hypot(x, y))
        direction = _outward(*sizes, x, y, 1.0 if which == 0 else -1.0)
    elif not math.isfinite(direction):
        raise GoalError(f"direction must be a finite angle, got {direction!r}.")
    x, y = x - sizes[2] * math.cos(direction), y - sizes[2] * math.sin(direction)
    _check_reach(sizes[:2], math.hypot(x, y))
    q1, q2 = two_link(*sizes[:2], x, y)[which]
    return q1, q2, _wrapped(direction - q1 - q2)


def two_link(upper: float, lower: float, x: float, y: float, facing: float = 0.0) -> list[tuple[float, float]]:
    """Return both solutions of a planar two-link arm, elbow down and up; out of reach, the pose that comes closest.

    Args:
        upper: Length of the first link.
        lower: Length of the second link.
        x: Target.
        y: Target.
        facing: The direction to take for a target at the base.
    """
    r = math.hypot(x, y)
    towards = math.atan2(y, x) if r > 0.0 else facing
    bend = _half_angle((upper + lower - r) * (upper + lower + r), (r - upper + lower) * (r + upper - lower))
    lift = _half_angle((lower - r + upper) * (lower + r - upper), (r + upper - lower) * (r + upper + lower))
    return [(_wrapped(towards - lift), bend), (_wrapped(towards + lift), -bend)]


def _half_angle(opposite: float, adjacent: float) -> float:
    """Return the angle a with ``tan²(a / 2) = opposite / adjacent``, negative ones counting as zero."""
    return 2.0 * math.atan2(math.sqrt(max(opposite, 0.0)), math.sqrt(max(adjacent, 0.0)))


def _outward(l1: float, l2: float, l3: float, x: float, y: float, side: float, facing: float = 0.0) -> float:
    """Return the direction of a last link that points from the base to the target, or as little off as it must."""
    r = math.hypot(x, y)
    wrist = min(max(abs(r - l3), abs(l1 - l2)), max(l1 + l2, abs(r - l3)), r + l3)
    off = _half_angle(wrist**2 - (r - l3) ** 2, (r + l3) ** 2 - wrist**2) if r * l3 > 0.0 else 0.0
    return (math.atan2(y, x) if r > 0.0 else facing) + side * off


def _lengths(kind: str, lengths: Sequence[float], count: int) -> list[float]:
    try:
        sizes = as_vector(lengths, f"the lengths of a {kind} arm", count).tolist()
    except TransformError as error:
        raise LinkageError(str(error)) from error
    if min(sizes) < 0.0:
        raise LinkageError(f"the lengths of a {kind} arm must not be negative, got {sizes}.")
    return list(map(float, sizes))


def _target(target: ArrayLike) -> tuple[float, float]:
    try:
        x, y = as_vector(target, "the target of a planar arm", 2).tolist()
    except TransformError as error:
        raise GoalError(str(error)) from error
    return x, y


def _elbow(elbow: str) -> int:
    if elbow not in ELBOWS:
        raise OptionError(f"elbow is 'down' or 'up', got {elbow!r}.")
    return ELBOWS.index(elbow)


def _check_reach(lengths: Sequence[float], r: float) -> None:
    far = sum(lengths)
    near = max(0.0, 2.0 * max(lengths) - far)
    slack = 1e-12 * far
    if not near - slack <= r <= far + slack:
        raise GoalError(f"the target is {r:.6g} m from the base; links of {list(lengths)} reach from {near:.6g} to {far:.6g} m.")


def _wrapped(angle: float) -> float:
    return float(poses.wrapped(np.asarray(angle)))


# Joints as lines


@dataclass(frozen=True, eq=False)
class Line:
    """An elementary turn where it stands in the world while the joints of the arm are at zero.

    Attributes:
        point: A point on the axis, shape (3,); the centre of a ball.
        axis: Unit axis, shape (3,); None for a ball.
        frame: Rotation of the joint's own frame, shape (3, 3): a ball's quaternion is measured in it.
        q: Index of its value in the pose.
        single: Whether it is a hinge by itself, no part of a joint with several values.
    """

    point: FloatArray
    axis: FloatArray | None
    frame: FloatArray
    q: int
    single: bool

    def rotation(self, q: FloatArray) -> FloatArray:
        """Return the turn in the world (3, 3) for a pose."""
        if self.axis is None:
            return np.asarray(self.frame @ quaternion_matrix(q[self.q : self.q + 4]) @ self.frame.T)
        return axis_rotation(self.axis, q[self.q])


def lines_to(linkage: Linkage, frame: str, q: FloatArray) -> tuple[list[Line], FloatArray]:
    """Return the turns on the way to a frame as they stand at a pose, and world_from_frame there."""
    path, placement = path_to(linkage, frame)
    lines, matrix = [], np.eye(4)
    for i in path:
        arc, drive = linkage.arcs[i], linkage.drives[i]
        matrix = matrix @ arc.placement
        for e in arc.articulation.elements:
            if e.kind not in ("revolute", "ball") or arc.mimic is not None:
                what = f"is {arc.articulation.kind}" if arc.mimic is None else f"follows {arc.mimic.joint!r}"
                raise GoalError(
                    f"method 'analytic' turns hinges and balls; joint {arc.name!r} on the way to frame {frame!r} {what}. "
                    f"In all, {SERVES}; use 'damped' or 'robust'."
                )
            rotation = matrix[:3, :3].copy()
            axis = None if e.kind == "ball" else rotation @ e.axis
            single = len(arc.articulation.elements) == 1
            lines.append(Line(matrix[:3, 3].copy(), axis, rotation, drive.q + e.value, single))
            matrix = matrix @ e.matrix(q[drive.q : drive.q + arc.articulation.nq])
    return lines, matrix @ placement


def meeting_point(lines: Sequence[Line]) -> FloatArray | None:
    """Return the point that a ball, or three hinges with no two neighbours parallel, turn about; None if there is none."""
    if len(lines) == 1:
        return lines[0].point if lines[0].axis is None else None
    axes = [line.axis for line in lines if line.axis is not None]
    if len(axes) != 3 or min(_sine(axes[0], axes[1]), _sine(axes[1], axes[2])) < 1e-6:
        return None
    across = [np.eye(3) - np.outer(axis, axis) for axis in axes]
    point = np.linalg.lstsq(sum(across, np.zeros((3, 3))), sum(
        (P @ line.point for P, line in zip(across, lines, strict=True)), np.zeros(3)
    ), rcond=None)[0]
    scale = 1.0 + max(float(np.abs(line.point).max()) for line in lines)
    off = max(float(np.linalg.norm(P @ (point - line.point))) for P, line in zip(across, lines, strict=True))
    return point if off < ROUND * scale else None


def _sine(a: FloatArray, b: FloatArray) -> float:
    return float(np.linalg.norm(np.cross(a, b)))
