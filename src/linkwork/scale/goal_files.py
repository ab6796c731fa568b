"""Datasets of goals: Parquet or CSV files, in folders and object stores, divided into blocks of rows.

Column names determine what columns mean. No file is ever loaded as a whole. `goal_rows` reads the blocks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from ..errors import FormatError, OptionError, listed, require
from ..linkage.linkage import Linkage
from ..solvers.answer_tables import ID
from .goal_blocks import Footers, GoalFile, Piece, RowBlock, look_at, put_together
from .goal_columns import NUMBERS, START, BodyColumns, Columns, read_body_columns, read_columns
from .places import Place, matching, place_of, visible

SUFFIXES = (".parquet", ".csv")
MOST_UNREAD = 1000  # largest number of other files that are listed


@dataclass(frozen=True)
class Goals:
    """A dataset of goals whose columns and blocks are known; its rows are not read yet.

    Attributes:
        columns: The meaning of its columns.
        blocks: Its blocks.
        files: The names of its files and their numbers of rows, in order.
        types: Types of the copied columns, by their names in the answers; including ids if there are any.
        carried: Names of these columns in the answers, by their names in the goals.
        unread: Files that contain no goals, and dead links.
        footers: Footers of its files; workers on other machines read their own.
    """

    columns: Columns | BodyColumns
    blocks: tuple[RowBlock, ...]
    files: Mapping[str, int]
    types: Mapping[str, Any]
    carried: Mapping[str, str]
    unread: tuple[str, ...] = ()
    footers: Footers = field(default_factory=Footers)

    @property
    def rows(self) -> int:
        """Number of goals."""
        return sum(block.rows for block in self.blocks)


def open_goals(
    source: str | os.PathLike[str],
    linkage: Linkage,
    *,
    block_rows: int,
    ignore: Sequence[str] = (),
    keep: Sequence[str] | Mapping[str, str] = (),
    position: bool = True,
    orientation: bool = True,
    frames: Sequence[str] = (),
    known: Sequence[str] = (),
    aligned: bool = False,
) -> Goals:
    """Examine a dataset of goals: its columns and its blocks.

    Args:
        source: A file; a folder of files with the same columns, in whatever folders, taken in the order of their names;
            a pattern such as ``"day-*/goals.parquet"``; each of them here or at a URL.
        linkage: The linkage that the goals are for.
        block_rows: Rows of a block at most.
        ignore: Columns to leave out.
        keep: Columns of any type to copy to the answers; a mapping gives their names there.
        position: Whether to read positions.
        orientation: Whether to read orientations.
        frames: The frames, for several goals per row; columns begin with their names.
        known: Names of files to take first: those of a resumed run, so that rows keep their numbers.
        aligned: Whether every block except the last has exactly this number of rows, even if row groups must be cut.

    Raises:
        FormatError: If there is no such dataset, or a column is missing, unknown or of another kind.
    """
    require("pyarrow", "datasets of goals")
    folder, found, unread = _files(source)
    names = _known_first(found, known)
    pieces, files = list[Piece](), dict[str, int]()
    kinds: dict[tuple[Columns | BodyColumns, tuple[tuple[str, str], ...]], dict[str, Any]] = {}
    parts = {"position": position, "orientation": orientation}
    file: GoalFile | None = None
    first, footers, before = 0, Footers(), tuple[Any, ...]((None, None))
    for name in names:
        file = look_at(folder.below(name) if name else folder, file)
        footers.keep(file.place, file.footer)
        partition = _partition(name)
        if file.types is not before[0] or partition != before[1]:  # most files are like the one before
            before = file.types, partition
            _check_once(file, partition, ignore)
            types = {**file.types, **partition_types(partition)}
            asked, carried = _asked(file.place, types, linkage, ignore, keep, partition, frames or parts)
            kinds[asked, tuple((column, str(kind)) for column, kind in carried.items())] = carried
            if len(kinds) > 1:
                others = f"has other columns than {names[0] or folder.name}: {listed(list(types))}."
                raise FormatError(str(file.place), others)
        own = list(file.pieces(first, block_rows, partition, aligned=aligned))
        pieces += own
        files[name or file.place.name] = rows = sum(piece.rows for piece in own)
        first += rows
    (((columns, _), carried),) = kinds.items()
    called = _called(keep, carried)
    kept = {called[name]: kind for name, kind in carried.items()}
    return Goals(columns, tuple(put_together(pieces, block_rows)), files, kept, called, tuple(unread), footers)


def _known_first(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return names with those of a resumed run first, in their order."""
    there, old = {*names}, {*known}
    return [*(name for name in known if name in there), *(name for name in names if name not in old)]


