"""Lesson 14: cyclic coordinate descent."""

from __future__ import annotations

import math

import numpy as np

from ...goals import Reach
from ...solvers import solve
from ..arms import planar
from .lesson import Exercise, Lesson

GOAL = (-20.0, 5.0)
START = (math.pi / 8, math.pi / 4, math.pi / 4)


def last_turn() -> float:
    """Return the rotation of joint 3, the first to move: the angle from end effector to goal about the joint [deg]."""
    arm = planar([15, 10, 5])
    joint = arm.forward(START, frame="link3")[:2, 3]
    e, g = arm.forward(START, frame="tip")[:2, 3] - joint, np.array(GOAL) - joint
    return math.degrees(math.atan2(e[0] * g[1] - e[1] * g[0], e @ g))


def sweeps() -> float:
    """Return the number of sweeps that bring the end effector within 0.1 mm of a goal near the edge of its reach."""
    return float(solve(planar([15, 10, 5]), Reach("tip", position=(0.0, 25.0)), start=START, method="ccd").iterations)


def most_useful() -> float:
    """Return the joint that alone brings the end effector nearest to the goal; its best distance is | |g| - |e| |."""
    arm = planar([15, 10, 5])
    tip = arm.forward(START, frame="tip")[:2, 3]
    joints = [arm.forward(START, frame=f"link{k}")[:2, 3] for k in (1, 2, 3)]
    left = [abs(np.linalg.norm(np.array((10.0, 20.0)) - at) - np.linalg.norm(tip - at)) for at in joints]
    return 1.0 + int(np.argmin(left))


LESSON = Lesson(
    number=14,
    name="ccd",
    title="Cyclic coordinate descent",
    section="5.3.3",
    figures=("ccd-turns",),
    exercises=(
        Exercise(
            "Links of 15, 10 and 5, pose (π/8, π/4, π/4), goal (-20, 5). By which angle does joint 3 turn in the first "
            "step of cyclic coordinate descent?",
            last_turn,
            unit="deg",
            tolerance=0.5,
            hint="Joint 3 is the origin of frame link3. Use atan2 of the cross product and the dot product of e and g.",
            why="Seen from joint 3, the goal is 82.3 degrees further round than the end effector.",
        ),
        Exercise(
            "The same arm and pose, but the goal is (0, 25): how many sweeps does lw.solve with method 'ccd' need, at "
            "its default tolerance?",
            sweeps,
            tolerance=0.5,
            hint="solution.iterations counts sweeps, not turns.",
            why="The goal (-20, 5) took five. Nearer the edge of reach two joints correct each other again and again.",
        ),
        Exercise(
            "The same arm and pose, the goal is (10, 20), the method 'ranked-ccd'. Which joint, 1, 2 or 3, turns first "
            "because it brings the end effector nearest to the goal?",
            most_useful,
            tolerance=0.1,
            hint="Turned alone, a joint brings the end effector onto the ray to the goal. | |g| - |e| | is left.",
            why="Joint 2 has nearly the same distance to both, so turning it brings the end effector to the goal.",
        ),
    ),
)
