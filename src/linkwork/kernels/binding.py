"""Builtin functions that call kernels, made from addresses of machine code, without a compiler or extension module.

`calling` reads the fields of NumPy arrays at the offsets of NumPy's headers, as every compiled extension does.
`check_arrays` verifies these offsets once, before the first call.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from .calling import (
    ARRAY,
    AXES,
    DATA,
    DTYPE,
    FLAGS,
    GROUP,
    HEADS,
    KIND,
    LENGTHS,
    NOTHING,
    READY,
    REAL,
    RECORD,
    SIZE,
    TRUTH,
    WHOLE,
)
from .declarations import Kernel
from .signatures import Group, Item

HEAD = object.__basicsize__
NUMBERS = {"i8": WHOLE, "f8": REAL, "b1": TRUTH, "": NOTHING}
FUNCTIONS = {
    "as_whole": "PyLong_AsLongLong",
    "as_real": "PyFloat_AsDouble",
    "as_truth": "PyObject_IsTrue",
    "from_whole": "PyLong_FromLongLong",
    "from_real": "PyFloat_FromDouble",
    "from_truth": "PyBool_FromLong",
    "new_reference": "Py_NewRef",
    "member": "PyTuple_GetItem",
    "occurred": "PyErr_Occurred",
    "complain": "PyErr_SetString",
    "save": "PyEval_SaveThread",
    "restore": "PyEval_RestoreThread",
}
FAST_CALL = 0x80  # METH_FASTCALL of Python's headers
_kept: list[Any] = []  # objects that builtin functions point to; kept alive as long as the process


class Method(ctypes.Structure):
    """Python's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def builtin(kernel: Kernel, call: int, entries: Sequence[int]) -> Any:
    """Return a builtin function for a kernel.

    Args:
        kernel: The kernel.
        call: Address of `calling.call` compiled for this Python's object header size.
        entries: Addresses of the entry points, one for each signature.
    """
    check_arrays()
    texts = [f"{kernel.name} takes {' or '.join(map(str, kernel.signatures))}.".encode(), kernel.name.encode()]
    texts.append((kernel.function.__doc__ or "").encode())
    records = [_record(kernel, k, entry, texts[0]) for k, entry in enumerate(entries)]
    for record, following in pairwise(records):
        record[RECORD.other] = following.ctypes.data
    method = Method(texts[1], call, FAST_CALL, texts[2])
    _kept.append((records, texts, method))
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return new(ctypes.addressof(method), records[0], None)


def _record(kernel: Kernel, number: int, entry: int, text: bytes) -> Any:
    """Return the record of one signature of a kernel, which `calling.call` reads, as an array of int64."""
    signature = kernel.signatures[number]
    kinds: list[int] = []
    for argument in signature.arguments:
        if isinstance(argument, Group):
            kinds += [GROUP | len(argument.items) << 8, *map(_kind, argument.items)]
        else:
            kinds.append(_kind(argument))
    fields: dict[str, Any] = {
        "entry": entry,
        "other": 0,
        "count": len(signature.arguments),
        "returns": NUMBERS[signature.returns],
        "release": kernel.nogil,
        "takes": _address(ctypes.c_char_p(text)),
        "array": id(np.ndarray),
        "type_error": id(TypeError),
        "none": id(None),
    }
    head = RECORD.pack(dtype=np.int64, **fields, **_addresses())
    return np.concatenate([head, np.array(kinds, np.int64)])


def _kind(item: Item) -> int:
    if item.axes < 0:
        return NUMBERS[item.dtype]
    return ARRAY | ord(item.dtype[0]) << 8 | int(item.dtype[1:]) << 16 | item.axes << 24


@cache
def _addresses() -> dict[str, Any]:
    """Return the addresses of the functions of Python's C API that `calling` uses."""
    return {name: _address(getattr(ctypes.pythonapi, function)) for name, function in FUNCTIONS.items()}


def _address(pointer: Any) -> int:
    return int(ctypes.cast(pointer, ctypes.c_void_p).value or 0)


@cache
def check_arrays() -> None:
    """Raise an ImportError if objects or arrays of this Python do not have the layout that `calling` reads."""
    probe = np.zeros((3, 5), np.float32)

    def read(address: int, kind: Any = ctypes.c_int64) -> int:
        return int(kind.from_address(address).value)

    known = sys.implementation.name == "cpython" and HEAD in HEADS and ctypes.sizeof(ctypes.c_void_p) == 8
    fields = id(probe) + HEAD
    known = known and read(fields - 8) == id(np.ndarray) and read(fields + DATA) == probe.ctypes.data
    known = known and read(fields + AXES, ctypes.c_int32) == 2 and read(fields + DTYPE) == id(probe.dtype)
    known = known and [read(read(fields + LENGTHS) + 8 * axis) for axis in range(2)] == [3, 5]
    known = known and read(fields + FLAGS, ctypes.c_int32) & READY == READY
    dtype = id(probe.dtype) + HEAD
    known = known and read(dtype + KIND, ctypes.c_int8) == ord("f") and read(dtype + SIZE) == 4
    if not known:
        raise ImportError(
            f"kernels cannot be called from this Python ({sys.version.split()[0]} with NumPy {np.__version__}): "
            "its objects do not have the memory layout of CPython and NumPy."
        )
