"""Options of a solve: their names and types, for callers and type checkers, and the settings made from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..errors import OptionError, meant
from ..goals import Goal
from ..goals.avoid import AvoidLike
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike
from ..transforms import FloatArray, is_number, is_whole
from .groups import Joints, Weights
from .problem import Problem
from .progress import Progress

Limits = Literal["clamp", "project", "ignore"]
Closest = bool | Literal["quick", "thorough"]
TOLERANCE, SHARE = 1e-4, 1e-3  # default tolerance [m], and its upper bound as a share of a linkage's length


class LoopOptions(TypedDict, total=False):
    """Options of every method; `Settings` describes them."""

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
    """Options of the method `analytic`; see `Analytic`."""

    elbow: str
    pole: ArrayLike | None
    swivel: float | str | None
    direction: float | str | None


class SolveOptions(LoopOptions, AnalyticOptions, total=False):
    """Options of `solve`: those of every method, and those of single methods, which are described in their classes."""

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
    """Options of `prepare` for a frame and a method."""

    position: bool | str
    orientation: bool
    free: ArrayLike | str | None
    joints: Joints | None
    weights: Weights | None


class PackOptions(TypedDict, total=False):
    """Options of `Linkage.pack` for all its solvers."""

    tolerance: float | None
    rotation_tolerance: float
    limits: Limits
    restarts: int
    seed: int


class SearchOptions(PackOptions, total=False):
    """Options of `prepare` for a list of goals."""

    joints: Joints | None
    weights: Weights | None
    avoid: AvoidLike


class PrepareOptions(SearchOptions, total=False):
    """Options of `prepare` for a frame, and of functions for many targets."""

    position: bool | str
    orientation: bool
    free: ArrayLike | str | None


class BatchOptions(PrepareOptions, total=False):
    """Options that a dataset passes on to its batches."""

    dtype: DTypeLike
    solutions: int | None
    apart: float | None


class RunningOptions(TypedDict, total=False):
    """Options for running a batch.

    Args:
        start: Start pose (nq,), the name of a stored one, or a start pose for each row (n, nq).
        threads: Number of threads; by default the number of cores. Results do not depend on it.
        time_budget: Time [s] after which remaining rows are skipped, with status ``time``.
        progress: True for a bar, False for none, a function of (done, total); by default a bar after one second.
        first: Number of the first row, if these are part of a larger set: random starts depend on it.
    """

    start: PoseLike | None
    threads: int | None
    time_budget: float | None
    progress: Progress
    first: int


class TargetOptions(PrepareOptions, RunningOptions, total=False):
    """Options of `solve_batch` for targets of one frame.

    Args:
        device: ``"cpu"``, or ``"cuda"`` for an NVIDIA GPU (``"cuda:1"``: the second). With a GPU, targets and starts
            may be arrays on it, of CuPy, PyTorch, JAX or any library that supports DLPack or
            ``__cuda_array_interface__``. They are not copied, and results are arrays of the same library on the GPU.
        dtype: ``"float64"``, or ``"float32"``, which is faster; every result is checked, and if necessary refined, in
            float64. By default float64 on the CPU, float32 on a GPU.
        closest: How to find the closest pose to targets that were missed: ``"quick"``, from a few precomputed poses,
            takes up to ten times as long as reaching a target and mostly ends at or near the closest pose;
            ``"thorough"`` (or True), from 128 starts, takes ten to fifty times as long; False keeps the result of the
            search. Targets in GPU arrays always keep it.
        nearest: Whether results are the solutions nearest to their starts, as for one target with a start. Closed forms
            give them, at 10 to 50 us each. By default, results for six joints of a family are the nearest, and others
            are near their starts, at a fraction of a microsecond.
    """

    device: str
    dtype: DTypeLike | None
    closest: Closest
    nearest: bool


class DerivativeOptions(PrepareOptions, total=False):
    """Options of `differentiable`, as in `solve_batch`, but both tolerances are 1e-8 by default."""

    device: str
    dtype: DTypeLike | None
    threads: int | None
    closest: Closest


class BodyTargetOptions(SearchOptions, RunningOptions, total=False):
    """Options of `solve_batch` for targets of several frames at once, which are solved on the CPU in float64.

    Args:
        also: Goals that are the same in all rows: ``[lw.Hold("left_foot"), lw.Balance()]``. A goal without a target
            takes it from the start of each row.
    """

    also: Sequence[Goal]


def refuse_unknown(options: Iterable[str], known: Iterable[str], what: str, *, more: str = "") -> None:
    """Raise OptionError for the first unknown name, with a suggestion."""
    names = sorted(known)
    for name in options:
        if name not in names:
            takes = more or f"It takes {', '.join(names)}."
            raise OptionError(f"{what} has no option {name!r}{meant(name, names)} {takes}")


@dataclass(frozen=True)
class Settings:
    """Options of every method.

    Args:
        tolerance: Largest position error of a reached goal [m]; by default `usual_tolerance`.
        rotation_tolerance: Largest rotation error of a reached goal [rad].
        max_iterations: Largest number of steps; the method's own default if None.
        time_budget: Largest time [s], or None.
        max_step: Largest change of one value in a step [rad, m]; the method's own default if None, inf for no limit.
        limits: ``"clamp"`` clamps values to their limits after every step; ``"project"`` also removes joints that push
            against a limit from the step, so that the others take over; ``"ignore"`` ignores limits. Compiled searches
            and methods with priority levels always project unless limits are ignored.
        halvings: How often a step that increases the error is halved before it is taken anyway.
        stray: Largest distance by which a step may leave the straight line to the goals [m]; a step that goes further
            is halved, at most `halvings` times. None sets no bound. Methods that never halve a step ignore it
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
        yes_or_no("trace", self.trace)
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
    """Return the default position tolerance [m]: a tenth of a millimetre.

    For a linkage shorter than ten centimetres, it is a thousandth of the length.

    Example:
        >>> import linkwork as lw
        >>> [usual_tolerance(lw.models.planar([size, size])) for size in (15.0, 0.005)]
        [0.0001, 1e-05]
    """
    return min(TOLERANCE, SHARE * linkage.length) or TOLERANCE


