"""`Avoid`: keep clear of obstacles and of the linkage itself, by a margin."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..collision.near import near_records
from ..collision.obstacles import World
from ..collision.packing import Scene
from ..collision.scenes import scene_of
from ..errors import GoalError, OptionError
from ..kernels.avoid_rows import MOST
from ..kernels.collision.piece_layout import NEAR
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, as_number, cross
from .base import Edges, Goal, reading

HAIR = 1e-5  # aimed at beyond the margin [m]
JUDGED = 0.9  # allowed error as a share of HAIR: solutions are beyond the margin by the rest
AHEAD = 0.25  # as a share of the linkage's length: pairs nearer to the margin than this are passed as edges


@dataclass(frozen=True, eq=False)
class Avoid(Goal):
    """Keep a linkage clear of obstacles, and of itself, by a margin.

    It is strict: a solve succeeds only if every checked pair is at least the margin apart, recomputed from the final
    pose. With ``tolerance=inf`` it is a wish: it is pursued, but success does not depend on it.

    Args:
        world: The `World` of obstacles, if any.
        self: Whether the linkage also keeps clear of itself, for the pairs that `collision.pairs` lists.
        margin: The least distance [m]; a negative one allows that much overlap.
        links: Only check pairs with one of these links, or with an obstacle attached to one; by default all.

    Example:
        >>> import linkwork as lw
        >>> lw.Avoid(margin=0.02, links="hand")
        Avoid(margin=0.02, links=('hand',))
    """

    units = (("m", MOST),)

    world: World | None = None
    self: bool = True
    margin: float = 0.01
    links: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.self, bool):
            raise GoalError(f"self (whether the linkage avoids itself) must be True or False, got {self.self!r}.")
        if self.world is not None and not isinstance(self.world, World):
            raise GoalError(f"Avoid takes a World of obstacles, lw.World([...]), got {self.world!r}.")
        if self.world is None and not self.self:
            raise GoalError("Avoid(None, self=False) leaves nothing to avoid; give it a world, or self=True.")
        if self.tolerance is not None and self.tolerance != (math.inf, math.inf):
            raise GoalError("Avoid takes no tolerance except inf, which makes it a wish; set its margin instead.")
        with reading:
            margin = as_number(self.margin, "margin of Avoid")
        vars(self).update(margin=margin, links=_names(self.links))

    def __repr__(self) -> str:
        shown = [repr(self.world)] if self.world is not None else []
        shown += [] if self.self else ["self=False"]
        shown += [f"margin={self.margin:g}", *([f"links={self.links!r}"] if self.links is not None else [])]
        shown += [f"{name}={value!r}" for name, value in (("weight", self.weight),) if value != 1.0]
        shown += [f"{name}={value!r}" for name, value in (("priority", self.priority),) if value != 0]
        return f"Avoid({', '.join([*shown, *(['tolerance=inf'] if self.tolerance is not None else [])])})"

    @property
    def signature(self) -> tuple[Any, ...]:
        """The data from which a problem is built: the world and the checked pairs, but not the margin."""
        return type(self).__name__, self.world, self.self, self.links, *self.common

    @property
    def wanted(self) -> float:
        """The distance to aim at [m]: slightly more than the margin, so that solutions keep the margin strictly."""
        return self.margin + HAIR

    def tolerance_of(self, unit: str) -> float | None:  # noqa: ARG002
        """Return the tolerance below the wanted distance; at the tolerance, the margin is still kept."""
        return JUDGED * HAIR if self.tolerance is None else math.inf

    def scene(self, linkage: Linkage) -> Scene:
        """Return the packed collision scene for the kernels; it is cached on the linkage."""
        with reading:
            return scene_of(linkage, self.world, self=self.self, links=self.links)

    def resolve(self, linkage: Linkage, start: FloatArray) -> Goal:  # noqa: ARG002
        """Return the goal itself, after checking that there is a pair to keep apart."""
        self.scene(linkage)
        return self

    def near(self, linkage: Linkage, q: FloatArray, within: float, *, most: int = MOST) -> FloatArray:
        """Return the nearest pairs at poses (..., nq) as records, the nearest first, shape (..., most, NEAR.size).

        If fewer pairs are nearer than `within`, the last records have an infinite distance.
        """
        poses = np.ascontiguousarray(q, np.float64)
        records, counts = near_records(self.scene(linkage), poses.reshape(-1, linkage.nq), within, most)
        own = NEAR.view(records)
        missing = np.arange(most) >= counts[:, None]
        own.distance[missing], own.frame_a[missing], own.frame_b[missing] = np.inf, -1, -1
        own.normal[missing], own.a[missing], own.b[missing] = 0.0, 0.0, 0.0
        return records.reshape(*poses.shape[:-1], most, NEAR.size)

    def clearance(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the smallest distance of all checked pairs at poses (..., nq) [m]; negative where they overlap."""
        return np.asarray(NEAR.view(self.near(linkage, q, np.inf, most=1)).distance[..., 0])

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return how much closer than wanted the nearest pairs are [m], zero if far enough, shape (..., MOST)."""
        near = NEAR.view(self.near(linkage, q, self.wanted))
        return np.asarray(np.maximum(self.wanted - near.distance, 0.0))

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the rates at which velocities separate these pairs, (..., MOST, nv); zero if far enough apart."""
        return self._rates(linkage, q, self.near(linkage, q, self.wanted))

    def edges(self, linkage: Linkage, q: FloatArray) -> Edges:
        """Return the distance of near pairs beyond the wanted distance, and the rates at which velocities reduce it."""
        near = self.near(linkage, q, self.wanted + AHEAD * linkage.length)
        room = NEAR.view(near).distance - self.wanted
        return Edges(np.where(room >= 0.0, room, np.inf), -self._rates(linkage, q, near))

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:  # noqa: ARG002
        """Return True for every row: the pair of a row depends on the pose."""
        return np.ones(MOST, np.bool_)

    def _rates(self, linkage: Linkage, q: FloatArray, near: FloatArray) -> FloatArray:
        """Return the rates of the distances of pairs (..., MOST, nv): ``n . (v_b - v_a)`` at their nearest points.

        A force n at a point of a frame is equivalent to n at the frame's origin and a torque about it.
        """
        record, names = NEAR.view(near), self.scene(linkage).frames
        rates = np.zeros((*near.shape[:-1], linkage.nv))
        for frame, points, sign in ((record.frame_a, record.a, -1.0), (record.frame_b, record.b, 1.0)):
            for number in np.unique(frame[frame >= 0]).astype(np.int64).tolist():
                own = (frame == number)[..., None]
                J, origin = linkage.jacobian(q, names[number]), linkage.forward(q, frame=names[number])[..., :3, 3]
                force = np.where(own, sign * record.normal, 0.0)
                torque = cross(np.where(own, points - origin[..., None, :], 0.0), force)
                rates += force @ J[..., :3, :] + torque @ J[..., 3:, :]
        return rates


