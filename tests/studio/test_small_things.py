"""Details of the page that users expect: touch on small screens, names, units, skins, the camera."""

from __future__ import annotations

import re

import numpy as np
import pytest

from studio_hand import ELEMENT, Hand

BENT = [0.8, 0.2, 0.3, -1.2, 0.1, 1.9, 0.5]
SKINS = f"{ELEMENT}.timeline.ghosts.map((ghost) => Array.from(ghost.matrices))"


@pytest.fixture
def phone(hand, browser):
    """The same studio on a phone, 360 pixels wide."""
    context = browser.new_context(
        viewport={"width": 360, "height": 700},
        has_touch=True,
        is_mobile=True,
        reduced_motion="reduce",
        device_scale_factor=0.5,
    )
    other = Hand(hand.studio, context.new_page())
    other.page.goto(hand.studio.url)
    other.page.evaluate(f"{ELEMENT}.ready")
    other.page.evaluate(f"{ELEMENT}.tour.end()")
    yield other
    context.close()


def touch(fingers, kind, *points):
    places = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]
    fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})


def test_on_a_phone_nothing_is_cut_off_and_fingers_drag_and_pinch(phone):
    page = phone.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for panel in ("Race", "Goals"):
        page.get_by_role("tab", name=panel).click()
        wide = f"() => [...{ELEMENT}.root.querySelectorAll('.page:not([hidden])')].map((one) => one.scrollWidth)"
        assert max(page.evaluate(wide)) <= 360
    page.get_by_role("tab", name="Goals").click()  # closes the sheet
    x, y = phone.at("tip")
    fingers = page.context.new_cdp_session(page)
    touch(fingers, "touchStart", (x, y))
    for k in range(1, 5):
        touch(fingers, "touchMove", (x - 8.0 * k, y - 6.0 * k))
    touch(fingers, "touchEnd")
    phone.undone("drag of tip")
    far = page.evaluate(f"{ELEMENT}.stage.camera.distance")
    touch(fingers, "touchStart", (60, 420), (200, 420))
    for k in range(1, 5):
        touch(fingers, "touchMove", (60 - 10 * k, 420), (200 + 20 * k, 420))
    touch(fingers, "touchEnd")
    assert page.evaluate(f"{ELEMENT}.stage.camera.distance") < 0.9 * far


class Pen:
    """A pen on a tablet, which hovers and touches."""

    def __init__(self, page):
        self.link, self.down = page.context.new_cdp_session(page), 0

    def send(self, kind, at, clicks=0):
        self.down = {"mousePressed": 1, "mouseReleased": 0}.get(kind, self.down)
        button = "none" if kind == "mouseMoved" and not self.down else "left"
        more = {"button": button, "buttons": self.down, "clickCount": clicks, "pointerType": "pen", "force": 0.5}
        self.link.send("Input.dispatchMouseEvent", {"type": kind, "x": at[0], "y": at[1], **more})

    def tap(self, at, clicks):
        self.send("mousePressed", at, clicks)
        self.send("mouseReleased", at, clicks)


def test_a_pen_hovers_drags_and_pins(hand):
    page, pen = hand.page, Pen(hand.page)
    seen = "pens = []; for (const name of ['pointerdown', 'pointermove'])"
    page.evaluate(f"() => {{ {seen} {ELEMENT}.stage.canvas.addEventListener(name, (e) => pens.push(e.pointerType)); }}")
    pen.send("mouseMoved", hand.link_at("panda_link3"))
    page.locator(".lw-name").filter(has_text="panda_link3").wait_for()
    x, y = hand.at("tip")
    pen.send("mouseMoved", (x, y))
    pen.send("mousePressed", (x, y), 1)
    for k in range(1, 5):
        pen.send("mouseMoved", (x - 12.0 * k, y - 8.0 * k))
    pen.send("mouseReleased", (x - 48.0, y - 32.0), 1)
    hand.undone("drag of tip")
    np.testing.assert_allclose(hand.at("tip"), [x - 48.0, y - 32.0], atol=1.5)
    spot = hand.link_at("panda_link5")
    pen.send("mouseMoved", spot)
    pen.tap(spot, 1)
    pen.tap(spot, 2)
    hand.until(lambda n: "pin panda_link5" in [goal["name"] for goal in n["state"]["goals"]], "the pin")
    assert set(page.evaluate("pens")) == {"pen"}


def test_what_is_under_the_mouse_is_named(hand):
    hand.page.mouse.move(*hand.link_at("panda_link3"))
    hand.page.locator(".lw-name").filter(has_text="panda_link3").wait_for()


