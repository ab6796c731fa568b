"""Joints: the arcs of the tree, each a constant placement and a variable articulation.

Imports `errors` and `transforms`. Every articulation is described by its elements, the elementary motions it is made of
(turn, slide, screw, or turn by a quaternion). Matrices, split forms and compiled kernels all follow from the elements,
so a new kind of joint is one class here and one row in `ARTICULATIONS`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .errors import AxisError, LimitError, LinkageError, MimicError, TransformError
from .transforms import (
    IDENTITY,
    FloatArray,
    as_angle,
    as_array,
    as_axis,
    as_transform,
    axis_rotation,
    plane_basis,
    quaternion_matrix,
)

INF = math.inf
Axis = tuple[float, float, float]
AxisLike = str | ArrayLike
Bound = float | str
EULER_ORDERS = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz")
X, Y, Z = np.eye(3)


@dataclass(frozen=True, eq=False)
class Element:
    """One elementary motion of a joint.

    Args:
        kind: ``"revolute"``, ``"prismatic"``, ``"screw"`` or ``"ball"``.
        axis: Unit axis, shape (3,); a ball has none.
        value: Index of the joint's value that drives it (a ball takes four from there on).
        rate: Index of the joint's velocity that drives it (a ball takes three).
        advance: Travel along the axis per radian, of a screw [m/rad].
    """

    kind: str
    axis: FloatArray
    value: int
    rate: int
    advance: float = 0.0

    def matrix(self, values: FloatArray) -> FloatArray:
        """Return the 4x4 motion for joint values of shape (..., nq)."""
        result = np.zeros((*values.shape[:-1], 4, 4))
        result[...] = np.eye(4)
        if self.kind == "ball":
            result[..., :3, :3] = quaternion_matrix(values[..., self.value : self.value + 4])
            return result
        amount = values[..., self.value]
        if self.kind != "prismatic":
            result[..., :3, :3] = axis_rotation(self.axis, amount)
        if self.kind != "revolute":
            travel = amount * (1.0 if self.kind == "prismatic" else self.advance)
            result[..., :3, 3] = travel[..., None] * self.axis
        return result


@dataclass(frozen=True)
class Articulation:
    """How the link below a joint may move: the variable half of an arc."""

    kind: ClassVar[str]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the values, one for each entry of the pose; a single value has the empty name."""
        raise NotImplementedError

    @property
    def elements(self) -> tuple[Element, ...]:
        """The elementary motions, from the parent outwards."""
        raise NotImplementedError

    @property
    def nq(self) -> int:
        """Number of values in the pose."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """Number of velocities: one less than `nq` where a quaternion is among the values."""
        return sum(3 if element.kind == "ball" else 1 for element in self.elements)

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper limits of the values, shape (nq,) each; infinite where there are none."""
        return np.full(self.nq, -INF), np.full(self.nq, INF)

    def matrix(self, values: ArrayLike) -> FloatArray:
        """Return the 4x4 articulation matrices for values of shape (..., nq), the chapter's Amatrix."""
        values = np.asarray(values, dtype=np.float64)
        result = np.zeros((*values.shape[:-1], 4, 4))
        result[...] = np.eye(4)
        for element in self.elements:
            result = result @ element.matrix(values)
        return result

    def split(self) -> list[tuple[str, Articulation]]:
        """Return one-DOF articulations that, one after another, move as this one does, each with a name.

        A quaternion becomes three turns about moving x, y and z axes.
        """
        lower, upper = self.limits
        parts: list[tuple[str, Articulation]] = []
        for e in self.elements:
            if e.kind == "ball":
                parts += [(f"r{letter}", Revolute(letter)) for letter in "xyz"]
                continue
            bounds: dict[str, Any] = {"lower": float(lower[e.value]), "upper": float(upper[e.value])}
            if e.kind == "screw":
                bounds["lead"] = e.advance * 2.0 * math.pi
            parts.append((self.coordinates[e.value], ONE_DOF[e.kind](_plain(e.axis), **bounds)))
        return parts

    def split_values(self, values: ArrayLike) -> FloatArray:
        """Return the values of the `split` parts that give the same matrix, shape (..., number of parts)."""
        values = np.asarray(values, dtype=np.float64)
        columns = []
        for e in self.elements:
            if e.kind == "ball":
                columns += list(np.moveaxis(_moving_xyz(values[..., e.value : e.value + 4]), -1, 0))
            else:
                columns.append(values[..., e.value])
        return np.stack(columns, axis=-1) if columns else np.zeros((*values.shape[:-1], 0))


