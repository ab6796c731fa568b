"""Overlaps of a body with itself in a motion: the pair of links, the frames and the depth.

A character without shapes gets capsules, see `collision.thick_bones`. Capsules two joints apart are not checked,
because feet bend towards shins. Since bodies are wider than these capsules, some overlaps may be missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..collision.bone_shapes import thick_bones
from ..collision.near import near_records
from ..collision.packing import Scene, shapes_of
from ..collision.pair_table import counted
from ..collision.scenes import scene_of
from ..errors import LinkageError
from ..kernels.collision.piece_layout import NEAR
from ..linkage.linkage import Linkage
from ..linkage.poses import rest_pose
from ..transforms import FloatArray
from .checks import Finding, extent, runs

if TYPE_CHECKING:
    from .clips import Clip

DEPTH = 0.012  # smallest depth that counts, in sizes of the body
THICK = 0.025  # largest radius of bones, in sizes of the body: shins that pass each other must not be found
MOST = 32  # pairs checked per frame
FLAT = 1e-9  # share of the size within which frames lie in one plane
ALWAYS = 0.9  # pairs that overlap in at least this share of the frames are part of the design


def with_shapes(linkage: Linkage, size: float) -> Linkage | None:
    """Return a linkage with shapes: itself, or a cached one with capsules as bones; None if it has no bones."""
    return linkage if shapes_of(linkage) else linkage.cache.get("bones", size, lambda: _with_bones(linkage, size))


def _with_bones(linkage: Linkage, size: float) -> Linkage | None:
    try:
        return thick_bones(linkage, most=THICK * size)
    except LinkageError:  # all joints are at one point
        return None


def _related(linkage: Linkage) -> set[frozenset[str]]:
    """Return pairs of links two joints apart: grandparent and grandchild, and siblings."""
    above = [linkage.parents[k] for k in range(len(linkage.links))]
    result = set[frozenset[str]]()
    for k, name in enumerate(linkage.links):
        if above[k] >= 0:
            result |= {frozenset((name, linkage.links[j])) for j in linkage.children[above[k]] if j != k}
            if above[above[k]] >= 0:
                result.add(frozenset((name, linkage.links[above[above[k]]])))
    return result


def scene_of_body(clip: Clip) -> Scene | None:
    """Return the scene for self-overlaps of a body, without pairs that touch by design; None if there is none.

    Planar bodies and bodies with loops have none, because their shapes are drawn on top of each other.
    """
    linkage = with_shapes(clip.linkage, extent(clip))
    if linkage is None or linkage.loops or _is_flat(linkage):
        return None
    whole = scene_of(linkage)
    ignored = {frozenset(pair) for pair in _depths(whole, rest_pose(linkage)[None], 0.0)}
    ignored |= set() if linkage is clip.linkage else _related(linkage)
    often = _depths(whole, np.ascontiguousarray(clip.poses), depth_of(clip, None))
    ignored |= {frozenset(pair) for pair, deep in often.items() if len(clip) > 1 and (deep > 0.0).mean() > ALWAYS}
    pairs = tuple(pair for pair in counted(linkage) if frozenset(pair) not in ignored)
    return scene_of(linkage, pairs=pairs) if pairs else None


def _is_flat(linkage: Linkage) -> bool:
    """Return whether all frames stay in one plane: joints rotate about one direction, normal to all positions."""
    if linkage.nq == 0:
        return True
    q = linkage.random_pose(np.random.default_rng(0))
    turns = np.concatenate([linkage.jacobian(q, link)[3:] for link in linkage.links], axis=1)
    places = linkage.forward(q).array[:, :3, 3]
    across = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    directions = np.linalg.svd(turns, compute_uv=False)
    return bool(across[-1] <= FLAT * (1.0 + across[0]) and directions[1] <= FLAT * (1.0 + directions[0]))


def depth_of(clip: Clip, overlap: float | None) -> float:
    """Return the allowed depth of an overlap of two links [m]."""
    return DEPTH * extent(clip) if overlap is None else overlap


def overlaps(clip: Clip, overlap: float | None = None) -> list[Finding]:
    """Return overlaps of links deeper than `overlap` [m]; 1.2 % of the body's size by default."""
    scene, least, found = scene_of_body(clip), depth_of(clip, overlap), list[Finding]()
    if scene is None:
        return found
    for (one, two), deep in _depths(scene, np.ascontiguousarray(clip.poses), least).items():
        for first, last in runs(deep > 0.0):
            most = float(deep[first : last + 1].max())
            text = f"{one} and {two} are up to {most:.3g} m inside each other."
            found.append(Finding("overlap", first, last, f"{one}, {two}", most, "m", text))
    return found


def _depths(scene: Scene, poses: FloatArray, least: float) -> dict[tuple[str, str], FloatArray]:
    """Return the depths of pairs over time (n,), for pairs deeper than `least` at some pose [m]."""
    result: dict[tuple[str, str], FloatArray] = {}
    most = min(MOST, scene.most)
    if not most:
        return result
    records, counts = near_records(scene, poses, -least, most)
    frames, places = np.nonzero(np.arange(most) < counts[:, None])
    near = NEAR.view(records[frames, places])
    owners: NDArray[np.int64] = np.stack([near.owner_a, near.owner_b], axis=1).astype(np.int64)
    for frame, (a, b), distance in zip(frames.tolist(), owners.tolist(), near.distance.tolist(), strict=True):
        row = result.setdefault((scene.owners[a], scene.owners[b]), np.zeros(len(poses)))
        row[frame] = -distance
    return result
