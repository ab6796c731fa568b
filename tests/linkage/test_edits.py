"""Edits: frames stay in place after freezing, cutting and splitting, and references follow renamed parts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkages import JOINTS, one_joint, random_transform, random_tree
from linkwork.errors import (
    DuplicateNameError,
    FrameNotFoundError,
    JointNotFoundError,
    LimitError,
    LinkageError,
    LinkNotFoundError,
    LinkworkError,
    MimicError,
    PoseError,
    PoseValueError,
)
from linkwork.linkage.builder import Builder
from linkwork.linkage.geometry import Inertia, Sphere
from linkwork.linkage.joints import (
    Ball,
    Continuous,
    Fixed,
    Floating,
    Joint,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Screw,
)
from linkwork.linkage.linkage import Frame, Link, Linkage

every_joint = pytest.mark.parametrize("articulation", JOINTS.values(), ids=JOINTS)
random_trees = pytest.mark.parametrize("seed", range(10))


def hinge(name, parent, child, **options):
    return Joint(name, parent, child, Revolute("z"), **options)


@pytest.fixture
def arm():
    """A shoulder and an elbow, a finger that follows, a separate prismatic joint, frames and poses."""
    return Linkage(
        [Link(name) for name in ("base", "upper", "lower", "finger", "tray")],
        [
            Joint("shoulder", "base", "upper", Revolute("z", -2.0, 2.0), (0, 0, 1)),
            Joint("elbow", "upper", "lower", Revolute("y"), (1, 0, 0)),
            Joint("grip", "lower", "finger", Revolute("x"), (1, 0, 0), Mimic("elbow", -0.5, 0.1)),
            Joint("slide", "base", "tray", Prismatic("x", 0.0, 1.0), (0, 1, 0)),
        ],
        name="arm",
        frames=[Frame("tip", "finger", (0.2, 0, 0)), Frame("cup", "tray", (0, 0, 0.1))],
        poses={"home": [0.1, 0.2, 0.3], "away": [1.1, 1.2, 0.9]},
    )


def with_root(tree, articulation):
    root = Joint("root", None, tree.links[0], articulation, random_transform(np.random.default_rng(5)))
    return Linkage(tree.nodes, tree.arcs[1:], name=tree.name, frames=tree.extra_frames, root=root)


# Split: both forms reach the same frames and can move the same way (M2)


def poses_off_gimbal_lock(linkage, count, seed=0):
    """Return random poses whose split forms are well away from gimbal lock."""
    q = linkage.random_pose(seed, 100 * count)
    parts, middles, column = linkage.split_pose(q), [], 0
    for joint in linkage.arcs:
        if joint.mimic is None:
            middles += [column + e.rate + 1 for e in joint.articulation.elements if e.kind == "ball"]
            column += joint.articulation.nv
    safe = (np.abs(parts[:, middles]) < math.pi / 2 - 0.3).all(axis=1)
    assert safe.sum() >= count
    return q[safe][:count]


def stacked_jacobian(linkage, q, frames):
    """Return the Jacobians of all frames, stacked, shape (6 frames, nv)."""
    return np.concatenate([linkage.jacobian(q, frame) for frame in frames])


def projector(matrix):
    """Return the orthogonal projector onto the span of a matrix's columns."""
    u, sizes, _ = np.linalg.svd(matrix, full_matrices=False)
    u = u[:, sizes > 1e-9 * max(sizes.max(initial=0.0), 1.0)]
    return u @ u.T


def check_split(linkage, q):
    parts = linkage.split()
    assert all(joint.articulation.nq <= 1 for joint in parts.arcs)
    assert (parts.nq, parts.nv) == (linkage.nv, linkage.nv)
    split_q = linkage.split_pose(q)
    assert split_q.shape == (*q.shape[:-1], parts.nq)
    whole, split = linkage.forward(q), parts.forward(split_q)
    for frame in linkage.frames:
        np.testing.assert_allclose(split[frame], whole[frame], atol=1e-12)
    for one, one_split in zip(q, split_q, strict=True):
        span = projector(stacked_jacobian(linkage, one, linkage.frames))
        split_span = projector(stacked_jacobian(parts, one_split, linkage.frames))
        np.testing.assert_allclose(split_span, span, atol=1e-9)


