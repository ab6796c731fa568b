"""The compiled search on random chains: reported successes are correct, and reachable targets are reached."""

from __future__ import annotations

import os

import numba
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import linkwork as lw
from chains import KINDS, errors, placed, random_chain, reachable, serial, within
from linkages import random_rotation
from linkwork.kernels import compiler, starts  # noqa: F401 - compiler registers parts with Numba
from linkwork.linkage.joints import Continuous, Mimic, Prismatic, Revolute, Screw
from linkwork.solvers.chain import Chain
from robots import pinocchio_pose, shipped

CHAINS, GOALS = 40, 125  # 60,000 problems with all kinds of goal in both precisions
if os.environ.get("LINKWORK_MILLION"):
    CHAINS, GOALS = 420, 200  # a million, in a minute
kinds = pytest.mark.parametrize("kind", KINDS)
dtypes = pytest.mark.parametrize("dtype", ["float64", "float32"])


def verify(chain: lw.Linkage, targets: np.ndarray, kind: str, batch: lw.Batch, *, limits: bool = True) -> None:
    """Check every row of a batch with independently computed errors."""
    found = errors(chain, "tip", batch.q, targets, kind)
    good = (found[:, 0] <= 1e-4) & (found[:, 1] <= 1e-3)
    if limits:
        assert within(chain, batch.q).all()
    assert good[batch.success].all()
    asked = [k for k, part in enumerate(("position", "orientation")) if KINDS[kind].get(part, True)]
    assert_allclose(batch.residuals, found[:, asked], rtol=1e-5, atol=2e-8)
    assert_array_equal(batch.success, batch.status == "reached")


def movable(seed: int) -> tuple[lw.Linkage, np.random.Generator]:
    """Return a random chain with at least one degree of freedom, and its random generator."""
    rng = np.random.default_rng(seed)
    while True:
        chain = random_chain(rng, simple=bool(seed % 2))
        if Chain(chain, "tip").values:
            return chain, rng


# Success is never reported wrongly


@kinds
@dtypes
def test_what_is_called_reached_is_reached_within_limits(kind: str, dtype: str) -> None:
    reached = total = 0
    for seed in range(CHAINS):
        chain, rng = movable(seed)
        targets = reachable(chain, rng, GOALS)
        batch = lw.solve_batch(chain, "tip", targets, dtype=dtype, threads=1, **KINDS[kind])
        verify(chain, targets, kind, batch)
        reached, total = reached + int(batch.success.sum()), total + len(batch)
    assert reached >= total * 0.9999  # all goals are reachable


@kinds
@dtypes
def test_goals_anywhere_are_judged_right(kind: str, dtype: str) -> None:
    for seed in range(10):
        chain, rng = movable(100 + seed)
        targets = np.array([placed(random_rotation(rng), rng.normal(size=3)) for _ in range(60)])
        verify(chain, targets, kind, lw.solve_batch(chain, "tip", targets, dtype=dtype, restarts=30, **KINDS[kind]))


@kinds
def test_given_starts_change_nothing_about_that(kind: str) -> None:
    for seed in range(12):
        chain, rng = movable(200 + seed)
        targets = reachable(chain, rng, 60)
        start = chain.random_pose(rng, 60)
        start[:20] = 3.0 * start[:20] + 0.5  # beyond the limits
        for k, _ in chain.table.quaternions:
            start[:, k : k + 4] /= np.linalg.norm(start[:, k : k + 4], axis=1, keepdims=True)
        for dtype in ("float64", "float32"):
            batch = lw.solve_batch(chain, "tip", targets, start=start, dtype=dtype, **KINDS[kind])
            found = errors(chain, "tip", batch.q, targets, kind)
            assert (found[batch.success] <= (1e-4, 1e-3)).all()
            moved = Chain(chain, "tip").plain[1]
            assert (batch.q[:, moved] >= chain.lower[moved]).all()
            assert (batch.q[:, moved] <= chain.upper[moved]).all()


@kinds
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_one_goal_is_judged_right(kind: str, seed: int) -> None:
    chain, rng = movable(seed)
    targets = reachable(chain, rng, 3)
    targets[2, :3, 3] += rng.normal(size=3)
    ik = lw.prepare(chain, "tip", **KINDS[kind])
    for start in (None, chain.random_pose(rng)):
        for target in targets:
            solution = ik(target, start=start)
            found = errors(chain, "tip", solution.q[None], target[None], kind)[0]
            assert within(chain, solution.q)
            assert solution.success == (solution.status == "reached")
            assert not solution.success or (found <= (1e-4, 1e-3)).all()
            asked = [k for k, part in enumerate(("position", "orientation")) if KINDS[kind].get(part, True)]
            assert_allclose(solution.residuals, found[asked], rtol=1e-5, atol=2e-8)


