"""What a caller may ask of every solve: settings of the loop, checked when they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import OptionError
from ..transforms import FloatArray
from .problem import Problem

LIMITS = ("clamp", "project", "ignore")


@dataclass(frozen=True)
class Settings:
    """What every method takes.

    Args:
        tolerance: Largest position error that counts as reached [m].
        rotation_tolerance: Largest rotation error that counts as reached [rad].
        max_iterations: Steps at most; the method's own default if None.
        time_budget: Seconds at most, or None.
        max_step: Largest change of one value in a step [rad, m]; the method's own default if None, inf for no limit.
        limits: ``"clamp"`` values to their limits after every step; ``"project"``: also take joints that push against a
            limit out of the step, so that the others do their part; ``"ignore"``.
        halvings: How often a step that makes the error grow is halved before it is taken all the same.
        stray: Largest distance by which a step may leave the straight way to the goals [m]; one that does is halved
            too. None lets it stray.
        trace: Keep every iteration.
    """

    tolerance: float = 1e-4
    rotation_tolerance: float = 1e-3
    max_iterations: int | None = None
    time_budget: float | None = None
    max_step: float | None = None
    limits: str = "clamp"
    halvings: int = 6
    stray: float | None = None
    trace: bool = False

    def __post_init__(self) -> None:
        for name in ("tolerance", "rotation_tolerance"):
            positive(name, getattr(self, name))
        for name in ("time_budget", "max_step", "stray"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        for name in ("max_iterations", "halvings"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole(name, getattr(self, name)))
        if not isinstance(self.trace, bool):
            raise OptionError(f"trace is True or False, got {self.trace!r}.")
        if self.limits not in LIMITS:
            raise OptionError(f"limits is one of {', '.join(map(repr, LIMITS))}, got {self.limits!r}.")

    def tolerances(self, problem: Problem) -> FloatArray:
        """Return the tolerance of every block."""
        own = np.array([self.rotation_tolerance if b.unit == "rad" else self.tolerance for b in problem.blocks])
        return np.where(np.isnan(problem.tolerances), own, problem.tolerances)


def whole(name: str, value: Any, *, least: int = 0) -> int:
    """Return a whole number of any type, or say what is wrong with an option."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not least <= value < 2**63:
        raise OptionError(
            f"{name} must be a whole number, {'at least one' if least else 'zero or more'}, got {value!r}."
        )
    return int(value)


def positive(name: str, value: Any) -> None:
    """Raise if an option is no positive number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not value > 0.0:
        raise OptionError(f"{name} must be positive, got {value!r}.")
