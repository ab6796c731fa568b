"""The streams of a command: results go to stdout, talk and progress to stderr, files are checked before work begins."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import OptionError, listed

if TYPE_CHECKING:
    from rich.console import Console


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
def progress(title: str) -> Iterator[Callable[[float, str], None]]:
    """Give a function that shows how much of the work is done, 0 to 1, and on what; only on a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda done, what: bar.update(task, completed=done, description=f"{title} {what}")


def print_json(data: Any) -> None:
    """Print data as JSON: spread out for a person, on one line for a program."""
    print(json.dumps(data, allow_nan=False, indent=2 if sys.stdout.isatty() else None))


def console() -> Console:
    """Return the writer of text on stdout, which knows about terminals and colours."""
    from rich.console import Console

    def leave() -> None:
        raise BrokenPipeError

    result = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)
    result.on_broken_pipe = leave  # type: ignore[method-assign]  # by default rich exits with 1
    return result


def print_columns(rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text as columns; on a terminal the titles are dim and the first column bold."""
    from rich.cells import cell_len
    from rich.text import Text

    rows = list(rows)
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for i, row in enumerate(rows):
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        line = Text("  ".join(cells).rstrip(), "" if i else "dim")
        line.stylize("bold" if i else "", 0, len(cells[0]))
        lines.append(line)
    console().print(Text("\n").join(lines))
