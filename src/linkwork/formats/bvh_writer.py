"""Write the motion of any linkage as BVH: offsets along common axes, channels in centimetres and degrees, y up.

In BVH, all joints have the axes of the file at rest, so the motion of every joint is expressed in these axes. Joints
that rotate about them keep their channels; others become Euler angles.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..errors import Remark, listed
from ..linkage.joints import Articulation
from ..linkage.linkage import Frame, Linkage
from ..linkage.poses import wrapped
from ..motion.clips import sample
from ..motion.frame_files import block_of
from ..transforms import FloatArray
from .atomic_files import replacing
from .bvh_flight import MOST, flight
from .bvh_scale import WRITTEN, Flight, Unit, choose_unit, guess_up, look, positions_replace, some_frames, stature
from .content import Content, Remarks, UniqueNames
from .options import UP, FilePath

ORDER = "zxy"  # Euler order of joints that have none
ALIGNED = 1e-12
LOCKED = 1e-11
EVEN = 1e-6
BLOCK = 2048  # frames converted to text at a time
MOST_FRAMES = 10  # largest factor on the number of frames when uneven times are resampled
DIGITS = 13
INDENT = 32  # largest indent, so that long chains are not mostly blanks
STILL = 1.0 / 30.0  # the frame time of a single pose


@dataclass
class _Bone:
    """A joint to be written: offset and ends [m], and channels with their values [m or rad]."""

    name: str
    offset: FloatArray
    channels: list[str] = field(default_factory=list)
    columns: list[FloatArray] = field(default_factory=list)
    ends: list[FloatArray] = field(default_factory=list)
    frames: int = 0

    @property
    def values(self) -> FloatArray:
        """Values of its channels, (frames, channels)."""
        return np.stack(self.columns, axis=1) if self.columns else np.zeros((self.frames, 0))


def write(content: Content, path: FilePath, *, full: bool = False) -> tuple[Remark, ...]:
    """Write a linkage and its first clip as BVH; without a clip, one frame of the neutral pose.

    Args:
        content: The content to write.
        path: The file; it is written completely or not at all.
        full: Write three rotations for every rotating joint, as Blender's importer needs.

    Returns:
        Remarks on what the file does not store, or stores differently.
    """
    remarks = Remarks()
    linkage, step, poses = _motion(content, remarks)
    bones = _bones(linkage, poses[some_frames(len(poses))], remarks, full=full)
    size = stature(bones, linkage.parents)
    unit = choose_unit(size)
    if unit is not WRITTEN[0]:
        why = f"a skeleton {size:.3g} m tall in centimetres would be taken for one in another unit"
        remarks.add("units", f"Lengths are written in {unit.name}: {why}.")
    columns, parents = [bone.values for bone in bones], linkage.parents

    def fall() -> Flight | None:
        first = _bones(linkage, poses[:MOST], Remarks(), full=full)
        return flight(bones, parents, [bone.values for bone in first], step, True)

    guess, _ = guess_up(look(bones, parents, columns, True), fall)
    if guess != "y":
        text = f"The y axis points up; a reader may guess {guess}, since the skeleton seems to stand along that"
        remarks.add("up-axis", f"{text}: up='y' (--up y) reads it correctly.")
    if not positions_replace(bones, columns):
        text = "Positions replace the OFFSETs of joints; a reader may add them, since they are near zero"
        remarks.add("positions", f"{text}: positions='replace' (--positions replace) reads it correctly.")
    decimals = DIGITS - math.ceil(math.log10(max(size / unit.metres, 1e-30)))
    head = f"{_hierarchy(linkage, bones, unit, decimals)}MOTION\nFrames: {len(poses)}\nFrame Time: {step!r}\n".encode()
    turns = _Turns()
    with replacing(path) as file:
        file.write(head)
        for begin in range(0, len(poses), BLOCK):
            block = block_of(poses, slice(begin, begin + BLOCK))
            file.write(_rows(_bones(linkage, block, Remarks(), turns, full=full), unit, decimals).encode())
    return (*remarks, *_dropped(linkage))


def _motion(content: Content, remarks: Remarks) -> tuple[Linkage, float, FloatArray]:
    """Return the linkage, the frame time and the poses to write."""
    clip = next(iter(content.clips.values()), None)
    if clip is None:
        remarks.add("frames", "There is no clip; one frame with the neutral pose is written.")
        return content.linkage, STILL, content.linkage.neutral()[None]
    if len(clip) == 1:
        return clip.linkage, STILL, clip.poses
    if clip.times[0] != 0.0:
        remarks.add("dropped", f"Times begin at zero in BVH, not at {clip.times[0]:g} s.")
    gaps = np.diff(clip.times)
    span = float(clip.times[-1] - clip.times[0])
    mean = span / len(gaps)
    if np.abs(gaps - mean).max() <= EVEN * mean:
        return clip.linkage, float(f"{mean:.15g}"), clip.poses
    count = min(math.ceil(span / float(gaps.min()) * (1.0 - 1e-9)), MOST_FRAMES * len(clip))
    samples = np.linspace(clip.times[0], clip.times[-1], count + 1)
    poses = sample(clip.linkage, clip.times, clip.poses, samples, kind="linear", wrap=False)
    what = f"{len(clip)} frames at uneven times are resampled to {len(samples)} frames, {span / count:.6g} s apart"
    remarks.add("resampled", f"{what}: BVH has one frame time.")
    return clip.linkage, span / count, poses


def _bones(
    linkage: Linkage, poses: FloatArray, remarks: Remarks, turns: _Turns | None = None, *, full: bool
) -> list[_Bone]:
    """Return all joints with their channels, in the order of the linkage; `turns` continues from earlier frames."""
    file_from: list[FloatArray] = []  # rotations of the links at rest
    bones: list[_Bone] = []
    free: list[tuple[_Bone, FloatArray]] = []  # joints whose rotation needs Euler angles
    names = _names(linkage, remarks)
    for i, (arc, drive) in enumerate(zip(linkage.arcs, linkage.drives, strict=True)):
        above = file_from[linkage.parents[i]] if i else UP["y"].T
        here = above @ arc.placement[:3, :3]
        file_from.append(here)
        bone = _Bone(names[i], above @ arc.placement[:3, 3], frames=len(poses))
        bones.append(bone)
        values = drive.values(poses)
        if not _direct(bone, arc.articulation, here, values):
            turned = _general(bone, arc.articulation, here, values)
            if turned is not None:
                free.append((bone, turned))
    if free:
        angles = (turns or _Turns()).euler(np.stack([rotations for _, rotations in free], axis=1))
        for k, (bone, _) in enumerate(free):
            bone.channels += [f"{axis.upper()}rotation" for axis in ORDER]
            bone.columns += list(angles[:, k].T)
        text = f"Joints whose axes BVH cannot store are written as Euler angles: {listed([b.name for b, _ in free])}."
        remarks.add("converted", text, free[0][0].name)
    _end_sites(linkage, bones, file_from, remarks)
    for bone in bones if full else ():
        _fill_rotations(bone)
    return bones


def _names(linkage: Linkage, remarks: Remarks) -> list[str]:
    """Return a name for every joint that fits on a line and is read back unchanged."""
    names, given = UniqueNames(), list[str]()
    for arc in linkage.arcs:
        plain = arc.name.encode("utf-8", "replace").decode().translate({ord("{"): "(", ord("}"): ")"})
        given.append(names.take(" ".join(plain.split()), "joint"))
    changed = [repr(arc.name) for arc, name in zip(linkage.arcs, given, strict=True) if name != arc.name]
    if changed:
        remarks.add("renamed", f"Joint names that BVH cannot store are changed: {listed(changed)}.")
    return given


def _direct(bone: _Bone, articulation: Articulation, file_from_link: FloatArray, values: FloatArray) -> bool:
    """Give a joint one channel for each of its values, if it moves along and about the axes of the file."""
    slides: dict[str, FloatArray] = {}
    turns: dict[str, FloatArray] = {}
    for element in articulation.elements:
        axis = file_from_link @ element.axis
        k = int(np.abs(axis).argmax())
        sign = math.copysign(1.0, axis[k])
        found = slides if element.kind == "prismatic" else turns
        letter = "XYZ"[k]
        if (
            element.kind not in ("prismatic", "revolute")
            or np.abs(axis - sign * np.eye(3)[k]).max() > ALIGNED
            or letter in found
            or (found is slides and turns)
        ):
            return False
        found[letter] = sign * values[:, element.value] + (bone.offset[k] if found is slides else 0.0)
    bone.channels = [*(f"{letter}position" for letter in sorted(slides)), *(f"{letter}rotation" for letter in turns)]
    bone.columns = [*(slides[letter] for letter in sorted(slides)), *turns.values()]
    return True


def _fill_rotations(bone: _Bone) -> None:
    """Add the missing rotation channels, with zeros, to a joint that rotates about one or two axes."""
    turns = [channel for channel in bone.channels if channel.endswith("rotation")]
    for channel in (f"{axis.upper()}rotation" for axis in ORDER):
        if turns and channel not in turns:
            bone.channels.append(channel)
            bone.columns.append(np.zeros(bone.frames))


def _general(
    bone: _Bone, articulation: Articulation, file_from_link: FloatArray, values: FloatArray
) -> FloatArray | None:
    """Give a joint three position channels if it translates; return its rotations (n, 3, 3) if it rotates."""
    kinds = {element.kind for element in articulation.elements}
    matrices = articulation.matrix(values)
    if kinds & {"prismatic", "screw"}:
        places = bone.offset + matrices[:, :3, 3] @ file_from_link.T
        bone.channels += ["Xposition", "Yposition", "Zposition"]
        bone.columns += list(places.T)
    if kinds == {"prismatic"}:
        return None
    return file_from_link @ matrices[:, :3, :3] @ file_from_link.T


@dataclass
class _Turns:
    """Euler angles of joints, continuous over successive blocks of frames.

    Args:
        last: Rotations of the last frame, (1, joints, 3, 3).
        first: Their first angles, which are kept in gimbal lock.
        changed: Which of the two triples of a rotation was used, (1, joints).
        angles: The triples, (1, joints, 3).
    """

    last: FloatArray | None = None
    first: FloatArray | None = None
    changed: NDArray[np.bool_] | None = None
    angles: FloatArray | None = None

    def euler(self, rotations: FloatArray) -> FloatArray:
        """Return angles about moving z, x, y axes of rotations (n, joints, 3, 3), each near those of the frame before.

        Two triples describe a rotation, ``(a, b, c)`` and ``(a + pi, pi - b, c + pi)``. Whether a frame switches from
        one to the other depends only on it and the frame before, so the switches can be summed. In gimbal lock, the
        first angle is kept and the third is computed from it.
        """
        r = rotations if self.last is None else np.concatenate([self.last, rotations])
        flat = np.hypot(r[..., 0, 1], r[..., 1, 1])
        second = np.arctan2(r[..., 2, 1], flat)
        first = np.where(flat < LOCKED, 0.0, np.arctan2(-r[..., 0, 1], r[..., 1, 1]))
        if self.first is not None:
            first[0] = self.first
        known = np.where(flat < LOCKED, 0, np.arange(len(r))[:, None])
        first = np.take_along_axis(first, np.maximum.accumulate(known), axis=0)
        c, s = np.cos(first), np.sin(first)
        third = np.arctan2(c * r[..., 0, 2] + s * r[..., 1, 2], c * r[..., 0, 0] + s * r[..., 1, 0])
        one = np.stack([first, second, third], axis=-1)
        other = np.stack([first + np.pi, np.pi - second, third + np.pi], axis=-1)
        stays = np.abs(wrapped(one[1:] - one[:-1])).sum(axis=-1)
        changes = np.abs(wrapped(other[1:] - one[:-1])).sum(axis=-1)
        changed = np.zeros(first.shape, np.bool_)
        changed[1:] = np.cumsum(changes < stays, axis=0) % 2 == 1
        if self.changed is not None:
            changed ^= self.changed
        angles: FloatArray = np.where(changed[..., None], other, one)
        if self.angles is not None:
            angles[0] = self.angles
        angles = np.unwrap(angles, axis=0)
        before = 0 if self.last is None else 1
        self.last, self.first, self.changed, self.angles = r[-1:], first[-1], changed[-1:], angles[-1]
        return angles[before:]


def _end_sites(linkage: Linkage, bones: list[_Bone], file_from: list[FloatArray], remarks: Remarks) -> None:
    """Write frames as end sites: those read from end sites, else the first frame of a link that ends a limb."""
    lost: list[str] = []
    renamed: list[str] = []
    by_link: dict[int, list[Frame]] = {}
    for frame in linkage.extra_frames:
        by_link.setdefault(linkage.link_index(frame.link), []).append(frame)
    for i, frames in by_link.items():
        pattern = re.compile(re.escape(f"{bones[i].name}.end") + r"(_\d+)?")
        kept = [frame for frame in frames if pattern.fullmatch(frame.name)]
        if not kept and not linkage.children[i]:
            kept = frames[:1]
            renamed += [frame.name for frame in kept]
        bones[i].ends = [file_from[i] @ frame.placement[:3, 3] for frame in kept]
        lost += [frame.name for frame in frames if frame not in kept]
    if lost:
        remarks.add("dropped", f"Frames that do not end a limb are not written: {listed(lost)}.")
    if renamed:
        remarks.add("renamed", f"Frames are written as end sites, without their names: {listed(renamed)}.")


def _hierarchy(linkage: Linkage, bones: Sequence[_Bone], unit: Unit, decimals: int) -> str:
    lines = ["HIERARCHY"]
    depths: list[int] = []

    def put(depth: int, *texts: str) -> None:
        lines.extend("\t" * min(depth, INDENT) + text for text in texts)

    def offset(place: FloatArray) -> str:
        x, y, z = (np.round(place / unit.metres, decimals) + 0.0).tolist()
        return f"OFFSET {x!r} {y!r} {z!r}"

    for bone, parent in zip(bones, linkage.parents, strict=True):
        depth = depths[parent] + 1 if depths else 0
        for level in range(depths[-1] if depths else -1, depth - 1, -1):
            put(level, "}")
        depths.append(depth)
        put(depth, f"{'JOINT' if depth else 'ROOT'} {bone.name}", "{")
        put(depth + 1, offset(bone.offset), " ".join([f"CHANNELS {len(bone.channels)}", *bone.channels]))
        for end in bone.ends:
            put(depth + 1, "End Site", "{")
            put(depth + 2, offset(end))
            put(depth + 1, "}")
    for level in range(depths[-1], -1, -1):
        put(level, "}")
    return "\n".join(lines) + "\n"


def _rows(bones: Sequence[_Bone], unit: Unit, decimals: int) -> str:
    """Return the lines of frames, with the fewest digits that give the same number."""
    columns: list[FloatArray] = []
    for bone in bones:
        for channel, column in zip(bone.channels, bone.columns, strict=True):
            slides = channel.endswith("position")
            values: FloatArray = column / unit.metres if slides else column * (180.0 / math.pi)
            columns.append(np.round(values, decimals if slides else DIGITS))
    if not columns:
        return ""
    rows: FloatArray = np.stack(columns, axis=1)
    rows += 0.0  # turns -0 into 0
    text = msgspec.json.encode(rows.tolist()).decode()[2:-2]
    return text.replace("],[", "\n").replace(",", " ") + "\n"


def _dropped(linkage: Linkage) -> list[Remark]:
    """Return remarks on what BVH cannot store, one for each kind of loss."""
    limits = np.isfinite(linkage.lower) | np.isfinite(linkage.upper)
    links = [arc.child for arc in linkage.arcs if arc.child != arc.name]
    losses = {
        "shapes of links are not written": [link.name for link in linkage.nodes if link.visuals],
        "masses of links are not written": [link.name for link in linkage.nodes if link.inertia is not None],
        "limits are not written": [linkage.coordinates[k] for k in np.flatnonzero(limits)],
        "swing and twist limits are not written": [linkage.coordinates[cone.q][:-2] for cone in linkage.cones],
        "couplings are not written, only their values": [
            *(arc.name for arc in linkage.arcs if arc.mimic is not None),
            *(coupling.follower for coupling in linkage.couplings),
        ],
        "closed loops are not written": [loop.name for loop in linkage.loops],
        "named poses are not written": list(linkage.poses),
        "names of links are not written, only those of joints": links,
    }
    return [Remark("dropped", f"{what}: {listed(names)}.") for what, names in losses.items() if names]
