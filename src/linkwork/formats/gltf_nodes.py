"""The node tree of a glTF file as rigid links: order, names, and the handling of scales.

The matrix of a node is a rotation times a stretch. Links have no stretch, so it is applied to the offsets of the nodes
below, and joints have the same positions as in the file.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..transforms import FloatArray, has_direction, quaternion_matrix
from .content import UniqueNames
from .gltf_data import GltfSource
from .gltf_document import Node

MAX_NODES = 20_000
UNIFORM = 1e-6


@dataclass(frozen=True)
class Placement:
    """Placement of a node on its parent, at one time or many: ``matrix = [rotation @ stretch, translation]``."""

    translation: FloatArray
    rotation: FloatArray
    stretch: FloatArray


@dataclass(frozen=True)
class Step:
    """A node as a link: offset and rotation on its parent link, and the stretch passed on to the nodes below.

    `mirror` contains the signs of the scales from the root to this node. `plain` is True if the stretch is one factor
    with these signs; then it commutes with rotations.
    """

    offset: FloatArray
    rotation: FloatArray
    stretch: FloatArray
    mirror: FloatArray
    plain: bool


NO_STRETCH = np.eye(3)
WORLD = Step(np.zeros(3), np.eye(3), NO_STRETCH, np.ones(3), True)


class NodeTree:
    """The nodes of a scene in depth-first order.

    Attributes:
        order: Index of each node in the file.
        parents: Position in `order` of each node's parent, -1 for a root.
        names: Unique names.
        renamed: Number of names that were made unique.
        unnamed: Number of nodes without a name.
        rest: Placement of each node on its parent.
        steps: The nodes as links.
    """

    def __init__(self, source: GltfSource) -> None:
        nodes = source.document.nodes
        if len(nodes) > MAX_NODES:
            source.refuse(f"has {len(nodes)} nodes; at most {MAX_NODES} are read.")
        self.order, self.parents = _ordered(source)
        if not self.order:
            source.refuse("has no nodes in its scene.")
        given = [nodes[index].name or "" for index in self.order]
        self.unnamed = given.count("")
        names = UniqueNames(given)
        self.names = [names.take(name, f"node{index}") for name, index in zip(given, self.order, strict=True)]
        self.renamed = sum(bool(old) and old != new for old, new in zip(given, self.names, strict=True))
        turns = _rotations(self.order, source)
        self.rest = [_placement(nodes[i], turn, i, source) for i, turn in zip(self.order, turns, strict=True)]
        self.below: list[list[int]] = [[] for _ in self.order]
        self.steps: list[Step] = []
        for k, (placement, parent) in enumerate(zip(self.rest, self.parents, strict=True)):
            above = WORLD
            if parent >= 0:
                above = self.steps[parent]
                self.below[parent].append(k)
            mirror = above.mirror
            if placement.stretch is not NO_STRETCH:
                mirror = mirror * np.where(np.diagonal(placement.stretch) < 0.0, -1.0, 1.0)
            self.steps.append(link_below(placement, above, mirror))

    @cached_property
    def extent(self) -> float:
        """Length of the longest chain of offsets, the approximate size of the skeleton."""
        reach: list[float] = []
        for step, parent in zip(self.steps, self.parents, strict=True):
            reach.append(float(np.linalg.norm(step.offset)) + (reach[parent] if parent >= 0 else 0.0))
        return max(reach)

    def moved(self, placements: Mapping[int, Placement]) -> dict[int, Step]:
        """Return the links of moved nodes, and of nodes below whose offsets change with them.

        Args:
            placements: Placements by position in `order`, with an optional leading time axis.
        """
        result: dict[int, Step] = {}
        waiting = sorted(placements)
        waits = set(waiting)
        while waiting:
            k = heapq.heappop(waiting)  # parents precede their children
            parent = self.parents[k]
            above = result.get(parent, self.steps[parent]) if parent >= 0 else WORLD
            result[k] = link_below(placements.get(k, self.rest[k]), above, self.steps[k].mirror)
            if result[k].stretch.ndim > 2:
                for child in self.below[k]:
                    if child not in waits:
                        waits.add(child)
                        heapq.heappush(waiting, child)
        return result


def link_below(here: Placement, above: Step, mirror: FloatArray) -> Step:
    """Return a node as a link below another.

    Its rotation is that of the node, mirrored if the nodes above are. ``stretch = rotation^-1 @ stretch above @ node's
    rotation @ node's stretch`` is passed on to the nodes below, so that joints have exactly the positions of the file.
    """
    if above.stretch is NO_STRETCH and here.stretch is NO_STRETCH:  # the usual case
        return Step(here.translation, here.rotation, NO_STRETCH, mirror, True)
    offset = np.einsum("...ij,...j->...i", above.stretch, here.translation)
    signs = above.mirror
    rotation = signs[:, None] * here.rotation * signs
    if above.plain:
        stretch = above.stretch @ here.stretch
    else:
        stretch = np.swapaxes(rotation, -1, -2) @ above.stretch @ here.rotation @ here.stretch
    factor = np.abs(stretch[..., :1, :1])
    plain = stretch.ndim == 2 and bool((np.abs(stretch - factor * np.diag(mirror)) <= UNIFORM * factor).all())
    return Step(offset, rotation, stretch, mirror, plain)


def _ordered(source: GltfSource) -> tuple[list[int], list[int]]:
    """Return the nodes of the scene, depth first, and their parents; all nodes if there is no scene."""
    document, nodes = source.document, source.document.nodes
    below = {child for node in nodes for child in node.children}
    roots = [index for index in range(len(nodes)) if index not in below]
    if document.scenes:
        roots = source.item(document.scenes, document.scene or 0, "scene").nodes
    order: list[int] = []
    parents: list[int] = []
    seen: set[int] = set()
    waiting = [(root, -1) for root in reversed(roots)]
    while waiting:
        index, parent = waiting.pop()
        node = source.item(nodes, index, "node")
        if index in seen:
            source.refuse(f"node {index} has two parents or is below itself; nodes must form trees.")
        seen.add(index)
        waiting += [(child, len(order)) for child in reversed(node.children)]
        order.append(index)
        parents.append(parent)
    return order, parents


def _rotations(order: list[int], source: GltfSource) -> FloatArray:
    quaternions = np.array([source.document.nodes[index].rotation for index in order], np.float64)[:, [3, 0, 1, 2]]
    if not has_direction(quaternions):
        bad = next(index for index, one in zip(order, quaternions, strict=True) if not has_direction(one))
        source.refuse(f"node {bad} is rotated by a quaternion of invalid length.")
    return quaternion_matrix(quaternions)


def _placement(node: Node, rotation: FloatArray, index: int, source: GltfSource) -> Placement:
    if node.matrix is not None:
        return _decomposed(np.array(node.matrix, np.float64).reshape(4, 4).T, index, source)
    stretch = NO_STRETCH if node.scale == (1.0, 1.0, 1.0) else np.diag(node.scale).astype(np.float64)
    return Placement(np.array(node.translation, np.float64), rotation, stretch)


def _decomposed(matrix: FloatArray, index: int, source: GltfSource) -> Placement:
    """Return a matrix as rotation times stretch, with the nearest rotation; a reflection is put into x."""
    linear = matrix[:3, :3]
    if np.abs(linear).max() > 1e100:
        source.refuse(f"the matrix of node {index} has numbers beyond 1e100.")
    mirror = np.array([-1.0 if np.linalg.det(linear) < 0.0 else 1.0, 1.0, 1.0])
    left, _, right = np.linalg.svd(linear * mirror)
    if np.linalg.det(left @ right) < 0.0:  # a singular matrix: the sign is arbitrary
        left[:, 2] *= -1.0
    rotation = left @ right
    return Placement(matrix[:3, 3].copy(), rotation, rotation.T @ linear)
