"""Scene data of a linkage for web pages: geometry of links, positions of joints and the extent of the scene.

The reader is ``web/stage/stage.js``. Arrays are little-endian numbers in base64. Transforms of links are
included for the first pose only: a film has its own, a live page computes them.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..linkage.geometry import Box, Capsule, Cylinder, Polyline, Shape, Sphere, bone
from ..transforms import FloatArray, inverse, matrix_quaternion
from .arguments import View
from .parts import Part
from .sketch import BONE, DEFAULT_VIEW, VIEWS, Sketch, nice_step, outermost
from .surfaces import path
from .triangles import Triangles, joined, of_meshes, of_parts

WORLD = -1
CAPSULE, CYLINDER, BOX = 0.0, 1.0, 2.0  # codes of shapes in the page
LEAST_SIZE = 1e-9
MOST_BONES = 4  # largest number of bones of a vertex in the page
AXES = {"revolute", "continuous", "prismatic", "screw"}  # kinds of joints with one axis


def scene(
    sketch: Sketch,
    poses: FloatArray,
    *,
    view: View = None,
    points: FloatArray | None = None,
    way: FloatArray | None = None,
) -> dict[str, Any]:
    """Return the scene data of a linkage, to be written as JSON.

    Args:
        sketch: The sketch of the linkage.
        poses: Poses that the camera sees at first, shape (n, nq); the first is shown.
        view: Camera; None shows a flat linkage straight from above.
        points: Further points (n, 3) that the camera must see.
        way: Positions of a moving camera at each pose, shape (n, 3).
    """
    extent = sketch.extent(poses, points) if way is None else sketch.extent(poses, camera=way)
    scale, flat = max(extent.size, LEAST_SIZE), sketch.flat and view is None
    own = max(sketch.extent(poses[:1]).size, LEAST_SIZE)  # size of the linkage itself, without its path
    parts = [*sketch.parts, *sketch.joint_parts(own), *(_rod(*rod, BONE) for rod in sketch.rods(own))]
    parts += [part for part, surface in sketch.obstacles if surface is None]
    angles = VIEWS["top"] if flat else DEFAULT_VIEW if view is None else VIEWS[view] if isinstance(view, str) else view
    span, mesh = extent.high - extent.low, joined([of_meshes(sketch), _standing(sketch, poses)])
    stands = -0.02 * extent.size <= extent.low[2] <= 0.5 * extent.size  # ground at z = 0, or else below everything
    links = len(sketch.linkage.links)
    return {
        "name": sketch.linkage.name,
        "links": list(sketch.linkage.links),
        "joints": list(_joints(sketch)),
        "flat": flat,
        "view": [float(angle) for angle in angles],
        "low": extent.low.tolist(),
        "high": extent.high.tolist(),
        "scale": scale,
        "own": own,
        "ground": 0.0 if stands and not flat else float(extent.low[2] - 0.02 * extent.size),
        "cell": nice_step(max(float(span[:2].max()), LEAST_SIZE) / 8.0),
        "rest": numbers(sketch.frames(poses[0])[:links]),
        "parts": numbers([row for part in parts for row in _rows(_or_world(part, sketch), 0.0035 * own)]),
        "rails": numbers(np.concatenate([sketch.rails.owners, sketch.rails.local.reshape(-1, 6)], axis=1)),
        "hull": numbers(outermost(extent.points, fine=7)),
        "mesh": _mesh(mesh) if len(mesh.indices) else None,
    }


def moving_links(sketch: Sketch) -> list[int]:
    """Return the links whose transforms the stage needs: those with visible parts, and the ends of rails."""
    held = [part for part, _ in sketch.obstacles]
    carrying = {part.link for part in (*sketch.parts, *sketch.joint_parts(1.0), *held)} - {sketch.world_frame}
    carrying |= {int(link) for link in (*sketch.bones.owners[:, 0], *sketch.rails.owners.ravel())}
    return sorted(carrying | set(of_meshes(sketch).links.tolist()))


def numbers(values: ArrayLike, kind: str = "<f4") -> str:
    """Return numbers as little-endian bytes in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def turns_and_places(matrices: FloatArray) -> FloatArray:
    """Return rigid transforms (..., 4, 4) as w, x, y, z of their quaternions and x, y, z, shape (..., 7)."""
    return np.concatenate([matrix_quaternion(matrices[..., :3, :3]), matrices[..., :3, 3]], axis=-1)


