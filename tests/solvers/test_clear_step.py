"""Control cycles with `avoid`: along a shelf, out of a margin, around obstacles in the null space, never through."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.transforms import FloatArray

DT = 1e-3
MARGIN = 0.02


def shelf_below(place: FloatArray, below: float) -> lw.World:
    """Return a world of one board below a place."""
    return lw.World([lw.Obstacle(lw.Box((0.6, 1.2, 0.02)), place - [-0.25, 0.0, below], name="shelf")])


def cycles(
    ik: lw.solvers.Prepared, start: FloatArray, targets: list[FloatArray]
) -> tuple[FloatArray, list[lw.solvers.Step]]:
    """Return the poses of a control loop, the start first, and its steps."""
    steps, q = [], start
    for target in targets:
        q = ik.step(target, q, DT)
        steps.append(q)
    return np.array([start, *(step.q for step in steps)]), steps


def ten_times(arm: lw.Linkage, poses: FloatArray) -> FloatArray:
    """Return poses at ten times the rate."""
    shares = np.arange(10)[:, None, None] / 10.0
    return np.concatenate(np.moveaxis(poses[:-1] + shares * np.diff(poses, axis=0), 0, 1))


def test_along_a_shelf_that_the_target_dips_into() -> None:
    """At ten times the rate, distances stay above the margin less 0.1 mm; smooth; exact along the board."""
    arm = lw.models.panda()
    start = arm.stored_pose("ready")
    home = arm.forward(start, frame="tip")
    world = shelf_below(home[:3, 3], 0.10)
    ik = lw.prepare(arm, "tip", avoid=lw.Avoid(world, margin=MARGIN))
    targets = []
    for time in np.arange(0.0, 2.0, DT):
        target = home.copy()
        sway, dip = 1.0 - np.cos(1.5 * time), 1.0 - np.cos(2.0 * time)  # from rest
        target[:3, 3] += 0.03 * dip, 0.1 * sway, -0.045 * dip
        targets.append(target)
    poses, steps = cycles(ik, start, targets)
    assert lw.clearance(arm, ten_times(arm, poses), world).distance.min() > MARGIN - 1e-4
    assert lw.clearance(arm, poses, world).distance.min() >= MARGIN
    speeds = np.diff(poses, axis=0) / DT
    assert (np.abs(speeds) <= arm.velocity * (1.0 + 1e-9)).all()
    assert np.abs(np.diff(speeds, axis=0)).max() < 0.25  # [rad/s] from cycle to cycle: no jump
    held = [step for step in steps if step.limit == "clearance"]
    assert 400 < len(held) < 1900
    assert steps[100].status == "reached"
    for step in held[::100]:
        assert step.pair == ("panda_hand", "shelf")
        assert step.clearance == pytest.approx(MARGIN + 5e-5, abs=5e-3)
        assert not step
        assert "panda_hand and shelf are" in step.reason
        across = arm.forward(step.q, frame="tip") - step.target
        assert np.abs(across[:2, 3]).max() < 1e-3  # it slides along without loss
        assert np.abs(across[:3, :3]).max() < 1e-3


def test_a_plate_stands_in_the_way_and_is_not_passed_at_any_rate() -> None:
    arm = lw.models.panda()
    left, right = (arm.pose(panda_joint1=turn, base="ready") for turn in (0.5, -0.5))
    world = lw.World([lw.Obstacle(lw.Box((0.6, 0.001, 0.8)), (0.6, 0.0, 0.5), name="plate")])
    ik = lw.prepare(arm, "tip", avoid=lw.Avoid(world, margin=0.005))
    target = arm.forward(right, frame="tip")
    for dt in (0.3, 0.05):
        q, poses = left, [left]
        for _ in range(40):
            q = ik.step(target, q, dt)
            poses.append(q.q)
        way = np.array(poses)
        assert lw.collision.sweep(arm, way[:-1], way[1:], world, margin=0.005, tolerance=1e-4)
        assert np.abs(way[-1] - way[0]).max() > 0.1


def test_from_inside_the_margin_it_moves_out_and_never_deeper() -> None:
    arm = lw.models.panda()
    start = arm.stored_pose("ready")
    home = arm.forward(start, frame="tip")
    world = shelf_below(home[:3, 3], 0.025)
    ik = lw.prepare(arm, "tip", avoid=lw.Avoid(world, margin=MARGIN))
    first = lw.clearance(arm, start, world).distance
    assert 0.0 < first < MARGIN
    deeper = home.copy()
    deeper[2, 3] -= 0.05
    poses, _ = cycles(ik, start, [deeper] * 300)
    seen = lw.clearance(arm, poses, world).distance
    assert (np.diff(seen[:100]) > -1e-6).all()
    assert seen[-1] >= MARGIN - 1e-6


def test_where_nothing_is_near_a_cycle_is_that_of_a_chain_without_obstacles() -> None:
    arm = lw.models.panda()
    start = arm.stored_pose("ready")
    target = arm.forward(start, frame="tip")
    target[0, 3] += 0.1
    far = lw.World([lw.Obstacle(lw.Sphere(0.1), (5.0, 0.0, 0.0), name="far")])
    one = lw.prepare(arm, "tip", avoid=lw.Avoid(far, self=False)).step(target, start, DT)
    two = lw.prepare(arm, "tip").step(target, start, DT)
    np.testing.assert_array_equal(one.q, two.q)
    assert (one.status, one.joint, one.pair, one.clearance) == (two.status, two.joint, None, np.inf)


def test_an_axis_left_free_and_joints_that_stay() -> None:
    """The hand may spin and one joint is held: the hand goes as far towards the pole as the margin allows."""
    arm = lw.models.panda()
    start = arm.stored_pose("ready")
    home = arm.forward(start, frame="tip")
    world = lw.World([lw.Obstacle(lw.Cylinder(0.03, 1.2), home[:3, 3] + [0.0, -0.25, 0.0], name="pole")])
    moving = [name for name in arm.joints[:7] if name != "panda_joint3"]
    ik = lw.prepare(arm, "tip", free="z", joints=moving, avoid=lw.Avoid(world, margin=0.01))
    target = home.copy()
    target[1, 3] -= 0.25
    q, poses = start, [start]
    for _ in range(400):
        q = ik.step(target, q, 0.004)
        poses.append(q.q)
    way = np.array(poses)
    assert lw.clearance(arm, way, world).distance.min() >= 0.01
    assert (way[:, 2] == start[2]).all()
    assert q.pair is not None
    assert q.pair[1] == "pole"
    assert q.limit == "clearance"
