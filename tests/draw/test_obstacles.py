"""Obstacles, collision shapes and the nearest pair, in pictures and on the stage."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

import linkwork as lw
from linkwork.draw.sketch import Sketch
from linkwork.draw.stage_scene import moving_links, scene
from linkwork.errors import LinkNotFoundError, OptionError

ARM = lw.models.panda()
SHELF = lw.Obstacle(lw.Box((0.3, 0.6, 0.02)), (0.55, 0.0, 0.35), name="shelf")
BALL = lw.Obstacle(lw.Sphere(0.04), (0.0, 0.0, 0.06), name="ball", link="panda_hand")
STONE = lw.Obstacle(lw.Hull(0.06 * np.random.default_rng(0).normal(size=(20, 3))), (0.4, -0.3, 0.3), name="stone")
WALL = np.array([[0.0, 0.0, -1.0, 1.2], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
WORLD = lw.World([SHELF, BALL, STONE, lw.Obstacle(lw.HalfSpace(), name="floor"), lw.Obstacle(lw.HalfSpace(), WALL)])


def pixels(figure) -> np.ndarray:
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=50)
    return np.asarray(Image.open(data).convert("RGB")).astype(int)


def test_a_world_is_drawn_with_the_linkage():
    alone, among = (Sketch(ARM, world=world) for world in (None, WORLD))
    kinds = [part.shape.kind for part, _ in among.obstacles]
    assert kinds == ["box", "sphere", "hull", "half_space"]  # one: the floor is the ground
    assert not alone.obstacles
    q = ARM.neutral()
    frames = among.frames(np.stack([q, q]))
    assert frames.shape == (2, len(ARM.frames) + 1, 4, 4)
    assert np.array_equal(frames[1, among.world_frame], np.eye(4))
    extent = Sketch(ARM, world=lw.World([SHELF])).extent(q[None])
    assert extent.high[0] >= 0.7
    picture = pixels(lw.draw.pose(ARM, world=WORLD))
    assert not np.array_equal(picture.shape, pixels(lw.draw.pose(ARM)).shape)


def test_what_is_behind_an_obstacle_is_seen_through_it():
    post = lw.Builder("post", shape=lw.Visual(lw.Box((0.1, 0.1, 0.5)), color=(0.0, 0.0, 1.0))).build()
    before, behind = (lw.World([lw.Obstacle(lw.Box((0.02, 1.0, 1.0)), (x, 0, 0))]) for x in (0.3, -0.3))
    blues = []
    for world in (before, behind):
        shown = pixels(lw.draw.pose(post, world=world, view="front", size=(3, 3)))
        blues.append(int((shown[..., 2] - shown[..., 0]).max()))
    assert 40 < blues[0] < 0.7 * blues[1]


def test_shapes_for_collisions_lie_over_the_links():
    arm = lw.Builder("post", shape=[lw.Box((0.1, 0.1, 0.5)), lw.Visual(lw.Sphere(0.3), role="collision")]).build()
    plain, veiled = (pixels(lw.draw.pose(arm, collision=shown, size=(3, 3))) for shown in (False, True))
    orange = (veiled[..., 0] - veiled[..., 2]) > 40
    assert orange.mean() > 0.1
    assert not ((plain[..., 0] - plain[..., 2]) > 40).any()
    flat = lw.models.planar([0.3, 0.2])
    coated = flat.replace(links={"link1": {"visuals": [lw.Visual(lw.Sphere(0.1), role="collision")]}})
    assert len(lw.draw.pose(coated, collision=True).axes[0].collections) > 0


def test_the_nearest_pair_is_named_and_drawn_in_red():
    figure = lw.draw.clearance(ARM, "ready", lw.World([SHELF]), self=False)
    assert "from shelf" in figure.texts[0].get_text()
    deep = lw.Obstacle(lw.Sphere(0.2), (0.3, 0.0, 0.5), name="balloon")
    figure = lw.draw.clearance(ARM, "ready", lw.World([deep]), self=False, size=(3, 3))
    assert "inside balloon" in figure.texts[0].get_text()
    assert figure.texts[1].get_text().startswith("-")
    shown = pixels(figure)
    assert ((shown[..., 0] - shown[..., 1:].max(axis=2)) > 80).mean() > 0.01
    found = lw.clearance(ARM, ARM.stored_pose("ready"), lw.World([deep]), self=False)
    assert found.pair[0] in figure.texts[0].get_text()


def test_lengths_of_many_pairs_stand_apart():
    figure = lw.draw.clearance(ARM, "ready", lw.World([SHELF]), most=4, title="")
    texts = [text for text in figure.texts if text.get_text().endswith("mm")]
    assert len(texts) == 4
    boxes = [text.get_window_extent() for text in texts]
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


def test_a_flat_linkage_among_obstacles_is_drawn_from_above():
    arm = lw.models.planar([0.3, 0.2])
    world = lw.World([lw.Obstacle(lw.Cylinder(0.05, 0.2), (0.3, 0.3, 0.0), name="post")])
    figure = lw.draw.clearance(arm, [0.0, 0.9], world)
    assert not hasattr(figure.axes[0], "get_zlim")
    assert len(lw.draw.strip([[0, 0], [0.1, 0.2]], linkage=arm, world=world, frames=[0, 1]).axes) == 2


def test_obstacles_stand_on_the_stage():
    sketch = Sketch(ARM, meshes=False, world=WORLD)
    shown = scene(sketch, ARM.neutral()[None])
    rows = np.frombuffer(base64.b64decode(shown["parts"]), "<f4").reshape(-1, 16)
    assert (rows[:, 0] == -1).sum() == 1  # the shelf; -1 is the world
    assert rows[rows[:, 0] == -1][0, 13:] == pytest.approx([0.55, 0.0, 0.35])
    assert shown["mesh"] is not None  # stone and wall
    assert max(moving_links(sketch)) < len(ARM.links)


def test_wrong_worlds_are_refused():
    stranger = lw.World([lw.Obstacle(lw.Sphere(0.1), name="cup", link="claw")])
    with pytest.raises(LinkNotFoundError, match="claw"):
        lw.draw.pose(ARM, world=stranger)
    with pytest.raises(OptionError, match="most"):
        lw.draw.clearance(ARM, world=WORLD, most=0)
