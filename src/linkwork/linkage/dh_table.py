"""Denavit-Hartenberg tables, standard and modified, and the table of a linkage's chain.

With Z and X for a rotation about and a translation along the z and x axis:

    standard:  one row is  Z(theta, d) X(alpha, a)    the joint turns about the z of the frame before
    modified:  one row is  X(alpha, a) Z(theta, d)    the joint turns about the z of its own frame
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..errors import LinkageError
from ..transforms import (
    IDENTITY,
    FloatArray,
    TransformLike,
    Value,
    as_angle,
    as_axis,
    as_length,
    as_transform,
    axis_rotation,
    inverse,
    plane_basis,
    read_only,
    reraised_as,
)
from .joints import Continuous, Fixed, Prismatic, Revolute
from .showing import Shown

if TYPE_CHECKING:
    from .linkage import Linkage

Convention = Literal["standard", "modified"]
EPSILON = 1e-12
PARALLEL = 1e-8  # sine below which axes count as parallel: a common normal so far away would cost accuracy


@dataclass(frozen=True)
class DHRow:
    """One row of a DH table: theta [rad], d [m], a [m], alpha [rad], and which of theta and d the joint changes.

    Args:
        kind: ``"R"`` adds the joint's value to theta, ``"P"`` to d.
        limits: Lower and upper value, or None.
    """

    theta: float
    d: float
    a: float
    alpha: float
    kind: str = "R"
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False, init=False)
class DHTable(Shown, Value):
    """A DH table: rows, convention, and the constant transforms before the first and after the last row.

    `linkwork.from_dh` builds a linkage from it.
    """

    rows: tuple[DHRow, ...]
    convention: Convention
    base: FloatArray
    tool: FloatArray
    joints: tuple[str, ...] | None

    def __init__(
        self,
        rows: tuple[DHRow, ...],
        convention: Convention = "standard",
        base: TransformLike = IDENTITY,
        tool: TransformLike = IDENTITY,
        joints: tuple[str, ...] | None = None,
    ) -> None:
        ends = {"base": read_only(as_transform(base, "base")), "tool": read_only(as_transform(tool, "tool"))}
        vars(self).update(ends, rows=rows, convention=convention, joints=joints)


def about(axis: str, angle: float, travel: float) -> FloatArray:
    """Return X(alpha, a) or Z(theta, d): a turn about a coordinate axis and a move along it."""
    matrix, direction = np.eye(4), as_axis(axis)
    matrix[:3, :3] = axis_rotation(direction, angle)
    matrix[:3, 3] = travel * direction
    return matrix


def check_convention(convention: str) -> None:
    """Raise if there is no such convention."""
    if convention not in ("standard", "modified"):
        raise LinkageError(f"a DH convention is 'standard' or 'modified', got {convention!r}.")


def as_row(row: DHRow | Sequence[Any], k: int) -> DHRow:
    """Return row k of a table, counted from one, with its entries read as numbers."""
    if not isinstance(row, DHRow):
        if not isinstance(row, Sequence | np.ndarray) or isinstance(row, str) or not 4 <= len(row) <= 6:
            raise LinkageError(f"DH row {k} must be (theta, d, a, alpha[, kind[, limits]]), got {row!r}.")
        row = DHRow(*row)
    if row.kind not in ("R", "P"):
        raise LinkageError(f"kind of DH row {k} is 'R' or 'P', got {row.kind!r}.")
    with reraised_as(LinkageError, f"DH row {k}: "):
        numbers = as_angle(row.theta), as_length(row.d), as_length(row.a), as_angle(row.alpha)
    if not all(map(math.isfinite, numbers)):
        raise LinkageError(f"DH row {k} must be finite, got {numbers}.")
    return DHRow(*numbers, row.kind, row.limits)


def as_dh(linkage: Linkage, frame: str | None = None, *, convention: Convention = "standard") -> DHTable:
    """Return the table of the chain from the root to a frame.

    Any constant transform between two z axes is ``Z(theta, d) X(alpha, a) Z(phi, h)``. Its last factor commutes with
    the joint that follows, about or along the same z, and is handed on to the row after it. So every chain of revolute
    and prismatic joints has a table, whatever the pose. The table of a linkage built from such a table is the same.

    Args:
        linkage: The linkage; joints beside the chain do not matter.
        frame: End of the chain; the last frame by default.
        convention: ``"standard"`` or ``"modified"``.

    Raises:
        LinkageError: If a joint on the chain is neither revolute nor prismatic, or mimics another.
    """
    check_convention(convention)
    steps, end = _z_chain(linkage, linkage.frames[-1] if frame is None else frame)
    if not steps:
        return DHTable((), convention, end)
    base, rest = steps[0].before, np.eye(4)
    first = inverse(linkage.root.placement) @ base
    if (
        first[2, 2] > 0.0 and np.abs(first[:2, 2:]).max() < EPSILON
    ):  # a rotation or height above the root belongs to the first row
        base, rest = linkage.root.placement, first
    rows: list[DHRow] = []
    alpha = a = 0.0
    for k, step in enumerate(steps):
        last = k + 1 == len(steps)
        if last and convention == "modified":
            theta, d, next_alpha, next_a = *_turn_and_height(rest), 0.0, 0.0
            rest = end
        else:
            theta, d, next_alpha, next_a, rest = _factor(rest, end if last else steps[k + 1].before)
        if convention == "standard":
            alpha, a = next_alpha, next_a
        rows.append(DHRow(theta, d, a, alpha, step.kind, step.limits))
        alpha, a = next_alpha, next_a
    return DHTable(tuple(rows), convention, base, rest, tuple(step.joint for step in steps))


class _Step(NamedTuple):
    """A joint of a chain: its kind, and the transform from the z axis before to its own."""

    before: FloatArray
    kind: str
    limits: tuple[float, float] | None
    joint: str


def _z_chain(linkage: Linkage, frame: str) -> tuple[list[_Step], FloatArray]:
    """Return the joints of the chain to a frame, and the transform from the last axis to that frame."""
    path, end = linkage.path_to(frame)
    steps: list[_Step] = []
    waiting = np.eye(4)
    for arc in (linkage.arcs[i] for i in path):
        waiting = waiting @ arc.placement
        motion = arc.articulation
        if isinstance(motion, Fixed):
            continue
        if arc.mimic is not None or not isinstance(motion, Revolute | Continuous | Prismatic):
            what = "mimics another" if arc.mimic is not None else f"is {motion.kind}"
            raise LinkageError(
                f"joint {arc.name!r} {what}; a DH table has revolute and prismatic joints (try .split())."
            )
        basis = np.eye(4)
        basis[:3, :3] = plane_basis(motion.elements[0].axis)
        lower, upper = (float(bound[0]) for bound in motion.limits)
        limits = None if math.isinf(lower) and math.isinf(upper) else (lower, upper)
        steps.append(_Step(waiting @ basis, "P" if isinstance(motion, Prismatic) else "R", limits, arc.name))
        waiting = basis.T
    return steps, waiting @ end


def _turn_and_height(matrix: FloatArray) -> tuple[float, float]:
    """Return theta and d of ``Z(theta, d)``."""
    return math.atan2(matrix[1, 0], matrix[0, 0]), float(matrix[2, 3])


def _factor(before: FloatArray, between: FloatArray) -> tuple[float, float, float, float, FloatArray]:
    """Factor a transform between two z axes into ``Z(theta, d) X(alpha, a)`` and a remainder ``Z(phi, h)``.

    The x axis in between lies along the common normal of the two z axes. For parallel or coincident axes the normal is
    not unique; then the turn and height handed on by the row before stay in this row.

    Args:
        before: Turn and height about the first z, handed on by the row before.
        between: The transform to the second z axis.

    Returns:
        theta, d, alpha, a and the remainder.
    """
    matrix = before @ between
    turn, height = _turn_and_height(before)
    z, p = matrix[:3, 2], matrix[:3, 3]
    skew = math.hypot(z[0], z[1]) > PARALLEL
    apart = math.hypot(p[0], p[1]) > EPSILON
    theta = math.atan2(z[0], -z[1]) if skew else math.atan2(p[1], p[0]) if apart else turn
    if math.cos(theta - turn) < 0.0:
        theta -= math.copysign(math.pi, theta)
    x = np.array([math.cos(theta), math.sin(theta), 0.0])
    y = np.array([-math.sin(theta), math.cos(theta), 0.0])
    alpha = math.atan2(-float(y @ z), float(z[2]))
    a = float(x @ p)
    d = float(p[2]) - float(y @ p) / float(y @ z) * float(z[2]) if skew else height
    rest = inverse(about("z", theta, d) @ about("x", alpha, a)) @ matrix
    return theta + 0.0, d + 0.0, alpha + 0.0, a + 0.0, rest
