"""What a method tells the compiled loop of itself: its code, its numbers, and what its notes mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..transforms import FloatArray

NO_WHOLES, NO_REALS = np.zeros(0, np.int64), np.zeros(0)


def no_notes(_: float) -> dict[str, Any]:
    """Return what a trace keeps of a step by a method without notes."""
    return {}


class Plan(NamedTuple):
    """A method as the compiled loop takes it.

    Attributes:
        code: Which method it is, a number of `kernels.textbook` or `kernels.textbook_steps`.
        amount: Its own number: singular, damping, gamma, alpha.
        choice: Its own choice: how joints are ranked, whether a wish is as printed.
        desired: The pose that a wish leads to, shape (nq,).
        gains: How strong the wish is for each velocity, shape (nv,).
        places: Whole numbers that it knows of the linkage.
        figures: Other numbers that it knows of the linkage.
        work: How many numbers it works in.
        notes: What a trace keeps of the number that a step notes.
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
    """Return a key that tells an option from others; TypeError where there is none."""
    if isinstance(value, Mapping):
        return tuple((name, hashable(one)) for name, one in value.items())
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, list | tuple):
        return tuple(map(hashable, value))
    hash(value)
    return value
