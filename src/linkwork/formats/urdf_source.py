"""Shared by the readers of URDF: attributes as numbers, origins, and remarks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..errors import FormatError
from ..transforms import IDENTITY, FloatArray
from .content import Remarks
from .meshes import MeshFinder
from .options import FilePath, Options
from .xml import XmlElement

INFINITIES = {"inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf}
UNLIMITED = 1e300  # limits from this size on mean none, which URDF cannot write otherwise
MAX_KINDS = 50
ORIGIN = (0.0, 0.0, 0.0)


def turn(roll: float, pitch: float, yaw: float) -> list[list[float]]:
    """Return the rows of the rotation about fixed x, y and z axes, in that order: ``Rz(yaw) Ry(pitch) Rx(roll)``."""
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]


class UrdfSource:
    """A file being read: its path, the options, and the remarks so far."""

    def __init__(self, path: FilePath, options: Options) -> None:
        self.path, self.options = path, options
        self.meshes = MeshFinder(Path(path), options)
        self.remarks = Remarks()
        self._dropped: dict[str, list[int]] = {}  # count and first line
        self._zeros: dict[str, list[Any]] = {}  # text, joint and line of the first, and the number of further ones

    # Remarks and errors

    def fail(self, element: XmlElement, message: str) -> NoReturn:
        """Refuse the file because of an element."""
        raise FormatError(self.path, message, line=element.line)

    def remark(self, kind: str, text: str, where: str = "", element: XmlElement | None = None) -> None:
        """Add a remark, with the line of an element."""
        self.remarks.add(kind, text, where, element.line if element is not None else None)

    def forgive(self, kind: str, text: str, where: str, element: XmlElement) -> None:
        """Add a remark on a fault that can be left out; raise if the file is read strictly."""
        self.forgive_line(kind, text, element.line, where)

    def forgive_line(self, kind: str, text: str, line: int, where: str = "") -> None:
        """Do the same for a fault that belongs to no element."""
        if self.options.strict:
            raise FormatError(self.path, text, line=line)
        self.remarks.add(kind, text, where, line)

    def count_zero(self, key: str, value: float, joint: str, element: XmlElement) -> None:
        """Count a motion limit that is not above zero, which means no limit."""
        self._zeros.setdefault(key, [f"{value:g} of joint {joint!r}", joint, element.line, -1])[-1] += 1

    def drop(self, what: str, element: XmlElement) -> None:
        """Count something that a linkage cannot store; only the first `MAX_KINDS` kinds are named."""
        if what not in self._dropped and len(self._dropped) >= MAX_KINDS:
            what = "more of other kinds"
        self._dropped.setdefault(what, [0, element.line])[0] += 1

    def drop_rest(self, element: XmlElement, *known: str) -> None:
        """Count the elements inside that are not read."""
        for child in element.children:
            if child.tag not in known:
                self.drop(f"<{child.tag}> in <{element.tag}>", child)

    def dropped(self) -> Remarks:
        """Return one remark for each kind that was counted."""
        result = Remarks()
        for key, (what, joint, line, count) in self._zeros.items():
            more = f" and {count} more that are zero or less" if count else ""
            result.add("zero-limit", f"{key} {what}{more}: treated as no limit.", joint, line)
        for what, (count, line) in self._dropped.items():
            times = f" ({count} times)" if count > 1 else ""
            result.add("dropped", f"{what}{times} is left out: a linkage cannot store it.", line=line)
        return result

    # Attributes

    def name(self, element: XmlElement) -> str:
        """Return the name of an element, which is required."""
        name = element.attributes.get("name", "")
        if not name:
            self.fail(element, f"a <{element.tag}> needs a name.")
        return name

    def numbers(self, element: XmlElement, key: str, size: int, default: Sequence[float] = ()) -> Sequence[float]:
        """Return the finite numbers of an attribute."""
        text = element.attributes.get(key)
        if text is None:
            if not default:
                self.fail(element, f"<{element.tag}> needs the attribute {key}.")
            return default
        try:
            values = list(map(float, text.split())) if "_" not in text else []
        except ValueError:
            values = []
        if len(values) != size or not all(map(math.isfinite, values)):
            wanted = "a finite number" if size == 1 else f"{size} finite numbers"
            self.fail(element, f"{key} of <{element.tag}> must be {wanted}, got {text[:80]!r}.")
        return values

    def number(self, element: XmlElement, key: str, default: float | None = None) -> float:
        """Return the one finite number of an attribute."""
        return self.numbers(element, key, 1, () if default is None else (default,))[0]

    def bound(self, element: XmlElement, key: str) -> float:
        """Return a limit: zero if missing, infinite if stated or absurdly large."""
        text = element.attributes.get(key, "").strip().lower().removeprefix("+")
        value = INFINITIES[text] if text in INFINITIES else self.number(element, key, 0.0)
        return math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value

    def origin(self, element: XmlElement) -> FloatArray:
        """Return the origin of an element: parent_from_element, shape (4, 4)."""
        origin = element.first("origin")
        if origin is None:
            return IDENTITY
        position, angles = self.numbers(origin, "xyz", 3, ORIGIN), self.numbers(origin, "rpy", 3, ORIGIN)
        matrix = IDENTITY.copy()
        if any(angles):
            matrix[:3, :3] = turn(*angles)
        matrix[:3, 3] = position
        return matrix
