"""Process the frames of a long motion in blocks, so that transforms of all links do not fill the memory."""

from __future__ import annotations

from collections.abc import Iterator

from ..motion.clips import Clip
from ..motion.frame_files import block_of
from ..transforms import FloatArray

BLOCK = 4096


def frame_blocks(count: int, *, overlap: int = 0, block: int = BLOCK) -> Iterator[slice]:
    """Yield slices of frames; each includes the first frames of the next block, as many as `overlap`.

    Example:
        >>> [(rows.start, rows.stop) for rows in frame_blocks(5, overlap=1, block=2)]
        [(0, 3), (2, 5), (4, 5)]
    """
    for begin in range(0, count, block):
        yield slice(begin, min(begin + block + overlap, count))


def pose_blocks(clip: Clip, *, overlap: int = 0) -> Iterator[FloatArray]:
    """Yield the poses (frames, nq) of blocks of a clip, in memory."""
    return (block_of(clip.poses, rows) for rows in frame_blocks(len(clip), overlap=overlap))


def part_of(clip: Clip, rows: slice) -> Clip:
    """Return some frames of a clip, in memory."""
    return Clip(clip.linkage, clip.times[rows], block_of(clip.poses, rows))
