"""Keys for writing a clip to glTF, in blocks: its frames, and more where a joint turns far."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..linkage.linkage import Linkage
from ..motion.clips import BLOCK, Clip
from ..motion.sample_blocks import Turns
from ..transforms import FloatArray
from .content import Remarks
from .gltf_extras import written_times

WIDEST_TURN = 2.5  # largest rotation between two keys [rad]: glTF interpolates the shorter rotation
MOST_BETWEEN = 1000.0  # largest number of keys per frame


class Keys:
    """The keys of a clip: its frames, and more where a joint turns far between two.

    Args:
        clip: The clip.
        name: Its name.
        remarks: Remarks on what glTF cannot store are added to this.
    """

    def __init__(self, clip: Clip, name: str, remarks: Remarks) -> None:
        self.clip, self.linkage = clip, clip.linkage
        self._times, self._kept = written_times(clip.times)
        self._ratio = _ratios(self.linkage)
        if clip.times[0] < 0.0:
            text = f"clip {name!r} begins at {clip.times[0]:g} s; it is shifted to begin at zero, as glTF requires."
            remarks.add("times", text, name)
        if len(self._kept) < len(clip):
            text = f"{len(clip) - len(self._kept)} frames of clip {name!r} are left out: too close to the one before"
            remarks.add("dropped", f"{text} for float32 times.", name)
        if clip.residuals is not None:
            remarks.add("dropped", f"the residuals of clip {name!r} are not written.", name)

    def whole(self) -> tuple[FloatArray, FloatArray]:
        """Return the times (n,) and poses (n, nq) of all keys."""
        times, poses = zip(*self.blocks(), strict=True)
        return np.concatenate(times), np.concatenate(poses)

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield times and poses of keys in blocks."""
        count, last = len(self._kept), -np.inf
        turns = Turns(self.linkage, self.clip.poses, self._kept)  # shorter turns without limits, as in the clip
        for begin in range(0, count, BLOCK):
            stop = min(begin + BLOCK + 1, count)  # with the first frame of the next block
            ends = begin + BLOCK >= count
            times, poses = self._finer(self._times[begin:stop], turns.unwound(begin, stop), ends)
            new = np.concatenate([[last], times[:-1].astype(np.float32)]) < times.astype(np.float32)
            last = float(np.float32(times[-1]))
            yield times[new], poses[new]

    def _finer(self, times: FloatArray, poses: FloatArray, ends: bool) -> tuple[FloatArray, FloatArray]:
        """Return keys at and between frames; the last frame is included only at the end of the motion."""
        fast = np.flatnonzero(self._ratio)
        steps = np.abs(np.diff(poses[:, fast], axis=0)) * self._ratio[fast]
        counts = np.ceil(steps.max(axis=1, initial=0.0) / WIDEST_TURN).clip(1.0, MOST_BETWEEN).astype(np.int64)
        if (counts == 1).all():
            return (times, poses) if ends else (times[:-1], poses[:-1])
        start = np.repeat(np.arange(len(counts)), counts)
        part = np.concatenate([np.arange(count) / count for count in counts])
        finer = times[start] + part * (times[start + 1] - times[start])
        between = self.linkage.interpolate(poses[start], poses[start + 1], part, wrap=False)
        if not ends:
            return finer, between
        return np.append(finer, times[-1]), np.concatenate([between, poses[-1:]])


def _ratios(linkage: Linkage) -> FloatArray:
    """Return the largest ratio of joint angle to each value (nq,); zero if it moves no single-axis rotation."""
    ratio = np.zeros(linkage.nq)
    for arc, drive in zip(linkage.arcs, linkage.drives, strict=True):
        if arc.articulation.units.count("rad") == 1:  # several form one rotation, the shorter one too
            angle = drive.q + arc.articulation.units.index("rad")
            ratio[angle] = max(ratio[angle], abs(drive.multiplier))
    return ratio
