"""Textbook steps in plain loops, compared with NumPy's factorisations and with the methods of the solvers."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernels import textbook
from linkwork.kernels.textbook import textbook_room, textbook_step
from linkwork.solvers import jacobian as methods

SHAPES = [(1, 1), (2, 3), (3, 3), (6, 7), (6, 5), (6, 30), (12, 7), (3, 1)]


def cases(m: int, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return Jacobians and errors: of full rank, nearly singular, singular, and with columns of zeros."""
    rng = np.random.default_rng([m, n])
    full = [rng.normal(size=(m, n)) for _ in range(20)]
    near = [J * np.geomspace(1.0, 1e-6, n) for J in full[:5]]
    lost = [J.copy() for J in full[:5]]
    for J in lost:
        J[-1] = J[0]
    held = [J * (rng.random(n) < 0.6) for J in full[:5]]
    return [(J, rng.normal(size=m)) for J in (*full, *near, *lost, *held, np.zeros((m, n)))]


def step(method: int, J: np.ndarray, V: np.ndarray, amount: float = 0.0, z: np.ndarray | None = None) -> tuple:
    """Return the change of a step and its note."""
    (m, n), change = J.shape, np.full(J.shape[1], np.nan)
    wish = np.zeros(n) if z is None else z
    blocks = np.arange(0, m, 3)
    note = textbook_step(method, J, V.copy(), blocks, wish, amount, 1.0, 1e-10, np.empty(textbook_room(m, n)), change)
    return change, note


@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_steps_are_those_of_numpy(m: int, n: int) -> None:
    for J, V in cases(m, n):
        moved = J @ J.T @ V
        fits = V @ moved / (moved @ moved) if moved.any() else 0.0
        change, alpha = step(textbook.TRANSPOSE, J, V)
        assert alpha == pytest.approx(fits, rel=1e-12)
        np.testing.assert_allclose(change, fits * J.T @ V, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(step(textbook.TRANSPOSE, J, V, 0.25)[0], 0.25 * J.T @ V, rtol=1e-12, atol=1e-12)
        change, damping = step(textbook.DAMPED, J, V, 0.1)
        np.testing.assert_allclose(change, methods.damped_step(J, V, 0.01), rtol=1e-9, atol=1e-9)
        assert damping == pytest.approx(0.1)
        assert step(textbook.DAMPED, J, V, textbook.ADAPTIVE)[1] ** 2 == pytest.approx(0.05 * V @ V + 1e-9)
        wanted = np.linalg.pinv(J, rcond=1e-10) @ V
        near = {"rtol": 1e-8, "atol": 1e-8 * max(1.0, np.abs(wanted).max())}
        change, rank = step(textbook.PSEUDOINVERSE, J, V)
        assert rank == np.linalg.matrix_rank(J, rtol=1e-10)
        np.testing.assert_allclose(change, wanted, **near)
        z = np.linspace(-1.0, 1.0, n)
        wanted = np.linalg.pinv(J, rcond=1e-10) @ (V + J @ z) - z
        np.testing.assert_allclose(step(textbook.CONTROL, J, V, z=z)[0], wanted, **near)


@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_printed_forms_and_the_inverse_are_those_of_numpy(m: int, n: int) -> None:
    rng = np.random.default_rng([n, m])
    J, V = rng.normal(size=(m, n)), rng.normal(size=m)
    form = textbook.ROWS if m <= n else textbook.COLUMNS
    np.testing.assert_allclose(step(form, J, V)[0], np.linalg.pinv(J) @ V, rtol=1e-9, atol=1e-9)
    if m == n:
        change, near = step(textbook.INVERSE, J, V, 1e-8)
        np.testing.assert_allclose(change, np.linalg.solve(J, V), rtol=1e-10, atol=1e-10)
        assert near == 0.0
        J[:, 0] = J[:, -1] if n > 1 else 0.0
        change, near = step(textbook.INVERSE, J, V, 1e-8)
        np.testing.assert_allclose(change, np.linalg.pinv(J, rcond=1e-10) @ V, rtol=1e-9, atol=1e-9)
        assert near == 1.0


def test_a_matrix_without_an_inverse_is_told() -> None:
    J = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert np.isnan(step(textbook.ROWS, J, np.ones(2))[1])
    assert np.isnan(step(textbook.COLUMNS, J, np.ones(2))[1])
    assert step(textbook.DAMPED, J, np.ones(2), 1e-3)[1] == pytest.approx(1e-3)


@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_selective_damping_moves_no_joint_by_more_than_it_may(m: int, n: int) -> None:
    for J, V in cases(m, n):
        gentle, _ = step(textbook.SELECTIVELY_DAMPED, J, 1e-3 * V, 1e4)
        bold, _ = step(textbook.SELECTIVELY_DAMPED, J, 1e3 * V, 0.2)
        assert np.abs(bold).max() <= 0.2 * (1.0 + 1e-12)
        if np.linalg.cond(J) < 1e3:  # no bound is active
            np.testing.assert_allclose(gentle, np.linalg.pinv(J) @ (1e-3 * V), rtol=1e-6, atol=1e-9)
