"""Interface of an answer format: how parts are named, written and read. Each format has a module."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import OptionError, listed
from .goal_blocks import RowBlock
from .places import Place
from .runs import Record

Files = dict[str, tuple[str, int]]  # digest and size [bytes] by name
Tables = Iterable[tuple[int, Any]]  # the number of the first row, and a table


@dataclass(frozen=True)
class AnswerFormat:
    """How answers are written; it is sent to the workers.

    Attributes:
        schema: The columns, as in `solvers.answer_tables`; None for reading only.
        compression: One of the format's `compressions`.
        total: Rows of the whole input.
        block_rows: Largest number of rows of a block.
        coordinates: The names of a pose's values.
        name: Its name for users.
        package: The package that it needs in addition to pyarrow, or an empty text.
        suffix: Suffix of the names of parts.
        compressions: Possible compressions of files; the first is the default.
        aligned: Whether every block except the last must have exactly `block_rows` rows.
    """

    schema: Any = None
    compression: str = ""
    total: int = 0
    block_rows: int = 1
    coordinates: tuple[str, ...] = ()

    name: ClassVar[str] = ""
    package: ClassVar[str] = ""
    suffix: ClassVar[str] = ""
    compressions: ClassVar[tuple[str, ...]] = ("none",)
    aligned: ClassVar[bool] = False

    def part(self, number: int) -> str:
        """Return the name of a block's answers; names sort in the order of the blocks."""
        return f"part-{number:010d}{self.suffix}"

    def is_part(self, name: str) -> bool:
        """Return whether a file of the folder has a name that runs give to blocks."""
        stem = name.removeprefix("part-").removesuffix(self.suffix)
        return stem.isdecimal() and len(stem) >= 10 and name == self.part(int(stem))

    def is_data(self, name: str) -> bool:
        """Return whether readers of the folder would take a file for answers, whatever program wrote it."""
        return name.startswith("part-") or name.lower().endswith(self.suffix)

    def check(self) -> None:
        """Raise OptionError if the format cannot store the columns."""

    def companions(self) -> Mapping[str, bytes]:
        """Return files that go with the parts, by name; the first gives their record its name."""
        return {}

    def write(self, folder: Place, run: str, block: RowBlock, tables: Tables) -> Files:
        """Write the answers to a block as they arrive; return the digests and sizes of the files.

        Args:
            folder: The folder to write to.
            run: Identifier of the run.
            block: The block.
            tables: The answers.
        """
        raise NotImplementedError

    def read(self, folder: Place, record: Record, names: Sequence[str] | None = None) -> Iterator[Any]:
        """Yield the answers of a part as tables.

        Args:
            folder: The folder to read from.
            record: The record of the part.
            names: Names of the needed columns; missing ones are ignored.

        Raises:
            FormatError: If the part cannot be read.
        """
        raise NotImplementedError


def write_files(folder: Place, files: Mapping[str, bytes]) -> Files:
    """Write files, each completely or not at all."""
    for name, data in files.items():
        folder.below(name).write(data)
    return {name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()}


def refuse_types(schema: Any, what: str) -> None:
    """Raise OptionError for a column that contains neither numbers nor texts."""
    import pyarrow.types as kinds

    held = (kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_string, kinds.is_large_string)
    wrong = [field for field in schema if not any(is_such(field.type) for is_such in held)]
    if wrong:
        named = listed([f"{field.name} ({field.type})" for field in wrong])
        raise OptionError(f"{what} holds numbers and texts, not {named}; leave them out, or write Parquet.")
