"""Frames and Jacobians for many poses on a GPU, one thread for each."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numba import cuda, float64

from .chain import columns, keep, sweep, sweep_axes, to_local
from .cuda import items, kernel, put, written
from .cuda_generic import of_memory
from .joint_step import ROW_CODES
from .symbolic import Cells, Trace

MOST_COLUMNS = 32  # largest number of motions for the kernel for any chain
KINDS_OF = {"codes": "i8[]", "numbers": "f8[]", "rates": "i8[]", "poses": "f8[]", "out": "f8[]", "narrow": "f4[]"}


# For any chain, read from memory


def any_tip(ptx: str = "") -> Any:
    """Return the kernel of frames for any chain."""
    swept, kept = of_memory(sweep, np.float64), of_memory(keep, np.float64)

    def tip(codes, numbers, poses, out, count, rows, nq):
        i = cuda.grid(1)
        if i < count:
            x, y, z, p = swept((codes, 0), (numbers, 0), rows, (poses, nq * i))
            kept((out, 16 * i), 0, x, y, z, p)

    return kernel(tip, KINDS_OF, "any", ptx=ptx)


def any_jacobian(ptx: str = "") -> Any:
    """Return the kernel of Jacobians for any chain."""
    room = 6 * MOST_COLUMNS
    swept, written_to, turned = (of_memory(part, np.float64) for part in (sweep_axes, columns, to_local))

    def jacobian(codes, numbers, rates, poses, out, count, rows, nq, nv, local):
        i, work = cuda.grid(1), cuda.local.array(room, float64)
        if i < count:
            x, y, z, p = swept((codes, 0), (numbers, 0), rows, (poses, nq * i), (work, 0))
            jac = out, 6 * nv * i
            written_to((codes, 0), (numbers, 0), rows, (rates, 0), (work, 0), p, jac, nv)
            if local:
                turned(x, y, z, jac, nv)

    return kernel(jacobian, KINDS_OF, "any", ptx=ptx)


def any_widen(ptx: str = "") -> Any:
    """Return the kernel that converts numbers to double precision."""

    def widen(narrow, out, count):
        i = cuda.grid(1)
        if i < count:
            out[i] = narrow[i]

    return kernel(widen, KINDS_OF, "any", ptx=ptx)


# Generated for one chain of any length


def jacobian_kernel(codes: Any, numbers: Any, rates: Any, nq: int, nv: int, local: bool) -> Any:
    """Return a kernel of poses (n * nq), Jacobians (n * 6 nv) and n."""
    trace, rows = Trace(np.float64), len(codes) // ROW_CODES.size
    program = Cells(codes.tolist()), Cells(numbers.tolist())
    work, jac = Cells([0.0] * 6 * len(rates)), Cells([0.0] * 6 * nv)
    x, y, z, p = trace.of(sweep_axes)(*program, rows, trace.memory("q", nq), work)
    trace.of(columns)(*program, rows, Cells(rates.tolist()), work, p, jac, nv)
    if local:
        trace.of(to_local)(x, y, z, jac, nv)
    function, text = written(trace, "jacobian", ["q"], [trace.tuple(jac)])
    take, give, size = items("take", nq), put("give", len(jac)), len(jac)

    def every(poses, out, count):
        i = cuda.grid(1)
        if i < count:
            give(out, size * i, function(take(poses, nq * i)))

    return kernel(every, KINDS_OF, hashlib.sha256(text.encode()).hexdigest())
