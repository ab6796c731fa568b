"""Solutions from a start: every joint angle is the equivalent value within limits that is nearest to the start."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from chains import placed, serial
from linkwork.linkage.joints import Mimic, Revolute

UR5, TURN = lw.models.ur5(), 2.0 * math.pi  # limits of two whole turns
GOALS = UR5.forward(UR5.random_pose(1, 60), frame="tip")
STARTS = UR5.random_pose(2, 60)


def needless(arm: lw.Linkage, q: np.ndarray, start: np.ndarray, *, limited: bool = True) -> int:
    """Return the number of angles with an equivalent value nearer to the start, by brute force."""
    count = 0
    low, high = (np.tile(limits, len(q)) for limits in (arm.lower, arm.upper))
    for x, near, least, most in zip(q.ravel(), start.ravel(), low, high, strict=True):
        copies = x + TURN * np.arange(-4, 5)
        allowed = copies[(copies >= least) & (copies <= most)] if limited else copies
        count += bool(np.abs(allowed - near).min(initial=np.inf) < abs(x - near) - 1e-9)
    return count


def test_prepared_calls() -> None:
    ik = lw.prepare(UR5, "tip")
    found = np.stack([ik(goal, start=start).q for goal, start in zip(GOALS, STARTS, strict=True)])
    assert needless(UR5, found, STARTS) == 0


def test_solves() -> None:
    pairs = list(zip(GOALS[:20], STARTS, strict=False))
    found = np.stack([lw.solve(UR5, lw.Reach("tip", pose=goal), start=start).q for goal, start in pairs])
    assert needless(UR5, found, STARTS[:20]) == 0


def test_many_starts_of_one_solve() -> None:
    found = lw.solve(UR5, lw.Reach("tip", pose=GOALS[0]), start=STARTS)
    assert needless(UR5, found.q, STARTS) == 0


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_batches(dtype: str) -> None:
    found = lw.solve_batch(UR5, "tip", GOALS, start=STARTS, dtype=dtype, progress=False)
    assert found.success.all()
    assert needless(UR5, found.q, STARTS) == 0
    assert ((found.q >= UR5.lower) & (found.q <= UR5.upper)).all()


def test_the_nearest_of_many() -> None:
    ik = lw.prepare(UR5, "tip")
    for goal, start in zip(GOALS[:10], STARTS, strict=False):
        found = ik.nearest(goal, start)
        assert needless(UR5, found.q[None], start[None]) == 0
        others = lw.solve_all(UR5, lw.Reach("tip", pose=goal)).q
        turned = others + TURN * np.round((start - others) / TURN)
        inside = (turned >= UR5.lower) & (turned <= UR5.upper)
        away = np.linalg.norm(np.where(inside, turned, others) - start, axis=1)
        assert np.linalg.norm(found.q - start) <= away.min() + 1e-2  # no branch is nearer


def test_without_limits_there_is_always_a_copy_within_half_a_turn() -> None:
    ik = lw.prepare(UR5, "tip", limits="ignore")
    found = np.stack([ik(goal, start=start + 20.0).q for goal, start in zip(GOALS[:20], STARTS, strict=False)])
    assert needless(UR5, found, STARTS[:20] + 20.0, limited=False) == 0


def test_a_leader_whose_follower_would_notice_is_not_turned() -> None:
    wide = Revolute("z", lower=-20.0, upper=20.0)
    places = [placed(), placed(position=(1.0, 0.0, 0.0))]
    arm = serial([wide, wide], places, placed(position=(1.0, 0.0, 0.0)), {1: Mimic("j0", 0.5)})
    goal, start = arm.forward([7.0], frame="tip"), np.array([0.9])  # another turn is another place
    found = lw.prepare(arm, "tip", position="xy", orientation=False)(goal, start=start)
    assert found.success
    assert np.linalg.norm((arm.forward(found.q, frame="tip") - goal)[:2, 3]) <= 1e-4
