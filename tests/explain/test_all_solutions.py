"""All solutions of a goal: as many as closed forms give, distinct, and samples if there is a continuum."""

from __future__ import annotations

import itertools
from math import acos, atan2, cos, hypot, pi, sin

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import linkwork as lw
from chains import AXES, errors, placed, serial, within
from linkwork.errors import FrameNotFoundError, GoalError, OptionError
from linkwork.linkage.joints import Prismatic, Revolute, Screw

D1, A2, A3, D4, D5, D6 = 0.089159, -0.425, -0.39225, 0.10915, 0.09465, 0.0823  # the maker's table of the UR5
APART = 1e-2
PUMA = [  # d, a, alpha of standard Denavit-Hartenberg rows
    (0.6718, 0.0, pi / 2), (0.0, 0.4318, 0.0), (0.15005, 0.0203, -pi / 2),
    (0.4318, 0.0, pi / 2), (0.0, 0.0, -pi / 2), (0.0, 0.0, 0.0),
]  # fmt: skip


def wrapped(angles: np.ndarray) -> np.ndarray:
    return (np.asarray(angles) + pi) % (2 * pi) - pi


def turned(theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    """Return the transform of a standard Denavit-Hartenberg row."""
    c, s, ca, sa = cos(theta), sin(theta), cos(alpha), sin(alpha)
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])


def ur5_solutions(T: np.ndarray) -> np.ndarray:
    """Return the closed-form solutions (k, 6) of the UR5, with angles within half a turn; T is ``tool0`` in ``base``.

    The shoulder follows from the wrist's centre, the fifth angle from its height above the arm's plane, the sixth from
    the tool's axes, and the three parallel axes between them are a planar arm.
    """
    found = []
    p05 = T @ np.array([0, 0, -D6, 1])
    radius = hypot(p05[0], p05[1])
    if radius < D4:
        return np.empty((0, 6))
    for q1 in (atan2(p05[1], p05[0]) + side * acos(D4 / radius) + pi / 2 for side in (1, -1)):
        height = (T[0, 3] * sin(q1) - T[1, 3] * cos(q1) - D4) / D6
        if abs(height) > 1.0:
            continue
        for q5 in (acos(height), -acos(height)):
            x, y = T[:3, 0], T[:3, 1]
            q6 = atan2((-y[0] * sin(q1) + y[1] * cos(q1)) / sin(q5), (x[0] * sin(q1) - x[1] * cos(q1)) / sin(q5))
            T01, T45, T56 = turned(q1, D1, 0, pi / 2), turned(q5, D5, 0, -pi / 2), turned(q6, D6, 0, 0)
            T14 = np.linalg.inv(T01) @ T @ np.linalg.inv(T45 @ T56)
            p13 = (T14 @ np.array([0, -D4, 0, 1]))[:3]
            elbow = (p13 @ p13 - A2**2 - A3**2) / (2 * A2 * A3)
            if abs(elbow) > 1.0:
                continue
            for q3 in (acos(elbow), -acos(elbow)):
                q2 = -atan2(p13[1], -p13[0]) + np.arcsin(A3 * sin(q3) / np.linalg.norm(p13))
                T34 = np.linalg.inv(turned(q2, 0, A2, 0) @ turned(q3, 0, A3, 0)) @ T14
                found.append((q1, q2, q3, atan2(T34[1, 0], T34[0, 0]), q5, q6))
    return wrapped(np.array(found).reshape(-1, 6))


