"""Conversion of table columns to transforms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwork.kernels.tables import transforms_of_columns

COUNT = 5
TURNS = Rotation.random(COUNT, random_state=0)
PLACES = np.arange(3.0 * COUNT).reshape(COUNT, 3)


@pytest.mark.parametrize("place", [0, 2, 3])
@pytest.mark.parametrize("numbers", [4, 9])
def test_columns_become_transforms(numbers, place):
    turns = TURNS.as_quat(scalar_first=True) if numbers == 4 else TURNS.as_matrix().reshape(-1, 9)
    columns = np.concatenate([PLACES[:, :place], turns], axis=1).T.copy()
    width = 4 if place else 3
    found = np.full((COUNT, width, width), 7.0)
    transforms_of_columns(columns, place, 1e-3, found)
    expected = np.tile(np.eye(width), (COUNT, 1, 1))
    expected[:, :3, :3] = TURNS.as_matrix()
    expected[:, :place, -1] = PLACES[:, :place]
    np.testing.assert_allclose(found, expected, atol=1e-15)


@pytest.mark.parametrize("length", [0.0, 0.998, 1.002, np.nan, np.inf])
def test_a_quaternion_of_another_length_is_no_turn(length):
    columns = (TURNS.as_quat(scalar_first=True) * [[1.0], [length], [1.0], [1.0], [1.0005]]).T.copy()
    found = np.empty((COUNT, 3, 3))
    transforms_of_columns(columns, 0, 1e-3, found)
    assert np.isnan(found).all(axis=(1, 2)).tolist() == [False, True, False, False, False]
    np.testing.assert_allclose(found[4], TURNS.as_matrix()[4], atol=1e-15)  # close enough to be normalised
