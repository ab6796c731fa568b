"""Datasets of goals: Parquet or CSV files, planned as blocks of rows and read a few rows at a time.

What the columns mean is told once, from their names; no file is ever in memory as a whole.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockError, FormatError, MissingExtraError, listed
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, quaternion_matrix
from .csv_goals import header_of, plan_lines, read_lines
from .goal_columns import ID, NUMBERS, START, Columns, read_columns

SUFFIXES = (".parquet", ".csv")
UNIT = 1e-3  # how far a quaternion's length may be from one
SAMPLE = 4096  # bytes of every row group that tell one file from another
BUFFER = 2**20


@dataclass(frozen=True)
class RowBlock:
    """Rows of one file that are read, solved and written together.

    Attributes:
        number: Its place among all blocks.
        path: The file.
        first: Number of its first row, counted through all files.
        rows: How many rows.
        begin: The first row group, or byte of a CSV file.
        end: The one after the last.
        skip: Rows of the first row group that belong to blocks before.
    """

    number: int
    path: str
    first: int
    rows: int
    begin: int
    end: int
    skip: int = 0

    def unreadable(self, why: object) -> BlockError:
        """Return an error that says which rows cannot be read."""
        rows = f"rows {self.first} to {self.first + self.rows - 1}"
        return BlockError(self.path, f"{rows} cannot be read: {' '.join(str(why).split()).rstrip('.')}.")


@dataclass(frozen=True, eq=False)
class GoalRows:
    """Goals as arrays: targets as `solve_batch` takes them, starts (n, nq) or None, and ids, pyarrow's or None."""

    first: int
    targets: FloatArray
    starts: FloatArray | None
    ids: Any


@dataclass(frozen=True)
class Goals:
    """A dataset of goals that was looked at, not yet read.

    Attributes:
        columns: What its columns ask for.
        blocks: How it will be read.
        digest: Tells this input from another.
        id_type: Name of the type of the ids, ``"int64"`` where the number of the row serves.
    """

    columns: Columns
    blocks: tuple[RowBlock, ...]
    digest: str
    id_type: str

    @property
    def rows(self) -> int:
        """How many goals there are."""
        return sum(block.rows for block in self.blocks)


# Planning


def open_goals(
    source: str | os.PathLike[str],
    linkage: Linkage,
    *,
    block_rows: int,
    ignore: Sequence[str] = (),
    position: bool = True,
    orientation: bool = True,
) -> Goals:
    """Look at a dataset of goals: its columns and how it falls into blocks.

    Args:
        source: A file, or a folder of files with the same columns, taken in the order of their names.
        linkage: The linkage that the goals are for.
        block_rows: Rows of a block at most.
        ignore: Columns to leave out.
        position: Whether positions are to be read.
        orientation: Whether orientations are.

    Raises:
        FormatError: If there is no such dataset, or a column is missing, unknown or of another kind.
    """
    require("pyarrow", "datasets of goals")
    files = _files(source)
    digest = hashlib.sha256()
    blocks: list[RowBlock] = []
    first, kinds = 0, set()
    for path in files:
        parquet = path.suffix.lower() == ".parquet"
        names, id_type = _parquet_columns(path) if parquet else (header_of(path), "string")
        left = [name for name in names if name not in ignore]
        asked = read_columns(path, left, linkage, position=position, orientation=orientation)
        kinds.add((asked, id_type if ID in names else "int64"))
        if len(kinds) > 1:
            raise FormatError(path, f"has other columns than {files[0].name}: {listed(list(names))}.")
        pieces = _plan_groups(path, block_rows, digest) if parquet else plan_lines(path, block_rows, digest)
        for rows, begin, end, skip in pieces:
            blocks.append(RowBlock(len(blocks), str(path), first, rows, begin, end, skip))
            first += rows
    ((columns, id_type),) = kinds
    return Goals(columns, tuple(blocks), digest.hexdigest(), id_type)


def _files(source: str | os.PathLike[str]) -> list[Path]:
    path = Path(source)
    if path.is_dir():
        found = sorted(one for one in path.iterdir() if one.suffix.lower() in SUFFIXES and one.is_file())
        if not found:
            raise FormatError(path, f"holds no files of goals; their names end in {listed(SUFFIXES)}.")
        return found
    if path.suffix.lower() not in SUFFIXES:
        raise FormatError(path, f"is not a dataset of goals: its name must end in {listed(SUFFIXES)}.")
    if not path.is_file():
        raise FormatError(path, "cannot be read: no such file or directory.")
    return [path]


def _parquet_columns(path: Path) -> tuple[list[str], str]:
    """Return the names of a file's columns and the type of its ids; all others must hold numbers if they are read."""
    import pyarrow as pa

    with _parquet(path) as file:
        schema = file.schema_arrow
        kinds = pa.types
        for field in schema:
            kind = field.type
            if field.name == ID:
                if not (kinds.is_integer(kind) or kinds.is_string(kind) or kinds.is_large_string(kind)):
                    raise FormatError(path, f"column 'id' holds {kind}; ids are whole numbers or texts.")
            elif (field.name in NUMBERS or field.name.startswith(START)) and not (
                kinds.is_integer(kind) or kinds.is_floating(kind)
            ):
                raise FormatError(path, f"column {field.name!r} holds {kind}; it must hold numbers.")
        return list(schema.names), str(schema.field(ID).type) if ID in schema.names else "int64"


