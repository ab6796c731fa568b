"""The path of a floating or planar root: reading it, and moving it. The vertical is the world's z axis."""

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
from ..transforms import FloatArray, as_angle, as_array, inverse, plane_basis

if TYPE_CHECKING:
    from .clips import Clip

FLAT = 1e-9


def root_moves(linkage: Linkage) -> bool:
    """Tell whether the root is floating or planar."""
    return isinstance(linkage.root.articulation, Floating | Planar)


def places(linkage: Linkage, poses: FloatArray) -> FloatArray:
    """Return world_from_root (..., 4, 4) of a linkage whose root moves."""
    if not root_moves(linkage):
        raise LinkageError(
            f"linkage {linkage.name!r} has a {linkage.root.articulation.kind} root and so no path to move; load it "
            "with root='floating', or use linkage.replace(root='floating')."
        )
    return linkage.forward(poses, frame=linkage.links[0])


def heading(linkage: Linkage, pose: FloatArray) -> FloatArray:
    """Return the position on the ground and the heading about the vertical of a root, as a transform."""
    world = places(linkage, pose)
    turn = world[:3, :3] @ _rest(linkage).T  # relative to the zero pose
    angle = np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1])
    result = _about_z(float(angle))
    result[:2, 3] = world[:2, 3]
    return result


def _rest(linkage: Linkage) -> FloatArray:
    rest: FloatArray = places(linkage, zero_pose(linkage))[:3, :3]
    return rest


def _about_z(angle: float) -> FloatArray:
    result = np.eye(4)
    c, s = np.cos(angle), np.sin(angle)
    result[:2, :2] = [[c, -s], [s, c]]
    return result


def moved(clip: Clip, world: FloatArray) -> Clip:
    """Return a clip whose root path is moved by a rigid transform of the world."""
    return replaced(clip, world @ places(clip.linkage, clip.poses))


def replaced(clip: Clip, world_from_root: FloatArray) -> Clip:
    """Return a clip with another root path (n, 4, 4), everything else as it was."""
    linkage = clip.linkage
    arc, drive = linkage.arcs[0], linkage.drives[0]
    local = inverse(arc.placement) @ world_from_root
    values, kind = clip.poses.copy(), arc.articulation
    count = kind.nq
    if isinstance(kind, Planar):
        basis = plane_basis(np.array(kind.axis, np.float64))
        inside = basis.T @ local[:, :3, :3] @ basis
        way = local[:, :3, 3] @ basis
        if max(np.abs(way[:, 2]).max(), np.abs(inside[:, :2, 2]).max()) > FLAT * (1.0 + np.abs(way).max()):
            raise LinkageError(f"the root of linkage {linkage.name!r} is planar and cannot leave its plane.")
        angles = np.arctan2(inside[:, 1, 0], inside[:, 0, 0])
        values[:, drive.columns] = np.column_stack([way[:, :2], np.unwrap(angles)])
    else:
        near = values[0, drive.q + 3 : drive.q + count]
        turned = turn_values(kind, local[:, :3, :3], near if count == 6 else None)
        values[:, drive.columns] = np.hstack([local[:, :3, 3], turned])
    return replace(clip, poses=values, residuals=None)


def offset(clip: Clip, position: ArrayLike, turn: float | str) -> Clip:
    """Return a clip with its root path turned and moved; see `Clip.offset`."""
    places(clip.linkage, clip.poses[0])
    step = as_array(position, "position of an offset")
    if step.shape not in ((2,), (3,)) or not np.isfinite(step).all():
        raise TransformError(f"the offset of a root is two or three finite numbers, got {position!r}.")
    world = _about_z(as_angle(turn))
    world[: len(step), 3] = step
    return moved(clip, world)
