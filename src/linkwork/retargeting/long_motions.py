"""Retarget long motions in overlapping stretches, so that memory use does not grow with their length."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np

from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..motion.frame_files import Frames, block_of
from ..motion.frame_goals import Progress
from ..transforms import FloatArray
from .frame_blocks import part_of
from .measures import LEAD, Part, Plans, Tally
from .report import Report
from .stretches import Stretch, stitched, stretches

P = TypeVar("P", bound=Plans)
Before = tuple[FloatArray, FloatArray]  # the last completed poses, and the same before twists were shared


class Task(Protocol[P]):
    """Plan, solve and complete frames of a motion, for bodies of one kind."""

    @property
    def solved(self) -> Linkage:
        """The linkage that is solved for."""
        ...

    @property
    def target(self) -> Linkage:
        """The linkage of the result."""
        ...

    def plan(self, rows: slice, settled: int, begin: FloatArray | None) -> P:
        """Return the plan for frames of the motion.

        Args:
            rows: The frames.
            settled: Contacts that begin before this frame keep their positions.
            begin: The planned pose of the first frame, from the stretch before.
        """
        ...

    def solve(self, plan: P, known: FloatArray, progress: Progress | None) -> FloatArray:
        """Return the poses (frames, nq) that fulfil a plan best.

        Args:
            plan: The plan.
            known: Poses of the first frames from the stretch before. These frames are solved again from the first pose
                if each has one best pose; if something is avoided, which is possible on several sides, they are kept.
            progress: Called with the number of frames that are done and the number of all.
        """
        ...

    def complete(self, motion: Clip, plan: P, stretch: Stretch, poses: FloatArray, before: Before | None) -> Before:
        """Return poses of the target in the frames that a stretch contributes; see `Before`.

        Args:
            motion: The motion in these frames and those around them.
            plan: The plan of the stretch.
            stretch: The stretch.
            poses: The solved poses, in these frames and those around them.
            before: The values returned for the last frame before.
        """
        ...

    def unsolved(self, plan: P) -> P:
        """Return a plan for a motion that is transferred without solving."""
        ...


def in_stretches(
    clip: Clip, task: Task[P], smooth: float, progress: Progress | None = None, own: Clip | None = None
) -> tuple[Clip, Report]:
    """Return a motion retargeted to another body, and a report on it.

    Args:
        clip: The motion.
        task: Plans and solves its frames.
        smooth: Smoothing time [s].
        progress: Called with the number of frames that are done and the number of all.
        own: The motion as one of the target, if it needs no solving.
    """
    linkage = task.target if own is None else own.linkage
    frames, tally = Frames(linkage.nq), Tally()
    before: tuple[Stretch, P, FloatArray] | None = None
    last: Before | None = None
    lead = np.zeros((0, linkage.nq))
    for stretch in stretches(clip.times, smooth):
        first, rows = stretch.rows.start, stretch.local(stretch.given)
        overlap = slice(first, stretch.first + stretch.fade)
        known = [a[before[0].local(overlap)] for a in (before[1].poses, before[2])] if before else []
        plan = task.plan(stretch.rows, overlap.stop if before else 0, known[0][0] if known else None)
        motion = part_of(clip, slice(stretch.given.start - len(lead), stretch.given.stop))
        if own is None:
            poses = task.solve(plan, known[1] if known else plan.poses[:0], _told(progress, first, len(clip)))
            given = stitched(task.solved, stretch, poses, before and (before[0], before[2]))
            last = task.complete(part_of(clip, stretch.around), plan, stretch, given, last)
            done = last[0]
            frames.add(done)
            last = done[-1], last[1][-1]
        else:
            poses, done, plan = plan.poses, block_of(own.poses, stretch.given), task.unsolved(plan)
        before = stretch, plan, poses
        both = Clip(linkage, motion.times, np.concatenate([lead, done]))
        tally.add(Part(plan, rows, motion, both, len(lead)), last=stretch.given.stop == len(clip))
        lead = both.poses[-LEAD:]
    return Clip(linkage, clip.times, frames.array()) if own is None else own, tally.report()


def _told(progress: Progress | None, begin: int, count: int) -> Progress | None:
    """Return a progress function for the frames of a stretch, from the one for all frames."""
    return None if progress is None else lambda done, _: progress(min(begin + done, count), count)
