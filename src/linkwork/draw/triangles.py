"""Triangles of everything drawn of a linkage, attached to bones: shapes, meshes, skins, bones and joints.

A rigid part is attached to one bone, each corner of a skin to up to four. `raster` draws them, `player` packs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..collision.surfaces import triangles_of
from ..formats.mesh_export import Facets, facets_of
from ..linkage.geometry import Polyline, Shape
from ..linkage.skin import Skin
from ..transforms import FloatArray
from . import surfaces
from .parts import IntArray, Part
from .sketch import BONE, BoolArray, Sketch
from .welding import is_closed, welded

THREAD = 0.0035  # radius of the tubes that replace polylines, over the size of the scene


@dataclass(frozen=True, eq=False)
class Triangles:
    """Triangles whose corners are moved by bones.

    Args:
        corners: Corners when bound, shape (n, 3) [m].
        normals: Their unit normals, likewise.
        colors: Their colours from 0 to 1, likewise.
        bones: The bones that move each, shape (n, k).
        weights: Weights of these bones, the largest first, with a sum of 1, shape (n, k).
        indices: The corners of each triangle, counter-clockwise from outside, shape (m, 3).
        shells: Whether each is a part of a closed surface, whose inside is never visible, shape (m,).
        links: The link of each bone, shape (b,).
        binds: link_from_bound of each bone, shape (b, 4, 4).
    """

    corners: FloatArray
    normals: FloatArray
    colors: FloatArray
    bones: IntArray
    weights: FloatArray
    indices: IntArray
    shells: BoolArray
    links: IntArray
    binds: FloatArray

    def moves(self, frames: FloatArray) -> FloatArray:
        """Return world_from_bound of every bone, shape (..., b, 4, 4), for world_from_frame (..., frames, 4, 4)."""
        return np.asarray(frames[..., self.links, :, :] @ self.binds)

    def placed(self, frames: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the corners (n, 3) and their unit normals in the world, for world_from_frame (frames, 4, 4)."""
        from ..kernels.raster import skinned

        places, facing = np.empty_like(self.corners), np.empty_like(self.normals)
        moves = np.ascontiguousarray(self.moves(frames)[:, :3])
        skinned(self.corners, self.normals, self.bones, self.weights, moves, places, facing, np.empty((3, 4)))
        return places, facing


def rigid(link: int, matrix: FloatArray, surface: Facets, color: tuple[float, float, float]) -> Triangles:
    """Return facets on one link, placed by link_from_surface, in one colour."""
    count = len(surface.corners)
    if surface.normals is None:
        raise TypeError("lines have no normals; only triangles can be drawn as such")
    return Triangles(
        surface.corners @ matrix[:3, :3].T + matrix[:3, 3],
        surface.normals @ matrix[:3, :3].T,
        np.broadcast_to(np.array(color, np.float64), (count, 3)),
        np.zeros((count, 1), np.int64),
        np.ones((count, 1)),
        surface.indices,
        np.full(len(surface.indices), is_closed(surface)),
        np.array([link]),
        np.eye(4)[None],
    )


def joined(pieces: Sequence[Triangles]) -> Triangles:
    """Return several as one; equal bones of one link are merged."""
    width = max((piece.bones.shape[1] for piece in pieces), default=1)
    links = np.concatenate([np.zeros(0, np.int64), *(piece.links for piece in pieces)])
    binds = np.concatenate([np.zeros((0, 4, 4)), *(piece.binds for piece in pieces)])
    keys = np.concatenate([links[:, None], binds.reshape(len(binds), 16).round(12)], axis=1)
    _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    starts = np.cumsum([0, *(len(piece.corners) for piece in pieces)])
    bones = np.cumsum([0, *(len(piece.links) for piece in pieces)])
    owners = [same.ravel()[piece.bones + start] for piece, start in zip(pieces, bones, strict=False)]
    return Triangles(
        _stacked([piece.corners for piece in pieces], 3),
        _stacked([piece.normals for piece in pieces], 3),
        _stacked([piece.colors for piece in pieces], 3),
        _stacked([_widened(own, width) for own in owners], width).astype(np.int64),
        _stacked([_widened(piece.weights, width) for piece in pieces], width),
        _stacked([piece.indices + start for piece, start in zip(pieces, starts, strict=False)], 3).astype(np.int64),
        np.concatenate([np.zeros(0, np.bool_), *(piece.shells for piece in pieces)]),
        links[first],
        binds[first],
    )


