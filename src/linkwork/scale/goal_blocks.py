"""Blocks of goals, cut and combined from row groups of Parquet files and lines of CSV files.

A block is solved and written as one; each of its pieces is rows of one file. Adding a file at the end changes only the
last block, if it was not full. Digests detect whether the input of a block has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ..errors import BlockError, FormatError, listed
from .csv_goals import header_of, plan_lines
from .places import CHUNK, Here, Place

BUFFER = 2**16  # bytes of a column that are read at a time
FOOTERS = 2**23  # bytes of cached footers, which need ten times as much memory


@dataclass(frozen=True)
class Piece:
    """Rows of one file that belong to one block.

    Attributes:
        place: The file.
        types: Types of all its columns, by name; in a CSV file, all are texts.
        first: Number of its first row, counted through all files.
        rows: How many rows.
        begin: The first row group, or the first byte in a CSV file.
        end: The row group, or byte, after the last.
        skip: Rows of the first row group that belong to earlier pieces; in a CSV file, the number of the first line.
        span: The first byte of its data, and the byte after the last.
        partition: Columns defined by the names of its folders, such as ``robot=panda``.
    """

    place: Place
    types: Mapping[str, Any]
    first: int
    rows: int
    begin: int
    end: int
    skip: int
    span: tuple[int, int]
    partition: Mapping[str, str] = field(default_factory=dict)

    def unreadable(self, why: object, done: int = 0) -> BlockError:
        """Return an error that names the rows that cannot be read, after those that were read."""
        rows = f"rows {self.first + done} to {self.first + self.rows - 1}"
        return BlockError(str(self.place), f"{rows} cannot be read: {' '.join(str(why).split()).rstrip('.')}.")


@dataclass(frozen=True)
class RowBlock:
    """Rows that are solved and written together.

    Attributes:
        number: Its number among all blocks.
        first: Number of its first row, counted through all files.
        rows: How many rows.
        pieces: Its pieces, in order.
    """

    number: int
    first: int
    rows: int
    pieces: tuple[Piece, ...] = ()

    def unreadable(self, why: object) -> BlockError:
        """Return an error that names the rows that cannot be read."""
        return replace(self.pieces[0], first=self.first, rows=self.rows).unreadable(why)


@dataclass(frozen=True)
class GoalFile:
    """A file of goals: its columns and row groups.

    Attributes:
        place: Its location.
        types: The types of its columns, by name.
        groups: The row groups, from pyarrow; a CSV file has none.
        schema: The schema, from pyarrow; a CSV file has none.
        footer: The content of the footer; a CSV file has none.
    """

    place: Place
    types: Mapping[str, Any]
    groups: Sequence[Any] = ()
    schema: Any = None
    footer: Any = None

    def pieces(self, first: int, most: int, partition: Mapping[str, str], *, aligned: bool) -> Iterator[Piece]:
        """Yield pieces of at most the size of a block.

        Args:
            first: Number of the file's first row.
            most: Rows of a block.
            partition: Columns defined by its folders.
            aligned: Whether to cut at multiples of a block's rows instead of between row groups.
        """
        room = most - first % most if aligned else most
        if self.place.suffix == ".csv":
            for rows, begin, end, line in plan_lines(self.place, most, room):
                yield Piece(self.place, self.types, first, rows, begin, end, line, (begin, end), partition)
                first += rows
            return
        counts = [group.num_rows for group in self.groups]
        if len(counts) == 1 and 0 < counts[0] <= most and not aligned:  # the usual case for small files
            yield Piece(self.place, self.types, first, counts[0], 0, 1, 0, _extent(self.groups[0]), partition)
            return
        total, bounds = sum(counts), np.cumsum([0, *counts])
        cuts = [0, *range(room, total, most), total] if aligned and total else _cuts(counts, most)
        begins = np.searchsorted(bounds, cuts[:-1], side="right") - 1
        ends = np.searchsorted(bounds, cuts[1:], side="left")
        for (start, stop), begin, end in zip(pairwise(cuts), begins.tolist(), ends.tolist(), strict=True):
            span = _span(self.groups[begin:end])
            rows, skip = stop - start, start - int(bounds[begin])
            yield Piece(self.place, self.types, first + start, rows, begin, end, skip, span, partition)


def look_at(place: Place, before: GoalFile | None = None) -> GoalFile:
    """Open a file once, to read its columns and the locations of its rows.

    Args:
        place: The file.
        before: The file before it, whose types are shared if the columns are the same.

    Raises:
        FormatError: If it cannot be read, or names a column twice.
    """
    import pyarrow as pa

    if place.suffix == ".csv":
        names = header_of(place)
        found = GoalFile(place, dict.fromkeys(names, pa.string()))
    else:
        with parquet(place) as file:
            schema, every = file.schema_arrow, file.metadata
            names, groups = schema.names, [every.row_group(k) for k in range(every.num_row_groups)]
        if before is not None and before.schema is not None and before.schema.equals(schema):
            return GoalFile(place, before.types, groups, before.schema, every)
        found = GoalFile(place, {one.name: one.type for one in schema}, groups, schema, every)
    if len({*names}) < len(names):
        raise FormatError(str(place), f"names a column twice: {listed(names)}.")
    return found


def parquet(place: Place, buffer: int = BUFFER, footer: Any = None) -> Any:
    """Open a Parquet file; checksums of pages are checked when they are read.

    Args:
        place: The file.
        buffer: Number of bytes of a column to read at a time; 0 reads whole row groups, which is faster if they are
            small.
        footer: The content of its footer, if that was read before.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        source = pa.OSFile(place.whole, "rb") if isinstance(place, Here) else place.open()
        return pq.ParquetFile(
            source, metadata=footer, pre_buffer=False, buffer_size=buffer, page_checksum_verification=True
        )
    except (OSError, pa.ArrowException) as error:
        raise FormatError(str(place), f"is not a Parquet file: {' '.join(str(error).split())}.") from error


