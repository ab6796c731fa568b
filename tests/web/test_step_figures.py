"""Live figures of methods that go joint by joint or point by point, and of a closed loop, compared with Python."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.models import figure_linkages, lessons

START = [np.pi / 8, np.pi / 4, np.pi / 4]


def joint_places(arm, q):
    frames = arm.forward(q)
    return np.array([frames[name][:2, 3] for name in ("link1", "link2", "link3", "tip")])


def test_turns_of_coordinate_descent(figure):
    """Three steps are one sweep of Python's method, also when ranked; an arm on a line never leaves it."""
    shown, arm = figure("ccd-turns"), figure_linkages.linkage("planar-3")
    shown.drag(60, 40)
    goal = lw.Reach("tip", position=shown.state()["goal"])
    assert np.linalg.norm(np.subtract(shown.state()["goal"], (-20, 5))) > 3
    shown.press("Step")
    assert shown.state()["joint"] == 2
    shown.press("Step", 2)
    sweep = lw.solve(arm, goal, start=START, method="ccd", max_iterations=1)
    np.testing.assert_allclose(np.sin(np.subtract(shown.state()["q"], sweep.q) / 2), 0, atol=1e-12)
    np.testing.assert_allclose(shown.state()["error"], sweep.residual, atol=1e-12)
    shown.press("Reset")
    shown.press("most useful first")
    goal = lw.Reach("tip", position=shown.state()["goal"])
    trace = lw.solve(arm, goal, start=START, method="ranked-ccd", trace=True).trace
    for before in trace[:4]:
        assert shown.state()["joint"] == before.notes["joint"] + 1
        np.testing.assert_allclose(np.sin(np.subtract(shown.state()["q"], before.q) / 2), 0, atol=1e-12)
        shown.press("Step")
    shown.press("Straighten")
    shown.press("Sweep", 2)
    assert shown.state()["error"] > 1
    assert "Stuck" in shown.page.locator(".say").inner_text()


def test_passes_of_fabrik(figure):
    """The first pull and pass are those of exercises 15.1 and 15.2; lengths are kept; it is straight out of reach."""
    shown, arm = figure("fabrik-passes"), figure_linkages.linkage("planar-3")
    np.testing.assert_allclose(shown.state()["points"], joint_places(arm, START), atol=1e-12)
    shown.press("Step", 2)
    np.testing.assert_allclose(shown.state()["points"][2], lessons.exercise("15.1").values(), atol=1e-12)
    shown.press("Whole pass")
    assert shown.state()["moment"] == 4
    assert shown.state()["error"] == 0
    away = np.linalg.norm(shown.state()["points"][0])
    assert away == pytest.approx(lessons.exercise("15.2").values()[0], abs=1e-12)
    shown.press("Whole round")
    assert shown.state()["error"] == pytest.approx(1.94309, abs=1e-5)  # as the code of lesson 15 prints
    np.testing.assert_allclose(np.linalg.norm(np.diff(shown.state()["points"], axis=0), axis=1), [15, 10, 5])
    shown.press("Whole round", 3)
    goal = lw.Reach("tip", position=shown.state()["goal"])
    angles = np.unwrap(np.arctan2(*np.diff(shown.state()["points"], axis=0).T[::-1]))
    plain = lw.solve(arm, goal, start=START, method="fabrik", foresight=0, overshoot=0)
    np.testing.assert_allclose(np.diff(angles, prepend=0), plain.q, atol=1e-4)
    shown.drag(-200, 0)
    shown.press("Whole round", 8)
    goal = np.array(shown.state()["goal"])
    assert np.linalg.norm(goal) > 30
    np.testing.assert_allclose(shown.state()["points"][-1], 30 * goal / np.linalg.norm(goal), atol=1)


def test_a_four_bar_is_driven_and_closed(figure):
    """Driven by hand, closed by Newton's method, on both branches up to the dead centre, as Python computes it."""
    shown = figure("four-bar")
    bars = lw.models.four_bar(*shown.state()["lengths"])
    shown.drag(-40, 30)
    now = shown.state()
    assert now["q"][0] > 1.4
    driven = lw.close(bars, bars.pose(crank=now["q"][0], base="start"), keep=("crank",))
    np.testing.assert_allclose(now["q"], driven, atol=1e-12)
    np.testing.assert_allclose(now["point"], bars.forward(now["q"], frame="point")[:2, 3], atol=1e-12)
    shown.press("Open")
    shown.drag(-30, -20)
    apart = shown.state()
    frames = bars.forward(apart["q"])
    np.testing.assert_allclose(apart["gap"], (frames["coupler_end"] - frames["rocker_end"])[:2, 3], atol=1e-12)
    shown.press("Newton")
    columns = bars.jacobian(apart["q"], "coupler_end") - bars.jacobian(apart["q"], "rocker_end")
    change = -np.linalg.solve(columns[:2, 1:], apart["gap"])
    np.testing.assert_allclose(shown.state()["q"][1:], apart["q"][1:] + change, atol=1e-12)
    shown.press("Newton", 4)
    np.testing.assert_allclose(shown.state()["q"], lw.close(bars, apart["q"], keep=("crank",)), atol=1e-9)
    shown.press("Mirror")
    crossed = lw.close(bars, bars.pose(crank=shown.state()["q"][0], base="crossed"), keep=("crank",))
    np.testing.assert_allclose(np.sin((np.array(shown.state()["q"]) - crossed) / 2), 0, atol=1e-9)


def test_a_crank_stops_at_its_dead_centre(figure):
    shown = figure("four-bar", lengths=(0.3, 0.3, 0.25), screen={"width": 360})
    shown.drag(-150, -30)
    assert shown.state()["stopped"]
    bars = lw.models.four_bar(0.4, 0.3, 0.3, 0.25)
    stops = [one.value for one in lw.singular_positions(bars, "crank", start="start")]
    assert np.abs(np.array(stops) - shown.state()["q"][0]).min() < np.radians(0.25)
