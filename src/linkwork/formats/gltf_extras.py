"""What linkwork adds to the glTF files that it writes, and takes back: the linkage itself and the exact poses of clips.

Both stand in `extras`, which other programs keep or drop; they are believed only as long as they agree with the nodes
and animations that everyone sees.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw, Struct

from ..errors import FormatError, LinkworkError
from ..linkage.joints import Joint
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..transforms import FloatArray, quaternion_matrix
from . import scene
from .content import Content, Remark
from .gltf_data import Animation, GltfSource
from .gltf_motion import Tracks, read_tracks
from .gltf_nodes import NodeTree
from .options import UP

KEY = "linkwork"
MAX_SCENE = 2**20  # bytes of JSON
AGREE = 1e-4


class _Frames(Struct):
    """The exact frames of a clip: little-endian float64 in base64."""

    times: str
    poses: str


# What is written


def linkage_extras(linkage: Linkage) -> dict[str, Any]:
    """Return the extras of the scene: the linkage as a scene document, or nothing if it would not be read back."""
    document = json.loads(scene.dump(linkage, "json"))
    return {KEY: document} if len(json.dumps(document).encode()) <= MAX_SCENE else {}


def joint_extras(joint: Joint) -> dict[str, Any]:
    """Return the extras of a node: the joint above it, for people and programs that look there."""
    articulation = joint.articulation
    entry: dict[str, Any] = {"joint": joint.name, "kind": articulation.kind}
    for name in ("axis", "second", "lead", "euler", "swing", "twist"):
        value = getattr(articulation, name, None)
        if value is not None:
            entry[name] = value
    if articulation.nq:
        lower, upper = articulation.limits
        entry["lower"], entry["upper"] = _or_null(lower), _or_null(upper)
    return entry


def _or_null(limits: FloatArray) -> list[float | None]:
    return [float(limit) if np.isfinite(limit) else None for limit in limits]


def clip_extras(clip: Clip) -> dict[str, Any]:
    """Return the extras of an animation: its frames to the last bit."""
    return {KEY: {"times": _packed(clip.times), "poses": _packed(clip.poses)}}


def _packed(numbers: FloatArray) -> str:
    return base64.b64encode(numbers.astype("<f8").tobytes()).decode("ascii")


def local_matrices(linkage: Linkage, poses: FloatArray) -> list[FloatArray]:
    """Return parent_from_link (..., 4, 4) of every link for poses (..., nq); the first stands in a y-up world."""
    result = []
    for joint, drive in zip(linkage.arcs, linkage.drives, strict=True):
        result.append(joint.placement @ joint.articulation.matrix(drive.values(poses)))
    world = np.eye(4)
    world[:3, :3] = UP["y"].T
    return [world @ result[0], *result[1:]]


def written_times(times: FloatArray) -> tuple[FloatArray, Any]:
    """Return the times of frames as glTF can hold them, from zero on, and which frames they are.

    Of frames at one and the same float32 the first is kept.
    """
    shifted = (times - min(float(times[0]), 0.0)).astype(np.float32)
    kept = np.flatnonzero(np.concatenate([[True], np.diff(shifted) > 0.0]))
    return shifted[kept].astype(np.float64), kept


# What is read


def read(source: GltfSource, skeleton: NodeTree, remarks: list[Remark]) -> Content | None:
    """Return what linkwork wrote into a file, if it did and the file still says the same; else None and a remark."""
    document, options = source.document, source.options
    if not document.scenes or options.units not in (None, 1.0) or options.up not in (None, "y"):
        return None
    raw = _extras(source.item(document.scenes, document.scene or 0, "scene").extras)
    if raw is None:
        return None
    reason = "is too large to be read back"
    try:
        raw = msgspec.json.format(raw, indent=-1) if len(raw) <= 8 * MAX_SCENE else raw  # without spaces
        if len(raw) <= MAX_SCENE:
            linkage = scene.parse(raw.decode(), source.path, "json")
            reason = _difference(linkage, skeleton)
            if not reason:
                clips = dict(_clips(source, linkage, skeleton))
                return Content(linkage, clips)
    except (LinkworkError, UnicodeDecodeError) as error:
        reason = f"cannot be read back ({str(error)[:200].rstrip('.')})"
    remarks.append(Remark("extras", f"the linkage in the extras {reason}; the nodes are read instead."))
    return None


def _extras(raw: Raw) -> bytes | None:
    """Return what stands under linkwork's key, whatever the rest is."""
    try:
        inside = msgspec.json.decode(raw, type=dict[str, Raw]).get(KEY)
        return None if inside is None else bytes(inside)
    except (msgspec.DecodeError, RecursionError):
        return None


