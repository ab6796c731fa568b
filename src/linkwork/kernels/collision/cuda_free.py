"""Check on a GPU which poses are free of collisions: the CPU's check with one pose per thread.

The scene is read from memory, so one kernel serves every world. If all pieces of an arm are balls, and the world has no
hulls, no other pairs of pieces can meet: kernels without them are a tenth as long.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from .. import lanes
from ..cuda import EXACT, KINDS, both_of_any, choose, device, shared
from ..cuda_generic import in_precision
from ..cuda_memory import further, memory_of
from ..joint_step import sine_cosine
from ..symbolic import rebuilt
from .depth import GROWTH, overlap
from .free import Free, free_lanes, touching
from .pair_distance import PAIR_WORK, distance_within
from .piece_layout import HEADER, HULL, PIECE, PIECE_CODE, POINT, piece_code, piece_numbers, table

DEEP = -1.0e30  # distance of overlapping cores: the depth does not matter for a margin
APART = PAIR_WORK - GROWTH.size  # size of the workspace for the distance of two pieces, without their depth


def only_balls(codes: NDArray[np.int64]) -> bool:
    """Return whether the pieces of a scene's bodies are all balls, and the world has no hulls."""
    first, world, pieces = codes[HEADER.piece_codes], codes[HEADER.world], codes[HEADER.pieces]
    kinds = PIECE_CODE.view(codes[first : first + PIECE_CODE.size * pieces].reshape(pieces, -1)).kind
    return bool((kinds[:world] == POINT).all() and not (kinds[world:] == HULL).any())


def check_with(codes: NDArray[np.int64], dtype: Any) -> Any:
    """Return the device function ``is_free(codes, numbers, margin, pose)`` for scenes with the same number of frames.

    If pieces other than balls can meet, margins must not be negative.
    """
    values, places, kind = int(codes[HEADER.values]), 16 * int(codes[HEADER.frames]), KINDS[np.dtype(dtype).name]
    balls = only_balls(codes)
    names = _stand_ins(dtype)
    names[touching] = shared(_all_touch) if balls else _touching(names, dtype)
    check, size = _device(free_lanes, names, dtype), 1 if balls else 24 + APART

    def is_free(scene, numbers, margin, pose):
        world, work = memory_of(cuda.local.array(places, kind)), memory_of(cuda.local.array(size, kind))
        codes, q = memory_of(scene), memory_of(pose)
        return check(Free(codes, memory_of(numbers), margin, codes, values, q, world, world, work), 1) != 0

    return device(is_free, fast=dtype is np.float32)


def _device(function: Any, names: dict[Any, Any], dtype: Any, *, inline: bool = True) -> Any:
    fast = dtype is np.float32
    return rebuilt(function, names, lambda plain: device(in_precision(plain, dtype), fast=fast, inline=inline))


def _stand_ins(dtype: Any) -> dict[Any, Any]:
    """Return the replacements of the functions of lanes: memory is arrays, a lane is a number."""
    fast = dtype is np.float32

    def fill(_memory, value):
        return dtype(value)

    return {
        lanes.load: shared(_load),
        lanes.store: shared(_store),
        lanes.beyond: further,
        lanes.bits: shared(_bits),
        lanes.fill: device(fill),
        lanes.select: shared(choose),
        lanes.sqrt: shared(_root, fast=fast),
        lanes.fabs: shared(_size),
        sine_cosine: shared(both_of_any if fast else EXACT, fast=fast),
    }


def _touching(names: dict[Any, Any], dtype: Any) -> Any:
    """Return the function that tells whether two pieces are nearer than the margin."""
    names[overlap] = shared(_deep)
    distance = _device(distance_within, names, dtype, inline=False)
    code_of, numbers_of, part = (_device(one, names, dtype) for one in (piece_code, piece_numbers, table))
    put_pose, points_at = device(_put_pose), HEADER.points

    def touching_one(free, frame, piece, other_frame, other, alive):
        if alive == 0:
            return 0
        a, b = numbers_of(free.codes, free.numbers, piece), numbers_of(free.codes, free.numbers, other)
        pose_a, pose_b, work = free.work, further(free.work, 12), further(free.work, 24)
        put_pose(free.world, frame, a, pose_a)
        put_pose(free.world, other_frame, b, pose_b)
        one, two = code_of(free.codes, piece), code_of(free.codes, other)
        points = part(free.codes, points_at, free.numbers)
        return 1 if distance(one, a, pose_a, two, b, pose_b, points, free.margin, work)[0] < free.margin else 0

    return device(touching_one)


def _put_pose(world, frame, piece, out):
    """Write world_from_piece of a piece, three rows of four; frame -1 is the world."""
    for i in range(3):
        at = 16 * max(frame, 0) + 4 * i
        for j in range(4):
            m = PIECE.transform + j
            here = piece[m + 4 * i]
            turned = world[at] * piece[m] + world[at + 1] * piece[m + 4] + world[at + 2] * piece[m + 8]
            out[4 * i + j] = here if frame < 0 else turned + (world[at + 3] if j == 3 else turned * 0.0)


def _all_touch(_free, _frame, _piece, _other_frame, _other, alive):
    return alive


def _deep(_two, _points, _work):
    return DEEP, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0


def _load(memory, item):
    return memory[item]


def _store(memory, item, value):
    memory[item] = value


def _bits(mask):
    return 1 if mask else 0


def _root(x):
    return math.sqrt(x)


def _size(x):
    return math.fabs(x)
