"""Scene files of earlier versions, said in the words of the present one.

Version 1 wrote the Euler orders of joints in lower case for moving axes too, which ``sense: fixed`` told apart, and
called the two slides of every plane x and y.
"""

from __future__ import annotations

from typing import Any

from ..errors import LinkworkError
from ..linkage.joints import Planar
from ..linkage.linkage import ROOT

VERSION = 2


def upgraded(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of version 1 as version 2 has it; what is not as it should be is left for the reader to say.

    Example:
        >>> upgraded({"linkwork": 1, "root": {"kind": "floating", "euler": "zxy"}})
        {'linkwork': 2, 'root': {'kind': 'floating', 'euler': 'ZXY'}}
    """
    result = document | {"linkwork": VERSION}
    if "root" in document:
        result["root"] = _arc(document["root"])
    joints = document.get("joints")
    joints = [_arc(joint) for joint in joints] if isinstance(joints, list) else []
    if joints:
        result["joints"] = joints
    if isinstance(document.get("poses"), dict):
        slides = _slides([{"name": ROOT, **_mapping(result.get("root"))}, *map(_mapping, joints)])
        result["poses"] = {name: _pose(pose, slides) for name, pose in document["poses"].items()}
    return result


def _mapping(raw: Any) -> dict[str, Any]:
    return raw if isinstance(raw, dict) else {}


def _arc(raw: Any) -> Any:
    """Return a joint or root with its Euler order as SciPy writes it: upper case about moving axes."""
    euler, sense = _mapping(raw).get("euler"), _mapping(raw).get("sense", "moving")
    if not isinstance(raw, dict) or sense not in ("moving", "fixed"):
        return raw
    result = {key: value for key, value in raw.items() if key != "sense"}
    if isinstance(euler, str) and euler.islower() and sense == "moving":
        result["euler"] = euler.upper()
    return result


def _slides(arcs: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Return what the slides x and y of planar joints are called now, by joint."""
    result = {}
    for arc in arcs:
        if arc.get("kind") == "planar" and isinstance(arc.get("name"), str):
            try:
                first, second, _ = Planar(arc.get("axis", "z")).coordinates
            except LinkworkError:  # the reader says what is wrong with the axis
                continue
            result[arc["name"]] = {"x": first, "y": second}
    return result


def _pose(raw: Any, slides: dict[str, dict[str, str]]) -> Any:
    if not isinstance(raw, dict):
        return raw
    result: dict[str, Any] = {}
    for key, value in raw.items():
        joint, dot, coordinate = str(key).rpartition(".")
        if dot and joint in slides:
            key = f"{joint}.{slides[joint].get(coordinate, coordinate)}"
        elif key in slides and isinstance(value, dict):
            value = {slides[key].get(name, name): amount for name, amount in value.items()}
        result[key] = value
    return result
