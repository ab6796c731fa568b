"""Skeletons: a linkage with the roles of its links in a body, and the anatomical axes of its bones.

A role stands for the link that moves at that place: ``left_elbow`` is the first link below the left elbow. Its place is
the link's origin, or a point of its own: three revolute joints make one shoulder that may be at none of their origins.
Anatomical axes are forward, left and up of each bone, as they would be with arms stretched out sideways and legs
straight down, whatever pose the file rests in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..errors import MappingError
from ..goals import turn_between
from ..linkage.linkage import Linkage
from ..linkage.poses import rest_pose
from ..transforms import FloatArray
from .names import LIMBS, ROLES, SIDES, TRUNK, meaning_of_both

CHAINS = (TRUNK, *(tuple(f"{side}_{part}" for part in parts) for side in SIDES for parts in LIMBS.values()))
NEXT = {role: after for chain in CHAINS for role, after in pairwise(chain)}
LEGS = {side: tuple(f"{side}_{part}" for part in ("hip", "knee", "ankle")) for side in SIDES}
ARMS = {side: tuple(f"{side}_{part}" for part in ("shoulder", "elbow", "hand")) for side in SIDES}
STRAIGHT = 1e-6


@dataclass(frozen=True, eq=False)
class Point:
    """A point of a link.

    Args:
        link: The link.
        place: Where it is in the coordinates of that link [m], shape (3,).
    """

    link: str
    place: FloatArray

    def over(self, linkage: Linkage, poses: FloatArray) -> FloatArray:
        """Return where it is in the world over poses (..., nq), shape (..., 3)."""
        world = linkage.forward(poses, frame=self.link)
        return world[..., :3, :3] @ self.place + world[..., :3, 3]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A linkage and the roles of its links.

    Args:
        linkage: The linkage.
        roles: Link by role; see `ROLES`. Not every linkage has every role.
        reasons: How each was found, by role: ``"name"``, ``"shape"`` or ``"map"``.
        points: Where the joint of a role is, for those that are not at the origin of their link.
    """

    linkage: Linkage
    roles: Mapping[str, str]
    reasons: Mapping[str, str]
    points: Mapping[str, Point] = field(default_factory=dict)

    def __contains__(self, role: str) -> bool:
        return role in self.roles

    def has(self, *roles: str) -> bool:
        """Return whether all of some roles are known."""
        return all(role in self.roles for role in roles)

    @cached_property
    def rest(self) -> FloatArray:
        """The pose in which shapes are compared: every value zero, or as near as limits let it be."""
        return rest_pose(self.linkage)

    @cached_property
    def world(self) -> Mapping[str, FloatArray]:
        """world_from_frame of every frame at rest."""
        return self.linkage.forward(self.rest)

    def point(self, role: str) -> Point:
        """Return the point that stands for a role's joint."""
        return self.points.get(role) or Point(self.roles[role], np.zeros(3))

    def place(self, role: str) -> FloatArray:
        """Return where a role's joint is at rest."""
        point = self.point(role)
        return self.world[point.link][:3, :3] @ point.place + self.world[point.link][:3, 3]

    def path(self, role: str, poses: FloatArray) -> FloatArray:
        """Return where a role's joint is over poses (frames, nq), shape (frames, 3)."""
        return self.point(role).over(self.linkage, poses)

    @property
    def has_legs(self) -> bool:
        """Whether both legs are known from hip to ankle."""
        return all(self.has(*roles) for roles in LEGS.values())

    @cached_property
    def up(self) -> FloatArray:
        """The axis of the world along which it stands at rest; z unless its head is elsewhere."""
        low = [self.place(role) for role in self.roles if role.endswith(("ankle", "hip", "hips"))]
        high = [self.place(role) for role in self.roles if role.endswith(("shoulder", "chest", "head"))]
        way = np.mean(high, axis=0) - np.mean(low, axis=0) if low and high else np.array([0.0, 0.0, 1.0])
        if np.linalg.norm(way) < 1e-9:
            return np.array([0.0, 0.0, 1.0])
        axis = int(np.abs(way).argmax())
        upright: FloatArray = np.eye(3)[axis] * np.sign(way[axis])
        return upright

    @cached_property
    def forward(self) -> FloatArray:
        """The direction it faces at rest: at right angles to the way from its right side to its left."""
        ways = [
            self.place(f"left_{part}") - self.place(f"right_{part}")
            for parts in LIMBS.values()
            for part in parts
            if f"left_{part}" in self and f"right_{part}" in self
        ]
        way = np.sum(ways, axis=0) if ways else np.cross(self.up, (1.0, 0.0, 0.0))
        way = way - self.up * (self.up @ way)
        length = float(np.linalg.norm(way))
        if length < 1e-9:
            raise MappingError(
                f"cannot tell where {self.linkage.name!r} faces: its left and right limbs are in one place at rest."
            )
        return np.cross(way / length, self.up)

    @property
    def axes(self) -> FloatArray:
        """Forward, left and up at rest, as columns."""
        return np.stack([self.forward, np.cross(self.up, self.forward), self.up], axis=1)

    def body(self, role: str) -> str:
        """Return the link that is the bone of a role: what the next role hangs on.

        A shoulder of three revolute joints has three links; the upper arm is the last of them.
        """
        linkage, link = self.linkage, self.roles[role]
        if role in ("hips", "chest"):
            return link
        after = self.roles.get(NEXT.get(role, ""))
        index = linkage.link_index(link)
        if after is not None and after != link and index in linkage.path_to(after)[0]:
            return linkage.links[linkage.parents[linkage.link_index(after)]]
        while len(linkage.children[index]) == 1:
            child = linkage.children[index][0]
            said = meaning_of_both(linkage.arcs[child].name, linkage.links[child])
            if linkage.links[child] in self.roles.values() or said.part in ("finger", "toe"):
                break
            index = child
        return linkage.links[index]

    def length(self, *roles: str) -> float:
        """Return the length of the bones from role to role at rest [m]."""
        points = [self.place(role) for role in roles]
        return sum(float(np.linalg.norm(b - a)) for a, b in pairwise(points))

    @cached_property
    def anatomy(self) -> dict[str, FloatArray]:
        """For every role, the axes forward, left and up of its bone in the coordinates of that bone's link."""
        from scipy.spatial.transform import Rotation

        axes, left = self.axes, self.axes[:, 1]
        result: dict[str, FloatArray] = {}
        before: dict[str, FloatArray] = {}
        for role in self.roles:
            side, _, part = role.partition("_")
            world = axes
            if part in ("shoulder", "elbow", "hip", "knee") and NEXT[role] in self:
                straight = -self.up if part in ("hip", "knee") else left if side == "left" else -left
                bone = self.place(NEXT[role]) - self.place(role)
                length = float(np.linalg.norm(bone))
                if length > 0.0:
                    world = Rotation.from_rotvec(turn_between(straight, bone / length)).as_matrix() @ axes
                before[role] = world
            elif part == "hand":
                world = before.get(f"{side}_elbow", axes)
            elif part in ("ankle", "toe"):
                world = _headed(self.foot_direction(side), self.up, axes)
            result[role] = self.world[self.body(role)][:3, :3].T @ world
        return result

    def foot_direction(self, side: str) -> FloatArray | None:
        """Return the way from an ankle to its toes at rest, or None if it is unknown."""
        ankle = f"{side}_ankle"
        if f"{side}_toe" in self:
            return self.place(f"{side}_toe") - self.place(ankle)
        linkage, start = self.linkage, self.place(ankle)
        ways = [
            self.world[frame.name][:3, 3] - start
            for frame in linkage.extra_frames
            if linkage.link_index(self.roles[ankle]) in linkage.path_to(frame.name)[0]
        ]
        return max(ways, key=lambda way: float(way @ self.forward), default=None)

    def table(self) -> list[tuple[str, str, str]]:
        """Return rows of role, link and how it was found."""
        return [(role, self.roles[role], self.reasons[role]) for role in ROLES if role in self.roles]


def _headed(way: FloatArray | None, up: FloatArray, axes: FloatArray) -> FloatArray:
    """Return axes turned about up, so that the first points along a way; unchanged if the way is vertical."""
    level = np.zeros(3) if way is None else way - up * (up @ way)
    length = float(np.linalg.norm(level))
    if length < STRAIGHT:
        return axes
    return np.stack([level / length, np.cross(up, level / length), up], axis=1)
