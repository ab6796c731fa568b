"""Lock the folder of a run, so that no other run writes there, on any system and disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import RunError
from ..kernels.store import lock

LOCK, MARK = "_lock", "_at_work"  # a locked file; on disks without locks, a file whose existence is the lock
TRIES = 100  # attempts, since other runs may end and remove their lock files meanwhile


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a folder against other runs.

    A lock file there is locked until the process ends, however that happens. On a disk without locks, such as some
    network disks, a file is created exclusively. It stays if the process is killed, and the next run reports it.

    Raises:
        RunError: If another run is active there, or the folder is not writable.
    """
    handle, path = _taken(folder)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows cannot remove an open file
            path.unlink()
        os.close(handle)
        if os.name == "nt":
            with suppress(OSError):  # another run has opened it meanwhile
                path.unlink()


def _taken(folder: Path) -> tuple[int, Path]:
    """Return the handle and the path of a file that keeps other runs out."""
    try:
        return _locked(folder / LOCK), folder / LOCK
    except OSError:  # no locks on this disk, or the folder is not writable, which is reported below
        with suppress(OSError):
            (folder / LOCK).unlink()
    path = folder / MARK
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), path
    except FileExistsError as error:
        killed = f"or was killed there; if so, remove {str(path)!r}"
        raise RunError(f"another run is at work in {str(folder)!r}, {killed}.") from error
    except OSError as error:
        raise RunError(f"cannot write to {str(folder)!r}: {error.strerror}.") from error


def _locked(path: Path) -> int:
    """Return the handle of a locked file that still exists under its name."""
    for _ in range(TRIES):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            if not lock(handle):
                raise RunError(f"another run is at work in {str(path.parent)!r}.")
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except FileNotFoundError:  # its former owner has removed it
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
    raise RunError(f"cannot lock {str(path.parent)!r}: other runs keep starting and ending there; try again.")
