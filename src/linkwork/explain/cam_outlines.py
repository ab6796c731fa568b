"""The outline of a disc cam that moves its roller follower as the coupling prescribes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..errors import OptionError
from ..linkage.linkage import Linkage, check_linkage
from ..solvers.options import whole
from ..transforms import FloatArray, as_number, inverse

STEP = 1e-5  # step of central differences, for the direction and curvature of the roller's path [rad]


@dataclass(frozen=True, eq=False)
class CamOutline:
    """The outline of a disc cam, in coordinates of the link that carries it.

    Attributes:
        points: The outline, closed, shape (n, 3) [m].
        pitch: The pitch curve, the path of the roller's centre, shape (n, 3) [m].
        angles: Angles of the cam, shape (n,) [rad].
        radii: Radii of curvature of the pitch curve, shape (n,), positive where it is convex [m].
        pressure: The pressure angles, between the normal and the follower's direction of motion, shape (n,) [rad].
        undercut: Whether the roller is too large for the pitch curve: the outline crosses itself and cannot be made.
    """

    points: FloatArray
    pitch: FloatArray
    angles: FloatArray
    radii: FloatArray
    pressure: FloatArray
    undercut: bool

    def __repr__(self) -> str:
        worst = math.degrees(float(np.abs(self.pressure).max()))
        flaw = ", undercut" if self.undercut else ""
        return f"<Outline of a cam: {len(self.points)} points, pressure angle up to {worst:.1f} deg{flaw}>"


def cam_outline(linkage: Linkage, cam: str, frame: str, *, roller: float = 0.0, count: int = 360) -> CamOutline:
    """Return the outline of a disc cam from the motion of its follower: translating or oscillating, in line or offset.

    The roller's centre draws the pitch curve on the turning disc; the outline is this curve offset inwards by the
    roller's radius.

    Args:
        linkage: A linkage in which the follower is coupled to the cam, as by `Builder.cam`.
        cam: The revolute joint that carries the disc.
        frame: The centre of the roller, a frame of the follower.
        roller: The roller's radius [m]; zero for a knife edge.
        count: Number of points.

    Example:
        >>> import linkwork as lw
        >>> lw.cam_outline(lw.models.cam_follower(), "cam", "roller", roller=0.01)
        <Outline of a cam: 360 points, pressure angle up to 15.4 deg>
    """
    check_linkage(linkage)
    radius, count = as_number(roller, "radius of a roller"), whole("count", count, least=8)
    joint = linkage.joint(cam)
    if joint.articulation.units != ("rad",) or joint.mimic is not None:
        raise OptionError(f"cam must be a revolute joint that does not mimic another, got {cam!r}.")
    angles = 2.0 * math.pi * np.arange(count) / count
    path = [_centres(linkage, cam, frame, angles + shift) for shift in (-STEP, 0.0, STEP)]
    axis = joint.articulation.elements[0].axis
    slope, bend = (path[2] - path[0]) / (2.0 * STEP), (path[2] - 2.0 * path[1] + path[0]) / STEP**2
    speed = np.linalg.norm(slope, axis=-1)
    normal = np.cross(slope, axis) / speed[:, None]
    outwards = 1.0 if (path[1] * normal).sum() > 0.0 else -1.0
    normal *= outwards
    turn = outwards * np.cross(slope, bend) @ axis
    radii = speed**3 / np.where(np.abs(turn) < 1e-12, 1e-12, turn)
    undercut = bool(((radii > 0.0) & (radii < radius)).any())
    pressure = _pressure(linkage, cam, frame, angles, normal)
    return CamOutline(path[1] - radius * normal, path[1], angles, radii, pressure, undercut)


def _poses(linkage: Linkage, cam: str, angles: FloatArray) -> FloatArray:
    poses = np.tile(linkage.neutral(), (len(angles), 1))
    poses[:, linkage.drive(cam).q] = angles
    return linkage.follow(poses)


def _centres(linkage: Linkage, cam: str, frame: str, angles: FloatArray) -> FloatArray:
    """Return the positions of a frame in the cam's link at angles of the cam."""
    poses, link = _poses(linkage, cam, angles), linkage.joint(cam).child
    seen: FloatArray = inverse(linkage.forward(poses, frame=link)) @ linkage.forward(poses, frame=frame)
    return seen[:, :3, 3]


def _pressure(linkage: Linkage, cam: str, frame: str, angles: FloatArray, normal: FloatArray) -> FloatArray:
    """Return the angles between normals, in the cam's link, and the velocity of a frame by its own joint."""
    poses, link = _poses(linkage, cam, angles), linkage.joint(cam).child
    world = (linkage.forward(poses, frame=link)[:, :3, :3] @ normal[..., None])[..., 0]
    path, _ = linkage.path_to(frame)
    own = linkage.drives[[arc for arc in path if linkage.drives[arc].nq][-1]]
    way = linkage.jacobian(poses, frame)[:, :3, own.v]
    size = np.linalg.norm(way, axis=-1)
    cosine = np.abs((world * way).sum(axis=-1)) / np.where(size, size, 1.0)
    return np.asarray(np.arccos(np.clip(cosine, 0.0, 1.0)))
