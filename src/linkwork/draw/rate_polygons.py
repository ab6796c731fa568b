"""Compute velocity and acceleration polygons of a planar mechanism.

The image of a pin is the end of its velocity, or acceleration, drawn from the pole. The images of a link's pins form
the link's shape, rotated and scaled; points that do not move are at the pole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..solvers.loop_rates import LoopRates
from ..transforms import FloatArray
from .dimensions import letters
from .schemes import WORLD, Node, Scheme


@dataclass(frozen=True, eq=False)
class RatePolygon:
    """One polygon.

    Attributes:
        images: The image (2,) of each pin and point that moves, by its text [m/s or m/s²].
        sides: For each link, by its body: the images of its pins that move, in turn (n, 2).
        parts: Normal and tangential parts of the acceleration of one pin of a link relative to another: body and points
            (3, 2).
    """

    images: dict[str, FloatArray]
    sides: list[tuple[int, FloatArray]]
    parts: list[tuple[int, FloatArray]]


def rate_polygons(scheme: Scheme, rates: LoopRates) -> tuple[RatePolygon, RatePolygon]:
    """Return the polygon of velocities and that of accelerations in the first pose of a scheme.

    With w the angular velocity of a link, e its angular acceleration and r the way from one of its pins to another, the
    second moves relative to the first by ``w × r`` and accelerates by ``-w² r``, the normal part, and ``e × r``.
    """
    texts, q = letters(scheme), scheme.poses[0]
    moving = {k: node for k, node in enumerate(scheme.nodes) if WORLD not in node.places}
    places = {k: scheme.at(node, q) for k, node in enumerate(scheme.nodes)}
    spins = {body: _spin(scheme, rates, body) for body in dict.fromkeys(scheme.bodies) if body != WORLD}
    velocity, acceleration = pin_rates(scheme, rates)
    sides: dict[int, list[int]] = {}
    for body in spins:
        own = [k for k, node in enumerate(scheme.nodes) if body in node.places]
        if len(own) > 1:
            sides[body] = own
    parts = []
    for body, (first, second, *_) in sides.items():
        w = float(spins[body].turning)
        start = acceleration[first]
        normal = start - w * w * (places[second] - places[first])
        parts.append((body, np.stack([start, normal, acceleration[second]])))

    def polygon(images: dict[int, FloatArray], split: list[tuple[int, FloatArray]]) -> RatePolygon:
        free = {body: [k for k in own if k in moving] for body, own in sides.items()}
        lines = [(body, np.stack([images[k] for k in own])) for body, own in free.items() if len(own) > 1]
        return RatePolygon({texts[k]: images[k] for k in moving}, lines, split)

    return polygon(velocity, []), polygon(acceleration, parts)


def pin_rates(scheme: Scheme, rates: LoopRates) -> tuple[dict[int, FloatArray], dict[int, FloatArray]]:
    """Return velocities and accelerations of nodes by their numbers, (..., 2) each; zero for those on the ground."""
    still = np.zeros((*rates.q.shape[:-1], 2))
    velocity, acceleration = (dict.fromkeys(range(len(scheme.nodes)), still) for _ in range(2))
    spins = {body: _spin(scheme, rates, body) for body in dict.fromkeys(scheme.bodies) if body != WORLD}
    for k, node in enumerate(scheme.nodes):
        if WORLD not in node.places:
            spin = spins[min(node.places)]
            r = _places(scheme, node, rates.q) - spin.origin
            w, e = spin.turning[..., None], spin.change[..., None]
            velocity[k] = spin.velocity + w * _turned(r)
            acceleration[k] = spin.acceleration + e * _turned(r) - w * w * r
    return velocity, acceleration


class _Spin(NamedTuple):
    """Position, velocity and acceleration of a body's origin (..., 2); angular velocity and acceleration (...)."""

    origin: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    turning: FloatArray
    change: FloatArray


def _places(scheme: Scheme, node: Node, poses: FloatArray) -> FloatArray:
    """Return the positions of a node in poses (..., nq), shape (..., 2)."""
    flat = [scheme.at(node, q) for q in poses.reshape(-1, poses.shape[-1])]
    return np.array(flat).reshape(*poses.shape[:-1], 2)


def _turned(way: FloatArray) -> FloatArray:
    """Return vectors of the plane, rotated by a quarter turn to the left."""
    return np.stack([-way[..., 1], way[..., 0]], axis=-1)


def _spin(scheme: Scheme, rates: LoopRates, body: int) -> _Spin:
    """Return the motion of a body in all poses of the rates."""
    name, plane = scheme.linkage.links[body], scheme.plane
    v, a = rates.velocity(name), rates.acceleration(name)
    towards_eye = np.cross(plane[0], plane[1])
    place = scheme.linkage.forward(rates.q, frame=name)[..., :3, 3]
    flat = (place @ plane.T, v[..., :3] @ plane.T, a[..., :3] @ plane.T)
    return _Spin(*flat, v[..., 3:] @ towards_eye, a[..., 3:] @ towards_eye)
