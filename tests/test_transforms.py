"""Transforms: every form of an orientation, compared with SciPy; ambiguous and invalid ones are refused."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import dataclass
from unittest.mock import ANY

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial import transform as scipy_transform
from scipy.spatial.transform import Rotation

from linkwork.errors import LimitError, TransformError
from linkwork.linkage.elements import EULER_ORDERS
from linkwork.transforms import (
    IDENTITY,
    LONGEST,
    ROTATION_TOLERANCE,
    SHORTEST,
    Value,
    as_angle,
    as_array,
    as_axis,
    as_length,
    as_limits,
    as_number,
    as_pair,
    as_rotation,
    as_transform,
    as_vector,
    axis_rotation,
    cross,
    cross_matrix,
    has_direction,
    inverse,
    is_number,
    is_whole,
    matrix_quaternion,
    plane_basis,
    quaternion_matrix,
    quaternion_product,
    quaternion_vector,
    read_only,
    rotation_vector,
    steady,
    transform,
    translation,
    vector_quaternion,
)

NAN, INF = math.nan, math.inf
TURN = Rotation.from_rotvec([0.3, -0.9, 1.7])
FLIPPED = np.diag([1.0, 1.0, -1.0])
VECTORS = arrays(np.float64, 3, elements=st.floats(-10.0, 10.0, allow_subnormal=False))
ANGLES = st.floats(-50.0, 50.0)


def rigid(rotation=None, position=(0.0, 0.0, 0.0), last=(0.0, 0.0, 0.0, 1.0)):
    """Return a 4x4 array, valid or not."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = np.eye(3) if rotation is None else rotation
    matrix[:3, 3] = position
    matrix[3] = last
    return matrix


# Angles


@pytest.mark.parametrize(
    ("value", "radians"),
    [
        (0.3, 0.3),
        (2, 2.0),
        (np.float32(0.5), 0.5),
        (np.int64(-3), -3.0),
        (np.array(0.25), 0.25),
        ("45deg", math.pi / 4),
        ("-90deg", -math.pi / 2),
        (" 1e2 deg ", math.radians(100)),
        ("0.3rad", 0.3),
        ("0.3", 0.3),
        ("-inf", -INF),
        (INF, INF),
    ],
)
def test_angles_are_numbers_or_texts(value, radians):
    assert as_angle(value) == pytest.approx(radians, rel=1e-15)


NO_ANGLE = {
    "nan": NAN,
    "nan text": "nan",
    "nan degrees": "nandeg",
    "none": None,
    "empty": "",
    "unit alone": "deg",
    "unit in full": "45 degrees",
    "unit as a sign": "45°",
    "word": "x",
    "complex": 1j,
    "list": [1.0, 2.0],
    "array": np.zeros(2),
    "list of one": [1.0],
    "array of one": np.zeros(1),
    "mapping": {},
    "object": object(),
    "too large an integer": 10**400,
    "bool": True,
    "bool of NumPy": np.True_,
    "bytes": b"1",
}


@pytest.mark.parametrize("value", NO_ANGLE.values(), ids=NO_ANGLE)
def test_what_is_no_angle_is_refused(value):
    with pytest.raises(TransformError, match="not an angle"):
        as_angle(value)


# Arrays and vectors

