"""Obstacles and the collision shapes of links, as parts of a drawing."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from ..collision.obstacles import World, check_world
from ..formats.mesh_export import Facets
from ..linkage.geometry import HalfSpace, Polyline
from ..linkage.linkage import Linkage
from .parts import Part

OBSTACLE = (0.80, 0.76, 0.68)
MARKED = (0.86, 0.30, 0.22)  # colour of colliding shapes
VEIL = (0.95, 0.55, 0.15)
LEVEL = 0.99  # cosine of the largest slope of a floor


def obstacle_parts(linkage: Linkage, world: World, marked: Collection[str]) -> Iterator[Part]:
    """Yield the obstacles of a world: on the link that holds them, or on the last frame, which is the world."""
    check_world(world)
    world.check(linkage)
    for obstacle in world:
        frame = len(linkage.frames) if obstacle.link is None else linkage.link_index(obstacle.link)
        color = MARKED if obstacle.name in marked else obstacle.color or OBSTACLE
        yield Part(frame, obstacle.pose, obstacle.shape, color)


def is_floor(part: Part) -> bool:
    """Return whether a half-space is level; it is then not drawn, because the ground is drawn already."""
    return bool(part.matrix[2, 2] > LEVEL)


def plane(part: Part, reach: float) -> Facets:
    """Return a half-space as a square beside a linkage of a reach [m], standing on the ground."""
    middle = part.matrix[:3, :3].T @ (np.array([0.0, 0.0, reach / 2.0]) - part.matrix[:3, 3])
    corners = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]) * reach / 2.0
    corners[:, :2] += middle[:2]
    return Facets(corners, np.tile([0.0, 0.0, 1.0], (4, 1)), np.array([[0, 1, 2], [0, 2, 3]]))


def veils(linkage: Linkage) -> list[Part]:
    """Return the collision shapes of links, to draw over the links."""
    return [
        Part(i, node.matrix @ visual.placement, visual.shape, VEIL if visual.color is None else visual.color)
        for i, node in enumerate(linkage.nodes)
        for visual in node.visuals
        if visual.role == "collision" and not isinstance(visual.shape, Polyline | HalfSpace)
    ]
