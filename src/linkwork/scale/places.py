"""Locations of datasets: this computer, or a URL that fsspec serves (``s3://``, ``gs://``, ``az://``, ``memory://``).

Everything is written completely or not at all: a temporary file beside the target replaces it, and an object in a store
appears when its last part has arrived.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from ..errors import FormatError, MissingExtraError
from ..formats.atomic_files import read_bytes, replacing

URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
DRAFT = re.compile(r"\.[0-9a-f]{16}\.tmp")
WILD = re.compile(r"[*?\[]")
CHUNK = 2**20
# Protocols of object stores, where an object appears only when it is complete.
STORES = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss"}


class Place:
    """A file or a folder, by its full name: `Here` on this computer, `There` at a URL."""

    def __init__(self, whole: str) -> None:
        self.whole = whole

    def __str__(self) -> str:
        return self.whole

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.whole!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and type(self) is type(other) and self.whole == other.whole

    def __hash__(self) -> int:
        return hash(self.whole)

    @property
    def name(self) -> str:
        """The last part of its name."""
        return self.whole.replace("\\", "/").rstrip("/").rpartition("/")[2]

    @cached_property
    def suffix(self) -> str:
        """The suffix of its name, in lower case."""
        return os.path.splitext(self.name)[1].lower()  # noqa: PTH122  # called for every file; a Path is ten times slower

    @property
    def stem(self) -> str:
        """The last part of its name without the suffix."""
        return os.path.splitext(self.name)[0]  # noqa: PTH122  # as above

    @property
    def native(self) -> Path | str:
        """The form that users write: a path of this computer, or a URL."""
        return self.whole

    def below(self, name: str) -> Place:
        """Return the file or folder of a name in this folder; slashes separate folders."""
        raise NotImplementedError

    def is_folder(self) -> bool:
        """Return whether it is an existing folder."""
        raise NotImplementedError

    def is_file(self) -> bool:
        """Return whether it is an existing file."""
        raise NotImplementedError

    def files(self) -> list[str]:
        """Return the names of all files below this folder, in order; links are followed, but not in circles."""
        raise NotImplementedError

    def dead_links(self) -> list[str]:
        """Return the names of links below this folder that lead nowhere."""
        return []

    def open(self) -> IO[bytes]:
        """Open a file for reading at any position."""
        raise NotImplementedError

    def make(self) -> bool:
        """Make the folder; return whether it is new."""
        raise NotImplementedError

    def writing(self, *, flushed: bool = True) -> Any:
        """Open a file for writing, completely or not at all: a context, as `atomic_files.replacing`."""
        raise NotImplementedError

    def remove(self) -> None:
        """Remove a file, or an empty folder, if it exists."""
        raise NotImplementedError

    def read(self, limit: int | None = None) -> bytes:
        """Return the content of a file of a limited size."""
        raise NotImplementedError

    def write(self, data: bytes, *, flushed: bool = True) -> None:
        """Write a file completely or not at all; without flushing, a power failure may lose it."""
        with self.writing(flushed=flushed) as file:
            file.write(data)

    def digest(self) -> tuple[str, int]:
        """Return the SHA-256 of a file and its size [bytes]."""
        found, size = hashlib.sha256(), 0
        with self.open() as file:
            while data := file.read(CHUNK):
                found.update(data)
                size += len(data)
        return found.hexdigest(), size

    def clear_drafts(self) -> None:
        """Remove the temporary files of a killed run."""


class Here(Place):
    """A file or a folder of this computer."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(os.fspath(path))

    def __reduce__(self) -> tuple[Any, ...]:
        return Here, (self.whole,)

    @cached_property
    def path(self) -> Path:
        """Its path, made when it is first used."""
        return Path(self.whole)

    @cached_property
    def _before(self) -> str:
        """The prefix of the names of its files."""
        folder = str(self.path)
        return "" if folder == "." else folder.rstrip(os.sep) + os.sep

    @property
    def native(self) -> Path:
        return self.path

    def below(self, name: str) -> Here:
        return Here(self._before + name.replace("/", os.sep))

    def is_folder(self) -> bool:
        return self.path.is_dir()

    def is_file(self) -> bool:
        return self.path.is_file()

    def files(self) -> list[str]:
        return sorted(name for name, entry in _entries(self.path, "", ()) if entry.is_file())

    def dead_links(self) -> list[str]:
        return sorted(n for n, e in _entries(self.path, "", ()) if e.is_symlink() and not os.path.exists(e.path))  # noqa: PTH110

    def open(self) -> IO[bytes]:
        return open(self.whole, "rb")  # noqa: PTH123  # called for every file; a Path would double the time

    def make(self) -> bool:
        there = self.path.is_dir()
        self.path.mkdir(parents=True, exist_ok=True)
        return not there

    def writing(self, *, flushed: bool = True) -> Any:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return replacing(self.path, flushed=flushed)

    def remove(self) -> None:
        with suppress(FileNotFoundError):
            self.path.rmdir() if self.path.is_dir() else self.path.unlink()

    def read(self, limit: int | None = None) -> bytes:
        return read_bytes(self.path, limit)

    def clear_drafts(self) -> None:
        for path in self.path.rglob(".*.tmp"):
            if DRAFT.fullmatch(path.name):
                with suppress(OSError):  # on Windows a virus scanner may have it open; the next run tries again
                    path.unlink()