NOT_NUMBERS = {
    "text": "abc",
    "texts": ["1", "2", "3"],
    "mixed": [1.0, "2", 3.0],
    "complex": [1.0, 2.0, 3.0j],
    "none": None,
    "nones": [None, None, None],
    "object": object(),
    "mapping": {"x": 1.0},
    "ragged": [[1.0, 2.0], [3.0]],
    "bools": [True, False, True],
    "dates": np.array(["2020-01-01"] * 3, dtype="datetime64[D]"),
    "too large an integer": [10**400, 0, 0],
    "iterator": iter([1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("value", NOT_NUMBERS.values(), ids=NOT_NUMBERS)
@pytest.mark.parametrize("read", [as_array, as_vector, as_transform, as_rotation])
def test_what_is_no_number_is_refused_by_name(read, value):
    with pytest.raises(TransformError, match="the wrist"):
        read(value, "the wrist")


@pytest.mark.parametrize("value", [NAN, INF, -INF])
@pytest.mark.parametrize("place", range(3))
def test_vectors_are_finite(value, place):
    vector = [1.0, 2.0, 3.0]
    vector[place] = value
    with pytest.raises(TransformError, match="the wrist must be finite, got"):
        as_vector(vector, "the wrist")


@pytest.mark.parametrize("value", [1.0, [], [1.0, 2.0], [1.0] * 4, [[1.0, 2.0, 3.0]], np.eye(3)], ids=repr)
def test_vectors_have_their_size(value):
    with pytest.raises(TransformError, match=r"the wrist must have shape \(3,\), got"):
        as_vector(value, "the wrist")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_what_is_read_is_a_copy(dtype):
    for given_array, read in ((np.ones(3, dtype), as_vector), (np.eye(4, dtype=dtype), as_transform)):
        result = read(given_array, "it")
        before = result.copy()
        given_array[...] = 7
        assert result.dtype == np.float64
        np.testing.assert_array_equal(result, before)


# Axes


AXES = [
    ("x", [1, 0, 0]),
    ("y", [0, 1, 0]),
    ("z", [0, 0, 1]),
    ("-x", [-1, 0, 0]),
    ("-z", [0, 0, -1]),
    ((0, 5, 0), [0, 1, 0]),
]


@pytest.mark.parametrize(("value", "axis"), AXES)
def test_axes_by_letter_or_direction(value, axis):
    result = as_axis(value)
    assert result.tolist() == axis
    assert not np.signbit(result[result == 0.0]).any()


@given(VECTORS.filter(lambda v: np.abs(v).max() > 1e-3), st.integers(-300, 300))
def test_axes_are_unit_vectors_whatever_their_length(vector, exponent):
    axis = as_axis(vector * 10.0**exponent)
    assert np.linalg.norm(axis) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(axis, vector / np.linalg.norm(vector), atol=1e-12)
    np.testing.assert_allclose(as_axis(axis), axis, atol=0 if abs(math.hypot(*axis) - 1) < 4e-16 else 1e-15)


@pytest.mark.parametrize("vector", [(1.7e308, 1.7e308, 1.7e308), (5e-324, 5e-324, 0.0), (1e308, -1e308, 1e308)])
def test_axes_at_the_ends_of_the_numbers_are_unit_vectors(vector):
    assert np.linalg.norm(as_axis(vector)) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((0, 0, 0), "must not be zero"),
        ((-0.0, 0, 0), "must not be zero"),
        ((1, NAN, 0), "must be finite"),
        ((1, INF, 0), "must be finite"),
        ((1, 0), r"shape \(3,\)"),
        ("w", "'x', 'y', 'z'"),
        ("--x", "'x', 'y', 'z'"),
        ("", "'x', 'y', 'z'"),
        ("xy", "'x', 'y', 'z'"),
        (None, "numbers"),
        ((1j, 0, 0), "numbers"),
    ],
)
def test_what_is_no_direction_is_refused(value, message):
    with pytest.raises(TransformError, match=f"the hinge.*{message}"):
        as_axis(value, "the hinge")


# Orientations

FORMS = {
    "rotation": TURN,
    "3x3": TURN.as_matrix(),
    "list": TURN.as_matrix().tolist(),
    "4x4": rigid(TURN.as_matrix(), (1.0, 2.0, 3.0)),
    "wxyz": {"wxyz": TURN.as_quat(scalar_first=True)},
    "wxyz negative": {"wxyz": -TURN.as_quat(scalar_first=True)},
    "wxyz rounded": {"wxyz": 1.0005 * TURN.as_quat(scalar_first=True)},
    "xyzw": {"xyzw": TURN.as_quat().tolist()},
    "euler fixed": {"euler": ("zxy", TURN.as_euler("zxy"))},
    "euler moving": {"euler": ("YZY", TURN.as_euler("YZY"))},
    "euler degrees": {"euler": ("xyz", [f"{angle}deg" for angle in TURN.as_euler("xyz", degrees=True)])},
    "rotvec": {"rotvec": TURN.as_rotvec()},
    "matrix": {"matrix": TURN.as_matrix()},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_says_the_same_orientation(form):
    np.testing.assert_allclose(as_rotation(form), TURN.as_matrix(), atol=1e-14)


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_euler_orders_are_those_of_scipy(order):
    angles = [0.4, -1.1, 2.5]
    expected = Rotation.from_euler(order, angles).as_matrix()
    np.testing.assert_allclose(as_rotation({"euler": (order, angles)}), expected, atol=1e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-300, 1e-12, 1.0, math.pi, 100.0])
def test_rotation_vectors_of_any_length(angle):
    vector = np.array([0.48, -0.6, 0.64]) * angle
    np.testing.assert_allclose(as_rotation({"rotvec": vector}), Rotation.from_rotvec(vector).as_matrix(), atol=1e-13)


def test_a_huge_rotation_vector_is_still_a_rotation():
    matrix = as_rotation({"rotvec": [1e200, 0, 0]})
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-15)


