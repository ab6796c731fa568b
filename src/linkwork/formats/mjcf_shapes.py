"""Shapes of the bodies of a compiled MJCF model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import Remark
from ..linkage.geometry import Box, Capsule, Cylinder, Mesh, Shape, Sphere, Visual
from ..transforms import IDENTITY, FloatArray, transform
from .meshes import MeshFinder
from .mjcf_model import MeshGeom, placed

GREY = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's default color of a geom; then the color of its material is used
GEOM_KINDS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
HIDDEN_GROUP = 3  # MuJoCo's viewer shows groups 0 to 2; by convention, shapes for contact are in the others


class Looks:
    """Reads shapes of bodies, with remarks on those that differ from the file."""

    def __init__(self, model: Any, meshes: Mapping[int, MeshGeom], names: Sequence[str], finder: MeshFinder) -> None:
        self.model, self.meshes, self.names, self.finder = model, meshes, names, finder
        self.remarks: list[Remark] = []

    def visuals(self) -> list[list[Visual]]:
        """Return the shapes of each body."""
        result: list[list[Visual]] = [[] for _ in self.names]
        for i in range(self.model.ngeom):
            if (visual := self.visual(i)) is not None:
                result[int(self.model.geom_bodyid[i])].append(visual)
        return result

    def visual(self, geom: int) -> Visual | None:
        """Return the shape of a geom in its body; None if a linkage cannot store it."""
        model, body = self.model, self.names[int(self.model.geom_bodyid[geom])]
        placement = placed(model.geom_pos[geom], model.geom_quat[geom])
        if geom in self.meshes:
            shape = self._mesh(self.meshes[geom], body)
            placement = placement @ self.meshes[geom].geom_from_mesh
        else:
            shape, turn = self.shape(GEOM_KINDS[model.geom_type[geom]], model.geom_size[geom], body)
            placement = placement @ turn
        if shape is None:
            return None
        role = "visual" if self.is_silent(geom) or model.geom_group[geom] < HIDDEN_GROUP else "collision"
        return Visual(shape, placement, self._color(geom), role)

    def is_silent(self, geom: int) -> bool:
        """Return whether a geom touches nothing in MuJoCo."""
        return not self.model.geom_contype[geom] and not self.model.geom_conaffinity[geom]

    def _mesh(self, mesh: MeshGeom, body: str) -> Shape | None:
        if mesh.shape is not None:
            return mesh.shape
        if not mesh.file:
            text = "meshes without volume and height fields in files are not kept."
            self._once("dropped", text, body)
            return None
        if (remark := self.finder.remark(mesh.file, body)) is not None:
            self.remarks.append(remark)
        file = self.finder.find(mesh.file).file
        return Mesh(mesh.file, mesh.scale, None if file is None else str(file))

    def shape(self, kind: str, size: FloatArray, body: str) -> tuple[Shape | None, FloatArray]:
        """Return the shape of a geom and geom_from_shape."""
        a, b, c = (float(half) for half in size)
        match kind:
            case "box":
                return Box((2.0 * a, 2.0 * b, 2.0 * c)), IDENTITY
            case "sphere":
                return Sphere(a), IDENTITY
            case "cylinder" | "capsule":
                return (Cylinder if kind == "cylinder" else Capsule)(a, 2.0 * b), IDENTITY
            case "ellipsoid":
                self._once("approximate", "an ellipsoid is drawn as the nearest capsule or sphere.", body)
                return _rounded(np.array([a, b, c]))
        self._once("dropped", f"a linkage cannot store a {kind} such as the floor.", body)
        return None, IDENTITY

    def _once(self, kind: str, text: str, where: str) -> None:
        if not any(remark.text == text for remark in self.remarks):
            self.remarks.append(Remark(kind, text, where))

    def _color(self, geom: int) -> tuple[float, float, float]:
        rgba, material = self.model.geom_rgba[geom], int(self.model.geom_matid[geom])
        if material >= 0 and np.allclose(rgba, GREY):
            rgba = self.model.mat_rgba[material]
        r, g, b = (float(part) for part in np.clip(rgba[:3], 0.0, 1.0))
        return r, g, b


def _rounded(half: FloatArray) -> tuple[Shape, FloatArray]:
    """Return the capsule or sphere nearest to an ellipsoid of three half axes, and ellipsoid_from_shape."""
    long = int(half.argmax())
    radius = float(np.sqrt(np.prod(np.delete(half, long))))
    if half[long] - radius < 0.01 * radius:
        return Sphere(float(np.cbrt(np.prod(half)))), IDENTITY
    axes = np.eye(3)[:, [(long + 1) % 3, (long + 2) % 3, long]]
    return Capsule(radius, 2.0 * float(half[long] - radius)), transform(rotation=axes)
