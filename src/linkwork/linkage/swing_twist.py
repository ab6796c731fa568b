"""Swing and twist limits of ball joints, and projection of poses onto them.

A rotation is a twist about an axis of the child, followed by a swing of that axis: ``rotation = swing * twist``. The
swing angle is the angle between the axis in the parent and in the child.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..transforms import FloatArray, plane_basis, read_only
from .joints import Ball, Joint
from .tree import Drive

SLACK = 1e-9  # tolerance for rounding at limits [rad]
TINY = 1e-12  # below this, a quaternion defines no twist or no direction of swing


class Cone(NamedTuple):
    """The limits of one ball joint.

    Attributes:
        q: Index in the pose where its quaternion (w, x, y, z) begins.
        v: Index of the first of its three velocities, which are about the child's own axes.
        axis: Unit twist axis in the child's frame, shape (3,).
        swing: Largest angle of the swing [rad]; infinite without a limit.
        low: Smallest twist [rad]; minus infinity without a limit.
        high: Largest twist.
    """

    q: int
    v: int
    axis: FloatArray
    swing: float
    low: float
    high: float


def cones_of(arcs: Sequence[Joint], drives: Sequence[Drive]) -> Iterator[Cone]:
    """Yield the cones of the ball joints that have limits."""
    for arc, drive in zip(arcs, drives, strict=True):
        ball = arc.articulation
        if isinstance(ball, Ball) and (ball.swing is not None or ball.twist is not None):
            swing = math.inf if ball.swing is None else float(ball.swing)
            low, high = (-math.inf, math.inf) if ball.twist is None else map(float, ball.twist)
            axis = read_only(np.array(ball.axis, np.float64))
            yield Cone(drive.q, drive.v, axis, swing, low, high)


def swing_twist(quaternions: FloatArray, axis: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the angles of swing, 0 to pi, and twist, -pi to pi, of quaternions (..., 4) about an axis [rad].

    With p the part of the vector along the axis: the twist is ``2 atan2(p, w)``, the swing
    ``2 atan2(|rest|, |(w, p)|)``. Half a turn of swing has no twist; it counts as zero.

    Example:
        >>> swing_twist(np.array([math.cos(0.2), 0.0, 0.0, math.sin(0.2)]), np.eye(3)[2])[1].round(6).item()
        0.4
    """
    w, along, across = _parts(quaternions, axis)
    both = np.hypot(w, along)[..., 0]
    twist = np.where(both > TINY, 2.0 * np.arctan2(along, w)[..., 0], 0.0)
    return 2.0 * np.arctan2(np.linalg.norm(across, axis=-1), both), twist


def beyond(cones: Sequence[Cone], q: FloatArray) -> NDArray[np.bool_]:
    """Return which poses (..., nq) break a swing or twist limit by more than rounding, shape (...)."""
    result = np.zeros(q.shape[:-1], np.bool_)
    for cone in cones:
        result |= excess(cone, q) > SLACK
    return result


def excess(cone: Cone, q: FloatArray) -> FloatArray:
    """Return how far poses (..., nq) are beyond the limits of a cone, shape (...) [rad]; zero or less if within."""
    swing, twist = swing_twist(q[..., cone.q : cone.q + 4], cone.axis)
    return np.maximum(swing - cone.swing, np.maximum(cone.low - twist, twist - cone.high))


def clamped_turns(cones: Sequence[Cone], q: FloatArray) -> FloatArray:
    """Return poses with every ball brought into its cone and its twist to the nearer end of the range.

    Values that are within limits keep their bits.
    """
    if not cones:
        return q
    result = np.array(q)
    for cone in cones:
        quaternions = result[..., cone.q : cone.q + 4]
        swing, twist = swing_twist(quaternions, cone.axis)
        outside = (swing > cone.swing) | (twist < cone.low) | (twist > cone.high)
        if outside.any():
            parts = (np.minimum(swing, cone.swing), _nearest(twist, cone), _swing_axis(quaternions, cone.axis))
            result[..., cone.q : cone.q + 4] = np.where(outside[..., None], _composed(*parts, cone.axis), quaternions)
    return result


