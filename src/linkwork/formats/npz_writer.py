"""Write NPZ files array by array; long arrays are written in blocks, so that they need not be in memory."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from ..transforms import FloatArray


@dataclass(frozen=True, eq=False)
class Rows:
    """A table of numbers, given in blocks of rows.

    Args:
        shape: Number of rows and columns.
        blocks: The blocks, shape (n, columns) each.
    """

    shape: tuple[int, int]
    blocks: Iterable[FloatArray]


def write_arrays(file: BinaryIO, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name, compressed, in the format of `numpy.savez_compressed`; some may be `Rows`."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                if isinstance(values, Rows):
                    header = {"descr": "<f8", "fortran_order": False, "shape": values.shape}
                    np.lib.format.write_array_header_1_0(member, header)
                    for block in values.blocks:
                        member.write(np.ascontiguousarray(block, "<f8").tobytes())
                else:
                    np.lib.format.write_array(member, np.asanyarray(values), allow_pickle=False)
