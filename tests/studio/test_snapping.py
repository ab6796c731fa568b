"""Keys and the time snap to frames, to other keys and to each other; Alt or the switch turn this off."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from studio_hand import ELEMENT

FPS = 24.0
BETWEEN = 2.013  # seconds: no frame is there


@pytest.fixture
def keyed(hand):
    """A user of a clip with three keys, the last of them between two frames."""
    for moment in (0.0, 1.0, BETWEEN):
        hand.ask(do="set key", time=moment)
    hand.ask(do="time", time=0.0)
    hand.until(lambda n: len(n["state"]["clip"]["keys"]) == 3 and n["time"] == 0.0, "three keys")
    hand.until(lambda n: n["state"]["motion"], "their motion")
    hand.stand_still()
    return hand


def at(hand, moment, row=34.0):
    """Return the position of a time on the screen, in the row of poses or on the ruler."""
    x, left, top = hand.page.evaluate(
        f"(moment) => {{ const t = {ELEMENT}.timeline, r = t.tracks.canvas.getBoundingClientRect();"
        "return [t.span.x(moment), r.left, r.top]; }",
        moment,
    )
    return left + x, top + row


def grain(hand):
    return hand.page.evaluate(f"{ELEMENT}.timeline.span.grain")


def taken(hand, moment, to):
    """Drag the key at a time to another time, with the mouse."""
    (x, y), (right, _) = at(hand, moment), at(hand, to)
    hand.drag((x, y), right - x, 0)


def times(numbers):
    return [key[0] for key in numbers["state"]["clip"]["keys"]]


@contextmanager
def alt(hand):
    hand.page.keyboard.down("Alt")
    try:
        yield
    finally:
        hand.page.keyboard.up("Alt")


def test_a_key_goes_to_the_next_frame(keyed):
    taken(keyed, 1.0, 1.31)
    frame = round(1.31 * FPS) / FPS
    assert abs(frame - 1.31) > grain(keyed)  # there is something to snap by
    keyed.until(lambda n: times(n) == pytest.approx([0.0, frame, BETWEEN], abs=1e-6), "the frame")


def test_alt_lets_a_key_go_anywhere(keyed):
    with alt(keyed):
        taken(keyed, 1.0, 1.31)
        found = keyed.undone("move of keys")
    assert times(found)[1] == pytest.approx(1.31, abs=grain(keyed))
    assert abs(times(found)[1] * FPS - round(times(found)[1] * FPS)) > 0.1


def test_a_key_goes_to_where_the_time_stands(keyed):
    keyed.page.evaluate(f"{ELEMENT}.timeline.go(1.507)")
    keyed.until(lambda n: n["state"]["pose"]["time"] == 1.507, "the time")
    taken(keyed, 1.0, 1.507 + 4.0 * grain(keyed))
    keyed.until(lambda n: times(n) == [0.0, 1.507, BETWEEN], "the time of the head")


def test_a_key_goes_to_another_and_takes_its_place(keyed):
    taken(keyed, 1.0, BETWEEN - 4.0 * grain(keyed))
    keyed.until(lambda n: times(n) == [0.0, BETWEEN], "one key in place of two")
    keyed.page.keyboard.press("Control+z")
    keyed.until(lambda n: times(n) == [0.0, 1.0, BETWEEN], "both again")


@pytest.mark.parametrize("where", ["ruler", "curves"])
def test_the_time_goes_to_frames_and_keys_and_with_alt_anywhere(keyed, where):
    if where == "curves":
        keyed.page.evaluate(f"{ELEMENT}.timeline.curves.toggle()")
        keyed.stand_still()

    def press(moment):
        x, y = at(keyed, moment, 10.0)
        if where == "curves":
            y = keyed.page.locator("canvas.curves").bounding_box()["y"] + 75.0
        keyed.page.mouse.click(x, y)

    press(0.52)
    keyed.until(lambda n: n["time"] == pytest.approx(0.5, abs=1e-9), "a frame")
    press(BETWEEN + 3.0 * grain(keyed))
    keyed.until(lambda n: n["time"] == pytest.approx(BETWEEN, abs=1e-9), "a key")
    with alt(keyed):
        press(0.52)
    keyed.until(lambda n: n["time"] == pytest.approx(0.52, abs=grain(keyed)), "anywhere")
    snap = keyed.page.get_by_role("button", name="Snap")
    snap.click()
    press(1.27)
    keyed.until(lambda n: n["time"] == pytest.approx(1.27, abs=grain(keyed)), "anywhere, without the switch")
    snap.click()
    assert snap.get_attribute("aria-pressed") == "true"
    if where == "curves":
        keyed.page.evaluate(f"{ELEMENT}.timeline.curves.toggle()")
