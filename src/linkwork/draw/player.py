"""A motion as a page: one HTML file that plays from disk, in three dimensions and without a network.

The page is ``player.html`` beside this file and its small renderer `SCRIPTS`; here the film is packed for it: the
transform of every link in every frame, the solids that links carry, and the triangles of meshes and skins.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..linkage.geometry import Box, Capsule, Cylinder, Polyline, Shape, Sphere, bone
from ..motion.clips import Clip
from ..transforms import FloatArray
from .arguments import View
from .film_range import FilmFrames, camera_way
from .sketch import BONE, DEFAULT_VIEW, VIEWS, Part, Sketch, nice_step, outermost
from .surfaces import path
from .triangles import Triangles, of_meshes

CAPSULE, CYLINDER, BOX = 0.0, 1.0, 2.0  # the meshes of the page
SCRIPTS = ("player.js", "player_mesh.js")
LEAST_SIZE = 1e-9
MOST_BONES = 4  # that move one corner of a mesh in the page


def page(
    clip: Clip,
    shown: FilmFrames,
    *,
    title: str | None = None,
    trail: str | None = None,
    view: View = None,
    follow: bool | str = False,
) -> str:
    """Return the page that plays the frames of a film.

    Args:
        clip: The motion they are from.
        shown: The frames.
        title: A line above the picture; the linkage's name by default.
        trail: Name of a frame whose path to draw, or None.
        view: Camera; None shows a flat linkage straight from above.
        follow: Whether the camera goes along, or the name of the frame it goes along with.
    """
    linkage, sketch = clip.linkage, Sketch(clip.linkage)
    splits, fine = shown.refined(clip)
    trace = np.zeros((0, 3)) if trail is None else fine.forward(frame=trail)[:, :3, 3]
    name, note = title or linkage.name, f"{len(linkage.links)} links, {linkage.nv} degrees of freedom"
    way = camera_way(linkage, shown.poses, shown.rate, follow)
    data = {"last": len(clip) - 1, "fine": splits, **_packed(sketch, shown, trace, view, way)}
    words = {
        "title": escape(name),
        "note": note + f"; {_files(len(sketch.meshes))} not drawn" * bool(sketch.meshes),
        "label": escape(f"{name}: {note}; a film of {len(shown.times)} frames, {shown.times[-1]:.3g} seconds"),
        "script": "".join([*map(_beside, SCRIPTS), "start();\n"]),
        "film": json.dumps(data).replace("<", "\\u003c"),
    }
    return filled_page("player.html", words)


def filled_page(name: str, words: Mapping[str, str]) -> str:
    """Return a page of this folder with its ``{{words}}`` filled in."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], _beside(name))


