"""The stage: linkages as things to look at in the page, where the camera stands, ground and marks."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..draw import is_flat
from ..draw.sketch import LINKS, Sketch
from ..formats.mesh_export import MeshPart, joined, parts
from ..linkage.geometry import Mesh, Sphere, Visual, bone
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, transform
from .skins import SkinView

if TYPE_CHECKING:
    from .app import Studio

Color = tuple[int, int, int]
JOINT, BONE = (0.93, 0.94, 0.96), (0.45, 0.58, 0.72)
GUILTY: Color = (224, 49, 49)
NARROW, USUAL = math.radians(6.0), math.radians(40.0)  # fields of view: nearly parallel for flat linkages
SLIM, KNOB = 0.011, 0.018  # radius of bones and joints, of the size of the linkage
STILL = 1e-9
PROUD = 0.006  # of a part: how far the skin of a ghost stands out


def dressed(linkage: Linkage, size: float) -> Linkage:
    """Return a linkage that has something to show everywhere: capsules and balls where nothing can be drawn.

    A character that wears a skin needs none of them.

    Args:
        linkage: The linkage.
        size: How large it is [m].
    """
    sketch = Sketch(linkage)
    depth = sketch.depth.tolist()
    links = {}
    for index, link in enumerate(linkage.nodes):
        tint = LINKS[depth[index] % len(LINKS)]
        seen = [v for v in link.visuals if v.role == "visual" and (not isinstance(v.shape, Mesh) or v.shape.file)]
        own = [replace(v, color=v.color or tint) for v in seen]  # a mesh whose file was not found is nothing
        bones = [] if sketch.skin is not None else _skeleton(linkage, index, size)
        links[link.name] = {"visuals": tuple(own or bones)}
    return linkage.replace(links=links)


def _skeleton(linkage: Linkage, index: int, size: float) -> list[Visual]:
    """Return the capsules from a link's origin to all that hangs on it, and a ball at its joint."""
    ends = [linkage.arcs[child].placement[:3, 3] for child in linkage.children[index]]
    ends += [f.placement[:3, 3] for f in linkage.extra_frames if f.link == linkage.links[index]]
    far = [end for end in ends if np.linalg.norm(end) > 1e-3 * size]
    undo = np.linalg.inv(linkage.nodes[index].matrix)  # what is drawn is moved by the node transform
    capsules = [bone((0, 0, 0), end, min(SLIM * size, 0.2 * float(np.linalg.norm(end))), BONE) for end in far]
    ball = [Visual(Sphere(KNOB * size), color=JOINT)] if linkage.arcs[index].articulation.elements or not far else []
    return [replace(visual, placement=undo @ visual.placement) for visual in (*capsules, *ball)]


@dataclass(frozen=True)
class View:
    """Where a camera stands."""

    position: FloatArray
    look_at: FloatArray
    up: tuple[float, float, float]
    fov: float
    distance: float


def view_of(linkage: Linkage, q: FloatArray) -> View:
    """Return where to look at a linkage from: straight at the plane of a flat one, else from the front and above."""
    extent = Sketch(linkage).extent(q[None])
    middle, size = (extent.low + extent.high) / 2.0, max(size_of(linkage, q), 1e-3)
    if is_flat(linkage):
        reach = 1.25 * max(size, float(np.abs(extent.points[:, :2]).max()))
        middle = np.array([0.0, 0.0, middle[2]])
        distance = reach / math.tan(NARROW / 2.0)
        return View(middle + distance * np.eye(3)[2], middle, (0.0, 1.0, 0.0), NARROW, distance)
    distance = 0.70 * size / math.tan(USUAL / 2.0)
    way = np.array([0.78, -0.55, 0.32])
    return View(middle + distance * way / np.linalg.norm(way), middle, (0.0, 0.0, 1.0), USUAL, distance)


def size_of(linkage: Linkage, q: FloatArray) -> float:
    """Return how large a linkage is to look at [m]."""
    return Sketch(linkage).extent(q[None]).size or 1.0


_NUMBERS = itertools.count()


