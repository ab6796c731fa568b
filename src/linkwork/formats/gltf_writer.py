"""Write glTF 2.0 and GLB files: nodes for links and frames, one skin for the geometry, an animation for each clip.

The file is in metres, y up. Rotations and positions are float32; the extras contain the linkage and the exact frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from ..errors import FormatError, Remark
from ..linkage.tree import fresh
from ..motion.clips import Clip
from ..transforms import FloatArray, inverse
from . import mesh_export
from .content import Content, Remarks
from .gltf_extras import FILE_FROM_WORLD, joint_extras, linkage_extras, write_frames
from .gltf_keys import Keys
from .gltf_packing import Column, Packing, quaternions, write_document
from .options import FilePath
from .skeletons import local_matrices

VERTICES, INDICES = 34962, 34963  # targets of buffer views
LINES = 1  # primitive mode; triangles are the default
MAX_LINKS = 65_535
STILL = 1e-7


def write(content: Content, path: FilePath) -> tuple[Remark, ...]:
    """Write a linkage and its motions, completely or not at all: one GLB file, or glTF with its data inside.

    Returns:
        Remarks on what the file cannot store.

    Raises:
        FormatError: If the file cannot be written.
    """
    if PurePath(path).suffix.lower() == ".vrm":
        text = "a VRM file is an avatar with its skin; a motion can only be added to an existing one"
        raise FormatError(path, f"{text}: use into=... (--into), or a linkage loaded from it.")
    writing = _GltfWriter(content, path)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers too large for float32 are refused
        writing.build()
    write_document(path, writing.document, writing.numbers.binary)
    return tuple(writing.remarks)


class _GltfWriter:
    """Builds a file."""

    def __init__(self, content: Content, path: FilePath) -> None:
        self.linkage, self.clips, self.path = content.linkage, content.clips, path
        self.document: dict[str, Any] = {"asset": {"version": "2.0", "generator": "linkwork"}}
        self.numbers = Packing(self.document, path)
        self.remarks = Remarks()
        if len(self.linkage.frames) > MAX_LINKS:
            raise FormatError(path, f"a skin has at most {MAX_LINKS} links, this linkage {len(self.linkage.frames)}.")

    def build(self) -> None:
        linkage, document = self.linkage, self.document
        matrices = local_matrices(linkage, linkage.neutral(), FILE_FROM_WORLD)
        nodes = self._nodes(matrices)
        mesh_node = {"name": fresh("geometry", set(linkage.frames)), "mesh": 0, "skin": 0}
        scene: dict[str, Any] = {"name": linkage.name, "nodes": [0, len(nodes)]}
        extras = linkage_extras(linkage)
        if extras:
            scene["extras"] = extras
        else:
            text = "the linkage is too large for the extras; only its nodes are written."
            self.remarks.add("dropped", text)
        document |= {"scene": 0, "scenes": [scene], "nodes": [*nodes, mesh_node]}
        frames = linkage.forward(linkage.neutral())
        worlds = FILE_FROM_WORLD @ np.stack([frames[name] for name in linkage.frames])
        binds = np.swapaxes(inverse(worlds), -1, -2).reshape(-1, 16)  # column-major
        skin = {"name": linkage.name, "joints": list(range(len(worlds)))}
        document["skins"] = [skin | {"inverseBindMatrices": self.numbers.accessor(binds.astype(np.float32), "MAT4")}]
        self._mesh(worlds)
        animations = [self._animation(name, clip, matrices) for name, clip in self.clips.items()]
        if animations:
            document["animations"] = animations
        document["buffers"] = [{"byteLength": len(self.numbers.binary)}]

    # Nodes

    def _nodes(self, matrices: FloatArray) -> list[dict[str, Any]]:
        """Return a node for every link, then one for every further frame."""
        linkage = self.linkage
        nodes = []
        for link, joint, matrix in zip(linkage.nodes, linkage.arcs, matrices, strict=True):
            nodes.append({"name": link.name, **_placement(matrix), "extras": joint_extras(joint)})
        nodes += [{"name": frame.name, **_placement(frame.placement)} for frame in linkage.extra_frames]
        below: list[list[int]] = [list(children) for children in linkage.children]
        for k, frame in enumerate(linkage.extra_frames):
            below[linkage.link_index(frame.link)].append(len(linkage.links) + k)
        for node, children in zip(nodes, below, strict=False):
            if children:
                node["children"] = children
        return nodes

    # Geometry

    def _mesh(self, worlds: FloatArray) -> None:
        """Write the geometry of all links in the neutral pose, with one primitive for each color."""
        missing: list[str] = []
        groups: dict[tuple[mesh_export.Color, bool], list[tuple[int, mesh_export.Facets]]] = {}
        for part in mesh_export.parts(self.linkage, missing):
            facets = mesh_export.placed(part.facets, worlds[part.link])
            groups.setdefault((part.color, facets.normals is None), []).append((part.link, facets))
        colors = list(dict.fromkeys(color for color, _ in groups))
        self.document["materials"] = [_material(color) for color in colors]
        primitives = [
            {**self._primitive(pieces), "material": colors.index(color)} for (color, _), pieces in groups.items()
        ]
        self.document["meshes"] = [{"name": self.linkage.name, "primitives": primitives}]
        self.remarks.extend(mesh_export.say_missing(missing))

    def _primitive(self, pieces: list[tuple[int, mesh_export.Facets]]) -> dict[str, Any]:
        whole = mesh_export.joined([facets for _, facets in pieces])
        owner = np.repeat([link for link, _ in pieces], [len(facets.corners) for _, facets in pieces])
        joints = np.zeros((len(owner), 4), np.uint16 if len(self.linkage.frames) > 256 else np.uint8)
        joints[:, 0] = owner
        weights = np.zeros((len(owner), 4), np.uint8)
        weights[:, 0] = 255
        attributes = {
            "POSITION": self.numbers.accessor(whole.corners.astype(np.float32), "VEC3", VERTICES, bounds=True)
        }
        if whole.normals is not None:
            attributes["NORMAL"] = self.numbers.accessor(whole.normals.astype(np.float32), "VEC3", VERTICES)
        attributes["JOINTS_0"] = self.numbers.accessor(joints, "VEC4", VERTICES)
        attributes["WEIGHTS_0"] = self.numbers.accessor(weights, "VEC4", VERTICES, normalized=True)
        indices = whole.indices.ravel().astype(np.uint16 if len(owner) < 65_535 else np.uint32)[:, None]
        mode = {} if whole.indices.shape[1] == 3 else {"mode": LINES}
        return {"attributes": attributes, "indices": self.numbers.accessor(indices, "SCALAR", INDICES), **mode}

    # Motion

    def _animation(self, name: str, clip: Clip, rest: FloatArray) -> dict[str, Any]:
        if clip.linkage != self.linkage:
            raise FormatError(self.path, f"clip {name!r} moves another linkage, {clip.linkage.name!r}.")
        keys = Keys(clip, name, self.remarks)
        times, turns, moves = self._changes(keys, rest)
        animation: dict[str, Any] = {"name": name, "channels": [], "samplers": []}
        clock = self.numbers.clock(times)
        columns: dict[tuple[int, str], Column] = {}
        for node, still in enumerate(rest):
            slides = moves[node] > STILL * (1.0 + np.abs(still[:3, 3]).max())
            alone = node == len(rest) - 1 and not columns and moves[node] <= STILL  # at least one channel is required
            for path in ("rotation",) * bool(turns[node] > STILL or alone) + ("translation",) * bool(slides):
                columns[node, path] = self.numbers.channel_of(animation, clock, node, path, len(times))
        self._write_keys(keys, columns)
        return animation | {"extras": write_frames(clip, self.numbers)}

    def _changes(self, keys: Keys, rest: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the times of all keys, and the largest difference of rotation and position of each node from rest."""
        parts: list[FloatArray] = []
        change = np.zeros((len(rest), 4, 4))
        for times, poses in keys.blocks():
            parts.append(times)
            matrices = local_matrices(self.linkage, poses, FILE_FROM_WORLD)
            change = np.maximum(change, np.abs(matrices - rest).max(axis=0))
        change[[arc.articulation.nq == 0 for arc in self.linkage.arcs]] = 0.0
        return np.concatenate(parts), change[:, :3, :3].max(axis=(1, 2)), change[:, :3, 3].max(axis=1)

    def _write_keys(self, keys: Keys, columns: Mapping[tuple[int, str], Column]) -> None:
        """Write the moving properties in blocks."""
        last: dict[int, FloatArray] = {}
        for _, poses in keys.blocks():
            matrices = local_matrices(self.linkage, poses, FILE_FROM_WORLD)
            for (node, path), column in columns.items():
                if path == "translation":
                    column.add(matrices[:, node, :3, 3])
                else:
                    turns = quaternions(matrices[:, node, :3, :3], last.get(node))
                    column.add(turns)
                    last[node] = turns[-1]


def _placement(matrix: FloatArray) -> dict[str, Any]:
    """Return the translation and rotation of a node, unless they are zero."""
    result: dict[str, Any] = {}
    if matrix[:3, 3].any():
        result["translation"] = matrix[:3, 3].tolist()
    x, y, z, w = quaternions(matrix[None, :3, :3])[0].tolist()
    if x or y or z:
        result["rotation"] = [x, y, z, w]
    return result


def _material(color: mesh_export.Color) -> dict[str, Any]:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return {"pbrMetallicRoughness": {"baseColorFactor": [*linear, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.6}}