def _moving_xyz(quaternions: FloatArray) -> FloatArray:
    """Return the angles about moving x, y, z axes of quaternions (..., 4)."""
    m = quaternion_matrix(quaternions)
    second = np.arcsin(np.clip(m[..., 0, 2], -1.0, 1.0))
    first = np.arctan2(-m[..., 1, 2], m[..., 2, 2])
    third = np.arctan2(-m[..., 0, 1], m[..., 0, 0])
    locked = np.abs(m[..., 0, 2]) > 1.0 - 1e-12  # gimbal lock: only first ± third is defined, so let third be zero
    first = np.where(locked, np.arctan2(m[..., 2, 1], m[..., 1, 1]), first)
    return np.stack([first, second, np.where(locked, 0.0, third)], axis=-1)


def _plain(vector: FloatArray) -> Axis:
    x, y, z = vector.tolist()
    return (x, y, z)


def _axis(value: str | ArrayLike, kind: str) -> Axis:
    try:
        return _plain(as_axis(value, f"axis of a {kind} joint"))
    except TransformError as error:
        raise AxisError(str(error)) from error


def _bound(value: float | str, kind: str) -> float:
    try:
        return as_angle(value)
    except TransformError as error:
        raise LimitError(f"limit of a {kind} joint: {error}") from error


def _bounds(owner: Articulation, count: int, lower: Any, upper: Any) -> None:
    """Check and store the limits of a joint with several plain values as tuples."""
    for name, value, default in (("lower", lower, -INF), ("upper", upper, INF)):
        values = [default] * count if value is None else value
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or len(values) != count:
            raise LimitError(f"{name} of a {owner.kind} joint must be {count} values, got {value!r}.")
        object.__setattr__(owner, name, tuple(_bound(v, owner.kind) for v in values))
    for low, high in zip(owner.lower, owner.upper, strict=True):  # type: ignore[attr-defined]
        _ordered(owner.kind, low, high)


def _ordered(kind: str, low: float, high: float) -> None:
    if low > high:
        raise LimitError(f"lower limit {low:.6g} of a {kind} joint is above its upper limit {high:.6g}.")
    if low == INF or high == -INF:
        raise LimitError(f"limits {low} and {high} of a {kind} joint leave no value at all.")


@dataclass(frozen=True)
class Fixed(Articulation):
    """No motion: the child is welded to its parent."""

    kind: ClassVar[str] = "fixed"

    @property
    def coordinates(self) -> tuple[str, ...]:
        return ()

    @property
    def elements(self) -> tuple[Element, ...]:
        return ()


@dataclass(frozen=True)
class _OneValue(Articulation):
    """Shared by joints with one value along or about one axis."""

    axis: AxisLike = (0.0, 0.0, 1.0)
    lower: Bound = -INF
    upper: Bound = INF

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", _axis(self.axis, self.kind))
        object.__setattr__(self, "lower", _bound(self.lower, self.kind))
        object.__setattr__(self, "upper", _bound(self.upper, self.kind))
        _ordered(self.kind, float(self.lower), float(self.upper))

    @property
    def coordinates(self) -> tuple[str, ...]:
        return ("",)

    @property
    def elements(self) -> tuple[Element, ...]:
        return (Element(self.kind, np.array(self.axis, np.float64), 0, 0),)

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        return np.array([self.lower], np.float64), np.array([self.upper], np.float64)


@dataclass(frozen=True)
class Revolute(_OneValue):
    """A hinge: turns about an axis, between limits if given [rad]. Without limits it wraps around.

    Example:
        >>> Revolute("z", lower="-90deg", upper="90deg").upper
        1.5707963267948966
    """

    kind: ClassVar[str] = "revolute"


@dataclass(frozen=True)
class Continuous(Articulation):
    """A wheel: turns about an axis without limits, and wraps around."""

    axis: AxisLike = (0.0, 0.0, 1.0)
    kind: ClassVar[str] = "continuous"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", _axis(self.axis, self.kind))

    @property
    def coordinates(self) -> tuple[str, ...]:
        return ("",)

    @property
    def elements(self) -> tuple[Element, ...]:
        return (Element("revolute", np.array(self.axis, np.float64), 0, 0),)


