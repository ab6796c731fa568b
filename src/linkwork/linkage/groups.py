"""Planning data of a linkage besides its tree: named groups of joints, and pairs of links that may touch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..errors import JointNotFoundError, LinkageError
from .joints import Joint
from .tree import Link, check_link, check_name

if TYPE_CHECKING:
    from .linkage import Linkage

Groups = Mapping[str, tuple[str, ...]]
Pairs = Mapping[tuple[str, str], str]


def as_groups(groups: Mapping[str, Iterable[str]] | None, arcs: Sequence[Joint], where: str) -> Groups:
    """Return groups of joints by name, each in the order of the linkage.

    Joints without their own values (fixed joints and followers) are left out.
    """
    if groups is not None and not isinstance(groups, Mapping):
        raise LinkageError(f"groups of {where} map names to joints, got {groups!r}.")
    moving = {arc.name: arc.articulation.nq > 0 and arc.mimic is None for arc in arcs}
    result: dict[str, tuple[str, ...]] = {}
    for name, joints in (groups or {}).items():
        check_name("group", name, (), where)
        if isinstance(joints, str) or not isinstance(joints, Iterable):
            raise LinkageError(f"group {name!r} of {where} holds names of joints, got {joints!r}.")
        given = list(joints)
        for joint in given:
            if joint not in moving:
                raise JointNotFoundError(joint, f"{where} (group {name!r})", moving)
        inside = set(given)
        result[name] = tuple(arc.name for arc in arcs if arc.name in inside and moving[arc.name])
    return MappingProxyType(result)


def as_pairs(
    pairs: Mapping[tuple[str, str], str] | Iterable[tuple[str, str]] | None, nodes: Sequence[Link], where: str
) -> Pairs:
    """Return pairs of links, each in the order of the linkage, with the reason why they may touch or cannot."""
    places = {node.name: k for k, node in enumerate(nodes)}
    result: dict[tuple[str, str], str] = {}
    given: Any = pairs or {}
    for pair, reason in given.items() if isinstance(given, Mapping) else ((pair, "") for pair in given):
        try:
            first, second = pair
        except (TypeError, ValueError) as error:
            raise LinkageError(f"a disabled pair of {where} is two names of links, got {pair!r}.") from error
        for link in (first, second):
            check_link(link, places, f"{where} (disabled pair)")
        if first == second:
            raise LinkageError(f"a disabled pair of {where} is two links, got {first!r} twice.")
        result[(first, second) if places[first] < places[second] else (second, first)] = str(reason)
    return MappingProxyType(result)


def carried(linkage: Linkage, joints: Mapping[str, Sequence[str]], links: Mapping[str, str]) -> dict[str, Any]:
    """Return the groups, pairs and origin of a linkage as arguments for a linkage derived from it.

    Args:
        linkage: The linkage to start from.
        joints: The new names of its joints; joints that are not listed were removed.
        links: The new names of its links.
    """
    groups = {
        name: [new for joint in members for new in joints.get(joint, ())] for name, members in linkage.groups.items()
    }
    pairs = {
        (links[first], links[second]): reason
        for (first, second), reason in linkage.disabled_pairs.items()
        if first in links and second in links
    }
    origin = None if linkage.origin is None else linkage.origin.renamed(links)
    return {"groups": groups, "disabled_pairs": pairs, "origin": origin}
