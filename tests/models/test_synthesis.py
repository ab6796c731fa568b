"""Synthesis: derivatives compared with differences, known four-bars recovered, published problems, defects reported."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import GoalError, OptionError
from linkwork.models.synthesis.closed_form import derivatives, place
from linkwork.transforms import FloatArray

TURN = 2.0 * math.pi

# Eighteen points with crank angles 20 degrees apart: a benchmark problem in papers on synthesis by genetic algorithms.
EIGHTEEN = np.array(
    [
        (0.5, 1.1), (0.4, 1.1), (0.3, 1.1), (0.2, 1.0), (0.1, 0.9), (0.05, 0.75), (0.02, 0.6), (0.0, 0.5), (0.0, 0.4),
        (0.03, 0.3), (0.1, 0.25), (0.15, 0.2), (0.2, 0.3), (0.3, 0.4), (0.4, 0.5), (0.5, 0.7), (0.6, 0.9), (0.6, 1.0),
    ]
)  # fmt: skip


def known(rng: np.random.Generator) -> lw.synthesis.FourBar:
    """Return a random four-bar with a fully turning crank, away from change points, at a random placement."""
    while True:
        ground, crank, coupler, rocker = rng.uniform(0.5, 4.0, 4)
        if abs(ground - crank) > abs(coupler - rocker) + 0.1 and ground + crank < coupler + rocker - 0.1:
            break
    heading, (x, y) = rng.uniform(0.0, TURN), rng.uniform(-3.0, 3.0, 2)
    far = (x + ground * math.cos(heading), y + ground * math.sin(heading))
    point = coupler * rng.uniform((-0.5, -1.0), (1.5, 1.0))
    return lw.synthesis.FourBar(np.array([x, y, *far, crank, coupler, rocker, *point]), int(rng.choice([-1, 1])))


def size_of(points: FloatArray) -> float:
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))


def test_derivatives_are_those_of_differences() -> None:
    rng = np.random.default_rng(0)
    rows = np.array([known(rng).numbers for _ in range(20)])
    side, angles, h = rng.choice([-1.0, 1.0], 20), rng.uniform(0.0, TURN, (20, 5)), 1e-6
    moved, turned = derivatives(rows, place(rows, side, angles))
    for k, column in enumerate(np.eye(9)):
        change = place(rows + h * column, side, angles).point - place(rows - h * column, side, angles).point
        assert abs(change / (2.0 * h) - moved[..., k]).max() < 1e-6
    change = place(rows, side, angles + h).point - place(rows, side, angles - h).point
    assert abs(change / (2.0 * h) - turned).max() < 1e-6


def test_the_linkage_is_closed_and_its_point_is_on_the_path() -> None:
    bars = known(np.random.default_rng(3))
    linkage = bars.linkage(0.8)
    clip = lw.drive(linkage, "crank", np.linspace(0.8, 0.8 + TURN, 49), start="start")
    traced = linkage.forward(clip.poses, frame="point")[:, :2, 3]
    assert abs(traced - bars.path(np.linspace(0.8, 0.8 + TURN, 49))).max() < 1e-9


def test_known_four_bars_are_found_again_from_their_curves() -> None:
    rng = np.random.default_rng(1)
    for _ in range(6):
        points = known(rng).path(np.linspace(0.0, TURN, 40, endpoint=False))
        best = lw.synthesis.path(points)[0]
        assert best.error < 1e-5 * size_of(points)
        assert not best.defects


def test_six_points_on_a_line_are_met_exactly() -> None:
    """Another benchmark problem of those papers."""
    designs = lw.synthesis.path([(20, y) for y in range(20, 50, 5)])
    assert len(designs) == 5
    for design in designs:
        reached = design.linkage.forward(design.linkage.stored_pose("start"), frame="point")[:2, 3]
        assert abs(reached - (20, 20)).max() < 1e-9
        assert design.worst < 1e-6
        assert not design.defects


def test_five_points_on_a_line() -> None:
    """Problem 7 of Morgan and Wampler, Solving a planar four-bar design problem using continuation, 1990."""
    best = lw.synthesis.path([(-0.83, -0.27), (-0.34, 0.22), (-0.13, 0.43), (0.22, 0.78), (0.50, 1.06)])[0]
    assert best.worst < 1e-6
    assert not best.defects


def test_nine_points() -> None:
    """Alt's problem with the points of HomotopyContinuation.jl's example: nine are the most that can be met exactly."""
    nine = [
        (0.8961867, -0.09802917), (1.2156535, -1.187491), (1.5151435, -0.85449808), (1.6754775, -0.48768058),
        (1.713869, -0.30099232), (1.7215236, 0.03269953), (1.6642029, 0.33241088), (1.4984171, 0.74435576),
        (1.3011834, 0.92153806),
    ]  # fmt: skip
    best = lw.synthesis.path(nine, starts=300)[0]
    assert best.worst < 1e-4
    assert not best.defects


def test_eighteen_points_with_timing() -> None:
    """There are many local minima. The best has Roberts-Chebyshev cognates, which trace the same curve in time."""
    best, other = lw.synthesis.path(EIGHTEEN, timing=np.arange(18) * math.radians(20.0), designs=2)
    assert (best.errors**2).sum() == pytest.approx(0.0090289, abs=1e-6)
    assert (other.errors**2).sum() == pytest.approx(0.0090289, abs=1e-6)
    assert best.kind == other.kind == "crank-rocker"
    steps = np.diff(np.unwrap(best.angles))
    assert abs(abs(steps) - math.radians(20.0)).max() < 1e-9


def test_size_and_place_do_not_matter() -> None:
    points = known(np.random.default_rng(5)).path(np.linspace(0.0, TURN, 24, endpoint=False))
    for scale in (1e-4, 1e4):
        best = lw.synthesis.path(scale * (points + 7.0))[0]
        assert best.error < 1e-5 * scale * size_of(points)


def test_texts_are_no_numbers() -> None:
    for call, what in (
        (lambda: lw.synthesis.path([("a", 1), (2, 3), (4, 5)]), "points of a path"),
        (lambda: lw.synthesis.path([(0, 1), (2, 3), (4, 6)], timing="abc"), "the timing"),
        (lambda: lw.synthesis.motion([(0, 0, "x"), (1, 1, 1), (2, 1, 1)]), "positions of a body"),
        (lambda: lw.synthesis.dyads([(0, 0, 0), (1, 1, 1), (2, 1, 1)], pivots=[("a", 0)]), "pivots"),
        (lambda: lw.synthesis.function(["a", 1, 2], [1, 2, 3]), "inputs"),
        (lambda: lw.synthesis.function([1, 2, 3], [1, 2, None]), "outputs"),
    ):
        with pytest.raises(GoalError, match=rf"^{what} must be numbers: "):
            call()
    with pytest.raises(GoalError, match=r"^pivots are finite numbers"):
        lw.synthesis.dyads([(0, 0, 0), (1, 1, 1), (2, 1, 1)], pivots=[(np.nan, 0)])


def test_what_is_no_path_is_refused() -> None:
    with pytest.raises(GoalError, match="at least 3 points"):
        lw.synthesis.path([(0, 0), (1, 1)])
    with pytest.raises(GoalError, match="in one place"):
        lw.synthesis.path([(1, 1)] * 5)
    with pytest.raises(GoalError, match="finite"):
        lw.synthesis.path([(1, 1), (2, math.nan), (3, 3)])
    with pytest.raises(GoalError, match="one finite angle for each of 3"):
        lw.synthesis.path([(0, 0), (1, 1), (2, 1)], timing=[0.0, 1.0])
    for name in ("designs", "starts"):
        for value in ("1", 1.5, -1, math.inf):
            options: Any = {name: value}
            with pytest.raises(OptionError, match=f"{name} must be a whole number, zero or more, got"):
                lw.synthesis.path([(0, 0), (1, 1), (2, 1)], **options)


# Motion generation

THREE = [(0.0, 0.0, 0.0), (1.0, 0.5, 0.4), (2.0, 0.6, 1.0)]
FOUR = [(0.0, 0.0, 0.0), (1.0, 0.2, 0.3), (2.0, 1.0, 0.8), (2.4, 2.0, 1.5)]


def turned(angle: float) -> FloatArray:
    return np.array([(math.cos(angle), -math.sin(angle)), (math.sin(angle), math.cos(angle))])


@pytest.mark.parametrize("positions", [THREE, FOUR])
def test_pins_of_dyads_stay_on_circles(positions: list[tuple[float, float, float]]) -> None:
    found = lw.synthesis.dyads(positions)
    assert len(found) > 100
    x, y, start = positions[0]
    for x_now, y_now, angle in positions:
        pins = (found.pins - (x, y)) @ turned(angle - start).T + (x_now, y_now)
        away = np.hypot(*(pins - found.pivots).T)
        assert (abs(away - found.lengths) < 1e-9 * (1.0 + found.lengths)).all()


@pytest.mark.parametrize(("positions", "kind"), [(THREE, None), (THREE, "crank-rocker"), (FOUR, None)])
def test_the_linkage_is_driven_through_all_positions(
    positions: list[tuple[float, float, float]], kind: str | None
) -> None:
    for design in lw.synthesis.motion(positions, kind=kind):
        assert kind in (None, design.kind)
        assert not design.defects
        assert design.worst < 1e-9
        bars = design.linkage
        clip = lw.drive(bars, "crank", design.angles, start="start")
        body = bars.forward(clip.poses, frame="point")
        for placement, (x, y, angle) in zip(body, positions, strict=True):
            assert abs(placement[:2, 3] - (x, y)).max() < 1e-9
            assert abs(placement[:2, :2] - turned(angle)).max() < 1e-9


def test_a_known_four_bar_lies_on_the_curves_of_its_own_positions() -> None:
    """Burmester curves of four positions of a four-bar pass through its pivots and pins."""
    bars = known(np.random.default_rng(2))
    linkage = bars.linkage(0.4)
    clip = lw.drive(linkage, "crank", [0.4, 0.9, 1.5, 2.2], start="start")
    body = linkage.forward(clip.poses, frame="point")
    positions = np.column_stack([body[:, :2, 3], np.arctan2(body[:, 1, 0], body[:, 0, 0])])
    found = lw.synthesis.dyads(positions)
    for pivot in (bars.numbers[:2], bars.numbers[2:4]):
        away = np.hypot(*(found.pivots - pivot).T).min()
        assert away < 0.1 * bars.ground  # the curve is sampled


def test_pivots_can_be_chosen_for_three_positions() -> None:
    (design,) = lw.synthesis.motion(THREE, pivots=[(0.0, -1.5), (1.5, -1.6)])
    assert design.worst < 1e-9
    assert abs(design.four_bar.numbers[:4] - (0.0, -1.5, 1.5, -1.6)).max() < 1e-12


def test_defects_are_said() -> None:
    """A four-bar whose coupler changes branch between positions cannot pass them without disassembly."""
    rng = np.random.default_rng(0)
    said = set()
    for _ in range(40):
        pivots = rng.uniform(-3.0, 3.0, (2, 2))
        (design,) = lw.synthesis.motion(THREE, pivots=pivots)
        said |= {defect.split(":")[0] for defect in design.defects}
        if not any(defect.startswith("branch") for defect in design.defects):
            assert design.worst < 1e-6
    assert said >= {"branch", "order"}


def test_what_is_no_motion_is_refused() -> None:
    with pytest.raises(GoalError, match="three or four positions"):
        lw.synthesis.motion([(0, 0, 0), (1, 1, 1)])
    with pytest.raises(GoalError, match="no four-bar is a 'crank'; there are: double-crank, crank-rocker"):
        lw.synthesis.motion(THREE, kind="crank")
    with pytest.raises(GoalError, match="pivots can be chosen for three"):
        lw.synthesis.motion(FOUR, pivots=[(0, 0), (1, 0)])
    for number in (math.nan, math.inf):
        for column in range(3):
            broken = np.array(THREE, dtype=float)
            broken[1, column] = number
            with pytest.raises(GoalError, match="positions of a body are finite numbers"):
                lw.synthesis.motion(broken)
            with pytest.raises(GoalError, match="positions of a body are finite numbers"):
                lw.synthesis.dyads(broken)
    with pytest.raises(OptionError, match="designs must be a whole number"):
        lw.synthesis.motion(THREE, designs=1.5)  # type: ignore[arg-type]


# Function generation


def rocker_angles(design: lw.synthesis.Design, angles: FloatArray) -> FloatArray:
    """Return the rocker's angles from driving the linkage."""
    clip = lw.drive(design.linkage, "crank", angles, start="start")
    return np.asarray(clip.poses[:, design.linkage.joints.index("rocker")])


