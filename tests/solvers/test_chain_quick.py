"""Fast poses for targets out of reach: nearly as close as thorough ones, within limits, with correct errors."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linkwork as lw
from chains import KINDS, errors, placed, serial, within
from linkages import random_rotation
from linkwork.kernels.closest_quick import PLAN
from linkwork.kernels.search_many import CLOSEST
from linkwork.linkage.joints import Continuous, Mimic, Prismatic, Revolute, Screw
from linkwork.solvers import chain_quick

PANDA = lw.models.panda()
AHEAD = placed(None, (0.3, 0.1, 0.2))
SLIDES = serial(
    [Revolute("z", -2, 2), Prismatic("x", 0, 0.3), Continuous("y"), Revolute("x", -3, 3), Revolute("y", -2, 2)],
    [AHEAD] * 5,
    AHEAD,
)
FOLLOWERS = serial(
    [Revolute("z", -2, 2), Prismatic("x", 0, 0.3), Revolute("y", -1, 2), Screw("x", -3, 3, 0.1), Revolute("y", -2, 2)],
    [AHEAD] * 5,
    AHEAD,
    {4: Mimic("j2", -0.5, 0.1)},
)
ARMS = {"panda": PANDA, "slides": SLIDES, "followers": FOLLOWERS}


def somewhere(seed: int, count: int, length: float) -> np.ndarray:
    """Return targets with random orientations, some of them within reach."""
    rng = np.random.default_rng(seed)
    way = rng.normal(size=(count, 3))
    way *= (length * rng.uniform(0.2, 1.2, count) / np.linalg.norm(way, axis=1))[:, None]
    return np.array([placed(random_rotation(rng), p) for p in way])


def measures(arm: lw.Linkage, q: np.ndarray, targets: np.ndarray, kind: str, length: float) -> np.ndarray:
    """Return the distances of poses from targets: metres, and chords of the angles."""
    away, angle = errors(arm, "tip", q, targets, kind).T
    return np.hypot(away, 0.0 if kind == "position" else length / 2.0 * np.sin(angle / 2.0))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("panda", "pose"), ("panda", "position"), ("panda", "axis"), ("slides", "pose"), ("followers", "pose")],
)
def test_poses_are_nearly_as_close_as_thorough_ones(name: str, kind: str) -> None:
    arm, options = ARMS[name], KINDS[kind]
    length = lw.prepare(arm, "tip", **options).chain.length
    targets = somewhere(7, 300, length * (1.5 if kind == "position" else 1.0))
    quick, thorough = (lw.solve_batch(arm, "tip", targets, closest=how, **options) for how in ("quick", "thorough"))
    missed = ~(quick.success | thorough.success)
    assert missed.sum() > 50
    assert_array_equal(quick.success, thorough.success)
    near, nearest = (measures(arm, batch.q[missed], targets[missed], kind, length) for batch in (quick, thorough))
    assert np.median(near / nearest) < 1.001
    assert np.quantile(near / nearest, 0.9) < 1.2
    assert near.mean() < nearest.mean() + 0.003 * length
    assert all(within(arm, pose) for pose in quick.q)
    said = measures_said(quick.residuals[missed], kind, length)
    assert_allclose(said, near, atol=1e-9)


def measures_said(residuals: np.ndarray, kind: str, length: float) -> np.ndarray:
    """Return the same from the residuals of a batch."""
    if kind == "position":
        return residuals[:, 0]
    return np.hypot(residuals[:, 0], length / 2.0 * np.sin(residuals[:, 1] / 2.0))


def test_a_target_gets_the_same_pose_in_any_company() -> None:
    targets = somewhere(3, 150, 1.0)
    whole = lw.solve_batch(PANDA, "tip", targets)
    order = np.random.default_rng(1).permutation(len(targets))[:77]
    assert_array_equal(lw.solve_batch(PANDA, "tip", targets[order]).q, whole.q[order])


@pytest.mark.parametrize("name", ["panda", "slides"])
def test_a_sweep_brings_each_joint_to_where_it_serves_best(name: str) -> None:
    arm = ARMS[name]
    ik = lw.prepare(arm, "tip")
    length = ik.chain.length
    targets, poses = somewhere(5, 20, length), arm.random_pose(2, 20)
    plan = PLAN.pack(dtype=np.int64, shares=0, met=1, finalists=1, sweeps=0, first=0, last=0, rounds=0)
    values, report, status = ik.chain.values_of(poses), np.zeros((20, 4)), np.full(20, CLOSEST)
    table = chain_quick.edge_table(ik.frames, ik.chain.table[0])
    chain_quick.descend(ik, table, plan, targets, status, values, report)
    for swept, q, target in zip(values, poses, targets, strict=True):
        for joint in reversed(range(arm.nq)):  # by brute force
            limits = arm.lower[joint], arm.upper[joint]
            low, high = limits if np.isfinite(limits).all() else (-np.pi, np.pi)
            tried = np.tile(q, (4001, 1))
            tried[:, joint] = np.linspace(low, high, 4001)
            best = measures(arm, tried, np.tile(target, (4001, 1, 1)), "pose", length)
            q[joint] = tried[np.argmin(best), joint]
        pair = measures(arm, np.array([swept, q]), np.tile(target, (2, 1, 1)), "pose", length)
        assert pair[0] == pytest.approx(pair[1], abs=1e-3 * length)


def test_a_target_that_the_search_has_missed_is_reached_after_all() -> None:
    targets = PANDA.forward(PANDA.random_pose(4, 40), frame="tip")
    ik = lw.prepare(PANDA, "tip")
    values = PANDA.random_pose(4, 40) + 0.02
    report, status = np.zeros((40, 4)), np.full(40, CLOSEST)
    almost = chain_quick.bring_near(ik, targets, status, values, report)
    assert len(almost) + (status != CLOSEST).sum() > 30
