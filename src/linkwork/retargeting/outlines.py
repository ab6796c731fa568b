"""Outlines of links: points of their shapes or skin and of fixed links, in the coordinates of the link."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from ..errors import FormatError, MissingExtraError
from ..formats.mesh_export import facets_of
from ..formats.skins import skin_of
from ..linkage.geometry import Mesh, Shape
from ..linkage.linkage import Linkage
from ..transforms import FloatArray

CELL = 2e-4  # [m]: of points in one cell of this size, only one is kept
MOSTLY = 0.5  # least weight of a vertex for a link to own it
DIRECTIONS = 400  # in which the outermost points are kept: enough for a millimetre on a foot


def rigid_group(linkage: Linkage, link: int) -> dict[int, FloatArray]:
    """Return a link and its fixed descendants, each with its transform in the coordinates of the first."""
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
    """Return the outermost points of a link and of fixed links, shape (points, 3); none if it has no shapes.

    Visual and collision shapes both count. Meshes that cannot be read are left out.
    """
    return linkage.cache.get("outline", link, lambda: _outline(linkage, linkage.link_index(link)))


def _outline(linkage: Linkage, link: int) -> FloatArray:
    points = [
        found @ placed[:3, :3].T + placed[:3, 3]
        for index, place in rigid_group(linkage, link).items()
        for visual in linkage.nodes[index].visuals
        if (found := _points(visual.shape)) is not None
        for placed in (place @ linkage.nodes[index].matrix @ visual.placement,)
    ]
    return _outermost(np.concatenate(points)) if points else np.zeros((0, 3))


def skin_outline(linkage: Linkage, link: str) -> FloatArray:
    """Return the outermost points of a character's skin that a link and its fixed links move, shape (points, 3).

    There are none if its file has no skin, or one that cannot be read.
    """
    return linkage.cache.get("skin outline", link, lambda: _skin_outline(linkage, linkage.link_index(link)))


def _skin_outline(linkage: Linkage, link: int) -> FloatArray:
    try:
        skin = skin_of(linkage)
    except (FormatError, MissingExtraError):  # reported when it is drawn
        skin = None
    if skin is None:
        return np.zeros((0, 3))
    group = rigid_group(linkage, link)
    places = [group.get(linkage.link_index(name)) for name in skin.links]
    owners = np.where(skin.weights[:, 0] > MOSTLY, skin.bones[:, 0], -1)
    points = []
    for bone, place in enumerate(places):
        corners = skin.corners[owners == bone]
        if place is not None and len(corners):
            moved = place @ skin.binds[bone]
            points.append(corners @ moved[:3, :3].T + moved[:3, 3])
    return _outermost(np.concatenate(points)) if points else np.zeros((0, 3))


def _points(shape: Shape) -> FloatArray | None:
    """Return the outermost points of a shape in its own coordinates; None if it is a mesh that cannot be read."""
    if isinstance(shape, Mesh):
        if shape.file is None or not Path(shape.file).is_file():
            return None
        return _mesh_points(shape.file, shape.scale, Path(shape.file).stat().st_mtime_ns)
    found = facets_of(shape)
    return None if found is None else found.corners


@lru_cache(maxsize=512)
def _mesh_points(file: str, scale: tuple[float, float, float], changed: int) -> FloatArray | None:  # noqa: ARG001 - a key
    """Return the outermost points of a mesh, cached because robots with large meshes are loaded many times."""
    found = facets_of(Mesh(file, scale, file))
    return None if found is None else _outermost(found.corners)


def _outermost(points: FloatArray) -> FloatArray:
    """Return those points that lie farthest in one of many directions."""
    cells = np.floor((points - points.min(axis=0)) / CELL).astype(np.int64)
    points = points[np.unique((cells[:, 0] << 42) + (cells[:, 1] << 21) + cells[:, 2], return_index=True)[1]]
    step = np.arange(DIRECTIONS) + 0.5  # evenly over the sphere
    height, angle = 1.0 - 2.0 * step / DIRECTIONS, step * np.pi * (3.0 - np.sqrt(5.0))
    level = np.sqrt(1.0 - height**2)
    ways = np.stack([level * np.cos(angle), level * np.sin(angle), height], axis=1)
    ways = np.concatenate([ways, np.eye(3), -np.eye(3)])
    columns = np.ascontiguousarray(points.T)
    return np.asarray(points[np.unique([int((way @ columns).argmax()) for way in ways])])