@pytest.mark.parametrize(("tolerance", "rotation_tolerance"), [(1e-2, 1e-1), (1e-6, 1e-6), (1e-9, 1e-9), (1e-1, 1e-6)])
@dtypes
def test_tolerances_are_kept(tolerance: float, rotation_tolerance: float, dtype: str) -> None:
    arm = lw.models.panda()
    targets = reachable(arm, np.random.default_rng(0), 400)
    options = {"tolerance": tolerance, "rotation_tolerance": rotation_tolerance}
    batch = lw.solve_batch(arm, "tip", targets, dtype=dtype, **options)
    found = errors(arm, "tip", batch.q, targets, "pose")
    assert batch.success.mean() > 0.99
    assert (found[batch.success] <= np.array([tolerance, rotation_tolerance]) + 1e-14).all()


def test_an_arrival_counts_though_an_earlier_start_came_closer_in_another_measure() -> None:
    loose = {"tolerance": 1e-3, "rotation_tolerance": 0.5}  # rotations weigh more than their tolerance requires
    for seed in range(30):
        chain, rng = movable(300 + seed)
        targets = reachable(chain, rng, 100)
        batch = lw.solve_batch(chain, "tip", targets, **loose)
        found = errors(chain, "tip", batch.q, targets, "pose")
        assert (found[batch.success] <= (1e-3, 0.5)).all()


# Hard chains


AHEAD = placed(None, (0.3, 0.1, 0.2))
HARD = {
    "all limits equal": serial([Revolute("z", 0.3, 0.3), Revolute("y", -1.0, -1.0)], [AHEAD] * 2, AHEAD),
    "one joint moves": serial([Revolute("z", 0.3, 0.3), Revolute("y"), Revolute("x", 2, 2)], [AHEAD] * 3, AHEAD),
    "no length": serial([Revolute("z"), Revolute("y"), Revolute("x")], [placed()] * 3, placed()),
    "one slide": serial([Prismatic("x", -1, 1)], [AHEAD], AHEAD),
    "slide without end": serial([Prismatic("x"), Revolute("z"), Revolute("y")], [AHEAD] * 3, AHEAD),
    "half a turn of a follower": serial([Continuous("z"), Revolute("y")], [AHEAD] * 2, AHEAD, {1: Mimic("j0", 0.5)}),
    "a third of a turn": serial(
        [Continuous("z"), Revolute("y"), Revolute("x")], [AHEAD] * 3, AHEAD, {2: Mimic("j0", -1 / 3, 0.2)}
    ),
    "follower of twice the turn": serial([Continuous("z"), Revolute("y")], [AHEAD] * 2, AHEAD, {1: Mimic("j0", 2.0)}),
    "rack and pinion": serial(
        [Continuous("z"), Prismatic("x"), Revolute("y", -2, 2)], [AHEAD] * 3, AHEAD, {1: Mimic("j0", 0.05)}
    ),
    "screw": serial([Screw("z", lead=0.2), Revolute("y"), Screw("x", -9, 9, 0.1)], [AHEAD] * 3, AHEAD),
    "narrow limits": serial([Revolute(a, -1e-3, 1e-3) for a in "zyxzyx"], [AHEAD] * 6, AHEAD),
    "far limits": serial([Revolute(a, 40.0, 47.0) for a in "zyxzyx"], [AHEAD] * 6, AHEAD),
    "one-sided limits": serial([Revolute("z", upper=-1), Revolute("y", lower=2)], [AHEAD] * 2, AHEAD),
    "millimetres": serial([Revolute(a, -2, 2) for a in "zyxzyx"], [placed(None, (3e-3, 0, 1e-3))] * 6, placed()),
    "kilometres": serial([Revolute(a, -2, 2) for a in "zyxzyx"], [placed(None, (300, 0, 100))] * 6, placed()),
    "twelve parallel hinges": serial([Revolute("z", -1, 1)] * 12, [placed(None, (0.1, 0, 0))] * 12, AHEAD),
}  # fmt: skip
FLOORS = {"kilometres": 0.9}  # 0.1 mm in a kilometre is below the resolution of starts in single precision


