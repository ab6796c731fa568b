"""Forward kinematics, Jacobians, changes of frame and traversal: one contract over every joint and batch shape."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import ANY

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linkwork as lw
from linkages import JOINTS, one_joint, random_tree
from linkwork.errors import (
    FrameNotFoundError,
    JointNotFoundError,
    LinkworkError,
    PoseError,
    PoseNotFoundError,
    PoseShapeError,
    PoseValueError,
    TransformError,
)
from linkwork.linkage.kinematics import FrameMap

BATCHES = [(), (1,), (3, 2), (9,), (0,)]
EXACT = 1e-12

joints = pytest.mark.parametrize("joint", JOINTS)
batches = pytest.mark.parametrize("batch", BATCHES, ids=str)


def walked(linkage: lw.Linkage, q: np.ndarray) -> dict[str, np.ndarray]:
    """Return every frame's matrix from the traversal."""
    matrices = {visit.node.name: visit.matrix for visit in linkage.traverse(q)}
    return matrices | {frame.name: matrices[frame.link] @ frame.placement for frame in linkage.extra_frames}


def slope(f: Callable[[float], np.ndarray], h: float = 1e-3) -> np.ndarray:
    """Return f'(0) from four neighbours, with an error of order h to the fourth."""
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


def sampled_jacobian(linkage: lw.Linkage, q: np.ndarray, frame: str) -> np.ndarray:
    """Return the Jacobian of one pose in world axes, from differences along every velocity."""
    rotation = linkage.forward(q, frame=frame)[:3, :3]
    columns = []
    for direction in np.eye(linkage.nv):
        rate = slope(lambda h, v=direction: linkage.forward(linkage.integrate(q, h * v), frame=frame))
        spin = rate[:3, :3] @ rotation.T
        columns.append([*rate[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]])
    return np.array(columns).reshape(linkage.nv, 6).T


def gripper() -> lw.Linkage:
    """Return a wheel with followers: two fingers, a prismatic joint, a joint below one of them; and a ball joint."""
    b = lw.Builder("gripper", base="palm", root=lw.transforms.transform((1, 2, 3), {"rotvec": (0.3, -0.2, 0.5)}))
    b.revolute("wheel", "hub", at=(0.1, 0, 0), axis=(1, 2, 2))
    b.revolute("left", "left finger", at=(0, 0.2, 0), axis="y", mimic=lw.Mimic("wheel", 2.0, 0.1))
    b.prismatic("rack", "carriage", at=(0.3, 0, 0), axis="-x", mimic=lw.Mimic("left", -0.5))
    b.frame("tip", at=(0, 0.1, 0.4))
    b.revolute("right", "right finger", parent="palm", at=(0, -0.2, 0), axis="z", mimic="wheel")
    b.ball("thumb", "thumb link", parent="palm", at=(0.3, 0, 0))
    return b.build()


# The contract of every joint


