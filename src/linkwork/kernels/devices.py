"""Arrays in GPU memory, exchanged with other libraries.

Arrays are passed in both directions without a copy, by ``__cuda_array_interface__`` and DLPack, which CuPy, PyTorch,
JAX and Numba support.
"""

from __future__ import annotations

import atexit
import ctypes
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DeviceError
from .cards import current_card

CUDA = 2  # DLPack's device type of GPU memory
KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}  # DLPack's type codes
LIBRARIES: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {  # by package of the array: how it takes ours
    "torch": ("torch", lambda torch, array: torch.as_tensor(array, device=f"cuda:{array.card}")),
    "cupy": ("cupy", lambda cupy, array: cupy.asarray(array)),
    "jax": ("jax.numpy", lambda numpy, array: numpy.from_dlpack(array)),
    "jaxlib": ("jax.numpy", lambda numpy, array: numpy.from_dlpack(array)),
}


class _Tensor(ctypes.Structure):
    """DLPack's DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    """DLPack's DLManagedTensor."""


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))
_lent: dict[int, tuple[Any, ...]] = {}  # arrays held by other libraries, by the address of their descriptions


def _forget(managed: Any) -> None:
    _lent.pop(ctypes.addressof(managed.contents), None)


_give_back = _Deleter(_forget)


@atexit.register
def _let_go() -> None:
    """At exit, leave arrays that other libraries still hold to them: Python can no longer take them back."""
    for managed, *_ in _lent.values():
        managed.deleter = _Deleter()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(managed))


class DeviceArray:
    """A C-contiguous array in GPU memory. Other libraries take it without a copy: ``torch.from_dlpack(array)``.

    Attributes:
        shape: Its shape.
        dtype: Its NumPy type.
        lease: An object held as long as the array is in use.
        card: Number of the GPU.
    """

    def __init__(self, memory: Any, shape: tuple[int, ...], lease: object = None, card: int = 0) -> None:
        self.memory, self.shape, self.dtype, self.lease = memory, shape, np.dtype(memory.dtype), lease
        self.card = card

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return dict(self.memory.__cuda_array_interface__, shape=self.shape, strides=None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self.card

    def __dlpack__(self, **_options: Any) -> Any:
        shape = (ctypes.c_int64 * len(self.shape))(*self.shape)
        pointer = self.__cuda_array_interface__["data"][0]
        tensor = _Tensor(pointer, CUDA, self.card, len(self.shape), KINDS[self.dtype.kind], self.dtype.itemsize * 8, 1)
        tensor.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
        managed = _Managed(tensor, None, _give_back)
        _lent[ctypes.addressof(managed)] = (managed, shape, self)
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return capsule(ctypes.addressof(managed), b"dltensor", None)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array in GPU memory must be copied to become a NumPy array.")
        host: NDArray[Any] = self.memory.copy_to_host().reshape(self.shape)
        return host if dtype is None else host.astype(dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<DeviceArray {self.shape} {self.dtype}>"


class _Borrowed:
    """The array of a DLPack capsule, described by ``__cuda_array_interface__``; it keeps the capsule alive."""

    def __init__(self, capsule: Any) -> None:
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        tensor = ctypes.cast(pointer(capsule, b"dltensor"), ctypes.POINTER(_Managed)).contents.tensor
        kind = next((kind for kind, code in KINDS.items() if code == tensor.code), None)
        if kind is None or tensor.lanes != 1:
            raise DeviceError("this array in GPU memory does not hold plain numbers.")
        size, shape = tensor.bits // 8, tuple(tensor.shape[: tensor.ndim])
        strides = tuple(size * step for step in tensor.strides[: tensor.ndim]) if tensor.strides else None
        self.capsule = capsule
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": f"|b{size}" if kind == "b" else f"<{kind}{size}",
            "data": ((tensor.data or 0) + tensor.byte_offset, True),
            "strides": strides,
            "version": 3,
        }


def on_card(array: Any) -> bool:
    """Return whether an array of any library is in GPU memory."""
    if isinstance(array, np.ndarray | list | tuple | float | int):
        return False
    place = getattr(array, "__dlpack_device__", None)
    if place is not None:
        return int(place()[0]) == CUDA
    return hasattr(array, "__cuda_array_interface__")


def card_holding(array: Any) -> int | None:
    """Return the number of the GPU that holds an array; None if its library does not tell."""
    place = getattr(array, "__dlpack_device__", None)
    return None if place is None else int(place()[1])


def from_device(array: Any) -> tuple[Any, tuple[int, ...]]:
    """Return an array in GPU memory as flat memory for kernels, without a copy, and its shape."""
    from numba import cuda

    if isinstance(array, DeviceArray):
        return array.memory, array.shape
    ready = getattr(array, "block_until_ready", None)  # JAX computes asynchronously
    if ready is not None:
        ready()
    source = array.detach() if hasattr(array, "detach") else array  # PyTorch
    if not hasattr(source, "__cuda_array_interface__"):
        source = _Borrowed(source.__dlpack__())
    memory = cuda.as_cuda_array(source)
    if not memory.is_c_contiguous():
        raise DeviceError("an array in GPU memory must be C-contiguous; make it contiguous first.")
    return memory.reshape(math.prod(memory.shape)), tuple(memory.shape)


def as_library(array: DeviceArray, like: Any) -> Any:
    """Return an array as one of the library of another array; unchanged if that library is unknown."""
    name, take = LIBRARIES.get(type(like).__module__.partition(".")[0], ("", None))
    return array if take is None or name not in sys.modules else take(sys.modules[name], array)


def to_host(array: Any) -> NDArray[Any]:
    """Return an array of the host or of a GPU as a NumPy array."""
    if not on_card(array):
        return np.asarray(array)
    memory, shape = from_device(array)
    host: NDArray[Any] = memory.copy_to_host().reshape(shape)
    return host


def as_doubles(memory: Any) -> Any:
    """Return flat GPU memory in double precision; unchanged if it already is."""
    if memory.dtype == np.float64:
        return memory
    from numba import cuda

    from .cuda import THREADS
    from .cuda_pack import chain_kernel

    if memory.dtype != np.float32:
        return cuda.to_device(memory.copy_to_host().astype(np.float64))
    out = cuda.device_array(memory.size, np.float64)
    if memory.size:
        chain_kernel("widen")[-(-memory.size // THREADS), THREADS](memory, out, memory.size)
    return out


def mapped(kernel: Any, program: tuple[Any, ...], numbers: tuple[int, ...], poses: Any, shape: tuple[int, ...]) -> Any:
    """Return the results (n, *shape) of a kernel of `kernels.cuda_chain` for poses (n, nq), both in GPU memory.

    The kernel gets the `program`, the poses, output memory, the number of poses, and `numbers`.
    """
    from numba import cuda

    from .cuda import THREADS

    memory, given = from_device(poses)
    count = math.prod(given[:-1])
    out = cuda.device_array(count * math.prod(shape), np.float64)
    if count:
        kernel[-(-count // THREADS), THREADS](*program, as_doubles(memory), out, count, *numbers)
        cuda.synchronize()
    return as_library(DeviceArray(out, (*given[:-1], *shape), card=current_card()), poses)
