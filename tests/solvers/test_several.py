"""Several solutions of a target: distinct, verified, far apart, and complete where the number is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import OptionError
from linkwork.linkage.poses import distinct, wrapped

PLACE: Any = {"orientation": False}
FLAT: Any = {"position": "xy", "orientation": False}
PANDA, UR5 = lw.models.panda(), lw.models.ur5()
ARMS = {
    "seven joints": (PANDA, {}),
    "six joints": (UR5, {}),
    "place alone": (UR5, PLACE),
    "plane": (lw.models.planar([3, 2, 2, 1, 1]), FLAT),
    "free axis": (UR5, {"free": "z"}),
}


def targets_of(arm: lw.Linkage, count: int, seed: int = 1) -> np.ndarray:
    return arm.forward(arm.random_pose(seed, count), frame="tip")


@pytest.mark.parametrize("name", ARMS)
def test_solutions_reach_keep_limits_and_are_distinct(name: str) -> None:
    """Forward kinematics checks them, not the solver."""
    arm, options = ARMS[name]
    targets = targets_of(arm, 24)
    found = lw.solve_batch(arm, "tip", targets, solutions=5, **options)
    assert found.success.all()
    assert found.q.shape == (24, 5, arm.nq)
    assert (found.counts.clip(max=5) == found.mask.sum(axis=1)).all()
    assert (found.status == "reached").all()
    assert np.isnan(found.q[~found.mask]).all()
    assert np.isnan(found.residuals[~found.mask]).all()
    for target, q, mask in zip(targets, found.q, found.mask, strict=True):
        poses = q[mask]
        tips = arm.forward(poses, frame="tip")
        assert_allclose(tips[:, :3, 3], np.broadcast_to(target[:3, 3], (len(poses), 3)), atol=1e-4)
        if not options:
            turned = np.einsum("nij,ik->njk", tips[:, :3, :3], target[:3, :3])
            assert (np.einsum("nii->n", turned) > 3.0 - 1e-6).all()
        assert ((poses >= arm.lower) & (poses <= arm.upper)).all()
        assert len(distinct(arm, poses)) == len(poses)


def test_six_joints_have_all_that_solve_all_finds() -> None:
    targets = targets_of(UR5, 40)
    targets[3, :3, 3] *= 4.0  # beyond the reach
    found = lw.solve_batch(UR5, "tip", targets, solutions=8)
    every = [lw.solve_all(UR5, lw.Reach("tip", pose=target)) for target in targets]
    assert found.counts.tolist() == [len(one) for one in every]
    assert found.complete.all()
    for q, one in zip(found.q, every, strict=True):
        ours = wrapped(q[: len(one)])
        assert all(np.abs(wrapped(ours - pose)).max(axis=1).min() < 1e-7 for pose in one.q)


def test_of_more_than_are_wanted_the_furthest_apart_are_kept_and_all_are_counted() -> None:
    targets = targets_of(UR5, 20)
    every, two = (lw.solve_batch(UR5, "tip", targets, solutions=k) for k in (8, 2))
    assert (two.counts == every.counts).all()
    several = every.counts > 2
    assert (two.diversity[several] >= every.diversity[several]).all()


def test_diversity_is_the_distance_of_the_nearest_two() -> None:
    found = lw.solve_batch(PANDA, "tip", targets_of(PANDA, 6), solutions=4)
    most = np.minimum(PANDA.upper - PANDA.lower, np.pi)
    for q, nearest, mean in zip(found.q, found.diversity, found.spread, strict=True):
        away = np.abs(wrapped(q[:, None] - q)) / most
        pairs = away.max(axis=-1)[np.triu_indices(4, 1)]
        assert_allclose((nearest, mean), (pairs.min(), pairs.mean()))


def test_seven_joints_are_further_apart_than_random_restarts() -> None:
    """The alternative: eight searches from random starts, without duplicates."""
    targets = targets_of(PANDA, 30)
    found = lw.solve_batch(PANDA, "tip", targets, solutions=8)
    assert (found.counts == 8).all()
    ik, most, others = lw.prepare(PANDA, "tip"), np.minimum(PANDA.upper - PANDA.lower, np.pi), []
    for k, target in enumerate(targets):
        poses = ik.candidates(target, 16, first=k)[:8]
        poses = poses[distinct(PANDA, poses)]
        away = (np.abs(wrapped(poses[:, None] - poses)) / most).max(axis=-1)
        others.append(away[np.triu_indices(len(poses), 1)].min(initial=1.0))
    assert np.median(found.diversity) > 2.0 * np.median(others)


def test_with_a_start_the_nearest_comes_first() -> None:
    start = UR5.random_pose(7, 12)
    targets = targets_of(UR5, 12)
    found = lw.solve_batch(UR5, "tip", targets, start=start, solutions=8)
    away = np.linalg.norm(found.q - start[:, None], axis=-1)
    assert (np.diff(away, axis=1)[found.mask[:, 1:]] >= 0.0).all()
    nearest = [lw.prepare(UR5, "tip").all(target, start=q).q[0] for target, q in zip(targets, start, strict=True)]
    assert_allclose(found.q[:, 0], nearest, atol=1e-9)


def test_a_target_without_a_solution_has_none_and_its_closest_pose_apart() -> None:
    targets = targets_of(PANDA, 4)
    targets[1, :3, 3] *= 5.0
    targets[2] = np.nan
    found = lw.solve_batch(PANDA, "tip", targets, solutions=3)
    assert found.success.tolist() == [True, False, False, True]
    assert found.status.tolist() == ["reached", "beyond", "invalid", "reached"]
    assert np.isnan(found.q[1:3]).all()
    assert found.valid.tolist() == [True, True, False, True]
    assert np.isfinite(found.best.q[1]).all()
    assert np.isnan(found.diversity[1])


def test_what_is_within_tolerance_of_one_solution_is_one() -> None:
    """A stretched planar arm moves its tip by less than 0.1 mm while its elbow bends by a degree."""
    stretched = lw.solve_batch(lw.models.planar([1, 1]), "tip", [[2.0, 0.0, 0.0]], solutions=4, **FLAT)
    assert stretched.counts.tolist() == [1]


def test_only_free_ones_where_something_is_to_be_avoided() -> None:
    world = lw.World([lw.Obstacle(lw.Box((0.1, 2.0, 2.0)), (0.75, 0.0, 0.5))])
    avoid = lw.Avoid(world, margin=0.01)
    targets = targets_of(PANDA, 200, 3)
    targets = targets[np.hypot(targets[:, 0, 3], targets[:, 1, 3]) < 0.5][:20]
    found = lw.solve_batch(PANDA, "tip", targets, solutions=4, avoid=avoid)
    poses = found.q[found.mask]
    assert len(poses) > 20
    assert (avoid.clearance(PANDA, poses) >= 0.01).all()
    assert (found.success == (found.status == "reached")).all()


@pytest.mark.parametrize("name", ["seven joints", "place alone"])
def test_solutions_depend_on_the_number_of_a_target_alone(name: str) -> None:
    arm, options = ARMS[name]
    targets = targets_of(arm, 20)
    whole = lw.solve_batch(arm, "tip", targets, solutions=4, threads=2, **options)
    part = lw.solve_batch(arm, "tip", targets[13:], solutions=4, threads=1, first=13, **options)
    assert_allclose(part.q, whole.q[13:], rtol=0.0, atol=0.0)


@pytest.mark.parametrize(
    "wrong", [{"solutions": 0}, {"solutions": 1.5}, {"solutions": 2, "apart": 0.0}, {"apart": 0.1}]
)
def test_wrong_numbers_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        lw.solve_batch(UR5, "tip", targets_of(UR5, 1), **wrong)


def test_rows_are_picked_as_from_an_array() -> None:
    found = lw.solve_batch(UR5, "tip", targets_of(UR5, 6), solutions=3)
    assert_allclose(found[2], found.q[2, found.mask[2]])
    assert [len(poses) for poses in found] == found.mask.sum(axis=1).tolist()
    some = found[[4, 1]]
    assert_allclose(some.q, found.q[[4, 1]])
    assert_allclose(some.residuals, found.residuals[[4, 1]])
    assert some.status.tolist() == ["reached", "reached"]


def test_answers_have_the_leading_axes_of_their_targets() -> None:
    targets = targets_of(UR5, 6)
    flat, folded = (lw.solve_batch(UR5, "tip", t, solutions=3) for t in (targets, targets.reshape(2, 3, 4, 4)))
    assert folded.q.shape == (2, 3, 3, 6)
    assert_allclose(folded.q.reshape(flat.q.shape), flat.q)
    assert_allclose(folded.diversity.ravel(), flat.diversity)
    assert_allclose(folded.residuals.reshape(flat.residuals.shape), flat.residuals)
