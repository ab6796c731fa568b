"""The velocity that changes each value of a pose, for kernels that follow a straight path."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernels.collision.moving import PLAIN, QUATERNION, WAY
from ..linkage.linkage import Linkage


def ways_of(linkage: Linkage, velocities: Sequence[int] | None = None) -> NDArray[np.int64]:
    """Return a record WAY for every value of a linkage, flat.

    Args:
        linkage: The linkage.
        velocities: The velocities that may differ from zero, in the order of the columns; by default all. For a ball,
            all three in order, or none.
    """
    columns = np.full(linkage.nv, -1)
    moving = np.arange(linkage.nv) if velocities is None else np.asarray(velocities, np.int64)
    columns[moving] = np.arange(len(moving))
    ways = WAY.pack(dtype=np.int64, shape=(linkage.nq,), kind=PLAIN, column=-1)
    own, (q, v, _) = WAY.view(ways), linkage.table.plain
    own.column[q] = columns[v]
    for first, rate in linkage.table.quaternions:
        own.kind[first], own.column[first] = QUATERNION, columns[rate]
    return ways.reshape(-1)
