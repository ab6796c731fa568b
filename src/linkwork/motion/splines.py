"""Interpolation between key poses: straight, eased, and splines, for angles, lengths and rotations alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from ..errors import KeyFrameError
from ..linkage import poses
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, steady
from .staying_closed import closed_between

LONGEST_HANDLE = 0.9 * np.pi
KINDS = ("linear", "ease", "cubic", "catmull-rom", "ease-in", "ease-out", "tcb", "squad", "bezier", "step")
HANDLES = (1.0 / 3.0, 0.0, 2.0 / 3.0, 1.0)  # default handles of a key: start and end at rest


def sample(
    linkage: Linkage,
    times: FloatArray,
    keys: FloatArray,
    samples: FloatArray,
    *,
    kind: str | Sequence[str] = "cubic",
    wrap: bool = True,
    shape: FloatArray | None = None,
    handles: FloatArray | None = None,
) -> FloatArray:
    """Return the poses (m, nq) at sample times (m,) between key poses (n, nq) at rising times (n,).

    Closed loops stay closed.

    Args:
        linkage: The linkage.
        times: Times of the keys [s].
        keys: Poses of the keys.
        samples: Times of the requested poses [s].
        kind: One of `KINDS`, or one for every key: the interpolation from it to the next.
        wrap: Let unlimited angles take the shorter rotation between keys; False keeps whole turns.
        shape: Tension, continuity and bias at every key (n, 3), for ``"tcb"``; zero by default, as Catmull-Rom.
        handles: For ``"bezier"``, the timing from each key to the next, shape (n, 4); see `eased`.
    """
    kinds = [kind] * len(times) if isinstance(kind, str) else list(kind)
    for name in kinds:
        check_kind(name)
    if len(kinds) != len(times):
        raise KeyFrameError(f"there are {len(times)} keys but {len(kinds)} kinds; give one, or one for every key.")
    if len(times) == 1:
        return np.repeat(keys, len(samples), axis=0)
    keys = unwound(linkage, keys) if wrap else keys
    span = np.clip(np.searchsorted(times, samples, side="right") - 1, 0, len(times) - 2)
    t = (samples - times[span]) / (times[span + 1] - times[span])
    result, first = np.empty((len(samples), linkage.nq)), 0
    for name, group in groupby(kinds[:-1]):
        last = first + len(list(group))
        inside = (span >= first) & (span < last)
        if name == "cubic":  # one spline over all consecutive intervals of this kind
            run = slice(first, last + 1)
            result[inside] = _cubic(linkage, times[run], keys[run], samples[inside])
        elif inside.any():
            tcb = shape if name == "tcb" and shape is not None else np.zeros((len(times), 3))
            pulled = np.tile(HANDLES, (len(times), 1)) if handles is None else handles
            result[inside] = WAYS[name](_Stretches(linkage, times, keys, span[inside], t[inside], tcb, pulled))
        first = last
    return closed_between(linkage, keys, steady_signs(linkage, result))


def check_kind(kind: object) -> None:
    """Raise KeyFrameError if there is no interpolation of that name."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise KeyFrameError(f"no interpolation {kind!r}; choose from {', '.join(KINDS)}.")


def steady_signs(linkage: Linkage, values: FloatArray) -> FloatArray:
    """Choose the sign of every quaternion nearest to that of the previous frame; in place."""
    for k, _ in linkage.table.quaternions:
        values[:, k : k + 4] = steady(values[:, k : k + 4])
    return values


def unwound(linkage: Linkage, keys: FloatArray) -> FloatArray:
    """Add whole turns to unlimited angles so that successive poses differ by less than half a turn."""
    q, _, wraps = linkage.table.plain
    turning = q[wraps]
    result = keys.copy()
    steps = poses.wrapped(np.diff(keys[:, turning], axis=0))
    result[1:, turning] = keys[0, turning] + np.cumsum(steps, axis=0)
    return result


