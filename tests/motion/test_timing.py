"""The fastest timing of a path, compared with toppra, closed forms and the limits."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import JointNotFoundError, KeyFrameError, LimitError, LinkworkError
from linkwork.motion.splines import unwound


def wander(arm: lw.Linkage, seed: int, *, kind: str = "cubic", fps: float = 50.0) -> lw.Clip:
    """Return a motion through six random poses; without fps, only these poses."""
    keys = [(0.7 * k, arm.random_pose(seed + 100 * k)) for k in range(6)]
    if not fps:
        return lw.Clip(arm, [time for time, _ in keys], [pose for _, pose in keys])
    return lw.interpolate(arm, keys, fps=fps, kind=kind)


def random_limits(arm: lw.Linkage, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 2.0, arm.nv), rng.uniform(1.0, 6.0, arm.nv)


def shares_of_limits(clip: lw.Clip, velocity: np.ndarray, acceleration: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities and accelerations relative to their limits, from differences of uniform frames."""
    rates = clip.linkage.difference(clip.poses[:-1], clip.poses[1:]) * clip.fps
    return np.abs(rates) / velocity, np.abs(np.diff(rates, axis=0)) * clip.fps / acceleration


@pytest.mark.parametrize(("kind", "fps"), [("cubic", 50.0), ("catmull-rom", 30.0), ("ease", 40.0), ("few", 0.0)])
@pytest.mark.parametrize("model", ["ur5", "panda"])
def test_as_fast_as_toppra_on_the_same_spline(model: str, kind: str, fps: float) -> None:
    ta = pytest.importorskip("toppra")
    from toppra import algorithm, constraint

    logging.getLogger("toppra").setLevel(logging.ERROR)
    arm = lw.models.build(model)
    clip = wander(arm, 1, kind=kind, fps=fps)
    velocity, acceleration = random_limits(arm, 2)
    path = ta.SplineInterpolator(clip.times, unwound(arm, clip.poses))
    both = constraint.DiscretizationType.Interpolation
    limits = [
        constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=1)),
        constraint.JointAccelerationConstraint(np.stack([-acceleration, acceleration], axis=1), both),
    ]
    grid = np.union1d(np.linspace(*path.path_interval, 1500), clip.times)
    theirs = algorithm.TOPPRA(limits, path, gridpoints=grid, solver_wrapper="seidel").compute_trajectory(0, 0)
    assert clip.retime(velocity=velocity, acceleration=acceleration).duration == pytest.approx(
        theirs.duration, rel=5e-3
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("root", ["fixed", "floating"])
def test_limits_are_kept_everywhere_and_used_up(root: str, seed: int) -> None:
    """Ball joints by angular velocity, prismatic joints, followers, and a floating root."""
    b = lw.Builder("body", root=root).ball("hip", "thigh").revolute("knee", "shin", at=(0, 0, -0.4), axis="y")
    b.prismatic("stilt", "foot", axis="z", limits=(0, 0.5)).ball("ankle", "toe", euler="ZXY")
    body = b.revolute("claw", "nail", mimic=lw.Mimic("knee", -0.5)).build()
    clip, (velocity, acceleration) = wander(body, seed, fps=30.0), random_limits(body, seed)
    fine = clip.retime(velocity=velocity, acceleration=acceleration, fps=2000)
    quick, hard = shares_of_limits(fine, velocity, acceleration)
    assert max(quick.max(), hard.max()) < 1.001
    most = np.maximum(quick[1:].max(axis=1), hard.max(axis=1))
    assert np.quantile(most, 0.05) > 0.98  # at any time, some joint is at a limit
    assert_allclose(quick[[0, -1]], 0.0, atol=0.02)  # from rest to rest
    assert body.difference(fine.poses[[0, -1]], clip.poses[[0, -1]]) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("way", "speed", "push"), [(3.0, 1.0, 2.0), (0.3, 1.0, 2.0), (5.0, 0.7, math.inf)])
def test_one_joint_takes_the_time_that_the_textbook_gives(way: float, speed: float, push: float) -> None:
    clip = lw.Clip(lw.models.planar([1]), [0, 1, 2, 5], [[0], [0.2 * way], [0.4 * way], [way]])
    cruises = push == math.inf or speed**2 / push < way
    expected = way / speed + (speed / push) if cruises else 2.0 * math.sqrt(way / push)
    assert clip.retime(velocity=speed, acceleration=push).duration == pytest.approx(expected, rel=3e-3)


def test_poses_stay_and_get_new_times() -> None:
    clip = wander(lw.models.ur5(), 3).named("reach")
    fast = clip.retime(velocity=1.0, acceleration=3.0)
    assert np.array_equal(fast.poses, clip.poses)
    assert (fast.name, fast.times[0], fast.linkage) == ("reach", 0.0, clip.linkage)
    slow = clip.retime(velocity=1.0, acceleration=3.0, speed=0.5, start=2.0)
    assert_allclose(slow.times, 2.0 + 2.0 * fast.times)
    longer = clip.retime(velocity=1.0, acceleration=3.0, duration=60.0)
    assert longer.duration == pytest.approx(60.0)
    even = clip.retime(velocity=1.0, acceleration=3.0, fps=100)
    assert_allclose(np.diff(even.times), 0.01)
    assert fast.duration <= even.duration < fast.duration + 0.01
    solved = lw.track(lw.models.planar([1, 1]), [lw.Reach("tip", position=(1, y)) for y in (0.1, 0.2, 0.3)], fps=10)
    assert np.array_equal(solved.retime(velocity=1, acceleration=1).residuals, solved.residuals)


