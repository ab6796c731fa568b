"""Chains as lines: the same forward kinematics as the linkage, also reversed and with a joint held."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.solvers.chain import Chain
from linkwork.solvers.closed_form import Axes, axes_of
from linkwork.transforms import inverse

STANFORD = [(0, 0.4, 0, -90), (0, 0.15, 0, 90), (-90, 0.3, 0, 0, "P"), (0, 0, 0, -90), (0, 0, 0, 90), (0, 0.26, 0, 0)]


def stanford() -> lw.Linkage:
    rows = [(np.radians(r[0]), r[1], r[2], np.radians(r[3]), *r[4:]) for r in STANFORD]
    return lw.from_dh(rows, convention="standard")


ARMS = {"ur5": lw.models.ur5, "panda": lw.models.panda, "stanford": stanford}


def lines(name: str) -> tuple[lw.Linkage, Chain, Axes, np.ndarray]:
    arm = ARMS[name]()
    chain = Chain(arm, "tip")
    found = axes_of(chain)
    assert not isinstance(found, str)
    axes, scale = found
    return arm, chain, axes, scale


@pytest.mark.parametrize("name", ARMS)
def test_lines_lead_where_the_linkage_does(name: str) -> None:
    arm, chain, axes, scale = lines(name)
    for q in arm.random_pose(0, 5):
        values = scale * chain.values_of(q)
        expected = arm.forward(q, frame="tip")
        assert_allclose(axes.forward(values), expected, atol=1e-14)
        other = axes.reversed()
        assert_allclose(other.forward(values[::-1]), axes.tip @ inverse(expected), atol=1e-14)
        for joint in range(len(axes)):
            held = axes.held(joint, values[joint])
            assert_allclose(held.forward(np.delete(values, joint)), expected, atol=1e-14)


def test_chains_without_lines_say_why() -> None:
    screw = lw.Builder("lift").screw("nut", "plate", lead=0.1).build()
    assert axes_of(Chain(screw, "plate")) == "it has a screw joint"