AvoidLike: TypeAlias = Avoid | World | None
"""What an option ``avoid=`` takes: an `Avoid`, or a `World`, which stands for ``Avoid(world)``."""


def as_avoid(given: Any) -> Avoid | None:
    """Return the goal for an option ``avoid=``; None if nothing is given.

    Example:
        >>> import linkwork as lw
        >>> as_avoid(lw.World([lw.Obstacle(lw.Sphere(0.1), (1, 0, 0))]))
        Avoid(<World: 1 obstacle: sphere1>, margin=0.01)
    """
    if isinstance(given, World):
        return Avoid(given)
    if given is None or isinstance(given, Avoid):
        return given
    raise OptionError(f"avoid is a goal, Avoid(world, margin=...), or a World of obstacles, got {given!r}.")


def with_avoid(goals: Any, given: AvoidLike) -> Any:
    """Return one or several goals, followed by the goal of an option ``avoid=``."""
    avoid = as_avoid(given)
    return goals if avoid is None else [*([goals] if isinstance(goals, Goal) else goals), avoid]


def _names(links: Any) -> tuple[str, ...] | None:
    """Return names of links as a tuple; raise GoalError if they are invalid."""
    if links is None:
        return None
    names = (links,) if isinstance(links, str) or not isinstance(links, Iterable) else tuple(links)
    if not names or not all(isinstance(name, str) for name in names):
        raise GoalError(f"links of Avoid are names of links, at least one, got {links!r}; leave it out for all.")
    return names
