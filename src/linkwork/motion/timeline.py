"""Pose keys and goal keys on one timeline: a body motion, and pins that hold parts of it at goals for a while."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, KeyFrameError
from ..goals import Block, Goal, Hold, Reach
from ..linkage.euler_angles import turn_values
from ..linkage.joints import Floating
from ..linkage.linkage import Link, Linkage
from ..linkage.poses import advance, between
from ..solvers import Problem
from ..transforms import FloatArray
from .clips import Clip, interpolate
from .keys import Key, check_times
from .nearest_pose import lead, stiffness
from .splines import check_kind, sample, smooth, steady_signs

SUDDEN = 3.0  # rate at which a change that pins make to a value counts as a jump [rad/s, m/s]
HOMING = 0.25  # time constant of the way back to the body after a jump [s]
FAINT = 0.25  # weight of pins below which the whole pose is eased back to the body
PRECISION = 1e-7  # of a pin [m, or rad times a length]
_FREE = Linkage([Link("goal")], root=Floating(), name="goal")


@dataclass(frozen=True, eq=False)
class Pin:
    """A goal that holds from one time to another and is eased in and out.

    Args:
        start: Time from which it holds [s].
        end: Time until which it holds [s].
        goal: A goal; a function of the time [s] that returns one; or the name of a frame, which is held where it is in
            the body's motion at the start.
        ease: Duration of easing in before the start and out after the end [s], or a pair of durations.

    Example:
        >>> import linkwork as lw
        >>> Pin(0.5, 1.5, lw.Reach("tip", position=(1, 2))).weight(np.array([0.0, 0.375, 1.0, 1.75])).tolist()
        [0.0, 0.5, 1.0, 0.0]
    """

    start: float
    end: float
    goal: Goal | Callable[[float], Goal] | str
    ease: Any = field(default=0.25, kw_only=True)

    def __post_init__(self) -> None:
        try:
            eases = np.broadcast_to(np.asarray(self.ease, np.float64), 2)
            times = np.array([self.start, self.end, *eases], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise KeyFrameError(f"times of a pin are numbers of seconds: {error}.") from error
        if not np.isfinite(times).all() or self.end < self.start or (times[2:] < 0.0).any():
            raise KeyFrameError(
                f"a pin holds from a time to a later one and eases over zero seconds or more; got {self.start!r} to "
                f"{self.end!r}, ease {self.ease!r}."
            )
        if not (isinstance(self.goal, Goal | str) or callable(self.goal)):
            raise GoalError(f"a pin holds a goal such as Reach(...), or a frame by name, got {self.goal!r}.")
        object.__setattr__(self, "ease", tuple(times[2:].tolist()))

    @classmethod
    def through(cls, keys: Sequence[tuple[float, Reach]], *, kind: str = "ease", ease: Any = 0.25) -> Pin:
        """Return a pin that follows goal keys: (time [s], Reach) pairs of one frame, interpolated by `kind`."""
        check_kind(kind)
        pairs = list(keys)
        if not pairs or not all(
            isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[1], Reach) for pair in pairs
        ):
            raise KeyFrameError("goal keys are (time, Reach) pairs, at least one.")
        goals, times = [goal for _, goal in pairs], np.array([float(time) for time, _ in pairs])
        if len({goal.signature for goal in goals}) > 1:
            raise GoalError("goal keys of one pin need one frame and one kind of target; make a pin for each.")
        check_times(times)
        targets = np.stack([goal.target for goal in goals])
        poses = np.hstack([targets[:, :3, 3], turn_values(Floating(), targets[:, :3, :3])])

        def goal(time: float) -> Reach:
            now = np.clip(np.array([time]), times[0], times[-1])
            return goals[0].moved(_FREE.forward(sample(_FREE, times, poses, now, kind=kind)[0], frame="goal"))

        return cls(float(times[0]), float(times[-1]), goal, ease=ease)

    def weight(self, times: FloatArray) -> FloatArray:
        """Return the weight at times, from 0 to 1."""
        shares = np.ones_like(times)
        for away, ease in ((self.start - times, self.ease[0]), (times - self.end, self.ease[1])):
            out = away > 1e-9
            shares[out] = 0.0 if ease == 0.0 else smooth(np.clip(1.0 - away[out] / ease, 0.0, 1.0))
        return shares

    def at(self, time: float, linkage: Linkage, body: Clip) -> Goal:
        """Return the goal at a time."""
        goal = Hold(self.goal) if isinstance(self.goal, str) else self.goal
        if not isinstance(goal, Goal):
            goal = goal(time)
        if not isinstance(goal, Goal):
            raise GoalError(f"the function of a pin returns a goal for every time, got {goal!r} at {time:g} s.")
        begin = np.clip(self.start, body.times[0], body.times[-1])
        return goal.resolve(linkage, body.at(begin))


@dataclass(frozen=True, eq=False)
class Faded(Goal):
    """A goal held in part: part of the body's own error is allowed."""

    goal: Goal
    left: FloatArray

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the goal."""
        return self.goal.blocks

    @property
    def signature(self) -> tuple[Any, ...]:
        """The signature of the goal."""
        return "Faded", self.goal.signature

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the error beyond the allowed error."""
        return self.goal.error(linkage, q) - self.left

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the goal's Jacobian."""
        return self.goal.jacobian(linkage, q)

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which rows can change."""
        return self.goal.changeable(linkage)


class Timeline:
    """Pose keys and pins of one linkage.

    Args:
        linkage: The linkage.
        items: `Key` objects or (time, pose) pairs with increasing times, and `Pin` objects, in any order.
        body: A clip to which the pins are applied, instead of keys.
        fps: Frames per second, for keys.
        kind: Interpolation for keys without a kind of their own, as in `lw.interpolate`.
        wrap: Let unlimited angles take the shorter rotation between keys.
        stiff: Factors by joint name on how firmly a joint follows the body's motion. By default a joint that carries
            more links is stiffer.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([15, 10, 5])
        >>> pin = lw.Pin(0.5, 1.0, lw.Reach("tip", position=(10, 15)))
        >>> clip = lw.Timeline(arm, [(0, [0.1, 0.5, 0.5]), pin, (2, [1.5, 0.5, 0.5])]).play()
        >>> held = clip[0.5:1.0].forward(frame="tip")[:, :2, 3]
        >>> bool(abs(held - (10, 15)).max() < 1e-4)
        True
    """

    def __init__(
        self,
        linkage: Linkage,
        items: Sequence[Key | Pin | tuple[float, Any]],
        *,
        body: Clip | None = None,
        fps: float = 24.0,
        kind: str = "cubic",
        wrap: bool = True,
        stiff: Mapping[str, float] | None = None,
    ) -> None:
        items = list(items)
        self.linkage = linkage
        self.pins = tuple(item for item in items if isinstance(item, Pin))
        keys = [item for item in items if not isinstance(item, Pin)]
        if body is not None:
            if keys:
                raise KeyFrameError("a timeline takes either body= (a clip) or keys, not both.")
            if not isinstance(body, Clip) or body.linkage is not linkage:
                raise KeyFrameError(f"the body of a timeline is a clip of its own linkage, {linkage.name!r}.")
            self.body = body
        else:
            self.body = interpolate(linkage, keys, fps=fps, kind=kind, wrap=wrap)
        first, last = self.body.times[0], self.body.times[-1]
        for pin in self.pins:
            if pin.start > last or pin.end < first:
                raise KeyFrameError(
                    f"a pin from {pin.start:g} to {pin.end:g} s is outside the motion, {first:g} to {last:g} s."
                )
        self._firm = stiffness(linkage, stiff)

    def play(self) -> Clip:
        """Return the motion of the body, changed by its pins.

        Returns:
            A clip whose `residuals` (n, pins) are the errors of each pin at the frames where its weight is one.
        """
        body, linkage = self.body, self.linkage
        weights = np.array([pin.weight(body.times) for pin in self.pins]).reshape(len(self.pins), len(body)).T
        values, residuals = body.poses.copy(), np.zeros((len(body), len(self.pins)))
        last = np.zeros(linkage.nv)  # change made by the pins at the previous frame
        for k in range(len(body)):
            active = np.flatnonzero(weights[k])
            if not len(active):
                last[:] = 0.0
                continue
            base = body.poses[k]
            goals = [self._goal(self.pins[i], float(body.times[k]), float(weights[k, i]), base) for i in active]
            start = advance(linkage, base, last)
            gap = float(body.times[k] - body.times[k - 1]) if k else np.inf  # nothing can jump before the first frame
            values[k] = self._nearest(Problem(linkage, goals, start), base, start, last, gap)
            last = between(linkage, base, values[k], wrap=False)
            if weights[k].max() < FAINT:  # joints that goals leave free return to the body too
                values[k] = advance(linkage, base, smooth(weights[k].max() / FAINT) * last)
            for i, goal in zip(active, goals, strict=True):
                if weights[k, i] == 1.0:
                    problem = Problem(linkage, goal, start)
                    residuals[k, i] = problem.residuals(problem.error(values[k])).max()
        return Clip(linkage, body.times, steady_signs(linkage, values), residuals, body.name, f"{body.source}, pins")

    def _nearest(
        self, problem: Problem, base: FloatArray, start: FloatArray, last: FloatArray, gap: float
    ) -> FloatArray:
        """Return the pose nearest to the body or, if that is a jump, one that continues from the previous frame."""
        found = lead(problem, base, start, self._firm, precision=PRECISION)
        jump = np.abs(between(problem.linkage, start, found)).max(initial=0.0)
        if jump > SUDDEN * gap:
            near = advance(problem.linkage, base, np.exp(-gap / HOMING) * last)
            other = lead(problem, near, start, self._firm, precision=PRECISION)
            if np.abs(between(problem.linkage, start, other)).max(initial=0.0) < jump:
                return other
        return found

    def _goal(self, pin: Pin, time: float, weight: float, base: FloatArray) -> Goal:
        goal = pin.at(time, self.linkage, self.body)
        left = (1.0 - weight) * goal.error(self.linkage, base)
        share, tolerance, priority = goal.common
        return Faded(goal, left, weight=share, tolerance=tolerance, priority=priority)
