"""Goals that change from frame to frame, stored as arrays and solved for a whole motion in one compiled call.

The thousands of goals of a clip differ only in their targets. They are packed once, and the targets of all frames are
written into the solver's arrays at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..goals import Align, Avoid, Goal, Reach, Rest
from ..linkage.linkage import Linkage
from ..transforms import FloatArray

if TYPE_CHECKING:
    from ..solvers.body_solver import BodySolver

Progress = Callable[[int, int], None]

UNJUDGED = (np.inf, np.inf)  # no goal affects success: all are met as well as possible together
FRAMES_AT_ONCE = 2000
FLOOR, PATIENCE, STALLED, SETTLED = 1e-6, 60.0, 0.9998, 3e-6  # search parameters: hard frames need many steps


@dataclass(frozen=True, eq=False)
class GoalTrack:
    """One goal over all frames of a motion.

    Args:
        kind: ``"place"`` (position) or ``"turn"`` (orientation) of a frame, ``"direction"`` of an axis of it, or
            ``"pose"`` of the joints.
        frame: Name of the frame; None for joints.
        values: Target values: positions (frames, 3) [m], rotations (frames, 3, 3), directions (frames, 3) or poses.
        weights: Weight in each frame; it multiplies errors in metres and in radians alike.
        axis: The axis of a direction, in the coordinates of the frame.
    """

    kind: str
    frame: str
    values: FloatArray
    weights: FloatArray
    axis: FloatArray | None = None

    def between(self, part: slice) -> GoalTrack:
        """Return the goal for some of its frames."""
        return replace(self, values=self.values[part], weights=self.weights[part])

    def goal(self, frame: int, arm: float) -> Goal:
        """Return the goal of one frame; `arm` [m] is the factor by which solvers convert radians to metres."""
        value, weight = self.values[frame], float(self.weights[frame])
        if self.kind == "place":
            return Reach(self.frame, position=value, weight=weight, tolerance=UNJUDGED)
        weight /= arm
        if self.kind == "turn":
            return Reach(self.frame, orientation=value, weight=weight, tolerance=UNJUDGED)
        if self.kind == "direction":
            return Align(self.frame, axis=self.axis, direction=value, weight=weight, tolerance=np.inf)
        return Rest(value, weight=weight, priority=0)


def follow(
    linkage: Linkage,
    tracks: Sequence[GoalTrack],
    start: FloatArray,
    progress: Progress | None = None,
    anew: Mapping[int, FloatArray] | None = None,
    avoid: Avoid | None = None,
    wider: tuple[Avoid, FloatArray] | None = None,
) -> FloatArray:
    """Return the poses (frames, nq) that meet the goals best, each found from the one before.

    Args:
        linkage: The linkage.
        tracks: The goals.
        start: The start pose.
        progress: Called with the number of frames done and in total.
        anew: Frames that are not found from the one before, and their start poses.
        avoid: What all frames keep clear of, weighed against the goals.
        wider: Further things to keep clear of, and by how much more than the margin in each frame [m].
    """
    from ..goals.base import metres_per_radian
    from ..solvers.goal_arrays import goal_records, write_poses

    arm, unit = metres_per_radian(linkage), 1.0 if avoid is None else avoid.weight
    apart = [goal for goal in (avoid, None if wider is None else wider[0]) if goal is not None]
    key = tuple((track.kind, track.frame, None if track.axis is None else track.axis.tobytes()) for track in tracks)
    known = (*key, *((goal.signature, goal.margin) for goal in apart))
    ik, first = linkage.cache.get("follow", known, lambda: _prepared(linkage, tracks, start, apart, unit))
    frames = len(tracks[0].values)
    poses = np.empty((frames, linkage.nq))
    anew = anew or {}
    begins = sorted({*range(0, frames, FRAMES_AT_ONCE), *anew})
    for begin, end in pairwise((*begins, frames)):
        part = slice(begin, end)
        start = anew.get(begin, start)
        numbers = np.repeat(first[None], part.stop - begin, axis=0)
        packed = ik.program.goals
        records = list(goal_records(packed, numbers))  # goals that close loops come after those of the tracks
        for track, goal, (record, items) in zip(tracks, packed, records, strict=False):
            values, weights = track.values[part], track.weights[part] / unit
            record.metres = weights if track.kind == "place" else weights / arm
            record.radians = record.metres * arm
            if track.kind == "direction":
                record.point = values / np.linalg.norm(values, axis=1, keepdims=True)
            elif track.kind == "pose":
                write_poses(goal, values, items)
            else:
                target = record.target.reshape(-1, 3, 4)
                target[..., 3 if track.kind == "place" else slice(3)] = values
        if wider is not None:
            records[len(tracks) + len(apart) - 1][0].wanted = wider[0].wanted + wider[1][part]
        starts = np.broadcast_to(start, (len(numbers), linkage.nq))
        poses[part] = ik.search(numbers, starts, chained=True).q
        start = poses[part.stop - 1]
        if progress is not None:
            progress(part.stop, frames)
    return poses


def _prepared(
    linkage: Linkage, tracks: Sequence[GoalTrack], start: FloatArray, apart: Sequence[Avoid], unit: float
) -> tuple[BodySolver, FloatArray]:
    """Return a solver for goals of the tracks' kinds, and their numbers; targets and weights are filled in later.

    The search stops when damping is too strong for goals of weight 1; weights are multiples of `unit`.
    """
    from ..goals.base import metres_per_radian
    from ..solvers import Problem, Settings
    from ..solvers.body_solver import BodySolver, Pace

    arm = metres_per_radian(linkage)
    goals = [*(track.goal(0, arm) for track in tracks), *(replace(goal, weight=goal.weight / unit) for goal in apart)]
    problem = Problem(linkage, goals, start)
    pace = Pace(floor=FLOOR / (arm * unit) ** 2, patience=PATIENCE, stalled=STALLED, settled=SETTLED)
    ik = BodySolver(problem, Settings(limits="project"), restarts=0, seed=0, pace=pace)
    return ik, ik.goal_numbers(problem.goals)
