"""The part of a tree that a list of goals depends on, turned into the arrays that the kernels of whole figures read.

Imports `packing`, `problem`, `base`, `program` and the codes of the kernels. Joints that no goal depends on are left
out, and stay where they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import body_state as figure, goal_rows as aims, joint_step as rows
from ..linkage.mass import masses
from ..linkage.program import Motions, joint_motions, program_of
from .goal_arrays import Packed, packed
from .options import Settings
from .problem import Problem


class Program:
    """The part of a tree that some goals depend on, in the kernels' arrays.

    Attributes:
        columns: The velocities that can change, in order.
        codes: Whole numbers, the header first.
        numbers: Constants of the rows, limits, ranges, metric, masses and tolerances.
        room: How many numbers a solve needs to work in.
    """

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.linkage, self.settings = problem.linkage, settings
        self.goals = [packed(problem.linkage, goal) for goal in problem.goals]
        self.problem = problem
        self._frames()
        self._columns()
        levels = np.unique(problem.priorities)
        self.levels = {int(rank): k for k, rank in enumerate(levels)}
        goal_codes, items, blocks = self._goal_tables()
        coupled_at, coupled = self._coupling()
        tables: dict[int, Any] = {
            figure.STARTS: self.starts,
            figure.PARENTS: self.parents,
            figure.ROWS: self.rows,
            figure.RATES: self.rates,
            figure.OWNED: self.owned,
            figure.BEFORE: self.before,
            figure.LAST: self.last,
            figure.COUPLED_AT: coupled_at,
            figure.COUPLED: coupled,
            figure.PLACES: self.places,
            figure.BALL_AT: self.balls,
            figure.CONE_AT: [n for cone in self.cones for n in (cone.q, self.column[cone.v])],
            figure.BLOCK_AT: blocks,
            figure.SUPPORT: self.support.astype(np.int64).ravel(),
        }
        header = np.zeros(figure.HEADER, np.int64)
        counts = {
            figure.FRAMES: len(self.parents),
            figure.MOTIONS: len(self.rates),
            figure.COLUMNS: len(self.columns),
            figure.BALLS: len(self.balls) // 2,
            figure.GOALS: len(self.goals),
            figure.ERRORS: problem.blocks[-1].rows.stop,
            figure.EXPLICIT: sum(goal.explicit for goal in self.goals),
            figure.VALUES: self.linkage.nq,
            figure.BLOCKS: len(problem.blocks),
            figure.LEVELS: len(levels),
            figure.CONES: len(self.cones),
        }
        for place, count in counts.items():
            header[place] = count
        self._join(header, tables, goal_codes, items)
        n, frames = counts[figure.COLUMNS], counts[figure.FRAMES]
        self.room = (
            (16 + figure.COMPOSITE + 8) * frames
            + 16
            + 6 * counts[figure.MOTIONS]
            + counts[figure.EXPLICIT] * (n + 1)
            + counts[figure.ERRORS]
            + 2 * n * n
            + 8 * n
            + 2 * self.linkage.nq
            + counts[figure.GOALS]
        )

    def _join(self, header: Any, tables: dict[int, Any], goal_codes: Any, items: Any) -> None:
        """Lay the tables out one after another, and say in the header where they are."""
        parts, at = [header], len(header)
        for place, values in tables.items():
            header[place] = at
            parts.append(np.asarray(values, np.int64))
            at += len(parts[-1])
        header[figure.GOAL_AT] = at
        goal_codes = goal_codes.copy()
        goal_codes[:, aims.ITEMS] += at + goal_codes.size
        self.codes = np.concatenate([*parts, goal_codes.ravel(), np.asarray(items, np.int64)])
        numbers, at = [], 0
        for place, values in self._number_tables().items():
            self.codes[place] = at
            numbers.append(np.asarray(values, np.float64).ravel())
            at += len(numbers[-1])
        self.numbers = np.concatenate(numbers)

    # The tree

    def _frames(self) -> None:
        """Pack the links that goals depend on, and the frames on them."""
        linkage = self.linkage
        names = list(dict.fromkeys(name for goal in self.goals for name in _names(goal)))
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
        program = program_of(runs)
        self.rows, self.row_numbers = program.codes, program.numbers
        self.starts, self.owned, self._rates = (a.tolist() for a in (program.starts, program.owned, program.rates))
        self.parents = parents
        self.last: list[int] = []
        self.before: list[int] = []
        for frame, parent in enumerate(parents):
            latest = self.last[parent] if parent >= 0 else -1
            for motion in range(self.owned[frame], self.owned[frame + 1]):
                self.before.append(latest)
                latest = motion
            self.last.append(latest)

    def _columns(self) -> None:
        """Number the velocities that goals depend on, and say which of them each goal does."""
        linkage = self.linkage
        used = set(self._rates)
        for goal in self.goals:
            used.update(_joint_columns(goal))
        firsts = {v for _, v in linkage.table.quaternions}
        used |= {v + k for v in firsts for k in range(3) if used & {v, v + 1, v + 2}}
        self.columns = np.array(sorted(used), np.int64)
        column = {int(v): k for k, v in enumerate(self.columns)}
        self.column = column
        self.rates = [column[v] for v in self._rates]
        self.places = linkage.table.pose_index[self.columns].tolist()
        limited = self.settings.limits != "ignore"
        self.cones = [cone for cone in linkage.cones if limited and cone.v in used]
        held = {cone.v for cone in self.cones}
        self.balls = [n for q, v in linkage.table.quaternions if v in used - held for n in (q, column[v])]
        self._mark_cones()
        self.support = np.zeros((len(self.goals), len(column)), np.bool_)
        for row, goal in zip(self.support, self.goals, strict=True):
            row[[column[v] for v in _joint_columns(goal)]] = True
            for name in _names(goal):
                motion = self.last[self.index[name]]
                while motion >= 0:
                    row[self.rates[motion]] = True
                    motion = self.before[motion]

    def _mark_cones(self) -> None:
        """Write into the rows of balls, where other motions have an axis, which cone they have."""
        lines = rows.ROW_CODES.rows(self.rows)
        for k, cone in enumerate(self.cones):
            own = (lines.motion == rows.BALL) & (lines.value == cone.q)
            lines.axis[own] = figure.FIRST_CONE + k

    def _coupling(self) -> tuple[list[int], list[int]]:
        """Return for every column the earlier ones that it meets in the normal matrix or its factors, nearest first."""
        n = len(self.columns)
        meets = np.zeros((n, n), np.bool_)
        for goal, row in zip(self.goals, self.support, strict=True):
            if goal.explicit:
                meets |= row[:, None] & row
        for cone in self.cones:
            first = self.column[cone.v]
            meets[first : first + 3, first : first + 3] = True
        for motion in range(len(self.rates)):
            other = motion
            while other >= 0:
                a, b = self.rates[motion], self.rates[other]
                meets[max(a, b), min(a, b)] = True
                other = self.before[other]
        at, coupled = [0] * (n + 1), list[int]()
        rows: list[list[int]] = [[] for _ in range(n)]
        for k in range(n - 1, -1, -1):
            earlier = np.flatnonzero(meets[k, :k])
            meets[np.ix_(earlier, earlier)] = True
            rows[k] = earlier[::-1].tolist()
        for k, met in enumerate(rows):
            coupled += met
            at[k + 1] = len(coupled)
        return at, coupled

    # The goals

    def _goal_tables(self) -> tuple[NDArray[np.int64], list[int], list[int]]:
        """Return the codes of goals, their items, and the blocks of error rows."""
        codes = np.full((len(self.goals), aims.GOAL_CODES), -1, np.int64)
        items: list[int] = []
        blocks: list[int] = []
        number = row = error = 0
        for line, goal, given in zip(codes, self.goals, self.problem.goals, strict=True):
            frames = [-1 if name is None else self.index[name] for name in goal.frames[:4]]
            line[aims.FRAME : aims.FRAME + len(frames)] = frames if goal.kind != aims.BALANCE else -1
            mask = goal.mask + (error if goal.kind == aims.REST else 0)
            level = self.levels[given.priority]
            line[[aims.KIND, aims.MASK, aims.ERROR, aims.ROW, aims.NUMBER, aims.ITEMS, aims.COUNT, aims.LEVEL]] = (
                goal.kind,
                mask,
                error,
                row,
                number,
                len(items),
                goal.count,
                level,
            )
            items += self._items(goal, error)
            for block in given.blocks:
                weight = number + (aims.RADIANS if block.unit == "rad" else aims.METRES)
                blocks += [error + block.rows.start, error + block.rows.stop, weight, level]
            number += 2 + len(goal.aim())
            row += goal.explicit
            error += given.blocks[-1].rows.stop
        self.size = number
        return codes, items, blocks

    def _items(self, goal: Packed, error: int) -> list[int]:
        if goal.kind == aims.BALANCE:
            return [-1 if name is None else self.index[name] for name in goal.items]
        result = list(goal.items)
        if goal.kind == aims.REST:
            cones = {cone.q: aims.FIRST_CONE_REST + k for k, cone in enumerate(self.cones)}
            result[0::4] = [cones.get(q, kind) for kind, q in zip(result[0::4], result[1::4], strict=True)]
            result[2::4] = [self.column[v] for v in result[2::4]]
            result[3::4] = [error + row for row in result[3::4]]
        elif goal.kind == aims.COUPLE:
            result[1::2] = [self.column[v] for v in result[1::2]]
        return result

    def _number_tables(self) -> dict[int, Any]:
        linkage, n = self.linkage, len(self.columns)
        lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
        places = np.array(self.places, np.int64)
        plain = places >= 0
        where = places[plain]
        if self.settings.limits != "ignore":
            lower[plain], upper[plain] = linkage.lower[where], linkage.upper[where]
        low, high = np.where(np.isfinite(lower), lower, 0.0), np.where(np.isfinite(upper), upper, 0.0)
        q, _, wraps = linkage.table.plain
        turning = np.isin(places, q[wraps])
        low, high = np.where(turning, -np.pi, low), np.where(turning, np.pi, high)
        root = linkage.arcs[0].articulation.nv
        low = np.where(plain | (self.columns < root), low, -1.0)  # balls are turned at random, the root is not
        high = np.where(plain | (self.columns < root), high, 1.0)
        length = linkage.length / 4.0 or 1.0
        slides = linkage.table.slides[self.columns]
        weights = np.zeros((len(self.parents), 4))
        if any(goal.kind == aims.BALANCE for goal in self.goals):
            heavy = masses(linkage)
            for name, mass, center in zip(heavy.links, heavy.masses, heavy.centers, strict=True):
                weights[self.index[name]] = mass / heavy.total, *center
        return {
            figure.ROW_NUMBERS: self.row_numbers,
            figure.LOWER: lower,
            figure.UPPER: upper,
            figure.FROM: low,
            figure.TO: high,
            figure.METRIC: np.where(slides, 1.0 / length**2, 1.0),
            figure.MASSES: weights,
            figure.TOLERANCES: self.settings.tolerances(self.problem),
            figure.CONE_NUMBERS: [number for cone in self.cones for number in (*cone.axis, *cone[3:])],
        }


def _names(goal: Packed) -> list[str]:
    """Return the frames that a goal is about."""
    listed = [name for name in goal.frames if name is not None]
    return listed + [name for name in goal.items if isinstance(name, str)]


def _joint_columns(goal: Packed) -> list[int]:
    """Return the velocities that a goal of joints is about."""
    if goal.kind == aims.REST:
        entries = zip(goal.items[0::4], goal.items[2::4], strict=True)
        return [v + k for kind, v in entries for k in range(3 if kind == aims.BALL_REST else 1)]
    return goal.items[1::2] if goal.kind == aims.COUPLE else []
