"""Parallel robots in batches: legs by themselves, loops closed, and where closed forms have them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.errors import GoalError
from linkwork.goals import closings
from linkwork.solvers.legs import legs_of


def gap(linkage: lw.Linkage, q: np.ndarray) -> float:
    return max(float(np.abs(goal.error(linkage, q)).max()) for goal in closings(linkage))


def test_arms_of_a_delta_are_those_of_the_closed_form() -> None:
    b, p, a, r = 0.2, 0.06, 0.22, 0.5
    robot, rng = lw.models.delta(b, p, a, r), np.random.default_rng(0)
    places = rng.uniform((-0.12, -0.12, -0.55), (0.12, 0.12, -0.4), (300, 3))
    batch = lw.solve_batch(robot, "platform", places, orientation=False, start="ready")
    assert batch.success.all()
    assert gap(robot, batch.q) < 1e-9
    for k in range(3):  # the elbow is where a circle of the arm meets the sphere of the rod
        turn = Rotation.from_rotvec([0, 0, -2 * np.pi * k / 3]).as_matrix()
        x, y, z = (places @ turn.T + [p - b, 0, 0]).T
        reach = np.hypot(x, z)
        bend = np.arccos((x**2 + y**2 + z**2 + a**2 - r**2) / (2 * a * reach))
        known = np.arctan2(-z, x) - bend  # the elbow outside
        assert_allclose(batch.q[:, robot.coordinates.index(f"arm{k + 1}")], known, atol=1e-8)


def test_legs_of_a_stewart_platform_are_as_long_as_they_must_be() -> None:
    robot, rng = lw.models.stewart(), np.random.default_rng(1)
    ready = robot.stored_pose("ready")
    home = robot.forward(ready, frame="platform")
    targets = np.repeat(home[None], 200, axis=0)
    targets[:, :3, 3] += rng.uniform(-0.08, 0.08, (200, 3))
    targets[:, :3, :3] = Rotation.from_rotvec(rng.uniform(-0.2, 0.2, (200, 3))).as_matrix()
    batch = lw.solve_batch(robot, "platform", targets)
    assert batch.success.all()
    assert gap(robot, batch.q) < 1e-9
    for k in range(1, 7):
        head = np.linalg.inv(home) @ robot.forward(ready, frame=f"joint{k}")[:, 3]
        foot = robot.forward(ready, frame=f"foot{k}")[:3, 3]
        known = np.linalg.norm((targets @ head)[:, :3] - foot, axis=1)
        assert_allclose(batch.q[:, robot.coordinates.index(f"leg{k}")], known, atol=1e-9)


def test_both_cranks_of_a_five_bar_are_found_and_its_two_ways_forward() -> None:
    robot = lw.models.five_bar()
    batch = lw.solve_batch(robot, "tip", [[0.15, 0.4, 0.0], [0.05, 0.45, 0.0]], orientation=False, start="ready")
    assert batch.success.all()
    assert_allclose(robot.forward(batch.q, frame="right_end")[:, :2, 3], [[0.15, 0.4], [0.05, 0.45]], atol=1e-9)
    ways = lw.assemble(robot, start="ready", keep=("left", "right"))
    tips = robot.forward(ways.poses, frame="tip")[:, :2, 3]
    assert len(ways) == 2
    assert_allclose(np.linalg.norm(tips[0] - tips[1]) > 0.1, True)


def test_what_is_out_of_reach_is_no_success() -> None:
    robot = lw.models.delta()
    batch = lw.solve_batch(robot, "platform", [[0.0, 0.0, -0.5], [0.6, 0.0, -0.2]], orientation=False)
    assert batch.success.tolist() == [True, False]


def test_other_loops_are_refused_with_the_reason() -> None:
    leg = lw.models.jansen_leg()
    assert isinstance(legs_of(leg, "foot"), str)
    with pytest.raises(GoalError, match=r"cannot close the loops .* no platform on legs of their own: .*`solve`"):
        lw.solve_batch(leg, "foot", [[0.0, 0.0, 0.0]], orientation=False)
