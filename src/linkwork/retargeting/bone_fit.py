"""Fit the joints of one bone to its wanted rotations, over a whole motion and within limits.

A fit that continues from the frame before may get stuck at a limit that the bone has passed on the other side. If it is
poor, a second fit runs backwards from the end, and each frame takes the better of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from ..kernels.revolute_fit import fit_revolute, memory_size
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, axis_rotation, matrix_quaternion, rotation_vector, steady
from .crossings import crossings

DAMPING = 1e-3  # of the fit of revolute joints to rotations: near gimbal lock they move little
STRIDE = 0.15  # [rad]: largest turn of joints per frame towards a better fit; three or more without limits may jump
POOR = 0.05  # [rad]: mean error above which a bone is fitted a second time
STARTS = (0.25, 0.75)  # start values for the fit of one frame, as fractions of the range between limits


@dataclass(frozen=True)
class OrientedLink:
    """A link with its wanted orientations, and the joints that can turn it.

    Args:
        link: The link.
        above: The next link towards the root that has wanted orientations.
        path: The joints from there to the link.
        moving: Those of them that turn it.
        wanted: The orientations, (frames, 3, 3).
        way: Direction of the bone in the coordinates of the link, for limbs; else None.
    """

    link: int
    above: int
    path: tuple[int, ...]
    moving: frozenset[int]
    wanted: FloatArray
    way: FloatArray | None


@dataclass(frozen=True)
class Row:
    """Revolute joints in a row: ``C0 R(a0, t0) C1 R(a1, t1) ... Cn``.

    Args:
        constants: Rotations between the axes, (n + 1, 3, 3).
        axes: Axes, (n, 3).
        lower: Lower limits [rad].
        upper: Upper limits [rad].
    """

    constants: FloatArray
    axes: FloatArray
    lower: FloatArray
    upper: FloatArray

    def fitted(self, local: FloatArray, start: FloatArray) -> FloatArray:
        """Return the angles (frames, n) nearest to rotations (frames, 3, 3), continued from a start."""
        count = len(self.axes)
        stride = np.inf if count >= 3 and np.isinf(self.upper).all() else STRIDE
        angles, memory = np.repeat(start[None], len(local), axis=0), np.empty(memory_size(count))
        wanted = np.ascontiguousarray(local)
        fit_revolute(self.constants, self.axes, self.lower, self.upper, wanted, angles, memory, DAMPING, stride)
        return angles

    def off(self, local: FloatArray, angles: FloatArray) -> FloatArray:
        """Return the error of angles against rotations in each frame [rad]."""
        turned = self.constants[0]
        for axis, angle, constant in zip(self.axes, angles.T, self.constants[1:], strict=True):
            turned = turned @ axis_rotation(axis, angle) @ constant
        result: FloatArray = np.linalg.norm(rotation_vector(np.swapaxes(turned, -1, -2) @ local), axis=-1)
        return result

    def best_start(self, local: FloatArray, first: FloatArray) -> FloatArray:
        """Return the angles that fit one rotation (1, 3, 3) best, started from `first` and elsewhere within limits."""
        places = [(1.0 - s) * self.lower + s * self.upper for s in STARTS]
        starts = [first, *(np.array(one) for one in product(*np.stack(places, axis=1)))]
        found = np.concatenate([self.fitted(local, start) for start in starts])
        best: FloatArray = found[np.argmin(self.off(np.repeat(local, len(found), axis=0), found))]
        return best


def fit_bone(linkage: Linkage, bone: OrientedLink, local: FloatArray, poses: FloatArray) -> None:
    """Fit the joints of a bone to local rotations (frames, 3, 3), and write their values into poses."""
    ball, row, columns = _joints(linkage, bone, poses)
    if ball is not None:
        column, before, after = ball
        poses[:, column : column + 4] = steady(matrix_quaternion(before.T @ local @ after.T))
    elif columns:
        poses[:, columns] = _both_ways(row, local, poses[0, columns])


def _both_ways(row: Row, local: FloatArray, start: FloatArray) -> FloatArray:
    """Return angles (frames, n) fitted to rotations from the start and, if that is poor, from the end too."""
    angles = row.fitted(local, start)
    off = row.off(local, angles)
    if off.mean() <= POOR or not np.isfinite([row.lower, row.upper]).all():
        return angles
    back = row.fitted(local[::-1], row.best_start(local[-1:], angles[-1]))[::-1]
    share = crossings(off, row.off(local, back), np.abs(back - angles).max(axis=1), STRIDE)[:, None]
    result: FloatArray = (1.0 - share) * angles + share * back
    return result


def _joints(
    linkage: Linkage, bone: OrientedLink, poses: FloatArray
) -> tuple[tuple[int, FloatArray, FloatArray] | None, Row, list[int]]:
    """Return the joints of a bone: a ball joint (its column, rotations before and after), and a row and its columns."""
    constants: list[FloatArray] = [np.eye(3)]
    axes: list[FloatArray] = []
    columns: list[int] = []
    ball: tuple[int, FloatArray] | None = None
    free = {arc for arc in bone.moving if linkage.arcs[arc].mimic is None}
    turning = any(element.kind == "ball" for arc in free for element in linkage.arcs[arc].articulation.elements)
    for arc in bone.path:
        joint, drive = linkage.arcs[arc], linkage.drives[arc]
        constants[-1] = constants[-1] @ joint.placement[:3, :3]
        for element in joint.articulation.elements:
            column = drive.q + element.value
            if arc in free and element.kind == "ball" and ball is None:  # one ball joint is enough
                ball = (column, constants[-1])
                constants[-1] = np.eye(3)
            elif arc in free and element.kind == "revolute" and not turning:
                axes.append(element.axis)
                columns.append(column)
                constants.append(np.eye(3))
            else:
                values = poses[0, drive.columns]
                constants[-1] = constants[-1] @ element.matrix(values)[:3, :3]
    row = Row(np.stack(constants), np.reshape(axes, (-1, 3)), linkage.lower[columns], linkage.upper[columns])
    return (None if ball is None else (*ball, constants[-1])), row, columns
