"""All solutions of many targets: the same as of each alone, whatever stands beside them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import OptionError

TWO = lw.models.planar([2, 1])
PLACES = np.array([[1.0, 2.0], [4.0, 0.0], [np.nan, 0.0], [0.5, -1.5]])
FLAT = {"position": "xy", "orientation": False}


def test_rows_are_what_each_target_has_alone() -> None:
    found = lw.solve_all_batch(TWO, "tip", PLACES, most=3, **FLAT)
    assert found.q.shape == (4, 3, 2)
    assert (found.counts.tolist(), found.mask.sum(axis=1).tolist()) == ([2, 0, 0, 2], [2, 0, 0, 2])
    assert found.valid.tolist() == [True, True, False, True]
    assert np.isnan(found.q[~found.mask]).all()
    assert not found.complete.any()
    for k in (0, 3):
        alone = lw.solve_all(TWO, lw.Reach("tip", position=PLACES[k])).q
        ours = found.q[k, found.mask[k]]
        assert_allclose(ours[np.argsort(ours[:, 1])], alone[np.argsort(alone[:, 1])], atol=1e-8)
    assert "4 solutions of 4 targets" in repr(found)


def test_what_does_not_fit_is_counted() -> None:
    found = lw.solve_all_batch(TWO, "tip", PLACES[:1], most=1, **FLAT)
    assert (found.counts.tolist(), found.mask.tolist()) == ([2], [[True]])


def test_no_targets_are_no_error() -> None:
    assert lw.solve_all_batch(lw.models.ur5(), "tip", np.zeros((0, 4, 4))).q.shape == (0, 8, 6)


@pytest.mark.parametrize("options", [{"most": 0}, {"apart": -1.0}, {"start": np.zeros((2, 2))}, {"tolerances": 1.0}])
def test_wrong_input_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        lw.solve_all_batch(TWO, "tip", PLACES, **FLAT, **options)
