"""Quadratic programs: as good as DAQP, with bounds and rows kept, and the least violation of infeasible rows."""

from __future__ import annotations

from typing import Any

import daqp
import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls

from linkwork.kernels.quadratic import INDEFINITE, RELAXED, SOLVED, least_quadratic
from linkwork.transforms import FloatArray

OPEN = 1e30


def problem(rng: np.random.Generator, n: int, m: int, tasks: int) -> tuple[FloatArray, ...]:
    """Return a least-squares problem as in control: few tasks, a little damping, bounds, rows that zero keeps."""
    A, b = rng.normal(size=(tasks, n)), rng.normal(size=tasks)
    hessian = A.T @ A + 10.0 ** rng.uniform(-6.0, 0.0) * np.eye(n)
    high = rng.uniform(0.0, 1.0, n) ** 2
    low = -(rng.uniform(0.0, 1.0, n) ** 2)
    matrix = rng.normal(size=(m, n))
    if m > 2:
        matrix[-1] = matrix[0]  # a duplicate row,
        matrix[-2] = 0.5 * (matrix[0] + matrix[1])  # and a combination of others
    upper = np.maximum(rng.normal(size=m), 0.0)  # half of them are active at the start
    open_bounds = rng.random(n) < 0.2
    low[open_bounds], high[open_bounds] = -np.inf, np.inf
    return hessian, -A.T @ b, low, high, matrix, upper


def judged(hessian: FloatArray, gradient: FloatArray, low: Any, high: Any, matrix: Any, upper: Any) -> tuple[Any, int]:
    n, m = len(gradient), len(upper)
    found, _, flag, _ = daqp.solve(
        hessian,
        gradient,
        np.ascontiguousarray(np.concatenate([np.eye(n), matrix])),
        np.clip(np.concatenate([high, upper]), -OPEN, OPEN),
        np.clip(np.concatenate([low, np.full(m, -OPEN)]), -OPEN, OPEN),
        primal_tol=1e-11,
    )
    return np.asarray(found), flag


def value(hessian: FloatArray, gradient: FloatArray, x: FloatArray) -> float:
    return float(x @ hessian @ x / 2.0 + gradient @ x)


@pytest.mark.parametrize(("n", "m", "tasks"), [(1, 1, 1), (2, 3, 2), (6, 0, 6), (7, 12, 6), (7, 30, 6), (30, 20, 12)])
def test_as_good_as_daqp_and_within_all_that_is_asked(n: int, m: int, tasks: int) -> None:
    rng, compared, relaxed, count = np.random.default_rng(n + 100 * m), 0, 0, 1000 if n < 10 else 60
    for _ in range(count):
        given = problem(rng, n, m, tasks)
        hessian, gradient, low, high, matrix, upper = given
        x, ended = least_quadratic(*given)
        relaxed += ended == RELAXED  # only zero is feasible, with more active rows than unknowns
        assert ended in (SOLVED, RELAXED)
        assert (x >= low).all()
        assert (x <= high).all()
        kept = (1e-8 if m < 30 else 1e-7) if ended == SOLVED else 1e-5
        assert (matrix @ x <= upper + kept).all()
        other, flag = judged(*given)
        if flag != 1:
            continue
        compared += 1
        ours, theirs = value(hessian, gradient, x), value(hessian, gradient, other)
        assert ours <= theirs + 1e-7 * (1.0 + abs(theirs))
    assert compared >= 0.8 * count
    assert relaxed <= 0.01 * count


def test_best_by_its_own_conditions() -> None:
    """The optimality conditions hold: active rows and bounds balance the gradient, with multipliers of one sign."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        hessian, gradient, low, high, matrix, upper = given = problem(rng, 7, 9, 6)
        x, _ = least_quadratic(*given)
        normals = np.concatenate([-np.eye(7)[x <= low + 1e-7], np.eye(7)[x >= high - 1e-7]])
        touched = matrix @ x >= upper - 1e-7
        normals = np.concatenate([normals, matrix[touched]])
        slope = -(hessian @ x + gradient)
        left = nnls(normals.T, slope)[1] if len(normals) else np.linalg.norm(slope)
        assert left < 1e-6 * (1.0 + np.linalg.norm(gradient))


def test_what_cannot_be_kept_is_missed_by_the_least_squares_and_bounds_hold() -> None:
    hessian, gradient = np.eye(2), np.zeros(2)
    low, high = np.full(2, -1.0), np.full(2, 1.0)
    matrix, upper = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([-0.5, -0.1])  # x <= -0.5 and x >= 0.1
    x, ended = least_quadratic(hessian, gradient, low, high, matrix, upper)
    assert ended == RELAXED
    assert x[0] == pytest.approx(-0.2, abs=1e-6)  # the middle
    x, ended = least_quadratic(hessian, gradient, low, high, np.array([[1.0, 1.0]]), np.array([-5.0]))
    assert ended == RELAXED
    np.testing.assert_allclose(x, [-1.0, -1.0])


def test_least_violation_of_random_rows_is_that_of_scipy() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        hessian, gradient, low, high, matrix, _ = problem(rng, 5, 8, 4)
        low, high = np.maximum(low, -1.0), np.minimum(high, 1.0)
        upper = np.full(8, -2.0) - 3.0 * rng.random(8)
        x, ended = least_quadratic(hessian, gradient, low, high, matrix, upper)
        assert ended == RELAXED
        slack = np.concatenate([matrix, -np.eye(8)], axis=1)  # G x - h = s, s free where positive
        bound = np.concatenate([low, np.full(8, -np.inf)]), np.concatenate([high, np.zeros(8)])
        best = lsq_linear(slack, upper, bounds=(bound[0] - 1e-12, bound[1] + 1e-12), tol=1e-12)
        ours = float(np.sum(np.maximum(matrix @ x - upper, 0.0) ** 2))
        assert ours <= 2.0 * best.cost * (1.0 + 1e-4) + 1e-9


def test_a_matrix_that_is_not_positive_definite_is_said() -> None:
    given = np.diag([1.0, -1.0]), np.ones(2), np.zeros(2), np.ones(2), np.zeros((0, 2)), np.zeros(0)
    assert least_quadratic(*given)[1] == INDEFINITE
