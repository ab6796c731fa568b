"""Films as pages in a real browser: from disk, offline, without errors, with the content of the clip."""

from __future__ import annotations

import io
import json
import re
from contextlib import ExitStack

import numpy as np
import pytest

import linkwork as lw
from linkwork import models
from linkwork.draw import film_range, player
from linkwork.models.characters import write_character
from live_pages import quiet_page, running_browser, wait_for, wait_until_drawn

FILM = "document.querySelector('linkwork-film')"
STAGE = f"{FILM}.player.stage"


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture
def screen(browser, tmp_path):
    """Return a function that films a clip and opens the page; any error in the page fails the test."""
    with ExitStack() as pages:

        def opened(clip, *, width=720, height=480, options=None, **look):
            path = tmp_path / "film.html"
            lw.draw.film(clip, path, **look)
            page = pages.enter_context(quiet_page(browser, width=width, height=height, **(options or {})))
            page.goto(path.as_uri())
            return page

        yield opened


def picture(page):
    """Return the pixels of the canvas between title and controls, after drawing."""
    from PIL import Image

    wait_until_drawn(page, STAGE)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    bottom = int(page.locator("form").bounding_box()["y"])
    return np.asarray(image).astype(int)[55:bottom]


def colored(pixels):
    """Return which pixels are coloured, unlike ground and page."""
    return np.ptp(pixels, axis=2) > 60


def clock(page):
    return page.inner_text("#clock")


@pytest.fixture
def arm():
    linkage = models.planar([2.0, 1.0])
    return lw.interpolate(linkage, [(0, [0, 0]), (1, [np.pi / 2, 0])], fps=10, kind="linear")


# In the browser


def test_scrubbing_changes_the_picture_and_the_clock(screen, arm):
    page = screen(arm)
    assert clock(page) == "frame 0 of 10 | 0.00 of 1.00 s"
    first = picture(page)
    page.locator("#scrub").fill("0.5")
    middle = picture(page)
    assert clock(page) == "frame 5 of 10 | 0.50 of 1.00 s"
    assert (colored(first) != colored(middle)).sum() > 1000
    page.locator("#scrub").fill("0")
    assert np.array_equal(picture(page), first)


def test_a_flat_linkage_faces_the_camera_true_to_scale(screen, arm):
    """The arm is along x at first and along y at last: its picture is the same, rotated by a quarter turn."""
    page = screen(arm)
    spans = []
    for key in ("Home", "End"):
        page.keyboard.press(key)
        rows, columns = np.nonzero(colored(picture(page)))
        spans.append((np.ptp(columns), np.ptp(rows)))
    (long, thin), (slim, tall) = spans
    assert long == pytest.approx(tall, abs=3)
    assert thin == pytest.approx(slim, abs=3)
    assert long > 4 * thin


def test_keys_step_play_and_pause(screen, arm):
    page = screen(arm)
    for key, shown in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 10), ("Home", 0)):
        page.keyboard.press(key)
        assert clock(page).startswith(f"frame {shown} of 10")
    assert page.get_by_role("button", name="Play").count() == 1
    page.keyboard.press("Space")
    wait_for(page, f"() => !{FILM}.player.clock.textContent.startsWith('frame 0 ')")
    page.keyboard.press("Space")
    held = clock(page)
    assert page.get_by_role("button", name="Play").count() == 1
    picture(page)
    assert clock(page) == held


def test_without_a_loop_the_film_ends_at_its_end_and_begins_again(screen, arm):
    page = screen(arm)
    page.get_by_label("Loop").uncheck()
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("button", name="Play").click()
    wait_for(page, f"() => {FILM}.player.clock.textContent.startsWith('frame 10 ')")
    page.get_by_role("button", name="Play").wait_for()
    page.get_by_label("Speed").select_option("0.1")
    page.get_by_role("button", name="Play").click()
    assert clock(page).startswith(("frame 0 ", "frame 1 "))


def test_it_plays_by_itself_unless_less_motion_is_wished_for(screen, arm):
    assert screen(arm).get_by_role("button", name="Play").count() == 1
    page = screen(arm, options={"reduced_motion": "no-preference"})
    assert page.get_by_role("button", name="Pause").count() == 1


