"""A tree of bounding boxes over the pieces of the world, so that a search skips most of them.

It is a full binary tree: the children of node k are 2 k + 1 and 2 k + 2, and leaf i of L holds the pieces from ``n i //
L`` to ``n (i + 1) // L``. So only the order of the pieces and one box per node are stored.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.collision.piece_layout import NODE
from ..transforms import FloatArray

LEAF = 4  # largest number of pieces in a leaf


def tree_of_boxes(low: FloatArray, high: FloatArray) -> tuple[NDArray[np.int64], int, FloatArray]:
    """Return the order of the pieces, the number of leaves, and a record of NODE for each node.

    Blocks of pieces are halved along the axis with the largest spread of their centres, all blocks at once.

    Args:
        low: The lowest coordinates of each piece, shape (n, 3).
        high: The highest.
    """
    count, leaves = len(low), 1
    order = np.arange(count)
    if not count:
        return order, 0, NODE.pack(shape=(0,), low=0.0, high=0.0)
    middles = (low + high) / 2.0
    while leaves * LEAF < count:
        blocks, edges = _blocks(count, leaves)
        lowest, highest = np.minimum.reduceat(middles[order], edges), np.maximum.reduceat(middles[order], edges)
        axes = (highest - lowest).argmax(axis=1)
        along = middles[order, axes[blocks]]
        order = order[np.lexsort((along, blocks))]
        leaves *= 2
    _, edges = _blocks(count, leaves)
    levels = [(np.minimum.reduceat(low[order], edges), np.maximum.reduceat(high[order], edges))]
    while len(levels[0][0]) > 1:
        below = levels[0]
        levels.insert(0, (np.minimum(below[0][::2], below[0][1::2]), np.maximum(below[1][::2], below[1][1::2])))
    lows, highs = (np.concatenate([level[side] for level in levels]) for side in (0, 1))
    return order, leaves, NODE.pack(shape=(len(lows),), low=lows, high=highs)


def _blocks(count: int, leaves: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the block of each position in the order, and the first position of each block."""
    edges = count * np.arange(leaves + 1) // leaves
    return np.repeat(np.arange(leaves), np.diff(edges)), edges[:-1]
