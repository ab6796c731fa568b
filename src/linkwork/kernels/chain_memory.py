"""Layouts of the arrays of the chain search, for one goal, for many goals and on a GPU.

    codes     CODE for each row
    numbers   SETTINGS, then LIMITS for each value, ENDS, and `joint_step.ROW_NUMBERS` for each row: all axes are z
    table     in lanes: FRAME for each frame of the narrow and the wide table; then the poses that reach them
    goal      a TRANSFORM: the wanted frame of the tip

A row is a joint about or along its own z axis. A value is the coordinate that drives it; several rows may share one.
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
FORM_DH = 3  # a form of the constant transform: Denavit-Hartenberg; the other forms are those of `joint_step`
DH = Layout("twist_cosine", "twist_sine", "length", "travel")  # in place of the transform of a row

ENDS = Layout(("base", TRANSFORM.size), ("tip", TRANSFORM.size))

SETTINGS = Layout(
    ("position_weights", 3),  # of x, y and z: 0 or 1
    "rotation_weight",  # [m/rad]
    "spin",  # not 0 if the frame may spin about its z axis
    "damping_gain",  # factor on the squared error
    "damping_least",
    "near",  # squared tolerance of the position
    "aligned",  # squared tolerance of the rotation, as a length 2 sin(angle / 2)
    "most_steps",  # maximum of one start
    "check_after",  # steps after which a start must make progress
    "stalled",  # ratio of squared errors above which a step makes no progress
    "close",  # squared error below which no progress is required
    "start_bound",  # scale of the number of starts; see `starts_worth_trying`
    ("centre", 3),  # of the two spherical shells that contain all reachable points
    ("shell", 2),  # of the tip: squared inner and outer radius
    ("point", 3),  # of the last axis, in the frame of the goal
    ("point_shell", 2),
    "caution",  # extra damping of steps towards a goal out of reach
    "arm",  # a quarter of the chain's length: the length that weighs a radian against a metre
    "carriers",  # number of leading values (the base) that are aimed at a goal before the others move
)
# random starts lie between `start_low` and `start_high`; `periodic` is 1 if a whole turn changes nothing, else 0
LIMITS = Layout("lower", "upper", "start_low", "start_high", "periodic")

NARROW, WIDE = 64, 1024  # numbers of frames in the narrow and in the wide table
FRAMES = NARROW + WIDE
FRAME = Layout("constant", ("factors", TRANSFORM.size))

REPORT = Layout("position_error", "rotation_error", "starts", "steps")  # of an answer; both errors are squared
BEST = Layout("error", "position", "rotation")  # squared errors; the pose follows


# Numba supports only this kind of named tuple
Chain = namedtuple("Chain", "codes numbers settings limits")
Tables = namedtuple("Tables", "frames poses ranks scores")  # frames, ranks in lanes; scores are the ranks as numbers
Lanes = namedtuple(
    "Lanes",
    (
        "goal",
        "steps",  # number taken
        "moved",  # squared position error
        "turned",  # squared rotation error
        "q",  # the pose
        "after",  # the pose after a step
        "work",  # workspace of a step
        "ranks",  # of the tables, and other data that a search keeps
    ),
)


@inner
def chain_of(codes, numbers, values):
    """Return the memory of a chain as a tuple; its `numbers` begin at the ends, followed by the rows."""
    limits = beyond(numbers, SETTINGS.size)
    return Chain(codes, beyond(limits, LIMITS.size * values), numbers, limits)


@inner
def lane_sizes(rows, values, width):
    """Return the sizes of the parts of the lanes' memory: in vectors of lanes if `width` is 1, else in numbers."""
    pose = width * values
    return Lanes(width * TRANSFORM.size, width, width, width, pose, pose, 6 * width * rows, 0)


def search_table(frames: NDArray[Any], poses: NDArray[Any], dtype: np.dtype[Any], width: int) -> NDArray[Any]:
    """Return frames (n, FRAME.size) and the poses (n, values) that reach them as an array, rows of `width` lanes."""
    lanes = frames.reshape(-1, width, FRAME.size).swapaxes(1, 2).reshape(-1, width)
    return np.ascontiguousarray(np.concatenate([lanes, np.resize(poses, (-(-poses.size // width), width))]), dtype)
