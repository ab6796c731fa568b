"""Pack the part of a tree that a list of goals depends on into arrays for the whole-body kernels.

Joints that no goal depends on are left out and keep their values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..goals.base import metres_per_radian
from ..kernels.avoid_rows import near_size
from ..kernels.body_layout import BLOCK, FIRST_CONE, MASS, QUATERNION, pack_body, scratch_size
from ..kernels.goal_layout import (
    AIM,
    AVOID,
    AVOID_ITEM,
    BALANCE,
    COUPLE,
    COUPLE_ITEM,
    DEXTERITY,
    FIRST_CONE_REST,
    GOAL,
    REST,
    REST_ITEM,
)
from ..kernels.joint_step import BALL, ROW_CODES
from ..kernels.swing_twist import CONE
from ..linkage.mass import masses
from ..linkage.program import Motions, joint_motions, program_of
from ..transforms import FloatArray
from .goal_arrays import PackedGoal, pack_goal
from .options import Settings
from .problem import Problem

ENDLESS = 100.0  # slides longer than this many lengths of the linkage are not sampled from end to end


class BodyProgram:
    """The part of a tree that some goals depend on, in the kernels' arrays.

    Attributes:
        goals: The goals, packed for the kernels.
        columns: The velocities that goals depend on, in order.
        stays: Which of them belong to joints outside the problem's group, and are held.
        moving: Number of the remaining columns.
        levels: Number of each priority level in the kernels.
        codes: Integers, the header first.
        numbers: Constants of the rows, limits, ranges, metric, masses and tolerances.
        size: Number of values of the goals.
        scratch_size: Size of the working memory of a solve, in numbers.
    """

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.linkage, self.problem = problem.linkage, problem
        self.limited = settings.limits != "ignore"
        self.goals = [pack_goal(problem.linkage, goal) for goal in problem.goals]
        self.scenes = list({id(goal.scene): goal.scene for goal in self.goals if goal.scene is not None}.values())
        self.levels = {int(rank): k for k, rank in enumerate(sorted({*problem.priorities}))}
        self.size = sum(goal.size for goal in self.goals)
        self._pack_frames()
        self._number_columns()
        tables = self._tree_tables() | self._goal_tables()
        self.codes, self.numbers = pack_body(self._counts(), tables, self._number_tables(settings))
        self.scratch_size = scratch_size(self.codes)

    def _counts(self) -> dict[str, int]:
        return {
            "frames": len(self.parents),
            "motions": len(self.rates),
            "columns": len(self.columns),
            "balls": len(self.balls),
            "cones": len(self.cones),
            "goals": len(self.goals),
            "blocks": len(self.problem.blocks),
            "errors": self.problem.blocks[-1].rows.stop,
            "explicit": sum(goal.explicit for goal in self.goals),
            "values": self.linkage.nq,
            "levels": len(self.levels),
            "aims": self.size,
            "near": max((near_size(len(scene.frames), scene.codes) for scene in self.scenes), default=0),
        }

    # The tree

    def _pack_frames(self) -> None:
        """Pack the links that goals depend on, and the frames attached to them."""
        linkage = self.linkage
        names = list(dict.fromkeys(name for goal in self.goals for name in goal.names))
        links = sorted({arc for name in names for arc in linkage.path_to(name)[0]})
        local = {link: k for k, link in enumerate(links)}
        runs = [joint_motions(linkage)[link] for link in links]
        parents = [local.get(linkage.parents[link], -1) for link in links]
        self.index = {linkage.links[link]: k for link, k in local.items()}
        for name in names:
            if name not in self.index:
                path, placement = linkage.path_to(name)
                runs.append(Motions(after=placement))
                self.index[name] = len(parents)
                parents.append(local[path[-1]])
        self.parents, self.rows = parents, program_of(runs)
        self.last: list[int] = []
        self.before: list[int] = []
        owned = self.rows.owned.tolist()
        for frame, parent in enumerate(parents):
            latest = self.last[parent] if parent >= 0 else -1
            for motion in range(owned[frame], owned[frame + 1]):
                self.before.append(latest)
                latest = motion
            self.last.append(latest)

    def _number_columns(self) -> None:
        """Number the velocities that goals depend on, and find which of them each goal depends on."""
        quaternions = self.linkage.table.quaternions
        used = set(self.rows.rates.tolist()).union(*(goal.velocities for goal in self.goals))
        used |= {v + k for _, v in quaternions for k in range(3) if used & {v, v + 1, v + 2}}
        self.columns = np.array(sorted(used), np.int64)
        self.column = {v: k for k, v in enumerate(self.columns.tolist())}
        self.rates = [self.column[v] for v in self.rows.rates.tolist()]
        self.places = self.linkage.table.pose_index[self.columns]
        group = self.problem.group
        self.stays = np.zeros(len(self.columns), np.bool_) if group is None else ~group.free[self.columns]
        self.moving = int((~self.stays).sum())
        free = used - set(self.columns[self.stays].tolist())
        self.cones = [cone for cone in self.linkage.cones if self.limited and cone.v in free]
        held = {cone.v for cone in self.cones}
        self.balls = [(q, v) for q, v in quaternions if v in free - held]
        self.support = np.zeros((len(self.goals), len(self.columns)), np.bool_)
        for row, goal in zip(self.support, self.goals, strict=True):
            row[[self.column[v] for v in goal.velocities]] = True
            for name in goal.names:
                for motion in self._motions_above(self.last[self.index[name]]):
                    row[self.rates[motion]] = True

    def _motions_above(self, motion: int) -> list[int]:
        """Return a motion and those before it, up to the root."""
        found = []
        while motion >= 0:
            found.append(motion)
            motion = self.before[motion]
        return found

    def _tree_tables(self) -> dict[str, Any]:
        coupled_from, coupled = self._coupling()
        return {
            "starts": self.rows.starts,
            "parents": self.parents,
            "row_codes": self._rows_with_cones(),
            "rates": self.rates,
            "owned": self.rows.owned,
            "before": self.before,
            "last": self.last,
            "coupled_from": coupled_from,
            "coupled": coupled,
            "pose_index": self.places,
            "ball_codes": self._quaternions(self.balls),
            "cone_codes": self._quaternions([(cone.q, cone.v) for cone in self.cones]),
            "support": self.support,
            "stays": self.stays,
            "scene_codes": np.concatenate([np.zeros(0, np.int64), *(scene.codes for scene in self.scenes)]),
        }

    def _quaternions(self, places: list[tuple[int, int]]) -> NDArray[np.int64]:
        values, columns = [q for q, _ in places], [self.column[v] for _, v in places]
        return QUATERNION.pack(dtype=np.int64, shape=(len(places),), value=values, column=columns)

    def _rows_with_cones(self) -> NDArray[np.int64]:
        """Return the rows; those of balls hold their cones in place of an axis."""
        codes = self.rows.codes.copy()
        rows = ROW_CODES.rows(codes)
        for k, cone in enumerate(self.cones):
            rows.axis[(rows.motion == BALL) & (rows.value == cone.q)] = FIRST_CONE + k
        return codes

    def _coupling(self) -> tuple[NDArray[np.int64], list[int]]:
        """Return the earlier columns coupled to each column in the normal matrix or its factors, nearest first.

        They follow an index of where each column's entries begin.
        """
        n = len(self.columns)
        meets = np.zeros((n, n), np.bool_)
        for goal, row in zip(self.goals, self.support, strict=True):
            if goal.explicit:
                meets |= row[:, None] & row
        for cone in self.cones:
            first = self.column[cone.v]
            meets[first : first + 3, first : first + 3] = True
        for motion, a in enumerate(self.rates):
            for other in self._motions_above(motion):
                b = self.rates[other]
                meets[max(a, b), min(a, b)] = True
        earlier: list[list[int]] = [[] for _ in range(n)]
        for k in range(n - 1, -1, -1):
            met = np.flatnonzero(meets[k, :k])
            meets[np.ix_(met, met)] = True
            earlier[k] = met[::-1].tolist()
        return np.cumsum([0, *map(len, earlier)]), [k for met in earlier for k in met]

    # The goals

    def _goal_tables(self) -> dict[str, Any]:
        """Return the codes of goals, their items, and the blocks of error rows."""
        codes = GOAL.view(np.full((len(self.goals), GOAL.size), -1, np.int64))
        items: list[int] = []
        blocks: list[Any] = []
        number = row = error = 0
        for k, (goal, given) in enumerate(zip(self.goals, self.problem.goals, strict=True)):
            own, level = codes[k], self.levels[given.priority]
            if goal.kind != BALANCE:  # a balance depends on everything with mass
                frames = (-1 if name is None else self.index[name] for name in goal.frames)
                for name, frame in zip(("frame", "other", "third", "fourth"), frames, strict=False):
                    setattr(own, name, frame)
            own.kind, own.count, own.level = goal.kind, goal.count, level
            own.mask = goal.mask + (error if goal.kind == REST else 0)
            own.error, own.row, own.number, own.item = error, row, number, len(items)
            items += self._items(goal, error)
            for block in given.blocks:
                first, end = error + block.rows.start, error + block.rows.stop
                weight = number + (AIM.radians if block.unit == "rad" else AIM.metres)
                blocks.append(BLOCK.pack(dtype=np.int64, first=first, end=end, weight=weight, level=level, goal=k))
            number += goal.size
            row += goal.explicit
            error += given.blocks[-1].rows.stop
        return {"goal_codes": codes.array, "goal_items": items, "block_codes": blocks}

    def _items(self, goal: PackedGoal, error: int) -> list[int]:
        """Return the items of a goal with columns, error rows and frames in this program's numbering."""
        items = goal.items.copy()
        if goal.kind == REST:
            record, cones = REST_ITEM.rows(items), {cone.q: FIRST_CONE_REST + k for k, cone in enumerate(self.cones)}
            kinds = zip(record.kind.tolist(), record.value.tolist(), strict=True)
            record.kind = [cones.get(q, kind) for kind, q in kinds]
            record.column = [self.column[v] for v in record.column.tolist()]
            record.error = record.error + error
        elif goal.kind == COUPLE:
            couple = COUPLE_ITEM.rows(items)
            couple.column = [self.column[v] for v in couple.column.tolist()]
        elif goal.kind == AVOID:
            before = self.scenes[: next(k for k, scene in enumerate(self.scenes) if scene is goal.scene)]
            own = AVOID_ITEM.view(items)
            own.code, own.number = (sum(getattr(s, name).size for s in before) for name in ("codes", "numbers"))
        elif goal.kind == DEXTERITY:
            items[:] = [self.column[v] for v in items.tolist()]
        return [*items.tolist(), *(-1 if name is None else self.index[name] for name in goal.corners)]

    def _number_tables(self, settings: Settings) -> dict[str, Any]:
        linkage, n = self.linkage, len(self.columns)
        plain = (self.places >= 0) & ~self.stays
        where = self.places[plain]
        lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
        if self.limited:
            lower[plain], upper[plain] = linkage.lower[where], linkage.upper[where]
        start_lower, start_upper = self._start_ranges(lower, upper)
        cones = [CONE.pack(axis=cone.axis, swing=cone.swing, low=cone.low, high=cone.high) for cone in self.cones]
        return {
            "row_numbers": self.rows.numbers,
            "lower": lower,
            "upper": upper,
            "start_lower": start_lower,
            "start_upper": start_upper,
            "metric": self._metric(),
            "masses": self._masses(),
            "tolerances": settings.tolerances(self.problem),
            "cone_numbers": cones,
            "scene_numbers": np.concatenate([np.zeros(0), *(scene.numbers for scene in self.scenes)]),
        }

    def _start_ranges(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the ranges of random starts. Values without limits stay, except angles and balls, which turn.

        Slides much longer than the linkage also stay: they carry it to its goals, see `body_start`.
        """
        q, _, wraps = self.linkage.table.plain
        turning = np.isin(self.places, q[wraps])
        ball = (self.places < 0) & (self.columns >= self.linkage.arcs[0].articulation.nv)  # the root is not turned
        ranges = []
        long = self.linkage.table.slides[self.columns] & (upper - lower > ENDLESS * self.linkage.length)
        for bounds, end in ((lower, -1.0), (upper, 1.0)):
            finite = np.where(np.isfinite(bounds) & ~long, bounds, 0.0)
            ranges.append(np.where(ball, end, np.where(turning, end * np.pi, finite)))
        return ranges[0], ranges[1]

    def _metric(self) -> FloatArray:
        """Return the cost of the square of each column's velocity in a damped step."""
        slides = self.linkage.table.slides[self.columns]
        plain = np.where(slides, 1.0 / metres_per_radian(self.linkage) ** 2, 1.0)
        scale = None if self.problem.group is None else self.problem.group.scale
        return plain if scale is None else plain / scale[self.columns] ** 2

    def _masses(self) -> FloatArray:
        """Return the share of the total mass of every frame, and its centre."""
        result = np.zeros((len(self.parents), MASS.size))
        if any(goal.kind == BALANCE for goal in self.goals):
            heavy, record = masses(self.linkage), MASS.view(result)
            at = [self.index[name] for name in heavy.links]
            record.share[at], record.centre[at] = np.asarray(heavy.masses) / heavy.total, heavy.centers
        return result