def matched(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return which of their poses (k, n) are among ours, modulo whole turns."""
    if not len(ours):
        return np.zeros(len(theirs), bool)
    return np.abs(wrapped(ours[None] - theirs[:, None])).max(axis=-1).min(axis=1) < APART


def ur5_goals(count: int, seed: int) -> tuple[lw.Linkage, np.ndarray, np.ndarray]:
    """Return the arm, random goals of its tip, and the same goals in the frames of the closed form."""
    arm = lw.models.ur5()
    q = np.random.default_rng(seed).uniform(-pi, pi, (count, 6))
    goals = arm.forward(q, frame="tip")
    return arm, goals, np.linalg.inv(arm.forward(q[0], frame="base")) @ arm.forward(q, frame="tool0")


def compare_with_closed_form(count: int, seed: int) -> dict[str, int]:
    """Return numbers of solutions: of the closed form, of the search, unmatched ones of each, and wrong ones."""
    arm, goals, bases = ur5_goals(count, seed)
    table = dict.fromkeys(("goals", "known", "found", "missed", "unknown", "wrong"), 0)
    for goal, T in zip(goals, bases, strict=True):
        known = ur5_solutions(T)
        exact = errors(arm, "tip", known, np.tile(goal, (len(known), 1, 1)), "pose").max(axis=1) < 1e-8
        known = known[exact & within(arm, known)]
        apart = [np.abs(wrapped(a - b)).max() for a, b in itertools.combinations(known, 2)]
        if min(apart, default=1.0) < 2 * APART:  # near a singular pose, where two solutions merge
            continue
        found = lw.solve_all(arm, lw.Reach("tip", orientation=goal))
        table["goals"] += 1
        table["known"] += len(known)
        table["found"] += len(found)
        table["missed"] += int((~matched(found.q, known)).sum())
        table["unknown"] += int((~matched(known, found.q)).sum())
        good = errors(arm, "tip", found.q, np.tile(goal, (len(found), 1, 1)), "pose").max(axis=1) < 1e-6
        table["wrong"] += int((~(good & within(arm, found.q))).sum())
    return table


def test_every_solution_of_the_ur5_in_closed_form_is_found_and_no_other() -> None:
    table = compare_with_closed_form(60, 0)  # a thousand take a minute
    assert table["goals"] > 50
    assert table["known"] > 4 * table["goals"]
    assert (table["missed"], table["unknown"], table["wrong"]) == (0, 0, 0)


def test_the_closed_form_is_right_by_itself() -> None:
    arm, goals, bases = ur5_goals(200, 1)
    counts = []
    for goal, T in zip(goals, bases, strict=True):
        known = ur5_solutions(T)
        counts.append(len(known))
        assert errors(arm, "tip", known, np.tile(goal, (len(known), 1, 1)), "pose").max() < 1e-6
    assert set(counts) <= {2, 4, 6, 8}
    assert max(counts) == 8


# Arms with known solutions


@given(st.floats(0.2, 3.0), st.floats(0.2, 3.0), st.floats(-pi, pi), st.floats(0.2, pi - 0.2))
@settings(max_examples=30)
def test_a_planar_arm_of_two_links_has_two_solutions(upper: float, lower: float, q1: float, q2: float) -> None:
    arm = lw.models.planar([upper, lower])
    point = arm.forward([q1, q2], frame="tip")[:2, 3]
    found = lw.solve_all(arm, lw.Reach("tip", position=point))
    assert (len(found), found.dimension) == (2, 0)
    q1_other = q1 + 2 * atan2(lower * sin(q2), upper + lower * cos(q2))
    assert matched(found.q, np.array([[q1, q2], [q1_other, -q2]])).all()


def test_a_stretched_arm_has_one_solution_and_one_beyond_none() -> None:
    arm = lw.models.planar([2, 1])
    assert len(lw.solve_all(arm, lw.Reach("tip", position=(3, 0)), apart=0.1)) == 1
    none = lw.solve_all(arm, lw.Reach("tip", position=(4, 0)))
    assert (len(none), none.q.shape, none.hits, none.dimension) == (0, (0, 2), (), -1)
    assert repr(none) == "<Branches of 'planar': none, proven>"
    with pytest.raises(GoalError, match="no solution"):
        none.nearest([0, 0])


def test_a_redundant_arm_gives_samples_of_a_curve() -> None:
    arm = lw.models.planar([3, 2, 1])
    found = lw.solve_all(arm, lw.Reach("tip", position=(2, 2)), most=20)
    assert found.dimension == 1
    assert len(found) == 20
    assert_allclose(arm.forward(found.q, frame="tip")[:, :2, 3], [[2, 2]] * 20, atol=1e-6)
    assert "20 samples of 2 curves" in repr(found)
    with_orientation = lw.solve_all(arm, lw.Reach("tip", orientation=arm.forward([0.3, 0.5, 0.7], frame="tip")))
    assert (len(with_orientation), with_orientation.dimension) == (2, 0)


def puma(limits: float | None = None) -> lw.Linkage:
    """Return an arm with a shoulder offset and a spherical wrist, as serial joints about z."""
    rows = [turned(0.0, *row) for row in PUMA]
    room = {} if limits is None else {"lower": -limits, "upper": limits}
    return serial([Revolute("z", **room)] * 6, [np.eye(4), *rows[:-1]], rows[-1])


def flipped(q: np.ndarray) -> np.ndarray:
    """Return poses with the wrist flipped, which have the same pose of the hand."""
    return q * [1, 1, 1, 1, -1, 1] + [0, 0, 0, pi, 0, pi]


@pytest.mark.parametrize("seed", range(6))
def test_a_puma_has_eight_solutions_in_pairs_of_wrist_flips(seed: int) -> None:
    arm, rng = puma(), np.random.default_rng(seed)
    q = rng.uniform([-pi, -1.0, -1.2, -2.0, 0.4, -2.0], [pi, 0.6, 0.6, 2.0, 1.2, 2.0])  # well within reach both ways
    goal = lw.Reach("tip", orientation=arm.forward(q, frame="tip"))
    found = lw.solve_all(arm, goal)
    assert (len(found), found.dimension) == (8, 0)
    assert matched(found.q, q[None]).all()
    assert matched(found.q, flipped(found.q)).all()
    limited = lw.solve_all(puma(2.5), goal)
    inside = (np.abs(wrapped(found.q)) <= 2.5).all(axis=1)
    assert len(limited) == inside.sum()
    assert len(lw.solve_all(puma(2.5), goal, limits="ignore")) == 8


def test_a_peer_agrees_on_the_puma() -> None:
    homogeneous = pytest.importorskip("eaik.IK_DH", reason="EAIK is not installed here")
    d, a, alpha = (np.array(column) for column in zip(*PUMA, strict=True))
    peer, arm, rng = homogeneous.DhRobot(alpha, a, d), puma(), np.random.default_rng(5)
    for q in rng.uniform(-pi, pi, (10, 6)):
        goal = arm.forward(q, frame="tip")
        theirs = np.array([x for x, rough in zip(*(lambda s: (s.Q, s.is_LS))(peer.IK(goal)), strict=True) if not rough])
        found = lw.solve_all(arm, lw.Reach("tip", orientation=goal))
        assert matched(found.q, theirs).all()
        assert matched(theirs, found.q).all()


def test_a_wrist_of_meeting_axes_has_two_solutions() -> None:
    wrist = serial([Revolute("z"), Revolute("y"), Revolute("z")], [placed()] * 3, placed())
    found = lw.solve_all(wrist, lw.Reach("tip", orientation=wrist.forward([0.3, 0.8, -1.0], frame="tip")[:3, :3]))
    assert (len(found), found.dimension) == (2, 0)
    assert matched(found.q, np.array([[0.3, 0.8, -1.0], [0.3 + pi, -0.8, -1.0 + pi]])).all()


def test_slides_do_not_wrap_and_screws_come_back_turned() -> None:
    crane = serial([Revolute("z"), Prismatic("x", -30, 30)], [placed()] * 2, placed())
    found = lw.solve_all(crane, lw.Reach("tip", position=(3 * pi, 0, 0)))
    assert sorted(np.round(found.q[:, 1], 6)) == sorted(np.round([3 * pi, -3 * pi], 6))
    nut = serial([Screw("z", -20, 20, 0.1)], [placed()], placed(None, (1, 0, 0)))
    found = lw.solve_all(nut, lw.Reach("tip", orientation=nut.forward([1.0], frame="tip")))
    assert_allclose(found.q, [[1.0]], atol=1e-6)  # another turn is another place


@pytest.mark.parametrize("axis", AXES)
def test_a_free_axis_opens_one_more_dimension(axis: str) -> None:
    arm = lw.models.ur5()
    target = arm.forward(arm.stored_pose("reach"), frame="tip")
    found = lw.solve_all(arm, lw.Reach("tip", position=target[:3, 3], orientation=target[:3, :3], free=axis), most=10)
    assert found.dimension == 1
    assert len(found) == 10


# Results


def test_the_nearest_solution_is_nearest_of_all_turns_that_limits_allow() -> None:
    arm, goals, _ = ur5_goals(20, 3)
    turns = 2 * pi * np.arange(-3, 4)
    for k, goal in enumerate(goals):
        found, pose = lw.solve_all(arm, lw.Reach("tip", orientation=goal)), arm.random_pose(k)
        nearest = found.nearest(pose)
        assert within(arm, nearest)
        assert errors(arm, "tip", nearest[None], goal[None], "pose").max() < 1e-6
        others = found.q[:, None] + turns[:, None]
        allowed = (others >= arm.lower) & (others <= arm.upper)
        away = np.where(allowed, np.abs(others - pose), np.inf).min(axis=1)
        assert np.linalg.norm(nearest - pose) == pytest.approx(np.linalg.norm(away, axis=1).min(), abs=1e-9)
        assert_allclose(found.nearest(found.q[-1]), found.q[-1], atol=1e-12)


def test_the_same_seed_finds_the_same_and_hits_add_up() -> None:
    arm, goals, _ = ur5_goals(1, 4)
    one, two = (lw.solve_all(arm, lw.Reach("tip", orientation=goals[0]), seed=3) for _ in range(2))
    assert_array_equal(one.q, two.q)
    assert one.hits == two.hits
    assert list(one.hits) == sorted(one.hits, reverse=True)
    assert sum(one.hits) <= one.starts
    few = lw.solve_all(arm, lw.Reach("tip", orientation=goals[0]), starts=3)
    assert few.starts == 3
    assert len(few) <= 3


ARM, GOAL = lw.models.planar([2, 1]), lw.Reach("tip", position=(1, 2))


@pytest.mark.parametrize(
    ("error", "goal", "options"),
    [
        (GoalError, [GOAL], {}),
        (GoalError, (1, 2), {}),
        (FrameNotFoundError, lw.Reach("nose", position=(1, 2)), {}),
        (OptionError, GOAL, {"starts": 0}),
        (OptionError, GOAL, {"starts": 1.5}),
        (OptionError, GOAL, {"starts": True}),
        (OptionError, GOAL, {"most": 0}),
        (OptionError, GOAL, {"seed": -1}),
        (OptionError, GOAL, {"seed": "one"}),
        (OptionError, GOAL, {"seed": 10**30}),
        (OptionError, GOAL, {"apart": "far"}),
        (OptionError, GOAL, {"limits": True}),
    ],
)
def test_wrong_input_is_refused(error: type[Exception], goal: object, options: dict[str, object]) -> None:
    with pytest.raises(error):
        lw.solve_all(ARM, goal, **options)


@pytest.mark.parametrize("apart", [0, 0.0, -1.0, float("nan"), float("inf")])
def test_poses_must_be_apart_by_something(apart: float) -> None:
    with pytest.raises(OptionError, match="apart"):
        lw.solve_all(ARM, GOAL, apart=apart)


@pytest.mark.parametrize("options", [{}, {"starts": 40}])
def test_joints_outside_the_chain_are_as_in_each_start(options: dict[str, int]) -> None:
    """Regression: poses from searches and curves used the first start that the linkage had ever seen."""
    b = lw.Builder("two arms")
    for side, sign in (("left", 1.0), ("right", -1.0)):
        b = b.revolute(f"{side}_1", f"{side}_upper", parent="base", at=(0, sign, 0))
        b = b.revolute(f"{side}_2", f"{side}_fore", parent=f"{side}_upper", at=(1, 0, 0))
        b = b.revolute(f"{side}_3", f"{side}_hand", parent=f"{side}_fore", at=(0.8, 0, 0))
        b = b.frame(f"{side}_tip", link=f"{side}_hand", at=(0.3, 0, 0))
    body, rng = b.build(), np.random.default_rng(4)
    for _ in range(3):
        q = body.random_pose(rng)
        target = body.forward(q, frame="left_tip")
        found = lw.solve_all(body, lw.Reach("left_tip", position=target[:3, 3]), start=q, **options)
        assert len(found) > 2
        assert_allclose(found.q[:, 3:], np.tile(q[3:], (len(found), 1)))
        if found.curves:
            assert_allclose(found.curves[0](0.4)[3:], q[3:])
        several = lw.solve_all_batch(body, "left_tip", target[None, :3, 3], orientation=False, start=q)
        assert_allclose(several.q[several.mask][:, 3:], np.tile(q[3:], (int(several.mask.sum()), 1)))
