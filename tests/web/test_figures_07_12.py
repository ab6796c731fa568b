"""The live figures of lessons 7 to 12 show what Python computes, checked with NumPy and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.models import figure_linkages

START = [np.pi / 8, np.pi / 4, np.pi / 4]
FOLLOWED: dict[str, dict] = {
    "pseudoinverse": {},
    "damped": {"damping": 5.0},
    "control": {"gains": [0.1, 0.5, 0.1], "desired": [0, 0, 0]},
    "selectively-damped": {},
    "alternative": {},
    "transpose": {},
    "ccd": {},
    "ranked-ccd": {},
    "fabrik": {},
    "analytic": {},
}


@pytest.fixture(scope="module")
def arm():
    return figure_linkages.linkage("planar-3")


def tip(arm, q):
    return arm.forward(q, frame="tip")[:2, 3]


def jacobian(arm, q):
    return arm.jacobian(q, "tip")[:2]


def wrapped(angles):
    """Return angles without full turns."""
    return np.angle(np.exp(1j * np.asarray(angles)))


def test_two_links(figure):
    """Both elbow solutions are correct also in the third quadrant; the printed formulas are not."""
    shown = figure("two-links")
    shown.drag(-230, -250)
    state = shown.state()
    assert state["goal"][0] < -3
    assert state["goal"][1] < -3
    two = figure_linkages.linkage("planar-2")
    every = lw.solve_all(two, lw.Reach("tip", position=state["goal"])).q
    assert len(every) == len(state["poses"]) == 2
    for pose in state["poses"]:
        assert np.abs(wrapped(every - pose)).max(axis=1).min() < 1e-9
        np.testing.assert_allclose(tip(two, pose), state["goal"], atol=1e-12)
    assert np.linalg.norm(tip(two, state["printed"]) - state["goal"]) > 1
    shown.drag(-400, -400)
    assert shown.state()["poses"] == []
    assert "too far" in shown.page.locator(".say").inner_text()


def test_euler_steps(figure, arm):
    shown = figure("euler-steps", step=0.5)
    shown.press("Step")
    shown.drag(20, 40)
    state = shown.state()
    q, goal = np.array(state["q"]), np.array(state["goal"])
    first = 0.5 * np.linalg.pinv(jacobian(arm, START)) @ (np.array([-20, 5]) - tip(arm, START))
    np.testing.assert_allclose(q, START + first, atol=1e-12)
    change = 0.5 * np.linalg.pinv(jacobian(arm, q)) @ (goal - tip(arm, q))
    np.testing.assert_allclose(state["change"], change, atol=1e-11)
    np.testing.assert_allclose(state["predicted"], tip(arm, q) + 0.5 * (goal - tip(arm, q)), atol=1e-11)
    np.testing.assert_allclose(state["reached"], tip(arm, q + change), atol=1e-11)
    shown.press("2 links")
    two = figure_linkages.linkage("planar-2")
    state = shown.state()
    V = state["goal"] - tip(two, state["q"])
    np.testing.assert_allclose(state["change"], 0.5 * np.linalg.solve(jacobian(two, state["q"]), V), atol=1e-11)


def test_follow(figure, arm):
    """All 21 frames equal those of Python for every method, for the chapter's goal and dragged ones."""
    shown = figure("follow")
    for method, options in FOLLOWED.items():
        shown.page.get_by_label("Method").select_option(method)
        state = shown.state()
        goal = lw.Reach("tip", position=state["goal"])
        clip = lw.track(arm, goal, start=START, frames=21, steps=1, method=method, **options)
        np.testing.assert_allclose(state["poses"], clip.poses, atol=1e-9, err_msg=method)
        shown.drag(6, 3)
    assert state["goal"][0] > -19


def test_singularities(figure, arm):
    shown = figure("singularities")
    shown.press("3 links")
    shown.drag(-60, 50)
    state = shown.state()
    U, sigma, Wt = np.linalg.svd(jacobian(arm, state["q"]), full_matrices=False)
    np.testing.assert_allclose(state["values"], sigma, rtol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(U.T * state["axes"], axis=1)), 1, atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(Wt * state["rates"], axis=1)), 1, atol=1e-12)
    measure = lw.explain.manipulability(arm, state["q"], "tip").measure
    assert state["measure"] == pytest.approx(measure, rel=1e-12)
    shown.press("Stretch")
    assert shown.state()["values"][1] < 1e-12
    assert "Singular" in shown.page.locator(".say").inner_text()
    shown.drag(-80, -30)  # a straight arm bends again
    assert np.linalg.norm(shown.state()["tip"]) < 29


def test_damping(figure, arm):
    shown = figure("damping")
    shown.drag(10, 30)
    shown.drag(-40, 10, nth=1)
    shown.slide("λ", 3)
    state = shown.state()
    J, V = jacobian(arm, state["q"]), np.array(state["V"])
    rates = J.T @ np.linalg.solve(J @ J.T + 9 * np.eye(2), V)
    np.testing.assert_allclose(state["velocity"], rates, atol=1e-12)
    np.testing.assert_allclose(state["achieved"], J @ rates, atol=1e-11)
    sigma = np.linalg.svd(J, compute_uv=False)
    np.testing.assert_allclose(state["factors"], sigma**2 / (sigma**2 + 9), rtol=1e-12)
    assert np.linalg.norm(rates) <= np.linalg.norm(V) / 6


def test_null_space(figure, arm):
    """Every pose of the curve has the tip at the goal; the preferred pose is approached as far as possible."""
    shown = figure("null-space")
    shown.drag(-40, -60)
    state = shown.state()
    curve = np.array(state["curve"])
    np.testing.assert_allclose(
        arm.forward(curve, frame="tip")[:, :2, 3], np.tile(state["goal"], (len(curve), 1)), atol=1e-9
    )
    strides = wrapped(np.roll(curve, -1, axis=0) - curve)
    assert np.linalg.norm(strides, axis=1).max() < 0.12  # the curve is closed, without gaps
    assert np.linalg.norm(jacobian(arm, state["q"]) @ state["null"]) < 1e-12
    shown.slide("null space", 0.4)
    shown.press("One step")
    before = curve[round(0.4 * len(curve))]
    J, z = jacobian(arm, before), np.array([0.1, 0.5, 0.1]) * wrapped(before)
    change = np.linalg.pinv(J) @ (state["goal"] - tip(arm, before) + J @ z) - z
    change *= min(1, 0.5 / np.abs(change).max())  # the method's own largest step
    np.testing.assert_allclose(shown.state()["q"], before + change, atol=1e-9)
    shown.press("Lean")
    end = np.array(shown.state()["q"])
    N = np.eye(3) - np.linalg.pinv(jacobian(arm, end)) @ jacobian(arm, end)
    assert np.abs(N @ (np.array([0.1, 0.5, 0.1]) * wrapped(end))).max() < 1e-5
    np.testing.assert_allclose(tip(arm, end), state["goal"], atol=1e-4)
