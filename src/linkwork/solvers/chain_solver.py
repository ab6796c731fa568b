"""A frame and a kind of goal, packed once for the compiled search: what control loops, batches and `robust` call.

Imports `limb`, `base` and the kernels. `preparing.prepare` is the public way to one.
"""

from __future__ import annotations

import math
import time
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import GoalError, OptionError, TransformError
from ..goals import Reach
from ..kernels import damped, starts
from ..kernels.search_many import INVALID, REACHED, REPORT, UNSOLVED, check_many, room, search_many
from ..kernels.search_one import TARGET, pack, race_one
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, clamped, start_pose, wrapped
from ..transforms import FloatArray, as_array, plane_basis
from .chain import Limb, shells
from .chain_solution import Found
from .options import Settings
from .solution import Solution

RESTARTS = 2000
GAIN, FLOOR = 0.05, {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-6}  # damping: of the error, and at least
STEPS, CHECK, STALLED, CLOSE, HOPE, CAUTION = 20.0, 5.5, 0.7, 0.022, 12.0, 0.5
SHARP = 1.0 - 1e-9  # tolerances are met with room for rounding
WIDTHS = {np.dtype(np.float64): 8, np.dtype(np.float32): 16}
ROUND = 64  # starts before the first look at the clock
FLOAT64, SQUARE = np.dtype(np.float64), (4, 4)
NEW = object.__new__  # a solution is filled in by hand: a tenth of the time of its constructor
NO_STARTS = np.zeros(0)


