"""Dimensions of a mechanism in a pose: letters, lengths and angles, and their lines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ..errors import OptionError
from ..transforms import FloatArray
from .schemes import WORLD, Node, Scheme

PIN_LETTERS = "ABCDEFGHIJKLMNPQRSTUVWXYZ"  # without O, which names a fixed pivot
BAR_LETTERS = "abcdefghijkmnpqrtuvwxyz"  # without l and o; s is used for sliders
ARC, REFERENCE = 0.42, 0.62  # over the shortest bar: radius of an angle's arc, and length of its reference line
LEVEL = 30  # number of points of an arc


@dataclass(frozen=True, eq=False)
class Note:
    """A text, its possible positions on the page (n, 2), best first, and its kind: pin, point, link, length, angle."""

    text: str
    anchors: FloatArray
    kind: str


@dataclass(eq=False)
class Notes:
    """Texts and lines beside a mechanism.

    Attributes:
        notes: Texts with their positions.
        lines: Thin lines of angles and lengths, (n, 2) each.
        values: Values of the letters, such as ``"a = 0.15 m"``.
    """

    notes: list[Note] = field(default_factory=list)
    lines: list[FloatArray] = field(default_factory=list)
    values: list[str] = field(default_factory=list)


def letters(scheme: Scheme) -> dict[int, str]:
    """Return the text of each node: O and a link number for fixed pivots, A, B, C for pins, names for frames."""
    numbers, free = link_numbers(scheme), iter(_series(PIN_LETTERS))
    found: dict[int, str] = {}
    for k, node in enumerate(scheme.nodes):
        if node.kind == "point":
            found[k] = node.names[-1].replace("$", "")
        elif node.grounded:
            link = min((numbers[b] for b in node.places if b in numbers), default=1)
            text = f"$O_{{{link}}}$"
            found[k] = text if text not in found.values() else f"$O_{{{link}}}'$"
        else:
            found[k] = f"${next(free)}$"
    return found


def link_numbers(scheme: Scheme) -> dict[int, int]:
    """Return the number of each moving body, in order; the ground is 1."""
    moving = [body for body in dict.fromkeys(scheme.bodies) if body != WORLD]
    return {body: number for number, body in enumerate(moving, start=2)}


def _series(alphabet: str) -> list[str]:
    """Yield letters, then the same letters with subscripts 1, 2 and so on."""
    return [*alphabet, *(f"{letter}_{{{k}}}" for k in range(1, 40) for letter in alphabet)]


def written(scheme: Scheme, q: FloatArray, labels: bool | Mapping[str, str], dimensions: bool) -> Notes:
    """Return the texts and lines beside a mechanism in a pose.

    Args:
        scheme: The mechanism.
        q: The pose.
        labels: Whether to name pins and links; or texts by the names of joints, loops and frames.
        dimensions: Whether to write letters for lengths and angles, and their values.
    """
    notes = Notes([Note(text, scheme.at(node, q)[None], kind) for node, text, kind in named(scheme, labels)])
    if dimensions:
        _lengths(scheme, q, notes)
        _angles(scheme, q, notes)
    elif labels is True:
        numbers = link_numbers(scheme)
        for body, outline in scheme.bars():
            corners = scheme.displaced(outline, body, q)
            places = _along(corners) if len(corners) == 2 else corners.mean(axis=0)[None]
            notes.notes.append(Note(str(numbers[body]), places, "link"))
    return notes


def named(scheme: Scheme, labels: bool | Mapping[str, str]) -> list[tuple[Node, str, str]]:
    """Return pins and points with their texts and kinds: letters and names, or texts by names of joints and frames."""
    if isinstance(labels, Mapping):
        known = {name: node for node in scheme.nodes for name in node.names}
        for name in labels:
            if name not in known:
                raise OptionError(f"no pin or point {name!r} to label; there are {', '.join(map(repr, known))}.")
        return [(known[name], text, "pivot" if known[name].grounded else "pin") for name, text in labels.items()]
    found = []
    for k, text in letters(scheme).items() if labels else ():
        node = scheme.nodes[k]
        found.append((node, text, "pivot" if node.grounded else "point" if node.kind == "point" else "pin"))
    return found


def _along(ends: FloatArray) -> FloatArray:
    """Return candidate positions along a bar, the middle first."""
    return np.array([ends[0] + t * (ends[1] - ends[0]) for t in (0.5, 0.4, 0.6, 0.3, 0.7)])


def _lengths(scheme: Scheme, q: FloatArray, notes: Notes) -> None:
    """Write a letter beside every bar and side of a plate, then beside the distances of fixed pivots."""
    free = iter(_series(BAR_LETTERS))

    def give(ends: FloatArray) -> None:
        letter = next(free)
        notes.notes.append(Note(f"${letter}$", _along(ends), "length"))
        notes.values.append(f"${letter}$ = {np.linalg.norm(ends[1] - ends[0]):.4g} m")

    for body, outline in scheme.bars():
        corners = scheme.displaced(outline, body, q)
        sides = len(corners) if len(corners) > 2 else 1
        for k in range(sides):
            give(corners[[k, (k + 1) % len(corners)]])
    pivots = sorted((scheme.at(n, q) for n in scheme.nodes if n.grounded), key=lambda p: (p[0], p[1]))
    for first, second in pairwise(pivots):
        ends = np.stack([first, second])
        notes.lines.append(ends)
        give(ends)
    for k, slide in enumerate(scheme.slides, start=1):
        value = scheme.linkage.drive(slide.name).values(q)[0]
        letter = "s" if len(scheme.slides) == 1 else f"s_{{{k}}}"
        place = scheme.displaced(slide.place[None], slide.child, q)
        side = 2.6 * scheme.unit * np.array([slide.axis[1], -slide.axis[0]])
        notes.notes.append(Note(f"${letter}$", np.concatenate([place + side, place - side]), "length"))
        notes.values.append(f"${letter}$ = {value:.4g} m")


def _angles(scheme: Scheme, q: FloatArray, notes: Notes) -> None:
    """Draw the angle of every link at a fixed pivot, from the direction to the right."""
    numbers, bars = link_numbers(scheme), dict(scheme.bars())
    for node in scheme.nodes:
        for level, body in enumerate(b for b in node.places if node.grounded and b in bars):
            place = scheme.at(node, q)
            corners = scheme.displaced(bars[body], body, q)
            ways = corners - place
            way = ways[int(np.linalg.norm(ways, axis=1).argmax() if len(ways) == 2 else _next_corner(ways))]
            length, angle = float(np.hypot(*way)), math.atan2(way[1], way[0]) % (2.0 * math.pi)
            radius = max(2.2 * scheme.unit, (ARC + 0.15 * level) * min(length, 9.0 * scheme.unit))
            turn = np.linspace(0.0, angle, LEVEL)
            arc = place + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
            reference = place + np.array([[0.0, 0.0], [radius + 1.6 * scheme.unit, 0.0]])
            notes.lines += [reference, arc, *_arrow(arc, scheme.unit)]
            text = rf"$\theta_{{{numbers[body]}}}$"
            middle = place + (radius + 0.3 * scheme.unit) * np.array([math.cos(angle / 2.0), math.sin(angle / 2.0)])
            notes.notes.append(Note(text, np.stack([middle, arc[LEVEL // 3], arc[2 * LEVEL // 3]]), "angle"))
            notes.values.append(f"{text} = {math.degrees(angle):.1f}°")


def _next_corner(ways: FloatArray) -> int:
    """Return the nearest corner of a plate that is not the pivot itself."""
    far = np.linalg.norm(ways, axis=1)
    return int(np.where(far > 1e-9 * far.max(), far, np.inf).argmin())


def _arrow(arc: FloatArray, u: float) -> list[FloatArray]:
    """Return the two strokes of an arrow at the end of a line."""
    way = arc[-1] - arc[-2]
    size = float(np.linalg.norm(way))
    if size == 0.0:
        return []
    along = 0.8 * u * way / size
    side = 0.35 * np.array([-along[1], along[0]])
    return [np.stack([arc[-1] - along + side, arc[-1]]), np.stack([arc[-1] - along - side, arc[-1]])]
