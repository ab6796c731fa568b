"""A linkage prepared for drawing: its bones, joints, shapes and outlines, and their positions in a pose.

What to draw is decided here, without matplotlib; `panels` chooses the artists.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..collision.obstacles import World
from ..errors import FormatError, MissingExtraError
from ..formats.mesh_export import Facets
from ..formats.skins import skin_of
from ..linkage.geometry import Box, HalfSpace, Meshed, Polyline, Shape, Sphere
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.skin import Skin
from ..transforms import FloatArray
from . import surfaces
from .obstacle_parts import MARKED, is_floor, obstacle_parts, plane, veils
from .parts import IntArray, Part, Points, joined_points, origins
from .welding import detail_of, mesh_surface

_LOG = logging.getLogger("linkwork")
BoolArray = NDArray[np.bool_]

INK = (0.17, 0.23, 0.30)
BONE = (0.30, 0.42, 0.55)
LINKS = ((0.55, 0.70, 0.86), (0.73, 0.81, 0.90))  # neighbours differ in lightness, not in hue
JOINT = (0.93, 0.94, 0.96)

ROUND = ("revolute", "continuous", "screw", "universal", "ball")
MANY_SOLIDS = 600  # with more solids, bones are lines and joints are markers in three dimensions too
DEFAULT_VIEW = (22.0, -56.0)  # elevation and azimuth of the camera [deg]
VIEWS = {"front": (0.0, 0.0), "side": (0.0, -90.0), "top": (90.0, -90.0)}
FEW_SIDES = ((60, 32), (240, 20), (1200, 10))  # number of parts, and number of flat sides of a circle up to that
CHUNK = 200_000  # points transformed at a time to measure a whole motion


@dataclass(frozen=True)
class Solids:
    """Faces fixed to links.

    Attributes:
        faces: Corners in the coordinates of the link, shape (n, 4, 3).
        owners: The link of each face.
        colors: Colours (n, 3).
        normals: Unit normals (n, 3).
        parts: The parts that the first faces belong to.
        groups: Rising numbers: the part of each face, and beyond the parts one number for each bone.
        sag: Largest distance of flat faces below a round surface, in units of its radius.
    """

    faces: FloatArray
    owners: IntArray
    colors: FloatArray
    normals: FloatArray
    parts: list[Part]
    groups: IntArray
    sag: float

    def at(self, frames: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the faces and normals in the world."""
        own = frames[self.owners]
        turn = np.swapaxes(own[:, :3, :3], 1, 2)
        return self.faces @ turn + own[:, None, :3, 3], (self.normals[:, None] @ turn)[:, 0]


@dataclass(frozen=True)
class Extent:
    """The space of a picture: its lowest and highest coordinates (3,), and points (n, 3) in it."""

    low: FloatArray
    high: FloatArray
    points: FloatArray

    @property
    def size(self) -> float:
        """Length of its diagonal [m]."""
        return float(np.linalg.norm(self.high - self.low))


