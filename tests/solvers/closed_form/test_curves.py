"""Curves of solutions: exact at every s, without jumps, with true ends; complete, checked by brute force and laws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import OptionError
from linkwork.kernels.search_many import CLOSEST, INVALID, REACHED, UNSOLVED
from linkwork.linkage.poses import wrapped
from linkwork.solvers.chain import Chain
from linkwork.solvers.closed_form.seven import seven_of
from linkwork.transforms import transform

GOALS = 6


def arm_with_round_shoulder_and_wrist() -> lw.Linkage:
    """Return an arm like KUKA's iiwa: three axes through the shoulder, an elbow, three through the wrist."""
    b = lw.Builder("iiwa")
    heights, axes = (0.0, 0.36, 0.0, 0.42, 0.0, 0.4, 0.0), "zyzyzyz"
    limits = (170, 120, 170, 120, 170, 120, 175)
    for k, (height, axis, limit) in enumerate(zip(heights, axes, limits, strict=True), start=1):
        bound = np.radians(limit)
        b.revolute(f"j{k}", f"link{k}", axis=axis, at=(0, 0, height), limits=(-bound, bound))
    b.frame("tip", at=(0, 0, 0.126))
    return b.build()


def arm_with_offsets() -> lw.Linkage:
    """Return an arm like Kinova's Gen3: offsets at shoulder and elbow, a spherical wrist, joints without limits."""
    b = lw.Builder("gen3")
    places = ((0, 0, 0.1564), (0, 0.0054, 0.1284), (0, 0.0064, 0.2104), (0, 0.0064, 0.2104), (0, 0.0064, 0.2084))
    places = (*places, (0, 0, 0.1059), (0, 0, 0.1059))
    for k, (place, axis) in enumerate(zip(places, "zyzyzyz", strict=True), start=1):
        bound = None if axis == "z" else (-2.2, 2.2)
        b.revolute(f"j{k}", f"link{k}", axis=axis, at=place, limits=bound)
    b.frame("tip", at=(0, 0, 0.0615))
    return b.build()


ARMS = {
    "panda": (lw.models.panda, "tip"),
    "iiwa": (arm_with_round_shoulder_and_wrist, "tip"),
    "gen3": (arm_with_offsets, "tip"),
}


@pytest.mark.parametrize("name", ARMS)
def test_every_pose_that_a_search_finds_is_on_a_curve_that_is_exact(name: str) -> None:
    make, frame = ARMS[name]
    arm, rng = make(), np.random.default_rng(3)
    for _ in range(GOALS):
        q = arm.random_pose(rng)
        goal = lw.Reach(frame, pose=arm.forward(q, frame=frame))
        ways = lw.solve_all(arm, goal)
        assert ways.dimension == 1
        assert ways.complete
        poses = np.concatenate([q[None], lw.solve_all(arm, goal, starts=64).q])
        assert np.any([curve.holds(poses) for curve in ways.curves], axis=0).all()
        for curve in ways.curves:
            check_curve(arm, goal, curve)


def check_curve(arm: lw.Linkage, goal: lw.Reach, curve: lw.Curve) -> None:
    s = np.linspace(0.0, 1.0, 65)
    poses = curve(s)
    assert np.abs(goal.error(arm, poses)).max() < 1e-12
    assert (poses >= arm.lower).all()
    assert (poses <= arm.upper).all()
    step = np.linalg.norm(np.diff(poses, axis=0), axis=1) / (curve.length / 64)
    assert 0.5 < step.min() <= step.max() < 1.02  # equal lengths for equal steps of s, less cut corners: no jump
    if curve.closed:
        assert np.abs(wrapped(poses[-1] - poses[0])).max() < 1e-9
        return
    for end, pose in zip(curve.ends, poses[[0, -1]], strict=True):
        joint, _, rest = end[1:].partition("'")
        k = arm.coordinates.index(joint)
        assert pose[k] == pytest.approx((arm.lower if "lower" in rest else arm.upper)[k], abs=1e-12)