NO_ORIENTATION = {
    "four bare numbers": ([1.0, 0.0, 0.0, 0.0], "w,x,y,z or x,y,z,w"),
    "four bare integers": ((0, 0, 0, 1), "'wxyz'"),
    "three bare numbers": ([0.1, 0.2, 0.3], r"shape \(3,\)"),
    "one number": (1.0, r"shape \(\)"),
    "a stack": (np.eye(3)[None], r"shape \(1, 3, 3\)"),
    "rotations": (Rotation.from_rotvec(np.zeros((2, 3))), r"shape \(2, 3, 3\)"),
    "reflection": (FLIPPED, "reflection"),
    "reflection 4x4": (rigid(FLIPPED), "reflection"),
    "scaled": (2.0 * np.eye(3), "not a rotation.*orthonormal"),
    "sheared": (np.eye(3) + np.eye(3, k=1) * 1e-3, "not a rotation"),
    "zero": (np.zeros((3, 3)), "not a rotation"),
    "nan": (np.full((3, 3), NAN), "finite"),
    "one nan": (np.where(np.eye(3, k=1) * [0, 1, 0], NAN, np.eye(3)), "finite"),
    "infinite": (np.diag([INF, 1.0, 1.0]), "finite"),
    "huge": (np.diag([1e200, 1e-200, 1.0]), "finite|orthonormal"),
    "two forms": ({"wxyz": [1, 0, 0, 0], "rotvec": [0, 0, 0]}, "exactly one form.*rotvec.*wxyz"),
    "no form": ({}, "exactly one form"),
    "unknown form": ({"quaternion": [1, 0, 0, 0]}, "unknown form 'quaternion'.*'wxyz'"),
    "long quaternion": ({"wxyz": [2.0, 0, 0, 0]}, "unit quaternion, got length 2"),
    "zero quaternion": ({"xyzw": [0, 0, 0, 0]}, "unit quaternion"),
    "huge quaternion": ({"xyzw": [1e200, 0, 0, 0]}, "unit quaternion"),
    "short quaternion": ({"wxyz": [1, 0, 0]}, r"shape \(4,\)"),
    "nan quaternion": ({"wxyz": [NAN, 0, 0, 0]}, "finite"),
    "endless rotvec": ({"rotvec": [1.7e308] * 3}, "rotvec.*finite"),
    "nan rotvec": ({"rotvec": [0, NAN, 0]}, "finite"),
    "unknown order": ({"euler": ("xyw", [0, 0, 0])}, "euler"),
    "one axis twice": (
        {"euler": ("xxz", [0, 0, 0])},
        ": an order has up to three letters of 'xyz' or of 'XYZ', never the same letter twice in a row",
    ),
    "mixed senses": ({"euler": ("xYz", [0, 0, 0])}, "euler"),
    "order last": ({"euler": ([0, 0, 0], "xyz")}, "euler"),
    "two angles of three": ({"euler": ("xyz", [0, 0])}, "euler.*: got 2 angles for 3 axes"),
    "no angles": ({"euler": "xyz"}, "euler"),
    "infinite angle": ({"euler": ("xyz", [0, INF, 0])}, "euler.*: angles must be finite"),
}