class Sketch:
    """The parts of a linkage to draw, in the coordinates of its frames.

    Args:
        linkage: The linkage.
        shapes: Draw shapes where links have them; False draws bones throughout.
        meshes: Read the files of meshes and skins; False draws bones in their place.
        world: Obstacles to draw as well.
        collision: Whether to draw the collision shapes of links over them, half transparent.
        marked: Names of links and obstacles to draw in red.

    Attributes:
        parts: The shapes that can be drawn.
        mesh_parts: Meshes with their surfaces.
        world_frame: Which of the frames is the world, if it is drawn.
        obstacles: The obstacles, each with its surface if it is a mesh.
        veils: The collision shapes, likewise, if they are drawn.
        skin: The skin in the linkage's file, or None; it replaces the shapes of the links that move it.
        meshes: Paths of the meshes that cannot be drawn.
        depth: Number of joints from the root to each link.
        bare: Which links have no shape and are drawn as bones.
        bones: Both ends of every bone, `Points` of shape (n, 2).
        rails: Lines from the fixed to the moved end of prismatic joints, likewise.
        round_joints, prismatic_joints: Joints to mark, as points at the origins of the links below them.
        tips: Further frames.
    """

    def __init__(
        self,
        linkage: Linkage,
        *,
        shapes: bool = True,
        meshes: bool = True,
        world: World | None = None,
        collision: bool = False,
        marked: Collection[str] = (),
    ) -> None:
        self.linkage, self.world, self.marked = linkage, world, frozenset(marked)
        self.world_frame = len(linkage.frames)
        self.parts: list[Part] = []
        self.mesh_parts: list[tuple[Part, Facets]] = []
        self.skin: Skin | None = None
        self.meshes: list[str] = []
        self.bare = np.ones(len(linkage.nodes), dtype=np.bool_)
        self.depth = np.zeros(len(linkage.nodes), dtype=np.int64)
        for i, parent in enumerate(linkage.parents[1:], start=1):
            self.depth[i] = self.depth[parent] + 1
        self._carriers: set[int] = set()  # links without a drawing, which only move a character about
        if shapes:
            self._take_shapes(meshes)
        self.obstacles: list[tuple[Part, Facets | None]] = []
        self.veils = list(self._surfaces(veils(linkage))) if collision else []
        self.bones, self.rails = self._skeleton()
        kinds = [joint.articulation.kind for joint in linkage.arcs]
        self.round_joints = origins([i for i, kind in enumerate(kinds) if kind in ROUND])
        self.prismatic_joints = origins([i for i, kind in enumerate(kinds) if kind == "prismatic"])
        self.tips = origins(range(len(linkage.nodes), len(linkage.frames)))
        if world is not None:
            self._take_world(world)
        meshed = [surface for _, surface in (*self.obstacles, *self.veils) if surface is not None]
        self.flat = is_flat(linkage) and not self.mesh_parts and self.skin is None and not meshed

    def _take_shapes(self, meshes: bool) -> None:
        nodes = self.linkage.nodes
        shown = [(i, visual) for i, node in enumerate(nodes) for visual in node.visuals if visual.role == "visual"]
        shown = [(i, visual) for i, visual in shown if meshes or not isinstance(visual.shape, Meshed)]
        colors = [LINKS[self.depth[i] % len(LINKS)] if visual.color is None else visual.color for i, visual in shown]
        colors = [MARKED if nodes[i].name in self.marked else own for (i, _), own in zip(shown, colors, strict=True)]
        matrices = [nodes[i].matrix @ visual.placement for i, visual in shown]
        every = zip(shown, matrices, colors, strict=True)
        for part, surface in self._surfaces([Part(i, at, visual.shape, color) for (i, visual), at, color in every]):
            self.bare[part.link] = False
            if surface is None:
                self.parts.append(part)
            else:
                self.mesh_parts.append((part, surface))
        if meshes:
            self._take_skin()

    def _surfaces(self, parts: Sequence[Part]) -> Iterator[tuple[Part, Facets | None]]:
        """Yield the drawable parts, with surfaces of meshes; record meshes that cannot be read."""
        detail = detail_of(sum(isinstance(part.shape, Meshed) for part in parts))
        for part in parts:
            if not isinstance(part.shape, Meshed):
                yield part, None
            elif (surface := mesh_surface(part.shape, detail)) is not None:
                yield part, surface
            else:
                self.meshes.append(getattr(part.shape, "path", part.shape.kind))

    def _take_world(self, world: World) -> None:
        """Add the obstacles. Marked ones are drawn like the linkage, so that others do not hide them."""
        parts = list(obstacle_parts(self.linkage, world, self.marked))
        reach = self.extent(self.linkage.neutral()[None]).size
        found = list(self._surfaces([part for part in parts if not isinstance(part.shape, HalfSpace)]))
        walls = [part for part in parts if isinstance(part.shape, HalfSpace) and not is_floor(part)]
        found += [(part, plane(part, reach)) for part in walls]
        for part, surface in found:
            if part.color != MARKED:
                self.obstacles.append((part, surface))
            elif surface is None:
                self.parts.append(part)
            else:
                self.mesh_parts.append((part, surface))

    def _take_skin(self) -> None:
        """Add the skin of the linkage's file, if any; bones are then hidden."""
        origin = self.linkage.origin
        try:
            self.skin = skin_of(self.linkage)
        except (FormatError, MissingExtraError) as error:
            _LOG.warning("%s is drawn as bones: %s", self.linkage.name, error)
        if self.skin is not None:
            self.bare[:] = False
        elif origin is not None and origin.has_meshes:
            self.meshes.append(str(origin.file))

    def _skeleton(self) -> tuple[Points, Points]:
        """Return the bones of bare links, and the rails of prismatic joints next to them."""
        linkage, origin = self.linkage, np.zeros(3)
        bones: list[tuple[int, int, FloatArray, FloatArray]] = []
        rails: list[tuple[int, int, FloatArray, FloatArray]] = []
        for child, (parent, joint) in enumerate(zip(linkage.parents, linkage.arcs, strict=True)):
            if parent < 0:
                continue
            end = joint.placement[:3, 3]
            if self._is_stake(child):
                self._carriers.update(self._way_to(parent))
            elif self.bare[parent] and end.any():
                bones.append((parent, parent, origin, end))
            if joint.articulation.kind in ("prismatic", "screw") and (self.bare[parent] or self.bare[child]):
                rails.append((parent, child, end, origin))
        for extra in linkage.extra_frames:
            i = linkage.link_index(extra.link)
            if self.bare[i] and extra.placement[:3, 3].any():
                bones.append((i, i, origin, extra.placement[:3, 3]))
        return _segments(bones), _segments(rails)

    def _is_stake(self, child: int) -> bool:
        """Return whether a bone would connect a free link to a fixed one, such as a character's hips to the floor.

        This is true of floating joints, and of the ball joint above all limbs of a character if the link above it only
        moves the character about.
        """
        kind, above, limbs = self._kind(child), self.linkage.parents[child], self.linkage.children
        if kind == "floating":  # if every joint of a file floats, only the first one is not a bone
            return all(self._kind(k) == "fixed" for k in self._way_to(above))
        if kind != "ball" or len(limbs[child]) < 2:
            return False
        alone = all(not limbs[other] for other in limbs[above] if other != child)
        return alone and all(self._kind(k) in ("fixed", "floating") for k in self._way_to(above))

    def _kind(self, link: int) -> str:
        """Return the kind of the joint above a link."""
        return self.linkage.arcs[link].articulation.kind

    def _way_to(self, link: int) -> Iterator[int]:
        """Yield a link and all of its ancestors."""
        while link >= 0:
            yield link
            link = self.linkage.parents[link]

    def frames(self, q: FloatArray) -> FloatArray:
        """Return world_from_frame of all frames, links first, the world last if it is drawn, (..., frames, 4, 4)."""
        found = self.linkage.forward(q).array
        if self.world is None:
            return found
        return np.concatenate([found, np.broadcast_to(np.eye(4), (*found.shape[:-3], 1, 4, 4))], axis=-3)

    def extent(self, poses: FloatArray, *more: FloatArray | None, camera: FloatArray | None = None) -> Extent:
        """Return the extent of poses (n, nq), together with further points (..., 3).

        For a moving camera, give its position at each pose, shape (n, 3); the extent is then relative to it.
        """
        cloud, way = self._cloud(), np.zeros((len(poses), 3)) if camera is None else camera
        step = max(1, CHUNK // len(cloud.owners))
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for k in range(0, len(poses), step):
            points = cloud.at(seen_from(self.frames(poses[k : k + step]), way[k : k + step])).reshape(-1, 3)
            low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
        count = max(1, min(len(poses), 40, step))
        some = np.linspace(0, len(poses) - 1, count).round().astype(np.int64)
        others = [points.reshape(-1, 3) for points in more if points is not None]
        points = np.concatenate([cloud.at(seen_from(self.frames(poses[some]), way[some])).reshape(-1, 3), *others])
        return Extent(np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0)), points)

    def _cloud(self) -> Points:
        """Return the points whose bounding box is the drawing's: frame origins, bone ends and coarse surfaces."""
        frames = [k for k in range(len(self.linkage.frames)) if k not in self._carriers]
        groups = [origins(frames if self.skin is None else []), self.bones, self.rails]
        more = [*self.obstacles, *self.veils]
        solids = [*self.parts, *(part for part, surface in more if surface is None)]
        groups += [points for _, points in self._corners(solids, sides=8)]
        meshes = [*self.mesh_parts, *((part, surface) for part, surface in more if surface is not None)]
        groups += [part.points(outermost(surface.corners)) for part, surface in meshes]
        groups += [] if self.skin is None else [self._skin_points(self.skin)]
        return joined_points(groups)

    def _skin_points(self, skin: Skin) -> Points:
        """Return outer vertices of the skin, each attached only to the link with its largest weight."""
        groups = []
        for bone, (link, bind) in enumerate(zip(skin.links, skin.binds, strict=True)):
            own = skin.corners[(skin.bones[:, 0] == bone) & (skin.weights[:, 0] > 0.0)]
            if len(own):
                part = Part(self.linkage.link_index(link), bind, Sphere(1.0), INK)
                groups.append(part.points(outermost(own)))
        return joined_points(groups)

    def _corners(self, parts: list[Part], *, sides: int) -> Iterator[tuple[Part, Points]]:
        """Yield each part with the distinct corners of its surface."""
        known: dict[Shape, FloatArray] = {}
        for part in parts:
            if part.shape not in known:
                known[part.shape] = _distinct_corners(part.shape, sides)
            yield part, part.points(known[part.shape])

    def outlines_of(self, parts: list[Part]) -> list[tuple[Part, Points]]:
        """Return the solids among some parts, lowest first, and their outlines seen from above.

        Links turn about z only, so the points on an outline are the same in every pose.
        """
        frames = self.frames(self.linkage.neutral())
        found = []
        for part, corners in self._corners(parts, sides=48 if len(parts) <= FEW_SIDES[-1][0] else 12):
            if not isinstance(part.shape, Polyline):
                world = corners.at(frames)
                hull = surfaces.outline(world[:, :2])
                found.append((float(world[:, 2].mean()), part, Points(corners.owners[hull], corners.local[hull])))
        return [(part, outline) for _, part, outline in sorted(found, key=lambda entry: entry[0])]

    def wires(self) -> list[tuple[Part, Points]]:
        """Return the polylines, closed ones with their first point repeated."""
        return [(p, p.points(surfaces.path(p.shape))) for p in self.parts if isinstance(p.shape, Polyline)]

    def casting(self) -> list[Points]:
        """Return the corners of every solid part, coarsely, for its shadow."""
        return [points for part, points in self._corners(self.parts, sides=8) if not isinstance(part.shape, Polyline)]

    @property
    def many(self) -> bool:
        """Whether there are too many bones to draw each as a solid."""
        return len(self.bones.owners) + len(self.rails.owners) > MANY_SOLIDS

    def solids(self, scale: float, *, fine: bool = True) -> Solids:
        """Return everything as faces for a scene of a given size [m]: shapes, joints and bones.

        If there are very many bones, they and their joints are left out, and drawn as lines and markers.
        """
        parts = self.parts if self.many else [*self.parts, *self.joint_parts(scale)]
        grain = (0.035 if fine else 0.07) * scale if len(self.parts) <= MANY_SOLIDS else np.inf
        sides = next((sides for most, sides in FEW_SIDES if len(self.parts) <= most), 6)
        sides = sides if fine else min(sides, 20)
        known: dict[Shape, FloatArray] = {}
        pieces: list[tuple[FloatArray, int, tuple[float, float, float]]] = []
        for part in parts:
            if part.shape not in known:
                known[part.shape] = surfaces.surface(part.shape, sides=sides, grain=grain, thickness=0.0035 * scale)
            pieces.append((part.placed(known[part.shape]), part.link, part.color))
        if not self.many:
            pieces += [(surfaces.spindle(a, b, radius), link, BONE) for link, a, b, radius in self.rods(scale)]
        faces = np.concatenate([surfaces.NO_FACES, *(piece for piece, _, _ in pieces)])
        counts = [len(piece) for piece, _, _ in pieces]
        owners = np.repeat(np.array([link for _, link, _ in pieces], dtype=np.int64), counts)
        colors = np.repeat(np.array([color for _, _, color in pieces]).reshape(-1, 3), counts, axis=0)
        groups = np.repeat(np.arange(len(pieces)), counts)
        sag = 1.5 * (1.0 - math.cos(math.pi / sides))
        return Solids(faces, owners, colors, surfaces.normals(faces), parts, groups, sag)

    def rods(self, scale: float) -> Iterator[tuple[int, FloatArray, FloatArray, float]]:
        """Yield every bone: its link, both ends there, and a radius that suits a scene of a given size [m]."""
        for (link, _), (start, end) in zip(self.bones.owners.tolist(), self.bones.local, strict=True):
            yield link, start, end, min(0.013 * scale, 0.11 * float(np.linalg.norm(end - start)))

    def joint_parts(self, scale: float) -> Iterator[Part]:
        """Yield a ball for every round joint next to a bare link, a cube for every prismatic one."""
        edge = 0.026 * scale
        ball, cube = Sphere(edge / 2.0), Box((edge, edge, edge))
        for points, shape in ((self.round_joints, ball), (self.prismatic_joints, cube)):
            for i in points.owners.tolist():
                if self.bare[i] or self.bare[max(self.linkage.parents[i], 0)]:
                    yield Part(i, np.eye(4), shape, JOINT)


