"""A chain described by lines in the world, for closed forms.

Every joint with one value is a line, in its position with all values zero. The placement of frames on links does not
matter: two arms that move alike have the same lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...kernels import joint_step as steps
from ...transforms import FloatArray, axis_rotation, inverse
from ..chain import Chain, screw


@dataclass(frozen=True, eq=False)
class Axes:
    """The axes of a chain's joints in the world, all values zero, and the frame at its end.

    The frame is at ``E1(v1) ... En(vn) tip``, where ``Ei`` rotates the world about line i, or translates it along i.

    Args:
        direction: Unit vectors along the lines, shape (n, 3).
        point: A point of each line, shape (n, 3).
        slides: Which joints are prismatic, shape (n,).
        tip: The frame at the end with all values zero, 4x4.
    """

    direction: FloatArray
    point: FloatArray
    slides: NDArray[np.bool_]
    tip: FloatArray

    def __len__(self) -> int:
        return len(self.direction)

    @property
    def size(self) -> float:
        """Size of the chain [m]: the diagonal of the bounding box of its points and the tip; 1 if that is zero."""
        places = np.concatenate([self.point, self.tip[None, :3, 3]])
        return float(np.linalg.norm(np.ptp(places, axis=0))) or 1.0

    def motion(self, joint: int, value: float) -> FloatArray:
        """Return the motion of the world by a joint at a value, 4x4."""
        result = np.eye(4)
        if self.slides[joint]:
            result[:3, 3] = value * self.direction[joint]
            return result
        turn = axis_rotation(self.direction[joint], value)
        result[:3, :3], result[:3, 3] = turn, self.point[joint] - turn @ self.point[joint]
        return result

    def forward(self, values: FloatArray) -> FloatArray:
        """Return the transform of the frame, 4x4, for one value per joint."""
        frame = self.tip
        for joint in reversed(range(len(self))):
            frame = self.motion(joint, float(values[joint])) @ frame
        return frame

    def ordered(self, order: Sequence[int]) -> Axes:
        """Return the lines in another order."""
        rows = list(order)
        return replace(self, direction=self.direction[rows], point=self.point[rows], slides=self.slides[rows])

    def reversed(self) -> Axes:
        """Return the chain seen from its end: its frame is the base, seen from the tip.

        ``G = E1 ... En`` becomes ``G^-1 = En^-1 ... E1^-1``: order and directions are reversed, so that the values are
        the same. A target T of this chain is the target ``tip T^-1`` of the other, whose own tip is the identity.
        """
        order = slice(None, None, -1)
        return Axes(-self.direction[order], self.point[order], self.slides[order], np.eye(4))

    def held(self, joint: int, value: float) -> Axes:
        """Return the chain with one joint held at a value, which moves the lines beyond it and the tip."""
        motion = self.motion(joint, value)
        direction, point = self.direction.copy(), self.point.copy()
        direction[joint + 1 :] = direction[joint + 1 :] @ motion[:3, :3].T
        point[joint + 1 :] = point[joint + 1 :] @ motion[:3, :3].T + motion[:3, 3]
        left = np.arange(len(self)) != joint
        return Axes(direction[left], point[left], self.slides[left], motion @ self.tip)


def axes_of(chain: Chain) -> tuple[Axes, FloatArray] | str:
    """Return the axes of a chain and the motion of each joint per unit of its value; or a text on why it has none.

    The joint turns (slides) by ``scale * value``, scale > 0: for a joint that turns the other way, the axis is
    reversed.
    """
    rows, tip, places = chain.rows()
    if not rows:
        return "no joint moves it, or it depends on loops or cones"
    if len(rows) != len(places):
        return "one of its values drives several joints"
    if any(row.motion == steps.SCREW for row in rows):
        return "it has a screw joint"
    if any(row.multiplier == 0.0 for row in rows):
        return "one of its joints does not move"
    world, directions, points = np.eye(4), [], []
    for row in rows:
        world = world @ row.constant
        directions.append(np.sign(row.multiplier) * world[:3, 2])
        points.append(world[:3, 3])
        world = world @ (screw(0.0, row.offset) if row.motion == steps.PRISMATIC else screw(row.offset, 0.0))
    slides = np.array([row.motion == steps.PRISMATIC for row in rows])
    scale = np.array([abs(row.multiplier) for row in rows])
    return Axes(np.array(directions), np.array(points), slides, world @ tip), scale


def nearest_points(axes: Axes, a: int, b: int) -> tuple[FloatArray, FloatArray, float]:
    """Return the points of two lines that are nearest to each other, and their distance [m].

    For parallel lines, these are the point of the first and its projection onto the second.
    """
    h, k = axes.direction[a], axes.direction[b]
    between = axes.point[b] - axes.point[a]
    cosine = h @ k
    square = 1.0 - cosine**2
    if square < 1e-12:
        first = axes.point[a]
        second = axes.point[b] - k * (between @ k)
    else:
        first = axes.point[a] + h * ((between @ h - cosine * (between @ k)) / square)
        second = axes.point[b] + k * ((cosine * (between @ h) - between @ k) / square)
    return first, second, float(np.linalg.norm(second - first))


def as_seen_from_tip(axes: Axes, target: FloatArray) -> FloatArray:
    """Return the target of the reversed chain for a target of this one."""
    return np.asarray(axes.tip @ inverse(target))
