"""Recognise linkages that are the same skeleton: a motion of one is then a motion of the other, without solving."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..linkage.joints import Articulation, Ball, Floating
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..motion.frame_files import Frames, block_of
from ..transforms import FloatArray
from .frame_blocks import frame_blocks
from .quaternion_form import converted

SAME = 1e-6  # tolerance of lengths, over the size of the skeleton, and of rotation matrices
SHORTEST = 1e-12  # [m]
BEYOND = 1e-9
ALIKE = np.cos(0.05)  # least cosine between offsets of skeletons that differ only in their lengths


@dataclass(frozen=True, eq=False)
class Kinship:
    """A motion transferred to a linkage with the same joints, value by value.

    Args:
        source: The motion.
        linkage: The linkage.
        same: Whether all bones have equal lengths, so that the motion is the same.
    """

    source: Clip
    linkage: Linkage
    same: bool

    @cached_property
    def clip(self) -> Clip:
        """The motion of that linkage."""
        own, linkage, frames = self.source.linkage, self.linkage, Frames(self.linkage.nq)
        travels = [row.q for row in linkage.table if row.unit == "m"]
        before: FloatArray | None = None
        for rows in frame_blocks(len(self.source)):
            poses = converted(linkage, own, block_of(self.source.poses, rows), before)
            before = poses[-1].copy()
            if not self.same:
                poses[:, travels] *= max(linkage.length, SHORTEST) / max(own.length, SHORTEST)
            frames.add(poses)
        return Clip(linkage, self.source.times, frames.array())

    @cached_property
    def within_limits(self) -> bool:
        """Whether all frames are within the limits of the linkage."""
        lower, upper = self.linkage.lower - BEYOND, self.linkage.upper + BEYOND
        blocks = (block_of(self.clip.poses, rows) for rows in frame_blocks(len(self.source)))
        return all(bool(((poses >= lower) & (poses <= upper)).all()) for poses in blocks)


def kinship(clip: Clip, linkage: Linkage) -> Kinship | None:
    """Return a motion as one of a linkage with the same links, joints and axes; None if it has others.

    Lengths of bones may differ, as for two people captured with one system. The path of the root is scaled.

    Example:
        >>> import linkwork as lw
        >>> wave = lw.models.motion("human:floating")
        >>> kinship(wave, wave.linkage).same, kinship(wave, lw.models.human(height=1.2, root="floating")).same
        (True, False)
        >>> kinship(wave, lw.models.panda()) is None
        True
    """
    own = clip.linkage
    if own.links != linkage.links or own.parents != linkage.parents:
        return None
    lengths = [max(one.length, SHORTEST) for one in (own, linkage)]
    same = True
    for a, b in zip(own.arcs, linkage.arcs, strict=True):
        if not _one_joint(a.articulation, b.articulation) or (a.mimic is None) != (b.mimic is None):
            return None
        ways = [one.placement[:3, 3] for one in (a, b)]
        if np.abs(a.placement[:3, :3] - b.placement[:3, :3]).max() > SAME:
            return None
        same = same and bool(np.abs(ways[0] - ways[1]).max() <= SAME * lengths[0])
        size = [float(np.linalg.norm(way)) for way in ways]
        far = max(size[0] / lengths[0], size[1] / lengths[1]) > 1e-3
        if a.parent is not None and far and ways[0] @ ways[1] < ALIKE * size[0] * size[1]:
            return None
    return Kinship(clip, linkage, same)


def _one_joint(a: Articulation, b: Articulation) -> bool:
    """Return whether two joints move alike, whether they store rotations as quaternions or as angles."""
    for kind in (Ball, Floating):
        if isinstance(a, kind) and isinstance(b, kind):
            return True
    return a == b