@pytest.mark.parametrize(("value", "message"), NO_ORIENTATION.values(), ids=NO_ORIENTATION)
def test_what_is_no_orientation_is_refused(value, message):
    with pytest.raises(TransformError, match=f"^the palm.*{message}"):
        as_rotation(value, "the palm")


def test_any_rotation_is_taken_and_its_mirror_image_refused():
    for matrix in Rotation.random(20, random_state=4).as_matrix():
        np.testing.assert_array_equal(as_rotation(matrix), matrix)
        with pytest.raises(TransformError, match="reflection"):
            as_rotation(FLIPPED @ matrix)


# Rigid transforms


@pytest.mark.skipif(not hasattr(scipy_transform, "RigidTransform"), reason="needs SciPy 1.16")
def test_a_rigid_transform_of_scipy_is_a_transform_and_an_orientation():
    matrix = rigid(TURN.as_matrix(), (1.0, 2.0, 3.0))
    value = scipy_transform.RigidTransform.from_matrix(matrix)
    np.testing.assert_allclose(as_transform(value), matrix, atol=1e-15)
    np.testing.assert_allclose(as_rotation(value), TURN.as_matrix(), atol=1e-15)


def test_transforms_from_a_matrix_or_a_position():
    matrix = rigid(TURN.as_matrix(), (1.0, 2.0, 3.0))
    np.testing.assert_array_equal(as_transform(matrix), matrix)
    np.testing.assert_array_equal(as_transform(matrix.tolist()), matrix)
    np.testing.assert_array_equal(as_transform((1, 2, 3)), rigid(position=(1, 2, 3)))
    np.testing.assert_array_equal(transform((1, 2, 3), TURN), rigid(TURN.as_matrix(), (1, 2, 3)))
    np.testing.assert_array_equal(translation((1, 2, 3)), rigid(position=(1, 2, 3)))


def test_a_translation_that_is_none_is_refused_by_name():
    with pytest.raises(TransformError, match=r"^translation position"):
        translation((0.0, NAN, 0.0))


def test_the_identity_is_read_only():
    np.testing.assert_array_equal(IDENTITY, np.eye(4))
    assert as_transform(IDENTITY) is IDENTITY
    with pytest.raises(ValueError, match="read-only"):
        IDENTITY[0, 3] = 1.0


NO_TRANSFORM = {
    "four numbers": ([1.0, 0, 0, 0], r"shape \(4,\)"),
    "3x3": (np.eye(3), r"4x4 matrix or a position.*shape \(3, 3\)"),
    "3x4": (np.eye(4)[:3], r"shape \(3, 4\)"),
    "stack": (np.eye(4)[None], r"shape \(1, 4, 4\)"),
    "rotation": (TURN, r"shape \(3, 3\)"),
    "reflection": (rigid(FLIPPED), "reflection"),
    "scaled": (rigid(2.0 * np.eye(3)), "orthonormal"),
    "a little off": (rigid(np.diag([1.0, 1.0, 1.0 + 1e-5])), "orthonormal"),
    "transposed": (rigid(position=(1, 2, 3)).T, "last row of a rigid transform is 0 0 0 1, got"),
    "projective": (rigid(last=(0, 0, 0.5, 1)), "last row"),
    "homogeneous scale": (rigid(last=(0, 0, 0, 2)), "last row"),
    "nan last": (rigid(last=(0, 0, 0, NAN)), "last row"),
    "nan position": (rigid(position=(0, NAN, 0)), "finite"),
    "infinite position": (rigid(position=(0, 0, -INF)), "finite"),
    "nan rotation": (rigid(np.full((3, 3), NAN)), "finite"),
    "infinite vector": ((0, INF, 0), "finite"),
}


@pytest.mark.parametrize(("value", "message"), NO_TRANSFORM.values(), ids=NO_TRANSFORM)
def test_what_is_no_rigid_transform_is_refused(value, message):
    with pytest.raises(TransformError, match=f"^the shelf.*{message}"):
        as_transform(value, "the shelf")


# Laws


