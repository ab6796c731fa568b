"""Keep control cycles collision-free, for steps of chains and bodies.

A cycle proposes a pose, and `kernels.collision.guard` returns the nearest one that keeps the margin on the way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..collision.packing import Scene
from ..collision.scenes import scene_of
from ..collision.ways import ways_of
from ..goals import Avoid, Reach
from ..goals.base import metres_per_radian
from ..kernels.collision.guard import AS_WANTED, COLUMN, HELD, REPORT, SETTINGS, TASK, guard_one, room_size
from ..kernels.collision.piece_layout import NEAR
from ..kernels.joint_step import ROW_CODES
from ..linkage.linkage import Linkage
from ..linkage.program import chain_motions, program_of
from ..transforms import FloatArray
from .step import SLOW

HAIR = 5e-5  # added to the margin as a target [m]
SLACK = 5e-5  # allowed violation of the margin within a cycle [m]
BRAKING = 0.02  # time in which the distance to the margin shrinks to a third at most [s]
EMPTY = np.empty


class Guarded:
    """Result of a guarded cycle.

    Attributes:
        guard: The guard.
        ended: Outcome, such as `AS_WANTED`, as defined by the kernel.
        out: The pose, then a report.
    """

    __slots__ = ("ended", "guard", "out")

    def __init__(self, guard: Guard, ended: int, out: FloatArray) -> None:
        self.guard, self.ended, self.out = guard, ended, out

    @property
    def as_wanted(self) -> bool:
        """Whether the wanted pose was kept."""
        return self.ended == AS_WANTED

    @property
    def held(self) -> bool:
        """Whether nothing moves."""
        return self.ended == HELD

    @property
    def q(self) -> FloatArray:
        """The pose to command."""
        return self.out[: self.guard.linkage.nq]

    @property
    def report(self) -> Any:
        """The report on the nearest parts."""
        return REPORT.view(self.out[self.guard.linkage.nq :])

    @property
    def pair(self) -> tuple[str, str] | None:
        """Names of the nearest pair at the pose, or None if none are near."""
        return self.guard.scene.names(NEAR.view(self.report.record)) if self.report.after < math.inf else None

    @property
    def clearance(self) -> float:
        """Distance of that pair [m]; infinity if none are near."""
        return float(self.report.after)


class Guard:
    """Collision avoidance for control loops, packed for the kernel.

    Args:
        linkage: The linkage.
        avoid: What to keep clear of, and the margin.
        goals: Goals of the frames that should move as wanted, as far as possible.
        velocities: The velocities that may change, in the order of the columns.
        keeps_limits: Whether limits are kept.
        scene: The packed shapes of linkage and world, if known; by default those of `avoid`.
    """

    def __init__(
        self,
        linkage: Linkage,
        avoid: Avoid,
        goals: Sequence[Reach],
        velocities: Sequence[int],
        *,
        keeps_limits: bool,
        scene: Scene | None = None,
    ) -> None:
        self.linkage, self.avoid = linkage, avoid
        self.scene = scene or scene_of(linkage, avoid.world, self=avoid.self, links=avoid.links)
        self.velocities = np.asarray(velocities, np.int64)
        self.ways = ways_of(linkage, velocities)
        program = program_of([chain_motions(linkage, goal.frame) for goal in goals])
        self.task = program.starts, program.codes, program.numbers, np.concatenate([*map(self._task, goals), EMPTY(0)])
        self._columns = self._packed_columns(keeps_limits)
        self.size = linkage.nq + REPORT.size
        self.room = room_size(self.scene.codes, len(self.velocities), len(program.codes) // ROW_CODES.size)
        self.rooms: list[FloatArray] = []
        self._dt, self._reach, self._kept = 0.0, EMPTY(0), (EMPTY(0), EMPTY(0))

    def _task(self, goal: Reach) -> FloatArray:
        asked = np.isin(np.arange(6), goal.rows)
        turning = metres_per_radian(self.linkage) * float(asked[3:].any())
        return TASK.pack(position=asked[:3], rotation=turning, axis=0.0 if goal.free is None else goal.free)

    def _packed_columns(self, keeps_limits: bool) -> FloatArray:
        table, arm = self.linkage.table, metres_per_radian(self.linkage)
        places = np.full(self.linkage.nv, -1)
        places[table.plain.v] = table.plain.q
        values = places[self.velocities]
        limited = (values >= 0) & keeps_limits
        slides = table.slides[self.velocities]
        return COLUMN.pack(
            shape=(len(values),),
            value=values,
            lower=np.where(limited, self.linkage.lower[values], -np.inf),
            upper=np.where(limited, self.linkage.upper[values], np.inf),
            reach=0.0,
            weight=(8.0 * SLOW) ** 2 * np.where(slides, 1.0, arm**2),
        )

    def _pace(self, reach: FloatArray, dt: float) -> tuple[FloatArray, FloatArray]:
        """Return columns and settings of a cycle in which no velocity changes its value by more than `reach`."""
        if dt != self._dt or reach is not self._reach:
            columns, margin = self._columns.copy(), self.avoid.margin
            COLUMN.view(columns).reach = reach
            gain = -math.expm1(-dt / BRAKING)
            settings = SETTINGS.pack(margin=margin, aim=margin + HAIR, gain=gain, slack=SLACK)
            self._dt, self._reach, self._kept = dt, reach, (columns.reshape(-1), settings)
        return self._kept

    def step(
        self,
        targets: FloatArray,
        before: FloatArray,
        pose: FloatArray,
        wanted: FloatArray,
        reach: FloatArray,
        dt: float,
        around: bool = False,
    ) -> Guarded:
        """Return the wanted cycle, if it keeps the margin; else the one that keeps it and comes nearest to the targets.

        Args:
            targets: Target transforms of the goals' frames, shape (4 * goals, 4).
            before: The previous pose: if goals leave freedom, the motion since then is continued.
            pose: The current pose, shape (nq,).
            wanted: The wanted pose; values that no velocity changes are not modified.
            reach: Largest change of each velocity's value, shape (columns,); passing the same array again is faster.
            dt: Duration of the cycle [s].
            around: Whether the previous cycle went around an obstacle.
        """
        try:
            room = self.rooms.pop()  # for the exclusive use of this call until it is returned
        except IndexError:
            room = EMPTY(self.room)
        out, scene = EMPTY(self.size), self.scene
        columns, settings = self._pace(reach, dt)
        known = scene.codes, scene.numbers, self.ways, *self.task
        ended = guard_one(*known, targets, columns, settings, before, pose, wanted, around, room, out)
        self.rooms.append(room)
        return Guarded(self, ended, out)