@pytest.mark.parametrize("name", HARD)
@dtypes
def test_hard_chains_reach_what_they_can(name: str, dtype: str) -> None:
    chain, rng = HARD[name], np.random.default_rng(5)
    targets = reachable(chain, rng, 200)
    for kind in KINDS:
        batch = lw.solve_batch(chain, "tip", targets, dtype=dtype, **KINDS[kind])
        verify(chain, targets, kind, batch)
        assert batch.success.mean() >= FLOORS.get(name, 1.0), kind


def test_a_continuous_leader_is_not_wrapped_where_its_follower_would_move() -> None:
    chain = HARD["half a turn of a follower"]
    q = np.array([[5.0], [-5.0], [9.0], [0.5]])
    targets = chain.forward(q, frame="tip")
    batch = lw.solve_batch(chain, "tip", targets, start=q)
    assert batch.success.all()
    assert_allclose(batch.q, q, atol=1e-4)
    verify(chain, targets, "pose", lw.solve_batch(chain, "tip", targets))


@pytest.mark.parametrize("model", ["panda", "ur5", "stanford", "scara"])
@dtypes
def test_every_goal_of_a_model_is_reached(model: str, dtype: str) -> None:
    arm = getattr(lw.models, model)()
    targets = arm.forward(arm.random_pose(11, 5_000), frame="tip")
    kind = "position" if model == "scara" else "pose"
    batch = lw.solve_batch(arm, "tip", targets, dtype=dtype, **KINDS[kind])
    assert batch.success.all()
    verify(arm, targets, kind, batch)


ROBOTS = ("panda", "ur5_robot", "kinova", "solo12", "icub")


@pytest.mark.parametrize("name", ROBOTS)
def test_pinocchio_agrees_on_what_is_reached(name: str) -> None:
    pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is not installed here", exc_type=ImportError)
    path = shipped(name)
    arm, model = lw.load(path), pinocchio.buildModelFromUrdf(str(path))
    frame = max(arm.frames, key=lambda frame: Chain(arm, frame).values)
    targets = arm.forward(arm.random_pose(3, 300), frame=frame)
    batch = lw.solve_batch(arm, frame, targets)
    assert batch.success.all()
    data, index = model.createData(), model.getFrameId(frame)
    for q, target in zip(batch.q, targets, strict=True):
        pinocchio.framesForwardKinematics(model, data, pinocchio_pose(pinocchio, model, arm, q))
        there = data.oMf[index]
        assert np.linalg.norm(there.translation - target[:3, 3]) <= 1e-4
        assert np.linalg.norm(pinocchio.log3(there.rotation.T @ target[:3, :3])) <= 1e-3


# Random starts


def test_random_numbers_are_uniform_and_depend_on_all_four_keys() -> None:
    @numba.njit
    def uniform(seed, problem, start, value):
        return starts.uniform(seed, problem, start, value)

    draws = np.array([
        [uniform(seed, problem, start, value) for seed in range(4) for problem in range(8)]
        for start in range(16) for value in range(8)
    ])  # fmt: skip
    assert 0.0 <= draws.min() < 0.01
    assert 0.99 < draws.max() < 1.0
    assert len(np.unique(draws)) == draws.size
    assert abs(draws.mean() - 0.5) < 0.02
    assert abs(draws.var() - 1 / 12) < 0.005
    assert np.abs(np.corrcoef(draws) - np.eye(len(draws))).max() < 0.8


def test_a_goal_is_reached_from_other_seeds_too() -> None:
    arm = lw.models.ur5()
    targets = reachable(arm, np.random.default_rng(0), 300)
    answers = [lw.solve_batch(arm, "tip", targets, seed=seed, restarts=200) for seed in range(3)]
    assert all(batch.success.all() for batch in answers)


def test_fewer_starts_reach_less_and_are_counted() -> None:
    arm = lw.models.ur5()
    targets = reachable(arm, np.random.default_rng(0), 2_000)
    shares = []
    for restarts in (1, 4, 16, 200):
        batch = lw.solve_batch(arm, "tip", targets, restarts=restarts, closest=False, free="z")  # only the search
        assert batch.restarts.max() <= restarts
        assert batch.restarts.min() >= 1
        shares.append(batch.success.mean())
    assert shares == sorted(shares)
    assert shares[0] < 1.0 == shares[-1]


def test_parts_of_kernels_are_not_for_python() -> None:
    with pytest.raises(TypeError, match="uniform is a part of kernels: only they can call it"):
        starts.uniform(0, 0, 0, 0)
