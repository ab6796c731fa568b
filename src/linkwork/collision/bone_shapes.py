"""Collision capsules along the bones of skeletons without shapes, such as those of motion files."""

from __future__ import annotations

import math

import numpy as np

from ..errors import LinkageError
from ..linkage.geometry import Visual, bone
from ..linkage.linkage import Linkage
from ..transforms import as_number, inverse

SLIM = 0.16  # radius of a bone over its length, as in a forearm or a thigh
SHORTEST = 1e-3  # shortest bone, over the linkage's length


def thick_bones(linkage: Linkage, radius: float | None = None, *, most: float = math.inf) -> Linkage:
    """Return a linkage whose links have collision capsules, from each joint to the next and to its frames.

    BVH files have bones without shapes. These capsules are thinner than a body: a collision they find is real, but one
    with the belly may be missed. If shapes are known, use `Visual(shape, role="collision")` instead.

    Args:
        linkage: The linkage; its collision shapes are replaced, its visual shapes stay.
        radius: Radius of all bones [m]; by default 0.16 of the length of each.
        most: The largest radius by default [m].

    Example:
        >>> import linkwork as lw
        >>> arm = lw.Builder("arm").revolute("j", "upper").revolute("k", "lower", at=(1, 0, 0)).build()
        >>> [visual.shape for visual in thick_bones(arm).link("upper").visuals]
        [Capsule(radius=0.16, length=1.0)]
    """
    own = None if radius is None else as_number(radius, "radius of bones")
    if own is not None and own <= 0.0:
        raise LinkageError(f"the radius of bones must be positive, got {own:g}.")
    least, links, found = SHORTEST * linkage.length, {}, 0
    for index, node in enumerate(linkage.nodes):
        ends = [linkage.arcs[child].placement[:3, 3] for child in linkage.children[index]]
        ends += [frame.placement[:3, 3] for frame in linkage.extra_frames if frame.link == node.name]
        undo = inverse(node.matrix)  # shapes are moved by the node transform
        kept = [visual for visual in node.visuals if visual.role != "collision"]
        for end in ends:
            length = float(np.linalg.norm(end))
            if length > least:
                one = bone((0.0, 0.0, 0.0), end, min(SLIM * length, most) if own is None else own)
                kept.append(Visual(one.shape, undo @ one.placement, role="collision"))
                found += 1
        links[node.name] = {"visuals": tuple(kept)}
    if not found:
        raise LinkageError(f"linkage {linkage.name!r} has no bones: all joints and frames are at one place.")
    return linkage.replace(links=links)
