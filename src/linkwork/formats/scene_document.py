"""Convert a linkage to the plain values of a scene file.

Default values are omitted; numbers are written so that reading them gives the same bits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import MISSING, replace
from typing import Any

import numpy as np

from ..collision.obstacles import Obstacle, World
from ..errors import LinkageError
from ..linkage.couplings import Coupling
from ..linkage.curves import CamFunction
from ..linkage.geometry import Shape
from ..linkage.joints import Articulation, Joint
from ..linkage.linkage import ROOT, Link, Linkage
from ..linkage.motion_limits import MOTION_LIMITS
from ..transforms import IDENTITY, FloatArray, as_rotation
from .scene_schema import LIMITS, saved_fields
from .scene_versions import VERSION

NOTHING = World()


def document(linkage: Linkage | None, world: World = NOTHING) -> dict[str, Any]:
    """Return the scene document of a linkage, a world, or both."""
    around = {"obstacles": [_obstacle_entry(obstacle) for obstacle in world]} if world else {}
    return (_linkage_document(linkage) if linkage is not None else {"linkwork": VERSION}) | around


def _linkage_document(linkage: Linkage) -> dict[str, Any]:
    shapes, names = _shared_shapes(linkage)
    root = linkage.root
    arc = {"name": root.name} if root.name != ROOT else {}
    arc |= _articulation(root.articulation) | place(root.placement) | _motion_limits(root)
    head: dict[str, Any] = {"linkwork": VERSION, "name": linkage.name}
    tables = {
        "root": arc,
        "shapes": shapes,
        "links": [_link_entry(link, names) for link in linkage.nodes],
        "joints": [_joint_entry(joint) for joint in linkage.arcs[1:]],
        "frames": [{"name": f.name, "link": f.link} | place(f.placement) for f in linkage.extra_frames],
        "loops": [_parameters(loop) for loop in linkage.loops],
        "couplings": [_coupling_entry(coupling) for coupling in linkage.couplings],
        "groups": {name: list(joints) for name, joints in linkage.groups.items()},
        "disabled_pairs": [[*pair, reason][: 2 + bool(reason)] for pair, reason in linkage.disabled_pairs.items()],
        "poses": {name: _pose_entry(linkage, pose) for name, pose in linkage.poses.items()},
    }
    return head | {key: table for key, table in tables.items() if table}


def _shared_shapes(linkage: Linkage) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the table of shapes that are used more than once, and their names by their entry."""
    uses = Counter(repr(shape_entry(visual.shape)) for link in linkage.nodes for visual in link.visuals)
    table: dict[str, Any] = {}
    names: dict[str, str] = {}
    for shape in (visual.shape for link in linkage.nodes for visual in link.visuals):
        key = repr(shape_entry(shape))  # distinguishes 0.0 from -0.0, which compare equal
        if uses[key] > 1 and key not in names:
            names[key] = f"{shape.kind}{len(names) + 1}"
            table[names[key]] = shape_entry(shape)
    return table, names


def shape_entry(shape: Shape) -> dict[str, Any]:
    """Return the entry of a shape: its kind and dimensions."""
    return {"kind": shape.kind} | _parameters(shape)


def _link_entry(link: Link, shapes: Mapping[str, str]) -> str | dict[str, Any]:
    node, visuals = place(link.matrix), []
    for visual in link.visuals:
        own = shape_entry(visual.shape)
        entry: dict[str, Any] = {"shape": shapes.get(repr(own), own)} | place(visual.placement)
        if visual.color is not None:
            entry["color"] = list(visual.color)
        if visual.role != "visual":
            entry["role"] = visual.role
        visuals.append(entry)
    inertia: dict[str, Any] = {}
    if link.inertia is not None:
        parts = {"center": link.inertia.center, "matrix": link.inertia.matrix}
        inertia = {name: array.tolist() for name, array in parts.items() if any(array.tobytes())}  # -0.0 is kept
        inertia = {"mass": link.inertia.mass} | inertia | ({} if link.inertia.known else {"known": False})
    more = {key: value for key, value in (("node", node), ("visuals", visuals), ("inertia", inertia)) if value}
    return {"name": link.name} | more if more else link.name


def _obstacle_entry(obstacle: Obstacle) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": obstacle.name, "shape": shape_entry(obstacle.shape)} | place(obstacle.pose)
    entry |= {} if obstacle.link is None else {"link": obstacle.link}
    entry |= {"touches": list(obstacle.touches)} if obstacle.touches else {}
    return entry | ({} if obstacle.color is None else {"color": list(obstacle.color)})


def _joint_entry(joint: Joint) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": joint.name, "parent": joint.parent, "child": joint.child}
    entry |= _articulation(joint.articulation) | place(joint.placement)
    if joint.mimic is not None:
        entry["mimic"] = _parameters(joint.mimic)
    return entry | _motion_limits(joint)


