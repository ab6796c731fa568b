"""Datasets of answers: one Parquet file for each block of goals, there in full or not at all.

A part says in its footer which run it belongs to and how its rows ended, so that a run is resumed and counted without
reading the rows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..formats.atomic_files import replacing
from ..linkage.linkage import Linkage
from ..solvers.batch import Batch
from ..solvers.chain_solution import NAMES
from .goal_columns import ID, Columns
from .goal_files import RowBlock

VALUE = "q."
ERRORS = ("position_error", "rotation_error")
COUNTS, RUN = "linkwork.counts", "linkwork.run"
STATUSES = tuple(NAMES[code] for code in range(len(NAMES)))


def part_path(folder: Path, block: RowBlock) -> Path:
    """Return the file of a block's answers."""
    return folder / f"part-{block.number:05d}.parquet"


def schema_of(linkage: Linkage, columns: Columns, id_type: str) -> Any:
    """Return the columns of the answers: id, a pose, how it ended and how far it is off."""
    import pyarrow as pa

    errors = [name for name, asked in zip(ERRORS, (columns.position, columns.turn), strict=True) if asked]
    return pa.schema(
        [
            (ID, pa.type_for_alias(id_type)),
            *((VALUE + name, pa.float64()) for name in linkage.coordinates),
            ("success", pa.bool_()),
            ("status", pa.string()),
            *((name, pa.float64()) for name in errors),
            ("restarts", pa.int32()),
        ]
    )


def table_of(batch: Batch, schema: Any, ids: Any, first: int) -> Any:
    """Return answers as a table; rows without an id have their number."""
    import pyarrow as pa

    arrays = [
        np.arange(first, first + len(batch)) if ids is None else ids,
        *batch.q.T,
        batch.success,
        pa.array(STATUSES).take(pa.array(batch.codes)),
        *batch.residuals.T,
        batch.restarts,
    ]
    columns = [pa.array(np.ascontiguousarray(x)) if isinstance(x, np.ndarray) else x for x in arrays]
    return pa.Table.from_arrays(columns, schema=schema)


def write_part(path: Path, run: str, schema: Any, answers: Iterable[tuple[Batch, Any, int]]) -> dict[str, int]:
    """Write the answers to a block as they come, and return how many ended how.

    Args:
        path: The file.
        run: What tells this run from another.
        schema: The columns.
        answers: Batches, the ids of their rows or None, and the numbers of their first rows.

    Raises:
        FormatError: If the file cannot be written: the disk is full, or nothing may be written there.
    """
    import pyarrow.parquet as pq

    counts: Counter[str] = Counter()
    with (
        replacing(path) as file,
        pq.ParquetWriter(file, schema, compression="snappy", use_dictionary=["status"]) as writer,
    ):
        for batch, ids, first in answers:
            writer.write_table(table_of(batch, schema, ids, first))
            for code, rows in zip(*np.unique(batch.codes, return_counts=True), strict=True):
                counts[NAMES[int(code)]] += int(rows)
        writer.add_key_value_metadata({RUN: run, COUNTS: json.dumps(counts)})
    return dict(counts)


def read_counts(path: Path, run: str, rows: int) -> dict[str, int] | None:
    """Return how the rows of a part ended, or None if it is not there or is not this run's part of so many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
        notes = metadata.metadata or {}
        if notes.get(RUN.encode()) != run.encode() or metadata.num_rows != rows:
            return None
        return {str(name): int(count) for name, count in json.loads(notes[COUNTS.encode()]).items()}
    except (OSError, pa.ArrowException, ValueError, KeyError, AttributeError):
        return None
