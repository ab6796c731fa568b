"""Retarget folders of motions to another body or robot: one output file for each input file.

Works like a run over a dataset, with files as items: each file is written completely or not at all, and an interrupted
run can be resumed.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Unpack

import numpy as np

from .. import formats
from ..errors import FormatError, LinkworkError, OptionError, listed
from ..formats.atomic_files import MAX_BYTES, read_bytes
from ..formats.options import ReadOptions
from ..goals import as_avoid
from ..kernels.threads import dealt
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..motion.frame_files import frames_in
from ..retargeting import Report, RetargetOptions, retarget_with_report
from ..retargeting.recognition import bones_for
from .datasets import DatasetResult, Progress, check_run, collect
from .engine import Receipt, Receipts, avoid_facts, check_engine, linkage_digest, run_ray
from .goal_rows import MissingRows
from .places import CHUNK, Here, Place, place_of, visible
from .runs import Record, Run, read_records, run_folder

ENGINES = ("local", "ray")
WRITTEN, REPORT = "written", "_report.csv"
MEASURES = (
    "frames", "scale", "contacts", "slide", "depth", "hands", "hands_in_body", "hands_in_body_before", "jerk",
    "outside", "flips",
)  # fmt: skip


def retarget_library(
    source: str | os.PathLike[str],
    linkage: Linkage,
    output: str | os.PathLike[str],
    *,
    suffix: str = ".bvh",
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    resume: bool = False,
    progress: Progress = None,
    reading: ReadOptions | None = None,
    **options: Unpack[RetargetOptions],
) -> DatasetResult:
    """Retarget every motion of a folder and its subfolders to another body or robot.

    Args:
        source: The folder, or a URL. From a file with several motions, the first is used.
        linkage: The body or robot to move.
        output: A folder or a URL for the motions, under the same names. Files that differ only in their suffix keep it
            in the name. ``_report.csv`` reports the quality of each motion.
        suffix: Suffix of the files to write, which determines their format.
        engine: ``"local"``: threads of this process; ``"ray"``: Ray Data workers.
        workers: Number of threads or workers; by default one thread, or one Ray worker per core.
        address: The Ray cluster; by default Ray on this computer alone.
        resume: Continue an interrupted run. Motions that are damaged, or whose files have changed or been added since,
            are made again; the others stay.
        progress: Called with the result so far after each file; True shows a progress bar, or lines in a log.
        reading: How to read the motions, as in `load_clip`: ``{"up": "z"}``.
        **options: As in `retarget`: map, role, frame, root, smooth, first, avoid.

    Returns:
        The result: its counts have the number ``written``; motions that cannot be read, or whose body parts are not
        recognised, are ``missing``.

    Raises:
        FormatError: If there are no motions, or the output cannot be written.
        RunError: If the folder holds another run.
    """
    check_run(linkage, source, output, progress)
    check_engine(engine, ENGINES, workers, address)
    known = formats.suffixes("clips", "writes")
    if suffix not in known:
        raise OptionError(f"cannot write motions to {suffix!r} files; suffixes are {listed(known)}.")
    folder = place_of(source)
    work = ClipRetargeter(folder, _motions(folder, suffix), linkage, suffix, options, reading or {})
    inputs = {"files": dict.fromkeys(work.names, 1)}
    with run_folder(output, work.facts(), inputs, resume=resume) as run:
        work.run = run

        def done(items: Sequence[int]) -> Receipts:
            if engine == "ray":
                return run_ray(work, items, workers, address=address)
            return dealt(work, items, workers or 1)

        spans = [(k, 1) for k in range(len(work.names))]
        result = collect(run, list(work.names.values()), spans, work.kept(), done, progress)
        write_report(run)
        return result


def _motions(folder: Place, suffix: str) -> dict[str, str]:
    """Return the output file name of each motion file below a folder."""
    if not folder.is_folder():
        raise FormatError(str(folder), "is not a folder of motions.")
    suffixes = {*formats.suffixes("clips", "reads")} - {
        *formats.suffixes("homeless")
    }  # formats that do not contain a linkage
    found = [name for name in visible(folder.files()) if PurePosixPath(name).suffix.lower() in suffixes]
    if not found:
        raise FormatError(str(folder), f"holds no motions; their names end in {listed(sorted(suffixes))}.")
    short = {name: str(PurePosixPath(name).with_suffix(suffix)) for name in found}
    shared = {target for target, count in Counter(short.values()).items() if count > 1}
    return {name: f"{name}{suffix}" if target in shared else target for name, target in short.items()}


@dataclass
class ClipRetargeter:
    """Reads a motion, retargets it and writes it; it is sent to the workers."""

    source: Place
    names: dict[str, str]
    linkage: Linkage
    suffix: str
    options: RetargetOptions
    reading: ReadOptions = field(default_factory=dict)  # type: ignore[assignment]
    run: Run = field(default_factory=lambda: Run(Here(""), ""))

    def facts(self) -> dict[str, Any]:
        """Return the settings that determine the motions, besides the files, as plain data."""
        return {
            "kind": "motions",
            "linkage": {"name": self.linkage.name, "sha256": linkage_digest(self.linkage)},
            "options": {name: _plain(name, value) for name, value in sorted(self.options.items())},
            "suffix": self.suffix,
        } | ({"reading": {name: repr(value) for name, value in sorted(self.reading.items())}} if self.reading else {})

    def kept(self) -> dict[int, Mapping[str, int]]:
        """Return the motions that are already written, undamaged and from the current files."""
        numbers = {target: k for k, target in enumerate(self.names.values())}
        sources = list(self.names)

        def fits(record: Record) -> bool:
            source = self.source.below(sources[numbers[record.file]])
            return source.is_file() and source.digest()[0] == record.input

        return {numbers[record.file]: record.counts for record in self.run.kept(numbers, fits)}

    def __call__(self, item: int) -> Receipt:
        """Retarget one motion; report one that cannot be read or retargeted, raise any other error."""
        name, target = list(self.names.items())[item]
        place = self.source.below(name)
        room = self.run.folder.path if isinstance(self.run.folder, Here) else Path(tempfile.gettempdir())
        with frames_in(room):
            try:
                made, report = self._made(place)
            except OptionError:  # a wrong option concerns all motions
                raise
            except LinkworkError as error:
                if isinstance(error, FormatError) and error.path == str(room):  # the disk failed, not the motion
                    raise
                reason = str(error) if str(place) in str(error) else f"{place}: {error}"
                return Receipt(item, missing=[MissingRows(item, 1, reason)])
            digest, size = self._write(made, place.stem, target)
        more = {"run": self.run.digest, "report": report}
        self.run.keep(Record(target, item, item, 1, place.digest()[0], digest, size, {WRITTEN: 1}, (), more))
        return Receipt(item, {WRITTEN: 1})

    def _write(self, made: Clip, name: str, target: str) -> tuple[str, int]:
        """Write a motion under a name; return the SHA-256 of the file and its size [bytes]."""
        found, size = hashlib.sha256(), 0
        with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
            draft = Path(folder) / PurePosixPath(target).name
            roles = bones_for(made.linkage, draft)
            formats.write(formats.Content(made.linkage, {name: made}, roles=roles), draft)  # `save` would log
            with draft.open("rb") as file, self.run.folder.below(target).writing() as written:
                while data := file.read(CHUNK):
                    found.update(data)
                    size += written.write(data)
        return found.hexdigest(), size

    def _made(self, place: Place) -> tuple[Clip, dict[str, Any]]:
        """Return the retargeted motion of a file, and its quality."""
        if isinstance(place, Here):
            outcome = retarget_with_report(formats.load_clip(place.path, **self.reading), self.linkage, **self.options)
        else:  # readers need a local file
            with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
                copy = Path(folder) / place.name
                copy.write_bytes(place.read(MAX_BYTES))
                outcome = retarget_with_report(formats.load_clip(copy, **self.reading), self.linkage, **self.options)
        return outcome.clip, _measured(outcome.report, outcome.remarks)


def _measured(report: Report, remarks: Sequence[str]) -> dict[str, Any]:
    """Return the quality of a motion as plain data."""
    values: dict[str, Any] = {name: getattr(report, name) for name in MEASURES}
    plain = {name: value if isinstance(value, int) else round(float(value), 6) for name, value in values.items()}
    return {**plain, "direction": round(report.direction, 6), "poor": report.wrong(), "remarks": list(remarks)}


def write_report(run: Run) -> None:
    """Write a table of the quality of each motion."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("file", *MEASURES, "direction", "poor", "remarks"))
    for record in sorted(read_records(run.folder), key=lambda record: record.file):
        report = dict(record.more.get("report", {}))
        words = ("; ".join(report.get(name, ())) for name in ("poor", "remarks"))
        table.writerow((record.file, *(report.get(name, "") for name in (*MEASURES, "direction")), *words))
    run.folder.below(REPORT).write(text.getvalue().encode())


def _plain(name: str, value: Any) -> Any:
    """Return an option as plain data: a digest of large values and files, otherwise a number or text."""
    if name == "avoid" and (apart := as_avoid(value)) is not None:
        return avoid_facts(apart)
    if isinstance(value, Clip):
        frames = hashlib.sha256(value.times.tobytes() + value.poses.tobytes())
        return {"linkage": linkage_digest(value.linkage), "frames": frames.hexdigest()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if name == "map" and isinstance(value, str | os.PathLike):
        return hashlib.sha256(read_bytes(value)).hexdigest()
    if isinstance(value, np.number):
        return value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
