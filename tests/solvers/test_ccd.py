"""Coordinate descent in space: joints that cannot help stay still, and a dragged hand moves joints smoothly."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.solvers import METHODS, Problem, Settings
from linkwork.solvers.problem import State


def bent(name: str) -> lw.Linkage:
    arm = lw.models.build(name)
    return arm.replace(poses={"bent": arm.interpolate(arm.neutral(), arm.random_pose(1), 0.2)})


DRAGGED = {
    "panda": (lw.models.panda(), "ready", "tip", 5.0),
    "ur5": (lw.models.ur5(), "ready", "tip", 12.0),
    "snake": (bent("snake:9"), "bent", "head", 30.0),
    "human": (lw.models.human(), "stand", "right_hand", 30.0),
}


def dragged(arm: lw.Linkage, start: str, frame: str, method: str, steps: int | None) -> tuple[lw.Clip, float]:
    """Return the motion of a dragged hand, and the largest step of the target, relative to the lever."""
    q = arm.stored_pose(start)
    lever = np.linalg.norm(arm.jacobian(q, frame)[:3], axis=0).max()
    turn = np.linspace(0.0, 2.0 * np.pi, 60)[:, None]
    sides = np.random.default_rng(0).normal(size=(3, 3)) * 0.06 * lever
    curve = (np.cos(turn) - 1.0) * sides[0] + np.sin(turn) * sides[1] + np.sin(2.0 * turn) * sides[2] / 2.0
    places = arm.forward(q, frame=frame)[:3, 3] + curve
    clip = lw.track(arm, [lw.Reach(frame, position=p) for p in places], start=q, method=method, steps=steps)
    return clip, float(np.linalg.norm(np.diff(places, axis=0), axis=1).max() / lever)


@pytest.mark.parametrize("steps", [1, None])
@pytest.mark.parametrize("method", ["ccd", "ranked-ccd"])
@pytest.mark.parametrize(("arm", "start", "frame", "most"), DRAGGED.values(), ids=DRAGGED)
def test_joints_move_no_more_than_their_levers_ask(arm, start, frame, most, method, steps) -> None:
    clip, way = dragged(arm, start, frame, method, steps)
    assert np.abs(np.diff(clip.poses, axis=0)).max() < most * way


@pytest.mark.parametrize(("name", "last"), [("panda", 6), ("ur5", 5)])
def test_a_joint_whose_axis_passes_through_the_effector_keeps_its_value(name: str, last: int) -> None:
    arm, start, frame, _ = DRAGGED[name]
    clip, _ = dragged(arm, start, frame, "ccd", 1)
    assert np.abs(clip.poses[:, last] - clip.poses[0, last]).max() < 1e-9


def test_the_onset_is_smooth() -> None:
    """The last joint turns more, up to its optimum, the further the effector is from its axis; it never jumps."""
    turns = []
    offsets = np.geomspace(1e-6, 0.3, 60)
    for offset in offsets:
        arm = lw.models.planar([1.0, 1.0, float(offset)])
        problem = Problem(arm, lw.Reach("tip", position=(0.5, 1.2)))
        q = np.array([0.3, 0.8, -0.4])
        change = METHODS["ccd"]().propose(State(problem, q, problem.error(q)), Settings())
        turns.append(abs(change[2]))
    assert turns[0] < 1e-3
    assert np.diff(turns).min() > -0.05
    assert np.abs(np.diff(turns)).max() < 0.6
    world = arm.forward(q)
    elbow, tip = world["link3"][:2, 3], world["tip"][:2, 3]
    wanted = np.array([0.5, 1.2]) - elbow
    best = np.arctan2(wanted[1], wanted[0]) - np.arctan2(*(tip - elbow)[::-1])
    assert change[2] == pytest.approx((best + np.pi) % (2.0 * np.pi) - np.pi)


def test_no_joint_turns_by_more_than_half_a_turn() -> None:
    arm = lw.models.ur5()
    for seed in range(10):
        problem = Problem(arm, lw.Reach("tip", pose=arm.forward(arm.random_pose(seed), frame="tip")))
        q = arm.random_pose(100 + seed)
        change = METHODS["ccd"]().propose(State(problem, q, problem.error(q)), Settings())
        assert np.abs(change).max() <= np.pi + 1e-12
