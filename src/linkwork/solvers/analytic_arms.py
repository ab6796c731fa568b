"""Recognise arms with a closed form by the geometry of their joint axes.

Joints are read as lines in the world, so names, and positions of frames along an axis, do not matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..goals import Reach
from ..kernels.planar_arm import FIGURES, PLACES
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, axis_rotation, matrix_quaternion, plane_basis, quaternion_matrix
from .closed_forms import ELBOWS, elbow_bend, last_link, two_link

ROUND = 1e-9
TURN = 2.0 * math.pi
X, _, Z = np.eye(3)


@dataclass(frozen=True, eq=False)
class Wish:
    """How to use remaining freedom; see `Analytic`."""

    elbow: str = "nearest"
    pole: FloatArray | None = None
    swivel: float | None = None
    direction: float | None = None


@dataclass(frozen=True, eq=False)
class Line:
    """An elementary rotation, in the world.

    Attributes:
        point: A point on the axis, shape (3,); the centre of a ball.
        axis: Unit axis, shape (3,); None for a ball.
        frame: Rotation of the joint's own frame, shape (3, 3): a ball's quaternion is measured in it.
        q: Index of its value in the pose.
        alone: Whether it is a joint of its own, not a part of a joint with several values.
    """

    point: FloatArray
    axis: FloatArray | None
    frame: FloatArray
    q: int
    alone: bool

    def rotation(self, q: FloatArray) -> FloatArray:
        """Return its rotation in the world (3, 3) for a pose."""
        if self.axis is None:
            return np.asarray(self.frame @ quaternion_matrix(q[self.q : self.q + 4]) @ self.frame.T)
        return axis_rotation(self.axis, q[self.q])


def lines_to(
    linkage: Linkage, frame: str, q: FloatArray, free: NDArray[np.bool_] | None = None
) -> tuple[list[Line], FloatArray]:
    """Return the rotations on the path to a frame, in the world at a pose, and world_from_frame.

    Only those whose velocities are free (nv,) are returned; all by default.
    """
    path, placement = linkage.path_to(frame)
    lines: list[Line] = []
    matrix = np.eye(4)
    for i in path:
        arc, drive = linkage.arcs[i], linkage.drives[i]
        matrix = matrix @ arc.placement
        elements = arc.articulation.elements
        for e in elements:
            if free is not None and not free[drive.v + e.rate]:
                matrix = matrix @ e.matrix(drive.values(q))
                continue
            if e.kind not in ("revolute", "ball") or arc.mimic is not None:
                what = f"is {arc.articulation.kind}" if arc.mimic is None else f"follows {arc.mimic.joint!r}"
                raise GoalError(
                    f"method 'analytic' serves revolute and ball joints only; joint {arc.name!r} on the way to frame "
                    f"{frame!r} {what}: use 'damped' or 'robust'."
                )
            rotation = matrix[:3, :3]
            axis = None if e.kind == "ball" else rotation @ e.axis
            alone = axis is not None and len(elements) == 1
            lines.append(Line(matrix[:3, 3], axis, rotation, drive.q + e.value, alone))
            matrix = matrix @ e.matrix(q[drive.q : drive.q + arc.articulation.nq])
    return lines, matrix @ placement


def arm_of(linkage: Linkage, goal: Reach, start: FloatArray, free: NDArray[np.bool_] | None = None) -> PlanarArm | Limb:
    """Return the arm with a closed form that moves a goal's frame, with all other joints at their start values.

    Joints whose velocities are not free (nv,) are held too.

    Raises:
        GoalError: If there is none, or it does not support the goal.
    """
    lines, tip = lines_to(linkage, goal.frame, start, free)
    if len(lines) in (2, 3) and _parallel(lines):
        lines, tip = lines_to(linkage, goal.frame, _at_zero(start, lines), free)
        return PlanarArm(goal, lines, tip)
    found = _shoulder(lines, tip[:3, 3])
    if found is None:
        revolute = sum(line.axis is not None for line in lines)
        parallel = " (all parallel)" if revolute and _parallel(lines) else ""
        what = f"{revolute} revolute axes{parallel} and {len(lines) - revolute} balls"
        raise GoalError(
            f"method 'analytic' finds no arm with a closed form on the way to frame {goal.frame!r}, only {what}. It "
            "serves two or three parallel revolute joints, and limbs: three revolute joints through one point or a "
            "ball, then a revolute elbow. Use 'damped' or 'robust'."
        )
    first, elbow = found
    moving = lines[first:] if goal.orientation is not None else lines[first : elbow + 1]
    lines, tip = lines_to(linkage, goal.frame, _at_zero(start, moving), free)
    return Limb(goal, lines[first:elbow], lines[elbow], lines[elbow + 1 :], tip)


def _at_zero(q: FloatArray, lines: Sequence[Line]) -> FloatArray:
    q = q.copy()
    for line in lines:
        if line.axis is None:
            q[line.q : line.q + 4] = (1.0, 0.0, 0.0, 0.0)
        else:
            q[line.q] = 0.0
    return q


def _parallel(lines: Sequence[Line]) -> bool:
    axes = [line.axis for line in lines if line.axis is not None]
    return len(axes) == len(lines) and all(across(axes[0], axis) < ROUND for axis in axes)


def _shoulder(lines: Sequence[Line], tip: FloatArray) -> tuple[int, int] | None:
    """Return the indices of the shoulder's first line and of the elbow; of several such limbs, those of the longest."""
    best, longest = None, ROUND
    for e, line in enumerate(lines):
        first = e - 1 if e and lines[e - 1].axis is None else e - 3
        if line.axis is None or not line.alone or first < 0:
            continue
        point = meeting_point(lines[first:e])
        if point is None:
            continue
        levers = [across(line.axis, end - line.point) for end in (point, tip)]
        if min(levers) > ROUND and sum(levers) > longest:
            best, longest = (first, e), sum(levers)
    return best


