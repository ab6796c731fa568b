"""Answers of lessons 7 to 12, compared with hand calculations and with NumPy on the arm's equations."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw

DIRECTIONS = np.cumsum([math.pi / 8, math.pi / 4, math.pi / 4])  # of the links of the worked example
X, Y = [15, 10, 5] * np.cos(DIRECTIONS), [15, 10, 5] * np.sin(DIRECTIONS)
# The Jacobian: vectors from each joint to the tip, rotated by 90 degrees.
ROWS = np.array([-np.cumsum(Y[::-1])[::-1], np.cumsum(X[::-1])[::-1]])
NEARLY = math.radians(5)
# The same for two links along x with a nearly straight elbow.
BENT = [[-10 * math.sin(NEARLY)] * 2, [15 + 10 * math.cos(NEARLY), 10 * math.cos(NEARLY)]]
WEAK = np.linalg.eigvalsh(ROWS @ ROWS.T)[0]  # the square of the smaller singular value

BY_HAND = {
    "7.1": 180 - math.degrees(math.acos((225 + 100 - 400) / 300)),
    "7.2": 15 - 10,
    "7.3": math.sqrt(325 - 300 * math.sqrt(3) / 2),
    "8.1": math.hypot(X.sum(), Y.sum()),
    "8.2": math.hypot(*ROWS.sum(axis=1)),
    "9.1": 3,
    "10.1": 150 * math.sin(math.radians(60)),
    "10.2": 90,
    "10.3": 1 / np.linalg.svd(BENT, compute_uv=False)[-1],
    "11.1": WEAK / (WEAK + 25),
    "11.2": 0.2,
    "12.1": 7 - 6,
    "12.2": np.linalg.solve(ROWS[:, :2], -ROWS[:, 2])[1],
    "12.3": 0.35,
}


@pytest.mark.parametrize("number", BY_HAND)
def test_answers(number):
    assert lw.learn.exercise(number).values() == pytest.approx((BY_HAND[number],), abs=1e-6)
