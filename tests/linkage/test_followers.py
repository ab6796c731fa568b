"""Limits of followers: they do not restrict their leaders; violations are found, and leaders are clamped on demand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkages import random_tree
from linkwork.linkage.builder import Builder
from linkwork.linkage.followers import narrowed, overruns
from linkwork.linkage.joints import Continuous, Joint, Mimic, Revolute
from linkwork.linkage.linkage import Link, Linkage

INF = math.inf
# How b follows a, whose limits are -2 and 2; limits of b; the resulting range of a; the range of b for unrestricted a.
CASES = [
    (Mimic("a"), (-1.0, 0.5), (-1.0, 0.5), (-2.0, 2.0)),
    (Mimic("a", 2.0), (-1.0, 0.5), (-0.5, 0.25), (-4.0, 4.0)),
    (Mimic("a", -1.0), (-1.0, 0.5), (-0.5, 1.0), (-2.0, 2.0)),
    (Mimic("a", 1.0, 0.25), (-1.0, 0.5), (-1.25, 0.25), (-1.75, 2.25)),
    (Mimic("a", 1.0), (-INF, 0.5), (-2.0, 0.5), (-2.0, 2.0)),
    (Mimic("a", -1.0), (-INF, 0.5), (-0.5, 2.0), (-2.0, 2.0)),
]
KEPT = [(Mimic("a", 0.0, 0.25), (-1.0, 0.5)), (Mimic("a", 0.1), (-1.0, 0.5)), (Mimic("a", 0.7), (-1.4, 1.4))]


def pair(mimic: Mimic, own: tuple[float, float]) -> Linkage:
    leader, follower = Revolute("z", -2.0, 2.0), Revolute("z", *own)
    links = [Link(name) for name in "xyz"]
    return Linkage(links, [Joint("a", "x", "y", leader), Joint("b", "y", "z", follower, mimic=mimic)])


@pytest.mark.parametrize(("mimic", "own", "left", "reached"), CASES)
def test_a_leader_has_its_own_limits_and_is_held_on_demand(mimic, own, left, reached) -> None:
    free = pair(mimic, own)
    assert (free.lower.item(), free.upper.item()) == (-2.0, 2.0) == (free.table[0].lower, free.table[0].upper)
    (found,) = overruns(free)
    assert (found.joint, found.leader, found.own) == ("b", "a", own)
    assert found.reached == pytest.approx(reached)
    assert found.left == pytest.approx(left)
    held, beyond = narrowed(free)
    assert not beyond
    assert not overruns(held)
    assert (held.lower.item(), held.upper.item()) == pytest.approx(left)


@pytest.mark.parametrize(("mimic", "own"), KEPT)
def test_a_follower_that_keeps_its_limits_is_not_found(mimic, own) -> None:
    assert not overruns(pair(mimic, own))
    assert narrowed(pair(mimic, own))[0].upper.item() == 2.0


@pytest.mark.parametrize("mimic", [Mimic("a", 1.0, 9.0), Mimic("a", 0.0, 9.0)])
def test_a_follower_that_no_value_keeps_is_handed_back(mimic) -> None:
    held, (found,) = narrowed(pair(mimic, (-1.0, 1.0)))
    assert (found.joint, held.upper.item()) == ("b", 2.0)
    assert "limits='followers' cannot hold it" in found.text


def test_two_followers_that_contradict_each_other_hold_the_leader_once() -> None:
    b = Builder("hand").revolute("a", "y", limits=(-2, 2))
    b.revolute("b", "z", limits=(1, 2), mimic="a").revolute("c", "w", limits=(-2, 0), mimic="a")
    held, (found,) = narrowed(b.build())
    assert (held.lower.item(), held.upper.item(), found.joint) == (1.0, 2.0, "c")


def test_a_wheel_that_is_held_becomes_a_revolute_joint() -> None:
    b = Builder("wheel").continuous("a", "y").revolute("b", "z", limits=(-1, 2), mimic=Mimic("a", -2.0))
    (found,) = overruns(b.build())
    assert found.reached == (-INF, INF)
    held, _ = narrowed(b.build())
    assert held.joint("a").articulation == Revolute("z", -1.0, 0.5)
    assert isinstance(b.build().joint("a").articulation, Continuous)


def test_the_text_has_all_numbers() -> None:
    (found,) = overruns(pair(Mimic("a", -2.0, 0.5), (-1.0, 0.5)))
    assert found.text == (
        "'b' follows 'a' times -2 plus 0.5 and goes from -3.5 to 4.5, beyond its own limits from -1 to 0.5: they are "
        "ignored; limits='followers' holds 'a' from 0 to 0.75."
    )


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_that_are_held_keep_every_limit(seed: int) -> None:
    held, beyond = narrowed(random_tree(np.random.default_rng(seed), 30))
    lost = {overrun.joint for overrun in beyond}
    for q in held.random_pose(seed, 20):
        for joint, drive in zip(held.arcs, held.drives, strict=True):
            if joint.mimic is not None and joint.name not in lost:
                lower, upper = joint.articulation.limits
                assert lower[0] - 1e-9 <= drive.values(q)[0] <= upper[0] + 1e-9
