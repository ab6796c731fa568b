"""The fastest timing of a path through the poses of a clip, within velocity and acceleration limits.

Time-optimal path parametrisation by reachability analysis (Pham and Pham, 2018). The path is a spline q(s) through the
poses. With x the square of ds/dt and u the second derivative of s, joints move by ``q' sqrt(x)`` and ``q' u + q'' x``:
limits are lines in x and u. A backward pass finds the largest x from which the rest of the path can still be followed;
a forward pass goes as fast as that allows.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import JointNotFoundError, KeyFrameError, LimitError, listed
from ..linkage.linkage import Linkage
from ..linkage.poses import between, clamped, keeps_limits
from ..transforms import FloatArray, as_array
from .keys import check_count, check_number, check_positive
from .splines import steady_signs, unwound

if TYPE_CHECKING:
    from .clips import Clip

_LOG = logging.getLogger("linkwork")
STILL = 1e-9  # frames nearer to the previous one than this are a pause, which is removed [rad, m]
SWING = 1e-3  # smaller violations between poses within limits are clamped; larger ones are logged [rad, m]
FEWEST_STEPS, STEPS_A_FRAME = 1000, 4
MOST_ROUNDS, FINE = 10, 1e-4  # largest number of rounds that halve steps, and allowed violation of limits, as a share
QUICKEST = 1e6  # upper bound of ds/dt where nothing moves
MOST_CROSSINGS = 100  # a handful are needed
Limits = float | ArrayLike | Mapping[str, float] | None


def fastest(
    clip: Clip,
    velocity: Limits,
    acceleration: Limits,
    *,
    fps: float | None,
    speed: float | None,
    duration: float | None,
    start: float | None,
) -> Clip:
    """Return a clip along the same path, timed as fast as limits allow, from rest to rest; see `Clip.retime`."""
    begin = clip.times[0] if start is None else check_number(start, "start")
    linkage, kept = clip.linkage, _moving(clip)
    if len(kept) < 2:
        raise KeyFrameError("a clip that stands still has no path to time.")
    path = _Path(linkage, clip.times[kept], clip.poses[kept])
    steady = bool(keeps_limits(linkage, clip.poses).all()) and not path.swings()
    moving = np.abs(path.rates(_grid(path.knots))).max(axis=0) > 0.0
    fast = _limits(linkage, velocity, "velocity", moving)
    hard = _limits(linkage, acceleration, "acceleration", moving)
    profile = _timed(path, fast, hard)
    stretch = _stretch(profile.duration, speed, duration)
    if fps is None:
        times = profile.times[np.searchsorted(profile.s, path.knots)] * stretch
        residuals = None if clip.residuals is None else clip.residuals[kept]
        return replace(clip, times=begin + times, poses=clip.poses[kept], residuals=residuals)
    rate = check_positive(fps, "fps")
    count = max(1, int(np.ceil(profile.duration * stretch * rate - 1e-6)))
    check_count(count + 1)
    shares = np.arange(count + 1) / count  # a whole number of frames: the last may be a fraction of a frame late
    poses = path.poses(profile.at(shares * profile.duration))
    poses = clamped(linkage, poses) if steady else poses  # clamp small violations by the spline
    return replace(clip, times=begin + np.arange(count + 1) / rate, poses=poses, residuals=None)


def _stretch(shortest: float, speed: float | None, duration: float | None) -> float:
    """Return the ratio of the requested duration to the shortest one."""
    if speed is not None and duration is not None:
        raise KeyFrameError("speed and duration both set the timing; give only one of them.")
    if speed is not None:
        share = check_positive(speed, "speed")
        if share > 1.0:
            raise KeyFrameError(f"speed is a share of the fastest that limits allow, from 0 to 1, got {speed!r}.")
        return 1.0 / share
    if duration is None:
        return 1.0
    wanted = check_positive(duration, "duration")
    if wanted < shortest * (1.0 - 1e-12):
        raise KeyFrameError(
            f"a duration of {wanted:.4g} s exceeds the limits; the shortest they allow is {shortest:.4g} s."
        )
    return wanted / shortest


def _moving(clip: Clip) -> NDArray[np.int64]:
    """Return the indices of frames that differ from the last one kept; pauses are dropped."""
    steps = np.abs(between(clip.linkage, clip.poses[:-1], clip.poses[1:])).max(axis=1, initial=0.0)
    return np.flatnonzero(np.concatenate([[True], steps > STILL]))


def _limits(linkage: Linkage, given: Limits, what: str, moving: NDArray[np.bool_]) -> FloatArray:
    """Return limits (nv,) of velocities or accelerations: the given ones, else the linkage's own.

    Raises:
        LimitError: If a value that moves has no limit, or one that is not positive.
    """
    names, result = linkage.table.velocity_joints, np.array(getattr(linkage, what))
    known = np.isfinite(result)
    parts = given if isinstance(given, Mapping) else {} if given is None else {None: given}
    for joint, value in parts.items():
        columns = [k for k, name in enumerate(names) if joint in (None, name)]
        if joint is not None and not columns:
            raise JointNotFoundError(joint, f"linkage {linkage.name!r}", tuple(dict.fromkeys(names)))
        values = as_array(value, f"{what} limits")
        if values.shape not in ((), (len(columns),)):
            whose = "" if joint is None else f" of joint {joint!r}"
            raise LimitError(f"{what}{whose} is one number, {len(columns)} of them, or by joint, got {value!r}.")
        result[columns], known[columns] = values, True
    if not known[moving].all():
        without = dict.fromkeys(repr(names[k]) for k in np.flatnonzero(moving & ~known))
        raise LimitError(
            f"no {what} limit is known of joints {listed(list(without))} of linkage {linkage.name!r}; pass {what}=2.0 "
            f"for all, {what}={{joint: 2.0}} for some, or {what}=np.inf for none."
        )
    if not (result[moving] > 0.0).all():
        raise LimitError(f"{what} limits of joints that move must be positive, got {result[moving].min():g}.")
    return result


class _Path:
    """A spline through poses, with the times of frames as parameter: poses and the first two derivatives."""

    def __init__(self, linkage: Linkage, times: FloatArray, poses: FloatArray) -> None:
        from scipy.interpolate import CubicSpline
        from scipy.spatial.transform import Rotation, RotationSpline

        self.linkage, self.knots = linkage, (times - times[0]) / (times[-1] - times[0])
        keys = unwound(linkage, poses)
        self._plain = CubicSpline(self.knots, keys[:, linkage.table.plain.q])
        self._turns: list[tuple[int, int, Any]] = [
            (q, v, RotationSpline(self.knots, Rotation.from_quat(keys[:, q : q + 4], scalar_first=True)))
            for q, v in linkage.table.quaternions
        ]

    def swings(self) -> bool:
        """Return whether the path exceeds limits between poses by more than `SWING`; log a warning if so."""
        linkage, way = self.linkage, self.poses(_grid(self.knots))
        beyond = np.maximum(linkage.lower - way, way - linkage.upper).max(axis=0, initial=0.0)
        k = int(beyond.argmax()) if len(beyond) else 0
        if not len(beyond) or beyond[k] <= SWING:
            return False
        text = "the spline through the poses leaves the limits of %r by %.3g %s, which the poses keep; %s."
        advice = "take them nearer to each other first, with clip.resample(fps=...)"
        _LOG.warning(text, linkage.coordinates[k], beyond[k], linkage.table[k].unit, advice)
        return True

    def poses(self, s: FloatArray) -> FloatArray:
        """Return the poses (n, nq) at parameters (n,)."""
        result = np.empty((len(s), self.linkage.nq))
        result[:, self.linkage.table.plain.q] = self._plain(s)
        for q, _, spline in self._turns:
            result[:, q : q + 4] = spline(s).as_quat(scalar_first=True)
        return steady_signs(self.linkage, result)

    def rates(self, s: FloatArray) -> FloatArray:
        """Return the velocities (n, nv) per unit of the parameter."""
        return self._derivative(s, 1)

    def curves(self, s: FloatArray) -> FloatArray:
        """Return the second derivatives (n, nv) by the parameter."""
        return self._derivative(s, 2)

    def _derivative(self, s: FloatArray, order: int) -> FloatArray:
        result = np.empty((len(s), self.linkage.nv))
        result[:, self.linkage.table.plain.v] = self._plain(s, order)
        for _, v, spline in self._turns:
            result[:, v : v + 3] = spline(s, order)
        return result


def _grid(knots: FloatArray) -> FloatArray:
    """Return parameters for the passes: every knot, and equally many steps between knots."""
    steps = max(STEPS_A_FRAME, -(-FEWEST_STEPS // (len(knots) - 1)))
    shares = np.arange(steps) / steps
    return np.append((knots[:-1, None] + np.diff(knots)[:, None] * shares).ravel(), knots[-1])


class _Profile(NamedTuple):
    """The timing of a path: `speeds` are ds/dt at points of the path; their squares are interpolated linearly."""

    s: FloatArray
    speeds: FloatArray
    times: FloatArray

    @property
    def duration(self) -> float:
        return float(self.times[-1])

    def at(self, times: FloatArray) -> FloatArray:
        """Return the parameters at times."""
        i = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.s) - 2)
        span = self.times[i + 1] - self.times[i]
        since = np.clip(times - self.times[i], 0.0, span)
        gain = (self.speeds[i + 1] - self.speeds[i]) / span
        return np.minimum(self.s[i] + since * (self.speeds[i] + gain * since / 2.0), self.s[i + 1])


def _timed(path: _Path, fast: FloatArray, hard: FloatArray) -> _Profile:
    """Return the fastest timing of a path.

    The passes keep limits at the points of a grid. Steps that violate limits in between, and their neighbours, are
    halved. Remaining small violations are removed by slowing down the whole path.
    """
    s = _grid(path.knots)
    for _ in range(MOST_ROUNDS):
        profile = _profile(path, s, fast, hard)
        above = _above(path, profile, fast, hard)
        coarse = above > 1.0 + FINE
        if not coarse.any():
            break
        halved = np.convolve(coarse, [1, 1, 1], mode="same") > 0  # the neighbours would violate limits next
        s = np.sort(np.concatenate([s, (s[:-1] + s[1:])[halved] / 2.0]))
    slower = max(1.0, float(above.max()))
    return _Profile(profile.s, profile.speeds / slower, profile.times * slower)


def _above(path: _Path, profile: _Profile, fast: FloatArray, hard: FloatArray) -> FloatArray:
    """Return the factor by which every step (n,) exceeds limits somewhere inside it; one or less if it does not."""
    s, x = profile.s, profile.speeds**2
    steps, gains = np.diff(s), np.diff(x)
    result = np.zeros(len(steps))
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        inside, here = s[:-1] + share * steps, x[:-1] + share * gains
        rates, curves = path.rates(inside), path.curves(inside)
        pushes = rates * (gains / (2.0 * steps))[:, None] + curves * here[:, None]
        quick = (np.abs(rates) / fast).max(axis=1) * np.sqrt(here)
        result = np.maximum(result, np.maximum(quick, np.sqrt((np.abs(pushes) / hard).max(axis=1))))
    return result


def _profile(path: _Path, s: FloatArray, fast: FloatArray, hard: FloatArray) -> _Profile:
    """Return the fastest timing that keeps limits at the points of a path."""
    steps, rates = np.diff(s), path.rates(s)
    a, b = rates / hard, path.curves(s) / hard
    with np.errstate(divide="ignore"):
        most = np.minimum((fast / np.abs(rates)).min(axis=1), QUICKEST) ** 2
    # Both ends of every step keep the limits, |p u + r x| <= 1, with x at the start of the step.
    p = np.concatenate([a[:-1], a[1:] + 2.0 * steps[:, None] * b[1:]], axis=1)
    r = np.concatenate([b[:-1], b[1:]], axis=1)
    p, r = np.abs(p), np.where(p < 0.0, -r, r)
    most[:-1] = _largest(p, r, steps, most[:-1])
    ahead = most.copy()
    ahead[-1] = 0.0
    room, double = p - 2.0 * steps[:, None] * r, 2.0 * steps
    for i in range(len(steps) - 1, -1, -1):
        reach = np.where(room[i] > 0.0, p[i] * ahead[i + 1] + double[i], np.inf) / np.where(room[i] > 0.0, room[i], 1.0)
        ahead[i] = min(ahead[i], reach.min())
    x = np.zeros(len(s))
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(len(steps)):
            push = np.where(p[i] > 0.0, (1.0 - r[i] * x[i]) / p[i], np.inf).min()
            x[i + 1] = max(0.0, min(ahead[i + 1], x[i] + double[i] * push))
    speeds = np.sqrt(x)
    return _Profile(s, speeds, np.append(0.0, np.cumsum(double / (speeds[:-1] + speeds[1:]))))


def _largest(p: FloatArray, r: FloatArray, steps: FloatArray, most: FloatArray) -> FloatArray:
    """Return the largest x (n,) up to `most` for which every step has a valid u and does not end below zero.

    The upper bound of u is a concave function of x, the lower bound a convex one. Where the upper is below the lower,
    the next x is the crossing of the two active lines, until the bounds are consistent. This is Newton's method and
    terminates.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        back = r - p / (2.0 * steps[:, None])
        stops = np.where(back > 0.0, 1.0 / back, np.inf).min(axis=1)
        flat = np.where((p == 0.0) & (r != 0.0), 1.0 / np.abs(r), np.inf).min(axis=1)
        x: FloatArray = np.minimum(np.minimum(most, stops), flat)
        left = np.arange(len(p))
        for _ in range(MOST_CROSSINGS):
            here, slope = p[left], r[left]
            tilt = slope * x[left, None]
            moves = here > 0.0
            upper, lower = np.where(moves, (1.0 - tilt) / here, np.inf), np.where(moves, -(1.0 + tilt) / here, -np.inf)
            rows, j, k = np.arange(len(left)), upper.argmin(axis=1), lower.argmax(axis=1)
            crossed = upper[rows, j] < lower[rows, k]
            if not crossed.any():
                break
            rows, j, k, left = rows[crossed], j[crossed], k[crossed], left[crossed]
            apart = slope[rows, j] * here[rows, k] - slope[rows, k] * here[rows, j]
            found = (here[rows, j] + here[rows, k]) / apart
            lowered = found < x[left]  # stop where only rounding errors remain
            x[left], left = np.minimum(x[left], found), left[lowered]
    return x
