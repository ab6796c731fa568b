"""Denavit-Hartenberg tables, standard and modified, into linkages and out of them.

Imports `linkage` and what stands before it. With Z and X for a turn about, and a move along, the z and x axis:

    standard:  one row is  Z(theta, d) X(alpha, a)    the joint turns about the z of the frame before
    modified:  one row is  X(alpha, a) Z(theta, d)    the joint turns about the z of its own frame
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from ..errors import LinkageError, TransformError
from ..transforms import (
    IDENTITY,
    FloatArray,
    Value,
    as_angle,
    as_length,
    as_pair,
    as_transform,
    axis_rotation,
    inverse,
    plane_basis,
    read_only,
)
from .geometry import bone
from .joints import Continuous, Fixed, Joint, Prismatic, Revolute
from .linkage import Frame, Link, Linkage

Convention = Literal["standard", "modified"]
EPSILON = 1e-12
PARALLEL = 1e-8  # tilts below this have their common normal so far away that more would be lost than gained


@dataclass(frozen=True)
class DHRow:
    """One row: theta [rad], d [m], a [m], alpha [rad], and which of theta and d the joint changes.

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


@dataclass(frozen=True, eq=False)
class DHTable(Value):
    """A whole table: rows, convention, and the constant transforms before the first and after the last row."""

    rows: tuple[DHRow, ...]
    convention: Convention = "standard"
    base: FloatArray = field(default_factory=lambda: IDENTITY)
    tool: FloatArray = field(default_factory=lambda: IDENTITY)
    joints: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("base", "tool"):
            object.__setattr__(self, name, read_only(as_transform(getattr(self, name), name)))

    def build(self, name: str = "dh") -> Linkage:
        """Return the linkage of this table."""
        options: Any = {"base": self.base, "tool": self.tool, "joints": self.joints}
        return from_dh(self.rows, convention=self.convention, name=name, **options)


def _x(alpha: float, a: float) -> FloatArray:
    matrix = np.eye(4)
    matrix[:3, :3] = axis_rotation(np.array([1.0, 0.0, 0.0]), alpha)
    matrix[0, 3] = a
    return matrix


def _z(theta: float, d: float) -> FloatArray:
    matrix = np.eye(4)
    matrix[:3, :3] = axis_rotation(np.array([0.0, 0.0, 1.0]), theta)
    matrix[2, 3] = d
    return matrix


def from_dh(
    rows: Sequence[DHRow | Sequence[Any]],
    *,
    convention: Convention = "standard",
    base: Any = None,
    tool: Any = None,
    name: str = "dh",
    joints: Sequence[str] | None = None,
) -> Linkage:
    """Return the linkage of a Denavit-Hartenberg table.

    Args:
        rows: One `DHRow`, or (theta, d, a, alpha[, kind[, limits]]), for each joint; kind ``"R"`` or ``"P"``.
        convention: ``"standard"`` or ``"modified"`` (Craig's).
        base: Transform from the world to the first frame.
        tool: Transform from the last frame to the frame ``"tip"``.
        name: Name of the linkage.
        joints: Names of the joints; ``j1``, ``j2``, ... by default.

    Returns:
        A chain with links ``link0``, ``link1``, ... and the frame ``tip``. Link k moves with frame k of the table; its
        own origin is on the axis of joint k.

    Example:
        >>> arm = from_dh([(0, 0, 2, 0), (0, 0, 1, 0)])
        >>> arm.forward([0, np.pi / 2], frame="tip")[:3, 3].round(6).tolist()
        [2.0, 1.0, 0.0]
    """
    _check_convention(convention)
    table = [_row(row, k) for k, row in enumerate(rows, start=1)]
    names = [f"j{k}" for k in range(1, len(table) + 1)] if joints is None else list(joints)
    if len(names) != len(table):
        raise LinkageError(f"{len(table)} rows need {len(table)} joint names, got {len(names)}.")
    # What a row holds before the joint's motion is its placement. In the standard convention X follows the motion:
    # link k stands at joint k, and frame k of the table is X further on.
    links, arcs, waiting = [Link("link0")], [], np.eye(4)
    for k, (row, joint) in enumerate(zip(table, names, strict=True), start=1):
        before = _z(row.theta, row.d) if convention == "standard" else _x(row.alpha, row.a) @ _z(row.theta, row.d)
        after = _x(row.alpha, row.a) if convention == "standard" else np.eye(4)
        arcs.append(Joint(joint, f"link{k - 1}", f"link{k}", _motion(row, k), waiting @ before))
        links.append(Link(f"link{k}"))
        waiting = after
    end = waiting @ (np.eye(4) if tool is None else as_transform(tool, "tool"))
    thickness = 0.03 * _size(arcs, end)
    for k, nxt in enumerate([*(arc.placement for arc in arcs), end]):
        reach = nxt[:3, 3]
        if np.linalg.norm(reach) > EPSILON:
            links[k] = Link(f"link{k}", (bone((0, 0, 0), reach, thickness),))
    root = np.eye(4) if base is None else as_transform(base, "base")
    return Linkage(links, arcs, name=name, frames=[Frame("tip", f"link{len(arcs)}", end)], root=root)


