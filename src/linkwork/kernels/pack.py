"""Packs: the machine code of all kernels for one platform, built ahead of time, in a folder beside this file.

A pack is a library and a listing, `pack.json`: what it was built from and for, its size and checksum, and the
signatures of its functions. A pack that is damaged, out of date or for another platform is not loaded; `PackError`
tells why.
"""

from __future__ import annotations

import ctypes
import json
import os
import zlib
from pathlib import Path
from typing import Any

from .binding import HEAD, builtin
from .declarations import Kernel
from .sources import FOLDER, source_hash
from .targets import Level, Target, host

FORMAT = 1  # of the listing
HOME = FOLDER / "pack"
LISTING = "pack.json"


class PackError(Exception):
    """A pack that cannot be used; the message is the reason, as the end of a sentence."""


class Pack:
    """The pack in a folder, loaded for this machine.

    Args:
        folder: The folder.

    Attributes:
        library: The loaded library.
        level: The instruction set in use.
        listing: The contents of `pack.json`.

    Raises:
        PackError: If it cannot be used here.
    """

    def __init__(self, folder: Path = HOME) -> None:
        target = host()
        if target is None:
            raise PackError("there is none for this platform")
        self.listing = read_listing(folder, target)
        path = folder / target.file
        check_library(path, self.listing)
        try:
            self.library = ctypes.CDLL(str(path))
        except OSError as error:
            raise PackError(f"{path} cannot be loaded: {error}") from error
        self.level = self._best_level(target)

    def function(self, kernel: Kernel) -> Any:
        """Return the function that Python calls for a kernel, or None if the pack lacks it or has other signatures."""
        found = self.listing["functions"].get(kernel.name)
        if found is None or found["signatures"] != [*map(str, kernel.signatures)] or found["nogil"] != kernel.nogil:
            return None
        return builtin(kernel, self.address(f"call_{HEAD}"), [self.address(symbol) for symbol in kernel.symbols])

    def address(self, symbol: str, level: str | None = None) -> int:
        """Return the address of a function, at the level in use or at another."""
        level = self.level if level is None else level
        try:
            function = getattr(self.library, f"{symbol}__{level}" if level else symbol)
        except AttributeError as error:
            raise PackError(f"{symbol} is not in its library") from error
        return int(ctypes.cast(function, ctypes.c_void_p).value or 0)

    def _best_level(self, target: Target) -> str:
        """Return the name of the highest level of both pack and processor, or the one that LINKWORK_LEVEL names."""
        there: list[str] = self.listing["levels"]
        chosen = os.environ.get("LINKWORK_LEVEL", "")
        if chosen:
            if chosen not in there:
                raise PackError(f"LINKWORK_LEVEL={chosen} is none of its instruction sets: {', '.join(there)}")
            return chosen
        if len(target.levels) == 1:
            return there[0]
        prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
        number = int(prototype(self.address("processor_level", there[0]))(None))
        fit = [name for name in there if int(name[1:]) <= number]
        if not fit:
            raise PackError(f"the processor lacks its lowest instruction set, x86-64-{there[0]}")
        return fit[-1]


def read_listing(folder: Path, target: Target) -> dict[str, Any]:
    """Return the listing of a pack, checked to be for a target and for these sources."""
    try:
        listing = json.loads((folder / LISTING).read_bytes())
    except OSError as error:
        raise PackError("there is none" if isinstance(error, FileNotFoundError) else f"{error}") from error
    except ValueError as error:
        raise PackError(f"{folder / LISTING} is damaged: {error}") from error
    if not isinstance(listing, dict) or listing.get("format") != FORMAT:
        raise PackError(f"{folder / LISTING} is not a listing of format {FORMAT}")
    wanted = {"target": str, "sources": str, "size": int, "crc32": int, "levels": list, "functions": dict}
    odd = [name for name, kind in wanted.items() if not isinstance(listing.get(name), kind)]
    if odd:
        raise PackError(f"{folder / LISTING} has no {odd[0]}")
    if listing["target"] != target.name:
        raise PackError(f"it is for {listing['target']}, and this is {target.name}")
    if listing["sources"] != source_hash():
        raise PackError("it was made from other sources of the kernels")
    return listing


def check_library(path: Path, listing: dict[str, Any]) -> None:
    """Raise a PackError if a library is not the one that a listing describes."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PackError(f"{path} cannot be read: {error.strerror}") from error
    if len(content) != listing["size"] or zlib.crc32(content) != listing["crc32"]:
        raise PackError(f"{path} is damaged: it is not the file that was built")


def write_listing(folder: Path, target: Target, levels: tuple[Level, ...], kernels: list[Kernel], version: str) -> None:
    """Write the listing of a library that was built."""
    content = (folder / target.file).read_bytes()
    listing = {
        "format": FORMAT,
        "linkwork": version,
        "target": target.name,
        "sources": source_hash(),
        "size": len(content),
        "crc32": zlib.crc32(content),
        "levels": [level.name for level in levels],
        "functions": {
            one.name: {"signatures": [*map(str, one.signatures)], "symbols": [*one.symbols], "nogil": one.nogil}
            for one in sorted(kernels, key=lambda one: one.name)
        },
    }
    (folder / LISTING).write_text(json.dumps(listing, indent=1) + "\n", encoding="utf-8", newline="\n")
