"""Queries of a scene from Python: its frames at a pose, and the near pairs there."""

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
    """Write the frames of a scene at a pose, 16 numbers each."""
    starts, parents = table(codes, HEADER.starts, codes), table(codes, HEADER.parents, codes)
    rows, constants = table(codes, HEADER.row_codes, codes), table(codes, HEADER.row_numbers, numbers)
    sweep_tree(starts, parents, codes[HEADER.frames], rows, constants, q, frames)


@kernel("i8[] f8[] f8[,] f8 i8 f8[] i8[] f8[] -> i8", nogil=True)
def clearance_many(codes, numbers, poses, within, most, records, counts, room):
    """Write the near pairs at each of many poses; return the index of a non-finite pose, or the number of poses.

    Args:
        codes: The scene.
        numbers: Likewise.
        poses: Poses, shape (n, nq).
        within: Pairs at this distance or further are left out [m].
        most: Largest number of pairs per pose, at least 1.
        records: Receives ``n * most`` records of NEAR.
        counts: Receives the number of pairs of each pose, shape (n,).
        room: Workspace of `room_size` numbers.
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
    """Return the size of the workspace of `clearance_many`, in numbers."""
    return 16 * int(codes[HEADER.frames]) + work_size(codes)
