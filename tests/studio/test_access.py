"""Accessibility of the page: contrast in light and dark, names for screen readers, keyboard; measured in the page."""

from __future__ import annotations

import pytest

from studio_access import contrasts, measured, nameless, walked
from studio_hand import ELEMENT, fresh

PANELS = ("Goals", "Joints", "Obstacles", "Inside", "Race", "View", "Files")


@pytest.fixture(scope="module")
def furnished(shown):
    """Return a page with one of everything: goals, an obstacle, keys, curves, a traced solve, remarks, messages."""
    hand, _ = shown
    fresh(hand)
    hand.studio.add_goal("panda_link5", kind="pin")
    hand.ask(do="add obstacle", kind="box", size=1.0)
    for moment, pose in ((0.0, "ready"), (1.0, [0.8, 0.2, 0.3, -1.2, 0.1, 1.9, 0.5])):
        hand.ask(do="pose", q=pose)
        hand.ask(do="set key", time=moment, kind="bezier")
    hand.until(lambda n: n["state"]["motion"], "a motion")
    hand.page.evaluate(
        f"() => {{ const s = {ELEMENT}; s.choose('tip'); s.timeline.curves.toggle(); s.tour.go(0);"
        "s.timeline.tracks.chosen = new Set([0]); s.timeline.chose();"
        "s.parts.find((one) => one.look)?.look(); }"
    )
    hand.page.locator(".numbers b").first.wait_for(state="attached")
    return hand


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read(furnished, opened, scheme):
    page = opened.page
    page.emulate_media(color_scheme=scheme)
    page.evaluate(f"{ELEMENT}.status.trouble('Something could not be done, and that is said for a while.')")
    weak, count = [], 0
    for panel in PANELS:
        page.get_by_role("tab", name=panel).click()
        found = contrasts(page)
        count += len(found)
        weak += [one for one in found if one["ratio"] < one["least"]]
    page.keyboard.press("Control+k")
    page.keyboard.type("op")
    weak += [one for one in contrasts(page) if one["ratio"] < one["least"]]
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    weak += [one for one in contrasts(page) if one["ratio"] < one["least"]]
    page.keyboard.press("Escape")
    page.emulate_media(color_scheme="light")
    assert weak == []
    assert count > 300


def test_every_control_has_a_name_and_words_beside_it_are_part_of_it(furnished, opened):
    for panel in PANELS:
        opened.page.get_by_role("tab", name=panel).click()
        assert nameless(opened.page) == []
        for words, name in measured(opened.page, "labels"):
            assert words in name


def test_the_keyboard_reaches_every_control_and_shows_where_it_is(furnished, opened):
    page = opened.page
    for panel in PANELS:
        page.get_by_role("tab", name=panel).click()
        count, bare, missed = walked(page)
        assert (bare, missed) == ([], [])
        assert count > 20
    page.get_by_role("tab", name="Goals").click()
    for panel in (*PANELS[1:], "Goals"):
        page.keyboard.press("ArrowRight")
        assert page.locator("[role=tab][aria-selected=true]").inner_text() == panel


def test_keys_of_a_clip_are_chosen_and_moved_by_the_keyboard(hand):
    page = hand.page
    for moment in (0.0, 1.0):
        hand.ask(do="set key", time=moment)
    hand.ask(do="time", time=0.0)
    hand.until(lambda n: len(n["state"]["clip"]["keys"]) == 2 and n["time"] == 0.0)
    page.locator("canvas.tracks").focus()
    page.keyboard.press(".")
    hand.until(lambda n: n["time"] == 1.0, "the next key")
    page.keyboard.press("Enter")
    page.keyboard.press("Alt+ArrowRight")
    fps = hand.numbers()["state"]["clip"]["fps"]
    hand.until(lambda n: abs(n["state"]["clip"]["keys"][1][0] - 1.0 - 1.0 / fps) < 1e-5, "the moved key")
    page.keyboard.press("Delete")
    hand.until(lambda n: len(n["state"]["clip"]["keys"]) == 1, "removal")
    assert hand.numbers()["state"]["goals"]  # the selected goal must remain


def test_handles_of_curves_are_reached_named_and_moved_by_the_keyboard(hand):
    page = hand.page
    for moment, pose in ((0.0, "ready"), (1.0, [0.8, 0.2, 0.3, -1.2, 0.1, 1.9, 0.5])):
        hand.ask(do="pose", q=pose)
        hand.ask(do="set key", time=moment, kind="bezier")
    hand.until(lambda n: n["state"]["motion"], "a motion")
    if not page.evaluate(f"{ELEMENT}.timeline.curves.open"):
        page.evaluate(f"{ELEMENT}.timeline.curves.toggle()")
    fps, (x1, y1, x2, y2) = hand.numbers()["state"]["clip"]["fps"], pulls(hand.numbers())
    out = page.get_by_role("button", name="Handle after the key at 0 s")
    back = page.get_by_role("button", name="Handle before the key at 1 s")
    box = page.locator("canvas.curves").bounding_box()
    seen = out.bounding_box()
    assert min(seen["width"], seen["height"]) >= 24.0
    drawn = page.evaluate(f"{ELEMENT}.timeline.curves.handles()[0]")  # the ring is around the dot
    assert seen["x"] + seen["width"] / 2.0 == pytest.approx(box["x"] + drawn["x"], abs=1.0)
    assert seen["y"] + seen["height"] / 2.0 == pytest.approx(box["y"] + drawn["y"], abs=1.0)
    assert box["x"] < seen["x"] < back.bounding_box()["x"] < box["x"] + box["width"]
    out.focus()
    page.keyboard.press("ArrowRight")
    hand.until(lambda n: pulls(n) == pytest.approx([x1 + 1.0 / fps, y1, x2, y2], abs=1e-6), "a frame later")
    page.keyboard.press("Tab")
    assert back.evaluate("(it) => it.getRootNode().activeElement === it")
    page.keyboard.press("Shift+ArrowLeft")
    hand.until(lambda n: pulls(n) == pytest.approx([x1 + 1.0 / fps, y1, x2 - 5.0 / fps, y2], abs=1e-6), "Shift")
    height = back.bounding_box()["y"]
    page.keyboard.press("ArrowUp")
    hand.until(lambda n: abs(pulls(n)[3] - y2) == pytest.approx(0.05, abs=1e-6), "a step")
    assert back.bounding_box()["y"] < height
    assert f"{100 * pulls(hand.numbers())[3]:.0f} % of the way" in back.get_attribute("aria-label")
    page.keyboard.press("Control+z")
    hand.until(lambda n: pulls(n)[2:] == pytest.approx([x2, y2], abs=1e-6), "the undone strokes of one handle")
    page.evaluate(f"{ELEMENT}.timeline.curves.toggle()")


def pulls(numbers):
    """Return the handles of the first key."""
    return numbers["state"]["clip"]["keys"][0][4]


def test_a_goal_is_moved_by_the_arrow_keys(hand):
    before = hand.studio.session.target("tip").place[:3, 3].copy()
    hand.stand_still()
    hand.page.locator(".lw-grip").first.focus()
    for _ in range(5):
        hand.page.keyboard.press("ArrowUp")
    hand.undone("drag of tip")
    hand.studio.idle(30.0)
    assert hand.studio.session.target("tip").place[2, 3] > before[2]
