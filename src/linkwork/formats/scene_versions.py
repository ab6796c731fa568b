"""Upgrade scene files of earlier versions.

Version 1 wrote the Euler orders of joints in lower case for moving axes too, with ``sense: fixed`` for fixed axes, and
named the two translations of every planar joint x and y.
"""

from __future__ import annotations

from typing import Any

from ..errors import LinkworkError
from ..linkage.joints import Planar
from ..linkage.linkage import ROOT

VERSION = 2


def upgraded(document: dict[str, Any]) -> dict[str, Any]:
    """Return a version 1 document as version 2; invalid parts are left for the reader to report.

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
    """Return a joint or root with its Euler order as in SciPy: upper case for moving axes."""
    euler, sense = _mapping(raw).get("euler"), _mapping(raw).get("sense", "moving")
    if not isinstance(raw, dict) or sense not in ("moving", "fixed"):
        return raw
    result = {key: value for key, value in raw.items() if key != "sense"}
    if isinstance(euler, str) and euler.islower() and sense == "moving":
        result["euler"] = euler.upper()
    return result


def _slides(arcs: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Return the present names of the translations x and y of planar joints, by joint."""
    result = {}
    for arc in arcs:
        if arc.get("kind") == "planar" and isinstance(arc.get("name"), str):
            try:
                first, second, _ = Planar(arc.get("axis", "z")).coordinates
            except LinkworkError:  # the reader reports the invalid axis
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
