"""Many problems of one body from arrays: the results of single calls, and a status for every goal."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linkwork as lw
from goal_variants import LINKAGES, heavy, make, variant_of
from linkwork.errors import FrameNotFoundError, GoalError, OptionError
from linkwork.goals import Goal
from linkwork.solvers import Problem
from linkwork.solvers.body_batch import ArrayProblems
from linkwork.solvers.goal_arrays import goal_records
from peers import peer_model, peer_of
from sixty_robots import installed

HUMAN = lw.models.human(root="floating")
STAND = HUMAN.stored_pose("stand")
HANDS = ("left_hand", "right_hand")


def frames_of(count: int, seed: int = 0, share: float = 0.5) -> dict[str, np.ndarray]:
    """Return transforms of frames at random poses, interpolated from the standing pose; the pelvis stays."""
    poses = HUMAN.random_pose(seed, count)
    poses[:, :7] = STAND[:7]
    poses = lw.linkage.poses.start_pose(HUMAN, STAND + share * (poses - STAND))
    return HUMAN.forward(poses)


# Packing


CASES = ["Reach", "Hold", "LookAt", "Align", "Bend", "Rest", "Relate", "OnPlane", "OnLine"]
FORMS = ["reach-xz", "reach-y-free", "reach-ranges", "reach-ranges-place", "relate-position", "distance-point"]


def target_of(goal: Goal) -> np.ndarray:
    """Return the entry of an array for a goal."""
    if isinstance(goal, lw.Reach | lw.Relate):
        return goal.target
    if isinstance(goal, lw.Hold):
        return goal.pose
    names = {"LookAt": "at", "Align": "direction", "Bend": "towards", "Distance": "to", "Rest": "pose"}
    return getattr(goal, names.get(type(goal).__name__, "point"))


@pytest.mark.parametrize("name", ["floating", "panda"])
@pytest.mark.parametrize("kind", CASES + FORMS)
def test_arrays_are_packed_as_goals_are(kind: str, name: str) -> None:
    builder, frames = LINKAGES[name]
    linkage = heavy(builder())

    def goal(seed: int) -> Goal:
        q = linkage.random_pose(seed)
        if kind in FORMS:
            return variant_of(kind, linkage, frames, q)
        return make(kind, linkage, frames, q)

    wish = lw.Rest(priority=2)  # for a second set of parameters
    goals = [goal(0), wish]
    ik = lw.prepare(linkage, goals)
    values = np.array([target_of(goal(seed)) for seed in range(1, 4)])
    problems = ArrayProblems(ik, goals, {goals[0]: values}, linkage.neutral())
    starts = np.tile(linkage.neutral(), (3, 1))
    numbers = problems.numbers(slice(0, 3), starts)
    assert problems.valid(slice(0, 3)).all()
    for k in range(3):
        one = [goal(k + 1), wish]
        for goals_of_row in (one, problems.goals(k, linkage.neutral())):
            known = [each.resolve(linkage, linkage.neutral()) for each in goals_of_row]
            expected = ik.goal_numbers(known).reshape(2, -1)
            ours = goal_records(ik.program.goals, numbers[k].reshape(2, -1))
            for (record, items), (other, others), packed in zip(
                ours, goal_records(ik.program.goals, expected), ik.program.goals, strict=True
            ):
                for field in ("metres", "radians", *packed.values):
                    assert_allclose(getattr(record, field), getattr(other, field), atol=1e-15)
                assert_allclose(items, others, atol=1e-15)


# Solutions


def test_rows_are_answered_as_single_calls_are() -> None:
    frames = frames_of(10)
    gaze, points = lw.LookAt("eyes", at=(1, 0, 0)), np.random.default_rng(0).uniform(1, 3, (10, 3))
    frames["right_hand"][::4, :3, 3] += (0.0, 0.0, 2.0)  # out of reach
    targets = {"left_hand": frames["left_hand"], "right_hand": frames["right_hand"][:, :3, 3], gaze: points}
    also = [lw.Hold("left_foot"), lw.Balance(over=["left_heel", "left_ball", "left_toe"]), lw.Rest("stand")]
    batch = lw.solve_batch(HUMAN, targets, also=also, start=STAND, restarts=5)
    assert batch.names == ("left_hand", "right_hand", "eyes", "left_foot", "balance", "rest")
    assert 5 <= batch.success.sum() <= 7
    for k in range(10):
        goals = [
            lw.Reach("left_hand", pose=targets["left_hand"][k]),
            lw.Reach("right_hand", position=targets["right_hand"][k]),
            lw.LookAt("eyes", at=points[k]),
            *also,
        ]
        alone = lw.solve(HUMAN, goals, start=STAND, restarts=5)
        assert batch.status[k] == alone.status
        assert batch.success[k] == alone.success
        problem = Problem(HUMAN, goals, STAND)
        assert_allclose(batch.residuals[k], problem.residuals(problem.error(batch.q[k])), atol=1e-12)
        if batch.restarts[k] == 1:  # no further start, which would depend on the problem's number
            assert_allclose(batch.q[k], alone.q, atol=1e-9)
    words = batch.goal_status
    assert set(words[:, 5]) == {"wish"}
    assert_array_equal((words[:, :5] == "reached").all(axis=1), batch.success)
    assert set(words[::4, 1]) == {"missed"}
    assert_array_equal(np.isnan(batch.errors[0]), [[0, 0], [0, 1], [1, 0], [0, 0], [0, 1], [0, 0]])
    missed = int(np.flatnonzero(~batch.success)[0])
    assert "right_hand: position error" in batch.reason(missed)
    assert batch.reason(int(np.flatnonzero(batch.success)[0])).startswith("reached: left_hand: position error")


def test_pinocchio_finds_the_hands_of_talos_where_they_were_asked_for() -> None:
    pytest.importorskip("pinocchio")
    path = installed("talos_full_v2")
    body = lw.load(path)
    frames = body.forward(body.random_pose(3, 60))
    left, right, head = "gripper_left_base_link", "gripper_right_base_link", "head_2_link"
    targets = {left: frames[left], right: frames[right], head: frames[head][:, :3, :3]}
    batch = lw.solve_batch(body, targets)
    assert batch.success.all()
    peer = peer_of(peer_model(path), body)
    for k, q in enumerate(batch.q):
        assert peer.keeps_limits(q)
        for name in (left, right):
            assert np.linalg.norm(peer.place(q, name)[:3, 3] - targets[name][k, :3, 3]) <= 1e-4 + 1e-9
        for name in (left, right, head):
            turn = peer.place(q, name)[:3, :3].T @ targets[name][k][:3, :3]
            assert np.arccos(np.clip((np.trace(turn) - 1.0) / 2.0, -1.0, 1.0)) <= 1e-3 + 1e-7


def test_answers_depend_neither_on_threads_nor_on_blocks() -> None:
    frames = frames_of(90, seed=4, share=1.0)
    targets = {name: frames[name] for name in (*HANDS, "left_foot", "right_foot", "head")}
    targets["head"][::9, :3, 3] += 1.0
    one = lw.solve_batch(HUMAN, targets, start=STAND, threads=1, restarts=6)
    assert one.restarts.max() > 1
    three = lw.solve_batch(HUMAN, targets, start=STAND, threads=3, restarts=6)
    parts = [
        lw.solve_batch(HUMAN, {n: t[rows] for n, t in targets.items()}, start=STAND, restarts=6, first=rows.start)
        for rows in (slice(0, 31), slice(31, 90))
    ]
    for name in ("q", "residuals", "restarts", "codes"):
        assert_array_equal(getattr(one, name), getattr(three, name))
        assert_array_equal(getattr(one, name), np.concatenate([getattr(part, name) for part in parts]))


def test_what_is_held_stays_where_the_start_of_its_row_has_it() -> None:
    poses = lw.linkage.poses.start_pose(HUMAN, STAND + 0.2 * (HUMAN.random_pose(1, 12) - STAND))
    feet = HUMAN.forward(poses, frame="left_foot")
    grip = lw.Relate("left_hand", "right_hand")
    targets = {"head": HUMAN.forward(poses, frame="head")[:, :3, 3] - (0.0, 0.0, 0.05)}
    batch = lw.solve_batch(HUMAN, targets, also=[lw.Hold("left_foot"), grip, lw.Balance()], start=poses)
    assert batch.success.all()
    assert_allclose(HUMAN.forward(batch.q, frame="left_foot"), feet, atol=1e-3)
    for k in (0, 7):
        goals = [lw.Reach("head", position=targets["head"][k]), lw.Hold("left_foot"), grip, lw.Balance()]
        assert_allclose(batch.q[k], lw.solve(HUMAN, goals, start=poses[k]).q, atol=1e-9)


def test_a_base_that_travels_is_taken_to_goals_far_away() -> None:
    frames = frames_of(20, seed=6)
    targets = {name: frames[name] + np.array([[0, 0, 0, 50.0], [0, 0, 0, -9.0], [0] * 4, [0] * 4]) for name in HANDS}
    batch = lw.solve_batch(HUMAN, targets, start=STAND)
    assert batch.success.all()
    assert (batch.restarts == 1).all()
    parts = [
        lw.solve_batch(HUMAN, {n: t[k : k + 7] for n, t in targets.items()}, start=STAND, first=k).q for k in (0, 7)
    ]
    assert_array_equal(np.concatenate(parts), batch.q[:14])
    for k in (0, 13):
        alone = lw.solve(HUMAN, [lw.Reach(name, pose=targets[name][k]) for name in HANDS], start=STAND)
        assert alone.success
        assert_allclose(alone.q, batch.q[k], atol=1e-6)


def test_bodies_keep_clear_of_what_is_in_the_way() -> None:
    arm = lw.models.panda()
    wall = lw.World([lw.Obstacle(lw.Box((0.1, 2.0, 0.4)), (0.45, 0.0, 0.2), name="wall")])
    poses = arm.random_pose(1, 100)
    places = arm.forward(poses[lw.Avoid(wall).clearance(arm, poses) > 0.02][:20], frame="tip")
    batch = lw.solve_batch(arm, {"tip": places, lw.Rest(priority=1): np.tile(arm.neutral(), (len(places), 1))},
                           avoid=lw.Avoid(wall, margin=0.01))  # fmt: skip
    assert batch.names == ("tip", "rest", "avoid")
    assert batch.success.mean() > 0.8
    assert lw.Avoid(wall).clearance(arm, batch.q[batch.success]).min() >= 0.01


def test_linkages_with_loops_are_closed_in_every_row() -> None:
    bars = lw.models.four_bar()
    start = bars.stored_pose("start")
    frame = bars.loops[0].first
    places = bars.forward(np.tile(start, (5, 1)), frame=frame)[:, :3, 3]
    batch = lw.solve_batch(bars, {frame: places}, start=start)
    assert batch.success.all()
    assert len(batch.names) == 1 + len(bars.loops)


# Invalid rows


def test_a_target_that_is_none_fails_alone() -> None:
    frames = frames_of(30, seed=2)
    gaze = lw.LookAt("eyes", at=(1, 0, 0))
    targets = {"left_hand": frames["left_hand"], "right_hand": frames["right_hand"][:, :3, 3], gaze: np.ones((30, 3))}
    clean = lw.solve_batch(HUMAN, targets, start=STAND, threads=1)
    spoilt = {name: values.copy() for name, values in targets.items()}
    spoilt["left_hand"][3, 0, 0] = np.nan
    spoilt["left_hand"][4, :3, :3] *= 1.01
    spoilt["left_hand"][5, :3, :3] = np.diag([1.0, 1.0, -1.0])
    spoilt["right_hand"][6] = 1e150
    spoilt[gaze][7, 2] = np.inf
    spoilt["right_hand"][29] = np.nan
    batch = lw.solve_batch(HUMAN, spoilt, start=STAND, threads=2)
    wrong = [3, 4, 5, 6, 7, 29]
    assert np.flatnonzero(batch.status == "invalid").tolist() == wrong
    assert_array_equal(batch.q[wrong], np.tile(STAND, (6, 1)))
    assert np.isnan(batch.residuals[wrong]).all()
    left = np.delete(np.arange(30), wrong)
    assert_array_equal(batch.q[left], clean.q[left])
    assert batch.goal_status[[3, 6, 7]].tolist() == [
        ["invalid", "unsolved", "unsolved"],
        ["unsolved", "invalid", "unsolved"],
        ["unsolved", "unsolved", "invalid"],
    ]
    assert batch.reason(6) == "not reached: the target of right_hand is not a finite rigid transform."
    assert len(lw.solve_batch(HUMAN, {"left_hand": np.zeros((0, 3))})) == 0


def test_time_is_kept_and_progress_told() -> None:
    targets = {"left_hand": frames_of(40)["left_hand"]}
    told: list[tuple[int, int]] = []
    batch = lw.solve_batch(HUMAN, targets, time_budget=1e-9, progress=lambda *done: told.append(done), threads=1)
    assert set(batch.status) == {"time"}
    assert set(batch.goal_status[:, 0]) == {"unsolved"}
    assert told[-1] == (40, 40)


def test_errors_say_what_is_wrong_with_targets() -> None:
    places = np.zeros((4, 3))
    with pytest.raises(FrameNotFoundError):
        lw.solve_batch(HUMAN, {"left_hnd": places})
    for targets, options, error, words in (
        ({}, {}, GoalError, "there are no targets"),
        ({"head": np.zeros((4, 5))}, {}, GoalError, r"poses \(n, 4, 4\), rotations"),
        ({"head": "up"}, {}, GoalError, "targets of 'head' are"),
        ({"head": places, "left_hand": places[:3]}, {}, GoalError, "arrays of targets must be of one length"),
        ({1: places}, {}, GoalError, "by frame, or by goal"),
        ({lw.Balance(): places}, {}, GoalError, "Balance takes no array of targets"),
        ({lw.LookAt("eyes", at="head"): places}, {}, GoalError, "has the frame 'head' as target"),
        ({lw.Align("head", axis="x", direction="y"): np.zeros((4, 2))}, {}, GoalError, "directions"),
        ({lw.Rest(): places}, {}, GoalError, r"poses \(n, "),
        ({"head": places}, {"also": lw.Balance()}, GoalError, "also is a list"),
        ({"head": places}, {"device": "cuda"}, OptionError, "on the CPU in float64, has no option 'device'"),
        ({"head": places}, {"position": False}, OptionError, "no option 'position'"),
        ({"head": places}, {"start": np.tile(STAND, (3, 1))}, OptionError, "one pose or 4"),
    ):
        with pytest.raises(error, match=words):
            lw.solve_batch(HUMAN, targets, **options)
    with pytest.raises(OptionError, match="given in the mapping"):
        lw.solve_batch(HUMAN, {"head": places}, places)
    with pytest.raises(OptionError, match="no option 'also'"):
        lw.solve_batch(HUMAN, "head", places, also=[lw.Balance()])
    goals = [lw.Reach("head", position=(0, 0, 1)), lw.LookAt("head", at=(1, 0, 1))]
    with pytest.raises(GoalError, match="2 goals are for frame 'head'"):
        lw.prepare(HUMAN, goals).batch(goals, targets={"head": places})
    with pytest.raises(GoalError, match="none of the goals is 'tail'"):
        lw.prepare(HUMAN, goals).batch(goals, targets={"tail": places})