def _parquet(path: str | Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER, page_checksum_verification=True)
    except (OSError, pa.ArrowException) as error:
        raise FormatError(path, f"is not a Parquet file: {' '.join(str(error).split())}.") from error


def _plan_groups(path: Path, most: int, digest: Any) -> Iterator[tuple[int, int, int, int]]:
    """Yield blocks of a Parquet file: small row groups go together, large ones are cut."""
    with _parquet(path) as file, path.open("rb") as raw:
        metadata = file.metadata
        groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
        size = os.fstat(raw.fileno()).st_size
        raw.seek(max(0, size - 8 - metadata.serialized_size))
        digest.update(f"{size};".encode() + raw.read())
        for group in groups:
            raw.seek(group.column(0).dictionary_page_offset or group.column(0).data_page_offset)
            digest.update(raw.read(SAMPLE))
    begin, rows = 0, 0
    for k, group in enumerate(groups):
        count = group.num_rows
        if rows and rows + count > most:
            yield rows, begin, k, 0
            begin, rows = k, 0
        if count > most:
            pieces = -(-count // most)
            cuts = [count * piece // pieces for piece in range(pieces + 1)]
            yield from ((stop - skip, k, k + 1, skip) for skip, stop in pairwise(cuts))
            begin = k + 1
        else:
            rows += count
    if rows:
        yield rows, begin, len(groups), 0


# Reading


def read_block(columns: Columns, block: RowBlock, linkage: Linkage, base: FloatArray, chunk: int) -> Iterator[GoalRows]:
    """Yield the rows of a block, at most `chunk` at a time.

    Args:
        columns: What the columns ask for.
        block: The block.
        linkage: The linkage.
        base: Values that a start has where no column gives them, shape (nq,).
        chunk: Rows at a time.

    Raises:
        BlockError: If the block is corrupt.
    """
    import pyarrow as pa

    done = 0
    try:
        if block.path.lower().endswith(".parquet"):
            tables = _row_groups(columns, block, chunk)
        else:
            lines = read_lines(block.path, block.begin, block.end, columns.numbers, columns.names, block.first)
            tables = iter([lines])
        for table in tables:
            for at in range(0, table.num_rows, chunk):
                part = table.slice(at, chunk)
                yield _as_rows(columns, part, linkage, base, block.first + done)
                done += part.num_rows
    except (pa.ArrowException, OSError, FormatError) as error:
        raise error if isinstance(error, BlockError) else block.unreadable(error) from error
    if done != block.rows:
        raise block.unreadable(f"there are {done} rows, not {block.rows}")


def _row_groups(columns: Columns, block: RowBlock, chunk: int) -> Iterator[Any]:
    with _parquet(block.path) as file:
        skip, left = block.skip, block.rows
        groups = list(range(block.begin, block.end))
        for table in file.iter_batches(chunk, row_groups=groups, columns=list(columns.names), use_threads=False):
            part = table.slice(min(skip, table.num_rows))
            skip -= table.num_rows - part.num_rows
            part = part.slice(0, left)
            left -= part.num_rows
            yield part
            if not left:
                return


def _as_rows(columns: Columns, table: Any, linkage: Linkage, base: FloatArray, first: int) -> GoalRows:
    def numbers(names: Sequence[str]) -> FloatArray:
        arrays = [np.asarray(table.column(name).to_numpy(zero_copy_only=False), np.float64) for name in names]
        return np.stack(arrays, axis=1) if arrays else np.empty((table.num_rows, 0))

    starts = None
    if columns.starts:
        which = [linkage.coordinates.index(name) for name in columns.starts]
        given = numbers([START + name for name in columns.starts])
        starts = np.tile(base, (table.num_rows, 1))
        starts[:, which] = np.where(np.isfinite(given), given, base[which])
    ids = table.column(ID) if columns.identified else None
    return GoalRows(first, _targets(numbers(columns.place), numbers(columns.turn)), starts, ids)


def _targets(place: FloatArray, turn: FloatArray) -> FloatArray:
    """Return positions (n, 2 or 3), rotations (n, 3, 3) or both as transforms (n, 4, 4)."""
    if not turn.shape[1]:
        return place
    if turn.shape[1] == 9:
        rotations = turn.reshape(-1, 3, 3)
    else:  # a quaternion far from unit length makes its row invalid
        far = ~(np.abs(np.linalg.norm(turn, axis=1, keepdims=True) - 1.0) <= UNIT)
        rotations = quaternion_matrix(np.where(far, np.nan, turn))
    if not place.shape[1]:
        return rotations
    targets: NDArray[np.float64] = np.zeros((len(turn), 4, 4))
    targets[:, :3, :3] = rotations
    targets[:, : place.shape[1], 3] = place
    targets[:, 3, 3] = 1.0
    return targets


def require(package: str, purpose: str) -> None:
    """Raise the error of a missing extra unless a package is there."""
    from importlib.util import find_spec

    extras = {"pyarrow": "formats", "ray": "ray"}
    if find_spec(package) is None:
        raise MissingExtraError(package, extras[package], purpose)