class There(Place):
    """A file or a folder at a URL."""

    def __init__(self, url: str) -> None:
        super().__init__(url.rstrip("/"))
        self.system, self.path = _system(url)

    def __reduce__(self) -> tuple[Any, ...]:
        return There, (self.whole,)

    def below(self, name: str) -> There:
        return There(f"{self.whole}/{name}")

    def is_folder(self) -> bool:
        return bool(self._asked("isdir"))

    def is_file(self) -> bool:
        return bool(self._asked("isfile"))

    def files(self) -> list[str]:
        self.system.invalidate_cache()
        found = self._asked("find")
        return sorted(str(path)[len(self.path) :].lstrip("/") for path in found)

    def open(self) -> IO[bytes]:
        return io.BufferedReader(_Stream(self, self._asked("open", "rb"), "read"))

    def make(self) -> bool:
        there = self.is_folder()
        if not self._holds_objects:  # object stores have no folders, and a misspelt bucket must not be created
            self._asked("makedirs", exist_ok=True)
        return not there

    @property
    def _holds_objects(self) -> bool:
        protocols = self.system.protocol
        return bool(({protocols} if isinstance(protocols, str) else {*protocols}) & STORES)

    @contextmanager
    def writing(self, *, flushed: bool = True) -> Iterator[BinaryIO]:  # noqa: ARG002  # stores flush by themselves
        try:
            with self._committed() if self._holds_objects else self._renamed() as file:
                yield file
        except OSError as error:
            raise FormatError(self.whole, f"cannot be written: {_why(error)}.") from error

    def write(self, data: bytes, *, flushed: bool = True) -> None:
        if self._holds_objects:  # a single request instead of three
            self._asked("pipe_file", data)
        else:
            super().write(data, flushed=flushed)

    @contextmanager
    def _committed(self) -> Iterator[BinaryIO]:
        """Yield a file for an object, which appears in the store when it is committed."""
        file = self._asked("open", "wb", autocommit=False)
        told = _Stream(self, file, "written")
        try:
            yield cast("BinaryIO", told)
            told.ask(file.close)
            told.ask(file.commit)
        except BaseException:
            with suppress(Exception):  # the first error is raised; a failure to discard the rest does not matter
                file.discard()
            raise

    @contextmanager
    def _renamed(self) -> Iterator[BinaryIO]:
        """Yield a file beside the target, which then replaces it."""
        folder = self.whole.rpartition("/")[0]
        draft = There(f"{folder}/.{secrets.token_hex(8)}.tmp")
        There(folder).make()
        try:
            with draft._asked("open", "wb") as file:
                yield file
            draft._asked("mv", self.path)
        except BaseException:
            with suppress(FormatError):
                draft.remove()
            raise

    def remove(self) -> None:
        with suppress(FileNotFoundError):
            self._asked("rm", recursive=False) if self.is_file() else None

    def read(self, limit: int | None = None) -> bytes:
        with self.open() as file:
            data = file.read(-1 if limit is None else limit + 1)
        if limit is not None and len(data) > limit:
            raise FormatError(self.whole, f"is larger than {limit / 2**20:.4g} MiB, the most that is read.")
        return data

    def _asked(self, what: str, *words: Any, **options: Any) -> Any:
        """Return the answer of the store; its errors become FormatError."""
        try:
            return getattr(self.system, what)(self.path, *words, **options)
        except Exception as error:  # libraries of stores raise errors of any type
            done = "written" if what in ("mv", "makedirs", "pipe_file") or "wb" in words else "reached"
            raise FormatError(self.whole, f"cannot be {done}: {_why(error)}.") from error


class _Stream(io.RawIOBase):
    """An open file of a store; any error of the store's library becomes a FormatError.

    Args:
        place: The file.
        file: The file object of fsspec.
        done: ``"read"`` or ``"written"``, for messages.
    """

    def __init__(self, place: There, file: Any, done: str) -> None:
        self.place, self.file, self.done = place, file, done

    def ask(self, what: Callable[..., Any], *words: Any) -> Any:
        """Return the result of a request to the file system."""
        try:
            return what(*words)
        except Exception as error:
            raise FormatError(self.place.whole, f"cannot be {self.done}: {_why(error)}.") from error

    def readable(self) -> bool:
        return self.done == "read"

    def writable(self) -> bool:
        return self.done == "written"

    def seekable(self) -> bool:
        return self.readable()

    def readinto(self, room: Any) -> int:
        data = self.ask(self.file.read, len(room))
        room[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        self.ask(self.file.write, data)
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self.ask(self.file.seek, offset, whence))

    def tell(self) -> int:
        return int(self.file.tell())

    def close(self) -> None:
        if not self.closed and self.readable():
            self.file.close()
        super().close()


