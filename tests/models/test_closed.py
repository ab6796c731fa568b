"""Mechanisms with closed loops: closed through a whole turn, compared with closed forms and published numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import LinkageError
from linkwork.goals import closings
from linkwork.models.closed import HOLY_NUMBERS
from linkwork.models.mechanisms import CRANK, ROD

CLOSED = 1e-9
TURN = np.linspace(0.0, 2.0 * math.pi, 181)
CRANKED = ("four_bar", "jansen_leg", "klann", "bennett", "slider_crank", "quick_return", "engine", "engine:4")
OTHERS = ("peaucellier", "scissor", "pantograph", "pantograph:4", "four_bar:0.4,0.3,0.3,0.25")


def gaps(linkage: lw.Linkage, q: np.ndarray) -> float:
    return max(float(np.linalg.norm(goal.error(linkage, q), axis=-1).max()) for goal in closings(linkage))


@pytest.mark.parametrize("text", CRANKED)
def test_loops_stay_closed_through_a_whole_turn(text: str) -> None:
    linkage = lw.models.build(text)
    start = next(iter(linkage.poses))
    clip = lw.drive(linkage, "crank", linkage.stored_pose(start)[0] + TURN, start=start)
    assert gaps(linkage, clip.poses) < CLOSED
    ends = linkage.difference(clip.poses[0], clip.poses[-1])
    assert_allclose(np.sin(ends / 2.0) if text != "engine" else ends, 0.0, atol=1e-6)  # back at the start
    assert np.abs(np.diff(clip.poses, axis=0)).max() < 0.2


@pytest.mark.parametrize("text", [*CRANKED, *OTHERS])
def test_poses_and_motions_of_the_models_are_closed(text: str) -> None:
    linkage = lw.models.build(text)
    assert linkage.loops
    assert gaps(linkage, np.array(list(linkage.poses.values()))) < CLOSED
    assert gaps(linkage, lw.models.motion(text).poses) < CLOSED


@pytest.mark.parametrize("text", CRANKED[:4])
def test_loops_are_kept_by_scene_files(text: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    linkage = lw.models.build(text)
    lw.save(linkage, tmp_path / "model.yaml")
    assert lw.load(tmp_path / "model.yaml") == linkage


# The engine


@pytest.mark.parametrize("cylinders", [1, 3, 4])
def test_a_driven_engine_is_the_slider_crank_of_the_closed_form(cylinders: int) -> None:
    motor = lw.models.engine(cylinders)
    clip = lw.drive(motor, "crank", TURN[::6], start="top")
    for angle, q in zip(TURN[::6], clip.poses, strict=True):
        assert_allclose(motor.difference(q, lw.models.engine_pose(motor, angle)), 0.0, atol=1e-7)
    height = CRANK * np.cos(TURN[::6]) + np.sqrt(ROD**2 - (CRANK * np.sin(TURN[::6])) ** 2)
    pin = clip.forward(frame="pin" if cylinders == 1 else "pin1")[:, 2, 3]
    assert_allclose(pin, height, atol=1e-9)


def test_an_engine_is_solved_with_its_loops() -> None:
    motor = lw.models.engine()
    solution = lw.solve(motor, lw.Couple({"piston": 1.0}, value=-0.05), start="quarter")
    assert solution.success
    assert gaps(motor, solution.q) < CLOSED


def test_a_piston_has_its_dead_centres_at_top_and_bottom() -> None:
    motor = lw.models.engine()
    found = lw.singular_positions(motor, "piston", start="quarter")
    assert_allclose([one.value for one in found], [-2.0 * CRANK, 0.0], atol=1e-9)
    assert lw.singular_positions(motor, "crank", start="quarter") == ()


# The pantograph


@pytest.mark.parametrize("ratio", [1.5, 2.0, 2.5, 6.0])
def test_the_pen_scales_the_path_of_the_tracer_exactly(ratio: float) -> None:
    board = lw.models.pantograph(ratio)
    center = board.forward(board.stored_pose("ready"), frame="tracer")[:2, 3]
    q, size = board.stored_pose("ready"), 0.1 * float(np.linalg.norm(center))
    for angle in np.linspace(0.0, 6.0, 9):
        place = center + size * np.array([math.cos(angle), math.sin(2.0 * angle)])
        solution = lw.solve(board, lw.Reach("tracer", position=place), start=q, tolerance=1e-10)
        assert solution.success, solution.reason
        q = solution.q
        assert gaps(board, q) < CLOSED
        pen, tracer = (board.forward(q, frame=frame)[:2, 3] for frame in ("pen", "tracer"))
        assert_allclose(pen, ratio * tracer, atol=2e-9)
        assert_allclose(tracer, place, atol=1e-9)


def test_the_motion_draws_a_flower_larger() -> None:
    clip = lw.models.motion("pantograph:3")
    assert_allclose(clip.forward(frame="pen")[:, :2, 3], 3.0 * clip.forward(frame="tracer")[:, :2, 3], atol=1e-12)


# Jansen's leg


def test_the_bars_of_the_leg_have_the_published_lengths() -> None:
    leg = lw.models.jansen_leg()
    clip = lw.drive(leg, "crank", TURN[::10], start="start")
    places = {frame: clip.forward(frame=frame)[:, :2, 3] * 100.0 for frame in leg.frames}
    ends = {
        "b": ("top", "top_end"), "c": ("swing", "swing_end"), "d": ("top", "coupler"), "e": ("top_end", "coupler"),
        "f": ("coupler", "coupler_end"), "g": ("swing_end", "shin_end"), "h": ("shin_end", "foot"),
        "i": ("swing_end", "foot"), "j": ("upper_rod", "top_end"), "k": ("lower_rod", "swing_end"),
        "m": ("crank", "upper_rod"),
    }  # fmt: skip
    for bar, (first, second) in ends.items():
        assert_allclose(
            np.linalg.norm(places[first] - places[second], axis=1), HOLY_NUMBERS[bar], atol=1e-9, err_msg=bar
        )
    assert_allclose(
        places["top"] - places["crank"], [[-HOLY_NUMBERS["a"], -HOLY_NUMBERS["l"]]] * len(TURN[::10]), atol=1e-9
    )


def test_the_foot_walks_flat_and_lifts() -> None:
    leg = lw.models.jansen_leg()
    path = lw.drive(leg, "crank", TURN, start="start").forward(frame="foot")[:, :2, 3] * 100.0
    low = path[:, 1] < path[:, 1].min() + 1.0
    assert 0.4 < low[:-1].mean() < 0.7  # within a centimetre of the ground for half a turn
    assert 60.0 < np.ptp(path[:, 0]) < 80.0
    assert 15.0 < np.ptp(path[:, 1]) < 30.0
    assert np.ptp(path[low, 0]) > 0.6 * np.ptp(path[:, 0])


# Klann's leg, scissors and Bennett's ring


def test_the_foot_steps_as_the_patent_says() -> None:
    """Published: a stride of 1.000 in half a turn, straight to 5.5 % of it, and a step height of 52.3 %."""
    leg = lw.models.klann(1.0)
    foot = lw.drive(leg, "crank", TURN, start="start").forward(frame="foot")[:, :2, 3]
    along, up = (foot - foot[90]).T
    assert_allclose((along[0], up[0]), (1.0, 0.0), atol=1e-3)
    assert np.ptp(up[:91]) == pytest.approx(0.055, abs=5e-4)
    assert np.ptp(up) == pytest.approx(0.523, abs=5e-3)  # dimensions are rounded to three digits


def test_every_bar_of_the_inversor_is_as_long_as_was_said() -> None:
    bars = lw.models.peaucellier(0.5, 0.2, 0.2)
    places = {name: at[:, :2, 3] for name, at in lw.drive(bars, "crank", TURN[:12] - 0.2).forward().items()}
    for first, second, length in (
        ("near1", "corner1", 0.2), ("near2", "corner2", 0.2), ("far1", "pen", 0.2), ("corner2", "pen", 0.2),
        ("ground", "corner1", 0.5), ("ground", "corner2", 0.5), ("crank", "near1", 0.2), ("ground", "crank", 0.2),
    ):  # fmt: skip
        away = np.linalg.norm(places[first] - places[second], axis=-1)
        assert_allclose(away, length, atol=1e-9, err_msg=f"{first}-{second}")
    assert_allclose(places["pen"][:, 0], (0.5**2 - 0.2**2) / 0.4, atol=1e-9)


@pytest.mark.parametrize("sizes", [(), (0.5, 0.2, 0.2), (1.0, 0.45, 0.3)])
@pytest.mark.parametrize("first", [-0.3, 0.0, 0.2])
def test_the_inversor_draws_its_line_without_a_start_as_its_stored_pose_is_put_together(
    sizes: tuple[float, ...], first: float
) -> None:
    bars = lw.models.peaucellier(*sizes)
    pen = lw.drive(bars, "crank", first + np.linspace(0.0, 0.1, 5)).forward(frame="pen")[:, 0, 3]
    stored = bars.forward(bars.pose("start"), frame="pen")[0, 3]
    assert_allclose(pen, stored, atol=1e-9)


@pytest.mark.parametrize("stages", [1, 4, 10])
def test_scissors_rise_straight_up_by_stages(stages: int) -> None:
    tower = lw.models.scissor(stages, 0.5)
    slides = np.linspace(0.1, 0.45, 6)
    top = lw.drive(tower, "slide", slides, start="high").forward(frame="top")[:, :2, 3]
    assert_allclose(top, np.stack([np.zeros(6), stages * np.sqrt(0.25 - slides**2)], axis=1), atol=1e-9)


def test_hinges_of_a_ring_keep_their_distances_and_twists() -> None:
    ring = lw.models.bennett(0.4, 0.25, "50deg")
    clip = lw.drive(ring, "crank", TURN[::12] + 1.0, start="start")
    axes = [clip.forward(frame=name) for name in ("crank", "coupler", "follower", "end")]
    lengths, twists = [0.4, 0.25] * 2, [math.radians(50.0), math.asin(0.25 / 0.4 * math.sin(math.radians(50.0)))] * 2
    for one, two, length, twist in zip(axes, [*axes[1:], axes[0]], lengths, twists, strict=True):
        assert_allclose(np.linalg.norm(one[:, :3, 3] - two[:, :3, 3], axis=1), length, atol=1e-9)
        assert_allclose((one[:, :3, 2] * two[:, :3, 2]).sum(axis=1), math.cos(twist), atol=1e-9)


# Wrong input


@pytest.mark.parametrize(
    "call",
    [
        lambda: lw.models.four_bar(1.0, 0.2, 0.3, 0.4),
        lambda: lw.models.four_bar(crank=-1.0),
        lambda: lw.models.four_bar(rocker="long"),
        lambda: lw.models.pantograph(1.0),
        lambda: lw.models.pantograph(math.nan),
        lambda: lw.models.klann(0.0),
        lambda: lw.models.slider_crank(0.2, 0.3, 0.15),
        lambda: lw.models.slider_crank(0.2, 0.5, math.nan),
        lambda: lw.models.quick_return(0.2, 0.2),
        lambda: lw.models.peaucellier(0.6, 0.3, 0.1),
        lambda: lw.models.scissor(0),
        lambda: lw.models.scissor(2, -1.0),
        lambda: lw.models.bennett(0.3, 0.3),
        lambda: lw.models.bennett(0.3, 0.5, "80deg"),
    ],
)
def test_sizes_without_meaning_are_refused(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LinkageError):
        call()
