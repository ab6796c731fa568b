"""Program that opens an FBX file in a separate process, and returns what a linkage needs as plain arrays.

`fbx` runs this file as a program, so it imports nothing of linkwork. Damaged files may crash the process or fill its
memory, without harm to the caller.
"""

from __future__ import annotations

import ctypes
import gc
import io
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np

try:
    import ufbx
except ImportError:  # `_answer` reports it
    ufbx = None

MAX_NODES = 20_000
MAX_RATE = 240.0  # frames per second
DENSE = 1.5  # keys per frame above which the rate of the keys is used instead of that of the file
UNSEEN = ("CAMERA", "LIGHT", "STEREO_CAMERA", "CAMERA_SWITCHER")
POINTS = ("UNKNOWN", "EMPTY", "MARKER")  # nodes without geometry


class Refusal(Exception):  # noqa: N818 - internal: it becomes the answer
    """An error in the file."""


def main() -> None:
    """Answer the request on stdin with an NPZ archive on stdout."""
    gc.disable()
    header, arrays = _answer(json.load(sys.stdin))
    buffer = io.BytesIO()
    np.savez(buffer, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)
    with os.fdopen(os.dup(1), "wb") as file:
        file.write(buffer.getvalue())
    os._exit(0)  # ufbx objects must not be freed in arbitrary order


