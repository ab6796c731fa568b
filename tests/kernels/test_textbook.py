"""Textbook steps in plain loops: compared with NumPy's own factorisations, and with the methods of the solvers."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernels.textbook import damped_step, pseudoinverse_step, textbook_room, transpose_step
from linkwork.solvers import jacobian as methods

SHAPES = [(1, 1), (2, 3), (3, 3), (6, 7), (6, 5), (6, 30), (12, 7), (3, 1)]


def cases(m: int, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return Jacobians and errors: of full rank, nearly singular, of lost rank, and with columns of zeros."""
    rng = np.random.default_rng([m, n])
    full = [rng.normal(size=(m, n)) for _ in range(20)]
    near = [J * np.geomspace(1.0, 1e-6, n) for J in full[:5]]
    lost = [J.copy() for J in full[:5]]
    for J in lost:
        J[-1] = J[0]
    held = [J * (rng.random(n) < 0.6) for J in full[:5]]
    return [(J, rng.normal(size=m)) for J in (*full, *near, *lost, *held, np.zeros((m, n)))]


@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_steps_are_those_of_numpy(m: int, n: int) -> None:
    change, room = np.empty(n), np.empty(textbook_room(m, n))
    for J, V in cases(m, n):
        alpha = transpose_step(J, V, 0.0, change)
        moved = J @ J.T @ V
        fits = V @ moved / (moved @ moved) if moved.any() else 0.0
        assert alpha == pytest.approx(fits, rel=1e-12)
        np.testing.assert_allclose(change, fits * J.T @ V, rtol=1e-12, atol=1e-12)
        transpose_step(J, V, 0.25, change)
        np.testing.assert_allclose(change, 0.25 * J.T @ V, rtol=1e-12, atol=1e-12)
        assert damped_step(J, V, 0.01, room, change)
        np.testing.assert_allclose(change, methods.damped_step(J, V, 0.01), rtol=1e-9, atol=1e-9)
        kept = pseudoinverse_step(J, V, 1e-10, room, change)
        assert kept == np.linalg.matrix_rank(J, rtol=1e-10)
        wanted = np.linalg.pinv(J, rcond=1e-10) @ V
        np.testing.assert_allclose(change, wanted, rtol=1e-8, atol=1e-8 * max(1.0, np.abs(wanted).max()))


def test_a_singular_matrix_without_damping_is_told() -> None:
    J = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert not damped_step(J, np.ones(2), 0.0, np.empty(textbook_room(2, 2)), np.empty(2))
    assert damped_step(J, np.ones(2), 1e-6, np.empty(textbook_room(2, 2)), np.empty(2))
