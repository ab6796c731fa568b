"""Rates of mechanisms are exact: compared with closed forms and differences; singular poses are reported."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import JointNotFoundError, LoopError, OptionError
from mechanisms_in_space import by_frames

TURN = np.linspace(0.0, 2.0 * np.pi, 61)


def rod_between_balls() -> lw.Linkage:
    """Return crank, rod and rocker on intersecting axes; the rod is on a ball joint and may spin."""
    b = lw.Builder("rssr", base="ground")
    b.continuous("crank", "crank", axis="z")
    b.ball("ball", "rod", at=(0.1, 0, 0)).frame("rod_end", at=(0.5, 0, 0))
    b.continuous("rocker", "rocker", parent="ground", axis="x", at=(0.4, 0.2, 0.0)).frame("pin", at=(0, 0, 0.3))
    return b.loop("rod", "rod_end", "pin").build()


MECHANISMS = {
    "four_bar": (lw.models.four_bar, "crank"),
    "jansen_leg": (lw.models.jansen_leg, "crank"),
    "engine": (lambda: lw.models.engine(3), "crank"),
    "bennett, axes": (lw.models.bennett, "crank"),
    "bennett, frames": (lambda: by_frames(lw.models.bennett()), "crank"),
    "rssr": (rod_between_balls, "crank"),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_rates_are_the_derivatives_of_closed_poses(name: str) -> None:
    """The driver accelerates, ``2 t + 3 t²``; differences of five closed poses have nearly the same derivatives."""
    build, joint = MECHANISMS[name]
    linkage = build()
    times = 0.5 + 1e-3 * np.arange(-2, 3)
    clip = lw.drive(linkage, joint, 2.0 * times + 3.0 * times**2, fps=1000.0)
    rates = lw.loop_rates(linkage, clip.poses[2], {joint: 5.0}, accelerations={joint: 6.0})
    known = rates.determined
    assert_allclose(rates.velocities[known], clip.velocities[2][known], rtol=1e-7, atol=1e-8)
    if known.all():
        assert_allclose(rates.accelerations, clip.accelerations[2], rtol=1e-5, atol=1e-5)
    for frame in (loop.first for loop in linkage.loops):
        step, frames = 1e-3, clip.forward(frame=frame)[:, :3, 3]
        speed = (frames[0] - 8.0 * frames[1] + 8.0 * frames[3] - frames[4]) / (12.0 * step)
        change = (-frames[0] + 16.0 * frames[1] - 30.0 * frames[2] + 16.0 * frames[3] - frames[4]) / (12.0 * step**2)
        assert_allclose(rates.velocity(frame)[:3], speed, rtol=1e-7, atol=1e-8)
        assert_allclose(rates.acceleration(frame)[:3], change, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_two_frames_of_a_loop_move_alike(name: str) -> None:
    build, joint = MECHANISMS[name]
    linkage = build()
    clip = lw.drive(linkage, joint, np.linspace(0.3, 1.5, 4))
    rates = lw.drive_rates(clip, joint, speed=3.0, acceleration=-2.0)
    for loop in linkage.loops:
        for rate in (rates.velocity, rates.acceleration):
            assert_allclose(rate(loop.first)[..., :3], rate(loop.second)[..., :3], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_a_four_bar_has_the_rates_of_the_book(size: float) -> None:
    """Freudenstein: ``w3 = a w sin(t4 - t2) / (b sin(t3 - t4))`` and ``w4 = a w sin(t2 - t3) / (c sin(t4 - t3))``."""
    a, b, c = 0.15 * size, 0.35 * size, 0.3 * size
    clip = lw.drive(lw.models.four_bar(0.4 * size, a, b, c), "crank", TURN, start="start")
    t2, t4 = clip.poses[:, 0], clip.poses[:, 2]
    t3 = t2 + clip.poses[:, 1]
    rates = lw.drive_rates(clip, "crank", speed=7.0)
    w3, w4 = 7.0 * a * np.sin(t4 - t2) / (b * np.sin(t3 - t4)), 7.0 * a * np.sin(t2 - t3) / (c * np.sin(t4 - t3))
    assert_allclose(rates.velocities, np.stack([np.full(len(t2), 7.0), w3 - 7.0, w4], axis=-1), rtol=1e-9, atol=1e-9)
    # The second derivative of the loop, a e(t2) + b e(t3) = g + c e(t4), solved for the unknowns.
    left = -a * 49.0 * np.exp(1j * t2) - b * w3**2 * np.exp(1j * t3) + c * w4**2 * np.exp(1j * t4)
    further = (left * np.exp(-1j * t3)).real / (c * np.sin(t3 - t4))
    assert_allclose(rates.of("rocker")[1], further, rtol=1e-8, atol=1e-8)


def test_a_piston_has_the_rates_of_the_book() -> None:
    motor, r, rod, w, push = lw.models.engine(), 0.045, 0.15, 100.0, 40.0
    angles = TURN[1:-1] + 0.01
    poses = np.array([lw.models.engine_pose(motor, t) for t in angles])
    speed, further = lw.loop_rates(motor, poses, {"crank": w}, accelerations={"crank": push}).of("piston")
    s, c, root = np.sin(angles), np.cos(angles), np.sqrt(rod**2 - (r * np.sin(angles)) ** 2)
    first = -r * s - r**2 * s * c / root
    second = -r * c - r**2 * (c**2 - s**2) / root - r**4 * s**2 * c**2 / root**3
    assert_allclose(speed, w * first, rtol=1e-9, atol=1e-9)
    assert_allclose(further, push * first + w**2 * second, rtol=1e-9, atol=1e-8)


def test_a_clip_has_the_speed_it_plays_at_or_another() -> None:
    clip = lw.drive(lw.models.four_bar(), "crank", np.linspace(0, 1, 25), start="start", fps=48.0)
    own, given = lw.drive_rates(clip, "crank"), lw.drive_rates(clip, "crank", speed=2.0)
    assert_allclose(own.velocities, given.velocities, rtol=1e-9)
    assert_allclose(own.accelerations, given.accelerations, rtol=1e-6, atol=1e-7)
    assert repr(own) == "<Rates of 'four_bar' in 25 poses>"


def test_two_drivers_move_what_has_two_degrees_of_freedom() -> None:
    board = lw.models.pantograph(2.5)
    names = [row.name for row in board.table][:2]
    rates = lw.loop_rates(board, "ready", dict.fromkeys(names, 1.0))
    assert rates.determined.all()
    assert_allclose(rates.velocity("pen")[:3], 2.5 * rates.velocity("tracer")[:3], atol=1e-12)
    assert not lw.loop_rates(board, "ready", names[0]).determined.all()


def test_a_rod_that_spins_is_told() -> None:
    linkage = rod_between_balls()
    rates = lw.loop_rates(linkage, lw.close(linkage, None), "crank")
    assert rates.determined.tolist() == [True, *rates.determined[1:4], True]
    assert not rates.determined[1:4].all()


def test_what_cannot_follow_is_said() -> None:
    bars = lw.models.four_bar()
    dead = lw.singular_positions(bars, "rocker", start="start")[0]
    with pytest.raises(LoopError, match=r"cannot follow rocker here: it is at a dead centre"):
        lw.loop_rates(bars, dead.q, "rocker")
    with pytest.raises(LoopError, match=r"cannot follow crank, rocker here"):
        lw.loop_rates(bars, "start", {"crank": 1.0, "rocker": 1.0})
    with pytest.raises(LoopError, match=r"are open by 0\.\d+ here; lw\.close closes them"):
        lw.loop_rates(bars, [0.1, 0.2, 0.3], "crank")
    with pytest.raises(JointNotFoundError, match="crnk"):
        lw.loop_rates(bars, "start", "crnk")
    with pytest.raises(OptionError, match="rocker has an acceleration and no speed"):
        lw.loop_rates(bars, "start", {"crank": 1.0}, accelerations={"rocker": 1.0})
    with pytest.raises(OptionError, match="at least one driving joint"):
        lw.loop_rates(bars, "start", {})


def test_where_branches_meet_nothing_is_made_up(caplog: pytest.LogCaptureFixture) -> None:
    """A flat parallelogram may continue as one or cross; its rates are undetermined there, and only there."""
    bars = lw.models.four_bar(0.4, 0.2, 0.4, 0.2)
    begin = float(bars.stored_pose("start")[0])
    clip = lw.drive(bars, "crank", [*np.linspace(begin, np.pi, 20), 3.3], start="start")
    rates = lw.drive_rates(clip, "crank", speed=1.0)
    assert_allclose(np.delete(rates.velocities, 19, axis=0), [[1.0, -1.0, 1.0]] * 20, atol=1e-9)
    assert np.isnan(rates.velocities[19]).all()
    assert np.isnan(rates.acceleration("point")[19]).all()
    assert not rates.determined[19].any()
    (remark,) = rates.remarks
    assert (
        "cannot follow crank in 1 of 21 poses, the first is 19: it is at a dead centre, where branches meet" in remark
    )
    assert remark in caplog.text
    assert repr(rates) == "<Rates of 'four_bar' in 21 poses, 1 of them without>"
    with pytest.raises(LoopError, match=r"cannot follow crank here: .* where branches meet"):
        lw.loop_rates(bars, clip.poses[19], "crank")
    with pytest.raises(LoopError, match="in all of 21 poses"):
        lw.loop_rates(bars, clip.poses, {"crank": 1.0, "rocker": 2.0})
