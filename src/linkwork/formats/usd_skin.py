"""Read the skinned meshes of a USD file as the skin of a linkage, and their bind pose.

`usd_meshes` extracts them, in the process that reads the file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..linkage.linkage import Linkage
from ..linkage.origin import Origin
from ..linkage.skin import IntArray, Skin
from ..transforms import FloatArray
from .atomic_files import on_disk
from .skeletons import rigid
from .skin_pieces import MAX_CORNERS, Piece, joined, mean_normals, strongest
from .textures import encoded, opened, sampled
from .usd_skeleton import composed, link_names, opened as opened_file, parents_of, rest_of


def read_skin(linkage: Linkage, origin: Origin) -> Skin | None:
    """Return the skinned meshes in the file of a linkage; None if there are none.

    Args:
        linkage: The linkage.
        origin: Its file, and how it was read.

    Raises:
        FormatError: If the file no longer exists or cannot be read.
    """
    reading = _SkinReader(linkage, origin, meshes=True)
    if not reading.binds:
        return None
    pieces = [piece for k in range(len(reading.header["skin"])) if (piece := reading.piece(k)) is not None]
    return joined(pieces, tuple(reading.binds), list(reading.binds.values()))


def read_binds(linkage: Linkage, origin: Origin) -> dict[str, FloatArray]:
    """Return link_from_bound by link; empty if the skeleton has no bind pose."""
    return _SkinReader(linkage, origin, meshes=False).binds


class _SkinReader:
    """The skeleton of a file with its meshes.

    Attributes:
        binds: link_from_bound by link, for joints that are links.
        bones: The bone of every joint of the skeleton, -1 for a joint that is not a link.
    """

    def __init__(self, linkage: Linkage, origin: Origin, *, meshes: bool) -> None:
        with on_disk(origin.file) as real:
            self.header, self.arrays = opened_file(origin.file, real, origin.folders, skin=meshes)
        self.binds: dict[str, FloatArray] = {}
        self.left = MAX_CORNERS
        if not self.header["skeletons"] or "bind" not in self.arrays:
            return
        names = {origin.name_of(link): link for link in linkage.links}
        links = [names.get(name) for name in link_names(self.header)]
        parents = parents_of(self.header["joints"], origin.file)
        worlds = composed(rest_of(self.arrays, parents, origin.file).copy(), parents, self.arrays["world"])
        turned = rigid(worlds)[:, :3, :3]
        self.bones = np.full(len(links), -1, np.int64)
        for k, link in enumerate(links):
            if link is not None and abs(np.linalg.det(self.arrays["bind"][k])) > 0.0:
                stretch = np.eye(4)  # a joint transform is that of its link times a stretch
                stretch[:3, :3] = origin.units * turned[k].T @ worlds[k, :3, :3]
                self.bones[k] = len(self.binds)
                self.binds[link] = stretch @ np.linalg.inv(self.arrays["bind"][k])

    def piece(self, k: int) -> Piece | None:
        """Return a mesh; None if it is damaged or nothing of it is left."""
        entry = self.header["skin"][k]
        points, owners = self.arrays[f"points{k}"], self.arrays[f"joints{k}"].astype(np.int64)
        counts, indices = (self.arrays[f"{name}{k}"].astype(np.int64) for name in ("counts", "indices"))
        if counts.min(initial=0) < 0 or indices.min(initial=0) < 0 or indices.max(initial=-1) >= len(points):
            return None
        if owners.min(initial=0) < -1 or owners.max(initial=-1) >= len(self.bones):
            return None
        light = self._light(k, len(indices), np.repeat(self.arrays[f"materials{k}"].astype(np.int64), counts))
        # Face corners with the same point and colour are merged.
        keys = np.concatenate([indices[:, None], np.round(255.0 * light)], axis=1)
        _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        self.left -= len(first)
        if self.left < 0:
            return None
        triangles = fans(counts, np.isin(np.arange(len(counts)), entry["holes"]))
        triangles = same.ravel()[triangles]
        used = indices[first]
        owners, weights = strongest(self._bones(owners[used]), self.arrays[f"weights{k}"][used])
        triangles = triangles[(weights.sum(axis=1) > 0.0)[triangles].all(axis=1)]
        if not len(triangles):
            return None
        mirror = np.linalg.det(list(self.binds.values())[owners[triangles[0, 0], 0]][:3, :3]) < 0.0
        if mirror != entry["mirrored"]:
            triangles = triangles[:, ::-1]
        normals = _smooth(points, used, triangles)
        return Piece(points[used], normals, encoded(light[first].clip(0.0, 1.0)), triangles, owners, weights)

    def _bones(self, owners: IntArray) -> IntArray:
        return np.where(owners >= 0, self.bones[owners], -1)

    def _light(self, k: int, count: int, materials: IntArray) -> FloatArray:
        """Return the colours of all face corners in linear light: of their materials, else their own."""
        light = np.full((count, 3), 0.5)
        if f"colors{k}" in self.arrays:
            light = self.arrays[f"colors{k}"].copy()
        maps = self.header["skin"][k]["maps"]
        for i, material in enumerate(self.header["materials"]):
            here = materials == i
            if not here.any():
                continue
            light[here] = material["color"]
            if material["texture"] is None:
                continue
            pixels, uv = self._pixels(material["texture"]), self.arrays.get(f"uv{k}_{maps.index(material['uv'])}")
            if pixels is not None and uv is not None:
                places = uv[here] * material["scale"] + material["shift"]
                light[here] = sampled(pixels, places * (1.0, -1.0))  # y up
        return light

    def _pixels(self, number: int) -> FloatArray | None:
        return opened(self.arrays[f"texture{number}"].astype(np.uint8).tobytes())


def fans(counts: IntArray, holes: Any) -> IntArray:
    """Return the triangles of polygons as indices of face corners.

    Example:
        >>> fans(np.array([3, 4]), np.zeros(2, bool)).tolist()
        [[0, 1, 2], [3, 4, 5], [3, 5, 6]]
    """
    starts = np.cumsum(counts) - counts
    number = np.where(holes, 0, np.maximum(counts - 2, 0))
    first = np.repeat(starts, number)
    step = np.arange(len(first)) - np.repeat(np.cumsum(number) - number, number)
    return np.stack([first, first + step + 1, first + step + 2], axis=1)


def _smooth(points: FloatArray, used: IntArray, triangles: IntArray) -> FloatArray:
    """Return normals at vertices, equal for vertices at the same point."""
    return mean_normals(points, used[triangles])[used]
