"""Obstacles, and a world of them.

Both are immutable. A changed world shares its unchanged parts with the one before.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..errors import DuplicateNameError, ObstacleError, ObstacleNotFoundError, Remark, listed
from ..linkage.geometry import SHAPES, Polyline, Shape, Visual
from ..linkage.tree import check_link
from ..transforms import IDENTITY, FloatArray, TransformLike, Value, as_transform, as_vector, inverse, read_only

if TYPE_CHECKING:
    from ..linkage.linkage import Linkage
    from ..linkage.poses import PoseLike


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Obstacle(Value):
    """A shape that is fixed in the world, or held by a link.

    Args:
        shape: A solid, a half-space, a mesh, a height field or a point cloud. The placement of a `Visual` is kept.
        pose: world_from_shape, 4x4 or a position [m]; link_from_shape if a link holds it.
        name: Its name; a world names unnamed obstacles.
        link: The link that holds it, such as a hand that holds a cup.
        touches: Links that may touch it: the fingers around the cup, or the foot on the floor. The link that holds it
            always may.
        color: Red, green, blue from 0 to 1, or None for a default colour.

    Example:
        >>> from linkwork.linkage.geometry import Box
        >>> Obstacle(Box((1.0, 0.6, 0.05)), (0.5, 0.0, 0.4), name="table")
        Obstacle('table', Box(size=(1.0, 0.6, 0.05)), at=(0.5, 0, 0.4))
    """

    shape: Shape
    pose: FloatArray
    name: str | None
    link: str | None
    touches: tuple[str, ...]
    color: tuple[float, float, float] | None

    def __init__(
        self,
        shape: Shape | Visual,
        pose: TransformLike = IDENTITY,
        name: str | None = None,
        link: str | None = None,
        touches: Iterable[str] = (),
        color: ArrayLike | None = None,
    ) -> None:
        what = "an obstacle" if name is None else f"obstacle {name!r}"
        for value, part in ((name, "name"), (link, "link")):
            if value is not None and (not isinstance(value, str) or not value):
                raise ObstacleError(f"the {part} of an obstacle is a text that is not empty, got {value!r}.")
        placed = as_transform(pose, f"the pose of {what}")
        if isinstance(shape, Visual):
            placed, color, shape = placed @ shape.placement, shape.color if color is None else color, shape.shape
        if not isinstance(shape, Shape) or isinstance(shape, Polyline):
            kinds = ", ".join(kind for kind in SHAPES if kind != Polyline.kind)
            got = "a polyline, which encloses nothing" if isinstance(shape, Polyline) else repr(shape)
            raise ObstacleError(f"{what} needs a shape with an inside or a surface ({kinds}), got {got}.")
        if isinstance(touches, str):
            touches = (touches,)
        friends = tuple(touches)
        if not all(isinstance(friend, str) and friend for friend in friends):
            raise ObstacleError(f"{what} may touch links, by name; got {friends!r}.")
        shown = None if color is None else tuple(as_vector(color, f"the color of {what}").tolist())
        if shown is not None and (min(shown) < 0.0 or max(shown) > 1.0):
            raise ObstacleError(f"the color of {what} goes from 0 to 1, got {list(shown)}.")
        vars(self).update(shape=shape, pose=read_only(placed + 0.0), name=name, link=link)
        vars(self).update(touches=tuple(dict.fromkeys(friends)), color=shown)

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.name, self.shape, self.pose.tobytes(), self.link, self.touches))

    def __repr__(self) -> str:
        turned = "" if np.array_equal(self.pose[:3, :3], np.eye(3)) else ", turned"
        place = ", ".join(f"{x:.6g}" for x in self.pose[:3, 3].tolist())
        held = "" if self.link is None else f", link={self.link!r}"
        held += f", touches={self.touches!r}" if self.touches else ""
        name = "" if self.name is None else f"{self.name!r}, "
        return f"Obstacle({name}{self.shape!r}, at=({place}){turned}{held})"


class World:
    """Obstacles by name, in their order.

    Args:
        obstacles: The obstacles. One without a name is named after its shape: ``box1``, ``box2``.

    Attributes:
        obstacles: The obstacles, all with a name.

    Example:
        >>> from linkwork.linkage.geometry import Box, HalfSpace
        >>> world = World([Obstacle(HalfSpace(), name="floor"), Obstacle(Box((1, 1, 0.1)), (1, 0, 0.5))])
        >>> world.names
        ('floor', 'box1')
        >>> world.moved("box1", (1, 0, 0.6))["box1"].pose[2, 3]
        np.float64(0.6)
    """

    obstacles: tuple[Obstacle, ...]
    _places: dict[str, int]

    def __init__(self, obstacles: Iterable[Obstacle] = ()) -> None:
        several = isinstance(obstacles, Iterable) and not isinstance(obstacles, Obstacle)
        given: tuple[Any, ...] = tuple(obstacles) if several else (obstacles,)
        for obstacle in given:
            if not isinstance(obstacle, Obstacle):
                raise ObstacleError(f"a world holds obstacles, lw.Obstacle(shape, pose, name=...); got {obstacle!r}.")
        taken = {obstacle.name for obstacle in given}
        counts: Counter[str] = Counter()
        places: dict[str, int] = {}
        for k, obstacle in enumerate(given):
            name = obstacle.name
            while name is None or (obstacle.name is None and name in taken):
                counts[obstacle.shape.kind] += 1
                name = f"{obstacle.shape.kind}{counts[obstacle.shape.kind]}"
            if name in places:
                raise DuplicateNameError("obstacle", name, "the world")
            places[name] = k
        named = (o if o.name is not None else replace(o, name=name) for o, name in zip(given, places, strict=True))
        vars(self).update(obstacles=tuple(named), _places=places)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the obstacles."""
        return tuple(self._places)

    def __len__(self) -> int:
        return len(self.obstacles)

    def __iter__(self) -> Iterator[Obstacle]:
        return iter(self.obstacles)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __getitem__(self, name: str) -> Obstacle:
        return self.obstacles[self._place(name)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, World):
            return NotImplemented
        return self is other or self.obstacles == other.obstacles

    @cached_property
    def _hash(self) -> int:
        return hash(self.obstacles)

    def __hash__(self) -> int:
        return self._hash

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a World is immutable ({name}); added, without, moved and attached return a changed one.")

    def __reduce__(self) -> tuple[Any, ...]:
        return World, (self.obstacles,)

    def __repr__(self) -> str:
        return f"<World: {len(self)} obstacle{'s' * (len(self) != 1)}{': ' * bool(self)}{listed(self.names)}>"

    @classmethod
    def from_linkage(cls, linkage: Linkage, q: PoseLike | None = None) -> World:
        """Return the shapes of a linkage at a pose as obstacles: another robot, a kitchen with doors.

        Its collision shapes are used, or its visual shapes if it has none. An obstacle has the name of its link, with a
        number if the link has more than one shape.

        Args:
            linkage: The linkage.
            q: The pose; the neutral one by default.
        """
        frames = linkage.forward(linkage.neutral() if q is None else q)
        roles = {visual.role for node in linkage.nodes for visual in node.visuals}
        role = "collision" if "collision" in roles else "visual"
        found = []
        for node in linkage.nodes:
            own = [v for v in node.visuals if v.role == role and not isinstance(v.shape, Polyline)]
            for k, visual in enumerate(own, start=1):
                name = node.name if len(own) == 1 else f"{node.name}/{k}"
                found.append(Obstacle(visual, frames[node.name] @ node.matrix, name))
        return cls(found)

    # Edits: each returns a new world

    def added(self, *obstacles: Obstacle) -> World:
        """Return the world with more obstacles."""
        return World((*self.obstacles, *obstacles))

    def without(self, *names: str) -> World:
        """Return the world without the obstacles of these names."""
        gone = {self._place(name) for name in names}
        return World(obstacle for k, obstacle in enumerate(self.obstacles) if k not in gone)

    def moved(self, name: str, pose: TransformLike) -> World:
        """Return the world with an obstacle at another pose, in the world or in the link that holds it."""
        return self._with(name, pose=pose)

    def attached(
        self,
        name: str,
        *,
        link: str,
        touches: Iterable[str] = (),
        pose: TransformLike | None = None,
        world_from_link: TransformLike | None = None,
    ) -> World:
        """Return the world with an obstacle attached to a link.

        Args:
            name: The obstacle.
            link: The link that holds it.
            touches: Other links that may touch it, such as fingers.
            pose: Pose of the obstacle in the link, link_from_shape.
            world_from_link: Or the pose of the link, ``arm.forward(q, frame=link)``: the obstacle keeps its pose in the
                world.

        Example:
            >>> from linkwork.linkage.geometry import Sphere
            >>> world = World([Obstacle(Sphere(0.1), (1, 0, 0), name="ball")])
            >>> world.attached("ball", link="hand", world_from_link=np.eye(4))["ball"]
            Obstacle('ball', Sphere(radius=0.1), at=(1, 0, 0), link='hand')
        """
        if (pose is None) == (world_from_link is None):
            raise ObstacleError(
                f"attaching {name!r} needs where it is in link {link!r}: "
                "pose=link_from_shape, or world_from_link=arm.forward(q, frame=link) where the link stands now."
            )
        if pose is None and world_from_link is not None:
            pose = inverse(as_transform(world_from_link, "world_from_link")) @ self._free(name)
        return self._with(name, pose=pose, link=link, touches=touches)

    def detached(self, name: str, *, world_from_link: TransformLike) -> World:
        """Return the world with an obstacle released from its link, at the place where the link holds it.

        Args:
            name: The obstacle.
            world_from_link: The pose of the link, ``arm.forward(q, frame=link)``.
        """
        held = self[name]
        if held.link is None:
            raise ObstacleError(f"obstacle {name!r} is held by no link; world.moved puts it elsewhere.")
        pose = as_transform(world_from_link, "world_from_link") @ held.pose
        return self._with(name, pose=pose, link=None, touches=())

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        linkage: Linkage | None = None,
        kind: Literal["scene", "moveit", "mjcf"] | None = None,
    ) -> tuple[Remark, ...]:
        """Write the world to a file, completely or not at all; return remarks on what the format cannot store.

        Args:
            path: ``.yaml`` or ``.json`` is a scene of linkwork, ``.scene`` a planning scene of MoveIt, ``.xml`` MJCF.
            linkage: A linkage to store in a linkwork scene too.
            kind: ``"moveit"`` writes a planning scene to a ``.yaml`` or ``.json`` file.
        """
        from ..formats.worlds import save_world

        return save_world(self, path, linkage=linkage, kind=kind)

    def check(self, linkage: Linkage) -> None:
        """Raise an error if an obstacle names a link, in `link` or `touches`, that a linkage does not have."""
        for obstacle in self.obstacles:
            for link in (*filter(None, (obstacle.link,)), *obstacle.touches):
                check_link(link, linkage.links, f"linkage {linkage.name!r} (obstacle {obstacle.name!r})")

    def _place(self, name: str) -> int:
        if name not in self._places:
            raise ObstacleNotFoundError(name, "the world", self._places)
        return self._places[name]

    def _free(self, name: str) -> FloatArray:
        held = self[name]
        if held.link is not None:
            raise ObstacleError(f"obstacle {name!r} is held by link {held.link!r}; detach it first, or give pose=.")
        return held.pose

    def _with(self, name: str, **parts: Any) -> World:
        """Return the world with one obstacle changed; the others are shared."""
        k = self._place(name)
        world = World.__new__(World)
        changed = replace(self.obstacles[k], **parts)
        vars(world).update(obstacles=(*self.obstacles[:k], changed, *self.obstacles[k + 1 :]), _places=self._places)
        return world


def check_world(world: object) -> None:
    """Raise ObstacleError if a value is not a world; the message says what to pass instead."""
    if not isinstance(world, World):
        raise ObstacleError(f"a World of obstacles is needed, lw.World([...]), got {world!r}.")
