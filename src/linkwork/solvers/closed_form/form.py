"""The closed form of a chain: every pose that brings its frame to a target, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import GoalError
from ...kernels import chain_memory as memory
from ...kernels.closed_form.form_layout import ANSWER, BRANCHES, CLOSE, FREE, JOINTS, NUMBERS
from ...kernels.closed_form.solve_six import (
    BYTES,
    CONTINUUM,
    SOLUTION,
    WIDTH,
    all_many,
    all_one,
    answers_room,
    branch_signs,
    branches_in,
    many_room,
    target_in,
)
from ...kernels.rooms import new_room
from ...linkage.whole_turns import turned_copies
from ...transforms import FloatArray, as_transform, as_vector, inverse, reraised_as
from ..chain import Chain
from ..options import Limits
from .axes import Axes
from .evidence import why_none
from .packing import packed_codes, packed_numbers
from .recognition import Family, in_words

NEAR = 1e-12  # largest squared errors of solutions: angles [rad], and lengths as shares of the arm's size
ONE_GOAL, MANY_GOALS = branch_signs(1), branch_signs(2)
NO_START, EMPTY = np.empty(0), np.empty
SOLUTIONS, CONTINUA = SOLUTION * BYTES, CONTINUUM * BYTES  # in any of the eight branches of a target
NEW = object.__new__  # results are filled in by hand, in half the time of their constructor


@dataclass(frozen=True, eq=False)
class NoForm:
    """The reason why a chain has no closed form. It is false, a `ClosedForm` is true.

    Attributes:
        frame: The frame at the chain's end.
        reason: A sentence: which axes miss which condition, and by how much.
    """

    frame: str
    reason: str

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"No closed form for {self.frame!r}: {self.reason}."


class Answers:
    """All solutions of one target; if there are none, the reason.

    Attributes:
        form: The form that found them.
        room: The output of the kernel.
    """

    __slots__ = ("_count", "_records", "form", "room")

    def __init__(self, form: ClosedForm, room: FloatArray, count: int, *, records: FloatArray | None = None) -> None:
        self.form, self.room, self._count, self._records = form, room, count, records

    def __len__(self) -> int:
        return self._count

    @property
    def record(self) -> Any:
        """The solutions as the kernel wrote them, ANSWER records by row."""
        records = self.room if self._records is None else self._records
        return ANSWER.view(records.reshape(-1)[: ANSWER.size * self._count].reshape(-1, ANSWER.size))

    @property
    def values(self) -> FloatArray:
        """The chain's values, one row per solution, shape (k, n); nearest to the start first, if one was given."""
        records = self.room if self._records is None else self._records
        shape = self._count, len(self.form.axes)
        return np.ndarray(shape, np.float64, records, 8 * ANSWER.values, (8 * ANSWER.size, 8))  # faster than slices

    @property
    def residuals(self) -> FloatArray:
        """Position [m] and rotation [rad] errors, from forward kinematics, shape (k, 2)."""
        record = self.record
        return np.stack([record.position, record.rotation], axis=-1)

    @property
    def doubles(self) -> NDArray[np.bool_]:
        """Which are double roots or very close to another solution, where branches meet, shape (k,)."""
        return np.asarray(self.record.same >= CLOSE)

    @property
    def continua(self) -> NDArray[np.bool_]:
        """Which represent a continuum: one joint may take any value while another compensates, shape (k,)."""
        return np.asarray(self.record.same == FREE)

    @property
    def evidence(self) -> str | None:
        """A text on why there is no solution; None if there is one."""
        return None if self._count else self.form.why_none(self.form.target_of(self.room))

    @property
    def complete(self) -> bool:
        """Whether it is proven that there are no other solutions within limits."""
        return self.form.proves(self)

    def __repr__(self) -> str:
        return f"<{self._count} solutions of {self.form.chain.frame!r}>"


