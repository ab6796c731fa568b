"""Arms of every family of closed forms, also with prismatic joints and slanted axes, as Denavit-Hartenberg tables."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.solvers.closed_form import ClosedForm, closed_form

P = np.pi / 2
PUMA = [(0, 0.67, 0, P), (0, 0, 0.4318, 0), (0, 0.15, 0.0203, -P), (0, 0.4318, 0, P), (0, 0, 0, -P), (0, 0.1, 0, 0)]
KUKA = [(0, 0.4, 0.025, -P), (0, 0, 0.455, 0), (-P, 0, 0.035, -P), (0, 0.42, 0, P), (0, 0, 0, -P), (0, 0.08, 0, 0)]
STANFORD = [(0, 0.4, 0, -P), (0, 0.15, 0, P), (-P, 0.3, 0, 0, "P"), (0, 0, 0, -P), (0, 0, 0, P), (0, 0.26, 0, 0)]
GANTRY = [
    (0, 0.1, 0, P, "P"), (P, 0.2, 0, P, "P"), (0, 0.3, 0, 0, "P"), (0, 0.2, 0, P), (0, 0, 0, -P), (0, 0.1, 0, 0)
]  # fmt: skip
CYLINDER = [(0, 0.4, 0, 0), (0, 0.3, 0, -P, "P"), (0, 0.2, 0, 0, "P"), (0, 0.1, 0, P), (0, 0, 0, -P), (0, 0.1, 0, 0)]
SLANTED = [(0, 0.3, 0, 1.0), (0, 0, 0.4, 0), (0, 0.1, 0.05, -1.2), (0, 0.4, 0, 1.1), (0, 0, 0, -0.9), (0, 0.1, 0, 0)]
SEVEN = [(0, 0.36, 0, -P), (0, 0, 0, P), (0, 0.42, 0, P), (0, 0, 0, -P), (0, 0.4, 0, -P), (0, 0, 0, P), (0, 0.1, 0, 0)]


def dh(rows: list[tuple]) -> lw.Linkage:
    return lw.from_dh(rows, convention="standard")


ARMS = {
    "ur5": (lw.models.ur5, "three parallel axes"),
    "puma": (lambda: dh(PUMA), "spherical wrist"),
    "kuka": (lambda: dh(KUKA), "spherical wrist"),
    "slanted": (lambda: dh(SLANTED), "spherical wrist"),
    "stanford": (lambda: dh(STANFORD), "spherical wrist"),
    "gantry": (lambda: dh(GANTRY), "spherical wrist"),
    "cylinder": (lambda: dh(CYLINDER), "spherical wrist"),
    "panda, last joint held": (lambda: lw.models.panda().freeze("panda_joint7", at=0.3), "spherical shoulder"),
    "seven, third joint held": (lambda: dh(SEVEN).freeze("j3", at=0.4), "spherical wrist"),
}


def arm_of(name: str) -> tuple[lw.Linkage, ClosedForm]:
    arm = ARMS[name][0]()
    form = closed_form(arm, "tip")
    assert isinstance(form, ClosedForm)
    assert form.exact
    assert form.family == ARMS[name][1]
    return arm, form


def apart(form: ClosedForm, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the differences of values, modulo whole turns."""
    away = a - b
    turning = ~form.axes.slides
    away[..., turning] = (away[..., turning] + np.pi) % (2.0 * np.pi) - np.pi
    return np.abs(away).max(axis=-1)