def _check_convention(convention: str) -> None:
    if convention not in ("standard", "modified"):
        raise LinkageError(f"a DH convention is 'standard' or 'modified', got {convention!r}.")


def _size(arcs: Sequence[Joint], end: FloatArray) -> float:
    return float(sum(np.linalg.norm(arc.placement[:3, 3]) for arc in arcs) + np.linalg.norm(end[:3, 3]))


def _row(row: DHRow | Sequence[Any], k: int) -> DHRow:
    if not isinstance(row, DHRow):
        if not isinstance(row, Sequence | np.ndarray) or isinstance(row, str) or not 4 <= len(row) <= 6:
            raise LinkageError(f"DH row {k} must be (theta, d, a, alpha[, kind[, limits]]), got {row!r}.")
        row = DHRow(*row)
    if row.kind not in ("R", "P"):
        raise LinkageError(f"kind of DH row {k} is 'R' or 'P', got {row.kind!r}.")
    try:
        numbers = as_angle(row.theta), as_length(row.d), as_length(row.a), as_angle(row.alpha)
    except TransformError as error:
        raise LinkageError(f"DH row {k}: {error}") from error
    if not all(map(math.isfinite, numbers)):
        raise LinkageError(f"DH row {k} must be finite, got {numbers}.")
    return DHRow(*numbers, row.kind, row.limits)


def _motion(row: DHRow, k: int) -> Revolute | Prismatic:
    lower, upper = as_pair(row.limits, f"DH row {k}")
    return Revolute("z", lower, upper) if row.kind == "R" else Prismatic("z", lower, upper)


def as_dh(linkage: Linkage, frame: str | None = None, *, convention: Convention = "standard") -> DHTable:
    """Return the table of the chain from the root to a frame.

    Any constant transform between two z axes is ``Z(theta, d) X(alpha, a) Z(phi, h)``. Its last factor commutes with
    the joint that follows, about or along the same z, and is handed on to the row after it; so every chain of hinges
    and sliders has a table, and no pose is ever asked for. The table of a linkage built from such a table is the same.

    Args:
        linkage: The linkage; joints beside the chain do not matter.
        frame: End of the chain; the last frame by default.
        convention: ``"standard"`` or ``"modified"``.

    Raises:
        LinkageError: If a joint on the chain is neither a hinge nor a slider, or mimics another.
    """
    _check_convention(convention)
    steps, end = _z_chain(linkage, linkage.frames[-1] if frame is None else frame)
    if not steps:
        return DHTable((), convention, end)
    base, rest = steps[0].before, np.eye(4)
    first = inverse(linkage.root.placement) @ base
    if _is_z(first):  # a mere height, or turn, above the root goes into the first row
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
    """A joint of a chain: the transform from the z axis before to its own, and what it is."""

    before: FloatArray
    kind: str
    limits: tuple[float, float] | None
    joint: str


def _is_z(matrix: FloatArray) -> bool:
    return bool(matrix[2, 2] > 0.0 and np.abs(matrix[:2, 2:]).max() < EPSILON)


def _z_chain(linkage: Linkage, frame: str) -> tuple[list[_Step], FloatArray]:
    """Return the joints on the way to a frame, and the transform from the last axis to that frame."""
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
            raise LinkageError(f"joint {arc.name!r} {what}; a DH table holds hinges and sliders only (try .split()).")
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
    """Factor a transform from one z axis to the next into ``Z(theta, d) X(alpha, a)`` and a rest ``Z(phi, h)``.

    The x axis in between lies along the common normal of the two z axes. Where that leaves a choice (which way along
    it, where it stands between parallel axes, where it points if they are one), what was handed on stays in this row.

    Args:
        before: What the row before handed on, a turn and a height about the first z.
        between: The transform to the second z axis.

    Returns:
        theta, d, alpha, a and the rest.
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
    rest = inverse(_z(theta, d) @ _x(alpha, a)) @ matrix
    return theta + 0.0, d + 0.0, alpha + 0.0, a + 0.0, rest
