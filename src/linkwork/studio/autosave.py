"""What would be lost in a crash: the scene, written to the user's own folder a moment after each change."""

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

AFTER = 2.0  # seconds after a change
KEPT = 20  # scenes of earlier studios
ASKS, RUNNING = 0x1000, 259  # on Windows: the right to ask about a process; what one says that has not ended
LARGEST = 2**23  # bytes: a clip of an hour is not written every two seconds
OWN: set[str] = set()  # files of studios of this process


class Autosave:
    """Keeps the scene of one studio.

    Args:
        failed: Told what goes wrong, such as a full disk.
        folder: Where; by default beside the compiled kernels, in the user's cache.
    """

    def __init__(self, failed: Callable[[Exception], None], folder: Path | None = None) -> None:
        self.folder = recovery_folder() if folder is None else folder
        self.path = self.folder / f"studio-{os.getpid()}-{secrets.token_hex(6)}.yaml"
        OWN.add(self.path.name)
        self._worker = Worker("linkwork autosave", failed)
        self._failed, self._large = failed, False
        self._first: Scene | None = None

    def soon(self, scene: Scene) -> None:
        """Write a scene in a moment, if it is not the one that all began with."""
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
            self._failed(OptionError("this scene is too large to be kept every few seconds; save or download it."))

    def close(self, scene: Scene | None = None) -> bool:
        """End it, and return whether something was kept: a scene that is given; without one nothing is."""
        self._worker.close()
        OWN.discard(self.path.name)
        with contextlib.suppress(OSError):
            if scene is not None:
                self._write(scene, math.inf)
                return True
            self.path.unlink(missing_ok=True)
        return False


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
    forget(found[KEPT:])
    return found[:KEPT]


def forget(paths: Iterable[Path]) -> None:
    """Take scenes away that are kept elsewhere by now."""
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def _alive(path: Path) -> bool:
    """Return whether the process that writes a file is still there."""
    try:
        number = int(path.name.split("-")[1])
    except (IndexError, ValueError):
        return False
    if number == os.getpid():  # which an earlier process may have had, in a container
        return path.name in OWN
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
