"""All solutions of a closed form on a GPU, for targets in host memory and on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DeviceError
from ...kernels.cards import free_memory
from ...kernels.closed_form.cuda_six import SINGLE, all_kernels
from ...kernels.closed_form.form_layout import BRANCHES, JOINTS
from ...kernels.cuda import THREADS, device_array, processors, to_device
from ...kernels.devices import DeviceArray
from ..card_memory import Lender
from .form import ClosedForm

SHARE, KEPT = 0.5, 0.2  # shares of the GPU's free memory: for a block of host targets, and kept for the next batch
LITTLE = 1 << 26  # bytes below which free memory is not checked
BLOCKS = 64  # blocks per multiprocessor
ITEMS = BRANCHES * JOINTS


class Tally:
    """Two counters of doubtful goals, for this batch and the next; each batch sets the other to zero."""

    def __init__(self) -> None:
        self.numbers, self.turn = to_device(np.zeros(2, np.int32)), 0

    def next(self) -> tuple[int, Any]:
        """Return the index of this batch's counter, and both counters."""
        self.turn = 1 - self.turn
        return self.turn, self.numbers


class CardForm:
    """A closed form of six joints on a GPU.

    Args:
        form: The form.
        dtype: Precision of targets and results. In single precision, goals near a meeting of two solutions are solved
            in double.
        limits: Whether limits are kept.

    Raises:
        DeviceError: If the form has no GPU kernels.
    """

    def __init__(self, form: ClosedForm, dtype: Any, *, limits: bool = True) -> None:
        if not form.exact or not form.on_cards:
            raise DeviceError(f"{form} It is solved on the CPU only; leave out device='cuda'.")
        self.form, self.dtype = form, np.dtype(dtype)
        least = SINGLE if self.dtype == np.float32 else 0.0
        near, aligned = max(form.tolerance[0], least * form.axes.size), max(form.tolerance[1], least)
        numbers = form.numbers if limits else form.unlimited
        self._all, self._doubtful = all_kernels(form.codes, numbers, (near**2, aligned**2), self.dtype.type)
        self._lender = Lender(self._memory, self._worth_keeping)

    def _memory(self, count: int) -> tuple[Any, ...]:
        """Return memory for the results of that many targets, the list of doubtful ones and their number."""
        values, mask = device_array(ITEMS * count, self.dtype), device_array(count, np.int64)  # a byte for each branch
        return (
            values,
            mask,
            device_array(count, np.bool_),
            device_array(count if self._doubtful is not None else 1, np.int32),
            Tally(),
        )

    def _worth_keeping(self, count: int) -> bool:
        size = count * self._bytes
        return size < LITTLE or size < KEPT * free_memory()

    @property
    def _bytes(self) -> int:
        """Memory for the results of one target [bytes]."""
        return int(ITEMS * self.dtype.itemsize + BRANCHES + 5)

    def all_there(self, targets: Any, count: int) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
        """Return the solutions of targets in GPU memory: values (n, 8, 6), NaN where there is none, and a mask.

        Also return for which targets no solution represents a continuum, shape (n,): then there are no others.
        """
        (values, mask, isolated, doubtful, tally), lease = self._lender.lent(count)
        turn, numbers = tally.next()
        blocks = max(1, min(-(-count // THREADS), BLOCKS * processors()))
        self._all[blocks, THREADS](targets, count, values, mask, isolated, numbers, doubtful, turn)
        if self._doubtful is not None:
            self._doubtful[blocks, THREADS](targets, values, mask, isolated, numbers, doubtful, turn)
        there = DeviceArray(mask.view(np.bool_), (count, BRANCHES), lease)
        return DeviceArray(values, (count, BRANCHES, JOINTS), lease), there, DeviceArray(isolated, (count,), lease)

    def all(self, targets: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the solutions of host targets (n, 4, 4), computed block by block."""
        count = len(targets)
        values, mask = np.empty((count, BRANCHES, JOINTS), self.dtype), np.empty((count, BRANCHES), np.bool_)
        isolated = np.empty(count, np.bool_)
        block = max(1, min(count, int(SHARE * free_memory()) // (self._bytes + 16 * self.dtype.itemsize)))
        for first in range(0, count, block):
            rows = slice(first, min(first + block, count))
            some = np.ascontiguousarray(targets[rows], self.dtype)
            there = self.all_there(to_device(some.reshape(-1)), len(some))
            values[rows], mask[rows], isolated[rows] = map(np.asarray, there)
        return values, mask, isolated
