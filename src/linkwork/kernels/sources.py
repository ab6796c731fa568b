"""Hashes of the sources, which identify what machine code was compiled from."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
HOST = {  # files that are neither compiled nor influence how others are
    "__main__.py", "binding.py", "build.py", "cards.py", "devices.py", "inspection.py", "jit.py", "linker.py",
    "pack.py", "runtime.py", "sources.py", "store.py", "threads.py", "web.py", "workers.py",
}  # fmt: skip
COMPILING = ("__init__.py", "calling.py", "compiler.py", "emission.py", "libm.zig", "machine_emission.py", "objects.py")


@cache
def source_hash(folder: Path = FOLDER, *, cards: bool = False) -> str:
    """Return a hash, as text, of the sources in a folder, without those of `HOST`.

    Sources for GPUs (``cuda*``) are included only if `cards` is set.
    """
    found = (*folder.glob("*.py"), *folder.glob("*/*.py"), *folder.glob("*.zig"))
    return _hash(path for path in found if cards or not path.name.startswith("cuda"))


@cache
def hash_of(module: str) -> str:
    """Return a hash of the sources of one module's kernels: the module, its imports, their imports, and so on."""
    needed, waiting = set(), [*(FOLDER / name for name in COMPILING), _file(module)]
    while waiting:
        path = waiting.pop()
        if path not in needed and path.is_file():
            needed.add(path)
            waiting += _imported(path)
    return _hash(needed)


def _hash(paths: Iterable[Path]) -> str:
    check, size = 0, 0
    for path in sorted(paths):
        if path.name not in HOST:
            content = path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0"
            check, size = zlib.crc32(content, check), size + len(content)
    return f"{size:x}-{check:08x}"


@cache
def _imported(path: Path) -> list[Path]:
    """Return the files of this package that a file imports, anywhere in it."""
    if path.suffix != ".py" or path.name in HOST:
        return []
    found = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.level:
            home = path.parents[node.level - 1]
            if FOLDER not in (home, *home.parents):
                continue
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found += [_file(name, home) for name in names]
    return found


def _file(module: str, home: Path = FOLDER) -> Path:
    """Return the file of a module, by its name below a folder; it may not exist."""
    path = home.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
