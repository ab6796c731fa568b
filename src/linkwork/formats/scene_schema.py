"""The schema of scene files: one msgspec struct for each kind of mapping.

The parameters of joints and shapes are taken from the fields of their classes, so that a new kind needs no change here.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar, cast, get_type_hints

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ..linkage.couplings import Coupling
from ..linkage.curves import CURVES
from ..linkage.geometry import SHAPES, IntArray
from ..linkage.joints import ARTICULATIONS, AxisLike
from ..linkage.linkage import ROOT, Loop
from ..transforms import FloatArray

T = TypeVar("T", bound=Struct)
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Amount = float | str  # a number, or a text with a unit such as "45deg"
Values = Amount | list[Amount] | dict[str, Any]  # of a joint in a pose
LIMITS = ("lower", "upper")
ARRAYS: dict[Any, Any] = {
    FloatArray: list[list[float]],
    IntArray: list[list[int]],
}  # rows; the class checks their shape
MotionLimit = Amount | None | list[Amount | None]


class Strict(Struct, forbid_unknown_fields=True):
    """Base of all entries: a mapping that allows no other keys."""


class Rotation(Strict, kw_only=True):
    """A rotation in one of its forms."""

    wxyz: Quaternion | UnsetType = UNSET
    xyzw: Quaternion | UnsetType = UNSET
    euler: tuple[str, list[Amount]] | UnsetType = UNSET
    rotvec: Vector | UnsetType = UNSET
    matrix: tuple[Vector, Vector, Vector] | UnsetType = UNSET


class Placed(Strict, kw_only=True):
    """An entry with a position [m] and a rotation; both are zero by default."""

    at: Vector = (0.0, 0.0, 0.0)
    rotation: dict[str, Any] | None = None


class VisualEntry(Placed, kw_only=True):
    """A shape on a link, defined here or by its name in `shapes`."""

    shape: str | dict[str, Any]
    color: Vector | None = None
    role: str = "visual"


class LinkEntry(Strict, kw_only=True):
    """A link with its node transform, shapes and inertia."""

    name: str
    node: dict[str, Any] | None = None
    visuals: list[Any] = []
    inertia: dict[str, Any] | None = None


class InertiaEntry(Strict, kw_only=True):
    """Mass [kg] of a link, its centre [m] and its inertia about the centre [kg m²]."""

    mass: float
    center: Vector = (0.0, 0.0, 0.0)
    matrix: tuple[Vector, Vector, Vector] = ((0.0, 0.0, 0.0),) * 3
    known: bool = True


class FrameEntry(Placed, kw_only=True):
    """A named frame on a link."""

    name: str
    link: str


class MimicEntry(Strict, kw_only=True):
    """The joint that another one follows."""

    joint: str
    multiplier: float = 1.0
    offset: Amount = 0.0


class RootEntry(Placed, kw_only=True):
    """The root arc; the parameters of its articulation are added for each kind."""

    name: str = ROOT
    kind: str = "fixed"
    velocity: MotionLimit = None
    acceleration: MotionLimit = None
    effort: MotionLimit = None


class JointEntry(Placed, kw_only=True):
    """A joint; the parameters of its articulation are added for each kind."""

    name: str
    parent: str
    child: str
    kind: str = "fixed"
    mimic: str | dict[str, Any] | None = None
    velocity: MotionLimit = None
    acceleration: MotionLimit = None
    effort: MotionLimit = None


class ShapeEntry(Strict, kw_only=True):
    """A shape; its dimensions are added for each kind."""

    kind: str


class ObstacleEntry(Placed, kw_only=True):
    """An obstacle of the world, or an object held by a link."""

    shape: str | dict[str, Any]
    name: str | None = None
    link: str | None = None
    touches: list[str] = []
    color: Vector | None = None


class CurveEntry(Strict, kw_only=True):
    """The curve of a coupling; its parameters are added for each kind."""

    kind: str


class CouplingEntry(Strict, kw_only=True):
    """A joint that follows others; `drivers` is a joint name, or ratios by joint."""

    name: str
    follower: str
    drivers: str | dict[str, float]
    curve: dict[str, Any] | None = None
    phase: Amount = 0.0
    offset: Amount = 0.0
    tolerance: float = Coupling.tolerance


class SceneFile(Strict, kw_only=True):
    """The whole file."""

    linkwork: int
    name: str = "linkage"
    root: str | dict[str, Any] = {}
    shapes: dict[str, Any] = {}
    links: list[Any] = []
    joints: list[Any] = []
    frames: list[Any] = []
    loops: list[Any] = []
    couplings: list[Any] = []
    groups: dict[str, list[str]] = {}
    disabled_pairs: list[list[str]] = []  # two links, and an optional reason
    poses: dict[str, Any] = {}
    obstacles: list[Any] = []  # the world, read by `load_world`
    studio: dict[str, Any] = {}  # targets and keys, read only by the studio


def saved_fields(owner: type) -> tuple[Field[Any], ...]:
    """Return the fields of an articulation, shape, curve or mimic that are saved: those that are compared."""
    return tuple(field for field in fields(owner) if field.compare)


def _with_fields(entry: type[T], owner: type) -> type[T]:
    """Return an entry type extended by the fields of an articulation or shape."""
    hints = get_type_hints(owner)
    more: list[Any] = []
    for field in saved_fields(owner):
        hint: Any = ARRAYS.get(hints[field.name], hints[field.name])
        if field.name in LIMITS:
            hint = Amount | None | list[Amount | None]
        elif hint == AxisLike:
            hint = str | Vector
        optional = field.default is not MISSING or field.default_factory is not MISSING
        more.append((field.name, hint | UnsetType, UNSET) if optional else (field.name, hint))
    name = f"{owner.__name__}{entry.__name__}"
    return cast(type[T], msgspec.defstruct(name, more, bases=(entry,), kw_only=True))


ROOTS = {kind: _with_fields(RootEntry, cls) for kind, cls in ARTICULATIONS.items()}
JOINTS = {kind: _with_fields(JointEntry, cls) for kind, cls in ARTICULATIONS.items()}
LoopEntry = _with_fields(Strict, Loop)
CURVE_ENTRIES = {kind: _with_fields(CurveEntry, cls) for kind, cls in CURVES.items() if kind != "function"}
SHAPE_ENTRIES = {kind: _with_fields(ShapeEntry, cls) for kind, cls in SHAPES.items()}