class Prepared:
    """Inverse kinematics of one frame, packed: call it with a target.

    Attributes:
        goal: A goal of the kind that it serves; its target means nothing.
        limb: The joints that move the frame.
        settings: Tolerances and limits.
        restarts: Starts at most, for one target.
        seed: Where random starts come from.
    """

    def __init__(self, linkage: Linkage, goal: Reach, settings: Settings, *, restarts: int, seed: int) -> None:
        self.linkage, self.goal, self.settings = linkage, goal, settings
        self.restarts, self.seed = restarts, seed
        self.limb = Limb(linkage, goal.frame, goal.free)
        self.codes = self.limb.codes
        self._tables: dict[np.dtype[Any], NDArray[Any]] = {}
        self._turn = None if goal.free is None else plane_basis(goal.free)
        self._packed: dict[tuple[np.dtype[Any], bool], NDArray[Any]] = {}
        self.numbers, self.table = self.packed(np.float64), self.starts(np.float64)
        inside, outside = self.limb.plain
        self.whole = (
            not self.limb.balls and np.array_equal(outside, np.arange(linkage.nq)) and len(inside) == linkage.nq
        )
        open_ended = np.isinf(self.limb.limits[:, :2]).all(axis=1) & self.limb.turning
        self.open = np.flatnonzero(open_ended)
        self._plain = self.whole and not len(self.open)
        self._values, tail = self.limb.values, self.limb.values + REPORT
        self._begin, self._size = slice(tail, tail + self._values), tail + self._values + TARGET
        self._all = pack(self.numbers, self.table, len(self.codes) // damped.CODES, self._values)
        self._shape, self._neutral = (linkage.nq,), linkage.neutral()

    def __repr__(self) -> str:
        return f"<Prepared {self.goal.frame!r} of {self.linkage.name!r}: {self.limb.values} values>"

    # What the kernels read

    def packed(self, dtype: Any, *, bounded: bool = False) -> NDArray[Any]:
        """Return settings, limits and numbers in a precision; with `bounded`, goals out of reach are given up at once.

        How far the limb reaches takes a few hundredths of a second to work out, which pays in a batch.
        """
        key = (np.dtype(dtype), bounded)
        if key not in self._packed:
            settings, limits = self._settings(key[0]), self.limb.limits.copy()
            if self.settings.limits == "ignore":
                limits[:, :2] = -np.inf, np.inf
            elif bounded and self.goal.coordinates == 3:
                self._bound(settings)
            with np.errstate(over="ignore"):
                self._packed[key] = np.concatenate([settings, limits.ravel(), self.limb.numbers]).astype(dtype)
        return self._packed[key]

    def _settings(self, kind: np.dtype[Any]) -> FloatArray:
        length, goal = self.limb.length, self.goal
        values = np.zeros(starts.SETTINGS)
        asked = [k in goal.rows for k in range(3)]
        turned = len(goal.rows) > goal.coordinates
        single = 0.9 if kind == np.float32 else 1.0  # what single precision finds is looked at again in double
        values[damped.POSITION : damped.POSITION + 3] = asked
        values[damped.ROTATION] = length / 4.0 if turned else 0.0
        values[damped.SPIN] = float(goal.free is not None)
        values[damped.GAIN], values[damped.FLOOR] = GAIN, FLOOR[kind] * length**2
        values[damped.NEAR] = single * SHARP * self.settings.tolerance**2
        angle = min(self.settings.rotation_tolerance, math.pi)
        values[damped.ALIGNED] = single * SHARP * (2.0 * math.sin(angle / 2.0)) ** 2 if turned else np.inf
        values[starts.STEPS], values[starts.CHECK], values[starts.STALLED] = STEPS, CHECK, STALLED
        values[starts.CLOSE], values[starts.HOPE] = (CLOSE * length) ** 2, HOPE * length
        values[starts.CAUTION] = CAUTION * length
        values[[starts.SHELL + 1, starts.POINT_SHELL + 1]] = np.inf
        return values

    def starts(self, dtype: Any) -> NDArray[Any]:
        """Return the limb's table of starts in a precision, weighted for goals of this kind; see `starts.rank`."""
        kind = np.dtype(dtype)
        if kind not in self._tables:
            values, goals = self.limb.table
            weights = np.zeros(12)
            weights[9:] = [float(k in self.goal.rows) for k in range(3)]
            turned = slice(0 if self.goal.free is None else 6, 9)
            weights[turned] = (self.limb.length / 4.0) ** 2 if len(self.goal.rows) > self.goal.coordinates else 0.0
            constants = (weights[9:] * goals[:, 9:] ** 2).sum(axis=1)
            frames = np.column_stack([constants, goals * -weights * np.repeat([1.0, 2.0], [9, 3])])
            width = WIDTHS[kind]
            lanes = frames.reshape(-1, width, starts.TABLE).swapaxes(1, 2).reshape(-1, width)
            poses = np.resize(values, (-(-values.size // width), width))
            self._tables[kind] = np.ascontiguousarray(np.concatenate([lanes, poses]), kind)
        return self._tables[kind]

    def _bound(self, settings: FloatArray) -> None:
        """Write how far the limb reaches into settings."""
        centre, point, extents = self.reach
        near = self.settings.tolerance
        squared = np.maximum(extents + np.array([-near, near]), 0.0) ** 2
        settings[starts.CENTRE : starts.CENTRE + 3] = centre
        settings[starts.SHELL : starts.SHELL + 2] = squared[0]
        if len(self.goal.rows) == 6 and self.goal.free is None:
            settings[starts.POINT : starts.POINT + 3] = point
            settings[starts.POINT_SHELL : starts.POINT_SHELL + 2] = squared[1]

    @cached_property
    def reach(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Centre, point of the last axis and extents; see `linkwork.solvers.chain.shells`."""
        return shells(self.limb)

    # One target

    def __call__(self, target: ArrayLike, *, start: PoseLike | None = None) -> Solution:
        """Return the pose that brings the frame to a target, or the closest one found.

        Args:
            target: A 4x4 matrix; a position where only that is asked for, a 3x3 rotation where only that is.
            start: A pose to begin with: the answer is then the one found nearest to it. Values of joints that do not
                move the frame are taken from it. Without one, any answer will do.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.panda()
            >>> ik = lw.prepare(arm, "tip")
            >>> ik(arm.forward(arm.stored_pose("ready"), frame="tip")).success
            True
        """
        if (
            target.__class__ is np.ndarray
            and target.shape == SQUARE
            and target.dtype is FLOAT64
            and target.flags.carray
        ):
            return self._race(target, start, self.seed, self.restarts)
        return self._race(self.as_target(target), start, self.seed, self.restarts)

    def nearest(self, target: ArrayLike, start: PoseLike, *, starts: int = 256) -> Solution:
        """Return, of the solutions that many starts find, the one nearest to a pose; more thorough than a call."""
        pose, aim = self._start(start), self.as_target(target)
        best = self.solve(aim, start=pose)
        if best.success:
            poses = np.concatenate([best.q[None], self.candidates(aim, starts)])
            away = self.linkage.difference(pose, poses)
            best.__dict__["q"] = poses[int(np.argmin((away * away).sum(axis=-1)))]
            best.__dict__["report"] = self._report(best.q, aim)
        return best

    def _report(self, q: FloatArray, target: FloatArray) -> FloatArray:
        """Return the report of a pose that is not looked for any further."""
        given = self.limb.values_of(q)[None]
        _, report = self.search(target[None], np.zeros(1, np.int64), given=given, restarts=0)
        first: FloatArray = report[0]
        return first

    def solve_within(self, seconds: float, target: FloatArray, *, start: PoseLike | None = None) -> Solution:
        """Return the solution for a target (4, 4), or the closest pose found in time.

        The compiled search cannot be interrupted, so it is repeated with twice as many starts. They are the same starts
        in the same order: an answer found in time is the one that `solve` finds.
        """
        deadline, tries = time.perf_counter() + seconds, min(ROUND, self.restarts)
        while True:
            began = time.perf_counter()
            solution = self._race(np.array(target), start, self.seed, tries)
            if solution.success or solution.starts < tries or tries == self.restarts:
                return solution
            now = time.perf_counter()
            if now + 2.0 * (now - began) > deadline:  # the next round would end too late
                solution.__dict__["outcome"] = UNSOLVED
                return solution
            tries = min(2 * tries, self.restarts)

    def solve(self, target: FloatArray, *, start: PoseLike | None = None) -> Found:
        """Return the solution for a target (4, 4), which may be read-only."""
        return self._race(np.array(target), start, self.seed, self.restarts)

    def _race(self, target: FloatArray, start: PoseLike | None, seed: int, tries: int) -> Found:
        """Return the solution for a contiguous target: the way of a control loop, so every line counts."""
        out, values = np.empty(self._size), self._values
        given = start is not None
        if given:
            quick = start.__class__ is np.ndarray and start.dtype is FLOAT64 and start.shape == self._shape
            pose: Any = start if quick else self._start(start)
            out[self._begin] = pose if self.whole else self.limb.values_of(pose)
        aim = target if self._turn is None else self._spun(target)
        outcome = race_one(self.codes, self._all, aim, seed, tries, given, out)
        if outcome != REACHED:
            if outcome == INVALID:
                raise GoalError(f"the target of {self.goal.frame!r} is no rigid transform of finite numbers.")
            if outcome == UNSOLVED:
                self._start(start)  # says what is wrong with it
        solution: Found = NEW(Found)
        known = solution.__dict__
        known["prepared"], known["out"], known["outcome"], known["success"] = self, out, outcome, outcome == REACHED
        known["q"] = out[:values] if self._plain else self.pose(out[:values], pose if given else self._neutral)
        if self._turn is not None:
            known["target"] = target.copy()
        if not given:
            known["start"] = self._neutral
        elif not self.whole:
            known["start"] = np.array(pose)
        return solution

    def target_of(self, out: FloatArray) -> FloatArray:
        """Return the target that the kernel was given, where no axis is free."""
        return out[self._begin.stop :].reshape(4, 4)

    def start_of(self, out: FloatArray) -> FloatArray:
        """Return the start that the kernel was given, where the limb is the whole linkage."""
        return out[self._begin]

    def report_of(self, out: FloatArray) -> FloatArray:
        """Return the report in an answer of the kernel."""
        return out[self._values : self._begin.start]

    def _start(self, start: PoseLike | None) -> FloatArray:
        pose = start_pose(self.linkage, start)
        if pose.ndim != 1:
            raise OptionError(f"one target takes one start of shape ({self.linkage.nq},), got shape {pose.shape}.")
        return pose

    def pose(self, values: FloatArray, base: FloatArray) -> FloatArray:
        """Return whole poses from the limb's values: unlimited angles within half a turn of those of `base`."""
        if self._plain:
            return values
        q = self.limb.put(values, np.array(np.broadcast_to(base, (*values.shape[:-1], self.linkage.nq))))
        if self.settings.limits != "ignore":  # joints outside the limb may have begun beyond theirs
            q = clamped(self.linkage, q)
        if len(self.open):
            inside, outside = self.limb.plain
            places = outside[np.isin(inside, self.open)]
            reference = np.broadcast_to(base, q.shape)[..., places]
            q[..., places] = reference + wrapped(q[..., places] - reference)
        return q

    def residuals(self, report: FloatArray) -> FloatArray:
        """Return position and rotation errors [m, rad], those asked for, from what the kernels report (..., 4)."""
        parts = []
        if self.goal.coordinates:
            parts.append(np.sqrt(report[..., 0]))
        if len(self.goal.rows) > self.goal.coordinates:
            parts.append(2.0 * np.arcsin(np.minimum(np.sqrt(report[..., 1]) / 2.0, 1.0)))
        return np.stack(parts, axis=-1)

    # Many targets

    def search(
        self,
        targets: FloatArray,
        status: NDArray[np.int64],
        *,
        given: FloatArray = NO_STARTS,
        first: int = 0,
        dtype: Any = np.float64,
        restarts: int | None = None,
        bounded: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """Return values (m, n) and reports (m, 4) for targets (m, 4, 4) whose status is 0; their status is written."""
        count, values, kind = len(status), self.limb.values, np.dtype(dtype)
        poses, report = np.zeros((count, values)), np.zeros((count, REPORT))
        lanes, books, state = room(len(self.codes) // damped.CODES, values, WIDTHS[kind])
        search_many(
            self.codes,
            self.packed(kind, bounded=bounded),
            self.starts(kind),
            (targets if self._turn is None else self._spun(targets)).reshape(-1),
            given.reshape(-1),
            first,
            self.seed,
            self.restarts if restarts is None else restarts,
            np.zeros(lanes, kind),
            np.zeros(books),
            np.full(state, -1, np.int64),
            poses.reshape(-1),
            report.reshape(-1),
            status,
        )
        return poses, report

    def check(self, targets: FloatArray, values: FloatArray, report: FloatArray) -> NDArray[np.bool_]:
        """Bring values (m, n) within limits and write their errors, in double precision, into their reports.

        Return which are within tolerance.
        """
        count, width = len(values), WIDTHS[FLOAT64]
        if count < width:  # fill the lanes with the last one
            parts = (np.concatenate([a, np.repeat(a[-1:], width - count, axis=0)]) for a in (targets, values, report))
            padded = tuple(parts)
            good = self.check(*padded)[:count]
            values[:], report[:] = padded[1][:count], padded[2][:count]
            return good
        aims = targets if self._turn is None else self._spun(targets)
        lanes, _, _ = room(len(self.codes) // damped.CODES, self._values, width)
        check_many(
            self.codes,
            self.numbers,
            aims.reshape(-1),
            values.reshape(-1),
            np.zeros(lanes),
            report.reshape(-1),
        )
        near, aligned = self.numbers[damped.NEAR], self.numbers[damped.ALIGNED]
        good_ones: NDArray[np.bool_] = (report[:, 0] <= near) & (report[:, 1] <= aligned)
        return good_ones

    def candidates(self, target: FloatArray, count: int, *, first: int = 0) -> FloatArray:
        """Return the poses (k, nq) that random starts, `count` of them, reach; many may be the same."""
        generator = np.random.default_rng([self.seed, first])
        low, high = self.limb.limits[:, 2], self.limb.limits[:, 3]
        given = low + (high - low) * generator.random((count, self.limb.values))
        status = np.zeros(count, np.int64)
        values, _ = self.search(np.tile(target, (count, 1, 1)), status, given=given, restarts=0)
        return self.pose(values[status == REACHED], self._neutral)

    def _spun(self, targets: FloatArray) -> FloatArray:
        """Return targets whose z axis is the one that must agree."""
        result = targets.copy()
        result[..., :3, :3] = targets[..., :3, :3] @ (np.eye(3) if self._turn is None else self._turn)
        return result

    def as_target(self, target: ArrayLike) -> FloatArray:
        """Return one target as a contiguous 4x4 array."""
        try:
            one: FloatArray = self.as_targets(as_array(target, f"the target of {self.goal.frame!r}")[None])[0]
        except TransformError as error:
            raise GoalError(str(error)) from error
        return one

    def as_targets(self, targets: FloatArray) -> FloatArray:
        """Return targets (m, 4, 4) from matrices, or from positions or rotations where no more is asked for."""
        position, turned = self.goal.coordinates, len(self.goal.rows) > self.goal.coordinates
        shape = targets.shape[1:]
        if shape == (4, 4):
            return (
                np.ascontiguousarray(targets, np.float64) if targets.flags.writeable else np.array(targets, np.float64)
            )
        result = np.tile(np.eye(4), (len(targets), 1, 1))
        if not turned and shape in ((3,), (position,)):
            result[:, : shape[0], 3] = targets
        elif not position and shape == (3, 3):
            result[:, :3, :3] = targets
        else:
            kinds = "4x4 matrices" + ("" if turned else f" or positions of {position} numbers")
            kinds += "" if position else " or 3x3 rotations"
            raise GoalError(f"targets of {self.goal.frame!r} are {kinds}; got shape {shape} each.")
        return result


def prepared_for(linkage: Linkage, goal: Reach, settings: Settings, restarts: int, seed: int) -> Prepared:
    """Return the prepared solver for goals of one make; it is kept on the linkage."""
    kept: dict[Any, Prepared] = linkage.__dict__.setdefault("_prepared", {})
    key = (goal.signature, settings.tolerance, settings.rotation_tolerance, settings.limits == "ignore", restarts, seed)
    found = kept.get(key)
    if found is None:
        if len(kept) >= MOST_KEPT:
            kept.clear()
        kept[key] = found = Prepared(linkage, goal, settings, restarts=max(restarts, 1), seed=seed)
    return found


MOST_KEPT = 64
