"""Collision avoidance in retargeting: bodies keep clear of themselves and of obstacles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..goals import Avoid
from ..kernels.collision.piece_layout import NEAR
from ..linkage.linkage import Linkage
from ..linkage.poses import advance, between
from ..motion.checks import runs
from ..motion.clips import Clip
from ..motion.frame_goals import GoalTrack, follow
from ..motion.smoothing import smooth_cover
from ..transforms import FloatArray
from .frame_blocks import pose_blocks
from .report import SHAKEN

FIRMLY = 150.0  # weight of a metre of missing clearance, compared with the goals of hands, feet and hips
SAME = 1e-3  # [rad, m]: poses of a frame that differ by less count as the same
FADING = 0.15  # [s]: time in which fingers open where they would touch
LEAP, AROUND = 0.2, 5  # [rad, m]: a joint that moves by LEAP more than in AROUND frames before and after has jumped
ROUNDS = 12  # of adding missing clearance to margins; few motions need more than five
EASING = 0.05  # [s]: time in which margins become wider
NOTHING = 1e-4  # [m]: smaller shortfalls are ignored
SLOW, LOOKS = 0.02, 8  # [rad, m]: steps to the next frame below SLOW are not checked; others in LOOKS parts


def as_wish(avoid: Avoid | None) -> Avoid | None:
    """Return the goal of keeping clear with a large weight, and an infinite tolerance so that no frame fails by it."""
    if avoid is None:
        return None
    return replace(avoid, weight=FIRMLY * avoid.weight, tolerance=math.inf, priority=0)


def better_ways(
    linkage: Linkage,
    tracks: Sequence[GoalTrack],
    planned: FloatArray,
    poses: FloatArray,
    avoid: Avoid,
    cuts: Sequence[int] = (),
    *,
    joined: bool = False,
) -> FloatArray:
    """Return poses (frames, nq) solved forwards in time or, in the stretches where they are better, backwards.

    Each pose is solved from the one before. So a hand whose goal is on the far side of a thigh stays on the near side;
    solved from the end of the motion, it comes from the far side. The result changes between the two only where both
    agree.

    Args:
        linkage: The linkage.
        tracks: Its goals.
        planned: Start poses, without goals.
        poses: The poses solved forwards.
        avoid: What they keep clear of.
        cuts: Frames to which the motion jumps.
        joined: Whether the first frame continues a part before it, so that it must not change.
    """
    frames = len(poses)
    begins = {frames - frame: planned[frame - 1] for frame in cuts}
    reverse = slice(None, None, -1)
    other = follow(linkage, [track.between(reverse) for track in tracks], planned[-1], anew=begins, avoid=avoid)[
        reverse
    ]
    apart = np.abs(between(linkage, poses, other)).max(axis=1) > SAME
    ours, theirs = (_costs(linkage, tracks, some, avoid) for some in (poses, other))
    result = poses.copy()
    for first, last in runs(apart):
        part = slice(first, last + 1)
        if theirs[part].sum() < ours[part].sum() and not (joined and first == 0):
            result[part] = other[part]
    return result


def kept_apart(
    linkage: Linkage, tracks: Sequence[GoalTrack], poses: FloatArray, times: FloatArray, avoid: Avoid
) -> FloatArray:
    """Return poses (frames, nq) with the margin restored where other goals reduced it, and no overlap between frames.

    Missing clearance is added to the margin of the links and frames around it, and these frames are solved again from
    the frame before. Results that are no better are discarded.

    Args:
        linkage: The linkage.
        tracks: Its goals.
        poses: The poses found with the margin.
        times: Times of the frames.
        avoid: What they keep clear of.
    """
    wider, links, seen = np.zeros(len(poses)), set[str](), _Seen.of(linkage, avoid, poses)
    for _ in range(ROUNDS):
        missing, found = seen.missing()
        if not found:
            break
        wider, links = np.maximum(wider, smooth_cover(wider + missing, times, EASING)), links | found
        more = replace(avoid, links=sorted(links))
        for first, last in runs(wider > 0.0):
            part = slice(first, last + 1)
            if not missing[part].any():  # nothing to improve there
                continue
            cut, begin = [track.between(part) for track in tracks], poses[max(first - 1, 0)]
            tried = follow(linkage, cut, begin, avoid=avoid, wider=(more, wider[part]))
            around = slice(max(first - 1, 0), last + 2)
            beside = np.concatenate([poses[around.start : first], tried, poses[last + 1 : around.stop]])
            there = _Seen.of(linkage, avoid, beside)
            if there.missing()[0][first - around.start :][: len(tried)].sum() < missing[part].sum():
                poses[part] = tried
                seen.here[around], seen.near[around.start : around.stop - 1] = there.here, there.near
    return poses


@dataclass(frozen=True, eq=False)
class _Seen:
    """Nearest pairs in the frames of a motion and between them.

    Args:
        linkage: The linkage.
        avoid: What it keeps clear of.
        here: The nearest pair in each frame, (frames, NEAR.size).
        near: The nearest pair between each frame and the next, (frames - 1, NEAR.size).
    """

    linkage: Linkage
    avoid: Avoid
    here: FloatArray
    near: FloatArray

    @classmethod
    def of(cls, linkage: Linkage, avoid: Avoid, poses: FloatArray) -> _Seen:
        """Return the nearest pairs of poses (frames, nq)."""
        here = avoid.near(linkage, poses, math.inf, most=1)[:, 0]
        return cls(linkage, avoid, here, on_the_way(linkage, poses, avoid))

    def missing(self) -> tuple[FloatArray, set[str]]:
        """Return the clearance [m] that frames (n,) lack, to the margin or, between frames, to touching; and links."""
        least, deep = (NEAR.view(records).distance for records in (self.here, self.near))
        short, crossed = self.avoid.margin - least, min(self.avoid.margin, 0.0) - deep
        found = [*self.here[short > NOTHING], *self.near[crossed > NOTHING]]
        short[:-1], short[1:] = np.maximum(short[:-1], crossed), np.maximum(short[1:], crossed)
        return np.where(short > NOTHING, short, 0.0), {self._outer(record) for record in found}

    def _outer(self, record: FloatArray) -> str:
        """Return the link of a pair that is further from the root; this one should give way."""
        frames = [int(k) for k in (NEAR.view(record).frame_a, NEAR.view(record).frame_b)]
        names = [self.avoid.scene(self.linkage).frames[k] for k in frames if k >= 0]
        return max(names, key=lambda name: len(self.linkage.path_to(name)[0]))


def on_the_way(linkage: Linkage, poses: FloatArray, avoid: Avoid) -> FloatArray:
    """Return the nearest pair between each frame and the next, at some instants: (frames - 1, NEAR.size)."""
    change = between(linkage, poses[:-1], poses[1:])
    result = np.full((len(change), NEAR.size), np.inf)
    quick = np.flatnonzero(np.abs(change).max(axis=1, initial=0.0) > SLOW)
    if len(quick):
        steps = change[quick, None] * (np.arange(1, LOOKS) / LOOKS)[:, None]
        ways = advance(linkage, np.repeat(poses[quick, None], LOOKS - 1, axis=1), steps)
        near = avoid.near(linkage, ways, math.inf, most=1)[..., 0, :]
        result[quick] = near[np.arange(len(quick)), NEAR.view(near).distance.argmin(axis=1)]
    return result


def _costs(linkage: Linkage, tracks: Sequence[GoalTrack], poses: FloatArray, avoid: Avoid) -> FloatArray:
    """Return the squared errors (frames,) of poses (frames, nq): of position goals and of keeping clear."""
    total = np.square(avoid.weight * avoid.error(linkage, poses)).sum(axis=-1)
    for track in tracks:
        if track.kind == "place":
            off = linkage.forward(poses, frame=track.frame)[:, :3, 3] - track.values
            total = total + np.square(track.weights[:, None] * off).sum(axis=-1)
    return np.asarray(total)


def opened(
    linkage: Linkage, solved: FloatArray, moved: FloatArray, times: FloatArray, avoid: Avoid | None
) -> FloatArray:
    """Return poses with moving fingers, but with fingers at rest where their motion would make them touch.

    Args:
        linkage: The linkage.
        solved: Poses that keep clear, with fingers at rest (frames, nq).
        moved: The same poses with moving fingers.
        times: Times of the frames.
        avoid: What to keep clear of; None returns `moved`.
    """
    if avoid is None or np.array_equal(solved, moved):
        return moved
    back, touched, result = between(linkage, moved, solved), np.zeros(len(moved), np.bool_), moved
    while (now := (avoid.clearance(linkage, result) < avoid.margin) & ~touched).any():
        touched |= now
        share = np.minimum(smooth_cover(touched.astype(np.float64), times, FADING), 1.0)
        result = advance(linkage, moved, share[:, None] * back)
    return result


def touching(clip: Clip, avoid: Avoid) -> tuple[str, ...]:
    """Return remarks on frames that do not keep the margin, and on overlaps between frames."""
    linkage, poses, remarks = clip.linkage, clip.poses, []
    short = np.concatenate([avoid.margin - avoid.clearance(linkage, some) for some in pose_blocks(clip)])
    if count := int((short > 0.0).sum()):
        worst = int(np.argmax(short))
        most = f"worst is frame {worst}, by {1e3 * short[worst]:.3g} mm, {_nearest(linkage, poses[worst], avoid)}"
        remarks.append(f"{count} of {len(clip)} frames do not keep the margin; {most}")
    ways = (on_the_way(linkage, some, avoid) for some in pose_blocks(clip, overlap=1))
    near = np.concatenate([NEAR.view(records).distance for records in ways])
    if count := int((near < min(avoid.margin, 0.0)).sum()):
        worst = int(np.argmin(near))
        most = f"worst is from frame {worst} to {worst + 1}, by {-1e3 * near[worst]:.3g} mm"
        remarks.append(f"parts overlap between {count} of {len(clip)} frames and the next; {most}")
    return tuple(remarks)


def _nearest(linkage: Linkage, pose: FloatArray, avoid: Avoid) -> str:
    """Return the names of the nearest pair at a pose."""
    near, owners = NEAR.view(avoid.near(linkage, pose, math.inf, most=1)), avoid.scene(linkage).owners
    return " and ".join(owners[int(one[0])] for one in (near.owner_a, near.owner_b))


def shaken(clip: Clip, jerk: float) -> tuple[str, ...]:
    """Return a remark on jumps or jerk in a motion that keeps clear, if there are any.

    If a hand of the source passes through a thigh, a hand that keeps clear has to jump to the other side.

    Args:
        clip: The motion, which keeps clear.
        jerk: Its jerk over the source's.
    """
    from scipy.ndimage import median_filter

    changes = (between(clip.linkage, some[:-1], some[1:]) for some in pose_blocks(clip, overlap=1))
    steps = np.concatenate([np.abs(change).max(axis=1, initial=0.0) for change in changes])
    jumps = np.flatnonzero(steps > LEAP + median_filter(steps, 2 * AROUND + 1, mode="nearest")) if len(steps) else steps
    if not len(jumps) and jerk <= SHAKEN:
        return ()
    words = [f"the motion that keeps clear has {jerk:.2g} times the source's jerk"]
    if len(jumps):
        worst = int(jumps[np.argmax(steps[jumps])])
        often = "1 jump" if len(jumps) == 1 else f"{len(jumps)} jumps"
        words.append(f"{often} of a joint, at most by {steps[worst]:.2g} rad or m, from frame {worst} to {worst + 1}")
    return ("; ".join(words),)
