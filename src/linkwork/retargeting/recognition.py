"""Recognise roles: which link of a linkage is which part of a body, by names and by shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import LinkNotFoundError, MappingError, listed
from ..formats.options import FilePath
from ..formats.registry import format_of
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .fingers import find_fingers
from .names import FINGERS, LIMBS, ROLES, SIDES, TRUNK, Meaning, meaning_of_both, words_of
from .robot_roles import RobotJoint, arms_beside, limb_of_joints, mirrored_hinges
from .skeletons import ARMS, LEGS, Skeleton
from .topology import Shape, attached, end_of_limb, legs_a_side, mirrored_limbs, on_four_legs, parts_along

DEFORMING = 8  # number of bones named DEF- from which a rig is taken as Rigify's, whose other bones are controls


def recognise(
    linkage: Linkage,
    given: Mapping[str, Any] | None = None,
    *,
    what: str = "source",
    seen: FloatArray | None = None,
) -> Skeleton:
    """Return the roles of a linkage's links, by names if possible and otherwise by shape.

    Args:
        linkage: The linkage.
        given: Known roles: link by role; None removes a role.
        what: Its name in messages.
        seen: Poses of its motion, (frames, nq): a person's rest pose may be on all fours, but not the motion.

    Raises:
        MappingError: If neither arms nor legs are found, or a given role does not exist.

    Example:
        >>> import linkwork as lw
        >>> skeleton = recognise(lw.models.human())
        >>> skeleton.roles["left_elbow"], skeleton.body("left_elbow"), skeleton.reasons["left_elbow"]
        ('left_forearm', 'left_wrist', 'name')
    """
    said = _checked(linkage, {} if linkage.origin is None else linkage.origin.roles, what)
    mapped = _checked(linkage, given or {}, what)
    given = said | mapped
    shape = Shape.of(linkage)
    meanings = meanings_of(linkage)
    limbs = _limbs(shape, meanings)
    roles, reasons, joints = dict(limbs[0]), dict(limbs[1]), dict(limbs[2])
    for role, link in given.items():
        if role in ROLES:
            roles[role], reasons[role] = link, "map" if role in mapped else "file"
            joints.pop(role, None)
    _check_legs(shape, meanings, roles, given, what, seen)
    _trunk(shape, meanings, roles, reasons)
    for role in [role for role, link in roles.items() if link is None]:
        del roles[role], reasons[role]
    found = {role: linkage.links[link] for role in ROLES if (link := roles.get(role)) is not None}
    if not any(role in found for roles in (*ARMS.values(), *LEGS.values()) for role in roles):
        raise MappingError(
            f"cannot map {what} {linkage.name!r}: found no arms and no legs, neither by name nor by shape. Name its"
            f" links by role, as map={{{what!r}: {{'left_hand': ...}}}} or in a file with --map; --write-map writes one"
            f" to edit. Roles are {', '.join(ROLES)}. It has {listed(linkage.links)}."
        )
    fingers = {role: linkage.links[link] for role, link in _fingers(shape, meanings, roles, given).items()}
    for role, finger in fingers.items():
        by_name = meanings[linkage.link_index(finger)].digit
        reasons[role] = "map" if role in mapped else "file" if role in said else "name" if by_name else "shape"
    points = {role: joint.point for role, joint in joints.items()}
    return Skeleton(linkage, found, reasons, points, mirrored_hinges(shape, joints), fingers=fingers)


def limbs_of(shape: Shape, meanings: Sequence[Meaning]) -> dict[str, int | None]:
    """Return the joints of arms and legs by role, as found by names and shape."""
    return dict(_limbs(shape, meanings)[0])


def _check_legs(
    shape: Shape,
    meanings: Sequence[Meaning],
    roles: Mapping[str, int | None],
    given: Mapping[str, int | None],
    what: str,
    seen: FloatArray | None,
) -> None:
    """Refuse bodies with more than two legs, unless a map names their parts."""
    legs = 2 * legs_a_side(shape, meanings)
    if given or (legs <= len(SIDES) and not on_four_legs(shape, roles, seen)):
        return
    count = max(legs, 2 * len(SIDES))
    raise MappingError(
        f"cannot map {what} {shape.linkage.name!r}: it has {count} legs; expected two. Motions are retargeted from two"
        " legs to two and from four legs to four; for other bodies, name the parts in a map."
    )


def meanings_of(linkage: Linkage) -> list[Meaning]:
    """Return the meanings of the names of a linkage's links that can be part of a body.

    Ignored are nodes that never move although others do (meshes beside their skeleton), and the controls of a rig with
    separate deforming bones.
    """
    return linkage.cache.get("meanings", "", lambda: _meanings(linkage))


def _meanings(linkage: Linkage) -> list[Meaning]:
    result = [meaning_of_both(arc.name, link) for arc, link in zip(linkage.arcs, linkage.links, strict=True)]
    moved = [False] * len(result)
    for i, arc in enumerate(linkage.arcs[1:], start=1):
        moved[i] = moved[linkage.parents[i]] or arc.articulation.nv > 0
    if any(moved):
        moved[0] = True
        result = [said if moves else Meaning() for said, moves in zip(result, moved, strict=True)]
    deforming = ["def" in words_of(link)[:1] for link in linkage.links]
    if sum(deforming) >= DEFORMING:
        result = [said if deforms else Meaning(aside=True) for said, deforms in zip(result, deforming, strict=True)]
    return result


def _fingers(
    shape: Shape, meanings: Sequence[Meaning], roles: Mapping[str, int | None], given: Mapping[str, int | None]
) -> dict[str, int]:
    """Return the joints of the fingers, those of a map first, without links that are part of a limb."""
    known = find_fingers(shape, meanings, roles) | {role: link for role, link in given.items() if role in FINGERS}
    taken = set(roles.values())
    return {role: link for role in FINGERS if (link := known.get(role)) is not None and link not in taken}


def _checked(linkage: Linkage, given: Mapping[str, Any], what: str) -> dict[str, int | None]:
    if not isinstance(given, Mapping):
        raise MappingError(f"the map of the {what} is a mapping from roles to links, got {given!r}.")
    result: dict[str, int | None] = {}
    for role, link in given.items():
        if role not in ROLES and role not in FINGERS:
            raise MappingError(
                f"no role {role!r} in the map of the {what}. Roles are {', '.join(ROLES)}; fingers are left_thumb_1 to"
                " right_little_3."
            )
        try:
            result[role] = None if link is None else linkage.link_index(link)
        except LinkNotFoundError as error:
            raise MappingError(f"role {role!r} of the {what}: {error}") from error
    limbs: dict[int, str] = {}
    for role, index in result.items():
        limb = role in ROLES and role not in TRUNK
        if limb and index is not None and limbs.setdefault(index, role) != role:
            raise MappingError(
                f"the map of the {what} names one link, {linkage.links[index]!r}, for {limbs[index]!r} and {role!r};"
                " each part of a limb needs a separate link. Name another, or None (null) for a part that is missing."
            )
    return result


def _limbs(
    shape: Shape, meanings: Sequence[Meaning]
) -> tuple[dict[str, int | None], dict[str, str], dict[str, RobotJoint]]:
    """Return the joints of arms and legs, how they were found, and their positions in limbs of revolute joints.

    They are cached in the linkage, since the checks for persons and for quadrupeds both need them.
    """
    return shape.linkage.cache.get("limbs", "", lambda: _find_limbs(shape, meanings))


def _find_limbs(
    shape: Shape, meanings: Sequence[Meaning]
) -> tuple[dict[str, int | None], dict[str, str], dict[str, RobotJoint]]:
    roles: dict[str, int | None] = {}
    reasons: dict[str, str] = {}
    joints: dict[str, RobotJoint] = {}
    for limb, ends in _ends(shape, meanings).items():
        meeting = shape.meeting(list(ends.values())) if len(ends) > 1 else -1
        for side, end in ends.items():
            chain = shape.path(end, meeting)
            if meeting < 0:
                chain = [i for i in chain if i > 0] or chain
            of_joints = limb_of_joints(shape, chain, limb, meanings)
            for part, joint in of_joints.items():
                roles[f"{side}_{part}"], reasons[f"{side}_{part}"] = joint.link, "joints"
                joints[f"{side}_{part}"] = joint
            if of_joints:
                continue
            for part, link in parts_along(shape, chain, meanings, limb).items():
                roles[f"{side}_{part}"] = link
                reasons[f"{side}_{part}"] = "name" if meanings[link].part else "shape"
    return roles, reasons, joints


def _ends(shape: Shape, meanings: Sequence[Meaning]) -> dict[str, dict[str, int]]:
    """Return the last links of arms and legs by limb and side: by names, else by shape, else by joints."""
    result: dict[str, dict[str, int]] = {}
    guessed = {} if any(said.side and said.limb for said in meanings) else mirrored_limbs(shape)
    for limb, parts in LIMBS.items():
        named = {
            side: [i for i, said in enumerate(meanings) if said.side == side and said.limb == limb] for side in SIDES
        }
        named = {side: attached(shape, meanings, links) for side, links in named.items()}
        bent = ("shoulder", "elbow", "hip", "knee")
        if any(_forked(shape, [i for i in links if meanings[i].part in bent]) for links in named.values()):
            continue  # two left legs: an animal
        ends = {side: end_of_limb(shape, links, meanings, parts[3]) for side, links in named.items() if links}
        if ends or limb in guessed:
            result[limb] = ends or guessed[limb]
    if "arm" not in result and len(result.get("leg", {})) == len(SIDES):
        arms = arms_beside(shape, result["leg"])
        return {"arm": arms, **result} if arms else result
    return result


def _forked(shape: Shape, links: Sequence[int]) -> bool:
    """Return whether moving links are on more than one limb."""
    moving = {i for i in links if shape.linkage.arcs[i].articulation.nv}
    return sum(not moving & set(shape.path(i)[:-1]) for i in moving) > 1


def _trunk(shape: Shape, meanings: Sequence[Meaning], roles: dict[str, int | None], reasons: dict[str, str]) -> None:
    """Add hips and chest, where the legs and the arms meet, the spine between them, neck and head."""
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
    head = roles.get("head")
    if "neck" not in roles and head is not None and chest is not None and chest in shape.path(head):
        between = [i for i in shape.path(head, chest) if i != head and shape.linkage.arcs[i].articulation.nq]
        if between:
            roles["neck"], reasons["neck"] = between[0], "shape"


def bones_for(linkage: Linkage, path: FilePath) -> dict[str, str]:
    """Return links by role for a file of humanoid bones, such as a VRM animation; nothing for other files.

    Raises:
        MappingError: If the linkage has neither arms nor legs.
    """
    row = format_of(path)
    if not row.humanoids or row.hosts:
        return {}
    body = recognise(linkage, what=linkage.name)
    return {**body.roles, **body.fingers}