def test_folds_are_where_the_number_of_solutions_changes() -> None:
    arm, rng = lw.models.panda(), np.random.default_rng(5)
    form = seven_of(Chain(arm, "tip"))
    assert not isinstance(form, str)
    for _ in range(GOALS):
        target = arm.forward(arm.random_pose(rng), frame="tip")
        folds = form.folds(target) if len(form.folds(target)) else np.array([0.0])
        for low, high in itertools.pairwise([*folds, folds[0] + 2.0 * np.pi]):
            if high - low > 1e-6:
                angles = low + (high - low) * np.array([1e-5, 0.3, 0.5, 0.9, 1.0 - 1e-5])
                counts = {len(form.at(target, angles[k : k + 1])) for k in range(5)}
                assert len(counts) == 1, (low, high)


@pytest.mark.parametrize("name", ARMS)
def test_one_pose_of_many_goals_with_and_without_starts(name: str) -> None:
    make, frame = ARMS[name]
    arm, rng = make(), np.random.default_rng(8)
    form = seven_of(Chain(arm, frame))
    assert not isinstance(form, str)
    poses = arm.random_pose(rng, 300)
    targets = arm.forward(poses, frame=frame)
    targets[7, 0, 0] += 0.1
    values, status = form.nearest_many(targets)
    assert status[7] == INVALID
    assert (status == REACHED).sum() > 290
    assert CLOSEST not in status  # all are reachable
    reached = status == REACHED
    assert np.abs(arm.forward(values, frame=frame) - targets)[reached].max() < 1e-9
    assert ((values >= arm.lower) & (values <= arm.upper))[reached].all()
    near, status = form.nearest_many(targets, starts := np.tile(arm.neutral(), (300, 1)))
    both = reached & (status == REACHED)
    assert both.sum() > 290
    assert np.abs(arm.forward(near, frame=frame) - targets)[both].max() < 1e-9
    away = [np.linalg.norm(wrapped(found - starts), axis=1)[both].mean() for found in (near, values)]
    assert away[0] < away[1]
    _, status = form.nearest_many(targets, poses)
    assert (np.delete(status, 7) == UNSOLVED).all()  # a goal near its start is solved by a search


def test_an_answer_does_not_depend_on_the_goals_beside_it() -> None:
    arm, rng = lw.models.panda(), np.random.default_rng(9)
    form = seven_of(Chain(arm, "tip"))
    assert not isinstance(form, str)
    targets = arm.forward(arm.random_pose(rng, 400), frame="tip")
    targets[::2, :3, :3] = targets[::-2, :3, :3]  # a third of these are unreachable
    order = rng.permutation(400)
    for starts in (None, arm.random_pose(rng, 400)):
        values, status = form.nearest_many(targets, starts)
        other, same = form.nearest_many(targets[order], None if starts is None else starts[order])
        assert (status[order] == same).all()
        assert {REACHED, CLOSEST} <= set(status.tolist())
        reached = same == REACHED
        assert (values[order][reached] == other[reached]).all()


def test_a_goal_with_no_pose_is_proven_to_have_none() -> None:
    arm = lw.models.panda()
    ways = lw.solve_all(arm, lw.Reach("tip", pose=transform((1.5, 0.0, 0.3))))
    assert ways.dimension == -1
    assert ways.complete
    assert not ways.curves
    # the last two axes but one meet 88 mm beside the last axis; the arm's two bones are bent by 82.5 mm
    angle = np.linspace(0.0, 2.0 * np.pi, 721)
    wrist = np.stack([1.5 + 0.088 * np.cos(angle), 0.088 * np.sin(angle), 0.3 - 0.2104 + 0.0 * angle], axis=-1)
    away = np.linalg.norm(wrist - [0.0, 0.0, 0.333], axis=1).min() - np.hypot(0.316, 0.0825) - np.hypot(0.384, 0.0825)
    assert ways.evidence is not None
    assert ways.evidence.startswith(f"the shoulder is {1e3 * away:.3g} mm too far from where the axes of panda_joint6")
    with pytest.raises(OptionError, match="0 curves"):
        ways.curve(0)


