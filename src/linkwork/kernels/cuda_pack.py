"""Kernels for any chain as PTX, compiled ahead of time: the driver of any card turns it into machine code in a moment.

One file for all platforms, `cards.zip` in the folder of the packs: the kernels by precision and bound, and a listing
that says what they were made from. One that is damaged or out of date is not used: numba-cuda compiles them instead.
"""

from __future__ import annotations

import json
import logging
import re
import zipfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from .cuda import KNOWN, Kernel, to_device
from .cuda_chain import MOST_COLUMNS, any_jacobian, any_tip, any_widen, jacobian_kernel
from .cuda_generic import BOUNDS, AnyParts
from .cuda_search import Kernels, search_kernels
from .joint_step import ROW_CODES
from .pack import HOME, PackError
from .sources import source_hash
from .threads import cores

FORMAT, FILE, LISTING = 1, "cards.zip", "cards.json"
CAPABILITY = (7, 5)  # of the oldest cards that CUDA 13 knows
CHAIN = {"tip": any_tip, "jacobian": any_jacobian, "widen": any_widen}
LEFT_OUT = r"(?m)^(//|\.common .*NumbaEnv).*\n"  # of PTX: remarks, and what Numba would tell Python, in any order
PTX = "8.0"  # what drivers of CUDA 12.0 and newer read; the kernels use nothing that is newer


@cache
def any_kernels(dtype: Any, bound: int) -> Kernels:
    """Return the kernels of the search for all chains of so many values at most."""
    real = np.dtype(dtype)
    return search_kernels(AnyParts(real.type, bound), ahead(f"{real.name}-{bound}"))


@cache
def chain_kernel(name: str) -> Any:
    """Return the kernel ``"tip"``, ``"jacobian"`` or ``"widen"`` of `cuda_chain` for all chains."""
    return CHAIN[name](ahead("chain").get(name, ""))


def frame_kernel(
    codes: Any, numbers: Any, rates: Any, nq: int, nv: int, what: str
) -> tuple[Any, tuple[Any, ...], tuple[int, ...]]:
    """Return the kernel for a frame (``"tip"``) or its Jacobian (``"world"`` or ``"local"``), its program and numbers.

    `devices.mapped` takes them.
    """
    rows, local = len(codes) // ROW_CODES.size, what == "local"
    if what == "tip":
        return chain_kernel("tip"), (to_device(codes), to_device(numbers)), (rows, nq)
    if len(rates) > MOST_COLUMNS:
        return jacobian_kernel(codes, numbers, rates, nq, nv, local), (), ()
    return chain_kernel("jacobian"), tuple(map(to_device, (codes, numbers, rates))), (rows, nq, nv, int(local))


def ahead(group: str) -> dict[str, str]:
    """Return the PTX of kernels by name, as far as it was compiled ahead of time."""
    found = _read()
    return {} if isinstance(found, str) else found.get(group, {})


def why_not() -> str:
    """Return why kernels compiled ahead of time are not used, as the end of a sentence; nothing if they are."""
    found = _read()
    return found if isinstance(found, str) else ""


@cache
def _read() -> dict[str, dict[str, str]] | str:
    try:
        return read(HOME / FILE)
    except PackError as error:
        logging.getLogger("linkwork").debug("kernels for cards are compiled by numba-cuda: %s", error)
        return str(error)


def read(path: Path) -> dict[str, dict[str, str]]:
    """Return the PTX of a file, by group and kernel.

    Raises:
        PackError: If it is not there, damaged, or made from other sources.
    """
    try:
        with zipfile.ZipFile(path) as file:
            listing = json.loads(file.read(LISTING))
            texts = {name: file.read(name).decode() for name in file.namelist() if name.endswith(".ptx")}
    except FileNotFoundError:
        raise PackError("there are none") from None
    except (OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
        raise PackError(f"{path} is damaged: {error}") from error
    if not isinstance(listing, dict) or listing.get("format") != FORMAT:
        raise PackError(f"{path} is not of format {FORMAT}")
    if listing.get("sources") != source_hash(cards=True):
        raise PackError(f"{path} was made from other sources of the kernels")
    found: dict[str, dict[str, str]] = {}
    for name, text in texts.items():
        group, _, kernel = name.removesuffix(".ptx").rpartition("/")
        found.setdefault(group, {})[kernel] = text
    return found


def build(folder: Path, workers: int | None = None) -> Path:
    """Compile all kernels for any chain into a file of a folder. It needs numba-cuda and CUDA's compiler, but no card.

    Raises:
        PackError: If numba-cuda is not a version that is known here.
    """
    from .. import __version__

    if not KNOWN:
        raise PackError("kernels for cards are compiled ahead of time by numba-cuda 0.30 alone")
    listing = {"format": FORMAT, "linkwork": __version__, "sources": source_hash(cards=True)}
    files = {LISTING: json.dumps(listing, indent=1) + "\n"}
    names = [name for name, _ in everything()]
    # a process for each, so that what Numba counts is the same every time
    with ProcessPoolExecutor(workers or cores(), mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        files |= {f"{name}.ptx": text for name, text in zip(names, pool.map(compile_ahead, names), strict=True)}
    folder.mkdir(parents=True, exist_ok=True)
    draft = (folder / FILE).with_suffix(".draft")
    with zipfile.ZipFile(draft, "w") as file:
        for name, text in files.items():
            file.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED, 9)
    return draft.replace(folder / FILE)


def compile_ahead(name: str) -> str:
    """Return one of the kernels of `everything` as PTX: the work of one process."""
    with _any_card():
        ptx = dict(everything())[name].compiled(CAPABILITY)
    return re.sub(LEFT_OUT, "", re.sub(r"(?m)^\.version .*$", f".version {PTX}", ptx))


def everything() -> Iterator[tuple[str, Kernel]]:
    """Yield all kernels that are compiled ahead of time."""
    for kind in (np.float32, np.float64):
        for bound in BOUNDS:
            for kernel in search_kernels(AnyParts(kind, bound)):
                yield f"{np.dtype(kind).name}-{bound}/{kernel.name}", kernel
    for name, made in CHAIN.items():
        yield f"chain/{name}", made()


@contextmanager
def _any_card() -> Iterator[None]:
    """Let numba-cuda compile device functions where there is no card to ask what it can do."""
    from numba.cuda import dispatcher

    ask = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=CAPABILITY)
    try:
        yield
    finally:
        dispatcher.get_current_device = ask