def meeting_point(lines: Sequence[Line]) -> FloatArray | None:
    """Return the point where the axes of a ball, or of three revolute joints, meet; None if there is none."""
    if len(lines) == 1 and lines[0].axis is None:
        return lines[0].point
    axes = [line.axis for line in lines if line.axis is not None]
    if len(axes) != 3 or len(lines) != 3:
        return None
    if min(across(axes[0], axes[1]), across(axes[1], axes[2])) < 1e-6:
        return None
    off_axis = np.array([np.eye(3) - np.outer(axis, axis) for axis in axes])
    points = np.array([line.point for line in lines])
    point = np.linalg.lstsq(off_axis.sum(axis=0), np.einsum("kij,kj->i", off_axis, points), rcond=None)[0]
    off = np.linalg.norm(np.einsum("kij,kj->ki", off_axis, points - point), axis=-1)
    return point if off.max() < ROUND * (1.0 + np.abs(points).max()) else None


class PlanarArm:
    """Two or three revolute joints with parallel axes.

    In the plane, with angles about the first axis, link k of length l_k points along its angle at zero plus all turns
    up to it.
    """

    def __init__(self, goal: Reach, lines: list[Line], tip: FloatArray) -> None:
        axis = lines[0].axis
        if axis is None or goal.position is None:
            raise GoalError(
                "method 'analytic' needs a position for a planar arm; for an orientation alone use 'damped'."
            )
        if goal.orientation is not None and len(lines) == 2:
            raise GoalError("method 'analytic' cannot place and orient a tip by two revolute joints; use 'damped'.")
        if len(goal.position) == 2 and np.abs(axis[:2]).max() > ROUND:
            raise GoalError(
                "a goal (x, y) is for an arm in the xy plane; this arm is in another plane: give x, y and z."
            )
        self.indices = [line.q for line in lines]
        self.signs = np.array([np.sign(axis @ np.asarray(line.axis)) for line in lines])
        basis = plane_basis(axis)[:, :2].T
        corners = np.array([basis @ line.point for line in lines] + [basis @ tip[:3, 3]])
        links = np.diff(corners, axis=0)
        self.lengths = np.hypot(links[:, 0], links[:, 1])
        self.zeros = np.where(self.lengths > 0.0, np.arctan2(links[:, 1], links[:, 0]), 0.0)
        self.axis, self.basis, self.corner, self.tip = axis, basis, corners[0], tip[:3, :3]
        self.target = basis @ goal.target[:3, 3] - corners[0]
        self.turned: float | None = None
        if goal.orientation is not None:
            self.turned = angle_about(axis, goal.orientation @ tip[:3, :3].T) + float(self.zeros[-1])
        self.free = len(lines) == 3 and self.turned is None

    def numbers(self, wish: Wish) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the arm without its target, as data for the compiled analysis."""
        links = len(self.indices)
        shape = PLACES.pack(
            dtype=np.int64,
            links=links,
            value=[*self.indices, 0][:3],
            elbow=(*ELBOWS, "nearest").index(wish.elbow),
            directed=wish.direction is not None,
            turned=self.turned is not None,
        )
        figures = FIGURES.pack(
            signs=np.resize(self.signs, 3),
            lengths=np.resize(self.lengths, 3),
            zeros=np.resize(self.zeros, 3),
            across=self.basis[0],
            along=self.basis[1],
            corner=self.corner,
            axis=self.axis,
            tip=self.tip.reshape(-1),
            direction=wish.direction or 0.0,
        )
        return shape, figures

    def poses(
        self, start: FloatArray, wish: Wish, lower: FloatArray, upper: FloatArray, shift: float = 0.0
    ) -> Iterator[FloatArray]:
        """Yield the poses that reach the target or come closest; with three links, the last is turned by `shift`."""
        facing = float(self.signs[0] * start[self.indices[0]] + self.zeros[0])
        for side, angles in enumerate(self._angles(facing, wish, shift)):
            name = ELBOWS[side if self.signs[1] > 0 else 1 - side]
            if wish.elbow not in (name, "nearest"):
                continue
            pose = self._pose(start, np.array(angles), lower, upper)
            elbow = self.indices[1]
            if len(self.indices) == 2 and not lower[elbow] <= pose[elbow] <= upper[elbow]:
                bend = self.signs[1] * np.clip(pose[elbow], lower[elbow], upper[elbow]) + self.zeros[1] - self.zeros[0]
                lift = math.atan2(self.lengths[1] * math.sin(bend), self.lengths[0] + self.lengths[1] * math.cos(bend))
                towards = math.atan2(self.target[1], self.target[0])
                pose = self._pose(start, np.array([towards - lift, bend]), lower, upper)
            yield pose

    def _angles(self, facing: float, wish: Wish, shift: float) -> list[list[float]]:
        """Return the angle of the first link and those between links, elbow down and elbow up."""
        (x, y), sizes = self.target.tolist(), self.lengths.tolist()
        if len(sizes) == 2:
            return [list(pair) for pair in two_link(sizes[0], sizes[1], x, y, facing)]
        third = sizes[2]
        given = self.turned if self.turned is not None else wish.direction
        ends = (given, given) if given is not None else last_link(sizes[0], sizes[1], third, x, y, facing)
        result = []
        for side, end in enumerate(ends):
            end += shift
            wrist_x, wrist_y = x - third * math.cos(end), y - third * math.sin(end)
            first, second = two_link(sizes[0], sizes[1], wrist_x, wrist_y, facing)[side]
            result.append([first, second, end - first - second])
        return result

    def _pose(self, start: FloatArray, angles: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
        values = self.signs * (angles - np.diff(self.zeros, prepend=0.0))
        pose = start.copy()
        for k, value in zip(self.indices, values.tolist(), strict=True):
            pose[k] = nearest_turn(value, start[k], lower[k], upper[k])
        return pose


class Limb:
    """A shoulder that rotates freely about one point, a revolute elbow, and the joints beyond it.

    The elbow sets the distance from shoulder to wrist, and the shoulder turns that line onto the target. The swivel
    about the line remains free. All vectors belong to the pose with the limb's joints at zero.
    """

    free = True

    def __init__(self, goal: Reach, shoulder: list[Line], elbow: Line, beyond: list[Line], tip: FloatArray) -> None:
        center = meeting_point(shoulder)
        if center is None or elbow.axis is None or goal.position is None or len(goal.position) < 3:
            raise GoalError("method 'analytic' needs a position (x, y, z) for a limb; for other goals use 'damped'.")
        self.shoulder, self.elbow, self.axis = shoulder, elbow, elbow.axis
        self.wrist: list[Line] = []
        self.turned: FloatArray | None = None
        end, place = tip[:3, 3], goal.target[:3, 3]
        if goal.orientation is not None:
            wrist = meeting_point(beyond)
            if wrist is None:
                raise GoalError(
                    "method 'analytic' orients a limb by a wrist of three revolute joints through one point, or a "
                    f"ball; none lies beyond the elbow on the way to frame {goal.frame!r}: give a position alone, or "
                    "use 'robust'."
                )
            self.wrist, self.turned = beyond, goal.orientation @ tip[:3, :3].T
            end, place = wrist, place - self.turned @ (end - wrist)
        self.upper, self.lower = elbow.point - center, end - elbow.point
        self.target = place - center
        # Across the elbow's axis, the two bones are sides of a triangle; along it, their lengths add up at every angle.
        self.straight = signed_angle(self.axis, self.lower, self.upper)
        self.sides = (across(self.axis, self.upper), across(self.axis, self.lower))
        self.along = float(self.axis @ (self.upper + self.lower))

    def poses(
        self, start: FloatArray, wish: Wish, lower: FloatArray, upper: FloatArray, shift: float = 0.0
    ) -> Iterator[FloatArray]:
        """Yield the poses that reach the target or come closest, with the swivel turned by `shift`."""
        r, k = float(np.linalg.norm(self.target)), self.elbow.q
        bend = elbow_bend(self.sides[0], self.sides[1], math.sqrt(max((r - self.along) * (r + self.along), 0.0)))
        for name, angle in zip(ELBOWS, (self.straight + bend, self.straight - bend), strict=True):
            if wish.elbow not in (name, "nearest"):
                continue
            value = min(max(nearest_turn(angle, start[k], lower[k], upper[k]), lower[k]), upper[k])
            forearm = axis_rotation(self.axis, value)
            turned = self._aimed(self.upper + forearm @ self.lower, start, wish, shift)
            for shoulder in values_for(self.shoulder, turned, start):
                pose = start.copy()
                pose[k] = value
                assign(pose, self.shoulder, shoulder, lower, upper)
                if self.turned is None:
                    yield pose
                    continue
                for wrist in values_for(self.wrist, (turned @ forearm).T @ self.turned, start):
                    whole = pose.copy()
                    assign(whole, self.wrist, wrist, lower, upper)
                    yield whole

    def _aimed(self, arm: FloatArray, start: FloatArray, wish: Wish, shift: float) -> FloatArray:
        """Return the shoulder's rotation (3, 3) that turns the line from shoulder to wrist towards the target."""
        turned: FloatArray = np.eye(3)
        for line in self.shoulder:
            turned = turned @ line.rotation(start)
        size = np.linalg.norm(self.target)
        if size == 0.0:
            return turned
        towards = self.target / size
        turned = least_rotation(turned @ arm, towards) @ turned
        want = wish.pole
        if wish.swivel is not None:
            down = -Z if abs(towards[2]) < 1.0 - ROUND else X
            want = axis_rotation(towards, wish.swivel) @ (down - towards * (down @ towards))
        if want is not None:
            elbow = turned @ self.upper
            if all(across(towards, vector) > ROUND * np.linalg.norm(vector) for vector in (elbow, want)):
                shift += signed_angle(towards, elbow, want)
        aimed: FloatArray = axis_rotation(towards, shift) @ turned
        return aimed


