"""All collision-free solutions: colliding ones are counted, and curves end where the clearance equals the margin."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import OptionError

MARGIN = 0.01


def test_isolated_poses_that_collide_are_dropped_and_counted() -> None:
    arm = lw.models.ur5()
    goal = lw.Reach("tip", pose=arm.forward([0.3, -1.0, 1.2, -0.8, 0.9, 0.4], frame="tip"))
    every = lw.solve_all(arm, goal)
    elbow = arm.forward(every.q[0], frame="forearm_link")[:3, 3]
    world = lw.World([lw.Obstacle(lw.Sphere(0.05), elbow, name="ball")])
    found = lw.solve_all(arm, goal, avoid=lw.Avoid(world, self=False, margin=MARGIN))
    free = ~lw.collides(arm, every.q, world, self=False, margin=MARGIN)
    assert 0 < free.sum() < len(every)
    np.testing.assert_array_equal(found.q, every.q[free])
    assert (found.dropped, found.complete) == (int((~free).sum()), True)
    rock = lw.World([lw.Obstacle(lw.Box((9.0, 9.0, 9.0)), (0.0, 0.0, 4.7), name="rock")])
    none = lw.solve_all(arm, goal, avoid=lw.Avoid(rock, self=False))
    assert len(none) == 0
    assert none.dropped == len(every)
    assert "'rock'" in str(none.evidence)


def three_links() -> lw.Linkage:
    """Return a planar arm with capsules along its links, whose self-motion is a closed curve."""
    arm = lw.models.planar([1.0, 1.0, 1.0])
    bar = np.array([[0.0, 0.0, 1.0, 0.5], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    shape = lw.Visual(lw.Capsule(0.05, 0.9), bar, role="collision")
    return arm.replace(links={name: {"visuals": [shape]} for name in ("link1", "link2", "link3")})


@pytest.mark.parametrize("place", [(1.2, 1.1, 0.0), (0.3, -0.9, 0.0), (0.6, 1.3, 0.0)])
def test_a_closed_curve_is_cut_where_the_clearance_is_the_margin(place: tuple[float, float, float]) -> None:
    arm, goal = three_links(), lw.Reach("tip", position=(1.0, 0.5))
    world = lw.World([lw.Obstacle(lw.Sphere(0.1), place, name="ball")])
    avoid = lw.Avoid(world, self=False, margin=MARGIN)
    (whole,) = lw.solve_all(arm, goal).curves
    found = lw.solve_all(arm, goal, avoid=avoid)
    assert found.complete == lw.solve_all(arm, goal).complete
    share = (~lw.collides(arm, whole(np.linspace(0.0, 1.0, 4001)), world, self=False, margin=MARGIN)).mean()
    assert 0.0 < share < 1.0
    assert sum(curve.length for curve in found.curves) / whole.length == pytest.approx(share, abs=2e-3)
    for curve in found.curves:
        clear = avoid.clearance(arm, curve(np.linspace(0.0, 1.0, 501)))
        assert clear.min() >= MARGIN
        np.testing.assert_allclose(clear[[0, -1]], MARGIN, atol=1e-8)
        np.testing.assert_allclose(arm.forward(curve(0.37), frame="tip")[:2, 3], (1.0, 0.5), atol=1e-9)
        assert "'ball'" in curve.ends[0]


def test_wrong_input_is_refused() -> None:
    arm = three_links()
    with pytest.raises(OptionError, match="avoid is a goal"):
        lw.solve_all(arm, lw.Reach("tip", position=(1.0, 0.5)), avoid="ball")  # type: ignore[arg-type]
