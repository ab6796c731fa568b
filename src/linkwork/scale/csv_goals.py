"""CSV files of goals: their header, where their blocks begin, and the rows of one block.

A value has no line break inside, so that blocks may begin at any line.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import FormatError

LONGEST_LINE, LARGEST_BLOCK = 2**16, 2**26
EMPTY = (b"\n", b"\r\n", b"\r")


def header_of(path: Path) -> list[str]:
    """Return the names of the columns, in the first line of a file."""
    with path.open("rb") as file:
        return read_header(file.readline(LONGEST_LINE), path)


def read_header(line: str | bytes, source: str | Path) -> list[str]:
    """Return the names of the columns in the first line of a text."""
    try:
        text = line if isinstance(line, str) else line.decode("utf-8-sig")
        cells = next(csv.reader([text], strict=True), [])
    except (csv.Error, UnicodeDecodeError) as error:
        raise FormatError(source, f"is not CSV: {error}.", line=1) from error
    names = [cell.strip() for cell in cells]
    if not any(names):
        raise FormatError(source, "is empty; its first line must name columns.", line=1)
    return names


def read_rows(
    lines: Iterable[str], source: str | Path, header: Sequence[str], numbers: Collection[str], first: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a text by column: numbers in the columns named so, NaN where one is empty, else text.

    Args:
        lines: The lines after the header; blank ones do not count.
        source: Where they are from.
        header: The names of the columns.
        numbers: Those that hold numbers.
        first: The number of the first row, for messages.

    Raises:
        FormatError: If a cell is not a number, or a row has too few or too many.
    """
    rows = csv.reader((line for line in lines if line.strip()), strict=True)
    try:
        for row, cells in enumerate(rows, start=first):
            if len(cells) != len(header):
                raise FormatError(source, f"row {row} has {len(cells)} values under {len(header)} columns.")
            values: dict[str, Any] = dict(zip(header, map(str.strip, cells), strict=True))
            for name in values.keys() & {*numbers}:
                try:
                    values[name] = float(values[name] or "nan")
                except ValueError:
                    text = f"row {row}, column {name!r}: {values[name][:40]!r} is not a number."
                    raise FormatError(source, text) from None
            yield values
    except csv.Error as error:
        raise FormatError(source, f"is not CSV: {error}.") from error


def plan_lines(path: Path, most: int, digest: Any) -> Iterator[tuple[int, int, int, int]]:
    """Yield blocks of lines: how many, the first byte and the one after the last; blank lines do not count."""
    rows, number = 0, 0
    with path.open("rb") as file:
        begin = at = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            digest.update(line)
            at += len(line)
            if len(line) == LONGEST_LINE:
                raise FormatError(path, f"has a line longer than {LONGEST_LINE} bytes.", line=number)
            if number == 1:
                begin = at
            elif line not in EMPTY:
                rows += 1
            if rows == most or (rows and at - begin > LARGEST_BLOCK):
                yield rows, begin, at, 0
                begin, rows = at, 0
    if rows:
        yield rows, begin, at, 0


def read_lines(path: str, begin: int, end: int, numbers: Sequence[str], names: Sequence[str], first: int) -> Any:
    """Return the rows between two bytes of a file as a pyarrow table; columns are numbers, or else text."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    header = header_of(Path(path))
    with Path(path).open("rb") as file:
        file.seek(begin)
        data = file.read(end - begin)
    if not data.strip():
        raise FormatError(path, "is shorter than it was.")
    types = {name: pa.float64() if name in numbers else pa.string() for name in names}
    try:
        return arrow.read_csv(
            pa.py_buffer(data),
            read_options=arrow.ReadOptions(column_names=header, use_threads=False, block_size=max(len(data), 1)),
            convert_options=arrow.ConvertOptions(column_types=types, include_columns=list(names)),
        )
    except pa.ArrowInvalid as error:
        for _ in read_rows(data.decode("utf-8", "replace").splitlines(), path, header, numbers, first):
            pass  # it says which cell or row is wrong
        raise FormatError(path, " ".join(str(error).split())) from error
