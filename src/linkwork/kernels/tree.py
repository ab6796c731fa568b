"""Forward kinematics of a whole tree: all frames.

Frame f starts from its parent (-1: the world) and applies rows ``starts[f]`` to ``starts[f + 1]``. Parents come before
children, so one pass in order is the depth-first walk without its stack.
"""

from __future__ import annotations

from . import inner, kernel
from .chain import LANES, first_flaw, flaw, give, keep, take
from .joint_step import start, step
from .lanes import beyond, cells, load


@inner
def column(world, at):
    """Return three items of a column of a 4x4 matrix."""
    return load(world, at), load(world, at + 4), load(world, at + 8)


@inner
def sweep_tree(starts, parents, frames, codes, numbers, q, world):
    """Write the matrix of every frame to `world`, 16 items per frame."""
    for frame in range(frames):
        x, y, z, p = start(q)
        if load(parents, frame) >= 0:
            a = 16 * load(parents, frame)
            x, y, z, p = column(world, a), column(world, a + 1), column(world, a + 2), column(world, a + 3)
        for row in range(load(starts, frame), load(starts, frame + 1)):
            x, y, z, p = step(codes, numbers, row, q, x, y, z, p)
        keep(world, frame, x, y, z, p)


@kernel("i8[] i8[] i8[] f8[] f8[] f8[] -> b1")
def frames_one(starts, parents, codes, numbers, q, out):
    """Write all frames (frames * 16,) for a pose (nq,); return whether the pose and the frames are finite."""
    sweep_tree(cells(starts), cells(parents), parents.size, cells(codes), cells(numbers), cells(q), cells(out))
    return flaw(cells(q), q.size) + flaw(cells(out), out.size) == 0.0


@kernel("i8[] i8[] i8[] f8[] f8[] i8 f8[,] f8[] -> i8", nogil=True)
def frames_many(starts, parents, codes, numbers, q, nq, room, out):
    """Write all frames (n * frames * 16,) for poses (n * nq,), n >= LANES; return the index of a non-finite pose, or n.

    `room` is workspace of nq + 16 * frames rows of LANES.
    """
    frames = parents.size
    size = 16 * frames
    count = out.size // size
    lanes, world = cells(room), beyond(cells(room), nq)
    for first in range(0, count, LANES):
        at = min(first, count - LANES)  # the last block overlaps the one before, so that every lane has a pose
        take(cells(q), nq, at, lanes)
        sweep_tree(cells(starts), cells(parents), frames, cells(codes), cells(numbers), lanes, world)
        bad = first_flaw(flaw(lanes, nq + size))
        if bad < LANES:
            return at + bad
        give(world, size, cells(out), at, size)
    return count
