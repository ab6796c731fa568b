"""Pictures: positions of elements, file formats, and refused arguments."""

from __future__ import annotations

import sys
from io import BytesIO
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import children
import linkwork as lw
from linkages import JOINTS, one_joint
from linkwork import models
from linkwork.draw import film, pose, strip
from linkwork.errors import (
    FormatError,
    FrameNotFoundError,
    KeyFrameError,
    LinkworkError,
    PoseNotFoundError,
    PoseShapeError,
)
from symlinks import symlink

pytest.importorskip("matplotlib")

from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from mpl_toolkits.mplot3d.art3d import Line3DCollection
from PIL import Image

from linkwork.draw.panels import BLUE, GREEN, GREY, ORANGE, RED, TEAL
from linkwork.draw.space import Faces

Q = [0.4, 0.8, -0.5]


@pytest.fixture(scope="module")
def arm():
    return models.planar([15, 10, 5])


@pytest.fixture(scope="module")
def leg():
    b = lw.Builder("leg", base="pelvis")
    b.ball("hip", "thigh", at=(0, 0.1, 0.9), euler="XYZ", lower=(-1, -1, -1), upper=(1, 1, 1))
    b.revolute("knee", "shin", at=(0, 0, -0.45), axis="y", limits=("0deg", "140deg"))
    b.prismatic("pump", "foot", at=(0, 0, -0.4), axis="z", limits=(-0.1, 0.1)).frame("toe", at=(0.2, 0, 0))
    return b.pose("crouch", {"hip.ry": -0.6, "knee": 1.2}).build()


@pytest.fixture(scope="module")
def clip(arm):
    return lw.interpolate(arm, [(0, [np.pi / 8, np.pi / 4, np.pi / 4]), (1, [2.13, 1.37, 0.66])], fps=20)


def texts(figure):
    axes = [text.get_text() for ax in figure.axes for text in ax.texts]
    return [text.get_text() for text in figure.texts] + axes


def lines(figure, color=None):
    """Return the segments of all lines in data coordinates, only those of a colour if given."""
    found = []
    for ax in figure.axes:
        for lines in ax.collections:
            if isinstance(lines, LineCollection) and lines.get_visible():
                colors = np.broadcast_to(lines.get_colors(), (1000, 4)) if len(lines.get_colors()) == 1 else None
                segments = lines._segments3d if isinstance(lines, Line3DCollection) else lines.get_segments()
                for k, segment in enumerate(segments):
                    own = (lines.get_colors()[k % len(lines.get_colors())] if colors is None else colors[0])[:3]
                    if color is None or to_hex(own).upper() == color:
                        found.append(np.asarray(segment))
    return found


def dots(figure):
    """Return all markers with their kinds and positions."""
    return [
        (line.get_marker(), np.stack(line.get_data(), axis=1)) for line in figure.axes[0].lines if len(line.get_xdata())
    ]


def faces(figure):
    (found,) = (c for c in figure.axes[0].collections if isinstance(c, Faces))
    return found


def contains(points, wanted):
    return np.isclose(np.asarray(points).reshape(-1, len(wanted)), wanted, atol=1e-9).all(axis=1).any()


# In the plane


def test_bones_join_the_joints_where_forward_kinematics_puts_them(arm):
    figure = pose(arm, Q, shapes=False)
    frames = arm.forward(Q)
    ends = [frames[name][:2, 3] for name in ("link1", "link2", "link3", "tip")]
    segments = [s for s in lines(figure) if len(s) == 2]
    for a, b in pairwise(ends):
        assert any(np.allclose(s, [a, b]) for s in segments)


def test_hinges_are_round_and_sliders_square():
    b = lw.Builder("a").revolute("j", "b").prismatic("k", "c", at=(1, 0, 0), axis="x").frame("tip", at=(1, 0, 0))
    linkage = b.build()
    q = [0.3, 0.5]
    frames = linkage.forward(q)
    marks = dots(pose(linkage, q))
    assert any(marker == "o" and contains(points, frames["b"][:2, 3]) for marker, points in marks)
    assert any(marker == "s" and contains(points, frames["c"][:2, 3]) for marker, points in marks)
    assert not any(marker == "s" and contains(points, frames["b"][:2, 3]) for marker, points in marks)


