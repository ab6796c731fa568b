"""Retarget a motion from one quadruped to another: plan, solve and complete it, at once or in stretches."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..motion.frame_goals import Progress
from ..transforms import FloatArray
from .detached import carry_feet
from .frame_blocks import part_of
from .gaits import Gait, GaitPlan, gait_of, level_paws, plan_gait, solve_gait
from .long_motions import Before, in_stretches
from .onto_bodies import Manner
from .quadrupeds import Quadruped
from .quaternion_form import converted, without_angles
from .report import Report
from .stretches import LONG, Stretch
from .twists import signed


def onto_quadruped(
    clip: Clip, source: Quadruped, target: Quadruped, how: Manner, own: Clip | None = None
) -> tuple[Clip, GaitPlan | None, Report | None]:
    """Return a motion retargeted to a quadruped and its plan or, for a long motion, None and a report.

    Args:
        clip: The motion of the source.
        source: The source.
        target: The target, on a floating root.
        how: Options.
        own: The motion as one of the target, if it needs no solving.
    """
    solved = replace(target, linkage=without_angles(target.linkage))
    task = _Task(clip, source, target, solved, gait_of(clip, source, solved, how.rules), how)
    if len(clip) > LONG:
        made, report = in_stretches(clip, task, how.smooth, how.progress, own)
        return made, None, report
    plan = plan_gait(clip, source, solved, task.gait, how.smooth)
    if own is not None:
        return own, plan, None
    poses = solve_gait(plan, how.progress, how.avoid)
    return Clip(target.linkage, clip.times, task.completed(plan, poses, None)[0]), plan, None


@dataclass(frozen=True, eq=False)
class _Task:
    """Plan, solve and complete the stretches of a long motion for a quadruped."""

    clip: Clip
    source: Quadruped
    figure: Quadruped
    form: Quadruped
    gait: Gait
    how: Manner

    @property
    def solved(self) -> Linkage:
        return self.form.linkage

    @property
    def target(self) -> Linkage:
        return self.figure.linkage

    def plan(self, rows: slice, settled: int, begin: FloatArray | None) -> GaitPlan:  # noqa: ARG002  # no pose is fitted
        self.gait.memory.move_to(rows.start, settled)
        return plan_gait(part_of(self.clip, rows), self.source, self.form, self.gait.between(rows), self.how.smooth)

    def solve(self, plan: GaitPlan, known: FloatArray, progress: Progress | None) -> FloatArray:
        if self.how.avoid is None:
            return solve_gait(plan, progress, start=known[0] if len(known) else None)
        return solve_gait(plan, progress, self.how.avoid, known=known)

    def complete(
        self,
        motion: Clip,  # noqa: ARG002  # all is in the poses
        plan: GaitPlan,
        stretch: Stretch,
        poses: FloatArray,
        before: Before | None,
    ) -> Before:
        return self.completed(plan, poses[stretch.settled], before)

    def completed(self, plan: GaitPlan, poses: FloatArray, before: Before | None) -> Before:
        """Return poses of the target from the solved ones, and the solved ones with detached feet moved along."""
        poses = carry_feet(self.solved, level_paws(plan, poses), poses)
        if before is None:
            return converted(self.target, self.solved, poses), poses
        return signed(self.target, converted(self.target, self.solved, poses, before[0]), before[0]), poses

    def unsolved(self, plan: GaitPlan) -> GaitPlan:
        return plan
