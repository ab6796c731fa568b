"""Read and change the path of a floating or planar root. The vertical is the world's z axis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkageError, TransformError
from ..linkage.euler_angles import turn_values
from ..linkage.joints import Floating, Planar
from ..linkage.linkage import Linkage
from ..linkage.poses import zero_pose
from ..transforms import FloatArray, as_angle, as_array, axis_rotation, inverse, plane_basis, transform
from .frame_files import Frames, block_of
from .sample_blocks import BLOCK, continue_signs

if TYPE_CHECKING:
    from .clips import Clip

FLAT = 1e-9
CYCLE = 1.0  # about the duration of two steps [s]
UP = np.array([0.0, 0.0, 1.0])


def root_moves(linkage: Linkage) -> bool:
    """Return whether the root is floating or planar."""
    return isinstance(linkage.root.articulation, Floating | Planar)


def places(linkage: Linkage, poses: FloatArray) -> FloatArray:
    """Return world_from_root (..., 4, 4) of a linkage with a moving root."""
    if not root_moves(linkage):
        raise LinkageError(
            f"linkage {linkage.name!r} has a {linkage.root.articulation.kind} root and so no path to move; load it "
            "with root='floating', or use linkage.replace(root='floating')."
        )
    return linkage.forward(poses, frame=linkage.links[0])


def heading(linkage: Linkage, pose: FloatArray) -> FloatArray:
    """Return the position on the ground and the heading about the vertical of a root, as a transform."""
    world = places(linkage, pose)
    turn = world[:3, :3] @ places(linkage, zero_pose(linkage))[:3, :3].T  # relative to the zero pose
    angle = np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1])
    return transform([*world[:2, 3], 0.0], axis_rotation(UP, angle))


def moved(clip: Clip, world: FloatArray) -> Clip:
    """Return a clip whose root path is moved by a rigid transform of the world."""
    return replaced(clip, world @ places(clip.linkage, clip.poses))


def replaced(clip: Clip, world_from_root: FloatArray) -> Clip:
    """Return a clip with another root path (n, 4, 4), and otherwise the same."""
    return replace(clip, poses=_rooted(clip.linkage, clip.poses, world_from_root), residuals=None)


def _rooted(
    linkage: Linkage, poses: FloatArray, world_from_root: FloatArray, last: FloatArray | None = None
) -> FloatArray:
    """Return poses (n, nq) with another root path, continuous with a last pose before it."""
    arc, drive = linkage.arcs[0], linkage.drives[0]
    local = inverse(arc.placement) @ world_from_root
    values, kind = np.array(poses), arc.articulation
    if isinstance(kind, Planar):
        basis = plane_basis(np.array(kind.axis, np.float64))
        inside = basis.T @ local[:, :3, :3] @ basis
        way = local[:, :3, 3] @ basis
        if max(np.abs(way[:, 2]).max(), np.abs(inside[:, :2, 2]).max()) > FLAT * (1.0 + np.abs(way).max()):
            raise LinkageError(f"the root of linkage {linkage.name!r} is planar and cannot leave its plane.")
        angles = np.arctan2(inside[:, 1, 0], inside[:, 0, 0])
        before = angles[:0] if last is None else last[drive.columns][2:]
        turned = np.unwrap(np.concatenate([before, angles]))[len(before) :]
        values[:, drive.columns] = np.column_stack([way[:, :2], turned])
    else:
        turned = turn_values(kind, local[:, :3, :3], (values[0] if last is None else last)[drive.columns][3:])
        values[:, drive.columns] = np.hstack([local[:, :3, 3], turned])
        if last is not None:
            continue_signs(linkage, values, last)
    return values


def offset(clip: Clip, position: ArrayLike, turn: float | str) -> Clip:
    """Return a clip with its root path rotated and translated; see `Clip.offset`."""
    step = as_array(position, "position of an offset")
    if step.shape not in ((2,), (3,)) or not np.isfinite(step).all():
        raise TransformError(f"the offset of a root is two or three finite numbers, got {position!r}.")
    return moved(clip, transform([*step, 0.0][:3], axis_rotation(UP, as_angle(turn))))


def in_place(clip: Clip, sway: bool) -> Clip:
    """Return a clip whose root stays above its starting point; see `Clip.in_place`."""
    if sway and len(clip) > 2:
        return _without_way(clip)
    frames, last = Frames(clip.linkage.nq), None
    start = places(clip.linkage, clip.poses[0])[:2, 3]
    for begin in range(0, len(clip), BLOCK):
        poses = block_of(clip.poses, slice(begin, begin + BLOCK))
        world = places(clip.linkage, poses).copy()
        world[:, :2, 3] -= world[:, :2, 3] - start
        values = _rooted(clip.linkage, poses, world, last)
        last = values[-1].copy()
        frames.add(values)
    return replace(clip, poses=frames.array(), residuals=None)


def _without_way(clip: Clip) -> Clip:
    """Return a clip without the root's path averaged over a second, keeping the sway about it."""
    from scipy.signal import savgol_filter

    world = places(clip.linkage, clip.poses).copy()
    width = min(len(clip), round(CYCLE * clip.fps))
    way = world[:, :2, 3] - world[0, :2, 3]
    world[:, :2, 3] -= savgol_filter(way, max(3, width - 1 + width % 2), 1, axis=0)  # an odd number of frames
    return replaced(clip, world)
