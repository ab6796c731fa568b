"""What stands in the arrays of the chain search, for one goal, for many and on a graphics card.

    codes     CHAIN_CODES for each row
    numbers   SETTINGS, then LIMITS for each value, ENDS, and `joint_step.ROW_NUMBERS` for each row: all axes are z
    table     by lane: TABLE_FRAME for each frame of the narrow and the wide table; then the poses that reach them
    goal      a TRANSFORM: where the tip should be

A row is a joint about or along its own z axis, a value what drives it: several rows may share one. `chain_of` and
`tables_of` give the memory of these parts to kernels; the functions below them make the arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import inner
from .joint_step import ROW_NUMBERS
from .lanes import beyond
from .layout import Layout

CHAIN_CODES = Layout("motion", "value", "form")
AT_MOTION, AT_VALUE, AT_FORM = CHAIN_CODES.places
CODES = CHAIN_CODES.size
FORM_NONE, FORM_DH, FORM_GENERAL = 0, 1, 2  # of the constant transform: none, Denavit-Hartenberg, any
DH = Layout("twist_cosine", "twist_sine", "length", "travel")  # stands in a row where others have their transform
AT_TWIST_COSINE, AT_TWIST_SINE, AT_LENGTH, AT_TRAVEL = DH.places

TRANSFORM = Layout(("axes", 9), ("origin", 3))  # column by column: x, y, z and the origin
AT_AXES, AT_ORIGIN = TRANSFORM.places
TRANSFORM_SIZE = TRANSFORM.size
ENDS = Layout(("base", TRANSFORM_SIZE), ("tip", TRANSFORM_SIZE))
AT_BASE, AT_TIP = ENDS.places
AT_ROWS = ENDS.size  # of a chain's numbers: where its rows begin

SETTINGS = Layout(
    ("position_weights", 3),  # of x, y and z: 0 or 1
    "rotation_weight",  # [m/rad]
    "spin",  # not 0 where the frame may spin about its z axis
    "damping_gain",  # for each squared error
    "damping_least",
    "near",  # squared tolerance of the position
    "aligned",  # squared tolerance of the rotation, as a length 2 sin(angle / 2)
    "most_steps",  # of a start
    "check_after",  # steps after which it must make progress
    "stalled",  # ratio of squared errors from which on a step makes none
    "close",  # squared error below which it need not
    "start_bound",  # what the number of starts is measured by; see `starts_worth_trying`
    ("centre", 3),  # of the shells that hold all the chain can reach
    ("shell", 2),  # of the tip: squared inner and outer radius
    ("point", 3),  # of the last axis, in the goal's frame
    ("point_shell", 2),
    "caution",  # of the steps that close in on a goal out of reach
)
(
    AT_POSITION_WEIGHTS, AT_ROTATION_WEIGHT, AT_SPIN, AT_DAMPING_GAIN, AT_DAMPING_LEAST, AT_NEAR, AT_ALIGNED,
    AT_MOST_STEPS, AT_CHECK_AFTER, AT_STALLED, AT_CLOSE, AT_START_BOUND, AT_CENTRE, AT_SHELL, AT_POINT, AT_POINT_SHELL,
    AT_CAUTION,
) = SETTINGS.places  # fmt: skip
SETTINGS_SIZE = SETTINGS.size
LIMITS = Layout("lower", "upper", "start_low", "start_high")  # random starts are drawn from the range of the last two
AT_LOWER, AT_UPPER, AT_START_LOW, AT_START_HIGH = LIMITS.places
LIMITS_SIZE = LIMITS.size

NARROW, WIDE = 64, 1024  # frames in the narrow and in the wide table
FRAMES = NARROW + WIDE
TABLE_FRAME = Layout("frame_constant", ("frame_factors", TRANSFORM_SIZE))
AT_FRAME_CONSTANT, AT_FRAME_FACTORS = TABLE_FRAME.places
TABLE_SIZE = TABLE_FRAME.size

REPORT = Layout("position_error", "rotation_error", "starts", "steps")  # of an answer; its errors are squared
AT_POSITION_ERROR, AT_ROTATION_ERROR, AT_STARTS, AT_STEPS = REPORT.places
REPORT_SIZE = REPORT.size
BEST = Layout("best_error", "best_position", "best_rotation")  # squared; the pose follows
AT_BEST_ERROR, AT_BEST_POSITION, AT_BEST_ROTATION = BEST.places
AT_BEST_POSE = BEST.size


@inner
def chain_of(codes, numbers, values):
    """Return the memory of a chain: codes, ends and rows, settings, limits."""
    limits = beyond(numbers, SETTINGS_SIZE)
    return codes, beyond(limits, LIMITS_SIZE * values), numbers, limits


@inner
def tables_of(table, poses, ranks, scores):
    """Return the memory of tables: frames by lane, poses, and room for their ranks, as lanes and as numbers."""
    return table, beyond(poses, TABLE_SIZE * FRAMES), ranks, scores


@inner
def lane_places(rows, values):
    """Return where parts of the lanes' memory begin.

    Steps taken, squared errors of position and rotation, pose, pose after a step, work of a step, ranks of the tables;
    the goal stands first.
    """
    q = TRANSFORM_SIZE + 3
    work = q + 2 * values
    return TRANSFORM_SIZE, TRANSFORM_SIZE + 1, TRANSFORM_SIZE + 2, q, q + values, work, work + 6 * rows


def chain_numbers(base: NDArray[Any], tip: NDArray[Any], rows: list[NDArray[Any]]) -> NDArray[np.float64]:
    """Return the numbers of a chain: transforms (4, 4) of its ends, and its rows."""
    return np.concatenate([ENDS.pack(base=transform(base), tip=transform(tip)), *rows])


def row_numbers(
    constant: NDArray[Any], dh: tuple[float, ...] | None, multiplier: float, offset: float, advance: float
) -> NDArray[np.float64]:
    """Return the numbers of a row: its constant transform (4, 4), or the four of its Denavit-Hartenberg form."""
    axes, origin = constant[:3, :3].T.ravel(), constant[:3, 3]
    row = ROW_NUMBERS.pack(rotation=axes, shift=origin, multiplier=multiplier, offset=offset, advance=advance)
    if dh is not None:
        row[:TRANSFORM_SIZE] = 0.0
        row[: DH.size] = dh
    return row


def row_travel(numbers: NDArray[Any], row: int) -> float:
    """Return the travel of a row of a chain's numbers that is in Denavit-Hartenberg form."""
    return float(DH.view(ROW_NUMBERS.rows(numbers[AT_ROWS:]).array[row, : DH.size]).travel)


def transform(matrices: NDArray[Any]) -> NDArray[Any]:
    """Return transforms (..., 4, 4) as TRANSFORM, shape (..., 12)."""
    axes = np.swapaxes(matrices[..., :3, :3], -1, -2).reshape(*matrices.shape[:-2], 9)
    return np.concatenate([axes, matrices[..., :3, 3]], axis=-1)


def search_numbers(settings: NDArray[Any], limits: NDArray[Any], chain: NDArray[Any]) -> NDArray[np.float64]:
    """Return what a search reads: settings, limits (values, 4) and a chain's numbers."""
    return np.concatenate([settings, limits.ravel(), chain])


def search_settings(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the settings among the numbers of a search."""
    return numbers[:SETTINGS_SIZE]


def search_table(frames: NDArray[Any], poses: NDArray[Any], dtype: np.dtype[Any], width: int) -> NDArray[Any]:
    """Return frames (n, TABLE_SIZE) and the poses (n, values) that reach them as rows of lanes."""
    lanes = frames.reshape(-1, width, TABLE_SIZE).swapaxes(1, 2).reshape(-1, width)
    return np.ascontiguousarray(np.concatenate([lanes, np.resize(poses, (-(-poses.size // width), width))]), dtype)
