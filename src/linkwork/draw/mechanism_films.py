"""A mechanism in motion as a page for the browser: the textbook's drawing, its trails, and curves of its rates below.

The result is one file. Each body is drawn once, and the page moves the bodies; curves are drawn here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ..errors import GoalError
from ..explain.singular_positions import singular_positions
from ..motion.clips import Clip
from ..motion.drive import drive_rates
from ..motion.drive_table import drive_table, ground_joint, turns_alike
from ..transforms import FloatArray
from .curves import Curves, Series
from .dimensions import named
from .mechanism_panels import COLORS, MARK, ORDER, SIZES, TRAILS, WIDE, MechanismPanel, mechanism_page
from .moving_polygons import moving_polygons
from .player import filled_page
from .schemes import WORLD, Node, Piece

SCALE = 96.0  # units of the drawing per inch
HIGHEST = 6.4  # height of a square drawing [inch]
DIGITS = 3
LETTER = re.compile(r"^\$(.+?)(?:_\{(.+)\})?('?)\$$")


def mechanism_film(
    clip: Clip,
    panel: MechanismPanel,
    trails: Sequence[str],
    labels: bool | Mapping[str, str],
    *,
    title: str | None,
    driver: str | None,
    driven: str | None = None,
) -> str:
    """Return the page of a clip.

    Args:
        clip: The motion.
        panel: The panel of its mechanism with trails and marks, for all poses of the clip; not drawn yet.
        trails: The frames of the trails.
        labels: As in `linkwork.draw.mechanism`.
        title: Title above the picture; the linkage's name by default.
        driver: The input joint, to show rates, transmission angle and dead centres.
        driven: The output joint; by default the first other joint on the ground.
    """
    stage = _Stage(panel, named(panel.scheme, labels), clip.poses)
    curves, centres, marks = _rates(clip, driver, driven) if driver else ([], [], [])
    polygons = moving_polygons(panel.scheme, drive_rates(clip, driver), stage.colors) if driver else []
    film = {
        "times": np.round(clip.times - clip.times[0], 4).tolist(),
        "tracks": stage.tracks(),
        "pins": stage.pins(),
        "trails": [stage.points(trail.points) for trail in panel.trails],
        "series": [series for chart in curves for series in chart.plain()],
        "polygons": [polygon.plain() for polygon in polygons],
        "left": Curves.LEFT,
        "right": Curves.RIGHT,
        "driver": driver,
        "values": _values(clip, driver) if driver else [],
    }
    name = title or clip.linkage.name
    note = f"{clip.linkage.name}: {len(clip)} frames, {clip.duration:.4g} s"
    first = [sum(len(chart.series) for chart in curves[:k]) for k in range(len(curves))]
    words = {
        "title": escape(name),
        "note": escape(note + (f", driven by {driver}" if driver else "")),
        "drawing": stage.drawing(trails, name),
        "last": str(len(clip) - 1),
        "marks": "".join(f'<i style="left:{100.0 * at:.2f}%" title="{escape(text)}"></i>' for at, text in marks),
        "centres": f'<p class="centres">{"<br>".join(centres)}</p>' if centres else "",
        "charts": "".join(chart.drawn(k, [at for at, _ in marks]) for k, chart in zip(first, curves, strict=True)),
        "polygons": "".join(polygon.drawn(k) for k, polygon in enumerate(polygons)),
        "film": json.dumps(film, separators=(",", ":")).replace("</", "<\\/"),
    }
    return filled_page("mechanism.html", words)


class _Stage:
    """The drawing: pieces grouped by body, in units of the page, y down."""

    def __init__(self, panel: MechanismPanel, names: Sequence[tuple[Node, str, str]], poses: FloatArray) -> None:
        self.panel, self.scheme, self.names, self.poses = panel, panel.scheme, names, poses
        self.page = mechanism_page(panel, HIGHEST, (), None)
        panel.draw(poses[0])
        self.offsets = panel.carry(names, poses)
        self.size = self.page.get_figwidth() * SCALE, self.page.get_figheight() * SCALE
        moving = [body for body in dict.fromkeys(self.scheme.bodies) if body != WORLD]
        self.order = {body: k for k, body in enumerate(moving)}
        self.colors = {body: COLORS[k % len(COLORS)] for k, body in enumerate(moving)}

    def at(self, points: FloatArray) -> FloatArray:
        """Return the positions on the page of points of the plane (n, 2)."""
        place = self.panel.on_page(points) / 72.0 * SCALE
        return np.asarray(np.stack([place[..., 0], self.size[1] - place[..., 1]], axis=-1))

    def points(self, points: FloatArray) -> list[str]:
        return [f"{x:.{DIGITS}f},{y:.{DIGITS}f}" for x, y in self.at(points)]

    def tracks(self) -> list[list[float]]:
        """Return the rotation (cosine, sine) and translation of every body on the page, frame by frame."""
        origin = self.at(np.zeros((1, 2)))[0]
        found = []
        for body in self.order:
            numbers: list[float] = []
            for q in self.poses:
                turn, shift = self.scheme.displacement(body, q)
                c, s = float(turn[0, 0]), float(turn[1, 0])
                moved = self.at(shift[None])[0]  # translation about the world's origin, which is elsewhere on the page
                x, y = moved - (c * origin[0] + s * origin[1], -s * origin[0] + c * origin[1])
                numbers += [round(c, 6), round(s, 6), round(float(x), DIGITS), round(float(y), DIGITS)]
            found.append(numbers)
        return found

    def pins(self) -> list[dict[str, Any]]:
        """Return, for every name, its body, its position on the body, and the offset of its text."""
        found = []
        for (node, *_), offset in zip(self.names, self.offsets, strict=True):
            body = min(node.places)
            place = self.at(node.places[body][None])[0].round(DIGITS).tolist()
            away = [round(offset[0] / 72.0 * SCALE, 2), round(-offset[1] / 72.0 * SCALE, 2)]
            found.append({"body": -1 if body == WORLD else self.order[body], "place": place, "offset": away})
        return found

    def drawing(self, trails: Sequence[str], name: str) -> str:
        width, height = self.size
        parts = [f'<svg class="drawing" viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(name)}">']
        unit = self.panel.scheme.unit
        layers: list[tuple[float, str]] = []
        for k, (frame, trail) in enumerate(zip(trails, self.panel.trails, strict=True)):
            color, path = TRAILS[k % len(TRAILS)], " ".join(self.points(trail.points))
            strokes = "".join("M" + " L".join(self.points(stroke)) for stroke in trail.strokes(unit))
            faint = f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2" opacity=".35"/>'
            ticks = f'<path d="{strokes}" fill="none" stroke="{color}" stroke-width="1.2" opacity=".6"/>'
            pen = f'<polyline data-pen="{k}" fill="none" stroke="{color}" stroke-width="2.6"/>'
            layers.append((5.7, f"<g><title>{escape(frame)}</title>{faint}{ticks}{pen}</g>"))
        for piece in self.scheme.pieces:
            drawn, order = self._piece(piece)
            group = "<g>" if piece.body == WORLD else f'<g data-body="{self.order[piece.body]}">'
            layers.append((order, f"{group}{drawn}</g>"))
        for outline, stroke in self.panel.diamonds():
            line = f'<polyline points="{" ".join(self.points(stroke))}" fill="none"/>' if len(stroke) else ""
            diamond = f'<polygon class="mark" points="{" ".join(self.points(outline))}"/>'
            layers.append((7.5, f'<g stroke="{MARK}" stroke-width="2">{line}{diamond}</g>'))
        parts += [part for _, part in sorted(layers, key=lambda layer: layer[0])]
        for k, (_, text, kind) in enumerate(self.names):
            parts.append(f'<text data-pin="{k}" font-size="{SIZES[kind] / 72.0 * SCALE:.1f}">{svg_letter(text)}</text>')
        return "".join([*parts, "</svg>"])

    def _piece(self, piece: Piece) -> tuple[str, float]:
        """Return a piece as SVG, and its drawing order."""
        color = self.colors.get(piece.body) if piece.layer in ("links", "blocks", "outlines") else None
        order, wide = ORDER[piece.layer], WIDE[piece.layer] / 72.0 * SCALE
        if piece.radius:
            (x, y), radius = self.at(piece.points)[0], piece.radius * self.panel.scale * SCALE
            look = "dot" if piece.layer == "points" else "paper"
            return (
                f'<circle class="{look}" cx="{x:.2f}" cy="{y:.2f}" r="{radius:.2f}" stroke-width="{wide:.1f}"/>',
                order,
            )
        path = " ".join(self.points(piece.points))
        if piece.closed and color is not None:
            wide = 2.0 / 72.0 * SCALE if piece.layer == "links" else wide
            back = 0.5 if piece.layer == "links" else 0.0  # plates are below bars
            shape = (
                f'<polygon class="plate" points="{path}" fill="{color}" stroke="{color}" stroke-width="{wide:.1f}"/>'
            )
            return shape, order - back
        if piece.closed:
            return f'<polygon class="paper" points="{path}" stroke-width="{wide:.1f}"/>', order
        look = 'class="ink"' if color is None else f'fill="none" stroke="{color}"'
        return f'<polyline {look} points="{path}" stroke-width="{wide:.1f}"/>', order


def svg_letter(text: str) -> str:
    """Return a letter in textbook style, such as ``$O_{2}$``, or a name, as SVG.

    Example:
        >>> svg_letter("$A$")
        '<tspan font-style="italic">A</tspan>'
    """
    found = LETTER.match(text)
    if not found:
        return escape(text)
    letter, below, prime = found.groups()
    index = "" if below is None else f'<tspan font-size="70%" dy=".35em">{escape(below)}</tspan>'
    return f'<tspan font-style="italic">{escape(letter)}</tspan>{index}{prime}'


def _values(clip: Clip, driver: str) -> list[str]:
    """Return the values of the driving joint as texts."""
    row = clip.linkage.table[clip.linkage.coordinates.index(driver)]
    values = clip.poses[:, row.q]
    return [f"{math.degrees(v):.1f}°" for v in values] if row.unit == "rad" else [f"{v:.4g} m" for v in values]


def _rates(clip: Clip, driver: str, driven: str | None) -> tuple[list[Curves], list[str], list[tuple[float, str]]]:
    """Return curves of rates, sentences on dead centres, and the fractions of the film at which these are passed."""
    linkage, output = clip.linkage, driven or ground_joint(clip.linkage, driver)
    table = drive_table(clip, driver, output=output)
    curves = []
    for what, mark in (("velocity", ""), ("acceleration", "²")):
        for unit in ("rad", "m"):
            rows = [row for row in linkage.table if row.v is not None and row.unit == unit]
            series = [
                Series(row.name, table[f"{row.name}.{what}"], COLORS[k % len(COLORS)])
                for k, row in enumerate(linkage.table)
                if row in rows
            ]
            if series:
                many = "velocities" if what == "velocity" else "accelerations"
                curves.append(Curves(f"{many.capitalize()} [{unit}/s{mark}]", series))
    if "transmission_angle" in table:
        angle = np.degrees(table["transmission_angle"])
        curves.append(Curves(f"Transmission angle at {output} [°]", [Series(str(output), angle, COLORS[0])], low=0.0))
    return curves, *_dead_centres(clip, driver, output)


def _dead_centres(clip: Clip, driver: str, output: str | None) -> tuple[list[str], list[tuple[float, str]]]:
    """Return sentences on singular positions of the driver and the driven joint, and their fractions of the film."""
    linkage = clip.linkage
    row = linkage.table[linkage.coordinates.index(driver)]
    values = clip.poses[:, row.q]
    period = math.tau if turns_alike(linkage, driver) else math.inf
    sentences, marks = [], []
    for name in (driver, output):
        if name is None:
            continue
        try:
            found = list(singular_positions(linkage, name, start=clip.poses[0]))
        except GoalError as error:  # with more degrees of freedom, singular positions also depend on the other drivers
            sentences.append(escape(str(error)))
            continue
        places = []
        for one in found:
            at = float(one.q[row.q])
            value = math.remainder(at, period) if math.isfinite(period) else at
            shown = f"{round(math.degrees(value), 2) + 0.0:.2f}°" if row.unit == "rad" else f"{value:.5g} m"
            places.append(f"{one.kind} at {driver} = {shown}")
            marks += [(share, f"{name}: {places[-1]}") for share in passed(values, at, period)]
        sentences.append(
            f"Singular positions of <b>{escape(name)}</b>: {escape(', '.join(dict.fromkeys(places))) or 'none'}"
        )
    return sentences, marks


def passed(values: FloatArray, at: float, period: float) -> list[float]:
    """Return the fractions of a film at which a joint passes a value, or one that differs by whole periods.

    Example:
        >>> passed(np.array([0.0, 1.0, 2.0]), 1.5, math.inf)
        [0.75]
    """
    low, high = float(values.min()), float(values.max())
    turns = [0] if math.isinf(period) else range(math.ceil((low - at) / period), math.floor((high - at) / period) + 1)
    found: list[float] = []
    for turn in turns:
        wanted = at if math.isinf(period) else at + turn * period
        away = values - wanted
        for k in np.flatnonzero(away[:-1] * away[1:] <= 0.0):
            step = float(away[k] - away[k + 1])
            share = (k + (float(away[k]) / step if step else 0.0)) / (len(values) - 1)
            if not found or abs(share - found[-1]) > 1e-9:
                found.append(float(share))
    return found
