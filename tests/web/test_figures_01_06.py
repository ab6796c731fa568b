"""The live figures of lessons 1 to 6 show what Python and SciPy compute."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, Slerp

import linkwork as lw
from linkwork.models import figure_linkages
from linkwork.motion import splines

NINE_STEPS = """() => {
  const figure = document.querySelector("linkwork-figure");
  const step = [...figure.shadowRoot.querySelectorAll("button")].find((button) => button.textContent === "Step");
  return Array.from({ length: 9 }, () => (step.click(), figure.state()));
}"""


def test_a_walk_over_the_tree_visits_what_traverse_visits(figure):
    shown = figure("tree-walk")
    linkage = figure_linkages.linkage("two-arms")
    shown.drag(40, 30)
    shown.slide("θ1", 75)
    q = shown.state()["q"]
    assert q[0] > 1
    assert q[3] == pytest.approx(np.deg2rad(75))
    visits = list(linkage.traverse(np.array(q)))
    shown.press("Step")
    states = [shown.state(), *shown.page.evaluate(f"({NINE_STEPS})()")]
    assert not states.pop()["here"]  # the end of the traversal
    deepest = max(len(state["stack"]) for state in states)
    seen = list({state["here"]: state["matrix"] for state in states}.items())
    assert [name for name, _ in seen] == [visit.node.name for visit in visits]
    for (_, matrix), visit in zip(seen, visits, strict=True):
        np.testing.assert_allclose(np.reshape(matrix, (4, 4)), visit.matrix, atol=1e-12)
    assert deepest == 2
    shown.press("Back")
    assert shown.state()["here"] == "link0"
    shown.press("Reset")
    assert shown.state()["steps"] == 0


def test_a_point_is_measured_in_every_frame(figure):
    shown = figure("frames")
    arm = figure_linkages.linkage("slide-arm")
    shown.drag(30, 45)
    shown.press("link 1")
    shown.slide("d2", 6.5)
    state = shown.state()
    point = [*state["point"], 0]
    assert state["fixed"] == "link1"
    assert state["q"][1] == 6.5
    for name, coordinates in state["coordinates"].items():
        expected = arm.convert(point, state["q"], source="world", target=name)
        np.testing.assert_allclose(coordinates, expected[:2], atol=1e-12)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_a_table_places_the_frames_of_from_dh(figure, convention):
    shown = figure("dh", convention=convention)
    shown.press("2")
    shown.slide("θ", -70)
    shown.slide("α", 45)
    shown.slide("a", 1.5)
    shown.page.locator(".space").press("ArrowLeft")
    state = shown.state()
    assert state["rows"][1] == [-70, 0, 1.5, 45]
    rows = [(np.deg2rad(theta), d, a, np.deg2rad(alpha)) for theta, d, a, alpha in state["rows"]]
    arm = lw.from_dh(rows, convention=convention)
    np.testing.assert_allclose(np.reshape(state["tip"], (4, 4)), arm.forward(np.zeros(3), frame="tip"), atol=1e-12)


def test_a_gimbal_locks_and_a_quaternion_does_not(figure):
    shown = figure("gimbal")
    shown.drag(60, 40, nth=0)  # the yaw ring
    shown.slide("roll", -50)
    shown.slide("fraction", 40)
    state = shown.state()
    assert abs(state["angles"][0] - 30) > 5
    turn = Rotation.from_euler("ZYX", state["angles"], degrees=True)
    np.testing.assert_allclose(np.reshape(state["matrix"], (3, 3)), turn.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(state["quaternion"], turn.as_quat(canonical=True, scalar_first=True), atol=1e-12)
    part = Rotation.from_euler("ZYX", 0.4 * np.array(state["angles"]), degrees=True)
    np.testing.assert_allclose(np.reshape(state["byAngles"], (3, 3)), part.as_matrix(), atol=1e-12)
    slerp = Slerp([0, 1], Rotation.concatenate([Rotation.identity(), turn]))(0.4)
    np.testing.assert_allclose(np.reshape(state["byTurn"], (3, 3)), slerp.as_matrix(), atol=1e-12)
    assert "Locked" not in shown.page.locator(".say").inner_text()
    shown.press("Pitch to 90°")
    axes = np.array(shown.state()["axes"])
    assert abs(axes[0] @ axes[2]) == pytest.approx(1.0)
    assert "Locked" in shown.page.locator(".say").inner_text()


def test_curves_between_keys_are_those_of_interpolate(figure):
    shown = figure("keys")
    arm = figure_linkages.linkage("planar-3")
    shown.drag(25, 40, nth=1)  # the second key of the first joint, later and larger
    before = shown.state()
    assert before["times"][1] > 1.25
    assert before["keys"][0][1] > 110
    for kind, now in (("step", 0.5), ("linear", 1.9), ("ease", 3.3), ("cubic", 0.5), ("cubic", 1.9), ("cubic", 3.3)):
        shown.press(kind)
        shown.slide("time", now)
        state = shown.state()
        keys, times = np.deg2rad(state["keys"]).T, np.array(state["times"])
        expected = splines.sample(arm, times, keys, np.array([now]), kind=kind, wrap=False)[0]
        np.testing.assert_allclose(state["pose"], expected, atol=1e-12)
        if kind == "cubic":
            np.testing.assert_allclose(expected, CubicSpline(times, keys, bc_type="natural")(now), atol=1e-12)


def test_solutions_are_counted_as_solve_all_counts(figure):
    shown = figure("workspace")
    arms = {"2": figure_linkages.linkage("planar-2"), "3": figure_linkages.linkage("planar-3")}

    def check(number):
        state = shown.state()
        assert len(state["solutions"]) == number
        for tip in state["tips"]:
            np.testing.assert_allclose(tip, state["goal"], atol=1e-9)
        return state

    state = check(2)
    shown.drag(15, -25)
    state = check(2)
    assert lw.count_solutions(arms["2"], lw.Reach("tip", position=state["goal"])).number == 2
    choice = shown.page.get_by_label("Asked")
    choice.select_option("3 links, position and direction")
    shown.slide("direction", 100)
    state = check(2)
    turn = Rotation.from_rotvec((0, 0, state["direction"]))
    every = lw.solve_all(arms["3"], lw.Reach("tip", position=state["goal"], orientation=turn))
    np.testing.assert_allclose(sorted(every.q.tolist()), sorted(state["solutions"]), atol=1e-6)
    choice.select_option("3 links, position")
    assert len(shown.state()["solutions"]) > 20
    shown.page.locator(".goal").focus()
    for _ in range(12):
        shown.page.keyboard.press("Shift+ArrowRight")
    check(0)
    assert "No pose" in shown.page.locator(".say").inner_text()
