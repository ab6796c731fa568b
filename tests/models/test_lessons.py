"""The course: every lesson has a page, figures and answers; typed answers are parsed."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.draw import live_figures
from linkwork.models.lessons import Exercise, Lesson, LessonError, answers, course, pages

LESSONS = lw.learn.all_lessons()
TEACH = (Path(__file__).parents[2] / "docs" / "teach.md").read_text(encoding="utf-8")
EXERCISES = [(f"{one.number}.{k}", asked) for one in LESSONS for k, asked in enumerate(one.exercises, start=1)]

ANGLE = Exercise("Half a turn?", lambda: 180.0, unit="deg", hint="Think of π.", why="A turn is 360°.")
LENGTH = Exercise("How far?", lambda: 12.5, unit="cm", tolerance=0.1)
POINT = Exercise("Where?", lambda: (0.3, -0.4), unit="m", tolerance=1e-3)
COUNT = Exercise("How many?", lambda: 2, tolerance=0.0)
RATE = Exercise("How fast?", lambda: 3.0, unit="m/s")


@pytest.fixture
def made_up(monkeypatch):
    """A course of one lesson, number 1, with the exercises above."""
    made = Lesson(1, "made-up", "Made up", "5.1", (), (ANGLE, LENGTH, POINT, COUNT, RATE))
    monkeypatch.setattr(course, "all_lessons", lambda: (made,))


# Typed answers


@pytest.mark.parametrize(
    ("number", "given"),
    [
        ("1.1", ("180",)),
        ("1.1", ("180deg",)),
        ("1.1", ("180 °",)),
        ("1.1", (f"{math.pi} rad",)),
        ("1.1", (180,)),
        ("1.1", (np.float64(180.0),)),
        ("1.2", ("12.5",)),
        ("1.2", ("12.5 cm",)),
        ("1.2", ("125mm",)),
        ("1.2", ("+1.25e-1 m",)),
        ("1.3", ("0.3, -0.4",)),
        ("1.3", ("(0.3; −0.4)",)),
        ("1.3", ("[.3 -.4]",)),
        ("1.3", ("30 cm, -40 cm",)),
        ("1.3", (0.3, -0.4)),
        ("1.3", ("0.3", "-0.4")),
        ("1.3", (np.array([0.3, -0.4]),)),
        ("1.4", ("2",)),
        ("1.5", ("3 m/s",)),
    ],
)
def test_answers_are_read_as_people_type_them(made_up, number, given):
    assert lw.learn.check(number, *given)


@pytest.mark.parametrize(
    ("number", "given", "words"),
    [
        ("1.1", "pi", "'pi' is not a number; an answer is a number, in deg"),
        ("1.1", "360/2", "'360/2' is in '/2'"),
        ("1.1", "12 cm", "'12 cm' is in 'cm'; the answer is a number, in deg"),
        ("1.1", "", "got nothing"),
        ("1.1", "nan", "'nan' is not a number"),
        ("1.2", "12,5", "asks for a number, in cm; got 2 numbers"),
        ("1.3", "0.3", "asks for 2 numbers, separated by commas, in m; got 1"),
        ("1.4", "2 m", "'2 m' is in 'm'"),
        ("1.5", "3 km/h", "'3 km/h' is in 'km/h'"),
        ("1.1", None, "got None"),
        ("1.9", "1", "lesson 1 has exercises 1.1 to 1.5; got 1.9"),
        ("3.1", "1", "there is no lesson 3; there are 1"),
        ("first", "1", "numbered by its lesson and its place in it, such as 8.2; got 'first'"),
    ],
)
def test_what_is_no_answer_is_said(made_up, number, given, words):
    with pytest.raises(LessonError, match=re.escape(words)):
        lw.learn.check(number, given)


def test_a_verdict_says_why_or_gives_a_hint(made_up):
    assert str(lw.learn.check("1.1", 180)) == "Right. A turn is 360°."
    wrong = lw.learn.check("1.1", 90)
    assert (bool(wrong), str(wrong)) == (False, "Not yet. Think of π.")
    assert repr(wrong) == "<Verdict on 1.1: Not yet. Think of π.>"
    assert str(lw.learn.check("1.1", ...)) == "Put your answer in place of the dots: a number, in deg."
    assert "not yet" in wrong._repr_html_()
    assert "right" in lw.learn.check("1.1", 180)._repr_html_()


def test_numbers_that_are_right_in_another_unit_are_told_so(made_up):
    assert str(lw.learn.check("1.1", math.pi)) == "Not yet. That is right in rad; give the answer in deg."
    assert str(lw.learn.check("1.2", "0.125")) == "Not yet. That is right in m; give the answer in cm."
    assert "right in" not in str(lw.learn.check("1.1", f"{math.pi} deg"))
    assert not lw.learn.check("1.2", math.inf)


# The course


def test_lessons_are_numbered_in_order():
    assert [one.number for one in LESSONS] == list(range(1, len(LESSONS) + 1))


@pytest.mark.parametrize(("number", "asked"), EXERCISES, ids=[number for number, _ in EXERCISES])
def test_every_answer_can_be_typed(number, asked):
    typed = ", ".join(f"{value:.6g}" for value in asked.values())
    assert lw.learn.check(number, typed)
    assert not lw.learn.check(number, *(value + 2.0 * asked.tolerance + 1e-3 for value in asked.values()))
    assert answers.wanted(asked)
    assert asked.ask
    assert asked.hint
    assert asked.why


@pytest.mark.parametrize("one", LESSONS, ids=lambda one: one.name)
def test_every_lesson_has_its_page_figures_and_exercises(one):
    text = pages.page_text(one)
    assert re.search(r"^# .*", text)
    shown = set(re.findall(r'<linkwork-figure[^>]*\bname="([^"]+)"', text))
    assert set(one.figures) == shown
    assert shown <= set(live_figures.names())
    row = next(line for line in TEACH.splitlines() if f"(learn/{one.page})" in line)  # for lecturers
    assert [name for name in one.figures if f"`{name}`" not in row] == []
    asked = re.findall(r"<!-- exercise ([\d.]+) -->", text)
    assert asked == [f"{one.number}.{k}" for k in range(1, len(one.exercises) + 1)]