def test_three_pairs_of_angles_are_met_exactly() -> None:
    given, wanted = np.radians([45.0, 90.0, 135.0]), np.radians([60.0, 80.0, 100.0])
    best = lw.synthesis.function(given, wanted)[0]
    assert best.worst < 1e-12
    assert not best.defects
    off = rocker_angles(best, best.angles) - wanted
    assert abs(np.sin(off)).max() < 1e-9  # angles of opposite bars differ by half a turn


def test_lengths_of_a_known_four_bar_come_from_its_angles() -> None:
    bars = lw.synthesis.FourBar(np.array([0.0, 0.0, 1.0, 0.0, 0.3, 0.9, 0.7, 0.4, 0.2]))
    angles = np.linspace(0.3, 2.5, 12)
    linkage = bars.linkage(0.3)
    clip = lw.drive(linkage, "crank", angles, start="start")
    rocker = clip.poses[:, linkage.joints.index("rocker")]
    best = lw.synthesis.function(angles, rocker, ground=2.0)[0]
    assert best.four_bar.lengths == pytest.approx((2.0, 0.6, 1.8, 1.4), abs=1e-9)
    assert best.four_bar.side == 1
    turned_marks = lw.synthesis.function(angles - 0.2, rocker + 0.3, dials=True)[0]
    assert turned_marks.worst < 1e-9


