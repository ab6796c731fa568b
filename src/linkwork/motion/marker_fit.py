"""Fit a linkage to markers: least squares over all visible markers of each frame.

The position of a marker on its link is often unknown. It is estimated from a few frames by repeating two steps: pose
the linkage, then set each marker to its mean position on its link.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import LinkageError, OptionError
from ..linkage.joints import Floating
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, start_pose
from ..transforms import FloatArray, as_vector
from .clips import Clip
from .frame_goals import GoalTrack, follow
from .markers import Markers

FEW, ROUNDS = 12, 40  # frames for estimating offsets, and largest number of rounds
SETTLED = 1e-5  # largest change of offsets in the last round [m]
CALM = 1e-3  # weight of a joint's previous value relative to a marker, for joints that no marker determines
NAME = "marker "


@dataclass(frozen=True, eq=False)
class MarkerFit:
    """A motion that follows markers, and its errors.

    Args:
        clip: The motion.
        offsets: Position of each marker in the coordinates of its frame [m].
        errors: Distance of each marker from its point on the linkage [m], shape (frames, markers); NaN where not seen.
    """

    clip: Clip
    offsets: Mapping[str, FloatArray]
    errors: FloatArray

    def report(self) -> str:
        """Return a table: root mean square error, largest error and missing share of each marker, worst first."""
        seen = ~np.isnan(self.errors)
        squares = np.where(seen, self.errors, 0.0) ** 2
        rms = np.sqrt(squares.sum(axis=0) / np.maximum(seen.sum(axis=0), 1))
        names, worst, missing = list(self.offsets), np.sqrt(squares.max(axis=0)), 1.0 - seen.mean(axis=0)
        width = max(map(len, names))
        lines = [f"{'marker':<{width}}  rms [mm]  worst [mm]  missing"]
        for k in np.argsort(-rms):
            numbers = f"{1000 * rms[k]:8.1f}  {1000 * worst[k]:10.1f}  {missing[k]:7.1%}"
            lines.append(f"{names[k]:<{width}}  {numbers}")
        return "\n".join(lines)


def solve_markers(
    linkage: Linkage,
    markers: Markers,
    on: Mapping[str, str | tuple[str, ArrayLike]],
    *,
    weights: Mapping[str, float] | None = None,
    start: PoseLike | None = None,
) -> MarkerFit:
    """Return the motion of a linkage that follows markers, by least squares over all of them.

    Args:
        linkage: The linkage, already scaled to the proportions of the person.
        markers: The markers.
        on: The frame of each marker, by marker name: ``{"LKNE": "left_shin"}``; or with its position there [m], if
            known, ``("left_shin", (0, 0.05, 0))``. Other markers are ignored.
        weights: Weights by marker name, 1 by default.
        start: Pose before the first frame; the neutral pose by default, moved to the markers if the root is floating.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> markers = lw.Markers(("tip",), [0.0, 0.1], [[[1.0, 2.0, 0.0]], [[0.9, 2.0, 0.0]]])
        >>> fit = lw.solve_markers(arm, markers, {"tip": ("tip", (0, 0, 0))}, start=[0.5, 1.0])
        >>> bool(fit.errors.max() < 1e-3)
        True
    """
    check_linkage(linkage)
    names = list(on)
    if not names:
        raise OptionError("on= is empty; it maps markers to frames of the linkage, such as {'LKNE': 'left_shin'}.")
    frames = [spec if isinstance(spec, str) else spec[0] for spec in on.values()]
    known = np.array([not isinstance(spec, str) for spec in on.values()])
    offsets = np.array(
        [np.zeros(3) if isinstance(spec, str) else as_vector(spec[1], f"place of {n!r}") for n, spec in on.items()]
    )
    for frame in frames:
        linkage.frame_index(frame)
    points = markers.only(names).points
    seen = ~np.isnan(points[..., 0])
    if not seen.any():
        raise LinkageError("none of the markers is seen in any frame.")
    weighing = np.array([float((weights or {}).get(name, 1.0)) for name in names]) * seen
    q = start_pose(linkage, start)
    rich = np.flatnonzero(seen.sum(axis=1) == seen.sum(axis=1).max())
    if start is None:
        q = _placed(linkage, q, frames, points[rich[0]], seen[rich[0]])
    fitter = _Fitter(linkage, frames, np.nan_to_num(points), weighing)
    if not known.all():
        few = rich[np.unique(np.linspace(0, len(rich) - 1, FEW).astype(np.int64))]
        offsets, q = fitter.offsets(offsets, known, few, q)
    poses = fitter.poses(offsets, np.arange(len(markers)), q)
    errors = np.linalg.norm(fitter.places(offsets, poses) - fitter.points, axis=-1)
    clip = Clip(linkage, markers.times, poses)
    return MarkerFit(clip, dict(zip(names, offsets, strict=True)), np.where(seen, errors, np.nan))


@dataclass(frozen=True, eq=False)
class _Fitter:
    """Markers on a linkage: frames (n,), points (frames, n, 3) and weights (frames, n), zero where not seen."""

    linkage: Linkage
    frames: list[str]
    points: FloatArray
    weights: FloatArray

    def poses(self, offsets: FloatArray, chosen: NDArray[Any], q: FloatArray) -> FloatArray:
        """Return the poses of some frames, each solved from the previous one."""
        marked = self.linkage
        for k, frame in enumerate(self.frames):
            marked = marked.add_frame(f"{NAME}{k}", frame, offsets[k])
        tracks = [
            GoalTrack("place", f"{NAME}{k}", self.points[chosen, k], self.weights[chosen, k])
            for k in range(len(self.frames))
        ]
        rest = np.tile(q, (len(chosen), 1))
        tracks.append(GoalTrack("pose", "", rest, np.full(len(chosen), CALM)))
        return follow(marked, tracks, q)

    def places(self, offsets: FloatArray, poses: FloatArray) -> FloatArray:
        found = self.linkage.forward(poses)
        matrices = np.stack([found[frame] for frame in self.frames], axis=1)
        turned: FloatArray = np.einsum("tnij,nj->tni", matrices[..., :3, :3], offsets)
        return turned + matrices[..., :3, 3]

    def offsets(
        self, offsets: FloatArray, known: NDArray[Any], few: NDArray[Any], q: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return positions of markers on their links, estimated from a few frames, and the pose of the first frame."""
        for _ in range(ROUNDS):
            poses = self.poses(offsets, few, q)
            found = self.linkage.forward(poses)
            matrices = np.stack([found[frame] for frame in self.frames], axis=1)
            away = self.points[few] - matrices[..., :3, 3]
            local = np.einsum("tnji,tnj->tni", matrices[..., :3, :3], away)
            share = self.weights[few] / np.maximum(self.weights[few].sum(axis=0), 1e-12)
            mean = (local * share[..., None]).sum(axis=0)
            better = np.where(known[:, None], offsets, mean)
            change = float(np.abs(better - offsets).max())
            offsets, q = better, poses[0]
            if change < SETTLED:
                break
        return offsets, q


def _placed(linkage: Linkage, q: FloatArray, frames: list[str], points: FloatArray, seen: NDArray[Any]) -> FloatArray:
    """Return a pose whose floating root is moved so that frames are nearest to the visible points."""
    if not isinstance(linkage.root.articulation, Floating) or seen.sum() < 3:
        return q
    from scipy.spatial.transform import Rotation

    found = linkage.forward(q)
    ours, theirs = np.array([found[frame][:3, 3] for frame in frames])[seen], points[seen]
    turn, _ = Rotation.align_vectors(theirs - theirs.mean(axis=0), ours - ours.mean(axis=0))
    moved = np.eye(4)
    moved[:3, :3] = turn.as_matrix()
    moved[:3, 3] = theirs.mean(axis=0) - moved[:3, :3] @ ours.mean(axis=0)
    root = np.linalg.solve(linkage.root.placement, moved @ found[linkage.links[0]])
    result = q.copy()
    result[:3] = root[:3, 3]
    result[3:7] = Rotation.from_matrix(root[:3, :3]).as_quat(scalar_first=True)
    return result
