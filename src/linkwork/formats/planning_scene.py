"""MoveIt's planning scene as YAML or JSON: collision objects, in the world and attached to links.

Read are the messages ``moveit_msgs/PlanningScene`` and ``PlanningSceneWorld`` as printed by ROS, and the shorter form
of Robowflex and MotionBenchMaker: a position is ``{x: .., y: .., z: ..}`` or ``[x, y, z]``, a quaternion likewise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import numpy as np

from ..collision.obstacles import Obstacle, World
from ..errors import FormatError, LinkworkError, listed
from ..linkage.geometry import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    Hull,
    Mesh,
    PointCloud,
    Shape,
    Sphere,
    TriangleMesh,
)
from ..transforms import FloatArray, is_number, matrix_quaternion, plane_basis, quaternion_matrix, transform
from . import yaml_json
from .content import Remarks, UniqueNames
from .options import FilePath
from .yaml_json import Path

SIGNS = ("world", "collision_objects", "attached_collision_objects", "robot_state", "fixed_frame_transforms")
WRAPPERS = ("planning_scene", "scene")  # keys of the scene in service requests
MOST_SHAPES = 100_000
CONE_SIDES = 32
PRIMITIVES = {1: "box", 2: "sphere", 3: "cylinder", 4: "cone"}  # as shape_msgs/SolidPrimitive numbers them
SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "cone": 2}
KINDS = ("primitive", "mesh", "plane")
MESHES = {"primitive": "primitives", "mesh": "meshes", "plane": "planes"}
OPERATIONS = {0: "add", 1: "remove", 2: "append", 3: "move"}


def is_planning_scene(content: Any) -> bool:
    """Return whether the plain values of a file are a planning scene."""
    inner = _unwrapped(content)[0]
    return isinstance(inner, dict) and "linkwork" not in inner and any(sign in inner for sign in SIGNS)


def _unwrapped(content: Any) -> tuple[Any, Path]:
    for key in WRAPPERS:
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            return content[key], (key,)
    return content, ()


def parse(content: Any, text: str, where: FilePath, remarks: Remarks) -> World:
    """Return the world of a planning scene.

    Args:
        content: The plain values of the file.
        text: Its text, for line numbers in errors.
        where: Its name in error messages.
        remarks: Remarks on omissions and guesses are added to this.
    """
    return _Reader(content, text, where, remarks).world()


class _Reader:
    """Reads a planning scene into a world."""

    def __init__(self, content: Any, text: str, where: FilePath, remarks: Remarks) -> None:
        self.text, self.where, self.remarks = text, where, remarks
        self.scene, self.top = _unwrapped(content)
        self.count = 0
        self.found: list[Obstacle] = []

    def world(self) -> World:
        free = list(self._objects())
        attached = list(self._attached())
        names = [str(raw.get("id", "")) for raw, _ in (*free, *(entry[:2] for entry in attached))]
        self.names = UniqueNames(names)
        self.touches = self._allowed(names)
        self.frames, self.planning = self._frames()
        unknown: dict[str, None] = {}
        for raw, path in free:
            frame = self._frame_of(raw, path)
            if frame in self.frames:
                self._take(raw, path, self.frames[frame])
            else:
                unknown.setdefault(frame)
                self._take(raw, path, np.eye(4))
        taken = [name for name in unknown or (self.planning,) if name not in ("", "world")]
        if taken:
            frames = listed([repr(name) for name in taken])
            self.remarks.add("frame", f"poses are in frame {frames}, which is taken as the world frame.")
        for raw, path, link, touches in attached:
            self._take_attached(raw, path, link, touches)
        self._others()
        return World(self.found)

    # Access with errors and remarks

    def _fail(self, path: Path, message: str) -> NoReturn:
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
        raise FormatError(self.where, f"{place}: {message}", line=yaml_json.line_of(self.text, path))

    def _remark(self, kind: str, text: str, path: Path, where: str = "") -> None:
        self.remarks.add(kind, text, where, yaml_json.line_of(self.text, path))

    def _mapping(self, raw: Any, path: Path, what: str) -> dict[str, Any]:
        if raw is None:
            return {}
        if not isinstance(raw, dict):
            self._fail(path, f"{what} must be a mapping, got {str(raw)[:60]!r}.")
        return raw

    def _list(self, raw: Any, path: Path, what: str) -> list[Any]:
        if raw is None:
            return []
        if not isinstance(raw, list):
            self._fail(path, f"{what} must be a list, got {str(raw)[:60]!r}.")
        return raw

    def _numbers(self, raw: Any, keys: str, path: Path, what: str) -> list[float]:
        """Return numbers from a list, or from a mapping with these letters as keys."""
        values = [raw.get(key) for key in keys] if isinstance(raw, dict) else raw
        numbers = [float(v) for v in values if is_number(v)] if isinstance(values, list) else []
        if len(numbers) != len(keys) or len(numbers) != len(values):
            self._fail(path, f"{what} needs {', '.join(keys)}: {len(keys)} numbers, got {str(raw)[:60]!r}.")
        return numbers

    def _pose(self, raw: Any, path: Path) -> FloatArray:
        pose = self._mapping(raw, path, "a pose")
        matrix = np.eye(4)
        for key in ("position", "translation"):
            if pose.get(key) is not None:
                matrix[:3, 3] = self._numbers(pose[key], "xyz", (*path, key), "a position")
        for key in ("orientation", "rotation"):
            if pose.get(key) is None:
                continue
            x, y, z, w = self._numbers(pose[key], "xyzw", (*path, key), "a quaternion")
            length = math.hypot(x, y, z, w)
            if length == 0.0:  # the default of unset messages
                continue
            if not 0.9 < length < 1.1:
                self._fail((*path, key), f"a quaternion must have length 1, got {length:.6g}.")
            matrix[:3, :3] = quaternion_matrix(np.array([w, x, y, z]) / length)
        return matrix

    # Objects

    def _objects(self) -> Iterator[tuple[dict[str, Any], Path]]:
        world, path = self._mapping(self.scene.get("world"), (*self.top, "world"), "a world"), (*self.top, "world")
        if "collision_objects" in self.scene:
            world, path = self.scene, self.top
        path = (*path, "collision_objects")
        for k, raw in enumerate(self._list(world.get("collision_objects"), path, "collision objects")):
            yield self._mapping(raw, (*path, k), "a collision object"), (*path, k)

    def _attached(self) -> Iterator[tuple[dict[str, Any], Path, str, list[str]]]:
        state, path = self.scene, self.top
        if "attached_collision_objects" not in state:
            path = (*path, "robot_state")
            state = self._mapping(self.scene.get("robot_state"), path, "the state of a robot")
        path = (*path, "attached_collision_objects")
        for k, raw in enumerate(self._list(state.get("attached_collision_objects"), path, "attached objects")):
            entry = self._mapping(raw, (*path, k), "an attached object")
            held = self._mapping(entry.get("object"), (*path, k, "object"), "a collision object")
            link = entry.get("link_name")
            if not isinstance(link, str) or not link:
                self._fail((*path, k), f"an attached object needs link_name, the link that holds it, got {link!r}.")
            touches = self._list(entry.get("touch_links"), (*path, k, "touch_links"), "touch links")
            yield held, (*path, k, "object"), link, [str(friend) for friend in touches if friend != link]

    def _frame_of(self, raw: dict[str, Any], path: Path) -> str:
        header = self._mapping(raw.get("header"), (*path, "header"), "a header")
        return str(header.get("frame_id") or self.planning).removeprefix("/")

    def _frames(self) -> tuple[dict[str, FloatArray], str]:
        """Return planning_from_frame of the frames in the file, and the name of the planning frame."""
        path = (*self.top, "fixed_frame_transforms")
        rows = self._list(self.scene.get("fixed_frame_transforms"), path, "transforms")
        frames, planning = {}, ""
        for k, raw in enumerate(rows):
            row = self._mapping(raw, (*path, k), "a transform")
            header = self._mapping(row.get("header"), (*path, k, "header"), "a header")
            planning = str(row.get("child_frame_id") or planning).removeprefix("/")  # MoveIt's direction
            name = str(header.get("frame_id") or planning).removeprefix("/")
            frames[name] = self._pose(row.get("transform"), (*path, k, "transform"))
        return {**frames, planning: np.eye(4)}, planning

    def _allowed(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return the links that objects may touch, by the matrix of allowed collisions."""
        path = (*self.top, "allowed_collision_matrix")
        matrix = self._mapping(self.scene.get("allowed_collision_matrix"), path, "a matrix of allowed collisions")
        entries = [str(name) for name in self._list(matrix.get("entry_names"), (*path, "entry_names"), "names")]
        rows = self._list(matrix.get("entry_values"), (*path, "entry_values"), "values")
        objects = set(names)
        result: dict[str, list[str]] = {}
        for name, raw in zip(entries, rows, strict=False):
            row = raw.get("enabled") if isinstance(raw, dict) else raw
            if name in objects and isinstance(row, list):
                allowed = zip(entries, row, strict=False)
                result[name] = [other for other, may in allowed if may is True and other not in objects]
        if set(entries) - objects:
            text = "pairs of links that may touch belong to the linkage: an SRDF file, or replace(disabled_pairs=...)."
            self._remark("pairs", text, path)
        return result

    def _take_attached(self, raw: dict[str, Any], path: Path, link: str, touches: list[str]) -> None:
        frame = self._frame_of(raw, path)
        if frame not in (link, self.planning, ""):
            text = f"attached object {raw.get('id')!r} is left out: its poses are in {frame!r}, not in link {link!r}."
            self._remark("dropped", text, path)
            return
        self._take(raw, path, np.eye(4), link, touches)

    def _take(
        self, raw: dict[str, Any], path: Path, base: FloatArray, link: str | None = None, touches: Iterable[str] = ()
    ) -> None:
        operation = raw.get("operation", 0)
        word = str(OPERATIONS.get(operation, operation) if isinstance(operation, int) else operation).lower()
        name = str(raw.get("id") or "").strip()
        if word in ("remove", "move"):
            self._remark("dropped", f"object {name!r} is left out: its operation is {word!r}.", path, name)
            return
        if raw.get("subframe_names"):
            self._remark("dropped", f"subframes of object {name!r} are left out: a world has none.", path, name)
        base = base @ self._pose(raw.get("pose"), (*path, "pose"))
        shapes = [shape for kind in KINDS for shape in self._shapes(raw, kind, path)]
        if not shapes:
            self._remark("dropped", f"object {name!r} is left out: it has no shapes.", path, name)
        friends = dict.fromkeys((*touches, *self.touches.get(name, ())))
        taken = self.names.take(name, "object")
        for k, (shape, pose, place) in enumerate(shapes, start=1):
            own = taken if len(shapes) == 1 else f"{taken}/{k}"
            try:
                self.found.append(Obstacle(shape, base @ pose, own, link, friends))
            except LinkworkError as error:
                self._fail(place, str(error))

    def _shapes(self, raw: dict[str, Any], kind: str, path: Path) -> Iterator[tuple[Shape, FloatArray, Path]]:
        shapes = self._list(raw.get(MESHES[kind]), (*path, MESHES[kind]), MESHES[kind])
        poses = self._list(raw.get(f"{kind}_poses"), (*path, f"{kind}_poses"), "poses")
        if poses and len(poses) != len(shapes):
            self._fail((*path, f"{kind}_poses"), f"{len(poses)} poses do not match {len(shapes)} {MESHES[kind]}.")
        read = {"primitive": self._primitive, "mesh": self._mesh, "plane": self._plane}[kind]
        for k, entry in enumerate(shapes):
            self.count += 1
            place = (*path, MESHES[kind], k)
            if self.count > MOST_SHAPES:
                self._fail(place, f"more than {MOST_SHAPES:,} shapes, the largest number that is read.")
            pose = self._pose(poses[k], (*path, f"{kind}_poses", k)) if poses else np.eye(4)
            try:
                shape, own = read(self._mapping(entry, place, f"one of the {MESHES[kind]}"), place)
            except FormatError:
                raise
            except LinkworkError as error:
                self._fail(place, str(error))
            yield shape, pose @ own, place

    def _primitive(self, raw: dict[str, Any], path: Path) -> tuple[Shape, FloatArray]:
        given = raw.get("type")
        kind = PRIMITIVES.get(given, str(given)) if isinstance(given, int) else str(given).lower()
        if kind not in SIZES:
            known = ", ".join(f"{name} ({number})" for number, name in PRIMITIVES.items())
            self._fail((*path, "type"), f"unknown primitive {given!r}; known are {known}.")
        sizes = self._list(raw.get("dimensions"), (*path, "dimensions"), "dimensions")[: SIZES[kind]]
        letters = "xyz" if kind == "box" else "r" if kind == "sphere" else "hr"
        sizes = self._numbers(sizes, letters, (*path, "dimensions"), f"the size of a {kind}")
        if kind == "box":
            return Box((sizes[0], sizes[1], sizes[2])), np.eye(4)
        if kind == "sphere":
            return Sphere(sizes[0]), np.eye(4)
        if kind == "cylinder":
            return Cylinder(sizes[1], sizes[0]), np.eye(4)
        self._remark("approximate", f"a cone is read as a hull of {CONE_SIDES} sides around it.", path)
        return cone(*sizes), np.eye(4)

    def _mesh(self, raw: dict[str, Any], path: Path) -> tuple[Shape, FloatArray]:
        if raw.get("resource") is not None:
            scale = raw.get("dimensions", [1.0, 1.0, 1.0])
            x, y, z = self._numbers(scale, "xyz", (*path, "dimensions"), "the scale of a mesh")
            return Mesh(str(raw["resource"]), (x, y, z)), np.eye(4)
        corners = self._list(raw.get("vertices"), (*path, "vertices"), "vertices")
        points = [self._numbers(p, "xyz", (*path, "vertices", k), "a vertex") for k, p in enumerate(corners)]
        faces = self._list(raw.get("triangles"), (*path, "triangles"), "triangles")
        rows: list[Any] = [face.get("vertex_indices") if isinstance(face, dict) else face for face in faces]
        for k, row in enumerate(rows):
            self._numbers(row, "abc", (*path, "triangles", k), "a triangle")
        return TriangleMesh(points, rows), np.eye(4)

    def _plane(self, raw: dict[str, Any], path: Path) -> tuple[Shape, FloatArray]:
        a, b, c, d = self._numbers(raw.get("coef"), "abcd", (*path, "coef"), "a plane ax + by + cz + d = 0")
        if not (a or b or c):
            self._fail((*path, "coef"), "a plane needs a direction, got 0, 0, 0.")
        self._remark("half-space", "a plane is read as a half-space: all below it is solid.", path)
        return half_space(a, b, c, d)

    def _others(self) -> None:
        world = self.scene.get("world")
        octomap = world.get("octomap") if isinstance(world, dict) else None
        inner = octomap.get("octomap") if isinstance(octomap, dict) else None
        if isinstance(inner, dict) and inner.get("data"):
            text = "the octomap is left out; use its points as a point cloud instead."
            self._remark("dropped", text, (*self.top, "world", "octomap"))