@every_joint
def test_split_reaches_the_same_frames_and_spans_the_same_motions(articulation):
    linkage = one_joint(articulation)
    check_split(linkage, poses_off_gimbal_lock(linkage, 4))


@every_joint
def test_split_of_a_moving_root(articulation):
    linkage = with_root(one_joint(Revolute("x")), articulation)
    check_split(linkage, poses_off_gimbal_lock(linkage, 4))


@random_trees
def test_split_of_random_trees_with_mimics(seed):
    tree = random_tree(np.random.default_rng(seed), 6)
    check_split(tree, poses_off_gimbal_lock(tree, 2, seed))


@random_trees
def test_split_frames_of_large_random_trees(seed):
    tree = random_tree(np.random.default_rng(100 + seed), 40)
    q = tree.random_pose(seed, (3, 2))
    parts = tree.split().forward(tree.split_pose(q))
    for frame in tree.frames:
        np.testing.assert_allclose(parts[frame], tree.forward(q, frame=frame), atol=1e-11)


@random_trees
def test_split_of_a_split_is_itself(seed):
    parts = random_tree(np.random.default_rng(seed), 12).split()
    assert parts.split() == parts


def test_split_names_joints_and_zero_length_links():
    parts = one_joint(Ball("ZYX")).split()
    assert parts.links == ("base", "joint.rz", "joint.ry", "child", "grandchild")
    assert parts.joints == ("joint.rz", "joint.ry", "joint.rx", "hinge")
    assert [np.array_equal(joint.placement, np.eye(4)) for joint in parts.arcs[2:4]] == [True, True]
    assert parts.split().coordinates == ("joint.rz", "joint.ry", "joint.rx", "hinge")


def test_split_keeps_limits_by_name():
    linkage = one_joint(JOINTS["ball-limited"])
    parts = linkage.split()
    for name in linkage.coordinates:
        k, j = linkage.coordinate_index[name], parts.coordinate_index[name]
        assert (parts.lower[j], parts.upper[j]) == (linkage.lower[k], linkage.upper[k])


@pytest.mark.parametrize("root", [Floating(), Planar()], ids=["floating", "planar"])
def test_split_carries_poses(root):
    linkage = with_root(random_tree(np.random.default_rng(4), 8), root)
    linkage = linkage.replace(poses={"one": linkage.random_pose(1)})
    parts = linkage.split()
    frames = linkage.forward(linkage.poses["one"])
    for frame in linkage.frames:
        np.testing.assert_allclose(parts.forward(parts.poses["one"])[frame], frames[frame], atol=1e-12)


TAKEN_NAMES = {
    "link": Linkage([Link("a"), Link("b"), Link("j.rx")], [Joint("j", "a", "b", Ball()), hinge("k", "b", "j.rx")]),
    "frame": Linkage([Link("a"), Link("b")], [Joint("j", "a", "b", Ball())], frames=[Frame("j.ry", "a")]),
    "joint": Linkage([Link("a"), Link("b"), Link("c")], [Joint("j", "a", "b", Ball()), hinge("j.rx", "b", "c")]),
    "root link": Linkage([Link("root")], root="floating"),
    "root frame": Linkage([Link("a")], root="floating", frames=[Frame("root", "a")]),
    "root arc": Linkage([Link("a"), Link("b")], [hinge("root.arc", "a", "b")], root="floating"),
}


@pytest.mark.parametrize("linkage", TAKEN_NAMES.values(), ids=TAKEN_NAMES)
def test_split_steps_around_names_that_are_taken(linkage):
    check_split(linkage, poses_off_gimbal_lock(linkage, 1))


# Freeze


