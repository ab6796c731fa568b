"""Checks whether hands are inside the body, independently of linkwork's distances: with coal, and MuJoCo for robots.

Hands are all links from the elbow outwards; the body is all links that are not part of the same arm. Both judges get
the links at their places in a file, in every frame and between frames.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from motion_judge import SIDES, Array

import linkwork as lw
from linkwork.linkage.poses import rest_pose
from linkwork.retargeting import recognise

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from coal_judge import coal_distance, coal_shapes

NEAR = 0.001  # m: pairs whose bounding balls are further apart are skipped
WAYS = 42  # directions for the extreme vertices that form the hull of a skin
HELD = 0.5  # least weight of the bone that owns a vertex


class Piece(NamedTuple):
    """A convex shape of a link, with a bounding ball in the link's coordinates."""

    link: str
    placement: Array
    centre: Array
    radius: float
    shape: Any


class Judge(Protocol):
    """A judge: pieces of links, and the signed distance of two of them at given places in the world."""

    pieces: list[Piece]

    def distance(self, a: Piece, b: Piece, world_from_a: Array, world_from_b: Array) -> float: ...


class Coal:
    """coal, with the shapes of a linkage."""

    def __init__(self, linkage: lw.Linkage) -> None:
        self.pieces = list[Piece]()
        own = [visual.role for node in linkage.nodes for visual in node.visuals]
        role = "collision" if "collision" in own else "visual"
        for node in linkage.nodes:
            for visual in (one for one in node.visuals if one.role == role):
                for shape, at in coal_shapes(visual.shape):
                    shape.computeLocalAABB()
                    placement = node.matrix @ visual.placement @ at
                    centre = placement[:3, :3] @ shape.aabb_center + placement[:3, 3]
                    self.pieces.append(Piece(node.name, placement, centre, float(shape.aabb_radius), shape))

    def distance(self, a: Piece, b: Piece, world_from_a: Array, world_from_b: Array) -> float:
        """Return the distance of two pieces, negative if they overlap [m]."""
        one, two = [(a.shape, a.placement)], [(b.shape, b.placement)]
        return float(coal_distance(one, two, world_from_a, world_from_b))


class Mujoco:
    """MuJoCo, with the collision geometries of a robot's own file."""

    def __init__(self, file: Path) -> None:
        import mujoco

        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_path(str(file))
        self.data, self.pieces, turned = mujoco.MjData(self.model), list[Piece](), np.empty(9)
        for k in range(self.model.ngeom):
            if self.model.geom_contype[k] or self.model.geom_conaffinity[k]:
                mujoco.mju_quat2Mat(turned, self.model.geom_quat[k])
                placement = np.eye(4)
                placement[:3, :3], placement[:3, 3] = turned.reshape(3, 3), self.model.geom_pos[k]
                link = self.model.body(self.model.geom_bodyid[k]).name
                self.pieces.append(Piece(link, placement, placement[:3, 3], float(self.model.geom_rbound[k]), k))

    def distance(self, a: Piece, b: Piece, world_from_a: Array, world_from_b: Array) -> float:
        """Return the distance of two geometries, negative if they overlap [m]."""
        for piece, world in ((a, world_from_a), (b, world_from_b)):
            at = world @ piece.placement
            self.data.geom_xmat[piece.shape], self.data.geom_xpos[piece.shape] = at[:3, :3].ravel(), at[:3, 3]
        return float(self.mujoco.mj_geomDistance(self.model, self.data, a.shape, b.shape, 1.0, np.zeros(6)))


def links_below(linkage: lw.Linkage, link: str) -> set[str]:
    """Return a link and all links below it."""
    found = {linkage.links.index(link)}
    for k, above in enumerate(linkage.parents):
        if above in found:
            found.add(k)
    return {linkage.links[k] for k in found}


def hand_pairs(linkage: lw.Linkage, judge: Judge) -> list[tuple[int, int]]:
    """Return the pieces of hands and of the body that must not overlap, as indices into the judge's list."""
    roles = recognise(linkage).roles
    below = {role: links_below(linkage, link) for role, link in roles.items()}
    links = [piece.link for piece in judge.pieces]
    pairs = set()
    for side in SIDES:
        hand, arm = below[f"{side}_elbow"], below.get(f"{side}_clavicle", below[f"{side}_shoulder"])
        own = [k for k, link in enumerate(links) if link in hand]
        pairs |= {(min(a, b), max(a, b)) for a in own for b, link in enumerate(links) if link not in arm}
    return sorted(pairs)


