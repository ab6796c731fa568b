"""Datasets of answers in several formats: one part for each block of goals, written completely or not at all.

`solvers.answer_tables` defines the columns, and a module for each format writes them. `runs` records the digest of
every file.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import OptionError, RunError, listed, require
from ..solvers.answer_tables import STATUSES, table_of
from ..solvers.batch_answers import Batch
from ..solvers.body_answers import BodyBatch
from ..solvers.solutions_batch import SolutionsBatch
from .answer_format import AnswerFormat, Files, write_files
from .goal_blocks import RowBlock
from .goal_rows import GoalRows
from .parquet_answers import HuggingFaceAnswers, ParquetAnswers
from .runs import Record, Run
from .webdataset_answers import WebDatasetAnswers
from .zarr_answers import ZarrAnswers

FORMATS: dict[str, type[AnswerFormat]] = {
    kind.name: kind for kind in (ParquetAnswers, ZarrAnswers, WebDatasetAnswers, HuggingFaceAnswers)
}


def format_named(name: Any, compression: str | None) -> tuple[type[AnswerFormat], str]:
    """Return a format by its name, and how its files are compressed.

    Raises:
        OptionError: If there is no such format, or the format does not have this compression.
        MissingExtraError: If a package that it needs is not installed.
    """
    if name not in FORMATS:
        raise OptionError(f"no format {name!r}; there are {listed(list(FORMATS))}.")
    kind = FORMATS[name]
    if compression is not None and compression not in kind.compressions:
        raise OptionError(f"no compression {compression!r} for {name}; there are {listed(kind.compressions)}.")
    if kind.package:
        require(kind.package, f"the format {name!r}")
    return kind, compression or kind.compressions[0]


def format_of(manifest: Mapping[str, Any]) -> AnswerFormat:
    """Return the format of a run's answers, for reading.

    Raises:
        RunError: If its manifest does not name the format.
    """
    try:
        kind, _ = format_named(manifest["output"]["format"], None)
        return kind(coordinates=tuple(manifest["linkage"]["coordinates"]))
    except (KeyError, TypeError, OptionError) as error:
        raise RunError("the manifest does not say in which format the answers are.") from error


def write_part(
    form: AnswerFormat,
    run: Run,
    block: RowBlock,
    answers: Iterable[tuple[Batch | SolutionsBatch | BodyBatch, GoalRows]],
) -> tuple[dict[str, int], Files]:
    """Write the answers to a block as they arrive; return the number of rows by status, and the files.

    Args:
        form: The format.
        run: The run.
        block: The block.
        answers: Batches, and the rows that they answer.

    Raises:
        FormatError: If a file cannot be written, for example because the disk is full or read-only.
    """
    counts: Counter[str] = Counter()

    def tables() -> Iterator[tuple[int, Any]]:
        for batch, rows in answers:
            yield rows.first, table_of(batch, form.schema, rows.first, rows.carried)
            counts.update({STATUSES[k]: int(ended) for k, ended in enumerate(np.bincount(batch.codes)) if ended})

    files = form.write(run.folder, run.digest, block, tables())
    return dict(counts), files


def write_companions(form: AnswerFormat, run: Run) -> list[str]:
    """Write the files that go with the parts, and return the name of their record, if there are any."""
    files = form.companions()
    if not files:
        return []
    name = next(iter(files))
    run.keep(record_of(name, -1, 0, 0, "", write_files(run.folder, files), more={"run": run.digest}))
    return [name]


def record_of(name: str, item: int, first: int, rows: int, source: str, files: Files, **more: Any) -> Record:
    """Return the record of a part, with all its files if there are several."""
    if list(files) == [name]:
        return Record(name, item, first, rows, source, *files[name], **more)
    digest = hashlib.sha256("".join(sha256 for sha256, _ in files.values()).encode()).hexdigest()
    size = sum(size for _, size in files.values())
    every = {file: list(sealed) for file, sealed in files.items()}
    return Record(name, item, first, rows, source, digest, size, files=every, **more)
