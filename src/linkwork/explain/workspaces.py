"""Workspace, singularities and manipulability of a linkage.

They are sampled with the compiled kernels, and exact for simple geometry.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError, TransformError
from ..linkage.couplings import followed
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, as_poses
from ..linkage.program import Motions, chain_motions
from ..solvers.batch import solve_batch
from ..solvers.options import one_of, whole
from ..transforms import FloatArray, as_axis, axis_rotation
from .platform_singularities import PlatformCurves, begun, platform_curves, sampled_places

BLOCK = 100_000
GIMBAL_LOCK = 1e-6


@dataclass(frozen=True, eq=False)
class Workspace:
    """The reachable workspace of a frame.

    Attributes:
        linkage: The linkage.
        frame: The frame.
        points: Sampled positions, shape (n, 3) [m].
        dexterity: For each point, the share of sampled orientations that can be reached there, or None if not computed.
        planar: Whether all points lie in one plane parallel to x and y.
        annulus: Smallest and largest distance from the first joint [m], exact for a planar arm of unlimited revolute
            joints, else None.
        dexterous_rings: For such an arm, the exact rings in which every orientation can be reached, each as smallest
            and largest distance [m]: none, one, or a disc and a ring around it. Else None.
        center: Position of the first joint, the centre of the rings.
        pose: The pose used for drawing: the start of a parallel robot, else the neutral pose.
        curves: Singular curves of a parallel robot that moves in a plane, else None.
    """

    linkage: Linkage
    frame: str
    points: FloatArray
    dexterity: FloatArray | None
    planar: bool
    annulus: tuple[float, float] | None
    dexterous_rings: tuple[tuple[float, float], ...] | None
    center: FloatArray
    pose: FloatArray
    curves: PlatformCurves | None = None

    @property
    def dexterous(self) -> FloatArray:
        """The points where every sampled orientation can be reached."""
        if self.dexterity is None:
            raise OptionError("the dexterous workspace was not computed; call workspace(..., orientations=8).")
        return self.points[self.dexterity >= 1.0]

    @property
    def extent(self) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest coordinates of the points."""
        return self.points.min(axis=0), self.points.max(axis=0)


def workspace(
    linkage: Linkage,
    frame: str,
    *,
    samples: int = 20_000,
    seed: int = 0,
    orientations: int = 0,
    start: PoseLike | None = None,
    progress: Callable[[float], None] | None = None,
) -> Workspace:
    """Return the reachable workspace of a frame, sampled over its joints' ranges, and optionally the dexterous one.

    For a parallel robot whose legs have closed forms, positions of the platform are sampled instead.

    Args:
        linkage: The linkage.
        frame: Name of the frame.
        samples: Number of poses to sample.
        seed: Seed of the samples.
        orientations: Number of orientations to try at each point; zero skips the dexterous workspace. For a frame that
            turns about z only, as of a planar arm or a SCARA, only such rotations are tried. Each orientation is one
            solve, by `solve_batch` on all cores.
        start: A closed pose of a parallel robot, or the name of a stored one. The legs keep the working mode and the
            platform the orientation of this pose. Without one, the robot is assembled near its neutral pose.
        progress: Called with the fraction done.

    Example:
        >>> import linkwork as lw
        >>> space = lw.explain.workspace(lw.models.planar([15, 10, 5]), "tip", samples=500, orientations=4)
        >>> space.annulus, space.dexterous_rings
        ((0.0, 30.0), ((10.0, 20.0),))
    """
    check_linkage(linkage)
    samples, orientations = whole("samples", samples, least=1), whole("orientations", orientations)
    if linkage.couplings and linkage.loops:
        what = f"loops and couplings together, as of linkage {linkage.name!r}"
        raise OptionError(f"{what}, are not sampled; lw.drive follows a frame.")
    rng, pose = np.random.default_rng(seed), begun(linkage, start)
    if linkage.loops:
        points = sampled_places(linkage, frame, pose, samples, rng)
    else:
        points = np.empty((samples, 3))
        for first in range(0, samples, BLOCK):
            size = min(BLOCK, samples - first)
            poses = followed(linkage, linkage.random_pose(rng, size))
            points[first : first + size] = linkage.forward(poses, frame=frame)[:, :3, 3]
    planar = not linkage.evaluator.moving_rows(frame)[[2, 3, 4]].any()
    dexterity = None
    if orientations:
        dexterity = _dexterity(linkage, frame, points, orientations, rng, progress)
    chain = chain_motions(linkage, frame)
    annulus = rings = None
    if planar and not linkage.loops and _turns_freely(linkage, chain):
        lengths = _lengths_in_plane(chain)
        annulus, rings = _ring(lengths), dexterous_rings(lengths)
    curves = platform_curves(linkage, frame, start=pose) if planar and linkage.loops else None
    return Workspace(linkage, frame, points, dexterity, planar, annulus, rings, chain.offsets[0], pose, curves)