def _difference(linkage: Linkage, skeleton: NodeTree) -> str:
    """Return how nodes differ from the links and frames of a linkage, or nothing."""
    place = {name: k for k, name in enumerate(skeleton.names)}
    if skeleton.renamed or any(name not in place for name in linkage.frames):
        return "does not have the names of the nodes"
    above = [None, *(linkage.links[parent] for parent in linkage.parents[1:])]
    matrices = local_matrices(linkage, linkage.neutral())
    expected = list(zip(linkage.links, above, matrices, strict=True))
    expected += [(frame.name, frame.link, frame.placement) for frame in linkage.extra_frames]
    for name, parent, matrix in expected:
        k = place[name]
        step, up = skeleton.steps[k], skeleton.parents[k]
        if parent != (skeleton.names[up] if up >= 0 else None):
            return f"hangs {name!r} on another node"
        if not _agree(matrix, step.rotation, step.offset) or not np.abs(step.stretch - np.eye(3)).max() < AGREE:
            return f"has {name!r} at another place"
    return ""


def _agree(matrix: FloatArray, rotation: FloatArray, offset: FloatArray) -> bool:
    position = matrix[..., :3, 3]
    size = 1.0 + float(np.abs(position).max(initial=0.0))
    turned, moved = np.abs(matrix[..., :3, :3] - rotation), np.abs(position - offset)
    return bool(turned.max(initial=0.0) <= AGREE and moved.max(initial=0.0) <= AGREE * size)


def _clips(source: GltfSource, linkage: Linkage, skeleton: NodeTree) -> list[tuple[str, Clip]]:
    """Return the clips of a file that agrees with its linkage, or raise if they do not agree with its animations."""
    result = []
    for animation in source.document.animations:
        name = animation.name or ""
        clip = _exact(source, animation, linkage)
        used = {index: k for k, index in enumerate(skeleton.order)}
        tracks, _ = read_tracks(source, animation, f"animation {name!r}", used, Counter())
        if not _same_motion(clip, tracks, skeleton):
            source.refuse(f"its frames of animation {name!r} are others than those of the nodes")
        result.append((name, clip))
    if len(dict(result)) < len(result):
        source.refuse("two animations have one name")
    return result


def _exact(source: GltfSource, animation: Animation, linkage: Linkage) -> Clip:
    raw = _extras(animation.extras)
    try:
        if raw is None:
            raise ValueError("they are missing")
        packed = msgspec.json.decode(raw, type=_Frames)
        times, poses = (
            np.frombuffer(base64.b64decode(text, validate=True), "<f8").astype(np.float64)
            for text in (packed.times, packed.poses)
        )
        return Clip(linkage, times, poses.reshape(len(times), linkage.nq))
    except (msgspec.DecodeError, RecursionError, binascii.Error, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        source.refuse(f"its frames of animation {animation.name!r} are damaged: {error}")


def _same_motion(clip: Clip, tracks: Tracks, skeleton: NodeTree) -> bool:
    linkage = clip.linkage
    times, kept = written_times(clip.times)
    matrices = local_matrices(linkage, clip.poses[kept])
    place = {name: k for k, name in enumerate(skeleton.names)}
    for joint, name, matrix in zip(linkage.arcs, linkage.links, matrices, strict=True):
        k = place[name]
        node, step = skeleton.order[k], skeleton.steps[k]
        rotation, offset = step.rotation, step.offset
        if (node, "rotation") in tracks:
            rotation = quaternion_matrix(tracks[node, "rotation"].at(times)[:, [3, 0, 1, 2]])
        if (node, "translation") in tracks:
            offset = tracks[node, "translation"].at(times)
        if (joint.articulation.nq or rotation.ndim > 2 or offset.ndim > 1) and not _agree(matrix, rotation, offset):
            return False
    return not any(path == "scale" for _, path in tracks)
