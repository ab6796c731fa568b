"""Lesson 9: inverse and pseudoinverse, one Euler step at a time."""

from __future__ import annotations

import numpy as np

from ..textbook import NEAR, START, arm
from .lesson import Exercise, Lesson


def _first_slider() -> float:
    return float((np.linalg.pinv(np.array([[1.0, 1.0]])) @ [6.0])[0])


def _distances(steps: int, size: float = 1.0) -> list[float]:
    """Return the distances of the tip from the goal of the worked example, before the first step and after each."""
    linkage, q = arm(), np.array(START)
    found = []
    for _ in range(steps + 1):
        way = np.array(NEAR) - linkage.forward(q, frame="tip")[:2, 3]
        found.append(float(np.linalg.norm(way)))
        q = q + size * np.linalg.pinv(linkage.jacobian(q, "tip")[:2]) @ way
    return found


def _steps_needed() -> float:
    return float(next(k for k, distance in enumerate(_distances(30)) if distance < 0.001))


LESSON = Lesson(
    9,
    "pseudoinverse",
    "Inverse and pseudoinverse, one Euler step at a time",
    "5.3.3",
    ("euler-steps", "follow"),
    (
        Exercise(
            "Two prismatic joints in a row slide along the same line, so J = [1 1]. The tip should move by 6 cm. By "
            "how much does the pseudoinverse move the first joint?",
            _first_slider,
            unit="cm",
            tolerance=0.01,
            hint="JJᵀ is the number 2. Solve 2β = 6, then multiply Jᵀ by β.",
            why="Both joints move by 3 cm. Of all pairs that add up to 6 this one has the smallest sum of squares.",
        ),
        Exercise(
            "The arm (15, 10, 5) starts at (π/8, π/4, π/4), the goal is (−20, 5). It takes one step of the "
            "pseudoinverse of half the size, h = 0.5. How far is the tip from the goal then?",
            lambda: _distances(1, size=0.5)[-1],
            unit="",
            tolerance=0.1,
            hint="Use the code under “Steps that are too large”, with half the change, or the figure with h at 0.5.",
            why="The Jacobian predicts 19.3, half of 38.6. The step is still too large, but h = 1 leaves 31.7.",
        ),
        Exercise(
            "Go on with full steps from the same start. After how many steps is the tip within 0.001 of the goal for "
            "the first time?",
            _steps_needed,
            unit="",
            tolerance=0.1,
            hint="Put the step into a loop and print the distance each time.",
            why=(
                "For a while the arm wanders. Once it is near, each step squares the error: 1.1, 0.04, 0.00004. That "
                "is Newton's method."
            ),
        ),
    ),
)
