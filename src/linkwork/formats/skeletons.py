"""Skeletons as glTF and USD have them: links at their rest placements, made into linkages and compared with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..linkage.joints import Articulation, Fixed, Floating, Joint
from ..linkage.linkage import Link, Linkage
from ..linkage.origin import Origin
from ..linkage.tree import ROOT, fresh
from ..transforms import IDENTITY, FloatArray, steady

AGREE = 1e-4  # how far a linkage may be from the skeleton it was written with


def linkage_at_rest(
    name: str,
    links: Sequence[Link],
    parents: Sequence[int],
    placements: Sequence[FloatArray] | FloatArray,
    articulations: Sequence[Articulation],
    world: FloatArray = IDENTITY,
    *,
    origin: Origin | None = None,
) -> Linkage:
    """Return a linkage whose neutral pose, also called ``"rest"``, is the rest pose of a skeleton.

    A lone root link hangs on the world; several hang on a link ``"base"`` that is added.

    Args:
        name: Its name.
        links: The links; the joint above each has its name.
        parents: Index of the link above each, -1 for a root.
        placements: parent_from_link at rest.
        articulations: How each link moves on its parent.
        world: world_from_file.
        origin: The file, if there is more in it than a linkage.
    """
    names = [link.name for link in links]
    base = fresh("base", set(names))
    joints = [
        Joint(names[k], names[parent] if parent >= 0 else base, names[k], articulations[k], placements[k])
        for k, parent in enumerate(parents)
    ]
    rest: Any = {"rest": {}}  # nothing said: all is neutral
    if parents.count(-1) > 1:
        root = Joint(ROOT, None, base, Fixed(), world)
        return Linkage([Link(base), *links], joints, name=name, root=root, poses=rest, origin=origin)
    first = joints.pop(parents.index(-1))
    own = first.name if first.articulation.nq else ROOT
    root = replace(first, name=own, parent=None, placement=world @ first.placement)
    return Linkage(links, joints, name=name, root=root, poses=rest, origin=origin)


def move_link(linkage: Linkage, poses: FloatArray, link: str, shift: FloatArray, turn: FloatArray) -> None:
    """Set the joint above a link in poses (frames, nq) so that it shifts and turns the link from its rest placement.

    Args:
        linkage: From `linkage_at_rest`: its joints float, turn as balls or are fixed.
        poses: Changed in place.
        link: The link.
        shift: Along the axes at rest [m], shape (..., 3).
        turn: Rotations, shape (frames, 3, 3), or one alone for a link that does not turn.
    """
    from scipy.spatial.transform import Rotation

    arc = linkage.link_index(link)
    articulation, q = linkage.arcs[arc].articulation, linkage.drives[arc].q
    if isinstance(articulation, Floating):
        poses[:, q : q + 3] = shift
        q += 3
    if articulation.nq and turn.ndim > 2:
        quaternions = Rotation.from_matrix(turn).as_quat(scalar_first=True)
        poses[:, q : q + 4] = steady(quaternions * (-1.0 if quaternions[0, 0] < 0.0 else 1.0))


def local_matrices(linkage: Linkage, poses: FloatArray, file_from_world: FloatArray = IDENTITY) -> FloatArray:
    """Return parent_from_link of all links for poses (..., nq), shape (..., n, 4, 4); the first hangs on the file."""
    arcs = zip(linkage.arcs, linkage.drives, strict=True)
    local = [arc.placement @ arc.articulation.matrix(drive.values(poses)) for arc, drive in arcs]
    return np.stack([file_from_world @ local[0], *local[1:]], axis=-3)


def agree(matrices: FloatArray, rotation: FloatArray, position: FloatArray) -> bool:
    """Tell whether transforms (..., 4, 4) have these rotations and, for their size, these positions."""
    size = 1.0 + float(np.abs(matrices[..., :3, 3]).max(initial=0.0))
    turned, moved = np.abs(matrices[..., :3, :3] - rotation), np.abs(matrices[..., :3, 3] - position)
    return bool(turned.max(initial=0.0) <= AGREE and moved.max(initial=0.0) <= AGREE * size)
