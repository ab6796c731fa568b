"""VRM animations (.vrma): the motion of a humanoid by bone names, for any avatar.

Such a file contains the bones in a T-pose, with axes parallel to the world's, and their rotations from there.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import FormatError, Remark, listed
from ..linkage.poses import rest_pose
from ..motion.clips import Clip
from ..transforms import FloatArray
from .content import Content, Remarks
from .gltf import read
from .gltf_keys import Keys
from .gltf_packing import Packing, quaternions, write_document
from .gltf_vrm import ANIMATION, BONES
from .options import UP, FilePath
from .skins import bind_pose

__all__ = ["read", "write"]

NEEDED = ("hips", "spine", "head", *(f"{side}{bone}" for side in ("left", "right") for bone in (
    "UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot")))  # fmt: skip
SHORT = 1e-9  # shorter bones have no direction
UPRIGHT = 0.4  # smallest upward component from hips to head, and forward component from ankle to toes


def write(content: Content, path: FilePath) -> tuple[Remark, ...]:
    """Write the motion of a humanoid.

    The bones of links are given by the roles of the content, or by the .vrm or .vrma file of its linkage.

    Raises:
        FormatError: If there is no motion, the bones are unknown, or the rest pose is not upright.
    """
    if not content.clips:
        raise FormatError(path, "a VRM animation stores a motion, but there is none to write.")
    origin = content.linkage.origin
    roles = {**({} if origin is None else origin.roles), **content.roles}
    bones = {bone: roles[role] for bone, role in BONES.items() if role in roles}
    missing = [bone for bone in NEEDED if bone not in bones]
    if missing:
        advice = "give roles=lw.retargeting.recognise(clip.linkage).roles, or retarget the motion to a .vrm file"
        raise FormatError(path, f"{content.linkage.name!r} has no link for the bones {listed(missing[:4])}; {advice}.")
    remarks = Remarks()
    (name, clip), *_ = content.clips.items()
    document: dict[str, Any] = {"asset": {"version": "2.0", "generator": "linkwork"}, "scene": 0}
    numbers = Packing(document, path)
    figure = _Figure(clip, bones)
    if not figure.upright:
        advice = "first retarget the motion to a body that does, such as lw.models.human()"
        raise FormatError(path, f"{content.linkage.name!r} does not stand upright at rest: {advice}.")
    document |= {"scenes": [{"nodes": [0]}], "nodes": figure.nodes()}
    times, poses = Keys(clip, name, remarks).whole()
    animation: dict[str, Any] = {"name": name, "channels": [], "samplers": []}
    clock = numbers.clock(times)
    turns, places = figure.motion(poses)
    for node, turn in enumerate(turns):
        numbers.channel(animation, clock, node, "rotation", quaternions(turn))
    numbers.channel(animation, clock, 0, "translation", places)
    human = {bone: {"node": node} for node, bone in enumerate(figure.bones)}
    extension = {"specVersion": "1.0", "humanoid": {"humanBones": human}}
    document |= {"animations": [animation], "buffers": [{"byteLength": len(numbers.binary)}]}
    document |= {"extensionsUsed": [ANIMATION], "extensions": {ANIMATION: extension}}
    write_document(path, document, numbers.binary)
    return tuple(remarks)


class _Figure:
    """The bones of a linkage and their T-pose: arms stretched out, legs straight, facing along z of glTF.

    Attributes:
        upright: Whether the trunk points up and the feet point forward in the bind pose, or else the rest pose; arms
            and legs may be anywhere.
    """

    def __init__(self, clip: Clip, bones: dict[str, str]) -> None:
        self.linkage = clip.linkage
        order = sorted(bones, key=lambda bone: self.linkage.link_index(bones[bone]))
        self.bones = ["hips", *(bone for bone in order if bone != "hips")]
        self.links = [bones[bone] for bone in self.bones]
        places = {link: k for k, link in enumerate(self.links)}
        self.parents = [-1]
        for link in self.links[1:]:
            above = self.linkage.parents[self.linkage.link_index(link)]
            while above >= 0 and self.linkage.links[above] not in places:
                above = self.linkage.parents[above]
            self.parents.append(places[self.linkage.links[above]] if above >= 0 else 0)
        self._stand()

    def _stand(self) -> None:
        """Compute the T-pose: world rotations and positions of the bones, y up."""
        bound = bind_pose(self.linkage)
        turned, placed = self._worlds((rest_pose(self.linkage) if bound is None else bound)[None])
        turned, placed = turned[:, 0], placed[:, 0]
        k = {bone: i for i, bone in enumerate(self.bones)}
        across = placed[k["leftUpperLeg"]] - placed[k["rightUpperLeg"]]
        across = across * (1.0, 0.0, 1.0) / max(np.hypot(across[0], across[2]), SHORT)
        facing = np.stack([across, (0.0, 1.0, 0.0), np.cross(across, (0.0, 1.0, 0.0))])  # T-pose from the world
        turned, placed = facing @ turned, placed @ facing.T
        swings = np.tile(np.eye(3), (len(self.bones), 1, 1))
        for side, sign in (("left", 1.0), ("right", -1.0)):
            for parts, way in (
                (("UpperArm", "LowerArm", "Hand"), np.array([sign, 0.0, 0.0])),
                (("UpperLeg", "LowerLeg", "Foot"), np.array([0.0, -1.0, 0.0])),
            ):
                for bone, end in pairwise(parts):
                    one, two = k[side + bone], k[side + end]
                    swings[one] = _swing(placed[two] - placed[one], way)
        for i, parent in enumerate(self.parents):
            if any(part in self.bones[i] for part in ("Hand", "Thumb", "Index", "Middle", "Ring", "Little")):
                swings[i] = swings[parent]  # hands follow forearms; feet stay flat
        stand = placed.copy()
        for i, parent in enumerate(self.parents[1:], start=1):
            stand[i] = stand[parent] + swings[parent] @ (placed[i] - placed[parent])
        self.rest, self.stand = swings @ turned, stand
        pairs = [("hips", "head", 1)] + [(f"{side}Foot", f"{side}Toes", 2) for side in ("left", "right")]
        ways = [(placed[k[end]] - placed[k[start]], axis) for start, end, axis in pairs if end in k]
        self.upright = all(way[axis] > UPRIGHT * np.linalg.norm(way) for way, axis in ways)

    def _worlds(self, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return world rotations (bones, frames, 3, 3) and positions (bones, frames, 3), y up."""
        frames, upright = self.linkage.forward(poses), UP["y"].T
        worlds = np.stack([frames[link] for link in self.links])
        return upright @ worlds[..., :3, :3], worlds[..., :3, 3] @ upright.T

    def nodes(self) -> list[dict[str, Any]]:
        """Return the nodes of the T-pose: only offsets, no rotation."""
        nodes: list[dict[str, Any]] = []
        for k, (bone, parent) in enumerate(zip(self.bones, self.parents, strict=True)):
            offset = self.stand[k] - (self.stand[parent] if parent >= 0 else 0.0)
            nodes.append({"name": bone, "translation": offset.tolist()})
            if parent >= 0:
                nodes[parent].setdefault("children", []).append(k)
        return nodes

    def motion(self, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return rotations of nodes on their parents (bones, frames, 3, 3), and positions of the hips (frames, 3)."""
        turned, placed = self._worlds(poses)
        whole = turned @ np.swapaxes(self.rest, -1, -2)[:, None]  # from the T-pose, in axes of the world
        own = [whole[0]]
        for k, parent in enumerate(self.parents[1:], start=1):
            own.append(np.swapaxes(whole[parent], -1, -2) @ whole[k])
        return np.stack(own), placed[0]


def _swing(direction: FloatArray, way: FloatArray) -> FloatArray:
    """Return the shortest rotation from a direction (3,) to a unit vector `way` (3,)."""
    from scipy.spatial.transform import Rotation

    length = float(np.linalg.norm(direction))
    if length < SHORT:
        return np.eye(3)
    axis, cosine = np.cross(direction / length, way), float(direction @ way / length)
    sine = float(np.linalg.norm(axis))
    if sine < SHORT:
        axis = np.eye(3)[int(np.abs(way).argmin())] if cosine < 0.0 else np.zeros(3)
    result: FloatArray = Rotation.from_rotvec(axis / max(sine, SHORT) * np.arctan2(sine, cosine)).as_matrix()
    return result
