"""Figures 5.3 to 5.13: joints, hierarchies and their trees, and the traversal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...linkage.linkage import Linkage
from ...transforms import FloatArray
from . import linkages, traversal
from .diagrams import (
    Angle,
    Arrow,
    Axes,
    Diagram,
    Length,
    Listing,
    Mark,
    Plate,
    Spot,
    Stack,
    Tree,
    TreeNode,
    hierarchy,
    point,
)  # fmt: skip

X, Y, Z = np.eye(3)
SPACE = (24.0, -58.0)
MODEL_SCALE = 1.1  # scale of figures 5.7 to 5.11 [inch/m]
TURNS = (0.6, -0.75)  # joint angles of figure 5.9 [rad]
OTHER_TURNS = (-0.5, 0.8)  # joint angles of the second appendage [rad]
LINK = r"$\mathrm{{Link}}_{{{}}}$"

Rows = tuple[tuple[Plate, ...], ...]


# Joints


def one_degree() -> Rows:
    """Return figure 5.3: the revolute and the prismatic joint."""
    revolute, prismatic = linkages.revolute_pair(), linkages.prismatic_pair()
    q, slid = np.array([0.55]), np.array([0.34])
    turn = (
        Length(0.16 * Y, 0.5 * Y, "", line=True, role="axis"),
        Arrow(-0.16 * Y, -0.34 * Y, "axis", "axis", dashed=True),
        Angle(np.zeros(3), X, 0.55, 0.78, r"$\theta$", -Y),
    )
    slide = (
        Length(-0.31 * X, -0.55 * X, "", line=True, role="axis"),
        Arrow(0.68 * X, 0.3 * X, "axis", "axis", dashed=True),
        Arrow(point((0.33, 0, 0.13)), 0.34 * X, "$d$", "angle"),
    )
    return (
        (
            Diagram("Revolute: a rotation about an axis", revolute, q, turn, (np.zeros(1),), SPACE, 2.8),
            Diagram("Prismatic: a translation along an axis", prismatic, slid, slide, (), SPACE, 1.9),
        ),
    )


def several_degrees() -> Rows:
    """Return figure 5.4: the planar joint, the ball and socket, and the latter as three revolute joints."""
    plate, ball, rings = linkages.planar_pair(), linkages.ball_pair(), linkages.gimbal()
    at = np.array([0.12, 0.08, 0.5])
    block = point((*at[:2], 0.13))
    slides = (
        Arrow(block, 0.42 * X, "$x$", "first"),
        Arrow(block, 0.38 * Y, "$y$", "second"),
        Angle(block, X, 1.9, 0.17, r"$\theta$", Z, role="third"),
    )
    q = np.array([0.5, -0.45, 0.0])
    tip = ball.forward(q, frame="link")[:3, 0]
    turns = tuple(
        Angle(center, start, 4.2, radius, label, axis, role=role)
        for center, start, radius, label, axis, role in (
            (0.36 * Z, X, 0.1, r"$\theta_1$", Z, "first"),
            (-0.36 * Y, Z, 0.1, r"$\theta_2$", Y, "second"),
            (0.62 * tip, Z - (Z @ tip) * tip, 0.1, r"$\theta_3$", tip, "third"),
        )
    )
    turns = tuple(replace(turn, start=turn.start / np.linalg.norm(turn.start)) for turn in turns)
    return (
        (
            Diagram("Planar joint: $x$, $y$ and a rotation", plate, at, slides, (), SPACE, 2.7),
            Diagram("Ball and socket: one joint", ball, q, turns, (), SPACE, 2.7),
        ),
        (
            Diagram("The same as three revolute joints", rings, q, _gimbal_axes(rings, q), (), SPACE, 3.3),
            _split_tree(ball.split()),
        ),
    )


def _gimbal_axes(rings: Linkage, q: FloatArray) -> tuple[Mark, ...]:
    """Return the world axis of each revolute joint in a pose."""
    marks: list[Mark] = []
    reach = (0.56, 0.5, 0.74)
    for k, (joint, size) in enumerate(zip(rings.arcs[1:], reach, strict=True)):
        axis = rings.forward(q, frame=joint.child)[:3, :3] @ joint.articulation.elements[0].axis
        role = ("first", "second", "third")[k]
        marks.append(Arrow(np.zeros(3), size * axis, rf"$\theta_{k + 1}$", role))
    return tuple(marks)


def _split_tree(split: Linkage) -> Tree:
    """Return the tree of a split ball joint; two of its nodes are links of zero length."""
    labels = ["parent link", *["zero length"] * (len(split.links) - 2), "child link"]
    arcs: list[tuple[str, ...]] = [(), *[(rf"$R(\theta_{k})$",) for k in range(1, len(split.links))]]
    return replace(hierarchy(split, labels, arcs, title="Its tree: 3 arcs, 2 links of zero length"), root_arc=False)


# Trees


def figure_and_tree() -> Rows:
    """Return figure 5.5: a figure in the plane, and its tree."""
    body = linkages.person()
    q = np.zeros(body.nq)
    names = {"hips": "hips (root)", "torso": "torso", "head": "head"}
    frames = body.forward(q)
    marks: list[Mark] = []
    for link in body.links:
        center = frames[link] @ np.append(_middle(body, link), 1.0)
        marks.append(Spot(center[:3], names.get(link, link), "leader"))
    labels = [link.replace(" ", "\n") for link in body.links]
    notes = ["root node", *[""] * (len(labels) - 1)]
    leaf = len(labels) - 1
    notes[leaf] = "leaf node"
    arcs: list[tuple[str, ...]] = [("root arc",), *[() for _ in labels[1:]]]
    tree = hierarchy(body, labels, arcs, notes, title="The tree: links are nodes, joints are arcs")
    return ((Diagram("A figure of eleven links", body, q, tuple(marks), height=5.0), tree),)


def _middle(linkage: Linkage, link: str) -> FloatArray:
    """Return the mean position of a link's shapes, in its own frame."""
    node = linkage.nodes[linkage.link_index(link)]
    return np.asarray(np.mean([visual.placement[:3, 3] for visual in node.visuals], axis=0))


