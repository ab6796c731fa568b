"""The streams of a command: results go to stdout, talk and progress to stderr, files are checked before work begins."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unicodedata import combining, east_asian_width

import click

from ..errors import OptionError, listed

NOT_DONE, WRONG_USAGE, BAD_FILE = 1, 2, 3  # exit statuses; 1 also where a file or a motion has faults


def say(message: object) -> None:
    """Print one line on stderr."""
    print(f"linkwork: {' '.join(str(message).split())}", file=sys.stderr)


@contextmanager
def writing(output: Path, suffixes: Sequence[str]) -> Iterator[Path]:
    """Give a path that may be written to, checked ahead; ``-`` goes to stdout, in the first of the formats."""
    if str(output) != "-":
        if not output.name.lower().endswith(tuple(suffixes)):
            raise OptionError(f"cannot write {str(output)!r}: its name must end in {listed(suffixes)}")
        if not output.parent.is_dir():
            raise OptionError(f"cannot write {str(output)!r}: there is no folder {str(output.parent)!r}")
        yield output
        return
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder, f"picture{suffixes[0]}")
        yield draft
        sys.stdout.buffer.write(draft.read_bytes())


@contextmanager
def progress(title: str, *, shown: bool = True) -> Iterator[Callable[[float, str], None]]:
    """Give a function that shows how much of the work is done, 0 to 1, and on what; only on a terminal."""
    if not shown or not sys.stderr.isatty():
        yield lambda _done, _what: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda done, what: bar.update(task, completed=done, description=f"{title} {what}")


def print_json(data: Any) -> None:
    """Print data as JSON: spread out for a person, on one line for a program."""
    print(json.dumps(data, allow_nan=False, indent=2 if sys.stdout.isatty() else None))


def print_columns(rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text as columns; on a terminal the titles are dim and the first column bold."""
    rows = list(rows)
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for i, row in enumerate(rows):
        cells = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
        line, first = "  ".join(cells).rstrip(), len(cells[0])
        lines.append(click.style(line[:first], bold=True) + line[first:] if i else click.style(line, dim=True))
    click.echo("\n".join(lines), color=False if os.environ.get("TERM") == "dumb" else None)


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
