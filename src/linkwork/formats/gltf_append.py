"""Add a motion to an existing glTF file as one more animation.

Meshes, skins, materials, textures, morphs, extras and other animations are unchanged. Buffers keep their bytes, and
new data are appended.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..errors import FormatError, Remark
from ..linkage.origin import Origin
from ..motion.clips import Clip
from ..transforms import FloatArray
from .content import Content, Remarks, UniqueNames, file_errors
from .gltf_data import GltfSource
from .gltf_keys import Keys
from .gltf_nodes import WORLD, NodeTree, Placement, Step, link_below
from .gltf_packing import Packing, quaternions, write_document
from .gltf_resources import Resources
from .hosts import check_absent
from .options import UP, FilePath, Options

STILL = 1e-6  # motions below this fraction of the size of the skeleton are ignored
SHEAR = 1e-5  # largest relative shear that is ignored, since glTF has only three scales


def write_into(content: Content, path: FilePath, origin: Origin) -> tuple[Remark, ...]:
    """Write a copy of a glTF or GLB file with motions added to its animations.

    Links move the nodes of the same name. Nodes are animated by rotations; the path of the whole body is written to its
    top joints, in their units, so that nodes above them (an armature with a scale) are unchanged.

    Args:
        content: The linkage and the motions to add.
        path: The file to write: GLB with all data inside, or glTF with files beside it.
        origin: The file to copy.

    Returns:
        Remarks on omissions and additions.

    Raises:
        FormatError: If the file cannot be read or written, or does not have the links of the linkage.
    """
    source = GltfSource(origin.file, Options(folders=origin.folders))
    with file_errors(origin.file), np.errstate(all="ignore"):
        tree = NodeTree(source)
        appending = _Appending(content, path, origin, source, tree)
        for name, clip in content.clips.items():
            appending.add(name, clip)
    appending.write()
    return tuple(appending.remarks)


class _Appending:
    """Builds a copy of a file with added motions."""

    def __init__(self, content: Content, path: FilePath, origin: Origin, source: GltfSource, tree: NodeTree) -> None:
        self.linkage, self.path, self.origin, self.source, self.tree = content.linkage, path, origin, source, tree
        self.remarks = Remarks()
        self.document: dict[str, Any] = json.loads(source.text.decode("utf-8-sig"))
        self.resources = Resources(source, self.document, path, self.remarks)
        self.numbers: Packing = self.resources.packing
        self.animations: list[Any] = self.document.setdefault("animations", [])
        self.names = UniqueNames()
        for animation in self.animations:
            self.names.take(animation.get("name") or "", "animation")
        self.moving = self._moving()

    def _moving(self) -> dict[int, int]:
        """Return the moving links by position of their node, without a root that only carries the joints of a skin."""
        tree, linkage = self.tree, self.linkage
        places = {name: k for k, name in enumerate(tree.names)}
        place = {index: k for k, index in enumerate(tree.order)}
        skin = {place[joint] for one in self.source.document.skins for joint in one.joints if joint in place}
        found: dict[int, int] = {}
        absent = []
        for link, (name, arc) in enumerate(zip(linkage.links, linkage.arcs, strict=True)):
            k = places.get(self.origin.name_of(name))
            if k is None:
                absent += [name] if arc.articulation.nq and link else []
            elif arc.articulation.nq and not (link == 0 and skin and k not in skin):
                found[k] = link
        check_absent(absent, len(found), self.linkage, self.origin, tree.names, self.remarks)
        return found

    # Motion

    def add(self, name: str, clip: Clip) -> None:
        """Add a motion."""
        if clip.linkage != self.linkage:
            raise FormatError(self.path, f"clip {name!r} moves another linkage, {clip.linkage.name!r}.")
        times, poses = Keys(clip, name, self.remarks).whole()
        own = self.names.take(name)
        if own != name:
            text = f"the file already has an animation {name!r}; this one is named {own!r}."
            self.remarks.add("names", text, own)
        animation: dict[str, Any] = {"name": own, "channels": [], "samplers": []}
        clock, still = self.numbers.clock(times), self.numbers.clock(times[:1])
        for k, placement in self._placements(poses).items():
            node, rest = self.tree.order[k], self.tree.rest[k]
            self._plain(node, k)
            turned = placement.rotation if placement.rotation.ndim > 2 else placement.rotation[None]
            turns = np.ptp(turned, axis=0).max() > STILL
            keys = quaternions(turned if turns else turned[:1])
            self.numbers.channel(animation, clock if turns else still, node, "rotation", keys)
            if placement.translation is not rest.translation:
                self.numbers.channel(animation, clock, node, "translation", placement.translation)
        self.animations.append(animation)

    def _placements(self, poses: FloatArray) -> dict[int, Placement]:
        """Return placements of the moving nodes over time that put the links in the given poses."""
        tree, frames = self.tree, self.linkage.forward(poses)
        upright = UP[self.origin.up].T
        needed = {-1}
        for k in self.moving:
            while k not in needed:
                needed.add(k)
                k = tree.parents[k]
        result: dict[int, Placement] = {}
        worlds: dict[int, tuple[FloatArray, FloatArray]] = {-1: (np.eye(3), np.zeros(3))}
        steps: dict[int, Step] = {-1: WORLD}
        for k in sorted(needed - {-1}):  # parents precede their children
            parent = tree.parents[k]
            above, (turn, place) = steps[parent], worlds[parent]
            placement = tree.rest[k]
            if k in self.moving:
                world = frames[self.linkage.links[self.moving[k]]]
                turned, there = upright @ world[:, :3, :3], world[:, :3, 3] @ upright.T / self.origin.units
                back = np.swapaxes(turn, -1, -2)
                offset = np.einsum("...ij,...j->...i", back, there - place)
                placement = result[k] = self._placed(k, above, back @ turned, offset)
            steps[k] = step = link_below(placement, above, tree.steps[k].mirror)
            worlds[k] = turn @ step.rotation, place + np.einsum("...ij,...j->...i", turn, step.offset)
        return result

    def _placed(self, k: int, above: Step, turn: FloatArray, offset: FloatArray) -> Placement:
        """Return the placement of a node for a rotation and offset of its link: the inverse of `link_below`."""
        rest, signs = self.tree.rest[k], above.mirror
        translation = np.einsum("...ij,...j->...i", np.linalg.pinv(above.stretch), offset)
        moved = np.einsum("...ij,...j->...i", above.stretch, translation - rest.translation)
        if np.abs(moved).max() <= STILL * self.tree.extent:
            translation = rest.translation
        return Placement(translation, signs[:, None] * turn * signs, rest.stretch)

    def _plain(self, node: int, k: int) -> None:
        """Replace the matrix of a node, which cannot be animated, by translation, rotation and scale."""
        entry = self.document["nodes"][node]
        if "matrix" not in entry:
            return
        rest = self.tree.rest[k]
        scale = np.diagonal(rest.stretch)
        if np.abs(rest.stretch - np.diag(scale)).max() > SHEAR * np.abs(scale).max():
            text = f"node {self.tree.names[k]!r} has a sheared matrix, which cannot be animated"
            raise FormatError(self.origin.file, f"{text}; apply transforms before exporting.")
        del entry["matrix"]
        entry |= {"translation": rest.translation.tolist(), "scale": scale.tolist()}
        entry["rotation"] = quaternions(rest.rotation[None])[0].tolist()

    def write(self) -> None:
        """Write the file."""
        if not self.animations:
            del self.document["animations"]
        binary = self.resources.settled()
        write_document(self.path, self.document, binary, self.source.more)
