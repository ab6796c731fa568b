"""Pose vectors: construction by name, checks, difference, integration and interpolation.

Angles without limits wrap around; limited ones do not; quaternions take the shorter rotation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import JointNotFoundError, PoseError, PoseShapeError, PoseValueError, TransformError
from ..transforms import (
    LONGEST,
    SHORTEST,
    FloatArray,
    as_angle,
    as_array,
    as_length,
    as_rotation,
    as_transform,
    as_vector,
    matrix_quaternion,
    quaternion_product,
    quaternion_vector,
    reraised_as,
    transform,
    vector_quaternion,
)
from .couplings import followed
from .joints import Joint
from .swing_twist import beyond, clamped_turns, sampled

if TYPE_CHECKING:
    from .linkage import Linkage

PoseLike: TypeAlias = ArrayLike | str | Mapping[str, Any]
"""A pose wherever one is taken: numbers (..., nq), the name of a stored pose, or values by joint (the rest neutral)."""

UNIT = 4e-16
APART = 1e-2  # searches treat poses as the same if every value differs by less [rad, m]
FASTEST = 1e100
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])  # factor that turns a quaternion into its inverse rotation


def as_poses(linkage: Linkage, q: PoseLike) -> FloatArray:
    """Return poses as a new float64 array of shape (..., nq); raise PoseError if a value is invalid."""
    if isinstance(q, str):
        return linkage.stored_pose(q)
    return pose(linkage, q) if isinstance(q, Mapping) else _checked(linkage, q)


def _checked(linkage: Linkage, q: ArrayLike) -> FloatArray:
    try:
        x = as_array(q, "a pose")
    except TransformError as error:
        raise PoseValueError(f"{error} Linkage {linkage.name!r} takes {linkage.nq} numbers.") from error
    if x.ndim == 0 or x.shape[-1] != linkage.nq:
        raise PoseShapeError(linkage.nq, x.shape, linkage.name)
    if not np.isfinite(x).all():
        *before, k = (int(i) for i in np.argwhere(~np.isfinite(x))[0])
        place = f" of pose {tuple(before)}" if before else ""
        raise PoseValueError(f"{linkage.coordinates[k]!r}{place} is {x[(*before, k)]}; a pose must be finite.")
    for k, _ in linkage.table.quaternions:
        if x.ndim == 1 and SHORTEST <= max(map(abs, x[k : k + 4].tolist())) <= LONGEST:
            continue  # one pose, as in control loops: floats take a fifth of the time of arrays
        size = np.abs(x[..., k : k + 4]).max(axis=-1)
        useless = (size < SHORTEST) | (size > LONGEST)
        if useless.any():
            where = tuple(int(i) for i in np.argwhere(useless)[0])
            joint, place = linkage.coordinates[k].rsplit(".", 1)[0], f" of pose {where}" if where else ""
            what = f"has no direction (largest entry {size[where]:.3g}); (1, 0, 0, 0) means no rotation"
            raise PoseValueError(f"the quaternion of joint {joint!r}{place} {what}.")
    return x


def mid_range(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the middle of limits, or the value nearest zero where a side is open."""
    bounded = np.isfinite(lower) & np.isfinite(upper)
    low, high = np.where(bounded, lower, 0.0), np.where(bounded, upper, 0.0)
    middle: FloatArray = np.clip(low / 2.0 + high / 2.0, lower, upper)  # halve first, so that the sum cannot overflow
    return middle


def zero_pose(linkage: Linkage) -> FloatArray:
    """Return the pose with every value zero and no rotation; limits are ignored."""
    q = np.zeros(linkage.nq)
    q[[k for k, _ in linkage.table.quaternions]] = 1.0
    return q


def rest_pose(linkage: Linkage) -> FloatArray:
    """Return the pose with every value zero, or as near to zero as its limits allow, and no rotations."""
    return clamped(linkage, zero_pose(linkage))


def start_pose(linkage: Linkage, start: PoseLike | None) -> FloatArray:
    """Return the start of a solve: the given poses, with unit quaternions, or the neutral pose."""
    return linkage.neutral() if start is None else _normalized(linkage, as_poses(linkage, start))


