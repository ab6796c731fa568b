"""Read and check numbers, positions, rotations and rigid transforms given by users, as NumPy arrays.

Quaternions are w, x, y, z throughout.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import LimitError, LinkworkError, TransformError

FloatArray = NDArray[np.float64]


class HasMatrix(Protocol):
    """An object with `as_matrix`: a SciPy ``Rotation`` or ``RigidTransform``."""

    def as_matrix(self) -> Any:
        """Return the matrix."""


TransformLike: TypeAlias = ArrayLike | HasMatrix
"""A rigid transform as it may be given: a 4x4 matrix, a position (3,), or a SciPy ``RigidTransform``."""

ORIENTATION_FORMS = (
    "a SciPy Rotation, a 3x3 or 4x4 matrix, {'wxyz': ...}, {'xyzw': ...}, {'euler': ('xyz', angles)} or {'rotvec': ...}"
)
ROTATION_TOLERANCE = 1e-6
IDENTITY: FloatArray = np.eye(4)
IDENTITY.setflags(write=False)
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
EULER_ORDER = re.compile(r"(?:([xyz])(?!\1)){1,3}|(?:([XYZ])(?!\2)){1,3}")
ANGLE_UNITS = {"deg": math.pi / 180.0, "rad": 1.0}
_YZX, _ZXY = np.array([1, 2, 0]), np.array([2, 0, 1])
SHORTEST, LONGEST = 1e-101, 1e101  # largest entries of quaternions that still have a direction


class Value:
    """Base of frozen dataclasses: equal by value, arrays included; copied and pickled through the constructor.

    Copies are therefore checked like the original, and their arrays are read-only too.
    """

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        pairs = ((part, vars(other)[name]) for name, part in vars(self).items())
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]
    __match_args__: ClassVar[tuple[str, ...]]  # names of the fields, set by each dataclass that derives from this class

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(vars(self)[name] for name in type(self).__match_args__)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same array, made read-only."""
    array.setflags(write=False)
    return array


@contextmanager
def reraised_as(kind: type[LinkworkError], where: str = "") -> Iterator[None]:
    """Re-raise a `TransformError` as another error class, with a prefix that says where it occurred."""
    try:
        yield
    except TransformError as error:
        raise kind(f"{where}{error}") from error


def as_angle(value: float | str) -> float:
    """Return an angle in radians from a number [rad] or a text such as ``"45deg"``, ``"0.3rad"``.

    Example:
        >>> as_angle("180deg")
        3.141592653589793
    """
    return _quantity(value, "an angle", ANGLE_UNITS, "write a number in radians or a text like '45deg'")


def as_length(value: float | str) -> float:
    """Return a length in metres from a number [m] or a text such as ``"0.3"``."""
    return _quantity(value, "a length", {}, "write a number in metres")


def _quantity(value: Any, what: str, units: Mapping[str, float], advice: str) -> float:
    """Return a number, possibly infinite, from a number of any type or a text that may end with a unit."""
    number, unit = value, 1.0
    try:
        if isinstance(value, str):
            number = value.strip()
            if number[-3:] in units:
                number, unit = number[:-3], units[number[-3:]]
        elif type(value) not in (float, int):
            number = as_array(value, what)
            if number.shape:
                raise TypeError("expected one number")
        result = float(number) * unit
        if math.isnan(result):
            raise ValueError("NaN is not a number")
        return result
    except (TypeError, ValueError, OverflowError) as error:
        raise TransformError(f"not {what}: {reprlib.repr(value)}; {advice}.") from error


def as_limits(lower: Any, upper: Any, unit: str, what: str) -> tuple[float, float]:
    """Return the limits of one value as numbers, infinite where there is none; `unit` is ``"m"`` or ``"rad"``."""
    read = as_length if unit == "m" else as_angle
    with reraised_as(LimitError, f"limit of {what}: "):
        low, high = read(lower), read(upper)
    if low > high:
        raise LimitError(f"lower limit {low:.6g} of {what} is above its upper limit {high:.6g}.")
    if low == math.inf or high == -math.inf:
        raise LimitError(f"limits {low} and {high} of {what} allow no value.")
    return low, high


def as_pair(limits: Any, what: str) -> tuple[Any, Any]:
    """Return lower and upper limit from a pair; None gives infinite limits."""
    try:
        lower, upper = (-math.inf, math.inf) if limits is None else limits
        return lower, upper
    except (TypeError, ValueError) as error:
        raise LimitError(f"limits of {what} must be (lower, upper), got {limits!r}.") from error