def is_flat(linkage: Linkage) -> bool:
    """Return whether all moving parts stay in one plane parallel to xy, in every pose.

    This holds if every rotation is about z, every translation is perpendicular to z, and the heights of moving frames
    and shapes differ by less than a tenth of the mechanism's reach, so that links may overlap.

    Example:
        >>> import linkwork as lw
        >>> is_flat(lw.models.planar([2, 1]))
        True
        >>> is_flat(lw.Builder("door").revolute("hinge", "leaf", axis="x").build())
        False
    """
    check_linkage(linkage)
    frames = linkage.forward(linkage.neutral()).array
    moving = np.zeros(len(linkage.nodes), dtype=np.bool_)
    reach = 0.0
    for i, (parent, joint) in enumerate(zip(linkage.parents, linkage.arcs, strict=True)):
        above = frames[parent, :3, :3] if parent >= 0 else np.eye(3)
        for element in joint.articulation.elements:
            upright = abs(float(above[2] @ joint.placement[:3, :3] @ element.axis))
            slides = element.kind == "prismatic" and upright < 1e-9
            turns = element.kind in ("revolute", "screw") and element.advance == 0.0 and upright > 1.0 - 1e-9
            if not (slides or turns):
                return False
        inherited = parent >= 0 and bool(moving[parent])
        moving[i] = inherited or bool(joint.articulation.elements)
        if inherited:
            reach += float(np.linalg.norm((above @ joint.placement[:3, 3])[:2]))
    points = _heights(linkage, moving if moving.any() else ~moving)
    lifted = points.at(frames)
    reach += float(np.linalg.norm(lifted[:, :2] - frames[points.owners, :2, 3], axis=1).sum())
    return bool(np.ptp(lifted[:, 2]) <= 0.1 * reach + 1e-12)


