"""Motion: poses of one linkage over time, and key frames made into it.

Imports `poses` and `linkage`; SciPy for cubic splines, when one is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import poses
from .errors import KeyFrameError, PoseShapeError
from .linkage import Linkage
from .transforms import FloatArray, as_array, steady

if TYPE_CHECKING:
    from .formats import Remark

LONGEST_HANDLE = 0.9 * np.pi
KINDS = ("linear", "ease", "cubic", "catmull-rom")


@dataclass(frozen=True, eq=False)
class Clip:
    """Poses of one linkage at rising times.

    Args:
        linkage: The linkage that moves.
        times: Times [s], shape (n,).
        poses: One pose for each time, shape (n, nq).
        residuals: How far each frame's goals were missed, where it was solved for, shape (n, blocks).
    """

    linkage: Linkage
    times: FloatArray
    poses: FloatArray
    residuals: FloatArray | None = None

    def __post_init__(self) -> None:
        times, values = as_array(self.times, "times of a clip"), poses.checked(self.linkage, self.poses)
        if times.ndim != 1 or len(times) == 0 or not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
            raise KeyFrameError("a clip needs at least one time, and times that rise.")
        if values.shape != (len(times), self.linkage.nq):
            raise PoseShapeError(self.linkage.nq, values.shape, self.linkage.name, what=f"clip of {len(times)} poses")
        for array in (times, values):
            array.setflags(write=False)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "poses", values)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(
            getattr(self, field.name) for field in fields(self)
        )  # read-only again at the other end

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"<Clip of {self.linkage.name!r}: {len(self)} frames, {self.times[-1] - self.times[0]:.3g} s>"

    def forward(self, *, frame: str | None = None) -> Any:
        """Return where frames are over the whole clip; as `Linkage.forward`, with a leading time axis."""
        return self.linkage.forward(self.poses) if frame is None else self.linkage.forward(self.poses, frame=frame)

    def save(self, path: str | os.PathLike[str]) -> tuple[Remark, ...]:
        """Write the motion to a file, as its suffix says; see `linkwork.save`.

        Returns:
            Remarks on what a file of this kind cannot hold; they are logged as warnings too.
        """
        from . import formats

        return formats.save(self, path)


def interpolate(
    linkage: Linkage,
    keys: Sequence[tuple[float, ArrayLike]],
    *,
    fps: float = 24.0,
    kind: str = "cubic",
    wrap: bool = True,
) -> Clip:
    """Return the motion through key poses, at even times from the first key to the last.

    Args:
        linkage: The linkage.
        keys: (time, pose) pairs with rising times [s]; a pose may be the name of a stored one.
        fps: Frames a second. The last frame falls on the last key or up to one frame before it.
        kind: ``"linear"``; ``"ease"`` (slow out of and into every key); ``"cubic"`` (a spline with continuous
            acceleration); ``"catmull-rom"`` (continuous velocity, each stretch shaped by its four nearest keys). The
            last two may swing a little beyond their keys, and so beyond limits: `Linkage.clamp` brings them back.
        wrap: Let unlimited angles go the short way round between keys; False keeps whole turns.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.interpolate(arm, [(0, [0, 0]), (1, [1, 2])], fps=2, kind="linear").poses.tolist()
        [[0.0, 0.0], [0.5, 1.0], [1.0, 2.0]]
    """
    times, values = _read_keys(linkage, keys)
    if isinstance(fps, bool) or not isinstance(fps, int | float | np.number) or not 0.0 < fps < np.inf:
        raise KeyFrameError(f"fps must be a positive number, got {fps!r}.")
    count = int(np.floor((times[-1] - times[0]) * fps * (1.0 + 1e-12) + 1e-9)) + 1
    samples = np.minimum(times[0] + np.arange(count) / fps, times[-1])
    return Clip(linkage, samples, sample(linkage, times, values, samples, kind=kind, wrap=wrap))


def _read_keys(linkage: Linkage, keys: Sequence[tuple[float, ArrayLike]]) -> tuple[FloatArray, FloatArray]:
    keys = list(keys)
    if not keys:
        raise KeyFrameError("there are no keys to interpolate; give at least one (time, pose).")
    try:
        pairs = [(float(time), pose) for time, pose in keys]
    except (TypeError, ValueError) as error:
        raise KeyFrameError(f"keys are (time, pose) pairs: {error}.") from error
    times = np.array([time for time, _ in pairs])
    if not np.isfinite(times).all():
        raise KeyFrameError(f"key times must be finite, got {times.tolist()}.")
    for before, after in pairwise(times):
        if after <= before:
            what = "two keys at" if after == before else f"a key at {before:g} s before one at"
            raise KeyFrameError(f"key times must rise; there is {what} {after:g} s.")
    values = [linkage.pose(base=pose) for _, pose in pairs]
    for value in values:
        if value.ndim != 1:
            raise KeyFrameError(f"a key takes one pose of shape ({linkage.nq},), got shape {value.shape}.")
    return times, np.stack(values)


def sample(
    linkage: Linkage,
    times: FloatArray,
    keys: FloatArray,
    samples: FloatArray,
    *,
    kind: str = "cubic",
    wrap: bool = True,
) -> FloatArray:
    """Return the poses (m, nq) at sample times (m,) between key poses (n, nq) at rising times (n,)."""
    if kind not in KINDS:
        raise KeyFrameError(f"no interpolation {kind!r}; there is {', '.join(KINDS)}.")
    if len(times) == 1:
        return np.repeat(keys, len(samples), axis=0)
    keys = _unwound(linkage, keys) if wrap else keys
    return _steady_signs(linkage, _sampled(linkage, times, keys, samples, kind))


def _sampled(linkage: Linkage, times: FloatArray, keys: FloatArray, samples: FloatArray, kind: str) -> FloatArray:
    if kind == "cubic":
        return _cubic(linkage, times, keys, samples)
    span = np.clip(np.searchsorted(times, samples, side="right") - 1, 0, len(times) - 2)
    t = (samples - times[span]) / (times[span + 1] - times[span])
    start, end = keys[span], keys[span + 1]
    if kind == "catmull-rom":
        return _catmull_rom(linkage, times, keys, span, t)
    if kind == "ease":
        t = t * t * (3.0 - 2.0 * t)
    return _between(linkage, start, end, t)


def _steady_signs(linkage: Linkage, values: FloatArray) -> FloatArray:
    """Choose, of the two quaternions of every rotation, the one nearer that of the frame before."""
    for k, _ in linkage.quaternion_values:
        values[:, k : k + 4] = steady(values[:, k : k + 4])
    return values


def _between(linkage: Linkage, start: FloatArray, end: FloatArray, t: FloatArray) -> FloatArray:
    return poses.interpolate(linkage, start, end, t, wrap=False)


def _unwound(linkage: Linkage, keys: FloatArray) -> FloatArray:
    """Add whole turns to unlimited angles so that neighbouring keys are less than half a turn apart."""
    q, _, wraps = linkage.plain_values
    turning = q[wraps]
    result = keys.copy()
    steps = poses.wrapped(np.diff(keys[:, turning], axis=0))
    result[1:, turning] = keys[0, turning] + np.cumsum(steps, axis=0)
    return result


def _cubic(linkage: Linkage, times: FloatArray, keys: FloatArray, samples: FloatArray) -> FloatArray:
    """Natural cubic splines for plain values, SciPy's rotation splines for quaternions."""
    from scipy.interpolate import CubicSpline
    from scipy.spatial.transform import Rotation, RotationSpline

    result = np.empty((len(samples), linkage.nq))
    q, _, _ = linkage.plain_values
    result[:, q] = CubicSpline(times, keys[:, q], bc_type="natural")(samples)
    for k, _ in linkage.quaternion_values:
        spline = RotationSpline(times, Rotation.from_quat(keys[:, k : k + 4], scalar_first=True))
        result[:, k : k + 4] = spline(samples).as_quat(scalar_first=True)
    return result