def _lengths_in_plane(chain: Motions) -> list[float]:
    """Return the distances between successive joints, and to the end, of a planar chain, projected along the axes."""
    world, places = np.eye(4), []
    for before in (*(motion.before for motion in chain.motions), chain.after):
        world = world @ before
        places.append(world[:2, 3])
    lengths: list[float] = np.linalg.norm(np.diff(places, axis=0), axis=1).tolist()
    return lengths


def _turns_freely(linkage: Linkage, chain: Motions) -> bool:
    """Return whether a frame is moved only by revolute joints without limits, each with its own value."""
    rows = [linkage.table[motion.q] for motion in chain.motions]
    own = len({row.q for row in rows}) == len(rows) > 0
    return own and all(row.kind == "revolute" and row.wraps for row in rows)


def _ring(lengths: Sequence[float]) -> tuple[float, float]:
    """Return the smallest and largest distance between the ends of a planar chain of links."""
    total, longest = math.fsum(lengths), max(lengths, default=0.0)
    return max(0.0, 2.0 * longest - total), total


def dexterous_rings(lengths: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Return the rings in which the tip of a planar arm can have every orientation, as distances from the first joint.

    For a given tip, the last joint can be anywhere on a circle around it, whose radius is the length of the last link.
    The links before it must reach this entire circle, so it must lie within their ring.

    Args:
        lengths: The links' lengths, the last that of the tip from the last joint.

    Example:
        >>> dexterous_rings([15, 10, 5]), dexterous_rings([2, 1.5, 1]), dexterous_rings([1, 1])
        (((10.0, 20.0),), ((0.0, 0.5), (1.5, 2.5)), ())
    """
    *before, last = lengths
    least, most = _ring(before)
    if least == 0.0:
        rings = [(0.0, most - last)]
    else:
        rings = [(0.0, min(last - least, most - last)), (last + least, most - last)]
    return tuple((low, high) for low, high in rings if high > low)


def _dexterity(
    linkage: Linkage,
    frame: str,
    points: FloatArray,
    orientations: int,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None,
) -> FloatArray:
    """Return, for each point, the share of orientations that can be reached there."""
    turns = _orientations(linkage, frame, orientations, rng)
    targets = np.tile(np.eye(4), (len(points), len(turns), 1, 1))
    targets[..., :3, :3] = turns
    targets[..., :3, 3] = points[:, None]
    report = False if progress is None else lambda done, total: progress(done / total)
    found = solve_batch(linkage, frame, targets.reshape(-1, 4, 4), progress=report)
    share: FloatArray = found.success.reshape(len(points), len(turns)).mean(axis=1)
    return share


def _orientations(linkage: Linkage, frame: str, count: int, rng: np.random.Generator) -> FloatArray:
    """Return orientations of a frame (count, 3, 3): rotations about z if joints allow no others, else random."""
    if not linkage.evaluator.moving_rows(frame)[[3, 4]].any():
        round_z = axis_rotation(np.array([0.0, 0.0, 1.0]), 2.0 * math.pi * np.arange(count) / count)
        return np.asarray(round_z @ linkage.forward(linkage.neutral(), frame=frame)[:3, :3])
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.random(count, rng=rng).as_matrix())


@dataclass(frozen=True, eq=False)
class Manipulability:
    """Manipulability of a frame at a pose.

    Attributes:
        measure: Yoshikawa's ``sqrt(det(J J^T))``: the volume of the ellipsoid of velocities, zero at a singularity.
        singular_values: Half axes of that ellipsoid, largest first, shape (..., rows).
        axes: Its directions, columns, shape (..., rows, rows).
        condition: Largest over smallest half axis; infinite at a singularity.
    """

    measure: Any
    singular_values: FloatArray
    axes: FloatArray
    condition: Any


def manipulability(linkage: Linkage, q: PoseLike, frame: str, *, rows: str = "position") -> Manipulability:
    """Return the manipulability of a frame at poses (..., nq).

    Args:
        linkage: The linkage.
        q: Poses.
        frame: Name of the frame.
        rows: ``"position"``, ``"orientation"`` or ``"both"``; directions in which no joint ever moves it are left out.
    """
    check_linkage(linkage)
    choices = {"position": slice(0, 3), "orientation": slice(3, 6), "both": slice(0, 6)}
    one_of("rows", rows, choices)
    kept = np.flatnonzero(linkage.evaluator.moving_rows(frame))
    kept = kept[(kept >= choices[rows].start) & (kept < choices[rows].stop)]
    if not len(kept):
        what = "position or the orientation" if rows == "both" else rows
        raise OptionError(f"no joint ever changes the {what} of frame {frame!r}.")
    jacobian = linkage.jacobian(as_poses(linkage, q), frame)[..., kept, :]
    axes, values, _ = np.linalg.svd(jacobian, full_matrices=False)
    values = np.concatenate([values, np.zeros((*values.shape[:-1], len(kept) - values.shape[-1]))], axis=-1)
    smallest = values[..., -1]
    rounding = np.finfo(np.float64).eps * max(jacobian.shape[-2:]) * values[..., 0]
    safe = np.where(smallest > rounding, smallest, 1.0)
    condition = np.where(smallest > rounding, values[..., 0] / safe, np.inf)
    measure = np.where(smallest > rounding, values.prod(axis=-1), 0.0)
    single = measure.ndim == 0
    return Manipulability(
        measure.item() if single else measure, values, axes, condition.item() if single else condition
    )


def euler_jacobian(linkage: Linkage, q: PoseLike, frame: str, *, order: str = "xyz") -> FloatArray:
    """Return the Jacobian (..., 6, nv) of a frame's position over the rates of its Euler angles.

    The angular velocity is ``omega = B rates``, where the columns of B are the axes that the angles turn about, carried
    by the turns outside them; so the lower rows are ``B^-1`` times those of `Linkage.jacobian`.

    Args:
        linkage: The linkage.
        q: Poses of shape (..., nq).
        frame: Name of the frame.
        order: Three axes as in SciPy: lower case about fixed axes, upper case about moving ones.

    Raises:
        TransformError: At gimbal lock, where no rates of the angles give every angular velocity.
    """
    from scipy.spatial.transform import Rotation

    poses = as_poses(linkage, q)
    jacobian, world = linkage.jacobian(poses, frame), linkage.forward(poses, frame=frame)
    rotation: Any = Rotation.from_matrix(world[..., :3, :3].reshape(-1, 3, 3))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # gimbal lock is checked below
            turned = rotation.as_euler(order)
    except (TypeError, ValueError) as error:
        raise TransformError(f"order is three axes such as 'xyz' or 'ZYX', got {order!r}: {error}.") from error
    letters, angles = order.lower(), turned
    if order.islower():  # fixed axes: the last rotation is the outermost
        letters, angles = letters[::-1], turned[:, ::-1]
    first, second, third = (as_axis(letter) for letter in letters)
    outer = axis_rotation(first, angles[:, 0])
    both = outer @ axis_rotation(second, angles[:, 1])
    B = np.stack([np.broadcast_to(first, (len(angles), 3)), outer @ second, both @ third], axis=-1)
    B = B[:, :, ::-1] if order.islower() else B
    if (np.abs(np.linalg.det(B)) < GIMBAL_LOCK).any():
        raise TransformError(f"frame {frame!r} is at gimbal lock for the order {order!r}; give another order.")
    result = jacobian.copy()
    result[..., 3:, :] = np.linalg.solve(B.reshape(*poses.shape[:-1], 3, 3), jacobian[..., 3:, :])
    return result


def is_singular(linkage: Linkage, q: PoseLike, frame: str, *, rows: str = "position", ratio: float = 1e-6) -> Any:
    """Return whether a frame is singular at poses: a bool for one pose, an array (...) for many.

    Args:
        linkage: The linkage.
        q: Poses of shape (..., nq), the name of a stored pose, or values by joint.
        frame: Name of the frame.
        rows: ``"position"``, ``"orientation"`` or ``"both"``; directions in which no joint ever moves it are left out.
        ratio: The frame is singular if the smallest singular value of its Jacobian is at most this share of the
            largest.
    """
    check_linkage(linkage)
    values = manipulability(linkage, q, frame, rows=rows).singular_values
    result: NDArray[np.bool_] = values[..., -1] <= ratio * values[..., 0]
    return bool(result) if result.ndim == 0 else result


def joint_map(
    linkage: Linkage,
    joints: tuple[str, str],
    frame: str,
    *,
    base: PoseLike | None = None,
    resolution: int = 101,
    rows: str = "position",
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the manipulability over the ranges of two joints, with the others at a base pose.

    Args:
        linkage: The linkage.
        joints: Names of the two joints, or coordinates. One without limits goes from -pi to pi.
        frame: Name of the frame.
        base: Pose of the other joints; the neutral pose by default.
        resolution: Number of values of each joint.
        rows: ``"position"``, ``"orientation"`` or ``"both"``, as in `manipulability`.

    Returns:
        Values of the first joint (n,), of the second (n,), and the measure (n, n), first joint along the first axis.
    """
    check_linkage(linkage)
    resolution = whole("resolution", resolution, least=2)
    index = [linkage.coordinate_index.get(name, -1) for name in joints]
    for name, k in zip(joints, index, strict=True):
        if k < 0:
            linkage.arc_index(name)
            raise OptionError(f"joint {name!r} has no single value; name one of its coordinates.")
    pose = linkage.pose(base=base)
    low = np.where(np.isfinite(linkage.lower), linkage.lower, -math.pi)
    high = np.where(np.isfinite(linkage.upper), linkage.upper, math.pi)
    first, second = (np.linspace(low[k], high[k], resolution) for k in index)
    q = np.broadcast_to(pose, (resolution, resolution, linkage.nq)).copy()
    q[..., index[0]], q[..., index[1]] = first[:, None], second[None, :]
    return first, second, np.asarray(manipulability(linkage, q, frame, rows=rows).measure)