def place_of(where: str | os.PathLike[str] | Place) -> Place:
    """Return the `Place` of a path or a URL.

    Raises:
        MissingExtraError: If it is a URL and fsspec, or the package that it needs for that URL, is not installed.

    Example:
        >>> place_of("answers").below("part.parquet").name
        'part.parquet'
    """
    if isinstance(where, Place):
        return where
    text = os.fspath(where)
    if not isinstance(text, str) or not (found := URL.match(text)):
        return Here(where)
    if found[1].lower() == "file":
        from urllib.request import url2pathname

        return Here(url2pathname(text[found.end() :].removeprefix("localhost")))
    return There(text)


def matching(where: str | os.PathLike[str] | Place) -> tuple[Place, list[str]] | None:
    """Return the folder before the first wildcard of a name, and the files that match; None if it has no wildcard.

    ``**`` stands for any folders. A name of an existing file or folder is not a pattern.
    """
    if isinstance(where, Place) or not WILD.search(text := os.fspath(where)):
        return None
    if place_of(text).is_file() or place_of(text).is_folder():
        return None
    before = text[: WILD.search(text).start()]  # type: ignore[union-attr]
    cut = max(before.rfind("/"), before.rfind(os.sep) if not URL.match(text) else -1) + 1
    folder, pattern = place_of(text[:cut] or "."), text[cut:].replace(os.sep, "/")
    wanted = _translated(pattern)
    return folder, [name for name in (*folder.files(), *folder.dead_links()) if wanted.fullmatch(name)]


def is_below(inner: Place, outer: Place) -> bool:
    """Return whether a place is a folder, or is visible in it."""
    if isinstance(inner, Here) and isinstance(outer, Here):
        one, other = inner.path.resolve(), outer.path.resolve()
        return one.is_relative_to(other) and bool(visible(["/".join(one.relative_to(other).parts)]))
    start = f"{outer.whole}/"
    inside = type(inner) is type(outer) and f"{inner.whole}/".startswith(start)
    return inside and bool(visible([inner.whole[len(start) :]]))


def visible(names: Iterable[str]) -> list[str]:
    """Return names of files, without those in which the file or a folder begins with a dot or ``_``.

    Example:
        >>> visible(["a.csv", "_old/b.csv", "day/.c.csv"])
        ['a.csv']
    """
    return [name for name in names if not any(part.startswith((".", "_")) for part in name.split("/"))]


def _translated(pattern: str) -> re.Pattern[str]:
    """Return a pattern of file names as a regular expression. Python 3.13 has `glob.translate` for this."""
    text = ""
    for piece in re.split(r"(\*\*/|\*\*|\*|\?|\[[^]]*\])", pattern):
        kinds = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        is_set = piece.startswith("[") and piece.endswith("]")
        text += kinds.get(piece) or (piece.replace("[!", "[^") if is_set else re.escape(piece))
    return re.compile(text)


def _system(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError("fsspec", "cloud", f"{URL.match(url)[0]} names") from error  # type: ignore[index]
    try:
        system, path = fsspec.core.url_to_fs(url)
    except ImportError as error:  # s3fs, gcsfs or adlfs is missing
        raise FormatError(url, f"needs another package: {_why(error)}.") from error
    except Exception as error:  # unknown protocols, and any error of a store's library
        raise FormatError(url, f"cannot be reached: {_why(error)}.") from error
    return system, str(path).rstrip("/")


def _entries(folder: Path, before: str, around: tuple[tuple[int, int], ...]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield all files below a folder by name, without following links that lead back to an enclosing folder."""
    own = folder.stat()
    if (own.st_dev, own.st_ino) in around:
        return
    with os.scandir(folder) as found:
        entries = list(found)
    for entry in entries:
        if entry.is_dir():
            yield from _entries(Path(entry.path), f"{before}{entry.name}/", (*around, (own.st_dev, own.st_ino)))
        else:
            yield before + entry.name, entry


def _why(error: BaseException) -> str:
    """Return the first line of an error's message; those of some stores are pages long."""
    said = (getattr(error, "strerror", None) or str(error)).strip() or type(error).__name__
    if isinstance(error, FileNotFoundError) and " " not in said:  # the message is only an internal name of the store
        return "there is no such file, folder or bucket"
    text = " ".join(said.splitlines()[0].split())
    return text[:1].lower() + text[1:400].rstrip(".")
