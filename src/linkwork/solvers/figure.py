"""A figure and a list of goals, packed once for the compiled solver of whole figures: what `robust` and `prepare` call.

Imports `packing`, `problem`, `base`, `program` and the kernels. Only the part of the tree that the goals depend on is
packed; joints outside it stay where they are.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import GoalError, OptionError
from ..goals import Goal
from ..kernels import aims, figure, whole
from ..linkage import Linkage
from ..mass import masses
from ..poses import start_pose
from ..program import Rows
from ..transforms import FloatArray
from .base import Settings, Solution
from .packing import PACKERS, Packed, packed, write
from .problem import Problem

LOWER_LEVEL = 1e-3  # what a goal of the second level counts beside one of the first
GAIN, FLOOR = 0.02, 1e-10
STEPS, PATIENCE, STALLED, SETTLED, FINEST, FINISH = 60.0, 6.0, 0.9, 1e-5, 1e-10, 12.0
TRIES = 200
ROUND = 8  # starts between two looks at the clock


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
            + 3 * self.linkage.nq
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
        program, starts, owned = Rows(), [0], [0]
        for link in links:
            program.joint(linkage.arcs[link], linkage.drives[link])
            program.rest()
            starts.append(len(program.codes))
            owned.append(len(program.rates))
        parents = [local.get(linkage.parents[link], -1) for link in links]
        self.index = {linkage.links[link]: k for link, k in local.items()}
        for name in names:
            if name not in self.index:
                path, placement = linkage.path_to(name)
                program.place(placement)
                program.rest()
                starts.append(len(program.codes))
                owned.append(len(program.rates))
                self.index[name] = len(parents)
                parents.append(local[path[-1]])
        self.rows, self.row_numbers = program.arrays()
        self.starts, self.parents, self.owned, self._rates = starts, parents, owned, program.rates
        self.last: list[int] = []
        self.before: list[int] = []
        for frame, parent in enumerate(parents):
            latest = self.last[parent] if parent >= 0 else -1
            for motion in range(owned[frame], owned[frame + 1]):
                self.before.append(latest)
                latest = motion
            self.last.append(latest)

    def _columns(self) -> None:
        """Number the velocities that goals depend on, and say which of them each goal does."""
        linkage = self.linkage
        places = dict(zip(linkage.plain_values[1].tolist(), linkage.plain_values[0].tolist(), strict=True))
        balls = {v + k: q for q, v in linkage.quaternion_values for k in range(3)}
        used = set(self._rates)
        for goal in self.goals:
            used.update(_joint_columns(goal))
        firsts = {v for _, v in linkage.quaternion_values}
        used |= {v + k for v in firsts for k in range(3) if used & {v, v + 1, v + 2}}
        self.columns = np.array(sorted(used), np.int64)
        column = {int(v): k for k, v in enumerate(self.columns)}
        self.column = column
        self.rates = [column[v] for v in self._rates]
        self.places = [-1 if v in balls else places[v] for v in self.columns.tolist()]
        self.balls = [n for q, v in linkage.quaternion_values if v in used for n in (q, column[v])]
        self.support = np.zeros((len(self.goals), len(column)), np.bool_)
        for row, goal in zip(self.support, self.goals, strict=True):
            row[[column[v] for v in _joint_columns(goal)]] = True
            for name in _names(goal):
                motion = self.last[self.index[name]]
                while motion >= 0:
                    row[self.rates[motion]] = True
                    motion = self.before[motion]

    def _coupling(self) -> tuple[list[int], list[int]]:
        """Return for every column the earlier ones that it meets in the normal matrix or its factors, nearest first."""
        n = len(self.columns)
        meets = np.zeros((n, n), np.bool_)
        for goal, row in zip(self.goals, self.support, strict=True):
            if goal.explicit:
                meets |= row[:, None] & row
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
            result[2::4] = [self.column[v] for v in result[2::4]]
            result[3::4] = [error + row for row in result[3::4]]
        elif goal.kind == aims.COUPLE:
            result[1::2] = [self.column[v] for v in result[1::2]]
        return result

    def _number_tables(self) -> dict[int, Any]:
        linkage, n = self.linkage, len(self.columns)
        lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
        plain = np.array(self.places) >= 0
        where = np.array(self.places)[plain]
        if self.settings.limits != "ignore":
            lower[plain], upper[plain] = linkage.lower[where], linkage.upper[where]
        low, high = np.where(np.isfinite(lower), lower, 0.0), np.where(np.isfinite(upper), upper, 0.0)
        q, _, wraps = linkage.plain_values
        turning = np.isin(self.places, q[wraps])
        low, high = np.where(turning, -np.pi, low), np.where(turning, np.pi, high)
        root = linkage.arcs[0].articulation.nv
        low = np.where(plain | (self.columns < root), low, -1.0)  # balls are turned at random, the root is not
        high = np.where(plain | (self.columns < root), high, 1.0)
        length = linkage.length / 4.0 or 1.0
        slides = np.isin(self.columns, _sliding(linkage))
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


def _sliding(linkage: Linkage) -> list[int]:
    """Return the velocities of slides."""
    return [
        drive.v + element.rate
        for arc, drive in zip(linkage.arcs, linkage.drives, strict=True)
        if arc.mimic is None
        for element in arc.articulation.elements
        if element.kind == "prismatic"
    ]


class PreparedFigure:
    """Inverse kinematics of a list of goals, packed: call it with goals of the same kinds.

    Attributes:
        problem: The goals it was made for.
        program: What the kernels read.
        settings: Tolerances and limits.
        restarts: Other starts at most, for one problem.
        seed: Where they come from.
    """

    def __init__(self, problem: Problem, settings: Settings, *, restarts: int, seed: int) -> None:
        self.linkage, self.problem, self.settings = problem.linkage, problem, settings
        self.restarts, self.seed = min(restarts, TRIES), seed
        self.program = Program(problem, settings)
        ranks = sorted({goal.priority for goal in problem.goals})
        self._emphasis = [1.0 if goal.priority == ranks[0] else LOWER_LEVEL for goal in problem.goals]
        self._kinds = [_kind(goal) for goal in problem.goals]
        length = self.linkage.length / 4.0 or 1.0
        self._steering = np.array(
            [GAIN, FLOOR * length**2, STEPS, PATIENCE, STALLED, SETTLED, FINEST * max(length, 1.0), FINISH]
        )
        self._width = whole.REPORT + len(problem.blocks)

    def __repr__(self) -> str:
        return (
            f"<PreparedFigure of {self.linkage.name!r}: {len(self._kinds)} goals, {len(self.program.columns)} columns>"
        )

    def aims(self, goals: Sequence[Goal]) -> FloatArray:
        """Return the numbers of bound goals of the kinds that it was made for; weights and targets may be others."""
        if [_kind(goal) for goal in goals] != self._kinds:
            raise GoalError(
                f"this was prepared for {len(self._kinds)} goals of other kinds, frames or tolerances; prepare it anew."
            )
        numbers, at = np.empty(self.program.size), 0
        for goal, factor in zip(goals, self._emphasis, strict=True):
            at = write(self.linkage, goal, factor * goal.weight, numbers, at)
        return numbers

    def bound(self, goals: Goal | Sequence[Goal], start: FloatArray) -> tuple[Goal, ...]:
        """Return goals as they stand for a start."""
        several = (goals,) if isinstance(goals, Goal) else goals
        return tuple([goal.bound(self.linkage, start) for goal in several])

    def search(
        self,
        numbers: FloatArray,
        starts: FloatArray,
        *,
        chained: bool = False,
        begin: int = 0,
        first: int = 0,
        tries: int | None = None,
    ) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        """Return poses (m, nq), reports and status for the numbers of m problems and their starts (m, nq).

        Args:
            numbers: What `aims` gives for each, shape (m, size).
            starts: A pose for each; with `chained`, only the first counts.
            chained: Begin every problem with the answer to the one before.
            begin: Number of the first problem, which its random starts depend on.
            first: Number of the first start; 0 is the pose itself.
            tries: Starts after the first.
        """
        program, status = self.program, np.zeros(len(numbers), np.int64)
        out = np.array(starts) if self.settings.limits == "ignore" else self._within(starts)
        report = np.zeros((len(numbers), self._width))
        whole.figure_many(
            program.codes,
            program.numbers,
            self._steering,
            numbers.reshape(-1),
            program.size,
            begin,
            chained,
            self.seed,
            first,
            self.restarts if tries is None else tries,
            np.empty(program.room),
            out.reshape(-1),
            report.reshape(-1),
            status,
        )
        return out, report, status

    def _within(self, poses: FloatArray) -> FloatArray:
        within: FloatArray = np.minimum(np.maximum(poses, self.linkage.lower), self.linkage.upper)
        return within

    def __call__(self, goals: Goal | Sequence[Goal], *, start: ArrayLike | str | None = None) -> Solution:
        """Return the pose that serves goals, begun from a pose (the neutral one by default).

        Example:
            >>> import linkwork as lw
            >>> figure = lw.models.human()
            >>> ik = lw.prepare(figure, [lw.Hold("left_foot"), lw.Reach("right_hand", position=(0.4, -0.2, 1.2))])
            >>> ik([lw.Hold("left_foot"), lw.Reach("right_hand", position=(0.4, -0.1, 1.1))], start="stand").success
            True
        """
        return self.solve(goals, self._start(start))

    def solve(self, goals: Goal | Sequence[Goal], start: FloatArray) -> Solution:
        """Return the solution from a checked start."""
        known = self.bound(goals, start)
        (q, report, status), late = self._searched(self.aims(known)[None], start[None])
        reached = bool(status[0])
        ending = "reached" if reached else "time" if late else "closest"
        steps = int(report[0, 1])
        residuals = report[0, whole.REPORT :]
        return Solution(
            self.linkage, known, "robust", start, q[0], reached, residuals, steps, ending, (), self.settings
        )

    def solve_many(self, goals: Goal | Sequence[Goal], starts: FloatArray) -> Solution:
        """Return the solutions for the same goals from many starts (..., nq)."""
        known, shape = self.bound(goals, starts), starts.shape[:-1]
        flat = starts.reshape(-1, self.linkage.nq)
        q, report, status = self.search(np.tile(self.aims(known), (len(flat), 1)), flat)
        return Solution(
            self.linkage,
            known,
            "robust",
            starts,
            q.reshape(starts.shape),
            status.astype(np.bool_).reshape(shape),
            report[:, whole.REPORT :].reshape(*shape, -1),
            report[:, 1].astype(np.int64).reshape(shape),
            np.where(status == whole.REACHED, "reached", "closest").reshape(shape),
            (),
            self.settings,
        )

    def follow(
        self, frames: Sequence[Goal | Sequence[Goal]], *, start: ArrayLike | str | None = None
    ) -> tuple[FloatArray, NDArray[np.bool_], FloatArray]:
        """Solve goals frame by frame, each from the pose before; what a clip is made of.

        Returns:
            Poses (frames, nq), whether each was reached (frames,), and how far its blocks were off (frames, blocks).
        """
        pose = self._start(start)
        if not len(frames):
            raise GoalError("there are no frames to follow; give at least one list of goals.")
        numbers = np.array([self.aims(self.bound(goals, pose)) for goals in frames])
        q, report, status = self.search(numbers, np.broadcast_to(pose, (len(frames), len(pose))), chained=True)
        return q, status.astype(np.bool_), report[:, whole.REPORT :]

    def _start(self, start: ArrayLike | str | None) -> FloatArray:
        pose = start_pose(self.linkage, start)
        if pose.ndim != 1:
            raise OptionError(f"one problem takes one start of shape ({self.linkage.nq},), got shape {pose.shape}.")
        return pose

    def _searched(self, numbers: FloatArray, start: FloatArray) -> tuple[Any, bool]:
        """Search once, or in rounds until the time is up; say whether it was."""
        if self.settings.time_budget is None:
            return self.search(numbers, start), False
        deadline = time.perf_counter() + self.settings.time_budget
        q, report, status = self.search(numbers, start, tries=0)
        made = 1
        while not status[0] and made <= self.restarts and time.perf_counter() < deadline:
            again, found, status = self.search(numbers, q, first=made, tries=ROUND - 1)
            made += ROUND
            found[0, 1] += report[0, 1]
            if status[0] or found[0, 0] < report[0, 0]:
                q, report = again, found
        return (q, report, status), time.perf_counter() >= deadline


def _kind(goal: Goal) -> tuple[Any, ...]:
    """Return a goal's make but for its weight."""
    make = goal.make
    return make[:-3] + make[-2:]


def serves(problem: Problem) -> bool:
    """Return whether the compiled solver knows all goals of a problem, on two levels at most."""
    known = all(type(goal) in PACKERS for goal in problem.goals)
    return known and len(np.unique(problem.priorities)) <= 2


def figure_for(problem: Problem, settings: Settings, restarts: int, seed: int) -> PreparedFigure:
    """Return the prepared solver for a problem's kind of goals; it is kept on the linkage."""
    kept: dict[Any, PreparedFigure] = problem.linkage.__dict__.setdefault("_figures", {})
    kinds = tuple(_kind(goal) for goal in problem.goals)
    key = (kinds, settings.tolerance, settings.rotation_tolerance, settings.limits == "ignore", restarts, seed)
    found = kept.get(key)
    if found is None or settings.time_budget != found.settings.time_budget:
        if len(kept) >= MOST_KEPT:
            kept.clear()
        kept[key] = found = PreparedFigure(problem, settings, restarts=restarts, seed=seed)
    return found


MOST_KEPT = 64
