"""Memory for kernels to work in. It begins with a line of the processor's cache, so that lanes never lie across two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LINE = 64  # bytes


def new_room(shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return an array that is not yet filled, at the beginning of a line."""
    kind = np.dtype(dtype)
    size = kind.itemsize * (shape if isinstance(shape, int) else math.prod(shape))
    memory = np.empty(size + LINE, np.uint8)
    at = -memory.__array_interface__["data"][0] % LINE
    return memory[at : at + size].view(kind).reshape(shape)


def zero_room(shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return such an array of zeros."""
    room = new_room(shape, dtype)
    room.fill(0)
    return room