def _called(keep: Sequence[str] | Mapping[str, str], carried: Iterable[str]) -> dict[str, str]:
    """Return the names of copied columns in the answers."""
    called: dict[str, Any] = {name: keep.get(name, name) if isinstance(keep, Mapping) else name for name in carried}
    if len({*called.values()}) < len(called) or not all(name and isinstance(name, str) for name in called.values()):
        told = [repr(name) for name in called.values()]
        raise OptionError(f"each kept column needs a name of its own in the answers, got {listed(told)}.")
    return called


# Files


def _files(source: str | os.PathLike[str]) -> tuple[Place, list[str], list[str]]:
    """Return a folder, the names of the files of goals in it, and of other files; '' is the place itself."""
    found = matching(source)
    place = place_of(source) if found is None else found[0]
    if found is None and not place.is_folder():
        if not place.is_file():
            raise FormatError(str(place), "does not exist.")
        if place.suffix not in SUFFIXES:
            raise FormatError(str(place), f"is not a dataset of goals: its name must end in {listed(SUFFIXES)}.")
        return place, [""], []
    dead = {*place.dead_links()}
    seen = visible([*place.files(), *dead] if found is None else found[1])
    goals = [name for name in seen if name.lower().endswith(SUFFIXES) and name not in dead]
    if not goals:
        what = "holds no files of goals" if found is None else f"holds no files of goals that match {str(source)!r}"
        raise FormatError(str(place), f"{what}; their names end in {listed(SUFFIXES)}.")
    return place, goals, sorted({*seen}.difference(goals))[:MOST_UNREAD]


def _partition(name: str) -> dict[str, str]:
    """Return the columns given by the folders of a file, as in ``robot=panda/part.parquet``.

    Example:
        >>> _partition("robot=panda/day=3/part.parquet")
        {'robot': 'panda', 'day': '3'}
    """
    pairs = (part.split("=", 1) for part in name.split("/")[:-1] if "=" in part)
    return {column: unquote(value) for column, value in pairs if column}


def _check_once(file: GoalFile, partition: Mapping[str, str], ignore: Sequence[str]) -> None:
    """Raise FormatError if a column is both in a file and in the name of its folder, which may disagree."""
    for name, value in partition.items():
        if name in file.types and name not in ignore:
            both = f"has a column {name!r}, and its folder {name}={value} gives one too"
            raise FormatError(
                str(file.place), f"{both}: rename one, or leave both out, ignore=[{name!r}] (--ignore {name})."
            )


def partition_types(partition: Mapping[str, str]) -> dict[str, Any]:
    """Return the types of columns defined by folders: numbers for columns of goals, otherwise texts."""
    import pyarrow as pa

    return {name: pa.float64() if name in NUMBERS or name.startswith(START) else pa.string() for name in partition}


# Columns


def _asked(
    place: Place,
    types: Mapping[str, Any],
    linkage: Linkage,
    ignore: Sequence[str],
    keep: Sequence[str] | Mapping[str, str],
    partition: Mapping[str, str],
    parts: Mapping[str, bool] | Sequence[str],
) -> tuple[Columns | BodyColumns, dict[str, Any]]:
    """Return the meaning of the columns of a file, and the types of copied columns."""
    import pyarrow as pa

    unknown = [name for name in keep if name not in types]
    if unknown:
        raise FormatError(str(place), f"has no column {listed(unknown)} to keep; it has {listed(list(types))}.")
    left = [name for name in types if name not in ignore and name not in keep]
    named = [n for n in left if n not in partition or n in NUMBERS or n == ID or n.startswith(START)]
    columns: Columns | BodyColumns
    if isinstance(parts, Mapping):
        columns = read_columns(str(place), named, linkage, **parts)
    else:
        columns = read_body_columns(str(place), named, linkage, parts)
    for name in columns.numbers:
        kind = types[name]
        if place.suffix != ".csv" and not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise FormatError(str(place), f"column {name!r} holds {kind}; it must hold numbers.")
        if name in partition and not _is_number(partition[name]):
            raise FormatError(str(place), f"its folder {name}={partition[name]} gives no number for column {name!r}.")
    more = [name for name in types if name in keep or (name in left and name in partition and name not in named)]
    return columns, {name: types[name] for name in (*((ID,) if columns.identified else ()), *more)}


def _is_number(text: str) -> bool:
    try:
        return "_" not in text and float(text) is not None
    except ValueError:
        return False
