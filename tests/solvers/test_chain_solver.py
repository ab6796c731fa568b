"""Single goals with `prepare`, and with `solve`, which uses it: results, starts, refused input."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linkwork as lw
from chains import KINDS, errors, placed, serial, within
from linkwork.errors import FrameNotFoundError, GoalError, LinkworkError, OptionError, PoseShapeError, PoseValueError
from linkwork.linkage.joints import Ball, Continuous, Mimic, Revolute
from linkwork.solvers.chain_solver import Found

PANDA, UR5 = lw.models.panda(), lw.models.ur5()
TARGETS = PANDA.forward(PANDA.random_pose(5, 60), frame="tip")
FAR = placed(TARGETS[0, :3, :3], (3.0, 0.5, 0.4))
BEHIND = placed(np.diag([1.0, -1.0, -1.0]), (0.0, 0.0, 0.25))  # inside the pedestal: near, but no pose has it
AHEAD = placed(None, (0.3, 0.1, 0.2))


def reach(target: np.ndarray) -> lw.Reach:
    return lw.Reach("tip", orientation=target)


# Results


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_says_of_itself_what_is_true(kind: str) -> None:
    ik = lw.prepare(PANDA, "tip", **KINDS[kind])
    for target in (*TARGETS[:20], FAR, BEHIND):
        solution = ik(target)
        found = errors(PANDA, "tip", solution.q[None], target[None], kind)[0]
        asked = [k for k, part in enumerate(("position", "orientation")) if KINDS[kind].get(part, True)]
        assert_allclose(solution.residuals, found[asked], rtol=1e-6, atol=1e-8)
        assert solution.success == bool((found <= (1e-4, 1e-3)).all())
        assert within(PANDA, solution.q)
        assert solution.residual == solution.residuals.max()
        assert solution.method == "robust"
        assert solution.linkage is PANDA
        assert_array_equal(solution.goals[0].target, target)
        assert solution.iterations >= 0  # zero for closed forms


def test_the_default_method_is_the_compiled_search() -> None:
    for target in TARGETS[:20]:
        solution = lw.solve(PANDA, reach(target))
        assert isinstance(solution, Found)
        assert solution.success
        assert_array_equal(solution.q, lw.solve(PANDA, reach(target), method="robust").q)
        assert_array_equal(solution.q, lw.prepare(PANDA, "tip")(target).q)


def test_reasons_are_sentences_with_numbers() -> None:
    good, far = lw.solve(PANDA, reach(TARGETS[0])), lw.solve(PANDA, reach(FAR))
    assert good.reason.startswith("reached: position error ")
    assert f"after {good.iterations} iterations." in good.reason
    assert not far.success
    assert "out of reach" in far.reason
    assert " m" in far.reason
    near = lw.solve(PANDA, reach(BEHIND))
    assert near.status == "closest"
    assert len(near.reason) > 20
    assert near.reason != far.reason
    for solution in (good, far, near):
        assert solution.explain().startswith(solution.reason)
        assert solution.explain() != solution.reason  # longer: free motions, or advice
        assert solution.reason.endswith(".")


@pytest.mark.parametrize("target", [TARGETS[0], FAR], ids=["reached", "beyond"])
@pytest.mark.parametrize(
    "same",
    [
        copy.copy,
        copy.deepcopy,
        lambda solution: pickle.loads(pickle.dumps(solution)),
        lambda solution: dataclasses.replace(solution, start=solution.start),
    ],
    ids=["copy", "deepcopy", "pickle", "replace"],
)
def test_a_solution_can_be_copied_kept_and_changed(target: np.ndarray, same: object) -> None:
    solution = lw.solve(PANDA, reach(target))
    other = same(solution)
    for name in ("q", "residuals", "start"):
        assert_array_equal(getattr(other, name), getattr(solution, name))
    assert (other.success, other.iterations, other.status) == (solution.success, solution.iterations, solution.status)
    assert (other.reason, repr(other), other.explain()) == (solution.reason, repr(solution), solution.explain())
    assert other.freedom == solution.freedom
    assert other.settings == solution.settings


def test_a_solution_has_every_field_of_its_class() -> None:
    solution = lw.solve(PANDA, reach(TARGETS[0]))
    for field in dataclasses.fields(lw.Solution):
        assert getattr(solution, field.name) is not None or field.name == "group"
    assert solution.trace == ()
    assert solution.freedom == 1
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
        solution.success = False


def test_answers_of_one_call_are_not_touched_by_the_next() -> None:
    ik = lw.prepare(PANDA, "tip")
    first = ik(TARGETS[0])
    kept = first.q.copy()
    for target in TARGETS[1:]:
        ik(target)
    assert_array_equal(first.q, kept)
    first.q[:] = 0.0
    assert_array_equal(ik(TARGETS[0]).q, kept)


def test_a_solution_keeps_its_question_when_the_buffers_are_used_again() -> None:
    ik, target, start = lw.prepare(PANDA, "tip"), FAR.copy(), PANDA.stored_pose("ready").copy()
    solution, begun = ik(target, start=start), start.copy()
    target[:], start[:] = TARGETS[0], 0.0
    assert_array_equal(solution.goals[0].target, FAR)
    assert_array_equal(solution.start, begun)
    assert "out of reach" in solution.reason


# Repeated calls


def test_the_same_question_has_the_same_answer_whatever_was_asked_before() -> None:
    fresh = [lw.models.panda() for _ in range(2)]
    questions = [*TARGETS[:5], FAR, BEHIND, FAR]
    forward = [lw.prepare(fresh[0], "tip")(target) for target in questions]
    backward = [lw.prepare(fresh[1], "tip")(target) for target in questions[::-1]][::-1]
    for one, two in zip(forward, backward, strict=True):
        assert one.status == two.status
        assert_array_equal(one.q, two.q)
        assert_array_equal(one.residuals, two.residuals)
        assert one.iterations == two.iterations


def test_a_seed_repeats_and_another_may_not() -> None:
    def answers(seed: int) -> np.ndarray:
        ik = lw.prepare(lw.models.ur5(), "tip", seed=seed, free="z")  # for poses there is a closed form
        hard = UR5.forward(UR5.random_pose(1, 200), frame="tip")
        return np.array([ik(target, start=np.zeros(6)).q for target in hard])

    assert_array_equal(answers(1), answers(1))
    assert (answers(1) != answers(2)).any()


def test_threads_may_share_a_prepared_solver() -> None:
    """Each call has its own memory, so nothing depends on the GIL."""
    ik, goals, together = lw.prepare(PANDA, "tip"), list(TARGETS), Barrier(8, timeout=60)
    starts = PANDA.random_pose(5, len(goals))

    def answers() -> list[np.ndarray]:
        found = [ik(target) for target in goals] + [ik(t, start=q) for t, q in zip(goals, starts, strict=True)]
        return [np.concatenate([solution.q, solution.residuals, [solution.iterations]]) for solution in found]

    def work(_: int) -> list[np.ndarray]:
        together.wait()
        return answers()

    alone = answers()
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(work, range(8)):
            assert_array_equal(found, alone)


def test_a_prepared_solver_keeps_no_memory_to_work_in() -> None:
    ik = lw.prepare(PANDA, "tip")
    before = [array.copy() for array in vars(ik).values() if isinstance(array, np.ndarray)]
    ik(TARGETS[0])
    after = [array for array in vars(ik).values() if isinstance(array, np.ndarray)]
    for one, other in zip(before, after, strict=True):
        assert_array_equal(one, other)


def test_preparing_is_done_once_for_a_kind_of_goal() -> None:
    arm = lw.models.planar([2, 1])
    one = lw.prepare(arm, "tip", orientation=False)
    assert lw.prepare(arm, "tip", orientation=False) is one
    assert lw.prepare(arm, "tip", orientation=False, seed=1) is not one
    assert lw.prepare(arm, "tip", orientation=False, tolerance=1e-3) is not one
    kept = [weakref.ref(lw.prepare(arm, "tip", orientation=False, tolerance=1e-3 + 1e-6 * k)) for k in range(200)]
    gc.collect()
    assert sum(prepared() is not None for prepared in kept) < 100


# Starts


def test_an_answer_from_a_start_is_near_it() -> None:
    rng = np.random.default_rng(0)
    ik = lw.prepare(UR5, "tip")
    for start in UR5.random_pose(rng, 100) * 0.4:
        there = start + rng.uniform(-0.03, 0.03, 6)
        if np.linalg.svd(UR5.jacobian(start, "tip"), compute_uv=False)[-1] < 0.05:
            continue  # near a singular pose, another branch may be as close
        solution = ik(UR5.forward(there, frame="tip"), start=start)
        assert solution.success
        assert np.abs(solution.q - start).max() < 0.2
        assert_array_equal(solution.start, start)


def test_a_path_is_followed_without_flips() -> None:
    ik = lw.prepare(PANDA, "tip")
    q = PANDA.stored_pose("ready")
    centre = PANDA.forward(q, frame="tip")
    steps = []
    for angle in np.linspace(0.0, 2.0 * np.pi, 400):
        target = centre.copy()
        target[:3, 3] += 0.1 * np.array([0.0, np.cos(angle) - 1.0, np.sin(angle)])
        solution = ik(target, start=q)
        assert solution.success
        steps.append(np.abs(solution.q - q).max())
        q = solution.q
    assert max(steps) < 0.03


def test_a_start_that_is_there_already_is_the_answer() -> None:
    ik = lw.prepare(PANDA, "tip")
    for q in PANDA.random_pose(3, 20):
        assert_array_equal(ik(PANDA.forward(q, frame="tip"), start=q).q, q)


def test_a_start_beyond_limits_is_brought_within() -> None:
    start = PANDA.upper + 1.0
    for target in TARGETS[:10]:
        solution = lw.solve(PANDA, reach(target), start=start)
        assert solution.success
        assert within(PANDA, solution.q)
    there = PANDA.stored_pose("ready").copy()
    there[1] = PANDA.upper[1] + 0.3
    solution = lw.solve(PANDA, reach(PANDA.forward(there, frame="tip")), start=there)
    assert within(PANDA, solution.q)
    many = lw.solve(PANDA, reach(PANDA.forward(there, frame="tip")), start=np.tile(there, (3, 1)))
    assert within(PANDA, many.q).all()


def test_joints_that_do_not_move_the_frame_keep_their_values() -> None:
    figure = lw.models.human()
    rng = np.random.default_rng(0)
    start = figure.interpolate(figure.neutral(), figure.random_pose(rng), 0.3)
    hand = figure.forward(figure.clamp(figure.neutral() + 0.1), frame="left_hand")[:3, 3]
    ik = lw.prepare(figure, "left_hand", orientation=False)
    solution = ik(hand, start=start)
    assert solution.success
    apart = np.setdiff1d(np.arange(figure.nq), ik.chain.plain[1])
    assert len(apart) > 5
    assert_array_equal(solution.q[apart], start[apart])
    assert_array_equal(ik(hand).q[apart], figure.neutral()[apart])


def test_success_means_that_all_limits_hold_also_those_of_other_joints() -> None:
    figure = lw.models.human()
    start = figure.neutral()
    k = next(k for k, name in enumerate(figure.coordinates) if "right" in name and np.isfinite(figure.upper[k]))
    start[k] = figure.upper[k] + 1.0
    hand = figure.forward(figure.neutral(), frame="left_hand")[:3, 3]
    solution = lw.solve(figure, lw.Reach("left_hand", position=hand), start=start)
    assert solution.success == within(figure, solution.q)


@pytest.mark.parametrize("turns", [-3, -1, 0, 2, 7])
def test_unlimited_angles_come_back_within_half_a_turn_of_the_start(turns: int) -> None:
    arm = serial([Continuous("z"), Revolute("y"), Revolute("y", -2, 2), Continuous("x")], [AHEAD] * 4, AHEAD)
    rng = np.random.default_rng(turns + 10)
    ik = lw.prepare(arm, "tip", orientation=False)
    for there in arm.random_pose(rng, 20):
        start = arm.random_pose(rng) + 2 * np.pi * turns * np.array([1, 1, 0, 1])
        solution = ik(arm.forward(there, frame="tip")[:3, 3], start=start)
        assert solution.success
        assert (np.abs(solution.q - start)[[0, 1, 3]] <= np.pi + 1e-12).all()


def test_a_ball_joint_stays_a_unit_quaternion() -> None:
    arm = serial([Ball(), Revolute("y", -2, 2), Ball()], [AHEAD] * 3, AHEAD)
    ik, rng = lw.prepare(arm, "tip"), np.random.default_rng(0)
    for there, start in zip(arm.random_pose(rng, 30), arm.random_pose(rng, 30), strict=True):
        solution = ik(arm.forward(there, frame="tip"), start=start)
        assert solution.success
        for k, _ in arm.table.quaternions:
            assert np.linalg.norm(solution.q[k : k + 4]) == pytest.approx(1.0, abs=1e-14)


def test_a_follower_holds_its_leader_within_what_both_allow() -> None:
    arm = serial(
        [Revolute("z", -3, 3), Revolute("y", -2, 2), Revolute("y", -0.5, 0.5)],
        [AHEAD] * 3,
        AHEAD,
        {2: Mimic("j1", 0.5)},
    )
    for target in arm.forward(arm.random_pose(0, 40), frame="tip"):
        solution = lw.prepare(arm, "tip")(target)
        assert solution.success
        assert within(arm, solution.q)


def test_the_nearest_of_many_is_no_further_than_the_first() -> None:
    ik = lw.prepare(UR5, "tip")
    rng = np.random.default_rng(2)
    for target, start in zip(UR5.forward(UR5.random_pose(rng, 8), frame="tip"), UR5.random_pose(rng, 8), strict=True):
        plain, best = ik(target, start=start), ik.nearest(target, start)
        away = [np.linalg.norm(UR5.difference(start, s.q)) for s in (plain, best)]
        assert away[1] <= away[0] + 1e-12
        assert best.success
        assert (errors(UR5, "tip", best.q[None], target[None], "pose") <= (1e-4, 1e-3)).all()
        assert within(UR5, best.q)


def test_limits_can_be_left_out() -> None:
    arm = lw.models.planar([2, 1]).replace(joints={"j1": {"lower": -0.1, "upper": 0.1}})
    goal = lw.Reach("tip", position=(-2, 1))
    assert not lw.solve(arm, goal).success
    assert lw.prepare(arm, "tip", position="xy", orientation=False, limits="ignore")((-2, 1)).success
    assert lw.solve(arm, goal, limits="ignore").success


# Goals that cannot be reached


def closest_by_descent(arm: lw.Linkage, goal: lw.Reach, q: np.ndarray) -> float:
    """Return the final distance from a goal of an independent descent from a pose [m]."""
    return float(lw.solve(arm, goal, start=q, method="damped", limits="project", max_iterations=300).residual)


def test_beyond_reach_the_closest_pose_is_at_the_edge() -> None:
    arm = lw.models.planar([3, 2, 1])
    rng = np.random.default_rng(0)
    for angle, away in zip(rng.uniform(-np.pi, np.pi, 30), rng.uniform(6.05, 20, 30), strict=True):
        point = away * np.array([np.cos(angle), np.sin(angle)])
        solution = lw.solve(arm, lw.Reach("tip", position=point))
        assert not solution.success
        assert solution.residual == pytest.approx(away - 6.0, rel=1e-3)
        assert "out of reach" in solution.reason


def test_the_closest_pose_cannot_be_improved_by_descending_further() -> None:
    rng = np.random.default_rng(4)
    ik = lw.prepare(PANDA, "tip", orientation=False)
    for point in rng.normal(size=(25, 3)) * (1.5, 1.5, 1.0):
        solution = ik(point)
        if not solution.success:
            goal = lw.Reach("tip", position=point)
            assert solution.residual <= closest_by_descent(PANDA, goal, solution.q) * 1.02 + 1e-3
            assert solution.status in ("closest", "beyond")


@pytest.mark.parametrize("restarts", [1, 8, 40, 2000])
def test_hopeless_goals_are_given_up_soon(restarts: int) -> None:
    ik = lw.prepare(PANDA, "tip", restarts=restarts)
    for _ in range(2):
        for target in (FAR, placed(FAR[:3, :3], (0.0, -5.0, 0.0)), placed(FAR[:3, :3], (100.0, 0.0, 0.0))):
            solution = ik(target)
            assert not solution.success
            assert solution.report[2] <= 40  # starts


# Wrong input


@pytest.mark.parametrize(
    "target",
    [
        np.full((4, 4), np.nan), np.eye(3), np.zeros(3), np.zeros((2, 4, 4)), "home", None, {}, len, [1, 2],
        [[1], [2, 3]],
        np.eye(4) + 1j, np.diag([1.0, 1.0, -1.0, 1.0]), 2.0 * np.eye(4), np.zeros((4, 4)),
        np.where(np.eye(4, k=3) > 0, np.inf, np.eye(4)), np.eye(4) + np.eye(4, k=1) * 1e-3, np.ones((4, 4)),
        np.array([[1.0, 0, 0, 0.3], [0, 1, 0, 0], [0, 0, 1, 0.5], [0, 0, 0, 0]]),
        np.array([[1.0, 0, 0, 0.3], [0, 1, 0, 0], [0, 0, 1, 0.5], [1, 2, 3, 1]]),
    ],
    ids=lambda target: str(target).replace("\n", "")[:40],
)  # fmt: skip
def test_a_target_that_is_none_is_refused(target: object) -> None:
    with pytest.raises(LinkworkError):
        lw.prepare(PANDA, "tip")(target)


@pytest.mark.parametrize(
    ("error", "start"),
    [
        (LinkworkError, "nowhere"), (PoseShapeError, np.zeros(6)), (PoseShapeError, 0.0),
        (PoseValueError, np.full(7, np.nan)),
        (PoseValueError, [np.inf] * 7), (OptionError, np.zeros((2, 7))), (PoseValueError, len),
        (PoseValueError, np.zeros(7) + 1j), (PoseValueError, ["a"] * 7),
    ],
    ids=str,
)  # fmt: skip
def test_a_start_that_is_none_is_refused(error: type[Exception], start: object) -> None:
    ik = lw.prepare(PANDA, "tip")
    with pytest.raises(error):
        ik(TARGETS[0], start=start)
    with pytest.raises(error):
        ik.nearest(TARGETS[0], start)


@pytest.mark.parametrize(
    ("error", "frame", "options"),
    [
        (FrameNotFoundError, "nose", {}),
        (GoalError, 3, {}),
        (GoalError, None, {}),
        (GoalError, PANDA.frames[0], {}),  # nothing moves it
        (GoalError, "tip", {"position": False, "orientation": False}),
        (GoalError, "tip", {"free": "w"}),
        (GoalError, "tip", {"free": (0, 0, 0)}),
        (GoalError, "tip", {"free": "z", "orientation": False}),
        (OptionError, "tip", {"position": "yz"}),
        (OptionError, "tip", {"position": 3}),
        (OptionError, "tip", {"orientation": "x"}),
        (OptionError, "tip", {"limits": False}),
        *((OptionError, "tip", {name: value}) for name in ("restarts", "seed")
          for value in (-1, 1.5, "many", None, True, [1], 10**30)),
        *((OptionError, "tip", {name: value}) for name in ("tolerance", "rotation_tolerance")
          for value in (0, -1.0, np.nan, "small", True, [1])),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_options_are_refused(error: type[Exception], frame: object, options: dict[str, object]) -> None:
    lw.prepare(PANDA, "tip", restarts=1, seed=1)  # True == 1 would hit the cached solver
    with pytest.raises(error):
        lw.prepare(PANDA, frame, **options)


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    assert lw.prepare(PANDA, "tip", seed=np.int64(3), restarts=np.int32(20))(TARGETS[0]).success


@pytest.mark.parametrize("kind", ["list", "float32", "fortran", "view", "read-only", "int"])
def test_targets_come_in_any_form_of_numbers(kind: str) -> None:
    target = TARGETS[3]
    if kind == "int":
        assert not lw.prepare(PANDA, "tip")(np.eye(4, dtype=np.int64)).success
        return
    frozen = target.copy()
    frozen.setflags(write=False)
    forms = {
        "list": target.tolist(),
        "float32": target.astype(np.float32),
        "fortran": np.asfortranarray(target),
        "view": np.stack([target, target], axis=-1)[..., 0],
        "read-only": frozen,
    }
    expected = lw.prepare(PANDA, "tip")(target).q
    assert_allclose(lw.prepare(PANDA, "tip")(forms[kind]).q, expected, atol=1e-4 if kind == "float32" else 0.0)


# Cases of the NumPy implementation


def test_the_robust_method_still_traces_and_counts() -> None:
    goal = reach(TARGETS[0])
    start = PANDA.stored_pose("ready")
    traced = lw.solve(PANDA, goal, start=start, method="robust", trace=True)
    assert len(traced.trace) > 0
    assert traced.success
    few = lw.solve(PANDA, goal, start=start, method="robust", max_iterations=1, restarts=0)
    assert few.iterations == 1
    assert not few.success
    assert lw.solve(PANDA, goal, start=start, method="robust", time_budget=1e-9, restarts=0).status == "time"
    both = lw.solve(PANDA, [goal, lw.Reach("panda_link4", position=(0.1, 0.1, 0.6))], method="robust")
    assert both.residuals.shape == (3,)


def test_many_starts_of_one_goal_in_one_call() -> None:
    starts = PANDA.random_pose(0, (3, 7))
    many = lw.solve(PANDA, reach(TARGETS[1]), start=starts)
    assert many.q.shape == (3, 7, 7)
    assert many.success.shape == many.status.shape == many.iterations.shape == (3, 7)
    assert many.success.all()
    flat = many.q.reshape(-1, 7)
    assert (errors(PANDA, "tip", flat, np.tile(TARGETS[1], (21, 1, 1)), "pose") <= (1e-4, 1e-3)).all()
    assert within(PANDA, flat).all()
    assert many.reason == "21 starts: 21 reached."
    one = many[2, 3]
    assert_array_equal(one.q, many.q[2, 3])
    assert one
    assert one.reason.startswith("reached: position error ")
    assert many[1].q.shape == (7, 7)
    with pytest.raises(OptionError, match=r"success\.all\(\) or success\.any\(\)"):
        bool(many)
    with pytest.raises(OptionError, match="one solution"):
        one[0]
    assert lw.solve(PANDA, reach(TARGETS[1]), start=starts[:0]).q.shape == (0, 7, 7)


def test_other_options_reach_the_compiled_search() -> None:
    solution = lw.solve(PANDA, reach(TARGETS[2]), tolerance=1e-8, rotation_tolerance=1e-8)
    assert isinstance(solution, Found)
    assert solution.success
    assert solution.residual <= 1e-8
    assert solution.settings.tolerance == 1e-8
    with pytest.raises(OptionError, match="did you mean 'tolerance'"):
        lw.solve(PANDA, reach(TARGETS[2]), tolerence=1e-8)
    with pytest.raises(OptionError, match="restarts"):
        lw.solve(PANDA, reach(TARGETS[2]), restarts=-1)


# Time


def hard_goal() -> lw.Reach:
    """Return an unreachable goal for the Panda with a reachable position."""
    return lw.Reach("tip", position=(0.55, 0.0, 0.9), orientation=np.diag([1.0, -1.0, -1.0]))


def test_a_time_budget_ends_a_search_that_finds_nothing() -> None:
    arm = lw.models.panda()
    whole = lw.solve(arm, hard_goal())
    short = lw.solve(arm, hard_goal(), time_budget=1e-9)
    assert not whole.success
    assert not short.success
    assert short.status in ("time", "closest")
    assert short.starts <= whole.starts
    assert short.cost >= whole.cost * (1.0 - 1e-6)
    assert "not reached" in short.reason


def test_a_generous_time_budget_changes_nothing_where_an_answer_is_found() -> None:
    arm = lw.models.panda()
    goal = lw.Reach("tip", orientation=arm.forward(arm.random_pose(4), frame="tip"))
    with_budget, without = lw.solve(arm, goal, time_budget=10.0), lw.solve(arm, goal)
    assert with_budget.success
    assert_array_equal(with_budget.q, without.q)


def test_the_nearest_of_many_answers_is_no_further_than_that_of_a_plain_call() -> None:
    arm = lw.models.ur5()
    ik = lw.prepare(arm, "tip")
    for seed in range(5):
        target, start = arm.forward(arm.random_pose(seed), frame="tip"), arm.random_pose(100 + seed)
        plain, nearest = ik(target, start=start), ik.nearest(target, start)
        assert nearest.success
        assert nearest.residuals[0] <= 1e-4
        assert nearest.residuals[1] <= 1e-3
        away = [np.linalg.norm(arm.difference(start, q)) for q in (plain.q, nearest.q)]
        assert away[1] <= away[0] * (1.0 + 1e-12)


@pytest.mark.parametrize("arm", [lw.models.ur5, lw.models.panda])
def test_the_first_solve_of_a_chain_has_room_for_its_closed_form(arm):
    linkage = arm()  # a new linkage without cached forms, since kernels do not check sizes of memory
    solver = lw.prepare(linkage, "tip")
    assert solver(linkage.forward("ready", frame="tip")).success
    assert [len(room) >= solver._answering.room[0] for room in solver._rooms] == [True]
