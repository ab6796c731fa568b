"""Workspace for kernels, aligned to cache lines of the processor, so that no vector of lanes crosses two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LINE = 64  # bytes


def new_room(shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return an uninitialised array aligned to a cache line."""
    kind = np.dtype(dtype)
    size = kind.itemsize * (shape if isinstance(shape, int) else math.prod(shape))
    memory = np.empty(size + LINE, np.uint8)
    at = -memory.__array_interface__["data"][0] % LINE
    return memory[at : at + size].view(kind).reshape(shape)


def zero_room(shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return an array of zeros aligned to a cache line."""
    room = new_room(shape, dtype)
    room.fill(0)
    return room
