"""Lessons of the course: their section of the chapter, and three exercises with computed answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

Answer = float | Sequence[float]


@dataclass(frozen=True)
class Exercise:
    """A question whose answer is one or a few numbers.

    Texts are plain, with mathematical characters (θ₁, λ²), so that terminals can print them.

    Attributes:
        ask: The question.
        answer: Function that computes the answer, in `unit`.
        unit: Unit of the answer: ``""``, ``"deg"``, ``"rad"``, ``"m"``, ``"cm"``, ...
        tolerance: Largest error of a right answer, in `unit`.
        hint: A hint, shown with a wrong answer.
        why: One or two sentences on the reason, shown with a right answer.

    Example:
        >>> circle = Exercise("How long is a circle of radius 1?", lambda: 2 * math.pi, hint="2πr")
        >>> circle.check(6.28), circle.check(3.14)
        (True, False)
    """

    ask: str
    answer: Callable[[], Answer]
    unit: str = ""
    tolerance: float = 0.01
    hint: str = ""
    why: str = ""

    @cached_property
    def _computed(self) -> tuple[float, ...]:
        answer = self.answer()
        return tuple(float(x) for x in (answer if isinstance(answer, Sequence) else [answer]))

    def values(self) -> tuple[float, ...]:
        """Return the numbers of the answer, computed once."""
        return self._computed

    def check(self, *given: float) -> bool:
        """Return whether these numbers are the answer, within tolerance."""
        right = self.values()
        return len(given) == len(right) and all(
            math.isfinite(x) and abs(x - y) <= self.tolerance for x, y in zip(given, right, strict=True)
        )


@dataclass(frozen=True)
class Lesson:
    """One page of the course.

    Attributes:
        number: Its number, 1 to 18.
        name: A short name: the page is ``docs/learn/NN-name.md``.
        title: Its heading.
        section: Its section of the chapter, such as ``"5.3.2"``.
        figures: Names of its live figures.
        exercises: Its three exercises; the second of lesson 8 is called 8.2.
    """

    number: int
    name: str
    title: str
    section: str
    figures: tuple[str, ...]
    exercises: tuple[Exercise, ...]

    @property
    def page(self) -> str:
        """The page's file in ``docs/learn``."""
        return f"{self.number:02d}-{self.name}.md"
