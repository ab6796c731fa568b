"""Clearance of poses, compared with coal on whole linkages, in any batch shape, with gradients and bad input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from coal_judge import coal_distance, coal_links, coal_shapes
from linkwork.collision.packing import shapes_of
from linkwork.collision.pair_table import counted, looking
from linkwork.collision.scenes import scene_of
from linkwork.errors import LinkageError, LinkNotFoundError, MissingExtraError, ObstacleError, PoseError
from linkwork.kernels.collision.piece_layout import HEADER


def placed(x: float, y: float, z: float, turn: float = 0.0) -> Any:
    result = np.eye(4)
    result[:3, :3] = Rotation.from_rotvec((0.0, turn, 0.3 * turn)).as_matrix()
    result[:3, 3] = x, y, z
    return result


@pytest.fixture(scope="module")
def arm() -> lw.Linkage:
    """An arm with every kind of shape."""
    hull = lw.Hull(0.1 * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1), (0, 0, 1.5)]))
    builder = lw.Builder("arm", shape=lw.Visual(lw.Cylinder(0.12, 0.2), (0, 0, 0.0)))
    builder.revolute("turn", "column", axis="z", at=(0, 0, 0.2), limits=(-3, 3), shape=lw.Box((0.15, 0.15, 0.2)))
    limb = lw.bone((0, 0, 0.1), (0, 0, 0.5), 0.06)
    builder.revolute("lift", "upper", axis="y", at=(0, 0, 0.2), limits=(-2, 2), shape=limb)
    builder.revolute("bend", "lower", axis="y", at=(0, 0, 0.6), limits=(-2.6, 2.6), shape=lw.Visual(hull, (0, 0, 0.25)))
    builder.prismatic("reach", "hand", axis="z", at=(0, 0, 0.4), limits=(0, 0.3), shape=lw.Sphere(0.07))
    return builder.build()


@pytest.fixture(scope="module")
def world() -> lw.World:
    steps = lw.HeightField(np.linspace(0, 0.2, 12).reshape(3, 4), (0.6, 0.4), 0.1)
    corner = lw.TriangleMesh([(0, 0, 0), (0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.3)], [(0, 2, 1), (0, 1, 3), (0, 3, 2)])
    return lw.World(
        [
            lw.Obstacle(lw.HalfSpace(), (0, 0, -0.3), name="floor"),
            lw.Obstacle(lw.Box((0.2, 0.8, 0.05)), placed(0.6, 0, 0.5, 0.4), name="shelf"),
            lw.Obstacle(lw.Cylinder(0.06, 0.3), placed(0, 0.7, 0.6, 1.0), name="can"),
            lw.Obstacle(lw.Capsule(0.05, 0.4), placed(-0.6, 0.2, 0.8, 2.0), name="pipe"),
            lw.Obstacle(steps, placed(0.5, -0.6, 0.1, 0.1), name="steps"),
            lw.Obstacle(corner, placed(-0.5, -0.5, 0.5, 0.7), name="corner"),
            lw.Obstacle(lw.PointCloud(np.eye(3) * 0.2, 0.03), placed(0.1, 0.9, 0.2), name="cloud"),
        ]
    )


def test_every_pair_is_as_far_apart_as_coal_says(arm: lw.Linkage, world: lw.World) -> None:
    pytest.importorskip("coal")
    shapes = coal_links(arm)
    obstacles = {obstacle.name: coal_shapes(obstacle.shape) for obstacle in world}
    for pose in arm.random_pose(0, 12):
        frames = arm.forward(pose)
        found = {pair.names: pair for pair in lw.clearance(arm, pose, world).all}
        assert set(found) == set(counted(arm)) | {(link, name) for link in looking(arm) for name in world.names}
        for (first, second), pair in found.items():
            other, at = (obstacles[second], world[second].pose) if second in world else (shapes[second], frames[second])
            judged = coal_distance(shapes[first], other, frames[first], at)
            if judged > 0.0 or pair.distance > 0.0:
                assert pair.distance == pytest.approx(judged, abs=1e-6), (first, second)
            apart = pair.points[1] - pair.points[0]
            assert apart == pytest.approx(pair.distance * pair.normal, abs=1e-9)


def test_any_batch_axes(arm: lw.Linkage, world: lw.World) -> None:
    poses = arm.random_pose(1, (3, 4))
    found = lw.clearance(arm, poses, world, within=0.1)
    assert found.distance.shape == (3, 4)
    assert found.pair.shape == (3, 4, 2)
    assert found.points.shape == (3, 4, 2, 3)
    for index in np.ndindex(3, 4):
        one = lw.clearance(arm, poses[index], world, within=0.1)
        assert one.distance == found.distance[index]
        assert one.pair == (tuple(found.pair[index]) if np.isfinite(one.distance) else None)
        assert [p.distance for p in one.all] == [p.distance for p in found.all if p.index == index]
    assert (lw.collides(arm, poses, world) == (lw.clearance(arm, poses, world).distance < 0.0)).all()
    assert lw.clearance(arm, np.zeros((0, 4)), world).distance.shape == (0,)


def test_many_poses_are_as_few(arm: lw.Linkage, world: lw.World) -> None:
    poses = arm.random_pose(2, 3000)
    together = lw.clearance(arm, poses, world).distance
    assert (together[2900:] == lw.clearance(arm, poses[2900:], world).distance).all()


def test_a_limit_changes_nothing_but_what_is_left_out(arm: lw.Linkage, world: lw.World) -> None:
    poses = arm.random_pose(3, 200)
    free, near = lw.clearance(arm, poses, world).distance, lw.clearance(arm, poses, world, within=0.05).distance
    assert near[free < 0.05] == pytest.approx(free[free < 0.05], abs=1e-12)
    assert np.isinf(near[free >= 0.05]).all()
    for pose in poses[:20]:  # also pairs, half-spaces and triangles
        every = {pair.names: pair.distance for pair in lw.clearance(arm, pose, world).all if pair.distance < 0.3}
        listed = {pair.names: pair.distance for pair in lw.clearance(arm, pose, world, within=0.3).all}
        assert listed == pytest.approx(every, abs=1e-12)


def test_gradients_against_finite_differences(arm: lw.Linkage, world: lw.World) -> None:
    poses, step = arm.random_pose(4, 300), 1e-6
    gradient = lw.clearance(arm, poses, world).gradient
    moved = np.stack([lw.clearance(arm, poses + step * way, world).distance for way in (*np.eye(4), *-np.eye(4))])
    numeric = (moved[:4] - moved[4:]).T / (2.0 * step)
    off = np.abs(gradient - numeric).max(axis=1)
    assert np.percentile(off, 95) < 1e-6  # the others change pairs or corners between samples


def test_a_thousand_obstacles_are_found_through_the_tree(arm: lw.Linkage) -> None:
    rng = np.random.default_rng(5)
    boxes = [lw.Obstacle(lw.Box(rng.uniform(0.02, 0.1, 3)), placed(*rng.uniform(-1.5, 1.5, 3))) for _ in range(1000)]
    world, poses = lw.World(boxes), arm.random_pose(6, 20)
    found = lw.clearance(arm, poses, world, self=False)
    one_by_one = [lw.clearance(arm, poses, lw.World([box]), self=False).distance for box in boxes[::20]]
    assert (found.distance <= np.min(one_by_one, axis=0) + 1e-12).all()
    for k in range(3):
        near = lw.World([world[found.pair[k, 1]]])
        assert lw.clearance(arm, poses[k], near, self=False).distance == pytest.approx(found.distance[k], abs=1e-12)


def test_what_a_link_holds_moves_with_it(arm: lw.Linkage) -> None:
    rod = lw.Obstacle(lw.Capsule(0.02, 0.3), (0, 0, 0.2), name="rod", link="hand", touches=["lower"])
    post = lw.Obstacle(lw.Sphere(0.05), (0.5, 0, 2.2), name="post", touches=["upper"])
    found = lw.clearance(arm, arm.neutral(), lw.World([rod, post]))
    names = {pair.names for pair in found.all}
    assert {("rod", "post"), ("upper", "rod")} <= names
    assert not {("hand", "rod"), ("lower", "rod"), ("upper", "post")} & names


def test_nothing_near_and_nothing_at_all(arm: lw.Linkage) -> None:
    alone = lw.clearance(arm, arm.neutral(), lw.World(), self=False)
    assert np.isinf(alone.distance)
    assert alone.pair is None
    assert alone.all == ()
    assert np.isnan(alone.gradient).all()
    assert not lw.collides(arm, arm.neutral(), lw.World(), self=False)
    assert "nothing near" in repr(alone)


def test_wrong_input_is_refused(arm: lw.Linkage, world: lw.World) -> None:
    with pytest.raises(PoseError, match="nan"):
        lw.clearance(arm, [np.nan, 0, 0, 0], world)
    with pytest.raises(PoseError):
        lw.clearance(arm, [0, 0, 0], world)
    with pytest.raises(LinkageError, match="no link of linkage 'bare' has a shape"):
        lw.clearance(lw.Builder("bare").revolute("j", "rod").build(), [0.0], world)
    with pytest.raises(LinkNotFoundError, match="finger"):
        lw.clearance(arm, arm.neutral(), lw.World([lw.Obstacle(lw.Sphere(0.1), link="finger")]))
    missing = lw.World([lw.Obstacle(lw.Mesh("nowhere.stl"), name="vase")])
    with pytest.raises(LinkageError, match="obstacle 'vase' is a mesh without a surface"):
        lw.clearance(arm, arm.neutral(), missing)


def test_a_mesh_made_by_hand_says_how_its_file_is_named(arm: lw.Linkage, tmp_path: Path) -> None:
    path = str(tmp_path / "vase.stl")
    triangles = np.array([[[0, 0, 0], [1000, 0, 0], [0, 1000, 0]]], np.float32)
    facet = b"".join(np.concatenate([np.zeros((1, 3), np.float32), one]).tobytes() + bytes(2) for one in triangles)
    Path(path).write_bytes(bytes(80) + np.uint32(len(triangles)).tobytes() + facet)
    with pytest.raises(LinkageError, match=r"name the file, .*vase.stl: Mesh\(.*file="):
        lw.clearance(arm, arm.neutral(), lw.World([lw.Obstacle(lw.Mesh(path), name="vase")]))
    small = lw.Mesh(path, 0.001, file=path)
    assert small == lw.Mesh(path, (0.001, 0.001, 0.001))
    corners = lw.TriangleMesh(1e-3 * triangles[0], [[0, 1, 2]])
    near = [lw.clearance(arm, arm.neutral(), lw.World([lw.Obstacle(shape)])).distance for shape in (small, corners)]
    assert near[0] == pytest.approx(near[1], abs=1e-9)


def test_only_collision_shapes_count_where_there_are_any() -> None:
    seen, felt = lw.Visual(lw.Sphere(0.5)), lw.Visual(lw.Sphere(0.1), role="collision")
    arm = lw.Builder("arm").revolute("j", "rod", shape=[seen, felt]).revolute("k", "tip", shape=lw.Sphere(9.0)).build()
    assert set(shapes_of(arm)) == {"rod"}
    ball = lw.World([lw.Obstacle(lw.Sphere(0.2), (1, 0, 0))])
    assert lw.clearance(arm, [0, 0], ball).distance == pytest.approx(0.7)


def test_large_hulls_are_climbed(arm: lw.Linkage) -> None:
    rng = np.random.default_rng(7)
    points = rng.normal(size=(600, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    rock = lw.Hull(0.2 * points)
    rod = lw.Builder("rod").revolute("j", "rod", shape=lw.Visual(rock, (0.4, 0, 0))).build()
    for place in rng.uniform(-0.8, 0.8, (40, 3)):
        ball = lw.World([lw.Obstacle(lw.Sphere(0.05), place, name="ball")])
        found = lw.clearance(rod, [0.7], ball)
        way = found.normal
        corners = rod.convert(0.2 * points + (0.4, 0, 0), [0.7], source="rod")
        assert found.distance == pytest.approx(place @ way - 0.05 - (corners @ way).max(), abs=1e-9)


def test_a_scene_is_made_once(arm: lw.Linkage, world: lw.World) -> None:
    assert scene_of(arm, world) is scene_of(arm, world)
    assert scene_of(arm, world).codes[HEADER.frames] == len(scene_of(arm, world).frames)


def cup() -> lw.TriangleMesh:
    """A box of one metre, open at the top, with walls of a tenth."""
    outer = np.array([(x, y, z) for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 1.0)])
    inner = np.array([(x, y, z) for z in (0.1, 1.0) for y in (0.1, 0.9) for x in (0.1, 0.9)])
    sides = [(0, 2, 3, 1), (0, 1, 5, 4), (1, 3, 7, 5), (3, 2, 6, 7), (2, 0, 4, 6)]  # without the top
    rim = [(4, 5, 13, 12), (5, 7, 15, 13), (7, 6, 14, 15), (6, 4, 12, 14)]
    quads = [*sides, *(tuple(k + 8 for k in side[::-1]) for side in sides), *rim]
    return lw.TriangleMesh(np.concatenate([outer, inner]), [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def test_a_ball_in_a_cup_is_apart_from_the_mesh_and_inside_its_hull() -> None:
    pytest.importorskip("coal")
    assert cup().closed
    held = lw.Builder("arm").revolute("turn", "cup", axis="z", shape=cup()).build()
    world = lw.World([lw.Obstacle(lw.Sphere(0.1), (0.5, 0.4, 0.6), name="ball")])
    assert lw.clearance(held, [0.0], world).distance < 0.0
    exact = lw.clearance(held, [0.0], world, exact=True)
    assert exact.distance == pytest.approx(0.2, abs=1e-6)
    assert exact.normal == pytest.approx((0.0, 1.0, 0.0), abs=1e-6)
    assert [pair.names for pair in exact.all] == [("cup", "ball")]
    through = world.moved("ball", (0.5, 0.15, 0.6))
    assert lw.clearance(held, [0.0], through, exact=True).distance < 0.0
    bubble = lw.World([lw.Obstacle(lw.Sphere(0.01), (0.5, 0.05, 0.5), name="bubble")])  # in the wall
    assert lw.clearance(held, [0.0], bubble, exact=True).distance < 0.0


def test_exact_distances_are_never_less_than_those_of_hulls(arm: lw.Linkage, world: lw.World) -> None:
    pytest.importorskip("coal")
    poses = arm.random_pose(8, 10)
    hulls, exact = lw.clearance(arm, poses, world), lw.clearance(arm, poses, world, exact=True)
    assert (exact.distance >= hulls.distance - 1e-6).all()


def test_without_coal_the_extra_is_named(arm: lw.Linkage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coal", None)
    bare = arm.replace(name="bare")
    with pytest.raises(MissingExtraError, match=r"linkwork\[collision\]"):
        lw.clearance(bare, bare.neutral(), exact=True)


def test_what_is_no_world_is_refused(arm: lw.Linkage) -> None:
    ball = lw.Obstacle(lw.Sphere(0.1), (1.0, 0.0, 0.0), name="ball")
    wrong: Any
    for wrong in (ball, [ball], "cell.yaml"):
        for ask in (lw.clearance, lw.collides):
            with pytest.raises(ObstacleError, match=r"a World of obstacles is needed, lw.World\(\[...\]\), got "):
                ask(arm, arm.neutral(), wrong)
        with pytest.raises(ObstacleError, match="a World of obstacles is needed"):
            lw.collision.sweep(arm, arm.neutral(), arm.neutral(), wrong)
        with pytest.raises(ObstacleError, match="a World of obstacles is needed"):
            lw.collision.pairs(arm, wrong)


def test_a_mesh_that_is_not_there_is_not_called_unreadable(arm: lw.Linkage, tmp_path: Path) -> None:
    there, absent = tmp_path / "there.stl", tmp_path / "absent.stl"
    there.write_bytes(b"")
    for file, said in ((there, "there.stl is there but could not be read"), (absent, "absent.stl was not found")):
        world = lw.World([lw.Obstacle(lw.Mesh(str(file), file=str(file)))])
        with pytest.raises(LinkageError, match=said):
            lw.clearance(arm, arm.neutral(), world)
