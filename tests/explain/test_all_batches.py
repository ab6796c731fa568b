"""All solutions of many targets: the same as for each target alone, whatever the other targets are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
import six_joint_arms
from linkwork.errors import OptionError

TWO = lw.models.planar([2, 1])
PLACES = np.array([[1.0, 2.0], [4.0, 0.0], [np.nan, 0.0], [0.5, -1.5]])
FLAT = {"position": "xy", "orientation": False}


def test_what_is_searched_is_not_proven() -> None:
    found = lw.solve_all_batch(lw.models.planar([2, 1, 1]), "tip", PLACES[:2], most=3, **FLAT)
    assert (found.mask.sum(axis=1).tolist(), found.valid.tolist()) == ([3, 1], [True, True])  # stretched out
    assert not found.complete.any()


def test_rows_are_what_each_target_has_alone() -> None:
    found = lw.solve_all_batch(TWO, "tip", PLACES, most=3, **FLAT)
    assert found.q.shape == (4, 3, 2)
    assert (found.counts.tolist(), found.mask.sum(axis=1).tolist()) == ([2, 0, 0, 2], [2, 0, 0, 2])
    assert found.valid.tolist() == [True, True, False, True]
    assert np.isnan(found.q[~found.mask]).all()
    assert found.complete.tolist() == [True, True, False, True]
    for k in (0, 3):
        alone = lw.solve_all(TWO, lw.Reach("tip", position=PLACES[k])).q
        ours = found.q[k, found.mask[k]]
        assert_allclose(ours[np.argsort(ours[:, 1])], alone[np.argsort(alone[:, 1])], atol=1e-8)
    assert "4 solutions of 4 targets" in repr(found)


def test_what_does_not_fit_is_counted() -> None:
    found = lw.solve_all_batch(TWO, "tip", PLACES[:1], most=1, **FLAT)
    assert (found.counts.tolist(), found.mask.tolist()) == ([2], [[True]])


def test_no_targets_are_no_error() -> None:
    assert lw.solve_all_batch(lw.models.ur5(), "tip", np.zeros((0, 4, 4))).q.shape == (0, 8, 6)


@pytest.mark.parametrize("options", [{"most": 0}, {"apart": -1.0}, {"start": np.zeros((2, 2))}, {"tolerances": 1.0}])
def test_wrong_input_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        lw.solve_all_batch(TWO, "tip", PLACES, **FLAT, **options)


UR5 = lw.models.ur5()


def test_a_closed_form_gives_what_each_target_has_alone() -> None:
    targets = UR5.forward(UR5.random_pose(1, 12), frame="tip")
    targets[3, :3, 3] *= 3.0  # beyond the reach
    targets[7] = np.nan
    targets[8, :3, :3] *= 2.0
    found = lw.solve_all_batch(UR5, "tip", targets)
    assert found.q.shape == (12, 8, 6)
    assert found.valid.tolist() == [k not in (7, 8) for k in range(12)]
    assert found.complete.tolist() == found.valid.tolist()
    assert found.counts[[3, 7, 8]].tolist() == [0, 0, 0]
    assert np.isnan(found.q[~found.mask]).all()
    for k in np.flatnonzero(found.counts):
        alone, ours = lw.solve_all(UR5, lw.Reach("tip", pose=targets[k])).q, found.q[k, found.mask[k]]
        assert_allclose(ours[np.lexsort(ours.T)], alone[np.lexsort(alone.T)], atol=1e-9)


def test_what_is_proven_of_one_target_is_proven_in_a_batch() -> None:
    """Straight up, the elbow is stretched and the shoulder singular: two double roots, so there is no proof."""
    up = [[0.3, -np.pi / 2, 0.0, k * np.pi / 2, fifth, 0.4] for k in range(-2, 3) for fifth in (0.0, 0.7, -1.2)]
    poses = np.concatenate([up, UR5.random_pose(4, 5)])
    targets = UR5.forward(poses, frame="tip")
    found = lw.solve_all_batch(UR5, "tip", targets)
    alone = [lw.solve_all(UR5, lw.Reach("tip", pose=target)).complete for target in targets]
    assert found.complete.tolist() == alone
    assert found.complete[len(up) :].all()
    assert not found.complete[: len(up)].all()


def test_a_target_with_another_last_row_is_not_valid() -> None:
    arm = lw.models.ur5()
    targets = np.tile(arm.forward("ready", frame="tip"), (3, 1, 1))
    targets[1, 3] = [*targets[1, :3, 3].tolist(), 1.0]
    found = lw.solve_all_batch(arm, "tip", targets)
    assert found.valid.tolist() == found.complete.tolist() == (found.counts > 0).tolist() == [True, False, True]
    assert np.isnan(found.q[~found.mask]).all()


@pytest.mark.parametrize("name", ["UR5", "Puma 560", "Jaco 2"])
def test_what_is_no_rigid_transform_has_no_solution(name: str) -> None:
    arm = six_joint_arms.linkage(name)
    targets = arm.forward(arm.random_pose(6, 9), frame="tip")
    targets[1, :3, 2] *= -1.0  # a mirror image
    targets[2, :3, 0] *= 1.001
    targets[3, :3, 1] += 0.001 * targets[3, :3, 0]
    targets[4, 0, :] = [2.0, 0.0, 0.0, 0.0]
    targets[5, 3] = 0.0
    found = lw.solve_all_batch(arm, "tip", targets)
    assert found.valid.tolist() == (found.counts > 0).tolist() == [k not in range(1, 6) for k in range(9)]
    assert not found.complete[1:6].any()


def test_room_for_fewer_or_more_than_there_are() -> None:
    targets = UR5.forward(UR5.random_pose(1, 4), frame="tip")
    full = lw.solve_all_batch(UR5, "tip", targets)
    few, many = (lw.solve_all_batch(UR5, "tip", targets, most=most) for most in (3, 20))
    assert (few.q.shape, many.q.shape) == ((4, 3, 6), (4, 20, 6))
    assert few.counts.tolist() == many.counts.tolist() == full.counts.tolist()
    for k, count in enumerate(full.counts.tolist()):
        solutions = full.q[k, full.mask[k]]
        assert_allclose(many.q[k, :count], solutions)
        assert_allclose(few.q[k, : min(3, count)], solutions[:3])
        assert not many.mask[k, count:].any()


def test_joints_beside_the_chain_stay_at_the_start() -> None:
    arm = UR5.attach(lw.models.planar([0.2, 0.1]), "tip", prefix="finger_")
    start = arm.random_pose(2)
    targets = arm.forward(arm.random_pose(3, 3), frame="tip")
    found = lw.solve_all_batch(arm, "tip", targets, start=start)
    assert found.counts.tolist() == lw.solve_all_batch(UR5, "tip", targets).counts.tolist()
    reached = arm.forward(found.q[found.mask], frame="tip")
    assert_allclose(reached, np.repeat(targets, found.counts, axis=0), atol=1e-9)
    assert_allclose(found.q[found.mask][:, 6:], np.tile(start[6:], (int(found.counts.sum()), 1)))
