"""Files of markers, C3D and TRC: paths of points with names, in metres and z up."""

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
FARTHEST = 1e30  # units of the file: what is farther away is damage, and no place
GROUND = 0.05  # of the height: how deep below zero the lowest markers may be
READERS = {".c3d": ("c3d", "z"), ".trc": ("trc", "y")}  # and the axis that points up where a file does not say it


def load_markers(path: FilePath, *, units: float | None = None, up: str | None = None) -> Markers:
    """Return the markers of a C3D or TRC file.

    Args:
        path: The file; its suffix says what it is.
        units: Metres in one unit of the file; by default what it says, or millimetres.
        up: The axis of the file that points up; by default what it says, or the one along which all is above the
            ground, or z in C3D files and y in TRC files.

    Raises:
        FormatError: If the file cannot be read.
    """
    options = Options(units=units, up=up)  # type: ignore[arg-type]  # which checks it
    suffix = PurePath(path).suffix.lower()
    if suffix not in READERS:
        raise FormatError(path, f"no format {suffix!r} of markers; known are {', '.join(READERS)}.")
    module, usual = READERS[suffix]
    data = import_module(f".{module}", __package__).read_points(path)
    remarks = Remarks()
    lost = (np.abs(data.points) > FARTHEST).any(axis=-1)
    if lost.any():
        data.points[lost] = np.nan
        text = f"{int(lost.sum())} places that are not finite, or farther than {FARTHEST:g}, are taken for not seen."
        remarks.add("places", text)
    unit = options.units or UNITS.get(data.unit.strip().lower())
    if unit is None:
        remarks.add("units", f"the unit {data.unit!r} is taken for millimetres; units=... says otherwise.")
        unit = 0.001
    axis = options.up or (data.up if data.up in UP else _above_ground(data.points) or usual)
    if options.up is None and data.up not in UP:
        remarks.add("up-axis", f"the file does not say what points up; {axis} is assumed; up=... says otherwise.")
    names = UniqueNames(data.labels)
    taken = [names.take(label, f"marker{k + 1}") for k, label in enumerate(data.labels)]
    renamed = sum(old != new for old, new in zip(data.labels, taken, strict=True))
    if renamed:
        remarks.add("names", f"{renamed} markers without a name, or with that of another, were given one.")
    points = data.points @ UP[axis].T * unit
    return Markers(tuple(taken), np.arange(len(points)) / data.rate, points, tuple(remarks))


def _above_ground(points: FloatArray) -> str | None:
    """Return which of y and z has hardly anything below zero, if it is one of them alone."""
    seen = points[~np.isnan(points).any(axis=-1)]
    if not len(seen):
        return None
    low, high = np.percentile(seen, [1.0, 99.0], axis=0)
    above = [axis for k, axis in ((1, "y"), (2, "z")) if low[k] > -GROUND * (high[k] - low[k])]
    return above[0] if len(above) == 1 else None
