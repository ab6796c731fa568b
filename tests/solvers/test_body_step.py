"""Control cycles of bodies with many goals: speeds and limits kept, no jumps, the closest pose, correct status."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.solvers.problem import Problem

HUMAN = lw.models.human(root="floating")
STAND = HUMAN.stored_pose("stand")
FEET = [lw.Hold(f"{side}_foot").resolve(HUMAN, STAND) for side in ("left", "right")]
SUPPORT = [(x, y, 0.0) for x in (-0.06, 0.14) for y in (-0.15, 0.15)]
DT, SPEED = 0.01, 2.0


def goals(place: tuple[float, float, float], priority: int = 0) -> list[lw.Goal]:
    """Return goals: feet stay, balance, and a hand at a point."""
    return [*FEET, lw.Balance(over=SUPPORT), lw.Reach("right_hand", position=place, priority=priority)]


def move(before: np.ndarray, after: np.ndarray) -> float:
    """Return the largest change of a joint."""
    return float(np.abs(HUMAN.difference(before, after)).max())


@pytest.mark.parametrize("priority", [0, 1])
def test_cycles_come_to_the_goals_within_their_speeds(priority: int) -> None:
    wanted = goals((0.4, -0.2, 1.2), priority)
    ik, q, seen = lw.prepare(HUMAN, wanted), STAND, []
    for _ in range(200):
        cycle = ik.step(wanted, q, DT, velocity=SPEED)
        assert move(q, cycle.q) <= SPEED * DT + 1e-9
        assert (cycle.q >= HUMAN.lower).all()
        assert (cycle.q <= HUMAN.upper).all()
        np.testing.assert_allclose(cycle.velocity, HUMAN.difference(q, cycle.q) / DT, atol=1e-9)
        seen.append(cycle)
        q = cycle.q
        if cycle:
            break
    assert {cycle.status for cycle in seen[:-1]} <= {"limited", "following"}
    assert seen[0].status == "limited"
    assert seen[0].limit == "velocity"
    assert seen[0].joint in HUMAN.joints
    assert 0.0 < seen[0].share < 1.0
    problem = Problem(HUMAN, wanted, STAND)
    np.testing.assert_allclose(seen[-1].residuals, problem.residuals(problem.error(q)), atol=1e-9)
    assert (seen[-1].residuals < 1e-4).all()
    assert seen[-1].reason.startswith("reached")


@pytest.mark.parametrize("priority", [0, 1])
def test_out_of_reach_cycles_come_as_near_as_a_solve_and_stay_there(priority: int) -> None:
    wanted = goals((1.5, -0.3, 1.2), priority)
    ik, q = lw.prepare(HUMAN, wanted), STAND
    for _ in range(300):
        last, q = q, np.asarray(ik.step(wanted, q, DT, velocity=SPEED))
    end = ik.step(wanted, q, DT, velocity=SPEED)
    assert move(last, q) < 1e-4
    assert end.status in ("limited", "held")
    nearest = ik(wanted, start=q)
    np.testing.assert_allclose(end.residuals, nearest.residuals, atol=1e-4)
    assert "to go" in end.reason or "nearer" in end.reason


@pytest.mark.parametrize("speed", [None, 3.0])
def test_a_moving_goal_that_leaves_and_returns_is_followed_without_a_jump(speed: float | None) -> None:
    ik, q, misses = lw.prepare(HUMAN, goals((0.4, -0.2, 1.2))), STAND, []
    q = ik(goals((0.4, -0.2, 1.2)), start=q).q
    for k in range(300):
        out = 1.1 * np.sin(np.pi * min(k, 200) / 200) ** 2
        cycle = ik.step(goals((0.4 + out, -0.2, 1.2)), q, DT, velocity=speed)
        assert move(q, cycle.q) <= (0.25 if speed is None else speed * DT) + 1e-9
        q = cycle.q
        misses.append(float(cycle.residuals[-1]))
    assert max(misses) > 0.05
    assert misses[-1] < 1e-4


def test_without_speeds_a_cycle_is_short_and_says_that_it_follows() -> None:
    wanted = goals((0.4, -0.5, 1.5))
    ik = lw.prepare(HUMAN, wanted)
    first = ik.step(wanted, STAND, DT, velocity=1e9)
    assert first.status == "following"
    assert move(STAND, first.q) <= 0.25 + 1e-9
    assert not first.joint
    assert ik.step(wanted, first, DT).q.shape == (HUMAN.nq,)


def test_to_stay_is_to_come_there_without_a_jump_or_to_say_so() -> None:
    wanted = goals((0.4, -0.2, 1.2), 1)
    ik = lw.prepare(HUMAN, wanted)
    near = ik(wanted, start=STAND, stay=True)
    assert near.success
    assert near.status == "reached"
    far = ik(goals((1.5, -0.3, 1.2), 1), start=STAND, stay=True)
    assert far.status == "following"
    assert move(STAND, far.q) <= 0.49 + 1e-9
    for _ in range(20):
        before, far = far.q, ik(goals((1.5, -0.3, 1.2), 1), start=far.q, stay=True)
        assert move(before, far.q) <= 0.49 + 1e-9
    assert not far.success
    assert far.status == "held"
    assert lw.solve(HUMAN, wanted, start=STAND, stay=True).success
    assert "continuous" in far.reason
    with pytest.raises(lw.errors.OptionError, match="start="):
        ik(wanted, stay=True)


def test_a_body_slows_down_before_singular_poses_as_a_chain_does() -> None:
    arm = lw.models.ur5()
    start = np.array([0.3, -1.2, 1.4, -0.4, 0.25, 0.2])  # on a line through a singular pose of the wrist
    there = arm.forward([0.5, -1.0, 1.2, -0.4, -0.25, 0.2], frame="tip")
    line = lw.paths.line(arm, lw.Reach("tip", pose=there), start=start, frames=200)
    chain, body = lw.prepare(arm, "tip"), lw.prepare(arm, [line[0]])
    fastest = []
    for cycle in (lambda goal, q: chain.step(goal.target, q, DT), lambda goal, q: body.step([goal], q, DT)):
        q, speeds = start, []
        for goal in line:
            q, before = cycle(goal, q).q, q
            speeds.append(np.abs(q - before).max())
        fastest.append(max(speeds))
        np.testing.assert_allclose(arm.forward(q, frame="tip"), there, atol=1e-4)
    assert fastest[1] < 1.2 * max(fastest[0], 0.025)  # a Newton step turns the wrist by 0.25 rad, as far as it may


def test_what_a_cycle_cannot_take_is_refused() -> None:
    wanted = goals((0.4, -0.2, 1.2))
    ik = lw.prepare(HUMAN, wanted)
    for dt in (0.0, -1.0, np.nan):
        with pytest.raises(lw.errors.OptionError, match="dt"):
            ik.step(wanted, STAND, dt)
    with pytest.raises(lw.errors.OptionError, match="velocity"):
        ik.step(wanted, STAND, DT, velocity=[1.0, 2.0])
    with pytest.raises(lw.errors.OptionError, match="scale"):
        ik.step(wanted, STAND, DT, scale=0.0)
    with pytest.raises(lw.errors.PoseValueError):
        ik.step(wanted, np.full(HUMAN.nq, np.nan), DT)
    with pytest.raises(lw.errors.GoalError, match="prepare"):
        ik.step(FEET, STAND, DT)


def test_answers_from_a_start_are_no_needless_turn_away() -> None:
    built = lw.Builder("two arms", base="torso")
    for side, y in (("left", 1.0), ("right", -1.0)):
        parent, at = "torso", (0.5, y, 0.0)
        for k in range(3):
            built.revolute(f"{side}{k}", f"{side}_link{k}", limits=(-7.0, 7.0), parent=parent, at=at)
            parent, at = f"{side}_link{k}", (1.0, 0.0, 0.0)
        built.frame(f"{side}_tip", at=(1.0, 0.0, 0.0))
    body = built.build()
    rng = np.random.default_rng(3)
    for _ in range(20):
        there, start = body.random_pose(rng), body.random_pose(rng)
        tips = [f"{side}_tip" for side in ("left", "right")]
        wanted = [lw.Reach(tip, position=body.forward(there, frame=tip)[:3, 3]) for tip in tips]
        solution = lw.prepare(body, wanted)(wanted, start=start)
        assert solution.success
        for turn in (-2.0 * np.pi, 2.0 * np.pi):
            other = solution.q + turn
            closer = np.abs(other - start) < np.abs(solution.q - start) - 1e-9
            assert not (closer & (other >= body.lower) & (other <= body.upper)).any()
