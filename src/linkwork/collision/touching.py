"""Count the poses in which pairs of links touch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..kernels.collision.piece_layout import NEAR
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .near import near_records
from .packing import pack_scene

TOUCHING = 1e-6  # [m]: pairs nearer than this touch, so that rounding does not decide for surfaces in contact
ROOM = 2**22  # largest number of values in the records of one batch


def touch_counts(
    linkage: Linkage, pairs: Sequence[tuple[str, str]], poses: FloatArray
) -> tuple[set[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return the pairs that touch in the first of some poses, and the number of other poses in which each touches.

    Args:
        linkage: The linkage.
        pairs: Pairs of its links, in its order.
        poses: Poses, shape (n >= 1, nq).
    """
    counts: Counter[tuple[str, str]] = Counter()
    first: set[tuple[str, str]] = set()
    if not pairs:
        return first, counts
    scene = pack_scene(linkage, None, pairs)
    step = max(1, ROOM // (scene.most * NEAR.size))
    owners = len(scene.owners)
    for start in range(0, len(poses), step):
        records, found = near_records(scene, np.ascontiguousarray(poses[start : start + step]), TOUCHING, scene.most)
        used = np.arange(scene.most) < found[:, None]
        codes = records[..., NEAR.owner_a][used] * owners + records[..., NEAR.owner_b][used]
        for code, number in zip(*np.unique(codes.astype(np.int64), return_counts=True), strict=True):
            counts[_in_order(scene.owners, *divmod(int(code), owners))] += int(number)
        if start == 0:
            rows = records[0, : found[0]]
            ends = zip(rows[:, NEAR.owner_a].astype(int), rows[:, NEAR.owner_b].astype(int), strict=True)
            first = {_in_order(scene.owners, a, b) for a, b in ends}
    counts.subtract(first)
    return first, counts


def _in_order(owners: tuple[str, ...], a: int, b: int) -> tuple[str, str]:
    return owners[min(a, b)], owners[max(a, b)]
