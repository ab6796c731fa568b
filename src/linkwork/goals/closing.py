"""Goals that a solve adds for each loop and each coupling, with priority over all others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .base import Goal

FIRST = -1  # priority level of loops and couplings, before the first level of other goals


@dataclass(frozen=True, eq=False)
class Closing(Goal):
    """Base of `Close` and `Follow`."""

    priority: int = field(default=FIRST, kw_only=True)
    first_level: ClassVar[int] = FIRST

    @property
    def part(self) -> Any:
        """The loop or the coupling."""
        raise NotImplementedError

    def drift(self, linkage: Linkage, q: FloatArray, velocity: FloatArray) -> FloatArray:
        """Return ``jacobian_dot @ velocity``, shape (..., rows): the gap's acceleration at zero joint acceleration."""
        raise NotImplementedError

    def gap_text(self, linkage: Linkage, q: FloatArray) -> str:
        """Return a text with the remaining gap at a pose (nq,)."""
        raise NotImplementedError
