"""Builds small glTF files, and motions to write."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

import linkwork as lw
from linkwork.motion import clips

UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # z up from y up


def model(name: str) -> lw.Linkage:
    if name == "planar":
        return lw.models.planar([15, 10, 5])
    return getattr(lw.models, name)()


def motion(linkage: lw.Linkage, seed: int = 0) -> lw.Clip:
    """A motion through two random poses, at 12 frames per second."""
    rng = np.random.default_rng(seed)
    stops = [linkage.neutral(), *(linkage.random_pose(rng) for _ in range(2)), linkage.neutral()]
    return lw.interpolate(linkage, [(0.4 * k, q) for k, q in enumerate(stops)], fps=12)


class File:
    """A glTF document under construction."""

    def __init__(self, nodes, **more):
        self.document = {"asset": {"version": "2.0"}, "nodes": nodes, **more}
        self.document |= {"accessors": [], "bufferViews": [], "animations": []}
        self.binary = b""

    def view(self, array, **more) -> int:
        self.binary += b"\0" * (-len(self.binary) % 4)
        view = {"buffer": 0, "byteOffset": len(self.binary), "byteLength": array.nbytes}
        self.document["bufferViews"].append(view | more)
        self.binary += array.tobytes()
        return len(self.document["bufferViews"]) - 1

    def numbers(self, array, **more) -> int:
        array = np.asarray(array)
        array = array.astype(np.float32) if array.dtype == np.float64 else array
        code = {"f": 5126, "b": 5120, "B": 5121, "h": 5122, "H": 5123}[array.dtype.char]
        kind = "SCALAR" if array.ndim == 1 else f"VEC{array.shape[1]}"
        entry = {"bufferView": self.view(array), "componentType": code, "count": len(array), "type": kind}
        self.document["accessors"].append(entry | more)
        return len(self.document["accessors"]) - 1

    def animate(self, *tracks, name=None):
        """Add an animation of (node, path, times, values, interpolation) tracks; values may be an accessor."""
        channels, samplers = [], []
        for node, path, times, values, interpolation in tracks:
            output = values if isinstance(values, int) else self.numbers(values)
            samplers.append({"input": self.numbers(times), "output": output, "interpolation": interpolation})
            channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})
        self.document["animations"].append(
            {"channels": channels, "samplers": samplers} | ({"name": name} if name else {})
        )
        return self

    def glb(self) -> bytes:
        document = self.document | {"buffers": [{"byteLength": len(self.binary)}]}
        text = json.dumps(document).encode()
        text += b" " * (-len(text) % 4)
        binary = self.binary + b"\0" * (-len(self.binary) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x4E4942) + binary
        return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks

    def save(self, folder: Path, name: str = "file.glb", buffer: str = "") -> Path:
        """Write the file; a .gltf has its numbers in the file `buffer`, or embedded if that is empty."""
        path = folder / name
        if path.suffix == ".glb":
            path.write_bytes(self.glb())
            return path
        uri = buffer or "data:application/octet-stream;base64," + base64.b64encode(self.binary).decode()
        if buffer:
            (folder / buffer).write_bytes(self.binary)
        path.write_text(
            json.dumps(self.document | {"buffers": [{"byteLength": len(self.binary), "uri": uri}]}), encoding="utf-8"
        )
        return path


def at(clip: lw.Clip, time: float):
    """Return the pose at a time, linear between the frames of a clip."""
    times = np.clip([time], clip.times[0], clip.times[-1])
    return clips.sample(clip.linkage, clip.times, clip.poses, times, kind="linear", wrap=False)[0]


def random_node(rng, scale) -> dict:
    node = {"translation": rng.normal(size=3).tolist(), "rotation": Rotation.random(rng=rng).as_quat().tolist()}
    return node | ({"scale": list(scale)} if scale is not None else {})


def local_matrix(node: dict):
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_quat(node.get("rotation", [0, 0, 0, 1])).as_matrix() * node.get("scale", [1, 1, 1])
    matrix[:3, 3] = node.get("translation", [0, 0, 0])
    return matrix


# A body with a skin, in the style of modelling programs


def rigged(path: str, interpolation: str) -> tuple[File, list]:
    """Return a file with joints below a rotated node and an armature with scale 100, and its keys.

    One joint is animated at `path` (translation, rotation or scale), another rotates the opposite way; one node has no
    name, and the quaternions of joints have three digits.
    """
    rng = np.random.default_rng(7)
    standing = np.eye(4)
    standing[:3, :3] = UP.T  # as programs with z up export it
    nodes: list[dict] = [
        {"name": "Z_UP", "matrix": standing.T.ravel().tolist(), "children": [1, 7]},
        {"name": "Armature", "scale": [100, 100, 100], "children": [2]},
    ]
    for k in range(2, 7):
        turn = Rotation.random(rng=rng).as_quat().round(3).tolist()
        node = {"name": f"bone{k}", "translation": (0.01 * rng.normal(size=3)).tolist(), "rotation": turn}
        nodes.append(node | ({"children": [k + 1]} if k < 4 else {"children": [5, 6]} if k == 4 else {}))
    nodes.append({"children": []})  # where the skinned mesh would be
    del nodes[7]["children"]
    file = File(nodes, skins=[{"joints": [2, 3, 4, 5, 6]}], scenes=[{"nodes": [0]}], scene=0)
    times = np.array([0.0, 0.3, 1.0])
    tracks = []
    for node, moved in ((3, path), (4, "rotation")):
        rows = 3 * (3 if interpolation == "CUBICSPLINE" else 1)
        values = rng.normal(size=(rows, 4 if moved == "rotation" else 3))
        if moved == "scale":
            values = 1.0 + 0.2 * values
        if moved == "translation":
            values *= 0.01
        if moved == "rotation" and interpolation != "CUBICSPLINE":
            values /= np.linalg.norm(values, axis=1)[:, None]
        tracks.append((node, moved, times, values.astype(np.float32).astype(float), interpolation))
    return file.animate(*tracks), tracks


def key_value(track, time: float) -> np.ndarray:
    """Return the value of a track at a time, as the standard defines it."""
    _, path, times, values, interpolation = track
    k = min(int(np.searchsorted(times, time, side="right")) - 1, len(times) - 2)
    step = times[k + 1] - times[k]
    t = (time - times[k]) / step
    if interpolation == "STEP":
        value = values[k + 1] if t >= 1.0 else values[k]
    elif interpolation == "CUBICSPLINE":
        (_, a, out), (into, b, _) = values.reshape(-1, 3, values.shape[1])[k : k + 2]
        value = (2 * t**3 - 3 * t**2 + 1) * a + step * (t**3 - 2 * t**2 + t) * out
        value = value + (3 * t**2 - 2 * t**3) * b + step * (t**3 - t**2) * into
    elif path == "rotation":
        value = Slerp([0.0, 1.0], Rotation.from_quat(values[k : k + 2]))(t).as_quat()
    else:
        value = (1.0 - t) * values[k] + t * values[k + 1]
    return value / np.linalg.norm(value) if path == "rotation" else value


def worlds(nodes: list[dict], tracks, time: float | None) -> dict[int, np.ndarray]:
    """Return the world matrix of every node below the first: products of the file's own matrices, y up."""
    moved = {} if time is None else {(track[0], track[1]): key_value(track, time) for track in tracks}
    found, waiting = {}, [(0, np.eye(4))]
    while waiting:
        k, parent = waiting.pop()
        node = nodes[k] | {path: value for (which, path), value in moved.items() if which == k}
        local = np.reshape(node["matrix"], (4, 4)).T if "matrix" in node else local_matrix(node)
        found[k] = parent @ local
        waiting += [(child, found[k]) for child in node.get("children", [])]
    return found


