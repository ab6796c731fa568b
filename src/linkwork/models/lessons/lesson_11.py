"""Lesson 11: damping and its filter factors."""

from __future__ import annotations

import numpy as np

from ...goals import Reach
from ...motion.tracking import track
from ..textbook import FAR, FRAMES, START, arm, largest_step
from .lesson import Exercise, Lesson

LAMBDA = 5.0


def _filter_factor() -> float:
    smallest = float(np.linalg.svd(arm().jacobian(START, "tip")[:2], compute_uv=False)[-1])
    return smallest**2 / (smallest**2 + LAMBDA**2)


def _bound() -> float:
    return 2.0 / (2.0 * LAMBDA)  # |V| / (2 lambda), for a distance of 2


def _largest_step() -> float:
    goal = Reach("tip", position=FAR)
    return largest_step(track(arm(), goal, start=START, frames=FRAMES, steps=1, method="damped", damping=10.0))


LESSON = Lesson(
    11,
    "damping",
    "Damping",
    "5.3.3",
    ("damping", "follow"),
    (
        Exercise(
            "At the start of the worked example the singular values are 28.20 and 7.62. With λ = 5, what is the filter "
            "factor of the smaller one?",
            _filter_factor,
            unit="",
            tolerance=0.005,
            hint="f = σ² / (σ² + λ²).",
            why=(
                "Even in this comfortable pose 30 percent of the motion along the weak direction is held back. λ = 5 "
                "is a strong damping."
            ),
        ),
        Exercise(
            "The goal is 2 away and λ = 5. What is the most that the joints can turn in one step, as the length of the "
            "vector θ̇ in radians, whatever the pose?",
            _bound,
            unit="rad",
            tolerance=0.001,
            hint="The curve σ / (σ² + λ²) has its highest point at σ = λ. How high is it there?",
            why="It is at most |V| / (2λ). The pseudoinverse has no such bound.",
        ),
        Exercise(
            "In figure 5.21, with λ = 5, the largest turn of a joint between two frames is 0.30 radians. What is it "
            "with λ = 10?",
            _largest_step,
            unit="rad",
            tolerance=0.005,
            hint="Change damping in the last lines of the code, or set λ = 10 in the second figure.",
            why="More damping, smaller steps. But look where the tip ends: it lags behind by more.",
        ),
    ),
)
