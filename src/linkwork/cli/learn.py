"""The command learn: the course's lessons, their exercises, figures and notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import click
from click.exceptions import Exit

from ..errors import OptionError
from .commands import HELP_NAMES, build, command, examples, flag, operand, takes, writes
from .console import NOT_DONE, print_columns, print_json, say
from .options import AsJson

ALL = "all"


def lessons(*, as_json: bool) -> None:
    """Print the lessons."""
    from ..models.lessons import all_lessons

    every = all_lessons()
    if as_json:
        print_json(
            [
                {
                    "number": one.number,
                    "title": one.title,
                    "section": one.section,
                    "figures": list(one.figures),
                    "exercises": [f"{one.number}.{k}" for k in range(1, len(one.exercises) + 1)],
                }
                for one in every
            ]
        )
        return
    rows = [("lesson", "title", "section of the chapter", "live figures")]
    rows += [(str(one.number), one.title, one.section, ", ".join(one.figures)) for one in every]
    print_columns(rows)
    say("begin with: linkwork learn open 1; for the first exercise: linkwork learn check 1.1")


@command("learn check 8.1", "learn check 8.1 25.16")
def check(
    number: Annotated[str, operand("EXERCISE", "Number of the exercise: 8.1 is the first of lesson 8.")],
    answer: Annotated[list[str] | None, operand("ANSWER", "Numbers, with or without units: 45deg, 12cm, 0.3,0.4.")] = (
        None
    ),
    hint: Annotated[bool, flag("--hint", "Print the hint.")] = False,
    solution: Annotated[bool, flag("--solution", "Print the answer and the reason.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show an exercise, or check an answer to it.

    Exits with 0 if the answer is right, 1 if not. Numbers without a unit are in the unit that is asked for.
    """
    from ..models.lessons import answers, exercise

    asked = exercise(number)
    if solution:
        values = ", ".join(f"{value:.6g}" for value in asked.values())
        print(f"{values} {asked.unit}".strip() + f". {asked.why}" * bool(asked.why))
        return
    if not answer:
        print(asked.ask)
        print(f"Answer: {answers.wanted(asked)}.")
        if hint:
            print(f"Hint: {asked.hint}")
        return
    verdict = answers.check(number, " ".join(answer))
    if as_json:
        print_json({"exercise": number, "right": verdict.right, "text": verdict.text})
    else:
        print(verdict.text)
    if not verdict:
        raise Exit(NOT_DONE)


@command("learn notebook 8", "learn notebook all -o course")
def notebook(
    number: Annotated[str, operand("LESSON", "Number of the lesson, or all.")],
    output: Annotated[Path, writes("Folder to write to; created if missing.", "FOLDER")] = Path(),
    force: Annotated[bool, flag("--force", "Overwrite a notebook, with the answers in it.")] = False,
) -> None:
    """Write a lesson as a Jupyter notebook."""
    from ..models.learn import all_lessons, save_notebook

    numbers = [one.number for one in all_lessons()] if number == ALL else [_lesson(number)]
    output.mkdir(parents=True, exist_ok=True)
    for one in numbers:
        print(save_notebook(one, output, replace=force))


@command("learn open 8")
def open_lesson(
    number: Annotated[str, operand("LESSON", "Number of the lesson.")],
    no_browser: Annotated[bool, flag("--no-browser", "Print where it is; do not open a browser.")] = False,
) -> None:
    """Open a lesson in the browser, or write it as a notebook.

    Opens its documentation page if the documentation is built. Otherwise writes its notebook to the current folder, if
    it is not there yet.
    """
    from ..models.learn import lesson, save_notebook
    from ..models.lessons import pages

    found = lesson(_lesson(number))
    page = pages.built_page(found)
    if page is None:
        path = Path(found.page).with_suffix(".ipynb")
        print(path if path.exists() else save_notebook(found.number))
        say(f"open it with: jupyter lab {path}")
        return
    print(page)
    if not no_browser:
        import webbrowser

        webbrowser.open(page.as_uri())


@command("learn figure jacobian-columns -o columns.html")
def figure(
    name: Annotated[str | None, operand("FIGURE", "Name of the figure; without it, all names are printed.")] = None,
    output: Annotated[Path | None, writes("Page to write; by default FIGURE.html.")] = None,
    settings: Annotated[
        list[str] | None, takes("NAME=VALUE", "An option of the figure: pose=0.4,0.8,0.8.", "--set")
    ] = (None),
) -> None:
    """Write a live figure as one page that opens from disk."""
    from ..draw import live_figures

    if name is None:
        print("\n".join(live_figures.names()))
        return
    given: dict[str, Any] = {}
    for word in settings or ():
        key, found, value = word.partition("=")
        if not found or not key.replace("-", "_").isidentifier():
            raise OptionError(f"--set takes NAME=VALUE, such as pose=0.4,0.8,0.8; got {word!r}")
        given[key] = value
    path = Path(f"{name}.html") if output is None else output
    live_figures.live(name, path, **given)
    print(path)


def _lesson(text: str) -> int:
    """Return the number of a lesson as typed: ``8``, ``08``."""
    if not text.isdecimal():
        raise OptionError(f"a lesson has a number, such as 8, or all for all of them; got {text!r}")
    return int(text)


class Learn(click.Group):
    """The group of learn; alone it lists the lessons."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # as click calls it
        """Return the names of its commands, in the order in which a reader needs them."""
        return list(self.commands)


def _commands() -> dict[str, click.Command]:
    made = {"open": build(open_lesson), "check": build(check), "figure": build(figure), "notebook": build(notebook)}
    made["open"].name = "open"
    made["check"].context_settings = {**HELP_NAMES, "ignore_unknown_options": True}  # -0.5 is an answer
    return made


@click.group(
    "learn",
    cls=Learn,
    commands=_commands(),
    invoke_without_command=True,
    context_settings=HELP_NAMES,
    epilog=examples(
        "learn",
        "learn open 8 --no-browser",
        "learn check 8.1",
        "learn figure jacobian-columns -o columns.html",
        "learn notebook all -o course",
    ),
)
@click.option("--json", "as_json", is_flag=True, help="Print the lessons as JSON.")
@click.pass_context
def learn(context: click.Context, as_json: bool) -> None:
    """Learn kinematics: lessons, exercises, live figures, notebooks.

    Without a command, it lists the lessons.
    """
    if context.invoked_subcommand is None:
        lessons(as_json=as_json)
