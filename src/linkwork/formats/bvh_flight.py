"""Find the up direction from free fall.

In flight, the centre of a body moves along a parabola with the acceleration of gravity, which points down. A body that
pushes off may briefly accelerate the same way upwards, as in every step of a run; but then a part of it is at rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..transforms import FloatArray
from .bvh_scale import Bone, Flight, look

GRAVITY = 9.81  # [m/s²]
LONG = 0.2  # duration of a fitted parabola [s]; shorter ones fit any motion
FEWEST = 7  # smallest number of frames of a parabola
SHORTEST = 1e-4  # smallest plausible frame time [s]
LIKE = 0.12  # largest relative deviation of the acceleration from gravity
NEAR = 0.004  # largest RMS deviation of frames from the parabola [m]
STILL = 0.06  # a point that moves less within half a parabola is at rest [m]
MOST = 12_000  # largest number of frames examined
ENOUGH = 0.12  # smallest time in the air [s], without the beginnings and ends of flights


def flight(
    bones: Sequence[Bone],
    parents: Sequence[int],
    columns: Sequence[FloatArray],
    step: float,
    replaces: bool,
    metres: float = 1.0,
) -> Flight | None:
    """Return the up direction from free fall; None if the body does not fly, or falls in different directions.

    Args:
        bones: Joints, parents before children.
        parents: Index of the parent of each joint, or -1.
        columns: Channel values of each joint, in radians and units of the file, shape (frames, channels).
        step: Frame time [s].
        replaces: Whether position channels replace offsets, or are added to them.
        metres: Metres per unit of the file.
    """
    if not columns or not SHORTEST < step < LONG:
        return None
    chosen = np.arange(min(len(columns[0]), MOST))
    width = max(FEWEST, 2 * round(LONG / step / 2.0) + 1)
    if len(chosen) < width:
        return None
    places = look(bones, parents, columns, replaces, chosen).places
    ways, falling = falls(metres * _middle(places, parents), step, width)
    found = ways[falling & ~_standing(metres * places, width)]
    seconds = len(found) * step
    if seconds < ENOUGH:
        return None
    up = found.mean(axis=0)
    length = float(np.linalg.norm(up))
    return Flight(up / length, seconds) if length > 0.9 else None


def falls(places: FloatArray, step: float, width: int) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the direction opposite to the acceleration of a point, (n, 3), and whether it is in free fall, (n,).

    The first and last frames, which have too few neighbours, are left out.

    Args:
        places: Positions of the point [m], shape (frames, 3).
        step: Frame time [s].
        width: Number of frames of a parabola.

    Example:
        >>> height = 2.0 - 0.5 * 9.81 * (np.arange(9) / 30.0) ** 2
        >>> ways, falling = falls(np.stack([0 * height, height, 0 * height], axis=1), 1 / 30.0, 7)
        >>> ways[0, 1].round(6).item(), falling.tolist()
        (1.0, [True, True, True])
    """
    time = step * (np.arange(width) - (width - 1) / 2.0)
    basis = np.stack([np.ones(width), time, 0.5 * time**2], axis=1)
    windows = np.lib.stride_tricks.sliding_window_view(places, width, axis=0)  # (n, 3, width)
    fits = windows @ np.linalg.pinv(basis).T  # position, velocity and acceleration
    off = np.sqrt(((windows - fits @ basis.T) ** 2).sum(axis=1).mean(axis=1))
    size = np.linalg.norm(fits[..., 2], axis=1)
    falling = (np.abs(size - GRAVITY) < LIKE * GRAVITY) & (off < NEAR)
    return -fits[..., 2] / np.maximum(size, 1e-12)[:, None], falling


def _standing(places: FloatArray, width: int) -> NDArray[np.bool_]:
    """Return whether any of the points (frames, points, 3) [m] is at rest around each frame of `falls`."""
    half = width // 2 + 1
    windows = np.lib.stride_tricks.sliding_window_view(places, half, axis=0)  # (n, points, 3, half)
    way = np.linalg.norm(windows.max(axis=-1) - windows.min(axis=-1), axis=-1).min(axis=1)
    first = (width - half) // 2
    return np.asarray(way[first : first + len(places) - width + 1] < STILL)


def _middle(places: FloatArray, parents: Sequence[int]) -> FloatArray:
    """Return the approximate centre of mass, (frames, 3), with the mass of bones proportional to their length."""
    own = [(k, parent) for k, parent in enumerate(parents) if parent >= 0]
    ends, starts = (places[:, [pair[k] for pair in own]] for k in range(2))
    weights = np.linalg.norm(ends - starts, axis=2).mean(axis=0)
    return np.asarray(((ends + starts) / 2.0 * weights[:, None]).sum(axis=1) / max(float(weights.sum()), 1e-12))