def pose(
    linkage: Linkage,
    values: PoseLike | None = None,
    *,
    base: PoseLike | None = None,
    named: Mapping[str, Any] | None = None,
) -> FloatArray:
    """Return a pose from values by name; see `Linkage.pose`."""
    if values is not None and not isinstance(values, Mapping):
        if base is not None:
            raise PoseValueError("a whole pose and a base contradict each other; give only one of them.")
        base, values = values, {}
    q = linkage.neutral() if base is None else as_poses(linkage, base)
    given = {**(values or {}), **(named or {})}
    for name, value in given.items():
        _assign(linkage, q, name, value)
    if linkage.couplings and given:
        q = followed(linkage, q, _places_set(linkage, given))
    return _normalized(linkage, _checked(linkage, q))


def _places_set(linkage: Linkage, names: Iterable[str]) -> Iterator[int]:
    """Yield the pose indices of joints and coordinates."""
    for name in names:
        if name in linkage.coordinate_index:
            yield linkage.coordinate_index[name]
        else:
            yield from range(linkage.nq)[linkage.drive(name).columns]


def _normalized(linkage: Linkage, q: FloatArray) -> FloatArray:
    """Normalise the quaternions of checked poses, in place."""
    for k, _ in linkage.table.quaternions:
        if q.ndim == 1 and abs(math.hypot(*q[k : k + 4].tolist()) - 1.0) < UNIT:
            continue
        length = np.linalg.norm(q[..., k : k + 4], axis=-1, keepdims=True)
        q[..., k : k + 4] /= np.where(np.abs(length - 1.0) < UNIT, 1.0, length)  # unit quaternions keep their bits
    return q


def _assign(linkage: Linkage, q: FloatArray, name: str, value: Any) -> None:
    """Write the values of one joint, or the value of one coordinate, into a pose."""
    if isinstance(name, str) and name in linkage.coordinate_index:
        row = linkage.table[linkage.coordinate_index[name]]
        number = _number(value, name, row.unit)
        if np.ndim(number) and np.shape(number) != q.shape[:-1]:
            raise PoseValueError(f"{name!r} takes one value{' a pose' * (q.ndim > 1)}, got {value!r}.")
        q[..., row.q] = number
        return
    known = [joint.name for joint in linkage.arcs if joint.articulation.nq]
    if name not in known:
        raise JointNotFoundError(name, f"linkage {linkage.name!r}", known)
    joint = linkage.joint(name)
    if joint.mimic is not None:
        raise PoseValueError(f"joint {name!r} mimics {joint.mimic.joint!r} and has no value of its own; set that one.")
    q[..., linkage.drive(name).columns] = _joint_values(joint, value)


def _number(value: Any, name: str, unit: str) -> Any:
    with reraised_as(PoseValueError, f"value of {name!r}: "):
        if isinstance(value, str):
            return as_length(value) if unit == "m" else as_angle(value)
        return as_array(value, f"value of {name!r}")


def _joint_values(joint: Joint, value: Any) -> FloatArray:
    """Return the values of a joint with several values."""
    kind, count = joint.articulation.kind, joint.articulation.nq
    what = f"value of {joint.name!r}"
    try:
        if kind == "ball" and count == 4:
            return matrix_quaternion(as_rotation(value, what))
        if kind == "floating" and count == 7:
            if isinstance(value, Mapping):  # position and orientation by name
                spec = dict(value)
                value = transform(spec.pop("position", (0.0, 0.0, 0.0)), spec or None, what)
            place = as_transform(value, what)
            return np.concatenate([place[:3, 3], matrix_quaternion(place[:3, :3])])
        given = () if isinstance(value, str) else list(value)
        if len(given) != count:
            raise TypeError(f"{len(given)} values instead of {count}")
        numbers = [_number(v, joint.name, unit) for v, unit in zip(given, joint.articulation.units, strict=True)]
        return as_vector(numbers, what, count)
    except TypeError as error:
        names = ", ".join(joint.articulation.coordinates)
        raise PoseValueError(f"joint {joint.name!r} takes {count} values ({names}), got {value!r}.") from error
    except TransformError as error:
        raise PoseValueError(str(error)) from error


