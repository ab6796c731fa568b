"""Skeletons of glTF, USD and FBX files: convert them to linkages and clips, and compare them with linkages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import TransformError
from ..linkage.joints import Articulation, Ball, Fixed, Floating, Joint
from ..linkage.linkage import Link, Linkage
from ..linkage.origin import Origin
from ..linkage.tree import ROOT, fresh
from ..motion.clips import Clip
from ..transforms import IDENTITY, FloatArray, inverse, steady
from .content import UniqueNames

AGREE = 1e-4  # largest difference between a linkage and the skeleton written with it
LARGEST = 1e100  # of the numbers in a transform, so that their squares are finite
STILL = 1e-5  # translations below this fraction of the size of the skeleton are ignored


@dataclass(frozen=True)
class WorldMotion:
    """Transforms of all joints over time: world_from_joint, rigid and in metres, shape (frames, joints, 4, 4)."""

    name: str
    times: FloatArray
    worlds: FloatArray


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

    A single root link is attached to the world; several are attached to an added link ``"base"``.

    Args:
        name: Name of the linkage.
        links: The links; the joint of each link has the name of the link.
        parents: Index of the parent of each link, -1 for a root.
        placements: parent_from_link at rest.
        articulations: The articulation of each link's joint.
        world: world_from_file.
        origin: The file, if it contains more than a linkage.
    """
    names = [link.name for link in links]
    base = fresh("base", set(names))
    joints = [
        Joint(names[k], names[parent] if parent >= 0 else base, names[k], articulations[k], placements[k])
        for k, parent in enumerate(parents)
    ]
    rest: Any = {"rest": {}}  # no values: the neutral pose
    if parents.count(-1) > 1:
        root = Joint(ROOT, None, base, Fixed(), world)
        return Linkage([Link(base), *links], joints, name=name, root=root, poses=rest, origin=origin)
    first = joints.pop(parents.index(-1))
    own = first.name if first.articulation.nq else ROOT
    root = replace(first, name=own, parent=None, placement=world @ first.placement)
    return Linkage(links, joints, name=name, root=root, poses=rest, origin=origin)


def moving_skeleton(
    name: str,
    links: Sequence[Link],
    parents: Sequence[int],
    rest: FloatArray,
    motions: Sequence[WorldMotion],
    free: Sequence[bool],
    *,
    origin: Origin | None = None,
) -> tuple[Linkage, dict[str, Clip]]:
    """Return the linkage of a skeleton and its motions, both given by world transforms of the joints.

    A free joint becomes a ball joint, or a floating joint if it also translates or is the only root.

    Args:
        name: Name of the linkage.
        links: The links; the joint of each link has the name of the link.
        parents: Index of the parent of each link, which precedes it; -1 for a root.
        rest: world_from_joint at rest, rigid and in metres, shape (joints, 4, 4).
        motions: The motions; later ones with a repeated name get a number.
        free: Whether each joint can move.
        origin: The file, if it contains more than a linkage.
    """
    placements = local_places(rest, parents)
    size = float(np.ptp(rest[:, :3, 3], axis=0).max()) or 1.0
    steps = [inverse(placements) @ local_places(motion.worlds, parents) for motion in motions]
    travel = np.zeros(len(links))
    for step in steps:
        travel = np.maximum(travel, np.abs(step[..., :3, 3]).max(axis=(0, 2)))
    lone, kinds = list(parents).count(-1) == 1, list[Articulation]()
    for k, parent in enumerate(parents):
        floats = (lone and parent < 0) or travel[k] > STILL * size
        kinds.append(Fixed() if not free[k] else Floating() if floats else Ball())
    linkage = linkage_at_rest(name, links, parents, placements, kinds, origin=origin)
    clips, names = {}, UniqueNames([motion.name for motion in motions])
    for motion, step in zip(motions, steps, strict=True):
        poses = np.repeat(linkage.neutral()[None], len(step), axis=0)
        for k, link in enumerate(links):
            move_link(linkage, poses, link.name, step[:, k, :3, 3], step[:, k, :3, :3])
        clips[names.take(motion.name, "motion")] = Clip(linkage, motion.times, poses)
    return linkage, clips


