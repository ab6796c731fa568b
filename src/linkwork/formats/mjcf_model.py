"""An MJCF model compiled by MuJoCo, which is imported when the first is.

Meshes never reach MuJoCo: their geoms are compiled as points, which gives their places.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from ..errors import FormatError, MissingExtraError
from ..transforms import IDENTITY, FloatArray, quaternion_matrix, transform
from .mjcf_source import MjcfSource
from .options import FilePath

POINT = 1e-3  # radius of the sphere that stands for a mesh while MuJoCo compiles [m]
LONGEST = 300  # of what MuJoCo says
LEAST_MASS = 1e-14  # what MuJoCo is told to give bodies without mass, which it would refuse [kg]


@dataclass(frozen=True)
class MeshGeom:
    """The mesh that a geom shows; no file if its vertices stand in the model.

    `weighs` if the body's mass would come from the mesh.
    """

    file: str
    scale: tuple[float, float, float]
    geom_from_mesh: FloatArray
    weighs: bool


def compiled(path: FilePath, source: MjcfSource) -> tuple[Any, dict[int, MeshGeom]]:
    """Return MuJoCo's model, and the meshes by geom, which it has not read."""
    try:
        import mujoco
    except ImportError as error:
        raise MissingExtraError("mujoco", "formats", "reading MJCF") from error
    said = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)  # its own way is a file MUJOCO_LOG.TXT in the working folder
    try:
        spec = mujoco.MjSpec.from_string(source.text)
        shown = _take_meshes(spec, mujoco.mjtGeom)
        compiler = spec.compiler
        compiler.boundmass = max(compiler.boundmass, LEAST_MASS)
        compiler.boundinertia = max(compiler.boundinertia, LEAST_MASS)
        compiler.usethread = False
        with warnings.catch_warnings():  # of deprecated settings, and of masses that it does not know
            warnings.simplefilter("ignore")
            model = spec.compile()
        return model, {geom.id: mesh for geom, mesh in shown}
    except (ValueError, RuntimeError, OverflowError, mujoco.FatalError) as error:
        raise _refusal(path, source, error) from error
    finally:
        mujoco.set_mju_user_warning(said)


def _refusal(path: FilePath, source: MjcfSource, error: Exception) -> FormatError:
    """Return what MuJoCo says, with the line of the file instead of the line of the text it was given."""
    text, _, element = str(error).strip().partition("\n")
    text = text.removeprefix("XML Error: ").removeprefix("Error: ").rstrip(". ")[:LONGEST]
    if named := re.search(r"'[^']+'", element):
        text = f"{text} (element {named[0][:LONGEST]})"
    where, line = path, None
    found = re.search(r"line (\d+)", element)
    if found and 1 <= int(found[1]) <= len(source.places):
        where, line = source.places[int(found[1]) - 1]
    return FormatError(where, f"MuJoCo refuses it: {text}.", line=line)


def _take_meshes(spec: Any, kinds: Any) -> list[tuple[Any, MeshGeom]]:
    """Turn the geoms that need other data into points without mass, and return what they show."""
    files = {mesh.name: mesh for mesh in spec.meshes}
    folder = PurePosixPath(spec.meshdir.replace("\\", "/"))
    result = []
    for geom in spec.geoms:
        if not geom.meshname and geom.type not in (kinds.mjGEOM_MESH, kinds.mjGEOM_SDF, kinds.mjGEOM_HFIELD):
            continue
        mesh, weighs = files.get(geom.meshname), not geom.parent.explicitinertial and geom.mass != 0.0
        if mesh is None or not mesh.file:
            found = MeshGeom("", (1.0, 1.0, 1.0), IDENTITY, weighs)
        else:
            file = PurePosixPath(mesh.file.replace("\\", "/"))
            file = folder / (file.name if spec.strippath else file)
            found = MeshGeom(str(file), *_mesh_frame(mesh), weighs)
        result.append((geom, found))
        geom.type, geom.meshname, geom.hfieldname = kinds.mjGEOM_SPHERE, "", ""
        geom.size, geom.mass = [POINT, 0.0, 0.0], 0.0
    for mesh in list(spec.meshes):
        spec.delete(mesh)
    return result


def _mesh_frame(mesh: Any) -> tuple[tuple[float, float, float], FloatArray]:
    """Return the scale of a mesh along its own axes, and geom_from_mesh.

    MuJoCo moves a corner v to ``S R^T (v - p)`` with its reference p, R: that is ``R^T (S' v) - S R^T p``, where S' is
    S along the axes of the file.
    """
    axes = quaternion_matrix(np.array(mesh.refquat, np.float64))
    x, y, z = np.diag(axes @ np.diag(mesh.scale) @ axes.T).tolist()
    return (x, y, z), transform(-np.array(mesh.scale) * (axes.T @ np.array(mesh.refpos)), axes.T)


def placed(position: FloatArray, quaternion: FloatArray) -> FloatArray:
    """Return the transform of a position and a quaternion as MuJoCo has them, w first."""
    return transform(position, quaternion_matrix(quaternion))
