"""The node tree of a glTF file as rigid links: order, names, and where scales go that no link can have.

A node's matrix is a rotation times a stretch; links have no stretch, so it is carried down to the offsets of the nodes
below, and joints stand where the file has them.
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
    """Where a node stands on its parent, at one time or many: ``matrix = [rotation @ stretch, translation]``."""

    translation: FloatArray
    rotation: FloatArray
    stretch: FloatArray


@dataclass(frozen=True)
class Step:
    """A node as a link: offset and rotation on its parent link, and the stretch that stays for the nodes below.

    `mirror` holds the signs of the scales from the root down to here, and `plain` tells whether the stretch is one
    factor with these signs: then every rotation passes through it.
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
        renamed: How many names were made unique.
        unnamed: How many were made up.
        rest: Where each node stands on its parent.
        steps: The same as links.
    """

    def __init__(self, source: GltfSource) -> None:
        nodes = source.document.nodes
        if len(nodes) > MAX_NODES:
            source.refuse(f"has {len(nodes)} nodes; {MAX_NODES} are the most that is read.")
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
        """The length of the longest chain of offsets, roughly how large the skeleton is."""
        reach: list[float] = []
        for step, parent in zip(self.steps, self.parents, strict=True):
            reach.append(float(np.linalg.norm(step.offset)) + (reach[parent] if parent >= 0 else 0.0))
        return max(reach)

    def moved(self, placements: Mapping[int, Placement]) -> dict[int, Step]:
        """Return the links that nodes at other places make, with those below whose offsets change by that.

        Args:
            placements: By position in `order`, with a leading time axis perhaps.
        """
        result: dict[int, Step] = {}
        waiting = sorted(placements)
        waits = set(waiting)
        while waiting:
            k = heapq.heappop(waiting)  # parents stand before their children
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

    It turns as the node does, mirrored where the nodes above are, and ``stretch = rotation^-1 @ stretch above @ node's
    rotation @ node's stretch`` stays for those below, so that joints stand exactly where the file has them.
    """
    if above.stretch is NO_STRETCH and here.stretch is NO_STRETCH:  # as most are
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
    """Return the nodes of the scene, depth first, and their parents; without a scene, all nodes are in it."""
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
            source.refuse(f"node {index} hangs on two nodes, or below itself; nodes make trees.")
        seen.add(index)
        waiting += [(child, len(order)) for child in reversed(node.children)]
        order.append(index)
        parents.append(parent)
    return order, parents


def _rotations(order: list[int], source: GltfSource) -> FloatArray:
    quaternions = np.array([source.document.nodes[index].rotation for index in order], np.float64)[:, [3, 0, 1, 2]]
    if not has_direction(quaternions):
        bad = next(index for index, one in zip(order, quaternions, strict=True) if not has_direction(one))
        source.refuse(f"node {bad} is turned by a quaternion without direction.")
    return quaternion_matrix(quaternions)


def _placement(node: Node, rotation: FloatArray, index: int, source: GltfSource) -> Placement:
    if node.matrix is not None:
        return _decomposed(np.array(node.matrix, np.float64).reshape(4, 4).T, index, source)
    stretch = NO_STRETCH if node.scale == (1.0, 1.0, 1.0) else np.diag(node.scale).astype(np.float64)
    return Placement(np.array(node.translation, np.float64), rotation, stretch)


def _decomposed(matrix: FloatArray, index: int, source: GltfSource) -> Placement:
    """Return a matrix as rotation times stretch: the nearest rotation, mirrored in x first if it must be."""
    linear = matrix[:3, :3]
    if np.abs(linear).max() > 1e100:
        source.refuse(f"the matrix of node {index} is beyond all numbers.")
    mirror = np.array([-1.0 if np.linalg.det(linear) < 0.0 else 1.0, 1.0, 1.0])
    left, _, right = np.linalg.svd(linear * mirror)
    if np.linalg.det(left @ right) < 0.0:  # a flat matrix: any sign fits
        left[:, 2] *= -1.0
    rotation = left @ right
    return Placement(matrix[:3, 3].copy(), rotation, rotation.T @ linear)
