"""The links of a URDF file: shapes, colours, meshes, masses.

A shape or mass that cannot be kept is remarked and left out: it does not keep anyone from moving the linkage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..errors import FormatError, LinkworkError
from ..linkage.geometry import Box, Capsule, Cylinder, Inertia, Mesh, Shape, Sphere, Visual
from ..linkage.tree import Link
from .urdf_source import UrdfSource
from .xml import XmlElement

Color = tuple[float, float, float]
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
        parts = [looks.visual(part, name) for part in element.all("visual", "collision")]
        links[name] = Link(name, tuple(part for part in parts if part), inertia=_inertia(source, element, name))
    if not links:
        source.fail(root, f"robot {robot!r} has no links.")
    return links


def _inertia(source: UrdfSource, link: XmlElement, name: str) -> Inertia | None:
    """Return the mass of a link, its moments turned from the axes of their origin into those of the link."""
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
            with np.errstate(over="ignore", invalid="ignore"):  # `Inertia` refuses what becomes infinite
                matrix = rotation @ matrix @ rotation.T
                matrix = matrix / 2.0 + matrix.T / 2.0
    try:
        return Inertia(value, placement[:3, 3], matrix)
    except LinkworkError as error:
        source.remark("bad-inertia", f"the inertia of link {name!r} is left out: {error}", name, inertial)
        return None


class _Looks:
    """What links look like. Materials have names and may be defined anywhere in the file."""

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
        """Return a visual or collision shape; None if there is nothing that can be kept."""
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
            except LinkworkError as error:  # a shape without size, a mesh without file
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
        """Return the three factors of a mesh, of which real files have one or four."""
        text = element.attributes.get("scale", "")
        count = len(text.split())
        if count not in (1, 4):
            return self.source.numbers(element, "scale", 3, (1.0, 1.0, 1.0))
        values = self.source.numbers(element, "scale", count)
        taken = "it is taken for all three" if count == 1 else "the first three are taken"
        text = f"scale {text.strip()[:80]!r} of a mesh has {count} numbers, not three; {taken}."
        self.source.forgive("bad-scale", text, link, element)
        return values[:3] if count > 1 else [values[0]] * 3

    def _color(self, material: XmlElement, link: str) -> Color | None:
        """Return the colour of a material, which may be defined here or elsewhere by the same name."""
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
            text = f"the numbers of a colour go from 0 to 1; {color.attributes['rgba']!r} is cut off there."
            self.source.remark("color", text, element=color)
        red, green, blue = (min(max(part, 0.0), 1.0) for part in rgb)
        return red, green, blue
