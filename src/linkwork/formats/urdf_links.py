"""Read the links of a URDF file: shapes, colours, meshes and masses.

An invalid shape or mass is left out with a remark; the linkage can move without it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from ..errors import FormatError, LinkworkError
from ..linkage.geometry import Box, Capsule, Cylinder, Inertia, Mesh, Shape, Sphere, Visual
from ..linkage.tree import Link
from .urdf_source import UrdfSource
from .xml import XmlElement

Color = tuple[float, float, float]
ROLES = ("visual", "collision")
ENDS = {".top": 0.5, ".bottom": -0.5}  # name suffixes of the spheres of a capsule, and their positions [lengths]
CLOSE = 1e-9  # largest deviation of these positions, relative to the length
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def read_links(source: UrdfSource, root: XmlElement, robot: str) -> dict[str, Link]:
    """Return the links of a robot by name, in file order."""
    looks = _Looks(source, root)
    links: dict[str, Link] = {}
    for element in root.all("link"):
        name = source.name(element)
        if name in links:
            source.fail(element, f"link {name!r} appears twice in robot {robot!r}; names must be unique.")
        source.drop_rest(element, "visual", "collision", "inertial")
        parts = [(part.attributes.get("name", ""), looks.visual(part, name)) for part in element.all(*ROLES)]
        shapes = _with_capsules([(called, shape) for called, shape in parts if shape])
        links[name] = Link(name, tuple(shapes), inertia=_inertia(source, element, name))
    if not links:
        source.fail(root, f"robot {robot!r} has no links.")
    return links


def capsule_parts(capsule: Visual, name: str) -> dict[str, Visual]:
    """Return a capsule as a cylinder and two spheres, by names from which it is reassembled when read."""
    radius, length = capsule.shape.radius, capsule.shape.length  # type: ignore[attr-defined]
    parts = {name: replace(capsule, shape=Cylinder(radius, length))}
    for end, share in ENDS.items():
        place = np.eye(4)
        place[:3, 3] = capsule.placement[:3, 3] + share * length * capsule.placement[:3, 2]
        parts[name + end] = replace(capsule, shape=Sphere(radius), placement=place)
    return parts


def _with_capsules(parts: Sequence[tuple[str, Visual]]) -> Iterator[Visual]:
    """Yield shapes, with three that are the parts of a capsule, by name and size, merged into one."""
    waiting = deque(parts)
    while waiting:
        name, visual = waiting.popleft()
        ends = list(islice(waiting, len(ENDS)))
        if isinstance(visual.shape, Cylinder) and [called for called, _ in ends] == [name + end for end in ENDS]:
            capsule = replace(visual, shape=Capsule(visual.shape.radius, visual.shape.length))
            spheres = list(capsule_parts(capsule, name).values())[1:]
            if all(_alike(one, other, visual.shape.length) for one, (_, other) in zip(spheres, ends, strict=True)):
                visual = capsule
                for _ in ENDS:
                    waiting.popleft()
        yield visual


def _alike(one: Visual, other: Visual, length: float) -> bool:
    """Return whether a sphere has the size, colour, role and position of the end of a capsule."""
    same = (one.shape, one.color, one.role) == (other.shape, other.color, other.role)
    with np.errstate(over="ignore", invalid="ignore"):  # for positions near the largest numbers
        return same and bool(np.abs(one.placement[:3, 3] - other.placement[:3, 3]).max() <= CLOSE * length)


def _inertia(source: UrdfSource, link: XmlElement, name: str) -> Inertia | None:
    """Return the inertia of a link, rotated from the axes of its origin to those of the link."""
    inertial = link.first("inertial")
    if inertial is None:
        return None
    mass, moments = inertial.first("mass"), inertial.first("inertia")
    if mass is None:
        source.remark("bad-inertia", f"the inertia of link {name!r} has no mass; it is left out.", name, inertial)
        return None
    value, placement, matrix = source.number(mass, "value"), source.origin(inertial), np.zeros((3, 3))
    if moments is not None:
        xx, xy, xz, yy, yz, zz = (source.number(moments, key, 0.0) for key in MOMENTS)
        matrix, rotation = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), placement[:3, :3]
        if not np.array_equal(rotation, np.eye(3)):
            with np.errstate(over="ignore", invalid="ignore"):  # `Inertia` refuses infinite values
                matrix = rotation @ matrix @ rotation.T
                matrix = matrix / 2.0 + matrix.T / 2.0
    try:
        return Inertia(value, placement[:3, 3], matrix)
    except LinkworkError as error:
        source.remark("bad-inertia", f"the inertia of link {name!r} is left out: {error}", name, inertial)
        return None


class _Looks:
    """Reads shapes and colours of links. Materials have names and may be defined anywhere in the file."""

    def __init__(self, source: UrdfSource, root: XmlElement) -> None:
        self.source = source
        self.colors: dict[int, Color | None] = {}
        self.undefined: set[str] = set()
        self.materials: dict[str, XmlElement] = {}
        visuals = [visual for link in root.all("link") for visual in link.all("visual")]
        for material in (*root.all("material"), *(inner for visual in visuals for inner in visual.all("material"))):
            if material.children:
                self.materials.setdefault(material.attributes.get("name", ""), material)
        self.readers: dict[str, Callable[[XmlElement, str], Shape]] = {
            "box": lambda element, _: Box(tuple(source.numbers(element, "size", 3))),  # type: ignore[arg-type]
            "sphere": lambda element, _: Sphere(source.number(element, "radius")),
            "cylinder": lambda element, _: Cylinder(source.number(element, "radius"), source.number(element, "length")),
            "capsule": lambda element, _: Capsule(source.number(element, "radius"), source.number(element, "length")),
            "mesh": self._mesh,
        }

    def visual(self, element: XmlElement, link: str) -> Visual | None:
        """Return a visual or collision shape; None if it has no valid geometry."""
        self.source.drop_rest(element, "origin", "geometry", "material")
        geometry = element.first("geometry")
        shape = None if geometry is None else self._shape(geometry, link)
        if shape is None:
            return None
        material = element.first("material") if element.tag == "visual" else None
        color = None if material is None else self._color(material, link)
        return Visual(shape, self.source.origin(element), color, element.tag)

    def _shape(self, geometry: XmlElement, link: str) -> Shape | None:
        for element in geometry.children:
            read = self.readers.get(element.tag)
            if read is None:
                self.source.drop(f"<{element.tag}> in <geometry>", element)
                continue
            try:
                return read(element, link)
            except FormatError:
                raise
            except LinkworkError as error:  # a shape of size zero, a mesh without a file
                self.source.remark("bad-shape", f"a shape of link {link!r} is left out: {error}", link, element)
        return None

    def _mesh(self, element: XmlElement, link: str) -> Mesh:
        path = element.attributes.get("filename", "")
        x, y, z = self._scale(element, link)
        file = self.source.meshes.find(path).file if path else None
        if path and (remark := self.source.meshes.remark(path, link, element.line)) is not None:
            self.source.remarks.append(remark)
        return Mesh(path, (x, y, z), None if file is None else str(file))

    def _scale(self, element: XmlElement, link: str) -> Sequence[float]:
        """Return the three scale factors of a mesh; some files have one or four."""
        text = element.attributes.get("scale", "")
        count = len(text.split())
        if count not in (1, 4):
            return self.source.numbers(element, "scale", 3, (1.0, 1.0, 1.0))
        values = self.source.numbers(element, "scale", count)
        taken = "it is used for all three" if count == 1 else "the first three are used"
        text = f"scale {text.strip()[:80]!r} of a mesh has {count} numbers, not three; {taken}."
        self.source.forgive("bad-scale", text, link, element)
        return values[:3] if count > 1 else [values[0]] * 3

    def _color(self, material: XmlElement, link: str) -> Color | None:
        """Return the colour of a material, defined in place or elsewhere under the same name."""
        name = material.attributes.get("name", "")
        defined = material if material.children else self.materials.get(name)
        if defined is None:
            if name not in self.undefined:
                self.undefined.add(name)
                self.source.remark("missing-material", f"material {name!r} is not defined.", link, material)
            return None
        if id(defined) not in self.colors:
            self.colors[id(defined)] = self._rgb(defined)
        return self.colors[id(defined)]

    def _rgb(self, material: XmlElement) -> Color | None:
        self.source.drop_rest(material, "color")
        color = material.first("color")
        if color is None:
            return None
        *rgb, alpha = self.source.numbers(color, "rgba", 4)
        if not math.isclose(alpha, 1.0):
            self.source.drop("transparency", color)
        if min(rgb) < 0.0 or max(rgb) > 1.0:
            text = f"colour values are from 0 to 1; {color.attributes['rgba']!r} is clipped to that range."
            self.source.remark("color", text, element=color)
        red, green, blue = (min(max(part, 0.0), 1.0) for part in rgb)
        return red, green, blue
