"""Plans: descriptions of methods for the compiled loop, with their code, numbers and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..transforms import FloatArray

NO_WHOLES, NO_REALS = np.zeros(0, np.int64), np.zeros(0)


def no_notes(_: float) -> dict[str, Any]:
    """Return the trace notes of a method without notes."""
    return {}


class Plan(NamedTuple):
    """A method described for the compiled loop.

    Attributes:
        code: The method's number in `kernels.textbook` or `kernels.textbook_steps`.
        amount: Its numeric option: singular, damping, gamma, alpha.
        choice: Its discrete option: the ranking of joints, or whether to use the printed form of z.
        desired: The preferred pose, shape (nq,).
        gains: Gains towards it for each velocity, shape (nv,).
        places: Integers describing the linkage.
        figures: Other numbers describing the linkage.
        work: Size of its working memory, in numbers.
        notes: Function from the number that a step notes to the notes of a trace.
    """

    code: int
    amount: float = 0.0
    choice: int = 0
    desired: FloatArray | None = None
    gains: FloatArray | float = 0.0
    places: NDArray[np.int64] = NO_WHOLES
    figures: FloatArray = NO_REALS
    work: int = 0
    notes: Callable[[float], dict[str, Any]] = no_notes


def hashable(value: Any) -> Any:
    """Return a hashable key for the value of an option; raise TypeError if there is none."""
    if isinstance(value, Mapping):
        return tuple((name, hashable(one)) for name, one in value.items())
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, list | tuple):
        return tuple(map(hashable, value))
    hash(value)
    return value
