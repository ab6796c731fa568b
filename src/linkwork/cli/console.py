"""The streams of a command: results go to stdout, talk and progress to stderr, files are checked before work begins."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ..errors import OptionError, listed
from ..solvers import progress_lines
from .columns import laid_out

NOT_DONE, WRONG_USAGE, BAD_FILE = 1, 2, 3  # exit statuses; 1 also where a file or a motion has faults

FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]')  # in names of files, on Windows at least


def say(message: object) -> None:
    """Print one line on stderr."""
    print(f"linkwork: {' '.join(str(message).split())}", file=sys.stderr)


def named_after(name: str, suffix: str) -> Path:
    """Return the file that is written where none is given: called as a linkage, as far as every system takes that.

    Example:
        >>> str(named_after("arm: left/right", ".png")), str(named_after("con", ".png"))
        ('arm_ left_right.png', 'con_.png')
    """
    from ..formats.atomic_files import DEVICES

    plain = FORBIDDEN.sub("_", name).strip(". ") or "linkage"
    return Path(f"{plain}_{suffix}" if DEVICES.fullmatch(plain) else f"{plain}{suffix}")


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
    """Give a function that shows how much of the work is done, 0 to 1, and on what: by a bar, or by lines of a log."""
    if not shown:
        yield lambda _done, _what: None
        return
    with progress_lines.shown(title) as report:
        yield report


def print_json(data: Any) -> None:
    """Print data as JSON: spread out for a person, on one line for a program."""
    print(json.dumps(data, allow_nan=False, indent=2 if sys.stdout.isatty() else None))


def print_columns(rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text as columns that fit a terminal; titles are dim there and the first column bold."""
    terminal = sys.stdout.isatty()
    lines = []
    for first, rest, title in laid_out(list(rows), shutil.get_terminal_size().columns if terminal else None):
        lines.append(click.style(first + rest, dim=True) if title else click.style(first, bold=True) + rest)
    plain = not terminal or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    click.echo("\n".join(lines), color=False if plain else None)
