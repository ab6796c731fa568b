"""Flat soles: not on tiptoe, not while kneeling, not in the air."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.linkage.poses import rest_pose
from linkwork.motion.contacts import Trace
from linkwork.retargeting import retarget_with_report
from linkwork.retargeting.grounding import flat_soles, upright_shank

TIMES = np.arange(60) / 30.0
LEGS = {"left": 0.86, "right": 0.86}


def standing(**moved: tuple[float, float, float]) -> dict[str, np.ndarray]:
    """Return constant positions of knees and ankles, some of them changed."""
    places = {f"{side}_{part}": (0.0, y, z) for side, y in (("left", 0.1), ("right", -0.1)) for part, z in PARTS}
    return {role: np.tile(np.array(at, float), (len(TIMES), 1)) for role, at in (places | moved).items()}


PARTS = (("knee", 0.5), ("ankle", 0.08))
BENT = {"knee": 1.57, "ankle.first": 0.8}


def soles(places: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return when soles are flat, from positions of knees and ankles."""
    ankles = {side: Trace.of(places[f"{side}_ankle"], TIMES) for side in LEGS}
    return flat_soles(ankles, {side: upright_shank(places, side) for side in LEGS}, TIMES, LEGS)


def test_soles_of_who_stands_are_flat():
    assert all(flat.all() for flat in soles(standing()).values())


def test_a_foot_on_its_toes_is_not_flat_though_its_ankle_never_gets_lower():
    found = soles(standing(right_ankle=(0.0, -0.1, 0.2)))
    assert found["left"].all()
    assert not found["right"].any()


def test_feet_of_who_kneels_are_not_flat():
    found = soles(standing(left_knee=(0.4, 0.1, 0.1)))
    assert not found["left"].any()
    assert found["right"].all()


@pytest.fixture(scope="module")
def kneeling() -> lw.Clip:
    """Return a body that kneels upright, its feet stretched out behind it, and waves an arm."""
    human = lw.models.human(root="floating")
    still = {f"{side}_{joint}": value for side in ("left", "right") for joint, value in BENT.items()} | {"root.z": 0.5}
    waves = [{"left_shoulder.ry": -0.5 * np.sin(3.0 * t)} for t in TIMES]
    return lw.Clip(human, TIMES, np.array([human.pose(still | wave, base=rest_pose(human)) for wave in waves]))


@pytest.mark.parametrize("height", [1.3, 1.9])
def test_who_kneels_still_kneels_on_another_body(kneeling, height):
    report = retarget_with_report(kneeling, lw.models.human(height=height, root="floating")).report
    assert np.degrees(report.direction) < 4.0
    assert max(np.degrees(limb.worst) for limb in report.limbs.values()) < 15.0
    assert report.slide < 1e-3
