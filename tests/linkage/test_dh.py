"""Denavit-Hartenberg tables: eight real ones compared with another library, and round trips of random chains."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from goldens import DH
from linkages import random_transform
from linkwork.errors import (
    DuplicateNameError,
    FrameNotFoundError,
    LimitError,
    LinkageError,
    LinkworkError,
    TransformError,
)
from linkwork.linkage.dh import from_dh
from linkwork.linkage.dh_table import DHRow, DHTable
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
    Universal,
)
from linkwork.linkage.linkage import Frame, Link, Linkage
from linkwork.transforms import transform

NAN, INF, PI = math.nan, math.inf, math.pi
ROW = (0.0, 0.0, 1.0, 0.0)

both_conventions = pytest.mark.parametrize("convention", ["standard", "modified"])


def rows_of(data):
    """Return the table's rows; the offset is added to the joint variable."""
    rows = []
    for row in data["rows"]:
        theta, d = row["theta"], row["d"]
        if row["joint"] == "R":
            theta += row["offset"]
        else:
            d += row["offset"]
        limits = None if row["qlim"] is None else tuple(row["qlim"])
        rows.append(DHRow(theta, d, row["a"], row["alpha"], row["joint"], limits))
    return rows


def arm_of(data):
    convention = "modified" if data["mdh"] else "standard"
    return from_dh(
        rows_of(data), convention=convention, base=data["base"], tool=data["tool"], name=data["model"].lower()
    )


def along_x(alpha, a):
    return transform((a, 0, 0), {"euler": ("x", [alpha])})


def worst(arm, other, frame="tip", seed=0):
    """Return the largest difference between two chains over random poses, frames and Jacobians."""
    q = arm.random_pose(seed, 20)
    frames = np.abs(arm.forward(q, frame=frame) - other.forward(q, frame="tip"))
    rates = np.abs(arm.jacobian(q, frame) - other.jacobian(q, "tip"))
    return max(frames.max(initial=0.0), rates.max(initial=0.0))


# Real tables


@pytest.mark.parametrize("name", DH)
def test_tips_frames_and_jacobians_are_those_of_the_golden(name):
    data = DH[name]
    arm, q = arm_of(data), np.array(data["q"])
    np.testing.assert_allclose(arm.forward(q, frame="tip"), data["T_end"], atol=1e-12)
    np.testing.assert_allclose(arm.jacobian(q, "tip"), data["J0"], atol=1e-12)
    frames = arm.forward(q)
    for k, (row, expected) in enumerate(zip(data["rows"], data["T_links"][-len(data["rows"]) :], strict=True), start=1):
        rest = np.eye(4) if data["mdh"] else along_x(row["alpha"], row["a"])  # a standard frame is X beyond its joint
        np.testing.assert_allclose(frames[f"link{k}"] @ rest, expected, atol=1e-12)


@pytest.mark.parametrize("name", DH)
def test_limits_are_kept(name):
    data = DH[name]
    limits = np.array([row["qlim"] or (-INF, INF) for row in data["rows"]])
    arm = arm_of(data)
    np.testing.assert_array_equal([arm.lower, arm.upper], limits.T)
    assert [row.limits for row in arm.as_dh().rows] == [row.limits for row in rows_of(data)]


@pytest.mark.parametrize("name", DH)
@both_conventions
def test_real_arms_come_out_and_in_again(name, convention):
    arm = arm_of(DH[name])
    table = arm.as_dh("tip", convention=convention)
    assert table.convention == convention
    again = from_dh(table, name=arm.name)
    assert again.coordinates == arm.coordinates
    assert worst(arm, again) < 1e-12


def as_lists(table):
    return np.array([(row.theta, row.d, row.a, row.alpha) for row in table.rows])


def turned(rows):
    """Return rows with angles as points on a circle: pi and -pi are one."""
    angles = rows[:, [0, 3]]
    return np.concatenate([np.cos(angles), np.sin(angles), rows[:, 1:3]], axis=1)


@pytest.mark.parametrize("name", ["IRB140", "LWR4", "Panda", "Planar3", "Puma560", "UR5"])
def test_familiar_tables_come_back(name):
    data = DH[name]
    arm = arm_of(data)
    table = arm.as_dh(convention="modified" if data["mdh"] else "standard")
    expected = np.array([(row.theta, row.d, row.a, row.alpha) for row in rows_of(data)])
    np.testing.assert_allclose(turned(as_lists(table)), turned(expected), atol=1e-12)
    np.testing.assert_allclose(table.base @ np.eye(4), data["base"], atol=1e-12)