@joints
def test_all_frames_are_where_the_walk_finds_them(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    for batch in BATCHES:
        q = linkage.random_pose(3, batch)
        frames, expected = linkage.forward(q), walked(linkage, q)
        assert list(frames) == list(linkage.frames) == list(expected)
        for name in expected:
            assert frames[name].shape == (*batch, 4, 4)
            assert_allclose(frames[name], expected[name], rtol=0, atol=EXACT)


@joints
def test_one_frame_is_where_the_walk_finds_it(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    for batch in BATCHES:
        q = linkage.random_pose(4, batch)
        for name, expected in walked(linkage, q).items():
            assert_allclose(linkage.forward(q, frame=name), expected, rtol=0, atol=EXACT)


@joints
@pytest.mark.parametrize("frame", ["base", "child", "tip"])
def test_the_jacobian_is_the_derivative_of_forward_along_integrate(joint: str, frame: str) -> None:
    linkage = one_joint(JOINTS[joint])
    q = linkage.random_pose(5)
    assert_allclose(linkage.jacobian(q, frame), sampled_jacobian(linkage, q, frame), rtol=0, atol=1e-9)


@joints
def test_jacobians_of_a_batch_are_those_of_its_poses(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    for batch in BATCHES:
        q = linkage.random_pose(6, batch)
        for axes in ("world", "local"):
            jacobians = linkage.jacobian(q, "tip", axes=axes)
            assert jacobians.shape == (*batch, 6, linkage.nv)
            for index in np.ndindex(*batch):
                assert_allclose(jacobians[index], linkage.jacobian(q[index], "tip", axes=axes), rtol=0, atol=EXACT)


@joints
def test_local_axes_are_those_of_the_frame(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    for batch in BATCHES:
        q = linkage.random_pose(7, batch)
        rotation = linkage.forward(q, frame="tip")[..., :3, :3]
        world, local = linkage.jacobian(q, "tip"), linkage.jacobian(q, "tip", axes="local")
        for half in (slice(0, 3), slice(3, 6)):
            assert_allclose(world[..., half, :], rotation @ local[..., half, :], rtol=0, atol=EXACT)


@pytest.mark.parametrize("n", [1, 2, 5, 17, 40])
def test_random_trees_keep_the_contract(n: int) -> None:
    linkage = random_tree(np.random.default_rng(n), n)
    q = linkage.random_pose(n, 11)
    frames, expected = linkage.forward(q), walked(linkage, q)
    for name in linkage.frames:
        assert_allclose(frames[name], expected[name], rtol=0, atol=1e-11)
        assert_allclose(linkage.forward(q, frame=name), expected[name], rtol=0, atol=1e-11)
    frame = linkage.frames[-1]
    assert_allclose(linkage.jacobian(q[0], frame), sampled_jacobian(linkage, q[0], frame), rtol=0, atol=1e-8)


# Followers, branches


def test_followers_move_with_their_leader() -> None:
    linkage = gripper()
    q = linkage.random_pose(1)
    wheel = q[linkage.coordinate_index["wheel"]]
    free = linkage.replace(joints={name: {"mimic": None} for name in ("left", "rack", "right")})
    values = {"wheel": wheel, "left": 2 * wheel + 0.1, "rack": -0.5 * (2 * wheel + 0.1), "right": wheel}
    thumb = {c: q[linkage.coordinate_index[c]] for c in ("thumb.w", "thumb.x", "thumb.y", "thumb.z")}
    loose = free.pose({**values, **thumb})
    for name in linkage.frames:
        assert_allclose(linkage.forward(q, frame=name), free.forward(loose, frame=name), rtol=0, atol=EXACT)


def test_columns_of_followers_are_merged_into_their_leaders() -> None:
    linkage = gripper()
    q = linkage.random_pose(2)
    wheel = q[linkage.coordinate_index["wheel"]]
    free = linkage.replace(joints={name: {"mimic": None} for name in ("left", "rack", "right")})
    loose = free.pose({"wheel": wheel, "left": 2 * wheel + 0.1, "rack": -0.5 * (2 * wheel + 0.1), "right": wheel})
    column = {name: k for k, name in enumerate(free.coordinates)}
    apart = free.jacobian(loose, "tip")
    together = linkage.jacobian(q, "tip")
    expected = apart[:, column["wheel"]] + 2.0 * apart[:, column["left"]] - 1.0 * apart[:, column["rack"]]
    assert linkage.nv == 4
    assert_allclose(together[:, 0], expected, rtol=0, atol=EXACT)
    assert_allclose(together, sampled_jacobian(linkage, q, "tip"), rtol=0, atol=1e-9)


def test_a_frame_that_a_joint_does_not_move_has_a_zero_column() -> None:
    linkage = random_tree(np.random.default_rng(12), 30)
    q = linkage.random_pose(0, 9)
    for name in linkage.frames:
        link = next((frame.link for frame in linkage.extra_frames if frame.name == name), name)
        index, above = linkage.link_index(link), set()
        while index >= 0:
            drive, arc = linkage.drives[index], linkage.arcs[index]
            above.update(range(drive.v, drive.v + arc.articulation.nv))
            index = linkage.parents[index]
        beside = [v for v in range(linkage.nv) if v not in above]
        assert not linkage.jacobian(q, name)[..., beside].any()
        assert not linkage.jacobian(q, name, axes="local")[..., beside].any()


def test_root_motion_moves_everything_rigidly() -> None:
    linkage = gripper().replace(root="floating")
    q = linkage.random_pose(8)
    moved = linkage.pose(root=lw.transforms.transform((5, -4, 2), {"rotvec": (1, 2, -1)}), base=q)
    before, after = linkage.forward(q), linkage.forward(moved)
    motion = after["palm"] @ lw.transforms.inverse(before["palm"])
    for name in linkage.frames:
        assert_allclose(after[name], motion @ before[name], rtol=0, atol=EXACT)


# Changes of frame


@pytest.mark.parametrize("source", ["palm", "left finger", "tip", "right finger", "thumb link", "world"])
@pytest.mark.parametrize("target", ["palm", "hub", "tip", "thumb link", "world"])
def test_a_point_goes_from_any_frame_to_any_other_and_back(source: str, target: str) -> None:
    linkage = gripper()
    q, points = linkage.random_pose(9), np.random.default_rng(0).normal(size=(4, 3))
    frames = {**linkage.forward(q), "world": np.eye(4)}
    there = linkage.convert(points, q, source=source, target=target)
    homogeneous = np.linalg.inv(frames[target]) @ frames[source] @ np.c_[points, np.ones(4)].T
    assert_allclose(there, homogeneous[:3].T, rtol=0, atol=EXACT)
    assert_allclose(linkage.convert(there, q, source=target, target=source), points, rtol=0, atol=EXACT)


@pytest.mark.parametrize(
    ("points", "poses", "result"),
    [((3,), (), (3,)), ((5, 3), (), (5, 3)), ((3,), (4,), (4, 3)), ((4, 3), (4,), (4, 3)), ((5, 3), (4, 1), (4, 5, 3))],
)
def test_points_and_poses_broadcast(points: tuple[int, ...], poses: tuple[int, ...], result: tuple[int, ...]) -> None:
    linkage = gripper()
    x, q = np.random.default_rng(0).normal(size=points), linkage.random_pose(1, poses)
    converted = linkage.convert(x, q, source="tip", target="thumb link")
    assert converted.shape == result
    wide_x = np.broadcast_to(x, result)
    wide_q = np.broadcast_to(q, (*result[:-1], linkage.nq))
    for index in np.ndindex(*result[:-1]):
        alone = linkage.convert(wide_x[index], wide_q[index], source="tip", target="thumb link")
        assert_allclose(converted[index], alone, rtol=0, atol=EXACT)


@pytest.mark.parametrize(
    "points", [[1, 2], 5.0, [[1, 2, 3, 4]], [np.nan, 0, 0], [np.inf, 0, 0], "abc", [1j, 0, 0], None]
)
def test_what_is_no_point_is_refused(points: object) -> None:
    linkage = gripper()
    with pytest.raises(TransformError):
        linkage.convert(points, linkage.neutral(), source="tip")


def test_points_and_poses_that_do_not_broadcast_are_refused() -> None:
    linkage = gripper()
    with pytest.raises(LinkworkError):
        linkage.convert(np.zeros((2, 3)), linkage.random_pose(0, 5), source="tip")


def test_a_link_called_world_is_that_link() -> None:
    linkage = lw.Builder("w", base="world", root=lw.transforms.translation((1, 0, 0))).revolute("j", "arm").build()
    assert_array_equal(linkage.convert([0, 0, 0], [0.5], source="arm", target="world"), [0, 0, 0])
    assert_array_equal(linkage.forward([0.5], frame="world")[:3, 3], [1, 0, 0])


# The traversal


def tree_in_mixed_order() -> lw.Linkage:
    links = [lw.Link(name) for name in ("b2", "a1", "root", "b1", "a", "b", "c")]
    pairs = [("root", "c"), ("b", "b2"), ("root", "a"), ("a", "a1"), ("root", "b"), ("b", "b1")]
    return lw.Linkage(links, [lw.Joint(f"to {child}", parent, child) for parent, child in pairs])


def test_the_walk_is_depth_first_and_children_keep_the_order_of_their_joints() -> None:
    linkage = tree_in_mixed_order()
    expected = ["root", "c", "a", "a1", "b", "b2", "b1"]
    visits = list(linkage.traverse([]))
    assert [visit.node.name for visit in visits] == expected == list(linkage.links)
    assert [visit.joint.name for visit in visits] == ["root", *(f"to {name}" for name in expected[1:])]


def test_data_carries_the_node_transform_and_nobody_inherits_it() -> None:
    node = lw.transforms.transform((0, 0, 7), {"rotvec": (0, 0.4, 0)})
    shape = lw.Visual(lw.Sphere(0.1), (1, 0, 0))
    b = lw.Builder("arm", base="base", shape=shape, node=node)
    linkage = b.revolute("j", "hand", at=(2, 0, 0), shape=(shape, lw.Box((1, 1, 1))), node=node).build()
    plain = linkage.replace(links={name: {"matrix": np.eye(4)} for name in linkage.links})
    for q in ([0.3], np.array([[0.3], [0.4]])):
        for visit, bare in zip(linkage.traverse(q), plain.traverse(q), strict=True):
            assert_array_equal(visit.matrix, bare.matrix)
            for (visual, matrix), (_, without) in zip(visit.data, bare.data, strict=True):
                assert visual in visit.node.visuals
                assert_allclose(matrix, visit.matrix @ node @ visual.placement, rtol=0, atol=EXACT)
                assert not np.allclose(matrix, without)


def test_a_visitor_who_writes_on_a_matrix_does_not_move_the_links_below() -> None:
    linkage = gripper()
    q = linkage.random_pose(3)
    expected = walked(linkage, q)
    for visit in linkage.traverse(q):
        assert_allclose(visit.matrix, expected[visit.node.name], rtol=0, atol=EXACT)
        if visit.matrix.flags.writeable:
            visit.matrix[:] = 0.0


# Angles far from zero


@pytest.mark.parametrize("size", [1e4, 99_999.9, 100_000.1, 1e6, 1e9, 1e12, 1e15, 1e18, 1e22, 1e300])
@pytest.mark.parametrize("batch", [(), (3,), (9,)], ids=str)
def test_huge_angles_turn_as_the_mathematics_library_says(size: float, batch: tuple[int, ...]) -> None:
    linkage = one_joint(JOINTS["universal"])
    q = size * np.random.default_rng(0).uniform(-1.0, 1.0, (*batch, linkage.nq))
    q[..., 0] = size
    frames = linkage.forward(q)
    for name, expected in walked(linkage, q).items():
        assert_allclose(frames[name], expected, rtol=0, atol=EXACT)
    assert_allclose(linkage.forward(q, frame="tip"), frames["tip"], rtol=0, atol=EXACT)
    assert np.isfinite(linkage.jacobian(q, "tip")).all()


# Invalid values

ENTRIES: dict[str, Callable[[lw.Linkage, object], object]] = {
    "forward": lambda linkage, q: linkage.forward(q),
    "forward-frame": lambda linkage, q: linkage.forward(q, frame="tip"),
    "jacobian": lambda linkage, q: linkage.jacobian(q, "tip"),
    "jacobian-local": lambda linkage, q: linkage.jacobian(q, "tip", axes="local"),
    "convert": lambda linkage, q: linkage.convert([0, 0, 0], q, source="tip"),
    "convert-world": lambda linkage, q: linkage.convert([0, 0, 0], q),
    "traverse": lambda linkage, q: list(linkage.traverse(q)),
}
entries = pytest.mark.parametrize("entry", ENTRIES)
PLACES = [(), (0,), (8,), (19,), (2, 1)]  # index of the bad pose in a batch of that many axes


def spoilt(linkage: lw.Linkage, place: tuple[int, ...], values: dict[int, float]) -> np.ndarray:
    batch = {0: (), 1: (20,), 2: (3, 2)}[len(place)]
    q = linkage.random_pose(0, batch)
    for k, value in values.items():
        q[(*place, k)] = value
    return q


@entries
@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_named(entry: str, place: tuple[int, ...], value: float) -> None:
    linkage = one_joint(JOINTS["floating"])
    k = linkage.coordinate_index["joint.qx"]
    with pytest.raises(PoseValueError) as error:
        ENTRIES[entry](linkage, spoilt(linkage, place, {k: value}))
    assert "joint.qx" in str(error.value)
    assert str(place) in str(error.value) or not place


@entries
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_zero_quaternion_is_named(entry: str, place: tuple[int, ...]) -> None:
    linkage = one_joint(JOINTS["floating"])
    with pytest.raises(PoseValueError, match="quaternion of joint 'joint'") as error:
        ENTRIES[entry](linkage, spoilt(linkage, place, dict.fromkeys(range(3, 7), 0.0)))
    assert str(place) in str(error.value) or not place


@pytest.mark.parametrize("entry", ["forward", "forward-frame"])
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_an_overflow_is_refused_and_its_pose_named(entry: str, place: tuple[int, ...]) -> None:
    linkage = lw.Builder("long").prismatic("s1", "a").prismatic("s2", "b").frame("tip").build()
    with pytest.raises(PoseValueError) as error:
        ENTRIES[entry](linkage, spoilt(linkage, place, {0: 1.7e308, 1: 1.7e308}))
    assert str(place) in str(error.value) or not place


@pytest.mark.parametrize("length", [1e-300, 1e-200, 1e-150, 1e-90, 1e-3, 1e3, 1e90, 1e150, 1e155, 1e200, 1e300])
@pytest.mark.parametrize("batch", [(), (9,)], ids=str)
@pytest.mark.parametrize("entry", ["forward-frame", "traverse"])
def test_a_quaternion_of_any_length_is_the_right_rotation_or_refused(
    length: float, batch: tuple[int, ...], entry: str
) -> None:
    linkage = lw.Builder("b").ball("joint", "tip").build()
    unit = np.array([1.0, 1e-3, 0.0, 0.0]) / np.hypot(1.0, 1e-3)
    q = np.broadcast_to(length * unit, (*batch, 4))
    expected = linkage.forward(unit, frame="tip")
    try:
        with np.errstate(all="ignore"):
            result = ENTRIES[entry](linkage, q)
    except PoseValueError:
        assert not 1e-90 <= length <= 1e90
        return
    matrix = result[-1].matrix if entry == "traverse" else result
    assert_allclose(matrix, np.broadcast_to(expected, matrix.shape), rtol=0, atol=EXACT)


@entries
@pytest.mark.parametrize("shape", [(), (0,), (2,), (4,), (3, 2), (3, 4), (3, 1), (2, 0), (0, 2)], ids=str)
def test_a_wrong_shape_is_named(entry: str, shape: tuple[int, ...]) -> None:
    linkage = one_joint(JOINTS["universal"])
    with pytest.raises(PoseShapeError, match=r"expected a pose of shape \(\.\.\., 3\)") as error:
        ENTRIES[entry](linkage, np.zeros(shape))
    assert error.value.got == shape


@entries
def test_a_bare_number_is_no_pose_even_for_one_value(entry: str) -> None:
    linkage = lw.Builder("one").revolute("j", "a").frame("tip").build()
    for number in (0.5, np.float64(0.5), np.array(0.5), 1):
        with pytest.raises(PoseShapeError):
            ENTRIES[entry](linkage, number)


NOT_NUMBERS = {
    "texts": ["0.1", "0.2"],
    "complex list": [0.1, 0.2j],
    "complex array": np.array([0.1, 0.2j]),
    "none inside": [None, 0.1],
    "ragged": [0.1, [0.2]],
    "set": {0.1, 0.2},
    "dates": np.array(["2020", "2021"], "M8[s]"),
    "durations": np.array([1, 2], "m8[s]"),
    "none": None,
    "object": object(),
}


@entries
@pytest.mark.parametrize("form", NOT_NUMBERS)
def test_what_is_not_numbers_is_refused_by_every_entry(entry: str, form: str) -> None:
    with pytest.raises(PoseError):
        ENTRIES[entry](lw.models.planar([2, 1]), NOT_NUMBERS[form])


# All types of arrays and numbers

FORMS: dict[str, Callable[[np.ndarray], object]] = {
    "list": lambda q: q.tolist(),
    "tuple of scalars": lambda q: tuple(np.float64(x) for x in q) if q.ndim == 1 else tuple(map(tuple, q)),
    "float32": lambda q: q.astype(np.float32),
    "float16": lambda q: q.astype(np.float16),
    "long double": lambda q: q.astype(np.longdouble),
    "big endian": lambda q: q.astype(">f8"),
    "Fortran order": np.asfortranarray,
    "strided": lambda q: np.repeat(q, 3, axis=-1)[..., ::3],
    "reversed": lambda q: q[..., ::-1].copy()[..., ::-1],
    "read-only": lambda q: np.frombuffer(q.tobytes()).reshape(q.shape),
    "broadcast": lambda q: np.broadcast_to(q, (1, *q.shape))[0],
    "unaligned": lambda q: np.frombuffer(b"x" + q.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(q.shape),
    "subclass": lambda q: np.ma.array(q),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("batch", [(), (3,), (9,)], ids=str)
def test_every_form_of_the_same_numbers_gives_the_same_answer(form: str, batch: tuple[int, ...]) -> None:
    linkage = one_joint(JOINTS["floating"])
    q = np.random.default_rng(0).integers(-8, 9, (*batch, linkage.nq)) / 8.0
    q[..., 3] = 1.0
    given = FORMS[form](q.copy())
    assert_array_equal(linkage.forward(given).array, linkage.forward(q).array)
    assert_array_equal(linkage.forward(given, frame="tip"), linkage.forward(q, frame="tip"))
    assert_array_equal(linkage.jacobian(given, "tip"), linkage.jacobian(q, "tip"))
    assert_array_equal(list(linkage.traverse(given))[-1].matrix, list(linkage.traverse(q))[-1].matrix)


def test_whole_numbers_are_numbers() -> None:
    arm = lw.models.planar([2, 1])
    for ints in ([1, 2], np.array([1, 2]), np.array([1, 2], np.uint8), (np.int8(1), np.int64(2))):
        assert_array_equal(arm.forward(ints, frame="tip"), arm.forward([1.0, 2.0], frame="tip"))


def test_nothing_that_is_passed_in_is_changed() -> None:
    linkage = one_joint(JOINTS["floating"])
    q = 3.0 * linkage.random_pose(0, 9)
    before = q.copy()
    for entry in ENTRIES.values():
        entry(linkage, q)
    assert_array_equal(q, before)


@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_results_own_their_memory(batch: tuple[int, ...]) -> None:
    linkage = one_joint(JOINTS["ball"])
    q = linkage.random_pose(0, batch)
    for call in (
        lambda: linkage.forward(q).array,
        lambda: linkage.forward(q, frame="tip"),
        lambda: linkage.jacobian(q, "tip"),
        lambda: linkage.convert([1, 2, 3], q, source="tip"),
        lambda: linkage.convert([1, 2, 3], q),
        lambda: next(iter(linkage.traverse(q))).matrix,
    ):
        first = call()
        kept = first.copy()
        if first.flags.writeable:
            first[...] = 77.0
        assert not np.shares_memory(first, q)
        assert_array_equal(call(), kept)


# Names


@pytest.mark.parametrize("wrong", ["tpi", "Tip", "", "world", 3, None, ["tip"], ("tip",)], ids=repr)
def test_an_unknown_frame_is_refused_with_what_there_is(wrong: object) -> None:
    arm = lw.models.planar([2, 1])
    for call in (
        lambda: arm.jacobian([0, 0], wrong),
        lambda: arm.forward([0, 0])[wrong],
        lambda: arm.forward([0, 0], frame=[] if wrong is None else wrong),
        lambda: arm.convert([0, 0, 0], [0, 0], source="tip", target="tpi" if wrong == "world" else wrong),
    ):
        with pytest.raises(FrameNotFoundError, match="link0, link1, link2, tip"):
            call()


def test_a_frame_nearly_right_is_suggested() -> None:
    with pytest.raises(FrameNotFoundError, match="did you mean 'tip'"):
        lw.models.planar([2, 1]).forward([0, 0], frame="tpi")


@joints
@pytest.mark.parametrize("axes", ["world", "local"])
def test_jacobian_dot_is_the_derivative_of_the_jacobian_along_integrate(joint: str, axes: str) -> None:
    linkage = one_joint(JOINTS[joint])
    q, v = linkage.random_pose(1), np.random.default_rng(2).normal(size=linkage.nv)
    expected = slope(lambda h: linkage.jacobian(linkage.integrate(q, h * v), "tip", axes=axes))
    assert_allclose(linkage.jacobian_dot(q, v, "tip", axes=axes), expected, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_jacobian_dot_broadcasts_poses_against_velocities(seed: int) -> None:
    """Trees with followers, whose columns add to those of their leaders."""
    rng = np.random.default_rng(seed)
    linkage = random_tree(rng, 9)
    frame, q, v = str(rng.choice(linkage.frames)), linkage.random_pose(rng, (3, 1)), rng.normal(size=(4, linkage.nv))
    found = linkage.jacobian_dot(q, v, frame)
    assert found.shape == (3, 4, 6, linkage.nv)
    for i, k in np.ndindex(3, 4):
        one = slope(lambda h, i=i, k=k: linkage.jacobian(linkage.integrate(q[i, 0], h * v[k]), frame))
        assert_allclose(found[i, k], one, atol=1e-7)
    assert linkage.jacobian_dot(q[:0], v[0], frame).shape == (0, 1, 6, linkage.nv)


def test_jacobian_dot_refuses_what_jacobian_and_integrate_refuse() -> None:
    arm = lw.models.planar([2, 1])
    refused: list[tuple[tuple, dict, type[LinkworkError], str]] = [
        (([0, 0], [1, 0], "wrist"), {}, FrameNotFoundError, "no frame 'wrist'"),
        (([0, 0, 0], [1, 0], "tip"), {}, PoseShapeError, "expected a pose of shape"),
        (([0, 0], [1, 0, 0], "tip"), {}, PoseShapeError, "expected a velocity of shape"),
        (([0, 0], [1, np.nan], "tip"), {}, PoseValueError, "must be finite"),
        ((np.zeros((3, 2)), np.zeros((2, 2)), "tip"), {}, PoseError, "do not broadcast together"),
        (([0, 0], [1, 0], "tip"), {"axes": "global"}, TransformError, "'world' or 'local', got 'global'"),
    ]
    for operands, options, error, message in refused:
        with pytest.raises(error, match=message):
            arm.jacobian_dot(*operands, **options)


def test_jacobians_have_two_kinds_of_axes() -> None:
    with pytest.raises(TransformError, match="'world' or 'local'"):
        lw.models.planar([2, 1]).jacobian([0, 0], "tip", axes="body")


def test_frames_are_a_mapping_like_any_other() -> None:
    frames = lw.models.planar([2, 1]).forward([0, 0])
    assert list(frames) == ["link0", "link1", "link2", "tip"]
    assert len(frames) == 4
    assert "tip" in frames
    assert "nose" not in frames
    assert 3 not in frames
    assert frames.get("nose") is None
    assert frames.get("nose", 5) == 5
    assert_array_equal(frames.get(frames.names[-1], 5), frames[frames.names[-1]])
    assert frames == ANY, "a map that does not know another leaves it to that"
    assert set(dict(frames)) == set(frames.names)
    assert_array_equal(frames["tip"], frames.array[-1])
    assert "4 frames" in repr(frames)
    assert frames == lw.models.planar([2, 1]).forward([0, 0])
    assert frames != lw.models.planar([2, 1]).forward([0, 1])


# Linkages that cannot move

STILL = {
    "one link": lambda: lw.Linkage([lw.Link("tip")]),
    "one placed link": lambda: lw.Linkage([lw.Link("tip")], root=lw.transforms.translation((1, 2, 3))),
    "welded": lambda: one_joint(JOINTS["fixed"]).freeze("hinge", at=0.3),
    "split": lambda: one_joint(JOINTS["fixed"]).freeze("hinge", at=0.3).split(),
}


@pytest.mark.parametrize("name", STILL)
@batches
def test_a_linkage_that_cannot_move_still_has_frames(name: str, batch: tuple[int, ...]) -> None:
    linkage = STILL[name]()
    q = np.zeros((*batch, 0))
    assert (linkage.nq, linkage.nv) == (0, 0)
    frames, expected = linkage.forward(q), walked(linkage, q)
    for frame in linkage.frames:
        assert frames[frame].shape == (*batch, 4, 4)
        assert_allclose(frames[frame], expected[frame], rtol=0, atol=EXACT)
        assert_allclose(linkage.forward(q, frame=frame), expected[frame], rtol=0, atol=EXACT)
        assert linkage.jacobian(q, frame).shape == (*batch, 6, 0)
        assert linkage.jacobian(q, frame, axes="local").shape == (*batch, 6, 0)
    assert linkage.convert([0, 0, 0], q, source="tip").shape == (*batch, 3)
    with pytest.raises(PoseShapeError):
        linkage.forward(np.zeros((*batch, 1)))


def _numbers(result: object) -> np.ndarray:
    if isinstance(result, FrameMap):
        return result.array
    return np.stack([visit.matrix for visit in result]) if isinstance(result, list) else np.asarray(result)


@entries
@pytest.mark.parametrize("linkage", [lw.models.planar([2, 1]), lw.models.snake()], ids=["planar", "snake"])
def test_every_entry_takes_a_stored_pose_by_name_and_values_by_joint(entry: str, linkage: lw.Linkage) -> None:
    frame = linkage.frames[-1]
    linkage = linkage if frame == "tip" else linkage.replace(frames=[lw.Frame("tip", linkage.links[-1])])
    linkage = linkage.replace(poses={"bent": linkage.random_pose(3)})
    call = ENTRIES[entry]
    assert_array_equal(_numbers(call(linkage, "bent")), _numbers(call(linkage, linkage.poses["bent"])))
    row = next(row for row in linkage.table if row.v is not None)
    values = {row.name: 0.25}
    assert_array_equal(_numbers(call(linkage, values)), _numbers(call(linkage, linkage.pose(values))))
    with pytest.raises(PoseNotFoundError, match=r"no pose 'bnet'.*did you mean 'bent'"):
        call(linkage, "bnet")
    with pytest.raises(JointNotFoundError, match="no joint 'elbwo'"):
        call(linkage, {"elbwo": 0.1})