def _beside(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _files(count: int) -> str:
    return "1 mesh is" if count == 1 else f"{count} meshes are"


def _packed(sketch: Sketch, shown: FilmFrames, trace: FloatArray, view: View, way: FloatArray | None) -> dict[str, Any]:
    """Return what the script of the page reads."""
    frames, mesh = sketch.frames(shown.poses), of_meshes(sketch)
    extent = sketch.extent(shown.poses, trace) if way is None else sketch.extent(shown.poses, camera=way)
    scale, flat = max(extent.size, LEAST_SIZE), sketch.flat and view is None
    own = max(sketch.extent(shown.poses[:1]).size, LEAST_SIZE)  # the linkage itself, without its way
    parts = [*sketch.parts, *sketch.joint_parts(own), *(_rod(*rod, BONE) for rod in sketch.rods(own))]
    bodies = sorted({part.link for part in parts} | set(mesh.links.tolist()))
    rows = [row for part in parts for row in _rows(part, bodies.index(part.link), 0.0035 * own)]
    angles = VIEWS["top"] if flat else DEFAULT_VIEW if view is None else VIEWS[view] if isinstance(view, str) else view
    span = extent.high - extent.low
    stands = -0.02 * extent.size <= extent.low[2] <= 0.5 * extent.size  # on z = 0; else the ground is below everything
    return {
        "flat": flat,
        "view": angles,
        "low": extent.low.tolist(),
        "high": extent.high.tolist(),
        "scale": scale,
        "own": own,
        "ground": 0.0 if stands and not flat else float(extent.low[2] - 0.02 * extent.size),
        "cell": nice_step(max(float(span[:2].max()), LEAST_SIZE) / 8.0),
        "times": _numbers(shown.times),
        "numbers": _numbers(shown.numbers, "<u4"),
        "tracks": _numbers(_turns_and_places(frames[:, bodies])),
        "parts": _numbers(rows),
        "rails": _numbers(sketch.rails.at(frames)),
        "trail": _numbers(trace),
        "hull": _numbers(outermost(extent.points, fine=7)),
        "way": _numbers([] if way is None else way),
        "mesh": _mesh(mesh, bodies),
    }


def _mesh(mesh: Triangles, bodies: list[int]) -> dict[str, str]:
    """Return triangles on bones as arrays for the page: four bones a corner, weights and colours as bytes."""
    spare = ((0, 0), (0, MOST_BONES - mesh.bones.shape[1]))
    return {
        "corners": _numbers(mesh.corners),
        "normals": _numbers(np.round(127.0 * np.pad(mesh.normals, ((0, 0), (0, 1)))), "i1"),
        "colors": _numbers(np.round(255.0 * np.pad(mesh.colors, ((0, 0), (0, 1)))), "u1"),
        "bones": _numbers(np.pad(mesh.bones, spare), "<u2"),
        "weights": _numbers(np.round(255.0 * np.pad(mesh.weights, spare)), "u1"),
        "indices": _numbers(mesh.indices, "<u4"),
        "bodies": _numbers([bodies.index(link) for link in mesh.links.tolist()], "<u2"),
        "binds": _numbers(mesh.binds[:, :3]),
    }


def _numbers(values: ArrayLike, kind: str = "<f4") -> str:
    """Return numbers as bytes, little end first, in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def _turns_and_places(matrices: FloatArray) -> FloatArray:
    """Return rigid transforms (..., 4, 4) as x, y, z, w of their quaternions and x, y, z, shape (..., 7)."""
    from scipy.spatial.transform import Rotation

    turns = Rotation.from_matrix(matrices[..., :3, :3].reshape(-1, 3, 3)).as_quat()
    return np.concatenate([turns.reshape(*matrices.shape[:-2], 4), matrices[..., :3, 3]], axis=-1)


# Solids


def _rod(link: int, start: FloatArray, end: FloatArray, radius: float, color: tuple[float, float, float]) -> Part:
    rod = bone(start, end, radius)
    return Part(link, rod.placement, rod.shape, color)


def _rows(part: Part, body: int, thin: float) -> Iterator[FloatArray]:
    """Yield a part as rows for the page: body, mesh, size, half its length, colour, turn and place."""
    if isinstance(part.shape, Polyline):
        for start, end in pairwise(part.placed(path(part.shape))):
            if (start != end).any():
                yield from _rows(_rod(part.link, start, end, thin, part.color), body, thin)
        return
    mesh, size, half = _solid(part.shape)
    yield np.array([body, mesh, *size, half, *part.color, *_turns_and_places(part.matrix)])


def _solid(shape: Shape) -> tuple[float, tuple[float, ...], float]:
    """Return a mesh of the page, its size along x, y, z, and half its length."""
    if isinstance(shape, Box):
        return BOX, tuple(edge / 2.0 for edge in shape.size), 0.0
    if isinstance(shape, Sphere | Cylinder | Capsule):
        mesh = CYLINDER if isinstance(shape, Cylinder) else CAPSULE
        return mesh, (shape.radius,) * 3, getattr(shape, "length", 0.0) / 2.0
    raise TypeError(f"{type(shape).__name__} is not a solid")
