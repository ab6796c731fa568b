"""Skeletons: which link of a linkage plays which role in a body, found by names and by shape.

Imports `names` and `topology`, and of the package `linkage` and `models.parts`. A role stands for the link that moves
at that place: ``left_elbow`` is the first link below the left elbow. What was found is a table that can be read,
written down, edited and given back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import LinkNotFoundError, MappingError, listed
from ..linkage.linkage import Linkage
from ..linkage.poses import rest_pose
from ..transforms import FloatArray
from .names import LIMBS, ROLES, SIDES, TRUNK, Meaning, meaning_of_both
from .topology import Shape, end_of_limb, mirrored_limbs, parts_along

CHAINS = (TRUNK, *(tuple(f"{side}_{part}" for part in parts) for side in SIDES for parts in LIMBS.values()))
NEXT = {role: after for chain in CHAINS for role, after in pairwise(chain)}
LEGS = tuple(f"{side}_{part}" for side in SIDES for part in ("hip", "knee", "ankle"))
ARMS = tuple(f"{side}_{part}" for side in SIDES for part in ("shoulder", "elbow", "hand"))


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A linkage and the roles of its links.

    Args:
        linkage: The linkage.
        roles: Link by role; see `ROLES`. Not every linkage has every role.
        reasons: How each was found, by role: ``"name"``, ``"shape"`` or ``"map"``.
    """

    linkage: Linkage
    roles: Mapping[str, str]
    reasons: Mapping[str, str]

    def __contains__(self, role: str) -> bool:
        return role in self.roles

    @cached_property
    def rest(self) -> FloatArray:
        """The pose in which shapes are compared: every value zero, or as near as limits let it be."""
        return rest_pose(self.linkage)

    @cached_property
    def world(self) -> Mapping[str, FloatArray]:
        """world_from_frame of every frame at rest."""
        return self.linkage.forward(self.rest)

    def place(self, role: str) -> FloatArray:
        """Return where a role's joint is at rest."""
        place: FloatArray = self.world[self.roles[role]][:3, 3]
        return place

    @property
    def has_legs(self) -> bool:
        """Whether both legs are known from hip to ankle."""
        return all(role in self for role in LEGS)

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

    def body(self, role: str) -> str:
        """Return the link that is the bone of a role: what the next role hangs on.

        A shoulder of three hinges has three links; the upper arm is the last of them.
        """
        linkage, link = self.linkage, self.roles[role]
        if role in ("hips", "chest"):
            return link
        after = self.roles.get(NEXT.get(role, ""))
        if after is not None and self._below(after, link):
            parent = linkage.parents[linkage.link_index(after)]
            return linkage.links[parent]
        index = linkage.link_index(link)
        while len(linkage.children[index]) == 1:
            child = linkage.children[index][0]
            said = meaning_of_both(linkage.arcs[child].name, linkage.links[child])
            if linkage.links[child] in self.roles.values() or said.part in ("finger", "toe"):
                break
            index = child
        return linkage.links[index]

    def _below(self, link: str, above: str) -> bool:
        index, top = self.linkage.link_index(link), self.linkage.link_index(above)
        while index > top:
            index = self.linkage.parents[index]
        return index == top and link != above

    def length(self, *roles: str) -> float:
        """Return the length of the bones from role to role at rest [m]."""
        points = [self.place(role) for role in roles]
        return sum(float(np.linalg.norm(b - a)) for a, b in pairwise(points))

    def table(self) -> list[tuple[str, str, str]]:
        """Return rows of role, link and how it was found."""
        return [(role, self.roles[role], self.reasons[role]) for role in ROLES if role in self.roles]


def recognise(linkage: Linkage, given: Mapping[str, Any] | None = None, *, what: str = "source") -> Skeleton:
    """Return the roles of a linkage's links, from names where they say something and from shape where not.

    Args:
        linkage: The linkage.
        given: Roles that are known: link by role; None takes a role away.
        what: What to call it in messages.

    Raises:
        MappingError: If neither arms nor legs are found, or a given role is none.

    Example:
        >>> import linkwork as lw
        >>> skeleton = recognise(lw.models.human())
        >>> skeleton.roles["left_elbow"], skeleton.body("left_elbow"), skeleton.reasons["left_elbow"]
        ('left_forearm', 'left_wrist', 'name')
    """
    given = _checked(linkage, given or {}, what)
    shape = Shape.of(linkage)
    meanings = [meaning_of_both(arc.name, link) for arc, link in zip(linkage.arcs, linkage.links, strict=True)]
    roles, reasons = _limbs(shape, meanings)
    for role, link in given.items():
        roles[role], reasons[role] = link, "map"
    _trunk(shape, meanings, roles, reasons)
    for role in [role for role, link in roles.items() if link is None]:
        del roles[role], reasons[role]
    found = {role: linkage.links[link] for role in ROLES if (link := roles.get(role)) is not None}
    if not any(role in found for role in (*ARMS, *LEGS)):
        raise MappingError(
            f"cannot map {what} {linkage.name!r}: found no arms and no legs, neither by name nor by shape. Name its"
            f" links by role, as map={{{what!r}: {{'left_hand': ...}}}} or in a file with --map; --write-map writes one"
            f" to edit. Roles are {', '.join(ROLES)}. It has {listed(linkage.links)}."
        )
    return Skeleton(linkage, found, reasons)


