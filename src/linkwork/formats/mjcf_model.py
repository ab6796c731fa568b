"""Compile an MJCF model with MuJoCo, which is imported on first use.

Meshes are not included: their geoms are compiled as points, which gives their poses. `mjcf_masses` computes their mass.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FormatError, LinkworkError, MissingExtraError
from ..linkage.geometry import HeightField, Hull, Shape, TriangleMesh
from ..transforms import IDENTITY, FloatArray, quaternion_matrix, transform
from .mjcf_source import BOUNDS, LEAST_MASS, MjcfSource
from .options import FilePath

POINT = 1e-3  # radius of the sphere that replaces a mesh during compilation [m]
LONGEST = 300  # characters of a message of MuJoCo


@dataclass(frozen=True)
class MeshGeom:
    """The mesh of a geom.

    Args:
        name: Name of the mesh in the model; empty if it has none.
        file: Its file; empty if it has none.
        inline: Whether its vertices are given in the model.
        place: Index of its geom in the model.
        scale: Its scale along its own axes.
        geom_from_mesh: Its placement in the geom.
        weighs: Whether it contributes to the mass of the body.
        shape: A mesh or height field given in the model itself; None if it is in a file, or empty.
    """

    name: str
    file: str
    inline: bool
    place: int
    scale: tuple[float, float, float]
    geom_from_mesh: FloatArray
    weighs: bool
    shape: Shape | None = None


def compiled(path: FilePath, source: MjcfSource) -> tuple[Any, dict[int, MeshGeom]]:
    """Return the compiled model, and the meshes by geom, which are not read."""
    with quiet_mujoco() as mujoco:
        for model in source.models.values():
            _parsed_alone(mujoco, model)
        try:
            spec = parsed(mujoco, source)
            shown = _take_meshes(spec, mujoco)
            return compile_quietly(spec), {geom.id: mesh for geom, mesh in shown}
        except (ValueError, RuntimeError, OverflowError, mujoco.FatalError) as error:
            raise _refusal(path, source, error) from error


def parsed(mujoco: Any, source: MjcfSource) -> Any:
    """Return a model as parsed by MuJoCo, before compilation."""
    spec = mujoco.MjSpec.from_string(source.text, include=source.files)
    joints = {joint.name for joint in spec.joints}
    for actuator in list(spec.actuators):
        if actuator.target not in joints:  # useless, and MuJoCo would refuse the model
            spec.delete(actuator)
    return spec


def _parsed_alone(mujoco: Any, source: MjcfSource) -> None:
    """Raise for faults of attached models, with their own file and line."""
    for model in source.models.values():
        _parsed_alone(mujoco, model)
    try:
        parsed(mujoco, source)
    except (ValueError, RuntimeError, OverflowError, mujoco.FatalError) as error:
        raise _refusal(source.path, source, error) from error


@contextmanager
def quiet_mujoco() -> Iterator[Any]:
    """Import MuJoCo, and prevent it from writing MUJOCO_LOG.TXT into the working folder."""
    try:
        import mujoco
    except ImportError as error:
        raise MissingExtraError("mujoco", "formats", "reading MJCF") from error
    said = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)
    try:
        yield mujoco
    finally:
        mujoco.set_mju_user_warning(said)


def compile_quietly(spec: Any) -> Any:
    """Return the compiled model; bodies without mass, which MuJoCo would refuse, get `LEAST_MASS`."""
    compiler = spec.compiler
    for name in BOUNDS:
        setattr(compiler, name, max(getattr(compiler, name), LEAST_MASS))
    compiler.usethread = False
    with warnings.catch_warnings():  # about deprecated settings and unknown masses
        warnings.simplefilter("ignore")
        return spec.compile()


def said_by(error: Exception) -> tuple[str, str]:
    """Return the message of MuJoCo, and the text about the element."""
    text, _, element = str(error).strip().partition("\n")
    return text.removeprefix("XML Error: ").removeprefix("Error: ").rstrip(". ")[:LONGEST], element


def _refusal(path: FilePath, source: MjcfSource, error: Exception) -> FormatError:
    """Return the error with MuJoCo's message, and the line in the file instead of that in the generated text."""
    text, element = said_by(error)
    if named := re.search(r"'[^']+'", element):
        text = f"{text} (element {named[0][:LONGEST]})"
    where, line = path, None
    found = re.search(r"line (\d+)", element)
    if found and 1 <= int(found[1]) <= len(source.places):
        where, line = source.places[int(found[1]) - 1]
    return FormatError(where, f"MuJoCo refuses it: {text}.", line=line)


