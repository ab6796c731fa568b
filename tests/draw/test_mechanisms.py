"""Mechanisms in textbook style: symbols follow from joints and loops, positions agree with closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.draw.dimensions import letters, written
from linkwork.draw.schemes import WORLD, Scheme, plane_of
from linkwork.draw.symbols import hatched, hull
from linkwork.errors import FormatError, OptionError
from mechanisms import PLANE
from mechanisms_in_space import SPACE

pytest.importorskip("matplotlib")

TURN = np.linspace(0.0, 2.0 * math.pi, 25)


@pytest.fixture(scope="module")
def bars():
    return lw.drive(lw.models.four_bar(), "crank", TURN, start="start")


def quick_return() -> lw.Linkage:
    """A crank whose pin slides along a rocker."""
    b = lw.Builder("quick_return", base="frame")
    b.continuous("crank", "crank", at=(0, 0.2, 0)).frame("pin", at=(0.1, 0, 0))
    b.continuous("rocker", "rocker", parent="frame").frame("end", at=(0.5, 0, 0))
    b.prismatic("slide", "block", parent="rocker", axis="x", limits=(0, 0.6)).frame("hole")
    return b.loop("pin", "pin", "hole").build()


def scheme_of(linkage: lw.Linkage, q=None) -> Scheme:
    return Scheme(linkage, np.atleast_2d(lw.close(linkage, q)))


def counted(scheme: Scheme, layer: str) -> int:
    return sum(piece.layer == layer for piece in scheme.pieces)


@pytest.mark.parametrize(
    ("model", "pivots", "pins", "plates"),
    [("four_bar", 2, 4, 1), ("pantograph", 1, 5, 0), ("jansen_leg", 2, 7, 2), ("engine", 1, 3, 0)],
)
def test_pins_pivots_and_plates_are_those_of_the_mechanism(model: str, pivots: int, pins: int, plates: int) -> None:
    linkage = getattr(lw.models, model)()
    scheme = scheme_of(linkage, next(iter(linkage.poses)))
    assert sum(node.grounded for node in scheme.nodes) == pivots
    assert counted(scheme, "pins") == pins
    assert sum(piece.closed for piece in scheme.pieces if piece.layer == "links") == plates


@pytest.mark.parametrize("name", PLANE)
def test_mechanisms_of_the_books_have_a_pin_for_every_turn_and_every_loop(name: str) -> None:
    linkage = PLANE[name](1.0).linkage
    scheme = Scheme(linkage, linkage.neutral()[None])
    named = [name for node in scheme.nodes if node.kind == "pin" for name in node.names]
    turns = {joint for joint in linkage.joints if linkage.joint(joint).articulation.kind == "continuous"}
    assert turns | {loop.name for loop in linkage.loops if loop.kind != "full"} <= set(named)
    assert len(scheme.slides) == sum(linkage.joint(j).articulation.kind == "prismatic" for j in linkage.joints)
    assert counted(scheme, "blocks") == len(scheme.slides)


@pytest.mark.parametrize("name", SPACE)
def test_mechanisms_in_space_are_refused(name: str) -> None:
    with pytest.raises(OptionError, match="is not planar: at joint"):
        plane_of(SPACE[name](1.0).linkage)


def test_pins_of_loops_stay_together_all_the_way(bars: lw.Clip) -> None:
    scheme = Scheme(bars.linkage, bars.poses)
    loop = next(node for node in scheme.nodes if "four_bar" in node.names)
    for q in bars.poses:
        places = [scheme.displaced(place[None], body, q)[0] for body, place in loop.places.items()]
        assert np.ptp(places, axis=0).max() < 1e-9
        end = bars.linkage.forward(q, frame="rocker_end")[:2, 3]
        assert np.abs(places[0] - end).max() < 1e-9


def test_an_upright_mechanism_is_seen_from_the_front_and_its_piston_in_a_hatched_guide() -> None:
    scheme = scheme_of(lw.models.engine(), "quarter")
    assert scheme.plane.tolist() == [[1, 0, 0], [0, 0, 1]]
    (block,) = [piece for piece in scheme.pieces if piece.layer == "blocks"]
    pin = scheme.linkage.forward(scheme.poses[0], frame="pin")[[0, 2], 3]
    assert np.abs(block.points.mean(axis=0) - pin).max() < 1e-12
    assert {piece.body for piece in scheme.pieces if piece.layer == "guides"} == {WORLD}
    assert counted(scheme, "guides") > 10


def test_a_block_on_a_moving_rod_lies_along_it_and_needs_no_hatch() -> None:
    linkage = quick_return()
    clip = lw.drive(linkage, "crank", TURN + 0.5)
    scheme = Scheme(linkage, clip.poses)
    assert counted(scheme, "guides") == 0
    (block,) = [piece for piece in scheme.pieces if piece.layer == "blocks"]
    for q in clip.poses[::6]:
        corners = scheme.displaced(block.points, block.body, q)
        crank = linkage.forward(q, frame="pin")[:2, 3]
        assert np.abs(corners.mean(axis=0) - crank).max() < 1e-9
        x, y = corners[0] - corners[1]
        assert abs(x * crank[1] - y * crank[0]) < 1e-9  # the rocker turns about the origin


def test_frames_that_are_turned_do_not_matter() -> None:
    tilt = lw.transforms.transform((0, 0, 1), lw.transforms.axis_rotation((1.0, 0.0, 0.0), math.pi / 2))
    b = lw.Builder("tilted", base="floor").revolute("first", "one", axis="y", at=tilt)  # about z of the world
    arm = b.revolute("second", "two", axis="y", at=(1, 0, 0)).frame("tip", at=(0.5, 0, 0)).build()
    scheme = Scheme(arm, np.array([[0.0, 0.0], [0.3, 0.9]]))
    assert np.abs(scheme.plane - [[1, 0, 0], [0, 1, 0]]).max() < 1e-12
    tip = next(node for node in scheme.nodes if node.names == ["tip"])
    wanted = [math.cos(0.3) + 0.5 * math.cos(1.2), math.sin(0.3) + 0.5 * math.sin(1.2)]
    assert np.abs(scheme.at(tip, scheme.poses[1]) - wanted).max() < 1e-12
    with pytest.raises(OptionError, match="'third', its axis is not parallel to that of 'first'"):
        plane_of(b.revolute("third", "three", axis="x", at=(1, 0, 0)).build())


def test_what_moves_in_space_is_named() -> None:
    b = lw.Builder("arm", base="floor")
    b.revolute("turn", "post", axis="z").ball("wrist", "hand", at=(1, 0, 0))
    with pytest.raises(OptionError, match=r"not planar: at joint 'wrist', a ball joint moves in space; lw.draw.pose"):
        lw.draw.mechanism(b.build())


def test_axes_of_one_joint_and_linkages_of_one_link_are_told_apart() -> None:
    b = lw.Builder("arm", base="floor").universal("neck", "head")
    with pytest.raises(OptionError, match="at joint 'neck', its axes are not parallel"):
        plane_of(b.build())
    with pytest.raises(OptionError, match="'stone' has no joint that turns or slides, no loop and no frame"):
        lw.draw.mechanism(lw.Builder("stone", base="stone").build())


def test_size_does_not_matter() -> None:
    pages = []
    for size in (1e-4, 1.0, 1e5):
        shaper = PLANE["shaper"](size)
        start = shaper.linkage.pose({name: float(values[0]) for name, values in shaper.drivers.items()})
        q = lw.assemble(shaper.linkage, start=start, keep=tuple(shaper.drivers), most=1)[0]
        pages.append(lw.draw.mechanism(shaper.linkage, q))
    places = [np.array([text.get_position() for text in page.texts]) for page in pages]
    assert np.abs(places[0] - places[1]).max() < 1e-3
    assert np.abs(places[2] - places[1]).max() < 1e-3


def test_letters_lengths_and_angles_are_those_of_the_bars(bars: lw.Clip) -> None:
    scheme = Scheme(bars.linkage, bars.poses)
    assert list(letters(scheme).values()) == ["$O_{2}$", "$A$", "$O_{4}$", "$B$", "point"]
    q = bars.poses[3]
    values = dict(text.split(" = ") for text in written(scheme, q, True, True).values)
    assert [values[f"${c}$"] for c in "abef"] == ["0.15 m", "0.35 m", "0.3 m", "0.4 m"]
    assert values[r"$\theta_{2}$"] == "45.0°"
    assert values[r"$\theta_{4}$"] == f"{math.degrees(q[2]) % 360:.1f}°"


def test_own_labels_are_written_and_unknown_places_named(bars: lw.Clip) -> None:
    texts = {text.get_text() for text in lw.draw.mechanism(bars, labels={"crank": "drive", "point": "P"}).texts}
    assert texts == {"drive", "P"}
    with pytest.raises(OptionError, match="no pin or point 'pin' to label; there are 'crank'"):
        lw.draw.mechanism(bars, labels={"pin": "x"})


@pytest.mark.parametrize("model", ["jansen_leg", "klann", "peaucellier", "scissor", "quick_return"])
def test_labels_do_not_overlap(model: str) -> None:
    linkage = getattr(lw.models, model)()
    for dimensions in (False, True):
        page = lw.draw.mechanism(linkage, list(linkage.poses)[1], dimensions=dimensions)
        page.draw_without_rendering()
        boxes = [text.get_window_extent().extents for text in page.texts]
        for k, (x0, y0, x1, y1) in enumerate(boxes):
            for a0, b0, a1, b1 in boxes[:k]:
                assert min(x1, a1) - max(x0, a0) < 2.0 or min(y1, b1) - max(y0, b0) < 2.0


def test_ticks_are_at_equal_times(bars: lw.Clip) -> None:
    from linkwork.draw.mechanisms import _ticks

    assert _ticks(bars.times, 8).tolist() == list(range(0, 24, 3))
    uneven = np.array([0.0, 0.1, 0.2, 1.0, 2.0, 3.0, 4.0])
    assert _ticks(uneven, 4).tolist() == [0, 3, 4, 5]


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".pdf", b"%PDF"), (".gif", b"GIF8")])
def test_files(bars: lw.Clip, suffix: str, start: bytes, tmp_path) -> None:
    path = tmp_path / f"bars{suffix}"
    lw.draw.mechanism(bars, trails="point", ghosts=2, title="Four bars", size=(3, 3), path=path)
    assert path.read_bytes().startswith(start)


def test_a_film_has_a_frame_for_each_of_the_clip(bars: lw.Clip, tmp_path) -> None:
    from PIL import Image

    path = tmp_path / "bars.gif"
    lw.draw.mechanism(bars, trails="point", path=path)
    with Image.open(path) as film:
        assert film.n_frames == len(bars)


def test_dxf_is_read_by_others(bars: lw.Clip, tmp_path) -> None:
    ezdxf = pytest.importorskip("ezdxf")
    path = tmp_path / "bars.dxf"
    lw.draw.mechanism(bars, frame=3, trails="point", dimensions=True, path=path)
    document = ezdxf.readfile(path)
    audit = document.audit()
    assert [*audit.errors, *audit.fixes] == []
    pins = [entity.dxf.center for entity in document.modelspace() if entity.dxf.layer == "PINS"]
    crank = 0.15 * np.array([math.cos(math.pi / 4), math.sin(math.pi / 4)])
    for place in ((0, 0), (0.4, 0), crank):
        assert min(math.dist(place, (pin.x, pin.y)) for pin in pins) < 1e-9
    texts = [entity.dxf.text for entity in document.modelspace().query("TEXT")]
    assert {"O2", "O4", "A", "B", "theta2"} <= set(texts)


def test_an_open_pose_is_closed_or_refused() -> None:
    linkage = lw.models.four_bar().replace(poses={})
    assert len(lw.draw.mechanism(linkage).axes) == 1
    with pytest.raises(OptionError, match=r"are open by .* m in this pose; lw.close"):
        lw.draw.mechanism(linkage, linkage.neutral())


def test_wrong_arguments_are_said(bars: lw.Clip, tmp_path) -> None:
    with pytest.raises(OptionError, match="a trail or a ghost needs a motion"):
        lw.draw.mechanism(bars.linkage, trails="point")
    with pytest.raises(OptionError, match="a film needs a motion"):
        lw.draw.mechanism(bars.linkage, path=tmp_path / "x.gif")
    with pytest.raises(OptionError, match="no frame 99; the motion has frames 0 to 24"):
        lw.draw.mechanism(bars, frame=99)
    with pytest.raises(OptionError, match="ticks is a whole number from 0 on, got -1"):
        lw.draw.mechanism(bars, ticks=-1)
    with pytest.raises(
        FormatError, match=r"saved as .png or .svg or .pdf or .dxf or .gif or .mp4 or .html, not '.jpg'"
    ):
        lw.draw.mechanism(bars, path=tmp_path / "x.jpg")


def test_a_short_trail_has_fewer_ticks_and_flat_moments_stand_below_each_other() -> None:
    from linkwork.draw.mechanisms import _fitting

    line = np.stack([np.linspace(0.0, 1.0, 9), np.zeros(9)], axis=1)
    assert [_fitting(line, unit, None) for unit in (0.01, 0.2, 0.4, 10.0)] == [24, 12, 6, 3]
    assert _fitting(line, 10.0, 24) == 24
    slider = lw.drive(lw.models.slider_crank(0.05, 0.4), "crank", TURN, start="start")
    for clip, flat in ((slider, True), (lw.drive(lw.models.jansen_leg(), "crank", TURN, start="start"), False)):
        width, _ = lw.draw.mechanism(clip, frame=[0, 8, 16, 20]).get_size_inches()
        assert (width < 6.0) == flat


def test_hatching_lies_on_the_outside() -> None:
    strokes = hatched(np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([0.0, -1.0]), 1.0)
    assert len(strokes) == 5
    assert all(stroke[0, 1] == 0.0 and stroke[1, 1] < 0.0 for stroke in strokes)


def test_outlines_are_convex() -> None:
    points = np.random.default_rng(1).normal(size=(30, 2))
    corners = hull(points, 1e-9)
    sides = np.roll(corners, -1, axis=0) - corners
    for corner, side in zip(corners, sides, strict=True):
        assert ((points - corner) @ np.array([-side[1], side[0]]) >= -1e-12).all()