def eased(t: FloatArray, handles: FloatArray) -> FloatArray:
    """Return the fraction of the path at fractions t of the time (n,), by a cubic with two handles.

    The curve goes from (0, 0) to (1, 1), with handles (x1, y1, x2, y2), shape (n, 4): x is time and stays within 0 and
    1, y is the fraction of the path and may overshoot.

    Example:
        >>> eased(np.array([0.5]), np.array([[0.25, 0.25, 0.75, 0.75]])).round(6).tolist()
        [0.5]
    """
    x1, y1, x2, y2 = handles.T
    low, high = np.zeros_like(t), np.ones_like(t)
    for _ in range(52):  # time increases along the curve, so bisect to the last bit
        middle = 0.5 * (low + high)
        late = _cubic_point(middle, x1, x2) > t
        low, high = np.where(late, low, middle), np.where(late, middle, high)
    return _cubic_point(0.5 * (low + high), y1, y2)


def _cubic_point(u: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the value at u of a cubic from 0 to 1 with two handles."""
    rest = 1.0 - u
    return 3.0 * rest * rest * u * first + 3.0 * rest * u * u * second + u**3


def smooth(t: FloatArray) -> FloatArray:
    """Return fractions from 0 to 1 that start and end at rest: ``3 t² - 2 t³``."""
    return t * t * (3.0 - 2.0 * t)


@dataclass(frozen=True, eq=False)
class _Stretches:
    """Samples between keys: the key before each, the fraction of the interval, and the shape of the splines."""

    linkage: Linkage
    times: FloatArray
    keys: FloatArray
    span: NDArray[np.int64]
    t: FloatArray
    shape: FloatArray
    handles: FloatArray

    @property
    def gaps(self) -> FloatArray:
        return np.diff(self.times)

    def between(self, start: FloatArray, end: FloatArray, t: FloatArray) -> FloatArray:
        return poses.interpolate(self.linkage, start, end, t, wrap=False)

    def straight(self, t: FloatArray) -> FloatArray:
        return self.between(self.keys[self.span], self.keys[self.span + 1], t)

    def tangents(self, *, share: float) -> tuple[FloatArray, FloatArray]:
        """Return the velocities (n, nv) with which the motion arrives at and leaves every key.

        They are means of the rates before and after a key, weighted by nearness. Tension shortens them, continuity
        makes them differ, and bias favours one side (Kochanek and Bartels). If kept for a `share` of the interval, no
        velocity turns by more than half a turn, since it would then point the other way.
        """
        gaps, linkage = self.gaps, self.linkage
        rates = poses.difference(linkage, self.keys[:-1], self.keys[1:], wrap=False) / gaps[:, None]
        tension, continuity, bias = self.shape.T[..., None]
        tight = 1.0 - tension
        before, after = np.vstack([rates[:1], rates]), np.vstack([rates, rates[-1:]])
        near = np.full(len(self.times), 0.5)
        near[1:-1] = gaps[1:] / (gaps[:-1] + gaps[1:])
        early, late = near[:, None] * (1.0 + bias) * before, (1.0 - near)[:, None] * (1.0 - bias) * after
        coming = tight * ((1.0 - continuity) * early + (1.0 + continuity) * late)
        leaving = tight * ((1.0 + continuity) * early + (1.0 - continuity) * late)
        for end in (0, -1):  # the first and the last key have a rate on one side only
            coming[end] = leaving[end] = tight[end] * before[end]
        longest = np.maximum(np.append(gaps, 0.0), np.insert(gaps, 0, 0.0))
        for _, j in linkage.table.quaternions:
            for tangents in (coming, leaving):
                reach = np.linalg.norm(tangents[:, j : j + 3], axis=1) * longest * share
                tangents[:, j : j + 3] *= np.minimum(1.0, LONGEST_HANDLE / np.maximum(reach, 1e-300))[:, None]
        return coming, leaving


def _bezier(at: _Stretches) -> FloatArray:
    """Cubic intervals with the tangents of their keys.

    Each is evaluated by de Casteljau's construction, repeated interpolation, which is valid for angles, lengths and
    quaternions alike.
    """
    coming, leaving = at.tangents(share=1.0 / 3.0)
    linkage, keys, span = at.linkage, at.keys, at.span
    third = at.gaps[span][:, None] / 3.0
    corners: list[FloatArray] = [
        keys[span],
        poses.integrate(linkage, keys[span], third * leaving[span]),
        poses.integrate(linkage, keys[span + 1], -third * coming[span + 1]),
        keys[span + 1],
    ]
    while len(corners) > 1:
        corners = [at.between(a, b, at.t) for a, b in pairwise(corners)]
    return corners[0]


def _squad(at: _Stretches) -> FloatArray:
    """Shoemake's spherical quadrangle: between the rotation from key to key and the rotation of two inner poses.

    ``q(t) = slerp(slerp(q0, q1, t), slerp(s0, s1, t), 2 t (1 - t))``. The inner poses are chosen so that the velocity
    at a key is that of Catmull-Rom, for any times. For angles and lengths the two curves are equal.
    """
    result = _bezier(at)
    coming, leaving = at.tangents(share=1.0)
    keys, span, t = at.keys, at.span, at.t[:, None]
    gap = at.gaps[span][:, None]
    way = poses.difference(at.linkage, keys[span], keys[span + 1], wrap=False)
    for k, j in at.linkage.table.quaternions:
        turn = slice(j, j + 3)
        first = unit(keys[span, k : k + 4])
        last = product(first, exponential(way[:, turn]))
        early = product(first, exponential((gap * leaving[span] - way)[:, turn] / 2.0))
        late = product(last, exponential((way - gap * coming[span + 1])[:, turn] / 2.0))
        result[:, k : k + 4] = great_arc(great_arc(first, last, t), great_arc(early, late, t), 2.0 * t * (1.0 - t))
    return result


def unit(quaternions: FloatArray) -> FloatArray:
    """Return quaternions (n, 4) of length one."""
    return np.asarray(quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True))


def product(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the products of quaternions (n, 4); unlike rotations, they keep their sign."""
    w, v, x, u = a[:, :1], a[:, 1:], b[:, :1], b[:, 1:]
    return np.hstack([w * x - (v * u).sum(axis=1, keepdims=True), w * u + x * v + np.cross(v, u)])


def exponential(turn: FloatArray) -> FloatArray:
    """Return the quaternions (n, 4) of rotation vectors (n, 3), up to a whole turn."""
    angle = np.linalg.norm(turn, axis=1, keepdims=True)
    return np.hstack([np.cos(angle / 2.0), turn * (np.sinc(angle / (2.0 * np.pi)) / 2.0)])


def great_arc(a: FloatArray, b: FloatArray, t: FloatArray) -> FloatArray:
    """Return points on the great arcs between quaternions (n, 4), without changing signs."""
    angle = 2.0 * np.arctan2(np.linalg.norm(a - b, axis=1, keepdims=True), np.linalg.norm(a + b, axis=1, keepdims=True))
    sine = np.sin(angle)
    near = sine < 1e-9
    safe = np.where(near, 1.0, sine)
    early = np.where(near, 1.0 - t, np.sin((1.0 - t) * angle) / safe)
    result = early * a + np.where(near, t, np.sin(t * angle) / safe) * b
    return unit(result)


def _cubic(linkage: Linkage, times: FloatArray, keys: FloatArray, samples: FloatArray) -> FloatArray:
    """Natural cubic splines for plain values, SciPy's rotation splines for quaternions."""
    from scipy.interpolate import CubicSpline
    from scipy.spatial.transform import Rotation, RotationSpline

    result = np.empty((len(samples), linkage.nq))
    q, _, _ = linkage.table.plain
    result[:, q] = CubicSpline(times, keys[:, q], bc_type="natural")(samples)
    for k, _ in linkage.table.quaternions:
        spline = RotationSpline(times, Rotation.from_quat(keys[:, k : k + 4], scalar_first=True))
        result[:, k : k + 4] = spline(samples).as_quat(scalar_first=True)
    return result


WAYS: dict[str, Callable[[_Stretches], FloatArray]] = {
    "linear": lambda at: at.straight(at.t),
    "ease": lambda at: at.straight(smooth(at.t)),
    "ease-in": lambda at: at.straight(at.t * at.t),
    "ease-out": lambda at: at.straight(at.t * (2.0 - at.t)),
    "catmull-rom": _bezier,
    "tcb": _bezier,
    "squad": _squad,
    "bezier": lambda at: at.straight(eased(at.t, at.handles[at.span])),
    "step": lambda at: at.keys[at.span + (at.t >= 1.0)],
}
