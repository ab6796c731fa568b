"""The options of a solve: their names and types, for callers and type checkers, and the settings made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..errors import OptionError, meant
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, is_number, is_whole
from .groups import Joints, Weights
from .problem import Problem

Limits = Literal["clamp", "project", "ignore"]
TOLERANCE, SHARE = 1e-4, 1e-3  # metres that count as reached where nobody says, and the share of a linkage's length


class LoopOptions(TypedDict, total=False):
    """What every method takes; `Settings` says what they mean."""

    tolerance: float | None
    rotation_tolerance: float
    max_iterations: int | None
    time_budget: float | None
    max_step: float | None
    limits: Limits
    halvings: int
    stray: float | None
    trace: bool


class AnalyticOptions(TypedDict, total=False):
    """What the method `analytic` takes; `Analytic` says what they mean."""

    elbow: str
    pole: ArrayLike | None
    swivel: float | str | None
    direction: float | str | None


class SolveOptions(LoopOptions, AnalyticOptions, total=False):
    """What `solve` takes: the options of all methods, and those of single methods; their classes say what they mean."""

    singular: float
    form: str
    damping: float | str
    gamma: float
    desired: ArrayLike | None
    gains: ArrayLike
    z: Callable[[FloatArray], FloatArray] | None
    scale: float | None
    ranking: str | Callable[[Any], Any]
    foresight: float | Sequence[float]
    overshoot: float | Sequence[float]
    restarts: int
    seed: int
    stay: bool


class MethodOptions(SolveOptions, total=False):
    """What `prepare` takes for a frame and a method."""

    position: bool | str
    orientation: bool
    free: ArrayLike | str | None
    joints: Joints | None
    weights: Weights | None


class PackOptions(TypedDict, total=False):
    """What `Linkage.pack` takes for all its solvers."""

    tolerance: float | None
    rotation_tolerance: float
    limits: Limits
    restarts: int
    seed: int


class SearchOptions(PackOptions, total=False):
    """What `prepare` takes for a list of goals."""

    joints: Joints | None
    weights: Weights | None


class PrepareOptions(SearchOptions, total=False):
    """What `prepare` takes for a frame, and all that prepare for many targets."""

    position: bool | str
    orientation: bool
    free: ArrayLike | str | None


class BatchOptions(PrepareOptions, total=False):
    """What a dataset passes on to its batches."""

    dtype: DTypeLike


def refuse_unknown(options: Iterable[str], known: Iterable[str], what: str, *, more: str = "") -> None:
    """Raise OptionError for the first name that is not known, with the one that may have been meant."""
    names = sorted(known)
    for name in options:
        if name not in names:
            takes = more or f"It takes {', '.join(names)}."
            raise OptionError(f"{what} has no option {name!r}{meant(name, names)} {takes}")


@dataclass(frozen=True)
class Settings:
    """What every method takes.

    Args:
        tolerance: Largest position error that counts as reached [m]; `usual_tolerance` where a call is given none.
        rotation_tolerance: Largest rotation error that counts as reached [rad].
        max_iterations: Steps at most; the method's own default if None.
        time_budget: Seconds at most, or None.
        max_step: Largest change of one value in a step [rad, m]; the method's own default if None, inf for no limit.
        limits: ``"clamp"`` values to their limits after every step; ``"project"``: also take joints that push against a
            limit out of the step, so that the others do their part; ``"ignore"`` them. Compiled searches always
            project, whichever of the first two is given, and so do methods that serve levels one after another.
        halvings: How often a step that makes the error grow is halved before it is taken all the same.
        stray: Largest distance by which a step may leave the straight way to the goals [m]; one that does is halved
            too, `halvings` times at most. None lets it stray; methods that take their steps as they come do not ask
            (`ccd`, `ranked-ccd`, `fabrik`, `transpose` with a scale).
        trace: Keep every iteration.
    """

    tolerance: float = TOLERANCE
    rotation_tolerance: float = 1e-3
    max_iterations: int | None = None
    time_budget: float | None = None
    max_step: float | None = None
    limits: Limits = "clamp"
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
        one_of("limits", self.limits, get_args(Limits))

    @property
    def keeps_limits(self) -> bool:
        """Whether joints keep within their limits."""
        return self.limits != "ignore"

    def tolerances(self, problem: Problem) -> FloatArray:
        """Return the tolerance of every block."""
        own = np.array([self.rotation_tolerance if b.unit == "rad" else self.tolerance for b in problem.blocks])
        return np.where(np.isnan(problem.tolerances), own, problem.tolerances)


def usual_tolerance(linkage: Linkage) -> float:
    """Return the position error that counts as reached where nobody says [m]: a tenth of a millimetre.

    A linkage smaller than ten centimetres would be there before it began: for it, a thousandth of its length.

    Example:
        >>> import linkwork as lw
        >>> [usual_tolerance(lw.models.planar([size, size])) for size in (15.0, 0.005)]
        [0.0001, 1e-05]
    """
    return min(TOLERANCE, SHARE * linkage.length) or TOLERANCE


def given_tolerance(linkage: Linkage, tolerance: float | None) -> float:
    """Return a tolerance, or the usual one of a linkage if it is None."""
    return usual_tolerance(linkage) if tolerance is None else tolerance


def precision(dtype: DTypeLike) -> np.dtype[Any]:
    """Return single or double precision from a NumPy dtype or its name, or say that there are no others."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = None
    if kind not in (np.float32, np.float64):
        raise OptionError(f"dtype is float64 or float32, a NumPy dtype or its name, got {dtype!r}.")
    return kind


def whole(name: str, value: Any, *, least: int = 0, most: int = 2**63 - 1) -> int:
    """Return a whole number of any type, or say what is wrong with an option."""
    if not is_whole(value) or not least <= value <= most:
        open_end = ("zero or more", "at least one")[least] if least < 2 else f"at least {least}"
        span = f"from {least} to {most}" if most < 2**63 - 1 else open_end
        raise OptionError(f"{name} must be a whole number, {span}, got {value!r}.")
    return int(value)


def one_of(name: str, value: Any, known: Iterable[str]) -> None:
    """Raise if an option is not one of its choices."""
    if value not in tuple(known):
        raise OptionError(f"{name} is one of {', '.join(map(repr, known))}, got {value!r}.")


def positive(name: str, value: Any, *, finite: bool = False) -> None:
    """Raise if an option is not a positive number."""
    if not is_number(value) or not value > 0.0 or (finite and np.isinf(value)):
        raise OptionError(f"{name} must be positive{' and finite' if finite else ''}, got {value!r}.")
