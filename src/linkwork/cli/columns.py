"""Tables of text: columns side by side, and split into blocks if a terminal is too narrow."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from unicodedata import combining, east_asian_width

GAP = 2  # spaces between columns
LEAST = 8  # least width of a cell, however narrow the terminal is


def laid_out(rows: Sequence[Sequence[str]], width: int | None = None) -> Iterator[tuple[str, str, bool]]:
    """Yield the lines of a table: the text of the first column, the rest, and whether it is a line of the titles.

    A table that is too wide is split: as many columns as fit, then the next ones below, each block with the first
    column. A cell that is too wide by itself is wrapped.

    Args:
        rows: Cells, the titles first; all rows have the same number.
        width: Width of the terminal; None without a terminal, so that nothing is split.

    Example:
        >>> rows = [("joint", "lower", "upper"), ("j1", "-3.1416", "3.1416")]
        >>> for first, rest, _ in laid_out(rows, width=15):
        ...     print(first + rest)
        joint  lower
        j1     -3.1416
        <BLANKLINE>
        joint  upper
        j1     3.1416
    """
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    if width is not None:
        widths[0] = min(widths[0], max(width - GAP - LEAST, LEAST))
        widths[1:] = [min(own, max(width - GAP - widths[0], LEAST)) for own in widths[1:]]
    for part in _parts(widths, width):
        if part[1:] and part[1] > 1:
            if not any(row[c] for row in rows[1:] for c in part[1:]):
                continue  # it would only have titles
            yield "", "", False
        for i, row in enumerate(rows):
            for line in zip_longest(*(_wrapped(row[c], widths[c]) for c in part), fillvalue=""):
                cells = [cell + " " * (widths[c] - width_of(cell)) for c, cell in zip(part, line, strict=True)]
                text, first = (" " * GAP).join(cells).rstrip(), len(cells[0])
                yield text[:first], text[first:], i == 0


def width_of(text: str) -> int:
    """Return the width of a text in columns of a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _parts(widths: Sequence[int], width: int | None) -> Iterator[list[int]]:
    """Yield the columns of each block: the first, with as many others as fit."""
    part, taken = [0], widths[0]
    for column, own in enumerate(widths[1:], start=1):
        if width is not None and len(part) > 1 and taken + GAP + own > width:
            yield part
            part, taken = [0], widths[0]
        part, taken = [*part, column], taken + GAP + own
    yield part


def _wrapped(cell: str, width: int) -> list[str]:
    """Return a cell wrapped to a width, as lines."""
    taken = width_of(cell)
    return [cell] if taken <= width else textwrap.wrap(cell, max(width * len(cell) // taken, 1))