def test_the_panda_in_the_modified_convention():
    rows = as_lists(arm_of(DH["Panda"]).as_dh(convention="modified"))
    np.testing.assert_allclose(rows[:, 1], [0.333, 0, 0.316, 0, 0.384, 0, 0.107], atol=1e-12)
    np.testing.assert_allclose(rows[:, 2], [0, 0, 0, 0.0825, -0.0825, 0, 0.088], atol=1e-12)


# Any chain


@st.composite
def chains(draw):
    """Draw a chain of revolute and prismatic joints on any axes, with fixed joints in between, and a branch."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from([Revolute, Prismatic, Continuous, Fixed]), min_size=1, max_size=7))
    links, joints = [Link("link0")], []
    for k, kind in enumerate(kinds, start=1):
        axis = rng.normal(size=3) if rng.random() < 0.5 else np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        motion = Fixed() if kind is Fixed else kind(axis)
        placement = random_transform(rng) if rng.random() < 0.7 else np.eye(4)
        joints.append(Joint(f"joint{k}", f"link{k - 1}", f"link{k}", motion, placement))
        links.append(Link(f"link{k}"))
    joints.append(Joint("beside", "link0", "branch", Ball()))
    end = Frame("end", links[-1].name, random_transform(rng))
    return Linkage([*links, Link("branch")], joints, frames=[end], root=random_transform(rng))


def check_round_trip(chain, convention, frame, tolerance=1e-11):
    table = chain.as_dh(frame, convention=convention)
    again = from_dh(table)
    q = chain.random_pose(1, 20)
    own = q[:, [chain.coordinate_index[name] for name in again.coordinates]]
    scale = 1.0 + max((max(abs(row.d), abs(row.a)) for row in table.rows), default=0.0)
    expected = chain.forward(q, frame=frame)
    np.testing.assert_allclose(again.forward(own, frame="tip"), expected, atol=tolerance * scale)
    return table


@both_conventions
@given(chain=chains())
def test_any_chain_of_hinges_and_sliders_comes_out_and_in_again(convention, chain):
    table = check_round_trip(chain, convention, "end")
    moving = [joint for joint in chain.arcs if isinstance(joint.articulation, Revolute | Continuous | Prismatic)]
    assert list(table.joints or ()) == [joint.name for joint in moving]
    assert [row.kind for row in table.rows] == ["P" if j.articulation.kind == "prismatic" else "R" for j in moving]


@both_conventions
@given(chain=chains())
def test_a_table_of_a_table_is_the_same_table(convention, chain):
    table = chain.as_dh("end", convention=convention)
    again = from_dh(table).as_dh("tip", convention=convention)
    scale = 1.0 + np.abs(as_lists(table)).max(initial=0.0) if table.rows else 1.0
    if table.rows:
        np.testing.assert_allclose(turned(as_lists(again)), turned(as_lists(table)), atol=1e-9 * scale)


PLACES = {
    "same place": (0, 0, 0),
    "along z": (0, 0, 0.7),
    "along x": (0.7, 0, 0),
    "against x": (-0.7, 0, 0),
    "along y": (0, 0.7, 0),
    "anywhere": (0.3, -0.4, 0.5),
}
DIRECTIONS = {
    "parallel": {"euler": ("z", [0.4])},
    "anti-parallel": {"euler": ("xz", [PI, 0.4])},
    "square": {"euler": ("x", [PI / 2])},
    "square the other way": {"euler": ("y", [-PI / 2])},
    "oblique": {"rotvec": [0.3, -0.8, 0.2]},
    "nearly parallel": {"rotvec": [1e-15, 1e-15, 0.3]},
}


@both_conventions
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("direction", DIRECTIONS.values(), ids=DIRECTIONS)
@pytest.mark.parametrize("kinds", ["RRR", "RPR", "PRP", "PPP"])
def test_special_positions_of_axes(convention, place, direction, kinds):
    placement = transform(place, direction)
    links = [Link(f"link{k}") for k in range(4)]
    motions = {"R": Revolute("z"), "P": Prismatic("z")}
    joints = [Joint(f"j{k}", f"link{k}", f"link{k + 1}", motions[kind], placement) for k, kind in enumerate(kinds)]
    chain = Linkage(links, joints, frames=[Frame("end", "link3", placement)])
    table = check_round_trip(chain, convention, "end", 1e-13)
    assert max(np.abs(as_lists(table)[:, 1:3]).max(), 1.0) < 10.0


@both_conventions
@pytest.mark.parametrize("tilt", [1e-4, 1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 2e-12, 1e-12, 1e-13])
def test_nearly_parallel_axes_lose_no_more_than_they_must(convention, tilt):
    """Their common normal is far away or ignored; both lose digits, but never more than half of them."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        axis = [math.sin(tilt) * math.cos(seed), math.sin(tilt) * math.sin(seed), math.cos(tilt)]
        motions = [Revolute("z"), Revolute(axis), Revolute(rng.normal(size=3))]
        places = rng.uniform(-1.0, 1.0, (3, 3))
        joints = [Joint(f"j{k}", f"link{k}", f"link{k + 1}", motions[k], places[k]) for k in range(3)]
        chain = Linkage([Link(f"link{k}") for k in range(4)], joints, frames=[Frame("tip", "link3", (1, 2, 3))])
        q = chain.random_pose(seed, 10)
        again = from_dh(chain.as_dh("tip", convention=convention))
        np.testing.assert_allclose(again.forward(q, frame="tip"), chain.forward(q, frame="tip"), atol=1e-6)


