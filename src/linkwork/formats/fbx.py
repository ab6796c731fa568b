"""Read FBX files: the skeleton as a linkage and its animations as clips, sampled at the frame rate of the file.

A file is opened by `fbx_scene` in a separate process with ufbx, which evaluates pivots, rotation orders, layers and
inherited scales. The result is world transforms, which are checked here like any other input.
"""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Any

import numpy as np

from ..errors import FormatError, MissingExtraError
from ..linkage.linkage import Link
from ..transforms import FloatArray
from .atomic_files import on_disk, read_bytes
from .child import ask_arrays
from .content import Content, Remarks, UniqueNames, counted, file_errors
from .options import DEFAULTS, UP, FilePath, Options
from .skeletons import WorldMotion, local_places, moving_skeleton, rigid

SECONDS = 30.0  # CPU time of the process [s]
MEMORY = 800 * 2**20  # memory of the process [bytes], in addition to sixteen times the size of the file
MAX_SIZE = 256 * 2**20
MAX_VALUES = 1_000_000  # nodes times frames of all motions: 14,000 frames of 70 joints
SMALL, LARGE = 0.05, 50.0  # skeletons beyond these sizes probably have another unit than stated [m]
SAME_SHAPE = 0.05  # largest deviation of joints in the bind pose, relative to the size of the skeleton
TURNS = 1e-6


def read(path: FilePath, options: Options = DEFAULTS) -> Content:
    """Return the skeleton of an FBX file and its animations.

    Bones become links, with all nodes above them and empty nodes below; in a file without bones, all nodes do. The
    neutral pose is the bind pose of a skin, or else the pose of the nodes without animation.

    Args:
        path: The file.
        options: `units` (metres per unit) and `up` are used; by default those of the file.

    Raises:
        FormatError: If the file cannot be read.
        MissingExtraError: If ufbx is not installed.
    """
    size = len(read_bytes(path, MAX_SIZE))
    missing = MissingExtraError("ufbx", "fbx", "reading FBX (or convert it to .glb or .bvh with Blender)")
    with on_disk(path) as real:
        request = {"path": str(real), "seconds": SECONDS, "bytes": MEMORY + 16 * size, "values": MAX_VALUES}
        header, arrays = ask_arrays("fbx_scene.py", request, path, "ufbx", os.environ, missing)
    with file_errors(path), np.errstate(over="ignore", invalid="ignore"):  # `rigid` refuses infinite values
        return _FbxReader(path, options, header, arrays).content()