def arc_and_node() -> Rows:
    """Return figure 5.6: what an arc holds, and what a node holds."""
    joint = (
        "Arc $i$ holds a joint:\n"
        "$T_i$, constant: where link $i$ is attached to its parent\n"
        r"$R_i(\theta_i)$, variable: how far the joint has turned"
    )
    link = "Node $i$ holds a link: its geometry, and a matrix\nthat makes it ready to be articulated"
    nodes = (
        TreeNode(r"$\mathrm{Node}_{i-1}$", -1, (r"$\mathrm{Arc}_{i-1}$",)),
        TreeNode(r"$\mathrm{Node}_i$", 0, ("$T_i$", r"$R_i(\theta_i)$"), link, arc_note=joint),
        TreeNode(r"$\mathrm{Node}_{i+1}$", 1, (r"$\mathrm{Arc}_{i+1}$",)),
    )
    return ((Tree("", nodes),),)


def three_links() -> Rows:
    """Return figure 5.7: three links by themselves, and put together."""
    model = linkages.three_links()
    q = np.zeros(2)
    frames = model.forward(q)
    world = np.eye(4)
    places = [world, frames["link0"], frames["link1"], frames["link1,1"]]
    marks: list[Mark] = [Axes(world, 0.45, "world")]
    for before, after, label in zip(places, places[1:], ("$T_0$", "$T_1$", "$T_{1,1}$"), strict=False):
        marks += [Axes(after, 0.45), Arrow(before[:3, 3], after[:3, 3] - before[:3, 3], label, "angle")]
    marks += [_name(model, q, link) for link in model.links]
    each = tuple(_alone(model, link) for link in model.links)
    whole = Diagram("Put together: each link relative to the one above it", model, q, tuple(marks), scale=MODEL_SCALE)
    return (each, (whole,))


def _alone(model: Linkage, link: str) -> Diagram:
    """Return one link by itself, with its joint at the origin."""
    part = model.subtree(link)
    for joint in part.arcs[1:2]:
        part = _without(part, joint.child)
    marks = (Axes(np.eye(4), 0.45),)
    return Diagram(f"{LINK.format(link[4:])} by itself", part, np.zeros(part.nq), marks, scale=MODEL_SCALE)


def _without(linkage: Linkage, link: str) -> Linkage:
    """Return a linkage without a link and everything below it."""
    below = linkage.subtree(link).links
    kept = [node for node in linkage.nodes if node.name not in below]
    joints = [joint for joint in linkage.arcs[1:] if joint.child not in below]
    return Linkage(kept, joints, name=linkage.name)


def _name(model: Linkage, q: FloatArray, link: str) -> Spot:
    """Return the label of a link: inside the root link, beside any other."""
    root = link == model.links[0]
    center = model.forward(q, frame=link) @ np.append(_middle(model, link), 1.0)
    return Spot(center[:3] + root * (0.4 * X - 0.35 * Y), LINK.format(link[4:]), "inside" if root else "none")


def tree_at_rest() -> Rows:
    """Return figure 5.8: the tree with constant transformations, and where a vertex of each link is."""
    model = linkages.three_links()
    labels = [LINK.format(link[4:]) for link in model.links]
    arcs = [("$T_0$",), ("$T_1$",), ("$T_{1,1}$",)]
    return ((hierarchy(model, labels, arcs, vertices(model, arcs), title=""),),)


