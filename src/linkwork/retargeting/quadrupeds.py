"""Quadrupeds: the links of the parts of each leg, of trunk, neck, head and tail.

Animals and robots count the joints of a leg differently. Here a leg has at most five: the shoulder blade (or the hip
joint that spreads a robot's leg), the upper and the lower bone, the foot (hock or wrist), the toe; and a tip, which
touches the ground.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import LinkNotFoundError, MappingError
from ..linkage.linkage import Linkage
from ..linkage.poses import rest_pose
from ..transforms import FloatArray
from .names import ENDS, ROLES, SIDES, Meaning, leg_of, words_of
from .outlines import outline
from .recognition import limbs_of, meanings_of
from .skeletons import Point
from .topology import Shape, legs_a_side, on_four_legs

PARTS = ("blade", "upper", "lower", "foot", "toe")
QUADRUPED_ROLES = (
    *("hips", "chest", "neck", "head", "tail"),
    *(f"{side}_{end}_{part}" for end in ENDS for side in SIDES for part in PARTS),
)
LEGS = tuple((side, end) for end in ENDS for side in SIDES)
SHORT = 0.5  # a first bone shorter than this, over the longest bone of the leg, is a blade
PERSON = {
    "fore": {"blade": "clavicle", "upper": "shoulder", "lower": "elbow", "foot": "hand"},
    "hind": {"upper": "hip", "lower": "knee", "foot": "ankle", "toe": "toe"},
}
HIGHEST_SOLE = 0.25  # over leg length
SAMPLES = 1024  # random poses to estimate the reach of a leg
STANDS = ("stand", "standing", "home", "ready")  # names of stored poses in which a robot stands


@dataclass(frozen=True, eq=False)
class Quadruped:
    """A quadruped: a linkage and the roles of its links.

    Args:
        linkage: The linkage.
        roles: Link by role; see `QUADRUPED_ROLES`.
        reasons: How each was found: ``"name"``, ``"shape"`` or ``"map"``.
        tips: The point of each leg that touches the ground.
    """

    linkage: Linkage
    roles: Mapping[str, str]
    reasons: Mapping[str, str]
    tips: Mapping[tuple[str, str], Point]
    fingers: Mapping[str, str] = field(default_factory=dict, init=False)  # it has none

    def __contains__(self, role: str) -> bool:
        return role in self.roles

    @cached_property
    def rest(self) -> FloatArray:
        """The standing pose: a stored pose with a name in `STANDS`, or the rest pose of the file."""
        return _standing(self.linkage)

    @cached_property
    def world(self) -> Mapping[str, FloatArray]:
        """world_from_frame of every frame at rest."""
        return self.linkage.forward(self.rest)

    def leg(self, side: str, end: str) -> list[str]:
        """Return the roles of a leg that are known, from the trunk outwards."""
        return [role for part in PARTS if (role := f"{side}_{end}_{part}") in self.roles]

    def bones(self, side: str, end: str) -> list[str]:
        """Return the roles of a leg without its blade."""
        return [role for role in self.leg(side, end) if not role.endswith("blade")]

    def tip(self, side: str, end: str) -> Point:
        """Return the point of a leg that touches the ground."""
        return self.tips[side, end]

    def points(self, side: str, end: str) -> list[Point]:
        """Return the joints of a leg without its blade, and its tip."""
        joints = [Point(self.roles[role], np.zeros(3)) for role in self.bones(side, end)]
        return [*joints, self.tip(side, end)]

    def length(self, side: str, end: str) -> float:
        """Return the length of a leg from its upper joint to its tip [m]."""
        places = [point.over(self.linkage, self.rest) for point in self.points(side, end)]
        return sum(float(np.linalg.norm(b - a)) for a, b in pairwise(places))

    def reach(self, side: str, end: str) -> float:
        """Return the largest distance of a leg's tip from its upper joint, within limits [m]."""
        length, path = self.length(side, end), self.linkage.path_to(self.tip(side, end).link)[0]
        upper = self.linkage.link_index(self.roles[f"{side}_{end}_upper"])
        columns = [k for i in path if i >= upper for k in range(self.linkage.nq)[self.linkage.drives[i].columns]]
        if not np.isfinite(self.linkage.lower[columns]).all() or not np.isfinite(self.linkage.upper[columns]).all():
            return length  # a leg without limits can be straight
        poses = self.linkage.random_pose(0, SAMPLES)
        start = Point(self.roles[f"{side}_{end}_upper"], np.zeros(3)).over(self.linkage, poses)
        ways = self.tip(side, end).over(self.linkage, poses) - start
        return min(length, float(np.linalg.norm(ways, axis=1).max()))

    def sole(self, side: str, end: str) -> float:
        """Return the height of a planted tip above the ground [m]: that of a hoof or paw without a bone."""
        heights = [self.tip(*leg).over(self.linkage, self.rest)[2] for leg in LEGS]
        height = float(self.tip(side, end).over(self.linkage, self.rest)[2]) - min(0.0, *map(float, heights))
        return height if height < HIGHEST_SOLE * self.length(side, end) else 0.0

    @cached_property
    def axes(self) -> FloatArray:
        """Forward, left and up of the trunk at rest, as columns (3, 3)."""
        uppers = {leg: self.world[self.roles[f"{leg[0]}_{leg[1]}_upper"]][None, :3, 3] for leg in LEGS}
        axes: FloatArray = trunk_axes(uppers)[0]
        return axes

    @cached_property
    def tail(self) -> tuple[str, ...]:
        """The links of the tail that move, from its root outwards."""
        if "tail" not in self.roles:
            return ()
        links, result = self.linkage, [self.linkage.link_index(self.roles["tail"])]
        while below := [i for i in links.children[result[-1]] if links.arcs[i].articulation.nv]:
            result.append(below[0])
        return tuple(links.links[i] for i in result)

    def table(self) -> list[tuple[str, str, str]]:
        """Return rows of role, link and how it was found."""
        return [(role, self.roles[role], self.reasons[role]) for role in QUADRUPED_ROLES if role in self.roles]

    @property
    def missing(self) -> tuple[str, ...]:
        """Roles without a link."""
        return tuple(role for role in QUADRUPED_ROLES if role not in self.roles)


