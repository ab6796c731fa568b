"""Check the folder of a run: no file is damaged, missing or foreign."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import FormatError
from .answer_files import format_of
from .answer_format import AnswerFormat
from .places import Place, place_of, visible
from .runs import MISSING, SUCCESS, Record, read_manifest, read_records, sound


@dataclass(frozen=True)
class Verification:
    """Result of checking the folder of a run; true if there are no faults.

    Attributes:
        folder: The folder.
        files: Number of files that the run recorded.
        rows: Number of rows, or motions, in these files.
        faults: Faults by file name; ``""`` stands for the folder itself.
    """

    folder: Path | str
    files: int
    rows: int
    faults: dict[str, str]

    def __bool__(self) -> bool:
        """Return whether there are no faults."""
        return not self.faults


def verify_dataset(folder: str | os.PathLike[str]) -> Verification:
    r"""Verify every file that a run of `solve_dataset` or `retarget_library` has written, byte by byte.

    Raises:
        RunError: If the folder is not that of a run.

    Example:
        >>> import linkwork as lw, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "goals.csv").write_text("x,y\n15,10\n")
        >>> _ = lw.solve_dataset(lw.models.planar([15, 10, 5]), "tip", folder / "goals.csv", folder / "out")
        >>> lw.verify_dataset(folder / "out").faults
        {}
    """
    place = place_of(folder)
    manifest, records = read_manifest(place), read_records(place)
    faults = dict(sound(place, records))
    if manifest.get("kind") == "answers":
        form = format_of(manifest)
        for record in records:
            if record.file not in faults and (why := _unread(form, place, record)):
                faults[record.file] = why
        known = {name for record in records for name in record.sealed}
        extra = (name for name in visible(place.files()) if form.is_data(name) and name not in known)
        faults |= dict.fromkeys(extra, "belongs to no record of the run")
    if place.below(MISSING).is_file():
        faults[""] = f"is not complete: {MISSING} says what is missing"
    elif not place.below(SUCCESS).is_file():
        faults[""] = "is not complete: the run was interrupted, and resume continues it"
    rows = sum(record.rows for record in records)
    return Verification(place.native, len(records), rows, dict(sorted(faults.items())))


def _unread(form: AnswerFormat, folder: Place, record: Record) -> str:
    """Return the fault of a part; empty if it has none."""
    if record.item < 0:  # a companion file of the parts
        return ""
    if record.file != form.part(record.item):
        return f"has the record of block {record.item}"
    try:
        rows = sum(table.num_rows for table in form.read(folder, record))
    except FormatError as error:
        return str(error)
    return "" if rows == record.rows else f"has {rows} rows, not {record.rows}"
