"""Compile functions for GPUs: device functions, kernels, their cache and their launch.

This imports numba-cuda (the extra `cuda`), so it is imported only if a GPU was requested. With
``NUMBA_ENABLE_CUDASIM=1`` everything runs in numba-cuda's simulator, as plain Python.
"""

from __future__ import annotations

import ctypes
import logging
import math
import re
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from inspect import signature
from threading import Lock
from typing import Any

import numpy as np
from numba import config, cuda, float32, float64, types

from ..errors import DeviceError
from . import store
from .cards import current_card
from .compiler import missing
from .damped import nearest_copy
from .sources import source_hash
from .symbolic import Trace, compiled

KINDS = {"float32": float32, "float64": float64}
DTYPES = {"f8": float64, "f4": float32, "i8": types.int64, "i4": types.int32, "i1": types.int8, "b1": types.boolean}
PER_TURN, HALF = np.float32(0.5 / math.pi), np.float32(0.5)
TURN = np.float32(6.28125)  # few enough bits for exact products with a number of turns
TURN_REST = np.float32(2.0 * math.pi - 6.28125)
SIMULATED = bool(config.ENABLE_CUDASIM)
# unsigned index into an array: Numba counts possibly negative ones from the end, which takes time
PLACE: Any = int if SIMULATED else np.uint64
NEEDED: dict[str, tuple[str, ...] | None] = {  # used parts of numba-cuda's private API and of cuda-core
    "numba.cuda:compile": ("pyfunc", "sig"),
    "numba.cuda.cudadrv.driver:driver": None,
    "cuda.core:launch": None,
    "cuda.core:LaunchConfig": None,
    "cuda.core:Linker.link": None,
    "cuda.core:ObjectCode.from_cubin": None,
    "cuda.core:Stream.from_handle": None,
    "cuda.core._utils.cuda_utils:CUDAError": None,
}
# how kernels receive their arguments may change between versions
KNOWN = not SIMULATED and version("numba-cuda").startswith("0.30.") and not missing(NEEDED)
if not KNOWN:
    logging.getLogger("linkwork").debug("kernels for GPUs are launched by numba-cuda %s itself", version("numba-cuda"))
COMPILING, PACKED = Lock(), "_linkwork_packed"
THREADS = 16 if SIMULATED else 128  # per block
ENTRY = re.compile(r"\.entry\s+([\w$]+)")  # of a kernel, in PTX
device_array, pinned_array, to_device, stream = cuda.device_array, cuda.pinned_array, cuda.to_device, cuda.stream
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # small batches are small on purpose


def device(function: Callable[..., Any], *, fast: bool = False, inline: bool = True) -> Any:
    """Compile a function that kernels call; `fast` trades last bits for speed.

    It is inlined into its callers, unless `inline` leaves that to the compiler, for long functions.
    """
    if SIMULATED:
        return cuda.jit(device=True)(function)
    return cuda.jit(device=True, forceinline=inline, fastmath=fast)(function)


@cache
def shared(function: Callable[..., Any], *, fast: bool = False) -> Any:
    """Return a device function that many others call, compiled once for all of them."""
    return device(function, fast=fast)


def kernel(
    function: Callable[..., Any], kinds: dict[str, Any], key: str, *, fast: bool = False, blocks: int = 1, ptx: str = ""
) -> Any:
    """Return a function as a kernel that the host launches: ``kernel[blocks, threads, stream](...)``.

    Args:
        function: The function. Its arguments are flat arrays, named tuples of them, and integers.
        kinds: Types of its arguments by name; others are integers.
        key: What the code depends on besides the sources of the kernels.
        fast: Whether last bits may be traded for speed.
        blocks: Number of blocks of THREADS that must fit on one multiprocessor: the more, the fewer registers per
            thread.
        ptx: The function as PTX, if it was compiled before.
    """
    if SIMULATED:
        return cuda.jit(function)
    if not KNOWN:
        return cuda.jit(fastmath=fast, launch_bounds=(THREADS, blocks))(function)
    return Kernel(function, kinds, key, fast=fast, blocks=blocks, ptx=ptx)


