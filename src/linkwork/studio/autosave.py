"""Autosave: the scene is written to the user's cache folder shortly after each change, for recovery after a crash."""

from __future__ import annotations

import contextlib
import math
import os
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import OptionError
from ..formats.atomic_files import write_text
from ..kernels.store import user_folder
from .saving import scene_text
from .worker import Worker

if TYPE_CHECKING:
    from .scene import Scene

AFTER = 2.0  # delay after a change [s]
KEPT = 20  # number of scenes kept from earlier studios
ASKS, RUNNING = 0x1000, 259  # on Windows: the right to query a process; the exit code of one that is still running
LARGEST = 2**23  # largest file [bytes], since writing very long clips at every change would be slow
OWN: set[str] = set()  # files of this process


class Autosave:
    """Saves the scene of one studio for recovery.

    Args:
        failed: Called with errors, such as a full disk.
        folder: The folder; by default next to the compiled kernels, in the user's cache.
    """

    def __init__(self, failed: Callable[[Exception], None], folder: Path | None = None) -> None:
        self.folder = recovery_folder() if folder is None else folder
        self.path = self.folder / f"studio-{os.getpid()}-{secrets.token_hex(6)}.yaml"
        OWN.add(self.path.name)
        self._worker = Worker("linkwork autosave", failed)
        self._failed, self._large = failed, False
        self._first: Scene | None = None

    def soon(self, scene: Scene) -> None:
        """Write a scene soon, unless it is the first one."""
        self._first = self._first or scene
        if scene is not self._first:
            self._worker.submit(lambda: self._write(scene), name="write", after=AFTER)

    def _write(self, scene: Scene, largest: float = LARGEST) -> None:
        text = scene_text(scene)
        if len(text) <= largest:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_text(self.path, text)
        elif not self._large:
            self._large = True
            self._failed(OptionError("this scene is too large for autosave; save or download it."))

    def close(self, scene: Scene | None = None) -> bool:
        """Stop autosaving, keep a last scene if one is given, and return whether one was kept."""
        self._worker.close()
        OWN.discard(self.path.name)
        with contextlib.suppress(OSError):
            if scene is not None:
                self._write(scene, math.inf)
                return True
            self.path.unlink(missing_ok=True)
        return False


def recovery_folder() -> Path:
    """Return the folder of scenes that can be recovered."""
    return user_folder() / "linkwork" / "studio"


def lost_scenes(folder: Path | None = None) -> list[Path]:
    """Return the scenes of studios that ended without saving, the newest first; the oldest are deleted."""
    place = recovery_folder() if folder is None else folder
    try:
        found = [path for path in place.glob("studio-*.yaml") if not _alive(path)]
        found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return []
    forget(found[KEPT:])
    return found[:KEPT]


def forget(paths: Iterable[Path]) -> None:
    """Delete scenes that are no longer needed."""
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def _alive(path: Path) -> bool:
    """Return whether the process that writes a file is still running."""
    try:
        number = int(path.name.split("-")[1])
    except (IndexError, ValueError):
        return False
    if number == os.getpid():  # in a container, an earlier process may have had the same id
        return path.name in OWN
    if os.name == "nt":  # there, os.kill would end the process
        return _runs_on_windows(number)
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _runs_on_windows(number: int) -> bool:
    """Return whether a process with this number is running."""
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
