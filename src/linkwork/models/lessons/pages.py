"""Find the lessons' pages: in ``docs/learn`` of a checkout, or beside this module in an installation."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .course import LessonError
from .lesson import Lesson


@cache
def folder() -> Path:
    """Return the folder of the lessons' pages."""
    here = Path(__file__).resolve()
    for place in (here.with_name("texts"), here.parents[4] / "docs" / "learn"):
        if place.is_dir():
            return place
    raise LessonError("the lessons' pages are missing from this installation; install linkwork again.")


def page_text(lesson: Lesson) -> str:
    """Return the page of a lesson, in Markdown."""
    path = folder() / lesson.page
    if not path.is_file():
        raise LessonError(f"the page of lesson {lesson.number}, {lesson.page}, is not in {folder()}.")
    return path.read_text(encoding="utf-8")


def built_page(lesson: Lesson) -> Path | None:
    """Return the lesson's page of the documentation that ``make docs`` has built in a checkout, or None."""
    path = Path(__file__).resolve().parents[4] / "site" / "learn" / Path(lesson.page).with_suffix(".html").name
    return path if path.is_file() else None
