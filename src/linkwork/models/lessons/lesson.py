"""What a lesson of the course is: its place in the chapter and three exercises whose answers are computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

Answer = float | Sequence[float]


@dataclass(frozen=True)
class Exercise:
    """A question with a number, or a few, for an answer.

    Texts are plain words with the characters of mathematics (θ₁, λ²): a terminal prints them as they are.

    Attributes:
        ask: The question.
        answer: Computes the answer, in `unit`; nothing is typed in twice.
        unit: What the answer is measured in: ``""``, ``"deg"``, ``"rad"``, ``"m"``, ``"cm"``, ...
        tolerance: How far off an answer may be, in `unit`.
        hint: The next thing to think of, for those who are stuck.
        why: One or two sentences for those who have it.

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
        """Return the answer's numbers; they are computed once."""
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
        number: 1 to 18.
        name: A short word for it: the page is ``docs/learn/NN-name.md``.
        title: Its heading.
        section: Where in the chapter its matter stands, such as ``"5.3.2"``.
        figures: Names of its live figures.
        exercises: Three of them; the second of lesson 8 is called 8.2.
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