@pytest.mark.parametrize(("name", "joint"), [("panda", "panda_joint4"), ("gen3", "j4")])
def test_limits_that_leave_no_pose_are_named(name: str, joint: str) -> None:
    make, frame = ARMS[name]
    arm = make()
    q = arm.stored_pose("ready") if name == "panda" else np.array([0.3, 0.5, 0.4, 1.2, 0.2, 0.9, 0.1])
    goal = lw.Reach(frame, pose=arm.forward(q, frame=frame))
    low = lw.solve_all(arm, goal, limits="ignore").extents(joint)[0][0]
    bound = arm.replace(joints={joint: {"lower": low - 0.4, "upper": low - 0.1}})
    ways = lw.solve_all(bound, goal)
    assert ways.complete
    assert not len(ways)
    assert ways.evidence is not None
    assert ways.evidence.startswith(f"every pose breaks a limit; the nearest has {joint} ")
    broken = float(ways.evidence.split("°")[0].rsplit(" ", 1)[1])
    assert broken >= np.degrees(0.1) - 0.01
    assert name != "panda" or broken == pytest.approx(np.degrees(0.1), abs=0.01)


def test_other_goals_that_leave_one_dimension_have_curves_too() -> None:
    arm = lw.models.ur5()
    goal = lw.Reach("tip", pose=arm.forward("reach", frame="tip"), free="x")
    ways = lw.solve_all(arm, goal)
    assert ways.dimension == 1
    assert not ways.complete
    assert len(ways.curves) >= 2
    for curve in ways.curves:
        assert np.abs(goal.error(arm, curve(np.linspace(0, 1, 33)))).max() < 1e-12


def test_a_slide_ends_curves_and_a_position_leaves_one_of_four_joints() -> None:
    b = lw.Builder("crane").revolute("a", "l1", axis="z").revolute("b", "l2", axis="z", at=(0.5, 0, 0))
    crane = b.prismatic("c", "l3", axis="x", at=(0.2, 0, 0), limits=(0, 0.6)).frame("tip", at=(0.1, 0, 0)).build()
    b = lw.Builder("arm").revolute("j1", "l1", axis="z", at=(0, 0, 0.3)).revolute("j2", "l2", axis="y", limits=(-2, 2))
    b.revolute("j3", "l3", axis="x", at=(0.3, 0, 0), limits=(-2.5, 2.5))
    arm = b.revolute("j4", "l4", axis="y", at=(0.25, 0, 0), limits=(-2.5, 2.5)).frame("tip", at=(0.2, 0, 0)).build()
    rng = np.random.default_rng(2)
    for linkage, axes in ((crane, 2), (arm, 3)):
        for q in linkage.random_pose(rng, 4):
            goal = lw.Reach("tip", position=linkage.forward(q, frame="tip")[:axes, 3])
            ways = lw.solve_all(linkage, goal)
            assert [bool(curve.holds(q[None])[0]) for curve in ways.curves].count(True) == 1
            for curve in ways.curves:
                poses = curve(np.linspace(0.0, 1.0, 33))
                assert np.abs(goal.error(linkage, poses)).max() < 1e-12
                assert ((poses >= linkage.lower) & (poses <= linkage.upper)).all()


def test_a_planar_arm_of_three_links_turns_round_its_goal() -> None:
    arm = lw.models.planar([1.0, 1.0, 1.0])
    far = lw.solve_all(arm, lw.Reach("tip", position=(2.0, 0.5)))
    assert [curve.closed for curve in far.curves] == [True]
    near = lw.solve_all(arm, lw.Reach("tip", position=(0.5, 0.1)))  # the elbow cannot flip
    assert [curve.closed for curve in near.curves] == [True, True]
    (low, high), *rest = far.extents("j1")
    assert not rest
    # the first link points at most so far off the goal that the other two are stretched
    away = np.arccos((1.0 + 4.25 - 4.0) / (2.0 * np.sqrt(4.25)))
    assert high - low == pytest.approx(2.0 * away, abs=1e-9)


def test_an_arm_inside_a_body_has_curves_too_and_leaves_the_rest_as_it_is() -> None:
    body, arm = lw.models.human(), ["left_shoulder", "left_elbow", "left_forearm_roll", "left_wrist"]
    start = body.neutral()
    start[: body.coordinates.index("neck.rx")] = 0.1
    start[body.coordinates.index("left_elbow")] = 0.7
    goal = lw.Reach("left_hand", pose=body.forward(start, frame="left_hand"))
    ways = lw.solve_all(body, goal, joints=arm, start=start)
    assert ways.complete
    assert (ways.q[:, :9] == start[:9]).all()
    assert np.abs(goal.error(body, ways.q)).max() < 1e-12
    searched = lw.solve_all(body, goal, joints=arm, start=start, starts=64)
    assert np.abs(goal.error(body, searched.q)).max() < 1e-8
    assert len(searched) > 5