def test_shapes_are_outlines_that_move_with_their_links(arm):
    figure = pose(arm, Q)
    (bodies,) = (c for c in figure.axes[0].collections if isinstance(c, PolyCollection))
    outlines = [path.vertices for path in bodies.get_paths()]
    for link, length in (("link1", 15.0), ("link2", 10.0), ("link3", 5.0)):
        link_from_world = np.linalg.inv(arm.forward(Q, frame=link))
        (capsule,) = (v.shape for v in arm.link(link).visuals if isinstance(v.shape, lw.Capsule))
        low, high = (-capsule.radius, -capsule.radius), (length + capsule.radius, capsule.radius)
        spans = []
        for outline in outlines:
            local = np.c_[outline, np.zeros(len(outline)), np.ones(len(outline))] @ link_from_world.T
            spans.append((local[:, :2].min(axis=0), local[:, :2].max(axis=0)))
        assert any(np.allclose(a, low, atol=0.02) and np.allclose(b, high, atol=0.02) for a, b in spans)


def test_the_node_transform_moves_a_shape_and_not_the_links_below():
    shape, node = lw.Box((1, 1, 1)), lw.transforms.translation((0, 3, 0))
    linkage = lw.Builder("a").revolute("j", "b", shape=shape, node=node).revolute("k", "c", at=(1, 0, 0)).build()
    figure = pose(linkage, [0, 0])
    (bodies,) = (c for c in figure.axes[0].collections if isinstance(c, PolyCollection))
    (outline,) = (path.vertices for path in bodies.get_paths())
    assert np.allclose([outline.min(axis=0), outline.max(axis=0)], [(-0.5, 2.5), (0.5, 3.5)])
    assert any(contains(points, (1.0, 0.0)) for _, points in dots(figure))


def test_what_lies_higher_is_drawn_later():
    low, high = (lw.Visual(lw.Box((1, 1, 0.1)), (0, 0, z), color) for z, color in ((0, (1, 0, 0)), (0.1, (0, 0, 1))))
    b = lw.Builder("a").revolute("j", "b", shape=high).revolute("k", "c", at=(4, 0, 0), shape=low)
    (bodies,) = (c for c in pose(b.build()).axes[0].collections if isinstance(c, PolyCollection))
    assert [to_hex(color) for color in bodies.get_facecolor()] == ["#ff0000", "#0000ff"]


def test_a_picture_in_the_plane_has_equal_scales_and_names_of_axes(arm):
    ax = pose(arm, Q).axes[0]
    assert ax.get_aspect() == 1.0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "y [m]")
    ax.get_figure().canvas.draw()
    unit = ax.transData.transform([(0, 0), (1, 0), (0, 1)])
    assert np.linalg.norm(unit[1] - unit[0]) == pytest.approx(np.linalg.norm(unit[2] - unit[0]))
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    points = np.array([t[:2, 3] for t in arm.forward(Q).values()])
    assert (points > low).all()
    assert (points < high).all()


# In space


@pytest.mark.parametrize("name", ["leg", "arm"])
def test_the_dimension_follows_the_linkage_unless_a_camera_is_asked_for(name, request):
    linkage = request.getfixturevalue(name)
    assert hasattr(pose(linkage).axes[0], "get_zlim") is (name == "leg")
    assert hasattr(pose(linkage, view=(20, 30)).axes[0], "get_zlim")


def test_bones_in_space_end_where_forward_kinematics_puts_them(leg):
    q = leg.pose(base="crouch", pump=0.05)
    corners = faces(pose(leg, q)).corners
    frames = leg.forward(q)
    for name in ("thigh", "shin", "toe"):
        assert contains(corners, frames[name][:3, 3])
    assert contains(corners, leg.convert((0, 0, -0.4), q, source="shin"))  # the mounting point of the pump
    (rail,) = (s for s in lines(pose(leg, q)) if contains(s, frames["foot"][:3, 3]))
    assert contains(rail, leg.convert((0, 0, -0.4), q, source="shin"))


