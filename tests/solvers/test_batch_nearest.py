"""Batches with nearest=True: the solutions nearest to starts, compared with all solutions and single solves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import linkwork as lw
import six_joint_arms
from linkwork.errors import DeviceError, OptionError
from linkwork.solvers.batch_work import CardWork
from linkwork.transforms import FloatArray

COUNT = 60


def problem(arm: lw.Linkage) -> tuple[FloatArray, FloatArray]:
    """Return targets of random poses and other random poses to start from."""
    return arm.forward(arm.random_pose(0, COUNT), frame="tip"), arm.random_pose(1, COUNT)


def away(q: FloatArray, starts: FloatArray) -> FloatArray:
    return np.linalg.norm(q - starts, axis=1)


@pytest.mark.parametrize("name", ["UR5", "KUKA KR6 R900", "Jaco 2", "Fanuc CRX-10iA/L"])
def test_six_joints_take_the_nearest_of_all_solutions(name: str) -> None:
    arm = six_joint_arms.linkage(name)
    targets, starts = problem(arm)
    found = lw.solve_batch(arm, "tip", targets, start=starts, nearest=True)
    assert found.success.all()
    for q, start, target in zip(found.q, starts, targets, strict=True):
        every = lw.solve_all(arm, lw.Reach("tip", pose=target), windings=True, start=start).q
        assert np.linalg.norm(q - start) < np.linalg.norm(every - start, axis=1).min() + 2e-3  # tolerances of a batch


def test_seven_joints_are_as_near_as_one_by_one() -> None:
    arm = lw.models.panda()
    targets, starts = problem(arm)
    found = lw.solve_batch(arm, "tip", targets, start=starts, nearest=True, threads=2)
    assert found.success.all()
    assert ((found.q >= arm.lower) & (found.q <= arm.upper)).all()
    ik = lw.prepare(arm, "tip")
    alone = np.array([ik(target, start=start).q for target, start in zip(targets, starts, strict=True)])
    assert_array_equal(found.q, alone)
    plain = lw.solve_batch(arm, "tip", targets, start=starts)
    assert away(found.q, starts).mean() < 0.8 * away(plain.q, starts).mean()


def test_what_is_out_of_reach_stays_as_it_is() -> None:
    arm = lw.models.panda()
    targets, starts = problem(arm)
    targets[3, :3, 3] = 5.0
    targets[4] = np.nan
    found = lw.solve_batch(arm, "tip", targets, start=starts, nearest=True)
    plain = lw.solve_batch(arm, "tip", targets, start=starts)
    assert np.flatnonzero(~found.success).tolist() == [3, 4]
    assert found.status[3] == plain.status[3]
    assert found.status[4] == "invalid"


def test_what_cannot_be_asked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = lw.models.panda()
    targets, starts = problem(arm)
    with pytest.raises(OptionError, match="give start="):
        lw.solve_batch(arm, "tip", targets, nearest=True)
    with pytest.raises(OptionError, match="True or False"):
        lw.solve_batch(arm, "tip", targets, start=starts, nearest="yes")
    with pytest.raises(OptionError, match="needs a closed form"):
        lw.solve_batch(arm, "tip", targets[:, :3, 3], orientation=False, start=starts, nearest=True)
    with pytest.raises(OptionError, match="obstacles"):
        lw.solve_batch(arm, "tip", targets, start=starts, nearest=True, avoid=lw.Avoid())
    work = CardWork(arm, "tip", None, None, None, {})
    work.nearest = True
    with pytest.raises(DeviceError, match="processor only"):
        work.solve(targets, starts, True, False)


@pytest.mark.parametrize("nearest", [False, True])
def test_one_start_for_all_is_as_that_start_for_each(nearest: bool) -> None:
    arm = lw.models.panda()
    rng, start = np.random.default_rng(8), arm.stored_pose("ready")
    targets = arm.forward(np.concatenate([arm.random_pose(rng, 300), start[None]]), frame="tip")
    targets[7] = np.nan
    one = lw.solve_batch(arm, "tip", targets, start=start, nearest=nearest, progress=False)
    each = lw.solve_batch(arm, "tip", targets, start=np.tile(start, (len(targets), 1)), nearest=nearest, progress=False)
    assert_array_equal(one.q, each.q)
    assert_array_equal(one.status, each.status)
    assert one.success.sum() == len(targets) - 1
