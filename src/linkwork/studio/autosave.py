"""What would be lost in a crash: the scene, written to the user's own folder a moment after each change."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..formats.atomic_files import write_text
from ..kernels.store import user_folder
from .saving import read_scene, scene_text
from .worker import Worker

if TYPE_CHECKING:
    from ..formats import Remark
    from .scene import Scene

AFTER = 2.0  # seconds after a change
KEPT = 5  # scenes of earlier studios
ASKS, RUNNING = 0x1000, 259  # on Windows: the right to ask about a process; what one says that has not ended
LARGEST = 2**23  # bytes: a clip of an hour is not written every two seconds


class Autosave:
    """Keeps the scene of one studio.

    Args:
        failed: Told what goes wrong, such as a full disk.
        folder: Where; by default beside the compiled kernels, in the user's cache.
    """

    def __init__(self, failed: Callable[[Exception], None], folder: Path | None = None) -> None:
        self.folder = recovery_folder() if folder is None else folder
        self.path = self.folder / f"studio-{os.getpid()}-{id(self):x}.yaml"
        self._worker = Worker("linkwork autosave", failed)
        self._first: Scene | None = None

    def soon(self, scene: Scene) -> None:
        """Write a scene in a moment, if it is not the one that all began with."""
        self._first = self._first or scene
        if scene is not self._first:
            self._worker.submit(lambda: self._write(scene), name="write", after=AFTER)

    def _write(self, scene: Scene) -> None:
        text = scene_text(scene)
        if len(text) <= LARGEST:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_text(self.path, text)

    def close(self) -> None:
        """End it: what was closed in order needs no recovery."""
        self._worker.close()
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


def recovery_folder() -> Path:
    """Return where scenes are kept for a recovery."""
    return user_folder() / "linkwork" / "studio"


def lost_scenes(folder: Path | None = None) -> list[Path]:
    """Return the scenes of studios that did not end in order, the newest first; of older ones only a few stay."""
    place = recovery_folder() if folder is None else folder
    try:
        found = [path for path in place.glob("studio-*.yaml") if not _alive(path)]
        found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return []
    for old in found[KEPT:]:
        with contextlib.suppress(OSError):
            old.unlink()
    return found[:KEPT]


def recovered(path: Path) -> tuple[Scene, tuple[Remark, ...]]:
    """Return a scene that was kept, and take the file away.

    Raises:
        LinkworkError: If it cannot be read; it stays.
    """
    scene, remarks = read_scene(path)
    with contextlib.suppress(OSError):
        path.unlink()
    return scene, remarks


def _alive(path: Path) -> bool:
    """Return whether the process that writes a file is still there."""
    try:
        number = int(path.name.split("-")[1])
    except (IndexError, ValueError):
        return False
    if number == os.getpid():
        return True
    if os.name == "nt":  # a signal would end it there
        return _runs_on_windows(number)
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _runs_on_windows(number: int) -> bool:
    """Return whether there is a process of a number that has not ended."""
    import ctypes

    system = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    system.OpenProcess.restype = ctypes.c_void_p
    process = ctypes.c_void_p(system.OpenProcess(ASKS, False, number))
    if not process:
        return False
    code = ctypes.c_ulong()
    known = system.GetExitCodeProcess(process, ctypes.byref(code))
    system.CloseHandle(process)
    return bool(known) and code.value == RUNNING
