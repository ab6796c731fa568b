"""The machine code of web pages, linkwork.wasm: the kernels it contains, and where it is found.

It is built beside the pack of this machine and is part of every wheel.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import PageError
from .pack import HOME, PackError, check_library, read_listing
from .targets import TARGETS

FUNCTIONS = (  # called by the scripts in web/
    "frames_one", "tip_one", "jacobian_one",
    "search_one", "closest_many", "follow_one", "search_bodies", "step_body",
    "walk",
)  # fmt: skip
WEB_HOME = HOME / "web"


def web_code(folder: Path = WEB_HOME) -> bytes:
    """Return the contents of linkwork.wasm.

    Raises:
        PageError: If it is missing, damaged, or built from other sources.
    """
    wasm = TARGETS["wasm"]
    file = folder / wasm.file
    try:
        listing = read_listing(folder, wasm)
        check_library(file, listing)
        missing = sorted(set(FUNCTIONS) - set(listing["functions"]))
        if missing:
            raise PackError(f"it has no {missing[0]}")
    except PackError as error:
        hint = "python -m linkwork.kernels wasm (it needs linkwork[build])"
        raise PageError(f"no machine code for web pages: {error}. Try: {hint}") from error
    return file.read_bytes()