def depths(linkage: lw.Linkage, judge: Judge, world: Mapping[str, Array]) -> Array:
    """Return the depth of a hand in the body at each instant [m], zero if it is outside.

    Args:
        linkage: The body, whose roles identify the hands.
        judge: The judge.
        world: Places of its links, (instants, 4, 4) each.
    """
    at = {piece.link: np.asarray(world[piece.link]) for piece in judge.pieces}
    centres = [at[piece.link][:, :3, :3] @ piece.centre + at[piece.link][:, :3, 3] for piece in judge.pieces]
    deepest = np.zeros(len(centres[0]))
    for a, b in hand_pairs(linkage, judge):
        one, two = judge.pieces[a], judge.pieces[b]
        apart = np.linalg.norm(centres[a] - centres[b], axis=1) - one.radius - two.radius
        for k in np.flatnonzero(apart < NEAR).tolist():
            depth = -judge.distance(one, two, at[one.link][k], at[two.link][k])
            deepest[k] = max(deepest[k], depth)
    return deepest


def with_skin_hulls(character: lw.Linkage, file: Path) -> lw.Linkage:
    """Return a character whose bones have hulls of their parts of the skin, in the rest pose of its GLB file.

    Fingers, twist bones and the like belong to the nearest bone above them that has a role.
    """
    rest, own = character.forward(rest_pose(character)), set(recognise(character).roles.values())
    corners: dict[str, list[Array]] = {}
    for bone, points in _skin(file).items():
        if (owner := _owner(character, bone, own)) is not None:
            local = np.linalg.inv(rest[owner])
            corners.setdefault(owner, []).append(points @ local[:3, :3].T + local[:3, 3])
    k = np.arange(WAYS) + 0.5
    polar, around = np.arccos(1.0 - 2.0 * k / WAYS), np.pi * (1.0 + 5.0**0.5) * k
    ways = np.stack([np.cos(around) * np.sin(polar), np.sin(around) * np.sin(polar), np.cos(polar)])
    links = {}
    for owner, parts in corners.items():
        points = np.concatenate(parts)
        outer = points[np.unique((points @ ways).argmax(axis=0))]
        if len(outer) > 3:
            placement = np.linalg.inv(character.link(owner).matrix)
            links[owner] = {"visuals": (lw.Visual(lw.Hull(outer), placement, role="collision"),)}
    return character.replace(links=links)


def _owner(character: lw.Linkage, bone: str, own: set[str]) -> str | None:
    """Return the nearest link with a role at or above a bone."""
    at = character.links.index(bone) if bone in character.links else -1
    while at >= 0 and character.links[at] not in own:
        at = character.parents[at]
    return character.links[at] if at >= 0 else None


def _skin(file: Path) -> dict[str, Array]:
    """Return the vertices of the skins of a GLB file by the bone that owns each, in the world at rest, z up [m]."""
    data = file.read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    document, binary = json.loads(data[20 : 20 + size]), data[28 + size :]
    kinds = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
    widths = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}

    def numbers(k: int) -> Array:
        accessor = document["accessors"][k]
        view, kind = document["bufferViews"][accessor["bufferView"]], kinds[accessor["componentType"]]
        width = widths[accessor["type"]]
        begin = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        step = view.get("byteStride", width * np.dtype(kind).itemsize)
        rows = np.ndarray((accessor["count"], width), kind, binary, begin, (step, np.dtype(kind).itemsize))
        return np.asarray(rows, np.float64)

    nodes, result = _placed(document), dict[str, list[Array]]()
    upright = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    for node in (one for one in document["nodes"] if "skin" in one and "mesh" in one):
        skin = document["skins"][node["skin"]]
        undo = numbers(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
        for part in document["meshes"][node["mesh"]]["primitives"]:
            values = {name: numbers(k) for name, k in part["attributes"].items()}
            points, owners, weights = values["POSITION"], values["JOINTS_0"].astype(int), values["WEIGHTS_0"]
            weights = weights / weights.sum(axis=1, keepdims=True)
            for at, bone in enumerate(skin["joints"]):
                held = points[(np.where(owners == at, weights, 0.0)).sum(axis=1) > HELD]
                if len(held):
                    moved = nodes[bone] @ undo[at]
                    world = (held @ moved[:3, :3].T + moved[:3, 3]) @ upright.T
                    result.setdefault(document["nodes"][bone].get("name", ""), []).append(world)
    return {name: np.concatenate(parts) for name, parts in result.items()}


def _placed(document: Mapping[str, Any]) -> dict[int, Array]:
    """Return the places of the nodes of a glTF document in its world."""
    from scipy.spatial.transform import Rotation

    def own(node: Mapping[str, Any]) -> Array:
        if "matrix" in node:
            return np.asarray(node["matrix"], np.float64).reshape(4, 4).T
        result = np.eye(4)
        turn = Rotation.from_quat(node.get("rotation", (0.0, 0.0, 0.0, 1.0))).as_matrix()
        result[:3, :3], result[:3, 3] = turn * node.get("scale", (1.0, 1.0, 1.0)), node.get("translation", (0, 0, 0))
        return result

    result: dict[int, Array] = {}
    waiting = [(k, np.eye(4)) for scene in document["scenes"] for k in scene["nodes"]]
    while waiting:
        k, above = waiting.pop()
        result[k] = above @ own(document["nodes"][k])
        waiting += [(child, result[k]) for child in document["nodes"][k].get("children", ())]
    return result