def trunk_axes(uppers: Mapping[tuple[str, str], FloatArray]) -> FloatArray:
    """Return forward, left and up of a trunk (frames, 3, 3) from the first joints of its legs, (frames, 3) each."""
    middle = {end: (uppers["left", end] + uppers["right", end]) / 2.0 for end in ENDS}
    left = sum(uppers["left", end] - uppers["right", end] for end in ENDS)
    ahead = middle["fore"] - middle["hind"]
    ahead = ahead / np.linalg.norm(ahead, axis=1, keepdims=True)
    up = np.cross(ahead, left)
    up = up / np.linalg.norm(up, axis=1, keepdims=True)
    return np.stack([ahead, np.cross(up, ahead), up], axis=-1)


def find_quadruped(
    linkage: Linkage, given: Mapping[str, Any] | None = None, *, seen: FloatArray | None = None
) -> Quadruped | None:
    """Return the roles of a quadruped, or None if the linkage is not one.

    Args:
        linkage: The linkage.
        given: Known roles: link by role; None removes a role.
        seen: Poses of its motion, (frames, nq): a person's rest pose may be on all fours, but not the motion.

    Raises:
        MappingError: If a role or a link of the map does not exist.

    Example:
        >>> import linkwork as lw
        >>> dog = find_quadruped(lw.models.quadruped())
        >>> dog.roles["left_hind_lower"], dog.roles["head"], find_quadruped(lw.models.human())
        ('left_hind_lower', 'head', None)
    """
    if any(role in ROLES and role not in QUADRUPED_ROLES for role in given or {}):
        return None  # a map with roles of a person
    known = _checked(given or {})
    shape, meanings = Shape.of(linkage), meanings_of(linkage)
    if legs_a_side(shape, meanings) > len(ENDS):
        return None
    legs = _named_legs(shape, meanings) or _legs_of_person(shape, meanings, seen)
    if not legs and not any(map(_is_leg, known)):
        return None
    roles: dict[str, int] = {}
    for (side, end), parts in _by_place(shape, legs).items():
        roles |= {f"{side}_{end}_{part}": link for part, link in parts.items()}
    roles |= {role: _index(linkage, role, link) for role, link in known.items() if link is not None}
    if not all(f"{side}_{end}_{part}" in roles for side, end in LEGS for part in ("upper", "lower")):
        return None
    roles = _trunk(shape, meanings, roles) | roles
    names = {role: linkage.links[roles[role]] for role in QUADRUPED_ROLES if role in roles and role not in _gone(known)}
    reasons = {}
    for role, link in names.items():
        by_name = meanings[roles[role]].part or leg_of(link) or leg_of(linkage.arcs[roles[role]].name) or role == "tail"
        reasons[role] = "map" if role in known else "name" if by_name else "shape"
    world = linkage.forward(_standing(linkage))
    lasts = {leg: [role for part in PARTS if (role := f"{leg[0]}_{leg[1]}_{part}") in names][-1] for leg in LEGS}
    tips = {leg: _tip(linkage, world, names[role]) for leg, role in lasts.items()}
    return Quadruped(linkage, names, reasons, tips)