def check_frozen(linkage, frozen, names, q):
    """Compare frames at a pose in which the frozen joints have their frozen values."""
    kept = [linkage.coordinate_index[name] for name in frozen.coordinates]
    assert set(linkage.joints) - set(names) <= set(frozen.joints) | {"root"}
    for frame in linkage.frames:
        expected = linkage.forward(q, frame=frame)
        np.testing.assert_allclose(frozen.forward(q[kept], frame=frame), expected, atol=1e-12)
    assert all(isinstance(frozen.joint(name).articulation, Fixed) for name in names)


def frozen_value(articulation, values):
    """Return the values of a joint in the form that users write."""
    match articulation:
        case Ball(euler=None):
            return {"wxyz": values}
        case Floating(euler=None):
            return {"position": values[:3], "wxyz": values[3:]}
    return values if articulation.nq > 1 else values[0]


@every_joint
def test_a_frozen_joint_stays_where_it_was(articulation):
    linkage = one_joint(articulation)
    q = linkage.random_pose(2)
    if articulation.nq == 0:
        assert linkage.freeze("joint", at=0.0) is linkage
        return
    frozen = linkage.freeze("joint", at=frozen_value(articulation, q[: articulation.nq]))
    assert frozen.coordinates == ("hinge",)
    check_frozen(linkage, frozen, ["joint"], q)


@every_joint
def test_a_frozen_root_stays_where_it_was(articulation):
    linkage = with_root(one_joint(Ball()), articulation)
    q = linkage.random_pose(2)
    if articulation.nq:
        frozen = linkage.freeze("root", at=frozen_value(articulation, q[: articulation.nq]))
        check_frozen(linkage, frozen, ["root"], q)


def test_followers_freeze_with_their_leader(arm):
    q = arm.pose(shoulder=0.4, elbow=0.7, slide=0.2)
    frozen = arm.freeze("elbow", at="0.7rad")
    assert frozen.coordinates == ("shoulder", "slide")
    check_frozen(arm, frozen, ["elbow", "grip"], q)
    assert frozen.joint("grip").mimic is None


def test_followers_of_followers_freeze_too():
    links = [Link(name) for name in "abcde"]
    joints = [
        hinge("1", "a", "b", mimic=Mimic("2", 2.0, 0.1)),
        hinge("2", "b", "c", mimic=Mimic("3", -1.0, 0.2)),
        hinge("3", "c", "d", placement=(1, 0, 0)),
        hinge("4", "d", "e"),
    ]
    linkage = Linkage(links, joints)
    frozen = linkage.freeze("3", at=0.5)
    assert frozen.coordinates == ("4",)
    check_frozen(linkage, frozen, ["1", "2", "3"], np.array([0.5, 0.3]))


@random_trees
def test_all_joints_of_a_random_tree_can_be_frozen_in_turn(seed):
    tree = random_tree(np.random.default_rng(seed), 10)
    q, frozen = tree.random_pose(seed), tree
    for i, joint in enumerate(tree.arcs):
        if joint.articulation.nq and joint.mimic is None:
            first = tree.drives[i].q
            values = q[first : first + joint.articulation.nq]
            frozen = frozen.freeze(joint.name, at=frozen_value(joint.articulation, values))
    assert frozen.nq == 0
    np.testing.assert_allclose(frozen.forward([]).array, tree.forward(q).array, atol=1e-11)


def test_frozen_linkages_keep_the_rest_of_their_poses(arm):
    frozen = arm.freeze("elbow", at=0.0)
    assert {name: pose.tolist() for name, pose in frozen.poses.items()} == {"home": [0.1, 0.3], "away": [1.1, 0.9]}


