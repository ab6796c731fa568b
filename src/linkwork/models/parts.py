"""Helpers of the ready-made models: colours, simple solids, joints with limits in degrees, poses, checked sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkageError
from ..linkage.geometry import Box, Cylinder, Polyline, Visual, bone
from ..linkage.joints import ARTICULATIONS, Ball, Joint, Universal
from ..linkage.linkage import ROOT, Linkage
from ..linkage.poses import rest_pose
from ..transforms import FloatArray, as_angle, as_axis, axis_rotation, is_number, is_whole, transform

Color = tuple[float, float, float]
Range = tuple[float, float]

QUARTER = math.pi / 2.0

WHITE: Color = (0.92, 0.93, 0.95)
SILVER: Color = (0.72, 0.75, 0.79)
STEEL: Color = (0.53, 0.57, 0.62)
DARK: Color = (0.23, 0.26, 0.30)
BLUE: Color = (0.25, 0.50, 0.75)
SKY: Color = (0.45, 0.69, 0.86)
TEAL: Color = (0.20, 0.60, 0.58)
GREEN: Color = (0.40, 0.66, 0.36)
YELLOW: Color = (0.95, 0.77, 0.27)
ORANGE: Color = (0.91, 0.52, 0.20)
RED: Color = (0.80, 0.29, 0.26)
PLUM: Color = (0.55, 0.38, 0.62)
BRASS: Color = (0.75, 0.61, 0.33)
SKIN: Color = (0.91, 0.74, 0.62)
WHEEL_OF_COLORS = (RED, ORANGE, YELLOW, GREEN, TEAL, SKY, BLUE, PLUM)


def turn(axis: str, angle: float) -> FloatArray:
    """Return the 3x3 rotation about ``"x"``, ``"y"`` or ``"z"``; quarter turns come out as whole numbers.

    Example:
        >>> turn("x", QUARTER).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    """
    rotation = axis_rotation(as_axis(axis), angle)
    whole = rotation.round()
    return np.where(np.abs(rotation - whole) < 1e-15, whole + 0.0, rotation)


def tube(start: ArrayLike, end: ArrayLike, radius: float, color: Color | None = None) -> Visual:
    """Return a cylinder from one point of a link to another: a bone with flat ends.

    Example:
        >>> tube((0, 0, 0), (0, 0, 0.5), 0.05).shape
        Cylinder(radius=0.05, length=0.5)
    """
    length = float(np.linalg.norm(np.subtract(end, start)))
    return replace(bone(start, end, radius, color), shape=Cylinder(radius, length))


def moved(visual: Visual, position: ArrayLike) -> Visual:
    """Return a visual moved to another place of its link; the shape is shared."""
    return replace(visual, placement=transform(position) @ visual.placement)


def box(size: tuple[float, float, float], center: ArrayLike = (0.0, 0.0, 0.0), color: Color | None = None) -> Visual:
    """Return a box along the axes of its link."""
    return Visual(Box(size), center, color)


def ring(radius: float, *, normal: str = "z", corners: int = 48) -> Polyline:
    """Return a circle about the origin as a closed polyline, at right angles to an axis."""
    angles = 2.0 * math.pi * np.arange(corners) / corners
    flat = np.stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(corners)], axis=1)
    order = {"z": [0, 1, 2], "y": [1, 2, 0], "x": [2, 0, 1]}[normal]
    return Polyline(tuple(map(tuple, flat[:, order].tolist())), closed=True)


def euler_ball(order: str, *ranges: Range) -> Ball:
    """Return a ball joint stored as Euler angles in an order such as ``"XYZ"``, with a range for each in degrees.

    Example:
        >>> euler_ball("XYZ", (-90, 90), (0, 45), (0, 0)).upper[1]
        0.7853981633974483
    """
    (a, A), (b, B), (c, C) = np.radians(ranges).tolist()
    return Ball(order, lower=(a, b, c), upper=(A, B, C))


def universal_joint(axis: str, second: str, *ranges: Range) -> Universal:
    """Return a universal joint about two axes such as ``"-x"`` and ``"y"``, with a range for each in degrees."""
    first, last = (as_axis(name).tolist() for name in (axis, second))
    (a, A), (b, B) = np.radians(ranges).tolist()
    return Universal(first, last, lower=(a, b), upper=(A, B))


def standing(root: str, link: str, at: ArrayLike) -> Joint:
    """Return the root arc of a body: of a kind, and placed so that the body stands on the ground at rest.

    Args:
        root: ``"fixed"``, ``"planar"`` or ``"floating"``.
        link: The root link.
        at: Its position when the arc is at rest.
    """
    if root not in ("fixed", "planar", "floating"):
        raise LinkageError(f"root is 'fixed', 'planar' or 'floating', got {root!r}.")
    return Joint(ROOT, None, link, ARTICULATIONS[root](), transform(at))


def posed(linkage: Linkage, poses: Mapping[str, Mapping[str, Any]]) -> Linkage:
    """Return a linkage with named poses, given by joint values; joints that a pose does not name are at rest."""
    rest = rest_pose(linkage)
    return linkage.replace(poses={name: linkage.pose(values, base=rest) for name, values in poses.items()})


def both_sides(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return pose values with every ``left_`` one repeated, mirrored, for the right side.

    In a mirror, Euler angles about x and z change their sign and those about y keep it. Revolute and universal joints
    keep their values, for their axes are mirrored instead. Ball joints are given by coordinate: ``"left_hip.ry"``.
    """
    result = dict(values)
    for name, value in values.items():
        coordinate = name.rpartition(".")[2]
        if name.startswith("left_"):
            result["right_" + name.removeprefix("left_")] = -as_angle(value) if coordinate in ("rx", "rz") else value
    return result


def checked_count(value: Any, what: str, least: int, most: int = 100_000) -> int:
    """Return a whole number between bounds; raise LinkageError otherwise."""
    if not is_whole(value) or not least <= value <= most:
        raise LinkageError(f"{what} must be a whole number from {least} to {most}, got {value!r}.")
    return int(value)


def checked_size(value: Any, what: str) -> float:
    """Return a positive, finite length; raise LinkageError otherwise."""
    if not is_number(value) or not math.isfinite(value) or value <= 0.0:
        raise LinkageError(f"{what} must be a positive, finite number, got {value!r}.")
    return float(value)
