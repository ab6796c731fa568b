"""CSV files of goals: their header, where their blocks begin, and the rows of one block.

A value has no line break inside, so that blocks may begin at any line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import FormatError

LONGEST_LINE, LARGEST_BLOCK = 2**16, 2**26
EMPTY = (b"\n", b"\r\n", b"\r")


def header_of(path: Path) -> list[str]:
    """Return the names of the columns, in the first line of a file."""
    with path.open("rb") as file:
        line = file.readline(LONGEST_LINE)
    try:
        cells = next(csv.reader([line.decode("utf-8-sig")], strict=True), [])
    except (csv.Error, UnicodeDecodeError) as error:
        raise FormatError(path, f"is no CSV file: {error}.", line=1) from error
    names = [cell.strip() for cell in cells]
    if not any(names):
        raise FormatError(path, "is empty; its first line must name columns.", line=1)
    return names


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
        raise FormatError(path, _found(data, header, numbers, first) or " ".join(str(error).split())) from error


def _found(data: bytes, header: Sequence[str], numbers: Sequence[str], first: int) -> str:
    """Return which cell is no number, or which row has too few or too many; an empty text if all seem well."""
    lines = (line for line in data.decode("utf-8", "replace").splitlines() if line)
    for row, cells in enumerate(csv.reader(lines), start=first):
        if len(cells) != len(header):
            return f"row {row} has {len(cells)} values under {len(header)} columns."
        for name, cell in zip(header, cells, strict=True):
            try:
                float(cell or "nan") if name in numbers else None
            except ValueError:
                return f"row {row}, column {name!r}: {cell[:40]!r} is no number."
    return ""
