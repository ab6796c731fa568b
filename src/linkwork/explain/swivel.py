"""Swivel: move an arm's elbow on its circle while its hand keeps its pose.

With the hand fixed, the line from shoulder to wrist is fixed too; the elbow turns about it by the given angle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, OptionError
from ..goals import Reach
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, advance, keeps_limits, start_pose
from ..linkage.swing_twist import excess
from ..transforms import FloatArray, as_angle, cross_matrix, reraised_as

NEEDED = 7  # velocities that an arm needs so that its elbow is free
LONGEST, FINEST = 0.1, 1e-10  # largest and smallest step of the elbow [rad]
EXACT = 1e-11  # tolerance of the hand [m, rad] and of the elbow [rad]
NEWTON, BOLDEST = 12, 0.5
FLAT = 1e-6  # share of the arm's length: the angle of an elbow nearer to the line is undefined


@dataclass(frozen=True, eq=False)
class Swivel:
    """Result of a swivel.

    Attributes:
        q: The new pose, with the hand where it was.
        turned: Angle by which the elbow turned about the line from shoulder to wrist [rad].
        asked: Requested angle [rad].
        held: The coordinates at whose limits it stopped.
        elbow: The frame that was taken as the elbow.
    """

    q: FloatArray
    turned: float
    asked: float
    held: tuple[str, ...]
    elbow: str

    @property
    def success(self) -> bool:
        """Whether the elbow turned all the way."""
        return self.turned == self.asked

    @property
    def reason(self) -> str:
        """One sentence on how far the elbow turned and what stopped it."""
        came = f"turned {self.elbow!r} by {math.degrees(self.turned):.4g} deg"
        if self.success:
            return f"{came}."
        why = f"{', '.join(self.held)} at a limit" if self.held else "the arm is singular there"
        return f"{came} of {math.degrees(self.asked):.4g}: {why}."


def swivel(
    linkage: Linkage,
    q: PoseLike,
    amount: float | str,
    *,
    frame: str | None = None,
    shoulder: str | None = None,
    elbow: str | None = None,
) -> Swivel:
    """Turn an arm's elbow about the line from shoulder to wrist, with the hand kept in place within 1e-9.

    The shoulder is the point of the first axis nearest the second, the wrist that of the last axis nearest the one
    before: where they meet, if they do. Positive angles follow the right-hand rule, with the thumb from shoulder to
        wrist. The motion stops at a limit that cannot be avoided; `Swivel.reason` names it.

    Args:
        linkage: The linkage.
        q: The pose, or the name of a stored one.
        amount: Angle [rad], or a text such as ``"30deg"``; a whole turn or more if limits allow.
        frame: The hand; the last frame by default.
        shoulder: Name of the first joint that may move; by default as many joints, counted from the hand, as are needed
            for seven degrees of freedom.
        elbow: The frame whose origin is the elbow; by default that of the joint that changes the distance from
            shoulder to wrist most.

    Raises:
        GoalError: If the arm has no elbow to turn: too few joints, or stretched straight.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.panda()
        >>> moved = lw.swivel(arm, "ready", "20deg")
        >>> before, after = (arm.forward(pose, frame="tip") for pose in (arm.stored_pose("ready"), moved.q))
        >>> moved.success, bool(abs(after - before).max() < 1e-9)
        (True, True)
    """
    check_linkage(linkage)
    pose = start_pose(linkage, q)
    if pose.ndim != 1:
        raise OptionError(f"a swivel is of one pose of shape ({linkage.nq},), got shape {pose.shape}.")
    if linkage.constrained:
        raise GoalError(f"linkage {linkage.name!r} has closed loops or couplings, which a swivel would open.")
    asked = _angle(amount)
    if not keeps_limits(linkage, pose):
        raise OptionError(f"the pose to swivel from exceeds the limits of linkage {linkage.name!r}; clamp it first.")
    arm = _Arm(linkage, pose, linkage.frames[-1] if frame is None else frame, shoulder, elbow)
    turned, step, moving = 0.0, math.copysign(LONGEST, asked), arm.moving
    while turned != asked:
        there = asked if abs(asked - turned) <= abs(step) else turned + step
        found, blocked = arm.at(pose, there, moving)
        if found is not None:
            pose, turned, moving = found, there, arm.moving
            step = math.copysign(min(2.0 * abs(step), LONGEST), asked)
        elif blocked is not None and (moving & ~blocked).sum() >= NEEDED:
            moving = moving & ~blocked  # the remaining joints may be enough
        else:
            moving, step = arm.moving, step / 2.0
            if abs(step) < FINEST:
                break
    return Swivel(pose, turned, asked, arm.held(pose) if turned != asked else (), arm.elbow)


class _Arm:
    """An arm at a pose: the joints that move it, and the positions of shoulder, elbow and wrist."""

    def __init__(self, linkage: Linkage, q: FloatArray, frame: str, shoulder: str | None, elbow: str | None) -> None:
        self.linkage, self.frame = linkage, frame
        self.moving = _moving(linkage, frame, shoulder)
        world, jacobian = linkage.forward(q, frame=frame), linkage.jacobian(q, frame)
        self.hand = Reach(frame, pose=world)
        lines = _lines(world[:3, 3], jacobian[:, self.moving])
        self.root, wrist = _nearest_point(lines), _nearest_point(lines[::-1])
        line = wrist - self.root
        self.length = float(np.linalg.norm(line))
        if self.length < FLAT * max(linkage.length, 1e-300):
            raise GoalError(
                f"the wrist of {frame!r} is in the same place as its shoulder: there is no line for the elbow to turn "
                "about."
            )
        self.axis = line / self.length
        self.elbow = self._elbow(wrist, world, jacobian) if elbow is None else elbow
        out = self._outward(q)
        if np.linalg.norm(out) < FLAT * max(linkage.length, 1e-300):
            raise GoalError(f"{self.elbow!r} lies on the line from shoulder to wrist of {frame!r}: it turns in place.")
        self.zero = out / np.linalg.norm(out)
        self.aside = np.cross(self.axis, self.zero)

    def _elbow(self, wrist: FloatArray, world: FloatArray, jacobian: FloatArray) -> str:
        """Return the link below the joint that changes the distance from shoulder to wrist most."""
        motion = jacobian[:3] - cross_matrix(wrist - world[:3, 3]) @ jacobian[3:]
        effect = np.where(self.moving, np.abs(self.axis @ motion), 0.0)
        if effect.max() < FLAT * self.length:
            raise GoalError(f"the arm of {self.frame!r} is stretched straight: it has no elbow; name an elbow=.")
        v = int(np.argmax(effect))
        path, _ = self.linkage.path_to(self.frame)
        below = [i for i in path if v in range(self.linkage.nv)[self.linkage.drives[i].rates]]
        return self.linkage.arcs[below[0]].child

    def _outward(self, q: FloatArray) -> FloatArray:
        """Return the vector from the line to the elbow, perpendicular to the line."""
        way = self.linkage.forward(q, frame=self.elbow)[:3, 3] - self.root
        out: FloatArray = way - self.axis * (self.axis @ way)
        return out

    def rows(self, q: FloatArray, turned: float) -> tuple[FloatArray, FloatArray]:
        """Return the errors of hand (6) and elbow (1) for an angle of the elbow, and their Jacobian."""
        out = self._outward(q)
        radius = float(np.linalg.norm(out))
        angle = math.atan2(float(self.aside @ out), float(self.zero @ out))
        left = math.remainder(turned - angle, 2.0 * math.pi)
        swing = np.cross(self.axis, out / radius) @ self.linkage.jacobian(q, self.elbow)[:3] / radius
        error = np.append(self.hand.error(self.linkage, q), left)
        return error, np.vstack([self.hand.jacobian(self.linkage, q), swing])

    def at(
        self, q: FloatArray, turned: float, moving: NDArray[np.bool_]
    ) -> tuple[FloatArray | None, NDArray[np.bool_] | None]:
        """Return the pose near another with the elbow at an angle, or else the velocities that reached a limit."""
        linkage = self.linkage
        for _ in range(NEWTON):
            error, jacobian = self.rows(q, turned)
            if np.abs(error).max() < EXACT:
                break
            change = np.zeros(linkage.nv)
            change[moving] = np.linalg.lstsq(jacobian[:, moving], error, rcond=1e-12)[0]
            if np.abs(change).max() > BOLDEST:
                return None, None
            q = advance(linkage, q, change)
        else:
            return None, None
        if keeps_limits(linkage, q):
            return q, None
        at, rates, _ = linkage.table.plain
        blocked = np.zeros(linkage.nv, np.bool_)
        blocked[rates] = (q[at] < linkage.lower[at]) | (q[at] > linkage.upper[at])
        return None, blocked

    def held(self, q: FloatArray) -> tuple[str, ...]:
        """Return the coordinates of the arm that are at a limit; for a cone, the first of its joint."""
        at, rates, _ = self.linkage.table.plain
        room = np.minimum(q - self.linkage.lower, self.linkage.upper - q)[at]
        names = [self.linkage.coordinates[k] for k in at[self.moving[rates] & (room < 1e-6)]]
        wide = [self.linkage.coordinates[cone.q] for cone in self.linkage.cones if excess(cone, q) > -1e-6]
        return (*names, *wide)


def _angle(amount: float | str) -> float:
    with reraised_as(OptionError, "amount of a swivel: "):
        angle = as_angle(amount)
    if not math.isfinite(angle):
        raise OptionError(f"amount of a swivel must be finite, got {amount!r}.")
    return angle


def _moving(linkage: Linkage, frame: str, shoulder: str | None) -> NDArray[np.bool_]:
    """Return which velocities are between shoulder and hand; by default, as many of the last as are needed."""
    path, _ = linkage.path_to(frame)
    first = None if shoulder is None else linkage.arc_index(shoulder)
    if first is not None and first not in path:
        raise GoalError(f"joint {shoulder!r} is not on the way to frame {frame!r} of linkage {linkage.name!r}.")
    moving = np.zeros(linkage.nv, np.bool_)
    for i in reversed(path):
        moving[linkage.drives[i].rates] = True
        if i == first or (first is None and moving.sum() >= NEEDED):
            break
    if moving.sum() < NEEDED:
        raise GoalError(
            f"frame {frame!r} of linkage {linkage.name!r} is moved by {int(moving.sum())} degrees of freedom; with its "
            f"hand held, an elbow needs {NEEDED}."
        )
    return moving


def _lines(point: FloatArray, jacobian: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Return a point and the direction of the axis of every rotating velocity, from the Jacobian of a point."""
    lines = []
    for linear, angular in zip(jacobian[:3].T, jacobian[3:].T, strict=True):
        speed = float(np.linalg.norm(angular))
        if speed > 1e-9:
            lines.append((point + np.cross(angular, linear) / speed**2, angular / speed))
    return lines


def _nearest_point(lines: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Return the point of the first line nearest to the next line that is not parallel to it."""
    point, axis = lines[0]
    for other, direction in lines[1:]:
        normal = np.cross(axis, direction)
        if np.linalg.norm(normal) > 1e-6:
            along = np.linalg.det(np.stack([other - point, direction, normal])) / (normal @ normal)
            nearest: FloatArray = point + along * axis
            return nearest
    return point
