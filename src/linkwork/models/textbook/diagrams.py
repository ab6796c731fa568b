"""What a diagram of the chapter is made of: a linkage at a pose and marks on it, a tree, a listing, formulas.

Marks are given in world coordinates, in metres and radians; `linkwork.draw` draws them. Labels are
written in mathtext, between dollar signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...linkage.linkage import Linkage
from ...transforms import FloatArray, as_vector

Z = (0.0, 0.0, 1.0)


def point(place: ArrayLike) -> FloatArray:
    """Return a point in space (3,) from one in space or in the plane."""
    values = np.asarray(place, dtype=np.float64)
    return as_vector(np.append(values, 0.0) if values.shape == (2,) else values, "a point")


@dataclass(frozen=True, eq=False)
class Mark:
    """A mark that is written or drawn over a linkage. `role` selects its colour."""

    kind: ClassVar[str] = ""

    def points(self) -> FloatArray:
        """Return the points (n, 3) that a picture must contain."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """Return the mark as plain numbers, for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {
            name: np.asarray(value).tolist() if isinstance(value, np.ndarray | tuple) else value
            for name, value in values.items()
        }
        return {"kind": self.kind} | plain


@dataclass(frozen=True, eq=False)
class Angle(Mark):
    """An arc about an axis: from a direction, by an angle.

    Attributes:
        center: A point on the axis, shape (3,).
        start: Unit vector (3,) where the arc begins.
        angle: Its signed angle [rad].
        radius: Radius of the arc [m].
        label: Label of the angle.
        axis: Unit vector (3,).
        arrow: Whether it ends in an arrow head.
        role: Its colour.
    """

    center: FloatArray
    start: FloatArray
    angle: float
    radius: float
    label: str = ""
    axis: FloatArray | tuple[float, ...] = Z
    arrow: bool = True
    role: str = "angle"
    kind: ClassVar[str] = "angle"

    def points(self) -> FloatArray:
        """Return the arc, finely sampled."""
        turns = np.linspace(0.0, self.angle, max(8, round(abs(self.angle) * 24.0)))[:, None]
        axis = np.asarray(self.axis)
        across = np.cross(axis, self.start)
        along = axis * float(axis @ self.start)
        flat = self.start - along
        return np.asarray(self.center + self.radius * (np.cos(turns) * flat + np.sin(turns) * across + along))


@dataclass(frozen=True, eq=False)
class Arrow(Mark):
    """A vector, with its start and its drawn length.

    Attributes:
        tail: Its start, shape (3,).
        vector: The vector, shape (3,).
        label: Its name.
        role: Its colour.
        scale: Drawn length for a vector of length one.
        aside: Shift of the drawing across the vector [points of the page], for vectors that lie on each other.
        dashed: Whether it is a displacement between two points rather than a change.
    """

    tail: FloatArray
    vector: FloatArray
    label: str = ""
    role: str = "ink"
    scale: float = 1.0
    aside: float = 0.0
    dashed: bool = False
    kind: ClassVar[str] = "arrow"

    def points(self) -> FloatArray:
        """Return both ends as drawn."""
        return np.stack([self.tail, self.tail + self.scale * self.vector])


@dataclass(frozen=True, eq=False)
class Length(Mark):
    """A dimension: a length drawn beside the part it measures.

    Attributes:
        start: One end, shape (3,).
        end: The other end.
        label: Its name.
        line: Whether to draw a dashed line between the ends.
        role: Its colour.
    """

    start: FloatArray
    end: FloatArray
    label: str
    line: bool = False
    role: str = "ink"
    kind: ClassVar[str] = "length"

    @property
    def length(self) -> float:
        """The length [m]."""
        return float(np.linalg.norm(self.end - self.start))

    def points(self) -> FloatArray:
        """Return both ends."""
        return np.stack([self.start, self.end])

    def as_dict(self) -> dict[str, Any]:
        """Return the mark as plain numbers, for JSON."""
        return super().as_dict() | {"length": self.length}


@dataclass(frozen=True, eq=False)
class Spot(Mark):
    """A labelled point.

    Attributes:
        place: Its position, shape (3,).
        label: Its name.
        look: ``"goal"`` (a cross), ``"dot"``, ``"axis"`` (an axis that comes out of the page), ``"inside"`` (the name
            is at the point), ``"leader"`` (a line leads to the name) or ``"none"``.
        role: Its colour.
    """

    place: FloatArray
    label: str
    look: str = "dot"
    role: str = "ink"
    kind: ClassVar[str] = "spot"

    def points(self) -> FloatArray:
        """Return the place."""
        return self.place[None]


@dataclass(frozen=True, eq=False)
class Axes(Mark):
    """The axes of a frame, as short arrows.

    Attributes:
        matrix: world_from_frame, shape (4, 4).
        size: Length of the arrows [m].
        label: Name of the frame.
        count: Number of axes: 2 in the plane, else 3.
    """

    matrix: FloatArray
    size: float
    label: str = ""
    count: int = 2
    kind: ClassVar[str] = "axes"

    def points(self) -> FloatArray:
        """Return the origin and the ends of the arrows."""
        origin = self.matrix[:3, 3]
        return np.concatenate([origin[None], origin + self.size * self.matrix[:3, : self.count].T])


