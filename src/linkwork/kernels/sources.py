"""The sources of the machine code: a number made from them says what it was compiled from."""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
HOST = {  # nothing in them is compiled, or says how
    "__main__.py", "binding.py", "build.py", "devices.py", "inspection.py", "jit.py", "linker.py", "pack.py",
    "runtime.py", "sources.py", "store.py", "web.py", "workers.py",
}  # fmt: skip


@cache
def source_hash(folder: Path = FOLDER, *, cards: bool = False) -> str:
    """Return a number, as text, that changes with the sources in a folder, those of `HOST` aside.

    Only `cards` are interested in what is written for them.
    """
    check, size = 0, 0
    for path in sorted((*folder.glob("*.py"), *folder.glob("*.zig"))):
        if path.name not in HOST and (cards or not path.name.startswith("cuda")):
            content = path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0"
            check, size = zlib.crc32(content, check), size + len(content)
    return f"{size:x}-{check:08x}"
