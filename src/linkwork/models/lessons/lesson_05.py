"""Lesson 5: pose vectors, keys and splines."""

from __future__ import annotations

import math

from ...motion.clips import interpolate
from ..arms import planar
from .lesson import Exercise, Lesson


def _angle_at(time: float, kind: str) -> float:
    """Return the angle [deg] of a joint with keys of 20° at 0 s and of 80° at 2 s."""
    arm = planar([10])
    clip = interpolate(arm, [(0, [math.radians(20)]), (2, [math.radians(80)])], fps=100, kind=kind)
    return math.degrees(float(clip.at([time])[0, 0]))


def _height() -> float:
    """Return the height of the tip of one link of length 10, halfway between poses of 0° and 180°."""
    arm = planar([10])
    clip = interpolate(arm, [(0, [0.0]), (1, [math.pi])], fps=100, kind="linear", wrap=False)
    return float(arm.forward(clip.at([0.5])[0], frame="tip")[1, 3])


LESSON = Lesson(
    5,
    "keys",
    "Pose vectors, keys and splines",
    "5.2",
    ("keys",),
    (
        Exercise(
            "A joint has a key of 20° at 0 seconds and one of 80° at 2 seconds. What is its angle at 1.5 seconds "
            "with linear interpolation?",
            lambda: _angle_at(1.5, "linear"),
            unit="deg",
            tolerance=0.2,
            hint="1.5 seconds is three quarters of the way.",
            why="20° + 0.75 · 60°.",
        ),
        Exercise(
            "The same keys with ease, s(u) = 3u² − 2u³. What is the angle at 0.5 seconds?",
            lambda: _angle_at(0.5, "ease"),
            unit="deg",
            tolerance=0.2,
            hint="u is 0.25. Compute s first, then go that fraction of the way.",
            why="s = 0.156: a quarter of the time, but only a sixth of the way, because the joint starts from rest.",
        ),
        Exercise(
            "An arm of one link of length 10 points to the right, at 0°. One second later it is at 180°. "
            "You interpolate the pose linearly. How high above the base is the tip after half a second?",
            _height,
            tolerance=0.05,
            hint="Which angle does the joint have then? The pose is interpolated, not the tip position.",
            why="At 90° the tip is 10 above the base. A straight line between the tip positions goes through the base.",
        ),
    ),
)