def as_array(value: ArrayLike, what: str) -> FloatArray:
    """Return an array of float64; raise `TransformError` if the value is not numeric."""
    try:
        array = np.array(value)
        if array.dtype.kind not in "fiu":  # neither complex numbers, nor texts, nor booleans
            raise TypeError(f"got {reprlib.repr(value)}")
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise TransformError(f"{what} must be numbers: {error}.") from error


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a single real number of Python or NumPy; booleans are not."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_whole(value: Any) -> TypeGuard[int]:
    """Return whether a value is a single integer of Python or NumPy; booleans are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def as_number(value: Any, what: str) -> float:
    """Return a finite number; raise `TransformError` otherwise."""
    return float(as_vector([value], what, 1)[0])


def as_vector(value: ArrayLike, what: str, size: int = 3) -> FloatArray:
    """Return a finite vector of a given size; raise `TransformError` otherwise."""
    vector = as_array(value, what)
    if vector.shape != (size,):
        raise TransformError(f"{what} must have shape ({size},), got {vector.shape}.")
    if not all(map(math.isfinite, vector.tolist())):
        raise TransformError(f"{what} must be finite, got {vector.tolist()}.")
    return vector


def as_axis(value: str | ArrayLike, what: str = "axis") -> FloatArray:
    """Return a unit vector from ``"x"``, ``"-y"`` or three numbers that are not all zero."""
    if isinstance(value, str):
        letter = value.removeprefix("-")
        if letter not in AXES:
            raise TransformError(
                f"{what} must be 'x', 'y', 'z', one of them with '-', or three numbers; got {value!r}."
            )
        return np.array(AXES[letter]) * (-1.0 if value.startswith("-") else 1.0) + 0.0
    vector = as_vector(value, what)
    numbers = vector.tolist()
    if not any(numbers):
        raise TransformError(f"{what} must not be zero.")
    # A vector of unit length is returned bit for bit, so that a joint does not change when it is saved and read again.
    if abs(math.hypot(*numbers) - 1.0) < 4e-16:
        return vector
    vector = np.ldexp(vector, -math.frexp(max(map(abs, numbers)))[1])  # so that the norm cannot overflow
    return vector / math.hypot(*vector.tolist())


def as_rotation(value: Any, what: str = "orientation") -> FloatArray:
    """Return a 3x3 rotation matrix from any unambiguous form.

    Args:
        value: A SciPy ``Rotation`` or ``RigidTransform``, a 3x3 matrix, a 4x4 matrix (its rotation part), or a mapping
            with exactly one of the keys ``wxyz``, ``xyzw``, ``euler`` (order, angles), ``rotvec`` and ``matrix``.
            Lower-case Euler orders turn about fixed axes, upper-case ones about moving axes, as in SciPy. A bare
            4-vector raises `TransformError`.
        what: Name of the value in error messages.

    Example:
        >>> as_rotation({"euler": ("xyz", [0, 0, "90deg"])}).round(6).tolist()
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if isinstance(value, Mapping):
        return _rotation_from_mapping(value, what)
    matrix = as_array(value.as_matrix() if hasattr(value, "as_matrix") else value, what)
    if matrix.shape == (4,):
        raise TransformError(f"{what}: four bare numbers could be w,x,y,z or x,y,z,w; pass {ORIENTATION_FORMS}.")
    return _checked_rotation(matrix[:3, :3] if matrix.shape == (4, 4) else matrix, what)


def _rotation_from_mapping(spec: Mapping[str, Any], what: str) -> FloatArray:
    if len(spec) != 1:
        raise TransformError(f"{what} needs exactly one form, got {sorted(map(str, spec))}; pass {ORIENTATION_FORMS}.")
    ((form, value),) = spec.items()
    if form in ("wxyz", "xyzw"):
        quaternion = as_vector(value, f"{what} ({form})", 4)
        if form == "xyzw":
            quaternion = quaternion[[3, 0, 1, 2]]
        length = math.hypot(*quaternion.tolist())
        if abs(length - 1.0) > 1e-3:
            raise TransformError(f"{what} ({form}) must be a unit quaternion, got length {length:.6g}.")
        return quaternion_matrix(quaternion)
    if form == "matrix":
        return _checked_rotation(as_array(value, what), what)
    if form == "rotvec":
        vector = as_vector(value, f"{what} (rotvec)")
        angle = math.hypot(*vector.tolist())
        if math.isinf(angle):
            raise TransformError(f"{what} (rotvec) must be of finite length, got {vector.tolist()}.")
        return axis_rotation(as_axis(vector), angle) if angle else np.eye(3)
    if form == "euler":
        return _rotation_from_euler(value, what)
    raise TransformError(f"{what}: unknown form {form!r}; pass {ORIENTATION_FORMS}.")