class Kernel:
    """A kernel that is compiled, or read from the cache, when it is first launched, from any thread.

    Numba takes a tenth of a millisecond to inspect twenty arguments, more than a small batch takes to solve. All arrays
    of our kernels are flat and of known types, so there is little to inspect.
    """

    def __init__(
        self, function: Callable[..., Any], kinds: dict[str, Any], key: str, *, fast: bool, blocks: int, ptx: str
    ) -> None:
        self.function, self.key, self.fast, self.blocks, self.ptx = function, key, fast, blocks, ptx
        self.name = function.__name__
        self.types = tuple(_type(kinds.get(name, "i8")) for name in signature(function).parameters)
        self._chars = "".join(map(_chars, self.types))
        self._ready: dict[int, Any] = {}  # by GPU number

    def __getitem__(self, configuration: tuple[Any, ...]) -> Callable[..., None]:
        blocks, threads, *stream = configuration
        return partial(self._launch, blocks, threads, stream[0] if stream else 0)

    def _launch(self, blocks: int, threads: int, stream: Any, *arguments: Any) -> None:
        from cuda.core import LaunchConfig, Stream, launch

        ready = self._ready.get(current_card()) or self._load()
        kinds: list[str] = []
        packed: list[Any] = []
        for argument in arguments:
            _pack(argument, packed, kinds)
        if "".join(kinds) != self._chars:
            raise TypeError(f"the kernel {self.name} takes {self._chars}, got {''.join(kinds)}.")
        queue = Stream.from_handle(int(stream))
        launch(queue, LaunchConfig(grid=(blocks, 1, 1), block=(threads, 1, 1)), ready, *packed)

    def _load(self) -> Any:
        """Load the machine code onto the GPU, one thread at a time."""
        from cuda.core import ObjectCode

        with COMPILING:
            card = current_card()
            if card not in self._ready:
                self._ready[card] = ObjectCode.from_cubin(self._cubin()).get_kernel(self.name)
            return self._ready[card]

    def _cubin(self) -> bytes:
        """Return the machine code for the current GPU, which is cached; one process at a time compiles it."""
        own = cuda.current_context().device.compute_capability
        driver = ".".join(map(str, cuda.cudadrv.driver.driver.get_version()))
        key = (
            f"{self.name} sm_{own[0]}{own[1]} driver {driver} numba-cuda {version('numba-cuda')} "
            f"{source_hash(cards=True)} {self.key} {self.fast} {self.blocks} {self._chars}"
        )
        code = store.find(key)
        if code is None:
            with store.alone(key):
                code = store.find(key)
                if code is None:
                    code = self._assembled(own[0], own[1])
                    store.keep(key, code)
        return code

    def _assembled(self, major: int, minor: int) -> bytes:
        """Return the machine code of the existing PTX or, if the driver rejects it, of PTX compiled now."""
        from cuda.bindings.nvjitlink import nvJitLinkError
        from cuda.core._utils.cuda_utils import CUDAError

        if self.ptx:
            try:
                return assembled(self.ptx, f"sm_{major}{minor}")
            except (CUDAError, nvJitLinkError, RuntimeError) as error:
                logging.getLogger("linkwork").warning(
                    "%s is compiled by numba-cuda: the driver rejects the prebuilt PTX (%s)", self.name, error
                )
        return assembled(self.compiled((major, minor)), f"sm_{major}{minor}")

    def compiled(self, capability: tuple[int, int]) -> str:
        """Return the kernel as PTX, under its own name."""
        how: dict[str, Any] = {"device": False, "abi": "numba", "fastmath": self.fast}
        try:
            ptx, _ = cuda.compile(self.function, self.types, cc=capability, launch_bounds=(THREADS, self.blocks), **how)
        except unusable() as error:
            raise DeviceError(
                f"kernels cannot be compiled for this graphics card: {str(error).strip().splitlines()[0]} "
                "Update the driver, or install CUDA's compiler library: pip install 'numba-cuda[cu13]'."
            ) from error
        except AttributeError as error:  # NumPy 2.5 lacks a name that numba-cuda 0.30 uses
            raise DeviceError(
                f"numba-cuda {version('numba-cuda')} does not work with NumPy {np.__version__} ({error}); "
                "pip install 'linkwork[cuda]' chooses a NumPy that it works with."
            ) from error
        found = ENTRY.search(ptx)
        if found is None:
            raise DeviceError(f"numba-cuda {version('numba-cuda')} did not compile {self.name} to a kernel.")
        return str(ptx).replace(found[1], self.name)


