"""Retarget the path of one hand to a robot arm, scaled about its middle until all of it is within reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import MappingError
from ..goals import Avoid
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..motion.frame_goals import GoalTrack, Progress, follow
from ..motion.smoothing import smoothed
from ..transforms import FloatArray
from .anatomy import levelled
from .frame_blocks import frame_blocks, part_of
from .skeletons import ARMS, Skeleton
from .transfer import anatomical_motion

PATH, STEADY, STYLE = 20.0, 0.05, 0.05
REACHED = 1e-3  # [m]: a path is followed if no position is missed by more
SMALLER, TRIES = 0.8, 12
SAMPLES = 512  # random poses to estimate the reach of an arm


@dataclass(frozen=True)
class HandPlan:
    """A path for the tip of an arm.

    Args:
        source: The source's skeleton.
        linkage: The arm.
        frame: Its tip.
        role: The role of the source that leads it.
        motion: The motion of the source.
        places: Goal positions of the tip, (frames, 3).
        scale: Scale factor of the path.
        poses: The poses that follow it, (frames, nq).
    """

    source: Skeleton
    linkage: Linkage
    frame: str
    role: str
    motion: Clip
    places: FloatArray
    scale: float
    poses: FloatArray


def arm_of(linkage: Linkage) -> list[int]:
    """Return the links on the path to every end that moves, from the root outwards: the arm, if there is one.

    Example:
        >>> import linkwork as lw
        >>> panda = lw.models.panda()
        >>> panda.links[arm_of(panda)[-1]]
        'panda_hand'
    """
    moving = [arc.articulation.nv > 0 for arc in linkage.arcs]
    ends = [linkage.path_to(linkage.links[link])[0] for link, below in enumerate(linkage.children) if not below]
    paths = [path for path in ends if any(moving[link] for link in path)]
    return [links[0] for links in zip(*paths, strict=False) if len(set(links)) == 1]


def tip_of(linkage: Linkage, frame: str | None) -> str:
    """Return the frame that follows a path: the one named, else ``"tip"``, else the last link before any fingers."""
    if frame is None:
        arm = arm_of(linkage)
        return "tip" if "tip" in linkage.frames or not arm else linkage.links[arm[-1]]
    linkage.frame_index(frame)
    return frame


def plan_hand(
    motion: Clip,
    source: Skeleton,
    linkage: Linkage,
    *,
    role: str,
    frame: str | None = None,
    smooth: float = 0.0,
    progress: Progress | None = None,
    avoid: Avoid | None = None,
) -> HandPlan:
    """Return the path of a part of the source, relative to its body, scaled so that a fixed arm can follow it.

    Forward, left and up of the body become x, y and z. The middle of the path is moved to the tip in the pose
    ``"ready"``, or else in the neutral one, and the path is scaled down until the arm reaches all of it.
    """
    if role not in source:
        raise MappingError(
            f"{source.linkage.name!r} has no {role!r} that could lead {linkage.name!r};"
            f" it has {', '.join(source.roles)}."
        )
    tip = tip_of(linkage, frame)
    path = _seen_from_body(motion, source, role, smooth)
    middle = (path.min(axis=0) + path.max(axis=0)) / 2.0
    ready = linkage.stored_pose("ready") if "ready" in linkage.poses else linkage.neutral()
    world = linkage.forward(ready, frame=tip)
    arm = ARMS.get(role.partition("_")[0])
    size = source.length(*arm) if arm is not None and source.has(*arm) else source.linkage.length / 4.0
    scale, frames, ones = _reach(linkage, tip) / max(size, 1e-9), len(path), np.ones(len(path))
    style = [
        GoalTrack("turn", tip, np.broadcast_to(world[:3, :3], (frames, 3, 3)), STEADY * ones),
        GoalTrack("pose", "", np.broadcast_to(ready, (frames, linkage.nq)), STYLE * ones),
    ]
    for _ in range(TRIES):
        places = world[:3, 3] + scale * (path - middle)
        goals = [GoalTrack("place", tip, places, PATH * ones), *style]
        poses = follow(linkage, goals, ready, progress, avoid=avoid)
        missed = (
            np.linalg.norm(linkage.forward(poses[rows], frame=tip)[:, :3, 3] - places[rows], axis=1).max()
            for rows in frame_blocks(frames)
        )
        if max(missed) <= REACHED:
            break
        scale *= SMALLER
    return HandPlan(source, linkage, tip, role, motion, places, scale, poses)


def _seen_from_body(motion: Clip, source: Skeleton, role: str, smooth: float) -> FloatArray:
    """Return positions (frames, 3) of a role relative to the shoulder or the hips: forward, left, up."""
    side, _, part = role.partition("_")
    base = f"{side}_shoulder" if part in ("elbow", "hand") and f"{side}_shoulder" in source else "hips"
    seen = []
    for rows in frame_blocks(len(motion)):
        some = part_of(motion, rows)
        way = source.path(role, some.poses) - source.path(base, some.poses)
        axes = levelled(anatomical_motion(some, source, ["hips"])["hips"])
        seen.append(np.einsum("tji,tj->ti", axes, way))
    return smoothed(np.concatenate(seen), motion.times, smooth)


def _reach(linkage: Linkage, tip: str) -> float:
    """Return the reach of a tip from its first joint that moves [m]."""
    path = [arc for arc in linkage.path_to(tip)[0] if linkage.arcs[arc].articulation.nv]
    if not path:
        raise MappingError(f"nothing moves frame {tip!r} of {linkage.name!r}; name another by frame= (--frame).")
    poses = linkage.random_pose(0, SAMPLES)
    ways = linkage.forward(poses, frame=tip) - linkage.forward(poses, frame=linkage.links[path[0]])
    return float(np.percentile(np.linalg.norm(ways[:, :3, 3], axis=1), 95.0))