def given_tolerance(linkage: Linkage, tolerance: float | None) -> float:
    """Return a tolerance, or the default of a linkage if it is None."""
    return usual_tolerance(linkage) if tolerance is None else tolerance


def precision(dtype: DTypeLike) -> np.dtype[Any]:
    """Return single or double precision from a NumPy dtype or its name, or raise OptionError for others."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = None
    if kind not in (np.float32, np.float64):
        raise OptionError(f"dtype is float64 or float32, a NumPy dtype or its name, got {dtype!r}.")
    return kind


def yes_or_no(name: str, value: Any) -> bool:
    """Return an option that is True or False, or raise OptionError."""
    if not isinstance(value, bool):
        raise OptionError(f"{name} is True or False, got {value!r}.")
    return value


def whole(name: str, value: Any, *, least: int = 0, most: int = 2**63 - 1) -> int:
    """Return an option that is a whole number, as an int, or raise OptionError."""
    if not is_whole(value) or not least <= value <= most:
        open_end = ("zero or more", "at least one")[least] if least < 2 else f"at least {least}"
        span = f"from {least} to {most}" if most < 2**63 - 1 else open_end
        raise OptionError(f"{name} must be a whole number, {span}, got {value!r}.")
    return int(value)


def one_of(name: str, value: Any, known: Iterable[str]) -> None:
    """Raise OptionError if an option is not one of its choices."""
    if value not in tuple(known):
        raise OptionError(f"{name} is one of {', '.join(map(repr, known))}, got {value!r}.")


def positive(name: str, value: Any, *, finite: bool = False) -> None:
    """Raise OptionError if an option is not a positive number."""
    if not is_number(value) or not value > 0.0 or (finite and np.isinf(value)):
        raise OptionError(f"{name} must be positive{' and finite' if finite else ''}, got {value!r}.")
