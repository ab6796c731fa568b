"""Joints: every articulation compared with SciPy, whole and split; invalid axes, limits and mimics are refused."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkages import JOINTS, OBLIQUE, one_joint, random_transform
from linkwork.errors import AxisError, LimitError, LinkageError, LinkworkError, MimicError, PoseError, TransformError
from linkwork.linkage.elements import EULER_ORDERS
from linkwork.linkage.joints import (
    ARTICULATIONS,
    Articulation,
    Ball,
    Continuous,
    Element,
    Fixed,
    Floating,
    Joint,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Universal,
)

NAN, INF = math.nan, math.inf
PLACEMENT = random_transform(np.random.default_rng(1))

every_joint = pytest.mark.parametrize("articulation", JOINTS.values(), ids=JOINTS)


def values_of(articulation, size=(), seed=0):
    """Return random values of one joint, within its limits."""
    linkage = one_joint(articulation)
    return linkage.random_pose(seed, size)[..., : articulation.nq]


def rigid(rotation=None, position=(0.0, 0.0, 0.0)):
    matrix = np.eye(4)
    matrix[:3, :3] = np.eye(3) if rotation is None else rotation.as_matrix()
    matrix[:3, 3] = position
    return matrix


def about(axis, angle):
    return Rotation.from_rotvec(np.asarray(axis) * angle)


def by_scipy(articulation, values):
    """Return the matrix of an articulation by SciPy, from its definition."""
    match articulation:
        case Fixed():
            return np.eye(4)
        case Revolute() | Continuous():
            return rigid(about(articulation.axis, values[0]))
        case Prismatic():
            return rigid(position=np.asarray(articulation.axis) * values[0])
        case Screw():
            travel = articulation.lead * values[0] / (2.0 * math.pi)
            return rigid(about(articulation.axis, values[0]), np.asarray(articulation.axis) * travel)
        case Universal():
            return rigid(about(articulation.axis, values[0]) * about(articulation.second, values[1]))
        case Planar():
            u, v, normal = in_the_plane(articulation)
            return rigid(about(normal, values[2]), values[0] * u + values[1] * v)
        case Ball(euler=None):
            return rigid(Rotation.from_quat(values, scalar_first=True))
        case Ball():
            return rigid(Rotation.from_euler(articulation.euler, values))
        case Floating(euler=None):
            return rigid(Rotation.from_quat(values[3:], scalar_first=True), values[:3])
        case Floating():
            return rigid(Rotation.from_euler(articulation.euler, values[3:]), values[:3])
    raise AssertionError(f"write down what {articulation} does")


def in_the_plane(planar):
    """Return the directions of a planar joint: the two axes closest to its plane, orthogonal to the normal."""
    normal = np.array(planar.axis)
    u = np.roll(np.eye(3), -1 - np.abs(normal).argmax(), axis=0)[0]
    u = u - (u @ normal) * normal
    u /= np.linalg.norm(u)
    return u, np.cross(normal, u), normal


# The table itself


def test_the_table_holds_every_kind():
    assert {articulation.kind for articulation in JOINTS.values()} == set(ARTICULATIONS)
    assert all(cls.kind == kind for kind, cls in ARTICULATIONS.items())


def test_the_table_holds_every_euler_order_about_moving_and_about_fixed_axes():
    for kind in (Ball, Floating):
        found = {joint.euler for joint in JOINTS.values() if isinstance(joint, kind) and joint.euler}
        assert found == set(EULER_ORDERS)
    assert len(EULER_ORDERS) == 24


# Motion


@every_joint
def test_matrix_is_that_of_scipy(articulation):
    for values in values_of(articulation, 5):
        np.testing.assert_allclose(articulation.matrix(values), by_scipy(articulation, values), atol=1e-14)


@every_joint
def test_leading_axes_are_batches(articulation):
    for shape in ((), (1,), (3, 2), (0,)):
        values = values_of(articulation, shape)
        matrices = articulation.matrix(values)
        assert matrices.shape == (*shape, 4, 4)
        for place in np.ndindex(shape):
            np.testing.assert_array_equal(matrices[place], articulation.matrix(values[place]))


@every_joint
def test_counts_names_and_limits_agree(articulation):
    assert articulation.nq == len(articulation.coordinates) == len(set(articulation.coordinates))
    has_quaternion = any(element.kind == "ball" for element in articulation.elements)
    assert articulation.nv == articulation.nq - has_quaternion
    lower, upper = articulation.limits
    assert lower.shape == upper.shape == (articulation.nq,)
    assert (lower <= upper).all()


@every_joint
def test_no_value_is_no_motion(articulation):
    values = np.zeros(articulation.nq)
    for name in ("w", "qw"):
        if name in articulation.coordinates:
            values[articulation.coordinates.index(name)] = 1.0
    np.testing.assert_allclose(articulation.matrix(values), np.eye(4), atol=1e-15)


@every_joint
def test_values_that_do_not_fit_are_refused(articulation):
    right = values_of(articulation)
    wrong = [np.append(right, 1.0), np.append(right, 1.0)[None], 1.0, "abc", None, right + 1j]
    if articulation.nq:
        wrong += [right[:-1], right[:0], np.full_like(right, NAN), [None] * articulation.nq]
    for values in wrong:
        for method in (articulation.matrix, articulation.split_values):
            with pytest.raises(PoseError, match=articulation.kind):
                method(values)


@pytest.mark.parametrize("name", ["ball", "floating"])
def test_a_zero_quaternion_is_refused(name):
    for method in (JOINTS[name].matrix, JOINTS[name].split_values):
        with pytest.raises(PoseError, match="quaternion"):
            method(np.zeros(JOINTS[name].nq))


@pytest.mark.parametrize("axis", ["x", "y", "z", "-x", "-y", "-z", OBLIQUE])
def test_planar_directions_are_right_handed_with_the_normal(axis):
    joint = Planar(axis)
    u, v = joint.matrix([1.0, 0.0, 0.0])[:3, 3], joint.matrix([0.0, 1.0, 0.0])[:3, 3]
    np.testing.assert_allclose(np.cross(u, v), joint.axis, atol=1e-15)


@pytest.mark.parametrize(("axis", "u", "v"), [("z", "x", "y"), ("x", "y", "z"), ("y", "z", "x")])
def test_planar_directions_are_the_next_coordinate_axes(axis, u, v):
    motion = Planar(axis).matrix([2.0, 3.0, 0.0])
    np.testing.assert_array_equal(motion[:3, 3], 2.0 * np.array(Revolute(u).axis) + 3.0 * np.array(Revolute(v).axis))
    assert Planar(axis).coordinates == (u, v, "angle")


@pytest.mark.parametrize("axis", ["-x", "-y", "-z", OBLIQUE])
def test_slides_along_no_coordinate_axis_are_not_named_after_one(axis):
    assert Planar(axis).coordinates == ("u", "v", "angle")


# Splitting a joint with several values into joints with one value


def product_of_parts(articulation, values):
    matrix = np.eye(4)
    for (_, part), value in zip(articulation.split(), articulation.split_values(values), strict=True):
        matrix = matrix @ part.matrix([value])
    return matrix


@every_joint
def test_parts_move_as_the_whole(articulation):
    for values in values_of(articulation, 20):
        np.testing.assert_allclose(product_of_parts(articulation, values), articulation.matrix(values), atol=1e-14)


@every_joint
def test_parts_are_one_dof_joints_with_different_names(articulation):
    parts = articulation.split()
    assert len(parts) == articulation.nv
    assert all(part.nq == part.nv == 1 for _, part in parts)
    assert len({name for name, _ in parts}) == len(parts)
    assert articulation.split_values(values_of(articulation, (3, 2))).shape == (3, 2, len(parts))


@every_joint
def test_parts_keep_limits(articulation):
    lower, upper = articulation.limits
    for name, part in articulation.split():
        if name in articulation.coordinates:
            k = articulation.coordinates.index(name)
            assert (part.lower, part.upper) == (lower[k], upper[k])


@pytest.mark.parametrize("away", [0.3, 1e-3, 1e-5, 1.3e-6, 1e-6, 1e-7, 1e-8, 1e-12, 1e-16, 0.0])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("name", ["ball", "floating"])
def test_quaternions_split_at_and_near_gimbal_lock(name, side, away):
    for first, third in ((0.3, 0.8), (-2.0, 1.0), (0.0, 0.0), (3.0, -3.0)):
        turn = Rotation.from_euler("XYZ", [first, side * (math.pi / 2 - away), third])
        quaternion = turn.as_quat(scalar_first=True)
        values = quaternion if name == "ball" else np.array([1.0, 2.0, 3.0, *quaternion])
        np.testing.assert_allclose(product_of_parts(JOINTS[name], values), JOINTS[name].matrix(values), atol=1e-13)


@dataclasses.dataclass(frozen=True)
class Cylindrical(Articulation):
    """A cylindrical joint: slides along x, then turns about it."""

    kind = "cylindrical"

    @property
    def coordinates(self):
        return ("slide", "turn")

    @property
    def elements(self):
        axis = np.array([1.0, 0.0, 0.0])
        return (Element("prismatic", axis, 0, 0), Element("revolute", axis, 1, 1))


def test_a_new_kind_of_joint_is_its_elements():
    linkage = one_joint(Cylindrical())
    assert linkage.coordinates == ("joint.slide", "joint.turn", "hinge")
    q = linkage.random_pose(0, 3)
    expected = [rigid(about((1, 0, 0), turn), (slide, 0, 0)) for slide, turn, _ in q]
    np.testing.assert_allclose(Cylindrical().matrix(q[:, :2]), expected, atol=1e-15)
    for visit in linkage.traverse(q):
        np.testing.assert_allclose(visit.matrix, linkage.forward(q)[visit.node.name], atol=1e-13)
    tip = linkage.split().forward(linkage.split_pose(q), frame="tip")
    np.testing.assert_allclose(tip, linkage.forward(q, frame="tip"), atol=1e-13)


@dataclasses.dataclass(frozen=True)
class Telescope(Articulation):
    """A ball joint, then a prismatic joint along the rotated x; the quaternion comes first."""

    kind = "telescope"
    lower = (-INF,) * 4 + (0.2,)
    upper = (INF,) * 4 + (0.9,)

    @property
    def coordinates(self):
        return ("w", "x", "y", "z", "slide")

    @property
    def elements(self):
        return (Element("ball", np.zeros(3), 0, 0), Element("prismatic", np.array([1.0, 0.0, 0.0]), 4, 3))


def test_a_quaternion_may_come_before_other_values():
    linkage, kind = one_joint(Telescope()), Telescope()
    assert kind.units == ("", "", "", "", "m")
    assert kind.rate_units == ("rad", "rad", "rad", "m")
    q = linkage.random_pose(0, 5)
    assert ((q[:, 4] >= 0.2) & (q[:, 4] <= 0.9)).all()
    for values in q[:, :5]:
        turn = Rotation.from_quat(values[:4], scalar_first=True)
        expected = rigid(turn) @ rigid(position=(values[4], 0.0, 0.0))
        np.testing.assert_allclose(kind.matrix(values), expected, atol=1e-14)
        np.testing.assert_allclose(product_of_parts(kind, values), expected, atol=1e-14)
    assert [name for name, _ in kind.split()] == ["rx", "ry", "rz", "slide"]
    assert kind.split()[-1][1] == Prismatic("x", 0.2, 0.9)
    for visit in linkage.traverse(q):
        np.testing.assert_allclose(visit.matrix, linkage.forward(q)[visit.node.name], atol=1e-13)
    tip = linkage.split().forward(linkage.split_pose(q), frame="tip")
    np.testing.assert_allclose(tip, linkage.forward(q, frame="tip"), atol=1e-13)
    with pytest.raises(PoseError, match="quaternion"):
        kind.matrix([0.0, 0.0, 0.0, 0.0, 0.5])


def test_a_kind_that_does_not_say_its_elements_has_no_motion():
    for ask in (lambda: Articulation().elements, lambda: Articulation().nv):
        with pytest.raises(NotImplementedError):
            ask()


# Values


@every_joint
def test_articulations_are_values(articulation):
    again = dataclasses.replace(articulation)
    for other in (again, copy.deepcopy(articulation), pickle.loads(pickle.dumps(articulation))):
        assert other == articulation
        assert hash(other) == hash(articulation)
    for field in dataclasses.fields(articulation):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(articulation, field.name, None)


def test_different_articulations_differ():
    rows = list(JOINTS.values())
    assert len(set(rows)) == len(rows)


def test_axes_and_limits_are_read_as_people_write_them():
    joint = Revolute((0, 0, 5), lower="-90deg", upper=np.float32(1.5))
    assert (joint.axis, joint.lower, joint.upper) == ((0.0, 0.0, 1.0), -math.pi / 2, 1.5)
    assert Universal(lower=[-1, "-30deg"], upper=np.array([1, 2])).lower == (-1.0, -math.radians(30.0))
    assert Ball("ZYX", upper=("45deg", 1, 2)).lower == (-INF,) * 3
    assert Revolute("x", 0.5, 0.5).limits[0].tolist() == [0.5]


LEFT_OUT = {
    "revolute": (Revolute(), Revolute("z")),
    "continuous": (Continuous(), Continuous("z")),
    "prismatic": (Prismatic(), Prismatic("z")),
    "screw": (Screw(), Screw("z", lead=0.0)),
    "universal": (Universal(), Universal("x", "y")),
    "planar": (Planar(), Planar("z")),
    "cone": (Ball(swing=1.0), Ball(swing=1.0, axis="z")),
    "mimic": (Mimic("hip"), Mimic("hip", 1.0, 0.0)),
}


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_what_is_left_out_has_its_usual_value(kind):
    short, whole = LEFT_OUT[kind]
    assert short == whole


NO_AXES = ((0, 0, 0), (0, NAN, 1), (INF, 0, 0), (1, 0), 1.0, "w", "", None, (1j, 0, 0), ("x", "y", "z"))
WRONG_AXES = {
    f"{cls.kind} about {axis!r}": (lambda cls=cls, axis=axis: cls(axis), AxisError, f"axis of a {cls.kind} joint")
    for cls in (Revolute, Continuous, Prismatic, Screw, Universal, Planar)
    for axis in NO_AXES
}
WRONG_ARTICULATIONS = {
    **WRONG_AXES,
    "bools for an axis": (lambda: Revolute((True, False, False)), AxisError, "numbers"),
    "second axis zero": (lambda: Universal("x", (0, 0, 0)), AxisError, "must not be zero"),
    "parallel axes": (lambda: Universal("x", (2, 0, 0)), AxisError, "must not be parallel"),
    "opposite axes": (lambda: Universal("x", "-x"), AxisError, "must not be parallel"),
    "lower above upper": (lambda: Revolute("z", 1, -1), LimitError, "lower limit 1.* is above its upper limit -1"),
    "lower above upper in degrees": (lambda: Revolute("z", "90deg", "45deg"), LimitError, "1.5708.*0.785398"),
    "slider above": (lambda: Prismatic("z", 0.2, 0.1), LimitError, "prismatic joint is above"),
    "screw above": (lambda: Screw("z", 0.2, 0.1), LimitError, "screw joint is above"),
    "universal above": (lambda: Universal(lower=(0, 2), upper=(1, 1)), LimitError, "lower limit 2.*upper limit 1"),
    "planar above": (lambda: Planar(lower=(0, 0, 2), upper=(1, 1, 1)), LimitError, "planar joint is above"),
    "ball above": (lambda: Ball("XYZ", lower=(0, 0, 2), upper=(1, 1, 1)), LimitError, "ball joint is above"),
    "nan limit": (lambda: Revolute("z", NAN, 1), LimitError, "limit of a revolute joint.*nan"),
    "nan limit of a slider": (lambda: Prismatic("z", 0, NAN), LimitError, "limit of a prismatic joint.*nan"),
    "nan among limits": (lambda: Planar(lower=(0, NAN, 0)), LimitError, "limit of a planar joint.*nan"),
    "only infinity": (lambda: Revolute("z", INF, INF), LimitError, "allow no value"),
    "only minus infinity": (lambda: Prismatic("z", -INF, -INF), LimitError, "allow no value"),
    "no limit": (lambda: Revolute("z", None, 1), LimitError, "limit of a revolute joint.*None"),
    "word for a limit": (lambda: Revolute("z", "low", 1), LimitError, "'low'.*'45deg'"),
    "complex limit": (lambda: Revolute("z", 1j), LimitError, "limit of a revolute joint"),
    "huge limit": (lambda: Revolute("z", upper=10**400), LimitError, "limit of a revolute joint"),
    "bool for a limit": (lambda: Revolute("z", False, True), LimitError, "limit of a revolute joint"),
    "slider in degrees": (lambda: Prismatic("z", "-90deg", 1), LimitError, "limit of a prismatic joint.*-90deg"),
    "slide of a plane in degrees": (lambda: Planar(lower=("-90deg", 0, 0)), LimitError, "limit of a planar joint"),
    "too few limits": (lambda: Universal(lower=(0,)), LimitError, r"lower of a universal joint must be 2 values"),
    "too many limits": (lambda: Planar(upper=(1, 1, 1, 1)), LimitError, "upper of a planar joint must be 3 values"),
    "one limit for three": (lambda: Planar(upper=1.0), LimitError, "must be 3 values, got 1.0"),
    "text for three": (lambda: Ball("XYZ", upper="123"), LimitError, "must be 3 values, got '123'"),
    "limits of a quaternion": (lambda: Ball(lower=(0, 0, 0)), LimitError, "quaternion has no limits.*Euler"),
    "unknown order": (lambda: Ball("XYY"), LinkageError, "'XYY' is not one of XYZ, .*ZYZ about moving axes, or"),
    "mixed order": (lambda: Ball("XyZ"), LinkageError, "'XyZ' is not one of"),
    "order of numbers": (lambda: Ball(123), LinkageError, "123 is not one of"),
    "unknown order of a flight": (lambda: Floating("XYY"), LinkageError, "'XYY' is not one of XYZ, .*ZYZ"),
    "a sense": (lambda: Ball("XYZ", "fixed"), LimitError, "lower of a ball joint must be 3 values, got 'fixed'"),
    "nan lead": (lambda: Screw("z", lead=NAN), LinkageError, "lead of a screw joint"),
    "infinite lead": (lambda: Screw("z", lead=INF), LinkageError, "lead of a screw joint must be (a )?finite"),
    "lead in degrees": (lambda: Screw("z", lead="30deg"), LinkageError, "lead of a screw joint"),
    "no lead": (lambda: Screw("z", lead=None), LinkageError, "lead of a screw joint"),
    "nan multiplier": (lambda: Mimic("a", NAN), MimicError, "multiplier of a mimic joint must be a finite number"),
    "infinite offset": (lambda: Mimic("a", 1.0, INF), MimicError, "offset of a mimic joint must be a finite number"),
    "word for a multiplier": (lambda: Mimic("a", "2"), MimicError, "multiplier.*'2'"),
    "none for an offset": (lambda: Mimic("a", 1.0, None), MimicError, "offset.*None"),
    "complex multiplier": (lambda: Mimic("a", np.complex128(1j)), MimicError, "multiplier"),
    "bool for a multiplier": (lambda: Mimic("a", True), MimicError, "multiplier.*True"),
    "huge multiplier": (lambda: Mimic("a", 10**400), MimicError, "multiplier"),
    "mimic of a number": (lambda: Mimic(5), MimicError, "name.*5"),
    "mimic of a joint": (lambda: Mimic(Joint("a", "b", "c")), MimicError, "name"),
}


@pytest.mark.parametrize(("make", "error", "message"), WRONG_ARTICULATIONS.values(), ids=WRONG_ARTICULATIONS)
def test_wrong_articulations_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


# Arcs

WRONG_JOINTS = {
    "class for a joint": (
        {"articulation": Revolute},
        LinkageError,
        "'knee' needs an articulation .*Fixed.*Floating",
    ),
    "word": ({"articulation": "revolute"}, LinkageError, "'knee' needs an articulation .*got 'revolute'"),
    "no joint": ({"articulation": None}, LinkageError, "'knee' needs an articulation .*got None"),
    "nan placement": ({"placement": (0, 0, NAN)}, TransformError, "placement of joint 'knee'.*finite"),
    "infinite placement": ({"placement": (INF, 0, 0)}, TransformError, "placement of joint 'knee'.*finite"),
    "turned placement": ({"placement": np.eye(3)}, TransformError, r"placement of joint 'knee'.*shape \(3, 3\)"),
    "mirrored placement": ({"placement": np.diag([1, 1, -1, 1])}, TransformError, "'knee' is a reflection"),
    "scaled placement": ({"placement": np.diag([2, 2, 2, 1])}, TransformError, "'knee' is not a rotation"),
    "projection": ({"placement": np.eye(4) + np.eye(4, k=-3)}, TransformError, "'knee': the last row"),
    "no placement": ({"placement": None}, TransformError, "placement of joint 'knee' must be numbers"),
    "bools for a placement": ({"placement": np.eye(4, dtype=bool)}, TransformError, "'knee' must be numbers"),
    "mimicking ball": (
        {"articulation": Ball(), "mimic": Mimic("hip")},
        MimicError,
        "'knee' has 4 values; only one-DOF",
    ),
    "mimicking weld": ({"mimic": Mimic("hip")}, MimicError, "'knee' has 0 values"),
    "mimicking root": ({"parent": None, "articulation": Revolute(), "mimic": Mimic("hip")}, MimicError, "root"),
    "mimic by name": ({"articulation": Revolute(), "mimic": "hip"}, MimicError, "'knee'.*Mimic.*'hip'"),
}


@pytest.mark.parametrize(("changes", "error", "message"), WRONG_JOINTS.values(), ids=WRONG_JOINTS)
def test_wrong_joints_are_refused(changes, error, message):
    with pytest.raises(error, match=message):
        Joint(**{"name": "knee", "parent": "thigh", "child": "shin", **changes})


def test_joints_are_equal_by_value():
    joint = Joint("knee", "thigh", "shin", Revolute("y"), PLACEMENT, Mimic("hip", 2.0))
    assert joint == Joint("knee", "thigh", "shin", Revolute((0, 2, 0)), PLACEMENT.tolist(), Mimic("hip", 2))
    changes = {"name": "k", "parent": "t", "child": "s", "articulation": Revolute("x"), "placement": np.eye(4)}
    for name, value in {**changes, "mimic": None}.items():
        assert joint != dataclasses.replace(joint, **{name: value})
    assert joint != "knee"
    with pytest.raises(TypeError, match="unhashable"):
        hash(joint)


@pytest.mark.parametrize("travel", [lambda j: j, copy.copy, copy.deepcopy, lambda j: pickle.loads(pickle.dumps(j))])
def test_placements_are_read_only_and_no_ones_else(travel):
    given_placement = PLACEMENT.copy()
    joint = travel(Joint("knee", "thigh", "shin", Revolute("y"), given_placement))
    given_placement[0, 3] = 99.0
    np.testing.assert_array_equal(joint.placement, PLACEMENT)
    with pytest.raises(ValueError, match="read-only"):
        joint.placement[0, 3] = 1.0


@every_joint
def test_coordinates_are_named_after_the_joint(articulation):
    names = Joint("hip", "pelvis", "thigh", articulation).coordinates
    assert names == tuple(f"hip.{name}".removesuffix(".") for name in articulation.coordinates)


MID_RANGES = [
    (-1.0, 3.0, 1.0),
    (-INF, INF, 0.0),
    (2.0, INF, 2.0),
    (-2.0, INF, 0.0),
    (-INF, -3.0, -3.0),
    (-INF, 3.0, 0.0),
    (0.1, 0.1, 0.1),
    (-1.7e308, 1.7e308, 0.0),
    (1.0e308, 1.6e308, 1.3e308),
    (5e-324, 5e-324, 5e-324),
]


@pytest.mark.parametrize(("lower", "upper", "middle"), MID_RANGES)
def test_the_neutral_value_is_the_middle_of_limits(lower, upper, middle):
    assert one_joint(Prismatic("x", lower, upper)).neutral()[0] == pytest.approx(middle, rel=1e-15)


def test_all_errors_are_of_one_family():
    errors = {error for _, error, _ in (*WRONG_ARTICULATIONS.values(), *WRONG_JOINTS.values())}
    assert all(issubclass(error, LinkworkError) and issubclass(error, ValueError) for error in errors)
