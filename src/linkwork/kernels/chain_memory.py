"""What stands in the arrays of the chain search, for one goal, for many and on a graphics card.

    codes     CODE for each row
    numbers   SETTINGS, then LIMITS for each value, ENDS, and `joint_step.ROW_NUMBERS` for each row: all axes are z
    table     by lane: FRAME for each frame of the narrow and the wide table; then the poses that reach them
    goal      a TRANSFORM: where the tip should be

A row is a joint about or along its own z axis, a value what drives it: several rows may share one.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import inner
from .joint_step import TRANSFORM
from .lanes import beyond
from .layout import Layout

CODE = Layout("motion", "value", "form")
FORM_DH = 3  # of the constant transform: Denavit-Hartenberg; the others are those of `joint_step`
DH = Layout("twist_cosine", "twist_sine", "length", "travel")  # stands in a row where others have their transform

ENDS = Layout(("base", TRANSFORM.size), ("tip", TRANSFORM.size))

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
    "arm",  # a quarter of the chain's length: what a radian counts beside a metre
    "carriers",  # how many values, from the first on, are aimed at a goal before anything else moves
)
# random starts are drawn from `start_low` to `start_high`; `periodic` is 1 where a whole turn moves nothing, else 0
LIMITS = Layout("lower", "upper", "start_low", "start_high", "periodic")

NARROW, WIDE = 64, 1024  # frames in the narrow and in the wide table
FRAMES = NARROW + WIDE
FRAME = Layout("constant", ("factors", TRANSFORM.size))

REPORT = Layout("position_error", "rotation_error", "starts", "steps")  # of an answer; its errors are squared
BEST = Layout("error", "position", "rotation")  # squared; the pose follows


# Numba knows this kind of named tuple only
Chain = namedtuple("Chain", "codes numbers settings limits")
Tables = namedtuple("Tables", "frames poses ranks scores")  # frames and ranks by lane; scores are the ranks as numbers
Lanes = namedtuple(
    "Lanes",
    (
        "goal",
        "steps",  # taken
        "moved",  # squared error of the position
        "turned",  # and of the rotation
        "q",  # the pose
        "after",  # the pose after a step
        "work",  # of a step
        "ranks",  # of the tables, and what else a search keeps
    ),
)


@inner
def chain_of(codes, numbers, values):
    """Return the memory of a chain; its numbers are the ends and the rows."""
    limits = beyond(numbers, SETTINGS.size)
    return Chain(codes, beyond(limits, LIMITS.size * values), numbers, limits)


@inner
def lane_sizes(rows, values, width):
    """Return how much each part of the lanes' memory takes: in lanes where the width is 1, else in numbers."""
    pose = width * values
    return Lanes(width * TRANSFORM.size, width, width, width, pose, pose, 6 * width * rows, 0)


def search_table(frames: NDArray[Any], poses: NDArray[Any], dtype: np.dtype[Any], width: int) -> NDArray[Any]:
    """Return frames (n, FRAME.size) and the poses (n, values) that reach them as rows of lanes."""
    lanes = frames.reshape(-1, width, FRAME.size).swapaxes(1, 2).reshape(-1, width)
    return np.ascontiguousarray(np.concatenate([lanes, np.resize(poses, (-(-poses.size // width), width))]), dtype)
