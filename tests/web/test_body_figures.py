"""Live figures of a whole body and of methods timed in the page, compared with Python."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.linkage.mass import masses
from linkwork.models import figure_linkages
from live_pages import wait_for

SOLES = ["left_heel", "left_ball", "right_heel", "right_ball"]


def settled(shown):
    wait_for(shown.page, "document.querySelector('linkwork-figure').state().settled")
    return shown.state()


def goals_of(state):
    """Return the goals of the figure, with feet and balance first."""
    body, wanted = figure_linkages.standing_human()
    standing = body.forward(body.stored_pose("stand"))
    feet = [lw.Reach(name, pose=standing[name]) for name in ("left_foot", "right_foot")]
    hands = [lw.Reach(name, position=place, priority=1) for name, place in state["goals"].items()]
    return body, [
        *feet,
        *(goal for goal in wanted["first"] if isinstance(goal, lw.Balance)),
        *hands,
        wanted["first"][-1],
    ]


def test_a_body_keeps_its_feet_and_its_balance(figure):
    """The dragged hand is reached as in Python; the centre of mass equals Python's and stays over the soles."""
    shown = figure("body-goals")
    settled(shown)
    shown.drag(120, 60)
    now = settled(shown)
    body, goals = goals_of(now)
    step = lw.solve(body, goals, start=now["last"]["start"], stay=True)
    np.testing.assert_allclose(now["last"]["q"], step.q, atol=1e-9)
    frames, stand = body.forward(now["q"]), body.forward(body.stored_pose("stand"))
    assert np.linalg.norm(now["goals"]["left_hand"] - stand["left_hand"][:3, 3]) > 0.3
    np.testing.assert_allclose(frames["left_hand"][:3, 3], now["goals"]["left_hand"], atol=0.005)
    for foot in ("left_foot", "right_foot"):
        np.testing.assert_allclose(frames[foot], stand[foot], atol=1e-5)
    center = masses(body).center(now["q"])
    np.testing.assert_allclose(now["mass"], center, atol=1e-12)
    across = [frames[sole][1, 3] for sole in SOLES]
    assert min(across) - 1e-3 <= center[1] <= max(across) + 1e-3


def test_who_gives_way(figure):
    """Out of reach: if feet have priority, the hand misses and the feet stay; with equal priority, a foot moves."""
    shown = figure("body-goals", screen={"width": 360})
    shown.drag(140, 40)
    settled(shown)
    assert "A hand does not reach its goal" in shown.page.locator(".say").inner_text()
    shown.page.get_by_label("Which goals count most").select_option("alike")
    now = settled(shown)
    body, _ = figure_linkages.standing_human()
    frames, stand = body.forward(now["q"]), body.forward(body.stored_pose("stand"))
    slid = max(np.linalg.norm((frames[foot] - stand[foot])[:3, 3]) for foot in ("left_foot", "right_foot"))
    assert slid > 0.005
    assert "All goals are missed" in shown.page.locator(".say").inner_text()


def test_methods_are_measured(figure):
    """Every method reaches the same goals as in Python, and the compiled search reaches all."""
    shown = figure("production")
    shown.press("Run")
    wait_for(shown.page, "document.querySelector('linkwork-figure').state().results.robust")
    state = shown.state()
    panda, results = lw.models.panda(), state["results"]
    assert results["robust"]["which"] == [True] * 40
    assert all(result["microseconds"] > 0 for result in results.values())
    assert 10 < results["pseudoinverse"]["reached"] < 40
    targets = panda.forward(state["poses"], frame="tip")
    for method, result in results.items():
        ends = [lw.solve(panda, lw.Reach("tip", pose=target), start="ready", method=method) for target in targets[:10]]
        assert [end.success for end in ends] == result["which"][:10], method
