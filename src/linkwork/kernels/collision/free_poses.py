"""Check which of many poses are free of collisions, eight at a time."""

from __future__ import annotations

import numpy as np

from .. import kernel
from ..chain import take
from ..lanes import cells, flat, store
from .free import WIDTH, free_lanes, free_of


@kernel("i8[] f8[] f8 f8[,] i8[] f8[,] u1[]", nogil=True)
def free_poses(scene, shapes, margin, poses, places, room, out):
    """Write 1 for each of the poses (n, nq), n >= 8, in which all checked pairs keep a margin, else 0.

    `places` is empty; `room` has the shape `free.free_room`.
    """
    free, count, nq = free_of(scene, shapes, margin, places, room), poses.shape[0], poses.shape[1]
    for first in range(0, count, WIDTH):
        at = min(first, count - WIDTH)  # the last block overlaps the one before, so that every lane has a pose
        take(flat(poses), nq, at, free.pose)
        left = free_lanes(free, (1 << WIDTH) - 1)
        for lane in range(WIDTH):
            store(cells(out), at + lane, np.uint8((left >> lane) & 1))
