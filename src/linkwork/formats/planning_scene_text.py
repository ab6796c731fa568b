"""MoveIt's ``.scene`` files, as exported by RViz: a name, objects (a star, a name, numbers), and a final dot.

An object has its pose, the number of its shapes, each with sizes, pose and colour, and the number of its subframes.
Files of older MoveIt have neither the pose nor the subframes.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from ..collision.obstacles import Obstacle, World
from ..errors import FormatError, LinkworkError
from ..linkage.geometry import Box, Cylinder, Mesh, Shape, Sphere, TriangleMesh
from ..transforms import FloatArray, matrix_quaternion, quaternion_matrix, transform
from .content import Remarks, UniqueNames
from .options import FilePath
from .planning_scene import CONE_SIDES, MOST_SHAPES, cone, half_space, shapes_for_moveit

MOST_CORNERS = 2_000_000


def parse(text: str, where: FilePath, remarks: Remarks) -> World:
    r"""Return the world in a ``.scene`` text; remarks on omissions and guesses are added to `remarks`.

    Example:
        >>> parse("(noname)+\n* cup\n1\nsphere\n0.1\n1 0 0\n0 0 0 1\n0 0 0 0\n.\n", "cup.scene", Remarks())
        <World: 1 obstacle: cup>
    """
    return _Reader(text, where, remarks).world()


class _Reader:
    """Reads lines into a world."""

    def __init__(self, text: str, where: FilePath, remarks: Remarks) -> None:
        self.lines, self.where, self.remarks = text.splitlines(), where, remarks
        self.at, self.count = 0, 0
        self.found: list[Obstacle] = []

    def world(self) -> World:
        self._line("the name of the scene")
        self.names = UniqueNames(line[1:].strip() for line in self.lines if line.startswith("*"))
        while (line := self._line("an object or the final dot")) != ".":
            if not line.startswith("*"):
                self._fail(f"an object begins with '* name', got {line[:60]!r}.")
            self._object(line[1:].strip())
        return World(self.found)

    def _fail(self, message: str) -> NoReturn:
        raise FormatError(self.where, message, line=self.at)

    def _line(self, what: str) -> str:
        while self.at < len(self.lines):
            self.at += 1
            if line := self.lines[self.at - 1].strip():
                return line
        self.at = len(self.lines)
        self._fail(f"the file ends where {what} should be.")
        return None

    def _numbers(self, count: int, what: str) -> list[float]:
        words = self._line(what).split()
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if len(values) != count or not all(map(math.isfinite, values)):
            self._fail(f"{what}: {count} finite number{'s' * (count > 1)} expected, got {' '.join(words)[:60]!r}.")
        return values

    def _whole(self, what: str, most: int) -> int:
        (value,) = self._numbers(1, what)
        if value != int(value) or not 0 <= value <= most:
            self._fail(f"{what} must be a whole number up to {most:,}, got {value:g}.")
        return int(value)

    def _pose(self) -> FloatArray:
        position = self._numbers(3, "a position")
        x, y, z, w = self._numbers(4, "a quaternion x y z w")
        length = math.hypot(x, y, z, w)
        if not 0.9 < length < 1.1:
            self._fail(f"a quaternion must have length 1, got {length:.6g}.")
        return transform(position, quaternion_matrix(np.array([w, x, y, z]) / length))

    def _object(self, name: str) -> None:
        ahead = next((line for line in self.lines[self.at :] if line.strip()), "")
        new = len(ahead.split()) > 1  # the pose of the object comes first
        base = self._pose() if new else np.eye(4)
        taken, shapes = self.names.take(name, "object"), []
        for _ in range(self._whole("the number of shapes", MOST_SHAPES)):
            self.count += 1
            if self.count > MOST_SHAPES:
                self._fail(f"more than {MOST_SHAPES:,} shapes, the largest number that is read.")
            line = self.at + 1
            try:
                shape, own = self._shape()
            except FormatError:
                raise
            except LinkworkError as error:
                raise FormatError(self.where, f"object {name!r}: {error}", line=line) from error
            pose = self._pose()
            red, green, blue, alpha = self._numbers(4, "a colour")
            shapes.append((shape, base @ pose @ own, (red, green, blue) if alpha else None))
        subframes = self._whole("the number of subframes", MOST_SHAPES) if new else 0
        for _ in range(subframes):
            self._line("the name of a subframe")
            self._pose()
        if subframes:
            self.remarks.add("dropped", f"subframes of object {name!r} are left out: a world has none.", name, self.at)
        for k, (shape, pose, color) in enumerate(shapes, start=1):
            self.found.append(Obstacle(shape, pose, taken if len(shapes) == 1 else f"{taken}/{k}", color=color))

    def _shape(self) -> tuple[Shape, FloatArray]:
        kind = self._line("the kind of a shape")
        if kind == "box":
            x, y, z = self._numbers(3, "the size of a box")
            return Box((x, y, z)), np.eye(4)
        if kind == "sphere":
            return Sphere(self._numbers(1, "the radius of a sphere")[0]), np.eye(4)
        if kind in ("cylinder", "cone"):
            radius, length = self._numbers(2, f"radius and length of a {kind}")
            if kind == "cylinder":
                return Cylinder(radius, length), np.eye(4)
            self.remarks.add("approximate", f"a cone is read as a hull of {CONE_SIDES} sides around it.", "", self.at)
            return cone(length, radius), np.eye(4)
        if kind == "plane":
            a, b, c, d = self._numbers(4, "a plane ax + by + cz + d = 0")
            if not (a or b or c):
                self._fail("a plane needs a direction, got 0, 0, 0.")
            self.remarks.add("half-space", "a plane is read as a half-space: all below it is solid.", "", self.at)
            return half_space(a, b, c, d)
        if kind == "mesh":
            return self._mesh(), np.eye(4)
        self._fail(f"unknown shape {kind[:60]!r}; known are box, sphere, cylinder, cone, plane, mesh.")
        return None

    def _mesh(self) -> TriangleMesh:
        counts = self._numbers(2, "numbers of vertices and triangles")
        corners, faces = (int(count) if 0 <= count <= MOST_CORNERS else -1 for count in counts)
        if min(corners, faces) < 0 or corners + faces > len(self.lines) - self.at:
            self._fail(f"{counts[0]:g} vertices and {counts[1]:g} triangles are not in this file.")
        points = [self._numbers(3, "a vertex") for _ in range(corners)]
        rows = [self._numbers(3, "a triangle") for _ in range(faces)]
        return TriangleMesh(points, np.array(rows, np.int64).reshape(-1, 3))


def dump(world: World, remarks: Remarks) -> str:
    """Return a world as ``.scene`` text; remarks on omissions and differences are added to `remarks`."""
    lines = ["(noname)+"]
    for obstacle in world:
        if obstacle.link is not None:
            remarks.add(
                "dropped", "obstacles held by a link are left out: a .scene file cannot store them.", str(obstacle.name)
            )
            continue
        if isinstance(obstacle.shape, Mesh):
            remarks.add(
                "dropped", "meshes in files are left out: a .scene file stores only triangles.", str(obstacle.name)
            )
            continue
        _, shapes = shapes_for_moveit(obstacle, remarks)
        red, green, blue = obstacle.color or (0.0, 0.0, 0.0)
        lines += [f"* {' '.join(str(obstacle.name).split())}", "0 0 0", "0 0 0 1", str(len(shapes))]
        for shape, pose in shapes:
            w, x, y, z = matrix_quaternion(pose[:3, :3]).tolist()
            lines += [*_shape_lines(shape), _row(pose[:3, 3].tolist()), _row([x, y, z, w])]
            lines.append(_row([red, green, blue, 0.0 if obstacle.color is None else 1.0]))
        lines.append("0")
    return "\n".join([*lines, ".", ""])


def _shape_lines(shape: dict[str, Any]) -> list[str]:
    if "coef" in shape:
        return ["plane", _row(shape["coef"])]
    if "vertices" in shape:
        counts = f"{len(shape['vertices'])} {len(shape['triangles'])}"
        return ["mesh", counts, *map(_row, shape["vertices"]), *(" ".join(map(str, row)) for row in shape["triangles"])]
    sizes = shape["dimensions"]
    return [shape["type"], _row(sizes[::-1] if shape["type"] == "cylinder" else sizes)]


def _row(values: list[float]) -> str:
    return " ".join(f"{value:.17g}" for value in values)
