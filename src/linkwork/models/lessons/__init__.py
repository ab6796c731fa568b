"""The lessons of the course, one module each: ``lesson_08.py`` holds `LESSON`, number 8. A new file is a new lesson.

>>> from linkwork.models import lessons
>>> [lesson.number for lesson in lessons.all_lessons()] == list(range(1, len(lessons.all_lessons()) + 1))
True
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from ...errors import LinkworkError
from .lesson import Exercise, Lesson

__all__ = ["Exercise", "Lesson", "LessonError", "all_lessons", "exercise", "lesson"]


class LessonError(LinkworkError):
    """No lesson or exercise has this number."""


@cache
def all_lessons() -> tuple[Lesson, ...]:
    """Return all lessons in order."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name.startswith("lesson_"))
    return tuple(import_module(f"{__name__}.{name}").LESSON for name in names)


def lesson(number: int) -> Lesson:
    """Return a lesson by its number."""
    for found in all_lessons():
        if found.number == number:
            return found
    numbers = ", ".join(str(found.number) for found in all_lessons())
    raise LessonError(f"there is no lesson {number}; there are {numbers}.")


def exercise(number: str) -> Exercise:
    """Return an exercise by its number: ``"8.2"`` is the second of lesson 8."""
    first, _, second = number.partition(".")
    if not (first.isdigit() and second.isdigit()):
        raise LessonError(f"an exercise is numbered by its lesson and its place in it, such as 8.2; got {number!r}.")
    owner = lesson(int(first))
    if not 1 <= int(second) <= len(owner.exercises):
        last = len(owner.exercises)
        raise LessonError(
            f"lesson {owner.number} has exercises {owner.number}.1 to {owner.number}.{last}; got {number}."
        )
    return owner.exercises[int(second) - 1]
