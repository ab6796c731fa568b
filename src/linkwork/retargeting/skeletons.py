"""Skeletons: a linkage with the roles of its links in a body, and the anatomical axes of its bones.

A role names the link that moves at that joint: ``left_elbow`` is the first link after the left elbow. Its position is
the link's origin or a separate point, since three revolute joints can form one shoulder that is at none of their
origins. Anatomical axes are forward, left and up of each bone in a pose with arms stretched out sideways and legs
straight down, whatever the rest pose of the file is: see `anatomy`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..errors import MappingError
from ..linkage.caching import Cache
from ..linkage.linkage import Linkage
from ..linkage.poses import rest_pose
from ..motion.clips import Clip
from ..motion.contacts import Mask, Trace
from ..transforms import FloatArray
from .anatomy import BENT, Sight, local_axes
from .grounding import flat_soles, upright_shank
from .names import LIMBS, ROLES, SIDES, TRUNK, meaning_of_both

CHAINS = (TRUNK, *(tuple(f"{side}_{part}" for part in parts) for side in SIDES for parts in LIMBS.values()))
NEXT = {role: after for chain in CHAINS for role, after in pairwise(chain)}
LEGS = {side: tuple(f"{side}_{part}" for part in ("hip", "knee", "ankle")) for side in SIDES}
ARMS = {side: tuple(f"{side}_{part}" for part in ("shoulder", "elbow", "hand")) for side in SIDES}
FINGERS = ("index", "mid", "middle", "ring", "pinky", "little")  # in their order across the palm
SHORTEST = 1e-6  # [m]
TIED = 1e-6  # relative tolerance for the foremost end of a foot: of equal ones the first is taken


@dataclass(frozen=True, eq=False)
class Point:
    """A point of a link.

    Args:
        link: The link.
        place: Its position in the coordinates of that link [m], shape (3,).
    """

    link: str
    place: FloatArray

    def over(self, linkage: Linkage, poses: FloatArray) -> FloatArray:
        """Return its positions in the world for poses (..., nq), shape (..., 3)."""
        world = linkage.forward(poses, frame=self.link)
        return world[..., :3, :3] @ self.place + world[..., :3, 3]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A linkage and the roles of its links.

    Args:
        linkage: The linkage.
        roles: Link by role; see `ROLES`. Not every linkage has every role.
        reasons: How each was found, by role: ``"name"``, ``"shape"``, ``"joints"`` or ``"map"``.
        points: Positions of joints by role, for those that are not at the origin of their link.
        hinges: Folding axes of elbows and knees, in the coordinates of their links, if limits determine their signs.
        seen: A motion that defines its anatomy; without one, a pose does.
        posed: The reference pose that defines its anatomy, if it is not the file's rest pose.
        fingers: Link by role of the joints of fingers; see `FINGERS`.
    """

    linkage: Linkage
    roles: Mapping[str, str]
    reasons: Mapping[str, str]
    points: Mapping[str, Point] = field(default_factory=dict)
    hinges: Mapping[str, FloatArray] = field(default_factory=dict)
    seen: Clip | None = None
    posed: FloatArray | None = None
    fingers: Mapping[str, str] = field(default_factory=dict)
    cache: Cache = field(default_factory=Cache, init=False, repr=False)

    def __contains__(self, role: str) -> bool:
        return role in self.roles

    def has(self, *roles: str) -> bool:
        """Return whether all given roles are known."""
        return all(role in self.roles for role in roles)

    @cached_property
    def rest(self) -> FloatArray:
        """Reference pose: the one given, the most upright of its motion, or the rest pose of the file."""
        if self.posed is not None:
            return self.posed
        if self.seen is None:
            return rest_pose(self.linkage)
        grounded = [1.0 + flat for flat in self.sight.flat.values()]
        stands = np.prod([BENT + self.sight.standing, *grounded], axis=0)
        pose: FloatArray = self.seen.poses[int(stands.argmax())]
        return pose

    @cached_property
    def world(self) -> Mapping[str, FloatArray]:
        """world_from_frame of every frame at rest."""
        return self.linkage.forward(self.rest)

    def point(self, role: str) -> Point:
        """Return the point of a role's joint."""
        return self.points.get(role) or Point(self.roles[role], np.zeros(3))

    def place(self, role: str) -> FloatArray:
        """Return the position of a role's joint at rest."""
        point = self.point(role)
        return self.world[point.link][:3, :3] @ point.place + self.world[point.link][:3, 3]

    def path(self, role: str, poses: FloatArray) -> FloatArray:
        """Return the positions of a role's joint in poses (frames, nq), shape (frames, 3)."""
        return self.point(role).over(self.linkage, poses)

    @property
    def has_legs(self) -> bool:
        """Whether both legs are known from hip to ankle."""
        return all(self.has(*roles) for roles in LEGS.values())

    @cached_property
    def up(self) -> FloatArray:
        """The world axis along which it stands at rest, from legs to head; z if that is unknown."""
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
        """The direction it faces at rest: perpendicular to that from its right side to its left."""
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
        """Return the link that is the bone of a role: the parent of the next role's link.

        A shoulder of three revolute joints has three links; the upper arm is the last of them.
        """
        return self.cache.get("body", role, lambda: self._body(role))

    def _body(self, role: str) -> str:
        linkage, link = self.linkage, self.roles[role]
        if role in ("hips", "chest") or (role in self.points and role.endswith(("elbow", "knee"))):
            return link  # after an elbow of a robot, twists belong to the hand
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
        """Return the length of the bones from role to role [m], averaged over the frames."""
        return self.sight.length(*roles)

    @cached_property
    def poses(self) -> FloatArray:
        """The poses that define its anatomy: those of its motion, or its rest pose, (frames, nq)."""
        return self.seen.poses if self.seen is not None and self.posed is None else self.rest[None]

    @cached_property
    def worlds(self) -> Mapping[str, FloatArray]:
        """world_from_frame of every frame in those poses, (frames, 4, 4) each."""
        return self.linkage.forward(self.poses)

    @cached_property
    def sight(self) -> Sight:
        """Its positions and orientations in the world, in those poses."""
        worlds, places = self.worlds, {}
        for role in self.roles:
            point = self.point(role)
            world = worlds[point.link]
            places[role] = world[:, :3, :3] @ point.place + world[:, :3, 3]
        turns = {role: worlds[self.body(role)][:, :3, :3] for role in self.roles}
        moves = self.seen is not None and self.posed is None
        plain = Sight(places, turns, np.array([0.0, 0.0, 1.0]) if moves else self.up)
        feet = [side for side in SIDES if f"{side}_ankle" in places]
        toes = {side: self._toe(side, plain) for side in feet}
        palms = {side: palm for side in SIDES if (palm := self._palm(side)) is not None}
        return replace(
            plain,
            toes={side: worlds[toe][:, :3, 3] - places[f"{side}_ankle"] for side, toe in toes.items() if toe},
            flat=self._grounded(plain, feet),
            palms=palms,
            hinges={} if moves else self._hinges(),
            folds={role: worlds[self.roles[role]][:, :3, :3] @ axis for role, axis in self.hinges.items()},
        )

    def _grounded(self, sight: Sight, feet: Sequence[str]) -> dict[str, Mask]:
        """Return whether soles are on the ground, by side, (frames,); in a single pose, they are."""
        frames = len(self.poses)
        if self.seen is None or frames < 2:
            return {side: np.ones(frames, np.bool_) for side in feet}
        legs = {side: (sight.length(*LEGS[side]) if self.has(*LEGS[side]) else 0.0) or 1.0 for side in feet}
        times = self.seen.times
        ankles = {side: Trace.of(sight.places[f"{side}_ankle"], times) for side in feet}
        return flat_soles(ankles, {side: upright_shank(sight.places, side) for side in feet}, times, legs)

    def _toe(self, side: str, sight: Sight) -> str | None:
        """Return the frame at the toes of a foot: the link of that role, or the foremost end of the foot."""
        if f"{side}_toe" in self:
            return self.roles[f"{side}_toe"]
        linkage, ankle = self.linkage, self.roles[f"{side}_ankle"]
        ends = {
            frame.name: float(((self.worlds[frame.name][:, :3, 3] - sight.places[f"{side}_ankle"]) * sight.ahead).sum())
            for frame in linkage.extra_frames
            if linkage.link_index(ankle) in linkage.path_to(frame.name)[0]
        }
        front = max(ends.values(), default=0.0)
        return next((name for name, ahead in ends.items() if ahead >= front - TIED * abs(front)), None)

    def _palm(self, side: str) -> tuple[FloatArray, FloatArray] | None:
        """Return vectors from wrist to knuckles and from the little finger to the index, or None without fingers."""
        if f"{side}_hand" not in self:
            return None
        linkage, hand = self.linkage, self.body(f"{side}_hand")
        fingers = {
            meaning_of_both(linkage.arcs[link].name, linkage.links[link]).word: linkage.links[link]
            for link in linkage.children[linkage.link_index(hand)]
        }
        found = [self.worlds[fingers[word]][:, :3, 3] for word in FINGERS if word in fingers]
        wrist = self.worlds[hand][:, :3, 3]
        if len(found) < 2 or np.linalg.norm(found[0] - found[-1], axis=1).min() < SHORTEST:
            return None
        return np.mean(found, axis=0) - wrist, found[0] - found[-1]

    def _hinges(self) -> dict[str, FloatArray]:
        """Return the axes in the world of elbows and knees that are revolute joints, by role."""
        found: dict[str, FloatArray] = {}
        for role in (f"{side}_{part}" for side in SIDES for part in ("elbow", "knee")):
            if role not in self:
                continue
            link = self.linkage.link_index(self.roles[role])
            elements = self.linkage.arcs[link].articulation.elements
            if len(elements) == 1 and elements[0].kind == "revolute":
                found[role] = self.worlds[self.roles[role]][:, :3, :3] @ elements[0].axis
        return found

    @cached_property
    def anatomy(self) -> dict[str, FloatArray]:
        """Axes forward, left and up of each role's bone, in the coordinates of that bone's link."""
        found = local_axes(self.sight)
        return {role: found[role] for role in self.roles}

    def foot_direction(self, side: str) -> FloatArray | None:
        """Return the vector from an ankle to its toes at rest, or None if it is unknown."""
        toe = self._toe(side, self.sight)
        return None if toe is None else self.world[toe][:3, 3] - self.place(f"{side}_ankle")

    def foot_axes(self, side: str) -> FloatArray:
        """Return forward, left and up of a foot at rest, as columns; up is vertical while its sole is on the ground."""
        role = f"{side}_ankle"
        return np.asarray(self.world[self.body(role)][:3, :3] @ self.anatomy[role])

    def table(self) -> list[tuple[str, str, str]]:
        """Return rows of role, link and how it was found, without fingers."""
        return [(role, self.roles[role], self.reasons[role]) for role in ROLES if role in self.roles]

    @property
    def missing(self) -> tuple[str, ...]:
        """Roles without a link; those of fingers are not included."""
        return tuple(role for role in ROLES if role not in self.roles)
