"""The status shows everything that takes long: opening a model, a file, a motion, a solve, the page itself."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import linkwork as lw
from live_pages import wait_for
from studio_hand import ELEMENT, PATIENCE, fresh

BENT = [0.8, 0.2, 0.3, -1.2, 0.1, 1.9, 0.5]


@contextmanager
def held(worker):
    """Keep one of the studio's threads busy in a block."""
    begun, end = threading.Event(), threading.Event()

    def wait():
        begun.set()
        end.wait(4.0 * PATIENCE)  # longer than any wait in the block

    worker.submit(wait)
    assert begun.wait(PATIENCE)
    try:
        yield
    finally:
        end.set()


def words(hand):
    return hand.page.locator(".status .words").inner_text()


def said(hand, text):
    hand.until(lambda _: words(hand) == text, f"{text!r} in place of {words(hand)!r}")


def over(hand):
    hand.until(lambda _: not words(hand).startswith("preparing"), "the end of preparing")


def test_a_model_that_takes_long_is_said_until_it_is_shown(hand):
    with held(hand.studio.worker):
        hand.page.evaluate(f"() => void {ELEMENT}.link.tell({{do: 'open model', name: 'ur5'}})")
        said(hand, "preparing ur5")
        assert hand.page.locator(".status").get_attribute("data-kind") == "busy"
        assert hand.page.locator("[role=status].unseen").inner_text() == "preparing ur5"
    over(hand)
    assert len(hand.numbers()["q"]) == 6
    assert words(hand) == "ready"


def test_a_file_that_takes_long_is_said_by_its_name(hand, tmp_path):
    lw.save(lw.models.ur5(), tmp_path / "arm.urdf")
    (tmp_path / "bad.urdf").write_text("<robot name='x'><link name='a'>", encoding="utf-8")
    for name, linkage in (("bad.urdf", "panda"), ("arm.urdf", "ur5")):
        with held(hand.studio.thinker):
            hand.page.set_input_files("input[type=file]", str(tmp_path / name))
            said(hand, f"preparing {name}")
        over(hand)
        hand.until(lambda n, linkage=linkage: n["state"]["file"]["linkage"] == linkage, linkage)


def test_play_says_that_the_motion_is_made_and_begins_when_it_is_there(hand):
    for moment, pose in ((0.0, "ready"), (8.0, BENT)):
        hand.ask(do="pose", q=pose)
        hand.ask(do="set key", time=moment)
    hand.until(lambda n: n["state"]["motion"], "a motion")
    over(hand)
    with held(hand.studio.thinker):
        hand.ask(do="set key", time=4.0)
        hand.page.keyboard.press("Space")
        said(hand, "preparing the motion")
        assert not hand.numbers()["playing"]
    hand.until(lambda n: n["playing"], "playing")
    over(hand)
    hand.page.keyboard.press("Space")
    hand.until(lambda n: not n["playing"], "a rest")


def test_a_motion_that_cannot_be_made_keeps_nobody_waiting(hand, monkeypatch):
    def fails(_):
        raise ValueError("no motion today.")

    monkeypatch.setattr("linkwork.studio.app.motion", fails)
    for moment in (0.0, 1.0):
        hand.ask(do="set key", time=moment)
    for _ in range(2):  # while it is prepared, and when its failure is cached
        hand.page.keyboard.press("Space")
        hand.page.locator(".note:not([hidden])").filter(has_text="no motion today.").wait_for()
        over(hand)
        hand.page.evaluate(f"{ELEMENT}.status.box.hidden = true")
    assert hand.page.evaluate(f"!{ELEMENT}.timeline.waiting && !{ELEMENT}.playing")


def test_nobody_waits_for_the_motion_of_what_was_there_before(hand):
    for moment in (0.0, 1.0):
        hand.ask(do="set key", time=moment)
    with held(hand.studio.thinker):
        hand.ask(do="set key", time=2.0)
        hand.page.keyboard.press("Space")
        said(hand, "preparing the motion")
        fresh(hand)
    for moment in (0.0, 1.0):
        hand.ask(do="set key", time=moment)
    hand.until(lambda n: n["state"]["motion"], "a motion")
    over(hand)
    assert not hand.numbers()["playing"]


def test_what_stands_at_keys_is_not_made_again_when_the_time_changes(hand):
    """Goals with keys follow the time, and the motion is still that of the keys."""
    for moment, pose in ((0.0, "ready"), (1.0, BENT)):
        hand.ask(do="pose", q=pose)
        hand.ask(do="set key", time=moment, places=True)
    made = hand.until(lambda n: n["state"]["motion"], "a motion")
    for moment in (0.3, 0.9):
        hand.ask(do="time", time=moment)
        assert hand.studio.idle(PATIENCE)
        assert hand.studio._own_parts()["motion"] == made
    hand.ask(do="change goal", name="tip", weight=3.0)
    hand.until(lambda n: n["state"]["motion"] not in (0, made), "the motion with another weight")


def test_the_page_itself_says_so_while_its_machine_code_is_on_its_way(browser, opened):
    context = browser.new_context(viewport={"width": 500, "height": 400})
    page = context.new_page()
    waiting = []
    page.route("**/linkwork.wasm", lambda route: waiting.append(route))
    page.goto(opened.studio.url)
    wait_for(page, f"{ELEMENT}.state.goals === undefined && {ELEMENT}.link.socket?.readyState === 1")
    assert page.locator(".status .words").inner_text() == "preparing"
    for _ in range(300):
        if waiting:
            break
        page.wait_for_timeout(20)
    waiting[0].continue_()
    page.evaluate(f"{ELEMENT}.ready")
    wait_for(page, f"!{ELEMENT}.status.words.textContent.startsWith('preparing')")
    context.close()


def test_steps_in_time_that_python_has_not_answered_are_not_taken_back(hand):
    """Python's message about an earlier time is older than the key presses since then."""
    for moment in (0.0, 1.0):
        hand.ask(do="set key", time=moment)
    hand.ask(do="time", time=0.5)
    hand.until(lambda n: n["time"] == 0.5, "the middle")
    hand.page.locator("canvas.tracks").focus()
    with held(hand.studio.worker):
        for _ in range(4):
            hand.page.keyboard.press("ArrowRight")
        hand.page.evaluate(f"{ELEMENT}.told({{pose: {ELEMENT}.state.pose}})")  # still that of the first time
        hand.page.keyboard.press("ArrowRight")
    hand.until(lambda n: abs(n["state"]["pose"]["time"] - 0.5 - 5.0 / 24.0) < 1e-6, "five frames")
    assert abs(hand.numbers()["time"] - 0.5 - 5.0 / 24.0) < 1e-6


def test_of_what_is_asked_over_and_over_nothing_is_waited_for(hand):
    """Python only handles the newest request of a series; the page drops earlier ones."""
    with held(hand.studio.worker):
        hand.page.evaluate(
            f"() => {{ for (let k = 0; k < 50; k++) {ELEMENT}.link.tell({{do: 'time', time: k / 9, goes_on: true}}); }}"
        )
        assert hand.page.evaluate(f"{ELEMENT}.link.asked.size") == 50
        assert not words(hand).startswith("preparing")
    hand.until(lambda _: hand.page.evaluate(f"{ELEMENT}.link.asked.size") == 0, "all answers")