def _checked(linkage: Linkage, given: Mapping[str, Any], what: str) -> dict[str, int | None]:
    if not isinstance(given, Mapping):
        raise MappingError(f"the map of the {what} is a mapping from roles to links, got {given!r}.")
    result: dict[str, int | None] = {}
    for role, link in given.items():
        if role not in ROLES:
            raise MappingError(f"no role {role!r} in the map of the {what}. Roles are {', '.join(ROLES)}.")
        try:
            result[role] = None if link is None else linkage.link_index(link)
        except LinkNotFoundError as error:
            raise MappingError(f"role {role!r} of the {what}: {error}") from error
    limbs: dict[int, str] = {}
    for role, index in result.items():
        if role not in TRUNK and index is not None and limbs.setdefault(index, role) != role:
            raise MappingError(
                f"the map of the {what} names one link, {linkage.links[index]!r}, for {limbs[index]!r} and {role!r};"
                " each part of a limb is a link of its own. Name another, or None (null) for a part that is not there."
            )
    return result


def _limbs(shape: Shape, meanings: Sequence[Meaning]) -> tuple[dict[str, int | None], dict[str, str]]:
    """Return the joints of arms and legs, and how they were found."""
    roles: dict[str, int | None] = {}
    reasons: dict[str, str] = {}
    guessed = {} if any(said.side and said.limb for said in meanings) else mirrored_limbs(shape)
    for limb, parts in LIMBS.items():
        named = {
            side: [i for i, said in enumerate(meanings) if said.side == side and said.limb == limb] for side in SIDES
        }
        bent = ("shoulder", "elbow", "hip", "knee")
        if any(_forked(shape, [i for i in links if meanings[i].part in bent]) for links in named.values()):
            continue  # two left legs: an animal
        ends = {side: end_of_limb(shape, links, meanings, parts[3]) for side, links in named.items() if links}
        ends = ends or guessed.get(limb, {})
        if not ends:
            continue
        meeting = shape.meeting(list(ends.values())) if len(ends) > 1 else -1
        for side, end in ends.items():
            chain = shape.path(end, meeting)
            if meeting < 0:
                chain = [i for i in chain if i > 0] or chain
            for part, link in parts_along(shape, chain, meanings, limb).items():
                roles[f"{side}_{part}"] = link
                reasons[f"{side}_{part}"] = "name" if meanings[link].part else "shape"
    return roles, reasons


def _forked(shape: Shape, links: Sequence[int]) -> bool:
    """Return whether links that move hang on more than one limb."""
    moving = {i for i in links if shape.linkage.arcs[i].articulation.nv}
    return sum(not moving & set(shape.path(i)[:-1]) for i in moving) > 1


def _trunk(shape: Shape, meanings: Sequence[Meaning], roles: dict[str, int | None], reasons: dict[str, str]) -> None:
    """Add hips and chest, where the legs and the arms meet, what is between them, and the head."""
    pairs = {"hips": ("hip", "knee"), "chest": ("clavicle", "shoulder", "elbow")}
    for role, parts in pairs.items():
        both = [
            [roles.get(f"{side}_{part}") for side in SIDES]
            for part in parts
            if all(roles.get(f"{side}_{part}") is not None for side in SIDES)
        ]
        if role not in roles and both:
            meeting = shape.meeting([link for link in both[0] if link is not None])
            if meeting >= 0:
                roles[role], reasons[role] = meeting, "name" if meanings[meeting].part else "shape"
    if "hips" not in roles:
        named = [i for i, said in enumerate(meanings) if said.part == "hips"]
        roles["hips"], reasons["hips"] = (named[0], "name") if named else (0, "shape")
    hips, chest = roles["hips"], roles.get("chest")
    if "spine" not in roles and hips is not None and chest is not None:
        between = [i for i in shape.path(chest, hips) if i != chest] if hips < chest else []
        if between and shape.path(chest)[0] == shape.path(hips)[0]:
            roles["spine"], reasons["spine"] = between[0], "name" if meanings[between[0]].part else "shape"
    for role in ("neck", "head"):
        named = [i for i, said in enumerate(meanings) if said.part == role and not said.side]
        moving = [i for i in named if shape.linkage.arcs[i].articulation.nq] or named
        if role not in roles and moving:
            roles[role], reasons[role] = moving[0], "name"
    if "head" not in roles and chest is not None:
        taken = {link for link in roles.values() if link is not None}
        tops = [i for i in shape.ends if chest in shape.path(i) and not taken & set(shape.path(i, chest))]
        above = [i for i in tops if shape.ends[i][2] > shape.places[chest][2]]
        if above:
            roles["head"], reasons["head"] = max(above, key=lambda i: float(shape.ends[i][2])), "shape"
