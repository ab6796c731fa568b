"""Split long motions into stretches, each solved with some seconds around it, so that the result is as in one solve.

Each stretch is blended smoothly into the next, where both nearly agree already.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np

from ..linkage.linkage import Linkage
from ..linkage.poses import advance, between
from ..motion.smoothing import frame_time
from ..motion.splines import smooth as smooth_step
from ..transforms import FloatArray

LONG = 8192  # frames: longer motions are done in stretches
CORE = 6000  # least number of frames of a stretch
CONTEXT = 4.0  # [s] before and after a stretch: frames farther away have no influence, except over a contact
WIDER = 8.0  # additional context, in smoothing times
FADE = 0.25  # [s]: half the time of the blend between two stretches


@dataclass(frozen=True)
class Stretch:
    """Frames of a long motion that are done together.

    Args:
        first: Its first frame.
        last: The frame after its last.
        rows: The frames that are solved: its own, with context.
        given: The frames that it contributes to the result.
        fade: Number of frames before and after the first that are blended with the stretch before.
    """

    first: int
    last: int
    rows: slice
    given: slice
    fade: int

    @property
    def around(self) -> slice:
        """The frames that it contributes, with some on either side that influence them."""
        more = 2 * self.fade
        return slice(max(self.given.start - more, self.rows.start), min(self.given.stop + more, self.rows.stop))

    @property
    def settled(self) -> slice:
        """The frames that it contributes, as rows of `around`."""
        return slice(self.given.start - self.around.start, self.given.stop - self.around.start)

    def local(self, frames: slice) -> slice:
        """Return frames of the motion as rows of the stretch."""
        return slice(frames.start - self.rows.start, frames.stop - self.rows.start)


def stretches(times: FloatArray, smooth: float) -> list[Stretch]:
    """Return the stretches of a motion.

    Args:
        times: Times of its frames [s].
        smooth: Smoothing time [s].

    Example:
        >>> first, second = stretches(np.arange(13_000) / 32.0, 0.0)
        >>> (first.last, first.rows.stop, first.given.stop), (second.first, second.rows.start, second.given.start)
        ((6500, 6628, 6492), (6500, 6372, 6492))
    """
    count, step = len(times), frame_time(times)
    context, fade = ceil((CONTEXT + WIDER * smooth) / step), ceil(FADE / step)
    pieces = max(1, count // max(CORE, 4 * context))
    edges = np.linspace(0, count, pieces + 1).astype(int).tolist()
    return [
        Stretch(
            first,
            last,
            slice(max(first - context, 0), min(last + context, count)),
            slice(first - fade if first else 0, last - fade if last < count else count),
            fade,
        )
        for first, last in pairwise(edges)
    ]


def stitched(
    linkage: Linkage, stretch: Stretch, poses: FloatArray, before: tuple[Stretch, FloatArray] | None
) -> FloatArray:
    """Return the poses (frames, nq) of the frames that a stretch contributes, and of those around them.

    Args:
        linkage: The linkage.
        stretch: The stretch.
        poses: Its poses.
        before: The stretch before and its poses, if there is one.
    """
    result = poses[stretch.local(stretch.around)].copy()
    if before is not None:
        meeting = slice(stretch.first - stretch.fade, stretch.first + stretch.fade)
        old, new = before[1][before[0].local(meeting)], poses[stretch.local(meeting)]
        share = smooth_step((np.arange(len(old)) + 0.5) / len(old))[:, None]
        begin = meeting.start - stretch.around.start
        result[begin : begin + len(old)] = advance(linkage, old, share * between(linkage, old, new))
    return result
