"""The linkage: order and names, the laws of nodes and arcs, immutability."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

from linkages import JOINTS, one_joint, random_transform, random_tree
from linkwork.errors import (
    FrameNotFoundError,
    JointNotFoundError,
    LinkageError,
    LinkNotFoundError,
    PoseError,
    PoseNotFoundError,
    PoseShapeError,
    PoseValueError,
)
from linkwork.linkage.geometry import Box, Inertia, Sphere, Visual
from linkwork.linkage.joints import Ball, Continuous, Floating, Joint, Mimic, Prismatic, Revolute, Screw
from linkwork.linkage.linkage import Frame, Link, Linkage, Loop

NAN, INF = math.nan, math.inf

every_joint = pytest.mark.parametrize("articulation", JOINTS.values(), ids=JOINTS)
random_trees = pytest.mark.parametrize("seed", range(8))


def links(*names):
    return [Link(name) for name in names]


def hinge(name, parent, child, **options):
    return Joint(name, parent, child, Revolute("z"), **options)


@pytest.fixture
def figure():
    """A trunk with two arms, given in arbitrary order."""
    return Linkage(
        links("hand.l", "trunk", "hand.r", "arm.r", "arm.l", "head"),
        [
            hinge("wrist.l", "arm.l", "hand.l"),
            hinge("shoulder.l", "trunk", "arm.l"),
            Joint("neck", "trunk", "head", Ball()),
            hinge("shoulder.r", "trunk", "arm.r"),
            Joint("wrist.r", "arm.r", "hand.r", Revolute("z", -1.0, 2.0)),
        ],
        name="figure",
        frames=[Frame("eye", "head", (0.1, 0, 0)), Frame("palm", "hand.l")],
        poses={"wave": {"shoulder.r": 1.0}},
    )


# Order and names


def test_links_are_in_depth_first_order_with_children_as_given(figure):
    assert figure.links == ("trunk", "arm.l", "hand.l", "head", "arm.r", "hand.r")
    assert figure.joints == ("shoulder.l", "wrist.l", "neck", "shoulder.r", "wrist.r")
    assert figure.frames == (*figure.links, "eye", "palm")
    assert figure.parents == (-1, 0, 1, 0, 0, 4)
    assert figure.children == ((1, 3, 4), (2,), (), (), (5,), ())


def test_pose_vectors_follow_the_joints(figure):
    quaternion = ("neck.w", "neck.x", "neck.y", "neck.z")
    assert figure.coordinates == ("shoulder.l", "wrist.l", *quaternion, "shoulder.r", "wrist.r")
    assert (figure.nq, figure.nv) == (8, 7)
    assert figure.lower.tolist() == [-INF] * 7 + [-1.0]
    assert figure.upper.tolist() == [INF] * 7 + [2.0]
    assert figure.neutral().tolist() == [0, 0, 1, 0, 0, 0, 0, 0.5]
    assert dict(figure.coordinate_index) == {name: k for k, name in enumerate(figure.coordinates)}


def test_parts_are_found_by_name(figure):
    for k, name in enumerate(figure.links):
        assert figure.link(name).name == name
        assert figure.link_index(name) == k
        assert figure.arcs[k].child == name
    for name in figure.joints:
        assert figure.joint(name).name == name
        assert figure.arcs[figure.arc_index(name)].name == name
    assert figure.joint("root") is figure.root
    assert [figure.frame_index(name) for name in figure.frames] == list(range(8))
    assert figure.stored_pose("wave")[6] == 1.0


MISSING = {
    "link": (lambda f: f.link("arm.x"), LinkNotFoundError, r"no link 'arm.x' in linkage 'figure'; did you mean 'arm"),
    "link index": (lambda f: f.link_index("tail"), LinkNotFoundError, "no link 'tail'.*It has trunk, arm.l"),
    "joint": (lambda f: f.joint("nek"), JointNotFoundError, "no joint 'nek'.*did you mean 'neck'"),
    "joint index": (lambda f: f.arc_index("eye"), JointNotFoundError, "no joint 'eye'.*It has shoulder.l"),
    "frame": (lambda f: f.frame_index("eyes"), FrameNotFoundError, "no frame 'eyes'.*did you mean 'eye'"),
    "frame of a joint": (lambda f: f.frame_index("neck"), FrameNotFoundError, "no frame 'neck'"),
    "pose": (lambda f: f.stored_pose("wage"), PoseNotFoundError, "no pose 'wage'.*did you mean 'wave'"),
    "list for a link": (lambda f: f.link(["trunk"]), LinkNotFoundError, r"\['trunk'\]"),
    "list for a joint": (lambda f: f.joint([]), JointNotFoundError, r"\[\]"),
    "number for a frame": (lambda f: f.frame_index(0), FrameNotFoundError, "no frame 0"),
    "none for a pose": (lambda f: f.stored_pose(None), PoseNotFoundError, "no pose None"),
}


@pytest.mark.parametrize(("ask", "error", "message"), MISSING.values(), ids=MISSING)
def test_names_that_do_not_exist(figure, ask, error, message):
    with pytest.raises(error, match=message):
        ask(figure)


def test_the_root_arc_is_a_joint_when_it_moves():
    still = Linkage(links("base"))
    assert still.joints == ()
    assert (still.nq, still.neutral().shape) == (0, (0,))
    for root, nq in (("planar", 3), ("floating", 7), (Revolute("x"), 1), (Joint("rail", None, "base", Prismatic()), 1)):
        moving = Linkage(links("base"), root=root)
        assert moving.joints == (moving.root.name,)
        assert moving.nq == nq


def test_repr_counts():
    assert repr(Linkage(links("a"))) == "<Linkage 'linkage': 1 link, 0 joints, nq=0, nv=0>"
    assert repr(one_joint(Floating())) == "<Linkage 'one-joint': 3 links, 2 joints, nq=8, nv=7>"


# The laws of nodes and arcs (M1)


@random_trees
def test_root_placement_moves_everything_rigidly(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 12)
    move, q = random_transform(rng), tree.random_pose(rng)
    root = tree.root
    moved = Linkage(
        tree.nodes,
        tree.arcs[1:],
        frames=tree.extra_frames,
        root=Joint(root.name, None, root.child, root.articulation, move @ root.placement),
    )
    np.testing.assert_allclose(moved.forward(q).array, move @ tree.forward(q).array, atol=1e-12)


@random_trees
@pytest.mark.parametrize("root", ["planar", "floating", Ball(), Screw("x", lead=1.0)], ids=str)
def test_root_motion_moves_everything_rigidly(seed, root):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 12)
    tree = Linkage(tree.nodes, tree.arcs[1:], frames=tree.extra_frames, root=root)
    before, after = tree.random_pose(rng, 2)
    after[tree.root.articulation.nq :] = before[tree.root.articulation.nq :]
    start, end = tree.forward(before).array, tree.forward(after).array
    move = end[0] @ np.linalg.inv(start[0])
    np.testing.assert_allclose(end, move @ start, atol=1e-12)
    assert np.abs(move - np.eye(4)).max() > 0.01


@random_trees
def test_node_transforms_are_drawn_and_never_inherited(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 12)
    q, shape = tree.random_pose(rng), Visual(Sphere(0.1), random_transform(rng))
    readied = [Link(link.name, shape, random_transform(rng)) for link in tree.nodes]
    drawn = Linkage(readied, tree.arcs[1:], frames=tree.extra_frames, root=tree.root)
    np.testing.assert_array_equal(drawn.forward(q).array, tree.forward(q).array)
    for frame in tree.frames:
        np.testing.assert_array_equal(drawn.jacobian(q, frame), tree.jacobian(q, frame))
    for visit in drawn.traverse(q):
        world_from_link = tree.forward(q, frame=visit.node.name)
        np.testing.assert_allclose(visit.matrix, world_from_link, atol=1e-12)
        ((visual, world_from_shape),) = visit.data
        expected = world_from_link @ visit.node.matrix @ visual.placement
        np.testing.assert_allclose(world_from_shape, expected, atol=1e-12)


@every_joint
def test_an_arc_is_its_placement_then_its_articulation(articulation):
    linkage = one_joint(articulation)
    joint, hinged = linkage.joint("joint"), linkage.joint("hinge")
    for q in linkage.random_pose(3, 5):
        frames = linkage.forward(q)
        child = linkage.root.placement @ joint.placement @ articulation.matrix(q[: articulation.nq])
        grandchild = child @ hinged.placement @ hinged.articulation.matrix(q[articulation.nq :])
        np.testing.assert_allclose(frames["base"], linkage.root.placement, atol=1e-15)
        np.testing.assert_allclose(frames["child"], child, atol=1e-13)
        np.testing.assert_allclose(frames["grandchild"], grandchild, atol=1e-13)
        np.testing.assert_allclose(frames["tip"], grandchild @ linkage.extra_frames[0].placement, atol=1e-13)


def test_geometry_is_shared():
    wheel = Sphere(0.3)
    car = Linkage(
        [Link("car", Box((4, 2, 1))), *(Link(f"wheel{k}", wheel) for k in range(4))],
        [Joint(f"axle{k}", "car", f"wheel{k}", Continuous("y"), (k, 0, 0)) for k in range(4)],
    )
    edited = car.replace(name="cart").freeze("axle0", at=1.0).split()
    for linkage in (car, edited, pickle.loads(pickle.dumps(car)), copy.deepcopy(car)):
        shapes = [linkage.link(f"wheel{k}").visuals[0].shape for k in range(4)]
        assert all(shape is shapes[0] for shape in shapes)
        assert shapes[0] == wheel
    assert edited.link("wheel3").visuals[0].shape is wheel


# Immutability


def same_parts(linkage):
    """Return the linkage, rebuilt from copies of its parts."""
    nodes, arcs, frames = pickle.loads(pickle.dumps((linkage.nodes, linkage.arcs, linkage.extra_frames)))
    return Linkage(nodes, arcs[1:], name=linkage.name, frames=frames, root=arcs[0], poses=linkage.poses)


@random_trees
def test_equal_parts_make_equal_linkages(seed):
    tree = random_tree(np.random.default_rng(seed), 10)
    tree = tree.replace(poses={"one": tree.random_pose(1), "two": tree.random_pose(2)})
    tree.forward(tree.neutral())  # packing at first use does not matter
    for other in (same_parts(tree), copy.copy(tree), copy.deepcopy(tree), pickle.loads(pickle.dumps(tree))):
        assert other == tree
        assert hash(other) == hash(tree)
        assert {tree: 1}[other] == 1
        q = tree.random_pose(3)
        np.testing.assert_array_equal(other.forward(q).array, tree.forward(q).array)


DIFFERENT = {
    "name": {"name": "other"},
    "link name": {"links": {"child": {"name": "kid"}}},
    "visuals": {"links": {"child": {"visuals": Sphere(1.0)}}},
    "node transform": {"links": {"child": {"matrix": (1, 0, 0)}}},
    "joint name": {"joints": {"joint": {"name": "jt"}}},
    "axis": {"joints": {"joint": {"axis": "y"}}},
    "limits": {"joints": {"joint": {"upper": 1.0}}},
    "placement": {"joints": {"joint": {"placement": (1, 0, 0)}}},
    "kind": {"joints": {"joint": Prismatic("x")}},
    "mimic": {"joints": {"joint": {"mimic": Mimic("hinge")}}},
    "frames": {"frames": []},
    "root": {"root": "floating"},
    "poses": {"poses": {"home": [1.0, 2.0]}},
}


@pytest.mark.parametrize("change", DIFFERENT.values(), ids=DIFFERENT)
def test_any_difference_makes_different_linkages(change):
    linkage = one_joint(Revolute("x"))
    assert linkage.replace(**change) != linkage
    assert linkage != "one-joint"


def stored_arrays(linkage):
    """Return every internal array that a linkage exposes, by name."""
    arrays = {"lower": linkage.lower, "upper": linkage.upper}
    arrays |= {f"pose {name}": pose for name, pose in linkage.poses.items()}
    arrays |= {f"link {link.name}": link.matrix for link in linkage.nodes}
    arrays |= {f"joint {joint.name}": joint.placement for joint in linkage.arcs}
    arrays |= {f"frame {frame.name}": frame.placement for frame in linkage.extra_frames}
    arrays |= {f"visual {k}": v.placement for k, link in enumerate(linkage.nodes) for v in link.visuals}
    arrays |= {f"plain values {k}": array for k, array in enumerate(linkage.table.plain)}
    return arrays


JOURNEYS = {
    "built": lambda linkage: linkage,
    "copied": copy.copy,
    "deeply copied": copy.deepcopy,
    "pickled": lambda linkage: pickle.loads(pickle.dumps(linkage)),
    "edited": lambda linkage: linkage.replace(name="other"),
    "split": lambda linkage: linkage.split(),
    "frozen": lambda linkage: linkage.freeze("hinge", at=0.1),
    "cut": lambda linkage: linkage.subtree("child"),
}


@pytest.mark.parametrize("journey", JOURNEYS.values(), ids=JOURNEYS)
def test_arrays_are_read_only(journey):
    linkage = one_joint(Floating())
    linkage = linkage.replace(
        links={"child": {"visuals": Visual(Sphere(1.0), (1, 2, 3)), "matrix": (1, 0, 0)}},
        poses={"home": linkage.neutral()},
    )
    writable = [name for name, array in stored_arrays(journey(linkage)).items() if array.flags.writeable]
    assert not writable


def test_collections_cannot_be_changed(figure):
    for name in ("links", "joints", "frames", "nodes", "arcs", "parents", "children", "drives", "coordinates"):
        assert isinstance(getattr(figure, name), tuple), name
    for name in ("quaternions", "units", "velocity_units", "velocity_joints"):
        assert isinstance(getattr(figure.table, name), tuple), name
    for name in ("poses", "coordinate_index"):
        with pytest.raises(TypeError, match="does not support item assignment"):
            getattr(figure, name)["new"] = 0


@pytest.mark.parametrize("name", ["name", "nodes", "lower", "poses", "links", "forward", "new"])
def test_attributes_cannot_be_changed(figure, name):
    with pytest.raises(LinkageError, match=f"frozen; use linkage.replace.*{name!r}"):
        setattr(figure, name, None)
    with pytest.raises(LinkageError, match="frozen"):
        delattr(figure, name)


def test_what_was_given_can_change_without_harm():
    placement, matrix, pose, root = random_transform(np.random.default_rng(0)), np.eye(4), np.array([0.5]), np.eye(4)
    linkage = Linkage(
        [Link("a"), Link("b", Sphere(1.0), matrix)],
        [hinge("j", "a", "b", placement=placement)],
        frames=[Frame("f", "b", placement)],
        root=root,
        poses={"home": pose},
    )
    twin, before = copy.deepcopy(linkage), linkage.forward([0.3]).array.copy()
    for array in (placement, matrix, pose, root):
        array[...] = 99.0
    assert linkage == twin
    np.testing.assert_array_equal(linkage.forward([0.3]).array, before)


def test_what_is_handed_out_can_change_without_harm(figure):
    for give in (figure.neutral, lambda: figure.stored_pose("wave"), figure.pose):
        expected = give()
        give()[...] = 99.0
        np.testing.assert_array_equal(give(), expected)


# Stored poses

NO_POSES = {
    "too short": ({"home": [1.0]}, PoseShapeError, r"shape \(..., 2\)"),
    "a batch": ({"home": np.zeros((3, 2))}, PoseError, r"\(3, 2\)"),
    "nan": ({"home": [0.0, NAN]}, PoseValueError, "'k' is nan"),
    "infinite": ({"home": {"j": INF}}, PoseValueError, "'j' is inf"),
    "unknown joint": ({"home": {"jj": 0.0}}, JointNotFoundError, "no joint 'jj'"),
    "number for a name": ({3: [0.0, 0.0]}, LinkageError, "name.*3"),
    "empty name": ({"": [0.0, 0.0]}, LinkageError, "name"),
}


@pytest.mark.parametrize(("poses", "error", "message"), NO_POSES.values(), ids=NO_POSES)
def test_stored_poses_that_cannot_be_are_refused(poses, error, message):
    with pytest.raises(error, match=message):
        Linkage(links(*"abc"), [hinge("j", "a", "b"), hinge("k", "b", "c")], poses=poses)


def test_copies_keep_masses_and_loops():
    ring = one_joint(Floating("ZXY"))
    links = {"child": {"inertia": Inertia(2.0, (0.1, 0.0, 0.0), np.eye(3))}}
    ring = ring.replace(links=links, loops=[Loop("ring", "tip", "base")])
    for other in (copy.copy(ring), copy.deepcopy(ring), pickle.loads(pickle.dumps(ring))):
        assert other == ring
    assert ring.replace(loops=[]) != ring
    assert ring.replace(links={"child": {"inertia": None}}) != ring
    with pytest.raises(LinkageError, match="inertia of link 'x' must be an Inertia"):
        Link("x", inertia=2.0)


@pytest.mark.parametrize("name", [5, None, b"arm", ["arm"]])
def test_the_name_of_a_linkage_is_a_text(name) -> None:
    with pytest.raises(LinkageError, match="the name of a linkage is a text, got"):
        Linkage([Link("base")], name=name)
