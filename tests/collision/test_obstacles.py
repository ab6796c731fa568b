"""Obstacles and worlds: immutable, and validated when they are made."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import (
    DuplicateNameError,
    LinkageError,
    LinkNotFoundError,
    ObstacleError,
    ObstacleNotFoundError,
    TransformError,
)
from linkwork.transforms import transform

BALL = lw.Sphere(0.1)
CORNERS = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]


def world() -> lw.World:
    return lw.World([lw.Obstacle(lw.HalfSpace(), name="floor"), lw.Obstacle(BALL, (1, 0, 0), name="ball")])


def test_a_world_is_a_table_of_obstacles_by_name() -> None:
    some = world()
    assert some.names == ("floor", "ball")
    assert len(some) == 2
    assert "ball" in some
    assert "cup" not in some
    assert some["ball"].shape == BALL
    assert [obstacle.name for obstacle in some] == ["floor", "ball"]
    assert repr(some) == "<World: 2 obstacles: floor, ball>"
    assert repr(lw.World()) == "<World: 0 obstacles>"


def test_obstacles_without_a_name_are_called_after_their_shape() -> None:
    given = [lw.Obstacle(BALL), lw.Obstacle(BALL, name="sphere2"), lw.Obstacle(BALL), lw.Obstacle(lw.HalfSpace())]
    assert lw.World(given).names == ("sphere1", "sphere2", "sphere3", "half_space1")


def test_worlds_are_equal_by_value_and_copied_whole() -> None:
    some = world()
    assert some == world()
    assert hash(some) == hash(world())
    assert some != some.without("ball")
    assert some.moved("ball", (-0.0, 0, 0)) == some.moved("ball", (0, 0, 0))
    copy = pickle.loads(pickle.dumps(some))
    assert copy == some
    assert not copy["ball"].pose.flags.writeable
    with pytest.raises(AttributeError, match="immutable"):
        some.obstacles = ()
    with pytest.raises(AttributeError):
        some["ball"].name = "other"  # type: ignore[misc]


def test_a_changed_world_shares_what_has_not_changed() -> None:
    some = world()
    after = some.moved("ball", (2, 0, 0))
    assert after["floor"] is some["floor"]
    assert after["ball"].pose[0, 3] == 2.0
    assert some["ball"].pose[0, 3] == 1.0
    assert some.added(lw.Obstacle(BALL, name="cup")).names == ("floor", "ball", "cup")
    assert some.without("floor").names == ("ball",)


def test_a_visual_brings_its_placement_and_its_color() -> None:
    rod = lw.bone((0, 0, 0), (0, 0, 1), 0.05, (1, 0, 0))
    obstacle = lw.Obstacle(rod, (0, 0, 2), name="rod")
    assert obstacle.pose[2, 3] == 2.5
    assert obstacle.color == (1.0, 0.0, 0.0)
    assert obstacle.shape == rod.shape


def test_what_is_attached_and_let_go_stays_where_it_stood() -> None:
    world_from_hand = transform((0.3, 0.2, 0.1), {"euler": ("xyz", ["30deg", "20deg", "10deg"])})
    held = world().attached("ball", link="hand", touches=["finger"], world_from_link=world_from_hand)
    np.testing.assert_allclose(world_from_hand @ held["ball"].pose, world()["ball"].pose, atol=1e-15)
    assert held["ball"].link == "hand"
    assert held["ball"].touches == ("finger",)
    freed = held.detached("ball", world_from_link=world_from_hand)
    assert freed["ball"].link is None
    np.testing.assert_allclose(freed["ball"].pose, world()["ball"].pose, atol=1e-15)


def test_links_of_a_world_are_those_of_the_linkage() -> None:
    arm = lw.models.planar([1, 1])
    world().attached("ball", link="link2", pose=np.eye(4)).check(arm)
    with pytest.raises(LinkNotFoundError, match=r"link 'hand' in linkage 'planar' \(obstacle 'ball'\)"):
        world().attached("ball", link="hand", pose=np.eye(4)).check(arm)
    with pytest.raises(LinkNotFoundError, match="'finger'"):
        lw.World([lw.Obstacle(BALL, touches="finger")]).check(arm)


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "an inverted box": (lambda: lw.Obstacle(lw.Box((1, -1, 1))), LinkageError, "box size must be positive, got -1"),
    "a NaN pose": (lambda: lw.Obstacle(BALL, (0, np.nan, 0), name="cup"), TransformError, "pose of obstacle 'cup'"),
    "a NaN matrix": (lambda: lw.Obstacle(BALL, np.eye(4) * np.nan, "cup"), TransformError, "pose of obstacle 'cup'"),
    "a mirror": (lambda: lw.Obstacle(BALL, np.diag([1.0, 1, -1, 1]), "cup"), TransformError, "pose of obstacle 'cup'"),
    "no shape": (lambda: lw.Obstacle("box"), ObstacleError, "needs a shape .*box, sphere.* got 'box'"),  # type: ignore[arg-type]
    "a line": (
        lambda: lw.Obstacle(lw.Polyline(((0, 0, 0), (1, 0, 0)))),
        ObstacleError,
        "polyline, which encloses nothing",
    ),
    "an empty name": (lambda: lw.Obstacle(BALL, name=""), ObstacleError, "text that is not empty"),
    "a bright color": (lambda: lw.Obstacle(BALL, color=(2, 0, 0)), ObstacleError, "from 0 to 1"),
    "an empty hull": (lambda: lw.Hull([]), LinkageError, r"shape \(n >= 4, 3\), got \(0,\)"),
    "a flat hull": (lambda: lw.Hull(np.array(CORNERS) * [1, 1, 0]), LinkageError, "8 hull points lie in one plane"),
    "a hull of a point": (lambda: lw.Hull([(7, 7, 7)] * 4), LinkageError, "4 hull points lie in one plane"),
    "a NaN in a cloud": (lambda: lw.PointCloud([(0, 0, 0), (0, 0, np.nan)], 0.1), LinkageError, "nan.* in row 1"),
    "a cloud of nothing": (
        lambda: lw.PointCloud(CORNERS, 0.0),
        LinkageError,
        "radius of a point cloud must be positive",
    ),
    "one height": (lambda: lw.HeightField([[1.0]], (1, 1)), LinkageError, r"rows >= 2, columns >= 2\), got \(1, 1\)"),
    "a hole": (lambda: lw.HeightField([[0, np.nan], [0, 0]], (1, 1)), LinkageError, "got nan in row 0, column 1"),
    "a missing corner": (lambda: lw.TriangleMesh(CORNERS, [(0, 1, 8)]), LinkageError, "corners 0 to 7, got 8"),
    "a triangle of two": (lambda: lw.TriangleMesh(CORNERS, [(0, 1, 2), (0, 1)]), TransformError, "must be numbers"),
    "half a corner": (lambda: lw.TriangleMesh(CORNERS, [(0, 1, 2.5)]), LinkageError, "whole numbers"),
    "a shape in a world": (lambda: lw.World([BALL]), ObstacleError, "a world holds obstacles"),  # type: ignore[list-item]
    "a number for a world": (lambda: lw.World(5), ObstacleError, "a world holds obstacles.* got 5"),  # type: ignore[arg-type]
    "a name twice": (lambda: lw.World([*world(), *world()]), DuplicateNameError, "obstacle 'floor' appears twice"),
    "another name": (lambda: world()["bal"], ObstacleNotFoundError, "no obstacle 'bal'.*did you mean 'ball'"),
    "attached nowhere": (lambda: world().attached("ball", link="hand"), ObstacleError, "pose=link_from_shape"),
    "never attached": (lambda: world().detached("ball", world_from_link=np.eye(4)), ObstacleError, "held by no link"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_named(case: str) -> None:
    make, error, said = WRONG[case]
    with pytest.raises(error, match=said):
        make()


def test_a_mesh_knows_whether_it_is_closed() -> None:
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert lw.TriangleMesh(corners, faces).closed
    assert not lw.TriangleMesh(corners, faces[:3]).closed
    assert not lw.TriangleMesh(corners, [*faces[:3], faces[3][::-1]]).closed


def test_the_prisms_of_a_height_field_fill_it() -> None:
    field = lw.HeightField(np.random.default_rng(1).random((4, 5)), (2.0, 3.0), 0.5)
    tops, low = field.prisms[:, :3], field.prisms[:, 3:]
    assert (low[..., 2] == field.heights.min() - 0.5).all()
    assert (tops[..., :2] == low[..., :2]).all()
    sides = tops[:, 1:, :2] - tops[:, :1, :2]
    area = np.linalg.det(sides) / 2.0
    assert (area > 0.0).all()
    assert area.sum() == pytest.approx(6.0)
    assert field.points[0, -1].tolist() == [1.0, -1.5, field.heights[0, -1]]  # columns lie along x, rows along y
