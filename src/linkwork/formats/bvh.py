"""Read BVH motion capture files: a skeleton with Euler joints, and its clip.

`bvh_text` parses the file; `bvh_scale` and `bvh_flight` guess what it does not state. BVH uses degrees, has no unit of
length and is usually y up; the result is in radians and metres, z up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np

from ..errors import FormatError, listed
from ..linkage.elements import MOVING_ORDERS
from ..linkage.joints import (
    Articulation,
    Ball,
    Fixed,
    Floating,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Universal,
)
from ..linkage.linkage import Frame, Link, Linkage
from ..motion.clips import BLOCK, Clip
from ..motion.frame_files import Frames, block_of
from ..transforms import FloatArray, transform
from .bvh_flight import MOST, flight
from .bvh_scale import Flight, channel_values, guess_unit, guess_up, look, positions_replace, stature
from .bvh_text import BvhJoint, Text, parse
from .bvh_writer import write
from .content import Content, Remarks, UniqueNames, file_errors
from .options import DEFAULTS, UP, FilePath, Options

__all__ = ["read", "write"]

ORIGIN = "origin"
ASSUMED_FRAME_TIME = 1.0 / 30.0
PLANES = {"xy": "z", "yz": "x", "xz": "y"}


def read(path: FilePath, options: Options = DEFAULTS) -> Content:
    """Return the skeleton of a BVH file, and its motion as a clip with the name of the file.

    Args:
        path: The file.
        options: `units` (metres per unit), `up`, `positions` and `max_values` are used.

    Raises:
        FormatError: If it cannot be read; the message names the line.
    """
    text = parse(path, options.max_values)
    name = PurePath(path).stem or "motion"
    remarks = Remarks()
    columns = channel_values(text.bones, text.values)
    replaces = positions_replace(text.bones, columns) if options.positions is None else options.positions == "replace"
    scale, up = _scale(text, columns, replaces, options, remarks)
    skeleton = _Skeleton(text.bones, scale, UP[up], replaces, remarks)
    with file_errors(path):
        linkage = skeleton.linkage(name)
        clip = _clip(path, text, skeleton, linkage, remarks)
    return Content(linkage, {} if clip is None else {name: clip}, tuple(remarks))


def _scale(
    text: Text, columns: Sequence[FloatArray], replaces: bool, options: Options, remarks: Remarks
) -> tuple[float, str]:
    """Return metres per unit of the file and the up axis, from the options or guessed."""
    parents = [bone.parent for bone in text.bones]
    scale: float | None = options.units
    up: str | None = options.up
    if scale is None:
        size = stature(text.bones, parents)
        unit = guess_unit(size)
        scale = unit.metres
        said = f"Lengths are taken as {unit.name}, since the bones give a height of about {size:.4g} of them"
        remarks.add("units", f"{said}, {size * scale:.3g} m; units=... (--units) says otherwise.")
    if up is None:
        metres = scale

        def fall() -> Flight | None:
            every = channel_values(text.bones, text.values, slice(MOST))
            return flight(text.bones, parents, every, text.frame_time, replaces, metres)

        up, why = guess_up(look(text.bones, parents, columns, replaces), fall)
        remarks.add("up-axis", f"The {up} axis is taken to point up, {why}; up=... (--up) says otherwise.")
    return scale, up


@dataclass
class _Skeleton:
    """Converts the joints of a file to links, joints and frames of a linkage, and channels to coordinates.

    `columns` gives the source of each value of the pose: channel, factor, shift; ``pose = factor * channel - shift``.
    """

    bones: Sequence[BvhJoint]
    scale: float
    world_from_file: FloatArray
    replaces: bool
    remarks: Remarks
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    columns: dict[str, tuple[int, float, float]] = field(default_factory=dict)

    def linkage(self, name: str) -> Linkage:
        """Return the linkage, and fill `columns`."""
        self._given = UniqueNames(bone.name for bone in self.bones)
        names = [self._given.take(bone.name) for bone in self.bones]
        doubled = [bone for bone, own in zip(self.bones, names, strict=True) if own != bone.name]
        several = sum(bone.parent < 0 for bone in self.bones) > 1
        origin = self._given.take("", ORIGIN) if several else None
        if origin is not None:
            self.links.append(Link(origin))
            self.remarks.add("roots", f"Several ROOTs are attached to one fixed link {origin!r}.")
        channel = 0
        for bone, own in zip(self.bones, names, strict=True):
            self._add(bone, own, names[bone.parent] if bone.parent >= 0 else origin, channel)
            channel += len(bone.channels)
        if doubled:
            text = f"names that appear twice get a number: {listed([bone.name for bone in doubled])}"
            self.remarks.add("duplicate-name", f"Joint {text}.", doubled[0].name, doubled[0].line)
        self._remark_positions()
        turned = transform(rotation=self.world_from_file)
        if origin is not None:
            return Linkage(self.links, self.joints, name=name, frames=self.frames, root=turned)
        first, *others = self.joints
        root = Joint(first.name, None, first.child, first.articulation, turned @ first.placement)
        return Linkage(self.links, others, name=name, frames=self.frames, root=root)

    def _add(self, bone: BvhJoint, name: str, parent: str | None, channel: int) -> None:
        """Add a joint: as one arc if an articulation has these channels, else as a chain with zero-length links."""
        placement = np.array(bone.offset) * self.scale
        for suffix, articulation, channels in _parts(bone.channels):
            own = self._given.take(f"{name}.{suffix}") if suffix else name
            self.links.append(Link(own))
            joint = Joint(own, parent, own, articulation, placement)
            self.joints.append(joint)
            for coordinate, index in zip(joint.coordinates, channels, strict=True):
                what, column = bone.channels[index], channel + index
                if what.endswith("rotation"):
                    self.columns[coordinate] = column, math.pi / 180.0, 0.0
                else:
                    shift = bone.offset["xyz".index(what[0])] * self.scale if self.replaces else 0.0
                    self.columns[coordinate] = column, self.scale, shift
            parent, placement = own, np.zeros(3)
        for end in bone.ends:
            self.frames.append(Frame(self._given.take(f"{name}.end"), name, np.array(end) * self.scale))

    def _remark_positions(self) -> None:
        """Add a remark on joints with both an offset and position channels, on which programs disagree."""
        both = [bone for bone in self.bones if any(bone.offset) and "position" in " ".join(bone.channels)]
        if both:
            does, other = ("replace", "add") if self.replaces else ("are added to", "replace")
            names = listed([bone.name for bone in both])
            text = f"Position channels {does} the OFFSET of {names}; positions={other!r} (--positions {other})"
            self.remarks.add("positions", f"{text} reads them the other way.", both[0].name, both[0].line)


def _parts(channels: Sequence[str]) -> list[tuple[str, Articulation, list[int]]]:
    """Return the articulations for channels: name suffix, articulation, and the channel of each value.

    Positions translate the joint along the axes of its parent, wherever they are among the channels. Rotations are
    applied in order, each about the axes rotated by those before. The last part has no suffix and is the joint itself.
    """
    slides = sorted((name[0], i) for i, name in enumerate(channels) if name.endswith("position"))
    turns = [(name[0], i) for i, name in enumerate(channels) if name.endswith("rotation")]
    along, about = "".join(axis for axis, _ in slides), "".join(axis for axis, _ in turns)
    order = about.upper()  # intrinsic: about the axes rotated by those before
    rows, indices = [i for _, i in slides], [i for _, i in turns]
    if along == "xyz" and order in MOVING_ORDERS:
        return [("", Floating(euler=order), rows + indices)]
    if about and PLANES.get(along) == about:
        return [("", Planar(about), (rows[::-1] if about == "y" else rows) + indices)]
    parts: list[tuple[str, Articulation, list[int]]] = [(axis, Prismatic(axis), [i]) for axis, i in slides]
    if order in MOVING_ORDERS:
        parts.append(("", Ball(euler=order), indices))
    elif len(about) == 2 and about[0] != about[1]:
        parts.append(("", Universal(*about), indices))
    else:
        parts += [(f"turn{k}", Revolute(axis), [i]) for k, (axis, i) in enumerate(turns, start=1)]
    if not parts:
        return [("", Fixed(), [])]
    _, articulation, own = parts[-1]
    return [*parts[:-1], ("", articulation, own)]


def _clip(path: FilePath, text: Text, skeleton: _Skeleton, linkage: Linkage, remarks: Remarks) -> Clip | None:
    """Return the motion as a clip, or None if the file has none."""
    if text.values is None or text.values.size == 0:
        what = "no MOTION" if text.values is None else "no frames" if linkage.nq else "no channels"
        remarks.add("frames", f"The file has {what}: the skeleton is read without a clip.", line=text.line)
        return None
    found, step = len(text.values), text.frame_time
    if found != text.announced:
        said = f"The file announces {text.announced} frames but has {found}; those are used."
        remarks.add("frames", said, line=text.line)
    if step <= 0.0:
        step = ASSUMED_FRAME_TIME
        said = f"A Frame Time of {text.frame_time:g} s is invalid; {step:.4f} s is assumed."
        remarks.add("frame-time", said, line=None if text.line is None else text.line + 1)
    times: FloatArray = np.arange(found, dtype=np.float64) * step
    if (np.diff(times) <= 0.0).any():
        raise FormatError(path, f"a Frame Time of {text.frame_time:g} s is too short to distinguish frames.")
    channels, factors, shifts = zip(*(skeleton.columns[name] for name in linkage.coordinates), strict=True)
    frames = Frames(linkage.nq)
    for begin in range(0, found, BLOCK):
        poses = block_of(text.values, slice(begin, begin + BLOCK))[:, channels]
        poses *= np.array(factors)
        poses -= np.array(shifts)
        frames.add(poses)
    return Clip(linkage, times, frames.array())
