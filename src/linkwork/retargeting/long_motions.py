"""A long motion given to another figure stretch by stretch: what is held in memory does not grow with it."""

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
Before = tuple[FloatArray, FloatArray]  # the last poses that were completed, and the same before twists were shared


class Task(Protocol[P]):
    """How frames of a motion are planned, solved and completed, for figures of one kind."""

    @property
    def solved(self) -> Linkage:
        """The linkage that is solved for."""
        ...

    @property
    def target(self) -> Linkage:
        """The linkage that the motion is given to."""
        ...

    def plan(self, rows: slice, settled: int, begin: FloatArray | None) -> P:
        """Return what is planned for frames of the motion.

        Args:
            rows: The frames.
            settled: Contacts that begin before this frame stay where they were put.
            begin: The planned pose of the first frame, from the stretch before.
        """
        ...

    def solve(self, plan: P, start: FloatArray | None, progress: Progress | None) -> FloatArray:
        """Return the poses (frames, nq) that serve a plan best, begun at a pose."""
        ...

    def complete(self, motion: Clip, plan: P, rows: slice, poses: FloatArray, before: Before | None) -> Before:
        """Return poses of the target from those that were solved for in some rows of a plan; see `Before`."""
        ...

    def unsolved(self, plan: P) -> P:
        """Return a plan for a motion that is given as it is."""
        ...


def in_stretches(
    clip: Clip, task: Task[P], smooth: float, progress: Progress | None = None, own: Clip | None = None
) -> tuple[Clip, Report]:
    """Return a motion given to another figure, and how good it is.

    Args:
        clip: The motion.
        task: How its frames are planned and solved.
        smooth: Over which time it is smoothed [s].
        progress: Told how many frames of how many are done.
        own: The motion itself as one of the target, if that needs no solving.
    """
    linkage = task.target if own is None else own.linkage
    frames, tally = Frames(linkage.nq), Tally()
    before: tuple[Stretch, P, FloatArray] | None = None
    last: Before | None = None
    lead = np.zeros((0, linkage.nq))
    for stretch in stretches(clip.times, smooth):
        first, rows = stretch.rows.start, stretch.local(stretch.given)
        begins = [None, None] if before is None else [a[first - before[0].rows.start] for a in _poses(before)]
        plan = task.plan(stretch.rows, stretch.first + stretch.fade if before else 0, begins[0])
        motion = part_of(clip, slice(stretch.given.start - len(lead), stretch.given.stop))
        if own is None:
            poses = task.solve(plan, begins[1], _told(progress, first, len(clip)))
            given = stitched(task.solved, stretch, poses, before and (before[0], before[2]))
            last = task.complete(part_of(motion, slice(len(lead), None)), plan, rows, given, last)
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


def _poses(before: tuple[Stretch, P, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return the planned poses of a stretch, and those that were solved for."""
    return before[1].poses, before[2]


def _told(progress: Progress | None, begin: int, count: int) -> Progress | None:
    """Return who is told of the frames of a stretch, from who is told of all."""
    return None if progress is None else lambda done, _: progress(min(begin + done, count), count)
