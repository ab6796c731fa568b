"""Velocity and acceleration polygons, compared with closed forms and finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.draw.dimensions import letters
from linkwork.draw.rate_polygons import rate_polygons
from linkwork.draw.schemes import Scheme

pytest.importorskip("matplotlib")


def test_images_of_an_engine_are_those_of_the_closed_form() -> None:
    motor, t, w = lw.models.engine(), 0.8, 100.0
    r, rod = 0.045, 0.15
    q = lw.drive(motor, "crank", [t]).poses
    velocity, acceleration = rate_polygons(Scheme(motor, q), lw.loop_rates(motor, q[0], {"crank": w}))
    assert np.abs(velocity.images["$A$"] - w * r * np.array([math.cos(t), -math.sin(t)])).max() < 1e-9
    assert np.abs(acceleration.images["$A$"] + w * w * r * np.array([math.sin(t), math.cos(t)])).max() < 1e-8

    def height(angle: float) -> float:
        return r * math.cos(angle) + math.sqrt(rod**2 - (r * math.sin(angle)) ** 2)

    s, c = math.sin(t), math.cos(t)
    root = math.sqrt(rod**2 - (r * s) ** 2)
    speed = -r * s - r * r * s * c / root
    change = -r * c - r * r * ((c * c - s * s) / root + (r * s * c) ** 2 / root**3)
    assert abs((height(t + 1e-6) - height(t - 1e-6)) / 2e-6 - speed) < 1e-9  # the closed form itself
    assert np.abs(velocity.images["$B$"] - [0.0, w * speed]).max() < 1e-9
    assert np.abs(acceleration.images["$B$"] - [0.0, w * w * change]).max() < 1e-8


def test_images_of_jansens_leg_are_differences_of_its_motion() -> None:
    leg, w, h = lw.models.jansen_leg(), 3.0, 1e-4
    clip = lw.drive(leg, "crank", 0.7 + w * np.array([-h, 0.0, h]), start="start")
    scheme = Scheme(leg, clip.poses[1:2])
    velocity, acceleration = rate_polygons(scheme, lw.loop_rates(leg, clip.poses[1], {"crank": w}))
    assert len(velocity.images) == 6
    for k, text in letters(scheme).items():
        before, now, after = (scheme.at(scheme.nodes[k], q) for q in clip.poses)
        assert np.abs(velocity.images.get(text, np.zeros(2)) - (after - before) / (2.0 * h)).max() < 1e-6
        assert np.abs(acceleration.images.get(text, np.zeros(2)) - (after - 2.0 * now + before) / h**2).max() < 1e-4


def test_the_image_of_a_link_is_its_shape_again() -> None:
    bars = lw.models.four_bar()
    q = bars.stored_pose("start")
    polygons = rate_polygons(
        Scheme(bars, q[None]), lw.loop_rates(bars, q, {"crank": 2.0}, accelerations={"crank": 5.0})
    )
    lengths = np.array([0.35, math.hypot(0.175, 0.1225), math.hypot(0.175, 0.1225)])
    for polygon in polygons:
        corners = np.array([polygon.images[name] for name in ("$A$", "$B$", "point")])
        image = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
        assert np.abs(image / image[0] - lengths / lengths[0]).max() < 1e-9


def test_normal_parts_lie_along_links_and_tangential_parts_across() -> None:
    bars = lw.models.four_bar()
    q = bars.stored_pose("start")
    scheme = Scheme(bars, q[None])
    _, acceleration = rate_polygons(scheme, lw.loop_rates(bars, q, {"crank": 2.0}))
    assert len(acceleration.parts) == 3
    for body, (start, middle, end) in acceleration.parts:
        first, second, *_ = (scheme.at(node, q) for node in scheme.nodes if body in node.places)
        along = (second - first) / np.linalg.norm(second - first)
        assert abs(along[0] * (middle - start)[1] - along[1] * (middle - start)[0]) < 1e-12
        assert (middle - start) @ along < 0.0  # towards the pin that it turns about
        assert abs((end - middle) @ along) < 1e-12


def test_a_picture_has_a_mechanism_and_both_polygons(tmp_path) -> None:
    path = tmp_path / "polygons.svg"
    page = lw.draw.polygons(lw.models.four_bar(), None, "crank", title="At 1 rad/s", path=path)
    assert path.read_bytes().startswith(b"<?xml")
    texts = [text.get_text() for text in page.texts]
    assert {"Velocities", "Accelerations", "At 1 rad/s", "$o$", "$o'$", "$a$", "$b'$"} <= set(texts)