def _stacked(rows: list[FloatArray], width: int) -> FloatArray:
    return np.ascontiguousarray(np.concatenate([np.zeros((0, width)), *rows]))


def _widened(rows: FloatArray, width: int) -> FloatArray:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))


def of_sketch(sketch: Sketch, scale: float, *, joints: bool = True) -> Triangles:
    """Return everything to draw of a linkage as triangles, for a scene of a given size [m].

    Args:
        sketch: The parts to draw.
        scale: Size of the scene, which determines the thickness of bones, joints and lines.
        joints: Whether bones, and balls and cubes at joints, are drawn where links have no shapes.
    """
    parts: list[Part] = [*sketch.parts]
    if joints:
        parts += sketch.joint_parts(scale)
    known: dict[Shape, Facets] = {}
    for part in parts:
        if part.shape not in known:
            known[part.shape] = _surface(part.shape, THREAD * scale)
    pieces = [rigid(part.link, part.matrix, known[part.shape], part.color) for part in parts]
    pieces.append(of_meshes(sketch))
    if joints:
        rods = ((link, quads(surfaces.spindle(a, b, radius))) for link, a, b, radius in sketch.rods(scale))
        pieces += [rigid(link, np.eye(4), rod, BONE) for link, rod in rods]
    return joined(pieces)


def of_meshes(sketch: Sketch) -> Triangles:
    """Return the meshes and the skin of a linkage and nothing else."""
    pieces = [rigid(part.link, part.matrix, mesh, part.color) for part, mesh in sketch.mesh_parts]
    return joined(pieces if sketch.skin is None else [*pieces, of_skin(sketch.skin, sketch)])


def of_parts(parts: Sequence[tuple[Part, Facets | None]], *, outside: bool = False) -> Triangles:
    """Return parts, each with its surface if it is a mesh, as triangles.

    Args:
        parts: The parts.
        outside: Whether the flat sides of round shapes lie around them, so that nothing inside shows through.
    """
    known: dict[Shape, Facets] = {}
    for part, surface in parts:
        if surface is None and part.shape not in known:
            around = triangles_of(part.shape, outside=True) if outside else None
            known[part.shape] = _surface(part.shape, 0.0) if around is None else welded(around)
    shown = ((part, known[part.shape] if surface is None else surface) for part, surface in parts)
    return joined([rigid(part.link, part.matrix, surface, part.color) for part, surface in shown])


def of_skin(skin: Skin, sketch: Sketch) -> Triangles:
    """Return a skin as triangles on the links of a linkage."""
    links = np.array([sketch.linkage.link_index(link) for link in skin.links])
    open_ = np.zeros(len(skin.triangles), np.bool_)
    return Triangles(
        skin.corners, skin.normals, skin.colors, skin.bones, skin.weights, skin.triangles, open_, links, skin.binds
    )


def _surface(shape: Shape, thickness: float) -> Facets:
    if isinstance(shape, Polyline):
        return quads(surfaces.surface(shape, sides=8, grain=np.inf, thickness=thickness))
    found = facets_of(shape)
    if found is None:
        raise TypeError(f"{type(shape).__name__} has no surface")
    return found


def quads(faces: FloatArray) -> Facets:
    """Return quadrilaterals (n, 4, 3) as triangles, shaded smoothly where they bend little."""
    halves = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    return welded(halves)
