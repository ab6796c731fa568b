"""The command learn: lessons, answers and their exit statuses, notebooks and figures."""

from __future__ import annotations

import json

import pytest

import linkwork as lw
from command_line import run
from linkwork.models.lessons import pages


def test_it_lists_the_lessons():
    result = run("learn")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == [
        str(one.number) for one in lw.learn.all_lessons()
    ]
    assert json.loads(run("learn", "--json").stdout)[0]["number"] == 1


def test_an_exercise_is_asked_and_answers_are_checked():
    asked = lw.learn.exercise("8.1")
    question = run("learn", "check", "8.1", "--hint").stdout
    assert asked.ask in question
    assert asked.hint in question
    right = run("learn", "check", "8.1", f"{asked.values()[0]:.5g}")
    assert (right.exit_code, right.stdout) == (0, f"Right. {asked.why}\n")
    wrong = run("learn", "check", "8.1", "-1e3")  # a number, not an option
    assert (wrong.exit_code, wrong.stdout) == (1, f"Not yet. {asked.hint}\n")
    assert json.loads(run("learn", "check", "8.1", "-0.5", "--json").stdout)["right"] is False
    assert f"{asked.values()[0]:.6g}" in run("learn", "check", "8.1", "--solution").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "8.1", "twelve"), "'twelve' is not a number"),
        (("check", "8.9", "1"), "lesson 8 has exercises 8.1 to 8.3"),
        (("notebook", "eight"), "a lesson has a number"),
        (("figure", "nonsense"), "there is no live figure 'nonsense'"),
        (("figure", "jacobian-columns", "--set", "pose"), "--set takes NAME=VALUE"),
    ],
)
def test_what_is_wrong_is_said(words, said):
    result = run("learn", *words)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_figure_is_written_as_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "jacobian-columns" in run("learn", "figure").stdout.split()
    result = run("learn", "figure", "jacobian-columns", "--set", "pose=0.4,0.8,0.8")
    assert result.stdout == "jacobian-columns.html\n"
    assert 'pose="0.4,0.8,0.8"' in (tmp_path / "jacobian-columns.html").read_text(encoding="utf-8")


def test_notebooks_are_written_into_a_folder(tmp_path):
    folder = tmp_path / "course"
    result = run("learn", "notebook", "all", "-o", str(folder))
    assert len(result.stdout.splitlines()) == len(lw.learn.all_lessons()) == len([*folder.iterdir()])
    again = run("learn", "notebook", "8", "-o", str(folder))
    assert again.exit_code == 3
    assert "perhaps with your answers" in again.stderr
    assert run("learn", "notebook", "8", "-o", str(folder), "--force").exit_code == 0


def test_a_lesson_is_opened_as_a_page_or_as_a_notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "site.html"
    monkeypatch.setattr(pages, "built_page", lambda _lesson: page)
    assert run("learn", "open", "8", "--no-browser").stdout == f"{page}\n"
    monkeypatch.setattr(pages, "built_page", lambda _lesson: None)
    for _ in range(2):  # the second time the file exists and is kept
        result = run("learn", "open", "08")
        assert result.stdout == "08-jacobian.ipynb\n"
        assert "jupyter lab 08-jacobian.ipynb" in result.stderr
