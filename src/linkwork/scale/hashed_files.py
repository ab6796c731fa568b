"""Files whose digest is computed while they are written."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BUFFER = 2**22  # size of Arrow's write buffer [bytes]


class HashedFile:
    """A file that is written sequentially, with a digest of its content."""

    def __init__(self, file: Any) -> None:
        self.file, self.digest, self.size, self.closed = file, hashlib.sha256(), 0, False

    @contextmanager
    def for_arrow(self) -> Iterator[Any]:
        """Return the object that Arrow writes the whole file to.

        Arrow writes a file of this computer itself, because threads that return to Python for every page block each
        other.
        """
        import pyarrow as pa

        path = getattr(self.file, "name", None)
        if not isinstance(path, str) or not Path(path).is_file():
            with pa.BufferedOutputStream(pa.PythonFile(self, "w"), BUFFER) as sink:
                yield sink
            return
        with pa.OSFile(path, "wb") as sink:
            yield sink
            self.size = sink.tell()
        if self.size:
            with pa.memory_map(path) as whole:
                self.digest.update(whole.read_buffer())

    def write(self, data: Any) -> int:
        self.digest.update(data)
        self.size += len(data)
        self.file.write(data)
        return len(data)

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        pass

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True