# A body with a skin

COUNT, JOINTS = 30, [2, 3, 4, 5, 6]
RNG = np.random.default_rng(5)
CORNERS = RNG.normal(size=(COUNT, 3)).astype(np.float32)
OWNERS = RNG.integers(0, 5, (COUNT, 4)).astype(np.uint8)
WEIGHTS = RNG.dirichlet(np.ones(4), COUNT).astype(np.float32)
BINDS = RNG.normal(size=(5, 4, 4)).astype(np.float32)
BINDS[:, 3] = [0, 0, 0, 1]


def dressed(path="rotation", **primitive) -> tuple[File, list]:
    """Return a rigged file whose last node has a skinned mesh, and whose joint 4 carries a mesh without a skin."""
    file, tracks = rigged(path, "LINEAR")
    attributes = {"POSITION": file.numbers(CORNERS), "NORMAL": file.numbers(np.tile([0.0, 0.0, 1.0], (COUNT, 1)))}
    skinned = attributes | {"JOINTS_0": file.numbers(OWNERS), "WEIGHTS_0": file.numbers(WEIGHTS)}
    file.document["meshes"] = [
        {"primitives": [{"attributes": skinned, **primitive}]},
        {"primitives": [{"attributes": attributes}]},
    ]
    binds = file.numbers(np.swapaxes(BINDS, 1, 2).reshape(5, 16), type="MAT4")
    file.document["skins"][0]["inverseBindMatrices"] = binds
    file.document["nodes"][7] |= {"mesh": 0, "skin": 0}
    file.document["nodes"][4]["mesh"] = 1
    return file, tracks


def character() -> File:
    """A skinned triangle with a morph, a material, a texture and an animation, under an armature of another scale."""
    file, _ = rigged("translation", "LINEAR")
    triangle = file.numbers(np.eye(3, dtype=np.float32), min=[0, 0, 0], max=[1, 1, 1])
    weights = file.numbers(np.tile([1.0, 0.0, 0.0, 0.0], (3, 1)))
    joints = file.numbers(np.zeros((3, 4), np.uint8))
    attributes = {"POSITION": triangle, "JOINTS_0": joints, "WEIGHTS_0": weights}
    primitive = {"attributes": attributes, "targets": [{"POSITION": triangle}], "material": 0}
    document = file.document
    document["meshes"] = [{"primitives": [primitive], "weights": [0.5], "extras": {"targetNames": ["smile"]}}]
    document["materials"] = [{"name": "skin", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    document["textures"], document["images"] = [{"source": 0}], [{"uri": "art/skin%20one.png"}]
    document["nodes"][7] |= {"mesh": 0, "skin": 0, "extras": {"note": "kept"}}
    document["extensionsUsed"], document["extensions"] = ["ABC_else"], {"ABC_else": {"x": 1.5}}
    document["animations"][0]["name"] = "old"
    return file


def wandering(body: lw.Linkage, name: str = "new") -> lw.Clip:
    """A motion of all joints, with a travelling root."""
    body = body.replace(root="floating")
    rng = np.random.default_rng(3)
    poses = [body.neutral(), body.random_pose(rng), body.random_pose(rng)]
    clip = lw.interpolate(body, [(0.0, poses[0]), (0.5, poses[1]), (1.0, poses[2])], fps=10)
    return clip.named(name)
