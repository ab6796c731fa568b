"""Read USD files: skeletons and their animations, or plain hierarchies of transforms, as linkages and clips.

A file is opened by `usd_stage` in a separate process, with limits on time and memory. The result is checked here like
any other input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError, LinkworkError
from ..linkage.geometry import Box, Capsule, Cylinder, Shape, Sphere, Visual
from ..linkage.linkage import Link, Linkage
from ..linkage.origin import Origin
from ..motion.clips import Clip
from ..transforms import FloatArray, has_direction, inverse, quaternion_matrix, transform
from . import scene
from .atomic_files import located, on_disk
from .content import Content, Remarks, file_errors
from .options import DEFAULTS, UP, FilePath, Options
from .skeletons import AGREE, WorldMotion, agree, moving_skeleton, rigid
from .usd_append import write_into
from .usd_skeleton import composed, link_names, opened, parents_of, rest_of, unique_names
from .usd_writer import joint_paths, world_matrices, write

__all__ = ["read", "write", "write_into"]

SCALE_TOLERANCE = 1e-4
ALONG = {"x": np.eye(3)[:, [1, 2, 0]], "y": np.eye(3)[:, [2, 0, 1]]}  # rotate the z axis of a shape to this axis


def read(path: FilePath, options: Options = DEFAULTS) -> Content:
    """Return the content of a USD file: its first skeleton, or else its transforms, and their motions.

    Raises:
        FormatError: If the file cannot be read, or has neither.
        MissingExtraError: If usd-core is not installed.
    """
    with on_disk(path) as real:
        header, arrays = opened(path, real, options.folders)
    with file_errors(path), np.errstate(over="ignore", invalid="ignore"):  # `rigid` refuses infinite values
        reading = _UsdReader(path, options, header, arrays)
        return reading.skeleton() if header["skeletons"] else reading.transforms()


@dataclass(frozen=True)
class _Motion(WorldMotion):
    """A motion with the exact poses written by linkwork, if any."""

    frames: FloatArray | None = None


class _UsdReader:
    """Converts a file to a linkage."""

    def __init__(self, path: FilePath, options: Options, header: dict[str, Any], arrays: dict[str, FloatArray]) -> None:
        self.path, self.options, self.header, self.arrays = path, options, header, arrays
        self.remarks = Remarks()
        if not header["unit_is_said"] and options.units is None:
            self.remarks.add("units", "the file does not state its unit; centimetres, the default of USD, are assumed.")
        for name in header["empty"]:
            self.remarks.add("skeletons", f"the skeleton {name} has no joints; it is skipped.", name)
        for name in header["absent"]:
            self.remarks.add("missing-file", f"the file refers to {name!r}, which does not exist.", name)
        self.unit = header["unit"] if options.units is None else options.units
        if not 0.0 < self.unit < np.inf or not 0.0 < header["rate"] < np.inf:
            raise FormatError(path, f"has {self.unit} metres per unit and {header['rate']} time codes per second.")
        up = options.up or header["up"]
        if up not in UP:
            raise FormatError(path, f"has the up axis {up!r}, not x, y or z; give up=... (--up).")
        self.upright = UP[up]

    def _times(self, codes: list[float], name: str) -> FloatArray:
        times: FloatArray = np.array(codes, np.float64) / self.header["rate"]
        if not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
            raise FormatError(self.path, f"motion {name!r} has times that do not increase.")
        return times

    def _places(self, worlds: FloatArray) -> FloatArray:
        """Return rigid transforms in metres, z up, from transforms of the file."""
        result = rigid(worlds)
        result[..., :3, :] = self.upright @ result[..., :3, :]
        result[..., :3, 3] *= self.unit
        return result

    # Skeletons

    def skeleton(self) -> Content:
        """Return the first skeleton of the file, with its motions."""
        header, found = self.header, self.header["skeletons"]
        if len(found) > 1:
            text = f"the file has {len(found)} skeletons; only the first is read, {found[0]}."
            self.remarks.add("skeletons", text, found[0])
        joints = header["joints"]
        parents = parents_of(joints, self.path)
        local = rest_of(self.arrays, parents, self.path)
        if "rest" not in self.arrays:
            self.remarks.add("rest", "the skeleton has no rest pose; its bind pose is used instead.")
        rest = self._places(composed(local.copy(), parents, self.arrays["world"]))
        motions = [self._motion(entry, k, parents, local) for k, entry in enumerate(header["animations"])]
        own = self._own(rest, motions)
        if own is not None:
            return own
        if header["meshes"]:
            what = f"{header['meshes']} meshes, curves or point clouds"
            text = f"{what} are not in the linkage, but are kept when it is saved in this format."
            self.remarks.add("meshes", text)
        links = [Link(name) for name in link_names(header)]
        return self._content(links, parents, rest, motions, [True] * len(joints))

    def _motion(self, entry: dict[str, Any], k: int, parents: list[int], local: FloatArray) -> _Motion:
        """Return one animation of the skeleton; joints without values stay at rest."""
        name, times = entry["name"], self._times(entry["times"], entry["name"])
        place = {joint: i for i, joint in enumerate(self.header["joints"])}
        columns = [i for i, joint in enumerate(entry["joints"]) if joint in place]
        targets = [place[entry["joints"][i]] for i in columns]
        steps = np.repeat(local[None], len(times), axis=0)
        if (values := self.arrays.pop(f"translations{k}", None)) is not None:
            steps[..., :3, 3][:, targets] = values[:, columns]
        turns, scales = rigid(local)[targets, :3, :3], np.linalg.norm(local[targets, :3, :3], axis=1)
        if (values := self.arrays.pop(f"rotations{k}", None)) is not None:
            if not has_direction(values):
                raise FormatError(self.path, f"animation {name!r} has a quaternion of invalid length.")
            turns = quaternion_matrix(values[:, columns])
        if (values := self.arrays.pop(f"scales{k}", None)) is not None:
            scales = values[:, columns]
            if np.ptp(values, axis=0).max(initial=0.0) > SCALE_TOLERANCE:
                self.remarks.add("dropped", f"changes of scale over time in {name!r} are not kept.", name)
        steps[:, targets, :3, :3] = turns * scales[..., None, :]
        top = self.arrays.get(f"worlds{k}", self.arrays["world"][None])
        worlds = self._places(composed(steps, parents, top))
        return _Motion(name, times, worlds, self.arrays.get(f"frames{k}"))

    # Content written by linkwork

    def _own(self, rest: FloatArray, motions: list[_Motion]) -> Content | None:
        """Return the content that linkwork wrote, if it still agrees with the skeleton."""
        text = self.header["scene"]
        if text is None or self.unit != 1.0 or (self.options.up or self.header["up"]) != "z":
            return None
        try:
            linkage = scene.parse(text, self.path, "json")
            reason = _difference(linkage, self.header["joints"], rest, motions)
            if not reason:
                frames = {motion.name: motion.frames for motion in motions if motion.frames is not None}
                clips = {name: Clip(linkage, rows[:, 0], rows[:, 1:]) for name, rows in frames.items()}
                return Content(linkage, clips, tuple(self.remarks))
        except LinkworkError as error:
            reason = f"cannot be read back ({str(error)[:200].rstrip('.')})"
        self.remarks.add("extras", f"the linkage stored in the file {reason}; the skeleton is read instead.")
        return None

    # Transforms without a skeleton

    def transforms(self) -> Content:
        """Return the transforms of a file as links, with free joints if they move and simple shapes."""
        entries, worlds = self.header["transforms"], self.arrays["worlds"]
        kept = [k for k, entry in enumerate(entries) if entry["shape"] is None or entry["moves"]]
        if not kept:
            raise FormatError(self.path, "has neither a skeleton nor transforms that could be links.")
        self.remarks.add("skeletons", "the file has no skeleton; its transforms are read as links.")
        if self.header["meshes"]:
            self.remarks.add("dropped", f"{self.header['meshes']} meshes, curves or point clouds are not read.")
        owners: list[int] = []  # the link of every entry
        place = {k: i for i, k in enumerate(kept)}
        for k, entry in enumerate(entries):
            above = owners[entry["parent"]] if entry["parent"] >= 0 else -1
            owners.append(place.get(k, above))
        parents = [owners[entries[k]["parent"]] if entries[k]["parent"] >= 0 else -1 for k in kept]
        places = self._places(worlds)
        visuals: list[list[Visual]] = [[] for _ in kept]
        for k, entry in enumerate(entries):
            if entry["shape"] is not None and owners[k] >= 0:
                link_from_shape = inverse(places[0, kept[owners[k]]]) @ places[0, k]
                scale = float(np.cbrt(np.abs(np.linalg.det(worlds[0, k, :3, :3])))) or 1.0
                visuals[owners[k]].append(_visual(entry, link_from_shape, self.unit * scale))
        names = unique_names([entries[k]["name"] for k in kept])
        links = [Link(name, tuple(shapes)) for name, shapes in zip(names, visuals, strict=True)]
        motions = []
        if self.header["moves"]:
            motions = [_Motion("motion", self._times(self.header["times"], "motion"), places[:, kept])]
        return self._content(links, parents, places[0, kept], motions, [entries[k]["moves"] for k in kept])

    # Both

    def _origin(self) -> Origin | None:
        """Return the file, if it contains meshes or the bind pose of the skeleton."""
        meshes = bool(self.header["meshes"])
        if not self.header["skeletons"] or not (meshes or "bind" in self.arrays):
            return None
        up = self.options.up or self.header["up"]
        return Origin(located(self.path), self.unit, up, self.options.folders, has_meshes=meshes)

    def _content(
        self, links: list[Link], parents: list[int], rest: FloatArray, motions: list[_Motion], free: list[bool]
    ) -> Content:
        """Return the linkage with the rest pose of the file, and its clips."""
        name = self.header["name"] or Path(self.path).stem or "model"
        linkage, clips = moving_skeleton(name, links, parents, rest, motions, free, origin=self._origin())
        return Content(linkage, clips, tuple(self.remarks))


def _difference(linkage: Linkage, joints: list[str], rest: FloatArray, motions: list[_Motion]) -> str:
    """Return the first difference of a skeleton from the stored linkage; empty if there is none."""
    if joint_paths(linkage) != joints:
        return "has other joints"
    if not agree(world_matrices(linkage, linkage.neutral()), rest[..., :3, :3], rest[..., :3, 3]):
        return "rests in another pose"
    if len({motion.name for motion in motions}) < len(motions):
        return "has motions with the same name"
    for motion in motions:
        frames = motion.frames
        if frames is None or frames.shape != (len(motion.times), 1 + linkage.nq):
            return f"lacks the frames of {motion.name!r}"
        if not np.abs(frames[:, 0] - motion.times).max() < AGREE:
            return f"has other times for {motion.name!r}"
        ours, theirs = world_matrices(linkage, linkage.pose(frames[:, 1:])), motion.worlds
        if not agree(ours, theirs[..., :3, :3], theirs[..., :3, 3]):
            return f"moves differently in {motion.name!r}"
    return ""


def _visual(entry: dict[str, Any], placement: FloatArray, scale: float) -> Visual:
    """Return a simple shape in its link, with the scale of the file; uneven scales are averaged."""
    a, b = ([size * scale for size in entry["sizes"]] * 2)[:2]
    shapes: dict[str, Callable[[], Shape]] = {
        "Cube": lambda: Box((a, a, a)),
        "Sphere": lambda: Sphere(a),
        "Cylinder": lambda: Cylinder(a, b),
        "Capsule": lambda: Capsule(a, b),
    }
    turn = transform(rotation=ALONG.get(entry["axis"]))
    color = entry["color"]
    rgb = None if color is None else tuple(np.clip(color, 0.0, 1.0).tolist())
    return Visual(shapes[entry["shape"]](), placement @ turn, rgb)
