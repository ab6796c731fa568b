"""The course in Python and notebooks: lessons, checking of answers, and each lesson as a notebook.

>>> import linkwork as lw
>>> lw.learn.lesson(8).page
'08-jacobian.md'
"""

from __future__ import annotations

from .lessons import Exercise, Lesson, LessonError, all_lessons, exercise, lesson
from .lessons.answers import Verdict, check
from .lessons.notebooks import notebook, save_notebook

__all__ = [
    "Exercise",
    "Lesson",
    "LessonError",
    "Verdict",
    "all_lessons",
    "check",
    "exercise",
    "lesson",
    "notebook",
    "save_notebook",
]
