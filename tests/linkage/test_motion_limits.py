"""Limits of velocity, acceleration and effort: validated, as arrays by velocity, kept by edits."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import linkwork as lw
from linkages import JOINTS, one_joint
from linkwork.errors import LimitError
from linkwork.linkage.joints import Ball, Fixed, Floating, Joint, Mimic, Planar, Prismatic, Revolute
from linkwork.linkage.linkage import Link, Linkage
from linkwork.linkage.motion_limits import MOTION_LIMITS

INF = math.inf


@pytest.fixture
def arm() -> Linkage:
    """A planar base, a shoulder, a follower, and a prismatic joint without limits of motion."""
    joints = [
        Joint("shoulder", "base", "upper", Revolute("z", -2, 2), velocity="90deg", acceleration=5, effort=87),
        Joint("finger", "upper", "thumb", Revolute("z"), mimic=Mimic("shoulder", 2.0), velocity=0.1),
        Joint("slide", "upper", "hand", Prismatic("x", 0, 1)),
        Joint("wrist", "hand", "palm", Ball("ZYX"), velocity=[1, None, 3]),
    ]
    root = Joint("drive", None, "base", Planar(), velocity=[1.5, 0.5, "180deg"])
    return Linkage([Link(n) for n in ("base", "upper", "thumb", "hand", "palm")], joints, root=root)


def test_a_linkage_has_them_by_velocity(arm: Linkage) -> None:
    half = math.pi / 2
    assert arm.velocity.tolist() == [1.5, 0.5, math.pi, half, INF, 1, INF, 3]  # followers have no velocity
    assert arm.acceleration.tolist() == [INF, INF, INF, 5, INF, INF, INF, INF]
    assert arm.effort.tolist() == [INF, INF, INF, 87, INF, INF, INF, INF]
    for what in MOTION_LIMITS:
        assert getattr(arm, what).shape == (arm.nv,)
        assert not getattr(arm, what).flags.writeable


@pytest.mark.parametrize("articulation", JOINTS.values(), ids=JOINTS)
def test_every_joint_has_one_for_each_velocity_and_so_has_the_table(articulation) -> None:
    bare = one_joint(articulation)
    assert all(np.isinf(getattr(bare, what)).all() for what in MOTION_LIMITS)
    name = bare.arcs[1].name
    given = [float(k + 1) for k in range(articulation.nv)]
    made = bare.replace(joints={name: {"velocity": given, "effort": [10 * x for x in given]}})
    assert made.velocity.tolist() == [*given, INF]  # the joint below has none
    rows = [row for row in made.table if row.velocity < INF]  # w of a quaternion has none
    order = {row.v: row for row in rows}
    assert sorted(row.velocity for row in rows) == given
    assert all(row.effort == 10 * row.velocity for row in rows)
    assert all(row.velocity == made.velocity[v] for v, row in order.items() if v is not None)


def test_a_quaternion_has_three_for_x_y_and_z() -> None:
    body = Linkage([Link("body")], root=Joint("root", None, "", Floating(), velocity=[1, 2, 3, 4, 5, 6]))
    assert [row.velocity for row in body.table] == [1, 2, 3, INF, 4, 5, 6]


def test_one_number_serves_all_velocities_of_one_unit() -> None:
    assert Joint("j", "a", "b", Ball(), velocity=2).velocity == (2.0, 2.0, 2.0)
    assert Joint("j", "a", "b", Ball(), velocity=INF).velocity is None
    with pytest.raises(LimitError, match="velocity of joint 'j' must be 3 values, one for each velocity, got 2"):
        Joint("j", "a", "b", Planar(), velocity=2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (0, "must be above zero, got 0; None stands for no limit"),
        (-1.0, "above zero"),
        (math.nan, "number"),
        ("fast", "angle"),
        ([1, 2], "must be 1 values"),
        ([], "must be 1 values"),
        ({}, "angle"),
    ],
)
def test_what_is_no_limit_is_refused(given, said) -> None:
    with pytest.raises(LimitError, match=said):
        Joint("j", "a", "b", Revolute("z"), velocity=given)


def test_a_joint_that_does_not_move_has_none() -> None:
    with pytest.raises(LimitError, match="effort of joint 'j' has no meaning: the joint does not move"):
        Joint("j", "a", "b", Fixed(), effort=3)


def test_the_builder_takes_them() -> None:
    made = lw.Builder("arm").revolute("j", "hand", velocity="1rad", acceleration=2, effort=3).build()
    assert [getattr(made, what).item() for what in MOTION_LIMITS] == [1, 2, 3]


# Edits


def test_edits_keep_them(arm: Linkage) -> None:
    frozen = arm.freeze("shoulder", at=0.5)
    assert frozen.joint("shoulder").velocity is frozen.joint("finger").velocity is None
    assert frozen.velocity.tolist() == np.delete(arm.velocity, 3).tolist()
    assert frozen.subtree("upper").velocity.tolist() == arm.velocity[4:].tolist()
    assert arm.replace(name="other").velocity.tolist() == arm.velocity.tolist()
    split = arm.split()
    assert split.velocity.tolist() == arm.velocity.tolist()
    assert split.joint("wrist.ry").velocity is None


def test_a_joint_of_another_kind_keeps_them_where_units_stay(arm: Linkage) -> None:
    assert arm.replace(joints={"shoulder": lw.Continuous("x")}).joint("shoulder").effort == (87,)
    assert arm.replace(joints={"shoulder": {"upper": 1.0}}).joint("shoulder").effort == (87,)
    assert arm.replace(joints={"shoulder": Prismatic("x"), "finger": Prismatic("x")}).joint("shoulder").effort is None
    assert arm.replace(root="floating").velocity[:6].tolist() == [INF] * 6
    changed = arm.replace(joints={"shoulder": {"articulation": Ball(), "velocity": 3}, "finger": {"mimic": None}})
    assert changed.joint("shoulder").velocity == (3, 3, 3)
    assert arm.replace(joints={"shoulder": {"velocity": None}}).joint("shoulder").velocity is None


def test_a_quaternion_with_limits_is_not_split() -> None:
    ball = one_joint(Ball())
    name = ball.arcs[1].name
    assert ball.split().nv == ball.nv
    with pytest.raises(LimitError, match=r"velocity of joint .* a quaternion, hold for no single turn"):
        ball.replace(joints={name: {"velocity": 2}}).split()


def test_copies_are_equal_and_limits_count(arm: Linkage) -> None:
    assert pickle.loads(pickle.dumps(arm)) == arm == copy.deepcopy(arm)
    assert arm.replace(joints={"slide": {"velocity": 0.3}}) != arm
