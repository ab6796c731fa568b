"""Additions of linkwork to glTF files: the linkage itself and the exact poses of clips.

Both are stored in `extras`, which other programs keep or drop. They are used only if they agree with the nodes and
animations of the file.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Protocol

import msgspec
import numpy as np
from msgspec import Raw, Struct

from ..errors import FormatError, LinkworkError
from ..linkage.joints import Joint
from ..linkage.linkage import Linkage
from ..motion.clips import BLOCK, Clip
from ..motion.frame_files import Frames, block_of
from ..transforms import FloatArray, transform
from . import scene
from .content import Content, Remarks
from .gltf_data import GltfSource
from .gltf_document import Animation
from .gltf_motion import Tracks, moved, read_tracks
from .gltf_nodes import NodeTree
from .options import UP
from .skeletons import AGREE, agree, local_matrices
from .spool import Spool

KEY = "linkwork"
MAX_SCENE = 2**20  # bytes of JSON
FILE_FROM_WORLD = transform(rotation=UP["y"].T)


class _Place(Struct, rename="camel"):
    """The location of numbers in the first buffer: little-endian float64."""

    byte_offset: int
    byte_length: int


class _Frames(Struct):
    """The location of the exact frames of a clip."""

    times: _Place
    poses: _Place


class Room(Protocol):
    """A buffer for bytes."""

    @property
    def binary(self) -> Spool:
        """The bytes."""
        ...

    def room(self, size: int) -> int:
        """Reserve `size` bytes, and return their offset."""
        ...


# Writing


def linkage_extras(linkage: Linkage) -> dict[str, Any]:
    """Return the extras of the scene: the linkage as a scene document; empty if it is too large to be read back."""
    document = json.loads(scene.dump(linkage, "json"))
    return {KEY: document} if len(json.dumps(document).encode()) <= MAX_SCENE else {}


def joint_extras(joint: Joint) -> dict[str, Any]:
    """Return the extras of a node: a description of its joint, for people and other programs."""
    articulation = joint.articulation
    entry: dict[str, Any] = {"joint": joint.name, "kind": articulation.kind}
    for name in ("axis", "second", "lead", "euler", "swing", "twist"):
        value = getattr(articulation, name, None)
        if value is not None:
            entry[name] = value
    if articulation.nq:
        lower, upper = articulation.limits
        for name, limits in (("lower", lower), ("upper", upper)):
            entry[name] = [float(limit) if np.isfinite(limit) else None for limit in limits]
    return entry


def write_frames(clip: Clip, room: Room) -> dict[str, Any]:
    """Write the exact frames of a clip, and return the extras of its animation with their location.

    They are in the first buffer, after all data of buffer views.
    """
    places = {}
    for name, rows in (("times", clip.times), ("poses", clip.poses)):
        size = 8 * rows.size
        places[name] = {"byteOffset": (place := room.room(size)), "byteLength": size}
        for begin in range(0, len(rows), BLOCK):
            data = block_of(rows, slice(begin, begin + BLOCK)).astype("<f8").tobytes()
            room.binary.put(place, data)
            place += len(data)
    return {KEY: places}


def written_times(times: FloatArray) -> tuple[FloatArray, Any]:
    """Return the times of frames as glTF can store them, not below zero, and the indices of these frames.

    Of frames with the same float32 time, the first is kept.
    """
    shifted = (times - min(float(times[0]), 0.0)).astype(np.float32)
    kept = np.flatnonzero(np.concatenate([[True], np.diff(shifted) > 0.0]))
    return shifted[kept].astype(np.float64), kept


# Reading


def read(source: GltfSource, skeleton: NodeTree, remarks: Remarks) -> Content | None:
    """Return the content that linkwork wrote, if it still agrees with the file; else None, with a remark."""
    document, options = source.document, source.options
    if not document.scenes or options.units not in (None, 1.0) or options.up not in (None, "y"):
        return None
    raw = _extras(source.item(document.scenes, document.scene or 0, "scene").extras)
    if raw is None:
        return None
    reason = "is too large to be read back"
    try:
        raw = msgspec.json.format(raw, indent=-1) if len(raw) <= 8 * MAX_SCENE else raw  # remove spaces
        if len(raw) <= MAX_SCENE:
            linkage = scene.parse(raw.decode(), source.path, "json")
            reason = _difference(linkage, skeleton)
            if not reason:
                return Content(linkage, _clips(source, linkage, skeleton))
    except (LinkworkError, UnicodeDecodeError) as error:
        reason = f"cannot be read back ({str(error)[:200].rstrip('.')})"
    remarks.add("extras", f"the linkage in the extras {reason}; the nodes are read instead.")
    return None


def _extras(raw: Raw) -> bytes | None:
    """Return the value of linkwork's key in extras, or None."""
    try:
        inside = msgspec.json.decode(raw, type=dict[str, Raw]).get(KEY)
        return None if inside is None else bytes(inside)
    except (msgspec.DecodeError, RecursionError):
        return None


