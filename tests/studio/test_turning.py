"""Rotation with R while a goal, a link or an obstacle is dragged, with real mouse and keyboard events."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from studio_hand import ELEMENT

RADIUS = 84.0  # pixels per radian: the radius of the rings


def camera(hand, axis):
    return np.array(hand.page.evaluate(f"Array.from({ELEMENT}.stage.camera.{axis})"))


def rolled(hand, start, right, down=0, *, before=False):
    """Drag with R held, pressed before or after the button."""
    mouse, keys = hand.page.mouse, hand.page.keyboard
    mouse.move(*start)
    if before:
        keys.down("r")
    mouse.down()
    keys.down("r")
    mouse.move(start[0] + right, start[1] + down, steps=4)
    mouse.up()
    keys.up("r")


@pytest.mark.parametrize("before", [False, True])
def test_r_turns_the_goal_that_is_held_and_the_hand_follows(hand, before):
    session = hand.studio.session
    arm, q = session.linkage, session.q
    first = arm.forward(q, frame="tip")
    seen, eye = hand.page.evaluate(f"{ELEMENT}.stage.camera.azimuth"), camera(hand, "up")
    rolled(hand, hand.at("tip"), 50, before=before)
    found = hand.undone("turn of tip")
    goal = session.target("tip")
    assert goal.turn  # it keeps its orientation from now on
    np.testing.assert_allclose(goal.place[:3, 3], first[:3, 3], atol=1e-9)
    want = Rotation.from_rotvec(eye * 50 / RADIUS).as_matrix() @ first[:3, :3]
    np.testing.assert_allclose(goal.place[:3, :3], want, atol=1e-6)
    assert found["state"]["status"]["success"]
    np.testing.assert_allclose(arm.forward(session.q, frame="tip")[:3, :3], want, atol=5e-3)
    assert hand.page.evaluate(f"{ELEMENT}.stage.camera.azimuth") == seen  # R without a drag would fit the view
    hand.page.keyboard.press("Control+z")
    hand.until(lambda n: np.allclose(n["q"], q, atol=1e-9), "undo")
    assert not session.target("tip").turn


def test_letting_r_go_moves_on_from_there(hand):
    mouse, keys = hand.page.mouse, hand.page.keyboard
    x, y = hand.at("tip")
    mouse.move(x, y)
    mouse.down()
    keys.down("r")
    mouse.move(x + 30, y, steps=3)
    keys.up("r")
    mouse.move(x + 30, y - 40, steps=3)
    mouse.up()
    hand.undone("turn of tip")
    goal = hand.studio.session.target("tip")
    assert goal.turn
    np.testing.assert_allclose(hand.at("tip"), [x, y - 40], atol=1.0)


def test_r_turns_a_link_about_its_joint(hand):
    session = hand.studio.session
    before = session.linkage.forward(session.q, frame="panda_hand")
    rolled(hand, hand.link_at("panda_hand"), 40, 10)
    hand.undone("turn of panda_hand")
    after = session.linkage.forward(session.q, frame="panda_hand")
    assert Rotation.from_matrix(after[:3, :3] @ before[:3, :3].T).magnitude() == pytest.approx(
        np.hypot(40, 10) / RADIUS, abs=0.03
    )
    assert np.linalg.norm(after[:3, 3] - before[:3, 3]) < 2e-3
    assert [target.turn for target in session.scene.targets] == [False]  # no goal was added
    np.testing.assert_allclose(session.target("tip").place, session.linkage.forward(session.q, frame="tip"), atol=1e-9)


def test_what_has_no_turn_says_so_and_moves(hand):
    name = hand.studio.add_goal("panda_hand", kind="look at")
    hand.until(lambda n: name in [goal["name"] for goal in n["state"]["goals"]])
    rolled(hand, hand.at(name), 30)
    assert "has no orientation" in hand.page.locator(".note:not([hidden])").inner_text()
    hand.undone(f"drag of {name}")


def test_a_goal_beside_others_that_python_solves_is_turned_too(hand):
    session = hand.studio.session
    hand.studio.add_goal("panda_link5", kind="look at")
    hand.ask(do="change goal", name="look at panda_link5", priority=1)
    hand.until(lambda n: len(n["state"]["goals"]) == 2)
    first = session.linkage.forward(session.q, frame="tip")
    eye = camera(hand, "up")
    rolled(hand, hand.at("tip"), 40)
    hand.undone("turn of tip")
    hand.studio.idle(30.0)
    want = Rotation.from_rotvec(eye * 40 / RADIUS).as_matrix() @ first[:3, :3]
    np.testing.assert_allclose(session.target("tip").place[:3, :3], want, atol=1e-6)
    np.testing.assert_allclose(session.linkage.forward(session.q, frame="tip")[:3, :3], want, atol=2e-2)


def test_a_planar_arm_turns_in_its_plane(hand):
    hand.ask(do="open model", name="planar:15,10,5")
    hand.until(lambda n: len(n["q"]) == 3, "the planar arm")
    session = hand.studio.session
    first = session.linkage.forward(session.q, frame="tip")
    rolled(hand, hand.at("tip"), 30)
    hand.undone("turn of tip")
    after = session.linkage.forward(session.q, frame="tip")
    turn = Rotation.from_matrix(after[:3, :3] @ first[:3, :3].T).as_rotvec()
    np.testing.assert_allclose(turn, [0, 0, -30 / RADIUS], atol=2e-3)
    np.testing.assert_allclose(after[:2, 3], first[:2, 3], atol=0.03)


def test_r_alone_shows_everything(hand):
    hand.page.mouse.click(*hand.link_at("panda_link1"))
    start = hand.page.evaluate(f"{ELEMENT}.stage.camera.distance")
    hand.page.mouse.wheel(0, 400)
    hand.until(lambda _: hand.page.evaluate(f"{ELEMENT}.stage.camera.distance") > 1.1 * start, "further away")
    hand.page.keyboard.press("r")
    assert hand.page.evaluate(f"{ELEMENT}.stage.camera.distance") == pytest.approx(start)


def test_an_obstacle_is_dragged_and_turned_each_undone_at_once(hand):
    session = hand.studio.session
    hand.page.get_by_role("tab", name="Obstacles").click()
    hand.page.get_by_role("button", name="box", exact=True).click()
    hand.until(lambda n: n["state"]["around"]["obstacles"], "the box")
    spot = (
        f"() => {{ const s = {ELEMENT}; const h = s.stage.handles.list.find((one) => one.label === 'box1');"
        "const p = s.stage.camera.project(h.position), r = s.stage.canvas.getBoundingClientRect();"
        "return [p.x + r.left, p.y + r.top]; }"
    )
    hand.stand_still()
    places = [session.scene.around.world["box1"].pose]
    x, y = hand.page.evaluate(spot)
    mouse = hand.page.mouse
    mouse.move(x, y)
    mouse.down()
    for k in range(1, 7):  # answers of Python arrive in between
        mouse.move(x - 8 * k, y + 5 * k)
        hand.page.wait_for_timeout(60)
    mouse.up()
    hand.studio.idle(30.0)
    hand.stand_still()
    np.testing.assert_allclose(hand.page.evaluate(spot), [x - 48, y + 30], atol=1.5)
    places.append(session.scene.around.world["box1"].pose)
    rolled(hand, (x - 48, y + 30), 40)
    hand.until(lambda _: not np.allclose(session.scene.around.world["box1"].pose[:3, :3], np.eye(3)), "the turn")
    hand.studio.idle(30.0)
    np.testing.assert_allclose(session.scene.around.world["box1"].pose[:3, 3], places[1][:3, 3], atol=1e-9)
    for place in (places[1], places[0]):
        hand.page.keyboard.press("Control+z")
        hand.until(
            lambda _, place=place: np.allclose(session.scene.around.world["box1"].pose, place, atol=1e-12), "undo"
        )


def test_a_link_is_dragged_beside_goals_that_only_python_solves(hand):
    hand.studio.add_goal("panda_hand", kind="look at")
    hand.until(lambda n: len(n["state"]["goals"]) == 2)
    session = hand.studio.session
    before = session.linkage.forward(session.q, frame="panda_link4")
    start = hand.link_at("panda_link4")
    hand.drag(start, 0, 40)
    hand.undone("drag of panda_link4")
    hand.studio.idle(30.0)
    after = session.linkage.forward(session.q, frame="panda_link4")
    assert np.linalg.norm(after[:3, 3] - before[:3, 3]) > 0.02
    hand.page.keyboard.press("Control+z")
    hand.until(lambda _: np.allclose(session.linkage.forward(session.q, frame="panda_link4"), before), "undo")


def test_weights_count_while_a_goal_is_dragged(hand):
    """Two goals pull one hand apart: it stays at the one that counts more, in the page as in Python."""
    session = hand.studio.session
    hand.studio.add_goal("tip")
    hand.until(lambda n: len(n["state"]["goals"]) == 2)
    for name in ("tip", "tip 2"):  # the one on top is taken
        hand.ask(do="change goal", name=name, weight=10.0 if name == "tip" else 1.0)
    stays = session.target("tip").place[:3, 3]
    hand.drag(hand.at("tip 2"), -60, -60)
    hand.until(lambda n: n["state"]["history"]["undo"].startswith("drag of"))
    dragged = session.history.can_undo.removeprefix("drag of ")
    tip = session.linkage.forward(session.q, frame="tip")[:3, 3]
    away = np.linalg.norm(session.target(dragged).place[:3, 3] - stays)
    share = np.linalg.norm(tip - stays) / away
    assert share < 0.2 if dragged == "tip 2" else share > 0.8
