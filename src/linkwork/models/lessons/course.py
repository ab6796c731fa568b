"""The course: all lessons in order, by number. ``lesson_08.py`` beside this file holds `LESSON`, which is lesson 8."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path

from ...errors import LinkworkError
from .lesson import Exercise, Lesson


class LessonError(LinkworkError):
    """There is no lesson or exercise with this number, or an answer cannot be read."""


@cache
def all_lessons() -> tuple[Lesson, ...]:
    """Return all lessons in order."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    names = sorted(module.name for module in found if module.name.startswith("lesson_"))
    return tuple(import_module(f"{__package__}.{name}").LESSON for name in names)


def lesson(number: int) -> Lesson:
    """Return a lesson by its number."""
    for found in all_lessons():
        if found.number == number:
            return found
    numbers = ", ".join(str(found.number) for found in all_lessons())
    raise LessonError(f"there is no lesson {number}; there are {numbers}.")


def exercise(number: str) -> Exercise:
    """Return an exercise by its number: ``"8.2"`` is the second of lesson 8."""
    first, _, second = str(number).partition(".")
    if not (first.isdecimal() and second.isdecimal()):
        raise LessonError(f"an exercise is numbered by its lesson and its place in it, such as 8.2; got {number!r}.")
    owner = lesson(int(first))
    if not 1 <= int(second) <= len(owner.exercises):
        last = f"{owner.number}.{len(owner.exercises)}"
        raise LessonError(f"lesson {owner.number} has exercises {owner.number}.1 to {last}; got {number}.")
    return owner.exercises[int(second) - 1]