def _heights(linkage: Linkage, moving: BoolArray) -> Points:
    """Return the frames and the centres of shapes of links that move."""
    found = [origins(np.flatnonzero(moving).tolist())]
    for i in found[0].owners.tolist():
        for visual in linkage.nodes[i].visuals:
            centres = np.array(visual.shape.points) if isinstance(visual.shape, Polyline) else np.zeros((1, 3))
            found.append(Part(i, linkage.nodes[i].matrix @ visual.placement, visual.shape, INK).points(centres))
    extras = [(linkage.link_index(extra.link), extra.placement[:3, 3]) for extra in linkage.extra_frames]
    found += [Points(np.array([i]), place[None]) for i, place in extras if moving[i]]
    return joined_points(found)


def seen_from(frames: FloatArray, camera: FloatArray) -> FloatArray:
    """Return world_from_frame (..., frames, 4, 4) relative to the displacement of the camera (..., 3)."""
    if not camera.any():
        return frames
    moved: FloatArray = frames.copy()
    moved[..., :3, 3] -= camera[..., None, :]
    return moved


def _segments(items: list[tuple[int, int, FloatArray, FloatArray]]) -> Points:
    owners = np.array([item[:2] for item in items], dtype=np.int64).reshape(-1, 2)
    return Points(owners, np.array([item[2:] for item in items], dtype=np.float64).reshape(-1, 2, 3))