WRONG_FREEZES = {
    "follower": (("grip", 0.1), MimicError, "'grip' mimics 'elbow'; freeze that one"),
    "unknown": (("elbwo", 0.1), JointNotFoundError, "'elbwo'.*did you mean 'elbow'"),
    "link": (("upper", 0.1), JointNotFoundError, "no joint 'upper'"),
    "list": ((["elbow"], 0.1), JointNotFoundError, "elbow"),
    "nan": (("elbow", math.nan), PoseValueError, "'elbow' is nan"),
    "infinite": (("elbow", math.inf), PoseValueError, "'elbow' is inf"),
    "none": (("elbow", None), PoseValueError, "'elbow'"),
    "word": (("elbow", "bent"), PoseValueError, "'elbow'.*'bent'"),
    "complex": (("elbow", 1j), PoseValueError, "'elbow'"),
    "three values": (("elbow", [1.0, 2.0, 3.0]), PoseError, "'elbow'"),
    "a batch": (("elbow", np.zeros((2, 1))), PoseError, "'elbow'"),
}


@pytest.mark.parametrize(("call", "error", "message"), WRONG_FREEZES.values(), ids=WRONG_FREEZES)
def test_wrong_freezes_are_refused(arm, call, error, message):
    joint, at = call
    with pytest.raises(error, match=message):
        arm.freeze(joint, at=at)


# Subtree


@random_trees
def test_a_subtree_keeps_relative_frames(seed):
    tree = random_tree(np.random.default_rng(seed), 15)
    q = tree.random_pose(seed)
    world = tree.forward(q)
    refused = 0
    for link in tree.links:
        try:
            part = tree.subtree(link)
        except MimicError:
            refused += 1
            continue
        assert part.links[0] == link
        assert part.name == link
        own = part.forward(q[[tree.coordinate_index[name] for name in part.coordinates]])
        for frame in part.frames:
            np.testing.assert_allclose(own[frame], np.linalg.inv(world[link]) @ world[frame], atol=1e-11)
    assert refused < len(tree.links)


def test_a_subtree_has_what_hangs_below(arm):
    part = arm.subtree("upper")
    assert (part.links, part.joints, part.frames) == (
        ("upper", "lower", "finger"),
        ("elbow", "grip"),
        ("upper", "lower", "finger", "tip"),
    )
    assert {name: pose.tolist() for name, pose in part.poses.items()} == {"home": [0.2], "away": [1.2]}
    assert part.lower.tolist() == [-math.inf]
    leaf = arm.subtree("tray")
    assert (leaf.links, leaf.joints, leaf.frames, leaf.nq) == (("tray",), (), ("tray", "cup"), 0)


def test_the_subtree_of_the_root_is_all_but_the_root_arc(arm):
    placed = arm.replace(root=random_transform(np.random.default_rng(0)))
    part = placed.subtree("base")
    assert part.replace(name="arm") == arm


WRONG_SUBTREES = {
    "leader above": ("lower", MimicError, "'grip' below 'lower' mimics 'elbow' above it; freeze"),
    "unknown": ("loewr", LinkNotFoundError, "'loewr'.*did you mean 'lower'"),
    "joint": ("elbow", LinkNotFoundError, "no link 'elbow'"),
    "frame": ("tip", LinkNotFoundError, "no link 'tip'"),
    "none": (None, LinkNotFoundError, "no link None"),
}


@pytest.mark.parametrize(("link", "error", "message"), WRONG_SUBTREES.values(), ids=WRONG_SUBTREES)
def test_wrong_subtrees_are_refused(arm, link, error, message):
    with pytest.raises(error, match=message):
        arm.subtree(link)


def test_a_frozen_leader_lets_its_follower_go(arm):
    part = arm.freeze("elbow", at=0.4).subtree("lower")
    assert (part.links, part.nq) == (("lower", "finger"), 0)
    world = arm.forward(arm.pose(elbow=0.4))
    np.testing.assert_allclose(part.forward([])["tip"], np.linalg.inv(world["lower"]) @ world["tip"], atol=1e-14)


def test_a_subtree_may_hold_a_joint_called_root():
    links = [Link(name) for name in "abc"]
    linkage = Linkage(links, [hinge("1", "a", "b"), hinge("root", "b", "c")], root=Joint("anchor", None, "a"))
    assert linkage.subtree("b").coordinates == ("root",)
    assert linkage.replace(root="planar").coordinates[3:] == ("1", "root")


# Replace


