"""Reasons why there is no solution: numbers in messages agree with geometry."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from closed_form_arms import ARMS, KUKA, PUMA, arm_of, dh

UPPER, FORE = 0.455, np.hypot(0.035, 0.42)  # KUKA's lengths from its second axis on
SHOULDER = np.array([0.025, 0.0, 0.4])
TOOL = 0.08


def with_wrist_at(place: np.ndarray) -> np.ndarray:
    """Return a target of KUKA with the tool pointing up and the wrist's centre at a point."""
    target = np.eye(4)
    target[:3, 3] = place + np.array([0.0, 0.0, TOOL])
    return target


@pytest.mark.parametrize(
    ("radius", "expected"),
    [
        (UPPER + FORE + 0.0123, "the wrist centre is 12.3 mm beyond the reach around j2"),
        (UPPER - FORE - 0.0031, "the wrist centre is 3.1 mm inside the hole around j2"),
    ],
)
def test_a_wrist_that_cannot_be_reached(radius: float, expected: str) -> None:
    arm = dh(KUKA)
    form = lw.closed_form(arm, "tip")
    away = np.sqrt(radius**2 - SHOULDER[0] ** 2)  # on the first axis, so that rotation about it changes nothing
    place = np.array([0.0, 0.0, SHOULDER[2] + away])
    found = form.all(with_wrist_at(place))
    assert len(found) == 0
    assert found.evidence == expected


def test_a_point_too_near_to_the_first_axis() -> None:
    form = lw.closed_form(dh(PUMA), "tip")  # its wrist has an offset of 150 mm
    target = np.eye(4)
    target[:3, 3] = 0.1, 0.0, 0.9 + 0.1
    assert form.all(target).evidence == (
        "the wrist centre is 50 mm too near to the axis of j1, given the offset of j2 and j3 from it"
    )


def test_a_limit_in_the_way_is_named() -> None:
    arm = dh([(*row, "R", (-2.0, 2.0)) if len(row) == 4 else row for row in KUKA])
    form = lw.closed_form(arm, "tip")
    target = arm.forward(np.array([2.1, -0.5, 0.4, 0.1, 0.2, 0.3]), frame="tip")
    evidence = form.all(target).evidence
    assert evidence is not None
    assert "beyond limits; the nearest breaks that of j1 by 5.73°" in evidence


@pytest.mark.parametrize("name", ARMS)
def test_a_target_out_of_reach_says_so(name: str) -> None:
    arm, form = arm_of(name)
    if form.axes.slides.any():
        return
    target = arm.forward(arm.neutral(), frame="tip")
    target[:3, 3] += 5.0
    found = form.all(target)
    assert len(found) == 0
    assert found.evidence
    assert form.all(arm.forward(arm.neutral(), frame="tip")).evidence is None
