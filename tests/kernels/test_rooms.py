"""Memory for kernels is aligned to cache lines, for all shapes and types."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernels.rooms import LINE, new_room, zero_room


@pytest.mark.parametrize("shape", [7, (3, 8), (5, 16)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_rooms_begin_with_a_line(shape: int | tuple[int, ...], dtype: type) -> None:
    rooms = [make(shape, dtype) for make in (new_room, zero_room) for _ in range(20)]
    assert {room.__array_interface__["data"][0] % LINE for room in rooms} == {0}
    assert {(room.shape, room.dtype) for room in rooms} == {(np.empty(shape).shape, np.dtype(dtype))}
    assert all(room.flags.c_contiguous and room.flags.writeable for room in rooms)
    assert not any(room.any() for room in rooms[20:])
