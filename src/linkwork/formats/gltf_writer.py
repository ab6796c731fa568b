"""glTF 2.0 and GLB files written: nodes for links and frames, one skin for the geometry, an animation for each clip.

The file is in metres with y up; rotations and positions are float32, and the extras hold the linkage and the frames as
they are.
"""

from __future__ import annotations

import base64
import json
import struct
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError, Remark
from ..linkage.tree import fresh
from ..motion.clips import Clip
from ..transforms import FloatArray, inverse, steady
from . import mesh_export
from .atomic_files import replacing, write_text
from .content import Content, Remarks
from .gltf_data import BINARY_CHUNK, JSON_CHUNK, MAGIC, TYPES
from .gltf_extras import FILE_FROM_WORLD, clip_extras, joint_extras, linkage_extras, written_times
from .options import FilePath
from .skeletons import local_matrices

CODES = {np.dtype(kind): code for code, kind in TYPES.items()}  # of component types
VERTICES, INDICES = 34962, 34963  # what a buffer view is for
LINES = 1  # how a primitive is drawn; triangles by default
MAX_LINKS = 65_535
WIDEST_TURN = 2.5  # between two keys [rad]: glTF goes the short way round
STILL = 1e-7


def write(content: Content, path: FilePath) -> tuple[Remark, ...]:
    """Write a linkage and its motions, whole or not at all: one GLB file, or glTF with its data inside.

    Returns:
        Remarks on what the file cannot hold.

    Raises:
        FormatError: If the file cannot be written.
    """
    writing = _GltfWriter(content, path)
    with np.errstate(over="ignore", invalid="ignore"):  # what float32 cannot hold is refused, number by number
        writing.build()
    if PurePath(path).suffix.lower() == ".gltf":
        data = base64.b64encode(writing.binary).decode("ascii")
        writing.document["buffers"][0]["uri"] = f"data:application/octet-stream;base64,{data}"
        write_text(path, json.dumps(writing.document, ensure_ascii=False, allow_nan=False, indent=1))
        return tuple(writing.remarks)
    text = json.dumps(writing.document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    sizes = struct.pack("<II", len(text), JSON_CHUNK), struct.pack("<II", len(writing.binary), BINARY_CHUNK)
    chunks = b"".join([sizes[0], text, sizes[1], writing.binary])
    with replacing(path) as file:
        file.write(MAGIC + struct.pack("<II", 2, 12 + len(chunks)) + chunks)
    return tuple(writing.remarks)


class _GltfWriter:
    """A file on its way out."""

    def __init__(self, content: Content, path: FilePath) -> None:
        self.linkage, self.clips, self.path = content.linkage, content.clips, path
        self.binary = bytearray()
        self.document: dict[str, Any] = {"asset": {"version": "2.0", "generator": "linkwork"}}
        self.remarks = Remarks()
        if len(self.linkage.frames) > MAX_LINKS:
            raise FormatError(path, f"a skin holds {MAX_LINKS} links, this linkage has {len(self.linkage.frames)}.")

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
            text = "the linkage is too large to be kept in the extras; only what nodes can say is written."
            self.remarks.add("dropped", text)
        document |= {"scene": 0, "scenes": [scene], "nodes": [*nodes, mesh_node]}
        document |= {"accessors": [], "bufferViews": [], "buffers": []}
        frames = linkage.forward(linkage.neutral())
        worlds = FILE_FROM_WORLD @ np.stack([frames[name] for name in linkage.frames])
        binds = np.swapaxes(inverse(worlds), -1, -2).reshape(-1, 16)  # columns first
        skin = {"name": linkage.name, "joints": list(range(len(worlds)))}
        document["skins"] = [skin | {"inverseBindMatrices": self._accessor(binds.astype(np.float32), "MAT4")}]
        self._mesh(worlds)
        animations = [self._animation(name, clip, matrices) for name, clip in self.clips.items()]
        if animations:
            document["animations"] = animations
        document["buffers"] = [{"byteLength": len(self.binary)}]

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
        """Write the geometry of all links, in the places of the neutral pose, one primitive for each color."""
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
        if missing:
            names = sorted(set(missing))
            what = f"meshes {names[0]!r} and {len(names) - 1} more are" if names[1:] else f"mesh {names[0]!r} is"
            text = f"{what} not drawn: no file was found, or none that trimesh reads"
            self.remarks.add("missing-mesh", f"{text}; bones stand there.", names[0])

    def _primitive(self, pieces: list[tuple[int, mesh_export.Facets]]) -> dict[str, Any]:
        whole = mesh_export.joined([facets for _, facets in pieces])
        owner = np.repeat([link for link, _ in pieces], [len(facets.corners) for _, facets in pieces])
        joints = np.zeros((len(owner), 4), np.uint16 if len(self.linkage.frames) > 256 else np.uint8)
        joints[:, 0] = owner
        weights = np.zeros((len(owner), 4), np.uint8)
        weights[:, 0] = 255
        attributes = {"POSITION": self._accessor(whole.corners.astype(np.float32), "VEC3", VERTICES, bounds=True)}
        if whole.normals is not None:
            attributes["NORMAL"] = self._accessor(whole.normals.astype(np.float32), "VEC3", VERTICES)
        attributes["JOINTS_0"] = self._accessor(joints, "VEC4", VERTICES)
        attributes["WEIGHTS_0"] = self._accessor(weights, "VEC4", VERTICES, normalized=True)
        indices = whole.indices.ravel().astype(np.uint16 if len(owner) < 65_535 else np.uint32)[:, None]
        mode = {} if whole.indices.shape[1] == 3 else {"mode": LINES}
        return {"attributes": attributes, "indices": self._accessor(indices, "SCALAR", INDICES), **mode}

    # Motion

    def _animation(self, name: str, clip: Clip, rest: FloatArray) -> dict[str, Any]:
        if clip.linkage != self.linkage:
            raise FormatError(self.path, f"clip {name!r} moves another linkage, {clip.linkage.name!r}.")
        times, poses = self._frames(name, clip)
        channels: list[dict[str, Any]] = []
        samplers: list[dict[str, Any]] = []
        clock = self._accessor(times.astype(np.float32)[:, None], "SCALAR", bounds=True)
        matrices = np.moveaxis(local_matrices(self.linkage, poses, FILE_FROM_WORLD), 1, 0)
        for node, (matrix, still) in enumerate(zip(matrices, rest, strict=True)):
            moves = self.linkage.arcs[node].articulation.nq > 0
            change = np.abs(matrix - still).max(axis=0) if moves else np.zeros((4, 4))
            alone = node == len(rest) - 1 and not channels and change[:3, 3].max() <= STILL  # there must be one
            if change[:3, :3].max() > STILL or alone:
                self._channel(channels, samplers, clock, node, "rotation", _quaternions(matrix[:, :3, :3]))
            if change[:3, 3].max() > STILL * (1.0 + np.abs(still[:3, 3]).max()):
                self._channel(channels, samplers, clock, node, "translation", matrix[:, :3, 3])
        if clip.residuals is not None:
            self.remarks.add("dropped", f"the residuals of clip {name!r} are not written.", name)
        return {"name": name, "channels": channels, "samplers": samplers, "extras": clip_extras(clip)}

    def _frames(self, name: str, clip: Clip) -> tuple[FloatArray, FloatArray]:
        """Return the times and poses of the keys: the clip's frames, and more where a joint turns far between two."""
        times, kept = written_times(clip.times)
        poses = clip.poses[kept]
        if clip.times[0] < 0.0:
            text = f"clip {name!r} begins at {clip.times[0]:g} s; glTF begins at zero, and so it does there."
            self.remarks.add("times", text, name)
        if len(kept) < len(clip):
            text = f"{len(clip) - len(kept)} frames of clip {name!r} are too near the one before for float32 times."
            self.remarks.add("dropped", text, name)
        turning = np.array([unit == "rad" for unit in self.linkage.table.units], np.bool_)
        ratio = np.ones(self.linkage.nq)
        for arc, drive in zip(self.linkage.arcs, self.linkage.drives, strict=True):
            if arc.mimic is not None:
                ratio[drive.q] = max(ratio[drive.q], abs(drive.multiplier))
                turning[drive.q] |= "rad" in arc.articulation.units
        fast = np.flatnonzero(turning)
        steps = np.abs(np.diff(poses[:, fast], axis=0)) * ratio[fast]
        counts = np.ceil(steps.max(axis=1, initial=0.0) / WIDEST_TURN).clip(1.0, 1000.0).astype(np.int64)
        if (counts == 1).all():
            return times, poses
        start = np.repeat(np.arange(len(counts)), counts)
        part = np.concatenate([np.arange(count) / count for count in counts])
        finer = times[start] + part * (times[start + 1] - times[start])
        between = self.linkage.interpolate(poses[start], poses[start + 1], part, wrap=False)
        finer, inside = written_times(np.append(finer, times[-1]))
        return finer, np.concatenate([between, poses[-1:]])[inside]

    def _channel(self, channels: list[Any], samplers: list[Any], clock: int, node: int, path: str, values: Any) -> None:
        channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
        output = self._accessor(values.astype(np.float32), f"VEC{values.shape[1]}")
        samplers.append({"input": clock, "output": output})

    # Numbers

    def _accessor(
        self,
        values: NDArray[Any],
        kind: str,
        target: int | None = None,
        *,
        bounds: bool = False,
        normalized: bool = False,
    ) -> int:
        """Write numbers of shape (count, components) and return the index of their accessor."""
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise FormatError(self.path, "the linkage or its motion has numbers that are too large for a glTF file.")
        self.binary += b"\0" * (-len(self.binary) % 4)
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.binary), "byteLength": values.nbytes}
        if target is not None:
            view["target"] = target
        self.binary += values.astype(values.dtype.newbyteorder("<")).tobytes()
        self.binary += b"\0" * (-len(self.binary) % 4)
        views, accessors = self.document["bufferViews"], self.document["accessors"]
        entry: dict[str, Any] = {"bufferView": len(views), "componentType": CODES[values.dtype]}
        entry |= {"count": len(values), "type": kind}
        if normalized:
            entry["normalized"] = True
        if bounds:
            entry |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        views.append(view)
        accessors.append(entry)
        return len(accessors) - 1


def _placement(matrix: FloatArray) -> dict[str, Any]:
    """Return a node's translation and rotation, where there are any."""
    result: dict[str, Any] = {}
    if matrix[:3, 3].any():
        result["translation"] = matrix[:3, 3].tolist()
    x, y, z, w = _quaternions(matrix[None, :3, :3])[0].tolist()
    if x or y or z:
        result["rotation"] = [x, y, z, w]
    return result


def _quaternions(matrices: FloatArray) -> FloatArray:
    """Return rotations (n, 3, 3) as x, y, z, w, each on the side of the one before."""
    from scipy.spatial.transform import Rotation

    return steady(Rotation.from_matrix(matrices).as_quat(canonical=True))


def _material(color: mesh_export.Color) -> dict[str, Any]:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return {"pbrMetallicRoughness": {"baseColorFactor": [*linear, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.6}}
