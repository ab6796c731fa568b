"""Trees: order of links and joints, followers, and graphs that are not trees."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from linkages import random_tree
from linkwork.errors import (
    DuplicateNameError,
    FrameNotFoundError,
    JointNotFoundError,
    LinkageError,
    LinkNotFoundError,
    LinkworkError,
    MimicError,
    TransformError,
    TreeError,
)
from linkwork.linkage.joints import Ball, Fixed, Floating, Joint, Mimic, Revolute
from linkwork.linkage.linkage import Frame, Link, Linkage, Loop

NAN, INF = math.nan, math.inf


def links(*names):
    return [Link(name) for name in names]


def hinge(name, parent, child, **options):
    return Joint(name, parent, child, Revolute("z"), **options)


# Followers


@pytest.mark.parametrize("seed", range(8))
def test_mimic_joints_follow_their_leaders(seed):
    tree = random_tree(np.random.default_rng(seed), 30)
    q = tree.random_pose(seed)
    worth = {}
    for joint, drive in zip(tree.arcs, tree.drives, strict=True):
        if joint.articulation.nq == 1:
            worth[joint.name] = drive.multiplier * q[drive.q] + drive.offset
    followers = [joint for joint in tree.arcs if joint.mimic is not None]
    for joint in followers:
        expected = joint.mimic.multiplier * worth[joint.mimic.joint] + joint.mimic.offset
        assert worth[joint.name] == pytest.approx(expected, abs=1e-12)
        assert joint.name not in tree.coordinates
    assert followers


# Invalid trees

abc = links("a", "b", "c")
NO_TREES = {
    "no links": (lambda: Linkage([]), TreeError, "no root.*no links at all"),
    "two roots": (lambda: Linkage(links("a", "b")), TreeError, "2 roots, a, b; join them"),
    "two trees": (
        lambda: Linkage(links("a", "b", "c", "d"), [hinge("j", "a", "b"), hinge("k", "c", "d")]),
        TreeError,
        "2 roots, a, c",
    ),
    "self-loop": (lambda: Linkage(links("a"), [hinge("j", "a", "a")]), TreeError, "links a, a form a cycle"),
    "self-loop beside a tree": (
        lambda: Linkage(abc, [hinge("j", "a", "b"), hinge("k", "c", "c")]),
        TreeError,
        "not one tree: links c, c form a cycle",
    ),
    "cycle of all": (
        lambda: Linkage(abc, [hinge("j", "a", "b"), hinge("k", "b", "c"), hinge("l", "c", "a")]),
        TreeError,
        "no root: links .* form a cycle",
    ),
    "cycle beside a tree": (
        lambda: Linkage(abc, [hinge("j", "b", "c"), hinge("k", "c", "b")]),
        TreeError,
        "not one tree: links [bc], [bc], [bc] form a cycle",
    ),
    "two parents": (
        lambda: Linkage(abc, [hinge("j", "a", "b"), hinge("k", "a", "c"), hinge("l", "b", "c")]),
        TreeError,
        "link 'c' .* is the child of two joints, 'k' and 'l'",
    ),
    "two joints between two links": (
        lambda: Linkage(links("a", "b"), [hinge("j", "a", "b"), hinge("k", "a", "b")]),
        TreeError,
        "'b' .* two joints, 'j' and 'k'",
    ),
    "unknown child": (
        lambda: Linkage(links("arm", "hand"), [hinge("j", "arm", "hnad")]),
        LinkNotFoundError,
        r"no link 'hnad' in linkage 'linkage' \(joint 'j'\); did you mean 'hand'",
    ),
    "unknown parent": (lambda: Linkage(abc, [hinge("j", "x", "b")]), LinkNotFoundError, "no link 'x'.*It has a, b, c"),
    "second root arc": (lambda: Linkage(abc[:2], [hinge("j", None, "b")]), LinkworkError, "'j'.*root"),
    "list for a parent": (lambda: Linkage(abc, [hinge("j", ["a"], "b")]), LinkworkError, r"\['a'\]"),
    "list for a child": (lambda: Linkage(abc, [hinge("j", "a", ["b"])]), LinkworkError, r"\['b'\]"),
    "link for a parent": (lambda: Linkage(abc, [hinge("j", abc[0], "b")]), LinkworkError, "joint 'j'"),
    "twice a link": (lambda: Linkage(links("a", "a")), DuplicateNameError, "link 'a' appears twice in linkage"),
    "twice a joint": (
        lambda: Linkage(abc, [hinge("j", "a", "b"), hinge("j", "b", "c")]),
        DuplicateNameError,
        "joint 'j' appears twice",
    ),
    "twice a frame": (
        lambda: Linkage(links("a"), frames=[Frame("f", "a"), Frame("f", "a")]),
        DuplicateNameError,
        "frame 'f' appears twice",
    ),
    "frame named as a link": (
        lambda: Linkage(links("a"), frames=[Frame("a", "a")]),
        DuplicateNameError,
        "frame 'a' appears twice",
    ),
    "twice a coordinate": (
        lambda: Linkage(abc, [Joint("j", "a", "b", Ball("XYZ")), hinge("j.rx", "b", "c")]),
        DuplicateNameError,
        "coordinate 'j.rx' appears twice",
    ),
    "frame on an unknown link": (
        lambda: Linkage(links("hand"), frames=[Frame("f", "hnad")]),
        LinkNotFoundError,
        "no link 'hnad'.*did you mean 'hand'",
    ),
    "frame on a list": (lambda: Linkage(links("a"), frames=[Frame("f", ["a"])]), LinkworkError, r"\['a'\]"),
    "nan in a frame": (lambda: Frame("f", "a", (0, NAN, 0)), TransformError, "placement of frame 'f'.*finite"),
    "mirrored frame": (lambda: Frame("f", "a", np.diag([-1, 1, 1, 1])), TransformError, "frame 'f' is a reflection"),
    "nan in a node": (lambda: Link("a", (), (0, INF, 0)), TransformError, "node transform of link 'a'.*finite"),
    "node of three": (lambda: Link("a", (), np.eye(3)), TransformError, "node transform of link 'a'"),
    "no shape": (lambda: Link("a", "box"), LinkageError, "needs a shape"),
    "empty link name": (lambda: Linkage(links("")), LinkageError, "link in linkage 'linkage' needs a name"),
    "number for a link name": (lambda: Linkage(links(3)), LinkageError, "needs a name.*got 3"),
    "none for a joint name": (lambda: Linkage(abc[:2], [hinge(None, "a", "b")]), LinkageError, "needs a name.*None"),
    "empty frame name": (lambda: Linkage(links("a"), frames=[Frame("", "a")]), LinkageError, "needs a name"),
    "text for a link": (lambda: Linkage(["a", "b"]), LinkageError, "link.*'a'"),
    "text for a joint": (lambda: Linkage(links("a"), ["j"]), LinkageError, "joint.*'j'"),
    "text for a frame": (lambda: Linkage(links("a"), frames=["f"]), LinkageError, "frame.*'f'"),
    "root on a link": (lambda: Linkage(abc[:1], root=hinge("r", "a", "a")), TreeError, "is the world, not a link.*'a'"),
    "root of another link": (
        lambda: Linkage(abc[:2], [hinge("j", "a", "b")], root=Joint("r", None, "b")),
        TreeError,
        "root.*'b'.*'a'",
    ),
    "unknown root": (lambda: Linkage(links("a"), root="flying"), LinkageError, "'planar' or 'floating', got 'flying'"),
    "root of nan": (lambda: Linkage(links("a"), root=(0, 0, NAN)), TransformError, "joint 'root'.*finite"),
    "root turned": (lambda: Linkage(links("a"), root=np.eye(3)), TransformError, "joint 'root'"),
    "class for a root": (lambda: Linkage(links("a"), root=Floating), LinkworkError, "root"),
}
NO_MIMICS = {
    "unknown leader": ([Mimic("elbwo")], JointNotFoundError, "no joint 'elbwo'.*mimicked by 'wrist'.*'elbow'"),
    "itself": ([Mimic("wrist")], MimicError, "'?wrist'? .*circle"),
    "each other": ([Mimic("finger"), Mimic("wrist")], MimicError, "wrist, finger .*circle"),
    "multi-DOF joint": ([Mimic("hip")], MimicError, "'wrist' mimics 'hip', which has 4 values"),
    "fixed joint": ([Mimic("weld")], MimicError, "'wrist' mimics 'weld', which has 0 values"),
    "fixed root": ([Mimic("root")], MimicError, "'wrist' mimics 'root', which has 0 values"),
    "beyond all numbers": ([Mimic("elbow", 1e200), Mimic("wrist", 1e200)], MimicError, "finger"),
}


def body(*mimics):
    """Return a body whose wrist and finger follow other joints."""
    small = Revolute("z", -0.5, 0.5)
    followers = [*mimics, None][:2]
    return Linkage(
        links("pelvis", "thigh", "arm", "hand", "tip", "badge"),
        [
            Joint("hip", "pelvis", "thigh", Ball()),
            Joint("elbow", "pelvis", "arm", small),
            Joint("wrist", "arm", "hand", small, mimic=followers[0]),
            Joint("finger", "hand", "tip", small, mimic=followers[1]),
            Joint("weld", "arm", "badge", Fixed()),
        ],
    )


@pytest.mark.parametrize(("make", "error", "message"), NO_TREES.values(), ids=NO_TREES)
def test_trees_that_cannot_be_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(("mimics", "error", "message"), NO_MIMICS.values(), ids=NO_MIMICS)
def test_mimics_that_cannot_be_are_refused(mimics, error, message):
    with pytest.raises(error, match=message):
        body(*mimics)


def test_a_joint_may_be_called_root_when_nothing_else_is():
    anchored = Linkage(abc, [hinge("root", "a", "b"), hinge("k", "b", "c")], root=Joint("anchor", None, "a"))
    assert anchored.joint("root").child == "b"
    plain = Linkage(abc, [hinge("root", "a", "b"), hinge("k", "b", "c")])  # as in many files
    assert plain.coordinates == ("root", "k")
    assert plain.joint("root").child == "b"


# Large ones


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_large_linkages_are_built_without_recursion(shape):
    n = 5 * sys.getrecursionlimit()
    joints = [hinge(f"j{k}", "l0" if shape == "star" else f"l{k - 1}", f"l{k}") for k in range(1, n)]
    linkage = Linkage(links(*(f"l{k}" for k in range(n))), joints)
    assert (len(linkage.links), linkage.nq) == (n, n - 1)
    assert linkage.subtree(f"l{n // 2}").nq == (n // 2 - 1 if shape == "chain" else 0)


def test_a_long_row_of_mimic_joints_has_one_leader():
    n = 1000
    joints = [hinge(f"j{k}", f"l{k - 1}", f"l{k}", mimic=Mimic(f"j{k - 1}", -1.0, 1.0)) for k in range(2, n)]
    linkage = Linkage(links(*(f"l{k}" for k in range(n))), [*reversed(joints), hinge("j1", "l0", "l1")])
    assert linkage.coordinates == ("j1",)
    drives = [(drive.multiplier, drive.offset) for drive in linkage.drives[1:]]
    assert drives == [(1.0, 0.0), (-1.0, 1.0)] * 499 + [(1.0, 0.0)]


# Loops


def ring(*loops):
    b = [Joint("a", "base", "arm", Revolute("z")), Joint("b", "arm", "hand", Revolute("z"))]
    return Linkage([Link("base"), Link("arm"), Link("hand")], b, frames=[Frame("pin", "hand", (1, 0, 0))], loops=loops)


def test_loops_are_kept_in_their_order():
    loops = (Loop("one", "pin", "base"), Loop("two", "hand", "arm", "axis"), Loop("three", "arm", "pin", "full"))
    assert ring(*loops).loops == loops
    assert ring(*loops) != ring(*loops[:2])
    assert ring(*loops) != ring(*loops[::-1])
    assert ring().loops == ()


@pytest.mark.parametrize(
    ("loops", "error", "message"),
    [
        ([("l", "pin", "nail")], FrameNotFoundError, "no frame 'nail' in linkage 'linkage' \\(loop 'l'\\)"),
        ([("l", "pin", 3)], FrameNotFoundError, "no frame 3"),
        ([("l", "pin", "hand")], LinkageError, "joins two frames of one link, 'hand'"),
        ([("l", "pin", "pin")], LinkageError, "joins two frames of one link"),
        ([("l", "pin", "base"), ("l", "pin", "arm")], DuplicateNameError, "loop 'l' appears twice"),
        ([("", "pin", "base")], LinkageError, "a loop in linkage 'linkage' needs a name"),
        ([("l", "pin", "base", "line")], LinkageError, "is 'point', 'axis', 'full', got 'line'"),
    ],
)
def test_loops_that_cannot_be_are_refused(loops, error, message):
    with pytest.raises(error, match=message):
        ring(*(Loop(*loop) for loop in loops))
