"""The lessons of the course, one module each: ``lesson_08.py`` holds `LESSON`, number 8. A new file adds a lesson.

>>> from linkwork.models import lessons
>>> lessons.lesson(8).page
'08-jacobian.md'
"""

from __future__ import annotations

from .course import LessonError, all_lessons, exercise, lesson
from .lesson import Exercise, Lesson

__all__ = ["Exercise", "Lesson", "LessonError", "all_lessons", "exercise", "lesson"]