@pytest.mark.parametrize("view", [None, (10, 200), "front", "side", "top"])
def test_a_picture_in_space_has_equal_scales(leg, view):
    figure = pose(leg, view=view)
    ax = figure.axes[0]
    spans = np.ptp([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()], axis=1)
    aspect = np.array(ax._box_aspect)
    assert np.allclose(aspect / aspect[0], spans / spans[0])
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()) == ("x [m]", "y [m]", "z [m]")


@pytest.mark.parametrize(
    ("view", "written", "direction"),
    [("front", "yz", (1, 0, 0)), ("side", "xz", (0, -1, 0)), ("top", "xy", (0, 0, 1))],
)
def test_a_named_view_looks_along_an_axis_and_numbers_the_others(leg, view, written, direction):
    figure = pose(leg, view=view)
    ax = figure.axes[0]
    elevation, azimuth = np.radians([ax.elev, ax.azim])
    towards = [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
    assert np.allclose(towards, direction)
    assert [name for name in "xyz" if f"{name} [m]" in texts(figure)] == list(written)


def test_the_ground_is_drawn_below_everything(leg):
    figure = pose(leg)
    bottom = min(t[2, 3] for t in leg.forward(leg.stored_pose("crouch")).values())
    grid = [s for s in lines(figure) if len(np.unique(s[:, 2])) == 1 and np.ptp(s[:, :2], axis=0).min() == 0]
    assert len(grid) > 4
    assert max(s[:, 2].max() for s in grid if s[0, 2] <= 0) <= bottom + 1e-9


@pytest.mark.parametrize("name", models.MODELS)
def test_every_model_fills_its_picture_and_stays_inside(name):
    figure = pose(models.build(name))
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    marked = (pixels < 250).any(axis=2)
    rows, columns = np.flatnonzero(marked.any(axis=1)), np.flatnonzero(marked.any(axis=0))
    height, width = marked.shape
    assert rows[0] >= 1
    assert columns[0] >= 1
    assert rows[-1] <= height - 2
    assert columns[-1] <= width - 2
    assert np.ptp(rows) > 0.75 * height
    assert np.ptp(columns) > 0.75 * width


@pytest.mark.parametrize("name", JOINTS)
def test_every_kind_of_joint_is_drawn_with_its_range_and_frames(name):
    linkage = one_joint(JOINTS[name])
    q = linkage.random_pose(2)
    figure = pose(linkage, q, limits=True, frames=True)
    figure.canvas.draw()
    assert contains(faces(figure).corners, linkage.forward(q, frame="tip")[:3, 3])


def test_faces_that_look_away_or_are_hidden_are_not_drawn():
    b = lw.Builder("a", shape=lw.Sphere(0.1))  # inside the box
    figure = pose(
        b.fixed("f", "box", shape=lw.Visual(lw.Box((1, 1, 1)), color=(1, 0, 0))).frame("t", at=(0, 0, 1)).build()
    )
    figure.canvas.draw()
    seen = faces(figure).get_facecolor()
    assert len(seen)
    assert (seen[:, 0] > 2.0 * seen[:, 1]).all()  # only red
    assert len(np.unique(seen.round(6), axis=0)) == 3  # three sides of a box


# Extras


def test_a_triad_shows_the_axes_of_its_frame(leg):
    q = leg.stored_pose("crouch")
    figure = pose(leg, q, frames=["toe"])
    matrix = leg.forward(q, frame="toe")
    for column, color in enumerate((RED, GREEN, BLUE)):
        (axis,) = lines(figure, color)
        assert np.allclose(axis[0], matrix[:3, 3])
        along = axis[1] - axis[0]
        assert np.allclose(along / np.linalg.norm(along), matrix[:3, column])


def test_true_draws_all_frames(leg, arm):
    assert len(lines(pose(leg, frames=True), BLUE)) == len(leg.frames)
    assert len(lines(pose(arm, frames=True), RED)) == len(arm.frames)
    assert not lines(pose(arm, frames=False), RED)


def test_ranges_are_red_at_a_limit_and_not_elsewhere(arm):
    limited = arm.replace(joints={name: {"lower": -1.0, "upper": 1.0} for name in arm.joints})
    for q, red in (([0, 0.5, -0.5], 0), ([1.0, 0, 0], 1), ([1.0, -1.2, 0], 2)):
        figure = pose(limited, q, limits=True)
        needles = [s for color in (RED, TEAL) for s in lines(figure, color) if len(s) == 2]
        stops = 3 * 3  # each has two stops and a needle
        assert len(needles) == stops
        assert len([s for s in lines(figure, RED) if len(s) == 2]) == 3 * red


def test_a_joint_without_limits_has_a_grey_ring_and_is_never_red():
    wheel = lw.Builder("a").continuous("j", "b").frame("tip", at=(1, 0, 0)).build()
    figure = pose(wheel, [9.0], limits=True)
    assert not lines(figure, RED) + lines(figure, TEAL)
    (ring,) = (s for s in lines(figure, GREY) if len(s) > 2)
    assert np.allclose(ring[0], ring[-1])


def test_ranges_and_triads_stay_inside_the_picture(arm):
    limited = arm.replace(joints={name: {"lower": -2.0, "upper": 2.0} for name in arm.joints})
    figure = pose(limited, [0, 0, 0], limits=True, frames=True)
    ax = figure.axes[0]
    points = np.concatenate([*lines(figure, TEAL), *lines(figure, RED), *lines(figure, GREEN)])
    assert (points > (ax.get_xlim()[0], ax.get_ylim()[0])).all()
    assert (points < (ax.get_xlim()[1], ax.get_ylim()[1])).all()


def test_limits_are_shown_only_when_asked_for(arm):
    assert not lines(pose(arm, Q), TEAL)


@pytest.mark.parametrize("name", ["human", "planar", "panda", "hand"])
def test_names_do_not_overlap(name):
    linkage = models.build(name)
    figure = pose(linkage, labels=True)
    figure.canvas.draw()
    names = [text for text in figure.axes[0].texts if isinstance(text, Annotation)]
    written = ", ".join(text.get_text() for text in names)
    left_out = any("left out" in text for text in texts(figure))
    moving = [joint.name for joint in linkage.arcs if joint.articulation.nq]
    assert left_out or all(joint in written or "more" in written for joint in moving)
    boxes = [Text.get_window_extent(text) for text in names]  # without the leader line
    page = figure.bbox
    for k, box in enumerate(boxes):
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert not any(box.overlaps(other) for other in boxes[:k])


def test_of_very_many_names_some_are_written_and_the_rest_is_counted():
    figure = pose(models.planar([1.0] * 150), labels=True)
    written = [text for text in figure.axes[0].texts if isinstance(text, Annotation)]
    assert 5 < len(written) <= 60
    assert any("names left out for lack of room" in text for text in texts(figure))
    crowded = pose(models.build("human"), labels=True, size=(1.2, 1.2))
    assert any("names left out" in text for text in texts(crowded))


def test_names_are_written_in_every_panel_of_a_strip(clip):
    figure = strip(clip, frames=[0, 20], labels=True)
    for ax in figure.axes:
        assert {text.get_text() for text in ax.texts} >= {"j1", "j2", "j3"}


def test_a_wire_in_the_plane_moves_with_its_link():
    wire = lw.Polyline([(0, 0, 0), (1, 0, 0), (1, 1, 0)], closed=True)
    linkage = lw.Builder("a").revolute("j", "b", shape=lw.Visual(wire, color=(1, 0, 0))).build()
    (drawn,) = lines(pose(linkage, [0.5]), "#FF0000")
    corners = np.array(wire.points)[[0, 1, 2, 0]]
    assert np.allclose(drawn, linkage.convert(corners, [0.5], source="b")[:, :2])


def test_joints_in_one_place_share_a_name():
    linkage = lw.Builder("a").ball("hip", "b", euler="XYZ").frame("t", at=(1, 0, 0)).build().split()
    assert "hip.rx, hip.ry, hip.rz" in texts(pose(linkage, labels=True))


def test_a_mesh_is_named_as_left_out_and_its_link_drawn_as_a_bone():
    b = lw.Builder("a").revolute("j", "b", axis="x", shape=lw.Mesh("meshes/shin.dae")).frame("tip", at=(0, 0, 1))
    figure = pose(b.build(), [0.3])
    assert "Meshes are not drawn: shin.dae." in texts(figure)
    assert contains(faces(figure).corners, b.build().forward([0.3], frame="tip")[:3, 3])


def test_collision_shapes_are_not_drawn():
    shape = lw.Visual(lw.Sphere(5.0), role="collision")
    with_shape = pose(lw.Builder("a").revolute("j", "b", shape=shape).frame("tip", at=(1, 0, 0)).build())
    assert with_shape.axes[0].get_xlim()[1] < 2.0


def test_the_pose_drawn_by_default_is_ready_then_the_first_then_neutral():
    b = lw.Builder("a").revolute("j", "b").frame("tip", at=(1, 0, 0))
    for stored, value, drawn in (("", 0.0, 0.0), ("other", 0.2, 0.2), ("ready", 0.5, 0.5), ("third", 0.9, 0.5)):
        if stored:
            b.pose(stored, j=value)
        linkage = b.build()
        tip = linkage.forward([drawn], frame="tip")[:2, 3]
        assert any(contains(points, tip) for _, points in dots(pose(linkage)))


def test_a_stored_pose_is_drawn_by_name(leg):
    assert np.allclose(faces(pose(leg, "crouch")).corners, faces(pose(leg, leg.stored_pose("crouch"))).corners)


def test_a_title_stands_above(arm):
    assert "Three links" in texts(pose(arm, Q, title="Three links"))


def test_axes_of_ones_own_keep_their_figure(arm, leg):
    figure = Figure()
    flat, space = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
    place = flat.get_position().bounds
    assert pose(arm, Q, ax=flat, labels=True, title="flat") is figure
    assert pose(leg, ax=space, labels=True) is figure
    assert flat.get_title() == "flat"
    assert flat.get_aspect() == 1.0
    assert flat.get_position(original=True).bounds == place
    with pytest.raises(LinkworkError, match="needs axes with projection='3d' here, got Axes"):
        pose(leg, ax=flat)
    with pytest.raises(LinkworkError, match="needs plain axes here, got Axes3D"):
        pose(arm, ax=space)
    with pytest.raises(LinkworkError, match="size= is for a new figure"):
        pose(arm, ax=flat, size=(3, 3))


def test_thousands_of_links_are_a_handful_of_artists():
    b = lw.Builder("worm")
    for k in range(3_000):
        b.revolute(f"j{k}", f"l{k}", at=(0.01, 0, 0.0002), axis="y" if k % 2 else "z")
    worm = b.build()
    figure = pose(worm, np.full(3_000, 0.03), limits=True)
    ax = figure.axes[0]
    assert len(ax.collections) + len(ax.lines) < 20
    assert len(lines(figure)) > 3_000


def test_a_single_link_is_drawn():
    assert isinstance(pose(lw.Linkage([lw.Link("alone")])), Figure)
    assert isinstance(pose(lw.Linkage([lw.Link("alone", lw.Sphere(1.0))]), view="front"), Figure)


def test_size_is_the_size_of_the_figure(arm, leg):
    for linkage in (arm, leg):
        assert pose(linkage, size=(5, 2)).get_size_inches().tolist() == [5, 2]


# Strips


def test_a_strip_has_a_panel_for_each_frame_with_its_number(clip):
    figure = strip(clip, frames=[0, 5, 10, 15, 20])
    assert len(figure.axes) == 5
    assert [text for text in texts(figure) if text.startswith("frame")] == [f"frame {k}" for k in (0, 5, 10, 15, 20)]
    for ax, number in zip(figure.axes, (0, 5, 10, 15, 20), strict=True):
        tip = clip.linkage.forward(clip.poses[number], frame="tip")[:2, 3]
        assert any(contains(np.stack(line.get_data(), axis=1), tip) for line in ax.lines)


def test_panels_stand_side_by_side_under_the_same_limits(clip):
    figure = strip(clip)
    lefts = [ax.get_position().x0 for ax in figure.axes]
    assert lefts == sorted(lefts)
    assert len({round(ax.get_position().y0, 9) for ax in figure.axes}) == 1
    limits = np.array([[*ax.get_xlim(), *ax.get_ylim()] for ax in figure.axes])
    assert np.allclose(limits, limits[0])
    points = clip.forward().array[..., :2, 3].reshape(-1, 2)
    assert (points.min(axis=0) > limits[0][[0, 2]]).all()
    assert (points.max(axis=0) < limits[0][[1, 3]]).all()
    assert all(ax.get_aspect() == 1.0 for ax in figure.axes)


def test_more_than_six_panels_go_in_rows(clip):
    rows = {round(ax.get_position().y0, 6) for ax in strip(clip, frames=range(0, 21, 2)).axes}
    assert len(rows) == 2


@pytest.mark.parametrize("count", [1, 2, 3, 21])
def test_five_even_frames_are_shown_by_default(arm, count):
    figure = strip(np.tile(Q, (count, 1)), linkage=arm)
    expected = {1: [0], 2: [0, 1], 3: [0, 1, 2], 21: [0, 5, 10, 15, 20]}[count]
    assert [text for text in texts(figure) if text.startswith("frame")] == [f"frame {k}" for k in expected]


def test_a_trail_is_the_path_of_its_frame_and_a_goal_a_cross(clip):
    figure = strip(clip, frames=[10], trail="tip", goal=(-20, 5))
    path = clip.forward(frame="tip")[:, :2, 3]
    (past,) = lines(figure, ORANGE)
    assert np.allclose(past, path[:11])
    assert any(np.allclose(s, path[10:]) for s in lines(figure) if len(s) == 11)
    assert any(marker == "x" and contains(points, (-20, 5)) for marker, points in dots(figure))
    assert figure.axes[0].get_xlim()[0] < -20


def test_a_strip_in_space_marks_goals_in_space(leg):
    poses = [leg.neutral(), "crouch"]
    figure = strip(poses, linkage=leg, goal=(0.5, 0, 0.2), trail="toe", title="Crouch")
    assert len(figure.axes) == 2
    for ax in figure.axes:
        assert any(
            np.allclose(np.ravel(line.get_data_3d()), (0.5, 0, 0.2)) for line in ax.lines if line.get_marker() == "x"
        )
    limits = [(ax.get_xlim(), ax.get_ylim(), ax.get_zlim()) for ax in figure.axes]
    assert limits[0] == limits[1]


# Files

SIGNATURES = {".png": b"\x89PNG\r\n", ".svg": b"<?xml", ".pdf": b"%PDF-", ".PNG": b"\x89PNG\r\n"}


@pytest.mark.parametrize("suffix", SIGNATURES)
def test_pictures_are_saved_as_their_names_say_and_always_alike(suffix, arm, clip, leg, tmp_path):
    for k, draw in enumerate(
        [
            lambda path: pose(arm, Q, labels=True, path=path),
            lambda path: strip(clip, path=path),
            lambda path: pose(leg, limits=True, path=path),
        ]
    ):
        first, second = tmp_path / f"{k}a{suffix}", tmp_path / f"{k}b{suffix}"
        assert isinstance(draw(first), Figure)
        draw(str(second))
        assert first.read_bytes().startswith(SIGNATURES[suffix])
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("name", ["arm.jpg", "arm", "arm.gif", "arm.png.txt"])
def test_an_unknown_suffix_is_refused_before_anything_is_drawn(name, arm, clip, tmp_path):
    for draw in (lambda path: pose(arm, [np.nan] * 3, path=path), lambda path: strip(clip, path=path)):
        with pytest.raises(FormatError, match=r"a picture is saved as \.png or \.svg or \.pdf"):
            draw(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_file_is_replaced_whole_or_not_at_all(arm, tmp_path, monkeypatch):
    path = tmp_path / "arm.png"
    path.write_bytes(b"precious")
    alias = tmp_path / "link.png"
    symlink(alias, path)

    def fail(self, file, **options):
        file.write(b"half a pic")
        raise RuntimeError("full disk")

    with monkeypatch.context() as patch:
        patch.setattr(Figure, "savefig", fail)
        with pytest.raises(RuntimeError):
            pose(arm, Q, path=path)
    assert path.read_bytes() == b"precious"
    pose(arm, Q, path=alias)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert alias.is_symlink()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["arm.png", "link.png"]


def test_a_folder_that_is_not_there_is_said(arm, tmp_path):
    with pytest.raises(FormatError, match="there is no folder"):
        pose(arm, Q, path=tmp_path / "nowhere" / "arm.png")
    (tmp_path / "dir.png").mkdir()
    with pytest.raises(FormatError, match="cannot be written"):
        pose(arm, Q, path=tmp_path / "dir.png")


def test_a_notebook_shows_a_figure_as_a_picture(arm):
    with Image.open(BytesIO(pose(arm, Q)._repr_png_())) as image:
        assert image.format == "PNG"
        assert image.width > 300


# Films


def test_a_film_has_a_frame_for_each_of_the_clip_and_repeats(clip, tmp_path):
    calls = []
    film(clip, tmp_path / "arm.gif", trail="tip", size=(3, 2), progress=lambda done, total: calls.append((done, total)))
    with Image.open(tmp_path / "arm.gif") as image:
        assert (image.format, image.n_frames, image.size, image.info["loop"]) == ("GIF", 21, (300, 200), 0)
        durations = []
        for k in range(image.n_frames):
            image.seek(k)
            durations.append(image.info["duration"])
        assert sum(durations[:-1]) == 1000
        assert image.convert("RGB").getpixel((2, 2)) == (255, 255, 255)
    assert calls == [(k, 21) for k in range(1, 22)]
    assert [entry.name for entry in tmp_path.iterdir()] == ["arm.gif"]


def test_frames_of_a_film_show_the_poses_of_the_clip(clip, tmp_path):
    film(clip, tmp_path / "arm.gif")
    film(lw.Clip(clip.linkage, clip.times, clip.poses[::-1]), tmp_path / "back.gif")
    with Image.open(tmp_path / "arm.gif") as there, Image.open(tmp_path / "back.gif") as back:
        for k in (0, 7, 20):
            there.seek(k)
            back.seek(20 - k)
            same = np.asarray(there.convert("L")).astype(int) - np.asarray(back.convert("L")).astype(int)
            assert np.abs(same).mean() < 0.5
        back.seek(20)
        other = np.asarray(there.convert("L")).astype(int) - np.asarray(back.convert("L")).astype(int)
        assert np.abs(other).mean() > 2.0


@pytest.mark.parametrize(("fps", "frames"), [(10, 11), (50, 51), (2.5, 3)])
def test_fps_chooses_how_many_frames_and_keeps_the_time(clip, fps, frames, tmp_path):
    film(clip, tmp_path / "arm.gif", fps=fps, size=(2, 2))
    with Image.open(tmp_path / "arm.gif") as image:
        assert image.n_frames == frames
        total = 0
        for k in range(frames - 1):
            image.seek(k)
            total += image.info["duration"]
    assert total == pytest.approx(1000 * (frames - 1) / fps, abs=10)


def test_a_fast_clip_keeps_its_time_in_the_frames_a_gif_can_show(arm, tmp_path):
    poses = np.linspace([0, 0, 0], [1, 1, 1], 121)
    film(lw.Clip(arm, np.arange(121) / 240.0, poses), tmp_path / "arm.gif", size=(2, 2))
    with Image.open(tmp_path / "arm.gif") as image:
        assert image.n_frames == 26
        assert image.info["duration"] == 20


def test_a_film_in_space_and_of_one_frame(leg, tmp_path):
    clip = lw.interpolate(leg, [(0, leg.neutral()), (0.2, "crouch")], fps=10)
    for path in (tmp_path / "a.gif", tmp_path / "b.gif"):
        film(clip, path, trail="toe", view="side")
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()
    film(lw.Clip(leg, [0.0], [leg.neutral()]), tmp_path / "one.gif")
    with Image.open(tmp_path / "one.gif") as image:
        assert getattr(image, "n_frames", 1) == 1


def test_a_film_that_stops_leaves_nothing_behind(clip, tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        film(clip, tmp_path / "arm.gif", progress=stop)
    assert not list(tmp_path.iterdir())


# Wrong input

WRONG = {
    "a pose that is not finite": (lambda given: pose(given.arm, [0, np.nan, 0]), LinkworkError, "'j2' is nan"),
    "a pose of the wrong size": (lambda given: pose(given.arm, [0, 0]), PoseShapeError, r"\(\.\.\., 3\)"),
    "many poses": (lambda given: pose(given.arm, np.zeros((4, 3))), PoseShapeError, "single pose"),
    "a pose of no such name": (lambda given: pose(given.arm, "redy"), PoseNotFoundError, "did you mean 'ready'"),
    "a frame of no such name": (
        lambda given: pose(given.arm, frames=["tpi"]),
        FrameNotFoundError,
        "did you mean 'tip'",
    ),
    "a trail of no such name": (lambda given: strip(given.clip, trail="tpi"), FrameNotFoundError, "did you mean 'tip'"),
    "a flat size": (lambda given: pose(given.arm, size=(0, 3)), LinkworkError, "both positive"),
    "one size": (lambda given: pose(given.arm, size=4), LinkworkError, "width, height"),
    "a size without bound": (lambda given: strip(given.clip, size=(np.inf, 3)), LinkworkError, "both positive"),
    "a view of no such name": (lambda given: pose(given.arm, view="bottom"), LinkworkError, "front, side, top"),
    "a view of three numbers": (lambda given: pose(given.arm, view=(1, 2, 3)), LinkworkError, "elevation, azimuth"),
    "a view that is not finite": (lambda given: pose(given.arm, view=(1, np.nan)), LinkworkError, "elevation, azimuth"),
    "no frames": (lambda given: strip(given.clip, frames=[]), KeyFrameError, "no frames to show"),
    "a frame too many": (lambda given: strip(given.clip, frames=[0, 21]), KeyFrameError, "no frame 21.* 0 to 20"),
    "a frame before the first": (lambda given: strip(given.clip, frames=[-1]), KeyFrameError, "no frame -1"),
    "half a frame": (lambda given: strip(given.clip, frames=[0.5]), KeyFrameError, "no frame 0.5"),
    "a goal of four numbers": (lambda given: strip(given.clip, goal=(1, 2, 3, 4)), LinkworkError, "goal"),
    "a goal that is not finite": (lambda given: strip(given.clip, goal=(np.nan, 2)), LinkworkError, "goal"),
    "poses of no linkage": (lambda given: strip(given.clip.poses), LinkworkError, "together with linkage="),
    "no poses": (lambda given: strip([], linkage=given.arm), KeyFrameError, "at least one pose"),
    "a clip of another": (
        lambda given: strip(given.clip, linkage=models.planar([1])),
        LinkworkError,
        "a clip has its own linkage",
    ),
    "a film of poses": (lambda given: film(given.clip.poses, "arm.gif"), LinkworkError, "a film needs a Clip"),
    "a film that is a picture": (
        lambda given: film(given.clip, "arm.jpg"),
        FormatError,
        r"saved as \.html or \.mp4 or \.gif or \.png, not '\.jpg'",
    ),
    "a film of no speed": (lambda given: film(given.clip, "arm.gif", fps=0), LinkworkError, "more than 0"),
    "a film too fast": (lambda given: film(given.clip, "arm.gif", fps=60), LinkworkError, "at most 50"),
    "a film of no number": (lambda given: film(given.clip, "arm.gif", fps=np.nan), LinkworkError, "more than 0"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input_is_refused_in_words(what, arm, clip, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw, error, message = WRONG[what]
    with pytest.raises(error, match=message):
        draw(SimpleNamespace(arm=arm, clip=clip))
    assert not list(tmp_path.iterdir())


# Loaded modules


def run(script):
    done = children.run([sys.executable, "-W", "error", "-c", script], text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_matplotlib_is_loaded_by_the_first_picture_and_pyplot_never(tmp_path):
    script = f"""
import sys, linkwork as lw
lw.draw.pose
print("matplotlib" in sys.modules)
arm = lw.models.planar([2, 1])
clip = lw.interpolate(arm, [(0, [0, 0]), (0.1, [1, 1])])
lw.draw.pose(arm), lw.draw.pose(arm, view="top"), lw.draw.strip(clip), lw.draw.film(clip, {str(tmp_path / "a.gif")!r})
print("matplotlib" in sys.modules, "matplotlib.pyplot" in sys.modules)
import matplotlib.pyplot
print(matplotlib.pyplot.get_fignums())
"""
    assert run(script) == ["False", "True", "False", "[]"]


def test_without_matplotlib_the_extra_is_named():
    script = """
import sys, linkwork as lw
sys.modules["matplotlib"] = None
try:
    lw.draw.pose(lw.models.planar([2, 1]))
except lw.errors.MissingExtraError as error:
    print(error.package, error.extra)
"""
    assert run(script) == ["matplotlib", "plot"]