def cone(height: float, radius: float) -> Hull:
    """Return a hull that contains a cone along z, centred at the origin as in MoveIt."""
    angles = np.arange(CONE_SIDES) * 2.0 * math.pi / CONE_SIDES
    rim = radius / math.cos(math.pi / CONE_SIDES) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return Hull([*np.c_[rim, np.full(CONE_SIDES, -height / 2.0)], (0.0, 0.0, height / 2.0)])


def half_space(a: float, b: float, c: float, d: float) -> tuple[HalfSpace, FloatArray]:
    """Return the half-space below a plane ax + by + cz + d = 0, and its pose."""
    normal = np.array([a, b, c]) / math.hypot(a, b, c)
    return HalfSpace(), transform(-d / math.hypot(a, b, c) * normal, plane_basis(normal))


# Writing


def document(world: World, remarks: Remarks) -> dict[str, Any]:
    """Return a world as a planning scene in the form of Robowflex; differences are added to `remarks`."""
    free, held = [], []
    for obstacle in world:
        entry = _object(obstacle, remarks)
        if obstacle.link is None:
            free.append(entry)
        else:
            held.append({"link_name": obstacle.link, "object": entry, "touch_links": list(obstacle.touches)})
        if obstacle.touches and obstacle.link is None:
            text = "links that an obstacle of the world may touch are left out: MoveIt stores them with the robot."
            remarks.add("dropped", text, str(obstacle.name))
    state = {"robot_state": {"attached_collision_objects": held}} if held else {}
    return {"name": "world", **state, "world": {"collision_objects": free}}


