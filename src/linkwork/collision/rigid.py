"""Rigid bodies: links joined by fixed joints move together and cannot collide with each other."""

from __future__ import annotations

from ..linkage.linkage import Linkage


def rigid_groups(linkage: Linkage) -> tuple[int, ...]:
    """Return, for each link, the number of its group of links that do not move relative to each other.

    The number is the index of the first link of the group; group -1 is fixed in the world.

    Example:
        >>> import linkwork as lw
        >>> rigid_groups(lw.models.planar([2, 1]))
        (-1, 1, 2)
    """
    groups: list[int] = []
    for k, (joint, parent) in enumerate(zip(linkage.arcs, linkage.parents, strict=True)):
        moves = joint.articulation.nv > 0
        groups.append(k if moves else -1 if parent < 0 else groups[parent])
    return tuple(groups)
