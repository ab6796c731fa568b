"""Worlds in MJCF: read the static parts of a model, and write obstacles as geoms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..collision.obstacles import Obstacle, World
from ..errors import Remark
from ..linkage.geometry import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    HeightField,
    Hull,
    Mesh,
    PointCloud,
    Shape,
    Sphere,
    TriangleMesh,
)
from ..transforms import IDENTITY, FloatArray, matrix_quaternion, transform
from .content import Remarks, UniqueNames, file_errors
from .meshes import MeshFinder
from .mjcf_model import compiled, placed
from .mjcf_shapes import Looks
from .mjcf_source import read_source
from .options import FilePath, Options
from .xml import quoted

ELLIPSOID_RINGS, ELLIPSOID_SIDES = 9, 24


def read(path: FilePath, options: Options) -> tuple[World, tuple[Remark, ...]]:
    """Return the static geoms of an MJCF file, and remarks on omissions.

    These are the geoms of the world, and of bodies without joints that carry no jointed body: the base of a robot
    belongs to the robot. Geoms without contacts in MuJoCo are left out.
    """
    source = read_source(path, options)
    model, meshes = compiled(path, source)
    finder = MeshFinder(Path(path), options)
    with file_errors(path), np.errstate(all="ignore"):
        looks = _Solids(model, meshes, [model.body(i).name for i in range(model.nbody)], finder)
        places = _static_bodies(model)
        names = UniqueNames(model.geom(i).name for i in range(model.ngeom))
        found, silent = [], 0
        for i in range(model.ngeom):
            body = int(model.geom_bodyid[i])
            if body not in places:
                continue
            if looks.is_silent(i):
                silent += 1
            elif (visual := looks.visual(i)) is not None:
                name = names.take(model.geom(i).name, (model.body(body).name if body else "") or "geom")
                found.append(Obstacle(visual, places[body], name))
        said = [remark for remark in source.remarks if remark.kind != "dropped"]
        if silent:
            said.append(Remark("dropped", f"{silent} geoms without contacts (contype, conaffinity) are left out."))
        return World(found), (*said, *looks.remarks)


class _Solids(Looks):
    """Shapes for obstacles: planes are kept, and approximations contain the shape."""

    def shape(self, kind: str, size: FloatArray, body: str) -> tuple[Shape | None, FloatArray]:
        if kind == "plane":
            return HalfSpace(), IDENTITY
        if kind == "ellipsoid":
            self._once("approximate", "an ellipsoid is read as a hull that contains it.", body)
            return _around(size), IDENTITY
        return super().shape(kind, size, body)


def _around(half: FloatArray) -> Hull:
    """Return a hull that contains an ellipsoid with three half axes."""
    latitudes = np.linspace(-0.5, 0.5, ELLIPSOID_RINGS) * np.pi
    angles = np.arange(ELLIPSOID_SIDES) * 2.0 * np.pi / ELLIPSOID_SIDES
    rings = [
        np.c_[np.cos(t) * np.cos(angles), np.cos(t) * np.sin(angles), np.full_like(angles, np.sin(t))]
        for t in latitudes
    ]
    points = np.unique(np.concatenate(rings).round(12), axis=0)
    inner = np.cos(np.pi / ELLIPSOID_SIDES) * np.cos(np.pi / (2 * (ELLIPSOID_RINGS - 1)))  # least distance of its faces
    return Hull(points / inner * half)


def _static_bodies(model: object) -> dict[int, FloatArray]:
    """Return world_from_body of the world and of bodies without joints that carry no jointed body."""
    parents, joints = model.body_parentid.tolist(), model.body_jntnum.tolist()  # type: ignore[attr-defined]
    moved = [number > 0 for number in joints]
    holds = list(moved)
    for i in range(len(parents) - 1, 0, -1):  # parents precede their children
        holds[parents[i]] = holds[parents[i]] or holds[i]
    places = {0: IDENTITY}
    for i in range(1, len(parents)):
        if parents[i] in places and not moved[i]:
            own = placed(model.body_pos[i], model.body_quat[i])  # type: ignore[attr-defined]
            places[i] = places[parents[i]] @ own
    return {i: place for i, place in places.items() if i == 0 or not holds[i]}


# Writing


def dump(world: World, remarks: Remarks) -> str:
    """Return a world as MJCF text; remarks on omissions and differences are added to `remarks`."""
    assets: list[str] = []
    geoms: list[str] = []
    for obstacle in world:
        if obstacle.link is not None:
            remarks.add(
                "dropped", "obstacles held by a link are left out: they belong to its body.", str(obstacle.name)
            )
            continue
        if obstacle.touches:
            remarks.add("dropped", "links that an obstacle may touch are left out.", str(obstacle.name))
        color = "" if obstacle.color is None else f' rgba="{_row((*obstacle.color, 1.0))}"'
        parts = list(_geoms(obstacle, assets, remarks))
        for k, (form, pose) in enumerate(parts, start=1):
            name = quoted(str(obstacle.name) if len(parts) == 1 else f"{obstacle.name}/{k}")
            place = f'pos="{_row(pose[:3, 3])}" quat="{_row(matrix_quaternion(pose[:3, :3]))}"'
            geoms.append(f"    <geom name={name} {form} {place}{color}/>")
    top = ["  <asset>", *assets, "  </asset>"] if assets else []
    lines = ['<mujoco model="world">', *top, "  <worldbody>", *geoms, "  </worldbody>", "</mujoco>", ""]
    return "\n".join(lines)


def _geoms(obstacle: Obstacle, assets: list[str], remarks: Remarks) -> Iterator[tuple[str, FloatArray]]:
    """Yield the geoms of an obstacle with their poses; their meshes are added to `assets`."""
    shape, pose, name = obstacle.shape, obstacle.pose, f"asset{len(assets) + 1}"
    match shape:
        case Box():
            yield f'type="box" size="{_row(np.array(shape.size) / 2.0)}"', pose
        case Sphere():
            yield f'type="sphere" size="{_row([shape.radius])}"', pose
        case Cylinder() | Capsule():
            yield f'type="{shape.kind}" size="{_row([shape.radius, shape.length / 2.0])}"', pose
        case HalfSpace():
            yield 'type="plane" size="0 0 1"', pose
        case PointCloud():
            remarks.add("approximate", "a point cloud is written as spheres.", str(obstacle.name))
            for point in shape.points:
                yield f'type="sphere" size="{_row([shape.radius])}"', pose @ transform(point)
        case HeightField():
            rows, columns = shape.heights.shape
            (x, y), low = np.array(shape.size) / 2.0, float(shape.heights.min())
            sizes = _row([x, y, float(np.ptp(shape.heights)) or 1e-9, shape.depth])
            data = _row(shape.heights[::-1].ravel())  # MJCF starts with the row of the largest y
            field = f'nrow="{rows}" ncol="{columns}" size="{sizes}" elevation="{data}"'
            assets.append(f'    <hfield name="{name}" {field}/>')
            yield f'type="hfield" hfield="{name}"', pose @ transform((0.0, 0.0, low))
        case Mesh():
            assets.append(f'    <mesh name="{name}" file={quoted(shape.path)} scale="{_row(shape.scale)}"/>')
            yield f'type="mesh" mesh="{name}"', pose
        case Hull() | TriangleMesh():
            faces = f' face="{_whole(shape.triangles)}"' if isinstance(shape, TriangleMesh) else ""
            assets.append(f'    <mesh name="{name}" vertex="{_row(shape.points.ravel())}"{faces}/>')
            if faces:
                remarks.add("approximate", "MuJoCo uses the convex hull of a mesh for contacts.", str(obstacle.name))
            yield f'type="mesh" mesh="{name}"', pose


def _row(values: object) -> str:
    return " ".join(f"{value:.17g}" for value in np.asarray(values, np.float64).tolist())


def _whole(values: np.ndarray) -> str:
    return " ".join(map(str, values.ravel().tolist()))
