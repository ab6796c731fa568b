"""Obstacles in the studio: added, dragged, resized, saved and undone, while the linkage avoids them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import ObstacleError, OptionError
from linkwork.studio import saving
from linkwork.studio.scene import Scene, begun_pose, first_scene
from linkwork.studio.session import Session
from linkwork.studio.surroundings import KINDS, sizes_of, usual_margin

PANDA = lw.models.panda()


def at(*point):
    place = np.eye(4)
    place[:3, 3] = point
    return place


@pytest.fixture
def session():
    """A Panda with a goal at its tip, and a box beside it."""
    made = Session(first_scene(PANDA))
    made.add_obstacle("box", 1.0)
    move(made, at(0.55, 0.35, 0.5))
    return made


def move(session, place):
    session.change_surroundings("move of box1", session.scene.around.moved("box1", place))


def keep(session, **values):
    session.change_surroundings("distance", replace(session.scene.around, **values))


def clear(session):
    return lw.clearance(session.linkage, session.q, session.scene.around.world, self=False).distance


@pytest.mark.parametrize("kind", KINDS)
def test_obstacles_of_every_kind_are_added_beside_the_linkage(kind):
    made = Session(Scene(PANDA, begun_pose(PANDA)))
    name = made.add_obstacle(kind, 1.0)
    shape = made.scene.around.world[name].shape
    assert (name, shape.kind) == (f"{kind}1", kind)
    assert clear(made) > 0.0
    for which, size in enumerate(sizes_of(shape)):
        made.change_surroundings("size", made.scene.around.resized(name, which, 2.0 * size))
    assert np.array(sizes_of(made.scene.around.world[name].shape)).tolist() == [2.0 * x for x in sizes_of(shape)]
    with pytest.raises(OptionError, match="no kind of obstacle 'pyramid'; there are box"):
        made.add_obstacle("pyramid", 1.0)
    with pytest.raises(lw.errors.LinkageError, match="must be positive"):
        made.scene.around.resized(name, 0, -1.0)


def test_the_body_keeps_clear_while_a_goal_is_dragged_through_an_obstacle(session):
    begin = session.scene.targets[0].place
    move(session, at(*(begin[:2, 3] + [0.0, 0.35]), begin[2, 3]))
    margin = session.scene.around.margin
    inside = 0
    for share in np.linspace(0.0, 1.0, 25):
        place = begin.copy()
        place[:3, 3] += share * np.array([0.0, 0.7, 0.0])
        solution = session.drag("tip", place)
        assert clear(session) >= margin - 1e-4
        inside += not solution.success
    assert 0 < inside < 25
    assert session.solution.success  # beyond it
    assert clear(session) >= margin


def test_the_body_gives_way_to_an_obstacle_that_is_dragged(session):
    tip = PANDA.forward(session.q, frame="tip")[:3, 3].copy()
    for y in np.linspace(0.35, 0.1, 20):
        move(session, at(tip[0], y, tip[2] + 0.02))
        assert clear(session) >= session.scene.around.margin - 1e-4
    keep(session, keeps=False)
    session.solve()
    assert session.solution.success  # it may touch now


def test_the_nearest_pair_is_known_where_it_is_near(session):
    assert session.scene.around.nearest(PANDA, session.q) is None
    keep(session, margin=1.0)
    pair = session.scene.around.nearest(PANDA, session.q)
    assert pair.names[1] == "box1"
    assert pair.too_near
    assert np.linalg.norm(pair.points[0] - pair.points[1]) == pytest.approx(pair.distance)
    with pytest.raises(OptionError, match="margin is zero or more"):
        keep(session, margin=math.nan)


def test_obstacles_are_undone_and_redone(session):
    session.change_surroundings("removal of box1", session.scene.around.without("box1"))
    assert len(session.scene.around.world) == 0
    session.undo()
    assert session.scene.around.world["box1"].pose[1, 3] == 0.35
    session.undo()
    session.undo()
    assert len(session.scene.around.world) == 0
    session.redo()
    session.redo()
    assert session.scene.around.world["box1"].pose[1, 3] == 0.35


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_obstacles_are_saved_with_the_scene_and_read_again(session, suffix, tmp_path):
    keep(session, margin=0.02, itself=True)
    path = tmp_path / f"scene{suffix}"
    saving.write_scene(session.scene, path)
    again, remarks = saving.read_scene(path)
    assert again.around == session.scene.around
    assert lw.load_world(path) == session.scene.around.world
    assert not [remark for remark in remarks if "obstacle" in remark.text]
    world = lw.World([lw.Obstacle(lw.Sphere(0.1), (0.5, 0, 0.5), "ball", link="panda_hand")])
    world.save(tmp_path / "held.yaml", linkage=PANDA)
    assert saving.read_scene(tmp_path / "held.yaml")[0].around.world == world


def test_a_margin_fits_the_size_of_the_linkage():
    for linkage, least, most in ((PANDA, 0.01, 0.01), (lw.models.planar([15, 10, 5]), 0.1, 0.5)):
        assert least <= usual_margin(linkage, linkage.neutral()) <= most


def test_obstacles_that_cannot_be_are_refused():
    with pytest.raises(ObstacleError, match="needs a shape"):
        lw.Obstacle("box")


def test_a_linkage_without_shapes_takes_no_obstacle_and_opens_with_those_of_its_file():
    bare = lw.Builder("bare").revolute("j", "hand", axis="z").frame("tip", at=(1, 0, 0)).build()
    session = Session(first_scene(bare))
    before = session.scene
    with pytest.raises(OptionError, match="no link of 'bare' has a shape"):
        session.add_obstacle("box", 1.0)
    with pytest.raises(OptionError, match="no link of 'bare' has a shape"):
        keep(session, itself=True)
    assert session.scene is before
    world = lw.World([lw.Obstacle(lw.Sphere(0.1), (0.5, 0, 0.5), "ball")])
    session.open(replace(before, around=replace(before.around, world=world)), (), "a file")
    session.drag("tip", at(0.8, 0.6, 0.0))
    assert session.solution.success
    assert session.scene.around.nearest(bare, session.q) is None