@both_conventions
def test_links_and_frames_anywhere_can_be_the_end(convention):
    arm = from_dh([(0.1, 0.2, 0.3, 0.4), (0.5, 0.6, 0.7, 0.8, "P"), (0, 0, 1, 0)], base=(1, 2, 3), tool=(0, 0, 1))
    for frame in arm.frames[1:]:
        check_round_trip(arm, convention, frame)


@both_conventions
def test_a_chain_without_joints_is_its_base(convention):
    place = random_transform(np.random.default_rng(0))
    still = Linkage([Link("a")], frames=[Frame("end", "a", place)], root=place)
    table = still.as_dh(convention=convention)
    assert table.rows == ()
    np.testing.assert_allclose(from_dh(table).forward([], frame="tip"), place @ place, atol=1e-15)


@both_conventions
@pytest.mark.parametrize("motion", [Revolute("x"), Prismatic((1, 2, 3)), Continuous("-z")], ids=lambda m: m.kind)
def test_a_root_arc_that_moves_is_a_row_too(convention, motion):
    place = random_transform(np.random.default_rng(0))
    chain = Linkage(
        [Link("a"), Link("b")],
        [Joint("j", "a", "b", Revolute("y"), place)],
        root=Joint("root", None, "a", motion, place),
        frames=[Frame("end", "b", place)],
    )
    check_round_trip(chain, convention, "end")


# In


def test_rows_are_read_in_every_form():
    rows = [DHRow(0.1, 0.2, 0.3, 0.4, "P", (0.0, 1.0)), DHRow(0.5, 0.0, 1.0, PI / 2)]
    as_tuples = [(0.1, 0.2, 0.3, 0.4, "P", (0, 1)), [0.5, 0, 1, "90deg"]]
    arm = from_dh(rows, joints=["lift", "turn"], name="crane")
    assert from_dh(as_tuples, joints=("lift", "turn"), name="crane") == arm
    assert from_dh(np.array([[0.5, 0, 1, PI / 2]])) == from_dh(rows[1:])
    assert from_dh(DHTable(tuple(rows), joints=("lift", "turn")), name="crane") == arm
    assert (arm.joints, arm.links) == (("lift", "turn"), ("link0", "link1", "link2"))
    assert [joint.articulation for joint in arm.arcs[1:]] == [Prismatic("z", 0.0, 1.0), Revolute("z")]


def test_tables_are_frozen():
    place = random_transform(np.random.default_rng(0))
    for table in (DHTable((DHRow(*ROW),), base=place, tool=place), from_dh([ROW], base=place).as_dh()):
        for array in (table.base, table.tool):
            with pytest.raises(ValueError, match="read-only"):
                array[0, 3] = 1.0
    with pytest.raises(TransformError, match="base is a reflection"):
        DHTable((DHRow(*ROW),), base=np.diag([1, 1, -1, 1]))


def test_no_rows_make_a_base_with_a_tool():
    arm = from_dh([], base=(1, 0, 0), tool=(0, 2, 0))
    assert arm.forward([], frame="tip")[:3, 3].tolist() == [1.0, 2.0, 0.0]


