"""Read the rows of blocks of goals, some at a time, as targets, starts and columns to keep."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import FormatError
from ..kernels.tables import transforms_of_columns
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .csv_goals import read_lines
from .goal_blocks import BUFFER, Piece, RowBlock, parquet
from .goal_columns import START, BodyColumns, Columns
from .goal_files import Goals, partition_types

Targets = FloatArray | dict[str, FloatArray]  # for one frame, or for several by name
MANY_GROUPS, MOST_ROWS = 16, 2**20  # a piece with many row groups and few rows is read by whole row groups
NOTHING = "__HIVE_DEFAULT_PARTITION__"  # folder name of Hive and Spark for rows without a value
UNIT = 1e-3  # largest deviation of a quaternion's length from 1


@dataclass(frozen=True, eq=False)
class GoalRows:
    """Goals as arrays.

    Attributes:
        first: Number of the first row.
        targets: As `solve_batch` takes them: an array, or arrays by frame.
        starts: Shape (n, nq), or None.
        carried: pyarrow columns to copy to the answers, by name, including ids.
        notes: Notes on rows that cannot be read.
    """

    first: int
    targets: Targets
    starts: FloatArray | None
    carried: dict[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class MissingRows:
    """Items without an answer, with the reason: rows of a dataset, or a file of a folder of motions."""

    first: int
    count: int
    reason: str


@dataclass
class RowReader:
    """Reads blocks; in a row group that was cut, it continues where it stopped.

    Attributes:
        goals: The dataset.
        linkage: The linkage that the goals are for.
        base: Values of starts without a column, shape (nq,).
        chunk: Number of rows to read at a time.
    """

    goals: Goals
    linkage: Linkage
    base: FloatArray
    chunk: int
    _open: tuple[Any, ...] = field(default=(), repr=False)
    _kept: dict[str, FloatArray] = field(default_factory=dict, repr=False)

    def read(self, block: RowBlock) -> Iterator[GoalRows | MissingRows]:
        """Yield the rows of a block in chunks, and `MissingRows` for corrupt pieces.

        Targets are valid until the next rows are requested.
        """
        import pyarrow as pa

        waiting = _Waiting(block.first)
        pieces = deque(block.pieces)
        while pieces:
            piece, done = pieces.popleft(), 0
            why: object = f"there are not {piece.rows} rows"
            try:
                for found, notes in self._lines(piece) if piece.place.suffix == ".csv" else self._groups(piece):
                    table = _completed(piece, found)
                    if not waiting.fits(table):
                        yield self._rows(*waiting.take())
                    waiting.put(table, notes)
                    done += table.num_rows
                    while waiting.rows >= self.chunk:
                        yield self._rows(*waiting.take(self.chunk))
            except (pa.ArrowException, OSError, FormatError) as error:
                why = error
            if done < piece.rows:
                self._open = ()
                if parts := _by_group(piece, done):  # a corrupt row group must not spoil the others
                    pieces.extendleft(reversed(parts))
                    continue
                if waiting.rows:
                    yield self._rows(*waiting.take())
                waiting.first = piece.first + piece.rows
                yield MissingRows(piece.first + done, piece.rows - done, str(piece.unreadable(why, done)))
        if waiting.rows:
            yield self._rows(*waiting.take())

    def _lines(self, piece: Piece) -> Iterator[tuple[Any, Sequence[str]]]:
        with piece.place.open() as file:
            file.seek(piece.begin)
            data = file.read(piece.end - piece.begin)
        if len(data) < piece.end - piece.begin:
            raise FormatError(str(piece.place), "has become shorter since the run began.")
        numbers = [name for name in self.goals.columns.numbers if name not in piece.partition]
        table, notes = read_lines(data, piece.rows, list(piece.types), numbers, self._wanted(piece), piece.skip)
        yield table, [f"{piece.place}: {note}" for note in notes]

    def _groups(self, piece: Piece) -> Iterator[tuple[Any, Sequence[str]]]:
        """Yield the rows of row groups; continue the reader of the piece before if that had the same groups."""
        import pyarrow as pa

        key = piece.place, 0 if _has_small_groups(piece) else BUFFER, piece.begin, piece.end
        if not self._open or self._open[0] != key or self._open[1] > piece.skip:
            file = self._open[4] if self._open and self._open[0][:2] == key[:2] else None
            file = file or parquet(*key[:2], self.goals.footers.of(piece.place))
            batches = file.iter_batches(
                self.chunk,
                row_groups=list(range(piece.begin, piece.end)),
                columns=self._wanted(piece),
                use_threads=False,
            )
            self._open = key, 0, None, batches, file
        _, at, rest, batches, file = self._open
        left = piece.rows
        while left:
            table = rest if rest is not None else next(batches, None)
            if table is None:
                break
            before = min(max(piece.skip - at, 0), table.num_rows)
            part = table.slice(before, left)
            at += before + part.num_rows
            rest = table.slice(before + part.num_rows)
            rest = rest if rest.num_rows else None
            left -= part.num_rows
            self._open = key, at, rest, batches, file
            if part.num_rows:
                yield pa.Table.from_batches([part]), ()

    def _wanted(self, piece: Piece) -> list[str]:
        """Return the columns to read from the file itself, without those given by its folders."""
        names = (*self.goals.columns.numbers, *self.goals.carried)
        return [name for name in names if name not in piece.partition]

    def _rows(self, table: Any, first: int, notes: Sequence[str]) -> GoalRows:
        count, columns = table.num_rows, self.goals.columns

        def numbers(names: Sequence[str]) -> FloatArray:
            found = self._memory(f"columns of {len(names)}", len(names), count)
            for row, name in zip(found, names, strict=True):
                row[:] = table.column(name).to_numpy()
            return found

        starts = None
        if columns.starts:
            which = [self.linkage.coordinates.index(name) for name in columns.starts]
            asked = numbers([START + name for name in columns.starts]).T
            starts = np.tile(self.base, (count, 1))
            starts[:, which] = np.where(np.isfinite(asked), asked, self.base[which])
        carried = {called: table.column(name) for name, called in self.goals.carried.items()}

        def targets(one: Columns) -> FloatArray:
            return self._targets(one.frame, numbers((*one.place, *one.turn)), len(one.place))

        if isinstance(columns, BodyColumns):
            every = {one.frame: targets(one) for one in columns.frames}
            return GoalRows(first, every, starts, carried, tuple(notes))
        return GoalRows(first, targets(columns), starts, carried, tuple(notes))

    def _targets(self, frame: str, columns: FloatArray, place: int) -> FloatArray:
        """Return positions (n, 2 or 3), rotations (n, 3, 3) or both as transforms (n, 4, 4), of columns (k, n).

        A quaternion far from unit length makes its row invalid.
        """
        if len(columns) == place:
            return columns.T.copy()
        width = 4 if place else 3
        targets = self._memory(f"targets of {frame}", columns.shape[1], width, width)
        transforms_of_columns(columns, place, UNIT, targets)
        return targets

    def _memory(self, name: str, *shape: int) -> FloatArray:
        """Return a buffer that is reused for the next rows: allocating it anew would double the time."""
        size = math.prod(shape)
        if name not in self._kept or self._kept[name].size < size:
            self._kept[name] = np.empty(size)
        return self._kept[name][:size].reshape(shape)


class _Waiting:
    """Tables with equal columns that are combined, so that small pieces cost no more than large ones."""

    def __init__(self, first: int) -> None:
        self.first, self.rows = first, 0
        self.tables: list[Any] = []
        self.notes: list[str] = []

    def fits(self, table: Any) -> bool:
        return not self.tables or bool(self.tables[0].schema.equals(table.schema))

    def put(self, table: Any, notes: Sequence[str]) -> None:
        self.tables.append(table)
        self.notes += notes
        self.rows += table.num_rows

    def take(self, most: int | None = None) -> tuple[Any, int, list[str]]:
        """Return the first rows as one table, the number of its first row, and notes."""
        import pyarrow as pa

        whole = self.tables[0] if len(self.tables) == 1 else pa.concat_tables(self.tables)
        taken, rest = whole.slice(0, most), whole.slice(len(whole) if most is None else most)
        given = taken, self.first, self.notes
        self.first, self.rows = self.first + len(taken), len(rest)
        self.tables, self.notes = [rest] if len(rest) else [], []
        return given


def _has_small_groups(piece: Piece) -> bool:
    """Return whether a piece has many small row groups, so that each fits into memory as a whole."""
    return piece.end - piece.begin >= MANY_GROUPS and piece.rows <= MOST_ROWS


def _by_group(piece: Piece, done: int) -> list[Piece]:
    """Return the remaining rows of a piece as one piece per row group; none for a single group or a CSV file."""
    if piece.place.suffix == ".csv" or piece.end - piece.begin < 2:
        return []
    try:
        with parquet(piece.place) as file:
            sizes = [file.metadata.row_group(k).num_rows for k in range(piece.begin, piece.end)]
    except (FormatError, IndexError):  # the file was replaced meanwhile
        return []
    parts, at = [], -piece.skip  # `at` is the number of rows of the piece before a row group
    for group, size in enumerate(sizes, piece.begin):
        begin, end = max(at, done), min(at + size, piece.rows)
        if begin < end:
            own: dict[str, Any] = {"begin": group, "end": group + 1, "skip": begin - at}
            parts.append(replace(piece, first=piece.first + begin, rows=end - begin, **own))
        at += size
    return parts if at >= piece.rows else []


def _completed(piece: Piece, table: Any) -> Any:
    """Return a table with the columns given by its folders, and without the metadata of its schema."""
    import pyarrow as pa

    for name, kind in partition_types(piece.partition).items():
        text = piece.partition[name]
        known = None if text == NOTHING else float(text) if pa.types.is_floating(kind) else text
        value = pa.scalar(known, kind)
        table = table.append_column(name, pa.repeat(value, table.num_rows))
    return table.replace_schema_metadata(None)