def difference(linkage: Linkage, start: PoseLike, end: PoseLike, *, wrap: bool = True) -> FloatArray:
    """Return the velocity that leads from one pose to another in unit time; see `Linkage.difference`."""
    a, b = as_poses(linkage, start), as_poses(linkage, end)
    joint_shape(a.shape[:-1], b.shape[:-1])
    return between(linkage, a, b, wrap=wrap)


def between(linkage: Linkage, start: FloatArray, end: FloatArray, *, wrap: bool = True) -> FloatArray:
    """Same as `difference`, for checked arrays; used in the loops of solvers."""
    a, b = np.broadcast_arrays(start, end)
    result = np.zeros((*a.shape[:-1], linkage.nv))
    q, v, wraps = linkage.table.plain
    step = b[..., q] - a[..., q]
    if wrap:
        step = np.where(wraps, wrapped(step), step)
    result[..., v] = step
    for k, j in linkage.table.quaternions:
        back = a[..., k : k + 4] * CONJUGATE
        result[..., j : j + 3] = quaternion_vector(quaternion_product(back, b[..., k : k + 4]))
    return result


def turned_back(linkage: Linkage, q: FloatArray, start: FloatArray, *, keep_limits: bool = True) -> FloatArray:
    """Return poses with every angle shifted by whole turns to be nearest to a start, within limits.

    Args:
        linkage: The linkage.
        q: Poses, shape (..., nq).
        start: The start, or one for each pose.
        keep_limits: Whether copies beyond limits are excluded.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> turned_back(arm, np.array([7.0, 1.0]), np.array([0.0, 6.0])).round(4).tolist()
        [0.7168, 7.2832]
    """
    places, turn = np.flatnonzero(linkage.table.periodic), 2.0 * np.pi
    low: Any = linkage.lower[places] if keep_limits else -np.inf
    high: Any = linkage.upper[places] if keep_limits else np.inf
    x = q[..., places]
    found = x + turn * np.floor((start[..., places] - x) / turn + 0.5)
    found = found + turn * np.ceil(np.maximum(low - found, 0.0) / turn)
    found = found - turn * np.ceil(np.maximum(found - high, 0.0) / turn)
    result = np.array(np.broadcast_to(q, np.broadcast_shapes(q.shape, start.shape)))
    result[..., places] = np.where((found >= low) & (found <= high), found, x)
    return result


def same_pose(linkage: Linkage, q: FloatArray, others: FloatArray, apart: float = APART) -> NDArray[np.bool_]:
    """Return which poses (..., nq) equal q: every velocity between them is below `apart`, ignoring whole turns."""
    way = between(linkage, q, others, wrap=False)
    turning = linkage.table.plain.v[linkage.table.periodic[linkage.table.plain.q]]
    way[..., turning] = wrapped(way[..., turning])
    return np.asarray(np.abs(way).max(axis=-1, initial=0.0) < apart)


def distinct(linkage: Linkage, poses: FloatArray, apart: float = APART) -> NDArray[np.int64]:
    """Return the indices of distinct poses among poses (n, nq), the first of each group of equal ones."""
    left, kept = np.arange(len(poses)), []
    while len(left):
        kept.append(left[0])
        left = left[1:][~same_pose(linkage, poses[left[0]], poses[left[1:]], apart)]
    return np.array(kept, np.int64)


def integrate(linkage: Linkage, q: PoseLike, velocity: ArrayLike) -> FloatArray:
    """Return the pose reached by a velocity kept for unit time; see `Linkage.integrate`."""
    start, rates = as_poses(linkage, q), as_velocities(linkage, velocity)
    joint_shape(start.shape[:-1], rates.shape[:-1])
    return advance(linkage, start, rates)


def as_velocities(linkage: Linkage, velocity: ArrayLike) -> FloatArray:
    """Return velocities as a new float64 array of shape (..., nv); raise PoseError if they are invalid."""
    with reraised_as(PoseValueError):
        rates = as_array(velocity, "a velocity")
    if rates.ndim == 0 or rates.shape[-1] != linkage.nv:
        raise PoseShapeError(linkage.nv, rates.shape, linkage.name, what="velocity")
    if not (np.abs(rates) < FASTEST).all():
        raise PoseValueError(f"a velocity of linkage {linkage.name!r} must be finite and below {FASTEST:g}.")
    return rates


