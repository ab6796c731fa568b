"""Object code of kernels that were compiled on the fly, kept on disk for later runs and other processes.

Whatever is wrong with a file, a folder or a disk is a miss, never an error: at worst a kernel is compiled again.
Machine code is run as it is read, so a file counts only if this user or root wrote it, where no one else can write.
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
CODE, DRAFT, LOCK = ".kernel", ".draft", ".lock"  # how names of files end
LARGEST = 64 * 2**20  # bytes of one file
MOST = 256 * 2**20  # bytes of code in a folder; beyond them the oldest goes
STALE = 3600.0  # s after which a draft or a lock was left behind by a process that died
PATIENCE, PAUSE = 300.0, 0.02  # s to wait for another process that compiles, and from one look to the next
OPEN = sum(getattr(os, f"O_{name}", 0) for name in ("BINARY", "CLOEXEC", "NOFOLLOW", "NONBLOCK"))  # no pipe blocks
BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)  # what systems say of a lock that is taken

_troubles: dict[Path, str] = {}  # why nothing could be written, by folder


class Kept(NamedTuple):
    """What is kept now.

    Attributes:
        folders: Those that hold code which this process would use, in the order in which it looks.
        files: How many pieces of code there are.
        size: Their size [bytes].
        trouble: Why code that this process compiled could not be kept; nothing if all was.
    """

    folders: tuple[Path, ...]
    files: int
    size: int
    trouble: str


def folders() -> list[Path]:
    """Return where code is looked for, in this order; it is written to the first that can be written.

    ``LINKWORK_CACHE_DIR`` names the only one. Otherwise it is beside the package, so that one compiled by root serves
    all users, then where this user's programs keep such things.
    """
    named = os.environ.get(NAMED)
    if named:
        try:
            return [Path(named).absolute() / "kernels"]
        except OSError:  # it is relative to a folder that is gone
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
    """Keep code for a key, and return whether it could be kept; the first time it cannot, a log says why."""
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
    if find(key) is not None:  # another process has kept it; Windows replaces no file that someone reads
        return True
    _troubles.update(troubles or {PACKAGE: "there is no folder to write to"})
    if not told:
        logging.getLogger("linkwork").warning(
            "compiled kernels cannot be kept, so that every process compiles them again (%s); "
            "%s may name a folder for them.", _trouble(), NAMED
        )  # fmt: skip
    return False


@contextmanager
def alone(key: str) -> Iterator[None]:
    """Let one process at a time pass with a key: the others wait, and then find what it has kept.

    A process that dies lets go. Where no lock can be had, or another process takes very long, it goes on without one.
    """
    held = _first_lock(key)
    try:
        yield
    finally:
        if held is not None:
            with held, suppress(OSError):  # Windows keeps a file that is open
                Path(held.name).unlink()


def forget() -> int:
    """Remove what is kept, as far as this user can, and return how many pieces of code that were."""
    count = 0
    for folder in folders():
        for path, _ in _listed(folder):
            with suppress(OSError):
                path.unlink()
                count += path.suffix == CODE
    return count


def kept() -> Kept:
    """Return what is kept now, for those who want to know."""
    code = [(path, status) for folder in folders() for path, status in _listed(folder) if path.suffix == CODE]
    places = dict.fromkeys(path.parent for path, _ in code)
    return Kept(tuple(places), len(code), sum(status.st_size for _, status in code), _trouble())


# Folders


def user_folder() -> Path:
    """Return where programs of this user keep what can be made again."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return xdg if xdg.is_absolute() else Path.home() / ".cache"


def _distrust(status: os.stat_result, *, owner_only: bool = False) -> str:
    """Return why a file or folder may be the work of another user; Windows keeps users apart by itself."""
    if not hasattr(os, "geteuid"):
        return ""
    if status.st_uid not in (0, os.geteuid()):
        return "it belongs to another user"
    return "other users can write to it" if status.st_mode & 0o022 and not owner_only else ""


def _make(folder: Path) -> None:
    """Make a folder that all can read, if it is not there; raise OSError if it is not one to trust."""
    if not folder.exists():
        ground = next(path for path in folder.parents if path.exists())
        if not os.environ.get(NAMED) and (why := _distrust(ground.stat(), owner_only=True)):
            raise PermissionError(errno.EPERM, why)  # root leaves nothing in a user's folders that they cannot remove
        with suppress(FileExistsError):  # another process was faster
            folder.mkdir(0o755, parents=True)
            folder.chmod(0o755)  # also where new files are for no one else
    if why := _distrust(folder.stat()):
        raise PermissionError(errno.EPERM, why)


def _listed(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """Return our files in a folder, if it is there and to be trusted."""
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
    """Remove what processes left behind, and the oldest code while there is too much; one file is spared."""
    files = sorted(_listed(folder), key=lambda one: one[1].st_mtime_ns)
    total = sum(status.st_size for _, status in files)
    for path, status in files:
        late = status.st_mtime < time.time() - STALE
        if (total > MOST and path.name != spare) if path.suffix == CODE else late:
            with suppress(OSError):  # it is not ours to remove
                path.unlink()
                total -= status.st_size


def _trouble() -> str:
    """Return why nothing could be kept, folder by folder."""
    return "; ".join(f"{folder}: {why[:1].lower()}{why[1:]}" for folder, why in _troubles.items())


# Files


def _name(key: str) -> str:
    """Return the name of a key's file: its first word, for people, and a digest."""
    word = re.match(r"\w*", key, re.ASCII)
    return f"{word[0][:48] if word else ''}-{hashlib.sha256(key.encode()).hexdigest()[:32]}{CODE}"


def _read(path: Path, key: str) -> bytes | None:
    """Return the code of a file, or None if it is damaged, for another key or not to be trusted."""
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
    """Return what a file holds."""
    digest = hashlib.sha256(name + code).digest()
    return HEADER.pack(MAGIC, FORMAT, len(name), len(code), digest) + name + code


def _write(path: Path, key: str, code: bytes) -> None:
    """Write a file that is there in full or not at all."""
    data = _packed(key.encode(), code)
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, f"a file has {LARGEST} bytes at most")
    draft = path.with_name(f"{path.stem}-{os.urandom(8).hex()}{DRAFT}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN, 0o644)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        draft.chmod(0o644)  # also where new files are for no one else
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


# Locks


def _first_lock(key: str) -> BinaryIO | None:
    """Return a locked file in the first folder that can be written to; it is let go when it is closed."""
    for folder in folders():
        with suppress(OSError, ValueError):
            _make(folder)
            return _locked((folder / _name(key)).with_suffix(LOCK))
    return None


def _locked(path: Path) -> BinaryIO | None:
    """Return a file, locked, once no one else has it, or None after a while."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        file = open(path, "ab", opener=_opened)  # noqa: SIM115
        try:
            if lock(file.fileno()) and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except FileNotFoundError:  # who held it has removed it
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
    """Return whether an open file could be locked, which lasts until it is closed.

    It is open for writing: on a network disk a lock needs that.

    Raises:
        OSError: If the system, or the disk that the file is on, has no locks.
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
