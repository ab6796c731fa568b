"""Disk cache of the object code of kernels compiled on the fly, for later runs and other processes.

A problem with a file, a folder or a disk is a cache miss, never an error: at worst a kernel is compiled again. Machine
code from the cache is executed, so a file is used only if this user or root wrote it, and no one else can write there.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import re
import stat
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

PACKAGE = Path(__file__).parent
NAMED = "LINKWORK_CACHE_DIR"

MAGIC, FORMAT = b"LWKERNEL", 1
HEADER = struct.Struct("<8sIIQ32s")  # magic, format, bytes of the key, bytes of the code, SHA-256 of both
CODE, DRAFT, LOCK = ".kernel", ".draft", ".lock"  # suffixes of file names
LARGEST = 64 * 2**20  # largest size of a file [bytes]
MOST = 256 * 2**20  # largest total size of code in a folder [bytes]; above it, the oldest files are removed
STALE = 3600.0  # age [s] after which a draft or a lock is taken to be left by a process that died
PATIENCE, PAUSE = 300.0, 0.02  # how long to wait for another compiling process, and the time between checks [s]
OPEN = sum(getattr(os, f"O_{name}", 0) for name in ("BINARY", "CLOEXEC", "NOFOLLOW", "NONBLOCK"))  # pipes never block
BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)  # error codes for a lock that is taken

_troubles: dict[Path, str] = {}  # why nothing could be written, by folder


class Kept(NamedTuple):
    """The present contents of the cache.

    Attributes:
        folders: Folders with code that this process would use, in search order.
        files: Number of code files.
        size: Their total size [bytes].
        trouble: Why code compiled by this process could not be kept; empty if there was no problem.
    """

    folders: tuple[Path, ...]
    files: int
    size: int
    trouble: str


def folders() -> list[Path]:
    """Return the folders of the cache, in search order; code is written to the first writable one.

    ``LINKWORK_CACHE_DIR`` names the only one. Otherwise the first is beside the package, so that code compiled by root
    serves all users; the second is in the user's cache folder.
    """
    named = os.environ.get(NAMED)
    if named:
        try:
            return [Path(named).absolute() / "kernels"]
        except OSError:  # relative to a folder that no longer exists
            return []
    found = [PACKAGE / "__pycache__" / "linkwork"]
    with suppress(RuntimeError):  # a user without a home
        found.append(user_folder() / "linkwork" / "kernels")
    return found


def find(key: str) -> bytes | None:
    """Return the code that is kept for a key, or None."""
    for folder in folders():
        with suppress(OSError, ValueError):
            if not _distrust(folder.stat()):
                code = _read(folder / _name(key), key)
                if code is not None:
                    return code
    return None


def keep(key: str, code: bytes) -> bool:
    """Keep code for a key, and return whether that succeeded; the first failure is logged with its reason."""
    told = bool(_troubles)
    troubles = {}
    for folder in folders():
        try:
            _make(folder)
            _write(folder / _name(key), key, code)
        except (OSError, ValueError) as error:
            troubles[folder] = getattr(error, "strerror", None) or str(error)
        else:
            _trim(folder, spare=_name(key))
            return True
    if find(key) is not None:  # another process has kept it; Windows cannot replace a file that is being read
        return True
    _troubles.update(troubles or {PACKAGE: "there is no folder to write to"})
    if not told:
        logging.getLogger("linkwork").warning(
            "compiled kernels cannot be kept, so every process compiles them again (%s); "
            "%s may name a folder for them.", _trouble(), NAMED
        )  # fmt: skip
    return False


@contextmanager
def alone(key: str) -> Iterator[None]:
    """Let one process at a time enter with a key: the others wait, and then find what it has kept.

    A process that dies releases the lock. If no lock is available, or another process takes very long, it proceeds
    without one.
    """
    held = _first_lock(key)
    try:
        yield
    finally:
        if held is not None:
            with held, suppress(OSError):  # Windows keeps open files
                Path(held.name).unlink()


def forget() -> int:
    """Remove everything that this user can remove from the cache, and return the number of code files removed."""
    count = 0
    for folder in folders():
        for path, _ in _listed(folder):
            with suppress(OSError):
                path.unlink()
                count += path.suffix == CODE
    return count


def kept() -> Kept:
    """Return the present contents of the cache."""
    code = [(path, status) for folder in folders() for path, status in _listed(folder) if path.suffix == CODE]
    places = dict.fromkeys(path.parent for path, _ in code)
    return Kept(tuple(places), len(code), sum(status.st_size for _, status in code), _trouble())


# Folders


def user_folder() -> Path:
    """Return the cache folder of this user."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return xdg if xdg.is_absolute() else Path.home() / ".cache"


