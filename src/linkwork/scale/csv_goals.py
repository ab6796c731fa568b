"""CSV files of goals: the header, the positions of blocks, and the rows of one block.

Values must not contain line breaks, so that blocks can begin at any line. A line that cannot be read (a cell that is
not a number, too few or too many cells, a blank line) gives one row without numbers, and a note with the reason.
"""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from .places import CHUNK, Place

LONGEST_LINE, LARGEST_BLOCK = 2**16, 2**26
FEW_BYTES = 2**12  # below this size, lines are read one by one to find a bad one
NEWLINE = ord("\n")


def read_header(line: str | bytes, source: str | Path) -> list[str]:
    """Return the names of the columns in the first line of a text."""
    if isinstance(line, bytes) and (line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in line):
        raise FormatError(source, "is not CSV but UTF-16 text, or no text at all; save it as UTF-8.", line=1)
    try:
        text = line if isinstance(line, str) else line.decode("utf-8-sig")
        if "\r" in text.rstrip("\r\n"):
            raise FormatError(source, "has lines that end in CR alone; save it with LF or CR LF.", line=1)
        cells = next(csv.reader([text], strict=True), [])
    except (csv.Error, UnicodeDecodeError) as error:
        raise FormatError(source, f"is not CSV: {error}.", line=1) from error
    names = [cell.strip() for cell in cells]
    if not any(names):
        raise FormatError(source, "is empty; its first line must name columns.", line=1)
    return names


def header_of(place: Place) -> list[str]:
    """Return the names of the columns, from the first line of a file."""
    with place.open() as file:
        return read_header(file.readline(LONGEST_LINE), str(place))