def _object(obstacle: Obstacle, remarks: Remarks) -> dict[str, Any]:
    kind, shapes = shapes_for_moveit(obstacle, remarks)
    poses = [_pose_entry(pose) for _, pose in shapes]
    return {
        "header": {"frame_id": obstacle.link or "world"},
        "id": obstacle.name,
        MESHES[kind]: [shape for shape, _ in shapes],
        f"{kind}_poses": poses,
    }


def _pose_entry(pose: FloatArray) -> dict[str, Any]:
    w, x, y, z = matrix_quaternion(pose[:3, :3]).tolist()
    return {"position": pose[:3, 3].tolist(), "orientation": [x, y, z, w]}


def shapes_for_moveit(obstacle: Obstacle, remarks: Remarks) -> tuple[str, list[tuple[dict[str, Any], FloatArray]]]:
    """Return the kind of an obstacle's shapes in MoveIt, and the shapes with their poses."""
    shape, pose = obstacle.shape, obstacle.pose
    match shape:
        case Box():
            return "primitive", [({"type": "box", "dimensions": list(shape.size)}, pose)]
        case Sphere():
            return "primitive", [({"type": "sphere", "dimensions": [shape.radius]}, pose)]
        case Cylinder():
            return "primitive", [({"type": "cylinder", "dimensions": [shape.length, shape.radius]}, pose)]
        case Capsule():
            remarks.add("approximate", "a capsule is written as a cylinder and two spheres.", str(obstacle.name))
            ends = [pose @ transform((0.0, 0.0, side * shape.length / 2.0)) for side in (1.0, -1.0)]
            rod = ({"type": "cylinder", "dimensions": [shape.length, shape.radius]}, pose)
            return "primitive", [rod, *(({"type": "sphere", "dimensions": [shape.radius]}, end) for end in ends)]
        case PointCloud():
            remarks.add("approximate", "a point cloud is written as spheres.", str(obstacle.name))
            ball = {"type": "sphere", "dimensions": [shape.radius]}
            return "primitive", [(ball, pose @ transform(point)) for point in shape.points]
        case HalfSpace():
            remarks.add("approximate", "a half-space is written as a plane: MoveIt has none.", str(obstacle.name))
            return "plane", [({"coef": [0.0, 0.0, 1.0, 0.0]}, pose)]
        case Mesh():
            return "mesh", [({"resource": shape.path, "dimensions": list(shape.scale)}, pose)]
    points, triangles = surface_of(shape)
    if not isinstance(shape, TriangleMesh):
        remarks.add("approximate", f"a {shape.kind} is written as the triangles of its surface.", str(obstacle.name))
    return "mesh", [({"vertices": points.tolist(), "triangles": triangles.tolist()}, pose)]


def surface_of(shape: Shape) -> tuple[FloatArray, Any]:
    """Return the vertices and triangles of a shape, without repeated vertices."""
    from .mesh_export import facets_of

    if isinstance(shape, TriangleMesh):
        return shape.points, shape.triangles
    facets = facets_of(shape)
    if facets is None:
        raise TypeError(f"{type(shape).__name__} has no surface")
    corners, places = np.unique(facets.corners.round(12), axis=0, return_inverse=True)
    return corners, places.reshape(-1)[facets.indices]
