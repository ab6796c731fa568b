"""The streams of a command: results go to stdout, messages and progress to stderr; files are checked beforehand."""

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

NOT_DONE, WRONG_USAGE, BAD_FILE = 1, 2, 3  # exit statuses; 1 also if a file or a motion has faults

FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]')  # in file names, at least on Windows


def say(message: object) -> None:
    """Print one line on stderr."""
    print(f"linkwork: {' '.join(str(message).split())}", file=sys.stderr)


def named_after(name: str, suffix: str) -> Path:
    """Return the default output file: the name of a linkage, made valid on every system.

    Example:
        >>> str(named_after("arm: left/right", ".png")), str(named_after("con", ".png"))
        ('arm_ left_right.png', 'con_.png')
    """
    from ..formats.atomic_files import DEVICES

    plain = FORBIDDEN.sub("_", name).strip(". ") or "linkage"
    return Path(f"{plain}_{suffix}" if DEVICES.fullmatch(plain) else f"{plain}{suffix}")


@contextmanager
def writing(output: Path, suffixes: Sequence[str]) -> Iterator[Path]:
    """Yield a path to write to, checked beforehand; ``-`` goes to stdout, in the first of the formats."""
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
    """Yield a function that shows the progress, 0 to 1, and the current item: as a bar, or as lines of a log."""
    if not shown:
        yield lambda _done, _what: None
        return
    with progress_lines.shown(title) as report:
        yield report


def print_json(data: Any) -> None:
    """Print data as JSON: indented on a terminal, otherwise on one line."""
    print(json.dumps(data, allow_nan=False, indent=2 if sys.stdout.isatty() else None))


def print_columns(rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text as columns that fit the terminal, with dim titles and a bold first column there."""
    terminal = sys.stdout.isatty()
    lines = []
    for first, rest, title in laid_out(list(rows), shutil.get_terminal_size().columns if terminal else None):
        lines.append(click.style(first + rest, dim=True) if title else click.style(first, bold=True) + rest)
    plain = not terminal or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    click.echo("\n".join(lines), color=False if plain else None)
