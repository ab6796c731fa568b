"""The folder of a run: its settings, a record of every file written, and whether it is complete.

`_manifest.json` holds the settings that determine the answers. Every file written gets a record in `_parts` with the
digests of its input and of the file itself. So a file that was damaged, swapped or truncated, or whose input has
changed, is detected and made again. At the end, `_parts.json` combines the records, and `_SUCCESS` is added or, if
something is missing, `_missing.json`: an incomplete folder cannot be taken for a complete one. Parquet readers ignore
these names.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any

from ..errors import FormatError, RunError, listed
from ..kernels.threads import cores, dealt
from .holding import LOCK, MARK, held
from .places import Here, Place, place_of, visible

MANIFEST, RECORDS, ALL_RECORDS = "_manifest.json", "_parts", "_parts.json"
SUCCESS, MISSING = "_SUCCESS", "_missing.json"
VERSION = 2
LARGEST = 2**28  # size of a list of records [bytes]


@dataclass(frozen=True)
class Record:
    """The record of a file that a run wrote.

    Attributes:
        file: Its name in the folder.
        item: Number of its item: a block of rows, or a motion.
        first: Number of its first row, counted through the whole input.
        rows: Number of rows.
        input: Digest of its input.
        sha256: Digest of the file itself.
        size: Its size [bytes].
        counts: Number of rows by status.
        notes: Notes on single rows, such as lines of a CSV file that could not be read.
        more: Further data that a run stores about it.
        files: If there are several files: their names, digests and sizes.
    """

    file: str
    item: int
    first: int
    rows: int
    input: str
    sha256: str
    size: int
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def sealed(self) -> Mapping[str, Sequence[Any]]:
        """The digest and the size of each of its files, by name."""
        return self.files or {self.file: (self.sha256, self.size)}


@dataclass(frozen=True)
class Run:
    """A run over items in a folder; it is sent to the workers, which write records.

    Attributes:
        folder: The folder that it writes to.
        digest: Digest of its settings.
    """

    folder: Place
    digest: str

    def keep(self, record: Record) -> None:
        """Store the record of a written file; if a power failure loses the record, only that file is made again."""
        self.folder.below(f"{RECORDS}/{record.file}.json").write(_text(asdict(record)), flushed=False)

    def kept(self, names: Container[str], fits: Callable[[Record], bool]) -> list[Record]:
        """Return the records of files of this run, by name, that are undamaged and fit their input."""
        mine = [r for r in read_records(self.folder) if r.file in names and r.more.get("run") == self.digest]
        wrong = sound(self.folder, mine)
        whole = [record for record in mine if record.file not in wrong]
        looked = dealt(lambda record: record if fits(record) else None, whole, cores())
        return [record for record in looked if record is not None]

    def finish(self, wanted: Iterable[str]) -> None:
        """Combine the records, and remove files that are no longer needed."""
        names, records = {*wanted}, {record.file: record for record in read_records(self.folder)}
        left = {file for name in records.keys() & names for file in records[name].sealed}
        for name in records.keys() - names:
            for file in records[name].sealed.keys() - left:
                self.folder.below(file).remove()
        kept = sorted((records[name] for name in names & records.keys()), key=lambda record: (record.item, record.file))
        self.folder.below(ALL_RECORDS).write(_text([asdict(record) for record in kept]))
        _remove_singles(self.folder)

    def sweep(self, is_part: Callable[[str], bool], is_data: Callable[[str], bool]) -> list[str]:
        """Remove parts without a record; return other files that readers would take for data.

        Such parts are left by a run that was killed, or whose records were lost.
        """
        known = {file for record in read_records(self.folder) for file in record.sealed}
        foreign = []
        for name in visible(self.folder.files()):
            if name in known:
                continue
            if is_part(name):
                _remove_with_folders(self.folder, name)
            elif is_data(name):
                foreign.append(name)
        return foreign

    def close(self, missing: Sequence[Mapping[str, Any]]) -> None:
        """Mark the folder as complete or incomplete."""
        if missing:
            self.folder.below(MISSING).write(_text(list(missing)))
        else:
            self.folder.below(SUCCESS).write(b"")


@contextmanager
def run_folder(
    where: str | os.PathLike[str] | Place, facts: Mapping[str, Any], inputs: Mapping[str, Any], *, resume: bool
) -> Iterator[Run]:
    """Prepare a folder for a run, and lock it until the run ends.

    Only a folder of this computer is locked. A URL needs no lock, because two runs would write the same parts.

    Args:
        where: The folder or URL to write to.
        facts: The settings that determine the answers, as plain data.
        inputs: The input, which may be extended or repaired between runs; each record has the digest of its own part.
        resume: Whether to continue an existing run.

    Raises:
        RunError: If the folder holds another run, holds a run and `resume` is False, or is in use.
    """
    folder = place_of(where)
    try:
        new = folder.make()
    except OSError as error:
        raise RunError(f"cannot write to {str(folder)!r}: {error.strerror}.") from error
    with _left_as_found(folder, new), held(folder.path) if isinstance(folder, Here) else nullcontext():
        plain = json.loads(json.dumps(facts))
        fresh = not folder.below(MANIFEST).is_file()
        _begin(folder, plain, resume)
        manifest = {"linkwork": VERSION, **plain, "input": json.loads(json.dumps(inputs))}
        folder.below(MANIFEST).write(_text(manifest))
        for name in (SUCCESS, MISSING):
            folder.below(name).remove()
        folder.clear_drafts()
        try:
            yield Run(folder, hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest())
        except BaseException:
            if fresh and all(record.item < 0 for record in read_records(folder)):
                _undo(folder)
            raise
        finally:
            folder.clear_drafts()


def _undo(folder: Place) -> None:
    """Remove the files of a run that ended before its first item, so that another run can begin there."""
    known = {name for record in read_records(folder) for name in record.sealed}
    if {*visible(folder.files())} - known:  # a part without a record exists: keep the run, so that it can be resumed
        return
    for name in known:
        _remove_with_folders(folder, name)
    _remove_singles(folder)
    folder.below(MANIFEST).remove()


def _remove_with_folders(folder: Place, name: str) -> None:
    """Remove a file, and the enclosing folders that are then empty."""
    folder.below(name).remove()
    parents = name.split("/")[:-1]
    while parents and isinstance(folder, Here):
        around = folder.below("/".join(parents)).path
        if not around.is_dir() or any(around.iterdir()):
            return
        around.rmdir()
        parents.pop()


@contextmanager
def _left_as_found(folder: Place, new: bool) -> Iterator[None]:
    """Remove a newly created folder if no run began there."""
    try:
        yield
    except BaseException:
        if new and not folder.files():
            folder.remove()
        raise


def _begin(folder: Place, facts: Mapping[str, Any], resume: bool) -> None:
    """Raise RunError unless a run with these facts can begin, or be resumed, in a folder."""
    if folder.below(MANIFEST).is_file():
        if not resume:
            raise RunError(f"{str(folder)!r} holds a run already; continue it with resume, or give another folder.")
        kept = read_manifest(folder)
        kept.pop("input", None)
        other = [name for name in (*facts, *kept) if facts.get(name) != kept.get(name)]
        if other:
            said = "; ".join(_difference(name, kept.get(name), facts.get(name)) for name in sorted({*other}))
            raise RunError(
                f"{str(folder)!r} cannot be resumed: its run had another {said}. "
                f"Resume it with the same, or give another folder."
            )
    elif {*folder.files()} - {LOCK, MARK}:
        raise RunError(f"{str(folder)!r} is not empty and not the folder of a run; give an empty folder.")


def _difference(name: str, before: Any, now: Any) -> str:
    """Return a text on a difference: the options by name, with both values."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        parts = [key for key in (*before, *now) if before.get(key) != now.get(key)]
        shown = (f"{key} ({_short(before.get(key))}, not {_short(now.get(key))})" for key in dict.fromkeys(parts))
        return f"{name}: {listed(list(shown))}"
    return f"{name} ({_short(before)}, not {_short(now)})"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def read_manifest(folder: Place) -> dict[str, Any]:
    """Return the settings of a run.

    Raises:
        RunError: If there is no manifest, or one of another version.
    """
    place = folder.below(MANIFEST)
    if not place.is_file():
        if folder.is_file():
            raise RunError(f"{str(folder)!r} is a file, not the folder of a run.")
        there = f"holds no run: it has no {MANIFEST}" if folder.is_folder() else "does not exist"
        raise RunError(f"{str(folder)!r} {there}.")
    try:
        kept = json.loads(place.read(LARGEST))
    except (ValueError, RecursionError, FormatError):
        kept = None
    if not isinstance(kept, dict) or kept.pop("linkwork", None) != VERSION:
        raise RunError(f"{str(place)!r} is not the manifest of a run that this version of linkwork can resume.")
    return kept


