"""Use of the page by hand: colours, the first minute, shortcuts, curves, races, remarks, exports."""

from __future__ import annotations

import time

import numpy as np
import pytest

import linkwork as lw
from linkwork.studio.scene import first_scene
from studio_hand import ELEMENT

BENT = [0.8, 0.2, 0.3, -1.2, 0.1, 1.9, 0.5]
GHOSTS = f"[...{ELEMENT}.stage.ghosts].map((ghost) => Array.from(ghost.matrices))"


def two_keys(hand, kind="cubic"):
    for moment, pose in ((0.0, "ready"), (1.0, BENT)):
        hand.ask(do="pose", q=pose)
        hand.ask(do="set key", time=moment, kind=kind)
    hand.until(lambda n: n["state"]["motion"], "a motion")


def tab(hand, name):
    hand.page.get_by_role("tab", name=name).click()


def origins(matrices):
    """Return the positions of frames, shape (..., 3)."""
    return np.reshape(matrices, (-1, 4, 4))[:, :3, 3]


def test_a_goal_has_one_colour_in_view_and_in_the_list_and_a_line_to_its_limb(hand):
    hand.studio.add_goal("panda_link5", kind="pin")
    hand.until(lambda n: len(n["state"]["goals"]) == 2)
    handles = hand.page.evaluate(
        f"() => [...{ELEMENT}.holding.handles].map(([name, one]) => [name, one.label, one.color])"
    )
    rows = hand.page.evaluate(
        f"() => [...{ELEMENT}.root.querySelectorAll('.goals .name')].filter((row) => row.querySelector('.dot'))"
        ".map((row) => [row.querySelector('span').textContent, row.querySelector('.dot').style.background])"
    )
    shown = [[name, f"rgb({int(c[1:3], 16)}, {int(c[3:5], 16)}, {int(c[5:7], 16)})"] for name, _, c in handles]
    assert [name for name, _ in rows] == ["tip", "pin panda_link5"]
    assert rows == shown
    assert all(name == label for name, label, _ in handles)
    assert len({color for _, _, color in handles}) == 2
    place = hand.studio.session.target("tip").place.copy()
    place[:3, 3] = 1.5, 0.0, 0.9
    hand.ask(do="drag", name="tip", place=place.ravel().tolist())
    tie = hand.until(lambda _: hand.page.evaluate(f"{ELEMENT}.holding.handles.get('tip').tie"), "the line")
    np.testing.assert_allclose(
        tie, hand.studio.session.linkage.forward(hand.studio.q, frame="tip")[:3, 3], atol=1e-6
    )  # fmt: skip


def test_the_first_minute_goes_on_by_doing_and_can_be_skipped_for_good(hand):
    page = hand.page
    page.evaluate(f"{ELEMENT}.tour.go(0)")
    card = page.locator(".tour")
    assert "1 of 5" in card.inner_text()
    hand.drag(hand.at("tip"), -40, -20)
    card.filter(has_text="2 of 5").wait_for()
    card.get_by_role("button", name="Next").click()
    card.filter(has_text="3 of 5").wait_for()
    hand.ask(do="add goal", kind="pin", frame="panda_link5")
    card.filter(has_text="4 of 5").wait_for()
    card.get_by_role("button", name="Skip the tour").click()
    assert card.is_hidden()
    assert page.evaluate("Object.values(localStorage)") == ["seen"]


def test_shortcuts_pin_frame_go_and_step(hand):
    page = hand.page
    page.mouse.click(*hand.link_at("panda_link5"))
    hand.until(lambda n: n["selected"] == "panda_link5", "selection")
    page.keyboard.press("p")
    hand.until(lambda n: "pin panda_link5" in [goal["name"] for goal in n["state"]["goals"]], "the pin")
    far = page.evaluate(f"{ELEMENT}.stage.camera.distance")
    page.mouse.wheel(0, 600)
    hand.until(lambda _: page.evaluate(f"{ELEMENT}.stage.camera.distance") > 1.2 * far, "further away")
    page.keyboard.press("f")
    hand.until(lambda _: page.evaluate(f"{ELEMENT}.stage.camera.distance") == pytest.approx(far), "everything")
    two_keys(hand)
    page.locator("canvas.tracks").focus()
    for key, moment in (("End", 1.0), ("Home", 0.0), (".", 1.0), (",", 0.0), ("ArrowRight", 1.0 / 24.0)):
        page.keyboard.press(key)
        hand.until(lambda n, moment=moment: n["time"] == pytest.approx(moment, abs=1e-5), key)


