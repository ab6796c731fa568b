"""Answers as one Zarr group, ``zarr.open("FOLDER")["q"]``: an array for each kind of column, a chunk for each block.

zarr encodes a chunk in memory; it is then written like all files of a run. The chunks of a missing block are left out;
zarr reads them as NaN, and as the status -1.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from ..solvers.answer_tables import STATUSES, VALUE
from .answer_format import AnswerFormat, Files, Tables, refuse_types, write_files
from .goal_blocks import RowBlock
from .places import Place
from .runs import Record

ROOT, MISSING = "zarr.json", -1
BLOSC: dict[str, Any] = {"zstd": "zstd", "lz4": "lz4"}


class Kind(NamedTuple):
    """How a column is stored: its type, the value of an empty cell, and its attributes."""

    dtype: Any
    empty: Any
    notes: dict[str, Any]


class ZarrAnswers(AnswerFormat):
    """One group for all answers; a part is a chunk of each of its arrays."""

    name = "zarr"
    package = "zarr"
    compressions = ("zstd", "lz4", "gzip", "none")
    aligned = True

    def is_part(self, name: str) -> bool:
        array, _, chunk = name.partition("/c/")
        return array in ("q", *self.schema.names) and chunk.replace("/", "").isdecimal()

    def is_data(self, name: str) -> bool:
        return "/c/" in name or name.rpartition("/")[2] == ROOT

    def check(self) -> None:
        refuse_types(self.schema, "Zarr")
        self.companions()  # now, before there are other threads

    def companions(self) -> Mapping[str, bytes]:
        return self._descriptions

    @cached_property
    def _descriptions(self) -> dict[str, bytes]:
        """The metadata files of the group and its arrays, which are sent to workers."""
        import zarr

        store, files = _store({})
        group = zarr.create_group(store, attributes={"made by": "linkwork"})
        rows = min(self.block_rows, max(self.total, 1))
        poses = [field for field in self.schema if field.name.startswith(VALUE)]
        names = [field.name.removeprefix(VALUE) for field in poses]
        self._array(group, "q", rows, _kind(poses[0]), len(names), {"names": names})
        for field in self.schema:
            if not field.name.startswith(VALUE):
                self._array(group, field.name, rows, _kind(field))
        with warnings.catch_warnings():  # zarr warns that other libraries may ignore this, which is harmless
            warnings.simplefilter("ignore")
            zarr.consolidate_metadata(store)
        return {ROOT: files()[ROOT], **files()}

    def _array(
        self, group: Any, name: str, rows: int, kind: Kind, width: int = 0, more: Mapping[str, Any] | None = None
    ) -> None:
        own, axes = ((width,), ("row", "coordinate")) if width else ((), ("row",))
        with warnings.catch_warnings():  # zarr warns that texts are not specified yet
            warnings.simplefilter("ignore")
            group.create_array(
                name, shape=(self.total, *own), chunks=(rows, *own), dtype=kind.dtype, fill_value=kind.empty,
                compressors=_codec(self.compression), dimension_names=axes, attributes={**kind.notes, **(more or {})},
            )  # fmt: skip

    def write(self, folder: Place, _run: str, _block: RowBlock, tables: Tables) -> Files:
        import pyarrow as pa
        import zarr

        store, files = _store(self._descriptions)
        group: Any = zarr.open_group(store, mode="r+")
        for first, rows in _joined(tables):
            table = pa.concat_tables(rows)
            at = slice(first, first + table.num_rows)
            group["q"][at] = np.stack([_values(table, f) for f in self.schema if f.name.startswith(VALUE)], axis=1)
            for field in self.schema:
                if not field.name.startswith(VALUE):
                    group[field.name][at] = _values(table, field)
        return write_files(folder, {name: data for name, data in files().items() if name not in self._descriptions})

    def part(self, number: int) -> str:
        return f"part-{number:010d}"

    def read(self, folder: Place, record: Record, names: Sequence[str] | None = None) -> Iterator[Any]:
        import pyarrow as pa
        import zarr

        try:
            store, _ = _store({name: folder.below(name).read() for name in (ROOT, *record.files)})
            group: Any = zarr.open_group(store, mode="r", use_consolidated=True)
            at = slice(record.first, record.first + self._span(group, record))
            read = {name: array[at] for name, array in group.arrays()}
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise FormatError(str(folder), f"{record.file} cannot be read: {' '.join(str(error).split())}.") from error
        there = read["status"] != MISSING
        columns = {VALUE + name: read["q"][there, k] for k, name in enumerate(self.coordinates)}
        columns |= {name: values[there] for name, values in read.items() if name not in ("q", "status")}
        columns["status"] = np.array(STATUSES)[read["status"][there]].tolist()
        yield pa.table({name: values for name, values in columns.items() if names is None or name in names})

    @staticmethod
    def _span(group: Any, record: Record) -> int:
        """Return the number of rows of a part in the arrays, including missing rows."""
        array = group["status"]
        return int(min(array.chunks[0], array.shape[0] - record.first))


def _kind(field: Any) -> Kind:
    """Return how Zarr stores a column. Empty cells are NaN, the extreme integer, -1 or an empty text."""
    import pyarrow.types as kinds

    if field.name == "status":
        words = {"flag_values": [MISSING, *range(len(STATUSES))], "flag_meanings": " ".join(("missing", *STATUSES))}
        return Kind(np.int8, MISSING, words)
    if field.name == "success":
        return Kind(np.bool_, False, {})
    if kinds.is_boolean(field.type):
        return Kind(np.int8, -1, {"flag_values": [-1, 0, 1], "flag_meanings": "missing false true"})
    if kinds.is_floating(field.type):
        return Kind(field.type.to_pandas_dtype(), np.nan, {})
    if kinds.is_integer(field.type):
        dtype = np.dtype(field.type.to_pandas_dtype())
        least = int(np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max)
        return Kind(dtype, least, {"missing_value": least})
    return Kind(str, "", {})


def _values(table: Any, field: Any) -> NDArray[Any]:
    """Return a column as an array for Zarr."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column, kind = table.column(field.name).combine_chunks(), _kind(field)
    if field.name == "status":
        column = pc.index_in(column, value_set=pa.array(STATUSES))
    elif kind.dtype is np.int8 and pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if column.null_count:
        column = pc.fill_null(column, pa.scalar(kind.empty, column.type))
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values if kind.dtype is str else values.astype(kind.dtype, copy=False)


def _joined(tables: Tables) -> Iterator[tuple[int, list[Any]]]:
    """Yield lists of consecutive tables with the number of their first row, so that each chunk is written once."""
    first, after = 0, -1
    rows: list[Any] = []
    for at, table in tables:
        if at != after and rows:
            yield first, rows
            rows = []
        first, after = first if rows else at, at + table.num_rows
        rows.append(table)
    if rows:
        yield first, rows


def _codec(name: str) -> Any:
    from zarr.codecs import BloscCodec, GzipCodec

    if name in BLOSC:
        return BloscCodec(cname=BLOSC[name], clevel=5, shuffle="shuffle")
    return GzipCodec(level=6) if name == "gzip" else None


def _store(known: Mapping[str, bytes]) -> tuple[Any, Any]:
    """Return an in-memory store of zarr with some files, and a function that returns all of its files."""
    from zarr.core.buffer import default_buffer_prototype
    from zarr.storage import MemoryStore

    made = default_buffer_prototype().buffer
    held = {name: made.from_bytes(data) for name, data in known.items()}
    return MemoryStore(held), lambda: {name: data.to_bytes() for name, data in held.items()}
