"""Draw a mechanism, its velocity polygon and its acceleration polygon side by side on a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from ..transforms import FloatArray
from .dimensions import written
from .labels import FONT, Label, write_labels
from .mechanism_panels import COLORS, LINE, MARGIN, WORDS, MechanismPanel
from .panels import Picture, new_figure
from .rate_polygons import RatePolygon
from .schemes import WORLD, Scheme
from .sketch import INK

SIDE, GAP, ABOVE = 3.3, 0.45, 0.4  # side of a panel, gap between panels, height of titles [inch]
HEAD = (7.0, 2.4)  # length and half the width of an arrow's head [points]
OVER = 0.15  # largest distance of labels outside a panel [inch]
STILL = 1e-9  # vectors below this share of the longest one are not drawn


def polygon_page(scheme: Scheme, polygons: Sequence[tuple[str, str, str, RatePolygon]], title: str | None) -> Picture:
    """Return the page.

    Args:
        scheme: The mechanism, in the first pose.
        polygons: Title, letter and unit of values, and polygon, for each polygon.
        title: Title above everything.
    """
    values = [_values(letter, unit, polygon) for _, letter, unit, polygon in polygons]
    below = LINE * max(len(lines) for lines in values) + 0.1
    above = ABOVE + (0.35 if title else 0.0)
    width = 2.0 * MARGIN + (1 + len(polygons)) * SIDE + len(polygons) * GAP
    page = new_figure((width, 2.0 * MARGIN + SIDE + below + above))
    style: dict[str, Any] = {"transform": page.dpi_scale_trans, "fontfamily": FONT, "color": INK, "ha": "center"}
    bottom = MARGIN + below
    if title:
        page.text(width / 2.0, bottom + SIDE + above + 0.2, title, fontsize=13.0, va="top", **style)
    panel = MechanismPanel(scheme, scheme.poses[:1])
    notes = written(scheme, scheme.poses[0], labels=True, dimensions=False)
    panel.make_room(notes)
    panel.fit(page, (MARGIN, bottom, SIDE, SIDE))
    panel.draw(scheme.poses[0])
    panel.write(scheme.poses[0], notes, panel.room())
    for k, ((name, _, _, polygon), lines) in enumerate(zip(polygons, values, strict=True), start=1):
        left = MARGIN + k * (SIDE + GAP)
        page.text(left + SIDE / 2.0, bottom + SIDE + 0.2, name, fontsize=11.5, va="bottom", **style)
        _draw(page, polygon, scheme, (left, bottom), prime="'" * (k - 1))
        for row, line in enumerate(lines):
            page.text(left + SIDE / 2.0, bottom - 0.1 - LINE * (row + 0.5), line, fontsize=WORDS, va="center", **style)
    return page


def _values(letter: str, unit: str, polygon: RatePolygon) -> list[str]:
    """Return lines of text with the length of each vector."""
    words = [
        f"${letter}_{{{_bare(text)}}}$ = {np.linalg.norm(image):.4g} {unit}" for text, image in polygon.images.items()
    ]
    each = 2
    return ["    ".join(words[k : k + each]) for k in range(0, len(words), each)] or [""]


def _bare(text: str) -> str:
    """Return the name of a pin as a subscript: single letters unchanged, longer names upright."""
    return text.strip("$") if text.startswith("$") else rf"\mathrm{{{text}}}".replace("_", r"\_")


def _draw(page: Picture, polygon: RatePolygon, scheme: Scheme, corner: tuple[float, float], prime: str) -> None:
    """Draw a polygon into a square of the page: vectors from the pole, images of links, components of accelerations."""
    ways = [np.zeros((1, 2)), *(image[None] for image in polygon.images.values()), *(way for _, way in polygon.parts)]
    points = np.concatenate(ways)
    low, high = points.min(axis=0), points.max(axis=0)
    scale = 72.0 * 0.84 * SIDE / max(float((high - low).max()), 1e-300)
    middle = 72.0 * (np.array(corner) + SIDE / 2.0)

    def at(place: FloatArray) -> FloatArray:
        moved: FloatArray = (place - (low + high) / 2.0) * scale + middle
        return moved

    bodies = [body for body in dict.fromkeys(scheme.bodies) if body != WORLD]
    colors = {body: COLORS[k % len(COLORS)] for k, body in enumerate(bodies)}
    segments, least = [np.zeros((0, 2, 2))], STILL * float(np.abs(points).max()) * scale
    for body, way in polygon.sides:
        closed = np.concatenate([way, way[:1]]) if len(way) > 2 else way
        segments.append(_line(page, at(closed), color=colors[body], linewidth=1.6, zorder=4.0))
    for body, way in polygon.parts:
        for ends in (at(way[:2]), at(way[1:])):
            if np.linalg.norm(ends[1] - ends[0]) > least:
                segments.append(_arrow(page, ends, colors[body], 1.0, dashed=True))
    for image in polygon.images.values():
        ends = at(np.stack([np.zeros(2), image]))
        if np.linalg.norm(ends[1] - ends[0]) > least:
            segments.append(_arrow(page, ends, INK, 1.5))
    pole = at(np.zeros((1, 2)))
    page.add_artist(_dots(page, pole))
    labels = [Label(f"$o{prime}$", pole, clearance=6.5)]
    for text, image in polygon.images.items():
        name = f"${text.strip('$').lower()}{prime}$" if text.startswith("$") else f"{text}{prime}"
        labels.append(Label(name, at(image[None]), size=13.0 if text.startswith("$") else 11.0, clearance=6.0))
    low_corner = np.array(corner)
    room = 72.0 * np.concatenate([low_corner - OVER, low_corner + SIDE + OVER])
    write_labels(page, labels, np.concatenate(segments), room)


def _line(page: Picture, points: FloatArray, **style: Any) -> FloatArray:
    """Draw a line [points] and return its pieces (n, 2, 2)."""
    page.add_artist(Line2D(*(points.T / 72.0), transform=page.dpi_scale_trans, solid_capstyle="round", **style))
    return np.stack([points[:-1], points[1:]], axis=1)


def _arrow(page: Picture, ends: FloatArray, color: Any, width: float, *, dashed: bool = False) -> FloatArray:
    """Draw an arrow [points] and return its line (1, 2, 2)."""
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    length, half = min(HEAD[0], 0.6 * float(np.linalg.norm(ends[1] - ends[0]))), HEAD[1]
    side = half * np.array([-along[1], along[0]])
    base = ends[1] - length * along
    _line(page, np.stack([ends[0], base]), color=color, linewidth=width, zorder=5.0, linestyle="--" if dashed else "-")
    head = np.stack([base + side, ends[1], base - side])
    page.add_artist(Polygon(head / 72.0, color=color, linewidth=0.0, transform=page.dpi_scale_trans, zorder=5.1))
    return ends[None]


def _dots(page: Picture, places: FloatArray) -> Line2D:
    style: dict[str, Any] = {"marker": "o", "markersize": 6.0, "markerfacecolor": "white", "markeredgecolor": INK}
    return Line2D(*(places.T / 72.0), transform=page.dpi_scale_trans, linestyle="", zorder=8.0, **style)
