"""Paths that are smooth in joint space are followed without jumps, on real robots; remaining jumps are reported."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.motion import following
from robots import shipped
from sixty_robots import installed

ARMS = {
    "panda": (lw.models.panda, "tip"),
    "ur5": (lw.models.ur5, "tip"),
    "stanford": (lw.models.stanford, "tip"),
    "kinova": (lambda: lw.load(shipped("kinova")), "j2s6s200_end_effector"),
    "baxter": (lambda: lw.load(shipped("baxter")), "left_gripper_base_link"),
    "so101": (lambda: lw.load(shipped("so101")), "gripper_frame_link"),
    "talos": (lambda: lw.load(shipped("talos_full_v2")), "arm_left_7_link"),
}


def smooth_path(arm: lw.Linkage, seed: int, frames: int = 150) -> np.ndarray:
    """Return poses over most of the range, with a largest step of at most 0.14 rad."""
    rng = np.random.default_rng(seed)
    low, high = np.clip(arm.lower, -math.pi, None), np.clip(arm.upper, None, math.pi)
    turns, phases = rng.uniform(0.5, 1.5, (2, arm.nq)), rng.uniform(0.0, 2.0 * math.pi, (2, arm.nq))
    time = np.linspace(0.0, 1.0, frames)[:, None]
    waves = sum(np.sin(2.0 * math.pi * turns[k] * time + phases[k]) for k in range(2)) / 2.0
    path = (low + high) / 2.0 + 0.35 * (high - low) * waves
    fastest = np.abs(np.diff(path, axis=0)).max()
    return path if fastest <= 0.14 else smooth_path(arm, seed, math.ceil(frames * fastest / 0.139))


@pytest.mark.parametrize("name", ARMS)
def test_tracks_do_not_jump(name: str) -> None:
    make, frame = ARMS[name]
    arm = make()
    for seed in range(2):
        path = smooth_path(arm, seed)
        goals = [lw.Reach(frame, pose=target) for target in arm.forward(path, frame=frame)]
        clip = lw.track(arm, goals, start=path[0])
        assert not clip.jumps
        assert np.abs(np.diff(clip.poses, axis=0, prepend=path[:1])).max() < 0.5
        assert (clip.residuals <= [1e-4, 1e-3]).all()


def test_frames_that_are_reached_keep_limits_wherever_they_were_begun() -> None:
    """Poses near a start at rest are tried within limits: joint_6 starts at the end of its range."""
    arm = lw.load(installed("irb140"))
    start = [2.266359, -0.839458, -0.739042, 1.187032, 0.898994, 6.9743187]
    places = np.linspace((1.11967, -0.865993, -0.091761), (0.270984, 0.044798, 2.0554), 8)
    clip = lw.track(arm, [lw.Reach("tool0", position=place) for place in places], start=start)
    assert (clip.residuals <= 1e-4).any()
    assert (clip.poses >= arm.lower).all()
    assert (clip.poses <= arm.upper).all()


DEAD_ENDS = {  # misses of tracking frame by frame: an elbow at a limit, a branch that ends
    "tiago_pro": ("gripper_right_fingertip_left_link", 0, 120),
    "simple_humanoid": ("l_ankle", 0, 54),
    "xarm7": ("link_eef", 1, 27),
}


@pytest.mark.parametrize("name", DEAD_ENDS)
def test_dead_ends_are_left_in_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, seed, missed = DEAD_ENDS[name]
    arm = lw.load(installed(name))
    path = long_path(arm, seed)
    goals = [lw.Reach(frame, pose=target) for target in arm.forward(path, frame=frame)]
    clip = lw.track(arm, goals, start=path[0])
    assert (clip.residuals <= [1e-4, 1e-3]).all()
    assert not clip.jumps
    assert np.abs(np.diff(clip.poses, axis=0, prepend=path[:1])).max() < 0.5
    assert (clip.poses >= arm.lower - 1e-9).all()
    assert (clip.poses <= arm.upper + 1e-9).all()
    monkeypatch.setattr(following, "TRIES", 0)
    waiting = lw.track(arm, goals, start=path[0])
    assert (waiting.residuals > [1e-4, 1e-3]).any(axis=1).sum() >= missed // 2


def long_path(arm: lw.Linkage, seed: int) -> np.ndarray:
    """Return the path of `benchmarks/tracking.py`, with 200 frames."""
    rng, time = np.random.default_rng(seed), np.linspace(0.0, 1.0, 200)[:, None]
    low = np.where(np.isfinite(arm.lower), arm.lower, -math.pi)
    high = np.where(np.isfinite(arm.upper), arm.upper, math.pi)
    turns, phases = rng.uniform(0.5, 2.0, (3, arm.nq)), rng.uniform(0.0, 2.0 * math.pi, (3, arm.nq))
    parts = rng.uniform(0.2, 1.0, (3, arm.nq))
    waves = sum(parts[k] * np.sin(2.0 * math.pi * turns[k] * time + phases[k]) for k in range(3)) / parts.sum(axis=0)
    return (low + high) / 2.0 + 0.35 * (high - low) * waves


def test_a_first_frame_that_is_free_is_chosen_so_that_the_way_goes_on() -> None:
    arm = lw.models.planar([1.0, 1.0]).replace(joints={"j1": lw.Revolute("z", -0.2, 2.0)})
    goals = [lw.Reach("tip", position=arm.forward([j, -1.5], frame="tip")[:2, 3]) for j in np.linspace(1.6, 2.2, 30)]
    clip = lw.track(arm, goals, start=[0.3, -0.2])  # away from the path: the elbow may bend either way
    assert (clip.residuals <= 1e-4).all()
    assert not clip.jumps


def test_a_straight_line_without_a_start_begins_where_it_can_be_followed() -> None:
    arm = lw.models.planar([15, 10, 5])
    clip = lw.track(arm, lw.Reach("tip", position=(-20, 5)))
    assert (clip.residuals <= 1e-4).all()
    assert not clip.jumps
    stretched = lw.track(arm, lw.Reach("tip", position=(-20, 5)), start=arm.neutral())
    assert (stretched.poses[0] == 0.0).all()  # a given start is kept
    assert lw.track(arm, lw.Reach("tip", position=(40, 0))).residuals[-1] == pytest.approx(10.0)


@pytest.mark.parametrize("name", ["panda", "ur5", "kinova"])
def test_steps_in_a_loop_do_not_jump(name: str) -> None:
    make, frame = ARMS[name]
    arm = make()
    path = smooth_path(arm, 3)
    ik, step = lw.prepare(arm, frame), path[0]
    reached = []
    for target in arm.forward(path, frame=frame):
        before = np.asarray(step)
        step = ik.step(target, step, 0.01, velocity=20.0)
        assert np.abs(step.q - before).max() <= 0.2 + 1e-12
        reached.append(step.success)
    assert np.mean(reached) > 0.95


def test_where_nothing_leads_on_damped_waits_and_robust_jumps_and_the_clip_tells() -> None:
    arm = lw.models.planar([1.0, 1.0]).replace(joints={"j1": lw.Revolute("z", -0.2, 2.0)})
    there = np.linspace(1.6, 2.2, 30)  # j1 along the path for one elbow branch: it ends at a limit
    goals = [lw.Reach("tip", position=arm.forward([j, -1.5], frame="tip")[:2, 3]) for j in there]
    waiting = lw.track(arm, goals, start=[1.6, -1.5])
    assert not waiting.jumps
    assert (waiting.residuals[:18] <= 1e-4).all()
    assert waiting.residuals[-1] > 0.01
    jumping = lw.track(arm, goals, start=[1.6, -1.5], method="robust")
    assert (jumping.residuals <= 1e-4).all()
    (jump,) = jumping.jumps
    assert jump.amount == pytest.approx(np.abs(np.diff(jumping.poses, axis=0)).max())
    assert jump.where == "j2"
    assert f"frame {jump.first} to frame {jump.last}" in jump.text
    assert not lw.track(arm, goals, start=[1.6, -1.5], method="robust", stay=True).jumps


@pytest.mark.parametrize("method", ["damped", "robust"])
def test_bodies_are_tracked_without_a_jump_also_where_goals_leave_and_return(method: str) -> None:
    body = lw.models.human(root="floating")
    stand = body.stored_pose("stand")
    feet = [lw.Hold(f"{side}_foot").resolve(body, stand) for side in ("left", "right")]
    out = 1.5 * np.sin(np.linspace(0.0, math.pi, 60)) ** 2
    paths = [[*feet, lw.Reach("right_hand", position=(0.4 + x, -0.2, 1.2), priority=1)] for x in out]
    clip = lw.track(body, paths, start=stand, method=method)
    assert not clip.jumps
    assert np.abs(np.diff(clip.poses, axis=0)).max() < 0.5
    assert (clip.residuals[:, :-1] <= 1e-3).all()  # the feet stay
    assert clip.residuals[30, -1] > 0.1
    assert clip.residuals[-1, -1] <= 1e-4
    slow = lw.track(body, paths[::20], start=stand, method=method)  # large steps of goals allow large steps of joints
    assert slow.residuals[0, -1] <= 1e-4


def test_the_first_frame_may_be_anywhere() -> None:
    arm = lw.models.ur5()
    far = arm.forward([2.0, -0.5, -1.4, 0.3, -1.0, 1.0], frame="tip")
    clip = lw.track(arm, [lw.Reach("tip", pose=far)] * 3, start=arm.neutral(), method="robust")
    assert (clip.residuals <= [1e-4, 1e-3]).all()


def test_goals_that_leave_the_workspace_are_followed_along_its_edge() -> None:
    arm = lw.models.panda()
    home = arm.stored_pose("ready")
    target, goals = arm.forward(home, frame="tip"), []
    for x in 1.2 * np.sin(np.linspace(0.0, math.pi, 120)):
        moved = target.copy()
        moved[0, 3] += x
        goals.append(lw.Reach("tip", pose=moved))
    for method in ("damped", "robust"):
        clip = lw.track(arm, goals, start=home, method=method)
        assert not clip.jumps
        assert clip.residuals[60, 0] > 0.1
        assert clip.residuals[-1, 0] <= 1e-4
