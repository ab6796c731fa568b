"""Retarget a motion to a body: plan, solve and complete it, all at once or, if it is long, in stretches."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..goals import Avoid
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..motion.contacts import Contacts
from ..motion.frame_files import forget
from ..motion.frame_goals import Progress
from ..motion.smoothing import SpanMemory, turns_smoothed
from ..transforms import FloatArray
from . import body, transfer
from .apart import opened
from .core import widened
from .detached import carry_feet
from .feet import levelling
from .finger_motion import move_fingers
from .frame_blocks import part_of
from .long_motions import Before, in_stretches
from .names import SIDES
from .quaternion_form import converted
from .report import Report
from .rest_poses import excerpt, excerpt_frames
from .skeletons import Skeleton
from .stretches import LONG, Stretch
from .strides import footing_of
from .twists import share_twist, signed

PROBES, PROBE = 4, 1024  # number of parts of a long motion that are checked for a shaking trunk, and their frames


@dataclass(frozen=True, eq=False)
class Pair:
    """A source, and a target in the forms used for solving.

    Args:
        source: The source.
        target: The target.
        solved: The target with quaternions instead of Euler angles.
        core: The same without joints that have no goals.
    """

    source: Skeleton
    target: Skeleton
    solved: Skeleton
    core: Skeleton


@dataclass(frozen=True)
class Manner:
    """Options of retargeting.

    Args:
        rules: Criteria for a planted foot.
        smooth: Smoothing time of motions [s].
        progress: Called with the number of frames that are done and the number of all.
        avoid: What to keep clear of.
    """

    rules: Contacts
    smooth: float
    progress: Progress | None
    avoid: Avoid | None


@dataclass(frozen=True, eq=False)
class Given:
    """A motion retargeted to a body.

    Args:
        clip: The motion.
        plan: The plan; None for a motion that was done in stretches.
        report: The report, if it was measured already.
    """

    clip: Clip
    plan: body.Plan | None
    report: Report | None = None


def onto_body(clip: Clip, pair: Pair, how: Manner, own: Clip | None = None) -> Given:
    """Return a motion retargeted to a body.

    Args:
        clip: The motion of the source.
        pair: Source and target.
        how: Options.
        own: The motion as one of the target, if it needs no solving.
    """
    if len(clip) > LONG:
        known = _known(clip, pair, how.rules, how.smooth)
        calm = own is None and body.is_shaken(_probed(clip, pair, how, known))
        made, report = in_stretches(clip, _Task(clip, pair, how, known, calm), how.smooth, how.progress, own)
        return Given(made, None, report)
    plan = replace(body.plan(clip, pair.source, pair.core, how.rules, how.smooth), avoid=how.avoid)
    if own is not None:
        return Given(own, _as_it_is(plan))
    poses = _completed(clip, pair, plan, slice(0, len(clip)), body.solve(plan, how.progress))[0]
    return Given(Clip(pair.target.linkage, clip.times, poses), plan)


def _as_it_is(plan: body.Plan) -> body.Plan:
    """Return a plan for the source's own skeleton, with the hands of the source."""
    source, poses = plan.source, plan.motion.poses
    return replace(plan, hands={side: source.path(f"{side}_hand", poses) for side in plan.hands})


def _completed(
    clip: Clip,
    pair: Pair,
    plan: body.Plan,
    rows: slice,
    poses: FloatArray,
    before: Before | None = None,
    settled: slice | None = None,
) -> Before:
    """Return poses (frames, nq) of the target from those of its core, and the same before twists were shared.

    Args:
        clip: The motion of the source in these frames.
        pair: Source and target.
        plan: The plan.
        rows: These frames in the plan.
        poses: Poses of the core.
        before: Both results in the frame before, if these are frames of a longer motion.
        settled: The frames to return, all by default; the others are used to decide when fingers open.
    """
    settled = slice(0, len(poses)) if settled is None else settled
    solved, target = pair.solved, pair.target.linkage
    poses = widened(solved, pair.core.linkage, poses)
    moved = move_fingers(clip, pair.source, solved, poses)
    moved = opened(solved.linkage, poses, moved, clip.times, plan.avoid)[settled]
    moved = signed(solved.linkage, moved, None if before is None else before[1])
    turns = {foot.sole.body: foot.rotation[rows][settled] for foot in plan.feet.values()}
    result = carry_feet(solved.linkage, turns, share_twist(solved, moved))
    if before is None:
        return converted(target, solved.linkage, result), moved
    return signed(target, converted(target, solved.linkage, result, before[0]), before[0]), moved


@dataclass(frozen=True, eq=False)
class _Task:
    """Plan, solve and complete the stretches of a long motion for a body."""

    clip: Clip
    pair: Pair
    how: Manner
    known: body.Known
    calm: bool

    @property
    def solved(self) -> Linkage:
        return self.pair.core.linkage

    @property
    def target(self) -> Linkage:
        return self.pair.target.linkage

    def plan(self, rows: slice, settled: int, begin: FloatArray | None) -> body.Plan:
        self.known.memory.move_to(rows.start, settled)
        return _planned(self.clip, rows, self.pair, self.how, replace(self.known, begin=begin))

    def solve(self, plan: body.Plan, known: FloatArray, progress: Progress | None) -> FloatArray:
        if self.how.avoid is None:
            return body.solve(plan, progress, known[0] if len(known) else None, self.calm)
        return body.solve(plan, progress, calm=self.calm, known=known)

    def complete(
        self, motion: Clip, plan: body.Plan, stretch: Stretch, poses: FloatArray, before: Before | None
    ) -> Before:
        rows = stretch.local(stretch.around)
        return _completed(motion, self.pair, plan, rows, poses, before, stretch.settled)

    def unsolved(self, plan: body.Plan) -> body.Plan:
        return _as_it_is(plan)


def _planned(clip: Clip, rows: slice, pair: Pair, how: Manner, known: body.Known) -> body.Plan:
    """Return the plan for a part of a motion."""
    own = replace(known, footing={side: one.between(rows) for side, one in known.footing.items()})
    plan = body.plan(part_of(clip, rows), pair.source, pair.core, how.rules, how.smooth, own)
    return replace(plan, avoid=how.avoid)


def _known(clip: Clip, pair: Pair, rules: Contacts, smooth: float) -> body.Known:
    """Return the data that the plans of all parts of a long motion share."""
    source, core = pair.source, pair.core
    footing = footing_of(clip, source, rules) if body.walks(source, core) else {}
    roles = [f"{side}_{part}" for side in SIDES for part in ("knee", "ankle")]
    seen, frames = excerpt(clip), excerpt_frames(len(clip))
    axes = transfer.anatomical_motion(seen, source, [role for role in roles if role in source])
    torsions = transfer.torsions(core, axes)
    axes = transfer.without_torsion(torsions, axes)
    feet = {side: turns_smoothed(axes[f"{side}_ankle"], seen.times, smooth) for side in footing}
    levels = {side: levelling(feet[side], one.flat[frames]) for side, one in footing.items()}
    forget(clip.poses)
    return body.Known(footing, torsions, levels, SpanMemory())


def _probed(clip: Clip, pair: Pair, how: Manner, known: body.Known) -> FloatArray:
    """Return the jerk of hips and head, as `body.shakes` does, in some parts spread over a long motion."""
    found = []
    for begin in np.linspace(0, len(clip) - PROBE, PROBES).astype(int).tolist():
        own = replace(known, memory=SpanMemory(begin))
        found.append(body.shakes(_planned(clip, slice(begin, begin + PROBE), pair, how, own)))
    result: FloatArray = np.sqrt(np.mean(np.square(found), axis=0))
    return result