def _distinct_corners(shape: Shape, sides: int) -> FloatArray:
    if isinstance(shape, Polyline):
        return np.array(shape.points)
    faces = surfaces.surface(shape, sides=sides, grain=np.inf, thickness=0.0)
    # Unlike np.unique, this does not import numpy.ma.
    return np.array(sorted({tuple(corner) for corner in faces.reshape(-1, 3).round(12).tolist()}))


def outermost(points: FloatArray, fine: int = 3) -> FloatArray:
    """Return those of many points (n, 3) that lie furthest in one of many directions.

    Args:
        points: The points.
        fine: Number of directions along each edge of a cube.
    """
    steps = np.linspace(-1.0, 1.0, fine)
    directions = np.array(np.meshgrid(steps, steps, steps)).reshape(3, -1)
    furthest = {int((points @ direction).argmax()) for direction in directions.T}  # one at a time, to limit memory
    return np.asarray(points[sorted(furthest)])


def nice_step(least: float) -> float:
    """Return the smallest 1, 2 or 5 times a power of ten that is at least a given value.

    Example:
        >>> [nice_step(x) for x in (0.13, 3.0, 7.0)]
        [0.2, 5.0, 10.0]
    """
    power = 10.0 ** math.floor(math.log10(least))
    return float(next((k * power for k in (1.0, 2.0, 5.0) if k * power >= least * (1.0 - 1e-9)), 10.0 * power))
