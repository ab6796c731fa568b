"""Small glTF files under construction, and motions to write."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.motion import clips

UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # z up from y up


def model(name: str) -> lw.Linkage:
    if name == "planar":
        return lw.models.planar([15, 10, 5])
    return getattr(lw.models, name)()


def motion(linkage: lw.Linkage, seed: int = 0) -> lw.Clip:
    """A motion through two random poses, at 12 frames a second."""
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

    def save(self, folder: Path, name: str = "file.glb") -> Path:
        path = folder / name
        path.write_bytes(self.glb())
        return path


def at(clip: lw.Clip, time: float):
    """Straight lines between the frames of a clip."""
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