def vertices(model: Linkage, arcs: Sequence[Sequence[str]]) -> list[str]:
    """Return, for every link, the equation that brings a vertex of it to the world."""
    found = []
    for k, link in enumerate(model.links):
        product = r"\,".join(label.strip("$") for arc in path(model, k) for label in arcs[arc])
        index = link[4:]
        found.append(rf"$V'_{{{index}}} = {product}\,V_{{{index}}}$")
    return found


def path(model: Linkage, k: int) -> list[int]:
    """Return the numbers of the links from the root to a link."""
    way = [k]
    while model.parents[way[-1]] >= 0:
        way.append(model.parents[way[-1]])
    return way[::-1]


def with_rotations(model: Linkage) -> list[tuple[str, ...]]:
    """Return the labels of each arc of a hierarchy with rotating joints."""
    arcs: list[tuple[str, ...]] = [("$T_0$",)]
    for joint in model.arcs[1:]:
        arcs.append((rf"$T_{{{joint.name}}}$", rf"$R_{{{joint.name}}}(\theta_{{{joint.name}}})$"))
    return arcs


def turned() -> Rows:
    """Return figure 5.9: the joints have turned."""
    model, q = linkages.three_links(), np.array(TURNS)
    title = "Each rotation is counted from the link above it"
    return ((Diagram(title, model, q, _turns(model, q), (np.zeros(2),), scale=MODEL_SCALE),),)


def _turns(model: Linkage, q: FloatArray) -> tuple[Mark, ...]:
    """Return marks for the angle of every joint and the name of every link in a pose."""
    marks: list[Mark] = []
    for k, joint in enumerate(model.arcs[1:]):
        frame = model.forward(_held(q, k), frame=joint.child)
        label = rf"$\theta_{{{joint.name}}}$"
        marks.append(Angle(frame[:3, 3], frame[:3, 0], float(q[k]), 1.05 if k % 2 == 0 else 0.85, label))
        marks.append(Arrow(frame[:3, 3], 1.25 * frame[:3, 0], "", "axis", dashed=True))
    return (*marks, *(_name(model, q, link) for link in model.links))


def _held(q: FloatArray, k: int) -> FloatArray:
    """Return a pose with joint `k` at zero."""
    held: FloatArray = q.copy()
    held[k] = 0.0
    return held


def tree_with_rotations() -> Rows:
    """Return figure 5.10: the tree with the joints' rotations."""
    model = linkages.three_links()
    arcs = with_rotations(model)
    labels = [LINK.format(link[4:]) for link in model.links]
    return ((hierarchy(model, labels, arcs, vertices(model, arcs)),),)


def two_appendages() -> Rows:
    """Return figure 5.11: a second appendage on the same root."""
    model, q = linkages.two_appendages(), np.array([*TURNS, *OTHER_TURNS])
    return ((Diagram("", model, q, _turns(model, q), (np.zeros(4),), scale=MODEL_SCALE),),)


def branching_tree() -> Rows:
    """Return figure 5.12: the tree of the model with two appendages, which branches at its root."""
    return ((_branching(linkages.two_appendages()),),)


def _branching(model: Linkage, tones: dict[int, str] | None = None, title: str = "") -> Tree:
    labels = [LINK.format(link[4:]) for link in model.links]
    tree = hierarchy(model, labels, with_rotations(model), title=title)
    nodes = [replace(node, tone=(tones or {}).get(k, "plain")) for k, node in enumerate(tree.nodes)]
    return replace(tree, nodes=tuple(nodes))


# The traversal


def listing() -> Rows:
    """Return figure 5.13: the walk as code, and the stack at three moments."""
    model, q = linkages.two_appendages(), np.array([*TURNS, *OTHER_TURNS])
    code = Listing("The walk, depth first, in Python", traversal.listing())
    walk = traversal.visits(model, q)
    stacks = tuple(_stack(model, walk, step) for step in (2, 3, 4))
    return ((code,), stacks)


def _stack(model: Linkage, walk: Sequence[tuple[int, FloatArray, list[FloatArray]]], step: int) -> Stack:
    """Return the stack at a visit of a node, with its matrices written as products."""
    number, _, stack = walk[step]
    seen = {index: at for index, at, _ in walk[: step + 1]}
    entries = tuple(_product(model, next(k for k, at in seen.items() if np.allclose(at, one))) for one in stack)
    link = LINK.format(model.links[number][4:])
    tones = {index: "done" for index, _, _ in walk[:step]} | {number: "now"}
    tree = _branching(model, tones)
    plain = replace(tree, nodes=tuple(replace(node, arc=()) for node in tree.nodes))
    return Stack(f"At {link}", entries, _product(model, number), plain)


def _product(model: Linkage, k: int) -> str:
    """Return the matrix of a node as a product of the matrices on the path to it."""
    arcs = with_rotations(model)
    short = [label.strip("$").partition("(")[0] for arc in path(model, k) for label in arcs[arc]]
    return "$" + r"\,".join(short) + "$"
