"""Kernels for any chain as PTX, compiled ahead of time: any GPU's driver turns it into machine code in a moment.

One file for all platforms, `cards.zip` in the folder of the packs: the kernels by precision and bound, and a listing
that tells what they were made from. A file that is damaged or out of date is not used: numba-cuda compiles the kernels
instead.
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
CAPABILITY = (7, 5)  # of the oldest GPUs that CUDA 13 supports
CHAIN = {"tip": any_tip, "jacobian": any_jacobian, "widen": any_widen}
LEFT_OUT = r"(?m)^(//|\.common .*NumbaEnv).*\n"  # of PTX: comments, and Numba's environment for Python, in any order
PTX = "8.0"  # readable by drivers of CUDA 12.0 and newer; the kernels use nothing newer


@cache
def any_kernels(dtype: Any, bound: int) -> Kernels:
    """Return the kernels of the search for all chains with at most `bound` values."""
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

    They are the arguments of `devices.mapped`.
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
    """Return why kernels compiled ahead of time are not used, as the end of a sentence; empty if they are."""
    found = _read()
    return found if isinstance(found, str) else ""


@cache
def _read() -> dict[str, dict[str, str]] | str:
    try:
        return read(HOME / FILE)
    except PackError as error:
        logging.getLogger("linkwork").debug("kernels for GPUs are compiled by numba-cuda: %s", error)
        return str(error)


def read(path: Path) -> dict[str, dict[str, str]]:
    """Return the PTX of a file, by group and kernel.

    Raises:
        PackError: If it is missing, damaged, or made from other sources.
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
    """Compile all kernels for any chain into a file of a folder; needs numba-cuda and CUDA's compiler, but no GPU.

    Raises:
        PackError: If this version of numba-cuda is not supported.
    """
    from .. import __version__

    if not KNOWN:
        raise PackError("kernels for GPUs are compiled ahead of time by numba-cuda 0.30 only")
    listing = {"format": FORMAT, "linkwork": __version__, "sources": source_hash(cards=True)}
    files = {LISTING: json.dumps(listing, indent=1) + "\n"}
    names = [name for name, _ in everything()]
    # one process for each, so that Numba's counters are the same every time
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
    """Let numba-cuda compile device functions without a GPU to query its capabilities."""
    from numba.cuda import dispatcher

    ask = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=CAPABILITY)
    try:
        yield
    finally:
        dispatcher.get_current_device = ask