def joint_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the common batch shape of operands; raise PoseError if their shapes do not broadcast."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        listed = " and ".join(map(str, shapes))
        raise PoseError(
            f"leading axes {listed} do not broadcast together; they must be equal or 1, as in NumPy."
        ) from error


def advance(linkage: Linkage, q: FloatArray, rates: FloatArray) -> FloatArray:
    """Same as `integrate`, for checked arrays; used in the loops of solvers."""
    if not linkage.table.quaternions:  # values and velocities correspond one to one
        return q + rates
    shape = np.broadcast_shapes(q.shape[:-1], rates.shape[:-1])
    result = np.broadcast_to(q, (*shape, linkage.nq)).copy()
    rates = np.broadcast_to(rates, (*shape, linkage.nv))
    i, v, _ = linkage.table.plain
    result[..., i] += rates[..., v]
    for k, j in linkage.table.quaternions:
        turned = quaternion_product(result[..., k : k + 4], vector_quaternion(rates[..., j : j + 3]))
        result[..., k : k + 4] = turned / np.linalg.norm(turned, axis=-1, keepdims=True)
    return result


def interpolate(linkage: Linkage, start: PoseLike, end: PoseLike, t: ArrayLike, *, wrap: bool = True) -> FloatArray:
    """Return poses a fraction of the way from one to another; see `Linkage.interpolate`."""
    fraction = as_array(t, "t")
    if not np.isfinite(fraction).all():
        raise PoseValueError("the fraction t must be finite.")
    a, b = as_poses(linkage, start), as_poses(linkage, end)
    step = difference(linkage, a, b, wrap=wrap)
    joint_shape(fraction.shape, step.shape[:-1])
    fraction = fraction[..., None]
    result = integrate(linkage, a, fraction * step)
    # Interpolate from the nearer end: both ends are then exact, and rounding never leaves the limits.
    q, v, _ = linkage.table.plain
    late = (fraction >= 0.5) & (step[..., v] == b[..., q] - a[..., q])
    result[..., q] = np.where(late, b[..., q] - (1.0 - fraction) * step[..., v], result[..., q])
    return result


def wrapped(angle: FloatArray) -> FloatArray:
    """Return angles brought to [-pi, pi) by whole turns; angles already there keep their bits.

    Example:
        >>> wrapped(np.array([4.0, -4.0, 1.0])).round(4).tolist()
        [-2.2832, 2.2832, 1.0]
    """
    turn = 2.0 * np.pi
    return np.where(np.abs(angle) < np.pi, angle, (angle + np.pi) % turn - np.pi)


def clamped(linkage: Linkage, q: FloatArray) -> FloatArray:
    """Return poses with every limited value, and every ball with a cone, brought within its limits."""
    return clamped_turns(linkage.cones, np.minimum(np.maximum(q, linkage.lower), linkage.upper))


def keeps_limits(linkage: Linkage, q: FloatArray) -> NDArray[np.bool_]:
    """Return which poses (..., nq) are within all limits, shape (...)."""
    return np.asarray(((q >= linkage.lower) & (q <= linkage.upper)).all(axis=-1) & ~beyond(linkage.cones, q))


def random_pose(linkage: Linkage, rng: np.random.Generator | int, size: int | tuple[int, ...] = ()) -> FloatArray:
    """Return random poses: uniform within limits, values without limits within a turn or a metre, rotations uniform."""
    rng = np.random.default_rng(rng)
    shape = (int(size),) if isinstance(size, int | np.integer) else tuple(size)
    q, _, wraps = linkage.table.plain
    reach = np.full(linkage.nq, 1.0)
    reach[q] = np.where(wraps, np.pi, 1.0)
    open_below = np.where(np.isfinite(linkage.upper), linkage.upper - 2.0 * reach, -reach)
    lower = np.where(np.isfinite(linkage.lower), linkage.lower, open_below)
    upper = np.where(np.isfinite(linkage.upper), linkage.upper, lower + 2.0 * reach)
    result = np.clip(lower + (upper - lower) * rng.random((*shape, linkage.nq)), linkage.lower, linkage.upper)
    for k, _ in linkage.table.quaternions:
        quaternion = rng.normal(size=(*shape, 4))
        result[..., k : k + 4] = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
    for cone in linkage.cones:
        result[..., cone.q : cone.q + 4] = sampled(cone, rng, shape)
    return result
