"""Goals that change from frame to frame, held as arrays, and solved for over a whole motion in one compiled call.

Imports `goals`, `solvers` and the codes of one kernel. A clip has thousands of goals, which differ in their targets
alone: they are packed once, and the targets of all frames written into the solver's numbers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..goals import Align, Goal, Reach, Rest
from ..linkage.linkage import Linkage
from ..transforms import FloatArray

Progress = Callable[[int, int], None]

ANYTHING = (np.inf, np.inf)  # no wish is judged: all of them together are served as well as can be
FRAMES_AT_ONCE = 2000
FLOOR, PATIENCE, STALLED, SETTLED = 1e-6, 30.0, 0.999, 1e-4  # hard frames need patience more than speed


@dataclass(frozen=True, eq=False)
class Wish:
    """One goal over all frames of a motion.

    Args:
        kind: ``"place"`` or ``"turn"`` of a frame, ``"direction"`` of an axis of it, or ``"pose"`` of the joints.
        frame: The frame; none for joints.
        values: What it should be: places (frames, 3), rotations (frames, 3, 3), directions (frames, 3) or poses.
        weights: How much it counts in each frame; metres and radians alike, times these.
        axis: The axis of a direction, in the coordinates of the frame.
    """

    kind: str
    frame: str
    values: FloatArray
    weights: FloatArray
    axis: FloatArray | None = None

    def goal(self, linkage: Linkage, frame: int) -> Goal:
        """Return the goal of one frame."""
        value, weight = self.values[frame], float(self.weights[frame])
        if self.kind == "place":
            return Reach(self.frame, position=value, weight=weight, tolerance=ANYTHING)
        weight /= _arm(linkage)
        if self.kind == "turn":
            return Reach(self.frame, orientation=value, weight=weight, tolerance=ANYTHING)
        if self.kind == "direction":
            return Align(self.frame, axis=self.axis, direction=value, weight=weight, tolerance=np.inf)
        return Rest(value, weight=weight, priority=0)


def _arm(linkage: Linkage) -> float:
    """Return the length that solvers multiply radians by, beside metres."""
    return linkage.length / 4.0 or 1.0


def follow(linkage: Linkage, wishes: Sequence[Wish], start: FloatArray, progress: Progress | None = None) -> FloatArray:
    """Return the poses (frames, nq) that serve wishes best, each found from the one before.

    Args:
        linkage: The linkage.
        wishes: What is wished for.
        start: The pose to begin with.
        progress: Told how many frames of how many are done.
    """
    from ..solvers import Problem, Settings
    from ..solvers.body_solver import Pace, PreparedFigure

    goals = [wish.goal(linkage, 0) for wish in wishes]
    pace = Pace(floor=FLOOR / _arm(linkage) ** 2, patience=PATIENCE, stalled=STALLED, settled=SETTLED)
    ik = PreparedFigure(Problem(linkage, goals), Settings(limits="project"), restarts=0, seed=0, pace=pace)
    first = ik.aims(ik.bound(goals, start))
    frames = len(wishes[0].values)
    poses = np.empty((frames, linkage.nq))
    for begin in range(0, frames, FRAMES_AT_ONCE):
        part = slice(begin, min(begin + FRAMES_AT_ONCE, frames))
        numbers = np.repeat(first[None], part.stop - begin, axis=0)
        at = 0
        for wish, packed in zip(wishes, ik.program.goals, strict=True):
            _write(wish, part, packed.items, _arm(linkage), numbers[:, at:])
            at += 2 + len(packed.aim())
        poses[part], _, _ = ik.search(numbers, np.broadcast_to(start, (len(numbers), linkage.nq)), chained=True)
        start = poses[part.stop - 1]
        if progress is not None:
            progress(part.stop, frames)
    return poses


def _write(wish: Wish, part: slice, items: Sequence[int], arm: float, numbers: FloatArray) -> None:
    """Write weights and targets of a wish over the numbers (frames, ...) of its goal, as the kernels read them."""
    from ..kernels import goal_rows as aims

    values, weights = wish.values[part], wish.weights[part]
    numbers[:, aims.METRES] = weights if wish.kind == "place" else weights / arm
    numbers[:, aims.RADIANS] = weights * arm if wish.kind == "place" else weights
    target = numbers[:, 2:14].reshape(len(numbers), 3, 4) if wish.kind in ("place", "turn") else None
    if wish.kind == "place":
        numbers[:, [5, 9, 13]] = values
    elif wish.kind == "turn" and target is not None:
        target[:, :, :3] = values
        numbers[:, 2:14] = target.reshape(-1, 12)
    elif wish.kind == "direction":
        numbers[:, 2:5] = values / np.linalg.norm(values, axis=1, keepdims=True)
    else:
        for k, (kind, place) in enumerate(zip(items[0::4], items[1::4], strict=True)):
            at = aims.GOAL_NUMBERS + 7 * k + 3
            width = 4 if kind == aims.BALL_REST else 1
            numbers[:, at : at + width] = values[:, place : place + width]