def test_replacing_nothing_changes_nothing(arm):
    assert arm.replace() == arm
    assert arm.replace(links={}, joints={}, name="arm", frames=arm.extra_frames, poses=arm.poses) == arm


CHANGES = {
    "name": ({"name": "leg"}, lambda a: a.name, "leg"),
    "limit": ({"joints": {"elbow": {"upper": "90deg"}}}, lambda a: a.upper[1], math.pi / 2),
    "axis": ({"joints": {"elbow": {"axis": "-x"}}}, lambda a: a.joint("elbow").articulation.axis, (-1.0, 0.0, 0.0)),
    "kind": ({"joints": {"elbow": Continuous("x")}}, lambda a: a.joint("elbow").articulation, Continuous("x")),
    "kind and limit": (
        {"joints": {"elbow": {"articulation": Prismatic("x"), "upper": 1.0}}},
        lambda a: a.joint("elbow").articulation,
        Prismatic("x", upper=1.0),
    ),
    "placement": ({"joints": {"elbow": {"placement": (9, 0, 0)}}}, lambda a: a.joint("elbow").placement[0, 3], 9.0),
    "mimic": ({"joints": {"grip": {"mimic": None}}}, lambda a: a.nq, 4),
    "visuals": ({"links": {"upper": {"visuals": Sphere(1)}}}, lambda a: a.link("upper").visuals[0].shape, Sphere(1)),
    "node": ({"links": {"upper": {"matrix": (1, 0, 0)}}}, lambda a: a.link("upper").matrix[0, 3], 1.0),
    "whole link": ({"links": {"upper": Link("upper", Sphere(2))}}, lambda a: len(a.link("upper").visuals), 1),
    "whole joint": (
        {"joints": {"elbow": Joint("elbow", "upper", "lower", Screw(lead=1))}},
        lambda a: a.joint("elbow").articulation,
        Screw(lead=1),
    ),
    "frames": ({"frames": [Frame("nail", "finger")]}, lambda a: a.frames[5:], ("nail",)),
    "no frames": ({"frames": ()}, lambda a: a.frames, ("base", "upper", "lower", "finger", "tray")),
    "root kind": ({"root": "floating"}, lambda a: a.nq, 10),
    "root articulation": ({"root": Planar("x")}, lambda a: a.root.articulation, Planar("x")),
    "root placement": ({"root": (0, 0, 5)}, lambda a: a.root.placement[2, 3], 5.0),
    "root arc by name": ({"joints": {"root": {"placement": (0, 0, 5)}}}, lambda a: a.root.placement[2, 3], 5.0),
    "poses": ({"poses": {"up": {"elbow": 1}}}, lambda a: (list(a.poses), a.poses["up"][1]), (["up"], 1.0)),
    "no poses": ({"poses": {}}, lambda a: dict(a.poses), {}),
}