@dataclass(frozen=True)
class Prismatic(_OneValue):
    """A slider: moves along an axis, between limits if given [m]."""

    kind: ClassVar[str] = "prismatic"


@dataclass(frozen=True)
class Screw(_OneValue):
    """A screw: turns about an axis [rad] and moves along it by `lead` metres for each full turn."""

    lead: float = 0.0
    kind: ClassVar[str] = "screw"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(_bound(self.lead, self.kind)):
            raise LinkageError(f"lead of a screw joint must be finite, got {self.lead!r}.")
        object.__setattr__(self, "lead", float(self.lead))

    @property
    def elements(self) -> tuple[Element, ...]:
        return (Element("screw", np.array(self.axis, np.float64), 0, 0, self.lead / (2.0 * math.pi)),)


@dataclass(frozen=True)
class Universal(Articulation):
    """Two crossing hinges: turns about `axis`, then about `second` as the first has turned it [rad]."""

    axis: AxisLike = (1.0, 0.0, 0.0)
    second: AxisLike = (0.0, 1.0, 0.0)
    lower: Sequence[Bound] = (-INF, -INF)
    upper: Sequence[Bound] = (INF, INF)
    kind: ClassVar[str] = "universal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", _axis(self.axis, self.kind))
        object.__setattr__(self, "second", _axis(self.second, self.kind))
        if np.linalg.norm(np.cross(np.array(self.axis, np.float64), np.array(self.second, np.float64))) < 1e-9:
            raise AxisError("the two axes of a universal joint must not be parallel.")
        _bounds(self, 2, self.lower, self.upper)

    @property
    def coordinates(self) -> tuple[str, ...]:
        return ("first", "second")

    @property
    def elements(self) -> tuple[Element, ...]:
        axes = (self.axis, self.second)
        return tuple(Element("revolute", np.array(axis, np.float64), k, k) for k, axis in enumerate(axes))

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        return np.array(self.lower, np.float64), np.array(self.upper, np.float64)


@dataclass(frozen=True)
class Planar(Articulation):
    """Slides along two directions of a plane [m], then turns about its normal `axis` [rad].

    The directions are the next two coordinate axes: x and y for a normal z, y and z for x, z and x for y.
    """

    axis: AxisLike = (0.0, 0.0, 1.0)
    lower: Sequence[Bound] = (-INF, -INF, -INF)
    upper: Sequence[Bound] = (INF, INF, INF)
    kind: ClassVar[str] = "planar"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", _axis(self.axis, self.kind))
        _bounds(self, 3, self.lower, self.upper)

    @property
    def coordinates(self) -> tuple[str, ...]:
        return ("x", "y", "angle")

    @property
    def elements(self) -> tuple[Element, ...]:
        u, v, normal = plane_basis(np.array(self.axis, np.float64)).T
        kinds = ("prismatic", "prismatic", "revolute")
        return tuple(
            Element(kind, axis, k, k) for k, (kind, axis) in enumerate(zip(kinds, (u, v, normal), strict=True))
        )

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        return np.array(self.lower, np.float64), np.array(self.upper, np.float64)


@dataclass(frozen=True)
class Ball(Articulation):
    """A ball and socket: any rotation about one point.

    Args:
        euler: None stores a quaternion (w, x, y, z): four values, three velocities, no gimbal lock. One of the twelve
            orders (``"xyz"``, ``"zxz"``, ...) stores three angles [rad] instead.
        sense: Euler angles turn about ``"moving"`` axes, carried by the turns before, or about ``"fixed"`` ones.
        lower: Lower limits of the three angles; a quaternion has none.
        upper: Upper limits.
    """

    euler: str | None = None
    sense: str = "moving"
    lower: Sequence[Bound] | None = None
    upper: Sequence[Bound] | None = None
    kind: ClassVar[str] = "ball"

    def __post_init__(self) -> None:
        if self.sense not in ("moving", "fixed"):
            raise LinkageError(f"sense of a ball joint is 'moving' or 'fixed', got {self.sense!r}.")
        if self.euler is None:
            if self.lower is not None or self.upper is not None:
                raise LimitError("a ball joint stored as a quaternion has no limits by value; give it Euler angles.")
        elif self.euler not in EULER_ORDERS:
            raise LinkageError(f"Euler order {self.euler!r} is not one of {', '.join(EULER_ORDERS)}.")
        else:
            _bounds(self, 3, self.lower, self.upper)

    @property
    def coordinates(self) -> tuple[str, ...]:
        if self.euler is None:
            return ("w", "x", "y", "z")
        names = [f"r{letter}" for letter in self.euler]
        return (*names[:2], names[2] + ("2" if names[2] == names[0] else ""))

    @property
    def elements(self) -> tuple[Element, ...]:
        if self.euler is None:
            return (Element("ball", np.zeros(3), 0, 0),)
        turns = [Element("revolute", as_axis(letter), k, k) for k, letter in enumerate(self.euler)]
        return tuple(turns if self.sense == "moving" else reversed(turns))  # fixed axes: the last turn is outermost

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        if self.euler is None:
            return super().limits
        return np.array(self.lower, np.float64), np.array(self.upper, np.float64)


