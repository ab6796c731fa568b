"""Where a frame is and its Jacobian for many poses on a graphics card, a thread for each, written out for one chain."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numba import cuda

from .chain import columns, keep, sweep, sweep_axes, to_local
from .cuda import items, kernel, put, written
from .joint_step import ROW_CODES
from .symbolic import Cells, Trace


def tip_kernel(codes: Any, numbers: Any, nq: int) -> Any:
    """Return a kernel of poses (n * nq), frames (n * 16) and n."""
    trace, rows = Trace(np.float64), len(codes) // ROW_CODES.size
    x, y, z, p = trace.of(sweep)(Cells(codes.tolist()), Cells(numbers.tolist()), rows, trace.memory("q", nq))
    world = Cells([0.0] * 16)
    trace.of(keep)(world, 0, x, y, z, p)
    return _mapped(trace, "tip", world, nq)


def jacobian_kernel(codes: Any, numbers: Any, rates: Any, nq: int, nv: int, local: bool) -> Any:
    """Return a kernel of poses (n * nq), Jacobians (n * 6 nv) and n."""
    trace, rows = Trace(np.float64), len(codes) // ROW_CODES.size
    program = Cells(codes.tolist()), Cells(numbers.tolist())
    work, jac = Cells([0.0] * 6 * len(rates)), Cells([0.0] * 6 * nv)
    x, y, z, p = trace.of(sweep_axes)(*program, rows, trace.memory("q", nq), work)
    trace.of(columns)(*program, rows, Cells(rates.tolist()), work, p, jac, nv)
    if local:
        trace.of(to_local)(x, y, z, jac, nv)
    return _mapped(trace, "jacobian", jac, nq)


def _mapped(trace: Trace, name: str, results: Cells, nq: int) -> Any:
    """Return the kernel that writes a trace's results for each pose."""
    function, text = written(trace, name, ["q"], [trace.tuple(results)])
    take, give, size = items("take", nq), put("give", len(results)), len(results)

    def every(poses, out, count):
        i = cuda.grid(1)
        if i < count:
            give(out, size * i, function(take(poses, nq * i)))

    return kernel(every, hashlib.sha256(text.encode()).hexdigest())