def neutral_turn(cone: Cone) -> FloatArray:
    """Return the quaternion with no swing and with the middle twist."""
    middle = 0.0 if math.isinf(cone.low) else (cone.low + cone.high) / 2.0
    return _composed(np.zeros(()), np.array(middle), np.zeros(3), cone.axis)


def sampled(cone: Cone, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Return random quaternions (*shape, 4) within a cone: axes uniform on the sphere, twists in their range."""
    least = math.cos(min(cone.swing, math.pi))
    swing = np.arccos(least + (1.0 - least) * rng.random(shape))
    low, high = (-math.pi, math.pi) if math.isinf(cone.low) else (cone.low, cone.high)
    twist = low + (high - low) * rng.random(shape)
    first, second, _ = plane_basis(cone.axis).T
    turn = 2.0 * math.pi * rng.random((*shape, 1))
    return _composed(swing, twist, np.cos(turn) * first + np.sin(turn) * second, cone.axis)


def outward(cone: Cone, q: FloatArray) -> Iterator[FloatArray]:
    """Yield the directions (..., 3) of the ball's velocity that increase its swing, and its twist, at their limits.

    They are orthogonal unit vectors, and zero if the ball is not at that limit. Let ``p`` be the part of the
    quaternion's vector along the axis a and ``v`` the part across it. The swing then grows along ``w v - p a x v``, and
    the twist along ``(w² + p²) a + w a x v + p v``.
    """
    quaternions, axis = q[..., cone.q : cone.q + 4], cone.axis
    swing, twist = swing_twist(quaternions, axis)
    w, along, across = _parts(quaternions, axis)
    aside = np.cross(axis, across)
    grows = w * across - along * aside
    at = swing >= cone.swing - SLACK
    yield np.where(at[..., None], _unit(grows), 0.0)
    turns = (w * w + along * along) * axis + w * aside + along * across
    side = (twist >= cone.high - SLACK) * 1.0 - (twist <= cone.low + SLACK) * 1.0
    yield side[..., None] * _unit(turns)


def _parts(quaternions: FloatArray, axis: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return w and the part of the vector along an axis, shape (..., 1), and the part across it (..., 3)."""
    sign = np.where(quaternions[..., :1] < 0.0, -1.0, 1.0)  # a quaternion and its negative are one rotation
    vector = sign * quaternions[..., 1:]
    along = (vector @ axis)[..., None]
    return sign * quaternions[..., :1], along, vector - along * axis


def _swing_axis(quaternions: FloatArray, axis: FloatArray) -> FloatArray:
    """Return the unit axes (..., 3), in the parent, of the swing; zero without swing."""
    w, along, across = _parts(quaternions, axis)
    turned = w * across + along * np.cross(axis, across)
    return np.where(np.hypot(w, along) > TINY, _unit(turned), _unit(across))


def _unit(vectors: FloatArray) -> FloatArray:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > TINY, vectors / np.where(length > TINY, length, 1.0), 0.0)


def _nearest(twist: FloatArray, cone: Cone) -> FloatArray:
    """Return twists moved into their range, to the nearer end."""
    if math.isinf(cone.low):
        return twist
    below, above = (np.abs(np.remainder(twist - end + math.pi, 2.0 * math.pi) - math.pi) for end in cone[4:])
    inside = (twist >= cone.low) & (twist <= cone.high)
    return np.where(inside, twist, np.where(below < above, cone.low, cone.high))


def _composed(swing: FloatArray, twist: FloatArray, about: FloatArray, axis: FloatArray) -> FloatArray:
    """Return the quaternions of a swing about an axis across the twist axis, times a twist about the twist axis."""
    swing, twist = swing[..., None] / 2.0, twist[..., None] / 2.0
    cs, ss, ct, st = np.cos(swing), np.sin(swing), np.cos(twist), np.sin(twist)
    vector = cs * st * axis + ss * ct * about + ss * st * np.cross(about, axis)
    return np.concatenate([cs * ct, vector], axis=-1)
