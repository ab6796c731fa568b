"""Closed forms of arms of all families: every solution, checked by the linkage's own forward kinematics."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.solvers.closed_form import ClosedForm, closed_form

P = np.pi / 2
PUMA = [(0, 0.67, 0, P), (0, 0, 0.4318, 0), (0, 0.15, 0.0203, -P), (0, 0.4318, 0, P), (0, 0, 0, -P), (0, 0.1, 0, 0)]
KUKA = [(0, 0.4, 0.025, -P), (0, 0, 0.455, 0), (-P, 0, 0.035, -P), (0, 0.42, 0, P), (0, 0, 0, -P), (0, 0.08, 0, P)]
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
arms = pytest.mark.parametrize("name", ARMS)


def arm_of(name: str) -> tuple[lw.Linkage, ClosedForm]:
    arm = ARMS[name][0]()
    form = closed_form(arm, "tip")
    assert isinstance(form, ClosedForm)
    assert form.exact
    assert form.family == ARMS[name][1]
    return arm, form


def apart(form: ClosedForm, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return how far values are from others, whole turns aside."""
    away = a - b
    turning = ~form.axes.slides
    away[..., turning] = (away[..., turning] + np.pi) % (2.0 * np.pi) - np.pi
    return np.abs(away).max(axis=-1)


@arms
def test_all_solutions_reach_and_the_pose_itself_is_among_them(name: str) -> None:
    arm, form = arm_of(name)
    for q in arm.random_pose(1, 40):
        target = arm.forward(q, frame="tip")
        found = form.all(target)
        assert apart(form, found.values, form.chain.values_of(q)).min() < 1e-7
        poses = form.chain.put(found.values, np.tile(arm.neutral(), (len(found), 1)))
        assert_allclose(arm.forward(poses, frame="tip"), np.tile(target, (len(found), 1, 1)), atol=1e-11)
        assert found.residuals.max() < 1e-11
        assert ((poses >= arm.lower) & (poses <= arm.upper)).all()
        for k, values in enumerate(found.values):  # none twice
            assert (apart(form, found.values[k + 1 :], values) > 1e-5).all()


@arms
def test_solutions_come_nearest_to_a_start_first(name: str) -> None:
    arm, form = arm_of(name)
    for q in arm.random_pose(2, 10):
        target, start = arm.forward(q, frame="tip"), form.chain.values_of(q)
        found = form.all(target, start)
        assert_allclose(found.values[0], start, atol=1e-7)
        away = np.linalg.norm(found.values - start, axis=1)
        assert (np.diff(away) >= 0.0).all()


@arms
def test_many_targets_have_the_solutions_that_each_has_alone(name: str) -> None:
    arm, form = arm_of(name)
    for count in (3, 21):
        targets = arm.forward(arm.random_pose(3, count), frame="tip")
        targets[1, 0, 3] += 9.0
        values, mask = form.all_many(targets)
        assert values.shape == (count, 8, 6)
        assert not mask[1].any() or form.axes.slides.any()  # nothing limits the slides
        assert np.isnan(values[~mask]).all()
        for target, several, there in zip(targets, values, mask, strict=True):
            alone = form.all(target).values
            assert_allclose(several[there], alone, atol=1e-12)
