"""Layouts: indices, values by name, rows."""

import copy

import numpy as np
import pytest

from linkwork.kernels import kernel
from linkwork.kernels.layout import Layout

SETTINGS = Layout("tolerance", ("axis", 3), "damping")


def test_places_follow_one_another():
    assert (SETTINGS.tolerance, SETTINGS.axis, SETTINGS.damping) == (0, 1, 4)
    assert SETTINGS.size == 5


@kernel("f8[] -> f8")
def sum_of_axis(settings):
    return settings[SETTINGS.axis] + settings[SETTINGS.axis + 1] + settings[SETTINGS.damping - 1]


def test_kernels_read_places_from_the_layout():
    assert sum_of_axis(np.array([9.0, 1.0, 2.0, 4.0, 9.0])) == 7.0


def test_values_are_written_and_read_by_name():
    array = SETTINGS.pack(damping=0.1, axis=(0, 0, 1), tolerance=2)
    assert array.tolist() == [2, 0, 0, 1, 0.1]
    record = SETTINGS.view(array)
    record.axis = 5.0
    record.axis[1] += 1.0
    assert (record.tolerance, record.axis.tolist()) == (2.0, [5.0, 6.0, 5.0])


def test_rows_are_records():
    array = SETTINGS.pack(shape=(2,), dtype=np.int64, tolerance=(1, 2), axis=0, damping=3).reshape(-1)
    rows = SETTINGS.rows(array)
    assert len(rows) == 2
    assert rows.tolerance.tolist() == [1, 2]
    assert rows.axis.shape == (2, 3)
    rows[1].damping = 7
    assert [row.damping for row in rows] == [3, 7]
    assert array[-1] == 7


def test_a_record_can_be_copied():
    record = SETTINGS.view(SETTINGS.pack(tolerance=1, axis=0, damping=2))
    other = copy.deepcopy(record)
    other.damping = 3
    assert (record.damping, other.damping) == (2, 3)


def test_every_field_is_given_once_and_no_other():
    with pytest.raises(TypeError, match="missing or unknown: axes, axis"):
        SETTINGS.pack(tolerance=1, axes=0, damping=2)
    with pytest.raises(AttributeError, match="a record has tolerance, axis, damping, not 'axes'"):
        SETTINGS.view(np.zeros(5)).axes  # noqa: B018
    with pytest.raises(ValueError, match="a record has 5 items"):
        SETTINGS.view(np.zeros(4))
    with pytest.raises(ValueError, match="each field once"):
        Layout("a", "a")