def test_a_logarithm_between_one_and_two() -> None:
    """Crank and rocker turn by 60 degrees each, from free initial angles."""
    x = np.linspace(1.0, 2.0, 31)

    def pairs(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.radians(60.0 * (x - 1.0)), np.radians(60.0 * np.log10(x) / math.log10(2.0))

    best = lw.synthesis.function(*pairs(x), dials=True)[0]
    assert best.worst < math.radians(0.02)
    few = lw.synthesis.function(*pairs(lw.synthesis.spaced(1.0, 2.0, 5)), dials=True)[0]
    assert few.worst < math.radians(0.05)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(GoalError, match="at least 3 angles"):
        lw.synthesis.function([0.1, 0.2], [0.1, 0.2])
    with pytest.raises(GoalError, match="finite"):
        lw.synthesis.function([0.1, 0.2, math.nan], [0.1, 0.2, 0.3])
    with pytest.raises(OptionError, match="designs must be a whole number"):
        lw.synthesis.function([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], designs="1")  # type: ignore[arg-type]


@pytest.mark.parametrize("ground", [math.inf, math.nan, 0.0, -1.0, "1", True, None, [1.0, 2.0]])
def test_a_ground_that_is_no_length_is_refused(ground: Any) -> None:
    with pytest.raises(GoalError, match="a ground is a positive, finite length, got"):
        lw.synthesis.function([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], ground=ground)
    with pytest.raises(GoalError, match="a ground is a positive, finite length, got"):
        lw.synthesis.crank_rocker("80deg", 1.1, ground=ground)


def test_freudenstein_as_published() -> None:
    """Three pairs of angles with published lengths: 20.39, 50.41 and 1.285 on a ground of 30."""
    best = lw.synthesis.function(np.radians([0.0, 15.0, 25.0]), np.radians([90.0, 115.0, 165.0]), ground=30.0)[0]
    published = (30.0, 20.389560109446062, 50.405943777081156, 1.285068105116907)
    assert best.four_bar.lengths == pytest.approx(published, rel=1e-9)


# Swing, stroke and time ratio


def test_crank_rockers_as_published() -> None:
    """A rocker with a swing of 80 degrees and a time ratio of 10 to 9, from the examples of crocker.js."""
    (best,) = lw.synthesis.crank_rocker("80deg", 10 / 9, ground=120.0)
    assert [round(length, 1) for length in best.four_bar.lengths] == [120.0, 46.7, 116.2, 73.9]  # crocker.js prints 116
    assert math.degrees(best.transmission) == pytest.approx(37.7, abs=0.05)
    first, second = lw.synthesis.crank_rocker("80deg", 10 / 9, ground=120.0, crank=60.0)
    assert [round(length) for length in first.four_bar.lengths] == [120, 60, 103, 94]
    assert round(math.degrees(first.transmission)) == 35
    assert second.transmission < first.transmission


@pytest.mark.parametrize(("swing", "ratio"), [(30.0, 1.0), (80.0, 10 / 9), (45.0, 1.25), (60.0, 1.5)])
def test_rockers_swing_as_asked_when_they_are_driven(swing: float, ratio: float) -> None:
    (design,) = lw.synthesis.crank_rocker(math.radians(swing), ratio)
    bars = design.linkage
    ends = lw.singular_positions(bars, "rocker", start="start")
    assert math.degrees(ends[1].value - ends[0].value) == pytest.approx(swing, abs=1e-6)
    turned = (ends[1].q[0] - ends[0].q[0]) % TURN
    assert max(turned / (TURN - turned), (TURN - turned) / turned) == pytest.approx(ratio, abs=1e-6)
    nearby = [
        lw.synthesis.crank_rocker(math.radians(swing), ratio, crank=c * design.four_bar.lengths[1])
        for c in (0.99, 1.01)
    ]
    assert design.transmission > max(found[0].transmission for found in nearby) or ratio == 1.0


@pytest.mark.parametrize("ratio", [1.0, 1.1, 1.2, 1.6])
@pytest.mark.parametrize("given", [None, 0.16])
def test_sliders_go_as_far_and_as_long_as_asked(ratio: float, given: float | None) -> None:
    if ratio == 1.6 and given:
        with pytest.raises(GoalError, match=r"a time ratio of 1\.6 and a rod of 0\.16 m turns all the way round"):
            lw.synthesis.slider_crank(0.1, ratio, rod=given)
        return
    design = lw.synthesis.slider_crank(0.1, ratio, rod=given)
    assert given in (None, pytest.approx(design.rod))
    slider = design.linkage
    near, far = lw.singular_positions(slider, "slide", start="start")
    assert far.value - near.value == pytest.approx(0.1, abs=1e-9)
    turned = (near.q[0] - far.q[0]) % TURN
    assert turned / (TURN - turned) == pytest.approx(ratio, abs=1e-6)
    clip = lw.drive(slider, "crank", np.linspace(0.0, TURN, 181), start="start")
    least = lw.transmission_angle(slider, clip.poses, "crank", "slide").min()
    assert least == pytest.approx(design.transmission, abs=1e-3)
    if given is None and ratio > 1.0:
        for rod in (0.95 * design.rod, 1.05 * design.rod):
            assert lw.synthesis.slider_crank(0.1, ratio, rod=rod).transmission < design.transmission


def test_the_lever_of_a_shaper_returns_quickly() -> None:
    design = lw.synthesis.quick_return(0.3, 2.0)
    shaper = design.linkage
    ends = lw.singular_positions(shaper, "lever", start="start")
    tips = [shaper.forward(one.q, frame="tip")[:2, 3] for one in ends]
    assert np.linalg.norm(tips[1] - tips[0]) == pytest.approx(0.3, abs=1e-7)
    turned = (ends[1].q[0] - ends[0].q[0]) % TURN
    assert turned / (TURN - turned) == pytest.approx(2.0, abs=1e-6)


def test_what_cannot_return_is_refused() -> None:
    with pytest.raises(GoalError, match=r"a time ratio .* must be from 1 to less than 3, got 0\.5"):
        lw.synthesis.slider_crank(0.1, 0.5)
    with pytest.raises(GoalError, match="a stroke is a positive, finite length"):
        lw.synthesis.slider_crank(-0.1)
    with pytest.raises(GoalError, match="below half a turn"):
        lw.synthesis.crank_rocker("200deg")
    with pytest.raises(GoalError, match="no crank-rocker swings by 80 degrees with a time ratio of"):
        lw.synthesis.crank_rocker("80deg", 1.1, crank=0.9)
    with pytest.raises(GoalError, match=r"would leave its lever, which is 0\.3 m long; the ground may be 0\.2 m"):
        lw.synthesis.quick_return(0.3, 2.0, ground=0.4)
    with pytest.raises(GoalError, match="does not swing"):
        lw.synthesis.quick_return(0.1, 1.0)
