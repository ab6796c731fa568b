"""Geometry of a planar mechanism in textbook style: pins, bars, plates, blocks in guides, hatched ground.

It is computed from joints, loops and frames; shapes are used only for the outlines of gears and cams. Every piece
belongs to a body and is given in a first pose; in other poses it moves with the body.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..errors import OptionError
from ..linkage.geometry import Polyline
from ..linkage.joints import Joint
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .symbols import anchor, block, collinear, guides, hull

WORLD = -1  # index of the fixed body
PARALLEL = 1e-6  # tolerance of parallel and of perpendicular axes
SAME = 1e-7  # points of a body closer than this, over the mechanism's size, coincide
LARGE, SMALL, SHORT = 0.021, 0.007, 0.17  # unit of symbols: bounds over the picture, bound over the shortest bar
ENDLESS = 4.0  # limits further apart, over the mechanism's size, are not drawn as the travel of a slider
REST = 2.4  # length of a guide beyond its block, in units


@dataclass(eq=False)
class Node:
    """A point where bodies are pinned together, or a frame of one.

    Attributes:
        places: Its position on each body, in the first pose (2,).
        kind: ``"pin"``, ``"weld"`` (of a loop of kind "full"), or ``"point"`` (of a frame).
        names: Names of the joints, loops and frames there.
    """

    places: dict[int, FloatArray]
    kind: str
    names: list[str]

    @property
    def grounded(self) -> bool:
        """Whether it is a fixed pivot."""
        return WORLD in self.places and self.kind == "pin"


@dataclass(frozen=True, eq=False)
class Piece:
    """A line, an area or a circle that moves with a body.

    Attributes:
        body: The body.
        points: Points in the first pose (n, 2); for a circle, its centre.
        layer: ``"ground"``, ``"guides"``, ``"outlines"``, ``"links"``, ``"blocks"``, ``"pins"`` or ``"points"``.
        closed: Whether it is an area.
        radius: Radius of a circle.
    """

    body: int
    points: FloatArray
    layer: str
    closed: bool = False
    radius: float = 0.0


@dataclass(frozen=True, eq=False)
class Slide:
    """A sliding joint in the first pose: position of its child, direction, and travel back and forth."""

    name: str
    parent: int
    child: int
    place: FloatArray
    axis: FloatArray
    travel: tuple[float, float]
    value: float


@dataclass(eq=False)
class Scheme:
    """A planar mechanism in its plane.

    Args:
        linkage: The linkage.
        poses: The poses to draw, shape (n, nq); pieces are given in the first one.
        points: Frames to show as points of their bodies.

    Attributes:
        plane: The directions to the right and up on the page, shape (2, 3).
        bodies: The body of each link: links that are fixed to each other form one body; `WORLD` is the ground.
        nodes: Pins and points.
        slides: Joints that slide.
        pieces: All pieces.
        unit: The size of symbols [m].
    """

    linkage: Linkage
    poses: FloatArray
    points: tuple[str, ...] = ()
    plane: FloatArray = field(init=False)
    bodies: list[int] = field(init=False)
    nodes: list[Node] = field(init=False, default_factory=list)
    slides: list[Slide] = field(init=False, default_factory=list)
    pieces: list[Piece] = field(init=False)
    unit: float = field(init=False)

    def __post_init__(self) -> None:
        self.plane = plane_of(self.linkage)
        self._first = self.linkage.forward(self.poses[0]).array
        self.bodies = []
        for i, (parent, joint) in enumerate(zip(self.linkage.parents, self.linkage.arcs, strict=True)):
            above = self.bodies[parent] if parent >= 0 else WORLD
            self.bodies.append(i if joint.articulation.elements else above)
        self._same = SAME * float(np.linalg.norm(np.ptp(self._places(), axis=0)))
        self._find_nodes()
        self._find_slides()
        self.unit = self._unit()
        self.pieces = self._pieces()
        if not self.pieces:
            text = f"linkage {self.linkage.name!r} has no joint that turns or slides, no loop and no frame"
            raise OptionError(f"{text}; there is nothing to draw.")

    # Positions of bodies

    def displaced(self, points: FloatArray, body: int, q: FloatArray) -> FloatArray:
        """Return the positions in another pose of points (n, 2) of a body in the first pose."""
        turn, shift = self.displacement(body, q)
        moved: FloatArray = points @ turn.T + shift
        return moved

    def displacement(self, body: int, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the rotation (2, 2) and translation (2,) of a body since the first pose."""
        if body == WORLD:
            return np.eye(2), np.zeros(2)
        now = self.linkage.forward(q, frame=self.linkage.links[body])
        moved = now @ np.linalg.inv(self._first[body])
        return self.plane @ moved[:3, :3] @ self.plane.T, self.plane @ moved[:3, 3]

    def path(self, frame: str) -> FloatArray:
        """Return the path of a frame on the page (n, 2)."""
        way: FloatArray = self.linkage.forward(self.poses, frame=frame)[:, :3, 3] @ self.plane.T
        return way

    def at(self, node: Node, q: FloatArray) -> FloatArray:
        """Return the position of a node (2,)."""
        body = min(node.places)
        place: FloatArray = self.displaced(node.places[body][None], body, q)[0]
        return place

    def extent(self, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lower left and the upper right corner of all pieces in poses (n, nq)."""
        low, high = np.full(2, np.inf), np.full(2, -np.inf)
        some = poses[np.unique(np.linspace(0, len(poses) - 1, 60).round().astype(int))]
        for body in {piece.body for piece in self.pieces}:
            own = [piece for piece in self.pieces if piece.body == body]
            corners = np.concatenate([p.points + s * p.radius for p in own for s in (-1.0, 1.0)])
            for q in some[:1] if body == WORLD else some:
                there = self.displaced(corners, body, q)
                low, high = np.minimum(low, there.min(axis=0)), np.maximum(high, there.max(axis=0))
        return low, high

    def _places(self) -> FloatArray:
        """Return the positions of all links and frames in the first pose (n, 2)."""
        flat: FloatArray = self._first[:, :3, 3] @ self.plane.T
        return flat

    # Nodes, slides and pieces

    def _body_of(self, frame: str) -> int:
        at = self.linkage.frame_index(frame)
        extra = at - len(self.linkage.links)
        return self.bodies[at if extra < 0 else self.linkage.link_index(self.linkage.extra_frames[extra].link)]

    def _find_nodes(self) -> None:
        places = self._places()
        looped: set[str] = set()
        for i, joint in enumerate(self.linkage.arcs):
            if _is(joint, "revolute"):
                self._add({self._above(i): places[i], self.bodies[i]: places[i]}, "pin", joint.name)
        for loop in self.linkage.loops:
            ends = (loop.first, loop.second)
            looped.update(ends)
            own = {self._body_of(end): places[self.linkage.frame_index(end)] for end in ends}
            self._add(own, "weld" if loop.kind == "full" else "pin", loop.name)
        shown = self.points or tuple(frame.name for frame in self.linkage.extra_frames if frame.name not in looped)
        for name in shown:
            self._add({self._body_of(name): places[self.linkage.frame_index(name)]}, "point", name)

    def _above(self, i: int) -> int:
        parent = self.linkage.parents[i]
        return self.bodies[parent] if parent >= 0 else WORLD

    def _add(self, places: dict[int, FloatArray], kind: str, name: str) -> None:
        """Add a node, merged with existing ones at the same point of a body."""
        node = Node(dict(places), kind, [name])
        for other in self.nodes[:]:
            shared = node.places.keys() & other.places.keys()
            if any(np.linalg.norm(node.places[b] - other.places[b]) <= self._same for b in shared):
                self.nodes.remove(other)
                kinds = {node.kind, other.kind}
                best = next(k for k in ("pin", "weld", "point") if k in kinds)
                node = Node(other.places | node.places, best, [*other.names, *node.names])
        self.nodes.append(node)

    def _find_slides(self) -> None:
        places = self._places()
        for i, joint in enumerate(self.linkage.arcs):
            if not _is(joint, "prismatic"):
                continue
            base = self._first[self.linkage.parents[i], :3, :3] if self.linkage.parents[i] >= 0 else np.eye(3)
            axis = self.plane @ base @ joint.placement[:3, :3] @ joint.articulation.elements[0].axis
            values = self.linkage.drive(joint.name).values(self.poses)[:, 0]
            low, high = float(values.min()), float(values.max())
            least, most = (float(limit[0]) for limit in joint.articulation.limits)
            if low == high and most - least < ENDLESS * float(np.linalg.norm(np.ptp(places, axis=0))):
                low, high = min(low, least), max(high, most)
            first = float(values[0])
            travel = (low - first, high - first)
            self.slides.append(Slide(joint.name, self._above(i), self.bodies[i], places[i], axis, travel, first))

    def corners(self, body: int) -> FloatArray:
        """Return the places of a body's nodes, and of its guides, in the first pose (n, 2)."""
        own = [node.places[body] for node in self.nodes if body in node.places]
        own += [slide.place for slide in self.slides if body == slide.child]
        return np.array(own).reshape(-1, 2)

    def bars(self) -> list[tuple[int, FloatArray]]:
        """Return the bodies that move, in order, with their outlines (n, 2): two ends of a bar, corners of a plate."""
        found = []
        for body in dict.fromkeys(self.bodies):
            corners = self.corners(body)
            if body == WORLD or len(corners) < 2 or np.ptp(corners, axis=0).max() <= self._same:
                continue
            found.append((body, collinear(corners, self._same) if len(corners) < 3 else hull(corners, self._same)))
        return found

    def _unit(self) -> float:
        ends = [self.at(node, q) for node in self.nodes for q in self.poses[:: max(1, len(self.poses) // 12)]]
        ends += [s.place + t * s.axis for s in self.slides for t in s.travel]
        whole = float(np.linalg.norm(np.ptp(np.array(ends), axis=0))) if ends else 0.0
        lengths = [float(np.linalg.norm(c[1] - c[0])) for _, c in self.bars()]
        shortest = min(lengths, default=whole)
        return max(SMALL * whole, min(LARGE * whole, SHORT * shortest)) or 1.0

    def _pieces(self) -> list[Piece]:
        u, found = self.unit, self._outlines()
        for slide in self.slides:
            found += self._slide_pieces(slide)
        found += [Piece(body, outline, "links", closed=len(outline) > 2) for body, outline in self.bars()]
        for node in self.nodes:
            body = min(node.places)
            if node.grounded:
                found += [Piece(WORLD, p, "ground", closed=k == 0) for k, p in enumerate(anchor(node.places[WORLD], u))]
            if node.kind == "point":
                found.append(Piece(body, node.places[body][None], "points", radius=0.45 * u))
            elif node.kind == "pin":
                found.append(Piece(body, node.places[body][None], "pins", radius=0.62 * u))
        return found

    def _outlines(self) -> list[Piece]:
        """Return the closed outlines of links with gears and cams, and of a ring gear on the ground."""
        coupled = {row.q for row in self.linkage.coupling_rows}
        coupled |= {int(place) for row in self.linkage.coupling_rows for place in row.values}
        pairs = list(zip(self.linkage.arcs, self.linkage.drives, strict=True))
        coupled |= {drive.q for arc, drive in pairs if arc.mimic is not None}
        found = []
        for i, (arc, drive) in enumerate(pairs):
            moves = bool(arc.articulation.nq) and drive.q in coupled
            if not moves and not (i == 0 and coupled and not self.linkage.loops):
                continue
            for visual in self.linkage.nodes[i].visuals:
                if isinstance(visual.shape, Polyline) and visual.shape.closed:
                    line = np.array([*visual.shape.points, visual.shape.points[0]])
                    place = self._first[i] @ self.linkage.nodes[i].matrix @ visual.placement
                    flat = (line @ place[:3, :3].T + place[:3, 3]) @ self.plane.T
                    found.append(Piece(self.bodies[i], flat, "outlines"))
        return found

    def _slide_pieces(self, slide: Slide) -> list[Piece]:
        """Return a block with its guide: hatched ground along it, or a rod of a moving link through it."""
        u = self.unit
        low, high = slide.travel
        ends = np.stack([slide.place + (low - REST * u) * slide.axis, slide.place + (high + REST * u) * slide.axis])
        if slide.parent == WORLD:
            lines = guides(ends, slide.axis, u)
            found = [Piece(WORLD, line, "guides") for line in lines]
            return [*found, Piece(slide.child, block(slide.place, slide.axis, u), "blocks", closed=True)]
        held = [n.places[slide.parent] for n in self.nodes if slide.parent in n.places]
        zero = slide.place - slide.value * slide.axis
        near = [p for p in held if np.linalg.norm(p - zero) <= self._same]
        own = [n.places[slide.child] for n in self.nodes if slide.child in n.places]
        # If the child is the rod, the block is fixed to the parent.
        if near and not any(np.linalg.norm(p - slide.place) <= self._same for p in own):
            return [Piece(slide.parent, block(near[0], slide.axis, u), "blocks", closed=True)]
        rod = Piece(slide.parent, np.stack([ends[0], ends[1]]), "links")
        return [rod, Piece(slide.child, block(slide.place, slide.axis, u), "blocks", closed=True)]


def _is(joint: Joint, kind: str) -> bool:
    """Return whether a joint consists of a single element of a kind."""
    elements = joint.articulation.elements
    return len(elements) == 1 and elements[0].kind == kind


def plane_of(linkage: Linkage) -> FloatArray:
    """Return the directions to the right and up, shape (2, 3), of the plane that a linkage moves in.

    The plane of x and y is seen from above, one of x and z from the front, one of y and z from the right.

    Raises:
        OptionError: If it does not move in one plane; the message names a joint that leaves it.

    Example:
        >>> import linkwork as lw
        >>> plane_of(lw.models.engine()).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    frames = linkage.forward(linkage.neutral()).array
    turns, slides = [], []
    for parent, joint in zip(linkage.parents, linkage.arcs, strict=True):
        base = frames[parent, :3, :3] if parent >= 0 else np.eye(3)
        for element in joint.articulation.elements:
            axis = base @ joint.placement[:3, :3] @ element.axis
            if element.kind == "prismatic":
                slides.append((joint, axis))
            elif element.kind == "revolute":
                turns.append((joint, axis))
            else:
                raise _not_planar(linkage, joint, f"a {joint.articulation.kind} joint moves in space")
    if turns:
        normal = turns[0][1]
    elif len(slides) > 1 and np.linalg.norm(np.cross(slides[0][1], slides[1][1])) > PARALLEL:
        normal = np.cross(slides[0][1], slides[1][1])
    else:  # all slides are parallel: any plane that contains them
        normal = np.array([0.0, -1.0, 0.0]) if slides and abs(slides[0][1][1]) < 0.5 else np.array([1.0, 0.0, 0.0])
        normal = normal - (normal @ slides[0][1]) * slides[0][1] if slides else np.array([0.0, 0.0, 1.0])
    normal = normal / np.linalg.norm(normal)
    for joint, axis in turns:
        if np.linalg.norm(np.cross(axis, normal)) > PARALLEL:
            first = turns[0][0]
            other = (
                "its axes are not parallel" if joint is first else f"its axis is not parallel to that of {first.name!r}"
            )
            raise _not_planar(linkage, joint, other)
    for joint, axis in slides:
        if abs(axis @ normal) > PARALLEL:
            raise _not_planar(linkage, joint, "it slides out of the plane")
    return _looked_at(normal)


def _not_planar(linkage: Linkage, joint: Joint, why: str) -> OptionError:
    text = f"linkage {linkage.name!r} is not planar: at joint {joint.name!r}, {why}"
    return OptionError(f"{text}; lw.draw.pose draws it in space.")


def _looked_at(normal: FloatArray) -> FloatArray:
    """Return the directions right and up in a plane, with z up in a vertical one."""
    side = int(np.abs(normal).argmax())
    eye = normal * np.sign(normal[side]) * (-1.0 if side == 1 else 1.0)
    up = np.array([0.0, 1.0, 0.0]) if side == 2 else np.array([0.0, 0.0, 1.0])
    up = up - (up @ eye) * eye
    up /= np.linalg.norm(up)
    return np.stack([np.cross(up, eye), up]) + 0.0
