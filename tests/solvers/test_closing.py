"""Mechanisms are assembled from any pose, at any size, and driven without changing their circuit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from circuits import OFF, off_circuit
from linkwork.errors import LoopError, OptionError
from linkwork.goals import closings
from linkwork.models.closed import direction, meeting, unit
from mechanisms_in_space import ring

SIZES = (1e-4, 1.0, 250.0, 1e5)


def gap(linkage: lw.Linkage, q: np.ndarray) -> float:
    return max(float(np.abs(goal.error(linkage, q)).max()) for goal in closings(linkage))


def slider_crank(crank: float, rod: float) -> lw.Linkage:
    b = lw.Builder("slider_crank", base="block")
    b.continuous("crank", "crank")
    b.continuous("rod", "rod", at=(crank, 0, 0)).frame("rod_end", at=(rod, 0, 0))
    b.prismatic("slide", "slider", axis="x", parent="block").frame("pin")
    return b.loop("guide", "rod_end", "pin").build()


# Assembly


def test_both_ways_of_a_four_bar_are_found() -> None:
    bars = lw.models.four_bar(0.4, 0.15, 0.35, 0.3)
    ways = lw.assemble(bars, start=bars.pose(crank=0.7), keep="crank")
    assert len(ways) == 2
    assert ways.complete
    assert ways.held == ("crank",)
    pin, pivot = 0.15 * unit(0.7), np.array([0.4, 0.0])
    known = [direction(meeting(pin, pivot, 0.35, 0.3, side) - pivot) for side in (1.0, -1.0)]
    assert_allclose(sorted(ways.poses[:, 2]), sorted(known), atol=1e-12)
    assert (ways.poses[:, 0] == 0.7).all()


@pytest.mark.parametrize("name", ["four_bar", "pantograph", "jansen_leg", "engine:4"])
def test_mechanisms_close_without_a_start(name: str) -> None:
    linkage = lw.models.build(name)
    assert gap(linkage, lw.close(linkage, None)) < 1e-10


def test_a_tall_scissor_closes_from_anywhere() -> None:
    linkage, rng = lw.models.scissor(10, 1.0), np.random.default_rng(0)
    for seed in range(10):
        pose = linkage.random_pose(rng)
        found = lw.assemble(linkage, start=pose, keep="slide", most=1, seed=seed)[0]
        assert gap(linkage, found) < 1e-10
        assert found[linkage.coordinates.index("slide")] == pose[linkage.coordinates.index("slide")]


def test_more_ways_than_asked_for_are_not_called_all() -> None:
    ways = lw.assemble(lw.models.scissor(6, 1.0), keep="slide", most=5)
    assert len(ways) == 5
    assert not ways.complete
    assert repr(ways) == "<5 assemblies or more of 'scissor' with slide held>"


def test_what_cannot_be_put_together_says_so() -> None:
    linkage = slider_crank(2.0, 0.5)
    with pytest.raises(LoopError, match=r"no pose of linkage 'slider_crank' .* stay .* m apart") as caught:
        lw.assemble(linkage, start=linkage.pose(crank=1.5), keep="crank")
    assert_allclose(caught.value.gap, 2.0 * np.sin(1.5) - 0.5, rtol=1e-3)
    with pytest.raises(OptionError, match="most"):
        lw.assemble(slider_crank(1.0, 3.0), most=0)


# Size


@pytest.mark.parametrize("size", SIZES)
def test_size_does_not_matter(size: float) -> None:
    linkage = slider_crank(size, 3.0 * size)
    found = lw.close(linkage, linkage.pose(crank=0.5, slide=3.4 * size), keep="crank")
    assert_allclose(found[2], size * (np.cos(0.5) + np.sqrt(9.0 - np.sin(0.5) ** 2)), rtol=1e-12)
    dead = lw.singular_positions(linkage, "slide", start=found)
    assert_allclose([one.value for one in dead], [2.0 * size, 4.0 * size], rtol=1e-9)
    assert [one.kind for one in dead] == ["dead-centre"] * 2
    assert len(lw.assemble(linkage, start=linkage.pose(crank=0.5), keep="crank")) == 2
    clip = lw.drive(linkage, "crank", np.linspace(0.5, 0.5 + 2 * np.pi, 13), start=found)
    known = size * (np.cos(clip.poses[:, 0]) + np.sqrt(9.0 - np.sin(clip.poses[:, 0]) ** 2))
    assert_allclose(clip.poses[:, 2], known, rtol=1e-10)


def test_a_large_mechanism_closes_from_far_off() -> None:
    linkage = slider_crank(500.0, 1500.0)
    found = lw.close(linkage, linkage.pose(crank=0.4, slide=2100.0), keep="crank")
    assert_allclose(found[2], 500.0 * np.cos(0.4) + np.sqrt(1500.0**2 - (500.0 * np.sin(0.4)) ** 2), rtol=1e-12)


# Mobility


def test_mechanisms_that_hold_themselves_too_often_move() -> None:
    twist = 0.8
    bennett = lw.models.bennett(1.0, 0.6, twist)
    bricard = ring("bricard", 1.0, [(1.0, np.pi / 2), (1.0, -np.pi / 2)] * 3).build()
    six = ring("six", 1.0, [(1.0, 0.3), (0.7, 0.5), (0.9, -0.4), (1.1, 0.2), (0.8, 0.6), (1.0, -0.7)]).build()
    assert lw.mobility(bennett) == lw.Mobility(1, -2)
    assert str(lw.mobility(bennett)) == "1 degree of freedom, overconstrained by 3 (Gruebler-Kutzbach counts -2)"
    assert lw.mobility(bricard) == lw.Mobility(1, 0)
    assert lw.mobility(six).degrees == 0
    assert lw.mobility(lw.models.scissor(4)) == lw.Mobility(1, 1)
    assert lw.mobility(lw.models.panda()) == lw.Mobility(7, 7)


# Driving


@pytest.mark.parametrize(("frames", "count"), [(12, 40), (13, 20), (73, 5)])
def test_a_circuit_is_kept_however_it_is_sampled(frames: int, count: int) -> None:
    """``python tests/circuits.py`` checks a thousand four-bars in 12 to 720 frames."""
    for seed in range(count):
        assert off_circuit(np.random.default_rng(seed), frames) < OFF


def test_where_branches_meet_it_goes_straight_on() -> None:
    bars = lw.models.four_bar(0.4, 0.2, 0.4, 0.2)
    for frames in (5, 24, 73):
        clip = lw.drive(bars, "crank", np.linspace(0.5, 0.5 + 2.0 * np.pi, frames), start="start")
        assert_allclose(clip.poses[:, 2], clip.poses[:, 0], atol=1e-6)


def test_a_dead_centre_itself_can_be_asked_for() -> None:
    bars = lw.models.four_bar(0.4, 0.3, 0.3, 0.25)
    end = np.arccos((0.3**2 + 0.4**2 - 0.55**2) / (2 * 0.3 * 0.4))
    clip = lw.drive(bars, "crank", np.linspace(1.0, end, 7), start="start")
    assert clip.residuals.max() < 1e-10
    with pytest.raises(LoopError, match=r"cannot be closed beyond crank = 1\.791"):
        lw.drive(bars, "crank", np.linspace(1.0, end + 1e-6, 7), start="start")


# Singular positions


def spatial_crank() -> lw.Linkage:
    """Return a crank and a rocker with a rod between ball joints, which may spin about itself."""
    b = lw.Builder("rssr", base="ground")
    b.continuous("crank", "crank", axis="z")
    b.ball("first", "rod", at=(0.3, 0, 0)).frame("rod_end", at=(1.0, 0, 0))
    b.continuous("rocker", "rocker", parent="ground", axis="x", at=(0.6, 0.5, 0.1)).frame("pin", at=(0, 0, 0.7))
    return b.loop("ball", "rod_end", "pin").build()


def test_a_rod_that_spins_does_not_matter(caplog: pytest.LogCaptureFixture) -> None:
    linkage = spatial_crank()
    lw.drive(linkage, "crank", np.linspace(0.0, 2.0 * np.pi, 25))
    assert not caplog.records  # it is back at the start
    assert lw.degrees_of_freedom(linkage) == 2
    found = lw.singular_positions(linkage, "rocker")
    assert found.complete
    assert len(found) == 2
    for one in found:  # crank pin, crank axis and rod are in one plane: the rod pushes at the axis
        frames = linkage.forward(one.q)
        pin, end = frames["rod"][:3, 3], frames["rod_end"][:3, 3]
        assert abs(np.cross(pin, end - pin)[2]) < 1e-7


def test_curves_end_at_limits_and_say_when_they_are_not_followed_to_the_end() -> None:
    bars = lw.models.four_bar(0.4, 0.3, 0.3, 0.25)
    assert len(lw.singular_positions(bars, "crank", start="start")) == 2
    revolute = lw.Revolute("z", lower=-1.0, upper=1.85)
    held = bars.replace(joints={"crank": {"articulation": revolute}})
    assert [one.value > 0.0 for one in lw.singular_positions(held, "crank", start="start")] == [True]
    cut = lw.singular_positions(bars, "crank", start="start", most=3)
    assert not cut.complete
    assert cut.reason == "3 steps are too few to follow the curve completely"
    assert repr(cut).endswith("(not complete: 3 steps are too few to follow the curve completely)")


def test_several_driving_joints_leave_a_curve_for_each_value_of_the_others() -> None:
    b = lw.Builder("five_bar", base="ground")
    for side, x in (("left", 0.0), ("right", 0.9)):
        b.continuous(f"{side}_crank", f"{side}_crank", parent="ground", at=(x, 0, 0))
        b.continuous(f"{side}_elbow", f"{side}_bar", at=(0.3, 0, 0)).frame(f"{side}_end", at=(0.5, 0, 0))
    linkage = b.loop("pin", "left_end", "right_end").build()
    shares: list[float] = []
    found = lw.singular_positions(linkage, ("left_crank", "right_crank"), samples=6, progress=shares.append)
    assert len(found) >= 6
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    for one in found:  # the two middle bars are in line
        frames = linkage.forward(one.q)
        left, right = (frames[f"{side}_end"][:3, 3] - frames[f"{side}_bar"][:3, 3] for side in ("left", "right"))
        assert abs(np.cross(left, right)[2]) < 1e-7
    with pytest.raises(lw.LinkworkError, match="2 degrees of freedom"):
        lw.singular_positions(linkage, "left_crank")


def test_a_tall_scissor_is_looked_through() -> None:
    assert lw.singular_positions(lw.models.scissor(12, 1.0), "slide").complete


def test_a_structure_is_called_one() -> None:
    bars = lw.models.four_bar(0.4, 0.15, 0.35, 0.3)
    b = lw.Builder("braced", base="ground")
    b.continuous("crank", "crank").frame("mid", at=(0.07, 0, 0))
    b.continuous("coupler", "coupler", at=(0.15, 0, 0)).frame("coupler_end", at=(0.35, 0, 0))
    b.continuous("rocker", "rocker", parent="ground", at=(0.4, 0, 0)).frame("rocker_end", at=(0.3, 0, 0))
    start = bars.stored_pose("start")
    crank = bars.forward(start)["crank"] @ [0.07, 0, 0, 1]
    b.frame("nail", link="ground", at=crank[:3])
    linkage = b.loop("pin", "coupler_end", "rocker_end").loop("nailed", "mid", "nail").build()
    with pytest.raises(LoopError, match=r"is a structure, with no degree of freedom"):
        lw.drive(linkage, "crank", [start[0], start[0] + 0.1], start=start)