class LinkageView:
    """A linkage on the stage: one node a link, below that of its parent, so that a joint sends a turn and nothing else.

    Args:
        scene: The page's scene.
        name: The name of the node that holds it all.
        linkage: The linkage, `dressed`.
        color: One colour for all of it, or each its own.
        opacity: From 0 to 1, or None for solid.

    Attributes:
        root: The node that holds it all.
        missing: Meshes whose files were not found.
    """

    def __init__(
        self, scene: Any, name: str, linkage: Linkage, *, color: Color | None = None, opacity: float | None = None
    ) -> None:
        self.linkage, self.missing = linkage, list[str]()
        name = f"{name}-{next(_NUMBERS)}"  # of its own: a page keeps the turn of a node whose name comes again
        self.root = scene.add_frame(name, show_axes=False)
        paths: list[str] = []
        for i, parent in enumerate(linkage.parents):
            paths.append(f"{paths[parent] if parent >= 0 else name}/{i}")
        self._nodes = [scene.add_frame(path, show_axes=False) for path in paths]
        self._parents = np.array(linkage.parents)
        self._last = np.full((len(paths), 4, 4), np.nan)
        skin = Sketch(linkage).skin
        pieces = [p for p in parts(linkage, self.missing) if skin is None or linkage.nodes[p.link].visuals]
        self._skin = None if skin is None else SkinView(scene, name, linkage, skin, color, opacity)
        for k, part in enumerate(_merged(pieces) if color is not None else pieces):
            _add_part(scene, f"{paths[part.link]}/part{k}", part, color, opacity)

    def pose(self, q: FloatArray) -> None:
        """Show a pose: only what has moved is sent."""
        from scipy.spatial.transform import Rotation

        world = self.linkage.forward(q).array[: len(self._nodes)]
        if self._skin is not None:
            self._skin.pose(world)
        above = np.where((self._parents >= 0)[:, None, None], world[self._parents], np.eye(4))
        local = np.linalg.inv(above) @ world
        change = ~(np.abs(local - self._last) <= STILL)
        turned, moved = change[:, :3, :3].any(axis=(1, 2)), change[:, :3, 3].any(axis=1)
        if turned.any():
            turns = Rotation.from_matrix(local[turned, :3, :3]).as_quat(scalar_first=True)
            for k, turn in zip(np.flatnonzero(turned).tolist(), turns, strict=True):
                self._nodes[k].wxyz = turn
        for k in np.flatnonzero(moved).tolist():
            self._nodes[k].position = local[k, :3, 3]
        self._last = local

    def remove(self) -> None:
        """Take it from the stage."""
        self.root.remove()


def _merged(pieces: list[MeshPart]) -> list[MeshPart]:
    """Return one part a link of all its solid ones."""
    by_link: dict[int, list[MeshPart]] = {}
    for part in pieces:
        if part.facets.normals is not None:
            by_link.setdefault(part.link, []).append(part)
    return [MeshPart(link, joined([p.facets for p in own]), own[0].color) for link, own in by_link.items()]


def _add_part(scene: Any, name: str, part: MeshPart, color: Color | None, opacity: float | None) -> None:
    shown: Any = color or tuple(round(255 * channel) for channel in part.color)
    corners, indices = part.facets.corners.astype(np.float32), part.facets.indices.astype(np.uint32)
    if part.facets.normals is not None and opacity is not None:  # a little larger than what it may stand in
        corners = corners + (PROUD * float(np.ptp(corners, axis=0).max()) * part.facets.normals).astype(np.float32)
    if part.facets.normals is None:
        add_lines(scene, name, corners[indices], shown)
        return
    scene.add_mesh_simple(name, corners, indices, color=shown, opacity=opacity, cast_shadow=opacity is None)


def add_lines(scene: Any, name: str, segments: NDArray[np.floating], color: Color, *, thickness: float = 2.0) -> None:
    """Draw straight lines (n, 2, 3) as thick on the screen from near and far [pixels]."""
    points = segments.astype(np.float32)
    scene.add_line_segments(name, points=points, colors=color, thickness=thickness, thickness_units="screen")


def circles(center: FloatArray, radius: float, *, flat: bool, count: int = 96) -> FloatArray:
    """Return a circle about z as segments (n, 2, 3); in space, three circles that show a sphere."""
    angles = np.linspace(0.0, 2.0 * np.pi, count + 1)
    ring = radius * np.stack([np.cos(angles), np.sin(angles), np.zeros(count + 1)], axis=1)
    rings = [ring] if flat else [ring, ring[:, [2, 0, 1]], ring[:, [1, 2, 0]]]
    return np.concatenate([np.stack([r[:-1], r[1:]], axis=1) for r in rings]) + center


def round_up(value: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, ... above a length: the spacing of a grid.

    Example:
        >>> round_up(0.13), round_up(3.0)
        (0.2, 5.0)
    """
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * step for step in (1.0, 2.0, 5.0, 10.0) if power * step >= value * (1.0 - 1e-9))


def wxyz_of(place: FloatArray) -> FloatArray:
    """Return the quaternion w, x, y, z of a 3x3 rotation or a 4x4 transform."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(place[:3, :3]).as_quat(scalar_first=True))


def place_of(handle: Any) -> FloatArray:
    """Return where something on the stage stands, as a 4x4 transform."""
    return transform(handle.position, {"wxyz": handle.wxyz})


def ghost(studio: Studio, name: str, q: FloatArray, *, color: Color, opacity: float) -> LinkageView:
    """Return a studio's linkage once more on its stage, in one colour, in a pose of its own."""
    view = LinkageView(studio.scene_view, name, studio.look, color=color, opacity=opacity)
    view.pose(q)
    return view
