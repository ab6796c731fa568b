"""Chains with `avoid`: results are free by an independent clearance, near their start; failures have reasons."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision.scenes import scene_of
from linkwork.errors import GoalError, OptionError
from linkwork.kernels.collision.free import free_room
from linkwork.kernels.collision.free_poses import free_poses
from linkwork.kernels.search_many import REACHED
from linkwork.transforms import FloatArray

MARGIN = 0.01
WORLD = lw.World(
    [
        lw.Obstacle(lw.Box((0.3, 0.3, 0.3)), (0.5, 0.25, 0.4), name="box"),
        lw.Obstacle(lw.Sphere(0.1), (0.3, -0.45, 0.6), name="ball"),
        lw.Obstacle(lw.Cylinder(0.1, 0.5), (-0.45, 0.3, 0.5), name="can"),
        lw.Obstacle(lw.Capsule(0.05, 0.3), (-0.3, -0.45, 0.5), name="pill"),
        lw.Obstacle(
            lw.Hull(np.array(np.meshgrid([-0.1, 0.1], [-0.05, 0.1], [0.0, 0.2])).reshape(3, -1).T), (0, 0.7, 0.6)
        ),
        lw.Obstacle(lw.HalfSpace(), (0.0, 0.0, -0.1), name="floor"),
    ]
)


def spheres_of(arm: lw.Linkage, radius: float = 0.05) -> lw.Linkage:
    """Return an arm made of spheres, as in motion planners; links up to three apart may touch."""
    frames, made = arm.forward(np.zeros(arm.nq)), {}
    for link, parent in zip(arm.links[1:], arm.parents[1:], strict=True):
        way = (np.linalg.inv(frames[arm.links[parent]]) @ frames[link])[:3, 3]
        count = int(np.linalg.norm(way) / radius) + 1
        balls = [lw.Visual(lw.Sphere(radius), way * k / count, role="collision") for k in range(count)]
        made.setdefault(arm.links[parent], []).extend(balls)
    near = [(one, two) for k, one in enumerate(arm.links) for two in arm.links[k + 1 : k + 4]]
    return arm.replace(links={name: {"visuals": balls} for name, balls in made.items()}, disabled_pairs=near)


ARMS = {
    "seven": lw.models.panda,
    "six": lambda: spheres_of(lw.models.ur5(), 0.03),
    "spheres": lambda: spheres_of(lw.models.panda()),
}


@pytest.fixture(scope="module", params=ARMS)
def arm(request: pytest.FixtureRequest) -> lw.Linkage:
    return ARMS[request.param]()


def free_targets(arm: lw.Linkage, count: int, seed: int = 0) -> FloatArray:
    """Return the tip at collision-free poses, which are solvable goals."""
    poses = arm.random_pose(seed, 40 * count)
    free = poses[~lw.collides(arm, poses, WORLD, margin=MARGIN)]
    assert len(free) >= count
    return arm.forward(free[:count], frame="tip")


@pytest.mark.parametrize("margin", [0.0, 0.02, -0.01])
def test_the_check_in_lanes_agrees_with_the_clearance(arm: lw.Linkage, margin: float) -> None:
    scene, poses = scene_of(arm, WORLD), arm.random_pose(1, 1000)
    found = np.zeros(len(poses), np.uint8)
    room = np.zeros(free_room(scene.codes))
    free_poses(scene.codes, scene.numbers, margin, poses, np.zeros(0, np.int64), room, found)
    np.testing.assert_array_equal(found == 1, lw.clearance(arm, poses, WORLD).distance >= margin)
    assert 0 < found.sum() < len(found)


@pytest.mark.parametrize("whole", [True, False], ids=["pose", "position"])
def test_answers_reach_their_targets_and_are_free(arm: lw.Linkage, whole: bool) -> None:
    ik = lw.prepare(arm, "tip", orientation=whole, avoid=lw.Avoid(WORLD, margin=MARGIN))
    for target in free_targets(arm, 20):
        solution = ik(target)
        assert solution.success
        assert solution.status == "reached"
        assert lw.clearance(arm, solution.q, WORLD).distance >= MARGIN
        assert solution.clearance.distance >= MARGIN
        reached = arm.forward(solution.q, frame="tip")
        assert np.linalg.norm(reached[:3, 3] - target[:3, 3]) <= 1e-4
        assert not whole or np.linalg.norm(reached[:3, :3] - target[:3, :3]) <= 2e-3
        assert (arm.lower <= solution.q).all()
        assert (solution.q <= arm.upper).all()


def test_a_free_start_at_the_target_is_kept(arm: lw.Linkage) -> None:
    poses = arm.random_pose(3, 200)
    free = poses[~lw.collides(arm, poses, WORLD, margin=0.02)][:10]
    ik = lw.prepare(arm, "tip", avoid=lw.Avoid(WORLD, margin=MARGIN))
    for q in free:
        solution = ik(arm.forward(q, frame="tip"), start=q)
        assert solution.success
        np.testing.assert_allclose(solution.q, q, atol=1e-3)


def test_many_targets_at_once(arm: lw.Linkage) -> None:
    targets = free_targets(arm, 30, seed=5)
    targets[7, :3, 3] += 9.0
    targets[8] = np.nan
    batch = lw.solve_batch(arm, "tip", targets, avoid=lw.Avoid(WORLD, margin=MARGIN), threads=1)
    good = np.delete(np.arange(30), [7, 8])
    assert batch.success[good].all()
    assert not batch.success[[7, 8]].any()
    assert batch.status[8] == "invalid"
    assert batch.status[7] in ("beyond", "closest")
    assert lw.clearance(arm, batch.q[good], WORLD).distance.min() >= MARGIN
    again = lw.solve_batch(arm, "tip", targets, avoid=lw.Avoid(WORLD, margin=MARGIN), threads=2)
    np.testing.assert_array_equal(batch.q, again.q)


def test_a_target_inside_an_obstacle_collides_and_says_what(arm: lw.Linkage) -> None:
    target = free_targets(arm, 1)[0]
    wall = lw.Obstacle(lw.Box((0.2, 0.2, 0.2)), target, name="wall")
    ik = lw.prepare(arm, "tip", avoid=lw.Avoid(lw.World([wall]), margin=MARGIN))
    solution = ik(target)
    assert not solution.success
    assert solution.status == "collides"
    assert "'wall'" in solution.reason
    assert "mm inside" in solution.reason
    assert solution.residuals[-1] == pytest.approx(MARGIN - solution.clearance.distance)
    batch = lw.solve_batch(arm, "tip", target[None], avoid=ik.avoid)
    assert batch.status.tolist() == ["collides"]
    assert not batch.success.any()


def test_solve_takes_the_same_road(arm: lw.Linkage) -> None:
    target, avoid = free_targets(arm, 1, seed=9)[0], lw.Avoid(WORLD, margin=MARGIN)
    prepared = lw.prepare(arm, "tip", avoid=avoid)(target)
    for options in ({}, {"time_budget": 5.0}, {"restarts": 2000}):
        solution = lw.solve(arm, [avoid, lw.Reach("tip", pose=target)], **options)
        np.testing.assert_array_equal(solution.q, prepared.q)
        assert solution.success
    starts = arm.random_pose(2, 6)
    several = lw.solve(arm, [lw.Reach("tip", pose=target), avoid], start=starts)
    assert several.success.all()
    assert lw.clearance(arm, several.q, WORLD).distance.min() >= MARGIN
    assert several.residuals[:, -1].max() == 0.0


def test_a_pose_that_touches_is_moved_within_its_self_motion() -> None:
    arm = spheres_of(lw.models.panda())
    q = arm.stored_pose("ready")
    elbow = arm.forward(q, frame="panda_link4")
    ball = lw.Obstacle(lw.Sphere(0.05), elbow[:3, 3] + 0.09 * elbow[:3, 2], name="ball")
    ik = lw.prepare(arm, "tip", avoid=lw.Avoid(lw.World([ball]), margin=MARGIN))
    target, out = arm.forward(q, frame="tip"), np.zeros(ik.answer.size)
    assert not ik.is_free(q, q)
    assert ik._repaired(target, q.copy(), q, out) == REACHED
    moved = out[ik.answer.values]
    assert lw.clearance(arm, moved, ik.avoid.world).distance >= MARGIN
    np.testing.assert_allclose(arm.forward(moved, frame="tip"), target, atol=1e-3)
    assert np.abs(moved - q).max() < 1.0


def test_wrong_input_is_refused() -> None:
    arm = lw.models.panda()
    with pytest.raises(OptionError, match="avoid is a goal"):
        lw.prepare(arm, "tip", avoid="shelf")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="prepared without avoid"):
        lw.prepare(arm, "tip", avoid=lw.Avoid(), method="damped")  # type: ignore[call-overload]
    with pytest.raises(GoalError, match="not a finite rigid transform"):
        lw.prepare(arm, "tip", avoid=lw.Avoid(WORLD))(np.zeros((4, 4)))
    with pytest.raises(GoalError, match="closed forms ignore obstacles"):
        lw.prepare(arm, "tip", avoid=lw.Avoid(WORLD)).all(np.eye(4))
