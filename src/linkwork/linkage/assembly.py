"""Attach another linkage to a frame, with all its parts.

Use it for a gripper on a flange, or for several robots on a common base.
"""

from __future__ import annotations

from dataclasses import replace as replaced
from typing import TYPE_CHECKING

from ..errors import LinkageError, listed
from ..transforms import IDENTITY, TransformLike, as_transform
from .edits import carrier, replace
from .geometry import Polyline, Visual
from .tree import ROOT, fresh

if TYPE_CHECKING:
    from .linkage import Link, Linkage


def attach(linkage: Linkage, other: Linkage, frame: str, *, prefix: str = "", at: TransformLike = IDENTITY) -> Linkage:
    """Return a linkage with another one attached to one of its frames.

    Links, shapes, masses, joints with their limits and leaders, frames, loops and couplings come along. The other's
    root arc becomes the joint between the two: welded, sliding in a plane or free, as it was to the world.

    Args:
        linkage: The linkage to start from; its name is kept.
        other: What to attach.
        frame: The link or frame that carries it.
        prefix: Put before every name of the other, so that names differ: ``"left_"``.
        at: frame_from_other, where the other's world lies in the frame: 4x4 or a position [m].

    Each linkage keeps its own collision shapes. If only one of the two has shapes of the role "collision", the visual
    shapes of the other get that role too.

    Stored poses and groups are kept, those of the other with the prefix. Two of the same name are merged. A joint that
    a stored pose did not contain has its neutral value there.

    Raises:
        LinkageError: If both have a link, frame, joint, loop or coupling of one name.
    """
    if not isinstance(prefix, str):
        raise LinkageError(f"the prefix of an attached linkage is a text such as 'left_', got {prefix!r}.")
    part = _prefixed(other, prefix)
    _check_apart(linkage, part, other, prefix)
    link, link_from_frame = carrier(linkage, frame)
    placement = link_from_frame @ as_transform(at, f"place of {other.name!r} in {frame!r}") @ part.root.placement
    name = part.root.name
    if part.root.articulation.nq == 0:
        name = fresh(f"{part.links[0]}_mount", {arc.name for arc in (*linkage.arcs, *part.arcs[1:])})
    mount = replaced(part.root, name=name, parent=link, placement=placement)
    groups = dict(linkage.groups)
    for group, joints in part.groups.items():
        groups[prefix + group] = (*groups.get(prefix + group, ()), *joints)
    whole = type(linkage)(
        [*_with_collision_shapes(linkage, part), *_with_collision_shapes(part, linkage)],
        [*linkage.arcs[1:], mount, *part.arcs[1:]],
        name=linkage.name,
        frames=[*linkage.extra_frames, *part.extra_frames],
        root=linkage.root,
        loops=[*linkage.loops, *part.loops],
        couplings=[*linkage.couplings, *part.couplings],
        groups=groups,
        disabled_pairs={**linkage.disabled_pairs, **part.disabled_pairs},
        origin=linkage.origin,
    )
    poses: dict[str, dict[str, float]] = {}
    for mark, source in (("", linkage), (prefix, part)):
        for pose, values in source.poses.items():
            poses.setdefault(mark + pose, {}).update(zip(source.coordinates, values.tolist(), strict=True))
    return replace(whole, poses=poses) if poses else whole


def _with_collision_shapes(linkage: Linkage, other: Linkage) -> list[Link]:
    """Return the links of a linkage; its visual shapes also serve for collisions if only the other has such shapes."""
    if _collides(linkage) or not _collides(other):
        return list(linkage.nodes)
    return [
        replaced(
            node,
            visuals=(
                *node.visuals,
                *(
                    Visual(seen.shape, seen.placement, role="collision")
                    for seen in node.visuals
                    if not isinstance(seen.shape, Polyline)
                ),
            ),
        )
        for node in linkage.nodes
    ]


def _collides(linkage: Linkage) -> bool:
    return any(visual.role == "collision" for node in linkage.nodes for visual in node.visuals)


def _prefixed(linkage: Linkage, prefix: str) -> Linkage:
    """Return a linkage with a prefix before all names but those of its poses."""
    if not prefix:
        return linkage
    joints = {arc.name: prefix + arc.name for arc in linkage.arcs}
    return replace(
        linkage,
        links={name: {"name": prefix + name} for name in linkage.links},
        joints={old: {"name": new} for old, new in joints.items()},
        frames=[replaced(frame, name=prefix + frame.name, link=prefix + frame.link) for frame in linkage.extra_frames],
        loops=[
            replaced(loop, name=prefix + loop.name, first=prefix + loop.first, second=prefix + loop.second)
            for loop in linkage.loops
        ],
        couplings=[replaced(coupling.renamed(joints), name=prefix + coupling.name) for coupling in linkage.couplings],
    )


def _check_apart(linkage: Linkage, part: Linkage, other: Linkage, prefix: str) -> None:
    """Raise LinkageError with advice if two linkages have names in common.

    Fixed root arcs are not checked: one called "root" in the first is renamed, and the second's gets a new name.
    """
    ours = [arc.name for arc in linkage.arcs if arc.name != ROOT or arc.articulation.nq or arc.parent is not None]
    theirs = [arc.name for arc in part.arcs if arc.articulation.nq or arc.parent is not None]
    names = {
        "frames": (linkage.frames, part.frames),
        "joints": (ours, theirs),
        "loops": ([loop.name for loop in linkage.loops], [loop.name for loop in part.loops]),
        "couplings": ([one.name for one in linkage.couplings], [one.name for one in part.couplings]),
    }
    for kind, (first, second) in names.items():
        taken = set(first)
        both = [repr(name) for name in second if name in taken]
        if both:
            what = f"{kind} {listed(both)} are in {linkage.name!r} and in {other.name!r}"
            advice = f"{prefix!r} is taken as a prefix, so give another" if prefix else "give the second a prefix"
            raise LinkageError(f"{what}; {advice}, such as prefix={other.name + '_'!r}.")
