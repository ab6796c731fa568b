"""Result of one control cycle: the pose to command next, its errors, and what limits the motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..errors import OptionError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, as_array, reraised_as
from .options import positive
from .solution import errors_in_words

MOST = 0.25  # largest rotation in a cycle of a joint without a velocity limit [rad]
STRIDE, LEAP = 0.15, 0.49  # largest rotation of a joint with stay=True: in one cycle, and in total [rad]
FAR, LEVER = 0.45, 1.5  # on paths longer than FAR radians, or quarters of a length, it may turn LEVER times as far
SLOW = 0.02  # singular value below which motion slows down, as a share of the length
CYCLES = 200  # largest number of cycles with stay=True
FINE = 1e-3  # share of the tolerances below which a cycle does nothing

StepStatus = Literal["reached", "following", "limited", "held"]
LimitKind = Literal["", "position", "velocity", "clearance"]


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """Result of a control cycle. NumPy accepts a step as an array: its pose.

    Attributes:
        q: The pose to command, shape (nq,). No joint moves further from the previous pose than its speed limit allows.
        status: ``reached``: within tolerance. ``following``: on its way, unhindered; more cycles come nearer.
            ``limited``: a joint is at its velocity or position limit, see `joint` and `limit`; or a pair of shapes is
            at the margin, see `pair`. ``held``: as near as the chain comes without a jump; see `jump`.
        residuals: Error of each block of the goal [m, rad].
        joint: The joint that limits the motion; empty if none does.
        limit: Kind of the limit: ``"velocity"`` or ``"position"``; ``"clearance"`` if a pair is at the margin of an
            `Avoid`; empty if there is none.
        share: Fraction of the way to the goal that this cycle covered, from 0 to 1.
        start: The previous pose.
        dt: Duration of the cycle [s].
    """

    linkage: Linkage
    q: FloatArray
    status: StepStatus
    residuals: FloatArray
    units: tuple[str, ...]
    joint: str
    limit: LimitKind
    share: float
    start: FloatArray
    dt: float

    @property
    def success(self) -> bool:
        """Whether the goal is reached."""
        return self.status == "reached"

    def __bool__(self) -> bool:
        return self.success

    @cached_property
    def velocity(self) -> FloatArray:
        """The velocity of the cycle, shape (nv,) [rad/s, m/s]."""
        return np.asarray(self.linkage.difference(self.start, self.q) / self.dt)

    @cached_property
    def jump(self) -> float:
        """Distance to the nearest other solution, in the value that changes most [rad, m]; inf if none is found.

        It is searched on access, which takes far longer than a cycle.
        """
        return np.inf

    @property
    def pair(self) -> tuple[str, str] | None:
        """Names of the nearest pair that is kept apart; None if none are near, or nothing is avoided."""
        return None

    @property
    def clearance(self) -> float:
        """Distance of that pair at the pose [m]; infinity if there is none."""
        return np.inf

    @cached_property
    def reason(self) -> str:
        """One sentence, with numbers, on the state of the motion."""
        errors = errors_in_words(self.residuals.tolist(), self.units)
        if self.status == "reached":
            return f"reached: {errors}."
        if self.status == "following":
            return f"following: {errors} to go; this cycle covered {100.0 * self.share:.3g} % of the way."
        if self.pair is not None and self.limit == "clearance":
            what = "limited" if self.status == "limited" else "held"
            return f"{what}: {self.pair[0]} and {self.pair[1]} are {1e3 * self.clearance:.4g} mm apart; {errors} to go."
        if self.status == "limited":
            at = "at its velocity limit" if self.limit == "velocity" else "at its limit"
            return f"limited: {self.joint} is {at}; {errors} to go."
        other = "no pose was found that reaches it" if np.isinf(self.jump) else f"another is {self.jump:.3g} away"
        return f"held: no continuous way leads nearer than {errors}; {other}."

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> FloatArray:
        return np.array(self.q, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, item: Any) -> Any:
        return self.q[item]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.q)

    def __repr__(self) -> str:
        what = f" by {self.joint}, {self.limit}" if self.joint else ""
        return f"<Step: {self.status}{what}>"


def check_cycle(dt: float) -> None:
    """Raise OptionError unless the duration of a cycle is positive."""
    if not dt > 0.0:
        raise OptionError(f"dt, the duration of a cycle, is a positive number of seconds, got {dt!r}.")


def joint_speeds(linkage: Linkage, velocity: ArrayLike | None, scale: float) -> FloatArray:
    """Return the speed limits (nv,) [rad/s, m/s]: those of the linkage, or given ones, times a scale."""
    positive("scale", scale, finite=True)
    if velocity is None:
        return linkage.velocity * scale
    with reraised_as(OptionError):
        speeds = as_array(velocity, "velocity")
    if speeds.shape not in ((), (linkage.nv,)) or not (speeds >= 0.0).all():
        raise OptionError(
            f"velocity is a speed [rad/s, m/s] for all joints, or one for each of {linkage.nv}, zero or more; "
            f"got {velocity!r}."
        )
    return np.broadcast_to(speeds * scale, (linkage.nv,))
