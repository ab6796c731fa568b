"""Motions as tables: CSV, NPZ and Parquet, with one row for each time and one column for each coordinate.

NPZ and Parquet files also contain the linkage, as the text of a scene file. CSV files do not, so a linkage must be
given for reading. Nothing in a file is ever unpickled or executed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

import numpy as np

from ..errors import FormatError, MissingExtraError, Remark, listed
from ..linkage.linkage import Linkage
from ..motion.clips import BLOCK, Clip
from ..motion.frame_files import Frames, block_of
from ..transforms import ANGLE_UNITS, FloatArray
from . import scene
from .atomic_files import MAX_BYTES, read_text, replacing
from .content import Content, Remarks, file_errors
from .file_parts import bytes_of
from .npz_arrays import read_arrays
from .npz_writer import Rows, write_arrays
from .options import DEFAULTS, FilePath, Options

TIME = "time"
NAME = "clip"
VERSION = 1
LENGTH_UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001}
UNITS = {"m": LENGTH_UNITS, "rad": ANGLE_UNITS, "s": {"s": 1.0, "ms": 0.001}, "": {}}
MAX_VALUES, MAX_LINES, MAX_COLUMNS = 2**23, 2**21, 2**15  # 64 MiB of numbers; a day of frames
LONGEST_HEADER, LONGEST_CELL = 2**20, 512
SCENE_KEY, VERSION_KEY, NAME_KEY = "linkwork.scene", "linkwork.table", "linkwork.name"
ARRAYS = ("version", "name", "times", "poses", "coordinates", "units", "scene")

Title = tuple[str, str | None]  # name and unit of a column; None means metres, radians or seconds
Table = tuple[str, list[Title], Iterable[FloatArray], str | None]  # name, titles, numbers in blocks of rows, scene


# Reading


def read(path: FilePath, options: Options = DEFAULTS) -> Content:  # noqa: ARG001 - no options apply
    """Return the motion in a table that also contains its linkage.

    Raises:
        FormatError: If it contains no linkage, or is not a valid table.
    """
    return read_for(None, path)


def read_for(linkage: Linkage | None, path: FilePath) -> Content:
    """Return the motion in a table, with columns in any order; without `linkage`, that of the linkage in the table."""
    readers = {".csv": _csv, ".npz": _npz, ".parquet": _parquet}
    suffix = PurePath(path).suffix.lower()
    if suffix == ".csv" and linkage is None:
        raise _homeless(path, "a CSV file contains only numbers")
    name, titles, blocks, text = readers[suffix](path)
    if linkage is None:
        if text is None:
            raise _homeless(path, "this file contains no linkage")
        try:
            linkage = scene.parse(text, f"{path} (its scene)", "yaml")
        except FormatError as error:
            raise FormatError(path, f"its scene cannot be read: {error}") from error
    remarks = Remarks()
    columns, factors = _columns(titles, linkage, path, remarks)
    times, poses = [np.zeros(0)], Frames(linkage.nq)
    for block in blocks:
        rows = block[:, columns] * factors
        times.append(rows[:, 0].copy())
        poses.add(rows[:, 1:])
    with file_errors(path):
        values = poses.array() if linkage.nq else np.zeros((sum(map(len, times)), 0))
        return Content(linkage, {name: Clip(linkage, np.concatenate(times), values)}, tuple(remarks))


def _homeless(path: FilePath, what: str) -> FormatError:
    return FormatError(path, f"{what}; give the linkage with linkage=..., on the command line with --linkage.")


def _columns(
    titles: Sequence[Title], linkage: Linkage, path: FilePath, remarks: Remarks
) -> tuple[list[int], FloatArray]:
    """Return the columns of the time and of every coordinate, and the factors to metres, radians and seconds."""
    units = dict(zip(linkage.coordinates, linkage.table.units, strict=True))
    if TIME in units:
        raise FormatError(path, f"a joint has the name {TIME!r} of the time column; rename it.")
    wanted = {TIME: "s", **units}
    found: dict[str, int] = {}
    factors: dict[str, float] = {}
    ignored: list[str] = []
    for k, (title, unit) in enumerate(titles):
        name = title if title in wanted else title.strip()
        if name not in wanted:
            ignored.append(repr(name))
            continue
        if name in found:
            raise FormatError(path, f"two columns have the name {name!r}.", line=1)
        known = UNITS[wanted[name]]
        if unit is not None and unit not in known:
            choice = f"known units are {listed(list(known))}" if known else "it has no unit"
            raise FormatError(path, f"column {name!r} has the unit {unit!r}; {choice}.", line=1)
        found[name], factors[name] = k, 1.0 if unit is None else known[unit]
    missing = [name for name in wanted if name not in found]
    if missing:
        raise FormatError(path, f"has no column {listed(missing)} of linkage {linkage.name!r}.", line=1)
    if ignored:
        remarks.add("ignored", f"not coordinates of {linkage.name!r}: columns {listed(ignored)}.")
    return [found[name] for name in wanted], np.array([factors[name] for name in wanted])


def _csv(path: FilePath) -> Table:
    text = read_text(path)
    if text.count("\n") > MAX_LINES:
        raise FormatError(path, f"has more than {MAX_LINES} lines, the largest number that is read.")
    titles, first = _header(path, text[:LONGEST_HEADER])
    lines = text.split("\n")[first:]
    body = {k: line for k, line in enumerate(lines, start=first + 1) if line and not line.isspace()}
    if not body:
        raise FormatError(path, "contains no times.")
    _check_size(path, len(body), len(titles))
    longest = max(body.values(), key=len)
    if len(longest) > LONGEST_CELL * len(titles):
        raise FormatError(path, f"a line of {len(longest)} characters is not a row of {len(titles)} numbers.")
    try:
        table = np.loadtxt(body.values(), delimiter=",", comments=None, quotechar='"', ndmin=2, dtype=np.float64)
    except (ValueError, OverflowError) as error:
        found = re.search(r"at row (\d+)", str(error))
        near = list(body.items())[max(0, int(found[1]) - 2) :][:4] if found else []
        raise _bad_row(path, near, titles) or FormatError(path, f"not numbers: {error}.") from error
    if table.shape != (len(body), len(titles)):
        raise _bad_row(path, body.items(), titles) or FormatError(path, "its rows differ from its first line.")
    return NAME, titles, [table], None


def _header(path: FilePath, text: str) -> tuple[list[Title], int]:
    """Return the column titles of a CSV file, and the number of lines that they take."""
    reader = csv.reader((f"{line}\n" for line in text.split("\n")), strict=True)
    try:
        titles = next(reader, [])
    except csv.Error as error:
        raise FormatError(path, f"not CSV: {error}.", line=max(1, reader.line_num)) from error
    if not any(titles):
        raise FormatError(path, "is empty; the first line should contain the column titles.")
    if len(titles) > MAX_COLUMNS:
        raise FormatError(path, f"has {len(titles)} columns; at most {MAX_COLUMNS} are read.", line=1)
    return [_title(cell) for cell in titles], reader.line_num


def _check_size(path: FilePath, rows: int, columns: int) -> None:
    if columns > MAX_COLUMNS or rows < 0 or rows * (columns + 1) > MAX_VALUES:
        most = f"{MAX_COLUMNS} columns and {MAX_VALUES} numbers"
        raise FormatError(path, f"contains {rows} rows of {columns} numbers; at most {most} are read.")


def _bad_row(path: FilePath, rows: Iterable[tuple[int, str]], titles: Sequence[Any]) -> FormatError | None:
    """Return the error of the first row that is not a row of numbers."""
    for number, line in rows:
        cells = line.split(",")
        if len(cells) != len(titles):
            return FormatError(path, f"this row has {len(cells)} cells, the first line {len(titles)}.", line=number)
        for cell, (name, _) in zip(cells, titles, strict=True):
            try:
                float(cell.strip().strip('"'))
            except ValueError:
                return FormatError(path, f"{name!r} is {cell.strip()[:40]!r}, not a number.", line=number)
    return None


def _title(cell: str) -> Title:
    """Return the name and unit of a column from its title, such as ``j1 [rad]``."""
    name, bracket, rest = cell.rstrip().rpartition(" [")
    return (name, rest[:-1].strip()) if bracket and rest.endswith("]") else (cell, None)


def _npz(path: FilePath) -> Table:
    """Return the content of an NPZ file: arrays of limited size, without Python objects."""
    arrays = read_arrays(path, ARRAYS, most=8 * MAX_VALUES + 2**16)
    missing = [name for name in ("times", "poses", "coordinates") if name not in arrays]
    if missing:
        raise FormatError(path, f"has no array {listed(missing)}; only NPZ files of linkwork and AMASS are read.")
    times, poses = arrays["times"], arrays["poses"]
    names = _texts(arrays["coordinates"], path)
    if "U" in (times.dtype.kind, poses.dtype.kind) or times.ndim != 1 or poses.shape != (len(times), len(names)):
        shapes = f"times {times.shape}, poses {poses.shape} and {len(names)} coordinates"
        raise FormatError(path, f"the shapes of its arrays do not match: {shapes}.")
    units = _texts(arrays.get("units", np.array([""] * len(names))), path)
    if len(units) != len(names):
        raise FormatError(path, f"has {len(names)} coordinates but {len(units)} units.")
    titles = [(TIME, None), *((name, unit or None) for name, unit in zip(names, units, strict=True))]
    text = "".join(_texts(arrays["scene"], path)) if "scene" in arrays else None
    name = "".join(_texts(arrays["name"], path)) if "name" in arrays else NAME
    parts = (slice(begin, begin + BLOCK) for begin in range(0, len(times), BLOCK))
    return name, titles, (np.column_stack([times[k], poses[k]]).astype(np.float64, copy=False) for k in parts), text


def _texts(array: Any, path: FilePath) -> list[str]:
    if array.size > MAX_COLUMNS or array.dtype.kind != "U":
        raise FormatError(path, f"an array of {array.size} {array.dtype} is not a list of at most {MAX_COLUMNS} texts.")
    return [str(text) for text in array.ravel()]


def _parquet(path: FilePath) -> Table:
    arrow, parquet = _pyarrow()
    data = bytes_of(path, MAX_BYTES)
    with _parquet_errors(path, arrow):
        file = parquet.ParquetFile(io.BytesIO(data) if isinstance(data, bytes) else path)
        rows, schema = file.metadata.num_rows, file.schema_arrow
        _check_size(path, rows, len(schema.names))
        plain = [field for field in schema if arrow.types.is_floating(field.type) or arrow.types.is_integer(field.type)]
        if len(plain) < len(schema.names):
            odd = [field.name for field in schema if field not in plain]
            raise FormatError(path, f"columns {listed(odd)} are not numbers.")
    units = [(field.metadata or {}).get(b"unit", b"").decode("utf-8", "replace") for field in schema]
    titles = [(field.name, unit or None) for field, unit in zip(schema, units, strict=True)]
    metadata = {key.decode("utf-8", "replace"): value for key, value in (schema.metadata or {}).items()}
    text = metadata[SCENE_KEY].decode("utf-8", "replace") if SCENE_KEY in metadata else None
    name = metadata.get(NAME_KEY, NAME.encode()).decode("utf-8", "replace")
    return name, titles, _parquet_rows(file, path, arrow), text


def _parquet_rows(file: Any, path: FilePath, arrow: Any) -> Iterator[FloatArray]:
    """Yield the numbers of a Parquet file in blocks of rows."""
    left = file.metadata.num_rows
    with _parquet_errors(path, arrow):
        for batch in file.iter_batches(batch_size=BLOCK):
            left -= batch.num_rows
            if left < 0:
                raise FormatError(path, f"has more rows than the {file.metadata.num_rows} stated in its header.")
            columns = [np.asarray(column.to_numpy(zero_copy_only=False), np.float64) for column in batch.columns]
            yield np.column_stack(columns) if columns else np.zeros((0, 0))


@contextmanager
def _parquet_errors(path: FilePath, arrow: Any) -> Iterator[None]:
    """Add the file name to errors of pyarrow."""
    try:
        yield
    except FormatError:
        raise
    except (arrow.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise FormatError(path, f"not a Parquet file: {str(error)[:200].rstrip('.')}.") from error


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "formats", "a Parquet file") from error
    return pyarrow, parquet


# Writing


def write(content: Content, path: FilePath) -> tuple[Remark, ...]:
    """Write the first motion as a table, with all digits of every number."""
    name, clip = next(iter(content.clips.items()))
    suffix = PurePath(path).suffix.lower()
    if TIME in clip.linkage.coordinate_index:
        raise FormatError(path, f"a joint has the name {TIME!r} of the first column; rename it.")
    {".csv": _write_csv, ".npz": _write_npz, ".parquet": _write_parquet}[suffix](name, clip, path)
    remarks = Remarks()
    if suffix == ".csv":
        text = "CSV stores only numbers: the linkage is left out and must be given for reading."
        remarks.add("dropped", text, "linkage")
    if clip.residuals is not None:
        remarks.add("dropped", "a table cannot store residuals: they are left out.", "residuals")
    return tuple(remarks)


def _blocks(clip: Clip) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield times and poses of a motion in blocks; long motions are stored in files."""
    for begin in range(0, len(clip), BLOCK):
        rows = slice(begin, begin + BLOCK)
        yield clip.times[rows], block_of(clip.poses, rows)