@pytest.mark.parametrize(("change", "look", "expected"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_made_and_the_original_stays(arm, change, look, expected):
    before = arm.replace()
    assert look(arm.replace(**change)) == expected
    assert arm == before


def test_a_new_root_articulation_keeps_its_placement_and_name(arm):
    placement = random_transform(np.random.default_rng(3))
    placed = arm.replace(root=Joint("anchor", None, "base", placement=placement))
    for root in ("floating", Revolute("x")):
        np.testing.assert_array_equal(placed.replace(root=root).root.placement, placement)
        assert placed.replace(root=root).root.name == "anchor"


def test_a_renamed_link_is_followed_by_joints_and_frames(arm):
    renamed = arm.replace(links={"finger": {"name": "claw"}, "base": {"name": "floor"}})
    assert renamed.links == ("floor", "upper", "lower", "claw", "tray")
    assert [joint.parent for joint in renamed.arcs] == [None, "floor", "upper", "lower", "floor"]
    assert [frame.link for frame in renamed.extra_frames] == ["claw", "tray"]
    assert renamed.root.child == "floor"
    q = arm.random_pose(0)
    np.testing.assert_array_equal(renamed.forward(q)["tip"], arm.forward(q)["tip"])


def test_a_renamed_joint_is_followed_by_mimics_and_poses(arm):
    renamed = arm.replace(joints={"elbow": {"name": "knee"}})
    assert renamed.coordinates == ("shoulder", "knee", "slide")
    assert renamed.joint("grip").mimic == Mimic("knee", -0.5, 0.1)
    assert {name: pose.tolist() for name, pose in renamed.poses.items()} == {
        name: pose.tolist() for name, pose in arm.poses.items()
    }


def test_names_can_be_swapped(arm):
    swapped = arm.replace(
        links={"upper": {"name": "lower"}, "lower": {"name": "upper"}},
        joints={"elbow": {"name": "slide"}, "slide": {"name": "elbow"}},
    )
    assert swapped.links == ("base", "lower", "upper", "finger", "tray")
    assert swapped.coordinates == ("shoulder", "slide", "elbow")
    assert swapped.joint("grip").mimic.joint == "slide"
    np.testing.assert_array_equal(swapped.poses["home"], arm.poses["home"])
    q = arm.random_pose(0)
    np.testing.assert_array_equal(swapped.forward(q).array, arm.forward(q).array)


CARRIED = {
    "limits": ({"joints": {"slide": {"upper": 5.0}}}, [0.1, 0.2, 0.3]),
    "moving root": ({"root": "planar"}, [0, 0, 0, 0.1, 0.2, 0.3]),
    "welded elbow": ({"joints": {"elbow": Fixed(), "grip": {"mimic": None}}}, [0.1, 0, 0.3]),
    "freed grip": ({"joints": {"grip": {"mimic": None}}}, [0.1, 0.2, 0, 0.3]),
    "slide moved": ({"joints": {"slide": Joint("slide", "finger", "tray", Prismatic("x"))}}, [0.1, 0.2, 0.3]),
    "elbow moved": ({"joints": {"elbow": Joint("elbow", "tray", "lower", Revolute("y"))}}, [0.1, 0.3, 0.2]),
    "leader and follower changed": (
        {"joints": {"elbow": {"mimic": Mimic("grip")}, "grip": {"mimic": None}}},
        [0.1, 0, 0.3],
    ),
    "euler shoulder": ({"joints": {"shoulder": Ball("XYZ")}}, [0, 0, 0, 0.2, 0.3]),
    "quaternion shoulder": ({"joints": {"shoulder": Ball()}}, [1, 0, 0, 0, 0.2, 0.3]),
}


@pytest.mark.parametrize(("change", "home"), CARRIED.values(), ids=CARRIED)
def test_poses_are_carried_value_by_value_and_neutral_elsewhere(arm, change, home):
    np.testing.assert_allclose(arm.replace(**change).poses["home"], home, atol=1e-15)


@pytest.mark.parametrize(("old", "new"), [("ball", "floating"), ("floating", "ball"), ("ball", "planar-z")])
def test_part_of_a_quaternion_is_never_carried(old, new):
    linkage = one_joint(JOINTS[old])
    linkage = linkage.replace(poses={"one": linkage.random_pose(1)})
    carried = linkage.replace(joints={"joint": JOINTS[new]})
    np.testing.assert_allclose(carried.poses["one"], carried.pose(hinge=linkage.poses["one"][-1]))


WRONG_CHANGES = {
    "unknown link": ({"links": {"uper": {}}}, LinkNotFoundError, "'uper'.*did you mean 'upper'"),
    "unknown joint": ({"joints": {"elbwo": {}}}, JointNotFoundError, "'elbwo'.*did you mean 'elbow'"),
    "unknown field of a link": (
        {"links": {"upper": {"mass": 1}}},
        LinkageError,
        "'upper' has no field 'mass'.*visuals",
    ),
    "unknown field of a joint": (
        {"joints": {"elbow": {"lead": 1}}},
        LinkageError,
        r"'elbow' \(revolute\) has no field 'lead'; it has .*axis.*lower",
    ),
    "no mapping": ({"links": {"upper": 5}}, LinkageError, "link 'upper'.*mapping of fields, got 5"),
    "numbers for fields": ({"links": {"upper": {5: 1, "x": 2}}}, LinkageError, "link 'upper' has no field"),
    "class for a joint": ({"joints": {"elbow": Revolute}}, LinkageError, "'elbow'"),
    "taken link": ({"links": {"upper": {"name": "lower"}}}, DuplicateNameError, "link 'lower'"),
    "taken joint": ({"joints": {"elbow": {"name": "slide"}}}, DuplicateNameError, "joint 'slide'"),
    "taken frame": ({"links": {"upper": {"name": "tip"}}}, DuplicateNameError, "frame 'tip'"),
    "empty name": ({"links": {"upper": {"name": ""}}}, LinkageError, "needs a name"),
    "limits swapped": ({"joints": {"slide": {"upper": -1.0}}}, LimitError, "above"),
    "zero axis": ({"joints": {"slide": {"axis": (0, 0, 0)}}}, LinkageError, "zero"),
    "nan placement": ({"joints": {"slide": {"placement": (0, 0, math.nan)}}}, LinkworkError, "'slide'.*finite"),
    "ball that mimics": ({"joints": {"grip": Ball()}}, MimicError, "'grip' has 4 values"),
    "leader of many values": ({"joints": {"elbow": Ball()}}, MimicError, "'grip' mimics 'elbow', which has 4"),
    "leader welded": ({"joints": {"elbow": Fixed()}}, MimicError, "'grip' mimics 'elbow', which has 0"),
    "frame of no link": ({"frames": [Frame("x", "nose")]}, LinkNotFoundError, "'nose'"),
    "unknown root": ({"root": "flying"}, LinkageError, "'flying'"),
    "cycle": ({"joints": {"shoulder": hinge("shoulder", "lower", "upper")}}, LinkageError, "cycle|roots"),
    "pose of no joint": ({"poses": {"home": {"nose": 1}}}, JointNotFoundError, "'nose'"),
    "short pose": ({"poses": {"home": [1.0]}}, PoseError, r"\(1,\)"),
}


@pytest.mark.parametrize(("change", "error", "message"), WRONG_CHANGES.values(), ids=WRONG_CHANGES)
def test_wrong_changes_are_refused(arm, change, error, message):
    before = arm.replace()
    with pytest.raises(error, match=message):
        arm.replace(**change)
    assert arm == before


# Masses and loops


def closed():
    b = Builder("ring", inertia=Inertia(1))
    b.ball("a", "arm", inertia=Inertia(2, (0.1, 0, 0))).revolute("b", "hand", inertia=Inertia(3)).frame("pin")
    b.revolute("c", "side", parent="base")
    return b.loop("high", "pin", "arm").loop("low", "hand", "side", kind="axis").build()


def weights(linkage):
    return {node.name: node.inertia and node.inertia.mass for node in linkage.nodes}


def test_edits_keep_masses_and_loops():
    ring = closed()
    for same in (ring.freeze("b", at=0.3), ring.replace(name="other"), ring.replace(poses={"zero": ring.neutral()})):
        assert (weights(same), same.loops) == (weights(ring), ring.loops)
    split = ring.split()
    assert weights(split) == weights(ring) | {"a.rx": None, "a.ry": None}
    assert split.loops == ring.loops


def test_a_subtree_keeps_the_loops_within_it():
    part = closed().subtree("arm")
    assert (weights(part), [loop.name for loop in part.loops]) == ({"arm": 2.0, "hand": 3.0}, ["high"])


def test_loops_follow_the_links_they_name():
    ring = closed().replace(links={"hand": {"name": "claw", "inertia": None}})
    assert [(loop.first, loop.second) for loop in ring.loops] == [("pin", "arm"), ("claw", "side")]
    assert weights(ring)["claw"] is None
    assert closed().replace(loops=[]).loops == ()
    with pytest.raises(FrameNotFoundError, match="no frame 'pin'"):
        closed().replace(frames=[])