class _FbxReader:
    """Converts a file to a linkage."""

    def __init__(self, path: FilePath, options: Options, header: dict[str, Any], arrays: dict[str, FloatArray]) -> None:
        self.path, self.options, self.header, self.arrays = path, options, header, arrays
        self.remarks = Remarks()
        self.unit = header["unit"] if options.units is None else options.units
        if not 0.0 < self.unit < np.inf:
            raise FormatError(path, f"has {self.unit} metres per unit; give units=... (--units).")
        self.upright = self._upright()
        given = [node["name"] for node in header["nodes"]]
        names = UniqueNames(given)
        self.names = [names.take(name, f"node{k}") for k, name in enumerate(given)]
        self.parents: list[int] = [node["parent"] for node in header["nodes"]]

    def content(self) -> Content:
        rest = self._rest()
        motions = [
            WorldMotion(entry["name"], self.arrays[f"times{k}"], self._places(self.arrays.pop(f"worlds{k}")))
            for k, entry in enumerate(self.header["motions"])
        ]
        links, name = [Link(name) for name in self.names], PurePath(self.path).stem or "skeleton"
        linkage, clips = moving_skeleton(name, links, self.parents, rest, motions, self._free(rest, motions))
        self._say(rest, list(clips))
        return Content(linkage, clips, tuple(self.remarks))

    def _upright(self) -> FloatArray:
        """Return the rotation from the axes of the file to x right, y away from the viewer, z up."""
        if self.options.up is not None:
            return UP[self.options.up]
        axes = self.header["axes"]  # +x, -x, +y, -y, +z, -z, or 6 if unknown
        right, up, front = (np.eye(3)[axis // 2] * (-1.0 if axis % 2 else 1.0) if axis < 6 else None for axis in axes)
        if up is None:
            text = "the file does not state its up axis; y is assumed; up=... says otherwise."
            self.remarks.add("up-axis", text)
            return UP["y"]
        if right is not None and front is not None and np.allclose(np.cross(front, right), up):
            return np.stack([right, -front, up])
        self.remarks.add("up-axis", "the axes of the file are not right-handed; only its up axis is used.")
        return UP["xyz"[axes[1] // 2]]

    def _places(self, worlds: FloatArray) -> FloatArray:
        """Return rigid transforms in metres, z up."""
        result = rigid(worlds)
        result[..., :3, :] = self.upright @ result[..., :3, :]
        result[..., :3, 3] *= self.unit
        return result

    def _rest(self) -> FloatArray:
        """Return the transforms of joints at rest: orientations of the bind pose, if any, and offsets of the nodes."""
        rest = self._places(self.arrays["rest"])
        if "bind" not in self.arrays:
            return rest
        bound, bind = self.arrays["bound"].astype(np.int64), self._places(self.arrays["bind"])
        turns = dict(zip(bound.tolist(), bind[:, :3, :3], strict=True))
        result, local = rest.copy(), local_places(rest, self.parents)
        for k, parent in enumerate(self.parents):
            above = result[parent] if parent >= 0 else np.eye(4)
            result[k] = above @ local[k]
            result[k, :3, :3] = turns.get(k, result[k, :3, :3])
        ours, theirs = (_shape(points) for points in (result[bound, :3, 3], bind[:, :3, 3]))
        if np.abs(ours - theirs).max() > SAME_SHAPE:
            text = "the skin was bound to a skeleton of another shape; the rest pose is that of the nodes."
            self.remarks.add("rest", text)
            return rest
        if np.abs(result[:, :3, :3] - rest[:, :3, :3]).max() > 1e-3:
            text = "the rest pose is the bind pose of the skin, which differs from the nodes without animation."
            self.remarks.add("rest", text)
        return result

    def _free(self, rest: FloatArray, motions: list[WorldMotion]) -> list[bool]:
        """Return which joints can move: bones, and nodes that an animation moves."""
        free = np.array([node["bone"] for node in self.header["nodes"]], dtype=bool)
        still = local_places(rest, self.parents)
        for motion in motions:
            free |= np.abs(local_places(motion.worlds, self.parents) - still).max(axis=(0, 2, 3)) > TURNS
        return [bool(one) for one in free]

    def _say(self, rest: FloatArray, titles: list[str]) -> None:
        header, says = self.header, self.remarks.add
        told = "as given" if self.options.up or self.options.units else "as in the file"
        axis = "xyz"[int(np.abs(self.upright[2]).argmax())]
        says("up-axis", f"{axis} points up, {self.unit:g} m per unit ({told}).")
        size = float(np.ptp(rest[:, :3, 3], axis=0).max())
        if self.options.units is None and size > 0.0 and not SMALL <= size <= LARGE:
            text = f"the skeleton is {size:.3g} m large in the unit of the file"
            says("units", f"{text}; if that is wrong, give units=... (--units), metres per unit.")
        renamed = sum(node["name"] != name for node, name in zip(header["nodes"], self.names, strict=True))
        if renamed:
            says("names", f"{counted(renamed, 'node')} without a name, or with a repeated name, got a new one.")
        if header["left_out"]:
            says("dropped", f"{counted(header['left_out'], 'node')} outside the skeleton not read.")
        if header["meshes"]:
            says("dropped", f"{counted(header['meshes'], 'mesh')} not read: only the skeleton is read.")
        if header["constraints"]:
            says("constraints", f"{counted(header['constraints'], 'constraint')} not solved; bones follow their keys.")
        for title, entry in zip(titles, header["motions"], strict=True):
            if entry["thin"] > 1:
                rate = f"{entry['rate'] / entry['thin']:.4g} of its {entry['rate']:.4g} frames per second"
                says("thinned", f"motion {title!r} is too long to be read completely; {rate} are read.", title)
            elif entry["rate"] != header["rate"]:
                text = f"motion {title!r} has {entry['rate']:.4g} keys per second and is read at that rate"
                says("rate", f"{text}; the file states {header['rate']:.4g}.", title)


def _shape(points: FloatArray) -> Any:
    """Return points relative to their mean and extent, independent of position and unit."""
    points = points - points.mean(axis=0)
    return points / (float(np.ptp(points, axis=0).max()) or 1.0)
