"""The stage in a real browser: drawing, picking, and dragging of handles."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import pytest

import linkwork as lw
from linkwork import models
from linkwork.draw import scripts, stage_scene
from linkwork.draw.sketch import Sketch
from linkwork.models.characters import write_character
from live_pages import quiet_page, running_browser, wait_until_drawn

PAGE = """<!doctype html><meta charset="utf-8"><style>html, body, #place {{ margin: 0; height: 100%; }}</style>
<div id="place"></div><script>{script}
const stage = new linkwork.Stage(document.getElementById("place"), {{ label: "a test" }});
stage.show({scene});
const log = [];
</script>"""


def scene_of(linkage, pose=None, **options):
    return stage_scene.scene(Sketch(linkage), np.array([linkage.neutral() if pose is None else pose]), **options)


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture
def shown(browser, tmp_path):
    """Return a function that shows a scene and returns its page."""
    opened = []

    def show(scene, **options):
        path = tmp_path / "stage.html"
        path.write_text(
            PAGE.format(script=scripts.bundle(["stage/stage.js"]), scene=json.dumps(scene)), encoding="utf-8"
        )
        opened.append(quiet_page(browser, **{"width": 400, "height": 300, **options}))
        page = opened[-1].__enter__()
        page.goto(path.as_uri())
        wait_until_drawn(page, "stage")
        return page

    yield show
    for page in opened:
        page.__exit__(None, None, None)


def pixels(page):
    from PIL import Image

    wait_until_drawn(page, "stage")
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)


def spot(page, point):
    """Return the position of a point of the world on the screen."""
    at = page.evaluate(f"stage.camera.project({list(map(float, point))})")
    return at["x"], at["y"]


def test_links_are_picked_where_they_are_seen_and_beside_by_a_finger(shown):
    arm = models.planar([15, 10, 5])
    page = shown(scene_of(arm, [0.3, 0.5, 0.5]))
    frames = arm.forward([0.3, 0.5, 0.5])
    for link in ("link1", "link2", "link3"):
        length = {"link1": 15.0, "link2": 10.0, "link3": 5.0}[link]
        middle = (frames[link] @ [length / 2.0, 0.0, 0.0, 1.0])[:3]
        x, y = spot(page, middle)
        found = page.evaluate(f"stage.pick({x}, {y}, 0)")
        assert found["name"] == link
        assert found["point"][:2] == pytest.approx(middle[:2], abs=0.2)
        side = (frames[link] @ [length / 2.0, 1.6, 0.0, 1.0])[:3]  # beside it
        x, y = spot(page, side)
        assert page.evaluate(f"stage.pick({x}, {y}, 2)") is None
        assert page.evaluate(f"stage.pick({x}, {y})")["name"] == link
    assert page.evaluate("stage.pick(2, 2)") is None


def test_a_picked_point_lies_on_the_surface_in_space(shown):
    ball = lw.Visual(lw.Sphere(0.3), (0.2, 0.1, 0.5))
    page = shown(scene_of(lw.Builder("ball", base="base", shape=ball).build()))
    x, y = spot(page, (0.2, 0.1, 0.5))
    for dx, dy in ((0, 0), (20, -15), (-30, 10)):
        found = page.evaluate(f"stage.pick({x + dx}, {y + dy}, 0)")
        assert np.linalg.norm(np.subtract(found["point"], (0.2, 0.1, 0.5))) == pytest.approx(
            0.3, abs=5e-3
        )  # flat faces


def test_hands_drag_handles(shown):
    page = shown(scene_of(models.build("panda")), has_touch=True)
    page.evaluate("""() => { window.ball = stage.handles.add({position: [0.5, 0.1, 0.4], label: "goal of the hand",
        grips: ["ball", "arrows", "planes", "rings"], taken: () => log.push("taken"), moved: () => log.push("moved"),
        dropped: () => log.push("dropped")}); }""")
    wait_until_drawn(page, "stage")
    start = page.evaluate("ball.position")
    x, y = spot(page, start)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y - 25, steps=2)
    page.mouse.up()
    moved = page.evaluate("ball.position")
    assert spot(page, moved) == pytest.approx((x + 40, y - 25), abs=0.1)
    assert page.evaluate("log") == ["taken", "moved", "moved", "dropped"]
    # along an arrow: 60 pixels out
    metres = page.evaluate("stage.camera.project(ball.position).metres")
    x, y = spot(page, np.add(moved, [0, 0, 60 * metres]))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 5, y - 30)
    page.mouse.up()
    lifted = page.evaluate("ball.position")
    assert lifted[:2] == pytest.approx(moved[:2])
    assert lifted[2] > moved[2] + 20 * metres
    # by a finger
    x, y = spot(page, lifted)
    touch = page.context.new_cdp_session(page)
    for kind, points in (
        ("touchStart", [{"x": x + 3, "y": y + 4}]),
        ("touchMove", [{"x": x - 37, "y": y + 4}]),
        ("touchEnd", []),
    ):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    wait_until_drawn(page, "stage")
    assert spot(page, page.evaluate("ball.position")) == pytest.approx((x - 40, y), abs=0.2)
    # by keys
    before = page.evaluate("ball.position")
    grip = page.get_by_role("button", name="goal of the hand: arrow keys move it")
    grip.focus()
    page.keyboard.press("ArrowUp")
    x, y = spot(page, before)
    assert spot(page, page.evaluate("ball.position")) == pytest.approx((x, y - 6), abs=0.1)
    # the camera has not moved
    assert page.evaluate("stage.atHome")


def test_a_link_can_be_taken_and_is_named_under_the_mouse(shown):
    page = shown(scene_of(models.planar([15, 10, 5]), [0.3, 0.5, 0.5]))
    page.evaluate("""() => { stage.grab = (picked) => { log.push(picked.name);
        return stage.handles.add({ position: picked.point, label: picked.name }); }; }""")
    frames = models.planar([15, 10, 5]).forward([0.3, 0.5, 0.5])
    x, y = spot(page, (frames["link2"] @ [5.0, 0.0, 0.0, 1.0])[:3])
    page.mouse.move(x, y)
    page.locator(".lw-name", has_text="link2").wait_for()
    page.mouse.down()
    page.mouse.move(x + 30, y)
    page.mouse.up()
    assert page.evaluate("log") == ["link2"]
    assert spot(page, page.evaluate("stage.handles.list[0].position")) == pytest.approx((x + 30, y), abs=0.2)
    page.mouse.move(5, 5)
    page.locator(".lw-name").wait_for(state="hidden")


def test_fingers_turn_move_and_come_nearer(shown):
    page = shown(scene_of(models.build("human")), has_touch=True)
    touch = page.context.new_cdp_session(page)

    def fingers(kind, *points):
        spots = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": spots})

    before = page.evaluate("({...stage.camera})")
    fingers("touchStart", (60, 60))
    fingers("touchMove", (110, 60))
    fingers("touchEnd")
    turned = page.evaluate("({...stage.camera})")
    assert turned["azimuth"] == pytest.approx(before["azimuth"] - 0.4)
    fingers("touchStart", (100, 100), (200, 100))
    fingers("touchMove", (50, 100), (250, 100))
    fingers("touchEnd")
    assert page.evaluate("stage.camera.distance") == pytest.approx(turned["distance"] / 2, rel=0.05)
    page.keyboard.press("Tab")
    page.keyboard.press("r")
    assert page.evaluate("stage.camera.distance") == pytest.approx(before["distance"])


def test_the_picture_has_a_shadow_follows_the_scheme_and_survives_a_lost_card(shown):
    box = lw.Visual(lw.Box((0.3, 0.3, 1.0)), (0, 0, 0.5), color=(0.9, 0.1, 0.1))
    page = shown(scene_of(lw.Builder("tower", base="base", shape=box).build()))
    light = pixels(page)
    red = light[..., 0] - light[..., 1] > 80
    assert 0.02 < red.mean() < 0.5
    grey = (light.max(axis=2) < 225) & (np.ptp(light, axis=2) < 40)
    assert grey.mean() > 0.005  # nothing else is that dark
    assert light[2, 2].tolist() == [246, 247, 248]
    page.emulate_media(color_scheme="dark")
    dark = pixels(page)
    assert dark[2, 2].tolist() == [20, 23, 27]
    page.evaluate("document.body.dataset.theme = 'light'")  # the theme of the page takes precedence
    assert np.array_equal(pixels(page), light)
    page.evaluate("""() => new Promise(done => { const card = stage.gl.getExtension("WEBGL_lose_context");
        stage.canvas.addEventListener("webglcontextlost", () => setTimeout(() => card.restoreContext(), 0));
        stage.canvas.addEventListener("webglcontextrestored", () => setTimeout(done, 0)); card.loseContext(); })""")
    assert np.array_equal(pixels(page), light)


def test_skins_and_meshes_are_drawn_and_picked(shown, tmp_path):
    write_character(tmp_path / "a.glb")
    figure = lw.load(tmp_path / "a.glb")
    page = shown(scene_of(figure))
    frames = figure.forward(figure.neutral())
    links = [link for link in figure.links if "Arm" in link and "Left" in link]
    x, y = spot(page, frames[links[0]][:3, 3])
    assert page.evaluate(f"stage.pick({x}, {y})")["name"] in figure.links
    before = pixels(page)
    matrices = frames.array[: len(figure.links)].copy()
    matrices[:, 2, 3] += 3.0
    page.evaluate(
        "text => stage.pose(new Float64Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer))",
        base64.b64encode(matrices.tobytes()).decode(),
    )
    assert (np.abs(pixels(page) - before) > 30).sum() > 2000
    assert page.evaluate(f"stage.pick({x}, {y})") is None


def test_a_skin_is_packed_to_a_thirtieth_of_a_millimetre_and_its_weights_sum_to_one(tmp_path):
    write_character(tmp_path / "a.glb")
    sketch = Sketch(lw.load(tmp_path / "a.glb"))
    mesh = scene_of(sketch.linkage)["mesh"]
    weights = np.frombuffer(base64.b64decode(mesh["weights"]), "u1").reshape(-1, 4)
    assert (weights.sum(axis=1, dtype=int) == 255).all()
    corners = np.frombuffer(base64.b64decode(mesh["corners"]), "<u2").reshape(-1, 3) * mesh["step"] + mesh["low"]
    assert np.abs(corners - sketch.skin.corners).max() < 3.5e-5
    assert mesh["closed"] == 0


@pytest.mark.parametrize("name", models.MODELS)
def test_every_model_has_a_scene_of_known_links(name):
    linkage = models.build(models.MODELS[name].example)
    scene = scene_of(linkage)
    links = stage_scene.moving_links(Sketch(linkage))
    parts = np.frombuffer(base64.b64decode(scene["parts"]), "<f4").reshape(-1, 16)
    assert set(parts[:, 0].astype(int)) <= set(links)
    rest = np.frombuffer(base64.b64decode(scene["rest"]), "<f4").reshape(-1, 4, 4)
    assert np.allclose(rest, linkage.forward(linkage.neutral()).array[: len(linkage.links)], atol=1e-5)
    for joint in scene["joints"]:
        assert linkage.joints.index(joint["name"]) >= 0
        assert np.linalg.norm(joint["axis"]) == pytest.approx(1.0)
