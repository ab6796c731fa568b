"""What Python asks of a scene: where its frames are at a pose, and which pairs are near there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import inner, kernel
from ..chain import flaw
from ..lanes import beyond, cells, flat
from ..tree import sweep_tree
from .near import near_pairs, work_size
from .piece_layout import HEADER, NEAR, table


@inner
def place_frames(codes, numbers, q, frames):
    """Write where the frames of a scene are at a pose, 16 numbers each."""
    starts, parents = table(codes, HEADER.starts, codes), table(codes, HEADER.parents, codes)
    rows, constants = table(codes, HEADER.row_codes, codes), table(codes, HEADER.row_numbers, numbers)
    sweep_tree(starts, parents, codes[HEADER.frames], rows, constants, q, frames)


@kernel("i8[] f8[] f8[,] f8 i8 f8[] i8[] f8[] -> i8", nogil=True)
def clearance_many(codes, numbers, poses, within, most, records, counts, room):
    """Write what is near at each of many poses; return the index of a bad pose, or how many there are.

    Args:
        codes: The scene.
        numbers: Likewise.
        poses: Poses, shape (n, nq).
        within: Pairs that are as far apart or further are left out [m].
        most: How many pairs are wanted of each pose, at least 1.
        records: Room for ``n * most`` records of NEAR.
        counts: Takes how many there are of each pose, shape (n,).
        room: Memory to work in, `room_size` numbers.
    """
    scene, constants, frames = cells(codes), cells(numbers), cells(room)
    work = beyond(frames, 16 * scene[HEADER.frames])
    for k in range(poses.shape[0]):
        q = beyond(flat(poses), k * poses.shape[1])
        place_frames(scene, constants, q, frames)
        if flaw(q, poses.shape[1]) + flaw(frames, 16 * scene[HEADER.frames]) != 0.0:
            return k
        own = beyond(cells(records), NEAR.size * most * k)
        counts[k] = near_pairs(scene, constants, frames, within, most, own, work)
    return poses.shape[0]


def room_size(codes: NDArray[np.int64]) -> int:
    """Return how many numbers `clearance_many` needs to work in."""
    return 16 * int(codes[HEADER.frames]) + work_size(codes)