def _rotation_from_euler(value: Any, what: str) -> FloatArray:
    """Return the rotation of Euler angles, about fixed axes (``xyz``) or moving axes (``XYZ``)."""
    try:
        order, angles = value
        angles = [as_angle(angle) for angle in angles]
        if not EULER_ORDER.fullmatch(order):
            raise ValueError(
                "an order has up to three letters of 'xyz' or of 'XYZ', never the same letter twice in a row"
            )
        if len(order) != len(angles):
            raise ValueError(f"got {len(angles)} angles for {len(order)} axes")
        if not all(map(math.isfinite, angles)):
            raise ValueError("angles must be finite")
        result: FloatArray = np.eye(3)
        for letter, angle in zip(order, angles, strict=True):
            turn = axis_rotation(as_axis(letter.lower()), angle)
            result = result @ turn if letter.isupper() else turn @ result
        return result
    except (TypeError, ValueError) as error:
        raise TransformError(
            f"{what} (euler) must be (order, angles) such as ('xyz', [0, 0, 1.57]): {str(error).rstrip('.')}."
        ) from error


def _checked_rotation(matrix: FloatArray, what: str) -> FloatArray:
    if matrix.shape != (3, 3):
        raise TransformError(f"{what} must be {ORIENTATION_FORMS}; got an array of shape {matrix.shape}.")
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()  # plain floats are ten times faster than arrays of nine numbers
    lengths = (a * a + b * b + c * c - 1.0, d * d + e * e + f * f - 1.0, g * g + h * h + i * i - 1.0)
    angles = (a * d + b * e + c * f, d * g + e * h + f * i, g * a + h * b + i * c)
    error = max(map(abs, (*lengths, *angles)))
    if not all(map(math.isfinite, (*lengths, *angles))):
        raise TransformError(f"{what} must be finite.")
    if error > ROTATION_TOLERANCE:
        raise TransformError(f"{what} is not a rotation: its rows are {error:.2g} away from orthonormal.")
    if a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) < 0.0:
        raise TransformError(f"{what} is a reflection (determinant -1), not a rotation.")
    return matrix


def as_transform(value: TransformLike, what: str = "transform") -> FloatArray:
    """Return a 4x4 rigid transform from a 4x4 matrix, a SciPy ``RigidTransform`` or a position (3,)."""
    if isinstance(value, np.ndarray) and value is IDENTITY:
        return IDENTITY
    matrix = as_array(value.as_matrix() if hasattr(value, "as_matrix") else value, what)
    if matrix.shape == (3,):
        return transform(matrix, what=what)
    if matrix.shape != (4, 4):
        raise TransformError(f"{what} must be a 4x4 matrix or a position of shape (3,), got shape {matrix.shape}.")
    _checked_rotation(matrix[:3, :3], what)
    *upper, last = matrix.tolist()
    if not all(math.isfinite(row[3]) for row in upper):
        raise TransformError(f"{what} must be finite.")
    if last != [0.0, 0.0, 0.0, 1.0]:
        raise TransformError(f"{what}: the last row of a rigid transform is 0 0 0 1, got {last}.")
    return matrix


def transform(position: ArrayLike = (0.0, 0.0, 0.0), rotation: Any = None, what: str = "placement") -> FloatArray:
    """Return the 4x4 transform with a given position and, if given, orientation."""
    matrix = np.eye(4)
    matrix[:3, 3] = as_vector(position, f"{what} position")
    if rotation is not None:
        matrix[:3, :3] = as_rotation(rotation, f"{what} orientation")
    return matrix


def translation(position: ArrayLike) -> FloatArray:
    """Return the 4x4 transform that moves by a vector."""
    return transform(position, what="translation")


def axis_rotation(axis: FloatArray, angle: ArrayLike) -> FloatArray:
    """Return the rotation matrix about a unit axis (Rodrigues): ``I + sin K + (1 - cos) K²``.

    Args:
        axis: Unit vector, shape (3,).
        angle: Angles [rad], shape (...).

    Returns:
        Rotation matrices, shape (..., 3, 3).
    """
    angle = np.asarray(angle, dtype=np.float64)[..., None, None]
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    result: FloatArray = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
    return result


