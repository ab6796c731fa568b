"""Joint limits as marks: a sector for a revolute joint, a bar for a prismatic one, a needle at the value."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..linkage.elements import Element
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, axis_rotation, plane_basis

STEPS = 48  # number of points on the rim of a sector


@dataclass(frozen=True)
class Gauge:
    """The range of one joint value, and the value in it.

    Attributes:
        joint: Name of the joint.
        area: The range as a polygon (n, 3): a sector, or a narrow bar.
        rims: Lines (n, 3) around it, and a stop across each end that has a limit.
        needle: The value, a line (2, 3).
        beyond: Whether the value is at a limit or outside.
        free: Whether there is no limit at all.
    """

    joint: str
    area: FloatArray
    rims: list[FloatArray] = field(repr=False)
    needle: FloatArray
    beyond: bool
    free: bool = False


def gauges(linkage: Linkage, q: FloatArray, frames: FloatArray, scale: float) -> list[Gauge]:
    """Return the gauges of every rotating joint, and of every prismatic joint with limits.

    Args:
        linkage: The linkage.
        q: One pose, shape (nq,).
        frames: world_from_frame at that pose, shape (frames, 4, 4).
        scale: Size of the scene [m], which determines the size of the gauges.
    """
    found = []
    pointing = _pointing(linkage)
    for i, (joint, drive) in enumerate(zip(linkage.arcs, linkage.drives, strict=True)):
        values = drive.values(q)
        lower, upper = joint.articulation.limits
        parent = linkage.parents[i]
        world = (frames[parent] if parent >= 0 else np.eye(4)) @ joint.placement
        ahead = frames[i, :3, :3] @ pointing[i]
        rank = 0
        for element in joint.articulation.elements:
            after = world @ element.matrix(values)
            if element.kind != "ball":
                low, high = float(lower[element.value]), float(upper[element.value])
                value = float(values[element.value])
                if element.kind == "prismatic":
                    if np.isfinite([low, high]).any():
                        found.append(_bar(joint.name, world, element, (low, value, high), scale))
                elif joint.articulation.kind != "floating":
                    radius = np.clip(0.5 * np.linalg.norm(ahead), 0.045 * scale, 0.09 * scale) * (1.0 + 0.3 * rank)
                    found.append(_sector(joint.name, (world, after), element, (low, value, high), ahead, radius))
                    rank += 1
            world = after
    return found


def _pointing(linkage: Linkage) -> FloatArray:
    """Return the direction of every link in its own frame, to its furthest joint, frame or shape."""
    ends = [[(node.matrix @ visual.placement)[:3, 3] for visual in node.visuals] for node in linkage.nodes]
    for parent, joint in zip(linkage.parents[1:], linkage.arcs[1:], strict=True):
        ends[parent].append(joint.placement[:3, 3])
    for extra in linkage.extra_frames:
        ends[linkage.link_index(extra.link)].append(extra.placement[:3, 3])
    return np.array([max(carried, key=lambda end: float(end @ end), default=np.zeros(3)) for carried in ends])


def _is_beyond(low: float, value: float, high: float) -> bool:
    slack = 1e-9 * max(1.0, abs(value))
    return value <= low + slack or value >= high - slack


def _sector(
    name: str,
    ends: tuple[FloatArray, FloatArray],
    element: Element,
    values: tuple[float, float, float],
    ahead: FloatArray,
    radius: float,
) -> Gauge:
    """Return the sector of a revolute joint's range, with a needle along the link, as seen along the axis."""
    low, value, high = values
    world, after = ends
    axis = world[:3, :3] @ element.axis
    centre = after[:3, 3]
    needle = ahead - (ahead @ axis) * axis
    size = float(np.linalg.norm(needle))
    if size > 0.2 * float(np.linalg.norm(ahead)) and size > 0.0:
        needle /= size
    else:
        needle = after[:3, :3] @ plane_basis(element.axis)[:, 0]  # the link lies along the axis: any perpendicular
    start = low if np.isfinite(low) else (high - 2.0 * np.pi if np.isfinite(high) else -np.pi)
    stop = high if np.isfinite(high) else start + 2.0 * np.pi
    stop = min(stop, start + 2.0 * np.pi)
    whole = stop - start > 2.0 * np.pi - 1e-9
    angles = np.linspace(start, stop, STEPS)
    rim = centre + radius * (axis_rotation(axis, angles - value) @ needle)
    stops = [np.stack([centre, rim[end]]) for end, limit in ((0, low), (-1, high)) if np.isfinite(limit)]
    area = rim if whole else np.concatenate([centre[None], rim])
    pointer = np.stack([centre, centre + 1.25 * radius * needle])
    return Gauge(name, area, [rim, *stops], pointer, _is_beyond(low, value, high), free=not stops)


def _bar(name: str, world: FloatArray, element: Element, values: tuple[float, float, float], scale: float) -> Gauge:
    """Return a bar beside a prismatic joint for its range; an end without a limit is open."""
    low, value, high = values
    axis = world[:3, :3] @ element.axis
    beside = _beside(axis)
    start = low if np.isfinite(low) else value - 0.15 * scale
    stop = high if np.isfinite(high) else value + 0.15 * scale
    centre = world[:3, 3] + 0.045 * scale * beside
    across = 0.008 * scale * beside
    first, last = centre + start * axis, centre + stop * axis
    area = np.stack([first - across, last - across, last + across, first + across])
    rims = [area[[0, 1]], area[[3, 2]]]
    rims += [
        np.stack([end - 1.6 * across, end + 1.6 * across])
        for end, limit in ((first, low), (last, high))
        if np.isfinite(limit)
    ]
    here = centre + value * axis
    return Gauge(name, area, rims, np.stack([here - 2.2 * across, here + 2.2 * across]), _is_beyond(low, value, high))


def _beside(axis: FloatArray) -> FloatArray:
    """Return a unit vector perpendicular to an axis: to its right in the xy plane, or along x for a vertical one."""
    across = np.array([axis[1], -axis[0], 0.0])
    size = float(np.linalg.norm(across))
    return across / size if size > 1e-6 else np.array([1.0, 0.0, 0.0])
