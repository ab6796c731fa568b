"""Joints of a bone fitted to rotations: if tracking forwards gets stuck, the fit also runs backwards."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwork.retargeting.bone_fit import POOR, Row, _both_ways
from linkwork.retargeting.crossings import crossings

LIMITS = np.radians([[-170.0, -130.0, -90.0], [20.0, 50.0, 70.0]])  # of a shoulder
SHOULDER = Row(np.tile(np.eye(3), (4, 1, 1)), np.eye(3), *LIMITS)


def turns(angles):
    return Rotation.from_euler("XYZ", angles).as_matrix()


def test_a_fit_finds_the_angles_that_made_rotations():
    angles = np.linspace(LIMITS[0] + 0.2, LIMITS[1] - 0.2, 200)
    found = _both_ways(SHOULDER, turns(angles), angles[0])
    assert SHOULDER.off(turns(angles), found).max() < 1e-2


@pytest.mark.parametrize("begin", [(-2.9, -1.0, -1.5), (0.3, 0.8, 1.2), (-2.9, 0.8, 1.2)])
def test_a_fit_that_is_stuck_is_made_from_the_end_too(begin):
    t = np.linspace(0.0, 1.0, 400)[:, None]
    angles = np.clip(np.radians([-75.0, -40.0, -10.0]) + np.sin(6.0 * t + [0.0, 1.0, 2.0]), *LIMITS)
    wanted = turns(angles)
    stuck, both = SHOULDER.fitted(wanted, np.array(begin)), _both_ways(SHOULDER, wanted, np.array(begin))
    assert SHOULDER.off(wanted, both).mean() <= min(SHOULDER.off(wanted, stuck).mean(), POOR)
    assert np.abs(np.diff(both, axis=0)).max() < 0.4
    assert (both >= LIMITS[0]).all()
    assert (both <= LIMITS[1]).all()


def test_a_crossing_takes_its_time():
    off = np.r_[np.zeros(20), np.ones(20)]
    share = crossings(off, off[::-1], np.full(40, 1.0), 0.15)
    assert share[0] == 0.0
    assert share[-1] == 1.0
    assert (np.diff(share) >= 0.0).all()
    assert np.diff(share).max() <= 0.15


def test_there_is_no_crossing_for_a_frame():
    off = np.zeros(40)
    off[20] = 0.5
    assert not crossings(off, np.full(40, 0.1), np.full(40, 1.0), 0.15).any()


@pytest.mark.parametrize("frame", [22, 23, 26, 39])
def test_rounding_does_not_decide_on_a_crossing_where_fits_meet(frame):
    apart = np.r_[np.ones(22), np.zeros(18)]  # rad: from frame 22 on, both fits are the same
    off = np.r_[np.zeros(20), np.ones(2), np.full(18, 0.1)]
    other = np.r_[np.ones(20), np.zeros(2), np.full(18, 0.1)]
    exact = crossings(off, other, apart, 0.15)
    off[:frame] += 1e-15
    other[frame:] += 1e-15
    rounded = crossings(off, other, apart, 0.15)
    assert 0.0 < exact[20] < exact[21] < 1.0
    assert rounded[:22].tolist() == exact[:22].tolist()
