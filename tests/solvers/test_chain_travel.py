"""Travelling bases: rails a thousand times as long as the arm, and floating roots, solve as well as fixed arms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from chains import errors, placed, serial, within
from linkwork.errors import DeviceError
from linkwork.linkage.joints import Articulation, Floating, Joint, Planar, Prismatic, Revolute
from linkwork.solvers.chain import Chain

FAR = 1e6
SHOULDER = [Revolute("z", -2.9, 2.9), Revolute("y", -1.8, 1.8), Revolute("z", -2.9, 2.9), Revolute("-y", -3.0, -0.1)]
WRIST = [Revolute("z", -2.9, 2.9), Revolute("-y", 0.0, 3.7), Revolute("z", -2.9, 2.9)]
ORIGINS = [(0, 0, 0.33), (0, 0, 0), (0, 0, 0.32), (0.08, 0, 0), (-0.08, 0, 0.38), (0, 0, 0), (0.09, 0, 0)]
TIP = placed(None, (0.0, 0.0, 0.2))
BASES: dict[str, list[Articulation]] = {
    "two slides and a turn": [Prismatic("x", -FAR, FAR), Prismatic("y", -FAR, FAR), Revolute("z")],
    "a turn and a slide": [Revolute("z", -FAR, FAR), Prismatic("x", -FAR, FAR)],
    "a turn, a slide and a lift": [Revolute("z"), Prismatic("x", -FAR, FAR), Prismatic("z", 0.0, 0.4)],
    "a rail": [Prismatic((1.0, 1.0, 0.0), 0.0, 50.0)],
    "a gantry": [Prismatic("x", 0.0, 30.0), Prismatic("y", -20.0, 20.0), Prismatic("z", 0.0, 10.0)],
    "an open slide": [Prismatic("y")],
}
ROOTS: dict[str, Articulation] = {"planar": Planar("z"), "floating": Floating()}


def on_base(base: list[Articulation], root: Articulation | None = None) -> lw.Linkage:
    """Return an arm of seven joints on a base."""
    placements = [placed()] * len(base) + [placed(None, origin) for origin in ORIGINS]
    first = None if root is None else Joint("root", None, "l0", root, placed())
    return serial([*base, *SHOULDER, *WRIST], placements, TIP, root=first)


def check(arm: lw.Linkage, targets: np.ndarray) -> None:
    """Check that a call, a call from a start and a batch reach every target."""
    ik = lw.prepare(arm, "tip")
    ways = [
        np.array([ik(target).q for target in targets]),
        np.array([ik(target, start=arm.neutral()).q for target in targets]),
        lw.solve_batch(arm, "tip", targets).q,
    ]
    for q in ways:
        assert (errors(arm, "tip", q, targets, "pose") <= (1.001e-4, 1.001e-3)).all()
        assert within(arm, q).all()
    assert lw.solve(arm, lw.Reach("tip", pose=targets[0])).success


@pytest.mark.parametrize("name", BASES)
def test_long_slides_carry_an_arm_to_its_goals(name: str) -> None:
    arm = on_base(BASES[name])
    poses = arm.random_pose(3, 100)
    check(arm, arm.forward(poses, frame="tip"))


@pytest.mark.parametrize("away", [0.0, 1.0, 100.0, FAR])
@pytest.mark.parametrize("root", ROOTS)
def test_free_roots_carry_an_arm_to_its_goals(root: str, away: float) -> None:
    arm, rng = on_base([], ROOTS[root]), np.random.default_rng(4)
    targets = arm.forward(arm.random_pose(rng, 60), frame="tip")
    targets[:, :2, 3] += rng.uniform(-away, away, (60, 2))
    check(arm, targets)


def test_only_slides_much_longer_than_the_arm_are_aimed() -> None:
    assert Chain(lw.models.stanford(), "tip").carriers == 0
    assert Chain(lw.models.panda(), "tip").carriers == 0
    assert Chain(on_base(BASES["a turn, a slide and a lift"]), "tip").carriers == 2
    travel = Chain(on_base(BASES["a turn and a slide"]), "tip").travel
    assert_allclose(travel.T @ travel, np.diag([1.0, 1.0, 0.0]), atol=1e-12)


def test_starts_are_drawn_around_the_arm_not_over_all_of_a_slide() -> None:
    chain = Chain(on_base(BASES["two slides and a turn"]), "tip")
    values = chain.spread(np.random.default_rng(0).random((100, chain.values)))
    assert np.abs(values[:, :2]).max() <= chain.length
    turns = Chain(serial([Revolute("z", -1e6, 1e6)], [TIP], TIP), "tip")
    assert np.abs(turns.spread(np.array([[0.0], [1.0]]))).max() <= np.pi


def test_a_card_does_not_take_a_base_that_travels() -> None:
    arm = on_base(BASES["a rail"])
    with pytest.raises(DeviceError, match="supported on the processor only"):
        lw.solve_batch(arm, "tip", np.eye(4)[None], device="cuda")


def test_a_start_that_is_near_stays_near() -> None:
    arm = on_base(BASES["two slides and a turn"])
    ik, start = lw.prepare(arm, "tip"), arm.neutral()
    start[:2] = 300.0, -40.0
    target = arm.forward(start, frame="tip")
    target[:3, 3] += 0.05, 0.02, -0.03
    solution = ik(target, start=start)
    assert solution.success
    assert np.abs(solution.q - start).max() < 0.3


def test_the_height_that_a_base_cannot_give_is_missed_by_what_the_arm_lacks() -> None:
    arm = on_base(BASES["two slides and a turn"])
    solution = lw.solve(arm, lw.Reach("tip", position=(500.0, 100.0, 3.0)))
    reach = 0.33 + 0.32 + 0.38 + 0.09 + 0.2 + 0.16
    assert 3.0 - reach < solution.residual < 3.0 - 1.0
    assert np.linalg.norm(arm.forward(solution.q, frame="tip")[:2, 3] - (500.0, 100.0)) < 1e-3
