"""Live figures in which methods approach a goal step by step: every step equals Python's."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import OptionError
from linkwork.models import figure_linkages

START = np.array([np.pi / 8, np.pi / 4, np.pi / 4])


def stepped(arm, method, goal, q, **options):
    """Return the pose after one step of a method in Python."""
    return lw.step(arm, lw.Reach("tip", position=goal), q, dt=1.0, method=method, **options).q


def test_every_lane_of_a_race_takes_its_methods_steps(figure):
    shown, arm = figure("race"), figure_linkages.linkage("planar-3")
    shown.drag(25, 20, nth=1)
    before = shown.state()
    assert np.linalg.norm(np.subtract(before["goal"], (-20, 5))) > 2
    shown.press("Step", 2)
    after = shown.state()
    assert after["steps"] == 2
    assert {"pseudoinverse", "damped", "transpose", "ccd"} <= set(after["lanes"])
    for method, lane in after["lanes"].items():
        options = {"damping": after["damping"]} if method == "damped" else {}
        q = stepped(arm, method, after["goal"], START, **options)
        q = stepped(arm, method, after["goal"], q, **options)
        np.testing.assert_allclose(np.sin((lane["q"] - q) / 2), 0, atol=1e-9, err_msg=method)
        tip = arm.forward(lane["q"], frame="tip")[:2, 3]
        assert lane["error"] == pytest.approx(np.linalg.norm(tip - after["goal"]), abs=1e-12)
        values = np.linalg.svd(arm.jacobian(lane["q"], "tip")[:2], compute_uv=False)
        assert lane["smallest"] == pytest.approx(values[-1], abs=1e-9)


def test_a_goal_goes_through_a_singularity_and_back(figure):
    """For a goal out of reach, arms are stretched and singular; damping stays calm and recovers with the goal."""
    shown = figure("race", screen={"width": 360}, methods="damped, pseudoinverse")
    shown.press("Step", 10)
    shown.press("out and back")
    shown.press("Step", 60)
    away = shown.state()
    assert np.linalg.norm(away["goal"]) > 30
    assert away["lanes"]["damped"]["smallest"] < 1
    assert "out of reach" in shown.page.locator(".say").inner_text()
    shown.press("Step", 60)
    back = shown.state()["lanes"]
    assert back["damped"]["error"] < 0.1
    assert not back["ccd"]["runs"]
    np.testing.assert_allclose(back["ccd"]["q"], START)


def test_an_arm_of_ones_own_races(browser, tmp_path):
    from live_pages import LiveFigure, quiet_page

    arm, q = lw.models.planar([4, 3, 2, 1]), np.array([0.3, 0.4, 0.5, 0.6])
    path = tmp_path / "race.html"
    lw.draw.live_race(arm, lw.Reach("tip", position=(-5, 4)), start=q, path=path)
    assert arm.length == 10
    with quiet_page(browser) as page:
        shown = LiveFigure(page, path)
        shown.press("Step")
        lane = shown.state()["lanes"]["damped"]
        np.testing.assert_allclose(lane["q"], stepped(arm, "damped", (-5, 4), q, damping=10 / 6), atol=1e-9)


def test_a_race_is_refused_beyond_the_plane():
    with pytest.raises(OptionError, match="moves out of it"):
        lw.draw.live_race(lw.models.panda(), lw.Reach("tip", position=(0.4, 0.1, 0.5)))
    arm = lw.models.planar([2, 1])
    with pytest.raises(OptionError, match="needs a position goal"):
        lw.draw.live_race(arm, lw.Reach("tip", pose=arm.forward([0.1, 0.2], frame="tip")))


def test_the_scale_of_the_transpose(figure):
    """The best scale and its bound equal NumPy's; fixed scales step as in Python, and too large ones diverge."""
    shown, arm = figure("transpose-step"), figure_linkages.linkage("planar-3")
    shown.drag(10, 30)
    state = shown.state()
    goal, jacobian = np.array(state["goal"]), arm.jacobian(START, "tip")[:2]
    way = goal - arm.forward(START, frame="tip")[:2, 3]
    moved = jacobian @ jacobian.T @ way
    assert state["scale"] == pytest.approx(way @ moved / (moved @ moved), rel=1e-12)
    assert state["limit"] == pytest.approx(2 / np.linalg.svd(jacobian, compute_uv=False)[0] ** 2, rel=1e-12)
    shown.press("Step")
    for method, q in shown.state()["q"].items():
        np.testing.assert_allclose(q, stepped(arm, method, goal, START), atol=1e-9, err_msg=method)
    shown.press("Reset")
    shown.slide("1000 α", 1.5)
    shown.press("Step")
    expected = stepped(arm, "transpose", (-20, 5), START, scale=0.0015)
    np.testing.assert_allclose(shown.state()["q"]["transpose"], expected, atol=1e-9)
    shown.slide("1000 α", 8)
    shown.press("Step", 30)
    assert shown.state()["errors"]["transpose"] > 1
    assert "above its limit" in shown.page.locator(".say").inner_text()
