"""Key poses: a pose at a time, and how to interpolate from it to the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import KeyFrameError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, is_number
from .splines import HANDLES, check_kind, sample

MOST_FRAMES = 10_000_000  # more than a day at 100 frames per second is probably a mistake


@dataclass(frozen=True, eq=False)
class Key:
    """A pose at a time.

    Args:
        time: Time [s].
        pose: The pose (nq,), values by joint name, or the name of a stored pose.
        kind: Interpolation from here to the next key, as in `lw.interpolate`; that of the whole motion by default.
        tension: For ``"tcb"``: 1 makes the curve tight at this key, -1 round.
        continuity: For ``"tcb"``: if not 0, the motion has a corner here.
        bias: For ``"tcb"``: 1 overshoots after the key, -1 before it.
        handles: For ``"bezier"``: timing up to the next key, as a cubic from (0, 0) to (1, 1) with handles (x1, y1, x2,
            y2), where x is time and y is the fraction of the path; by default it starts and ends at rest.

    Example:
        >>> Key(0.5, [0.1, 0.2], kind="ease-out")
        Key(time=0.5, pose=[0.1, 0.2], kind='ease-out')
    """

    time: float
    pose: Any
    kind: str | None = None
    tension: float = field(default=0.0, kw_only=True)
    continuity: float = field(default=0.0, kw_only=True)
    bias: float = field(default=0.0, kw_only=True)
    handles: tuple[float, float, float, float] = field(default=HANDLES, kw_only=True)

    def __post_init__(self) -> None:
        if self.kind is not None:
            check_kind(self.kind)
        for name in ("tension", "continuity", "bias"):
            value = getattr(self, name)
            if not is_number(value) or not np.isfinite(value):
                raise KeyFrameError(f"{name} of a key is a number, usually from -1 to 1, got {value!r}.")
        check_handles(self.handles)

    def __repr__(self) -> str:
        kind = "" if self.kind is None else f", kind={self.kind!r}"
        return f"Key(time={self.time!r}, pose={self.pose!r}{kind})"


def check_handles(handles: Any) -> None:
    """Raise KeyFrameError unless the handles of a key are four finite numbers, with times from 0 to 1."""
    good = isinstance(handles, tuple | list) and len(handles) == 4 and all(is_number(x) for x in handles)
    if not good or not np.isfinite(handles).all() or not all(0.0 <= handles[k] <= 1.0 for k in (0, 2)):
        raise KeyFrameError(f"handles of a key are (x1, y1, x2, y2), x1 and x2 from 0 to 1, got {handles!r}.")


def play_keys(
    linkage: Linkage, keys: Sequence[Key | tuple[float, Any]], *, fps: float, kind: str, wrap: bool
) -> tuple[FloatArray, FloatArray]:
    """Return even times (n,) from the first key to the last, and the poses (n, nq) there; see `lw.interpolate`."""
    check_kind(kind)
    if not isinstance(keys, Iterable):
        raise KeyFrameError(f"keys are a list of (time, pose) pairs, or of Key(time, pose, ...), got {keys!r}.")
    keys = list(keys)
    if not keys:
        raise KeyFrameError("there are no keys to interpolate; give at least one (time, pose).")
    try:
        read = [key if isinstance(key, Key) else Key(*_pair(key)) for key in keys]
        times = np.array([float(key.time) for key in read])
    except (TypeError, ValueError) as error:
        raise KeyFrameError(f"keys are (time, pose) pairs, or Key(time, pose, ...): {error}.") from error
    check_times(times)
    values = [linkage.pose(key.pose) for key in read]
    for value in values:
        if value.ndim != 1:
            raise KeyFrameError(f"a key takes one pose of shape ({linkage.nq},), got shape {value.shape}.")
    shape = np.array([(key.tension, key.continuity, key.bias) for key in read], dtype=np.float64)
    handles = np.array([key.handles for key in read], dtype=np.float64)
    kinds, samples = [key.kind or kind for key in read], even_times(times[0], times[-1], fps)
    found = sample(linkage, times, np.stack(values), samples, kind=kinds, wrap=wrap, shape=shape, handles=handles)
    return samples, found


def _pair(key: Any) -> tuple[float, Any]:
    time, pose = key
    return float(time), pose


def check_times(times: FloatArray) -> None:
    """Raise KeyFrameError unless the times of keys are finite and increase."""
    if not np.isfinite(times).all():
        raise KeyFrameError(f"key times must be finite numbers, got {times.tolist()}.")
    for before, after in pairwise(times):
        if after <= before:
            what = "two keys at" if after == before else f"a key at {before:g} s before one at"
            advice = "keep one of them" if after == before else "put them in order"
            raise KeyFrameError(f"key times must rise; there is {what} {after:g} s: {advice}.")


def even_times(start: float, end: float, fps: float) -> FloatArray:
    """Return evenly spaced times from a start to an end; the last is at the end or less than a frame before it."""
    check_positive(fps, "fps")
    count = int(np.floor((end - start) * fps * (1.0 + 1e-12) + 1e-9)) + 1
    check_count(count)
    return np.minimum(start + np.arange(count) / fps, end)


def check_count(count: int) -> None:
    """Raise KeyFrameError if a motion would have too many frames."""
    if count > MOST_FRAMES:
        raise KeyFrameError(f"a motion has at most {MOST_FRAMES} frames, this would be {count}; lower fps, or cut it.")


def check_positive(value: Any, what: str) -> float:
    """Return a positive finite number; raise KeyFrameError otherwise."""
    if not is_number(value) or not 0.0 < value < np.inf:
        raise KeyFrameError(f"{what} must be a positive number, got {value!r}.")
    return float(value)


def check_number(value: Any, what: str) -> float:
    """Return a finite number of seconds; raise KeyFrameError otherwise."""
    if not is_number(value) or not np.isfinite(value):
        raise KeyFrameError(f"{what} is a number of seconds, got {value!r}.")
    return float(value)
