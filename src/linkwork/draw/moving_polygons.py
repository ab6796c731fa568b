"""Velocity and acceleration polygons of a film, for a page that redraws them in every frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ..solvers.loop_rates import LoopRates
from ..transforms import FloatArray
from .dimensions import letters
from .rate_polygons import pin_rates
from .schemes import WORLD, Scheme

SIDE, ROOM = 260.0, 34.0  # side of the square for a polygon, and margin for names


@dataclass(frozen=True, eq=False)
class MovingPolygon:
    """A polygon in all frames: the pole stays in the middle, and the longest vector always has the same length.

    Attributes:
        title: The title.
        unit: Unit of its vectors.
        names: Names of the moving pins.
        vectors: Their rates, shape (frames, pins, 2); NaN in frames without rates.
        links: Pins of each link that has two or more, and its colour.
    """

    title: str
    unit: str
    names: list[str]
    vectors: FloatArray
    links: list[tuple[list[int], str]]

    def plain(self) -> dict[str, Any]:
        """Return data for a page: ends of vectors, y downwards, null in frames without; and texts on the longest."""
        longest = np.linalg.norm(self.vectors, axis=-1).max(axis=1)
        scale = (SIDE / 2.0 - ROOM) / np.maximum(longest, 1e-300)
        places = self.vectors * scale[:, None, None] * (1.0, -1.0) + SIDE / 2.0
        images = [None if np.isnan(one).any() else np.round(one, 1).tolist() for one in places]
        texts = [f"longest: {one:.4g} {self.unit}" for one in longest]
        return {"images": images, "longest": texts, "pole": SIDE / 2.0, "links": [pins for pins, _ in self.links]}

    def drawn(self, number: int) -> str:
        """Return its HTML without coordinates, which the page fills in."""
        box, label, middle = f"0 0 {SIDE:.0f} {SIDE:.0f}", escape(self.title), SIDE / 2.0
        parts = [f'<svg viewBox="{box}" role="img" aria-label="{label}" data-polygon="{number}">']
        parts += [f'<polygon class="side" fill="none" stroke="{color}" stroke-width="1.8"/>' for _, color in self.links]
        parts += ['<line class="vector"/>'] * len(self.names)
        parts.append(f'<circle class="pole" cx="{middle}" cy="{middle}" r="3"/>')
        parts += [f'<text class="image">{escape(name)}</text>' for name in self.names]
        return f'<div class="polygon"><h2>{label}</h2><p class="longest"></p>{"".join(parts)}</svg></div>'


def moving_polygons(scheme: Scheme, rates: LoopRates, colors: Mapping[int, str]) -> list[MovingPolygon]:
    """Return the polygons of velocities and accelerations of a film."""
    texts = letters(scheme)
    pins = [k for k, node in enumerate(scheme.nodes) if WORLD not in node.places]
    links = []
    for body, color in colors.items():
        own = [number for number, k in enumerate(pins) if body in scheme.nodes[k].places]
        if len(own) > 1:
            links.append((own, color))
    names = [texts[k].strip("$").lower() if texts[k].startswith("$") else texts[k] for k in pins]
    if not pins:
        return []
    velocity, acceleration = (np.stack([one[k] for k in pins], axis=1) for one in pin_rates(scheme, rates))
    return [
        MovingPolygon("Velocity polygon", "m/s", names, velocity, links),
        MovingPolygon("Acceleration polygon", "m/s²", names, acceleration, links),
    ]