def _joints(sketch: Sketch) -> Iterator[dict[str, Any]]:
    """Yield the joints of one axis: name, kind, the link below, and the axis in its coordinates."""
    for link, joint in enumerate(sketch.linkage.arcs):
        if joint.articulation.kind in AXES:
            axis = [float(x) for x in joint.articulation.elements[0].axis]
            yield {"name": joint.name, "kind": joint.articulation.kind, "link": link, "axis": axis}


def _mesh(mesh: Triangles) -> dict[str, Any]:
    """Return triangles on bones as arrays for the page.

    Coordinates are 16-bit integers, 0 at the lowest and 65535 at the highest: steps of 15 micrometres for a robot of
    one metre. A mesh whose vertices have one bone each has no weights. Triangles of closed surfaces come first, since
    their inside is never visible.
    """
    low, high = mesh.corners.min(axis=0), mesh.corners.max(axis=0)
    step = np.maximum((high - low) / 65535.0, LEAST_SIZE)
    order = np.argsort(~mesh.shells, kind="stable")
    found = {
        "low": low.tolist(),
        "step": step.tolist(),
        "corners": numbers(np.round((mesh.corners - low) / step), "<u2"),
        "normals": numbers(np.round(127.0 * mesh.normals), "i1"),
        "colors": numbers(np.round(255.0 * mesh.colors), "u1"),
        "indices": numbers(mesh.indices[order], "<u2" if len(mesh.corners) < 65536 else "<u4"),
        "closed": 3 * int(mesh.shells.sum()),
        "links": numbers(mesh.links, "<u2"),
        "binds": numbers(mesh.binds[:, :3]),
    }
    if mesh.bones.shape[1] == 1:
        return {**found, "bones": numbers(mesh.bones, "<u2")}
    spare = ((0, 0), (0, MOST_BONES - mesh.bones.shape[1]))
    weights = np.round(255.0 * np.pad(mesh.weights, spare))
    weights[:, 0] += 255.0 - weights.sum(axis=1)  # the weights still add up to 255 after rounding
    return {**found, "bones": numbers(np.pad(mesh.bones, spare), "<u2"), "weights": numbers(weights, "u1")}


# Obstacles


def _or_world(part: Part, sketch: Sketch) -> Part:
    """Return a part; one fixed in the world gets link -1, which means the world in the page."""
    return replace(part, link=WORLD) if part.link == sketch.world_frame else part


def _standing(sketch: Sketch, poses: FloatArray) -> Triangles:
    """Return obstacles that are meshes, attached to a fixed root, since the page has no bone for the world."""
    world_from_root = sketch.frames(poses[0])[0]
    placed = []
    for part, surface in sketch.obstacles:
        if surface is None:
            continue
        if part.link != sketch.world_frame:
            placed.append((part, surface))
        elif not sketch.linkage.root.articulation.nq:
            placed.append((replace(part, link=0, matrix=inverse(world_from_root) @ part.matrix), surface))
        else:
            sketch.meshes.append(part.shape.kind)
    return of_parts(placed)


# Solids


def _rod(link: int, start: FloatArray, end: FloatArray, radius: float, color: tuple[float, float, float]) -> Part:
    rod = bone(start, end, radius)
    return Part(link, rod.placement, rod.shape, color)


def _rows(part: Part, thin: float) -> Iterator[FloatArray]:
    """Yield a part as rows for the page: link, shape, size, half length, colour, rotation and position."""
    if isinstance(part.shape, Polyline):
        for start, end in pairwise(part.placed(path(part.shape))):
            if (start != end).any():
                yield from _rows(_rod(part.link, start, end, thin, part.color), thin)
        return
    shape, size, half = _solid(part.shape)
    yield np.array([part.link, shape, *size, half, *part.color, *turns_and_places(part.matrix)])


def _solid(shape: Shape) -> tuple[float, tuple[float, ...], float]:
    """Return the code of a shape in the page, its half sizes along x, y, z, and its half length."""
    if isinstance(shape, Box):
        return BOX, tuple(edge / 2.0 for edge in shape.size), 0.0
    if isinstance(shape, Sphere | Cylinder | Capsule):
        kind = CYLINDER if isinstance(shape, Cylinder) else CAPSULE
        return kind, (shape.radius,) * 3, getattr(shape, "length", 0.0) / 2.0
    raise TypeError(f"{type(shape).__name__} is not a solid")
