"""Read and check typed answers: ``45deg``, ``12 cm``, ``(0.3, -0.4)``, as in the boxes of the pages."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

import numpy as np

from ...linkage.showing import Shown
from .course import LessonError, exercise
from .lesson import Exercise

# Values of units, in families that convert into each other.
FAMILIES: tuple[dict[str, float], ...] = (
    {"rad": 1.0, "deg": math.pi / 180.0, "°": math.pi / 180.0},
    {"m": 1.0, "cm": 0.01, "mm": 0.001},
    {"s": 1.0, "ms": 0.001},
    {"": 1.0, "%": 0.01},
)
PART = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S*)")
BETWEEN = re.compile(r"[,;]|\s+(?=[-+.\d])")


@dataclass(frozen=True)
class Verdict(Shown):
    """Result of checking an answer; true if the answer is right.

    Attributes:
        number: The exercise, such as ``"8.1"``.
        right: Whether the answer is right.
        text: The reason why it is right, or a hint.
        given: Whether an answer was given.
    """

    number: str
    right: bool
    text: str
    given: bool = True

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Verdict on {self.number}: {self.text}>"


def check(number: str, *given: Any) -> Verdict:
    """Return whether an answer is right, with the reason or a hint.

    Args:
        number: The exercise, such as ``"8.1"``.
        *given: The answer: numbers in the unit of the exercise, arrays of them, or texts such as ``"45deg"``,
            ``"12 cm"`` and ``"0.3, 0.4"``. ``...``, as in the notebooks, means that there is no answer yet.

    Raises:
        LessonError: If there is no such exercise, or the answer is not a number.
    """
    asked = exercise(number)
    if not given or any(isinstance(part, EllipsisType) for part in given):
        return Verdict(str(number), False, f"Put your answer in place of the dots: {wanted(asked)}.", given=False)
    values = [value for part in given for value in read_answer(part, asked)]
    count = len(asked.values())
    if len(values) != count:
        raise LessonError(f"exercise {number} asks for {wanted(asked)}; got {len(values)} numbers.")
    if asked.check(*values):
        return Verdict(str(number), True, f"Right. {asked.why}".strip())
    other = _other_unit(asked, values) if all(not _has_unit(part) for part in given) else ""
    return Verdict(str(number), False, f"Not yet. {other or asked.hint}".strip())


def wanted(asked: Exercise) -> str:
    """Return a text on the form of an answer: ``"a number, in deg"``."""
    count = len(asked.values())
    what = "a number" if count == 1 else f"{count} numbers, separated by commas"
    return what + f", in {asked.unit}" * bool(asked.unit)


def read_answer(given: Any, asked: Exercise) -> list[float]:
    """Return the numbers of an answer, in the unit of the exercise."""
    if not isinstance(given, str):
        return _numbers(given)
    text = given.replace("−", "-")
    parts = [part.strip() for part in BETWEEN.split(re.sub(r"[()\[\]{}]", " ", text)) if part.strip()]
    if not parts:
        raise LessonError(f"an answer is {wanted(asked)}; got nothing.")
    return [_value(part, asked) for part in parts]


def _numbers(given: Any) -> list[float]:
    try:
        values: list[float] = np.asarray(given, dtype=np.float64).ravel().tolist()
    except (TypeError, ValueError) as error:
        raise LessonError(f"an answer is numbers or a text such as '45deg'; got {given!r}.") from error
    if any(map(math.isnan, values)):  # NumPy reads None as NaN
        raise LessonError(f"an answer is numbers or a text such as '45deg'; got {given!r}.")
    return values


def _value(part: str, asked: Exercise) -> float:
    """Return one number in the unit of the exercise."""
    found = PART.fullmatch(part)
    if found is None:
        raise LessonError(f"{part!r} is not a number; an answer is {wanted(asked)}, such as 12.5 or -3e-2.")
    number, unit = float(found[1]), found[2]
    if not unit or unit == asked.unit:
        return number
    family = next((units for units in FAMILIES if asked.unit in units), {asked.unit: 1.0})
    if unit not in family:
        raise LessonError(f"{part!r} is in {unit!r}; the answer is {wanted(asked)}.")
    return number * family[unit] / family[asked.unit]


def _has_unit(given: Any) -> bool:
    return isinstance(given, str) and bool(re.search(r"[a-df-zA-DF-Z°%]", given))


def _other_unit(asked: Exercise, values: list[float]) -> str:
    """Return a text if the numbers are right in another unit; else an empty one."""
    family = next((units for units in FAMILIES if asked.unit in units and asked.unit), {})
    for unit, worth in family.items():
        if unit != asked.unit and asked.check(*(value * worth / family[asked.unit] for value in values)):
            return f"That is right in {unit}; give the answer in {asked.unit}."
    return ""
