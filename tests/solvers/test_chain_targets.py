"""Targets of a chain: accepted forms, conversion, checks of rigidity, and errors from squares."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.errors import DeviceError, GoalError
from linkwork.solvers.chain_targets import as_targets, read_targets, rigid, unsquared

WHOLE = lw.Reach("tip", pose=np.eye(4))
PLACE = lw.Reach("tip", position=(0, 0, 0))
IN_THE_PLANE = lw.Reach("tip", position=(0, 0))
TURN = lw.Reach("tip", orientation=np.eye(3))
NUMBERS = np.random.default_rng(0)


class OnACard:
    """An array with the interface of a GPU array."""

    __cuda_array_interface__ = {"shape": (2, 4, 4), "typestr": "<f8", "data": (0, False), "version": 3}  # noqa: RUF012


def test_targets_on_a_card_are_left_there() -> None:
    with pytest.raises(DeviceError, match="targets of 'tip' are on a graphics card"):
        as_targets(OnACard(), "tip")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [[[1, 2, 3]], np.ones((2, 3), np.float32), np.ones((2, 3), np.uint8)])
def test_rows_of_numbers_are_targets(given: object) -> None:
    assert_array_equal(as_targets(given, "tip"), given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given", [[1.0, 2.0, 3.0], 5.0, [["a", "b"]], np.ones((2, 3), bool), np.ones((2, 3), complex), [[1, 2], [3]]]
)
def test_what_is_no_rows_of_numbers_is_refused(given: object) -> None:
    with pytest.raises(GoalError, match="targets of 'tip' are an array of numbers, one row each"):
        as_targets(given, "tip")  # type: ignore[arg-type]


@pytest.mark.parametrize("goal", [WHOLE, PLACE, TURN])
def test_matrices_are_taken_as_they_are(goal: lw.Reach) -> None:
    given = NUMBERS.normal(size=(3, 4, 4))
    assert read_targets(goal, given) is given
    single = given.astype(np.float32)
    read = read_targets(goal, single)
    assert read.dtype == np.float64
    assert_array_equal(read, single)


@pytest.mark.parametrize("reason", ["read only", "by columns"])
def test_matrices_that_kernels_cannot_take_are_copied(reason: str) -> None:
    given = NUMBERS.normal(size=(3, 4, 4))
    given = np.asfortranarray(given) if reason == "by columns" else given
    given.flags.writeable = reason != "read only"
    read = read_targets(WHOLE, given)
    assert_array_equal(read, given)
    assert read.flags.c_contiguous
    assert read.flags.writeable


@pytest.mark.parametrize(("goal", "numbers"), [(PLACE, 3), (IN_THE_PLANE, 2), (IN_THE_PLANE, 3)])
def test_positions_become_matrices_that_are_not_turned(goal: lw.Reach, numbers: int) -> None:
    given = NUMBERS.normal(size=(5, numbers))
    read = read_targets(goal, given)
    assert read.shape == (5, 4, 4)
    assert_array_equal(read[:, :numbers, 3], given)
    assert_array_equal(read[:, numbers:, 3], np.tile(np.eye(4)[numbers:, 3], (5, 1)))
    assert_array_equal(read[:, :, :3], np.tile(np.eye(4)[:, :3], (5, 1, 1)))


def test_rotations_become_matrices_at_the_origin() -> None:
    given = Rotation.random(5, random_state=1).as_matrix()
    read = read_targets(TURN, given)
    assert_array_equal(read[:, :3, :3], given)
    assert_array_equal(read[:, :, 3], np.tile([0, 0, 0, 1], (5, 1)))
    assert_array_equal(read[:, 3, :3], np.zeros((5, 3)))


@pytest.mark.parametrize(
    ("goal", "shape", "said"),
    [
        (WHOLE, (3,), "are 4x4 matrices; got shape (3,) each. Positions alone need orientation=False, rotations alone"),
        (WHOLE, (3, 3), "are 4x4 matrices; got shape (3, 3) each. Positions alone need orientation=False, rotations"),
        (WHOLE, (4,), "are 4x4 matrices; got shape (4,) each. A single 4x4 matrix goes in as targets[None]."),
        (WHOLE, (7,), "are 4x4 matrices; got shape (7,) each."),
        (PLACE, (2,), "are 4x4 matrices or positions of 3 numbers; got shape (2,) each."),
        (PLACE, (3, 3), "are 4x4 matrices or positions of 3 numbers; got shape (3, 3) each."),
        (IN_THE_PLANE, (4,), "are 4x4 matrices or positions of 2 numbers; got shape (4,) each. A single 4x4 matrix"),
        (TURN, (3,), "are 4x4 matrices or 3x3 rotations; got shape (3,) each."),
        (TURN, (4, 3), "are 4x4 matrices or 3x3 rotations; got shape (4, 3) each."),
    ],
)
def test_other_shapes_are_refused_with_those_there_are(goal: lw.Reach, shape: tuple[int, ...], said: str) -> None:
    with pytest.raises(GoalError, match=re.escape(said)) as refused:
        read_targets(goal, np.ones((6, *shape)))
    advised = ("Positions alone" in said) + ("A single" in said)
    assert str(refused.value).count(". ") == advised  # some messages include advice


def test_rigid_ones_are_told_from_others() -> None:
    targets = np.tile(np.eye(4), (6, 1, 1))
    targets[:, :3, :3] = Rotation.random(6, random_state=2).as_matrix()
    targets[1, 0, 3] = np.nan
    targets[2, :3, :3] *= 1.01
    targets[3, :3, 0] *= -1.0  # a reflection
    targets[4, 2, 2] = np.inf
    assert_array_equal(rigid(targets), [True, False, False, False, False, True])
    assert_array_equal(rigid(np.asfortranarray(targets)), rigid(targets))
    assert rigid(targets).dtype == np.bool_


@pytest.mark.parametrize("shape", [(), (6,), (2, 3)], ids=str)
@pytest.mark.parametrize(("goal", "columns"), [(WHOLE, [0, 1]), (PLACE, [0]), (TURN, [1])])
def test_errors_are_lengths_and_angles(goal: lw.Reach, columns: list[int], shape: tuple[int, ...]) -> None:
    """Kernels return squares: of a distance, and of the chord of an angle, 2 sin(angle / 2)."""
    distances = np.resize([0.3, 0.0, 2.0, 1e-9], shape)
    angles = np.resize([0.5, np.pi, 0.0, 1e-9], shape)
    found = unsquared(goal, distances**2, (2.0 * np.sin(angles / 2.0)) ** 2)
    assert_allclose(found, np.stack([distances, angles], axis=-1)[..., columns], atol=1e-12)


def test_a_chord_that_is_rounded_up_is_half_a_turn() -> None:
    assert_allclose(unsquared(TURN, 0.0, np.array([4.0 + 1e-12])), [[np.pi]])


def test_a_goal_that_a_very_long_chain_misses_ends_soon() -> None:
    """A step towards the closest pose costs the cube of the number of joints, so long chains take few steps or none."""
    b = lw.Builder("long")
    for k in range(900):
        b.revolute(f"j{k}", f"l{k}", axis="xyz"[k % 3], at=(0.01, 0, 0), limits=(-1, 1))
    found = lw.solve(b.frame("tip", at=(0.01, 0, 0)).build(), lw.Reach("tip", position=(20, 5, 0)))
    assert not found.success
    assert "out of reach" in found.reason