def test_dragging_turns_and_a_double_click_turns_back(screen):
    clip = models.motion("human:floating")
    page = screen(clip, trail="right_hand")
    before = picture(page)
    assert (np.abs(np.diff(before, axis=0)) > 60).sum() > 1000  # a figure, not an empty page
    page.mouse.move(320, 240)
    page.mouse.down()
    page.mouse.move(420, 200, steps=3)
    page.mouse.up()
    turned = picture(page)
    assert (np.abs(turned - before) > 30).sum() > 2000
    distance = page.evaluate(f"{STAGE}.camera.distance")
    page.mouse.wheel(0, -400)
    wait_for(page, f"{STAGE}.camera.distance < {distance}")  # Playwright does not wait for the wheel
    assert (np.abs(picture(page) - turned) > 30).sum() > 2000
    page.mouse.dblclick(320, 240)
    page.mouse.move(2, 100)  # away from links, whose names would appear
    assert np.array_equal(picture(page), before)


def test_everything_stays_in_the_picture_of_a_phone(screen, arm):
    """On a narrow screen the whole motion is visible, and the controls are as large as a finger."""
    page = screen(arm, width=360, height=640, options={"has_touch": True, "is_mobile": True})
    for key in ("Home", "End"):
        page.keyboard.press(key)
        seen = colored(picture(page))
        assert seen.any()
        assert not np.concatenate([seen[:, 0], seen[:, -1], seen[0]]).any()
    for name in ("#play", "#speed", "#scrub"):
        assert page.locator(name).bounding_box()["height"] >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_one_frame_is_a_still(screen, arm):
    page = screen(lw.Clip(arm.linkage, [0.0], arm.poses[:1]))
    assert colored(picture(page)).any()
    assert page.locator("#scrub").is_disabled()
    assert page.locator("#play").is_disabled()


def test_a_title_is_text_and_nothing_else(screen, arm):
    title = "</script><b>{{film}}</b> & more"
    page = screen(arm, title=title)
    assert page.title() == title
    assert page.inner_text("h1") == title
    assert "2 degrees of freedom" in page.get_by_role("img").get_attribute("aria-label")


# Content of the page


def film_of(page):
    text = re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)[1]
    return json.loads(text)


def numbers(text, kind="<f4"):
    import base64

    return np.frombuffer(base64.b64decode(text), dtype=kind)


def whole(clip):
    return film_range.film_frames(clip, film_range.FilmRange(), most=30.0, what="a page", even=False)


@pytest.mark.parametrize("name", models.MODELS)
def test_bodies_are_where_the_clip_puts_them(name):
    from scipy.spatial.transform import Rotation

    clip = models.motion(models.MODELS[name].example)
    film = film_of(player.page(clip, whole(clip)))
    times, links = numbers(film["times"]), numbers(film["links"], "<u2").astype(int)
    tracks = numbers(film["tracks"]).reshape(len(times), -1, 7)
    frames = clip.forward().array[:, links]
    assert np.allclose(tracks[..., 4:], frames[..., :3, 3], atol=1e-5)
    turns = Rotation.from_quat(np.roll(tracks[..., :4], -1, axis=-1).reshape(-1, 4)).as_matrix()
    assert np.allclose(turns, frames[..., :3, :3].reshape(-1, 3, 3), atol=1e-5)
    parts = numbers(film["scene"]["parts"]).reshape(-1, 16)
    assert len(parts)
    assert set(parts[:, 0].astype(int)) <= set(links)
    assert set(parts[:, 1]) <= {0.0, 1.0, 2.0}
    assert (parts[:, 2:5] > 0.0).all()
    assert np.allclose(np.linalg.norm(parts[:, 9:13], axis=1), 1.0, atol=1e-6)


def test_a_page_is_small_asks_for_nothing_and_is_the_same_every_time(tmp_path):
    clip = models.motion("human:floating")
    for name in ("a.html", "b.html"):
        lw.draw.film(clip, tmp_path / name)
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert text == (tmp_path / "b.html").read_text(encoding="utf-8")
    assert len(text) < 160_000
    assert not re.search(r"https?:|@import|url\(|<img|<iframe|fetch\(|XMLHttpRequest", text)
    assert "default-src 'none'" in text


