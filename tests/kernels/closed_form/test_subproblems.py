"""Subproblems, with scalars and lanes: results satisfy the equations in NumPy, and no root is missing."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose

from linkwork.kernels.closed_form.form_layout import CLOSE, DISTINCT, DOUBLE, FREE, NUMBERS
from linkwork.kernels.closed_form.subproblems import aligned, brought, measures
from linkwork.kernels.compiler import ARITHMETIC
from linkwork.kernels.joint_step import vector
from linkwork.kernels.lanes import cells, load, select, store
from linkwork.transforms import axis_rotation

COUNT = 64


@njit(**ARITHMETIC)
def roots(numbers, slides, sphere, given, sign, out):
    """Write pair, miss and sameness for columns of h, c, anchor, x, z, each of three."""
    a, b, size = cells(given), cells(out), measures(cells(numbers))
    for k in range(given.shape[0] // 15):
        at = 15 * k
        h, c, anchor = vector(a, at), vector(a, at + 3), vector(a, at + 6)
        pair, miss, same = brought(
            slides, sphere, h, c, anchor, vector(a, at + 9), vector(a, at + 12), load(cells(sign), 0), size
        )
        store(b, 4 * k, pair[0])
        store(b, 4 * k + 1, pair[1])
        store(b, 4 * k + 2, miss)
        store(b, 4 * k + 3, same)


@njit(**ARITHMETIC)
def turns(given, out):
    """Write the pair that rotates x about h into y, and whether the angle is free."""
    a, b = cells(given), cells(out)
    for k in range(given.shape[0] // 9):
        pair, free = aligned(vector(a, 9 * k), vector(a, 9 * k + 3), vector(a, 9 * k + 6), 1e-24)
        store(b, 3 * k, pair[0])
        store(b, 3 * k + 1, pair[1])
        store(b, 3 * k + 2, select(free, 1.0, 0.0))


def packed() -> np.ndarray:
    numbers = np.zeros(NUMBERS.size)
    view = NUMBERS.view(numbers)
    view.extent, view.unreach, view.floor = 1.0, 1.0, 0.0
    return numbers


def cases(slides: bool, sphere: bool, *, reachable: bool) -> np.ndarray:
    """Return h, c, anchor, x and z of random cases, shape (COUNT, 5, 3); z is an image of x, or out of reach."""
    rng = np.random.default_rng(3)
    h, c, anchor, x = rng.normal(size=(4, COUNT, 3))
    h /= np.linalg.norm(h, axis=1)[:, None]
    if not sphere:
        anchor /= np.linalg.norm(anchor, axis=1)[:, None]
    amounts = rng.uniform(-3.0, 3.0, COUNT)
    z = np.array([moved(slides, h[k], c[k], amounts[k], x[k]) for k in range(COUNT)])
    if not reachable:
        z = z + 20.0 * anchor if not sphere else anchor + 50.0 * (z - anchor)
    return np.stack([h, c, anchor, x, z], axis=1)


def moved(slides: bool, h: np.ndarray, c: np.ndarray, amount: float, x: np.ndarray) -> np.ndarray:
    return x + amount * h if slides else c + axis_rotation(h, amount) @ (x - c)


def level(sphere: bool, anchor: np.ndarray, x: np.ndarray) -> float:
    return float(np.linalg.norm(x - anchor) if sphere else anchor @ x)


def solved(slides: bool, sphere: bool, given: np.ndarray, sign: float, *, lanes: bool) -> np.ndarray:
    """Return pair, miss and sameness of every case, shape (COUNT, 4)."""
    if lanes:  # eight cases side by side
        memory = given.reshape(-1, 8, 15).swapaxes(1, 2).reshape(-1, 8)
        out, signs = np.empty((4 * COUNT // 8, 8)), np.full((1, 8), sign)
        roots(packed(), slides, sphere, np.ascontiguousarray(memory), signs, out)
        return out.reshape(-1, 4, 8).swapaxes(1, 2).reshape(-1, 4)
    out = np.empty(4 * COUNT)
    roots(packed(), slides, sphere, given.reshape(-1).copy(), np.array([sign]), out)
    return out.reshape(-1, 4)


@pytest.mark.parametrize("lanes", [False, True], ids=["numbers", "lanes"])
@pytest.mark.parametrize("slides", [False, True], ids=["turn", "slide"])
@pytest.mark.parametrize("sphere", [False, True], ids=["plane", "sphere"])
def test_a_joint_brings_a_point_onto_a_plane_or_a_sphere(sphere: bool, slides: bool, lanes: bool) -> None:
    given = cases(slides, sphere, reachable=True)
    ends = []
    for sign in (1.0, -1.0):
        found = solved(slides, sphere, given, sign, lanes=lanes)
        assert (found[:, 2] <= 1e-12).all()
        for (h, c, anchor, x, z), (cosine, sine, _, _) in zip(given, found, strict=True):
            amount = cosine if slides else np.arctan2(sine, cosine)
            assert slides or cosine**2 + sine**2 == pytest.approx(1.0, abs=1e-14)
            end = moved(slides, h, c, amount, x)
            assert level(sphere, anchor, end) == pytest.approx(level(sphere, anchor, z), abs=1e-11)
        ends.append(found[:, 0])
    single = slides and not sphere
    assert (np.abs(ends[0] - ends[1]) < 1e-9).all() == single


@pytest.mark.parametrize(("slides", "sphere"), [(False, False), (False, True)])
def test_a_point_out_of_reach_is_missed_and_the_joint_comes_as_close_as_it_can(slides: bool, sphere: bool) -> None:
    given = cases(slides, sphere, reachable=False)
    found = solved(slides, sphere, given, 1.0, lanes=True)
    for (h, c, anchor, x, z), (cosine, sine, miss, _) in zip(given, found, strict=True):
        levels = [level(sphere, anchor, moved(slides, h, c, a, x)) for a in np.linspace(-np.pi, np.pi, 721)]
        wanted = level(sphere, anchor, z)
        if min(levels) - 1e-9 <= wanted <= max(levels) + 1e-9:
            continue
        closest = min(abs(wanted - one) for one in levels)
        mine = level(sphere, anchor, moved(slides, h, c, np.arctan2(sine, cosine), x))
        assert abs(wanted - mine) <= closest + 1e-9
        assert miss > 0.0
        assert sphere or miss == pytest.approx(closest, rel=1e-3)


def test_roots_that_meet_are_told_from_others() -> None:
    z_axis, zero, x_axis = np.array([0.0, 0.0, 1.0]), np.zeros(3), np.array([1.0, 0.0, 0.0])
    rows = [(0.5, DISTINCT), (1.0 - 1e-10, CLOSE), (1.0, DOUBLE), (1.5, DOUBLE)]
    for height, expected in rows:
        given = np.tile(np.stack([z_axis, zero, x_axis, x_axis, height * x_axis]), (COUNT, 1, 1))
        assert solved(False, False, given, 1.0, lanes=True)[0, 3] == expected
    given = np.tile(np.stack([z_axis, zero, x_axis, z_axis, z_axis]), (COUNT, 1, 1))
    assert solved(False, False, given, 1.0, lanes=True)[0, 3] == FREE


def test_a_vector_is_turned_into_another() -> None:
    rng = np.random.default_rng(1)
    h, x = rng.normal(size=(2, COUNT, 3))
    h /= np.linalg.norm(h, axis=1)[:, None]
    angles = rng.uniform(-3.0, 3.0, COUNT)
    y = np.array([axis_rotation(h[k], angles[k]) @ x[k] for k in range(COUNT)])
    out = np.empty(3 * COUNT)
    turns(np.stack([h, x, y], axis=1).reshape(-1), out)
    pairs = out.reshape(-1, 3)
    assert_allclose(np.arctan2(pairs[:, 1], pairs[:, 0]), angles, atol=1e-13)
    assert not pairs[:, 2].any()
    turns(np.stack([h, h, h], axis=1).reshape(-1), out)
    assert_allclose(out.reshape(-1, 3), np.tile([1.0, 0.0, 1.0], (COUNT, 1)))
