"""How functions become code for a graphics card: device functions, kernels, and the cache that keeps them.

This imports numba-cuda (the extra `cuda`), so it is imported only where a card was asked for. With
``NUMBA_ENABLE_CUDASIM=1`` all of it runs in numba-cuda's simulator, as plain Python.
"""

from __future__ import annotations

import ctypes
import logging
import math
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version
from threading import Lock
from typing import Any

import numpy as np
from numba import config, cuda, float32, float64

from ..errors import DeviceError
from .compiler import PLAIN, missing
from .damped import nearest_copy
from .sources import source_hash
from .symbolic import Trace, compiled

KINDS = {"float32": float32, "float64": float64}
PER_TURN, HALF = np.float32(0.5 / math.pi), np.float32(0.5)
TURN = np.float32(6.28125)  # few enough bits that its products with a turn count are exact
TURN_REST = np.float32(2.0 * math.pi - 6.28125)
SIMULATED = bool(config.ENABLE_CUDASIM)
# numba-cuda's private parts that are used for quick launches and for the cache: where they are as tested
NEEDED: dict[str, tuple[str, ...] | None] = {
    "numba.cuda.dispatcher:CUDACache._index_key": ("self", "sig", "codegen"),
    "numba.cuda.dispatcher:CUDACache.load_overload": ("self", "sig", "target_context"),
    "numba.cuda.dispatcher:LaunchConfig": None,
    "numba.cuda.dispatcher:launch": None,
    "numba.cuda.dispatcher:CUDADispatcher.typeof_pyval": ("self", "val"),
    "numba.cuda.cudadrv.driver:_to_core_stream": None,
    "numba.cuda.cudadrv.driver:driver": None,
    "numba.cuda.codegen:CUDACodeLibrary.get_cufunc": ("self",),
}
KNOWN = not SIMULATED and not PLAIN and version("numba-cuda").startswith("0.30.") and not missing(NEEDED)
if not KNOWN:
    logging.getLogger("linkwork").debug(
        "kernels for cards are launched and kept as numba-cuda %s does", version("numba-cuda")
    )
COMPILING, PACKED = Lock(), "_linkwork_packed"
THREADS = 16 if SIMULATED else 128  # of a block
device_array, pinned_array, to_device, stream = cuda.device_array, cuda.pinned_array, cuda.to_device, cuda.stream
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # small batches are meant to be small


def device(function: Callable[..., Any], *, fast: bool = False) -> Any:
    """Compile a function that kernels call and that becomes part of them; `fast` trades last bits for speed."""
    if SIMULATED:
        return cuda.jit(device=True)(function)
    return cuda.jit(device=True, forceinline=True, fastmath=fast)(function)


@cache
def shared(function: Callable[..., Any], *, fast: bool = False) -> Any:
    """Return a device function that many others call, compiled once for all of them."""
    return device(function, fast=fast)


def kernel(function: Callable[..., Any], key: str, *, fast: bool = False, blocks: int = 1) -> Any:
    """Compile a function that the host launches in blocks of THREADS; keep the result on disk.

    Args:
        function: The function.
        key: What the result depends on beside the sources of the kernels.
        fast: Whether last bits may be traded for speed.
        blocks: How many blocks must fit on one multiprocessor: the more, the fewer registers for each thread.
    """
    if SIMULATED:
        return cuda.jit(function)
    dispatcher = cuda.jit(fastmath=fast, launch_bounds=(THREADS, blocks))(function)
    if KNOWN:
        with suppress(RuntimeError):  # no folder can be written to: compile in every process
            dispatcher._cache = _cache_of(function, key)
    return Kernel(dispatcher)


class Kernel:
    """A kernel that is launched quickly, from any thread: ``kernel[blocks, threads, stream](*arrays, *numbers)``.

    Numba takes a tenth of a millisecond to look at twenty arguments, more than a small batch takes to solve. All arrays
    of our kernels are flat, so there is little to look at. Where numba-cuda is not KNOWN, it launches them itself.
    """

    def __init__(self, dispatcher: Any) -> None:
        self.dispatcher = dispatcher
        self._compiled: dict[tuple[Any, ...], Any] = {}

    def __getitem__(self, configuration: tuple[Any, ...]) -> Callable[..., None]:
        blocks, threads, *stream = configuration
        return partial(self._launch, blocks, threads, stream[0] if stream else 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dispatcher, name)

    def _launch(self, blocks: int, threads: int, stream: Any, *arguments: Any) -> None:
        kinds: list[str] = []
        packed: list[Any] = []
        for argument in arguments:
            _pack(argument, packed, kinds)
        ready = self._compiled.get(tuple(kinds))
        if ready is None:
            self._launch_first(blocks, threads, stream, arguments, tuple(kinds))
            return
        from numba.cuda.cudadrv import driver
        from numba.cuda.dispatcher import LaunchConfig, launch

        launch(driver._to_core_stream(stream), LaunchConfig(grid=(blocks, 1, 1), block=(threads, 1, 1)), ready, *packed)

    def _launch_first(self, blocks: int, threads: int, stream: Any, arguments: Any, kinds: tuple[str, ...]) -> None:
        """Compile and launch; Numba loads what it has compiled for one thread at a time."""
        with COMPILING:
            try:
                self.dispatcher[blocks, threads, stream](*arguments)
            except unusable() as error:
                raise DeviceError(
                    f"kernels cannot be compiled for this graphics card: {str(error).strip().splitlines()[0]} "
                    "Update the driver, or install CUDA's compiler library: pip install 'numba-cuda[cu13]'."
                ) from error
            if KNOWN:
                types = tuple(self.dispatcher.typeof_pyval(a) for a in arguments)
                self._compiled[kinds] = self.dispatcher.overloads[types]._codelibrary.get_cufunc().kernel