def _titles(linkage: Linkage) -> Iterator[str]:
    yield f"{TIME} [s]"
    for name, unit in zip(linkage.coordinates, linkage.table.units, strict=True):
        yield f"{name} [{unit}]" if unit or name.endswith("]") else name


def _write_csv(name: str, clip: Clip, path: FilePath) -> None:  # noqa: ARG001 - CSV files store no name
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_titles(clip.linkage))
        for times, poses in _blocks(clip):
            rows: Iterable[list[float]] = np.column_stack([times, poses]).tolist()
            writer.writerows(rows)
        text.detach()  # flushes, and keeps the file open


def _write_npz(name: str, clip: Clip, path: FilePath) -> None:
    if any(text.endswith("\0") for text in (name, *clip.linkage.coordinates)):
        raise FormatError(path, "a name ends in '\\0', which NumPy cannot store; rename it.")
    linkage = clip.linkage
    texts = {"coordinates": linkage.coordinates, "units": linkage.table.units}
    arrays: dict[str, Any] = {key: np.array(text, dtype=np.str_) for key, text in texts.items()}
    arrays |= {"version": VERSION, "name": name, "scene": scene.dump(linkage, "yaml")}
    poses = Rows((len(clip), linkage.nq), (block for _, block in _blocks(clip)))
    with replacing(path) as file:
        write_arrays(file, {"times": clip.times, "poses": poses, **arrays})


def _write_parquet(name: str, clip: Clip, path: FilePath) -> None:
    arrow, parquet = _pyarrow()
    units = ("s", *clip.linkage.table.units)
    fields = [
        arrow.field(title, arrow.float64(), nullable=False, metadata={"unit": unit})
        for title, unit in zip((TIME, *clip.linkage.coordinates), units, strict=True)
    ]
    metadata = {VERSION_KEY: str(VERSION), NAME_KEY: name, SCENE_KEY: scene.dump(clip.linkage, "yaml")}
    schema = arrow.schema(fields, metadata=metadata)
    with replacing(path) as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for times, poses in _blocks(clip):
            columns = [arrow.array(column) for column in (times, *poses.T)]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
