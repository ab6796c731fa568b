"""The closest pose to a goal out of reach: SciPy finds none closer, for any chain and goal."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import linkwork as lw
from chains import KINDS, errors, placed, random_chain, serial, within
from linkages import random_rotation
from linkwork.kernels.chain_memory import LIMITS
from linkwork.linkage.joints import Mimic, Prismatic, Revolute, Screw
from linkwork.solvers import Prepared
from linkwork.solvers.chain import Chain

MILLIMETRE, TURN = 1e-3, np.pi / 2
PANDA = lw.models.panda()
ROUND = (-2.0 * np.pi, 2.0 * np.pi)
UR10E = lw.from_dh(
    [
        (0.0, 0.1807, 0.0, TURN, "R", ROUND),
        (0.0, 0.0, -0.6127, 0.0, "R", ROUND),
        (0.0, 0.0, -0.57155, 0.0, "R", (-np.pi, np.pi)),
        (0.0, 0.17415, 0.0, TURN, "R", ROUND),
        (0.0, 0.11985, 0.0, -TURN, "R", ROUND),
        (0.0, 0.11655, 0.0, 0.0, "R", ROUND),
    ]
)
KR210 = lw.from_dh(
    [
        (0.0, 0.75, 0.35, -TURN, "R", (-3.23, 3.23)),
        (-TURN, 0.0, 1.25, 0.0, "R", (-0.785, 1.484)),
        (0.0, 0.0, -0.054, -TURN, "R", (-3.665, 1.134)),
        (0.0, 1.5, 0.0, TURN, "R", (-6.109, 6.109)),
        (0.0, 0.0, 0.0, -TURN, "R", (-2.182, 2.182)),
        (0.0, 0.303, 0.0, 0.0, "R", (-6.109, 6.109)),
    ]
)
ARMS = {"UR10e": UR10E, "KR210": KR210, "panda": PANDA, "stanford": lw.models.stanford()}
AHEAD = placed(None, (0.3, 0.1, 0.2))
MIXED = serial(
    [Revolute("z", -2, 2), Prismatic("x", 0, 0.3), Revolute("y", -1, 2), Screw("x", -3, 3, 0.1), Revolute("y", -2, 2)],
    [AHEAD] * 5,
    AHEAD,
    {4: Mimic("j2", -0.5, 0.1)},
)


def unreachable(ik: Prepared, rng: np.random.Generator, count: int) -> np.ndarray:
    """Return targets that are missed: too far away, or with an unreachable orientation."""
    found: list[np.ndarray] = []
    while len(found) < count:
        way = rng.normal(size=3)
        point = way / np.linalg.norm(way) * ik.chain.length * rng.uniform(0.2, 1.6)
        target = placed(random_rotation(rng), point)
        if not ik(target).success:
            found.append(target)
    return np.array(found)


def measure(ik: Prepared, values: np.ndarray, target: np.ndarray, kind: str) -> float:
    """Return the distance of a pose from a target, computed independently: metres, and chords of the angle."""
    q = ik.chain.put(values, ik.linkage.neutral())
    away, angle = errors(ik.linkage, ik.goal.frame, q[None], target[None], kind)[0]
    return float(np.hypot(away, ik.chain.length / 4.0 * 2.0 * np.sin(angle / 2.0)))


def by_slsqp(ik: Prepared, target: np.ndarray, kind: str, starts: int) -> float:
    """Return the least distance that SciPy finds from random starts."""
    limits = LIMITS.view(ik.chain.limits)
    bounds = list(zip(limits.lower.tolist(), limits.upper.tolist(), strict=True))
    options = {"maxiter": 150, "ftol": 1e-10}
    return min(
        minimize(
            lambda x: measure(ik, x, target, kind) ** 2, start, method="SLSQP", bounds=bounds, options=options
        ).fun
        for start in ik.chain.spread(np.random.default_rng(1).random((starts, ik.chain.values)))
    ) ** 0.5  # fmt: skip


def check(ik: Prepared, kind: str, targets: np.ndarray, starts: int = 4) -> None:
    """Compare results with and without a start, and in a batch, with the best of SciPy."""
    arm = ik.linkage
    batch = lw.solve_batch(arm, "tip", targets, threads=1, closest="thorough", **KINDS[kind])
    for target, q in zip(targets, batch.q, strict=True):
        best = by_slsqp(ik, target, kind, starts)
        for pose in (ik(target).q, ik(target, start=arm.neutral()).q, q):
            assert measure(ik, ik.chain.values_of(pose), target, kind) < best + MILLIMETRE
            assert within(arm, pose)


@pytest.mark.parametrize("kind", ["pose", "position"])
@pytest.mark.parametrize("name", ARMS)
def test_scipy_comes_no_closer(name: str, kind: str) -> None:
    ik = lw.prepare(ARMS[name], "tip", **KINDS[kind])
    check(ik, kind, unreachable(ik, np.random.default_rng(2), 2))


@pytest.mark.parametrize("kind", ["axis", "xy"])
def test_scipy_comes_no_closer_where_less_is_asked_for(kind: str) -> None:
    ik = lw.prepare(KR210, "tip", **KINDS[kind])
    check(ik, kind, unreachable(ik, np.random.default_rng(3), 2))


def test_slides_screws_and_followers_come_as_close() -> None:
    ik = lw.prepare(MIXED, "tip")
    check(ik, "pose", unreachable(ik, np.random.default_rng(4), 3))


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_chains_of_any_joints_come_as_close(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arm = random_chain(rng, 5)
    ik = lw.prepare(arm, "tip")
    check(ik, "pose", unreachable(ik, rng, 2))


def test_a_joint_stopped_at_a_limit_crosses_the_gap_of_its_range() -> None:
    arm = lw.from_dh([(0.0, 0.0, 1.0, 0.0, "R", (-3.0, 3.0)), (0.0, 0.0, 0.5, 0.0, "R", (-0.2, 0.2))])
    ik = lw.prepare(arm, "tip", orientation=False)
    for side in (1.0, -1.0):  # a goal just beyond the gap, and a start at the other end
        far = 2.0 * np.array([np.cos(3.2 * side), np.sin(3.2 * side), 0.0])
        solution = ik(far, start=[3.0 * side, 0.0])
        assert solution.q[0] * side == -3.0
        assert solution.residual == pytest.approx(ik(far).residual, abs=1e-9)


def test_a_stretched_arm_is_as_close_as_its_length_allows() -> None:
    arm = lw.models.planar([0.5, 0.4, 0.3])
    angles = np.linspace(-3.0, 3.0, 12)
    points = np.stack([2.0 * np.cos(angles), 2.0 * np.sin(angles)], axis=1)
    batch = lw.solve_batch(arm, "tip", np.pad(points, ((0, 0), (0, 1))), orientation=False)
    assert_allclose(batch.residual, 0.8, atol=1e-6)
    assert_allclose([lw.solve(arm, lw.Reach("tip", position=p)).residual for p in points], 0.8, atol=1e-6)


def test_of_poses_as_close_the_nearest_to_the_start_is_taken() -> None:
    ik = lw.prepare(PANDA, "tip", orientation=False)  # stretched, it can still spin about itself
    far = np.array([1.5, 0.8, 0.6])
    first = ik(far).q
    again = ik(far, start=first).q
    assert_allclose(again, first, atol=1e-5)
    nudged = first + 0.05 * np.array([0, 0, 1, 0, 0, 0, -1])
    moved = ik(far, start=nudged)
    assert moved.residual == pytest.approx(ik(far).residual, abs=1e-5)
    assert np.linalg.norm(moved.q - nudged) < np.linalg.norm(first - nudged) + 1e-6


def test_answers_are_the_same_again_and_for_any_number_of_threads() -> None:
    targets = unreachable(lw.prepare(PANDA, "tip"), np.random.default_rng(5), 40)
    alone, together = (
        lw.solve_batch(PANDA, "tip", np.tile(targets, (60, 1, 1)), threads=n, closest="thorough") for n in (1, 2)
    )
    assert_array_equal(alone.q, together.q)
    single = lw.solve_batch(PANDA, "tip", targets, dtype="float32", closest="thorough")
    arm = Chain(PANDA, "tip").length / 4.0
    close, closer = (
        np.hypot(batch.residuals[:40, 0], arm * 2.0 * np.sin(batch.residuals[:40, 1] / 2.0))
        for batch in (single, alone)
    )
    assert_allclose(close, closer, atol=5 * MILLIMETRE)


def test_what_is_left_is_said() -> None:
    target = placed(np.diag([1.0, -1.0, -1.0]), (0.0, 0.0, 0.25))
    solution = lw.solve(PANDA, lw.Reach("tip", pose=target))
    away, angle = errors(PANDA, "tip", solution.q[None], target[None], "pose")[0]
    assert f"position error {away:.3g} m, rotation error {angle:.3g} rad" in solution.reason
    far = lw.solve(UR10E, lw.Reach("tip", pose=placed(np.diag([-1.0, -1.0, 1.0]), (1.6, 0.0, 0.2))))
    away, angle = errors(UR10E, "tip", far.q[None], far.goals[0].target[None], "pose")[0]
    assert "m too far" in far.reason
    assert f"position error {away:.3g} m, rotation error {angle:.3g} rad" in far.reason


def test_a_batch_leaves_what_it_misses_where_that_does_not_matter() -> None:
    arm = lw.models.panda()
    targets = arm.forward(arm.random_pose(5, 64), frame="tip")
    targets[::2, :3, 3] *= 3.0
    plain, polished = (lw.solve_batch(arm, "tip", targets, closest=closest) for closest in (False, True))
    assert_array_equal(plain.success, polished.success)
    assert_array_equal(plain.q[plain.success], polished.q[plain.success])
    missed = ~plain.success
    assert missed.sum() > 16
    off = [batch.residuals[missed] * (1.0, arm.length / 4.0) for batch in (plain, polished)]
    assert np.linalg.norm(off[1], axis=1).mean() < np.linalg.norm(off[0], axis=1).mean()