def test_bones_and_sliders_are_drawn_where_links_have_no_shapes():
    b = lw.Builder("crane", base="mast").revolute("swing", "boom", at=(0, 0, 2), axis="z")
    b.prismatic("hoist", "hook", at=(1.5, 0, 0), axis="-z", limits=(0, 1)).frame("tip", at=(0, 0, -0.2))
    crane = b.build()
    clip = lw.Clip(crane, [0.0, 1.0], [[0.0, 0.0], [0.0, 1.0]])
    film = film_of(player.page(clip, whole(clip), trail="tip"))
    mast, hook, *ends = numbers(film["scene"]["rails"]).tolist()
    assert [crane.links[int(mast)], crane.links[int(hook)]] == ["boom", "hook"]
    assert ends == [1.5, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert len(numbers(film["scene"]["parts"]).reshape(-1, 16)) == 2 + 3  # a ball and a cube, three bones
    path = numbers(film["trail"]).reshape(-1, 3)
    assert path[0] == pytest.approx([1.5, 0.0, 1.8], abs=1e-6)
    assert path[-1] == pytest.approx([1.5, 0.0, 0.8], abs=1e-6)


def test_no_matplotlib_is_needed(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    lw.draw.film(models.motion("two_link"), tmp_path / "a.html")
    assert (tmp_path / "a.html").stat().st_size > 10_000


def test_a_page_shows_a_skin_where_a_film_does_and_goes_along(screen, tmp_path):
    write_character(tmp_path / "a.glb")
    figure = lw.load(tmp_path / "a.glb").replace(root="floating")
    poses = np.repeat(figure.neutral()[None], 3, axis=0)
    poses[:, :3] += np.outer(np.arange(3), [2.0, 0.0, 0.0])  # two metres a second
    clip = lw.Clip(figure, [0.0, 1.0, 2.0], poses)
    page = screen(clip, follow="Hips", view="side", width=480, height=480)
    middles = []
    for time in (0.8, 1.2):
        page.evaluate(f"{FILM}.seek({time})")
        shirt = colored(picture(page))
        assert 0.004 < shirt.mean() < 0.2
        middles.append(np.argwhere(shirt).mean(axis=0))
    assert np.abs(middles[1] - middles[0]).max() < 12.0
    assert np.ptp(np.argwhere(shirt)[:, 1]) > 60  # both sleeves of the T-pose


def test_a_film_can_be_moved_about_a_page_and_taken_away(screen, arm):
    page = screen(arm)
    before = picture(page)
    page.evaluate(f"document.body.append({FILM})")  # removed and added again: it starts over
    assert np.array_equal(picture(page), before)
    page.evaluate(f"{FILM}.remove()")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


# A mechanism in textbook style


def test_a_page_of_a_mechanism(browser, tmp_path):
    bars = lw.drive(lw.models.four_bar(), "crank", np.linspace(0.0, 2.0 * np.pi, 25), start="start", fps=12.0)
    path = tmp_path / "bars.html"
    lw.draw.mechanism(bars, trails="point", driver="crank", path=path)
    with quiet_page(browser, width=500, height=500) as page:
        page.goto(path.as_uri())
        assert page.inner_text("#play") == "Play"  # users who prefer reduced motion start it themselves
        page.evaluate("const t = document.getElementById('time'); t.value = 6; t.dispatchEvent(new Event('input'))")
        assert page.inner_text("#now") == "0.50 s, crank 90.0°"
        speed = float(lw.drive_rates(bars, "crank").of("rocker")[0][6])
        assert float(page.inner_text("[data-series='2']")) == pytest.approx(speed, rel=1e-3)
        turned = page.evaluate("(m => [m.a, m.b])(document.querySelector(\"[data-body='0']\").getCTM())")
        assert np.arctan2(-turned[1], turned[0]) == pytest.approx(np.pi / 2.0, abs=1e-5)
        page.click("#play")
        assert page.inner_text("#play") == "Pause"