def test_a_handle_of_a_curve_is_dragged_and_the_motion_follows(hand):
    two_keys(hand, "bezier")
    before = hand.numbers()["state"]["motion"]
    hand.page.evaluate(f"{ELEMENT}.timeline.curves.toggle()")
    hand.stand_still()
    box = hand.page.locator("canvas.curves").bounding_box()
    one = hand.page.evaluate(f"{ELEMENT}.timeline.curves.handles()[0]")
    hand.drag((box["x"] + one["x"], box["y"] + one["y"]), 30, 20)
    found = hand.undone("interpolation of keys")
    assert found["state"]["clip"]["keys"][0][4][:2] != pytest.approx(one["pull"], abs=1e-3)
    hand.until(lambda n: n["state"]["motion"] not in (0, before), "another motion")
    hand.page.keyboard.press("Control+z")  # the whole drag
    hand.until(lambda n: n["state"]["clip"]["keys"][0][4][:2] == pytest.approx(one["pull"]), "undo")
    hand.page.evaluate(f"{ELEMENT}.timeline.curves.toggle()")


def test_a_clip_is_as_long_as_one_likes(hand):
    hand.ask(do="set key", time=0.0)
    hand.ask(do="pose", q=BENT)
    hand.ask(do="set key", time=90.0)
    hand.until(lambda n: n["state"]["motion"], "the motion")
    head = hand.page.evaluate(f"{ELEMENT}.timeline.playing.head")
    assert (head["frames"], head["duration"]) == (90 * 24 + 1, 90.0)
    assert hand.page.evaluate(f"{ELEMENT}.timeline.span.to") > 90.0


def test_a_joint_that_is_to_blame_is_drawn_over_everything(hand):
    rod = lw.bone((0, 0, 0), (1, 0, 0), 0.05)
    stiff = lw.Builder("stiff").revolute("elbow", "arm", axis="z", limits=(-0.5, 0.5), shape=rod)
    arm = stiff.frame("tip", at=(1, 0, 0)).build()
    hand.studio.do(lambda session: session.open(first_scene(arm), (), "stiff"))
    hand.until(lambda n: len(n["q"]) == 1, "the stiff arm")
    place = np.eye(4)
    place[:2, 3] = 0.2, 0.9
    hand.ask(do="drag", name="tip", place=place.ravel().tolist())
    hand.until(lambda _: hand.page.evaluate(f"[...{ELEMENT}.stage.guilty]") == ["elbow"], "the guilty")
    assert "elbow" in hand.page.locator(".status .why").text_content()


def test_the_ghost_of_a_solve_closes_and_its_matrix_fits_a_wide_screen(hand):
    page, before = hand.page, hand.page.viewport_size
    hand.drag(hand.at("tip"), -60, -40)
    hand.undone("drag of tip")
    page.set_viewport_size({"width": 1280, "height": 640})
    try:
        page.keyboard.press("i")
        page.locator(".matrix table").wait_for()
        count = page.evaluate(f"{ELEMENT}.parts.find((one) => one.look).seen.moments.length")
        gaps = []
        for k in range(count):
            page.evaluate(f"(k) => {ELEMENT}.parts.find((one) => one.look).step(k)", k)
            seen = [origins(page.evaluate(GHOSTS)[0]), origins(page.evaluate(f"Array.from({ELEMENT}.stage.matrices)"))]
            gaps.append(np.abs(seen[0][: len(seen[1])] - seen[1]).max())
        assert gaps[-1] < 0.1 * gaps[0]
        assert page.locator(".matrix th[scope=col]").count() == 7
        assert page.evaluate(
            f"() => {{ const m = {ELEMENT}.root.querySelector('.matrix'); return m.scrollWidth <= m.clientWidth; }}"
        )
    finally:
        page.set_viewport_size(before)
        tab(hand, "Goals")
        hand.stand_still()


def test_racers_that_have_settled_are_told_apart_and_goals_come_and_go(hand):
    page = hand.page
    tab(hand, "Race")
    page.get_by_role("button", name="Start").click()
    hand.until(lambda _: len(page.evaluate(GHOSTS)) == 4, "four ghosts")
    size = page.evaluate(f"{ELEMENT}.stage.scene.own")

    def apart():
        places = [
            origins(one) for one in (page.evaluate(f"Array.from({ELEMENT}.stage.matrices)"), *page.evaluate(GHOSTS))
        ]
        count = len(places[0])
        return min(
            np.abs(a[:count] - b[:count]).max() for k, a in enumerate(places) for b in places[:k]
        )  # fmt: skip

    hand.until(lambda _: apart() > 0.02 * size, "ghosts side by side")
    colors = page.evaluate(f"[...{ELEMENT}.stage.ghosts].map((ghost) => ghost.color)")
    dots = page.evaluate(
        f"() => [...{ELEMENT}.root.querySelectorAll('.racers li')].filter((row) => row.querySelector('input').checked)"
        ".map((row) => row.querySelector('.dot').style.background)"
    )
    assert sorted(f"rgb({int(c[1:3], 16)}, {int(c[3:5], 16)}, {int(c[5:7], 16)})" for c in colors) == sorted(dots)
    for ask in (
        {"do": "add goal", "kind": "pin", "frame": "panda_link5"},
        {"do": "remove goal", "name": "pin panda_link5"},
    ):
        hand.ask(**ask)
        steps = hand.studio.chase.steps
        hand.until(lambda _, steps=steps: hand.studio.chase.steps > steps + 2, "further steps")
    assert page.locator(".note").is_hidden()
    page.get_by_role("button", name="Stop").click()
    tab(hand, "Goals")


