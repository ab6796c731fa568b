"""Tracking with lookahead: never worse than frame by frame."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

import linkwork as lw
from chains import placed, serial
from linkwork.linkage.joints import Revolute
from linkwork.linkage.poses import between
from linkwork.motion.lookahead import LONGEST_STEP, _ways
from linkwork.solvers import Problem

IIWA = serial(
    [
        Revolute(axis, -limit, limit)
        for axis, limit in zip("zyzyzyz", (2.97, 2.09, 2.97, 2.09, 2.97, 2.09, 3.05), strict=True)
    ],
    [placed(None, (0.0, 0.0, z)) for z in (0.15, 0.19, 0.21, 0.19, 0.21, 0.19, 0.08)],
    placed(None, (0.0, 0.0, 0.045)),
)
SHOULDER_AND_ARM = serial(  # a waist of three joints under an arm of seven, with a humanoid's limits
    [
        *(Revolute(axis, -limit, limit) for axis, limit in (("z", 2.6), ("x", 0.5), ("y", 0.5))),
        *(Revolute(axis, low, high) for axis, low, high in (("y", -3.1, 2.7), ("x", -1.6, 2.2), ("z", -2.6, 2.6))),
        *(Revolute(axis, low, high) for axis, low, high in (("y", -1.0, 2.1), ("x", -1.9, 1.9), ("y", -1.6, 1.6))),
        Revolute("z", -1.6, 1.6),
    ],
    [placed(None, at) for at in ((0, 0, 0), (0, 0, 0.04), (0, 0, 0.02), (0, 0.1, 0.24), (0, 0.04, 0), (0, 0, -0.1),
                                 (0.02, 0, -0.08), (0.1, 0, -0.01), (0.04, 0, 0), (0.05, 0, 0))],
    placed(None, (0.04, 0.0, 0.0)),
)  # fmt: skip
ARMS = {"panda": lw.models.panda(), "iiwa": IIWA, "waist and arm": SHOULDER_AND_ARM, "ur5": lw.models.ur5()}


def path(arm: lw.Linkage, seed: int, frames: int = 24) -> tuple[np.ndarray, list[lw.Reach]]:
    """Return a start and goals along a smooth motion of the joints, which the solver does not know."""
    keys = np.clip(arm.random_pose(seed, 3), -3.0, 3.0)
    way = CubicSpline([0.0, 0.5, 1.0], keys)(np.linspace(0.0, 0.6, frames))
    poses = np.clip(way, arm.lower, arm.upper)
    return poses[0], [lw.Reach("tip", pose=world) for world in arm.forward(poses, frame="tip")]


def judged(clip: lw.Clip) -> tuple[int, int]:
    """Return the number of frames that miss their goals, and of jumps."""
    missed = (clip.residuals > (1e-4, 1e-3)).any(axis=1)
    steps = np.abs(clip.linkage.difference(clip.poses[:-1], clip.poses[1:])).max(axis=1)
    return int(missed.sum()), int((steps > LONGEST_STEP).sum())


@pytest.mark.parametrize("name", ARMS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=4)
def test_it_is_never_worse_than_tracking(name: str, seed: int) -> None:
    start, goals = path(ARMS[name], seed)
    plain = lw.track(ARMS[name], goals, start=start)
    ahead = lw.track(ARMS[name], goals, start=start, lookahead=True)
    assert judged(ahead) <= judged(plain)
    assert ((ahead.poses >= ARMS[name].lower) & (ahead.poses <= ARMS[name].upper)).all()


def test_it_is_never_worse_where_goals_leave_the_workspace() -> None:
    arm = ARMS["panda"]
    world = arm.forward(arm.stored_pose("ready"), frame="tip")
    goals = [lw.Reach("tip", position=world[:3, 3] + (x, 0, 0), orientation=world[:3, :3]) for x in
             np.concatenate([np.linspace(0.0, 0.9, 15), np.linspace(0.9, 0.0, 15)])]  # fmt: skip
    plain = lw.track(arm, goals, start="ready")
    ahead = lw.track(arm, goals, start="ready", lookahead=True)
    assert judged(ahead) <= judged(plain)
    assert (ahead.residuals[-1] < (1e-4, 1e-3)).all()


@pytest.mark.parametrize("arm", [lw.models.human(), IIWA], ids=["quaternions", "angles"])
def test_ways_between_all_poses_are_those_between_each_pair(arm: lw.Linkage) -> None:
    a, b = arm.random_pose(0, 9), arm.random_pose(1, 7)
    a[:, -1] = b[:, -1] = 0.1  # a constant value
    ways = between(arm, a[:, None], b[None])
    squares, longest = _ways(Problem(arm, lw.Reach(arm.frames[-1], position=(0, 0, 0))), a, b)
    assert_allclose(squares, (ways * ways).sum(axis=-1), atol=1e-9)
    assert_allclose(longest, np.abs(ways).max(axis=-1), atol=1e-9)
