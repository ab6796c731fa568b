"""The studio in a browser, by hand: dragging, pinning, keys, undo, panels, files. Chromium draws it in software."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

import linkwork as lw
from linkwork.studio import scene as scenes, sight
from studio_hand import ELEMENT, PATIENCE, Hand


def test_the_first_screen_has_one_goal_and_one_sentence(hand, browser):
    context = browser.new_context(viewport={"width": 500, "height": 400}, device_scale_factor=0.5)
    first = Hand(hand.studio, context.new_page())
    first.page.goto(hand.studio.url)
    first.page.evaluate(f"{ELEMENT}.ready")
    assert [goal["name"] for goal in first.numbers()["state"]["goals"]] == ["tip"]
    assert first.page.title() == "panda \u2013 linkwork studio"
    card = first.page.locator(".tour")
    assert card.is_visible()
    assert "Drag the orange ball" in card.inner_text()
    context.close()


def test_a_dragged_goal_is_followed_in_the_page_and_python_agrees(hand):
    before = hand.numbers()["q"]
    hand.drag(hand.at("tip"), -80, -60)
    found = hand.until(lambda n: n["state"]["history"]["undo"] == "drag of tip" and n)
    assert found["pictures"] > 0
    assert np.abs(np.subtract(found["q"], before)).max() > 0.05
    np.testing.assert_allclose(hand.studio.session.q, found["q"], atol=1e-9)
    assert found["state"]["status"]["success"]
    arm, goal = hand.studio.session.linkage, hand.studio.session.scene.targets[0]
    there = arm.forward(hand.studio.session.q, frame="tip")[:3, 3]
    np.testing.assert_allclose(there, goal.place[:3, 3], atol=2e-4)
    hand.page.keyboard.press("Control+z")
    hand.until(lambda n: np.allclose(n["q"], before, atol=1e-9), "undo")
    hand.page.keyboard.press("Control+Shift+z")
    hand.until(lambda n: np.allclose(n["q"], found["q"], atol=1e-9), "redo")


def test_a_goal_out_of_reach_is_told_with_numbers_and_why(hand):
    hand.page.mouse.wheel(0, 1500)  # further away
    hand.drag(hand.at("tip"), 250, -200)
    found = hand.until(lambda n: n["state"]["status"] and not n["state"]["status"]["success"] and n["state"]["status"])
    words = hand.page.locator(".status .words").inner_text()
    assert "short" in words
    hand.until(lambda n: "Move the goal nearer" in n["state"]["status"]["text"], "the reason")
    assert found["center"] is not None
    hand.page.evaluate(f"{ELEMENT}.stage.home()")


def test_any_link_is_dragged_and_pinned_by_a_double_click(hand):
    start = hand.link_at("panda_link4")
    hand.drag(start, 40, 30)
    hand.until(lambda n: n["state"]["history"]["undo"] == "drag of panda_link4")
    names = [goal["name"] for goal in hand.numbers()["state"]["goals"]]
    assert names == ["tip"]
    hand.page.mouse.dblclick(*hand.link_at("panda_link5"))
    hand.until(lambda n: "pin panda_link5" in [goal["name"] for goal in n["state"]["goals"]], "the pin")
    hand.page.mouse.dblclick(*hand.link_at("panda_link5"))
    hand.until(lambda n: len(n["state"]["goals"]) == 1, "letting go")


def test_a_click_selects_and_keys_add_and_remove(hand):
    hand.page.mouse.click(*hand.link_at("panda_link5"))
    hand.until(lambda n: n["selected"] == "panda_link5", "selection")
    hand.page.keyboard.press("a")
    hand.until(lambda n: "panda_link5" in [goal["name"] for goal in n["state"]["goals"]], "a goal")
    hand.page.mouse.click(*hand.at("panda_link5"))
    hand.until(lambda n: n["chosen"] == "panda_link5", "choice")
    hand.page.keyboard.press("Delete")
    hand.until(lambda n: len(n["state"]["goals"]) == 1, "removal")


def test_keys_are_set_dragged_and_played_as_they_are_now(hand):
    page = hand.page
    page.keyboard.press("k")
    hand.until(lambda n: len(n["state"]["clip"]["keys"]) == 1)
    hand.ask(do="pose", q=[0.8, 0.2, 0.3, -1.2, 0.1, 1.9, 0.5])
    hand.ask(do="set key", time=1.0)
    hand.until(lambda n: n["state"]["motion"], "a motion")
    script = (
        f"() => {{ const t = {ELEMENT}.timeline; const r = t.tracks.canvas.getBoundingClientRect();"
        "return [r.left + t.span.x(1), r.top + 34, t.span.x(2) - t.span.x(1)]; }"
    )
    x, y, second = page.evaluate(script)
    hand.drag((x, y), second / 2, 0)
    keys = hand.until(lambda n: [key[0] for key in n["state"]["clip"]["keys"]] == [0, 1.5] and n, "the moved key")
    assert keys["state"]["history"]["undo"] == "move of keys"
    page.keyboard.press("Space")
    hand.until(lambda n: n["playing"] and n["time"] > 0.1, "playing")
    page.keyboard.press("Space")
    found = hand.until(
        lambda n: not n["playing"] and abs(n["state"]["pose"]["time"] - n["time"]) < 1e-3 and n, "a rest"
    )
    want = hand.studio.session.scene.timeline.pose_at(hand.studio.session.linkage, found["time"])
    np.testing.assert_allclose(hand.studio.session.q, want, atol=1e-6)


def test_every_panel_opens_and_shows_its_own(hand):
    page = hand.page
    for name, text in (
        ("Joints", "panda_joint1"),
        ("Obstacles", "Keep clear of itself"),
        ("Inside", "Inspect the last solve"),
        ("Race", "damped"),
        ("View", "Axes of frames"),
        ("Files", "Download the scene"),
    ):
        page.get_by_role("tab", name=name).click()
        assert text in page.locator(".page:not([hidden])").inner_text()
    page.get_by_role("tab", name="Goals").click()


def test_a_solve_is_looked_into_with_its_iterations(hand):
    hand.drag(hand.at("tip"), -60, -40)
    hand.until(lambda n: n["state"]["history"]["undo"] == "drag of tip")
    hand.page.get_by_role("tab", name="Inside").click()
    hand.page.get_by_role("button", name="Inspect the last solve").click()
    label = hand.page.locator(".page:not([hidden]) output").first
    label.wait_for()
    assert int(label.inner_text().split(" of ")[1]) > 0
    assert hand.page.evaluate(f"{ELEMENT}.stage.ghosts.size") == 1
    hand.page.get_by_role("tab", name="Goals").click()
    assert hand.page.evaluate(f"{ELEMENT}.stage.ghosts.size") == 0


def test_a_race_runs_and_stop_puts_things_back(hand):
    before = hand.numbers()["q"]
    hand.page.get_by_role("tab", name="Race").click()
    hand.page.get_by_role("button", name="Start").click()
    end = time.monotonic() + PATIENCE
    while hand.page.evaluate(f"{ELEMENT}.stage.ghosts.size") < 2 and time.monotonic() < end:
        hand.page.wait_for_timeout(50)
    assert hand.page.locator(".plots svg").count() == 3
    hand.page.get_by_role("button", name="Stop").click()
    assert hand.page.evaluate(f"{ELEMENT}.stage.ghosts.size") == 0
    np.testing.assert_allclose(hand.numbers()["q"], before, atol=1e-9)


def test_the_palette_finds_commands(hand):
    hand.page.keyboard.press("Control+k")
    hand.page.keyboard.type("new clip")
    hand.page.keyboard.press("Enter")
    hand.until(lambda n: n["state"]["clips"] == ["motion", "motion 2"], "a clip")


def test_obstacles_are_kept_clear_of_while_a_goal_is_dragged(hand):
    hand.ask(do="add obstacle", kind="box", size=1.0)
    name = hand.until(lambda n: n["state"]["around"]["obstacles"])[0]["name"]
    tip = hand.studio.session.scene.targets[0].place[:3, 3]
    place = np.eye(4)
    place[:3, 3] = np.add(tip, [0.0, 0.3, 0.0])
    hand.ask(do="move obstacle", name=name, place=place.ravel().tolist())
    hand.drag(hand.at("tip"), 120, 20)
    hand.until(lambda n: n["state"]["history"]["undo"] == "drag of tip")
    session = hand.studio.session
    clear = lw.clearance(session.linkage, session.q, session.scene.around.world, self=False).distance
    assert clear > session.scene.around.margin - 2e-4


def test_a_dropped_file_is_opened_and_a_broken_one_changes_nothing(hand, tmp_path):
    page = hand.page
    page.get_by_role("tab", name="Files").click()
    (tmp_path / "bad.urdf").write_text("<robot name='x'><link name='a'>", encoding="utf-8")
    page.set_input_files("input[type=file]", str(tmp_path / "bad.urdf"))
    page.locator(".note:not([hidden])").wait_for()
    assert "bad.urdf" in page.locator(".note").inner_text()
    assert hand.numbers()["state"]["file"]["linkage"] == "panda"
    lw.save(lw.models.ur5(), tmp_path / "arm.urdf")
    page.set_input_files("input[type=file]", str(tmp_path / "arm.urdf"))
    hand.until(lambda n: n["state"]["file"]["linkage"] == "ur5" and len(n["q"]) == 6, "the file")
    page.keyboard.press("Control+z")
    hand.until(lambda n: n["state"]["file"]["linkage"] == "panda" and len(n["q"]) == 7, "the file before")


def test_two_pages_show_one_session(hand, browser):
    context = browser.new_context(viewport={"width": 400, "height": 400}, device_scale_factor=0.5)
    other = Hand(hand.studio, context.new_page())
    other.page.goto(hand.studio.url)
    other.page.evaluate(f"{ELEMENT}.ready")
    hand.drag(hand.at("tip"), -40, -30)
    found = hand.until(lambda n: n["state"]["history"]["undo"] == "drag of tip" and n)
    other.until(lambda n: np.allclose(n["q"], found["q"], atol=1e-9), "the other page")
    context.close()


def test_scripts_and_the_page_see_each_other(hand):
    name = hand.studio.add_goal("panda_link5", kind="pin")
    hand.until(lambda n: name in [goal["name"] for goal in n["state"]["goals"]], "the goal of a script")
    hand.studio.q = "ready"
    hand.until(lambda n: np.allclose(n["q"], hand.studio.q, atol=1e-9), "the pose of a script")


def test_a_scene_is_downloaded(hand):
    hand.page.get_by_role("tab", name="Files").click()
    with hand.page.expect_download() as found:
        hand.page.get_by_role("button", name="Download the scene").click()
    text = found.value.path().read_text(encoding="utf-8")
    assert "studio:" in text
    assert found.value.suggested_filename == "panda.yaml"


def long_arm(count):
    builder = lw.Builder("long")
    for k in range(count):
        builder = builder.revolute(f"j{k}", f"l{k}", axis="z" if k % 2 else "y", at=(0.01, 0, 0) if k else (0, 0, 0))
    return builder.build()


def test_thousands_of_joints_keep_the_page_small(hand):
    count = 2500  # 5,000 take twice the memory that a test may have
    linkage = long_arm(count)
    scene = scenes.Scene(linkage, linkage.neutral())
    hand.studio.do(lambda session: session.open(scene, (), "long"))
    hand.until(lambda n: len(n["q"]) == count, "the long one")
    hand.page.get_by_role("tab", name="Joints").evaluate("tab => tab.click()")  # a real click waits for slow drawing
    hand.page.wait_for_timeout(200)
    assert 0 < hand.page.evaluate(f"{ELEMENT}.root.querySelectorAll('input').length") < 120
    assert json.loads(json.dumps(hand.numbers()["selected"])) is None


def test_python_moves_what_is_too_large_for_the_page_to_solve(hand):
    linkage = long_arm(sight.COLUMNS + 1)
    scene = scenes.first_scene(linkage)
    hand.studio.do(lambda session: session.open(scene, (), "long"))
    hand.until(lambda n: len(n["q"]) == linkage.nq and n["state"]["goals"], "the long one")
    (target,) = scene.targets
    assert hand.studio._solver[1] == '{"solver":null}'
    before = hand.numbers()["q"]
    hand.drag(hand.at(target.name), -60, -40)
    hand.undone(f"drag of {target.name}")
    assert hand.studio.idle(30.0)
    session = hand.studio.session
    assert np.linalg.norm(session.target(target.name).place[:3, 3] - target.place[:3, 3]) > 0.05
    assert session.solution.success
    hand.until(lambda n: n["q"] == session.q.tolist() != before, "what Python found")
    assert hand.page.evaluate(f"{ELEMENT}.solving.solvers.size") == 0


def test_a_joint_that_is_turned_takes_goals_that_reach_along(hand):
    hand.page.evaluate(f"{ELEMENT}.room.open('Joints')")
    before = hand.numbers()["q"]
    script = (
        f"() => {{ const row = {ELEMENT}.root.querySelectorAll('.joint input')[0]; row.value = 620;"
        "row.dispatchEvent(new Event('input')); row.dispatchEvent(new Event('change')); }"
    )
    hand.page.evaluate(script)
    numbers = hand.until(lambda n: n["state"]["history"]["undo"].startswith("turn of") and n, "the turn")
    assert numbers["q"][0] != before[0]
    assert numbers["q"][1:] == before[1:]
    hand.studio.idle(30.0)
    session = hand.studio.session
    place = session.linkage.forward(session.q)[session.scene.targets[0].frame]
    np.testing.assert_allclose(session.scene.targets[0].place[:3, 3], place[:3, 3], atol=1e-9)


def test_on_a_large_screen_everything_is_larger_and_hands_still_meet_what_they_see(hand):
    page, before = hand.page, hand.page.viewport_size
    hand.ask(do="set key", time=0.0)
    hand.ask(do="set key", time=1.0)
    letters = f"() => getComputedStyle({ELEMENT}.room.tabs.firstChild).fontSize"
    small = page.evaluate(letters)
    page.set_viewport_size({"width": 3840, "height": 640})  # low, because drawing is in software
    try:
        hand.stand_still()
        unit = page.evaluate(f"{ELEMENT}.timeline.tracks.unit")
        large = page.evaluate(letters)
        assert (float(small[:-2]), float(large[:-2])) == pytest.approx((13.0, 13.0 * unit))
        assert unit == pytest.approx(1.7)
        assert page.evaluate(f"{ELEMENT}.stage.camera.unit") == unit
        box = page.locator("canvas.tracks").bounding_box()
        x = page.evaluate(f"{ELEMENT}.timeline.span.x(1.0)")
        page.mouse.click(box["x"] + x * unit, box["y"] + 10.0 * unit)  # on the ruler, above the key
        hand.until(lambda n: abs(n["time"] - 1.0) < 1e-6, "the time of the key")
        place = hand.studio.session.target("tip").place[:3, 3].copy()
        at = hand.at("tip")
        hand.drag((at[0] + 12.0, at[1]), 60, -60)  # beside the ball on a small screen, on it on a large one
        hand.undone("drag of tip")
        hand.studio.idle(30.0)
        assert abs(hand.studio.session.target("tip").place[:3, 3] - place).max() > 0.01
    finally:
        page.set_viewport_size(before)
        hand.stand_still()