@dataclass(frozen=True)
class Floating(Articulation):
    """Free in space: position x, y, z [m], then a quaternion w, x, y, z.

    Its six velocities are the linear one along the parent's axes and the angular one along the child's own.
    """

    kind: ClassVar[str] = "floating"

    @property
    def coordinates(self) -> tuple[str, ...]:
        return ("x", "y", "z", "qw", "qx", "qy", "qz")

    @property
    def elements(self) -> tuple[Element, ...]:
        slides = tuple(Element("prismatic", axis, k, k) for k, axis in enumerate((X, Y, Z)))
        return (*slides, Element("ball", np.zeros(3), 3, 3))


ONE_DOF: dict[str, type[_OneValue]] = {cls.kind: cls for cls in (Revolute, Prismatic, Screw)}
ARTICULATIONS: dict[str, type[Articulation]] = {
    cls.kind: cls for cls in (Fixed, Revolute, Continuous, Prismatic, Screw, Universal, Planar, Ball, Floating)
}


@dataclass(frozen=True)
class Mimic:
    """Makes a one-DOF joint follow another: ``value = multiplier * value of joint + offset``."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        for name in ("multiplier", "offset"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not math.isfinite(value):
                raise MimicError(f"{name} of a mimic joint must be a finite number, got {value!r}.")
            object.__setattr__(self, name, float(value))


@dataclass(frozen=True, eq=False)
class Joint:
    """An arc of the tree: places the child link on its parent and lets it move there.

    Args:
        name: Name, unique among the joints of a linkage.
        parent: Name of the link above; None for the root arc, whose parent is the world.
        child: Name of the link below.
        articulation: How it moves.
        placement: parent_from_child at zero articulation, 4x4 or a position: the chapter's Lmatrix.
        mimic: Follow another joint instead of having a value of its own.
    """

    name: str
    parent: str | None
    child: str
    articulation: Articulation = field(default_factory=Fixed)
    placement: FloatArray = field(default_factory=lambda: IDENTITY)
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.articulation, Articulation):  # a caller without a type checker
            kinds = ", ".join(cls.__name__ for cls in ARTICULATIONS.values())
            raise LinkageError(f"joint {self.name!r} needs an articulation ({kinds}), got {self.articulation!r}.")
        placement = as_transform(self.placement, f"placement of joint {self.name!r}")
        placement.setflags(write=False)
        object.__setattr__(self, "placement", placement)
        if self.mimic is not None and (self.articulation.nq != 1 or self.parent is None):
            raise MimicError(f"joint {self.name!r} has {self.articulation.nq} values; only one-DOF joints can mimic.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Joint):
            return NotImplemented
        same = all(getattr(self, f.name) == getattr(other, f.name) for f in fields(self) if f.name != "placement")
        return same and np.array_equal(self.placement, other.placement)

    __hash__ = None  # type: ignore[assignment]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Full names of the joint's values in the pose: ``"hip"`` or ``"hip.rx"``."""
        return tuple(f"{self.name}.{c}" if c else self.name for c in self.articulation.coordinates)


def mid_range(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the middle of limits, or the value nearest zero where a side is open."""
    bounded = np.isfinite(lower) & np.isfinite(upper)
    low, high = np.where(bounded, lower, 0.0), np.where(bounded, upper, 0.0)
    middle = low + (high - low) / 2.0
    return as_array(np.where(bounded, middle, np.clip(0.0, lower, upper)), "limits")
