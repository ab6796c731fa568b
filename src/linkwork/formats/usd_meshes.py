"""Extract the skinned meshes of a USD skeleton, with their materials, as plain arrays.

`usd_stage` runs this file in its process, so it imports nothing of linkwork.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

try:
    from pxr import Ar, Usd, UsdGeom, UsdShade, UsdSkel
except ImportError:  # `usd_stage` reports it
    Usd = None

MAX_CORNERS = 4_000_000  # face corners of all meshes
MAX_BYTES = 2**26  # of all textures
UNSEEN = ("proxy", "guide")
GREY = (0.5, 0.5, 0.5)
TEXTURE, PLACED, SURFACE = "UsdUVTexture", "UsdTransform2d", "UsdPreviewSurface"


class SkinnedMeshes:
    """The skinned meshes of a skeleton as arrays.

    Args:
        stage: The stage.
        skeleton: The skeleton that moves them.
        folders: Real paths of folders that textures may be read from.

    Attributes:
        entries: Properties of each mesh.
        materials: Properties of each material.
        arrays: Arrays of meshes, and bytes of textures, by name.
    """

    def __init__(self, stage: Any, skeleton: Any, folders: Sequence[str]) -> None:
        self.skeleton, self.folders = skeleton, folders
        self.entries: list[dict[str, Any]] = []
        self.materials: list[dict[str, Any]] = []
        self.arrays: dict[str, Any] = {}
        self._numbers: dict[str, int] = {}  # of materials by path
        self._textures: dict[str, int | None] = {}
        self._corners, self._bytes = MAX_CORNERS, MAX_BYTES
        joints = [str(token) for token in UsdSkel.Skeleton(skeleton).GetJointsAttr().Get()]
        self._places = {joint: k for k, joint in enumerate(joints)}
        every = Usd.TraverseInstanceProxies()
        roots = [prim for prim in Usd.PrimRange(stage.GetPseudoRoot(), every) if prim.IsA(UsdSkel.Root)]
        for root in roots:
            cache = UsdSkel.Cache()
            cache.Populate(UsdSkel.Root(root), every)
            for prim in Usd.PrimRange(root, every):
                if prim.IsA(UsdGeom.Mesh) and self._is_moved(prim):
                    query = cache.GetSkinningQuery(prim)
                    if query and query.HasJointInfluences():
                        self._take(UsdGeom.Mesh(prim), query)

    def _is_moved(self, prim: Any) -> bool:
        """Return whether a mesh is visible and bound to the skeleton."""
        seen = UsdGeom.Imageable(prim)
        if seen.ComputeVisibility() == UsdGeom.Tokens.invisible or str(seen.ComputePurpose()) in UNSEEN:
            return False
        bound = UsdSkel.BindingAPI(prim).GetInheritedSkeleton()
        return bool(bound) and bound.GetPrim() == self.skeleton

    def _take(self, mesh: Any, query: Any) -> None:
        points = _numbers(mesh.GetPointsAttr(), 3)
        counts = _numbers(mesh.GetFaceVertexCountsAttr(), 1, np.int64).ravel()
        indices = _numbers(mesh.GetFaceVertexIndicesAttr(), 1, np.int64).ravel()
        found = query.ComputeVaryingJointInfluences(len(points))
        self._corners -= len(indices)
        if found is None or not len(points) or counts.sum() != len(indices) or self._corners < 0:
            return
        owners, weights = (np.array(values).reshape(len(points), -1) for values in found)
        order = query.GetJointOrder()
        if order is not None:  # it has its own joint order
            own = np.array([self._places.get(str(joint), -1) for joint in order], np.int64)
            if owners.min(initial=0) < 0 or owners.max(initial=0) >= len(own):
                return
            owners = own[owners]
        if points.dtype != np.float64 or owners.max(initial=0) >= len(self._places):
            return
        bound = np.array(query.GetGeomBindTransform(), np.float64)
        k, prim = len(self.entries), mesh.GetPrim()
        numbers = self._of_faces(prim, len(counts))
        self.arrays[f"points{k}"] = points @ bound[:3, :3] + bound[3, :3]  # USD uses row vectors
        self.arrays[f"joints{k}"], self.arrays[f"weights{k}"] = owners, weights.astype(np.float64)
        self.arrays[f"counts{k}"], self.arrays[f"indices{k}"], self.arrays[f"materials{k}"] = counts, indices, numbers
        painted = [self.materials[i] for i in np.unique(numbers[numbers >= 0]).tolist()]
        maps = sorted({one["uv"] for one in painted if one["texture"] is not None})
        sources = [(f"uv{k}_{j}", name, 2) for j, name in enumerate(maps)] + [(f"colors{k}", "displayColor", 3)]
        for name, source, width in sources:
            values = _at_corners(prim, source, width, counts, indices)
            if values is not None:
                self.arrays[name] = values
        holes = _numbers(mesh.GetHoleIndicesAttr(), 1, np.int64).ravel()
        mirrored = str(mesh.GetOrientationAttr().Get()) == "leftHanded"
        self.entries.append({"mirrored": mirrored, "holes": holes.tolist(), "maps": maps})

    # Materials

    def _of_faces(self, prim: Any, count: int) -> Any:
        """Return the material of every face, -1 for none."""
        numbers = np.full(count, self._material(prim))
        for part in UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets():
            faces = _numbers(part.GetIndicesAttr(), 1, np.int64).ravel()
            numbers[faces[(faces >= 0) & (faces < count)]] = self._material(part.GetPrim())
        return numbers

    def _material(self, prim: Any) -> int:
        """Return the index of the material of a prim, -1 if it has none with a colour."""
        material = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
        if not material:
            return -1
        path = str(material.GetPath())
        if path not in self._numbers:
            said = self._surface(material)
            self._numbers[path] = -1 if said is None else len(self.materials)
            self.materials += [] if said is None else [said]
        return self._numbers[path]

    def _surface(self, material: Any) -> dict[str, Any] | None:
        """Return the colour or the texture of a preview surface."""
        shader = material.ComputeSurfaceSource()[0]
        if not shader or shader.GetIdAttr().Get() != SURFACE:
            return None
        said: dict[str, Any] = {"color": GREY, "texture": None, "uv": "st", "scale": (1.0, 1.0), "shift": (0.0, 0.0)}
        value, source = _input(shader, "diffuseColor")
        if source is not None and source.GetIdAttr().Get() == TEXTURE:
            said["texture"] = self._texture(_input(source, "file")[0])
            said["color"] = (1.0, 1.0, 1.0) if said["texture"] is not None else GREY
            self._follow(source, said)
        elif value is not None:
            said["color"] = tuple(map(float, value))
        return said

    def _follow(self, texture: Any, said: dict[str, Any]) -> None:
        """Find the texture coordinates of a texture."""
        _, source = _input(texture, "st")
        if source is not None and source.GetIdAttr().Get() == PLACED:
            for key, name in (("scale", "scale"), ("shift", "translation")):
                value, _ = _input(source, name)
                said[key] = said[key] if value is None else tuple(map(float, value))
            _, source = _input(source, "in")
        if source is not None and (name := _input(source, "varname")[0]) is not None:
            said["uv"] = str(name)

    def _texture(self, file: Any) -> int | None:
        """Return the index of an image file, and store its bytes; None if it is missing or not allowed."""
        path = str(file.resolvedPath) if file is not None else ""
        if path not in self._textures:
            outer = Ar.SplitPackageRelativePathOuter(path)[0] if Ar.IsPackageRelativePath(path) else path
            real = Path(os.path.realpath(outer))
            allowed = bool(path) and any(real.is_relative_to(folder) for folder in self.folders)
            asset = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(path)) if allowed else None
            data = b""
            if asset:
                with asset as opened:
                    data = bytes(opened.GetBuffer()) if opened.GetSize() <= self._bytes else b""
            self._bytes -= len(data)
            self._textures[path] = None
            if data:
                self._textures[path] = sum(name.startswith("texture") for name in self.arrays)
                self.arrays[f"texture{self._textures[path]}"] = np.frombuffer(data, np.uint8)
        return self._textures[path]


def _input(shader: Any, name: str) -> tuple[Any, Any]:
    """Return the value of an input, or the shader it is connected to."""
    port = shader.GetInput(name)
    if not port:
        return None, None
    for attribute in UsdShade.Utils.GetValueProducingAttributes(port):
        if UsdShade.Utils.GetType(attribute.GetName()) == UsdShade.AttributeType.Output:
            return None, UsdShade.Shader(attribute.GetPrim())
        return _first(attribute), None
    return None, None


def _first(attribute: Any) -> Any:
    value = attribute.Get()
    return attribute.Get(Usd.TimeCode.EarliestTime()) if value is None else value


def _numbers(attribute: Any, width: int, kind: Any = np.float64) -> Any:
    """Return the array of an attribute; without rows if it has no value."""
    value = _first(attribute) if attribute else None
    return np.array(() if value is None else value, kind).reshape(-1, width)


def _at_corners(prim: Any, name: str, width: int, counts: Any, indices: Any) -> Any:
    """Return the values of a primvar at every face corner; None if it has none."""
    primvar = UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance(name)
    values = primvar.ComputeFlattened() if primvar else None
    if values is None and primvar:
        values = primvar.ComputeFlattened(Usd.TimeCode.EarliestTime())
    if values is None or not len(values):
        return None
    rows = np.array(values, np.float64).reshape(len(values), -1)
    places = {
        "constant": np.zeros(len(indices), np.int64),
        "uniform": np.repeat(np.arange(len(counts)), counts),
        "vertex": indices,
        "varying": indices,
        "faceVarying": np.arange(len(indices)),
    }.get(str(primvar.GetInterpolation()))
    if places is None or rows.shape[1] != width or places.min(initial=0) < 0 or places.max(initial=0) >= len(rows):
        return None
    return rows[places]