@given(VECTORS.filter(lambda v: np.linalg.norm(v) > 1e-3), arrays(np.float64, (2, 3), elements=ANGLES))
def test_a_turn_about_an_axis_is_that_of_scipy(vector, angles):
    axis = vector / np.linalg.norm(vector)
    expected = Rotation.from_rotvec(angles.reshape(-1, 1) * axis).as_matrix().reshape(2, 3, 3, 3)
    np.testing.assert_allclose(axis_rotation(axis, angles), expected, atol=1e-13)


@given(VECTORS.filter(lambda v: np.linalg.norm(v) > 1e-3))
def test_a_plane_basis_is_a_rotation_onto_its_normal(vector):
    normal = vector / np.linalg.norm(vector)
    basis = plane_basis(normal)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-14)
    assert np.linalg.det(basis) == pytest.approx(1.0)
    np.testing.assert_array_equal(basis[:, 2], normal)


@given(arrays(np.float64, (2, 3, 4), elements=st.floats(0.01, 10.0)), st.floats(1e-3, 1e3))
def test_quaternions_of_any_length_are_rotations_of_scipy(quaternions, length):
    expected = Rotation.from_quat(quaternions.reshape(-1, 4), scalar_first=True).as_matrix().reshape(2, 3, 3, 3)
    np.testing.assert_allclose(quaternion_matrix(length * quaternions), expected, atol=1e-14)
    np.testing.assert_allclose(quaternion_matrix(-quaternions), expected, atol=1e-14)


HALF_TURNS = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0, -0.8), (-0.48, 0.6, 0.64)]


@pytest.mark.parametrize("angle", [0.0, 1e-200, 1e-12, 1e-5, 0.4, 3.1, math.pi, 4.0, 100.0])
@pytest.mark.parametrize("axis", HALF_TURNS)
def test_quaternions_of_matrices_and_vectors_are_those_of_scipy(axis, angle):
    vectors = angle * np.array([axis, (0.0, 0.0, 1.0)])
    turns = Rotation.from_rotvec(vectors)
    quaternions = turns.as_quat(scalar_first=True, canonical=True)
    both = matrix_quaternion(turns.as_matrix())
    np.testing.assert_allclose(np.abs((both * quaternions).sum(axis=-1)), 1.0, atol=1e-15)
    assert (both[:, 0] >= 0.0).all()
    np.testing.assert_allclose(quaternion_matrix(vector_quaternion(vectors)), turns.as_matrix(), atol=3e-14)
    for length in (3.0, -3.0):
        found = quaternion_vector(length * quaternions)
        np.testing.assert_allclose(Rotation.from_rotvec(found).as_matrix(), turns.as_matrix(), atol=3e-14)
        assert (np.linalg.norm(found, axis=-1) <= math.pi + 1e-15).all()
    if angle < 3.0:
        np.testing.assert_allclose(quaternion_vector(quaternions), vectors, rtol=1e-14)


@given(arrays(np.float64, (2, 3, 4), elements=st.floats(0.01, 10.0)))
def test_products_of_quaternions_are_those_of_scipy(quaternions):
    first, second = quaternions
    expected = quaternion_matrix(first) @ quaternion_matrix(second)
    np.testing.assert_allclose(quaternion_matrix(quaternion_product(first, second)), expected, atol=1e-14)
    assert matrix_quaternion(expected[:0]).shape == (0, 4)
    every = quaternion_product(first[:, None], second[None])
    assert every.shape == (3, 3, 4)
    np.testing.assert_array_equal(every[[0, 1, 2], [0, 1, 2]], quaternion_product(first, second))


@pytest.mark.parametrize("shape", [(), (1,), (3, 2), (0,)])
def test_the_inverse_undoes(shape):
    rng = np.random.default_rng(3)
    matrices = np.broadcast_to(np.eye(4), (*shape, 4, 4)).copy()
    matrices[..., :3, :3] = quaternion_matrix(rng.normal(size=(*shape, 4)))
    matrices[..., :3, 3] = rng.normal(size=(*shape, 3))
    np.testing.assert_allclose(inverse(matrices) @ matrices, np.broadcast_to(np.eye(4), matrices.shape), atol=1e-14)