@dataclass(frozen=True, eq=False)
class RightAngle(Mark):
    """The symbol of a right angle.

    Attributes:
        corner: Its corner, shape (3,).
        first: Unit vector (3,) along one side.
        second: Unit vector (3,) along the other.
        size: Length of its sides [m].
    """

    corner: FloatArray
    first: FloatArray
    second: FloatArray
    size: float
    kind: ClassVar[str] = "right angle"

    def points(self) -> FloatArray:
        """Return its three corners."""
        a, b = self.size * self.first, self.size * self.second
        return np.stack([self.corner + a, self.corner + a + b, self.corner + b])


@dataclass(frozen=True, eq=False)
class Ring(Mark):
    """The ring of points that an arm reaches in the plane.

    Attributes:
        center: Centre of both circles, shape (3,).
        least: The inner radius [m].
        most: The outer radius [m].
    """

    center: FloatArray
    least: float
    most: float
    kind: ClassVar[str] = "ring"

    def points(self) -> FloatArray:
        """Return the corners of the square around it."""
        square = np.array([(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
        return np.asarray(self.center + self.most * square)


@dataclass(frozen=True, eq=False)
class Diagram:
    """A linkage at a pose, with marks.

    Attributes:
        title: Its title.
        linkage: The linkage.
        q: The pose, shape (nq,).
        marks: Marks drawn over it.
        ghosts: Poses (n, nq) drawn faintly.
        view: Camera for a linkage in space, elevation and azimuth [deg].
        height: Height of its picture on the page [inch].
        scale: Inches per metre, instead of a height, for planar pictures that are compared.
    """

    title: str
    linkage: Linkage
    q: FloatArray
    marks: tuple[Mark, ...] = ()
    ghosts: tuple[FloatArray, ...] = ()
    view: tuple[float, float] | None = None
    height: float = 3.4
    scale: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the diagram as plain numbers, for JSON."""
        return {
            "kind": "diagram",
            "title": self.title,
            "linkage": self.linkage.name,
            "pose": dict(zip(self.linkage.coordinates, self.q.tolist(), strict=True)),
            "marks": [mark.as_dict() for mark in self.marks],
        }


@dataclass(frozen=True)
class TreeNode:
    """A node of a tree and the arc that leads to it.

    Attributes:
        label: Text in the node.
        parent: Index of the parent node, -1 for the root.
        arc: Lines of text at the arc.
        note: Text beside the node.
        arc_note: Text beside the arc.
        tone: ``"plain"``, ``"now"`` (current node of a traversal), ``"done"`` (visited) or ``"none"`` (no box).
    """

    label: str
    parent: int = -1
    arc: tuple[str, ...] = ()
    note: str = ""
    tone: str = "plain"
    arc_note: str = ""


@dataclass(frozen=True)
class Tree:
    """A hierarchy as a tree: nodes for links, arcs for joints.

    Attributes:
        title: Its title.
        nodes: The nodes, each after its parent; the first is the root.
        root_arc: Whether an arc leads to the root node.
    """

    title: str
    nodes: tuple[TreeNode, ...]
    root_arc: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return the tree as plain data, for JSON."""
        nodes = [{"label": n.label, "parent": n.parent, "arc": list(n.arc), "note": n.note} for n in self.nodes]
        return {"kind": "tree", "title": self.title, "nodes": nodes}


@dataclass(frozen=True)
class Listing:
    """A piece of code, or a table in a monospaced font.

    Attributes:
        title: Its title.
        lines: The lines.
    """

    title: str
    lines: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the listing as plain data, for JSON."""
        return {"kind": "listing", "title": self.title, "lines": list(self.lines)}


@dataclass(frozen=True)
class Stack:
    """A stack at one moment: its entries, newest on top, and the current matrix.

    Attributes:
        title: The moment.
        entries: Entries of the stack, from the bottom.
        current: The current matrix.
        tree: The tree, with the current node of the traversal.
    """

    title: str
    entries: tuple[str, ...]
    current: str
    tree: Tree

    def as_dict(self) -> dict[str, Any]:
        """Return the stack as plain data, for JSON."""
        return {"kind": "stack", "title": self.title, "entries": list(self.entries), "current": self.current}


@dataclass(frozen=True)
class Formulas:
    """Lines of mathtext and plain text.

    Attributes:
        title: Their title.
        lines: The lines; one without dollar signs is plain text, an empty one is a gap.
    """

    title: str
    lines: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the formulas as plain data, for JSON."""
        return {"kind": "formulas", "title": self.title, "lines": list(self.lines)}


Plate = Diagram | Tree | Listing | Stack | Formulas


def hierarchy(
    linkage: Linkage,
    labels: Sequence[str] | None = None,
    arcs: Sequence[Sequence[str]] | None = None,
    notes: Sequence[str] = (),
    *,
    title: str = "",
) -> Tree:
    """Return the tree of a linkage: its links as nodes, its joints as arcs.

    Args:
        linkage: The linkage.
        labels: Text at the nodes; the names of the links by default.
        arcs: Lines of text at the arcs; name and kind of the joint by default.
        notes: Text beside the nodes, if any.
        title: What the tree shows.

    Example:
        >>> from linkwork.models import planar
        >>> [(node.label, node.parent, *node.arc) for node in hierarchy(planar(2)).nodes[1:]]
        [('link1', 0, 'j1', 'revolute'), ('link2', 1, 'j2', 'revolute')]
    """
    names = linkage.links if labels is None else labels
    lines = [(joint.name, joint.articulation.kind) for joint in linkage.arcs] if arcs is None else arcs
    beside = [*notes, *[""] * (len(names) - len(notes))]
    nodes = tuple(
        TreeNode(name, parent, tuple(arc), note)
        for name, parent, arc, note in zip(names, linkage.parents, lines, beside, strict=True)
    )
    return Tree(title, nodes)