def _difference(linkage: Linkage, skeleton: NodeTree) -> str:
    """Return the first difference of the nodes from the links and frames of a linkage; empty if there is none."""
    place = {name: k for k, name in enumerate(skeleton.names)}
    if skeleton.renamed or any(name not in place for name in linkage.frames):
        return "has other names than the nodes"
    above = [None, *(linkage.links[parent] for parent in linkage.parents[1:])]
    matrices = local_matrices(linkage, linkage.neutral(), FILE_FROM_WORLD)
    expected = list(zip(linkage.links, above, matrices, strict=True))
    expected += [(frame.name, frame.link, frame.placement) for frame in linkage.extra_frames]
    for name, parent, matrix in expected:
        k = place[name]
        step, up = skeleton.steps[k], skeleton.parents[k]
        if parent != (skeleton.names[up] if up >= 0 else None):
            return f"has {name!r} on another parent"
        if not agree(matrix, step.rotation, step.offset) or not np.abs(step.stretch - np.eye(3)).max() < AGREE:
            return f"has {name!r} at another position"
    return ""


def _clips(source: GltfSource, linkage: Linkage, skeleton: NodeTree) -> dict[str, Clip]:
    """Return the exact clips of a file, or raise if they do not agree with its animations."""
    result: dict[str, Clip] = {}
    used = set(skeleton.order)
    for animation in source.document.animations:
        name = animation.name or ""
        clip = _exact(source, animation, linkage)
        tracks, _ = read_tracks(source, animation, f"animation {name!r}", used, Counter())
        if not _same_motion(clip, tracks, skeleton):
            source.refuse(f"its frames of animation {name!r} differ from those of the nodes")
        if name in result:
            source.refuse("two animations have the same name")
        result[name] = clip
    return result


def _exact(source: GltfSource, animation: Animation, linkage: Linkage) -> Clip:
    raw = _extras(animation.extras)
    try:
        if raw is None:
            raise ValueError("they are missing")
        places = msgspec.json.decode(raw, type=_Frames)
        times, poses = (
            _numbers(source, place, width) for place, width in ((places.times, 1), (places.poses, linkage.nq))
        )
        return Clip(linkage, times[:, 0], poses if linkage.nq else np.zeros((len(times), 0)))
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        source.refuse(f"its frames of animation {animation.name!r} are damaged: {error}")


def _numbers(source: GltfSource, place: _Place, width: int) -> FloatArray:
    """Return a table of numbers from the first buffer."""
    data, size = source.buffer(0), 8 * width
    first, last = place.byte_offset, place.byte_offset + place.byte_length
    if not 0 <= first <= last <= len(data) or (place.byte_length % size if size else place.byte_length):
        raise ValueError(f"bytes {first} to {last} are not rows of {width} numbers in a buffer of {len(data)}")
    source.take(place.byte_length // 8, "its frames")
    frames = Frames(width)
    for begin in range(first, last, BLOCK * size) if size else ():
        rows = np.frombuffer(data[begin : min(begin + BLOCK * size, last)], "<f8")
        frames.add(rows.astype(np.float64).reshape(-1, width))
    return frames.array()


def _same_motion(clip: Clip, tracks: Tracks, skeleton: NodeTree) -> bool:
    times, kept = written_times(clip.times)
    blocks = (slice(begin, begin + BLOCK) for begin in range(0, len(kept), BLOCK))
    scaled = any(path == "scale" for _, path in tracks)
    return not scaled and all(_same_frames(clip, kept[rows], times[rows], tracks, skeleton) for rows in blocks)


def _same_frames(clip: Clip, kept: Any, times: FloatArray, tracks: Tracks, skeleton: NodeTree) -> bool:
    linkage = clip.linkage
    poses = block_of(clip.poses, slice(kept[0], kept[-1] + 1))[kept - kept[0]]
    matrices = np.moveaxis(local_matrices(linkage, poses, FILE_FROM_WORLD), 1, 0)
    place = {name: k for k, name in enumerate(skeleton.names)}
    for joint, name, matrix in zip(linkage.arcs, linkage.links, matrices, strict=True):
        k = place[name]
        node, step = skeleton.order[k], skeleton.steps[k]
        rotation, offset = moved(tracks, node, times, step.rotation, step.offset)
        if (joint.articulation.nq or rotation.ndim > 2 or offset.ndim > 1) and not agree(matrix, rotation, offset):
            return False
    return True
