"""Straight motions between poses: no contact is skipped, and motions reported as clear are clear everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.transforms import FloatArray

PLATE = lw.Obstacle(lw.Box((0.6, 0.001, 0.8)), (0.6, 0.0, 0.5), name="plate")
POLE = lw.Obstacle(lw.Capsule(0.02, 0.6), (0.35, 0.45, 0.4), name="pole")
FLOOR = lw.Obstacle(lw.HalfSpace(), (0.0, 0.0, -0.05), name="floor")
WORLD = lw.World([PLATE, POLE, FLOOR])


def between(linkage: lw.Linkage, start: FloatArray, end: FloatArray, share: float, count: int = 400) -> FloatArray:
    """Return poses along the motion, up to a fraction of it."""
    return linkage.interpolate(start, end, np.linspace(0.0, share, count))


def test_a_plate_of_a_millimetre_is_not_jumped_over() -> None:
    arm = lw.models.panda()
    left, right = (arm.pose(panda_joint1=turn, base="ready") for turn in (1.0, -1.0))
    world = lw.World([PLATE])
    assert not lw.collides(arm, np.stack([left, right]), world).any()
    met = lw.collision.sweep(arm, left, right, world)
    assert not met
    assert met.free is False
    assert met.pair == ("panda_hand", "plate")
    assert 0.0 < met.clear < met.share < 1.0
    assert met.share - met.clear < 1e-3
    assert lw.clearance(arm, met.q, world).distance == pytest.approx(0.0, abs=1e-4)
    assert not lw.collides(arm, between(arm, left, right, met.clear), world, margin=-1e-4).any()
    np.testing.assert_allclose(met.points[0], met.points[1], atol=1e-3)
    np.testing.assert_allclose(met.normal, (0.0, -1.0, 0.0), atol=1e-3)


@pytest.mark.parametrize("margin", [0.0, 0.015])
def test_random_ways_of_an_arm_as_a_thousand_looks_see_them(margin: float) -> None:
    arm = lw.models.panda()
    rng = np.random.default_rng(4)
    poses = arm.random_pose(rng, 400)
    poses = poses[~lw.collides(arm, poses, WORLD, margin=margin)]
    start, end = poses[:40], poses[40:80]
    met = lw.collision.sweep(arm, start, end, WORLD, margin=margin)
    assert met.free.shape == (40,)
    assert 3 < met.free.sum() < 37
    for k in range(40):
        clear = float(met.clear[k])
        seen = lw.clearance(arm, between(arm, start[k], end[k], clear), WORLD).distance
        assert seen.min() >= margin - 1e-4
        if met.free[k]:
            assert clear == 1.0
            assert tuple(met.pair[k]) == (None, None)
        else:
            there = lw.clearance(arm, arm.interpolate(start[k], end[k], met.share[k]), WORLD, within=margin)
            assert there.distance < margin
            assert tuple(met.pair[k]) in [near.names for near in there.all]


def test_a_body_that_floats_turns_and_slides() -> None:
    """A rod without a base turns about its middle while it slides: its end swings through a wire."""
    rod = lw.Builder("rod", root="floating", shape=lw.Box((1.0, 0.02, 0.02))).build()
    start, way = rod.neutral(), np.array([0.0, 0.3, 0.0, 0.0, 0.0, 1.5])
    end = rod.integrate(start, way)
    for at in ((0.3, 0.5, 0.0), (0.6, 0.5, 0.0)):
        world = lw.World([lw.Obstacle(lw.Capsule(0.0005, 3.0), at, name="wire")])
        met = lw.collision.sweep(rod, start, end, world)
        seen = lw.clearance(rod, between(rod, start, end, 1.0, 20_000), world).distance
        first = np.argmax(seen < 0.0) / 20_000 if (seen < 0.0).any() else np.inf
        assert met.share == pytest.approx(first, abs=1e-3)
    assert met.free


def test_sliding_at_the_margin_is_free_and_a_hair_nearer_is_not() -> None:
    """A carriage slides along a wall at exactly the margin, so it may move although no distance is left."""
    rail = lw.Builder("rail").prismatic("slide", "carriage", axis="x", limits=(0, 2), shape=lw.Sphere(0.1)).build()
    wall = lw.World([lw.Obstacle(lw.Box((6.0, 0.1, 1.0)), (0.0, 0.2, 0.0), name="wall")])
    assert lw.collision.sweep(rail, [0.0], [2.0], wall, margin=0.05 - 1e-12).free
    assert lw.collision.sweep(rail, [0.0], [2.0], wall, margin=0.0501).share == 0.0


def test_sliding_along_a_fence_of_many_posts_ends_at_the_one_that_stands_out() -> None:
    """A ball runs past the posts at nearly the margin; the first corner that is nearer than the margin ends the way."""
    rail = lw.Builder("rail").prismatic("slide", "carriage", axis="x", limits=(0, 2), shape=lw.Sphere(0.1)).build()
    ground = lw.Obstacle(lw.HalfSpace(), (0.0, 0.0, -0.5), name="ground")
    places = np.arange(-0.5, 2.5, 0.075)
    for out in (None, 17, 25):
        posts = [
            lw.Obstacle(lw.Box((0.05, 0.1, 1.0)), (x, 0.19 if k == out else 0.2, 0.0), name=f"post {k}")
            for k, x in enumerate(places)
        ]
        met = lw.collision.sweep(rail, [0.0], [2.0], lw.World([*posts, ground]), margin=0.05 - 1e-9, self=False)
        if out is None:
            assert met.free
            continue
        assert met.pair == ("carriage", f"post {out}")
        corner = places[out] - 0.025
        assert 2.0 * met.share == pytest.approx(corner - np.sqrt(0.15**2 - 0.14**2), abs=1e-3)


def test_ways_broadcast_and_a_start_that_touches_is_met_at_once() -> None:
    arm = lw.models.panda()
    q = arm.stored_pose("ready")
    place = arm.forward(q, frame="panda_hand")[:3, 3]
    inside = lw.World([lw.Obstacle(lw.Sphere(0.1), place, name="ball")])
    met = lw.collision.sweep(arm, q, np.stack([q, q + 0.1]), inside)
    assert met.share.tolist() == [0.0, 0.0]
    assert met.clear.tolist() == [0.0, 0.0]
    assert met.pair[0, 1] == "ball"
    assert lw.collision.sweep(arm, q, q, lw.World([FLOOR])).free is True


def test_a_tolerance_of_nothing_is_refused() -> None:
    arm = lw.models.panda()
    with pytest.raises(lw.errors.OptionError, match="tolerance is a distance above zero"):
        lw.collision.sweep(arm, arm.neutral(), arm.neutral(), tolerance=0.0)