def unusable() -> tuple[type[Exception], ...]:
    """Return the errors of libraries that are missing or do not go with the driver."""
    from cuda.pathfinder import DynamicLibNotFoundError
    from numba.cuda.cudadrv import driver, error

    supports = (error.CudaSupportError, error.NvvmSupportError, error.NvrtcSupportError, error.CCSupportError)
    return (*supports, driver.LinkerError, DynamicLibNotFoundError)


def _pack(argument: Any, packed: list[Any], kinds: list[str]) -> None:
    """Add what a kernel is given for an argument: a flat array, a number, or a tuple of numbers."""
    if isinstance(argument, tuple):
        for item in argument:
            _pack(item, packed, kinds)
    elif isinstance(argument, int):
        packed.append(ctypes.c_int64(argument))
    elif isinstance(argument, np.float32):
        packed.append(ctypes.c_float(float(argument)))
    elif isinstance(argument, float):  # also of NumPy
        packed.append(ctypes.c_double(argument))
    else:
        known = argument.__dict__.get(PACKED)
        if known is None:  # no owner, no parent; how many, how large, where; shape and strides
            size, width = argument.size, argument.dtype.itemsize
            pointer = argument.device_ctypes_pointer.value or 0
            known = argument.__dict__[PACKED] = (argument.dtype.char, (0, 0, size, width, pointer, size, width))
        kinds.append(known[0])
        packed += known[1]


def processors() -> int:
    """Return how many multiprocessors the card has."""
    return 1 if SIMULATED else int(cuda.get_current_device().MULTIPROCESSOR_COUNT)


def fetch(memory: Any, host: Any, stream: Any) -> None:
    """Copy a few numbers to the host, and wait for them."""
    if stream or not KNOWN:
        memory.copy_to_host(host, stream)
        if stream:
            stream.synchronize()
        return
    from numba.cuda.cudadrv.driver import driver

    driver.cuMemcpyDtoH(host.ctypes.data, memory.device_ctypes_pointer.value, host.nbytes)


def _cache_of(function: Callable[..., Any], key: str) -> Any:
    """Return numba-cuda's cache on disk, keyed by all sources; the closure's own values say nothing that lasts."""
    from numba.cuda.dispatcher import CUDACache

    class KernelCache(CUDACache):  # type: ignore[misc,unused-ignore]
        def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
            return sig, codegen.magic_tuple(), source_hash(cards=True), key

    return KernelCache(function)


# What written functions call


def choose(mask, yes, no):
    """Return one of two numbers."""
    return yes if mask else no


def wrapped(angle):
    """Return an angle brought to [-pi, pi) by whole turns; one that is there keeps its bits."""
    if abs(angle) < math.pi:
        return angle
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


def both(angle):
    """Return sine and cosine."""
    return math.sin(angle), math.cos(angle)


def both_of_any(angle):
    """Return sine and cosine in single precision of an angle that may be several turns: the quick ones want small."""
    turns = math.floor(angle * PER_TURN + HALF)
    near = (angle - turns * TURN) - turns * TURN_REST
    return math.sin(near), math.cos(near)


def written(trace: Trace, name: str, parameters: list[str], results: list[str], *, turning: bool = False) -> Any:
    """Return the device function of a trace, and a text that says all about it.

    Single precision is fast, double precision is right. `turning` says that angles may be several turns.
    """
    fast = trace.dtype is np.float32
    source = trace.source(name, parameters, results)
    called = {"choose": choose, "wrapped": wrapped, "nearest_copy": nearest_copy.py_func}
    called["sine_cosine"] = both_of_any if fast and turning else both
    names = {word: shared(function, fast=fast) for word, function in called.items()} | trace.names
    function = device(compiled(name, source, {"sqrt": math.sqrt, "float64": float64, **names}), fast=fast)
    return function, f"{source} {sorted(trace.names.items())} {fast} {turning}"


def items(name: str, count: int, kind: str = "") -> Any:
    """Return a device function that reads a tuple of numbers from an array, from a place on."""
    listed = ", ".join(f"{kind}(memory[at + {k}])" for k in range(count))
    return device(compiled(name, f"def {name}(memory, at):\n    return ({listed},)\n", dict(KINDS)))


def put(name: str, count: int) -> Any:
    """Return a device function that writes a tuple of numbers into an array, from a place on."""
    lines = "".join(f"    memory[at + {k}] = values[{k}]\n" for k in range(count))
    return device(compiled(name, f"def {name}(memory, at, values):\n{lines}", {}))


def cast(name: str, count: int, kind: str) -> Any:
    """Return a device function that gives a tuple's numbers another precision."""
    listed = ", ".join(f"{kind}(values[{k}])" for k in range(count))
    return device(compiled(name, f"def {name}(values):\n    return ({listed},)\n", dict(KINDS)))