WRONG_TABLES = {
    "unknown convention": (lambda: from_dh([ROW], convention="craig"), LinkageError, "'modified', got 'craig'"),
    "unknown convention out": (lambda: from_dh([ROW]).as_dh(convention="x"), LinkageError, "'modified', got 'x'"),
    "no table": (lambda: from_dh(5), LinkageError, "a DH table is a list of rows.*got 5"),
    "short row": (
        lambda: from_dh([ROW, (0, 0, 1)]),
        LinkageError,
        r"DH row 2 must be \(theta, d, a, alpha.*\(0, 0, 1\)",
    ),
    "long row": (lambda: from_dh([(*ROW, "R", None, 1)]), LinkageError, "DH row 1 must be"),
    "number for a row": (lambda: from_dh([5]), LinkageError, "DH row 1.*5"),
    "none for a row": (lambda: from_dh([None]), LinkageError, "DH row 1.*None"),
    "text for a row": (lambda: from_dh(["0000"]), LinkageError, "DH row 1.*'0000'"),
    "nan": (lambda: from_dh([ROW, (NAN, 0, 0, 0)]), LinkworkError, "DH row 2.*nan"),
    "infinite": (lambda: from_dh([(0, INF, 0, 0)]), LinkageError, "DH row 1.*inf"),
    "word": (lambda: from_dh([ROW, ("q1", 0, 0, 0)]), LinkworkError, "DH row 2.*'q1'"),
    "none": (lambda: from_dh([(None, 0, 0, 0)]), LinkworkError, "DH row 1.*None"),
    "complex": (lambda: from_dh([(1j, 0, 0, 0)]), LinkworkError, "DH row 1.*1j"),
    "length in degrees": (lambda: from_dh([(0, "45deg", 0, 0)]), LinkworkError, "DH row 1.*45deg"),
    "kind": (lambda: from_dh([(*ROW, "S")]), LinkageError, "kind of DH row 1 is 'R' or 'P', got 'S'"),
    "limits swapped": (lambda: from_dh([(*ROW, "R", (1, -1))]), LimitError, "above"),
    "one limit": (lambda: from_dh([(*ROW, "R", (1,))]), LinkworkError, r"limits of DH row 1.*\(1,\)"),
    "number for limits": (lambda: from_dh([(*ROW, "R", 1.0)]), LinkworkError, "limits of DH row 1.*1.0"),
    "nan limit": (lambda: from_dh([(*ROW, "R", (0, NAN))]), LimitError, "nan"),
    "too few names": (lambda: from_dh([ROW, ROW], joints=["a"]), LinkageError, "2 rows need 2 joint names, got 1"),
    "twice a name": (lambda: from_dh([ROW, ROW], joints=["a", "a"]), DuplicateNameError, "joint 'a' appears twice"),
    "mirrored base": (lambda: from_dh([ROW], base=np.diag([1, 1, -1, 1])), TransformError, "base is a reflection"),
    "nan tool": (lambda: from_dh([ROW], tool=(0, 0, NAN)), TransformError, "tool.*finite"),
    "unknown frame": (lambda: from_dh([ROW]).as_dh("tpi"), FrameNotFoundError, "'tpi'.*did you mean 'tip'"),
}


@pytest.mark.parametrize(("make", "error", "message"), WRONG_TABLES.values(), ids=WRONG_TABLES)
def test_wrong_tables_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("motion", [Screw(lead=1), Universal(), Planar(), Ball(), Ball("XYZ"), Floating()], ids=str)
def test_joints_that_no_table_can_hold_are_refused(motion):
    chain = Linkage([Link("a"), Link("b")], [Joint("shoulder", "a", "b", motion)])
    with pytest.raises(LinkageError, match=f"'shoulder' is {motion.kind}; .*revolute and prismatic joints"):
        chain.as_dh()
    assert chain.as_dh("a").rows == ()
    if motion.kind != "screw":
        assert len(chain.split().as_dh("b").rows) == motion.nv


def test_a_follower_on_the_chain_is_refused():
    joints = [Joint("lead", "a", "b", Revolute()), Joint("follow", "b", "c", Revolute(), mimic=Mimic("lead"))]
    chain = Linkage([Link("a"), Link("b"), Link("c")], joints)
    with pytest.raises(LinkageError, match="'follow' mimics another"):
        chain.as_dh()
    assert len(chain.as_dh("b").rows) == 1


@pytest.mark.parametrize("part", [{"base": (1, 0, 0)}, {"tool": (1, 0, 0)}, {"joints": ["a"]}])
def test_a_table_keeps_its_own_ends_and_names(part) -> None:
    with pytest.raises(LinkageError, match="a DHTable has its own base, tool and joints"):
        from_dh(DHTable((DHRow(*ROW),)), **part)
