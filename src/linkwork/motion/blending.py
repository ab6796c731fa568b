"""Cut, retime and combine clips: slices, resampling, cross-fades, blends and loops.

Signs of quaternions are kept continuous from frame to frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import KeyFrameError, LinkageError, listed
from ..linkage import poses
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, as_array, inverse, is_whole, steady
from . import root_motion
from .frame_files import Frames, block_of
from .keys import check_count, check_number, check_positive, check_times, even_times
from .sample_blocks import BLOCK, samples_in_blocks
from .splines import exponential, product, sample, smooth, steady_signs, unit
from .staying_closed import closed_between

if TYPE_CHECKING:
    from .clips import Clip

SAME_TIME, SAME_PLACE = 1e-9, 1e-9


# Cutting and retiming


def at(clip: Clip, times: ArrayLike, kind: str) -> FloatArray:
    """Return the poses of a clip at times within it; see `Clip.at`."""
    wanted = _within(clip, times)
    found = sample(clip.linkage, clip.times, clip.poses, wanted.ravel(), kind=kind)
    return _limited(clip, found, kind).reshape(*wanted.shape, clip.linkage.nq)


def at_blocks(clip: Clip, times: ArrayLike, kind: str) -> Iterator[FloatArray]:
    """Yield the poses of a clip at non-decreasing times (n,), block by block; together they are the result of `at`."""
    for found in samples_in_blocks(clip.linkage, clip.times, clip.poses, _within(clip, times), kind):
        yield _limited(clip, found, kind)


def _within(clip: Clip, times: ArrayLike) -> FloatArray:
    """Return times within a clip; raise KeyFrameError if one is outside."""
    wanted = as_array(times, "times")
    first, last = clip.times[0], clip.times[-1]
    slack = SAME_TIME * (1.0 + abs(first) + abs(last))
    if not ((wanted >= first - slack) & (wanted <= last + slack)).all():  # NaN fails both tests
        raise KeyFrameError(f"the clip lasts from {first:g} to {last:g} s; there is no pose at {times!r}.")
    return np.clip(wanted, first, last)


def _limited(clip: Clip, found: FloatArray, kind: str) -> FloatArray:
    """Return poses between those of a clip, clamped to limits if the poses of the clip are within limits."""
    lower, upper = clip.linkage.lower, clip.linkage.upper
    if kind in ("linear", "step") or ((found >= lower) & (found <= upper)).all():
        return found
    blocks = (block_of(clip.poses, slice(k, k + BLOCK)) for k in range(0, len(clip), BLOCK))
    return np.clip(found, lower, upper) if all(((b >= lower) & (b <= upper)).all() for b in blocks) else found


def cut(clip: Clip, start: float | None, end: float | None) -> Clip:
    """Return the frames between two times; see `Clip.slice`."""
    first = clip.times[0] if start is None else check_number(start, "start of a slice")
    last = clip.times[-1] if end is None else check_number(end, "end of a slice")
    inside = (clip.times >= first - SAME_TIME) & (clip.times <= last + SAME_TIME)
    if not inside.any():
        whole = f"{clip.times[0]:g} to {clip.times[-1]:g} s"
        raise KeyFrameError(f"there is no frame between {first:g} and {last:g} s; the clip lasts from {whole}.")
    return replace(clip, times=clip.times[inside], poses=clip.poses[inside], residuals=_rows(clip, inside))


def resample(clip: Clip, fps: float | None, times: ArrayLike | None, kind: str) -> Clip:
    """Return a clip at other times; see `Clip.resample`."""
    if fps is not None and times is None:
        samples = even_times(clip.times[0], clip.times[-1], fps)
    elif times is not None and fps is None:
        samples = as_array(times, "times")
    else:
        raise KeyFrameError("give either fps= or times= to resample a clip.")
    if samples.ndim != 1 or not len(samples):
        raise KeyFrameError(f"times of a clip have shape (n,), got {samples.shape}.")
    check_times(samples)
    frames = Frames(clip.linkage.nq)
    for block in at_blocks(clip, samples, kind):
        frames.add(block)
    return replace(clip, times=samples, poses=frames.array(), residuals=None)


def reverse(clip: Clip) -> Clip:
    """Return a clip played backwards; see `Clip.reverse`."""
    times = clip.times[0] + clip.times[-1] - clip.times[::-1]
    return replace(clip, times=times, poses=clip.poses[::-1], residuals=_rows(clip, slice(None, None, -1)))


def retime(clip: Clip, speed: float | None, duration: float | None, start: float | None) -> Clip:
    """Return the same poses at other times; see `Clip.retime`."""
    if speed is not None and duration is not None:
        raise KeyFrameError("speed and duration both set the timing; give only one of them.")
    factor = 1.0 if speed is None else 1.0 / check_positive(speed, "speed")
    if duration is not None:
        if len(clip) < 2:
            raise KeyFrameError("a clip of one frame cannot be stretched to a duration.")
        factor = check_positive(duration, "duration") / clip.duration
    begin = clip.times[0] if start is None else check_number(start, "start")
    return replace(clip, times=begin + (clip.times - clip.times[0]) * factor)


def _rows(clip: Clip, which: Any) -> FloatArray | None:
    return None if clip.residuals is None else clip.residuals[which]


# Combining


def concatenate(clips: Sequence[Clip], fade: float, align: bool, feet: bool = False) -> Clip:
    """Return clips one after another; see `Clip.concatenate`."""
    if check_number(fade, "fade") < 0.0:
        raise KeyFrameError(f"fade must be a number of seconds, zero or more, got {fade!r}.")
    result = clips[0]
    for other in clips[1:]:
        result = _joined(result, other, float(fade), align, feet)
    return result


def _joined(clip: Clip, other: Clip, fade: float, align: bool, feet: bool) -> Clip:
    short = min(clip.duration, other.duration)
    if fade > short:
        raise KeyFrameError(f"a fade of {fade:g} s does not fit in a clip of {short:g} s; give a shorter fade.")
    begin = clip.times[-1] - fade if fade else clip.times[-1] + 1.0 / clip.fps
    if align:
        place = root_motion.heading(clip.linkage, at(clip, clip.times[-1] - fade, "linear"))
        there = root_motion.heading(clip.linkage, other.poses[0])
        other = root_motion.moved(other, place @ inverse(there))
    after, later = begin + other.times - other.times[0], other.poses
    second = replace(other, times=after)
    if fade:
        after = even_times(begin, begin + other.duration, clip.fps)
        later = at(other, other.times[0] + after - begin, "linear")
        shared = after <= clip.times[-1] + SAME_TIME
        earlier, weight = at(clip, after[shared], "linear"), smooth((after[shared] - begin) / fade)
        later[shared] = mixed(clip.linkage, earlier, later[shared], weight)
    kept = clip.times < after[0] - SAME_TIME
    values = steady_signs(clip.linkage, np.vstack([clip.poses[kept], later]))
    joined = replace(clip, times=np.append(clip.times[kept], after), poses=values, residuals=None)
    if not feet or not fade:
        return joined
    from . import footing  # loads the solvers

    masks = footing.masks_after(clip, second, joined.times, begin + fade / 2.0)
    return footing.planted(joined, masks, since=begin - footing.EASE, until=begin + fade + footing.EASE)


def blend(
    clip: Clip,
    other: Clip,
    weight: float | ArrayLike | Callable[[FloatArray], ArrayLike],
    stretch: bool,
    feet: bool = False,
) -> Clip:
    """Return a blend of two clips; see `Clip.blend`."""
    since = clip.times - clip.times[0]
    shares = as_array(weight(since) if callable(weight) else weight, "weight of a blend")
    if shares.shape not in ((), (len(clip),)) or not ((shares >= 0.0) & (shares <= 1.0)).all():
        raise KeyFrameError(f"the weight of a blend is from 0 to 1: one number, or one for each of {len(clip)} frames.")
    wanted = None
    if feet:
        from . import footing  # loads the solvers

        wanted = footing.in_step(clip, other)
    if wanted is not None:
        since = wanted - other.times[0]
    elif stretch and len(clip) > 1:
        since = since * (other.duration / clip.duration)
    elif clip.duration > other.duration + SAME_TIME:
        raise KeyFrameError(
            f"the other clip lasts {other.duration:g} s, this one {clip.duration:g} s; give stretch=True, or cut one."
        )
    beside = at(other, np.minimum(other.times[0] + since, other.times[-1]), "linear")
    values = mixed(clip.linkage, clip.poses, beside, np.broadcast_to(shares, len(clip)))
    mixture = replace(clip, poses=steady_signs(clip.linkage, values), residuals=None)
    if not feet:
        return mixture
    steps = footing.masks_beside(clip, other, other.times[0] + since, np.broadcast_to(shares, len(clip)))
    return footing.planted(mixture, steps)


def loop(clip: Clip, fade: float, cycles: int, travel: bool) -> Clip:
    """Return a cycle without a seam; see `Clip.loop`.

    The cycle lasts as long as the clip less the fade. Its first `fade` seconds blend the clip's last seconds into its
    first, so that the end of one cycle continues into the next.
    """
    check_positive(fade, "fade")
    if not is_whole(cycles) or cycles < 1:
        raise KeyFrameError(f"cycles is a whole number, at least one, got {cycles!r}.")
    if 2.0 * fade > clip.duration:
        raise KeyFrameError(f"a fade of {fade:g} s needs a clip of at least {2 * fade:g} s, got {clip.duration:g} s.")
    linkage, length = clip.linkage, clip.duration - fade
    count = max(2, round(length * clip.fps) + 1)
    check_count(int(cycles) * (count - 1) + 1)
    since = np.linspace(0.0, length, count)
    values = at(clip, np.minimum(clip.times[0] + since, clip.times[-1]), "linear")
    seam = since < fade
    tail = replace(clip, times=since[seam], poses=at(clip, clip.times[0] + length + since[seam], "linear"))
    step = np.eye(4)
    if travel and root_motion.root_moves(linkage):
        step = root_motion.heading(linkage, tail.poses[0]) @ inverse(root_motion.heading(linkage, clip.poses[0]))
        tail = root_motion.moved(tail, inverse(step))
    values[seam] = mixed(linkage, tail.poses, values[seam], smooth(since[seam] / fade))
    cycle = replace(clip, times=clip.times[0] + since, poses=steady_signs(linkage, values), residuals=None)
    parts, place = [cycle.poses], np.eye(4)
    for _ in range(int(cycles) - 1):
        place = step @ place
        parts.append((root_motion.moved(cycle, place) if root_motion.root_moves(linkage) else cycle).poses[1:])
    values = steady_signs(linkage, np.vstack(parts))
    times = clip.times[0] + np.arange(len(values)) * (length / (count - 1))
    return replace(cycle, times=times, poses=values)


def mixed(linkage: Linkage, one: FloatArray, other: FloatArray, share: FloatArray) -> FloatArray:
    """Return poses (n, nq) interpolated by shares (n,) between two motions, frame by frame; see `Mixer`."""
    return Mixer(linkage).mix(one, other, share)


class Mixer:
    """Interpolates between two motions frame by frame, in consecutive blocks of frames.

    Each angle takes the shorter way at the first frame and keeps that direction, even if the motions later differ by
    more than half a turn.
    than half a turn apart.

    Args:
        linkage: The linkage of both.
    """

    def __init__(self, linkage: Linkage) -> None:
        self.linkage = linkage
        self._way: FloatArray | None = None  # differences of angles in the last frame
        self._between: dict[int, FloatArray] = {}  # quaternions from one motion to the other in the last frame

    def mix(self, one: FloatArray, other: FloatArray, share: FloatArray) -> FloatArray:
        """Return the poses (n, nq) of the next frames, a share (n,) of the way from one to the other."""
        part, result = share[:, None], np.array(one)
        q, _, wraps = self.linkage.table.plain
        way = other[:, q] - one[:, q]
        short = poses.wrapped(way[:, wraps])
        before = short[:0] if self._way is None else self._way[None]
        way[:, wraps] = np.unwrap(np.concatenate([before, short]), axis=0)[len(before) :]
        self._way = way[-1, wraps].copy()
        end = np.where(wraps, one[:, q] + way, other[:, q])
        result[:, q] = np.where(part < 0.5, one[:, q] + part * way, end - (1.0 - part) * way)
        for k, _ in self.linkage.table.quaternions:
            start, target = (unit(values[:, k : k + 4]) for values in (one, other))
            between = product(start * (1.0, -1.0, -1.0, -1.0), target)
            known = self._between.get(k, np.array([1.0, 0.0, 0.0, 0.0]))
            between = steady(between * (-1.0 if between[0] @ known < 0.0 else 1.0))
            self._between[k] = between[-1].copy()
            sine = np.linalg.norm(between[:, 1:], axis=1, keepdims=True)
            turn = between[:, 1:] * (2.0 * np.arctan2(sine, between[:, :1]) / np.where(sine > 0.0, sine, 1.0))
            result[:, k : k + 4] = product(start, exponential(part * turn))
        return closed_between(self.linkage, np.concatenate([one, other]), result)


# Checks


def check_same(one: Linkage, two: Linkage) -> None:
    """Raise LinkageError unless clips of two linkages can be combined: equal coordinates, joints and placements."""
    if one is two:
        return
    if one.coordinates != two.coordinates:
        strange = [name for name in two.coordinates if name not in one.coordinate_index] or list(two.coordinates)
        raise LinkageError(
            f"the clips are of two linkages, {one.name!r} and {two.name!r}: only the second has {listed(strange)}. "
            "Retarget one of them, or load it with linkage=."
        )
    for a, b in zip(one.arcs, two.arcs, strict=True):
        away = np.abs(a.placement - b.placement).max()
        if a.articulation != b.articulation or away > SAME_PLACE * (1.0 + one.length):
            raise LinkageError(
                f"the clips are of two linkages, {one.name!r} and {two.name!r}: joint {a.name!r} has another place or "
                "axis in the second. Retarget one of them."
            )
