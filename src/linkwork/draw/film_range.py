"""The part of a motion that a film shows: start, end, speed and the times of its frames."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import KeyFrameError, OptionError
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..motion.splines import sample
from ..transforms import FloatArray, is_number, is_whole

MOST_FRAMES = 50_000
LEAST_SPLITS, MOST_SPLITS = 4, 64
STEADY = 0.35  # smoothing time of the path of a following camera [s]
SLACK = 1e-9  # times closer together than this are equal [s]


@dataclass(frozen=True, eq=False)
class FilmFrames:
    """The frames of a film.

    Args:
        times: Time at which each is shown [s], from 0.
        poses: The pose in each, shape (n, nq).
        moments: Time in the clip that each shows [s].
        numbers: Number of the clip's frame at or before each.
    """

    times: FloatArray
    poses: FloatArray
    moments: FloatArray
    numbers: NDArray[np.int64]

    @property
    def rate(self) -> float:
        """Frames a second."""
        return (len(self.times) - 1) / float(self.times[-1]) if len(self.times) > 1 else 1.0

    def as_clip(self, clip: Clip) -> Clip:
        """Return the frames as a motion of their own."""
        return Clip(clip.linkage, self.times, self.poses)

    def refined(self, clip: Clip) -> tuple[int, Clip]:
        """Return the number of steps between two frames, and the clip in these finer steps, for a trail."""
        step = float(np.median(np.diff(clip.times))) if len(clip) > 1 else 1.0
        splits = int(np.clip(np.ceil(2.0 * np.diff(self.moments).max(initial=0.0) / step), LEAST_SPLITS, MOST_SPLITS))
        count = len(self.moments)
        moments = np.interp(np.arange(splits * (count - 1) + 1) / splits, np.arange(count), self.moments)
        poses = sample(clip.linkage, clip.times, clip.poses, moments, kind="linear")
        return splits, Clip(clip.linkage, moments, poses)


@dataclass(frozen=True)
class FilmRange:
    """The part of a clip that a film shows, as the caller gives it; `span` and `film_frames` check it.

    Args:
        fps: Frames per second; those of the clip by default.
        frames: Number of frames, evenly spaced, in place of `fps`.
        start: Start time in the clip [s].
        end: End time in the clip [s].
        speed: 2 is twice as fast, 0.5 slow motion.
    """

    fps: float | None = None
    frames: int | None = None
    start: float | None = None
    end: float | None = None
    speed: float = 1.0

    def span(self, clip: Clip) -> tuple[float, float]:
        """Return its start and end time in the clip [s]."""
        first, last = float(clip.times[0]), float(clip.times[-1])
        begin = first if self.start is None else _number("start", self.start)
        end = last if self.end is None else _number("end", self.end)
        for name, value in (("start", begin), ("end", end)):
            if not first - SLACK <= value <= last + SLACK:
                raise OptionError(f"{name} is {value:g} s; the motion goes from {first:g} to {last:g} s.")
        if begin > end:
            raise OptionError(f"start is {begin:g} s and end is before it, at {end:g} s.")
        return begin, end


def film_frames(clip: Clip, part: FilmRange, *, most: float, what: str, even: bool = True) -> FilmFrames:
    """Return the frames that a film of a clip shows.

    Args:
        clip: The motion.
        part: The part of the clip.
        most: Largest number of frames per second of the film.
        what: The kind of film, in words: ``"a GIF"``.
        even: Whether the times between frames must be equal.
    """
    if not isinstance(clip, Clip):
        raise OptionError(f"a film needs a Clip, got {type(clip).__name__}; lw.Clip(linkage, times, poses) makes one.")
    speed = _number("speed", part.speed)
    if not 0.001 <= speed <= 1000.0:
        raise OptionError(f"speed is from 0.001 to 1000, got {part.speed!r}.")
    begin, end = part.span(clip)
    moments = _moments(clip, part, begin, end, speed, most, what, even)
    if len(moments) > MOST_FRAMES:
        raise OptionError(f"a film of {len(moments)} frames is too long, {MOST_FRAMES} is the most; lower fps or end.")
    numbers = np.searchsorted(clip.times, moments + SLACK, side="right") - 1
    poses = clip.poses[numbers]
    if not (np.abs(clip.times[numbers] - moments) <= SLACK).all():
        poses = sample(clip.linkage, clip.times, clip.poses, moments, kind="linear")
    return FilmFrames((moments - moments[0]) / speed, poses, moments, numbers)


def _moments(
    clip: Clip, part: FilmRange, begin: float, end: float, speed: float, most: float, what: str, even: bool
) -> FloatArray:
    """Return the times in the clip that the film shows."""
    seconds = (end - begin) / speed
    if part.frames is not None:
        if part.fps is not None:
            raise OptionError("fps and frames both set the number of frames; give one of them.")
        count = _count(part.frames)
        if count > 1 and seconds < (count - 1) / most * (1.0 - 1e-9):
            raise OptionError(f"{count} frames in {seconds:g} s are too many for {what}, which has {most:g} a second.")
        return np.linspace(begin, end, count)
    steps = np.diff(clip.times)
    if part.fps is None:
        inside = clip.times[(clip.times >= begin - SLACK) & (clip.times <= end + SLACK)]
        regular = not even or np.ptp(steps, axis=0).max(initial=0.0) <= 1e-3 * steps.min(initial=np.inf)
        if len(inside) and speed == 1.0 and regular and steps.min(initial=np.inf) >= (1.0 - 1e-9) / most:
            return np.asarray(inside)
        rate = min(most, 1.0 / float(np.median(steps))) if len(steps) else 1.0
    else:
        rate = part.fps if is_number(part.fps) else math.nan
    if not 0.0 < rate <= most:
        raise OptionError(f"fps of {what} is more than 0 and at most {most:g}, got {part.fps!r}.")
    count = int(min(np.floor(seconds * rate + 1e-6), MOST_FRAMES)) + 1
    return np.asarray(np.minimum(begin + np.arange(count) * (speed / rate), end), dtype=np.float64)


def camera_way(linkage: Linkage, poses: FloatArray, rate: float, follow: bool | str) -> FloatArray | None:
    """Return the path of a camera that follows a linkage over the ground, shape (n, 3); None if it stands still.

    It follows a frame, or the mean position of all moving links. Its path is smoothed, so that steps do not shake it.

    Args:
        linkage: The linkage.
        poses: Its poses, evenly in time, shape (n, nq).
        rate: Number of poses per second.
        follow: Whether to follow, or the name of a frame.
    """
    if follow is False:
        return None
    if isinstance(follow, str):
        way = linkage.forward(poses, frame=follow)[:, :3, 3]
    else:
        links = linkage.forward(poses).array[:, : len(linkage.links), :3, 3]
        moving = np.ptp(links, axis=0).max(axis=1) > 0.0
        way = links[:, moving | ~moving.any()].mean(axis=1)
    from scipy.ndimage import gaussian_filter1d

    smooth: FloatArray = gaussian_filter1d(way, STEADY * rate, axis=0, mode="nearest")
    smooth[:, 2] = 0.0
    return smooth


def strip_frames(clip: Clip, part: FilmRange, count: int) -> list[int]:
    """Return the frame numbers for a strip: a given number, evenly spaced, without repetition."""
    if part.fps is not None or part.speed != 1.0:
        raise OptionError("speed and fps do not apply to a strip of pictures; give frames instead.")
    begin, end = part.span(clip)
    inside = np.flatnonzero((clip.times >= begin - SLACK) & (clip.times <= end + SLACK))
    if not len(inside):
        raise KeyFrameError(f"the motion has no frame from {begin:g} to {end:g} s.")
    count = count if part.frames is None else _count(part.frames)
    chosen = np.linspace(0, len(inside) - 1, min(count, len(inside))).round().astype(np.int64)
    return [int(k) for k in inside[chosen]]


def _number(name: str, value: Any) -> float:
    if not is_number(value) or not math.isfinite(value):
        raise OptionError(f"{name} is a number, got {value!r}.")
    return float(value)


def _count(value: Any) -> int:
    if not is_whole(value) or not 1 <= value <= MOST_FRAMES:
        raise OptionError(f"frames is a whole number from 1 to {MOST_FRAMES}, got {value!r}.")
    return int(value)
