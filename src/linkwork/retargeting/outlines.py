"""The outline of a link: points of its shapes and of all that is fixed to it, in the coordinates of the link."""

from __future__ import annotations

import numpy as np

from ..formats.mesh_export import facets_of
from ..linkage.linkage import Linkage
from ..transforms import FloatArray

DIRECTIONS = 400  # in which the outermost points are kept: enough for a millimetre on a foot


def rigid_group(linkage: Linkage, link: int) -> dict[int, FloatArray]:
    """Return a link and the links fixed below it, each with its place in the coordinates of the first."""
    result = {link: np.eye(4)}
    waiting = [link]
    while waiting:
        parent = waiting.pop()
        for child in linkage.children[parent]:
            if not linkage.arcs[child].articulation.nv:
                result[child] = result[parent] @ linkage.arcs[child].placement
                waiting.append(child)
    return result


def outline(linkage: Linkage, link: str) -> FloatArray:
    """Return the outermost points of a link and of what is fixed to it, shape (points, 3); none if it has no shapes.

    What is drawn and what collides both count. Meshes that cannot be read are left out.
    """
    return linkage.cache.get("outline", link, lambda: _outline(linkage, linkage.link_index(link)))


def _outline(linkage: Linkage, link: int) -> FloatArray:
    points = [
        found.corners @ placed[:3, :3].T + placed[:3, 3]
        for index, place in rigid_group(linkage, link).items()
        for visual in linkage.nodes[index].visuals
        if (found := facets_of(visual.shape)) is not None
        for placed in (place @ linkage.nodes[index].matrix @ visual.placement,)
    ]
    return _outermost(np.concatenate(points)) if points else np.zeros((0, 3))


def _outermost(points: FloatArray) -> FloatArray:
    """Return those of some points that lie farthest in one of many directions."""
    step = np.arange(DIRECTIONS) + 0.5  # spread evenly over the sphere
    height, angle = 1.0 - 2.0 * step / DIRECTIONS, step * np.pi * (3.0 - np.sqrt(5.0))
    level = np.sqrt(1.0 - height**2)
    ways = np.stack([level * np.cos(angle), level * np.sin(angle), height], axis=1)
    ways = np.concatenate([ways, np.eye(3), -np.eye(3)])
    return np.asarray(points[np.unique((points @ ways.T).argmax(axis=0))])
