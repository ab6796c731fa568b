"""The surroundings of a session: obstacles, the margin that the linkage keeps, and the nearest pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..collision.clearance import clearance
from ..collision.obstacles import Obstacle, World
from ..collision.packing import shapes_of
from ..errors import OptionError, listed
from ..goals import Avoid, Goal
from ..linkage.geometry import Box, Capsule, Cylinder, Shape, Sphere
from ..linkage.linkage import Linkage
from ..transforms import FloatArray

MARGIN = 0.01  # in metres, or over the size of a very small or large linkage
NEAREST = 3.0  # in margins: pairs that are nearer are shown

KINDS: dict[str, tuple[type[Shape], tuple[str, ...], Callable[[float], tuple[float, ...]]]] = {
    "box": (Box, ("x", "y", "z"), lambda size: (0.3 * size, 0.2 * size, 0.1 * size)),
    "sphere": (Sphere, ("radius",), lambda size: (0.1 * size,)),
    "capsule": (Capsule, ("radius", "length"), lambda size: (0.06 * size, 0.3 * size)),
    "cylinder": (Cylinder, ("radius", "length"), lambda size: (0.1 * size, 0.2 * size)),
}


@dataclass(frozen=True)
class NearPair:
    """A pair of near bodies: names, distance [m], and nearest points, shape (2, 3)."""

    names: tuple[str, str]
    distance: float
    points: FloatArray = field(repr=False)
    too_near: bool


@dataclass(frozen=True)
class Surroundings:
    """The obstacles around a linkage, and the distance that it keeps from them.

    Args:
        world: The obstacles.
        margin: The least distance [m].
        keeps: Whether the linkage keeps clear of obstacles.
        itself: Whether it keeps clear of itself too.
    """

    world: World = field(default_factory=World)
    margin: float = 0.01
    keeps: bool = True
    itself: bool = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.margin < np.inf:
            raise OptionError(f"margin is zero or more [m], got {self.margin!r}.")

    def avoid(self, linkage: Linkage) -> Avoid | None:
        """Return the goal that keeps a linkage clear, or None if there is nothing to avoid or it has no shapes."""
        if not (self.keeps and (len(self.world) or self.itself) and self.can_touch(linkage)):
            return None
        return Avoid(self.world if len(self.world) else None, self.itself, self.margin)

    def can_touch(self, linkage: Linkage) -> bool:
        """Return whether a linkage has shapes, or holds an obstacle."""
        return bool(shapes_of(linkage)) or any(obstacle.link is not None for obstacle in self.world)

    def check(self, linkage: Linkage) -> None:
        """Raise if a linkage should keep clear but has no shapes: it would pass through everything."""
        if (len(self.world) or self.itself) and not self.can_touch(linkage):
            raise OptionError(f"no link of {linkage.name!r} has a shape, so it cannot touch anything.")

    def goals(self, linkage: Linkage, wanted: list[Goal]) -> list[Goal]:
        """Return goals after the one that keeps clear, which has priority over them."""
        avoid = self.avoid(linkage)
        return wanted if avoid is None or not wanted else [avoid, *(g._with(priority=g.priority + 1) for g in wanted)]

    def nearest(self, linkage: Linkage, q: FloatArray) -> NearPair | None:
        """Return the nearest pair, if it is near enough to be shown."""
        avoid = self.avoid(linkage)
        if avoid is None:
            return None
        found = clearance(linkage, q, avoid.world, self=avoid.self)
        if found.pair is None or not found.distance < NEAREST * self.margin:
            return None
        return NearPair(found.pair, found.distance, found.points, found.distance < self.margin)

    # Obstacles

    def added(self, kind: str, place: FloatArray, size: float) -> tuple[Surroundings, str]:
        """Return the surroundings with one more obstacle, and its name; `size` is that of the linkage."""
        if kind not in KINDS:
            raise OptionError(f"no kind of obstacle {kind!r}; there are {listed(list(KINDS))}.")
        world = self.world.added(Obstacle(shape_of(kind, KINDS[kind][2](size)), place))
        return replace(self, world=world), world.names[-1]

    def moved(self, name: str, place: FloatArray) -> Surroundings:
        """Return the surroundings with an obstacle moved."""
        return replace(self, world=self.world.moved(name, place))

    def without(self, name: str) -> Surroundings:
        """Return the surroundings without an obstacle."""
        return replace(self, world=self.world.without(name))

    def resized(self, name: str, which: int, value: float) -> Surroundings:
        """Return the surroundings with one size of an obstacle changed."""
        sizes = list(sizes_of(self.world[name].shape))
        sizes[which] = value
        shape = shape_of(self.world[name].shape.kind, tuple(sizes))
        changed = (replace(one, shape=shape) if one.name == name else one for one in self.world)
        return replace(self, world=World(changed))


def usual_margin(linkage: Linkage, q: FloatArray) -> float:
    """Return the default margin [m]: 1 cm, less for small linkages, more for large ones (lengths not in metres)."""
    size = float(np.linalg.norm(np.ptp(linkage.forward(q).array[:, :3, 3], axis=0))) or 1.0
    return round(MARGIN * size, 1 - math.floor(math.log10(MARGIN * size))) if size < 0.5 or size > 10.0 else MARGIN


def shape_of(kind: str, sizes: tuple[float, ...]) -> Shape:
    """Return a shape of one of the kinds.

    Example:
        >>> shape_of("capsule", (0.1, 0.5))
        Capsule(radius=0.1, length=0.5)
    """
    make = KINDS[kind][0]
    return make(sizes) if kind == "box" else make(*sizes)  # type: ignore[call-arg]


def sizes_of(shape: Shape) -> tuple[float, ...]:
    """Return the sizes of a shape that can be changed in the page; none if its kind is not in `KINDS`."""
    match shape:
        case Box():
            return shape.size
        case Sphere():
            return (shape.radius,)
        case Capsule() | Cylinder():
            return shape.radius, shape.length
    return ()
