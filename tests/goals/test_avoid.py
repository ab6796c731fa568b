"""`Avoid`: values computed by hand, refused input; successful solves keep the margin strictly, also along paths."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import GoalError, LinkNotFoundError, OptionError
from linkwork.goals.avoid import HAIR

BALL = lw.World([lw.Obstacle(lw.Sphere(0.1), (0.35, 0.25, 0.0), name="ball")])


def bars(*lengths: float) -> lw.Linkage:
    """Return a planar arm whose links are capsules of one centimetre, along x."""
    arm = lw.models.planar(list(lengths))
    looks = {
        f"link{k + 1}": {"visuals": lw.bone((0.0, 0.0, 0.0), (length, 0.0, 0.0), 0.01)}
        for k, length in enumerate(lengths)
    }
    return arm.replace(links={"link0": {"visuals": ()}} | looks)


def from_ball(arm: lw.Linkage, q: np.ndarray) -> float:
    """Return the distance of the capsules from the ball, computed independently from segments and a point."""
    joints = [arm.forward(q, frame=link)[:2, 3] for link in arm.links[1:]] + [arm.forward(q, frame="tip")[:2, 3]]
    least, centre = math.inf, np.array([0.35, 0.25])
    for start, end in pairwise(joints):
        way = end - start
        share = np.clip((centre - start) @ way / (way @ way), 0.0, 1.0)
        least = min(least, float(np.linalg.norm(centre - start - share * way)) - 0.11)
    return least


def test_errors_are_what_is_missing_of_the_margin() -> None:
    arm, avoid = bars(0.3, 0.25, 0.2), lw.Avoid(BALL, self=False, margin=0.05)
    poses = arm.random_pose(0, 20)
    expected = [from_ball(arm, q) for q in poses]
    assert_allclose(avoid.clearance(arm, poses), expected, atol=1e-12)
    assert_allclose(avoid.error(arm, poses)[:, 0], np.maximum(0.05 + HAIR - np.array(expected), 0.0), atol=1e-12)
    assert avoid.error(arm, poses.reshape(4, 5, 3)).shape == (4, 5, 16)


@pytest.mark.parametrize("method", ["robust", "damped", "prioritized", "pseudoinverse", "selectively-damped"])
def test_success_keeps_the_margin_strictly(method: str) -> None:
    arm, avoid = bars(0.3, 0.25, 0.2), lw.Avoid(BALL, self=False, margin=0.01)
    reached = 0
    for k in range(6):
        goal = lw.Reach("tip", position=arm.forward(arm.random_pose(k), frame="tip")[:2, 3])
        solution = lw.solve(arm, [goal, avoid], method=method, start=[0.1, 0.4, 0.4])
        assert not solution.success or from_ball(arm, solution.q) >= 0.01
        reached += solution.success
    assert reached >= 2


def test_a_wish_is_followed_but_not_judged() -> None:
    arm = bars(0.3, 0.25, 0.2)
    inside = lw.Reach("tip", position=(0.35, 0.25))
    assert not lw.solve(arm, [inside, lw.Avoid(BALL, self=False)]).success
    assert lw.solve(arm, [inside, lw.Avoid(BALL, self=False, tolerance=math.inf, priority=1)]).success


def test_only_some_links_count() -> None:
    arm, q = bars(0.3, 0.25, 0.2), np.array([0.6, 0.0, 0.0])
    assert lw.Avoid(BALL, self=False).clearance(arm, q) < 0.0
    assert lw.Avoid(BALL, self=False, links="link3").clearance(arm, q) == pytest.approx(0.0103, abs=1e-4)
    with pytest.raises(LinkNotFoundError, match="link9"):
        lw.solve(arm, [lw.Reach("tip", position=(0.3, 0.1)), lw.Avoid(BALL, links="link9")])


def test_a_path_keeps_clear_in_every_frame() -> None:
    arm, start = bars(0.3, 0.25, 0.2), np.array([2.0, -0.9, -0.6])
    path = [lw.Reach("tip", position=(0.1 + 0.01 * k, 0.45)) for k in range(25)]
    avoid = lw.Avoid(BALL, self=False, margin=0.09)
    clip = lw.track(arm, path, start=start, avoid=avoid)
    assert min(from_ball(arm, q) for q in clip.poses) >= 0.09
    assert clip.residuals.shape == (25, 2)
    assert np.abs(np.diff(clip.poses, axis=0)).max() < 0.5
    with pytest.raises(OptionError, match="lookahead"):
        lw.track(arm, path, avoid=avoid, lookahead=True)


@pytest.mark.parametrize(
    "given",
    [
        {"world": [lw.Obstacle(lw.Sphere(0.1))]},
        {"self": 1},
        {"world": None, "self": False},
        {"margin": math.nan},
        {"margin": "wide"},
        {"links": []},
        {"links": [3]},
        {"tolerance": 0.01},
        {"weight": 0.0},
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(GoalError):
        lw.Avoid(**given)


def test_what_is_attached_to_nothing_is_refused() -> None:
    held = lw.World([lw.Obstacle(lw.Sphere(0.1), name="cup", link="hand")])
    with pytest.raises(LinkNotFoundError, match="hand"):
        lw.solve(bars(0.3, 0.2), [lw.Reach("tip", position=(0.3, 0.1)), lw.Avoid(held)])


def test_it_is_shown_as_it_is_written() -> None:
    assert repr(lw.Avoid()) == "Avoid(margin=0.01)"
    assert repr(lw.Avoid(BALL, False, 0.02, links="hand", priority=1)) == (
        "Avoid(<World: 1 obstacle: ball>, self=False, margin=0.02, links=('hand',), priority=1)"
    )


PANDA = lw.models.panda()
BOX = lw.World([lw.Obstacle(lw.Box((0.1, 0.4, 0.1)), (0.45, 0.0, 0.5), name="box")])
AT = PANDA.forward(PANDA.random_pose(4, 6), frame="tip")
GOAL = lw.Reach("tip", pose=AT[0])
BODY = lw.models.human(root="floating")
WALL = lw.World([lw.Obstacle(lw.Box((0.1, 3.0, 3.0)), (0.6, 0.0, 1.0), name="wall")])
TAKERS = {  # every function with the option avoid
    "solve": lambda avoid: lw.solve(PANDA, GOAL, avoid=avoid).q,
    "solve several goals": lambda avoid: lw.solve(PANDA, [lw.Reach("tip", position=AT[0, :3, 3])], avoid=avoid).q,
    "solve_all": lambda avoid: lw.solve_all(PANDA, GOAL, avoid=avoid).q,
    "solve_batch": lambda avoid: lw.solve_batch(PANDA, "tip", AT, avoid=avoid).q,
    "solve_batch by frame": lambda avoid: lw.solve_batch(PANDA, {"tip": AT}, avoid=avoid).q,
    "prepare": lambda avoid: lw.prepare(PANDA, "tip", avoid=avoid)(AT[0]).q,
    "prepare goals": lambda avoid: lw.prepare(PANDA, [GOAL], avoid=avoid)([GOAL, lw.Avoid(BOX)]).q,
    "track": lambda avoid: lw.track(PANDA, GOAL, frames=5, avoid=avoid).poses,
    "sample_goals": lambda avoid: lw.sample_goals(PANDA, "tip", 5, avoid=avoid).q,
    "retarget": lambda avoid: lw.retarget(lw.models.motion("human:floating")[:0.2], BODY, avoid=avoid).poses,
}


@pytest.mark.parametrize("name", TAKERS)
def test_a_world_stands_for_avoid_wherever_avoid_is_taken(name: str) -> None:
    world = WALL if name == "retarget" else BOX
    np.testing.assert_array_equal(TAKERS[name](world), TAKERS[name](lw.Avoid(world)))
    with pytest.raises(OptionError, match=r"avoid is a goal, .* or a World of obstacles, got 'a wall'"):
        TAKERS[name]("a wall")
