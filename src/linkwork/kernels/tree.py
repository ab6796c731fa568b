"""Over a whole tree: where every frame is.

Imports `lanes`, `rows` and `chain`. Frame f starts from its parent (-1: the world) and does rows ``starts[f]`` to
``starts[f + 1]``; parents come before children, so one pass in order is the depth-first walk without its stack.
"""

from __future__ import annotations

import numpy as np

from . import inner, kernel
from .chain import LANES, block, first_flaw, flaw, give, keep, take
from .lanes import cells, hold, load
from .rows import start, step


@inner
def sweep_tree(starts, parents, frames, codes, numbers, q, world):
    """Leave every frame's matrix in `world`, 16 items a frame."""
    for frame in range(frames):
        x, y, z, p = start(q)
        if load(parents, frame) >= 0:
            a = 16 * load(parents, frame)
            x = (load(world, a), load(world, a + 4), load(world, a + 8))
            y = (load(world, a + 1), load(world, a + 5), load(world, a + 9))
            z = (load(world, a + 2), load(world, a + 6), load(world, a + 10))
            p = (load(world, a + 3), load(world, a + 7), load(world, a + 11))
        for row in range(load(starts, frame), load(starts, frame + 1)):
            x, y, z, p = step(codes, numbers, row, q, x, y, z, p)
        keep(world, frame, x, y, z, p)


@kernel
def frames_one(starts, parents, codes, numbers, q, out):
    """Write all frames (frames * 16,) for a pose (nq,); return whether pose and frames are finite."""
    sweep_tree(cells(starts), cells(parents), parents.size, cells(codes), cells(numbers), cells(q), cells(out))
    return flaw(cells(q), q.size) + flaw(cells(out), out.size) == 0.0


@kernel
def frames_many(starts, parents, codes, numbers, q, nq, out):
    """Write all frames (n * frames * 16,) for poses (n * nq,), n >= LANES; return the index of a bad pose, or n."""
    frames = parents.size
    size = 16 * frames
    count = out.size // size
    lanes, world = np.empty((max(nq, 1), LANES)), np.empty((size, LANES))
    for first in range(0, count, LANES):
        at = block(first, count)
        take(cells(q), nq, at, cells(lanes))
        sweep_tree(cells(starts), cells(parents), frames, cells(codes), cells(numbers), cells(lanes), cells(world))
        bad = first_flaw(flaw(cells(lanes), nq) + flaw(cells(world), size))
        if bad < LANES:
            return at + bad
        give(cells(world), size, cells(out), at, size)
    hold(lanes)
    hold(world)
    return count
