"""Marker files, C3D and TRC: paths of named points, in metres and z up."""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath

import numpy as np

from ..errors import FormatError
from ..motion.markers import Markers
from ..transforms import FloatArray
from .content import Remarks, UniqueNames
from .options import UP, FilePath, Options

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "inch": 0.0254, "meters": 1.0, "millimeters": 0.001}
FARTHEST = 1e30  # in units of the file: larger coordinates are damaged data
GROUND = 0.05  # largest depth of the lowest markers below zero, as a fraction of the height
READERS = {".c3d": ("c3d", "z"), ".trc": ("trc", "y")}  # module, and the up axis if the file does not state it


def load_markers(path: FilePath, *, units: float | None = None, up: str | None = None) -> Markers:
    """Return the markers of a C3D or TRC file.

    Args:
        path: The file; its suffix selects the format.
        units: Metres per unit of the file; by default taken from the file, else millimetres.
        up: The up axis of the file; by default taken from the file, else the one of y and z along which all markers are
            above the ground, else z in C3D files and y in TRC files.

    Raises:
        FormatError: If the file cannot be read.
    """
    options = Options(units=units, up=up)  # type: ignore[arg-type]  # Options checks it
    suffix = PurePath(path).suffix.lower()
    if suffix not in READERS:
        raise FormatError(path, f"unknown format {suffix!r} of markers; known formats: {', '.join(READERS)}.")
    module, usual = READERS[suffix]
    data = import_module(f".{module}", __package__).read_points(path)
    remarks = Remarks()
    lost = (np.abs(data.points) > FARTHEST).any(axis=-1)
    if lost.any():
        data.points[lost] = np.nan
        text = f"{int(lost.sum())} positions that are not finite, or beyond {FARTHEST:g}, are treated as not seen."
        remarks.add("places", text)
    unit = options.units or UNITS.get(data.unit.strip().lower())
    if unit is None:
        remarks.add("units", f"the unit {data.unit!r} is unknown, millimetres are assumed; units=... says otherwise.")
        unit = 0.001
    axis = options.up or (data.up if data.up in UP else _above_ground(data.points) or usual)
    if options.up is None and data.up not in UP:
        remarks.add("up-axis", f"the file does not state its up axis; {axis} is assumed; up=... says otherwise.")
    names = UniqueNames(data.labels)
    taken = [names.take(label, f"marker{k + 1}") for k, label in enumerate(data.labels)]
    renamed = sum(old != new for old, new in zip(data.labels, taken, strict=True))
    if renamed:
        remarks.add("names", f"{renamed} markers without a name, or with a repeated name, were given a new one.")
    points = data.points @ UP[axis].T * unit
    return Markers(tuple(taken), np.arange(len(points)) / data.rate, points, tuple(remarks))


def _above_ground(points: FloatArray) -> str | None:
    """Return the axis, y or z, with hardly any points below zero; None if that is true of both or neither."""
    seen = points[~np.isnan(points).any(axis=-1)]
    if not len(seen):
        return None
    low, high = np.percentile(seen, [1.0, 99.0], axis=0)
    above = [axis for k, axis in ((1, "y"), (2, "z")) if low[k] > -GROUND * (high[k] - low[k])]
    return above[0] if len(above) == 1 else None
