"""`<linkwork-view>` in a browser: dragging gives the same solutions as Python, from disk, offline."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from live_pages import quiet_page, wait_for

VIEW = "document.querySelector('linkwork-view')"
PLACE = f"""frame => {{
  const view = {VIEW}, m = view.session.place(frame), box = view.stage.canvas.getBoundingClientRect();
  const at = view.stage.camera.project([m[3], m[7], m[11]]); return [at.x + box.left, at.y + box.top]; }}"""


class View:
    """A page with a view, and the actions of a reader."""

    def __init__(self, page: Any, path: Path) -> None:
        self.page = page
        page.goto(path.as_uri())
        page.evaluate(f"{VIEW}.ready.then(() => 1)")

    def settle(self) -> dict[str, Any]:
        """Wait until all solves are done, and return the numbers of the view."""
        wait_for(self.page, f"!{VIEW}.asked && !{VIEW}.session.waiting")
        return self.page.evaluate(f"{VIEW}.state()")

    def drag(self, frame: str, right: float, up: float, *, beside: tuple[float, float] = (0.0, 0.0)) -> dict[str, Any]:
        """Drag a frame with the mouse, and return the numbers before its release."""
        x, y = self.page.evaluate(PLACE, frame)
        x, y = x + beside[0], y + beside[1]
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        for k in (1, 2, 3):
            self.page.mouse.move(x + right * k / 3, y - up * k / 3)
            state = self.settle()
        return state

    def drop(self) -> dict[str, Any]:
        """Release the mouse button."""
        self.page.mouse.up()
        return self.settle()


@pytest.fixture
def view(browser, tmp_path):
    """Return a function that opens a linkage in a page."""
    with ExitStack() as stack:

        def opened(linkage: lw.Linkage, *, width: int = 420, height: int = 460, **options: Any) -> View:
            lw.draw.page(linkage, tmp_path / "page.html", **options)
            return View(stack.enter_context(quiet_page(browser, width=width, height=height)), tmp_path / "page.html")

        yield opened


def goal_of(made: dict[str, Any]) -> lw.Goal:
    """Return a goal of a page in Python."""
    place = np.reshape(made["target"], (4, 4))
    if made["pinned"]:
        return lw.Hold(made["frame"], pose=place)
    return lw.Reach(made["frame"], pose=place) if made["turn"] else lw.Reach(made["frame"], position=place[:3, 3])


def test_a_dragged_arm_is_where_python_puts_it(view) -> None:
    """The hand keeps its orientation; out of reach, the message is also Python's."""
    arm = lw.models.panda()
    ik, shown = lw.prepare(arm, "tip"), view(arm)
    for right, up in ((40, 30), (160, 200)):
        last = shown.drag("tip", right, up)["last"]
        (goal,) = last["goals"]
        known = ik(np.reshape(goal["target"], (4, 4)), start=last["start"], stay=True)
        np.testing.assert_allclose(last["q"], known.q, atol=1e-9)
        told = shown.page.evaluate(f"{VIEW}.state().told")
        assert (told["success"], told["status"]) == (known.success, known.status)
        assert told["sentence"] == known.reason
        shown.drop()
    shown.page.get_by_label("Method").select_option("damped")
    assert shown.drag("tip", -40, -30)["told"]["status"] == "reached"
    shown.drop()
    q = shown.settle()["q"]
    shown.page.locator("button.lw-grip").first.focus()
    shown.page.keyboard.press("ArrowLeft")
    assert np.abs(np.subtract(shown.settle()["q"], q)).max() > 1e-4


def test_a_dragged_figure_keeps_its_feet_where_python_does(view) -> None:
    body = lw.models.human(root="floating")
    shown = view(body)
    state = shown.drag("left_hand", 60, 60)
    last = state["last"]
    goals = [goal_of(made) for made in last["goals"]]
    assert [goal.frame for goal in goals] == ["left_hand", "left_foot", "right_foot"]
    np.testing.assert_allclose(last["home"], body.stored_pose("stand"))
    goals.append(lw.Rest(last["home"]))
    known = lw.prepare(body, goals)(goals, start=last["start"], stay=True)
    np.testing.assert_allclose(last["q"], known.q, atol=1e-9)
    assert state["told"]["sentence"] == known.reason
    assert state["told"]["status"] == "reached"
    shown.drop()
    feet = body.forward(shown.settle()["q"], frame="left_foot")
    np.testing.assert_allclose(feet, body.forward(body.stored_pose("stand"), frame="left_foot"), atol=1e-4)
    held = shown.drag("right_forearm", 20, 0, beside=(2, 10))["last"]["goals"][
        0
    ]  # a point of a link, beside its origin
    assert held["point"] is not None
    place = body.forward(shown.drop()["q"], frame=held["frame"])
    there = place[:3, :3] @ held["point"] + place[:3, 3]
    np.testing.assert_allclose(there, np.reshape(held["target"], (4, 4))[:3, 3], atol=1e-3)


def test_a_planar_arm_and_its_sliders(view) -> None:
    arm = lw.models.planar([15, 10, 5])
    ik, shown = lw.prepare(arm, "tip", position="xy", orientation=False), view(arm)
    last = shown.drag("tip", -60, 20)["last"]
    known = ik(np.reshape(last["goals"][0]["target"], (4, 4)), start=last["start"], stay=True)
    np.testing.assert_allclose(last["q"], known.q, atol=1e-9)
    shown.drop()
    shown.page.get_by_label("j2", exact=True).fill("750")
    assert shown.settle()["q"][1] == pytest.approx(np.pi / 2)
    shown.page.get_by_role("button", name="pin tip").click()
    before = arm.forward(shown.settle()["q"], frame="tip")
    value = round(1000 * (shown.settle()["q"][0] + 0.2 + np.pi) / (2 * np.pi))
    shown.page.get_by_label("j1", exact=True).fill(str(value))
    after = shown.settle()["q"]
    assert after[0] == pytest.approx(2 * np.pi * value / 1000 - np.pi)
    np.testing.assert_allclose(arm.forward(after, frame="tip")[:3, 3], before[:3, 3], atol=1e-4)
    shown.page.get_by_role("button", name="Reset").click()
    np.testing.assert_allclose(shown.settle()["q"], arm.stored_pose(next(iter(arm.poses))))


def test_loops_stay_closed(view) -> None:
    bars = lw.models.four_bar()
    shown = view(bars)
    last = shown.drag("point", -30, -10)["last"]
    assert np.abs(lw.Close(bars.loops[0]).error(bars, np.array(last["q"]))).max() < 1e-9
    shown.drop()
    shown.page.get_by_label("crank", exact=True).fill("600")
    q = np.array(shown.settle()["q"])
    assert q[0] == pytest.approx(2 * np.pi * 0.6 - np.pi)
    assert np.abs(lw.Close(bars.loops[0]).error(bars, q)).max() < 1e-9
