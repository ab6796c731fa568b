"""Chains with fewer than six joints: all solutions of reachable targets, and reasons for the others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from closed_form_arms import apart
from linkwork.solvers.closed_form import ClosedForm, NoForm, closed_form
from linkwork.transforms import axis_rotation

P = np.pi / 2
ARMS = {  # rows, and the number of solutions of a target
    "scara": ([(0, 0.4, 0.3, 0), (0, 0, 0.25, 0), (0, 0.1, 0, 0, "P"), (0, -0.1, 0, 0)], 2),
    "scara, slide last": ([(0, 0.4, 0.3, 0), (0, 0, 0.25, 0), (0, 0, 0, 0), (0, 0.1, 0, 0, "P")], 2),
    "palletizer": ([(0, 0.4, 0.1, P), (0, 0, 0.5, 0), (0, 0, 0.5, 0)], 1),
    "tip on the last of three axes": ([(0, 0.4, 0.1, P), (0, 0, 0.5, 0), (0, 0, 0, -P)], 1),
    "tip where the last two of four meet": ([(0, 0.4, 0.1, P), (0, 0, 0.5, 0), (0, 0, 0, P), (0, 0, 0, 0)], 1),
    "shoulder, elbow, roll": ([(0, 0.36, 0, -P), (0, 0, 0, P), (0, 0.42, 0, P), (0, 0, 0, -P), (0, 0.2, 0, 0)], 4),
    "five": ([(0, 0.3, 0, P), (0, 0, 0.3, 0), (0, 0, 0.25, 0), (P, 0, 0, P), (0, 0.1, 0, 0)], 4),
}
arms = pytest.mark.parametrize("name", ARMS)


def form_of(name: str) -> tuple[lw.Linkage, ClosedForm]:
    arm = lw.from_dh(ARMS[name][0], convention="standard")
    form = closed_form(arm, "tip")
    assert isinstance(form, ClosedForm), form
    return arm, form


@arms
def test_all_solutions_of_what_it_reaches(name: str) -> None:
    arm, form = form_of(name)
    poses = arm.random_pose(1, 30)
    targets = arm.forward(poses, frame="tip")
    values, mask = form.all_many(targets)
    most = 0
    for q, target, several, there in zip(poses, targets, values, mask, strict=True):
        found = form.all(target, start=q)
        assert_allclose(found.values[0], q, atol=1e-6)
        assert_allclose(arm.forward(found.values, frame="tip"), np.tile(target, (len(found), 1, 1)), atol=1e-6)
        assert len(several[there]) == len(found)
        assert all(apart(form, several[there], one).min() < 1e-6 for one in found.values)
        most = max(most, len(found))
    assert most == ARMS[name][1]


@arms
def test_what_a_target_is_beyond_the_chain_is_said(name: str) -> None:
    arm, form = form_of(name)
    target = arm.forward(arm.random_pose(2), frame="tip")
    tilted = target.copy()
    axis = np.array([0.0, 1.0, 0.0]) if name.startswith("scara") else np.array([0.36, 0.48, 0.8])
    tilted[:3, :3] = target[:3, :3] @ axis_rotation(axis, 0.2)
    found = form.all(tilted)
    assert len(found) == 0
    assert "would have to turn" in str(found.evidence)
    if name.startswith("scara"):
        assert "11.5°" in str(found.evidence)


def test_it_says_what_it_is() -> None:
    _, form = form_of("scara")
    assert str(form) == (
        "Closed form for 'tip': spherical wrist, of 4 joints and 2 turns that stay at zero; joints j1, j2, j3, j4."
    )


def test_chains_that_are_no_family_say_so() -> None:
    arm = lw.from_dh(
        [(0, 0.1, 0.2, 0.3), (0, 0.2, 0.1, 0.5), (0, 0.1, 0.3, 0.7), (0, 0.2, 0.1, 0.4), (0, 0.1, 0.2, 1.0)]
    )
    assert isinstance(closed_form(arm, "tip"), NoForm)


@arms
def test_a_target_far_away_is_out_of_reach(name: str) -> None:
    arm, form = form_of(name)
    target = arm.forward(arm.neutral(), frame="tip")
    target[:2, 3] += 7.0
    found = form.all(target)
    assert len(found) == 0
    assert "reach" in str(found.evidence) or "missing" in str(found.evidence)
    turned = target.copy()
    turned[:3, :3] = target[:3, :3] @ axis_rotation(np.array([0.36, 0.48, 0.8]), 2.0)
    assert form.all(turned).evidence
