"""A game character, written as a glTF file: a skeleton in a T-pose with one skin.

It is a test character for drawing skins and for writing motions into a character's own file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..formats.gltf_packing import Packing, write_document
from ..formats.options import FilePath
from ..formats.skin_pieces import mean_normals
from ..linkage.skin import IntArray
from ..transforms import FloatArray

HEIGHT = 1.7  # of the table below [m]
JOINTS: dict[str, tuple[str, tuple[float, float, float]]] = {  # parent and position of each: y up, facing z
    "Hips": ("", (0.0, 0.95, 0.0)),
    "Spine": ("Hips", (0.0, 1.07, 0.0)),
    "Chest": ("Spine", (0.0, 1.21, 0.0)),
    "Neck": ("Chest", (0.0, 1.42, 0.0)),
    "Head": ("Neck", (0.0, 1.51, 0.01)),
    "{side}Shoulder": ("Chest", (0.04, 1.37, 0.0)),
    "{side}Arm": ("{side}Shoulder", (0.17, 1.37, 0.0)),
    "{side}ForeArm": ("{side}Arm", (0.43, 1.37, 0.0)),
    "{side}Hand": ("{side}ForeArm", (0.67, 1.37, 0.0)),
    "{side}UpLeg": ("Hips", (0.09, 0.90, 0.0)),
    "{side}Leg": ("{side}UpLeg", (0.09, 0.49, 0.0)),
    "{side}Foot": ("{side}Leg", (0.09, 0.08, 0.0)),
    "{side}ToeBase": ("{side}Foot", (0.09, 0.025, 0.11)),
}
SIDES = {"Left": 1.0, "Right": -1.0}
SOFT = 0.07  # distance from a joint up to which both its bones move the skin [m]
AROUND = 20  # vertices of a ring
CAP = (0.0, 0.08, 0.3, 0.62)  # heights of the rings of a round end from its pole, over the height of the end


@dataclass(frozen=True)
class Tube:
    """A closed part of the skin around a line.

    Args:
        stations: Along the line: where the middle of a ring is, and its half widths across [m].
        bones: Joints that move it, from the first station on.
        color: Red, green and blue in linear light.
    """

    stations: tuple[tuple[tuple[float, float, float], tuple[float, float]], ...]
    bones: tuple[str, ...]
    color: tuple[float, float, float]


SHIRT, TROUSERS, FACE, SHOES, HAIR = (
    (0.55, 0.12, 0.10),
    (0.05, 0.08, 0.16),
    (0.72, 0.44, 0.31),
    (0.03,) * 3,
    (0.06, 0.03, 0.02),
)
TUBES = (
    Tube(
        (
            ((0, 0.84, 0), (0.06, 0.05)), ((0, 0.88, 0), (0.15, 0.10)), ((0, 0.97, 0), (0.155, 0.105)),
            ((0, 1.05, 0), (0.135, 0.095)),
        ),
        ("Hips", "Spine"), TROUSERS,
    ),
    Tube(
        (
            ((0, 1.0, 0), (0.135, 0.10)), ((0, 1.1, 0), (0.135, 0.10)), ((0, 1.25, 0), (0.165, 0.115)),
            ((0, 1.36, 0), (0.17, 0.10)), ((0, 1.42, 0), (0.09, 0.07)), ((0, 1.44, 0), (0.055, 0.05)),
        ),
        ("Hips", "Spine", "Chest"), SHIRT,
    ),
    Tube((((0, 1.40, 0), (0.05, 0.05)), ((0, 1.54, 0.01), (0.05, 0.05))), ("Chest", "Neck", "Head"), FACE),
    Tube(
        (
            ((0, 1.48, 0.02), (0.045, 0.05)), ((0, 1.53, 0.02), (0.07, 0.085)), ((0, 1.6, 0.02), (0.08, 0.095)),
            ((0, 1.66, 0.01), (0.068, 0.08)), ((0, 1.69, 0.01), (0.035, 0.04)),
        ),
        ("Head",), FACE,
    ),
    Tube(
        (((0, 1.585, -0.02), (0.082, 0.085)), ((0, 1.65, -0.01), (0.078, 0.09)), ((0, 1.70, 0.0), (0.04, 0.05))),
        ("Head",), HAIR,
    ),
)  # fmt: skip
LIMBS = (
    Tube(
        (
            ((0.09, 1.365, 0), (0.06, 0.065)), ((0.17, 1.37, 0), (0.062, 0.06)), ((0.3, 1.37, 0), (0.05, 0.05)),
            ((0.42, 1.37, 0), (0.044, 0.044)),
        ),
        ("{side}Shoulder", "{side}Arm", "{side}ForeArm"), SHIRT,
    ),
    Tube(
        (((0.38, 1.37, 0), (0.04, 0.04)), ((0.5, 1.37, 0), (0.04, 0.04)), ((0.67, 1.37, 0), (0.028, 0.028))),
        ("{side}Arm", "{side}ForeArm", "{side}Hand"), FACE,
    ),
    Tube(
        (((0.65, 1.37, 0), (0.02, 0.03)), ((0.74, 1.37, 0), (0.02, 0.045)), ((0.85, 1.37, 0), (0.012, 0.03))),
        ("{side}Hand",), FACE,
    ),
    Tube(
        (
            ((0.085, 0.96, 0), (0.06, 0.07)), ((0.09, 0.86, 0), (0.082, 0.09)), ((0.09, 0.68, 0), (0.07, 0.078)),
            ((0.09, 0.49, 0), (0.053, 0.058)), ((0.09, 0.36, -0.01), (0.052, 0.058)), ((0.09, 0.09, 0), (0.04, 0.045)),
        ),
        ("Hips", "{side}UpLeg", "{side}Leg", "{side}Foot"), TROUSERS,
    ),
    Tube(
        (
            ((0.09, 0.045, -0.06), (0.035, 0.04)), ((0.09, 0.055, -0.02), (0.042, 0.055)),
            ((0.09, 0.04, 0.08), (0.046, 0.04)), ((0.09, 0.03, 0.17), (0.038, 0.03)),
        ),
        ("{side}Foot", "{side}ToeBase"), SHOES,
    ),
)  # fmt: skip


def write_character(path: FilePath, *, height: float = HEIGHT) -> None:
    """Write a character with a skin as a glTF or GLB file.

    Args:
        path: The file.
        height: From the ground to the crown [m].
    """
    joints = {name.format(side=side): (above.format(side=side), np.array(at) * (sign, 1.0, 1.0))
              for side, sign in SIDES.items() for name, (above, at) in JOINTS.items()}  # fmt: skip
    names, scale = list(joints), height / HEIGHT
    nodes: list[dict[str, Any]] = []
    for name, (above, at) in joints.items():
        offset = scale * (at - (joints[above][1] if above else 0.0))
        nodes.append({"name": name, "translation": offset.tolist()})
        if above:
            nodes[names.index(above)].setdefault("children", []).append(len(nodes) - 1)
    nodes.append({"name": "Body", "mesh": 0, "skin": 0})
    document: dict[str, Any] = {"asset": {"version": "2.0", "generator": "linkwork"}, "scene": 0}
    document |= {"scenes": [{"nodes": [0, len(names)]}], "nodes": nodes}
    packing = Packing(document, path)
    binds = np.tile(np.eye(4, dtype=np.float32), (len(names), 1, 1))
    binds[:, 3, :3] = [-scale * at for _, at in joints.values()]  # glTF matrices are column-major
    attributes, indices = _skin(packing, names, {name: at for name, (_, at) in joints.items()}, scale)
    document["meshes"] = [{"primitives": [{"attributes": attributes, "indices": indices, "material": 0}]}]
    document["materials"] = [{"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.9}}]
    matrices = packing.accessor(binds.reshape(-1, 16), "MAT4")
    document["skins"] = [{"joints": list(range(len(names))), "inverseBindMatrices": matrices, "skeleton": 0}]
    document["buffers"] = [{"byteLength": len(packing.binary)}]
    write_document(path, document, packing.binary)


def _skin(
    packing: Packing, names: list[str], places: dict[str, FloatArray], scale: float
) -> tuple[dict[str, int], int]:
    """Write all tubes; return the accessors of their vertices and triangles."""
    tubes = [(tube, 1.0, "") for tube in TUBES]
    tubes += [(tube, sign, side) for side, sign in SIDES.items() for tube in LIMBS]
    corners, normals, colors, owners, weights, triangles = [], [], [], [], [], []
    count = 0
    for tube, sign, side in tubes:
        bones = [bone.format(side=side) for bone in tube.bones]
        points, faces, along = _surface(tube, sign)
        own, much = _weights(along, bones, names, places)
        corners.append(scale * points)
        normals.append(mean_normals(points, faces))
        colors.append(np.tile(tube.color, (len(points), 1)))
        owners.append(own)
        weights.append(much)
        triangles.append(faces + count)
        count += len(points)
    joined = {name: np.concatenate(rows).astype(kind) for name, rows, kind in (
        ("POSITION", corners, np.float32), ("NORMAL", normals, np.float32), ("COLOR_0", colors, np.float32),
        ("JOINTS_0", owners, np.uint8), ("WEIGHTS_0", weights, np.float32),
    )}  # fmt: skip
    attributes = {
        name: packing.accessor(rows, f"VEC{rows.shape[1]}", bounds=name == "POSITION") for name, rows in joined.items()
    }
    return attributes, packing.accessor(np.concatenate(triangles).reshape(-1, 1).astype(np.uint16), "SCALAR")


def _surface(tube: Tube, sign: float) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return the vertices and triangles of a tube, and the point of its centre line for each vertex."""
    middles = np.array([middle for middle, _ in tube.stations]) * (sign, 1.0, 1.0)
    widths = np.array([width for _, width in tube.stations])
    lengths = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(middles, axis=0), axis=1))]
    fine = np.linspace(0.0, lengths[-1], max(6, round(lengths[-1] / 0.03)))
    axis = (middles[-1] - middles[0]) / lengths[-1]
    across = np.array([0.0, 0.0, 1.0]) if abs(axis[2]) < 0.5 else np.array([0.0, 1.0, 0.0])
    side = np.cross(across, axis)
    side /= np.linalg.norm(side)
    up = np.cross(axis, side)
    line = np.stack([np.interp(fine, lengths, middles[:, k]) for k in range(3)], axis=1)
    size = np.stack([np.interp(fine, lengths, widths[:, k]) for k in range(2)], axis=1)
    reach = 0.6 * size.min(axis=1)
    caps = [(1.0 - e, np.sqrt(1.0 - (1.0 - e) ** 2)) for e in CAP]  # position along the axis, and radius
    before = [(line[0] - axis * reach[0] * out, size[0] * wide) for out, wide in caps]
    after = [(line[-1] + axis * reach[-1] * out, size[-1] * wide) for out, wide in caps]
    rings = [*before, *zip(line, size, strict=True), *after[::-1]]
    angles = 2.0 * np.pi * np.arange(AROUND) / AROUND
    points = np.concatenate([
        middle + wide * np.cos(angles)[:, None] * side + deep * np.sin(angles)[:, None] * up
        for middle, (wide, deep) in rings
    ])  # fmt: skip
    row, column = np.meshgrid(np.arange(len(rings) - 1), np.arange(AROUND), indexing="ij")
    a, b = (row * AROUND + column).ravel(), (row * AROUND + (column + 1) % AROUND).ravel()
    faces = np.concatenate([np.stack([a, b, b + AROUND], axis=1), np.stack([a, b + AROUND, a + AROUND], axis=1)])
    return points, faces, np.repeat([middle for middle, _ in rings], AROUND, axis=0)


def _weights(
    along: FloatArray, bones: list[str], names: list[str], places: dict[str, FloatArray]
) -> tuple[IntArray, FloatArray]:
    """Return four joints and weights for points of a line; near a joint, its two bones share the weight."""
    share = np.zeros((len(along), len(bones)))
    share[:, 0] = 1.0
    for k in range(1, len(bones)):
        joint, above = places[bones[k]], places[bones[k - 1]]
        way = (joint - above) / np.linalg.norm(joint - above)
        t = np.clip(((along - joint) @ way + SOFT) / (2.0 * SOFT), 0.0, 1.0)
        t = t * t * (3.0 - 2.0 * t)
        share[:, k] = share[:, k - 1] * t
        share[:, k - 1] *= 1.0 - t
    spare = ((0, 0), (0, 4 - len(bones)))
    owners = np.tile([names.index(bone) for bone in bones], (len(along), 1))
    return np.pad(owners, spare), np.pad(share, spare)
