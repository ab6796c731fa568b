"""What a link looks like and how heavy it is: shapes in their own coordinates, shared freely between links.

A shape is data; where it stands is the business of `Visual` and of the link's node
transform, which is used for drawing and never inherited by the links below.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkageError
from ..transforms import (
    IDENTITY,
    FloatArray,
    TransformLike,
    Value,
    as_array,
    as_number,
    as_transform,
    as_vector,
    read_only,
)

SYMMETRY_TOLERANCE = 1e-9


def _positive(value: float, what: str) -> float:
    size = as_number(value, what)
    if size <= 0.0:
        raise LinkageError(f"{what} must be positive, got {size:g}.")
    return size


class Shape:
    """Base of all shapes. `kind` is its name in files."""

    kind: ClassVar[str]


@dataclass(frozen=True)
class Box(Shape):
    """A box centred on the origin.

    Args:
        size: Edge lengths along x, y, z [m].
    """

    size: tuple[float, float, float]
    kind: ClassVar[str] = "box"

    def __post_init__(self) -> None:
        vars(self)["size"] = tuple(_positive(edge, "box size") for edge in as_vector(self.size, "box size").tolist())


@dataclass(frozen=True)
class Sphere(Shape):
    """A sphere centred on the origin."""

    radius: float
    kind: ClassVar[str] = "sphere"

    def __post_init__(self) -> None:
        vars(self)["radius"] = _positive(self.radius, "sphere radius")


@dataclass(frozen=True)
class _Round(Shape):
    radius: float
    length: float

    def __post_init__(self) -> None:
        vars(self).update({name: _positive(size, f"{self.kind} {name}") for name, size in vars(self).items()})


@dataclass(frozen=True)
class Cylinder(_Round):
    """A cylinder along z, centred on the origin."""

    kind: ClassVar[str] = "cylinder"


@dataclass(frozen=True)
class Capsule(_Round):
    """A cylinder along z with a half sphere beyond either end; `length` is without the half spheres."""

    kind: ClassVar[str] = "capsule"


@dataclass(frozen=True)
class Polyline(Shape):
    """Straight segments through points, shape (n, 3) [m]."""

    points: tuple[tuple[float, float, float], ...]
    closed: bool = False
    kind: ClassVar[str] = "polyline"

    def __post_init__(self) -> None:
        points = as_array(self.points, "polyline points")
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 2 or not np.isfinite(points).all():
            raise LinkageError(f"polyline points must be finite, of shape (n >= 2, 3), got shape {points.shape}.")
        vars(self)["points"] = tuple(map(tuple, points.tolist()))


@dataclass(frozen=True)
class Mesh(Shape):
    """A mesh in a file. The file is read when something draws it, not before.

    Args:
        path: Path as written; relative ones are relative to the model's folder.
        scale: Factors along x, y, z.
        file: Where the file was found on this machine, if it was looked for; neither compared nor saved.
    """

    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    file: str | None = field(default=None, compare=False, repr=False)
    kind: ClassVar[str] = "mesh"

    def __post_init__(self) -> None:
        path = os.fspath(self.path) if isinstance(self.path, str | os.PathLike) else None
        if not isinstance(path, str) or not path:
            raise LinkageError(f"a mesh needs the path of its file, got {self.path!r}.")
        file = None if self.file is None else os.fspath(self.file)
        vars(self).update(path=path, scale=tuple(as_vector(self.scale, "mesh scale").tolist()), file=file)


SHAPES: dict[str, type[Shape]] = {cls.kind: cls for cls in (Box, Sphere, Cylinder, Capsule, Polyline, Mesh)}


@dataclass(frozen=True, eq=False, init=False)
class Visual(Value):
    """A shape standing somewhere in a link.

    Args:
        shape: The data, possibly shared with other links.
        placement: link_from_shape, 4x4 or a position.
        color: Red, green, blue from 0 to 1, or None for the drawer's choice.
        role: ``"visual"`` or ``"collision"``.
    """

    shape: Shape
    placement: FloatArray
    color: tuple[float, float, float] | None
    role: str

    def __init__(
        self, shape: Shape, placement: TransformLike = IDENTITY, color: ArrayLike | None = None, role: str = "visual"
    ) -> None:
        if not isinstance(shape, Shape):
            raise LinkageError(f"a visual needs a shape ({', '.join(SHAPES)}), got {shape!r}.")
        if role not in ("visual", "collision"):
            raise LinkageError(f"a visual's role is 'visual' or 'collision', got {role!r}.")
        placed = read_only(as_transform(placement, "visual placement"))
        shown = None if color is None else tuple(as_vector(color, "color").tolist())
        if shown is not None and (min(shown) < 0.0 or max(shown) > 1.0):
            raise LinkageError(f"color components go from 0 to 1, got {list(shown)}.")
        vars(self).update(shape=shape, placement=placed, color=shown, role=role)


@dataclass(frozen=True, eq=False, init=False)
class Inertia(Value):
    """How heavy a link is, and how its mass is spread.

    Args:
        mass: Mass [kg], zero or more.
        center: Where the centre of mass is, in the link's axes [m].
        matrix: Moments about the centre of mass, along the link's axes [kg m²]: symmetric, shape (3, 3).
        known: False where the link weighs something that could not be read, such as a mesh that is not there; the rest
            is then what is known of it, and nothing is balanced with it.
    """

    mass: float
    center: FloatArray
    matrix: FloatArray
    known: bool

    def __init__(
        self,
        mass: float,
        center: ArrayLike = (0.0, 0.0, 0.0),
        matrix: ArrayLike = ((0.0,) * 3,) * 3,
        known: bool = True,
    ) -> None:
        mass = as_number(mass, "mass")
        if mass < 0.0:
            raise LinkageError(f"mass must not be negative, got {mass:g}.")
        matrix = as_array(matrix, "inertia matrix")
        if matrix.shape != (3, 3) or not np.isfinite(matrix).all():
            raise LinkageError(f"an inertia matrix must be finite, of shape (3, 3), got {matrix.tolist()}.")
        if not np.array_equal(matrix, matrix.T):
            skew, size = np.abs(matrix / 2.0 - matrix.T / 2.0).max(), np.abs(matrix).max()
            if skew > SYMMETRY_TOLERANCE * size:
                raise LinkageError(f"an inertia matrix must be symmetric, got {matrix.tolist()}.")
            matrix = matrix / 2.0 + matrix.T / 2.0
        if not isinstance(known, bool):
            raise LinkageError(f"known says whether a mass is known, True or False, got {known!r}.")
        center = read_only(as_vector(center, "center of mass"))
        vars(self).update(mass=mass, center=center, matrix=read_only(matrix), known=known)


Visuals: TypeAlias = Shape | Visual | Sequence[Shape | Visual]


def as_visuals(value: Visuals) -> tuple[Visual, ...]:
    """Return visuals from a shape, a visual, or a sequence of either."""
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    return tuple(item if isinstance(item, Visual) else Visual(item) for item in items)


def bone(start: ArrayLike, end: ArrayLike, radius: float, color: tuple[float, float, float] | None = None) -> Visual:
    """Return a capsule from one point of a link to another: the usual look of a limb.

    Example:
        >>> bone((0, 0, 0), (0, 0, 0.5), 0.05).shape
        Capsule(radius=0.05, length=0.5)
    """
    start, end = as_vector(start, "bone start"), as_vector(end, "bone end")
    length = float(np.linalg.norm(end - start))
    if length == 0.0:
        raise LinkageError("a bone needs two different ends.")
    z = (end - start) / length
    x = np.cross(np.eye(3)[np.abs(z).argmin()], z)
    x /= np.linalg.norm(x)
    placement = np.eye(4)
    placement[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
    placement[:3, 3] = (start + end) / 2
    return Visual(Capsule(radius, length), placement, color)