def _coupling_entry(coupling: Coupling) -> dict[str, Any]:
    entry = _parameters(replace(coupling, curve=None))
    single = len(coupling.drivers) == 1 and coupling.drivers[0][1] == 1.0
    entry["drivers"] = coupling.drivers[0][0] if single else dict(coupling.drivers)
    if isinstance(coupling.curve, CamFunction):
        raise LinkageError(
            f"coupling {coupling.name!r} follows a Python function, which a file cannot store;"
            " CamTable.sampled(function) converts it to a table."
        )
    if coupling.curve is not None:
        entry["curve"] = {"kind": coupling.curve.kind} | _parameters(coupling.curve)
    return entry


def _motion_limits(joint: Joint) -> dict[str, Any]:
    """Return the limits of velocity, acceleration and effort of a joint; one number if it has one velocity."""
    limits = {what: getattr(joint, what) for what in MOTION_LIMITS}
    given = {what: _plain(limit) for what, limit in limits.items() if limit is not None}
    return {what: limit[0] if len(limit) == 1 else limit for what, limit in given.items()}


def _articulation(articulation: Articulation) -> dict[str, Any]:
    parameters = _parameters(articulation)
    return {"kind": articulation.kind} | parameters if articulation.kind != "fixed" or parameters else {}


def _parameters(owner: Any) -> dict[str, Any]:
    """Return the fields of an articulation, shape, mimic or loop that differ from their defaults."""
    result = {}
    for field in saved_fields(owner):
        value = getattr(owner, field.name)
        usual = field.default is not MISSING and repr(value) == repr(field.default)  # 0.0 is not -0.0
        if not usual and not (field.name in LIMITS and np.isinf(value).all()):
            result[field.name] = _plain(value)
    return result


def _plain(value: Any) -> Any:
    """Return a value as written in the file: lists for tuples and arrays, None for infinity."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def place(placement: FloatArray) -> dict[str, Any]:
    """Return a placement without its zero parts."""
    position, rotation = placement[:3, 3], placement[:3, :3]
    result: dict[str, Any] = {}
    if position.tobytes() != IDENTITY[:3, 3].tobytes():
        result["at"] = position.tolist()
    if rotation.tobytes() != IDENTITY[:3, :3].tobytes():
        result["rotation"] = _euler(rotation) or {"matrix": rotation.tolist()}
    return result


def _euler(rotation: FloatArray) -> dict[str, Any] | None:
    """Return short angles in degrees if they give exactly this rotation; else None."""
    if np.isin(rotation, (-1.0, 0.0, 1.0)).all():
        return None  # a matrix of zeros and ones is clearer
    (a, _, _), (d, e, f), (g, h, i) = rotation.tolist()
    second = math.atan2(-g, math.hypot(a, d))
    locked = math.hypot(a, d) < 1e-9  # then the third angle may be zero
    turns = (math.atan2(-f, e) if locked else math.atan2(h, i), second, 0.0 if locked else math.atan2(d, a))
    degrees = [round(math.degrees(turn), 6) + 0.0 for turn in turns]
    if any(abs(math.degrees(turn) - angle) > 1e-9 for turn, angle in zip(turns, degrees, strict=True)):
        return None
    form = {"euler": ["xyz", [f"{angle:.10g}deg" if angle else 0 for angle in degrees]]}
    return form if as_rotation(form).tobytes() == rotation.tobytes() else None


def _pose_entry(linkage: Linkage, pose: FloatArray) -> dict[str, Any]:
    """Return a pose by joint: a number, a list of numbers, or a mapping with a quaternion as ``wxyz``."""
    result: dict[str, Any] = {}
    for joint, drive in zip(linkage.arcs, linkage.drives, strict=True):
        if joint.mimic is not None or not drive.nq:
            continue
        values = dict(zip(joint.articulation.coordinates, pose[drive.columns].tolist(), strict=True))
        plain, quaternion = coordinate_names(joint.articulation)
        if quaternion:
            wxyz = [values[name] for name in quaternion]
            result[joint.name] = {name: values[name] for name in plain} | {"wxyz": wxyz}
        else:
            result[joint.name] = list(values.values()) if drive.nq > 1 else values[""]
    return result


def coordinate_names(articulation: Articulation) -> tuple[list[str], list[str]]:
    """Return the names of the plain coordinates of an articulation, and of those of its quaternion, if any."""
    starts = [element.value for element in articulation.elements if element.kind == "ball"]
    inside = {k for start in starts for k in range(start, start + 4)}
    names = articulation.coordinates
    return [c for k, c in enumerate(names) if k not in inside], [c for k, c in enumerate(names) if k in inside]