def test_what_is_a_number_and_what_is_a_whole_one() -> None:
    for value in (1, 2.5, math.inf, np.float32(1.0), np.int64(3)):
        assert is_number(value)
    for value in (1, np.int64(3), 2**70):
        assert is_whole(value)
    for value in (True, np.bool_(True), "1", None, 1j, np.ones(1), [1]):
        assert not is_number(value)
        assert not is_whole(value)
    assert not is_whole(2.0)


@pytest.mark.parametrize("shape", [(), (5,), (2, 3)])
def test_quaternions_of_matrices_of_any_shape_begin_with_a_positive_number(shape):
    turns = Rotation.random(math.prod(shape), rng=3)
    found = matrix_quaternion(turns.as_matrix().reshape(*shape, 3, 3))
    expected = turns.as_quat(scalar_first=True, canonical=True).reshape(*shape, 4)
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize("axis", [(-0.6, 0.8, 0.0), (0.0, -0.6, 0.8), (0.0, 0.0, -1.0)])
def test_quaternions_of_half_turns_begin_with_a_positive_number_too(axis):
    x = np.array(axis)
    found = matrix_quaternion(2.0 * np.outer(x, x) - np.eye(3))  # the half turn about it, exactly
    np.testing.assert_allclose(found, [0.0, *-x], atol=1e-15)


def test_a_unit_axis_comes_back_bit_for_bit():
    vectors = np.random.default_rng(0).normal(size=(200, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    units = [vector for vector in vectors if abs(math.hypot(*vector) - 1.0) < 4e-16]
    assert any((unit / math.hypot(*unit) != unit).any() for unit in units)  # another division would change it
    for unit in units:
        np.testing.assert_array_equal(as_axis(unit), unit)


def test_limits_leave_a_value():
    assert as_limits(-math.inf, math.inf, "rad", "j") == (-math.inf, math.inf)
    assert as_limits("-90deg", "90deg", "rad", "j") == (-math.pi / 2, math.pi / 2)
    assert as_limits(0.5, 0.5, "m", "j") == (0.5, 0.5)
    for lower, upper in ((math.inf, math.inf), (-math.inf, -math.inf)):
        with pytest.raises(LimitError, match="allow no value"):
            as_limits(lower, upper, "m", "j")
    with pytest.raises(LimitError, match="lower limit 2 of j is above its upper limit 1"):
        as_limits(2.0, 1.0, "m", "j")
    with pytest.raises(LimitError, match="limit of j: not a length: '3deg'"):
        as_limits(0.0, "3deg", "m", "j")


def test_limits_come_in_pairs():
    assert as_pair(None, "j") == (-math.inf, math.inf)
    assert as_pair(("-1deg", 2), "j") == ("-1deg", 2)
    for limits in (3.0, (1, 2, 3), [1]):
        with pytest.raises(LimitError, match=r"limits of j must be \(lower, upper\), got"):
            as_pair(limits, "j")


def test_one_number():
    assert as_number(np.float32(0.5), "speed") == 0.5
    for wrong in (math.inf, "fast", (1.0, 2.0)):
        with pytest.raises(TransformError, match="speed must"):
            as_number(wrong, "speed")


def test_lengths_have_no_unit():
    assert as_length("0.3") == 0.3
    assert as_length(2) == 2.0
    with pytest.raises(TransformError, match="not a length: '3deg'; write a number in metres"):
        as_length("3deg")


# Values


@dataclass(frozen=True, eq=False)
class Part(Value):
    """A name and numbers, read-only."""

    name: str
    numbers: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", read_only(np.array(self.numbers)))


class OtherPart(Part):
    """The same fields in another class."""


def test_values_are_equal_by_what_they_hold():
    part = Part("arm", np.arange(3.0))
    assert part == Part("arm", np.arange(3.0))
    for other in (Part("leg", np.arange(3.0)), Part("arm", np.arange(4.0)), Part("arm", -np.arange(3.0))):
        assert part != other
    assert part != OtherPart("arm", np.arange(3.0))
    assert part != "arm"
    assert part == ANY, "a value that does not know another leaves it to that"
    with pytest.raises(TypeError, match="unhashable"):
        hash(part)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda part: pickle.loads(pickle.dumps(part))])
