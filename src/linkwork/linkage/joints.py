"""Joints: the arcs of the tree, each with a constant placement and a variable articulation.

Every articulation is described by its elementary motions (rotation, translation, screw, or rotation by a quaternion).
Matrices, split forms and compiled kernels all follow from the elements, so a new kind of joint needs one class here and
one row in `ARTICULATIONS`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import AxisError, LimitError, LinkageError, MimicError, PoseValueError, TransformError
from ..transforms import (
    AXES,
    IDENTITY,
    FloatArray,
    TransformLike,
    Value,
    as_array,
    as_axis,
    as_limits,
    as_number,
    as_pair,
    as_transform,
    has_direction,
    plane_basis,
    read_only,
    reraised_as,
)
from .elements import NO_AXIS, Element, check_order, euler_turns, moving_xyz, shared_element, turn_names
from .motion_limits import MOTION_LIMITS, NO_MOTION_LIMITS, as_motion_limit, part_limits

INF = math.inf
# Names of the two translations of a plane, by its normal.
SLIDES: dict[Any, tuple[str, str]] = {
    (0.0, 0.0, 1.0): ("x", "y"),
    (1.0, 0.0, 0.0): ("y", "z"),
    (0.0, 1.0, 0.0): ("z", "x"),
}
AxisLike = str | ArrayLike
Bound = float | str
MotionLimit = Bound | Sequence[Bound | None] | None


@dataclass(frozen=True)
class Articulation:
    """The motion of a joint: the variable part of an arc."""

    kind: ClassVar[str]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the values, one for each entry of the pose; a single value has the empty name."""
        return ("",)

    @property
    def elements(self) -> tuple[Element, ...]:
        """The elementary motions, from parent to child."""
        raise NotImplementedError

    @property
    def nq(self) -> int:
        """Number of values in the pose."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """Number of velocities: one less than `nq` if the values include a quaternion."""
        return sum(3 if element.kind == "ball" else 1 for element in self.elements)

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each value: ``"m"``, ``"rad"``, or none (``""``) in a quaternion."""
        units = [""] * self.nq
        for e in self.elements:
            if e.kind != "ball":
                units[e.value] = "m" if e.kind == "prismatic" else "rad"
        return tuple(units)

    @property
    def rate_units(self) -> tuple[str, ...]:
        """Unit of the value that each velocity changes: ``"m"`` or ``"rad"``."""
        units = ["rad"] * self.nv
        for e in self.elements:
            if e.kind == "prismatic":
                units[e.rate] = "m"
        return tuple(units)

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper limits of the values, shape (nq,) each; infinite where there are none."""
        lower, upper = getattr(self, "lower", None), getattr(self, "upper", None)
        if lower is None or upper is None:
            return np.full(self.nq, -INF), np.full(self.nq, INF)
        return np.array(lower, np.float64, ndmin=1), np.array(upper, np.float64, ndmin=1)

    def _checked(self, values: ArrayLike) -> FloatArray:
        """Return values of shape (..., nq) as an array; raise PoseValueError if they are invalid."""
        with reraised_as(PoseValueError):
            x = as_array(values, f"values of a {self.kind} joint")
        if x.ndim == 0 or x.shape[-1] != self.nq:
            raise PoseValueError(f"values of a {self.kind} joint have shape (..., {self.nq}), got {x.shape}.")
        if not np.isfinite(x).all():
            raise PoseValueError(f"values of a {self.kind} joint must be finite.")
        if not all(has_direction(x[..., e.value : e.value + 4]) for e in self.elements if e.kind == "ball"):
            raise PoseValueError(
                f"the quaternion of a {self.kind} joint has no direction; (1, 0, 0, 0) means no rotation."
            )
        return x

    def matrix(self, values: ArrayLike) -> FloatArray:
        """Return the 4x4 articulation matrices for values of shape (..., nq), the chapter's Amatrix."""
        values = self._checked(values)
        result = np.broadcast_to(np.eye(4), (*values.shape[:-1], 4, 4)).copy()
        for element in self.elements:
            result = result @ element.matrix(values)
        return result

    def split(self) -> list[tuple[str, Articulation]]:
        """Return named one-DOF articulations that give the same motion when chained.

        A quaternion becomes three rotations about moving x, y and z axes.
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
            parts.append((self.coordinates[e.value], ONE_DOF[e.kind](e.axis, **bounds)))
        return parts

    def split_values(self, values: ArrayLike) -> FloatArray:
        """Return the values of the `split` parts that give the same matrix, shape (..., number of parts)."""
        values = self._checked(values)
        columns = []
        for e in self.elements:
            if e.kind == "ball":
                columns += list(np.moveaxis(moving_xyz(values[..., e.value : e.value + 4]), -1, 0))
            else:
                columns.append(values[..., e.value])
        return np.stack(columns, axis=-1) if columns else np.zeros((*values.shape[:-1], 0))


def _read_axes(joint: Articulation, *names: str) -> None:
    """Check axes and keep them as unit tuples."""
    with reraised_as(AxisError):
        for name in names:
            vars(joint)[name] = tuple(as_axis(getattr(joint, name), f"axis of a {joint.kind} joint").tolist())


def _read_limits(joint: Articulation) -> None:
    """Check the limits of a joint with several plain values and keep them as tuples."""
    units, ends, what = joint.units, [], f"a {joint.kind} joint"
    for name, endless in (("lower", -INF), ("upper", INF)):
        given = getattr(joint, name)
        values = (endless,) * len(units) if given is None else given
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or len(values) != len(units):
            raise LimitError(f"{name} of {what} must be {len(units)} values, got {given!r}.")
        ends.append(values)
    limits = [as_limits(low, high, unit, what) for low, high, unit in zip(*ends, units, strict=True)]
    vars(joint).update(zip(("lower", "upper"), zip(*limits, strict=True), strict=True))


@dataclass(frozen=True)
class Fixed(Articulation):
    """No motion: the child is fixed to its parent."""

    kind: ClassVar[str] = "fixed"
    coordinates: ClassVar[tuple[str, ...]] = ()
    elements: ClassVar[tuple[Element, ...]] = ()


@dataclass(frozen=True)
class _OneAxis(Articulation):
    """Base of joints with one value along or about one axis."""

    axis: AxisLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        _read_axes(self, "axis")


@dataclass(frozen=True)
class _OneValue(_OneAxis):
    """Base of joints with one value that may have limits."""

    lower: Bound = -INF
    upper: Bound = INF

    def __post_init__(self) -> None:
        super().__post_init__()
        lower, upper = as_limits(self.lower, self.upper, self.units[0], f"a {self.kind} joint")
        vars(self).update(lower=lower, upper=upper)

    @property
    def elements(self) -> tuple[Element, ...]:
        return (shared_element(self.kind, self.axis),)


@dataclass(frozen=True)
class Revolute(_OneValue):
    """Rotation about an axis, between limits if given [rad]. Without limits it wraps around.

    Example:
        >>> Revolute("z", lower="-90deg", upper="90deg").upper
        1.5707963267948966
    """

    kind: ClassVar[str] = "revolute"


@dataclass(frozen=True)
class Continuous(_OneAxis):
    """Rotation about an axis without limits, which wraps around: a wheel."""

    kind: ClassVar[str] = "continuous"

    @property
    def elements(self) -> tuple[Element, ...]:
        return (shared_element("revolute", self.axis),)


@dataclass(frozen=True)
class Prismatic(_OneValue):
    """Translation along an axis, between limits if given [m]."""

    kind: ClassVar[str] = "prismatic"


@dataclass(frozen=True)
class Screw(_OneValue):
    """A screw: rotation about an axis [rad] with a translation along it by `lead` metres per turn."""

    lead: float = 0.0
    kind: ClassVar[str] = "screw"

    def __post_init__(self) -> None:
        with reraised_as(LinkageError):
            vars(self)["lead"] = as_number(self.lead, "lead of a screw joint")
        super().__post_init__()

    @property
    def elements(self) -> tuple[Element, ...]:
        return (shared_element("screw", self.axis, 0, self.lead / (2.0 * math.pi)),)


@dataclass(frozen=True)
class Universal(Articulation):
    """Two intersecting revolute axes: rotation about `axis`, then about `second`, which moves with the first [rad]."""

    axis: AxisLike = (1.0, 0.0, 0.0)
    second: AxisLike = (0.0, 1.0, 0.0)
    lower: Sequence[Bound] | None = None
    upper: Sequence[Bound] | None = None
    kind: ClassVar[str] = "universal"
    coordinates: ClassVar[tuple[str, ...]] = ("first", "second")

    def __post_init__(self) -> None:
        _read_axes(self, "axis", "second")
        first, second = (element.axis for element in self.elements)
        if np.linalg.norm(np.cross(first, second)) < 1e-9:
            raise AxisError("the two axes of a universal joint must not be parallel.")
        _read_limits(self)

    @property
    def elements(self) -> tuple[Element, ...]:
        return (shared_element("revolute", self.axis, 0), shared_element("revolute", self.second, 1))


@dataclass(frozen=True)
class Planar(Articulation):
    """Translation along two directions of a plane [m], then rotation about its normal `axis` [rad].

    The directions are the next two coordinate axes: x and y for a normal z, y and z for x, z and x for y. The values
    are named after them, or ``u`` and ``v`` for any other normal.
    """

    axis: AxisLike = (0.0, 0.0, 1.0)
    lower: Sequence[Bound] | None = None
    upper: Sequence[Bound] | None = None
    kind: ClassVar[str] = "planar"

    def __post_init__(self) -> None:
        _read_axes(self, "axis")
        _read_limits(self)

    @property
    def coordinates(self) -> tuple[str, ...]:
        return (*SLIDES.get(self.axis, ("u", "v")), "angle")

    @property
    def elements(self) -> tuple[Element, ...]:
        u, v, normal = map(tuple, plane_basis(np.array(self.axis, np.float64)).T.tolist())
        slides = (shared_element("prismatic", u, 0), shared_element("prismatic", v, 1))
        return (*slides, shared_element("revolute", normal, 2))


@dataclass(frozen=True)
class Ball(Articulation):
    """A ball and socket: any rotation about one point.

    Args:
        euler: None stores a quaternion (w, x, y, z): four values, three velocities, no gimbal lock. One of the twelve
            orders stores three angles [rad] instead, in upper case (``"XYZ"``, ``"ZXZ"``) about moving axes, in lower
            case (``"xyz"``) about fixed ones, as in SciPy.
        lower: Lower limits of the three angles; a quaternion has none.
        upper: Upper limits.
        swing: For a quaternion, the largest angle between `axis` in the parent and in the child [rad]: a cone.
        twist: The range (low, high) of the rotation about `axis` before that swing [rad], within -pi and pi.
        axis: The twist axis, in the child's frame.
    """

    euler: str | None = None
    lower: Sequence[Bound] | None = None
    upper: Sequence[Bound] | None = None
    swing: Bound | None = None
    twist: Sequence[Bound] | None = None
    axis: AxisLike = (0.0, 0.0, 1.0)
    kind: ClassVar[str] = "ball"

    def __post_init__(self) -> None:
        if self.euler is None:
            if self.lower is not None or self.upper is not None:
                raise LimitError("a ball joint stored as a quaternion has no limits by value; give it Euler angles.")
        else:
            check_order(self.euler)
            _read_limits(self)
            if self.swing is not None or self.twist is not None:
                raise LimitError("a ball joint with Euler angles has limits by value, not by swing and twist.")
        _read_axes(self, "axis")
        if self.swing is not None:
            _, swing = as_limits(0.0, self.swing, "rad", "the swing of a ball joint")
            if not swing <= math.pi:
                raise LimitError(f"swing of a ball joint is an angle from 0 to pi, got {self.swing!r}.")
            vars(self)["swing"] = swing
        if self.twist is not None:
            low, high = as_limits(*as_pair(self.twist, "the twist of a ball joint"), "rad", "the twist of a ball joint")
            if not -math.pi <= low <= high <= math.pi:
                raise LimitError(f"twist of a ball joint is a range within -pi and pi, got {self.twist!r}.")
            vars(self)["twist"] = (low, high)

    @property
    def coordinates(self) -> tuple[str, ...]:
        return ("w", "x", "y", "z") if self.euler is None else turn_names(self.euler)

    @property
    def elements(self) -> tuple[Element, ...]:
        if self.euler is None:
            return (shared_element("ball", NO_AXIS),)
        return euler_turns(self.euler, 0)


@dataclass(frozen=True)
class Floating(Articulation):
    """Free motion in space: position x, y, z [m], then a rotation.

    With a quaternion, its six velocities are the linear velocity along the parent's axes and the angular velocity along
    the child's axes.

    Args:
        euler: None stores the rotation as a quaternion (w, x, y, z). One of the twelve orders (``"ZXY"``, ...) stores
            three angles [rad] instead, as in `Ball` and as motion files do: then every value has its own velocity.
    """

    euler: str | None = None
    kind: ClassVar[str] = "floating"

    def __post_init__(self) -> None:
        if self.euler is not None:
            check_order(self.euler)

    @property
    def coordinates(self) -> tuple[str, ...]:
        turns = ("qw", "qx", "qy", "qz") if self.euler is None else turn_names(self.euler)
        return ("x", "y", "z", *turns)

    @property
    def elements(self) -> tuple[Element, ...]:
        slides = [shared_element("prismatic", axis, k) for k, axis in enumerate(AXES.values())]
        if self.euler is None:
            return (*slides, shared_element("ball", NO_AXIS, 3))
        return (*slides, *euler_turns(self.euler, 3))


FIXED = Fixed()
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
        if not isinstance(self.joint, str):
            raise MimicError(f"a Mimic needs the name of the joint to follow, got {self.joint!r}.")
        for name in ("multiplier", "offset"):
            value = getattr(self, name)
            try:
                vars(self)[name] = as_number(value, name)
            except TransformError as error:
                raise MimicError(f"{name} of a mimic joint must be a finite number, got {value!r}.") from error


@dataclass(frozen=True, eq=False, init=False)
class Joint(Value):
    """An arc of the tree: it places the child link on its parent and defines its motion.

    Args:
        name: Name, unique among the joints of a linkage.
        parent: Name of the parent link; None for the root arc, whose parent is the world.
        child: Name of the child link; may be empty for a root arc.
        articulation: Its motion, such as `Revolute`.
        placement: parent_from_child at zero articulation, 4x4 or a position: the chapter's Lmatrix.
        mimic: Another joint to follow; the joint then has no value of its own.
        velocity: Velocity limit [rad/s or m/s]: one number, or one (or None) for each of its velocities; an angle may
            be a text such as ``"180deg"``. None is no limit.
        acceleration: Acceleration limit [rad/s² or m/s²].
        effort: The largest torque or force of its motors [N m or N].
    """

    name: str
    parent: str | None
    child: str
    articulation: Articulation
    placement: FloatArray
    mimic: Mimic | None
    velocity: tuple[float, ...] | None
    acceleration: tuple[float, ...] | None
    effort: tuple[float, ...] | None

    def __init__(
        self,
        name: str,
        parent: str | None,
        child: str,
        articulation: Articulation = FIXED,
        placement: TransformLike = IDENTITY,
        mimic: Mimic | None = None,
        velocity: MotionLimit = None,
        acceleration: MotionLimit = None,
        effort: MotionLimit = None,
    ) -> None:
        if not isinstance(articulation, Articulation):  # callers may have no type checker
            kinds = ", ".join(cls.__name__ for cls in ARTICULATIONS.values())
            raise LinkageError(f"joint {name!r} needs an articulation ({kinds}), got {articulation!r}.")
        if mimic is not None and not isinstance(mimic, Mimic):
            raise MimicError(f"joint {name!r} takes a Mimic as mimic=, got {mimic!r}.")
        if mimic is not None and (articulation.nq != 1 or parent is None):
            what = "is a root arc" if parent is None else f"has {articulation.nq} values"
            raise MimicError(f"joint {name!r} {what}; only one-DOF joints can mimic, and no root arc can.")
        placed = read_only(as_transform(placement, f"placement of joint {name!r}"))
        ends = {"name": name, "parent": parent, "child": child}
        vars(self).update(ends, articulation=articulation, placement=placed, mimic=mimic)
        for what, given in zip(MOTION_LIMITS, (velocity, acceleration, effort), strict=True):
            limit = None
            if given is not None:
                limit = as_motion_limit(given, articulation.rate_units, f"{what} of joint {name!r}")
            vars(self)[what] = limit

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Full names of the joint's values in the pose: ``"hip"`` or ``"hip.rx"``."""
        return tuple(f"{self.name}.{c}" if c else self.name for c in self.articulation.coordinates)

    def with_articulation(self, articulation: Articulation) -> Joint:
        """Return the joint with another articulation; velocity, acceleration and effort limits stay if units match."""
        same = articulation.rate_units == self.articulation.rate_units
        return replace(self, articulation=articulation, **({} if same else NO_MOTION_LIMITS))

    def part_limits(self) -> list[dict[str, Any]]:
        """Return the velocity, acceleration and effort limits of each of the articulation's `split` parts, by name."""
        given = {what: getattr(self, what) for what in MOTION_LIMITS}
        return part_limits(given, self.articulation.elements, f"joint {self.name!r}")