def put_together(pieces: Iterable[Piece], most: int) -> Iterator[RowBlock]:
    """Combine pieces into blocks, up to the largest number of rows."""
    waiting: list[Piece] = []
    number = rows = 0
    for piece in pieces:
        if rows + piece.rows > most:
            yield RowBlock(number, waiting[0].first, rows, tuple(waiting))
            number, rows, waiting = number + 1, 0, []
        waiting.append(piece)
        rows += piece.rows
    if waiting:
        yield RowBlock(number, waiting[0].first, rows, tuple(waiting))


def _cuts(groups: Sequence[int], most: int) -> list[int]:
    """Return the rows at which a file is cut: small row groups go together, large ones are cut evenly.

    Example:
        >>> _cuts([10, 10, 10, 50], 20)
        [0, 20, 30, 46, 63, 80]
    """
    cuts = [0]
    for at, count in zip(accumulate(groups, initial=0), groups, strict=False):
        if at > cuts[-1] and at + count - cuts[-1] > most:
            cuts.append(at)
        if count > most:
            pieces = -(-count // most)
            cuts += [at + count * piece // pieces for piece in range(1, pieces + 1)]
    total = sum(groups)
    return [*cuts, total] if total > cuts[-1] else cuts


def _extent(group: Any) -> tuple[int, int]:
    """Return the first byte of a row group and the end of its last."""
    columns = [group.column(k) for k in range(group.num_columns)]
    begins = [_begin(column) for column in columns]
    ends = (begin + column.total_compressed_size for begin, column in zip(begins, columns, strict=True))
    return min(begins, default=0), max(ends, default=0)


def _begin(column: Any) -> int:
    return int(column.dictionary_page_offset or column.data_page_offset)


def _span(groups: Sequence[Any]) -> tuple[int, int]:
    """Return the first byte of row groups and the end of their last; the groups may be stored in any order."""
    begins = [_begin(group.column(0)) for group in groups]
    ordered = all(one < two for one, two in pairwise(begins))
    extents = [_extent(group) for group in ((groups[0], groups[-1]) if ordered else groups)]
    return min(begin for begin, _ in extents), max(end for _, end in extents)


class Footers:
    """A bounded cache of the footers of Parquet files; small files consist mostly of their footer.

    Example:
        >>> Footers().of(Here("goals.parquet"))
    """

    def __init__(self) -> None:
        self.kept: dict[Place, Any] = {}
        self.room = FOOTERS

    def __reduce__(self) -> tuple[Any, ...]:
        return Footers, ()

    def keep(self, place: Place, footer: Any) -> None:
        """Keep the footer of a file, if it has one and there is room."""
        if footer is not None and footer.serialized_size <= self.room:
            self.room -= footer.serialized_size
            self.kept[place] = footer

    def of(self, place: Place) -> Any:
        """Return the footer of a file, or None."""
        return self.kept.get(place)


class Digests:
    """Digests of the input of blocks: of every byte of their row groups or lines, each read once.

    Example:
        >>> Digests().kept
        {}
    """

    def __init__(self) -> None:
        self.kept: dict[tuple[Place, tuple[int, int]], str] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Digests, ()

    def of(self, block: RowBlock) -> str:
        """Return the digest of a block's input, or an empty text if a part of it cannot be read."""
        digest = hashlib.sha256()
        for piece in block.pieces:
            key = piece.place, piece.span
            if key not in self.kept:
                try:
                    self.kept[key] = _digest(piece)
                except (OSError, FormatError):  # reported when the block is solved
                    return ""
            shape = piece.skip, piece.rows, sorted(piece.partition.items()), piece.place.suffix
            digest.update(f"{self.kept[key]} {shape}".encode())
        return digest.hexdigest()


def _digest(piece: Piece) -> str:
    digest = hashlib.sha256(repr([(name, str(kind)) for name, kind in piece.types.items()]).encode())
    begin, end = piece.span
    left = end - begin
    with piece.place.open() as raw:
        raw.seek(begin)
        while left and (data := raw.read(min(left, CHUNK))):
            digest.update(data)
            left -= len(data)
    digest.update(f";{left};".encode())
    return digest.hexdigest()