def test_pauses_take_no_time() -> None:
    arm = lw.models.planar([1, 1])
    moving = lw.Clip(arm, [0, 1, 2, 3], [[0, 0], [1, 0.5], [2, 1.5], [3, 2]])
    resting = lw.Clip(arm, [0, 1, 2, 3, 4, 9], [[0, 0], [1, 0.5], [2, 1.5], [3, 2], [3, 2], [3, 2]])
    one, two = (clip.retime(velocity=1, acceleration=1) for clip in (moving, resting))
    assert_allclose(one.times, two.times, rtol=1e-9)
    assert np.array_equal(one.poses, two.poses)


def test_limits_are_the_linkage_s_own_where_none_are_given() -> None:
    b = lw.Builder("arm").revolute("a", "one", velocity=1.0, acceleration=2.0)
    arm = b.prismatic("b", "two", velocity=0.2, acceleration=0.4).build()
    clip = lw.Clip(arm, [0, 1, 2], [[0, 0], [1, 0.1], [2, 0.4]])
    own = clip.retime().duration
    assert own == pytest.approx(clip.retime(velocity=[1.0, 0.2], acceleration=[2.0, 0.4]).duration)
    assert own == pytest.approx(clip.retime(velocity={"a": 1.0}, acceleration={"b": 0.4}).duration)
    assert clip.retime(velocity={"b": 0.1}).duration > own


BAD = {
    "no acceleration": ({"velocity": 1.0}, LimitError, "no acceleration limit is known of joints 'j1', 'j2'.*np.inf"),
    "no velocity": ({"acceleration": 1.0}, LimitError, "no velocity limit is known of joints"),
    "nothing known": ({}, LimitError, "no velocity limit is known"),
    "some known": ({"velocity": {"j1": 1.0}, "acceleration": 1.0}, LimitError, "of joints 'j2' of linkage 'planar'"),
    "no such joint": ({"velocity": {"j9": 1.0}}, JointNotFoundError, "no joint 'j9'"),
    "a wrong number": ({"velocity": [1, 2, 3]}, LimitError, "velocity is one number, 2 of them, or by joint"),
    "zero": ({"velocity": 0.0, "acceleration": 1.0}, LimitError, "must be positive, got 0"),
    "not a number": ({"velocity": math.nan, "acceleration": 1.0}, LimitError, "must be positive, got nan"),
    "words": ({"velocity": "fast", "acceleration": 1.0}, LinkworkError, "velocity"),
    "too fast": ({"velocity": 1, "acceleration": 1, "speed": 2}, KeyFrameError, "a share of the fastest .* got 2"),
    "too short": (
        {"velocity": 1, "acceleration": 1, "duration": 0.1},
        KeyFrameError,
        "a duration of 0.1 s exceeds the limits",
    ),
    "both": ({"velocity": 1, "acceleration": 1, "duration": 9, "speed": 0.5}, KeyFrameError, "give only one of them"),
    "no rate": ({"velocity": 1, "acceleration": 1, "fps": 0}, KeyFrameError, "fps must be a positive number"),
}


@pytest.mark.parametrize(("options", "error", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_in_words(options: dict, error: type[Exception], message: str) -> None:
    clip = lw.Clip(lw.models.planar([1, 1]), [0, 1, 2], [[0, 0], [1, 1], [2, 1.5]])
    with pytest.raises(error, match=message):
        clip.retime(**options)


def test_a_path_that_swings_beyond_limits_between_poses_says_so(caplog: pytest.LogCaptureFixture) -> None:
    arm = lw.models.planar([1]).replace(joints={"j1": {"lower": 0.0, "upper": 1.0}})
    swinging = lw.Clip(arm, [0, 1, 2, 5], [[0], [0.2], [0.7], [1]])
    swinging.retime(velocity=1, acceleration=1)
    (record,) = caplog.records
    assert "leaves the limits of 'j1' by 0.402 rad, which the poses keep; take them nearer" in record.message
    fine = swinging.resample(fps=100).retime(velocity=1, acceleration=1, fps=200)
    assert (fine.poses >= arm.lower).all()
    assert (fine.poses <= arm.upper).all()
    assert len(caplog.records) == 1


def test_what_stands_still_has_no_path() -> None:
    arm = lw.models.planar([1, 1])
    for times, poses in (([0], [[1, 2]]), ([0, 1], [[1, 2], [1, 2]])):
        with pytest.raises(KeyFrameError, match="stands still"):
            lw.Clip(arm, times, poses).retime(velocity=1, acceleration=1)