def assembled(ptx: str, arch: str) -> bytes:
    """Return PTX as machine code for an architecture, such as ``"sm_90"``."""
    from cuda.core import Linker, LinkerOptions, ObjectCode

    return bytes(Linker(ObjectCode.from_ptx(ptx.encode()), options=LinkerOptions(arch=arch)).link("cubin").code)


def _type(kind: Any) -> Any:
    """Return Numba's type of an argument: an array, a named tuple of arrays, or a number."""
    if isinstance(kind, tuple):
        return types.NamedTuple([_type(one) for one in kind], type(kind))
    if kind.endswith("[]"):
        return types.Array(DTYPES[kind[:-2]], 1, "C")
    return DTYPES[kind]


def _chars(kind: Any) -> str:
    """Return the type characters that `_pack` gives for an argument."""
    if isinstance(kind, types.NamedTuple):
        return "".join(map(_chars, kind.types))
    if isinstance(kind, types.Array):
        return np.dtype(str(kind.dtype).replace("boolean", "bool")).char
    return {float64: "D", float32: "F"}.get(kind, "I")


def unusable() -> tuple[type[Exception], ...]:
    """Return the exception types of libraries that are missing or do not match the driver."""
    from cuda.pathfinder import DynamicLibNotFoundError
    from numba.cuda.cudadrv import driver, error

    supports = (error.CudaSupportError, error.NvvmSupportError, error.NvrtcSupportError, error.CCSupportError)
    return (*supports, driver.LinkerError, DynamicLibNotFoundError)


def _pack(argument: Any, packed: list[Any], kinds: list[str]) -> None:
    """Add the launch values of an argument: a flat array, a named tuple of arrays, or a number."""
    if isinstance(argument, tuple):
        for item in argument:
            _pack(item, packed, kinds)
    elif isinstance(argument, int):
        packed.append(ctypes.c_int64(argument))
        kinds.append("I")
    elif isinstance(argument, np.float32):
        packed.append(ctypes.c_float(float(argument)))
        kinds.append("F")
    elif isinstance(argument, float):  # including NumPy's
        packed.append(ctypes.c_double(argument))
        kinds.append("D")
    else:
        known = argument.__dict__.get(PACKED)
        if known is None:  # no owner, no parent; number of items, item size, address; shape and strides
            size, width = argument.size, argument.dtype.itemsize
            pointer = argument.device_ctypes_pointer.value or 0
            known = argument.__dict__[PACKED] = (argument.dtype.char, (0, 0, size, width, pointer, size, width))
        kinds.append(known[0])
        packed += known[1]


def processors() -> int:
    """Return the number of multiprocessors of the GPU."""
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


# Functions that generated code calls


def choose(mask, yes, no):
    """Return one of two numbers, selected by a mask."""
    return yes if mask else no


def wrapped(angle):
    """Return an angle wrapped to [-pi, pi); an angle within that range keeps its bits."""
    if abs(angle) < math.pi:
        return angle
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


def both(angle):
    """Return sine and cosine."""
    return math.sin(angle), math.cos(angle)


def both_at_once(angle):
    """Return sine and cosine in double precision."""
    return cuda.libdevice.sincos(angle)


EXACT = both if SIMULATED else both_at_once