def _distrust(status: os.stat_result, *, owner_only: bool = False) -> str:
    """Return why a file or folder may have been written by another user, or ''; Windows separates users itself."""
    if not hasattr(os, "geteuid"):
        return ""
    if status.st_uid not in (0, os.geteuid()):
        return "it belongs to another user"
    return "other users can write to it" if status.st_mode & 0o022 and not owner_only else ""


def _make(folder: Path) -> None:
    """Create a world-readable folder if it does not exist; raise OSError if it is not trustworthy."""
    if not folder.exists():
        ground = next(path for path in folder.parents if path.exists())
        if not os.environ.get(NAMED) and (why := _distrust(ground.stat(), owner_only=True)):
            raise PermissionError(errno.EPERM, why)  # root must leave nothing in user folders that users cannot remove
        with suppress(FileExistsError):  # another process was faster
            folder.mkdir(0o755, parents=True)
            folder.chmod(0o755)  # in spite of a restrictive umask
    if why := _distrust(folder.stat()):
        raise PermissionError(errno.EPERM, why)


def _listed(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """Return our files in a folder, if it exists and is trustworthy."""
    found = []
    with suppress(OSError, ValueError):
        if not _distrust(folder.stat()):
            for path in folder.iterdir():
                with suppress(FileNotFoundError):  # another process has removed it
                    status = path.lstat()
                    if path.suffix in (CODE, DRAFT, LOCK) and stat.S_ISREG(status.st_mode) and not _distrust(status):
                        found.append((path, status))
    return found


def _trim(folder: Path, spare: str) -> None:
    """Remove stale drafts and locks, and the oldest code while there is too much, but never the file `spare`."""
    files = sorted(_listed(folder), key=lambda one: one[1].st_mtime_ns)
    total = sum(status.st_size for _, status in files)
    for path, status in files:
        late = status.st_mtime < time.time() - STALE
        if (total > MOST and path.name != spare) if path.suffix == CODE else late:
            with suppress(OSError):  # no permission to remove it
                path.unlink()
                total -= status.st_size


def _trouble() -> str:
    """Return why nothing could be kept, folder by folder."""
    return "; ".join(f"{folder}: {why[:1].lower()}{why[1:]}" for folder, why in _troubles.items())


# Files


def _name(key: str) -> str:
    """Return the file name of a key: its first word, for people to read, and a digest."""
    word = re.match(r"\w*", key, re.ASCII)
    return f"{word[0][:48] if word else ''}-{hashlib.sha256(key.encode()).hexdigest()[:32]}{CODE}"


def _read(path: Path, key: str) -> bytes | None:
    """Return the code in a file, or None if it is damaged, for another key or not trustworthy."""
    handle = os.open(path, os.O_RDONLY | OPEN)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or _distrust(status) or status.st_size > LARGEST:
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(LARGEST)
    finally:
        os.close(handle)
    name = key.encode()
    code = data[HEADER.size + len(name) :]
    return code if data == _packed(name, code) else None


def _packed(name: bytes, code: bytes) -> bytes:
    """Return the contents of a file."""
    digest = hashlib.sha256(name + code).digest()
    return HEADER.pack(MAGIC, FORMAT, len(name), len(code), digest) + name + code


def _write(path: Path, key: str, code: bytes) -> None:
    """Write a file atomically: completely or not at all."""
    data = _packed(key.encode(), code)
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, f"a file has {LARGEST} bytes at most")
    draft = path.with_name(f"{path.stem}-{os.urandom(8).hex()}{DRAFT}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN, 0o644)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        draft.chmod(0o644)  # in spite of a restrictive umask
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


# Locks


def _first_lock(key: str) -> BinaryIO | None:
    """Return a locked file in the first writable folder, or None; closing it releases the lock."""
    for folder in folders():
        with suppress(OSError, ValueError):
            _make(folder)
            return _locked((folder / _name(key)).with_suffix(LOCK))
    return None


def _locked(path: Path) -> BinaryIO | None:
    """Return a file once it could be locked, or None after a timeout."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        file = open(path, "ab", opener=_opened)  # noqa: SIM115
        try:
            if lock(file.fileno()) and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except FileNotFoundError:  # its holder has removed it
            pass
        except BaseException:
            file.close()
            raise
        file.close()
        time.sleep(PAUSE)
    return None


def _opened(name: str, flags: int) -> int:
    return os.open(name, flags | OPEN, 0o644)


def lock(handle: int) -> bool:
    """Try to lock an open file and return whether that succeeded; the lock lasts until the file is closed.

    The file must be open for writing, which locks on network disks require.

    Raises:
        OSError: If the system, or the disk of the file, has no locks.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError as error:
        raise OSError(errno.ENOSYS, "there are no locks") from error
    except OSError as error:
        if error.errno in BUSY:
            return False
        raise
    return True