def test_copies_of_values_are_equal_and_closed_too(again):
    part = Part("arm", np.arange(3.0))
    assert again(part) == part
    with pytest.raises(ValueError, match="read-only"):
        again(part).numbers[0] = 5.0


# Vectors and quaternions in arrays


@pytest.mark.parametrize("shape", [(), (5,), (2, 3)])
def test_cross_products_are_those_of_numpy(shape):
    first, second = np.random.default_rng(3).normal(size=(2, *shape, 3))
    wanted = np.cross(first, second)
    np.testing.assert_allclose(cross(first, second), wanted, atol=1e-15)
    np.testing.assert_allclose((cross_matrix(first) @ second[..., None])[..., 0], wanted, atol=1e-15)


def test_steady_quaternions_are_the_same_rotations_without_a_change_of_side():
    rng = np.random.default_rng(4)
    vectors = np.cumsum(rng.normal(scale=0.2, size=(50, 2, 3)), axis=0)  # two joints with growing angles
    smooth = vector_quaternion(vectors)
    mixed = smooth * rng.choice([-1.0, 1.0], size=(50, 2, 1))
    found = steady(mixed)
    assert ((found[1:] * found[:-1]).sum(axis=-1) > 0.0).all()
    np.testing.assert_array_equal(found[0], mixed[0])
    np.testing.assert_array_equal(np.abs(found), np.abs(mixed))
    np.testing.assert_allclose(quaternion_matrix(found), quaternion_matrix(mixed), atol=1e-15)
    np.testing.assert_array_equal(
        steady(np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]]))[1], [0, 1.0, 0, 0]
    )  # a right angle


def test_quaternions_that_vanish_or_overflow_have_no_direction():
    turn = np.array([0.5, -0.5, 0.5, 0.5])
    assert has_direction(turn)
    assert has_direction(np.array([[SHORTEST, 0.0, 0.0, 0.0], [0.0, -LONGEST, 0.0, 0.0]]))
    for wrong in (np.zeros(4), turn * SHORTEST, turn * 4.0 * LONGEST, np.full(4, math.nan)):
        assert not has_direction(wrong)
        assert not has_direction(np.stack([turn, wrong]))
    for length in (SHORTEST, LONGEST):  # accepted directions neither overflow nor vanish
        np.testing.assert_allclose(quaternion_matrix(2.0 * turn * length), quaternion_matrix(turn), atol=1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-160, 1e-9, 1.0, 3.0])
def test_rotation_vectors_come_back_from_quaternions_and_matrices(angle):
    vectors = angle * np.array([[2.0, -1.0, 2.0], [0.0, 1.8, 2.4]]) / 3.0
    quaternions = vector_quaternion(vectors)
    for same in (quaternions, -quaternions):
        np.testing.assert_allclose(quaternion_vector(same), vectors, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(rotation_vector(quaternion_matrix(quaternions)), vectors, rtol=1e-12, atol=1e-15)


def test_rotation_vectors_of_any_shape_and_of_half_turns():
    quaternions = Rotation.random(6, random_state=1).as_quat(scalar_first=True)
    expected = Rotation.from_quat(quaternions, scalar_first=True).as_rotvec()
    np.testing.assert_allclose(quaternion_vector(quaternions.reshape(2, 3, 4)).reshape(6, 3), expected, atol=1e-14)
    np.testing.assert_allclose(quaternion_vector(np.array([0.0, 2.0, 0.0, 0.0])), [math.pi, 0.0, 0.0], atol=1e-15)


def test_rotations_may_be_off_by_a_tolerance():
    stretched = np.diag([math.sqrt(1.0 + 0.9 * ROTATION_TOLERANCE), 1.0, 1.0])
    np.testing.assert_array_equal(as_rotation(stretched), stretched)
    with pytest.raises(TransformError, match=r"its rows are 1\.1e-06 away from orthonormal"):
        as_rotation(np.diag([1.0, math.sqrt(1.0 + 1.1e-6), 1.0]))