def read_rows(
    lines: Iterable[str], source: str | Path, header: Sequence[str], numbers: Collection[str], first: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a text by column: numbers in numeric columns, NaN for empty cells; text in others.

    Args:
        lines: The lines after the header; blank ones are ignored.
        source: Their source, for messages.
        header: The names of the columns.
        numbers: Names of the columns with numbers.
        first: The number of the first row, for messages.

    Raises:
        FormatError: If a cell is not a number, or a row has too few or too many cells.
    """
    for row, line in enumerate((line for line in lines if line.strip()), start=first):
        try:
            yield _cells(line, header, {*numbers})
        except ValueError as error:
            raise FormatError(source, f"row {row}{'' if str(error).startswith(' has') else ','} {error}.") from None


def _cells(line: str, header: Sequence[str], numbers: Collection[str]) -> dict[str, Any]:
    """Return the values of a line by column; raise ValueError with the fault, if any."""
    try:
        cells = next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        raise ValueError(f"is not CSV: {error}") from error
    if len(cells) != len(header):
        raise ValueError(f"has {len(cells)} values under {len(header)} columns")
    values: dict[str, Any] = dict(zip(header, cells, strict=True))
    for name in values.keys() & numbers:
        text = values[name].strip()
        try:
            if "_" in text:  # Python would accept 1_000
                raise ValueError
            values[name] = float(text or "nan")
        except ValueError:
            raise ValueError(f"column {name!r}: {text[:40]!r} is not a number") from None
    return values


def plan_lines(place: Place, most: int, room: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield blocks of lines: their number, the first byte, the byte after the last, and the number of the first line.

    Blank lines at the end of a file are ignored; those before are rows without numbers.

    Args:
        place: The file.
        most: Largest number of lines of a block.
        room: Largest number of lines of the first block.
    """
    with place.open() as file:
        begin = at = last = len(file.readline(LONGEST_LINE))  # `last` is the end of the last complete line
        end = _solid_end(file, begin)
        _check_lengths(place, np.array([0, begin]), 1)
        rows, line = 0, 2
        file.seek(begin)
        while at < end:
            data = file.read(min(CHUNK, end - at))
            if not data:
                raise FormatError(str(place), "has become shorter since the run began.")
            ends = at + 1 + np.flatnonzero(np.frombuffer(data, np.uint8) == NEWLINE)
            at += len(data)
            if at == end and (not len(ends) or ends[-1] < end):
                ends = np.append(ends, end)  # the last line of a file may lack a line break
            _check_lengths(place, np.concatenate(([last], ends, [at])), line + rows)
            last = int(ends[-1]) if len(ends) else last
            while True:
                cut = min(int(np.searchsorted(ends, begin + LARGEST_BLOCK, side="right")), room - rows - 1)
                if cut >= len(ends):
                    rows += len(ends)
                    break
                stop, rows = int(ends[cut]), rows + cut + 1
                yield rows, begin, stop, line
                begin, line, ends = stop, line + rows, ends[cut + 1 :]
                room, rows = room - rows or most, 0
    if rows:
        yield rows, begin, end, line


def _solid_end(file: IO[bytes], begin: int) -> int:
    """Return the end of the last line that is not blank."""
    at = file.seek(0, os.SEEK_END)
    while at > begin:
        step = min(CHUNK, at - begin)
        at -= step
        file.seek(at)
        if solid := len(file.read(step).rstrip()):
            file.seek(at + solid)
            return at + solid + len(file.readline(LONGEST_LINE))
    return begin


def _check_lengths(place: Place, ends: NDArray[np.int64], line: int) -> None:
    """Raise FormatError if a line is too long; `ends` are ends of lines [bytes], `line` the number of the second."""
    long = np.flatnonzero(np.diff(ends) >= LONGEST_LINE)
    if len(long):
        raise FormatError(str(place), f"has a line longer than {LONGEST_LINE} bytes.", line=line + int(long[0]))


def read_lines(
    data: bytes, rows: int, header: Sequence[str], numbers: Sequence[str], names: Sequence[str], line: int
) -> tuple[Any, list[str]]:
    """Return lines of a file as a pyarrow table, and notes on those that cannot be read.

    Args:
        data: The bytes of the lines.
        rows: Number of lines.
        header: The names of the file's columns.
        numbers: Columns with numbers; the others are text.
        names: All columns to read.
        line: The number of the first line, counted from one.
    """
    import pyarrow as pa

    types = {name: pa.float64() if name in numbers else pa.string() for name in names}
    notes: list[str] = []
    tables = list(_tables(data, rows, header, types, {*numbers}, line, notes))
    return pa.concat_tables(tables) if len(tables) != 1 else tables[0], notes


def _tables(
    data: bytes,
    rows: int,
    header: Sequence[str],
    types: dict[str, Any],
    numbers: Collection[str],
    line: int,
    notes: list[str],
) -> Iterator[Any]:
    """Yield lines as tables; lines that cannot be parsed together are halved until the bad ones are found."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    with suppress(pa.ArrowInvalid):
        table = arrow.read_csv(
            pa.py_buffer(data),
            read_options=arrow.ReadOptions(column_names=list(header), use_threads=False, block_size=len(data)),
            convert_options=arrow.ConvertOptions(column_types=types, include_columns=list(types)),
        )
        if table.num_rows == rows:  # Arrow skips empty lines
            yield table
            return
    middle = data.find(b"\n", len(data) // 2) + 1
    if len(data) <= FEW_BYTES or not 0 < middle < len(data):
        yield _one_by_one(data, header, types, numbers, line, notes)
        return
    before = data.count(b"\n", 0, middle)
    yield from _tables(data[:middle], before, header, types, numbers, line, notes)
    yield from _tables(data[middle:], rows - before, header, types, numbers, line + before, notes)


def _one_by_one(
    data: bytes, header: Sequence[str], types: dict[str, Any], numbers: Collection[str], first: int, notes: list[str]
) -> Any:
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines[:-1] if not lines[-1] else lines, start=first):
        try:
            if not line.strip():
                raise ValueError("is blank")
            rows.append(_cells(line.rstrip(b"\r").decode(), header, numbers))
        except ValueError as error:
            rows.append({})
            text = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
            notes.append(f"line {number}{'' if text.startswith(('has', 'is')) else ','} {text}")
    arrays = [pa.array([row.get(name) for row in rows], kind) for name, kind in types.items()]
    return pa.Table.from_arrays(arrays, names=list(types))