def values_for(lines: Sequence[Line], turned: FloatArray, start: FloatArray) -> list[list[Any]]:
    """Return the values of a ball, or of three revolute joints through one point, for a rotation in the world.

    Three revolute joints have two sets of angles. The second angle tilts the third axis against the first as far as the
    rotation requires, the first then turns it into place, and the third makes the remaining rotation.
    """
    if lines[0].axis is None:
        own = lines[0].frame.T @ turned @ lines[0].frame
        return [[matrix_quaternion(own)]]
    a, b, c = (np.asarray(line.axis) for line in lines)
    there = turned @ c
    cosine, sine = float(a @ (c - b * (b @ c))), float(a @ np.cross(b, c))
    tilt = (float(a @ there) - float(a @ b) * float(b @ c)) / math.hypot(cosine, sine)
    swing = math.acos(min(max(tilt, -1.0), 1.0))
    if max(abs(a @ b), abs(b @ c)) < ROUND:  # the sine is known too, so gimbal lock costs no accuracy
        swing = math.atan2(across(a, there), float(a @ there))
    result = []
    for second in (math.atan2(sine, cosine) + swing, math.atan2(sine, cosine) - swing):
        tilted = axis_rotation(b, second) @ c
        locked = across(a, tilted) < ROUND
        first = float(start[lines[0].q]) if locked else signed_angle(a, tilted, there)
        third = angle_about(c, (axis_rotation(a, first) @ axis_rotation(b, second)).T @ turned)
        result.append([first, second, third])
    return result