class ClosedForm:
    """A chain's closed form.

    Values are those of the chain, in its order; `Chain.values_of` and `Chain.put` convert them from and to poses.

    Args:
        chain: The chain.
        axes: The lines of its joints.
        scale: Turn or travel of each joint per unit of its value, shape (n,).
        family: The form that fits it.

    Attributes:
        on_cards: Whether it has GPU kernels.
        complete: Whether it finds all solutions, which needs an arm that is exactly of the family. Otherwise, Newton's
            method may move two branches to one solution, near where branches meet.
    """

    on_cards = True

    def __init__(self, chain: Chain, axes: Axes, scale: FloatArray, family: Family) -> None:
        self.chain, self.axes, self.scale, self.recognised = chain, axes, scale, family
        limits = memory.LIMITS.view(chain.limits)
        self.lower, self.upper = np.array(limits.lower), np.array(limits.upper)
        self.codes = packed_codes(family, axes.size)
        self.numbers = self._packed(self.lower, self.upper)
        self.complete = family.exact(axes.size)
        self.tolerance = math.sqrt(NEAR) * axes.size, math.sqrt(NEAR)
        self._room, self._near = answers_room(), NEAR * axes.size**2

    # One target

    def all(
        self,
        target: ArrayLike,
        *,
        start: FloatArray | None = None,
        windings: bool = False,
        limits: Limits = "clamp",
        tolerance: tuple[float, float] | None = None,
    ) -> Answers:
        """Return all solutions of a target within limits, and the evidence if there are none.

        Args:
            target: Target transform of the frame, 4x4.
            start: Values of the chain (n,): solutions are shifted by whole turns towards it, and the nearest is first.
            windings: Whether to list copies that differ by whole turns.
            limits: ``"ignore"`` ignores limits; see `Settings`.
            tolerance: Largest errors of position and rotation [m, rad]; a millionth of the arm's size by default.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.ur5()
            >>> form = lw.closed_form(arm, "tool0")
            >>> len(form.all(arm.forward(arm.pose([0.1, -1.2, 1.5, -0.8, 1.0, 0.4]), frame="tool0")))
            8
        """
        given: Any = NO_START
        if start is not None:
            given = start
            if given.__class__ is not np.ndarray or given.shape != self.lower.shape:
                given = as_vector(given, "start", len(self.axes))
        near, aligned = (self._near, NEAR) if tolerance is None else (tolerance[0] ** 2, tolerance[1] ** 2)
        numbers, room = self.numbers if limits == "clamp" else self._limited(limits), EMPTY(self._room)
        try:
            count = self._put_all(numbers, target, given, near, aligned, room)
        except TypeError:  # kernels accept only arrays of the right type and order
            exact = np.array(self._whole_pose(target), np.float64, order="C"), np.array(given, np.float64)
            count = self._put_all(numbers, *exact, near, aligned, room)
        if count <= 0:
            self._whole_pose(target)  # raises an error if it is invalid
            count = 0
        found = NEW(Answers)
        found.form, found.room, found._count, found._records = self, room, count, None
        return self._wound(found, given) if windings else found

    def _limited(self, limits: Limits) -> FloatArray:
        """Return the form's numbers for the option `limits`."""
        return self.unlimited if limits == "ignore" else self.numbers

    def _whole_pose(self, target: ArrayLike) -> FloatArray:
        """Return a target as a matrix; a position alone is refused, since it does not define a rotation."""
        what = f"the target of {self.chain.frame!r}"
        if np.shape(target) == (3,):
            raise GoalError(f"{what} is a 4x4 matrix, got a position; solve_all takes Reach(frame, position=...), too.")
        with reraised_as(GoalError):
            return as_transform(target, what)

    def _put_all(
        self, numbers: FloatArray, target: Any, start: Any, near: float, aligned: float, room: FloatArray
    ) -> int:
        """Write all solutions of a target to the beginning of `room`; return their number, -1 for an invalid target."""
        count: int = all_one(self.codes, numbers, ONE_GOAL, target, start, near, aligned, room)
        return count

    def _wound(self, found: Answers, start: FloatArray) -> Answers:
        """Return solutions with all copies that differ by whole turns, nearest to a start first."""
        scale, turning = self.scale, ~self.axes.slides
        home = start if start.size else self.middle
        bounds = self.lower * scale, self.upper * scale
        copies, which = turned_copies(found.values * scale, *bounds, turning, home * scale)
        records = found.record.array[which]
        records[:, : len(scale)] = copies / scale  # values come first
        ANSWER.view(records).away = ((copies / scale - home) ** 2).sum(axis=1)
        return Answers(self, found.room, len(records), records=records)

    def nearest(self, target: ArrayLike, start: FloatArray) -> FloatArray | None:
        """Return the values of the solution nearest to a start (n,), whole turns included; None if there is none."""
        found = self.all(target, start=start)
        return found.values[0] if len(found) else None

    @cached_property
    def unlimited(self) -> FloatArray:
        """The form's numbers without limits."""
        free = np.full(len(self.axes), np.inf)
        return self._packed(-free, free)

    def _packed(self, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return the form's numbers with given limits (n,)."""
        return packed_numbers(self.recognised, self.axes, self.scale, lower, upper)

    @property
    def middle(self) -> FloatArray:
        """Values in the middle of their limits, zero without limits, shape (n,)."""
        return np.asarray(NUMBERS.view(self.numbers).middle[: len(self.axes)])

    def target_of(self, room: FloatArray) -> FloatArray:
        """Return the target (4, 4) of a result."""
        return target_in(room)

    def proves(self, found: Answers) -> bool:
        """Return whether the solutions of a target are proven complete; never for a continuum.

        A double root has only half the precision, so two of them may be a continuum that is not recognised as one.
        """
        branches = branches_in(found.room)
        near, aligned = self.tolerance
        there = (branches.position <= near**2) & (branches.rotation <= aligned**2)
        doubles = (branches.same >= CLOSE).sum(axis=1)
        return self.complete and not bool((there & ((branches.same == FREE).any(axis=1) | (doubles > 1))).any())

    def why_none(self, target: FloatArray) -> str:
        """Return why a target (4, 4) has no solution: which condition fails, and by how much."""
        free = self.all(target, limits="ignore")
        if len(free):
            return self._beyond_limits(free.values)
        motion = target @ inverse(self.axes.tip)
        if self.recognised.backwards:
            motion = inverse(motion)
        return why_none(self.recognised, branches_in(free.room), self.joints, motion)

    def _beyond_limits(self, values: FloatArray) -> str:
        """Return which limit excludes solutions (k, n) that are otherwise valid."""
        period = np.where(self.axes.slides, np.inf, 2.0 * np.pi / self.scale)
        turns = np.rint((self.middle - values) / period)
        values = values + np.where(self.axes.slides, 0.0, period) * turns
        over = np.maximum(np.maximum(self.lower - values, values - self.upper), 0.0)
        best = int(np.argmin(over.max(axis=1)))
        joint = int(np.argmax(over[best]))
        far = float(over[best, joint])
        amount = in_words(far) if self.axes.slides[joint] else f"{math.degrees(far):.3g}°"
        several = f"{len(values)} solutions, all" if len(values) > 1 else "one solution, and it is"
        return f"there are {several} beyond limits; the nearest breaks that of {self.joints[joint]} by {amount}"

    # Many targets

    def all_many(self, targets: FloatArray, *, limits: Limits = "clamp") -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return all solutions of targets (m, 4, 4): values (m, 8, n), NaN where there is none, and a mask (m, 8).

        The index of a solution is its branch. For general arms there are sixteen places, and solutions come first.
        """
        values, mask, _ = self.all_many_proven(targets, limits=limits)
        return values, mask

    def all_many_proven(
        self, targets: FloatArray, *, limits: Limits = "clamp"
    ) -> tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the same, and whether each target's solutions are proven complete, shape (m,)."""
        count = len(targets)
        aims = np.ascontiguousarray(targets, np.float64)
        if count < WIDTH:  # fill the lanes
            aims = np.concatenate([aims, np.tile(np.eye(4), (WIDTH - count, 1, 1))])
        values, mask = new_room((len(aims), BRANCHES, JOINTS)), np.empty(len(aims), np.int64)  # a byte for each branch
        all_many(
            self.codes,
            self._limited(limits),
            MANY_GOALS,
            aims.reshape(-1),
            self._near,
            NEAR,
            new_room(many_room()),
            values.reshape(-1, WIDTH),
            mask,
        )
        isolated = (mask[:count] & CONTINUA) == 0
        solutions = (mask[:count] & SOLUTIONS).view(np.bool_).reshape(count, BRANCHES)
        return values[:count, :, : len(self.axes)], solutions, isolated & self.complete

    @property
    def family(self) -> str:
        """The family's name, such as ``"spherical wrist"``."""
        return self.recognised.name

    @property
    def off(self) -> tuple[float, float]:
        """Deviation of the arm from the family [m, rad]: zeros for nominal, uncalibrated dimensions."""
        return self.recognised.off.length, self.recognised.off.angle

    @property
    def exact(self) -> bool:
        """Whether the arm belongs to the family up to rounding; if not, Newton's method refines its solutions."""
        return self.recognised.exact(self.axes.size)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """Names of the coordinates that it solves, in order."""
        places = dict(zip(*(one.tolist() for one in self.chain.plain), strict=True))
        names = self.chain.linkage.coordinates
        return tuple(names[places[k]] if k in places else f"{self.chain.frame}.{k}" for k in range(len(self.axes)))

    def __str__(self) -> str:
        length, angle = self.off
        apart = "" if self.exact else f", {1e3 * length:.3g} mm and {math.degrees(angle):.3g}° off it, so refined"
        return f"Closed form for {self.chain.frame!r}: {self.family}{apart}; joints {', '.join(self.joints)}."

    def __repr__(self) -> str:
        return f"<ClosedForm {self.chain.frame!r} of {self.chain.linkage.name!r}: {self.family}>"
