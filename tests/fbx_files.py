"""Writes FBX files as text, version 7.4, with nodes, curves and bind poses, for tests of the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SECOND = 46_186_158_000  # ticks per second in FBX
RATES = {24: 11, 30: 6, 60: 3, 120: 1}  # the numbers of frame rates in FBX
UP = {"y": (1, 2, 1), "z": (2, 1, -1)}  # up axis, front axis and its sign
PROPERTY = {"Lcl Translation": "A", "Lcl Rotation": "A", "Lcl Scaling": "A"}


@dataclass
class Node:
    """A node: its name, its parent, properties by name, and curves by property as (times, values (n, 3))."""

    name: str
    parent: int = -1
    properties: Mapping[str, Any] = field(default_factory=dict)
    curves: Mapping[str, tuple[Sequence[float], Sequence[Sequence[float]]]] = field(default_factory=dict)
    kind: str = "LimbNode"
    bind: np.ndarray | None = None


def fbx_text(nodes: Sequence[Node], *, up: str = "y", unit: float = 1.0, rate: int = 30, stop: float = 1.0) -> str:
    """Return an ASCII FBX file; `unit` is in centimetres."""
    objects, links = list[str](), list[str]()
    for k, node in enumerate(nodes):
        rows = "".join(_property(name, value) for name, value in node.properties.items())
        objects.append(f'Model: {1000 + k}, "Model::{node.name}", "{node.kind}" {{ Properties70: {{ {rows} }} }}')
        objects.append(f'NodeAttribute: {2000 + k}, "NodeAttribute::", "{node.kind}" {{ TypeFlags: "Skeleton" }}')
        links.append(f'C: "OO",{1000 + k},{0 if node.parent < 0 else 1000 + node.parent}')
        links.append(f'C: "OO",{2000 + k},{1000 + k}')
        if node.bind is not None:
            matrix = ",".join(map(repr, node.bind.T.ravel().tolist()))
            both = f"Transform: *16 {{ a: {matrix} }} TransformLink: *16 {{ a: {matrix} }}"
            objects.append(f'Deformer: {6000 + k}, "SubDeformer::", "Cluster" {{ {both} }}')
            links += [f'C: "OO",{6000 + k},5999', f'C: "OO",{1000 + k},{6000 + k}']
    if any(node.bind is not None for node in nodes):
        objects.append('Deformer: 5999, "Deformer::", "Skin" { Version: 101 }')
    if any(node.curves for node in nodes):
        _animate(nodes, objects, links, stop)
    axis, front, sign = UP[up]
    settings = {"UpAxis": axis, "UpAxisSign": 1, "FrontAxis": front, "FrontAxisSign": sign, "CoordAxis": 0}
    settings |= {"CoordAxisSign": 1, "TimeMode": RATES[rate]}
    rows = "".join(f'P: "{name}", "int", "Integer", "", {value}\n' for name, value in settings.items())
    rows += f'P: "UnitScaleFactor", "double", "Number", "", {unit}\n'
    return (
        "; FBX 7.4.0 project file\nFBXHeaderExtension:  { FBXHeaderVersion: 1003\nFBXVersion: 7400\n }\n"
        f"GlobalSettings:  {{ Version: 1000\nProperties70: {{ {rows} }} }}\n"
        "Objects:  {\n" + "\n".join(objects) + "\n}\nConnections:  {\n" + "\n".join(links) + "\n}\n"
    )


def _property(name: str, value: Any) -> str:
    if isinstance(value, int):
        return f'P: "{name}", "enum", "", "", {value}\n'
    kind = name if name in PROPERTY else "Vector3D"
    return f'P: "{name}", "{kind}", "", "{PROPERTY.get(name, "")}", {",".join(map(str, value))}\n'


def _animate(nodes: Sequence[Node], objects: list[str], links: list[str], stop: float) -> None:
    end = f'P: "LocalStart", "KTime", "Time", "", 0\nP: "LocalStop", "KTime", "Time", "", {round(stop * SECOND)}\n'
    objects.append(f'AnimationStack: 3000, "AnimStack::turn", "" {{ Properties70: {{ {end} }} }}')
    objects.append('AnimationLayer: 3001, "AnimLayer::base", "" { }')
    links.append('C: "OO",3001,3000')
    number = 4000
    for k, node in enumerate(nodes):
        for name, (times, values) in node.curves.items():
            own = number = number + 10
            objects.append(f'AnimationCurveNode: {own}, "AnimCurveNode::{name[4]}", "" {{ Properties70: {{ }} }}')
            links += [f'C: "OO",{own},3001', f'C: "OP",{own},{1000 + k},"{name}"']
            count, keys = len(times), ",".join(str(round(time * SECOND)) for time in times)
            for axis, row in enumerate(np.transpose(values).tolist()):
                curve = f"KeyTime: *{count} {{ a: {keys} }} KeyValueFloat: *{count} {{ a: {','.join(map(str, row))} }}"
                curve += f"\nKeyAttrFlags: *1 {{ a: 4 }} KeyAttrRefCount: *1 {{ a: {count} }}"  # 4: linear
                curve += " KeyAttrDataFloat: *4 { a: 0,0,0,0 }"
                objects.append(f'AnimationCurve: {own + 1 + axis}, "AnimCurve::", "" {{ KeyVer: 4008\n{curve} }}')
                links.append(f'C: "OP",{own + 1 + axis},{own},"d|{"XYZ"[axis]}"')
