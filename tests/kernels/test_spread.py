"""Selection of poses that are far apart: the kernel picks the same as a few lines of NumPy, for joints of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from linkwork.kernels.spread import BALL, SLIDES, TURNS, spacing, spread_out

ITEMS = np.array([[0, TURNS], [1, SLIDES], [2, BALL]])
SHARES = np.array([1.0 / np.pi, 0.5, 1.0 / np.pi])


def some_poses(count: int, width: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    poses = rng.uniform(-4.0, 4.0, (count, width, 6))
    poses[..., 2:] /= np.linalg.norm(poses[..., 2:], axis=-1, keepdims=True)
    poses[:, 1] = poses[:, 0]
    poses[:, 1, 0] += 2.0 * np.pi  # a whole turn away: the same pose
    poses[:, 1, 2:] *= -1.0  # and the other sign of a quaternion
    return poses, (rng.random((count, width)) < 0.8).astype(np.uint8)


def differences(one: Any, others: Any) -> Any:
    """Return the differences of joints: an angle, a length, the angle between two rotations."""
    turn = np.angle(np.exp(1j * (others[..., 0] - one[..., 0])))
    ball = 2.0 * np.arccos(np.clip(np.abs((others[..., 2:] * one[..., 2:]).sum(axis=-1)), 0.0, 1.0))
    return np.stack([np.abs(turn), np.abs(others[..., 1] - one[..., 1]), ball], axis=-1)


@pytest.mark.parametrize("given", [False, True])
def test_each_next_pose_is_the_furthest_from_those_before(given: bool) -> None:
    poses, good = some_poses(7, 20)
    starts = poses[:, 5].copy() if given else np.zeros((0, 6))
    picked, counts = np.empty((7, 6), np.int64), np.empty(7, np.int64)
    spread_out(ITEMS, SHARES, poses, good, starts, 0.5, np.empty(20), picked, counts)
    for own, serve, chosen, count in zip(poses, good.astype(bool), picked, counts, strict=True):
        squares = (differences(own[5], own) ** 2).sum(axis=-1)
        order = [int(np.argmin(np.where(serve, squares, np.inf))) if given else int(np.argmax(serve))]
        while len(order) < 6:
            away = np.array([differences(own[k], own) for k in order])
            apart = np.where(
                serve & (away.max(axis=-1) >= 0.5).all(axis=0), (away * SHARES).max(axis=-1).min(axis=0), -1
            )
            if apart.max() < 0.0:
                break
            order.append(int(np.argmax(apart)))
        assert chosen[:count].tolist() == order


def test_spacing_is_that_of_all_pairs() -> None:
    poses, good = some_poses(5, 4)
    good[0], good[1] = 0, [0, 0, 1, 0]
    found = np.empty((5, 2))
    spacing(ITEMS, SHARES, poses, good, found)
    assert_array_equal(np.isnan(found[:2]), True)
    for own, serve, two in zip(poses[2:], good[2:].astype(bool), found[2:], strict=True):
        kept = own[serve]
        pairs = (differences(kept[:, None], kept) * SHARES).max(axis=-1)[np.triu_indices(len(kept), 1)]
        assert_allclose(two, (pairs.min(), pairs.mean()), atol=1e-7)
