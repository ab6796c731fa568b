"""The table of coordinates, compared with the effect of values: units, kinds, and whole turns that change nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linkwork as lw
from linkages import JOINTS, one_joint, random_tree
from linkwork import Joint, Link, Linkage
from linkwork.linkage.joints import Mimic, Prismatic, Revolute, Screw

ALL = sorted(JOINTS)


@pytest.mark.parametrize("joint", ALL)
def test_a_row_stands_for_each_value_of_the_pose(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    table = linkage.table
    assert tuple(row.name for row in table) == linkage.coordinates
    assert [row.q for row in table] == list(range(linkage.nq))
    assert_array_equal([row.lower for row in table], linkage.lower)
    assert_array_equal([row.upper for row in table], linkage.upper)
    for row in table:
        assert row.name == row.joint or row.name.startswith(f"{row.joint}.")
        assert not row.mimicked


@pytest.mark.parametrize("joint", ALL)
def test_the_views_have_one_entry_for_each_value_or_velocity(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    table, plain = linkage.table, linkage.table.plain
    assert len(table.units) == len(table.periodic) == linkage.nq
    assert len(table.velocity_units) == len(table.velocity_joints) == linkage.nv
    assert table.slides.shape == table.pose_index.shape == (linkage.nv,)
    assert len(plain.q) + 4 * len(table.quaternions) == linkage.nq
    assert len(plain.v) + 3 * len(table.quaternions) == linkage.nv
    assert_array_equal(table.pose_index[plain.v], plain.q)
    assert all((table.pose_index[v : v + 3] == -1).all() for _, v in table.quaternions)
    for view in (table.periodic, table.slides, table.pose_index, *plain):
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 0


@pytest.mark.parametrize("joint", ALL)
def test_units_say_whether_a_value_slides_its_link(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    q = linkage.neutral()
    link = linkage.links[-1]
    for row in linkage.table:
        moved = q.copy()
        moved[row.q] += 0.01
        turned = linkage.forward(moved, frame=link)[:3, :3] - linkage.forward(q, frame=link)[:3, :3]
        if row.unit == "m":
            assert row.kind == "prismatic"
            assert_allclose(turned, 0.0, atol=1e-15)
        elif row.unit == "rad":
            assert np.abs(turned).max() > 1e-3
        else:
            assert row.kind == "ball"
            assert row.v is None


@pytest.mark.parametrize("joint", ALL)
def test_a_velocity_changes_the_values_that_the_table_names(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    table, q = linkage.table, linkage.neutral()
    quaternion_at = {v + k: first for first, v in table.quaternions for k in range(3)}
    for v in range(linkage.nv):
        rates = np.zeros(linkage.nv)
        rates[v] = 0.01
        changed = np.flatnonzero(linkage.integrate(q, rates) != q)
        if table.pose_index[v] >= 0:
            assert changed.tolist() == [table.pose_index[v]]
            assert table.velocity_units[v] == table.units[changed[0]]
            assert table[changed[0]].v == v
        else:
            first = quaternion_at[v]
            assert set(changed) <= set(range(first, first + 4))
            assert table.velocity_units[v] == "rad"
        assert table.slides[v] == (table.velocity_units[v] == "m")
        assert table.velocity_joints[v] == table[int(changed[0])].joint


@pytest.mark.parametrize("joint", ALL)
def test_a_whole_turn_of_a_periodic_value_moves_nothing(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    q = linkage.neutral()
    for row in linkage.table:
        turned = q.copy()
        turned[row.q] += 2.0 * math.pi
        same = np.allclose(linkage.forward(q).array, linkage.forward(turned).array, atol=1e-12)
        if row.unit != "" and row.kind != "screw":  # a screw without lead only rotates
            assert same == row.periodic
        assert not (row.periodic and not same)
        assert row.wraps == (row.periodic and math.isinf(row.lower) and math.isinf(row.upper))


@pytest.mark.parametrize("seed", range(6))
def test_the_table_holds_for_trees(seed: int) -> None:
    linkage = random_tree(np.random.default_rng(seed), 12)
    table = linkage.table
    assert tuple(row.name for row in table) == linkage.coordinates
    for arc, drive in zip(linkage.arcs, linkage.drives, strict=True):
        if arc.mimic is None:
            assert [row.joint for row in table[drive.columns]] == [arc.name] * arc.articulation.nq
            assert table.units[drive.columns] == arc.articulation.units
            assert table.velocity_joints[drive.rates] == (arc.name,) * arc.articulation.nv
        else:
            assert table[drive.q].mimicked


@pytest.mark.parametrize(
    ("follower", "multiplier", "periodic"),
    [
        (Revolute("z"), 2.0, True),
        (Revolute("z"), -1.0, True),
        (Revolute("z"), 0.5, False),
        (Prismatic("x"), 1.0, False),
        (Screw("x", lead=0.1), 1.0, False),
    ],
)
def test_a_follower_that_notices_a_turn_keeps_its_leader_from_wrapping(follower, multiplier, periodic) -> None:
    links = [Link("base"), Link("wheel"), Link("led")]
    joints = [
        Joint("turn", "base", "wheel", Revolute("z")),
        Joint("follow", "base", "led", follower, mimic=Mimic("turn", multiplier)),
    ]
    (row,) = Linkage(links, joints).table
    assert row.mimicked
    assert row.periodic is row.wraps is periodic


def test_a_drive_gives_the_values_of_a_joint_in_many_poses() -> None:
    body = lw.models.human()
    poses = body.random_pose(0, (2, 3))
    for arc, drive in zip(body.arcs, body.drives, strict=True):
        assert drive.values(poses).shape == (2, 3, arc.articulation.nq)
        assert body.drive(arc.name) is drive
