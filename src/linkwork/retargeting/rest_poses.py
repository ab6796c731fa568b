"""Reference poses that define the anatomy of a skeleton: given, or a T-pose or A-pose that is searched for.

By default the anatomy of a source comes from its motion, and that of a target from the bind pose of its skin or the
rest pose of its file. `rest=` overrides this if the result is wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..formats.skins import bind_pose
from ..linkage.poses import PoseLike, rest_pose
from ..motion.clips import Clip
from ..transforms import FloatArray, is_whole
from .names import SIDES
from .skeletons import Skeleton

RestLike: TypeAlias = PoseLike | int | None
"""A frame of the motion, ``"t-pose"``, ``"a-pose"``, ``"rest"`` (the file's rest pose) or a pose of the linkage."""

ARMS_DOWN = {"t-pose": (-25.0, 25.0), "a-pose": (25.0, 75.0)}  # [degrees] below the horizontal
STRAIGHT, ASIDE, ASTRIDE = 35.0, 40.0, 40.0  # [degrees]: largest fold of elbows, angle of arms ahead, of legs aside
MOST_FRAMES = 500  # that are sampled
LONG, STRETCHES = 2**14, 16  # most frames that define an anatomy, and number of stretches they are taken from


def with_rest(skeleton: Skeleton, given: RestLike, option: str) -> Skeleton:
    """Return a skeleton whose anatomy is defined by a given pose, instead of its motion or its rest pose.

    Args:
        skeleton: The skeleton, with its motion if it has one.
        given: The pose. None keeps the skeleton, except that a skin's bind pose is used if it is a standing pose.
        option: The name of the option in messages: ``"rest"`` or ``"target_rest"``.

    Raises:
        OptionError: If there is no such pose.
    """
    linkage, clip = skeleton.linkage, skeleton.seen
    if given is None:
        bind = bind_pose(linkage) if clip is None else None
        return skeleton if bind is None or not stands(skeleton, bind) else replace(skeleton, posed=np.array(bind))
    if is_whole(given):
        if clip is None:
            raise OptionError(f"{option}={given} is a frame number, but {linkage.name!r} has no motion; give a pose.")
        if not -len(clip) <= given < len(clip):
            raise OptionError(f"{option}={given}: the motion has frames 0 to {len(clip) - 1}.")
        return replace(skeleton, posed=clip.poses[given])
    if isinstance(given, str) and given not in linkage.poses:
        if given == "rest":
            return replace(skeleton, posed=rest_pose(linkage))
        if given in ARMS_DOWN:
            return replace(skeleton, posed=_looked_for(skeleton, given, option))
        known = ", ".join(map(repr, (*ARMS_DOWN, "rest", *linkage.poses)))
        raise OptionError(f"{option} is a frame of the motion, a pose, or one of {known}; got {given!r}.")
    pose: Any = given
    posed = linkage.pose(pose)
    if posed.ndim != 1:
        raise OptionError(f"{option} is one pose, got {posed.shape[0]} of them.")
    return replace(skeleton, posed=posed)


def sampled(clip: Clip) -> FloatArray:
    """Return about `MOST_FRAMES` poses (frames, nq) spread over a motion."""
    poses: FloatArray = clip.poses[:: max(1, len(clip) // MOST_FRAMES)]
    return poses


def excerpt(clip: Clip) -> Clip:
    """Return the frames of a motion that define its body's anatomy: all, or for a long motion evenly spread stretches.

    Example:
        >>> import linkwork as lw
        >>> wave = lw.models.motion("human:floating")
        >>> excerpt(wave) is wave
        True
    """
    if len(clip) <= LONG:
        return clip
    frames = excerpt_frames(len(clip))
    return Clip(clip.linkage, clip.times[frames], clip.poses[frames])


def excerpt_frames(count: int) -> NDArray[np.intp]:
    """Return the frames that `excerpt` takes from a motion of `count` frames."""
    if count <= LONG:
        return np.arange(count)
    size = LONG // STRETCHES
    begins = np.linspace(0, count - size, STRETCHES).astype(np.intp)
    return (begins[:, None] + np.arange(size)).ravel()


def _looked_for(skeleton: Skeleton, kind: str, option: str) -> FloatArray:
    """Return the T-pose or A-pose among the stored poses, the rest pose and the frames of the motion."""
    linkage, clip = skeleton.linkage, skeleton.seen
    bind = bind_pose(linkage)
    poses = [*([] if bind is None else [bind]), rest_pose(linkage), *linkage.poses.values()]
    if clip is not None:
        poses += list(sampled(clip))
    table = measures(skeleton, np.array(poses))
    least, most = ARMS_DOWN[kind]
    fits = (table[:, 0] >= least) & (table[:, 0] <= most) & (table[:, 1:] <= (STRAIGHT, ASIDE, ASTRIDE)).all(axis=1)
    if not fits.any():
        nearest = table[np.abs(table[:, 0] - (least + most) / 2.0).argmin(), 0]
        where = "its stored poses, the rest pose and the motion" if clip is not None else "its stored and rest poses"
        raise OptionError(
            f"{option}={kind!r}: {linkage.name!r} has none among {where}; it needs arms {least:.0f} to {most:.0f}"
            f" degrees below the horizontal, and the nearest pose has {nearest:.0f}. Give a pose, or a frame of the"
            " motion."
        )
    return np.array(poses[int(fits.argmax())])


def measures(skeleton: Skeleton, poses: FloatArray) -> FloatArray:
    """Return four angles for each of poses (n, nq), in degrees, shape (n, 4).

    They are the angles of arms below the horizontal, of elbows from straight, of arms out of the frontal plane, and of
    legs from straight down; each of the worse side, and 0 without such limbs.
    """
    clip = Clip(skeleton.linkage, np.arange(float(len(poses))), poses)
    sight = replace(skeleton, seen=clip, posed=None).sight
    up, ahead = sight.trunk, sight.ahead
    result = np.zeros((len(poses), 4))
    for side in SIDES:
        shoulder, elbow, hand, hip, knee, ankle = (
            f"{side}_{part}" for part in ("shoulder", "elbow", "hand", "hip", "knee", "ankle")
        )
        if skeleton.has(shoulder, elbow):
            upper = sight.way(shoulder, elbow)
            _worse(result[:, 0], 90.0 - _angles(upper, -up))
            _worse(result[:, 2], np.abs(90.0 - _angles(upper, ahead)))
            if hand in skeleton:
                _worse(result[:, 1], _angles(upper, sight.way(elbow, hand)))
        for start, end in ((hip, knee), (knee, ankle)):
            if skeleton.has(start, end):
                _worse(result[:, 3], _angles(sight.way(start, end), -up))
    return result


def stands(skeleton: Skeleton, pose: FloatArray) -> bool:
    """Return whether a body stands on its legs in a pose."""
    return bool(measures(skeleton, np.array(pose)[None])[0, 3] <= ASTRIDE)


def _worse(column: FloatArray, found: FloatArray) -> None:
    """Keep the larger of two measures."""
    column[:] = np.where(np.abs(found) > np.abs(column), found, column)


def _angles(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the angles between unit vectors (n, 3) [degrees]."""
    return np.asarray(np.degrees(np.arccos(np.clip((a * b).sum(axis=-1), -1.0, 1.0))))
