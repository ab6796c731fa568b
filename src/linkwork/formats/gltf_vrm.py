"""VRM avatars and animations: the humanoid bones of nodes, as roles of links.

An avatar (.vrm) and an animation (.vrma) are GLB files with an extension that names the bones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from .gltf_data import GltfSource

AVATAR, OLD_AVATAR, ANIMATION = "VRMC_vrm", "VRM", "VRMC_vrm_animation"
TRUNK = {"hips": "hips", "spine": "spine", "chest": "chest", "neck": "neck", "head": "head"}
LIMBS = {
    "Shoulder": "clavicle", "UpperArm": "shoulder", "LowerArm": "elbow", "Hand": "hand",
    "UpperLeg": "hip", "LowerLeg": "knee", "Foot": "ankle", "Toes": "toe",
}  # fmt: skip
PHALANGES = {"Proximal": 1, "Intermediate": 2, "Distal": 3}
DIGITS = ("index", "middle", "ring", "little")
THUMB = {"Metacarpal": 1, "Proximal": 2, "Distal": 3}


def _bones() -> dict[str, str]:
    result = dict(TRUNK)
    for side in ("left", "right"):
        result |= {f"{side}{bone}": f"{side}_{part}" for bone, part in LIMBS.items()}
        result |= {f"{side}Thumb{bone}": f"{side}_thumb_{k}" for bone, k in THUMB.items()}
        for digit in DIGITS:
            result |= {f"{side}{digit.title()}{bone}": f"{side}_{digit}_{k}" for bone, k in PHALANGES.items()}
    return result


BONES = _bones()  # roles by bone names of VRM 1.0
OLD_THUMBS = {f"{side}Thumb{bone}": f"{side}_thumb_{k}" for side in ("left", "right") for bone, k in PHALANGES.items()}


def roles_of(source: GltfSource, names: Mapping[int, str]) -> dict[str, str]:
    """Return links by their role in the file; empty if it is not a VRM file.

    Args:
        source: The file.
        names: Names of the links by index of their node.
    """
    extensions = source.document.extensions
    table = BONES
    if OLD_AVATAR in extensions:
        table = BONES | OLD_THUMBS
    bones: dict[str, int] = {}
    for name in (OLD_AVATAR, AVATAR, ANIMATION):
        if name in extensions:
            bones |= _humanoid(extensions[name])
    roles = {table[bone]: names[node] for bone, node in bones.items() if bone in table and node in names}
    top = bones.get("upperChest")
    if top is not None and top in names:  # the arms are attached to it
        roles["chest"] = names[top]
    return roles


def _humanoid(raw: Any) -> dict[str, int]:
    """Return nodes by bone from an extension; empty if it is invalid."""
    try:
        bones = msgspec.json.decode(raw)["humanoid"]["humanBones"]
    except (msgspec.DecodeError, RecursionError, KeyError, TypeError):
        return {}
    if isinstance(bones, dict):
        rows = [(bone, one.get("node")) for bone, one in bones.items() if isinstance(one, dict)]
    else:  # as in VRM 0
        entries = [one for one in bones if isinstance(one, dict)] if isinstance(bones, list) else []
        rows = [(one.get("bone"), one.get("node")) for one in entries]
    return {bone: node for bone, node in rows if isinstance(bone, str) and isinstance(node, int)}
