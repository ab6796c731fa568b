"""The core of a body: the joints that its roles need, with all others fixed at rest.

Fingers, twist bones, hair and controls do not affect where feet and hands are. They are left out of the solve, which
makes it faster and keeps them from bending; motion of fingers and twist bones is added afterwards. If a file lets every
bone slide as well as turn, bones keep their lengths in the solve.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..linkage.joints import Ball, Fixed, Floating
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..transforms import FloatArray, translation
from .names import meaning_of_both
from .skeletons import Skeleton

BALL = 3  # number of velocities of a ball joint


def core_of(skeleton: Skeleton) -> Skeleton:
    """Return a skeleton whose linkage moves only in the joints on the paths to its roles.

    Example:
        >>> import linkwork as lw
        >>> from linkwork.retargeting import recognise
        >>> human = recognise(lw.models.human())
        >>> sorted(set(human.linkage.coordinates) - set(core_of(human).linkage.coordinates))
        ['left_fingers', 'right_fingers']
    """
    linkage, rest = skeleton.linkage, skeleton.rest
    needed = {i for role in skeleton.roles for i in linkage.path_to(skeleton.body(role))[0]}
    needed |= {i for point in skeleton.points.values() for i in linkage.path_to(point.link)[0]}
    needed -= {i for i in needed if is_twist(linkage, i)}
    led = {arc.mimic.joint for arc in linkage.arcs if arc.mimic is not None}
    travelling = set(linkage.path_to(skeleton.roles["hips"])[0])
    welded: dict[str, dict[str, Any]] = {}
    for i, arc in enumerate(linkage.arcs):
        drive = linkage.drives[i]
        if i == 0 or not drive.nq or arc.mimic is not None or arc.name in led:
            continue
        placed = arc.articulation.matrix(drive.values(rest))
        if i not in needed:
            welded[arc.name] = {"articulation": Fixed(), "placement": arc.placement @ placed}
        elif i not in travelling and arc.articulation == Floating():  # sliding bones keep their lengths
            welded[arc.name] = {"articulation": Ball(), "placement": arc.placement @ translation(placed[:3, 3])}
    if not welded or linkage.constrained:
        return skeleton
    less = linkage.replace(joints=welded)
    kept, seen = columns_of(linkage, less), skeleton.seen
    return replace(
        skeleton,
        linkage=less,
        posed=None if skeleton.posed is None else skeleton.posed[kept],
        seen=None if seen is None else Clip(less, seen.times, seen.poses[:, kept]),
    )


def is_twist(linkage: Linkage, link: int) -> bool:
    """Return whether a link is a bone that shares the twist of another, by its name, and not on a revolute joint."""
    arc = linkage.arcs[link]
    return arc.articulation.nv >= BALL and meaning_of_both(arc.name, linkage.links[link]).twist


def columns_of(linkage: Linkage, core: Linkage) -> list[int]:
    """Return the columns of a linkage's poses that its core has; for sliding bones, those of the rotation."""
    result: list[int] = []
    for i, arc in enumerate(core.arcs):
        if arc.mimic is None and core.drives[i].nq:
            own = range(linkage.nq)[linkage.drives[i].columns]
            result += own[len(own) - core.drives[i].nq :]
    return result


def widened(skeleton: Skeleton, core: Linkage, poses: FloatArray) -> FloatArray:
    """Return poses (frames, nq) of a skeleton from those of its core, with all other joints at rest."""
    if core is skeleton.linkage:
        return poses
    result = np.repeat(skeleton.rest[None], len(poses), axis=0)
    result[:, columns_of(skeleton.linkage, core)] = poses
    return result