def move_link(
    linkage: Linkage,
    poses: FloatArray,
    link: str,
    shift: FloatArray,
    turn: FloatArray,
    before: FloatArray | None = None,
) -> None:
    """Set the joint of a link in poses (frames, nq) to a translation and rotation from its rest placement.

    Args:
        linkage: A linkage of `linkage_at_rest`: its joints are floating, ball or fixed.
        poses: The poses, changed in place.
        link: Name of the link.
        shift: Translation along the axes at rest [m], shape (..., 3).
        turn: Rotations, shape (frames, 3, 3), or a single matrix for a link that does not rotate.
        before: The pose (nq,) before the first of these, for continuous signs of quaternions.
    """
    from scipy.spatial.transform import Rotation

    arc = linkage.link_index(link)
    articulation, q = linkage.arcs[arc].articulation, linkage.drives[arc].q
    if isinstance(articulation, Floating):
        poses[:, q : q + 3] = shift
        q += 3
    if articulation.nq and turn.ndim > 2:
        quaternions = Rotation.from_matrix(turn).as_quat(scalar_first=True)
        turned = quaternions[0, 0] < 0.0 if before is None else quaternions[0] @ before[q : q + 4] < 0.0
        poses[:, q : q + 4] = steady(quaternions * (-1.0 if turned else 1.0))


def local_matrices(linkage: Linkage, poses: FloatArray, file_from_world: FloatArray = IDENTITY) -> FloatArray:
    """Return parent_from_link of all links for poses (..., nq), shape (..., n, 4, 4); file_from_link for the first."""
    arcs = zip(linkage.arcs, linkage.drives, strict=True)
    local = [arc.placement @ arc.articulation.matrix(drive.values(poses)) for arc, drive in arcs]
    return np.stack([file_from_world @ local[0], *local[1:]], axis=-3)


def agree(matrices: FloatArray, rotation: FloatArray, position: FloatArray) -> bool:
    """Return whether transforms (..., 4, 4) have these rotations and positions, relative to their size."""
    size = 1.0 + float(np.abs(matrices[..., :3, 3]).max(initial=0.0))
    turned, moved = np.abs(matrices[..., :3, :3] - rotation), np.abs(matrices[..., :3, 3] - position)
    return bool(turned.max(initial=0.0) <= AGREE and moved.max(initial=0.0) <= AGREE * size)


def local_places(worlds: FloatArray, parents: Sequence[int]) -> FloatArray:
    """Convert rigid world transforms (..., n, 4, 4) to transforms relative to the parents."""
    result = worlds.copy()
    below = [k for k, parent in enumerate(parents) if parent >= 0]
    if below:
        above = [parents[k] for k in below]
        result[..., below, :, :] = inverse(worlds[..., above, :, :]) @ worlds[..., below, :, :]
    return result


def rigid(matrices: FloatArray) -> FloatArray:
    """Return transforms (..., 4, 4) without scale, shear and reflection, by making the first two axes orthonormal.

    Raises:
        TransformError: If numbers are not finite, or so large that their squares are not.
    """
    if not (np.abs(matrices) < LARGEST).all():
        raise TransformError(f"has transforms with numbers beyond {LARGEST:g}.")
    x = _unit(matrices[..., :3, 0], np.array([1.0, 0.0, 0.0]))
    guide = np.eye(3)[np.abs(x).argmin(axis=-1)]
    y = _unit(_across(matrices[..., :3, 1], x), _unit(_across(guide, x), guide))
    result = np.broadcast_to(np.eye(4), matrices.shape).copy()
    result[..., :3, :3] = np.stack([x, y, np.cross(x, y)], axis=-1)
    result[..., :3, 3] = matrices[..., :3, 3]
    return result


def _across(vectors: FloatArray, axes: FloatArray) -> Any:
    """Return the part of vectors that is perpendicular to unit axes."""
    return vectors - (vectors * axes).sum(axis=-1, keepdims=True) * axes


def _unit(vectors: FloatArray, instead: FloatArray) -> FloatArray:
    """Return unit vectors; `instead` for vectors of length zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > 1e-12, vectors / np.maximum(length, 1e-12), instead)
