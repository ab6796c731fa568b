"""The arrays of a scene: convex pieces, bodies made of them, pairs of bodies to check, and a tree of world pieces.

A piece is a core (a point, a segment, a box, a cylinder, a hull) and a radius around it: a sphere is a point and a
capsule a segment. It is fixed to a frame of the linkage, or to the world. A *body* has all pieces of one link, or of
one obstacle attached to a link; obstacles fixed to the world are found through a tree of boxes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import inner
from ..lanes import beyond
from ..layout import Layout, pack_tables

POINT, SEGMENT, BOX, CYLINDER, HULL, HALFSPACE = range(6)  # kinds of cores

# frame_from_piece as three rows of four; half sizes along the piece's axes (a segment has only the third, a cylinder
# its radius in the first two, a hull those of a box around it); the radius around the core; a bounding ball of all of
# it, in the frame's axes
PIECE = Layout(("transform", 12), ("sizes", 3), "radius", ("centre", 3), "bound")
# frame -1 is the world; the points of a hull, in the piece's axes; the owner: index of a link's or obstacle's name;
# where in the numbers of points the edges of a large hull begin, -1 for others: first, for each point, where its
# neighbours begin, and where the last of them end; then the neighbours, all as floating-point numbers
PIECE_CODE = Layout("kind", "frame", "first", "count", "owner", "edges")
BODY = Layout("frame", "owner", "first", "end", "looks", "ignored", "ignored_end")  # pieces; obstacles it may touch
BOUND = Layout(("centre", 3), "radius")  # bounding ball of a body, in its frame's axes
NODE = Layout(("low", 3), ("high", 3))  # of the tree: a box along the world's axes; children of k are 2 k + 1, 2 k + 2
# Two owners that are near: the nearest points of each, and the unit normal from the first to the second
NEAR = Layout("frame_a", "frame_b", "owner_a", "owner_b", "distance", ("a", 3), ("b", 3), ("normal", 3))

# The header of `codes`: counts, then the offset of each table in `codes` or in `numbers`. Pieces of bodies come first,
# from `world` on those of the world; from `bounded` on those in the tree, in order of its leaves.
COUNTS = ("values", "frames", "bodies", "pairs", "world", "bounded", "pieces", "leaves")
CODE_TABLES = ("starts", "parents", "row_codes", "body_codes", "pair_codes", "ignored", "piece_codes")
NUMBER_TABLES = ("row_numbers", "bounds", "piece_numbers", "points", "nodes")
HEADER = Layout(*COUNTS, *CODE_TABLES, *NUMBER_TABLES)


def pack_scene_tables(
    counts: Mapping[str, int], code_tables: Mapping[str, ArrayLike], number_tables: Mapping[str, ArrayLike]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return `codes` and `numbers`: the tables one after another, with their offsets in the header."""
    ordered = {name: code_tables[name] for name in CODE_TABLES}, {name: number_tables[name] for name in NUMBER_TABLES}
    return pack_tables(HEADER, counts, *ordered)


@inner
def table(codes, which, memory):
    """Return one of the tables, of codes or of numbers."""
    return beyond(memory, codes[which])


@inner
def piece_code(codes, piece):
    """Return the codes of a piece."""
    return beyond(table(codes, HEADER.piece_codes, codes), PIECE_CODE.size * piece)


@inner
def piece_numbers(codes, numbers, piece):
    """Return the numbers of a piece."""
    return beyond(table(codes, HEADER.piece_numbers, numbers), PIECE.size * piece)


@inner
def body_code(codes, body):
    """Return the codes of a body."""
    return beyond(table(codes, HEADER.body_codes, codes), BODY.size * body)
