"""Independent forward kinematics from SciPy's rotations and the documentation of joints, to check the library's."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.transforms import plane_basis


def places(linkage: lw.Linkage, poses: np.ndarray, frame: str) -> np.ndarray:
    """Return the transforms of a frame at poses (n, nq), shape (n, 4, 4)."""
    above = {arc.child: arc for arc in linkage.arcs}
    offsets = {one.name: one for one in linkage.extra_frames}
    result, link = np.eye(4), frame
    if frame in offsets:
        result, link = offsets[frame].placement, offsets[frame].link
    result = np.broadcast_to(result, (len(poses), 4, 4))
    while link is not None:
        arc = above[link]
        result = arc.placement @ (_motion(arc.articulation, _values(linkage, arc, poses)) @ result)
        link = arc.parent
    return result


def _values(linkage: lw.Linkage, arc: lw.Joint, poses: np.ndarray) -> np.ndarray:
    """Return the values of a joint, shape (n, its nq); those of a follower come from its leader."""
    if arc.mimic is not None:
        leader = next(one for one in linkage.arcs if one.name == arc.mimic.joint)
        return arc.mimic.multiplier * _values(linkage, leader, poses) + arc.mimic.offset
    return poses[:, [linkage.coordinate_index[name] for name in arc.coordinates]]


def _motion(articulation: lw.Articulation, values: np.ndarray) -> np.ndarray:
    """Return the motion of a joint, parent_from_child without the placement, shape (n, 4, 4)."""
    result = np.broadcast_to(np.eye(4), (len(values), 4, 4)).copy()
    axis = np.array(getattr(articulation, "axis", (0.0, 0.0, 0.0)), np.float64)
    match articulation:
        case lw.Revolute() | lw.Continuous():
            result[:, :3, :3] = _turn(axis, values[:, 0])
        case lw.Prismatic():
            result[:, :3, 3] = values * axis
        case lw.Screw():
            result[:, :3, :3] = _turn(axis, values[:, 0])
            result[:, :3, 3] = values / (2.0 * np.pi) * articulation.lead * axis
        case lw.Universal():
            result[:, :3, :3] = _turn(axis, values[:, 0]) @ _turn(np.array(articulation.second), values[:, 1])
        case lw.Planar():
            basis = plane_basis(axis)
            result[:, :3, 3] = values[:, :2] @ basis[:, :2].T
            result[:, :3, :3] = _turn(axis, values[:, 2])
        case lw.Ball():
            result[:, :3, :3] = _rotation(articulation.euler, values)
        case lw.Floating():
            result[:, :3, 3] = values[:, :3]
            result[:, :3, :3] = _rotation(articulation.euler, values[:, 3:])
        case lw.Fixed():
            pass
        case _:
            raise LookupError(articulation)
    return result


def _turn(axis: np.ndarray, angles: np.ndarray) -> np.ndarray:
    return Rotation.from_rotvec(angles[:, None] * axis).as_matrix()


def _rotation(euler: str | None, values: np.ndarray) -> np.ndarray:
    turns = Rotation.from_quat(values, scalar_first=True) if euler is None else Rotation.from_euler(euler, values)
    return turns.as_matrix()
