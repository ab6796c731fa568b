"""Which way a body falls while nothing carries it: free fall tells what is up, whatever the body does in the air.

In flight the middle of a body goes along a parabola, whose acceleration is that of gravity and points down. A body
that is pushed may do the same upwards for a moment, as in every step of a run; but then something of it stands still.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..transforms import FloatArray
from .bvh_scale import Bone, Flight, look

GRAVITY = 9.81  # [m/s²]
LONG = 0.2  # [s] of a parabola: shorter ones fit anything
FEWEST = 7  # frames of one
SHORTEST = 1e-4  # [s] from frame to frame: nothing is captured faster
LIKE = 0.12  # how far its acceleration may be from gravity, of that
NEAR = 0.004  # [m] how far frames may be off it
STILL = 0.06  # [m] within half the time of a parabola: what goes less far stands on something
MOST = 12_000  # frames that are looked at
ENOUGH = 0.12  # [s] in the air, besides the beginnings and ends of flights


def flight(
    bones: Sequence[Bone],
    parents: Sequence[int],
    columns: Sequence[FloatArray],
    step: float,
    replaces: bool,
    metres: float = 1.0,
) -> Flight | None:
    """Return what a motion tells of gravity; None where the body does not fly, or falls in no one direction.

    Args:
        bones: Joints, parents before children.
        parents: The joint above each, or -1.
        columns: Values of the channels of each joint, [rad] and in the file's lengths, (frames, channels).
        step: From frame to frame [s].
        replaces: Whether position channels stand for offsets, or are added to them.
        metres: In a unit of length.
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
    """Return against which direction a point accelerates around each frame, (n, 3), and whether as in free fall, (n,).

    The first and last frames, around which there are not enough others, are left out.

    Args:
        places: Where it is [m], shape (frames, 3).
        step: From frame to frame [s].
        width: Frames of a parabola.

    Example:
        >>> height = 2.0 - 0.5 * 9.81 * (np.arange(9) / 30.0) ** 2
        >>> ways, falling = falls(np.stack([0 * height, height, 0 * height], axis=1), 1 / 30.0, 7)
        >>> ways[0, 1].round(6).item(), falling.tolist()
        (1.0, [True, True, True])
    """
    time = step * (np.arange(width) - (width - 1) / 2.0)
    basis = np.stack([np.ones(width), time, 0.5 * time**2], axis=1)
    windows = np.lib.stride_tricks.sliding_window_view(places, width, axis=0)  # (n, 3, width)
    fits = windows @ np.linalg.pinv(basis).T  # place, velocity and acceleration of each
    off = np.sqrt(((windows - fits @ basis.T) ** 2).sum(axis=1).mean(axis=1))
    size = np.linalg.norm(fits[..., 2], axis=1)
    falling = (np.abs(size - GRAVITY) < LIKE * GRAVITY) & (off < NEAR)
    return -fits[..., 2] / np.maximum(size, 1e-12)[:, None], falling


def _standing(places: FloatArray, width: int) -> NDArray[np.bool_]:
    """Return whether one of some points (frames, points, 3) [m] stands still around each frame, as `falls` has them."""
    half = width // 2 + 1
    windows = np.lib.stride_tricks.sliding_window_view(places, half, axis=0)  # (n, points, 3, half)
    way = np.linalg.norm(windows.max(axis=-1) - windows.min(axis=-1), axis=-1).min(axis=1)
    first = (width - half) // 2
    return np.asarray(way[first : first + len(places) - width + 1] < STILL)


def _middle(places: FloatArray, parents: Sequence[int]) -> FloatArray:
    """Return about where the middle of the mass is, (frames, 3): bones weigh as much as they are long."""
    own = [(k, parent) for k, parent in enumerate(parents) if parent >= 0]
    ends, starts = (places[:, [pair[k] for pair in own]] for k in range(2))
    weights = np.linalg.norm(ends - starts, axis=2).mean(axis=0)
    return np.asarray(((ends + starts) / 2.0 * weights[:, None]).sum(axis=1) / max(float(weights.sum()), 1e-12))
