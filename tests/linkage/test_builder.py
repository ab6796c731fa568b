"""The builder: each call makes the same joint as the constructor, and a refused call changes nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkages import JOINTS, random_transform
from linkwork.errors import (
    AxisError,
    DuplicateNameError,
    JointNotFoundError,
    LimitError,
    LinkageError,
    LinkNotFoundError,
    LinkworkError,
    MimicError,
    TransformError,
)
from linkwork.linkage.builder import Builder
from linkwork.linkage.geometry import Box, Sphere
from linkwork.linkage.joints import (
    ARTICULATIONS,
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
    Universal,
)
from linkwork.linkage.linkage import Frame, Link, Linkage

PLACEMENT = random_transform(np.random.default_rng(1))

CALLS = {
    "fixed": (lambda b: b.fixed("j", "hand"), Fixed()),
    "revolute": (lambda b: b.revolute("j", "hand"), Revolute("z")),
    "revolute with limits": (
        lambda b: b.revolute("j", "hand", axis="-y", limits=("-90deg", 1)),
        Revolute("-y", -math.pi / 2, 1.0),
    ),
    "revolute with one limit": (lambda b: b.revolute("j", "hand", limits=[-math.inf, 1]), Revolute("z", upper=1.0)),
    "continuous": (lambda b: b.continuous("j", "hand", axis=(1, 1, 0)), Continuous((1, 1, 0))),
    "prismatic": (lambda b: b.prismatic("j", "hand", axis="x", limits=(0, 0.5)), Prismatic("x", 0.0, 0.5)),
    "screw": (lambda b: b.screw("j", "hand", lead=0.1, limits=(0, 9)), Screw("z", 0.0, 9.0, 0.1)),
    "universal": (lambda b: b.universal("j", "hand", axis="y", second="z"), Universal("y", "z")),
    "universal with limits": (
        lambda b: b.universal("j", "hand", lower=(-1, -1), upper=("45deg", 1)),
        Universal(lower=(-1.0, -1.0), upper=(math.pi / 4, 1.0)),
    ),
    "planar": (lambda b: b.planar("j", "hand", axis="y"), Planar("y")),
    "planar with limits": (
        lambda b: b.planar("j", "hand", lower=(-1, -1, -1), upper=(1, 1, 1)),
        Planar("z", (-1.0,) * 3, (1.0,) * 3),
    ),
    "ball": (lambda b: b.ball("j", "hand"), Ball()),
    "ball by angles": (
        lambda b: b.ball("j", "hand", euler="zxz", lower=(-1, -1, -1), upper=(1, 1, "30deg")),
        Ball("zxz", (-1.0,) * 3, (1.0, 1.0, math.pi / 6)),
    ),
    "floating": (lambda b: b.floating("j", "hand"), Floating()),
}


def test_every_kind_has_a_call():
    assert {articulation.kind for _, articulation in CALLS.values()} == set(ARTICULATIONS)


@pytest.mark.parametrize(("call", "articulation"), CALLS.values(), ids=CALLS)
def test_a_call_is_the_joint_written_by_hand(call, articulation):
    builder = Builder("arm")
    assert call(builder) is builder
    by_hand = Linkage([Link("base"), Link("hand")], [Joint("j", "base", "hand", articulation)], name="arm")
    assert builder.build() == by_hand


@pytest.mark.parametrize("articulation", JOINTS.values(), ids=JOINTS)
def test_any_articulation_with_every_option(articulation):
    mimic = Mimic("lead", 2.0, 0.1) if articulation.nq == 1 else None
    built = (
        Builder("arm", base="trunk", root="planar", shape=Box((1, 1, 1)), node=(0, 0, 0.5))
        .revolute("lead", "rod")
        .joint("j", "hand", articulation, parent="trunk", at=PLACEMENT, shape=Sphere(1), node=PLACEMENT, mimic=mimic)
        .frame("palm", at=PLACEMENT)
        .frame("hook", link="rod", at=(0, 0, 1))
        .build()
    )
    by_hand = Linkage(
        [Link("trunk", Box((1, 1, 1)), (0, 0, 0.5)), Link("rod"), Link("hand", Sphere(1), PLACEMENT)],
        [Joint("lead", "trunk", "rod", Revolute("z")), Joint("j", "trunk", "hand", articulation, PLACEMENT, mimic)],
        name="arm",
        frames=[Frame("palm", "hand", PLACEMENT), Frame("hook", "rod", (0, 0, 1))],
        root="planar",
    )
    assert built == by_hand


def test_a_joint_hangs_on_the_link_before_it_unless_told_otherwise():
    tree = Builder("tree").fixed("a", "1").fixed("b", "2").fixed("c", "3", parent="1").fixed("d", "4").build()
    assert [joint.parent for joint in tree.arcs[1:]] == ["base", "1", "1", "3"]
    assert tree.links == ("base", "1", "2", "3", "4")


def test_a_rotation_follows_the_position():
    turn = Rotation.from_rotvec([0.1, 0.2, 0.3])
    expected = np.eye(4)
    expected[:3, :3], expected[:3, 3] = turn.as_matrix(), (1, 2, 3)
    for rotation in (turn, turn.as_matrix(), {"xyzw": turn.as_quat()}):
        built = (
            Builder("b").fixed("j", "c", at=(1, 2, 3), rotation=rotation).frame("f", at=(1, 2, 3), rotation=rotation)
        )
        np.testing.assert_allclose(built.build().joint("j").placement, expected, atol=1e-15)
        np.testing.assert_allclose(built.build().extra_frames[0].placement, expected, atol=1e-15)
    both = Builder("b").fixed("j", "c", at=PLACEMENT, rotation=turn).build()
    np.testing.assert_allclose(both.joint("j").placement[:3, :3], PLACEMENT[:3, :3] @ turn.as_matrix(), atol=1e-15)


def test_a_joint_follows_another_by_name():
    built = Builder("b").revolute("lead", "1").revolute("follow", "2", mimic="lead").build()
    assert built.joint("follow").mimic == Mimic("lead", 1.0, 0.0)
    assert built.coordinates == ("lead",)


def test_poses_are_named_by_joint_values():
    builder = Builder("b").revolute("yaw", "1", limits=(0, 1)).ball("hip", "2", euler="XYZ")
    builder.pose("home").pose("up", {"hip.rx": "90deg"}, yaw=0.2).pose("whole", [0.1, 1, 2, 3])
    built = builder.build()
    assert list(built.poses) == ["home", "up", "whole"]
    np.testing.assert_allclose(built.stored_pose("home"), [0.5, 0, 0, 0])
    np.testing.assert_allclose(built.stored_pose("up"), [0.2, math.pi / 2, 0, 0])
    np.testing.assert_allclose(built.stored_pose("whole"), [0.1, 1, 2, 3])


def test_building_twice_gives_equal_linkages_and_goes_on():
    builder = Builder("b").revolute("a", "1").pose("home", a=1.0)
    first = builder.build()
    assert builder.build() == first
    assert builder.revolute("b", "2").build().links == ("base", "1", "2")
    assert first.links == ("base", "1")


WRONG_CALLS = {
    "unknown parent": (lambda b: b.fixed("j", "x", parent="hnad"), LinkNotFoundError, "'hnad'.*did you mean 'hand'"),
    "list for a parent": (lambda b: b.fixed("j", "x", parent=["hand"]), LinkworkError, r"\['hand'\]"),
    "twice a link": (lambda b: b.fixed("j", "hand"), DuplicateNameError, "link 'hand' appears twice in linkage 'arm'"),
    "twice a joint": (lambda b: b.fixed("wrist", "x"), DuplicateNameError, "joint 'wrist' appears twice"),
    "list for a link": (lambda b: b.fixed("j", ["x"]), LinkworkError, "name"),
    "no name": (lambda b: b.fixed("", "x"), LinkageError, "name"),
    "zero axis": (lambda b: b.revolute("j", "x", axis=(0, 0, 0)), AxisError, "zero"),
    "one limit": (lambda b: b.revolute("j", "x", limits=1.0), LinkageError, r"limits of joint 'j'.*\(lower, upper\)"),
    "three limits": (lambda b: b.prismatic("j", "x", limits=(1, 2, 3)), LinkageError, "limits of joint 'j'"),
    "limits swapped": (lambda b: b.revolute("j", "x", limits=(1, -1)), LimitError, "above"),
    "nan limit": (lambda b: b.screw("j", "x", lead=1, limits=(0, math.nan)), LimitError, "nan"),
    "nan position": (lambda b: b.fixed("j", "x", at=(0, 0, math.nan)), TransformError, "joint 'j'.*finite"),
    "nan with a turn": (
        lambda b: b.fixed("j", "x", at=(0, 0, math.nan), rotation=np.eye(3)),
        TransformError,
        "joint 'j'.*finite",
    ),
    "four numbers for a turn": (lambda b: b.fixed("j", "x", rotation=(1, 0, 0, 0)), TransformError, "joint 'j'.*wxyz"),
    "mirror for a turn": (lambda b: b.fixed("j", "x", rotation=-np.eye(3)), TransformError, "joint 'j'.*reflection"),
    "class for a joint": (lambda b: b.joint("j", "x", Revolute), LinkageError, "joint 'j' needs an articulation"),
    "no shape": (lambda b: b.fixed("j", "x", shape="box"), LinkageError, "needs a shape"),
    "nan node": (lambda b: b.fixed("j", "x", node=(0, math.nan, 0)), TransformError, "node transform of link 'x'"),
    "ball that mimics": (lambda b: b.ball("j", "x", mimic="wrist"), MimicError, "'j' has 4 values"),
    "number to mimic": (lambda b: b.revolute("j", "x", mimic=3), MimicError, "'j'.*Mimic.*3"),
    "unknown order": (lambda b: b.ball("j", "x", euler="xx"), LinkageError, "'xx' is not one of"),
    "nan frame": (lambda b: b.frame("f", at=(0, math.nan, 0)), TransformError, "frame 'f'.*finite"),
}


@pytest.mark.parametrize(("call", "error", "message"), WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_a_refused_call_leaves_no_trace(call, error, message):
    builder, twin = (Builder("arm").revolute("wrist", "hand") for _ in range(2))
    with pytest.raises(error, match=message):
        call(builder)
    assert builder.fixed("j", "x").frame("f").build() == twin.fixed("j", "x").frame("f").build()


WRONG_BUILDS = {
    "mimic of no joint": (lambda b: b.revolute("j", "x", mimic="wrsit"), JointNotFoundError, "'wrsit'.*'wrist'"),
    "pose of no joint": (lambda b: b.pose("home", wrsit=1.0), JointNotFoundError, "'wrsit'.*'wrist'"),
    "frame of no link": (lambda b: b.frame("f", link="hnad"), LinkNotFoundError, "'hnad'.*did you mean 'hand'"),
    "frame named as a link": (lambda b: b.frame("hand"), DuplicateNameError, "frame 'hand'"),
}


@pytest.mark.parametrize(("call", "error", "message"), WRONG_BUILDS.values(), ids=WRONG_BUILDS)
def test_what_only_the_whole_shows_is_refused_when_built(call, error, message):
    with pytest.raises(error, match=message):
        call(Builder("arm").revolute("wrist", "hand")).build()


@pytest.mark.parametrize("root", ["flying", np.eye(3), (0, 0, math.nan)], ids=["word", "3x3", "nan"])
def test_a_wrong_root_is_refused(root):
    with pytest.raises(LinkworkError, match="root"):
        Builder("arm", root=root).build()