def earlier_input(where: str | os.PathLike[str] | Place) -> Mapping[str, Any]:
    """Return the input of the run in a folder; empty if there is no run."""
    folder = place_of(where)
    if not folder.below(MANIFEST).is_file():
        return {}
    found = read_manifest(folder).get("input")
    return found if isinstance(found, dict) else {}


def read_records(folder: Place) -> list[Record]:
    """Return the records of all files that a run has written; those that are damaged are left out."""
    found: dict[str, Record] = {}
    whole = folder.below(ALL_RECORDS)
    lists = [_loaded(whole)] if whole.is_file() else []
    singles = folder.below(RECORDS)
    if singles.is_folder():
        lists += [[_loaded(singles.below(name))] for name in singles.files() if name.endswith(".json")]
    for values in lists:
        for value in values if isinstance(values, list) else []:
            try:
                record = Record(**value)
            except TypeError:
                continue
            found[record.file] = record
    return list(found.values())


def sound(folder: Place, records: Iterable[Record]) -> dict[str, str]:
    """Return the faults of recorded files, by name; empty if all are undamaged."""
    every = list(records)

    def look(record: Record) -> tuple[str, str]:
        several = bool(record.files)
        for name, (sha256, wanted) in record.sealed.items():
            place, told = folder.below(name), f"{name} " if several else ""
            if not place.is_file():
                return record.file, f"{told}is missing"
            digest, size = place.digest()
            if size != wanted:
                return record.file, f"{told}has {size:,} bytes, not {wanted:,}"
            if digest != sha256:
                return record.file, f"{told}is not as it was written: its digest differs"
        return record.file, ""

    return {name: why for name, why in dealt(look, every, cores()) if why}


def _loaded(place: Place) -> Any:
    try:
        return json.loads(place.read(LARGEST))
    except (ValueError, RecursionError, FormatError):
        return None


def _remove_singles(folder: Place) -> None:
    singles = folder.below(RECORDS)
    if not singles.is_folder():
        return
    for name in singles.files():
        singles.below(name).remove()
    if isinstance(singles, Here):
        for path in sorted(singles.path.rglob("*"), reverse=True):
            path.rmdir()
        singles.path.rmdir()


def _text(value: Any) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()