def assign(
    pose: FloatArray, lines: Sequence[Line], values: Sequence[Any], lower: FloatArray, upper: FloatArray
) -> None:
    """Write values of lines into a pose; angles are shifted by whole turns to fit limits and the old values."""
    for line, value in zip(lines, values, strict=True):
        k = line.q
        if line.axis is None:
            pose[k : k + 4] = value
        else:
            pose[k] = nearest_turn(value, pose[k], lower[k], upper[k])


def nearest_turn(angle: float, near: float, low: float, high: float) -> float:
    """Return an angle shifted by whole turns: within limits if possible, and nearest to another angle."""
    angle += TURN * round((near - angle) / TURN)
    choices = [angle + TURN * k for k in (0, 1, -1, 2, -2)]
    slack = 1e-12
    for choice in choices:
        if low - slack <= choice <= high + slack:
            return min(max(choice, low), high)
    return min(choices, key=lambda choice: max(low - choice, choice - high))


def across(axis: FloatArray, vector: FloatArray) -> float:
    """Return the length of a vector's component perpendicular to a unit axis."""
    return float(np.linalg.norm(np.cross(axis, vector)))


def signed_angle(axis: FloatArray, a: FloatArray, b: FloatArray) -> float:
    """Return the angle about a unit axis that turns one vector into the half plane of another."""
    return math.atan2(float(axis @ np.cross(a, b)), float(a @ b - (axis @ a) * (axis @ b)))


def angle_about(axis: FloatArray, rotation: FloatArray) -> float:
    """Return the angle of the rotation about a unit axis that is nearest to a rotation."""
    R = rotation
    twist = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return math.atan2(float(axis @ twist), float(np.trace(R) - axis @ R @ axis))


def least_rotation(a: FloatArray, towards: FloatArray) -> FloatArray:
    """Return the smallest rotation (3, 3) that turns a vector towards a unit vector."""
    size = np.linalg.norm(a)
    if size == 0.0:
        return np.eye(3)
    normal = np.cross(a, towards)
    length = np.linalg.norm(normal)
    if length < 1e-15 * size:
        if a @ towards > 0.0:
            return np.eye(3)
        guide = np.eye(3)[int(np.abs(towards).argmin())]
        normal = np.cross(towards, guide)
        return axis_rotation(normal / np.linalg.norm(normal), math.pi)
    return axis_rotation(normal / length, math.atan2(float(length), float(a @ towards)))
