"""Whole libraries of motions given to another body or robot, a file for each file.

A run like that over a dataset, whose items are files: what is written is there in full or not at all, and an
interrupted run is resumed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from .. import formats
from ..errors import FormatError, LinkworkError, OptionError, listed
from ..formats.atomic_files import read_bytes
from ..formats.options import ReadOptions
from ..linkage.linkage import Linkage, check_linkage
from ..retargeting import RetargetOptions, retarget
from ..retargeting.recognition import bones_for
from ..solvers.threads import dealt
from .datasets import DatasetResult, Progress, collect
from .engine import Receipt, Receipts, check_engine, linkage_digest, run_folder, run_ray

ENGINES = ("local", "ray")
WRITTEN = "written"


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
    progress: Progress | None = None,
    reading: ReadOptions | None = None,
    **options: Unpack[RetargetOptions],
) -> DatasetResult:
    """Give every motion of a folder, and of the folders in it, to another body or robot.

    Args:
        source: The folder. Of a file with several motions, the first is taken.
        linkage: Who should move so.
        output: A folder for the motions, under the same names.
        suffix: How the names of what is written end, which says the format.
        engine: ``"local"``: threads of this process; ``"ray"``: workers of Ray Data.
        workers: How many; by default one thread, or a worker of Ray for each core.
        address: The Ray cluster; by default Ray on this computer alone.
        resume: Whether to continue a run that was interrupted.
        progress: Told what there is after each file.
        reading: How to read the motions, as in `load_clip`: ``{"up": "z"}``.
        **options: As in `retarget`: map, role, frame, root, smooth, first.

    Returns:
        How many were ``written``; those that could not be read, or whose parts cannot be told, are ``missing``.

    Raises:
        FormatError: If there are no motions, or nothing can be written.
        RunError: If the folder holds another run.
    """
    check_linkage(linkage)
    check_engine(engine, ENGINES, workers, address)
    known = formats.suffixes("clips", "writes")
    if suffix not in known:
        raise OptionError(f"cannot write motions to {suffix!r} files; suffixes are {listed(known)}.")
    work = ClipRetargeter(Path(source), _motions(Path(source), suffix), linkage, suffix, options, reading or {})
    with run_folder(output, work.facts(), resume=resume) as (folder, _):
        work.folder = folder

        def done(items: Sequence[int]) -> Receipts:
            if engine == "ray":
                return run_ray(work, items, workers, address=address)
            return dealt(work, items, workers or 1)

        return collect(folder, [(k, 1) for k in range(len(work.names))], work.kept, done, progress)


def _motions(folder: Path, suffix: str) -> list[str]:
    """Return the files with motions below a folder, by their names in it."""
    if not folder.is_dir():
        raise FormatError(folder, "is not a folder of motions.")
    suffixes = {*formats.suffixes("clips")} - {*formats.suffixes("homeless")}  # which do not say whose they are
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in suffixes and path.is_file())
    if not found:
        raise FormatError(folder, f"holds no motions; their names end in {listed(sorted(suffixes))}.")
    targets: dict[Path, Path] = {}
    for path in found:
        first = targets.setdefault(path.with_suffix(suffix), path)
        if first != path:
            raise FormatError(path, f"would be written to the same file as {first.name}; rename one of them.")
    return [path.relative_to(folder).as_posix() for path in found]


@dataclass
class ClipRetargeter:
    """Reads a motion, gives it to another linkage and writes it; it travels to the workers."""

    source: Path
    names: list[str]
    linkage: Linkage
    suffix: str
    options: RetargetOptions
    reading: ReadOptions = field(default_factory=dict)  # type: ignore[assignment]
    folder: Path = Path()

    def facts(self) -> dict[str, Any]:
        """Return what decides the motions, as plain data."""
        digest = hashlib.sha256()
        for name in self.names:
            with (self.source / name).open("rb") as file:
                digest.update(f"{name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
        return {
            "kind": "motions",
            "input": {"sha256": digest.hexdigest(), "files": len(self.names)},
            "linkage": {"name": self.linkage.name, "sha256": linkage_digest(self.linkage)},
            "options": {name: _plain(name, value) for name, value in sorted(self.options.items())},
            "suffix": self.suffix,
        } | ({"reading": {name: repr(value) for name, value in sorted(self.reading.items())}} if self.reading else {})

    def target(self, item: int) -> Path:
        """Return the file that a motion is written to."""
        return (self.folder / self.names[item]).with_suffix(self.suffix)

    def kept(self, item: int) -> dict[str, int] | None:
        """Return that a motion is written, if it is."""
        return {WRITTEN: 1} if self.target(item).exists() else None

    def __call__(self, item: int) -> Receipt:
        """Do one motion; one that cannot be read or handed over is told of, anything else raises."""
        path = self.source / self.names[item]
        try:
            clip = retarget(formats.load_clip(path, **self.reading), self.linkage, **self.options)
        except OptionError:  # wrong for all of them
            raise
        except LinkworkError as error:
            reason = str(error)
            return Receipt(item, missing=reason if str(path) in reason else f"{path}: {reason}")
        target = self.target(item)
        target.parent.mkdir(parents=True, exist_ok=True)
        roles = bones_for(clip.linkage, target)
        formats.write(formats.Content(clip.linkage, {path.stem: clip}, roles=roles), target)  # `save` would log
        return Receipt(item, {WRITTEN: 1})


def _plain(name: str, value: Any) -> Any:
    """Return an option as plain data: a digest of a joint map's file, the text of anything that is no number."""
    if name == "map" and isinstance(value, str | os.PathLike):
        return hashlib.sha256(read_bytes(value)).hexdigest()
    if isinstance(value, np.number):
        return value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
