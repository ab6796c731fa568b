"""Skins of linkages that were read from files: meshes bound to bones, and the bind pose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from ..linkage.euler_angles import turn_values
from ..linkage.joints import Ball, Floating
from ..linkage.linkage import Linkage
from ..linkage.poses import rest_pose
from ..linkage.skin import Skin
from ..transforms import FloatArray

GLTF, USD = (".gltf", ".glb", ".vrm"), (".usd", ".usda", ".usdc", ".usdz")
READERS = {**dict.fromkeys(GLTF, "gltf_skin"), **dict.fromkeys(USD, "usd_skin")}
FLAT = 1e-6  # smallest singular value relative to the largest; flatter bind matrices define no orientation


def skin_of(linkage: Linkage) -> Skin | None:
    """Return the skin in the file of a linkage; None if it has no meshes.

    Raises:
        FormatError: If the file no longer exists or cannot be read.
    """
    origin, reader = linkage.origin, _reader(linkage)
    if origin is None or reader is None or not origin.has_meshes:
        return None
    return linkage.cache.get("skin", str(origin.file), lambda: _Kept(reader.read_skin(linkage, origin))).skin


def bind_pose(linkage: Linkage) -> FloatArray | None:
    """Return the pose in which the skin of a character was bound; None if its file does not contain it.

    The rest pose of a file may be any pose, such as the first frame of a dance; skins are bound in a T-pose or an
    A-pose. The root stays at rest.
    """
    origin, reader = linkage.origin, _reader(linkage)
    if origin is None or reader is None or not Path(origin.file).is_file():
        return None
    return linkage.cache.get(
        "bind", str(origin.file), lambda: _Bound(_pose_of(linkage, reader.read_binds(linkage, origin)))
    ).pose


def _reader(linkage: Linkage) -> Any:
    """Return the module that reads skins for the file format of a linkage; None if there is none."""
    kind = None if linkage.origin is None else PurePath(linkage.origin.file).suffix.lower()
    return import_module(f".{READERS[kind]}", __package__) if kind in READERS else None


def _pose_of(linkage: Linkage, binds: Mapping[str, FloatArray]) -> FloatArray | None:
    """Return the pose with the relative orientations of the links at binding."""
    turns = {}
    for link, bind in binds.items():
        u, sizes, vt = np.linalg.svd(bind[:3, :3])
        if sizes.min() > FLAT * sizes.max() and np.linalg.det(u @ vt) > 0.0:
            turns[link] = (u @ vt).T  # bound_from_link
    pose, moved = rest_pose(linkage), False
    for i, (arc, drive) in enumerate(zip(linkage.arcs, linkage.drives, strict=True)):
        if linkage.links[i] not in turns or not isinstance(arc.articulation, Ball | Floating) or arc.mimic is not None:
            continue
        above, turn = linkage.parents[i], arc.placement[:3, :3]
        while above >= 0 and linkage.links[above] not in turns:
            turn, above = linkage.arcs[above].placement[:3, :3] @ turn, linkage.parents[above]
        if above >= 0:
            local = turn.T @ turns[linkage.links[above]].T @ turns[linkage.links[i]]
            values = turn_values(arc.articulation, local[None])[0]
            columns = range(linkage.nq)[drive.columns]
            pose[columns[-len(values) :]], moved = values, True
    return pose if moved else None


@dataclass(frozen=True, eq=False)
class _Bound:
    """Wraps a pose for the cache, which does not store None."""

    pose: FloatArray | None


@dataclass(frozen=True, eq=False)
class _Kept:
    """Wraps a skin for the cache, which does not store None."""

    skin: Skin | None
