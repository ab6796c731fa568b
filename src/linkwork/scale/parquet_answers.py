"""Answers as Parquet, with page checksums; the footer names the run, block and rows of a part."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ..errors import FormatError
from ..solvers.answer_tables import ID
from .answer_format import AnswerFormat, Files, Tables
from .goal_blocks import RowBlock, parquet
from .hashed_files import HashedFile
from .places import Place
from .runs import Record


class ParquetAnswers(AnswerFormat):
    """One Parquet file for each block."""

    name = "parquet"
    suffix = ".parquet"
    compressions = ("zstd", "snappy", "gzip", "lz4", "none")

    def write(self, folder: Place, run: str, block: RowBlock, tables: Tables) -> Files:
        import pyarrow as pa
        import pyarrow.parquet as pq

        name, rows = self.part(block.number), 0
        words = [name for name in self.schema.names if name == "restarts" or f".{name}".endswith(".status")]
        steps = pa.types.is_integer(self.schema.field(ID).type)  # consecutive: delta encoding is compact
        with folder.below(name).writing() as raw:
            file = HashedFile(raw)
            with file.for_arrow() as sink, pq.ParquetWriter(
                sink, self.schema, compression=self.compression, use_dictionary=words,
                compression_level=1 if self.compression == "gzip" else None,  # as small as level 9, five times as fast
                column_encoding={ID: "DELTA_BINARY_PACKED"} if steps else None, write_page_checksum=True,
            ) as writer:  # fmt: skip
                for _, table in tables:
                    writer.write_table(table)
                    rows += table.num_rows
                notes = {"run": run, "block": block.number, "first": block.first, "rows": rows}
                writer.add_key_value_metadata({f"linkwork.{key}": json.dumps(value) for key, value in notes.items()})
        return {name: (file.digest.hexdigest(), file.size)}

    def read(self, folder: Place, record: Record, names: Sequence[str] | None = None) -> Iterator[Any]:
        import pyarrow as pa

        place = folder.below(record.file)
        try:
            with parquet(place) as file:
                wanted = [name for name in file.schema_arrow.names if names is None or name in names]
                yield from file.iter_batches(columns=wanted, use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise FormatError(str(place), f"cannot be read: {' '.join(str(error).split())}.") from error


class HuggingFaceAnswers(ParquetAnswers):
    """Parquet files with a dataset card, so that ``datasets.load_dataset("FOLDER")`` reads only the parts."""

    name: ClassVar[str] = "huggingface"

    def companions(self) -> Mapping[str, bytes]:
        kinds = "\n".join(f"| `{field.name}` | {field.type} |" for field in self.schema)
        return {"README.md": CARD.format(kinds=kinds, rows=f"{self.total:,}").encode()}


CARD = """---
configs:
- config_name: default
  data_files: part-*.parquet
tags:
- robotics
- inverse-kinematics
---

# Poses of a linkage

Answers of [linkwork](https://pypi.org/project/linkwork/) to {rows} goals of inverse kinematics. `_manifest.json` says
for which linkage, frame and options; `_SUCCESS` is there when the dataset is complete.

| column | type |
|---|---|
{kinds}

Poses are in radians and metres, errors in metres (`position_error`) and radians (`rotation_error`). A row is an answer
where `success` is true; otherwise its pose is the closest that was found, and `status` says why.
"""