def _take_meshes(spec: Any, mujoco: Any) -> list[tuple[Any, MeshGeom]]:
    """Replace geoms with meshes or height fields by points without mass, and return their meshes."""
    files, kinds = {mesh.name: mesh for mesh in spec.meshes}, mujoco.mjtGeom
    fields = {field.name: field for field in spec.hfields}
    result = []
    for place, geom in enumerate(spec.geoms):
        if not geom.meshname and geom.type not in (kinds.mjGEOM_MESH, kinds.mjGEOM_SDF, kinds.mjGEOM_HFIELD):
            continue
        mesh, weighs = files.get(geom.meshname), _weighs(spec, geom, mujoco.mjtInertiaFromGeom)
        name, file, scale, frame = geom.meshname, "", (1.0, 1.0, 1.0), IDENTITY
        if mesh is not None and mesh.file:
            file, (scale, frame) = mesh.file, _mesh_frame(mesh)
        inline = mesh is not None and not file and bool(len(mesh.uservert))
        shape = None
        if inline:
            scale, frame = _mesh_frame(mesh)
            shape = _inline_mesh(mesh, scale)
        elif geom.type == kinds.mjGEOM_HFIELD and geom.hfieldname in fields:
            shape = _height_field(fields[geom.hfieldname])
        result.append((geom, MeshGeom(name, file, inline, place, scale, frame, weighs, shape)))
        as_point(geom, kinds)
    for asset in (*spec.meshes, *spec.hfields):
        spec.delete(asset)
    return result


def _inline_mesh(mesh: Any, scale: tuple[float, float, float]) -> Shape | None:
    """Return a mesh with vertices in the model, as a hull if it has no faces; None if it is not a valid shape."""
    points, faces = np.array(mesh.uservert, np.float64), np.array(mesh.userface, np.int64)
    try:
        corners = points.reshape(-1, 3) * np.array(scale)
        return TriangleMesh(corners, faces.reshape(-1, 3)) if len(faces) else Hull(corners)
    except (LinkworkError, ValueError):  # wrong number of values, invalid indices, all in one plane
        return None


def _height_field(field: Any) -> Shape | None:
    """Return a height field with its elevation in the model; None if it is in a file, or not a valid shape."""
    rows, columns, elevation = int(field.nrow), int(field.ncol), np.array(field.userdata, np.float64)
    if len(elevation) != rows * columns or not len(elevation):
        return None
    spread = float(np.ptp(elevation))
    heights = (elevation - elevation.min()) / (spread or 1.0) * field.size[2]
    try:
        size = (2.0 * float(field.size[0]), 2.0 * float(field.size[1]))
        return HeightField(heights.reshape(rows, columns), size, float(field.size[3]))
    except LinkworkError:  # invalid sizes
        return None


def _weighs(spec: Any, geom: Any, rules: Any) -> bool:
    """Return whether a geom contributes to the mass of its body."""
    compiler = spec.compiler
    first, last = compiler.inertiagrouprange
    asked = compiler.inertiafromgeom == rules.mjINERTIAFROMGEOM_TRUE or (
        compiler.inertiafromgeom == rules.mjINERTIAFROMGEOM_AUTO and not geom.parent.explicitinertial
    )
    heavy = geom.mass != 0.0 if np.isfinite(geom.mass) else geom.density != 0.0
    return bool(asked and first <= geom.group <= last and heavy)


def as_point(geom: Any, kinds: Any, *, mass: float = 0.0) -> None:
    """Replace a geom by a small sphere at its position."""
    geom.type, geom.meshname, geom.hfieldname = kinds.mjGEOM_SPHERE, "", ""
    geom.size, geom.mass = [POINT, 0.0, 0.0], mass


def _mesh_frame(mesh: Any) -> tuple[tuple[float, float, float], FloatArray]:
    """Return the scale of a mesh along its own axes, and geom_from_mesh.

    MuJoCo moves a vertex v to ``S R^T (v - p)`` with its reference p, R: that is ``R^T (S' v) - S R^T p``, where S' is
    S along the axes of the file.
    """
    axes = quaternion_matrix(np.array(mesh.refquat, np.float64))
    x, y, z = np.diag(axes @ np.diag(mesh.scale) @ axes.T).tolist()
    return (x, y, z), transform(-np.array(mesh.scale) * (axes.T @ np.array(mesh.refpos)), axes.T)


def placed(position: FloatArray, quaternion: FloatArray) -> FloatArray:
    """Return the transform of a position and a quaternion in MuJoCo's order, w first."""
    return transform(position, quaternion_matrix(quaternion))