def test_a_race_goes_on_beside_obstacles(hand):
    hand.ask(do="add obstacle", kind="sphere", size=1.0)
    found = hand.ask(do="race", methods=["damped", "robust"], begin=True, steps=3)
    assert found["racers"]
    found = hand.ask(do="race", methods=["damped", "robust"], steps=3)
    assert all(np.isfinite(racer["q"]).all() for racer in found["racers"].values())
    hand.ask(do="end race")


def test_remarks_are_short_and_their_buttons_mend(hand, tmp_path):
    page = hand.page
    lw.save(lw.models.human(), tmp_path / "figure.bvh")
    tab(hand, "Files")
    page.set_input_files("input[type=file]", str(tmp_path / "figure.bvh"))
    hand.until(lambda n: any(one["kind"] == "units" for one in n["state"]["remarks"]), "remarks")
    remarks = page.locator(".remarks")
    assert "--units" not in remarks.inner_text()
    length = hand.studio.session.linkage.length
    remarks.get_by_role("button", name="metres", exact=True).click()
    hand.until(lambda _: hand.studio.session.linkage.length == pytest.approx(100.0 * length, rel=1e-3), "in metres")
    (tmp_path / "arm.urdf").write_text(
        "<robot name='arm'><link name='a'><visual><geometry><mesh filename='package://arm/a.stl'/></geometry></visual>"
        "</link><link name='b'/><joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>",
        encoding="utf-8",
    )
    page.set_input_files("input[type=file]", str(tmp_path / "arm.urdf"))
    remarks.get_by_role("button", name="Choose its folder ...").wait_for()
    hand.ask(do="open model", name="panda")
    hand.until(lambda _: remarks.inner_text().strip() == "", "no remark about a model")
    tab(hand, "Goals")


def test_a_file_over_the_limit_is_refused_in_the_page_which_stays_usable(hand, tmp_path):
    page = hand.page
    most = page.evaluate(f"{ELEMENT}.limit")
    page.evaluate(f"{ELEMENT}.limit = 1000")
    try:
        (tmp_path / "large.urdf").write_bytes(b" " * 2_000_000)
        page.set_input_files("input[type=file]", str(tmp_path / "large.urdf"))
        page.locator(".note:not([hidden])").filter(has_text="That is 2 MiB").wait_for()
    finally:
        page.evaluate(f"{ELEMENT}.limit = {most}")
    hand.drag(hand.at("tip"), -30, -20)
    hand.undone("drag of tip")


def test_a_motion_is_exported_by_its_window_with_range_and_rate(hand):
    page = hand.page
    two_keys(hand)
    tab(hand, "Files")
    page.get_by_label("Kind").select_option(".csv")
    page.get_by_role("button", name="Export the motion").click()
    window = page.get_by_role("dialog", name="Export as .csv")
    window.get_by_label("To [s]").fill("0.5")
    window.get_by_label("Frames per second").fill("10")
    window.get_by_role("button", name="Export", exact=True).click()
    done = page.locator(".jobs").get_by_role("button", name="Download").last
    done.wait_for()
    with page.expect_download() as found:
        done.click()
    rows = found.value.path().read_text(encoding="utf-8").splitlines()
    assert len([row for row in rows if row[:1].isdigit()]) == 6
    tab(hand, "Goals")


def test_what_takes_long_is_cancelled_in_the_page(hand, monkeypatch):
    def endless(_clip, _kind, _how, progress):
        while True:
            progress(0.25)
            time.sleep(0.01)

    monkeypatch.setattr("linkwork.studio.studio_actions.export", endless)
    two_keys(hand)
    tab(hand, "Files")
    hand.ask(do="export", kind=".mp4")
    row = hand.page.locator(".jobs li").last
    row.locator("progress").wait_for()
    row.get_by_role("button", name="Cancel").click()
    hand.page.locator(".jobs li").last.filter(has_text="cancelled").wait_for()
    assert hand.numbers()["state"]["jobs"][-1]["state"] == "cancelled"
    tab(hand, "Goals")
