"""Interpolate long motions block by block, so that memory does not grow with their length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..linkage.linkage import Linkage
from ..linkage.poses import wrapped
from ..transforms import FloatArray
from .frame_files import block_of
from .splines import sample

BLOCK = 8192  # samples or keys processed together
BESIDE = 1  # keys on either side that influence an interval
OVER_ALL = ("cubic",)  # kinds in which every key influences every interval


def samples_in_blocks(
    linkage: Linkage, times: FloatArray, keys: FloatArray, samples: FloatArray, kind: str
) -> Iterator[FloatArray]:
    """Yield the poses at non-decreasing sample times, block by block; together they are the result of `sample`.

    Args:
        linkage: The linkage.
        times: Times of the keys (n,) [s].
        keys: Poses of the keys (n, nq), which may be in a file.
        samples: Times of the requested poses (m,) [s].
        kind: One of `splines.KINDS`.
    """
    if kind in OVER_ALL or len(times) == 1:
        yield sample(linkage, times, keys, samples, kind=kind)
        return
    turns, last = Turns(linkage, keys), None
    for begin in range(0, len(samples), BLOCK):
        wanted = samples[begin : begin + BLOCK]
        ends = np.clip(np.searchsorted(times, wanted[[0, -1]], side="right") - 1, 0, len(times) - 2)
        first, stop = max(int(ends[0]) - BESIDE, 0), min(int(ends[1]) + 2 + BESIDE, len(times))
        near = turns.unwound(first, stop)
        found = sample(linkage, times[first:stop], near, wanted, kind=kind, wrap=False)
        if last is not None:
            continue_signs(linkage, found, last)
        last = found[-1].copy()
        yield found


def continue_signs(linkage: Linkage, poses: FloatArray, last: FloatArray) -> None:
    """Choose the signs of quaternions in poses (n, nq) so that the first pose continues the pose before."""
    for k, _ in linkage.table.quaternions:
        if poses[0, k : k + 4] @ last[k : k + 4] < 0.0:
            poses[:, k : k + 4] *= -1.0


class Turns:
    """Poses with whole turns added, as by `splines.unwound`, requested in stretches from first to last.

    Args:
        linkage: The linkage.
        keys: All poses (n, nq), which may be in a file.
        kept: Indices of the poses in use, increasing; all by default.
    """

    def __init__(self, linkage: Linkage, keys: FloatArray, kept: NDArray[np.int64] | None = None) -> None:
        q, _, wraps = linkage.table.plain
        self.keys, self.kept, self._columns = keys, kept, q[wraps]
        self._at, self._way = 0, np.zeros(len(self._columns))  # the turns of all poses up to this index are known
        self._start = self._block(0, 1)[0, self._columns]

    def unwound(self, first: int, stop: int) -> FloatArray:
        """Return poses `first` to `stop`; `first` must not be smaller than in the call before."""
        while self._at < first:
            upto = min(self._at + BLOCK, first)
            self._way, self._at = self._ways(self._block(self._at, upto + 1))[-1], upto
        result = self._block(first, stop)
        ways = self._ways(result)
        result[first == 0 :, self._columns] = (self._start + ways)[first == 0 :]
        return result

    def _block(self, first: int, stop: int) -> FloatArray:
        if self.kept is None:
            return np.array(block_of(self.keys, slice(first, stop)))
        rows = self.kept[first:stop]
        return np.array(block_of(self.keys, slice(rows[0], rows[-1] + 1))[rows - rows[0]])

    def _ways(self, poses: FloatArray) -> FloatArray:
        """Return the change of angles since the very first pose, (n, angles), continued from the last known pose."""
        steps = wrapped(np.diff(poses[:, self._columns], axis=0))
        return np.cumsum(np.concatenate([self._way[None], steps]), axis=0)
