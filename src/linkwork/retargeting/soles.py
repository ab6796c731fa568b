"""Soles: where a foot touches the ground, from its shapes or skin, its toes and frames, or else of default size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .outlines import outline, skin_outline
from .skeletons import LEGS, Skeleton

TOE, SOLE = 0.18, 0.09  # over leg length: default length and height of a foot
LEVEL = 0.02  # over leg length: points up to this height above the lowest point of a foot belong to its sole
LEAST = 0.05  # over leg length: shorter vectors to the toes have no direction
_NONE = np.zeros((0, 3))


@dataclass(frozen=True)
class Sole:
    """A foot of a skeleton at rest, in the coordinates of its link.

    Args:
        body: Link of the foot.
        ankle: The ankle.
        toe: The point where it touches the ground in front.
        height: Height of the ankle above the ground [m].
        found: Whether the file defines the position of the toes.
        shapes: Points of the surface of the foot and its toes, by link and in its coordinates, (points, 3); empty if
            the file has no shapes.
    """

    body: str
    ankle: FloatArray
    toe: FloatArray
    height: float
    found: bool
    shapes: Mapping[str, FloatArray]

    def planned(self, ankle: FloatArray, rotation: FloatArray) -> FloatArray:
        """Return the height of its lowest point, (frames,), for ankle positions and rotations; 0 without shapes.

        Toes that move on their own joints are left out.
        """
        if self.body not in self.shapes:
            return np.zeros(len(ankle))
        return np.asarray(ankle[:, 2] + (rotation[:, 2] @ (self.shapes[self.body] - self.ankle).T).min(axis=1))

    def reached(self, linkage: Linkage, poses: FloatArray) -> FloatArray:
        """Return the height of its lowest point in poses (frames, nq), shape (frames,); 0 without shapes."""
        heights = [np.full(len(poses), np.inf if self.shapes else 0.0)]
        for link, points in self.shapes.items():
            world = linkage.forward(poses, frame=link)
            heights.append((world[:, 2, :3] @ points.T).min(axis=1) + world[:, 2, 3])
        return np.asarray(np.min(heights, axis=0))


def sole(skeleton: Skeleton, side: str) -> Sole:
    """Return the sole of a foot.

    The shapes of the foot and of its toes define its sole; without shapes, the ends of its links and its frames;
    without these, it has the default size. Toes are where the file has them, or at the front of the sole.
    """
    return skeleton.cache.get("sole", side, lambda: _sole(skeleton, side))


def _sole(skeleton: Skeleton, side: str) -> Sole:
    role = f"{side}_ankle"
    body, ankle = skeleton.body(role), skeleton.place(role)
    ahead, _, up = skeleton.foot_axes(side).T
    leg = skeleton.length(*LEGS[side])
    shapes = _shapes(skeleton.linkage, body)
    surface = np.concatenate([_placed(skeleton.world[link], local) for link, local in shapes.items()] or [_NONE])
    points = surface if len(surface) else _ends(skeleton, side)
    low = float(((ankle - points) @ up).max(initial=0.0))
    height = low if low > LEVEL * leg else SOLE * leg
    way = _to_toes(skeleton, side, surface, low, leg)
    found = way is not None
    if way is None:
        way = TOE * leg * ahead - height * up
    world = skeleton.world[body]
    local = _local(world, np.stack([ankle, ankle + way]))
    return Sole(body, local[0], local[1], height, found, shapes)


def _shapes(linkage: Linkage, body: str) -> dict[str, FloatArray]:
    """Return the outlines of a foot and of its moving descendants, by link; nothing if the foot itself has none."""
    first = linkage.link_index(body)
    below = _below(linkage, first)
    moving = [linkage.links[i] for i in below if i == first or linkage.arcs[i].articulation.nv]
    for points_of in (outline, skin_outline):
        found = {link: points for link in moving if len(points := points_of(linkage, link))}
        if body in found:
            return found
    return {}


def _below(linkage: Linkage, first: int) -> list[int]:
    """Return a link and all its descendants."""
    result = [first]
    for link in result:
        result += linkage.children[link]
    return sorted(result)


def _ends(skeleton: Skeleton, side: str) -> FloatArray:
    """Return the positions at rest of the links and frames after an ankle, (points, 3)."""
    linkage, role = skeleton.linkage, f"{side}_ankle"
    body = skeleton.body(role)
    links = {linkage.links[i] for i in _below(linkage, linkage.link_index(skeleton.roles[role]))}
    names = [name for name in linkage.links if name in links and name != body]
    names += [frame.name for frame in linkage.extra_frames if frame.link in links]
    return np.stack([skeleton.world[name][:3, 3] for name in names]) if names else _NONE


def _to_toes(skeleton: Skeleton, side: str, surface: FloatArray, low: float, leg: float) -> FloatArray | None:
    """Return the vector from the ankle to the toes, or None if their position is unknown."""
    way, ankle = skeleton.foot_direction(side), skeleton.place(f"{side}_ankle")
    ahead, left, up = skeleton.foot_axes(side).T
    if way is not None and np.linalg.norm(way - up * (up @ way)) > LEAST * leg:
        return way
    ground = surface[(ankle - surface) @ up > low - LEVEL * leg]
    front, aside = (ground - ankle) @ ahead, (ground - ankle) @ left
    if len(ground) < 3 or front.max() < LEAST * leg:
        return None
    way = float(front.max()) * ahead + float(aside.min() + aside.max()) / 2.0 * left - low * up
    return np.asarray(way)


def _placed(world: FloatArray, local: FloatArray) -> FloatArray:
    return local @ world[:3, :3].T + world[:3, 3]


def _local(world: FloatArray, points: FloatArray) -> FloatArray:
    return (points - world[:3, 3]) @ world[:3, :3]
