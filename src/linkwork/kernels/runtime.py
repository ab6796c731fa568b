"""Where the machine code of a kernel comes from: a prebuilt pack, or Numba's compiler. Only this module knows.

A usable pack is preferred; ``LINKWORK_KERNELS=jit`` ignores it, ``LINKWORK_KERNELS=pack`` requires it.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from .declarations import Kernel
from .pack import Pack, PackError

CHOICES = ("", "pack", "jit")


def callable_of(kernel: Kernel) -> Any:
    """Return the function that Python calls for a kernel."""
    pack = the_pack()
    function = pack.function(kernel) if isinstance(pack, Pack) else None
    if function is not None:
        return function
    from .jit import Compiled

    return Compiled(kernel, pack if isinstance(pack, str) else f"the pack has no {kernel.name}")


@cache
def the_pack() -> Pack | str:
    """Return the pack of this machine, or why there is none, as the end of a sentence."""
    choice = os.environ.get("LINKWORK_KERNELS", "")
    if choice not in CHOICES:
        raise ValueError(f"LINKWORK_KERNELS is 'pack', 'jit' or not set, got {choice!r}.")
    if choice == "jit":
        return "LINKWORK_KERNELS=jit asks for the compiler"
    try:
        return Pack()
    except PackError as error:
        if choice == "pack":
            raise ImportError(f"LINKWORK_KERNELS=pack, but the pack cannot be used: {error}.") from error
        logging.getLogger("linkwork").debug("kernels are compiled by Numba, not taken from a pack: %s", error)
        return str(error)


@dataclass(frozen=True)
class Ready:
    """How the machine code of all kernels was made ready.

    Attributes:
        origin: ``"pack"`` or ``"compiler"``.
        said: The same as a sentence.
        seconds: Time taken [s].
        kept: Whether later processes can reuse it.
    """

    origin: str
    said: str
    seconds: float
    kept: bool


def warm(progress: Callable[[int, int, str], None] | None = None) -> Ready:
    """Make sure that there is machine code for all kernels; compile what is missing.

    Args:
        progress: Called with the number of compiled functions, their total number and the name of the last one.
    """
    began, pack = time.perf_counter(), the_pack()
    if isinstance(pack, Pack):
        level = f" ({pack.level})" if pack.level else ""
        said = f"they come from a pack for {pack.listing['target']}{level}"
        return Ready("pack", said, time.perf_counter() - began, kept=True)
    from . import jit, store

    trouble = jit.warm(progress)
    seconds = time.perf_counter() - began
    if trouble:
        said = f"compiled in {seconds:.1f} s, but nothing could be kept, so each process compiles again: {trouble}"
    else:
        said = f"compiled in {seconds:.1f} s and kept in {', '.join(map(str, store.kept().folders))}; no pack: {pack}"
    return Ready("compiler", said, seconds, kept=not trouble)
