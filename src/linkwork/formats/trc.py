"""Read TRC marker files of OpenSim and Motion Analysis: a text table with three columns for each marker."""

from __future__ import annotations

import numpy as np

from ..errors import FormatError
from .atomic_files import read_text
from .c3d import PointData
from .options import FilePath

MAX_LINES, MAX_VALUES = 2**20, 2**25
HEADER = 5  # lines: type, keys, their values, names, axes


def read_points(path: FilePath) -> PointData:
    """Return the points of a TRC file.

    Raises:
        FormatError: If it is not a valid TRC file; the message names the line.
    """
    lines = read_text(path).splitlines()
    if len(lines) > MAX_LINES:
        raise FormatError(path, f"has {len(lines)} lines; at most {MAX_LINES} are read.")
    if not lines or not lines[0].startswith("PathFileType"):
        raise FormatError(path, "is not a TRC file: its first line does not begin with PathFileType.", line=1)
    if len(lines) < HEADER:
        raise FormatError(path, "ends within its header.", line=len(lines))
    mark = "\t" if "\t" in lines[1] else ","
    header = dict(zip(lines[1].split(mark), lines[2].split(mark), strict=False))
    try:
        rate, count = float(header["DataRate"]), int(header["NumMarkers"])
    except (KeyError, ValueError) as error:
        raise FormatError(path, f"its header has no number for {error}.", line=3) from error
    if not 0.0 < rate < 1e6 or not 0 < count < 2**15:
        raise FormatError(path, f"has {count} markers and {rate:g} frames per second.", line=3)
    labels = [cell.strip() for cell in lines[3].split(mark)[2 : 2 + 3 * count : 3]]
    labels += [""] * (count - len(labels))
    rows = [(k, line) for k, line in enumerate(lines[HEADER:], start=HEADER + 1) if line.strip(" \t,")]
    if not rows or len(rows) * 3 * count > MAX_VALUES:
        raise FormatError(path, f"has {len(rows)} frames of {count} markers: either none, or more than are read.")
    table = np.array([_row(path, number, line.split(mark)[2 : 2 + 3 * count], 3 * count) for number, line in rows])
    return PointData(labels, table.reshape(len(rows), count, 3), rate, header.get("Units", "").strip())


def _row(path: FilePath, number: int, cells: list[str], width: int) -> list[float]:
    """Return the numbers of a frame; NaN for empty cells and for cells missing at the end."""
    try:
        values = [float(cell) if cell.strip() else np.nan for cell in cells]
    except ValueError as error:
        raise FormatError(path, f"this row has {str(error).rpartition(': ')[2]}, not a number.", line=number) from error
    return values + [np.nan] * (width - len(values))
