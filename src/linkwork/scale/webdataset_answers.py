"""Answers as WebDataset: tar files of samples, each a pose (``q.npy``) and its other columns (``json``)."""

from __future__ import annotations

import io
import json
import math
import tarfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import FormatError
from ..solvers.answer_tables import VALUE
from .answer_format import AnswerFormat, Files, Tables, refuse_types
from .goal_blocks import RowBlock
from .hashed_files import HashedFile
from .places import Place
from .runs import Record

POSE, REST = "q.npy", "json"


class WebDatasetAnswers(AnswerFormat):
    """One tar file for each block; a sample's key is the number of its row."""

    name = "webdataset"
    package = "webdataset"
    suffix = ".tar"

    def check(self) -> None:
        refuse_types(self.schema, "a sample of WebDataset")

    def write(self, folder: Place, _run: str, block: RowBlock, tables: Tables) -> Files:
        from webdataset import TarWriter

        name = self.part(block.number)
        poses = [field.name for field in self.schema if field.name.startswith(VALUE)]
        others = [field.name for field in self.schema if not field.name.startswith(VALUE)]
        with folder.below(name).writing() as raw:
            file = HashedFile(raw)
            with TarWriter(file, mtime=0.0, encoder=False) as writer:
                for first, table in tables:
                    q = np.stack([table.column(one).to_numpy() for one in poses], axis=1)
                    for k, rest in enumerate(table.select(others).to_pylist()):
                        sample = {POSE: _npy(q[k]), REST: json.dumps(_plain(rest)).encode()}
                        writer.write({"__key__": f"{first + k:012d}", **sample})
        return {name: (file.digest.hexdigest(), file.size)}

    def read(self, folder: Place, record: Record, names: Sequence[str] | None = None) -> Iterator[Any]:
        import pyarrow as pa

        place = folder.below(record.file)
        poses: list[Any] = []
        rows: list[Any] = []
        try:
            with place.open() as raw, tarfile.open(fileobj=raw, mode="r|", encoding="utf-8") as tar:
                for member in tar:
                    data = tar.extractfile(member)
                    if data is None:
                        continue
                    if member.name.endswith(POSE):
                        poses.append(np.load(io.BytesIO(data.read()), allow_pickle=False))
                    else:
                        rows.append(json.loads(data.read()))
        except (OSError, ValueError, tarfile.TarError) as error:
            raise FormatError(str(place), f"cannot be read: {' '.join(str(error).split())}.") from error
        q = np.reshape(poses, (len(poses), len(self.coordinates)))
        columns: dict[str, Any] = {VALUE + name: q[:, k] for k, name in enumerate(self.coordinates)}
        columns |= {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}
        yield pa.table({name: values for name, values in columns.items() if names is None or name in names})


def _npy(pose: Any) -> bytes:
    data = io.BytesIO()
    np.save(data, pose, allow_pickle=False)
    return data.getvalue()


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a value for JSON, which cannot store numbers that are not finite."""
    return {name: None if isinstance(x, float) and not math.isfinite(x) else x for name, x in row.items()}
