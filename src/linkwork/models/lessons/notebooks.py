"""Convert a lesson to a notebook: the page's text and code, with its live figures and exercises as cells that run.

The format is Jupyter's own, version 4.5, which is plain JSON, so no library is needed to write it.
"""

from __future__ import annotations

import doctest
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from ...errors import FormatError
from ...formats.atomic_files import write_text
from .answers import wanted
from .course import exercise, lesson
from .lesson import Lesson
from .pages import page_text

FENCE = re.compile(r'\s*(`{3,})\s*([\w-]*)(?:.*\btitle="([^"]*)")?')
FIGURE = re.compile(r"\s*<linkwork-figure\b.*</linkwork-figure>\s*")
EXERCISE = re.compile(r"\s*<!--\s*exercise\s+([\d.]+)\s*-->\s*")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
IMPORT = "import linkwork as lw"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


@dataclass
class Cells:
    """The cells of a notebook under construction."""

    name: str
    made: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    imported: bool = False

    def text(self, *lines: str) -> None:
        """Add lines of Markdown to the current cell."""
        self.waiting += lines

    def code(self, source: str, *, ours: bool = False) -> None:
        """Add a cell of code; with `ours` (not from the page), it imports linkwork if no cell has done so."""
        self.close()
        if ours and not self.imported:
            source = f"{IMPORT}\n\n{source}"
        self.imported = self.imported or IMPORT in source
        self._add("code", source, execution_count=None, outputs=[])

    def close(self) -> None:
        """End the current cell of Markdown."""
        source, self.waiting = "\n".join(self.waiting).strip("\n"), []
        if source.strip():
            self._add("markdown", source)

    def _add(self, kind: str, source: str, **more: Any) -> None:
        mark = f"{self.name}-{len(self.made) + 1}"
        lines = source.splitlines(keepends=True)
        self.made.append({"id": mark, "cell_type": kind, "metadata": {}, "source": lines, **more})


def notebook(number: int) -> dict[str, Any]:
    """Return a lesson as a notebook, in Jupyter's format as plain data.

    Example:
        >>> notebook(8)["nbformat"]
        4
    """
    found = lesson(number)
    return converted(page_text(found), found)


def converted(page: str, found: Lesson) -> dict[str, Any]:
    """Return the page of a lesson as a notebook."""
    cells = Cells(f"lesson-{found.number}")
    lines = iter(page.splitlines())
    for line in lines:
        fence, asked = FENCE.match(line), EXERCISE.fullmatch(line)
        if fence:
            _block(cells, fence, list(_inside(lines, fence[1])), line)
        elif FIGURE.fullmatch(line):
            cells.code(_figure(line), ours=True)
        elif asked:
            _exercise(cells, asked[1])
        else:
            cells.text(LINK.sub(_link, line))
    cells.close()
    return {"cells": cells.made, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def save_notebook(number: int, folder: str | os.PathLike[str] = ".", *, replace: bool = False) -> Path:
    """Write a lesson as a notebook into a folder and return its path.

    Args:
        number: The lesson.
        folder: Folder to write to; it must exist.
        replace: Overwrite a notebook of that name, including its answers.

    Raises:
        FormatError: If there is no such folder, or a notebook of that name exists and `replace` is False.
    """
    path = Path(folder) / Path(lesson(number).page).with_suffix(".ipynb").name
    if not path.parent.is_dir():
        raise FormatError(path, f"there is no folder {str(path.parent)!r}; make it first.")
    if path.exists() and not replace:
        raise FormatError(path, "exists already, perhaps with your answers; move it, or pass replace=True (--force).")
    write_text(path, json.dumps(notebook(number), indent=1, ensure_ascii=False) + "\n")
    return path


def _inside(lines: Iterator[str], fence: str) -> Iterator[str]:
    """Yield the lines of a block up to the fence that ends it."""
    for line in lines:
        if line.strip() == fence:
            return
        yield line


def _block(cells: Cells, fence: re.Match[str], inside: list[str], first: str) -> None:
    """Add a block: Python becomes a code cell, a file becomes a cell that writes it, anything else stays text."""
    source = "\n".join(inside)
    if fence[3]:
        cells.code(f"from pathlib import Path\n\nPath({fence[3]!r}).write_text({source + chr(10)!r})")
    elif fence[2] != "python":
        cells.text(first, *inside, fence[1])
    elif source.lstrip().startswith(">>>"):
        for part in _session(source):
            cells.code(part)
    else:
        cells.code(source)


def _session(source: str) -> Iterator[str]:
    """Yield the code of a session, split after each shown result: a cell shows only the result of its last line."""
    waiting: list[str] = []
    for example in doctest.DocTestParser().get_examples(source):
        waiting.append(example.source.rstrip())
        if example.want:
            yield "\n".join(waiting)
            waiting = []
    if waiting:
        yield "\n".join(waiting)


class _Attributes(HTMLParser):
    """Reads the attributes of the first tag of a line."""

    def __init__(self, line: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self.feed(line)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.found = self.found or {name: value or "" for name, value in attrs}


def _figure(line: str) -> str:
    """Return the call that shows a live figure."""
    given = _Attributes(line).found
    name = given.pop("name")
    words = [json.dumps(name), *(f"{key.replace('-', '_')}={json.dumps(value)}" for key, value in given.items())]
    return f"lw.draw.live({', '.join(words)})"


def _exercise(cells: Cells, number: str) -> None:
    """Add an exercise: the question, and a cell that checks the answer put in place of the dots."""
    asked = exercise(number)
    cells.close()
    cells.text(f"**Exercise {number}.** {asked.ask} ({wanted(asked)})")
    cells.code(f'lw.learn.check("{number}", ...)', ours=True)


def _link(found: re.Match[str]) -> str:
    """Return a link to a lesson as a link to its notebook; links to other pages become plain text."""
    words, target = found[1], found[2]
    if re.match(r"[a-z]+:", target):
        return found[0]
    page = re.fullmatch(r"(\d\d-[\w-]+)\.md(?:#.*)?", target)
    return f"[{words}]({page[1]}.ipynb)" if page else words