def _catmull_rom(linkage: Linkage, times: FloatArray, keys: FloatArray, span: Any, t: FloatArray) -> FloatArray:
    """Cubic stretches whose velocity at a key is the mean over its neighbours, weighted by their nearness.

    Each stretch is drawn by de Casteljau's construction, interpolating between interpolations, which serves angles,
    lengths and quaternions alike.
    """
    gaps = np.diff(times)
    rates = poses.difference(linkage, keys[:-1], keys[1:], wrap=False) / gaps[:, None]
    tangents = np.empty((len(times), linkage.nv))
    tangents[0], tangents[-1] = rates[0], rates[-1]
    before, after = gaps[:-1, None], gaps[1:, None]
    tangents[1:-1] = (after * rates[:-1] + before * rates[1:]) / (before + after)
    longest = np.maximum(np.append(gaps, 0.0), np.insert(gaps, 0, 0.0))
    for _, j in linkage.quaternion_values:  # a handle of more than half a turn would point the other way
        reach = np.linalg.norm(tangents[:, j : j + 3], axis=1) * longest / 3.0
        tangents[:, j : j + 3] *= np.minimum(1.0, LONGEST_HANDLE / np.maximum(reach, 1e-300))[:, None]
    third = gaps[span][:, None] / 3.0
    corners: list[FloatArray] = [
        keys[span],
        poses.integrate(linkage, keys[span], third * tangents[span]),
        poses.integrate(linkage, keys[span + 1], -third * tangents[span + 1]),
        keys[span + 1],
    ]
    while len(corners) > 1:
        corners = [_between(linkage, a, b, t) for a, b in pairwise(corners)]
    return corners[0]
