"""Pose vectors: values by name, differences, integration, interpolation, limits and random poses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import RigidTransform, Rotation

import linkwork as lw
from linkages import JOINTS, one_joint, random_tree
from linkwork.errors import (
    JointNotFoundError,
    LinkworkError,
    PoseError,
    PoseNotFoundError,
    PoseShapeError,
    PoseValueError,
)
from linkwork.linkage.joints import Ball, Revolute
from linkwork.linkage.mass import center_of_mass
from linkwork.linkage.poses import distinct, same_pose, turned_back, wrapped

BATCHES = [(), (1,), (3, 2), (9,), (0,)]
joints = pytest.mark.parametrize("joint", JOINTS)
batches = pytest.mark.parametrize("batch", BATCHES, ids=str)


def figure() -> lw.Linkage:
    """Return a floating body with one joint for every form of values."""
    b = lw.Builder("figure", base="pelvis", root="floating")
    b.ball("hip", "thigh", euler="ZXY")
    b.revolute("knee", "shin", at=(0, 0, -0.4), axis="y", limits=("0deg", "140deg"))
    b.ball("ankle", "foot", at=(0, 0, -0.4))
    b.revolute("toe", "toes", axis="y", mimic=lw.Mimic("knee", 0.1))
    b.prismatic("pole", "stick", parent="pelvis", limits=(0.2, 1.0))
    b.universal("neck", "head", parent="pelvis")
    b.pose("sit", {"knee": "90deg", "hip.rx": "-90deg"})
    return b.build()


def drive(follower: lw.joints.Articulation, multiplier: float) -> lw.Linkage:
    """Return a wheel without limits and a follower."""
    b = lw.Builder("drive").continuous("wheel", "rim")
    return b.joint("driven", "load", follower, parent="base", mimic=lw.Mimic("wheel", multiplier)).build()


MOVERS = {
    **{name: one_joint(articulation) for name, articulation in JOINTS.items()},
    "gear down": drive(lw.Revolute("z"), 0.5),
    "gear up": drive(lw.Continuous("x"), -3.0),
    "rack and pinion": drive(lw.Prismatic("x"), 0.01),
    "lead screw": drive(lw.Screw("x", lead=0.01), 1.0),
    "figure": figure(),
    **{f"tree {n}": random_tree(np.random.default_rng(n), n) for n in (3, 9, 30)},
}
movers = pytest.mark.parametrize("mover", MOVERS)


def frames(linkage: lw.Linkage, q: np.ndarray) -> np.ndarray:
    return linkage.forward(q).array


# By name


def value(q: np.ndarray, *names: str) -> np.ndarray:
    return q[..., [figure().coordinate_index[name] for name in names]]


QUARTER = Rotation.from_euler("x", 90, degrees=True)
HALF = np.sqrt(0.5)


@pytest.mark.parametrize(
    ("values", "coordinates", "expected"),
    [
        ({"knee": 0.5}, ["knee"], [0.5]),
        ({"knee": 1}, ["knee"], [1.0]),
        ({"knee": np.float32(0.5)}, ["knee"], [0.5]),
        ({"knee": "90deg"}, ["knee"], [np.pi / 2]),
        ({"knee": " 90 deg "}, ["knee"], [np.pi / 2]),
        ({"knee": "0.25rad"}, ["knee"], [0.25]),
        ({"knee": "0.25"}, ["knee"], [0.25]),
        ({"hip.rx": "30deg"}, ["hip.rz", "hip.rx", "hip.ry"], [0.0, np.pi / 6, 0.0]),
        ({"hip": [0.1, 0.2, 0.3]}, ["hip.rz", "hip.rx", "hip.ry"], [0.1, 0.2, 0.3]),
        ({"hip": ("10deg", 0.2, "-0.3rad")}, ["hip.rz", "hip.rx", "hip.ry"], [np.pi / 18, 0.2, -0.3]),
        ({"hip": np.array([0.1, 0.2, 0.3])}, ["hip.rz", "hip.rx", "hip.ry"], [0.1, 0.2, 0.3]),
        ({"neck": [0.1, 0.2], "neck.first": 0.7}, ["neck.first", "neck.second"], [0.7, 0.2]),
        ({"ankle": QUARTER}, ["ankle.w", "ankle.x", "ankle.y", "ankle.z"], [HALF, HALF, 0, 0]),
        ({"ankle": QUARTER.as_matrix()}, ["ankle.w", "ankle.x", "ankle.y", "ankle.z"], [HALF, HALF, 0, 0]),
        ({"ankle": {"wxyz": [HALF, HALF, 0, 0]}}, ["ankle.w", "ankle.x"], [HALF, HALF]),
        ({"ankle": {"wxyz": [-HALF, -HALF, 0, 0]}}, ["ankle.w", "ankle.x"], [HALF, HALF]),
        ({"ankle": {"xyzw": [HALF, 0, 0, HALF]}}, ["ankle.w", "ankle.x"], [HALF, HALF]),
        ({"ankle": {"euler": ("xyz", ["90deg", 0, 0])}}, ["ankle.w", "ankle.x"], [HALF, HALF]),
        ({"ankle": {"rotvec": [np.pi / 2, 0, 0]}}, ["ankle.w", "ankle.x"], [HALF, HALF]),
        ({"ankle": {"matrix": QUARTER.as_matrix()}}, ["ankle.w", "ankle.x"], [HALF, HALF]),
        ({"ankle.w": 2.0, "ankle.x": 2.0}, ["ankle.w", "ankle.x"], [HALF, HALF]),
        ({"root": [1, 2, 3]}, ["root.x", "root.y", "root.z", "root.qw"], [1, 2, 3, 1]),
        ({"root": {"position": [1, 2, 3]}}, ["root.x", "root.y", "root.z", "root.qw"], [1, 2, 3, 1]),
        ({"root": {"xyzw": [HALF, 0, 0, HALF]}}, ["root.x", "root.qw", "root.qx"], [0, HALF, HALF]),
        ({"root": {"position": [1, 0, 0], "xyzw": [HALF, 0, 0, HALF]}}, ["root.x", "root.qw"], [1, HALF]),
        ({"root": lw.transforms.transform((1, 2, 3), QUARTER)}, ["root.z", "root.qx"], [3, HALF]),
        ({"root": RigidTransform.from_components([1, 2, 3], QUARTER)}, ["root.z", "root.qx"], [3, HALF]),
        ({"root.y": 5}, ["root.x", "root.y", "root.qw"], [0, 5, 1]),
    ],
    ids=lambda item: str(item) if isinstance(item, dict) else "",
)
def test_a_pose_takes_values_in_every_documented_form(values: dict, coordinates: list[str], expected: list) -> None:
    q = figure().pose(values)
    assert_allclose(value(q, *coordinates), expected, rtol=0, atol=1e-15)
    assert_allclose(np.linalg.norm(value(q, "ankle.w", "ankle.x", "ankle.y", "ankle.z")), 1.0, rtol=1e-15)


def test_what_is_not_named_is_neutral_or_stays_as_it_was() -> None:
    linkage = figure()
    base = linkage.random_pose(0)
    for q, start in ((linkage.pose(knee=0.3), linkage.neutral()), (linkage.pose(knee=0.3, base=base), base)):
        others = np.arange(linkage.nq) != linkage.coordinate_index["knee"]
        assert q[~others] == [0.3]
        assert_allclose(q[others], start[others], rtol=0, atol=1e-15)


def test_keywords_add_to_a_mapping_and_win_over_it() -> None:
    q = figure().pose({"knee": 0.1, "pole": 0.5}, knee=0.2)
    assert_array_equal(value(q, "knee", "pole"), [0.2, 0.5])


def test_stored_poses_serve_by_name() -> None:
    linkage = figure()
    assert_array_equal(linkage.pose(base="sit"), linkage.poses["sit"])
    q = linkage.pose(base="sit", pole=0.4)
    assert_allclose(value(q, "knee", "pole", "hip.rx"), [np.pi / 2, 0.4, -np.pi / 2])
    with pytest.raises(PoseNotFoundError, match="did you mean 'sit'"):
        linkage.pose(base="sitt")


def test_a_stored_pose_cannot_be_changed_through_what_it_gives() -> None:
    linkage = figure()
    kept = linkage.poses["sit"].copy()
    for given_out in (linkage.pose(base="sit"), linkage.stored_pose("sit"), linkage.neutral()):
        given_out[:] = 7.0
    assert_array_equal(linkage.poses["sit"], kept)
    with pytest.raises(ValueError, match="read-only"):
        linkage.poses["sit"][0] = 1.0


@batches
def test_a_base_may_be_a_batch(batch: tuple[int, ...]) -> None:
    linkage = figure()
    base = linkage.random_pose(1, batch)
    kept = base.copy()
    q = linkage.pose({"ankle": QUARTER, "knee": "10deg"}, base=base)
    assert q.shape == base.shape
    assert_allclose(value(q, "knee"), np.full((*batch, 1), np.pi / 18))
    assert_allclose(value(q, "hip.rx"), value(base, "hip.rx"))
    lengths = np.random.default_rng(0).uniform(0.2, 1.0, batch)
    assert_array_equal(value(linkage.pose(pole=lengths, base=base), "pole"), lengths[..., None])
    assert_array_equal(base, kept)


def test_a_whole_pose_is_checked_and_copied() -> None:
    linkage = figure()
    q = linkage.random_pose(2)
    q[3:7] *= 5.0
    result = linkage.pose(q)
    assert_allclose(result[3:7], q[3:7] / 5.0, rtol=1e-15)
    assert not np.shares_memory(result, q)


def test_a_whole_pose_and_a_base_contradict_each_other() -> None:
    arm = lw.models.planar([2, 1])
    with pytest.raises(LinkworkError):
        arm.pose([1.0, 2.0], base=[0.0, 0.0])


@pytest.mark.parametrize(
    "values",
    [
        {"knee": np.nan}, {"knee": np.inf}, {"knee": "inf"}, {"knee": "nan"}, {"knee": "ninety"}, {"knee": None},
        {"knee": 1j}, {"knee": [1.0, 2.0]}, {"knee": {}}, {"knee": Ellipsis}, {"knee": ""},
        {"hip": 0.3}, {"hip": [0.1, 0.2]}, {"hip": [0.1, 0.2, 0.3, 0.4]}, {"hip": [0.1, 0.2, "x"]}, {"hip": None},
        {"hip": "123"}, {"hip": [0.1, 0.2, np.nan]}, {"hip": [[1, 2, 3]]}, {"hip": [0.1, [0.2], 0.3]},
        {"ankle": [1, 0, 0, 0]}, {"ankle": 0.3}, {"ankle": {"wxyz": [0, 0, 0, 0]}}, {"ankle": {"wxyz": [5, 0, 0, 0]}},
        {"ankle": {"wxyz": [1, 0, 0]}}, {"ankle": {"abcd": [1, 0, 0, 0]}}, {"ankle": {"euler": ("xqz", [0, 0, 0])}},
        {"ankle": {"wxyz": [1, 0, 0, 0], "xyzw": [0, 0, 0, 1]}}, {"ankle": np.diag([1.0, 1.0, -1.0])},
        {"ankle": 2.0 * np.eye(3)}, {"ankle": "90deg"}, {"ankle": None}, {"ankle": Rotation.random(2, rng=0)},
        {"root": [1, 2]}, {"root": [1, 2, 3, 1, 0, 0, 0]}, {"root": QUARTER}, {"root": [1, [2, 3]]}, {"root": None},
        {"root": {"position": [1, 2]}}, {"root": {"place": [1, 2, 3]}}, {"root": np.zeros((4, 4))}, {"root": "here"},
        {"toe": 0.3},
    ],
    ids=str,
)  # fmt: skip
def test_a_value_that_means_nothing_is_refused_by_name(values: dict) -> None:
    linkage = figure()
    (name,) = values
    for call in (lambda: linkage.pose(values), lambda: linkage.pose(values, base=linkage.random_pose(0, (3, 2)))):
        with pytest.raises(PoseValueError, match=name.split(".")[0]):
            call()


@pytest.mark.parametrize("w", [0.0, 1e-200, 1e200, np.nan])
def test_a_quaternion_made_useless_by_one_coordinate_is_refused_by_name(w: float) -> None:
    with pytest.raises(PoseValueError, match="ankle"):
        figure().pose({"ankle.w": w})


def test_values_for_a_batch_must_fit_it() -> None:
    linkage = figure()
    with pytest.raises(PoseError, match="knee"):
        linkage.pose(knee=[0.1, 0.2], base=linkage.random_pose(0, 3))


@pytest.mark.parametrize(
    ("name", "near"), [("kne", "knee"), ("ankl", "ankle"), ("hip.rxx", None), ("", None), (3, None)]
)
def test_an_unknown_joint_is_refused_with_what_there_is(name: object, near: str | None) -> None:
    with pytest.raises(JointNotFoundError) as error:
        figure().pose({name: 0.1})
    assert near is None or f"did you mean {near!r}" in str(error.value)
    assert "knee" in str(error.value)


# Neutral poses, limits, random poses


@joints
def test_neutral_is_mid_range_where_limited_and_else_nearest_to_zero(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    q = linkage.neutral()
    for k in range(linkage.nq):
        low, high = linkage.lower[k], linkage.upper[k]
        if k in dict(linkage.table.quaternions):
            expected = 1.0
        elif np.isfinite(low) and np.isfinite(high):
            expected = (low + high) / 2.0
        else:
            expected = min(max(0.0, low), high)
        assert q[k] == pytest.approx(expected, abs=1e-15)


@movers
def test_random_poses_keep_limits_and_their_seed(mover: str) -> None:
    linkage = MOVERS[mover]
    for batch in BATCHES:
        q = linkage.random_pose(5, batch)
        assert q.shape == (*batch, linkage.nq)
        assert ((q >= linkage.lower) & (q <= linkage.upper)).all()
        assert_array_equal(q, linkage.random_pose(np.random.default_rng(5), batch))
        if q.size:
            assert not np.array_equal(q, linkage.random_pose(6, batch))
        for k, _ in linkage.table.quaternions:
            assert_allclose(np.linalg.norm(q[..., k : k + 4], axis=-1), 1.0, rtol=1e-14)


def test_random_poses_fill_their_range() -> None:
    linkage = lw.Builder("r").revolute("a", "l1", limits=(-1, 3)).continuous("b", "l2").prismatic("c", "l3").build()
    q = linkage.random_pose(0, 4000)
    for column, (low, high) in zip(q.T, [(-1, 3), (-np.pi, np.pi), (-1, 1)], strict=True):
        counts, _ = np.histogram(column, bins=8, range=(low, high))
        assert counts.sum() == 4000
        assert counts.min() > 350  # 500 expected, deviation 21


def test_random_rotations_are_uniform() -> None:
    q = lw.Builder("b").ball("s", "l").build().random_pose(0, 4000)
    assert_allclose(Rotation.from_quat(q, scalar_first=True).as_matrix().mean(axis=0), 0.0, atol=0.05)


@pytest.mark.parametrize("size", [3, np.int64(3), (3,), [3]], ids=repr)
def test_a_size_may_be_a_number_or_a_shape(size: object) -> None:
    assert lw.models.planar([2, 1]).random_pose(0, size).shape == (3, 2)


@movers
def test_clamping_brings_values_to_the_nearest_limit(mover: str) -> None:
    linkage = MOVERS[mover]
    q = 10.0 * np.random.default_rng(0).normal(size=(50, linkage.nq))
    clamped = linkage.clamp(q)
    assert_array_equal(clamped, np.minimum(np.maximum(q, linkage.lower), linkage.upper))
    assert_array_equal(linkage.clamp(clamped), clamped)


# Differences and integration


@movers
def test_integrating_the_difference_reaches_the_other_pose(mover: str) -> None:
    linkage = MOVERS[mover]
    for batch in BATCHES:
        a, b = linkage.random_pose(1, batch), linkage.random_pose(2, batch)
        velocity = linkage.difference(a, b)
        assert velocity.shape == (*batch, linkage.nv)
        reached = linkage.integrate(a, velocity)
        assert_allclose(frames(linkage, reached), frames(linkage, b), rtol=0, atol=1e-11)
        assert_allclose(linkage.difference(reached, b), 0.0, rtol=0, atol=1e-12)


@movers
def test_the_difference_to_where_a_velocity_leads_is_that_velocity(mover: str) -> None:
    linkage = MOVERS[mover]
    for batch in BATCHES:
        a = linkage.random_pose(3, batch)
        velocity = np.random.default_rng(4).uniform(-1.5, 1.5, (*batch, linkage.nv))  # below half a turn
        assert_allclose(linkage.difference(a, linkage.integrate(a, velocity)), velocity, rtol=0, atol=1e-11)


@movers
def test_going_there_is_minus_coming_back(mover: str) -> None:
    linkage = MOVERS[mover]
    a, b = linkage.random_pose(5, 9), linkage.random_pose(6, 9)
    assert_allclose(linkage.difference(a, b), -linkage.difference(b, a), rtol=0, atol=1e-12)
    assert_array_equal(linkage.integrate(a, np.zeros(linkage.nv)).shape, a.shape)
    assert_allclose(frames(linkage, linkage.integrate(a, np.zeros(linkage.nv))), frames(linkage, a), rtol=0, atol=1e-12)


@movers
def test_whole_turns_of_a_pose_that_make_no_difference_change_no_frame(mover: str) -> None:
    linkage = MOVERS[mover]
    q = linkage.random_pose(7)
    for k in range(linkage.nq):
        turned = q.copy()
        turned[k] += 2.0 * np.pi
        if np.abs(linkage.difference(q, turned)).max() < 1e-9:
            assert_allclose(frames(linkage, turned), frames(linkage, q), rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("joint", "wraps"),
    [
        (lw.Revolute("z"), True),
        (lw.Continuous("x"), True),
        (lw.Revolute("z", -np.pi, np.pi), False),
        (lw.Revolute("z", lower=-9.0), False),
        (lw.Revolute("z", upper=9.0), False),
        (lw.Prismatic("z"), False),
        (lw.Screw("z", lead=0.1), False),
    ],
    ids=repr,
)
def test_only_angles_without_limits_wrap(joint: lw.joints.Articulation, wraps: bool) -> None:
    linkage = lw.Linkage([lw.Link("a"), lw.Link("b")], [lw.Joint("j", "a", "b", joint)])
    (step,) = linkage.difference([-3.0], [3.0])
    assert step == pytest.approx(6.0 - 2.0 * np.pi if wraps else 6.0)
    (far,) = linkage.difference([0.0], [1000.0])
    assert far == pytest.approx(1000.0 - 159 * 2.0 * np.pi if wraps else 1000.0)


def test_a_quaternion_and_its_negative_are_the_same_rotation() -> None:
    linkage = one_joint(JOINTS["ball"])
    a, b = linkage.random_pose(1, 20), linkage.random_pose(2, 20)
    minus = b.copy()
    minus[:, :4] *= -1.0
    assert_allclose(linkage.difference(b, minus), 0.0, atol=1e-15)
    assert_allclose(linkage.difference(a, minus), linkage.difference(a, b), rtol=0, atol=1e-13)
    halfway = linkage.interpolate(a, minus, 0.5), linkage.interpolate(a, b, 0.5)
    assert_allclose(frames(linkage, halfway[0]), frames(linkage, halfway[1]), rtol=0, atol=1e-12)


def test_quaternions_turn_the_short_way_about_their_own_axes() -> None:
    linkage = lw.Builder("b").ball("s", "l").build()
    a, b = linkage.random_pose(3, 50), linkage.random_pose(4, 50)
    velocity = linkage.difference(a, b)
    assert (np.linalg.norm(velocity, axis=-1) <= np.pi + 1e-12).all()
    first, second = (Rotation.from_quat(q, scalar_first=True) for q in (a, b))
    assert_allclose((first * Rotation.from_rotvec(velocity)).as_matrix(), second.as_matrix(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("length", [1e-3, 0.1, 7.0, 1e3])
def test_the_length_of_a_quaternion_does_not_matter(length: float) -> None:
    linkage = one_joint(JOINTS["floating"])
    a, b = linkage.random_pose(1), linkage.random_pose(2)
    longer = a.copy()
    longer[3:7] *= length
    assert_allclose(linkage.difference(longer, b), linkage.difference(a, b), rtol=0, atol=1e-13)
    v = linkage.difference(a, b)
    assert_allclose(linkage.integrate(longer, v), linkage.integrate(a, v), rtol=0, atol=1e-13)


def test_poses_velocities_and_fractions_broadcast() -> None:
    linkage = figure()
    a, b = linkage.random_pose(1), linkage.random_pose(2, (4, 1))
    v, t = np.zeros((3, linkage.nv)), np.linspace(0, 1, 3)
    assert linkage.difference(a, b).shape == (4, 1, linkage.nv)
    assert linkage.difference(b, a).shape == (4, 1, linkage.nv)
    assert linkage.integrate(b, v).shape == (4, 3, linkage.nq)
    assert linkage.integrate(a, v).shape == (3, linkage.nq)
    assert linkage.interpolate(a, b, t).shape == (4, 3, linkage.nq)
    assert linkage.interpolate(a, a, 0.5).shape == (linkage.nq,)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.difference(np.ones((2, x.nq)), np.ones((3, x.nq))),
        lambda x: x.integrate(np.ones((2, x.nq)), np.ones((3, x.nv))),
        lambda x: x.interpolate(np.ones((2, x.nq)), np.ones((2, x.nq)), np.ones(3)),
        lambda x: x.interpolate(x.neutral(), x.neutral(), np.nan),
        lambda x: x.interpolate(x.neutral(), x.neutral(), np.inf),
        lambda x: x.interpolate(x.neutral(), x.neutral(), "half"),
        lambda x: x.interpolate(x.neutral(), x.neutral(), None),
        lambda x: x.difference(x.neutral(), "sitting"),
        lambda x: x.clamp(np.full(x.nq, np.nan)),
        lambda x: x.clamp([1.0]),
    ],
)
def test_what_does_not_go_together_is_refused(call) -> None:
    with pytest.raises(LinkworkError):
        call(figure())


@pytest.mark.parametrize("bad", ["ab", [1j], None, [[0.1], 0.2]], ids=repr)
def test_a_velocity_is_numbers(bad: object) -> None:
    with pytest.raises(PoseValueError):
        lw.models.planar([1]).integrate([0.0], bad)


def test_a_velocity_has_its_own_shape_and_is_finite() -> None:
    linkage = one_joint(JOINTS["ball"])
    for shape in ((), (linkage.nq,), (3, linkage.nq), (0,)):
        with pytest.raises(PoseShapeError, match=r"velocity of shape \(\.\.\., 4\)"):
            linkage.integrate(linkage.neutral(), np.zeros(shape))
    for bad in (np.nan, np.inf):
        with pytest.raises(PoseValueError, match="finite"):
            linkage.integrate(linkage.neutral(), np.full(linkage.nv, bad))


@pytest.mark.parametrize("size", [1e100, 1e200, 1e307])
def test_an_absurd_velocity_gives_a_finite_pose_or_an_error_of_ours(size: float) -> None:
    linkage = one_joint(JOINTS["floating"])
    try:
        with np.errstate(all="ignore"):
            q = linkage.integrate(linkage.neutral(), np.full(linkage.nv, size))
    except LinkworkError:
        return
    assert np.isfinite(q).all()


# Interpolation


@movers
@pytest.mark.parametrize("wrap", [True, False])
def test_interpolation_meets_both_ends(mover: str, wrap: bool) -> None:
    linkage = MOVERS[mover]
    a, b = linkage.random_pose(1, 9), linkage.random_pose(2, 9)
    begin, end = linkage.interpolate(a, b, 0.0, wrap=wrap), linkage.interpolate(a, b, 1.0, wrap=wrap)
    assert_allclose(frames(linkage, begin), frames(linkage, a), rtol=0, atol=1e-12)
    assert_allclose(frames(linkage, end), frames(linkage, b), rtol=0, atol=1e-11)
    q, _, _ = linkage.table.plain
    assert_array_equal(begin[:, q], a[:, q])
    if not wrap:
        assert_array_equal(end[:, q], b[:, q])


@movers
def test_interpolation_goes_at_an_even_pace(mover: str) -> None:
    linkage = MOVERS[mover]
    a, b = linkage.random_pose(3), linkage.random_pose(4)
    whole = linkage.difference(a, b)
    for t in (0.25, 0.5, 0.9):
        assert_allclose(linkage.difference(a, linkage.interpolate(a, b, t)), t * whole, rtol=0, atol=1e-11)


@movers
def test_between_two_poses_within_limits_every_pose_is(mover: str) -> None:
    linkage = MOVERS[mover]
    a, b = linkage.random_pose(5, (200, 1)), linkage.random_pose(6, (200, 1))
    a[:100] = linkage.pose(linkage.clamp(a[:100] - 100.0)) if not linkage.table.quaternions else a[:100]
    q = linkage.interpolate(a, b, np.array([0.0, 0.1, 1 / 3, 0.5, 0.7, 0.999999, np.nextafter(1.0, 0.0), 1.0]))
    assert ((q >= linkage.lower) & (q <= linkage.upper)).all()


@pytest.mark.parametrize("t", [0.0, 0.3, 0.5, 2 / 3, 0.999, np.nextafter(1.0, 0.0), 1.0])
@pytest.mark.parametrize("wrap", [True, False])
def test_from_limit_to_limit_rounding_goes_beyond_neither(t: float, wrap: bool) -> None:
    rng, b = np.random.default_rng(0), lw.Builder("many")
    for k in range(300):
        b.prismatic(f"p{k}", f"l{k}", limits=sorted(rng.normal(size=2) * 10.0 ** rng.integers(-3, 4)))
    many = b.build()
    for start, end in ((many.lower, many.upper), (many.upper, many.lower)):
        q = many.interpolate(start, end, t, wrap=wrap)
        assert ((q >= many.lower) & (q <= many.upper)).all()


def test_whole_turns_are_kept_on_request() -> None:
    wheel = lw.Builder("w").continuous("wheel", "rim").build()
    assert_allclose(wheel.interpolate([0.0], [4.5 * np.pi], 0.5, wrap=False), [2.25 * np.pi])
    assert_allclose(wheel.interpolate([0.0], [4.5 * np.pi], 0.5), [0.25 * np.pi])
    assert_allclose(wheel.interpolate([3.0], [-3.0], 0.5), [np.pi])


# Laws

angles = st.floats(-1e6, 1e6)
units = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 1e-3)


@given(angles)
@settings(deadline=None)
def test_wrapped_angles_are_the_same_turn_within_half_a_turn(angle: float) -> None:
    result = float(wrapped(np.array(angle)))
    assert -np.pi <= result <= np.pi
    assert np.exp(1j * result) == pytest.approx(np.exp(1j * angle), abs=1e-9)


@given(st.floats(-np.pi, np.pi, exclude_min=True, exclude_max=True))
@settings(deadline=None)
def test_angles_within_half_a_turn_keep_their_bits(angle: float) -> None:
    assert float(wrapped(np.array(angle))) == angle


@given(units, units, st.floats(0.0, 1.0))
@settings(deadline=None)
def test_quaternions_between_two_lie_on_the_short_arc(a: tuple, b: tuple, t: float) -> None:
    linkage = lw.Builder("b").ball("s", "l").build()
    q = linkage.interpolate(a, b, t)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-12)
    first, here, last = (Rotation.from_quat(x, scalar_first=True) for x in (a, q, b))
    whole = (first.inv() * last).magnitude()
    assert (first.inv() * here).magnitude() == pytest.approx(t * whole, abs=1e-7)
    assert (here.inv() * last).magnitude() == pytest.approx((1.0 - t) * whole, abs=1e-7)


@given(st.lists(angles, min_size=2, max_size=2), st.lists(angles, min_size=2, max_size=2))
@settings(deadline=None)
def test_unlimited_angles_differ_by_half_a_turn_at_most(a: list[float], b: list[float]) -> None:
    arm = lw.models.planar([2, 1])
    velocity = arm.difference(a, b)
    assert (np.abs(velocity) <= np.pi).all()
    assert_allclose(arm.forward(arm.integrate(a, velocity), frame="tip"), arm.forward(b, frame="tip"), atol=1e-8)


# Names of stored poses, or values by joint, are accepted wherever a pose is

TAKERS = {
    "pose": lambda linkage, q: linkage.pose(q),
    "base": lambda linkage, q: linkage.pose(base=q),
    "clamp": lambda linkage, q: linkage.clamp(q),
    "difference-start": lambda linkage, q: linkage.difference(q, linkage.neutral()),
    "difference-end": lambda linkage, q: linkage.difference(linkage.neutral(), q),
    "integrate": lambda linkage, q: linkage.integrate(q, np.full(linkage.nv, 0.1)),
    "interpolate-start": lambda linkage, q: linkage.interpolate(q, linkage.neutral(), 0.3),
    "interpolate-end": lambda linkage, q: linkage.interpolate(linkage.neutral(), q, 0.3),
    "split_pose": lambda linkage, q: linkage.split_pose(q),
    "center_of_mass": lambda linkage, q: center_of_mass(linkage, q),
    "start": lambda linkage, q: lw.solve(linkage, lw.Reach("head", position=(0.1, 0.0, 1.6)), start=q).start,
    "rest": lambda linkage, q: lw.Rest(q).error(linkage, linkage.neutral()),
}


@pytest.mark.parametrize("taker", TAKERS)
def test_a_pose_is_taken_by_name_and_by_values(taker: str) -> None:
    linkage, call = lw.models.human(root="floating"), TAKERS[taker]
    assert_array_equal(call(linkage, "wave"), call(linkage, linkage.poses["wave"]))
    values = {"left_elbow": 0.5, "root": (0.0, 0.0, 1.0)}
    assert_array_equal(call(linkage, values), call(linkage, linkage.pose(values)))
    with pytest.raises(PoseNotFoundError, match=r"no pose 'wvae'.*did you mean 'wave'"):
        call(linkage, "wvae")
    with pytest.raises(JointNotFoundError, match="no joint 'left_elbwo'"):
        call(linkage, {"left_elbwo": 0.5})


def test_named_poses_of_a_linkage_may_be_values_by_joint() -> None:
    arm = lw.models.planar([2, 1])
    linkage = lw.Linkage(arm.nodes, arm.arcs[1:], poses={"bent": {"j2": "90deg"}})
    assert_allclose(linkage.poses["bent"], [0.0, np.pi / 2])


# Distinct poses


@pytest.mark.parametrize("joint", sorted(JOINTS))
def test_a_pose_is_the_same_up_to_rounding_whole_turns_and_a_quaternions_sign(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    pose = linkage.random_pose(5)
    again = pose + 1e-4
    again[linkage.table.periodic] += 2.0 * np.pi
    for k, _ in linkage.table.quaternions:
        again[k : k + 4] = -pose[k : k + 4]
    far = linkage.integrate(pose, np.eye(linkage.nv)[-1] * 0.1)
    poses = np.stack([pose, again, far, pose, far])
    assert same_pose(linkage, pose, poses).tolist() == [True, True, False, True, False]
    assert distinct(linkage, poses).tolist() == [0, 2]
    assert distinct(linkage, poses, apart=1e-6).tolist() == ([0, 1, 2] if len(linkage.table.plain.q) else [0, 2])


def test_a_slide_by_two_pi_metres_is_another_pose() -> None:
    linkage = one_joint(JOINTS["prismatic-x"])
    poses = np.stack([linkage.neutral(), linkage.neutral()])
    poses[1, 0] += 2.0 * np.pi
    assert distinct(linkage, poses).tolist() == [0, 1]


def test_of_no_poses_none_are_distinct() -> None:
    assert distinct(lw.models.planar([1]), np.empty((0, 1))).tolist() == []


def test_a_length_is_not_given_in_degrees() -> None:
    linkage = lw.Builder("lift").prismatic("lift", "cage").planar("slide", "tray").build()
    assert linkage.pose({"lift": "0.5", "slide": (1, "2", "90deg")}).tolist() == [0.5, 1.0, 2.0, np.pi / 2]
    for values in ({"lift": "45deg"}, {"slide": ("45deg", 0, 0)}, {"slide.x": "45deg"}):
        with pytest.raises(PoseValueError, match="not a length: '45deg'"):
            linkage.pose(values)


def test_a_quaternion_is_brought_to_length_one_by_its_own_four_numbers():
    linkage = one_joint(Ball())
    q = linkage.pose([0.6, 0.0, 0.0, 0.0, 0.8])  # with the joint after it, the five have length one
    np.testing.assert_allclose(q, [1.0, 0.0, 0.0, 0.0, 0.8], atol=1e-15)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_angles_are_turned_back_by_no_more_turns_than_it_takes(sign):
    lower, upper = sorted((-20.0 * sign, 6.5 * sign))
    linkage = one_joint(Revolute("z", lower, upper))
    q, start = np.array([sign * (0.8 - 4.0 * np.pi), 0.0]), np.array([7.0 * sign, 0.0])
    np.testing.assert_allclose(turned_back(linkage, q, start), [0.8 * sign, 0.0], atol=1e-12)