def _answer(request: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    if ufbx is None:
        return {"missing": "ufbx"}, {}
    limits = runpy.run_path(str(Path(__file__).with_name("child_limits.py")))
    limits["limit"](request["seconds"], request["bytes"])
    data = Path(request["path"]).read_bytes()
    if data.startswith(b"version https://git-lfs"):
        return {"error": "is a Git LFS pointer, not the file itself; 'git lfs pull' downloads it"}, {}
    skipped = {"ignore_geometry": True, "ignore_embedded": True, "load_external_files": False}
    try:
        scene = _held(ufbx.load_memory(data, file_format=ufbx.FileFormat.FBX, **skipped))
        return _Extract(scene).everything(request["values"])
    except Refusal as refusal:
        return {"error": str(refusal)}, {}
    except ufbx.UfbxError as error:
        said = " ".join(f"{type(error).__name__.removesuffix('Error')} {error}".split())
        return {"error": f"ufbx cannot read it: {said[:200]}"}, {}


def _held(thing: Any) -> Any:
    """Keep an object of ufbx in memory: version 0.0.5 returns objects without a reference of its own."""
    if thing is not None:
        for _ in range(2):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    return thing


def _all(things: Any) -> list[Any]:
    """Return the elements of a ufbx list."""
    things = _held(things)
    return [_held(things[k]) for k in range(len(things))]


def _matrices(rows: list[Any]) -> Any:
    """Return matrices (n, 4, 4) from those of ufbx, which have four columns of three numbers."""
    columns = np.array(rows, np.float64).reshape(-1, 4, 3)
    result = np.tile(np.eye(4), (len(columns), 1, 1))
    result[:, :3, :] = columns.transpose(0, 2, 1)
    return result


class _Extract:
    """Extracts plain arrays from a scene."""

    def __init__(self, scene: Any) -> None:
        self.scene = scene
        settings = _held(scene.settings)
        self.rate = float(settings.frames_per_second)
        axes = settings.axes
        self.header: dict[str, Any] = {
            "unit": float(settings.unit_meters),
            "axes": [int(axes.right), int(axes.up), int(axes.front)],
            "rate": self.rate,
            "constraints": len(_held(scene.constraints)),
        }
        self.arrays: dict[str, Any] = {}

    def everything(self, values: int) -> tuple[dict[str, Any], dict[str, Any]]:
        nodes, parents = self._ordered()
        kinds = [ufbx.ElementType(node.attrib_type).name for node in nodes]
        place = {node.typed_id: k for k, node in enumerate(nodes)}
        bind = self._bind(place)
        kept = self._kept(kinds, parents, {k for k in bind if kinds[k] != "MESH"})
        row = {k: i for i, k in enumerate(kept)}
        self.header["nodes"] = [
            {"name": nodes[k].name, "parent": row.get(parents[k], -1), "bone": kinds[k] == "BONE" or k in bind}
            for k in kept
        ]
        self.header["left_out"] = len(nodes) - len(kept)
        self.header["meshes"] = kinds.count("MESH")
        self.arrays["rest"] = _matrices([nodes[k].node_to_world for k in kept])
        bound = [k for k in kept if k in bind]
        if bound:
            self.arrays["bound"] = np.array([row[k] for k in bound])
            self.arrays["bind"] = _matrices([bind[k] for k in bound])
        self.header["motions"] = self._motions([nodes[k].typed_id for k in kept], values)
        return self.header, self.arrays

    # Nodes

    def _ordered(self) -> tuple[list[Any], list[int]]:
        """Return all nodes except the scene root, depth first in file order, and their parents."""
        count = len(_held(self.scene.nodes))
        if count > MAX_NODES:
            raise Refusal(f"has {count} nodes; at most {MAX_NODES} are read")
        order, parents = list[Any](), list[int]()
        waiting = [(child, -1) for child in reversed(_all(_held(self.scene.root_node).children))]
        while waiting:
            node, parent = waiting.pop()
            waiting += [(child, len(order)) for child in reversed(_all(node.children))]
            order.append(node)
            parents.append(parent)
        if not order:
            raise Refusal("has no nodes, so it contains no skeleton")
        return order, parents

    def _kept(self, kinds: list[str], parents: list[int], bound: set[int]) -> list[int]:
        """Return the nodes that become links: bones, nodes above and empty nodes below; without bones, all nodes."""
        bones = {k for k, kind in enumerate(kinds) if kind == "BONE"} | bound
        if not bones:
            return [k for k, kind in enumerate(kinds) if kind not in UNSEEN] or list(range(len(kinds)))
        kept = set(bones)
        for k in bones:
            while (k := parents[k]) >= 0 and k not in kept:
                kept.add(k)
        below = set(bones)
        for k, kind in enumerate(kinds):  # parents precede their children
            if parents[k] in below and kind in POINTS:
                below.add(k)
        return sorted(kept | below)

    def _bind(self, place: dict[int, int]) -> dict[int, Any]:
        """Return the bind transforms of nodes, by position in the order."""
        result: dict[int, Any] = {}
        for cluster in _all(self.scene.skin_clusters):
            if (bone := _held(cluster.bone_node)) is not None and bone.typed_id in place:
                result.setdefault(place[bone.typed_id], cluster.bind_to_world)
        for pose in _all(self.scene.poses) if result else ():
            for one in _all(pose.bone_poses) if pose.is_bind_pose else ():
                if (bone := _held(one.bone_node)).typed_id in place:
                    result.setdefault(place[bone.typed_id], one.bone_to_world)
        return result

    # Motions

    def _motions(self, kept: list[int], values: int) -> list[dict[str, Any]]:
        """Sample all animations that move a node, at the rate of the file or of the densest keys.

        If there are more than `values` nodes times frames, only every second, third, ... frame is sampled.
        """
        found = []
        for stack in _all(self.scene.anim_stacks):
            rate = self._rate(stack)
            length = float(stack.time_end) - float(stack.time_begin)
            if rate is not None and 0.0 <= length < 1e7:
                found.append((stack, rate, length))
        wanted = sum(int(length * rate + 1e-6) + 1 for _, rate, length in found)
        most = max(values // max(len(kept), 1), 2 * len(found))
        thin = -(-wanted // most) if wanted else 1
        result = []
        for k, (stack, rate, length) in enumerate(found):
            times = np.arange(0, int(length * rate + 1e-6) + 1, thin) / rate
            anim = _held(stack.anim)
            worlds = [self._worlds(anim, float(stack.time_begin) + time, kept) for time in times.tolist()]
            self.arrays[f"worlds{k}"], self.arrays[f"times{k}"] = np.stack(worlds), times
            result.append({"name": stack.name, "rate": rate, "thin": thin})
        return result

    def _rate(self, stack: Any) -> float | None:
        """Return the frame rate for sampling a motion; None if nothing moves."""
        rate = None
        for layer in _all(stack.layers):
            for value in _all(layer.anim_values):
                for curve in (_held(one) for one in value.curves):
                    keys = _held(curve.keyframes) if curve is not None else []
                    rate = rate or (self.rate if len(keys) else None)
                    if len(keys) > 2 and (span := keys[len(keys) - 1].time - keys[0].time) > 0.0:
                        dense = (len(keys) - 1) / span
                        rate = max(rate or 0.0, round(dense, 3) if dense > DENSE * self.rate else 0.0)
        return None if rate is None else min(rate, MAX_RATE)

    def _worlds(self, anim: Any, time: float, kept: list[int]) -> Any:
        """Return world_from_node at a time, shape (nodes, 4, 4), as evaluated by ufbx."""
        scene = _held(ufbx.evaluate_scene(self.scene, anim, time))
        nodes = _held(scene.nodes)
        result = _matrices([_held(nodes[k]).node_to_world for k in kept])
        scene.free()
        return result


if __name__ == "__main__":
    main()