def _standing(linkage: Linkage) -> FloatArray:
    """Return the standing pose: a stored pose with a name in `STANDS`, or the rest pose of the file."""
    name = next((name for name in STANDS if name in linkage.poses), None)
    return rest_pose(linkage) if name is None else linkage.stored_pose(name)


def _checked(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a map; if it names legs of a quadruped, all of its roles must be those of one."""
    strange = [role for role in given if role not in QUADRUPED_ROLES]
    if strange and len(strange) < len(given) and any(_is_leg(role) for role in given):
        raise MappingError(
            f"no role {strange[0]!r} of a four-legged figure. Its roles are {', '.join(QUADRUPED_ROLES)}."
        )
    return {} if strange else given


def _is_leg(role: str) -> bool:
    return role in QUADRUPED_ROLES and "_" in role


def _gone(known: Mapping[str, Any]) -> set[str]:
    return {role for role, link in known.items() if link is None}


def _index(linkage: Linkage, role: str, link: str) -> int:
    try:
        return linkage.link_index(link)
    except LinkNotFoundError as error:
        raise MappingError(f"role {role!r}: {error}") from error


def _named_legs(shape: Shape, meanings: Sequence[Meaning]) -> dict[tuple[str, str], dict[str, int]]:
    """Return the parts of four legs that are named as such, or nothing."""
    linkage = shape.linkage
    found: dict[tuple[str, str], list[int]] = {}
    for i, (arc, link) in enumerate(zip(linkage.arcs, linkage.links, strict=True)):
        which = leg_of(link) or leg_of(arc.name)
        if which is not None and not meanings[i].aside and any(linkage.arcs[k].articulation.nv for k in shape.path(i)):
            found.setdefault((which[1], which[0]), []).append(i)
    if set(found) != set(LEGS):
        return {}
    result = {}
    for leg, links in found.items():
        # some rigs attach feet to the root instead of the legs: the leg is the path with the most named links
        end = max(links, key=lambda i: (len(set(links) & set(shape.path(i))), -i))
        top = next(i for i in shape.path(end) if i in links)
        deeper = [i for i in range(end, len(linkage.links)) if end in shape.path(i) and not meanings[i].aside]
        end = max(deeper, key=lambda i: (len(shape.path(i)), -i))
        parts = _parts(shape, shape.path(end, linkage.parents[top]))
        if "lower" not in parts:
            return {}
        result[leg] = parts
    return result


def _parts(shape: Shape, chain: Sequence[int]) -> dict[str, int]:
    """Return the joints of a leg by part; joints in one place count once, and a short first bone is the blade."""
    length = sum(float(np.linalg.norm(shape.places[b] - shape.places[a])) for a, b in pairwise(chain)) or 1.0
    joints = [chain[0]] + [b for a, b in pairwise(chain) if not shape.same(a, b, length)]
    steps = [float(np.linalg.norm(shape.places[b] - shape.places[a])) for a, b in pairwise(joints)]
    first = 1 if len(joints) > 2 and steps[0] < SHORT * max(steps[1:]) else 0
    return dict(zip(PARTS[1 - first :], joints, strict=False))


def _legs_of_person(
    shape: Shape, meanings: Sequence[Meaning], seen: FloatArray | None
) -> dict[tuple[str, str], dict[str, int]]:
    """Return the parts of four legs that are named as arms and legs, if the body stands on all of them."""
    roles = limbs_of(shape, meanings)
    if not on_four_legs(shape, roles, seen):
        return {}
    result = {}
    for side, end in LEGS:
        parts = {part: link for part, name in PERSON[end].items() if (link := roles.get(f"{side}_{name}")) is not None}
        below = [i for i in shape.linkage.children[parts["foot"]] if not meanings[i].aside] if "foot" in parts else []
        if "toe" not in parts and below:
            parts["toe"] = below[0]
        result[side, end] = parts
    return result


def _by_place(shape: Shape, legs: Mapping[tuple[str, str], dict[str, int]]) -> dict[tuple[str, str], dict[str, int]]:
    """Return legs with left and right by position, z up: in some files the names are mirrored."""
    if not legs:
        return {}
    uppers = {leg: shape.places[parts["upper"]] for leg, parts in legs.items()}
    ahead = sum(uppers[side, "fore"] - uppers[side, "hind"] for side in SIDES)
    left = sum(uppers["left", end] - uppers["right", end] for end in ENDS)
    if np.cross(ahead, left)[2] >= 0.0:
        return dict(legs)
    return {(SIDES[side == "left"], end): parts for (side, end), parts in legs.items()}


def _trunk(shape: Shape, meanings: Sequence[Meaning], roles: Mapping[str, int]) -> dict[str, int]:
    """Return the links where the legs meet, the neck, the head and the first link of the tail."""
    linkage = shape.linkage
    result = {}
    for role, end in (("chest", "fore"), ("hips", "hind")):
        tops = [min(link for name, link in roles.items() if name.startswith(f"{side}_{end}")) for side in SIDES]
        result[role] = max(shape.meeting(tops), 0)
    legs = {link for name, link in roles.items() if _is_leg(name)}
    for role in ("neck", "head", "tail"):
        named = [
            i
            for i, link in enumerate(linkage.links)
            if (meanings[i].part == role or (role == "tail" and "tail" in words_of(link) and not meanings[i].aside))
            and not meanings[i].side
            and linkage.arcs[i].articulation.nv
            and not legs & set(shape.path(i))
        ]
        if named:
            result[role] = min(named, key=lambda i: (len(shape.path(i)), i))
    return result


def _tip(linkage: Linkage, world: Mapping[str, FloatArray], link: str) -> Point:
    """Return the tip of a leg: the lowest of its last link's frames and children, else of its shapes, else itself."""
    turn, origin = world[link][:3, :3], world[link][:3, 3]
    index = linkage.link_index(link)
    ends = [world[frame.name][:3, 3] for frame in linkage.extra_frames if frame.link == link]
    ends += [world[linkage.links[child]][:3, 3] for child in linkage.children[index]]
    shape = outline(linkage, link)
    if not ends and len(shape):
        ends = list(shape @ turn.T + origin)
    lowest = min(ends, key=lambda place: float(place[2]), default=origin)
    return Point(link, turn.T @ (lowest - origin) if lowest[2] < origin[2] else np.zeros(3))
