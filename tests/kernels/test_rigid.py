"""Targets that are not rigid transforms are recognised."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from linkwork.kernels.rigid import rigid_targets


def test_flaws_are_found_and_rounding_is_not_one():
    targets = np.tile(np.eye(4), (12, 1, 1))
    targets[:, :3, :3] = Rotation.random(12, random_state=0).as_matrix()
    targets[1, :3, :3] *= 1.0 + 1e-7
    targets[2, :3, 3] = 1e99
    wrong = targets[3:]
    wrong[0, 0, 0] = np.nan
    wrong[1, :3, :3] *= 1.01
    wrong[2, :3, :3] *= -1.0  # a reflection
    wrong[3, 0, 3] = np.inf
    wrong[4, 1, 3] = -1e101
    wrong[5, 3, 3] = 2.0
    wrong[6, 3, 0] = 0.1
    wrong[7, 2, 3] = np.nan
    wrong[8] = 0.0
    good = np.full(12, 7)
    rigid_targets(targets, good)
    assert good.tolist() == [1, 1, 1] + 9 * [0]