def threads_wait():
    """Wait for the threads of a block: in the simulator, a block is one warp."""
    cuda.syncthreads()


def warp_waits():
    """Wait for the threads of a warp."""
    cuda.syncwarp()


sync_warp = device(threads_wait if SIMULATED else warp_waits)


def both_of_any(angle):
    """Return sine and cosine in single precision of an angle of up to several turns: fast functions need small ones."""
    turns = math.floor(angle * PER_TURN + HALF)
    near = (angle - turns * TURN) - turns * TURN_REST
    return math.sin(near), math.cos(near)


# polynomial in z = t², for t up to 1: the arc tangent is t times this, to one unit in the last place
ARC = (1.0, -0.33333072, 0.1999262, -0.14203645, 0.10640935, -0.075042956, 0.042691525, -0.01606863, 0.0028498895)
A0, A1, A2, A3, A4, A5, A6, A7, A8 = (np.float32(x) for x in ARC)
HALF_PI, PI, TINY, NONE_AT_ALL = (np.float32(x) for x in (0.5 * math.pi, math.pi, 1e-30, 0.0))


def quick_angle(y, x):
    """Return the angle of a point in single precision, to 3e-7, in a third of the time of the library's exact one."""
    across, up = abs(x), abs(y)
    t = min(across, up) / (max(across, up) + TINY)
    z = t * t
    p = (((((((A8 * z + A7) * z + A6) * z + A5) * z + A4) * z + A3) * z + A2) * z + A1) * z + A0
    angle = p * t
    angle = HALF_PI - angle if up > across else angle
    angle = PI - angle if x < NONE_AT_ALL else angle
    return -angle if y < NONE_AT_ALL else angle


PLAIN: dict[str, Any] = {"sqrt": math.sqrt, "fabs": math.fabs, "atan2": math.atan2}
PLAIN["floor"] = np.floor if SIMULATED else math.floor  # Python has no integer for NaN


def written(trace: Trace, name: str, parameters: list[str], results: list[str], *, turning: bool = False) -> Any:
    """Return the device function of a trace, and a text that identifies it.

    Single precision is compiled for speed, double precision for accuracy. `turning` means that angles may be several
    turns.
    """
    return of_source(trace, name, trace.source(name, parameters, results), turning=turning)


def of_source(trace: Trace, name: str, source: str, *, turning: bool = False) -> Any:
    """Return the device function of a text made from a trace, and a text that identifies it."""
    fast = trace.dtype is np.float32
    called = {"choose": choose, "wrapped": wrapped, "nearest_copy": nearest_copy.py_func}
    called["sine_cosine"] = EXACT if not fast else both_of_any if turning else both
    if fast:
        called["atan2"] = quick_angle
    names = {word: shared(function, fast=fast) for word, function in called.items()} | trace.names
    function = device(compiled(name, source, {**PLAIN, "float64": float64, "place": PLACE, **names}), fast=fast)
    return function, f"{source} {sorted(trace.names.items())} {fast} {turning}"


def items(name: str, count: int) -> Any:
    """Return a device function that reads a tuple of numbers from an array, from an index on."""
    listed = ", ".join(f"memory[place(at + {k})]" for k in range(count))
    return device(compiled(name, f"def {name}(memory, at):\n    return ({listed},)\n", {"place": PLACE}))


def put(name: str, count: int) -> Any:
    """Return a device function that writes a tuple of numbers into an array, from an index on."""
    lines = "".join(f"    memory[place(at + {k})] = values[{k}]\n" for k in range(count))
    return device(compiled(name, f"def {name}(memory, at, values):\n{lines}", {"place": PLACE}))


def cast(name: str, count: int, kind: str) -> Any:
    """Return a device function that converts a tuple's numbers to another precision."""
    listed = ", ".join(f"{kind}(values[{k}])" for k in range(count))
    return device(compiled(name, f"def {name}(values):\n    return ({listed},)\n", dict(KINDS)))
