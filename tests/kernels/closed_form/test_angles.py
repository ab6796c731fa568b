"""The angle of a point, with scalars and lanes, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_array_equal

from linkwork.kernels.closed_form.angles import atan2
from linkwork.kernels.compiler import ARITHMETIC
from linkwork.kernels.lanes import cells, load, store

WIDTHS = {"float64": 8, "float32": 16}


@njit(**ARITHMETIC)
def angles(y, x, out):
    a, b, c = cells(y), cells(x), cells(out)
    for k in range(y.shape[0]):
        store(c, k, atan2(load(a, k), load(b, k)))


def found(y: np.ndarray, x: np.ndarray, *, lanes: bool) -> np.ndarray:
    shape = (-1, WIDTHS[x.dtype.name]) if lanes else (-1,)
    out = np.empty_like(x).reshape(shape)
    angles(y.reshape(shape), x.reshape(shape), out)
    return out.ravel()


@pytest.mark.parametrize(("dtype", "lanes"), [("float64", False), ("float64", True), ("float32", True)])
def test_angles_are_right_to_the_last_places(dtype: str, lanes: bool) -> None:
    generator = np.random.default_rng(0)
    turn, size = generator.uniform(-np.pi, np.pi, 80_000), np.exp(generator.uniform(-60.0, 60.0, 80_000))
    turn[::7] *= np.exp(generator.uniform(-30.0, 0.0, len(turn[::7])))
    y, x = (size * np.sin(turn)).astype(dtype), (size * np.cos(turn)).astype(dtype)
    exact = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    error = np.abs(found(y, x, lanes=lanes) - exact) / np.spacing(np.abs(exact).astype(dtype))
    assert error.max() < 2.5


@pytest.mark.parametrize("lanes", [False, True], ids=["numbers", "lanes"])
def test_angles_on_the_axes(lanes: bool) -> None:
    x = np.array([1.0, 0.0, -1.0, 0.0, 0.0, 1.0, -1.0, np.nan])
    y = np.array([0.0, 1.0, 0.0, -1.0, 0.0, 1.0, -1.0, 1.0])
    got = found(y, x, lanes=lanes)
    quarter = np.pi / 4.0
    assert_array_equal(got[:7], [0.0, 2 * quarter, 4 * quarter, -2 * quarter, 0.0, quarter, -3 * quarter])
    assert np.isnan(got[7])
