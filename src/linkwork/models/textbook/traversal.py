"""The traversal of figure 5.13, written for reading: arcs and nodes, one function, and a stack of matrices.

Programs should use `Linkage.traverse`; this is the same traversal as listed in the figure.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...linkage.linkage import Linkage
from ...transforms import FloatArray

Draw = Callable[["Node", FloatArray], None]


@dataclass
class Arc:
    """An arc: where its node is attached, how its joint has moved, and the node."""

    placement: FloatArray
    articulation: FloatArray
    node: Node


@dataclass
class Node:
    """A node: its number, the transformation that readies its data, and the arcs below it."""

    number: int
    ready: FloatArray
    arcs: list[Arc] = field(default_factory=list)


def traverse(arc: Arc, matrix: FloatArray, stack: list[FloatArray], draw: Draw) -> None:
    """Visit the node of an arc and everything below it."""
    matrix = matrix @ arc.placement  # where the link is attached
    matrix = matrix @ arc.articulation  # how its joint has moved
    node = arc.node
    draw(node, matrix @ node.ready)  # a node's own matrix is not handed down
    for child in node.arcs:
        stack.append(matrix)  # push: save this node's matrix
        traverse(child, matrix, stack, draw)
        matrix = stack.pop()  # pop: restore it for the next arc


def listing() -> tuple[str, ...]:
    """Return the lines of `traverse` without types and docstring, as the figure shows them."""
    lines = [line for line in inspect.getsource(traverse).splitlines() if '"""' not in line]
    return ("def traverse(arc, matrix, stack, draw):", *lines[1:], "", "traverse(root_arc, identity, [], draw)")


def as_arcs(linkage: Linkage, q: FloatArray) -> Arc:
    """Return the root arc of a linkage at a pose (nq,)."""
    made: list[Arc] = []
    for k, (joint, drive, parent) in enumerate(zip(linkage.arcs, linkage.drives, linkage.parents, strict=True)):
        moved = joint.articulation.matrix(drive.values(q)) if drive.nq else np.eye(4)
        made.append(Arc(joint.placement, moved, Node(k, linkage.nodes[k].matrix)))
        if parent >= 0:
            made[parent].node.arcs.append(made[-1])
    return made[0]


def visits(linkage: Linkage, q: FloatArray) -> list[tuple[int, FloatArray, list[FloatArray]]]:
    """Return every visit of the traversal: the node's number, its matrix as drawn, and the stack."""
    stack: list[FloatArray] = []
    seen: list[tuple[int, FloatArray, list[FloatArray]]] = []
    traverse(as_arcs(linkage, q), np.eye(4), stack, lambda node, matrix: seen.append((node.number, matrix, [*stack])))
    return seen
