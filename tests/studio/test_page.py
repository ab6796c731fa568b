"""The studio in a real browser: what a person sees, does with a mouse, and gets back; and that nothing stays behind."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.formats import Content
from linkwork.models.characters import LIMBS, TUBES, write_character
from linkwork.studio import saving

pytest.importorskip("viser")
pytest.importorskip("playwright.sync_api")

from playwright import sync_api

from linkwork.studio import open_studio
from linkwork.studio.race_tab import RaceTab
from linkwork.studio.timeline_tab import TimelineTab

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; try: apt-get install chromium")

PATIENCE = 60.0  # seconds: the machine may be busy with other things
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
SQUARE = 0.24  # where on a gizmo of size one the handle is that moves it in its plane


def until(condition, what):
    """Wait for something to come true, and return what it is."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    return pytest.fail(f"waited {PATIENCE:g} s for {what}")


@pytest.fixture(scope="module")
def studio():
    with open_studio(lw.models.planar([15, 10, 5]), port=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(studio):
    """The studio in a browser that reaches nothing else; what it asked for elsewhere is kept in `elsewhere`."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": 760, "height": 520}, locale="en-US", accept_downloads=True)
        context.set_default_timeout(1000.0 * PATIENCE)
        page = context.new_page()
        page.elsewhere, page.wrong = [], []

        def decide(route):
            if route.request.url.startswith(studio.url):
                route.continue_()
            else:
                page.elsewhere.append(route.request.url)
                route.abort()

        page.route(lambda url: url.startswith(("http", "ws")), decide)
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.goto(studio.url)
        page.get_by_role("button", name="Add goal").wait_for()
        until(studio.server.get_clients, "the page to connect")
        yield page
        context.close()
        browser.close()


@pytest.fixture
def fresh(studio, page):
    """The studio with a fresh planar arm and one goal at its tip."""

    def begin():
        studio.open_scene(saving.scene_of(Content(lw.models.planar([15, 10, 5]))))

    studio.do(begin)
    assert studio.idle(PATIENCE)
    tab(page, "Pose")
    page.get_by_role("button", name="Add goal").click()
    until(lambda: "tip" in studio.gizmos.handles, "the goal's gizmo")
    return studio


def tab(page, name):
    page.get_by_role("tab", name=name).click()


def status(page):
    return page.locator(".linkwork-status").inner_text()


def choose(page, label, value):
    """Choose a value of a list."""
    page.locator(f"xpath=//*[normalize-space(text())='{label}']/following::input[1]").click()
    page.get_by_role("option", name=value, exact=True).click()


def pixel(studio, page, point):
    """Return where a point of the world is in the page."""
    camera = until(lambda: list(studio.server.get_clients().values()), "a page")[0].camera
    right, down, ahead = _axes(camera.wxyz)
    way = np.asarray(point) - camera.position
    box = page.locator("canvas").first.bounding_box()
    focal = box["height"] / 2.0 / np.tan(camera.fov / 2.0)
    x, y = focal * (way @ right) / (way @ ahead), focal * (way @ down) / (way @ ahead)
    return box["x"] + box["width"] / 2.0 + x, box["y"] + box["height"] / 2.0 + y


def _axes(wxyz):
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(wxyz, scalar_first=True).as_matrix().T


def take_hold(studio, page, grip, first):
    """Press the mouse on a gizmo and move it a little, again if need be: a busy page may not have drawn it yet."""

    def tried():
        page.mouse.move(*pixel(studio, page, grip))
        page.mouse.move(*pixel(studio, page, grip + 1e-3))
        page.mouse.down()
        page.mouse.move(*pixel(studio, page, first))
        for _ in range(40):
            if studio.gizmos.dragging:
                return True
            page.wait_for_timeout(50.0)
        page.mouse.up()
        return False

    until(tried, "the mouse to take hold")


def drag(studio, page, name, to):
    """Take the gizmo of a goal by its square and bring it to a point of the plane."""
    handle = studio.gizmos.handles[name]
    start = np.array(handle.position)
    grip = np.array([SQUARE, SQUARE, 0.0]) * handle.scale
    target = np.array([*to, start[2]])
    camera = next(iter(studio.server.get_clients().values())).camera
    until(lambda: np.allclose(camera.position[2], studio.view.position[2], rtol=0.01), "the camera to stand")
    take_hold(studio, page, start + grip, start + grip + 0.02 * (target - start))
    for share in np.linspace(0.02, 1.0, 8):
        page.mouse.move(*pixel(studio, page, start + grip + share * (target - start)))
    page.mouse.up()
    until(lambda: np.linalg.norm(studio.session.target(name).place[:2, 3] - to) < 0.5, f"{name} to arrive at {to}")
    until(lambda: not studio.gizmos.dragging, "the mouse to let go")
    assert studio.idle(PATIENCE)


# What it shows


def test_the_page_needs_nothing_but_its_own_server(page):
    assert page.elsewhere == []
    assert page.wrong == []
    assert page.get_by_text("linkwork studio").count() == 1
    assert page.locator("canvas").count() >= 1


def test_a_gizmo_dragged_by_the_mouse_moves_the_linkage_and_the_pose_arrives(fresh, page):
    before = fresh.session.q.copy()
    drag(fresh, page, "tip", (5.0, 20.0))
    tip = fresh.session.linkage.forward(fresh.session.q, frame="tip")[:2, 3]
    np.testing.assert_allclose(tip, fresh.session.target("tip").place[:2, 3], atol=1e-3)
    assert np.abs(fresh.session.q - before).max() > 0.1
    until(lambda: "reached" in status(page), "the sentence")
    shown = page.locator("input[inputmode]").first  # the sliders follow, too
    assert shown.count() == 1


def test_undo_gives_the_pose_back(fresh, page):
    before = fresh.session.q
    drag(fresh, page, "tip", (5.0, 20.0))
    page.get_by_role("button", name="Undo").click()
    until(lambda: np.array_equal(fresh.session.q, before), "the pose of before")
    page.get_by_role("button", name="Redo").click()
    until(lambda: not np.array_equal(fresh.session.q, before), "the pose of after")


def test_a_goal_out_of_reach_shows_the_sentence_and_the_boundary(fresh, page):
    drag(fresh, page, "tip", (12.0, -29.0))
    until(lambda: "too far" in status(page) and "Move the goal nearer" in status(page), "the explanation")
    assert "the chain reaches 30 m" in status(page)
    assert "boundary" in fresh.overlays.shown
    drag(fresh, page, "tip", (12.0, 12.0))
    until(lambda: "reached" in status(page), "the sentence")
    assert "boundary" not in fresh.overlays.shown


def test_the_method_is_switched(fresh, page):
    choose(page, "Method", "ccd")
    until(lambda: fresh.session.scene.method == "ccd", "the method")
    drag(fresh, page, "tip", (8.0, 18.0))
    assert fresh.session.solution.method == "ccd"


def test_a_race_runs_and_through_a_singularity_the_pseudoinverse_explodes(fresh, page, monkeypatch):
    monkeypatch.setattr("linkwork.studio.race_tab.FRAMES", 60)  # the same way in less time
    tab(page, "Race")
    page.get_by_role("button", name="Through a singularity").click()
    race = fresh.tab(RaceTab)
    until(lambda: race.chase is not None and race.chase.steps > 65, "the way there and back")
    speeds = {name: max(runner.curves["joint speed"]) for name, runner in race.chase.runners.items()}
    assert speeds["pseudoinverse"] > 3.0 * speeds["damped"]
    until(lambda: page.locator(".linkwork-race tr").count() > 5, "the table")
    page.get_by_role("button", name="Stop").click()
    until(lambda: race.chase is None, "the end of the race")


def test_a_solve_is_looked_into_and_the_elbow_swings(fresh, page):
    drag(fresh, page, "tip", (5.0, 20.0))
    tab(page, "Inside")
    page.get_by_role("button", name="Look into the last solve").click()
    page.get_by_text("Singular values").wait_for()
    assert "Iteration" in page.locator(".linkwork-inside").inner_text()


def test_keys_are_set_and_played(fresh, page):
    tab(page, "Time")
    page.get_by_role("button", name="Set a key").click()
    until(lambda: len(fresh.session.scene.timeline.keys) == 1, "the first key")
    tab(page, "Pose")
    drag(fresh, page, "tip", (5.0, 20.0))
    tab(page, "Time")
    fresh.do(lambda: fresh.session.change(time=1.0))
    assert fresh.idle(PATIENCE)
    page.get_by_role("button", name="Set a key").click()
    until(lambda: fresh.session.scene.timeline.times == [0.0, 1.0], "the second key")
    page.get_by_role("button", name="Play").click()
    seen = set()
    until(lambda: seen.add(round(fresh.session.scene.time, 1)) or len(seen) > 3, "the motion to play")
    page.get_by_role("button", name="Pause").click()
    until(lambda: not fresh.tab(TimelineTab).playing, "the pause")


# Files


def test_a_scene_is_saved_and_loaded(fresh, page, tmp_path):
    drag(fresh, page, "tip", (5.0, 20.0))
    pose = fresh.session.q
    tab(page, "Files")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the scene").click()
    path = tmp_path / "scene.yaml"
    download.value.save_as(path)
    assert lw.load(path) == fresh.session.linkage
    page.get_by_role("button", name="Open model").click()
    until(lambda: not fresh.session.scene.targets, "another model")
    upload(page, path)
    until(lambda: [target.name for target in fresh.session.scene.targets] == ["tip"], "the scene to come back")
    np.testing.assert_array_equal(fresh.session.q, pose)


def upload(page, path: Path):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload a file").click()
    chooser.value.set_files(path)


def test_a_broken_upload_shows_its_error_and_the_studio_lives_on(fresh, page, tmp_path):
    path = tmp_path / "broken.urdf"
    path.write_text("<robot name='x'><link name='a'>")
    tab(page, "Files")
    upload(page, path)
    until(lambda: "broken.urdf" in status(page), "the error")
    assert "broken.urdf:1: not XML" in page.locator(".linkwork-remarks").inner_text()
    path = tmp_path / "strange.urdf"
    path.write_text('<robot name="&lt;img src=x onerror=alert(1)&gt;"><link name="a"/></robot>')
    upload(page, path)
    until(lambda: fresh.session.linkage.links == ("a",), "the next file")
    assert page.locator("img[src=x]").count() == 0
    assert page.wrong == []


def test_a_file_dropped_on_the_page_is_opened(fresh, page):
    tab(page, "Pose")
    page.evaluate(
        """() => {
          const file = new File(["<robot name='dropped'><link name='only'/></robot>"], "dropped.urdf");
          const data = new DataTransfer();
          data.items.add(file);
          window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
        }"""
    )
    until(lambda: fresh.session.linkage.name == "dropped", "the dropped file")


def test_a_motion_is_exported(fresh, page, tmp_path):
    fresh.do(lambda: (fresh.session.set_key(0.0), fresh.session.set_pose("curl"), fresh.session.set_key(0.5)))
    assert fresh.idle(PATIENCE)
    tab(page, "Files")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export", exact=True).click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert len(lw.load_clip(path)) == 13


# Safety


def test_a_skin_has_the_colour_of_every_corner(fresh, page, tmp_path):
    write_character(tmp_path / "character.glb")
    body = lw.load(tmp_path / "character.glb")
    fresh.do(lambda: fresh.open_scene(saving.scene_of(Content(body))))
    painted = """() => {
      const viewer = window.__viserMutable;
      const name = Object.keys(viewer.nodeRefFromName).find((one) => one.endsWith("/skin"));
      let colors = null;
      if (name) viewer.nodeRefFromName[name]?.traverse((one) => {
        if (one.isSkinnedMesh && one.material.vertexColors) colors = Array.from(one.geometry.attributes.color.array);
      });
      return colors;
    }"""
    light = np.reshape(until(lambda: page.evaluate(painted), "the colours"), (-1, 3))
    shades = np.array(sorted({tube.color for tube in (*TUBES, *LIMBS)}))  # in linear light, as three.js has them
    assert {int(np.abs(shades - one).sum(axis=1).argmin()) for one in light} == set(range(len(shades)))
    assert np.abs(light[:, None] - shades).sum(axis=2).min(axis=1).max() < 0.03


def test_two_tabs_show_one_session_and_do_not_corrupt_it(fresh, page):
    second = page.context.new_page()
    second.goto(fresh.url)
    second.get_by_role("button", name="Add goal").first.wait_for()
    for one in (page, second):
        one.get_by_role("button", name="Add goal").dispatch_event("click")  # only one of them is in front
    until(lambda: len(fresh.session.scene.targets) == 3, "both goals")
    assert [target.name for target in fresh.session.scene.targets] == ["tip", "tip 2", "tip 3"]
    until(lambda: second.get_by_text("tip 3", exact=True).count() == 1, "the other tab to show it")
    second.close()
    until(lambda: len(fresh.server.get_clients()) == 1, "the tab to be gone")