def cross(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the cross products of vectors (..., 3), as ``np.cross`` but three times as fast for short arrays."""
    result: FloatArray = first[..., _YZX] * second[..., _ZXY] - first[..., _ZXY] * second[..., _YZX]
    return result


def cross_matrix(vectors: FloatArray) -> FloatArray:
    """Return the cross-product (skew-symmetric) matrices (..., 3, 3) of vectors (..., 3).

    Example:
        >>> (cross_matrix(np.array([1.0, 0.0, 0.0])) @ [0.0, 1.0, 0.0]).tolist()
        [0.0, 0.0, 1.0]
    """
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def plane_basis(normal: FloatArray) -> FloatArray:
    """Return the right-handed basis (u, v, normal) as columns; the identity for the normal z.

    Example:
        >>> plane_basis(np.array([1.0, 0.0, 0.0])).T.tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    guide = np.eye(3)[(int(np.abs(normal).argmax()) + 1) % 3]
    u = guide - (guide @ normal) * normal
    u /= np.linalg.norm(u)
    return np.stack([u, np.cross(normal, u), normal], axis=1) + 0.0


def quaternion_matrix(quaternion: FloatArray) -> FloatArray:
    """Return the rotation matrices (..., 3, 3) of quaternions (..., 4), w first, of any non-zero length."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    s = 2.0 / (w * w + x * x + y * y + z * z)
    rows = [
        [1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
        [s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)],
        [s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def matrix_quaternion(matrix: FloatArray) -> FloatArray:
    """Return the unit quaternions (..., 4), w first and not negative, of rotation matrices (..., 3, 3).

    The entries of ``4 q q^T`` are sums of entries of the rotation matrix; its row with the largest diagonal entry is a
    multiple of the quaternion.

    Example:
        >>> matrix_quaternion(np.diag([1.0, -1.0, -1.0])).tolist()
        [0.0, 1.0, 0.0, 0.0]
    """
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(matrix, (-2, -1), (0, 1))
    wx, wy, wz, xy, xz, yz = h - f, c - g, d - b, d + b, c + g, h + f
    rows = [
        [1.0 + a + e + i, wx, wy, wz],
        [wx, 1.0 + a - e - i, xy, xz],
        [wy, xy, 1.0 - a + e - i, yz],
        [wz, xz, yz, 1.0 - a - e + i],
    ]
    products = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    largest = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), axis=-1)
    found = np.take_along_axis(products, largest[..., None, None], axis=-2)[..., 0, :]
    first = np.take_along_axis(found, np.argmax(found != 0.0, axis=-1)[..., None], axis=-1)
    result: FloatArray = np.where(first < 0.0, -found, found) / np.linalg.norm(found, axis=-1, keepdims=True) + 0.0
    return result


def quaternion_product(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the products (..., 4) of quaternions, w first: the rotation `second`, then `first`."""
    (a, b, c, d), (w, x, y, z) = np.moveaxis(first, -1, 0), np.moveaxis(second, -1, 0)
    parts = (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )
    return np.stack(parts, axis=-1)


def vector_quaternion(vector: FloatArray) -> FloatArray:
    """Return the unit quaternions (..., 4), w first, of rotation vectors (..., 3)."""
    half = np.linalg.norm(vector, axis=-1, keepdims=True) / 2.0
    return np.concatenate([np.cos(half), np.sinc(half / np.pi) / 2.0 * vector], axis=-1)


def quaternion_vector(quaternion: FloatArray) -> FloatArray:
    """Return the rotation vectors (..., 3), no longer than pi, of quaternions (..., 4), w first, of any length."""
    w, vector = quaternion[..., :1], quaternion[..., 1:]
    sine = np.linalg.norm(vector, axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, np.abs(w))
    share = np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 1e-150)  # tends to 2 / w
    result: FloatArray = np.where(w < 0.0, -share, share) * vector
    return result


def rotation_vector(matrix: FloatArray) -> FloatArray:
    """Return the rotation vectors (..., 3), no longer than pi, of rotation matrices (..., 3, 3)."""
    return quaternion_vector(matrix_quaternion(matrix))


def steady(quaternions: FloatArray) -> FloatArray:
    """Return quaternions (frames, ..., 4) of the same rotations, with signs chosen so that none jumps between frames.

    Example:
        >>> steady(np.array([[1.0, 0.0, 0.0, 0.0], [-0.8, 0.6, 0.0, 0.0]])).tolist()
        [[1.0, 0.0, 0.0, 0.0], [0.8, -0.6, -0.0, -0.0]]
    """
    signs = np.where((quaternions[1:] * quaternions[:-1]).sum(axis=-1) < 0.0, -1.0, 1.0)
    result: FloatArray = quaternions.copy()
    result[1:] *= np.cumprod(signs, axis=0)[..., None]
    return result


def has_direction(quaternion: FloatArray) -> bool:
    """Return whether all quaternions (..., 4) can be normalised: neither too short nor too long."""
    size = np.abs(quaternion).max(axis=-1)
    return bool(((size >= SHORTEST) & (size <= LONGEST)).all())


def inverse(matrix: FloatArray) -> FloatArray:
    """Return the inverses of rigid transforms (..., 4, 4): ``R^T`` and ``-R^T p``."""
    result = np.zeros_like(matrix)
    rotation = np.swapaxes(matrix[..., :3, :3], -1, -2)
    result[..., :3, :3] = rotation
    result[..., :3, 3] = -np.einsum("...ij,...j->...i", rotation, matrix[..., :3, 3])
    result[..., 3, 3] = 1.0
    return result
