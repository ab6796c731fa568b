"""Marker paths from optical motion capture: named points, which may be hidden in some frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import LinkageError, Remark, listed
from ..transforms import FloatArray


@dataclass(frozen=True, eq=False)
class Markers:
    """Positions of markers over time.

    Args:
        names: The names, each unique.
        times: Increasing times [s], shape (frames,).
        points: Positions [m], z up, shape (frames, markers, 3); NaN where a marker was not seen.
        remarks: Notes on assumptions and oddities of the file.

    Example:
        >>> markers = Markers(("heel", "toe"), [0.0, 0.1], [[[0, 0, 0], [0.2, 0, 0]], [[0, 0, 0], [np.nan] * 3]])
        >>> len(markers), markers.missing["toe"], markers["heel"].shape
        (2, 0.5, (2, 3))
    """

    names: tuple[str, ...]
    times: FloatArray
    points: FloatArray
    remarks: tuple[Remark, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        times, points = np.asarray(self.times, np.float64), np.array(self.points, np.float64)
        if points.shape != (len(times), len(self.names), 3) or len(set(self.names)) < len(self.names):
            shape = f"{len(times)} times and {len(set(self.names))} different names"
            raise LinkageError(f"markers need points of shape (frames, markers, 3), got {points.shape} for {shape}.")
        points[~np.isfinite(points).all(axis=-1)] = np.nan
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "points", points)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        length = float(self.times[-1] - self.times[0]) if len(self) else 0.0
        return f"<Markers: {len(self.names)} markers, {len(self)} frames, {length:.3g} s>"

    def __getitem__(self, name: str) -> FloatArray:
        """Return the path of one marker, shape (frames, 3)."""
        if name not in self.names:
            raise LinkageError(f"no marker {name!r}; there are {listed(self.names)}.")
        path: FloatArray = self.points[:, self.names.index(name)]
        return path

    @property
    def missing(self) -> dict[str, float]:
        """The share of frames in which each marker was not seen."""
        shares = np.isnan(self.points[..., 0]).mean(axis=0) if len(self) else np.ones(len(self.names))
        return dict(zip(self.names, map(float, shares), strict=True))

    def only(self, names: Sequence[str]) -> Markers:
        """Return the markers of these names, in their order."""
        return Markers(tuple(names), self.times, np.stack([self[name] for name in names], axis=1), self.remarks)
