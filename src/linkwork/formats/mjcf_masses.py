"""Masses of the bodies of an MJCF model: MuJoCo compiles it a second time, with the meshes that have mass.

Meshes are passed as bytes, so that MuJoCo opens no file. Because of the second compilation, a missing or broken mesh
does not prevent reading the model: only the masses of its bodies are unknown, and a remark names them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from ..errors import FormatError, Remark, listed
from ..linkage.geometry import Inertia
from ..transforms import quaternion_matrix
from .atomic_files import MAX_BYTES, read_bytes
from .meshes import MeshFinder
from .mjcf_model import MeshGeom, as_point, compile_quietly, parsed, quiet_mujoco, said_by
from .mjcf_source import LEAST_MASS, MjcfSource

KINDS = (".stl", ".obj", ".msh")  # mesh files that MuJoCo reads
MOST_BYTES = 4 * MAX_BYTES  # of all meshes of a model together
MOST_BROKEN = 10  # after this number of broken meshes, none is weighed


@dataclass(frozen=True)
class BodyMasses:
    """The masses of a compiled model.

    Args:
        model: MuJoCo's model with all meshes of known mass.
        names: Names of its bodies.
        unknown: For bodies of unknown mass, the reason.
    """

    model: Any
    names: Sequence[str]
    unknown: Mapping[int, str]

    def inertia(self, body: int) -> Inertia | None:
        """Return the inertia of a body in its own axes; None if it has no mass."""
        model, known = self.model, body not in self.unknown
        mass = float(model.body_mass[body])
        light = mass <= 2.0 * LEAST_MASS
        if body == 0 or (light and known):
            return None
        axes = quaternion_matrix(model.body_iquat[body])
        matrix = axes @ np.diag(model.body_inertia[body]) @ axes.T
        return Inertia(0.0 if light else mass, model.body_ipos[body].copy(), matrix, known)

    def remarks(self) -> tuple[Remark, ...]:
        """Return one remark that names the bodies of unknown mass, if there are any."""
        bodies = [body for body in sorted(self.unknown) if body]
        if not bodies:
            return ()
        names, why = [self.names[body] for body in bodies], self.unknown[bodies[0]]
        total = sum(float(self.model.body_mass[k]) for k in range(1, self.model.nbody))
        count = "1 body" if len(bodies) == 1 else f"{len(bodies)} bodies"
        text = f"the mass of {count} is unknown ({listed(names)}): {why}; {total:.4g} kg are known."
        return (Remark("inertia", text, names[0]),)


def weigh(
    source: MjcfSource, model: Any, meshes: Mapping[int, MeshGeom], names: Sequence[str], finder: MeshFinder
) -> BodyMasses:
    """Return the masses of the bodies of a model.

    Args:
        source: The model as text.
        model: The model compiled without its meshes.
        meshes: The meshes by geom.
        names: Names of the bodies.
        finder: Finds the mesh files.

    Raises:
        FormatError: If MuJoCo refuses a mesh and the file is read strictly.
    """
    heavy = {geom: mesh for geom, mesh in meshes.items() if mesh.weighs}
    if not heavy:
        return BodyMasses(model, names, {})
    files, reasons = _files(heavy, finder)
    for _ in range(MOST_BROKEN):
        known = {geom: mesh for geom, mesh in heavy.items() if mesh.name not in reasons}
        try:
            model, total_is_set = _compiled(source, meshes, known, files)
            break
        except _BrokenMeshError as error:
            if finder.options.strict:
                raise FormatError(source.path, f"{error.reason}.") from error
            reasons[error.mesh] = error.reason
    else:
        reasons |= {mesh.name: "too many of its meshes are broken" for mesh in heavy.values()}
        model, total_is_set = _compiled(source, meshes, {}, {})
    unknown = {int(model.geom_bodyid[g]): reasons[mesh.name] for g, mesh in heavy.items() if mesh.name in reasons}
    if total_is_set and unknown:  # all masses are scaled to a total
        unknown = dict.fromkeys(range(1, model.nbody), next(iter(unknown.values()))) | unknown
    return BodyMasses(model, names, unknown)


def _files(heavy: Mapping[int, MeshGeom], finder: MeshFinder) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the content of mesh files by mesh name, and for the others the reason why there is none."""
    files: dict[str, bytes] = {}
    reasons: dict[str, str] = {}
    left = MOST_BYTES
    for mesh in {mesh.name: mesh for mesh in heavy.values()}.values():
        if not mesh.file:
            if not mesh.inline:
                reasons[mesh.name] = f"a linkage cannot store {mesh.name or 'height field'!r}"
            continue
        found = finder.find(mesh.file)
        file = found.file
        if file is None:
            reasons[mesh.name] = f"mesh {mesh.file} {found.refused or 'was not found'}"
        elif file.suffix.lower() not in KINDS:
            reasons[mesh.name] = f"mesh {mesh.file} is not one of {', '.join(KINDS)}"
        else:
            try:
                files[mesh.name] = read_bytes(file, min(left, MAX_BYTES))
                left -= len(files[mesh.name])
            except FormatError as error:
                reasons[mesh.name] = f"mesh {mesh.file} could not be read ({error})"
    return files, reasons


class _BrokenMeshError(Exception):
    """A mesh that MuJoCo refuses."""

    def __init__(self, mesh: str, reason: str) -> None:
        super().__init__(reason)
        self.mesh, self.reason = mesh, reason


def _compiled(
    source: MjcfSource, meshes: Mapping[int, MeshGeom], known: Mapping[int, MeshGeom], files: Mapping[str, bytes]
) -> tuple[Any, bool]:
    """Return the model with some of its meshes, and whether it sets the total mass."""
    with quiet_mujoco() as mujoco:
        spec = parsed(mujoco, source)
        places = {mesh.place: geom in known for geom, mesh in meshes.items()}
        weighing = {mesh.place for mesh in meshes.values() if mesh.weighs}
        for place, geom in enumerate(spec.geoms):
            geom.contype = geom.conaffinity = 0  # convex hulls for contacts take long
            if not places.get(place, True):
                given = place in weighing and np.isfinite(geom.mass)
                as_point(geom, mujoco.mjtGeom, mass=float(geom.mass) if given else 0.0)
        used = {mesh.name for mesh in known.values()}
        assets = {}
        for i, mesh in enumerate(list(spec.meshes)):
            if mesh.name not in used:
                spec.delete(mesh)
            elif mesh.file:
                key = f"{i}{PurePosixPath(mesh.file).suffix.lower()}"
                assets[key], mesh.file = files[mesh.name], key
        spec.assets = assets
        try:
            return compile_quietly(spec), spec.compiler.settotalmass > 0.0
        except (ValueError, RuntimeError, mujoco.FatalError) as error:
            text, where = said_by(error)
            named = re.search(r"'([^']+)'", where)
            mesh_name = named[1] if named and named[1] in used else next((name for name in used if name in text), None)
            if mesh_name is None:
                raise
            raise _BrokenMeshError(mesh_name, f"MuJoCo refuses mesh {mesh_name!r} ({text})") from error
