"""Small batches of every kind, for the simulator of a graphics card and for the processor."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw

PANDA = lw.models.panda()
HUMAN = lw.models.human()
BALLS = (HUMAN, "left_hand")
TARGETS = PANDA.forward(PANDA.random_pose(0, 6), frame="tip")
TARGETS[1, 0, 3] += 2.0  # out of reach
TARGETS[2, 1, 1] = np.nan
CASES: dict[str, dict[str, Any]] = {
    "race": {},
    "single": {"dtype": "float32"},
    "double": {"dtype": "float64"},
    "positions": {"orientation": False},
    "rotations": {"position": False},
    "spinning": {"free": "z"},
    "unlimited": {"limits": False},
    "tight": {"tolerance": 1e-9, "rotation_tolerance": 1e-9},
    "one start": {"restarts": 1},
    "planar": {"position": "xy", "orientation": False},
    "balls": {},
}


def case_of(name: str) -> tuple[lw.Linkage, str, Any, dict[str, Any]]:
    """Return linkage, frame, targets and options of a case."""
    options = dict(CASES[name])
    if name == "planar":
        return lw.models.planar([15, 10, 5]), "tip", np.array([[-20.0, 5.0], [3.0, 4.0], [100.0, 0.0]]), options
    if name == "balls":
        return *BALLS, HUMAN.forward(HUMAN.random_pose(0, 2), frame=BALLS[1]), options
    targets = TARGETS[:, :3, 3].copy() if name == "positions" else TARGETS
    targets = TARGETS[:, :3, :3].copy() if name == "rotations" else targets
    return PANDA, "tip", targets, options


def starts_of(count: int) -> Any:
    """Return a start for each of some targets."""
    return PANDA.random_pose(4, count)