def test_numbers_are_in_the_units_that_were_chosen(hand):
    page = hand.page
    hand.ask(do="pose", q=BENT)
    hand.until(lambda n: np.allclose(n["q"], BENT, atol=1e-6), "the pose")
    page.get_by_role("tab", name="View").click()
    page.get_by_label("Angles").select_option("rad")
    page.get_by_role("tab", name="Joints").click()
    page.locator(".joint output").filter(has_text="0.800 rad").wait_for()
    page.get_by_role("tab", name="View").click()
    page.get_by_label("Angles").select_option("deg")
    page.get_by_role("tab", name="Joints").click()
    page.locator(".joint output").filter(has_text="45.8\u00b0").wait_for()


def test_what_is_short_is_told_in_the_units_that_were_chosen(hand):
    page = hand.page
    place = hand.studio.session.target("tip").place.copy()
    place[:3, 3] = 1.5, 0.0, 0.9
    hand.ask(do="drag", name="tip", place=place.ravel().tolist())
    hand.until(lambda n: "Move the goal nearer" in n["state"]["status"]["text"], "the reason")
    page.get_by_role("tab", name="View").click()
    page.get_by_label("Lengths").select_option("in")
    why = page.locator(".status .why").text_content()
    inches, metres = (float(re.search(rf"([0-9.]+) {unit} too far", text)[1]) for unit, text in (
        ("in", why), ("m", hand.numbers()["state"]["status"]["text"])
    ))  # fmt: skip
    assert inches == pytest.approx(metres / 0.0254, abs=0.05)
    assert " m" not in re.sub(r" (mo|ma|mi|me)", "", why)
    page.get_by_label("Lengths").select_option("")
    assert f"{metres:g} m too far" in page.locator(".status .why").text_content()


def test_on_a_phone_the_reason_is_read_whole(phone):
    page = phone.page
    place = phone.studio.session.target("tip").place.copy()
    place[:3, 3] = 1.5, 0.0, 0.9
    phone.ask(do="drag", name="tip", place=place.ravel().tolist())
    phone.until(lambda n: "Move the goal nearer" in n["state"]["status"]["text"], "the reason")
    page.locator(".status summary").click()
    box = page.locator(".status .why").bounding_box()
    assert 0.0 <= box["x"] < box["x"] + box["width"] <= 360.0
    chip = page.locator(".status .words").evaluate(
        "(it) => [it.scrollWidth, it.clientWidth, getComputedStyle(it).textOverflow]"
    )
    assert chip[0] <= chip[1] or chip[2] == "ellipsis"


def test_skins_stand_around_the_time_and_follow_edits(hand):
    page = hand.page
    for moment, pose in ((0.0, "ready"), (1.0, BENT)):
        hand.ask(do="pose", q=pose)
        hand.ask(do="set key", time=moment)
    hand.until(lambda n: n["state"]["motion"], "a motion")
    page.get_by_role("button", name="Skins").click()
    page.evaluate(f"{ELEMENT}.timeline.go(0.5)")
    before = hand.until(lambda _: page.evaluate(SKINS), "skins")
    assert len(before) == 6
    assert not np.allclose(before[0], before[1])
    known = hand.numbers()["state"]["motion"]
    hand.ask(do="pose", q=[-x for x in BENT[:3]] + BENT[3:])
    hand.ask(do="set key", time=1.0)
    hand.until(lambda n: n["state"]["motion"] not in (0, known), "the motion after the edit")
    hand.until(lambda _: not np.allclose(page.evaluate(SKINS), before, atol=1e-3), "other skins")
    page.get_by_role("button", name="Skins").click()
    assert page.evaluate(SKINS) == []


def test_the_camera_goes_along_where_it_is_told_to(hand):
    page = hand.page
    hand.ask(do="open model", name="human:floating")
    start = hand.until(lambda n: n["state"]["file"]["linkage"] == "human" and len(n["q"]) > 30 and n["q"], "a human")
    follow = page.get_by_role("button", name="Follow")
    follow.click()
    hand.until(lambda _: page.evaluate(f"Boolean({ELEMENT}.timeline.rest)"), "a picture")
    page.evaluate(f"(q) => {ELEMENT}.pose(q)", [start[0] + 1.5, *start[1:]])
    gone = f"Array.from({ELEMENT}.stage.camera.gone)"
    hand.until(lambda _: np.allclose(page.evaluate(gone), [1.5, 0.0, 0.0], atol=1e-6), "the camera")
    follow.click()
    hand.until(lambda _: page.evaluate(gone) == [0.0, 0.0, 0.0], "the camera back")
