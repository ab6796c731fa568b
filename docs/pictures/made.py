"""Records in `made.json` which script made each picture, with a digest of the script, for `tests/test_pictures.py`.

A script runs its `main` in a `with recorded(...)` block; all pictures that change in it are attributed to the script.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
LIST = HERE / "made.json"
KINDS = {".png", ".gif", ".svg"}


def pictures() -> list[Path]:
    """Return all pictures of the documentation."""
    return sorted(path for path in HERE.rglob("*.*") if path.suffix in KINDS)


def digest(script: Path) -> str:
    """Return a digest of a script, as text."""
    return hashlib.sha256(script.read_bytes().replace(b"\r\n", b"\n")).hexdigest()[:16]


@contextmanager
def recorded(file: str) -> Iterator[None]:
    """Record all pictures that are written in the block as made by a script."""
    script = Path(file).resolve()
    before = {path: path.stat().st_mtime_ns for path in pictures()}
    yield
    rows = json.loads(LIST.read_text(encoding="utf-8")) if LIST.exists() else {}
    for path in pictures():
        if before.get(path) != path.stat().st_mtime_ns:
            rows[path.relative_to(HERE).as_posix()] = {"script": script.name, "digest": digest(script)}
    LIST.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8", newline="\n")
