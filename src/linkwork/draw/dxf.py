"""Write a mechanism as a DXF drawing (release 12, which every CAD program reads): lines and circles [m], by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..transforms import FloatArray
from .dimensions import Notes
from .parts import IntArray
from .schemes import Scheme

LAYERS = {
    "ground": 8,
    "guides": 8,
    "outlines": 5,
    "links": 5,
    "blocks": 5,
    "pins": 7,
    "points": 1,
    "trails": 1,
    "notes": 3,
}  # colour numbers of DXF
LETTERS = 1.4  # height of letters, in units of the symbols
GREEK = {r"\theta": "theta"}


def drawing(scheme: Scheme, q: FloatArray, notes: Notes, trails: Sequence[tuple[FloatArray, IntArray]] = ()) -> str:
    """Return the text of a DXF file.

    Args:
        scheme: The mechanism.
        q: Its pose.
        notes: Its labels and dimensions.
        trails: Points (n, 2) of paths, and indices of those with a tick, drawn as points.
    """
    entities: list[str] = []
    for piece in scheme.pieces:
        points = scheme.displaced(piece.points, piece.body, q)
        if piece.radius:
            entities += _entity("CIRCLE", piece.layer, _at(10, points[0]), (40, piece.radius))
        else:
            entities += _lines(np.concatenate([points, points[:1]]) if piece.closed else points, piece.layer)
    for path, ticks in trails:
        entities += _lines(path, "trails")
        for k in ticks.tolist():
            entities += _entity("POINT", "trails", _at(10, path[k]))
    for line in notes.lines:
        entities += _lines(line, "notes")
    for note in notes.notes:
        place = note.anchors[0] + scheme.unit * np.array([0.9, 0.9])
        height = LETTERS * scheme.unit
        entities += _entity("TEXT", "notes", _at(10, place), (40, height), (1, plain(note.text)))
    low, high = scheme.extent(q[None])
    header = [*_pair(9, "$ACADVER"), *_pair(1, "AC1009"), *_pair(9, "$EXTMIN"), *_at(10, low)]
    header += [*_pair(9, "$EXTMAX"), *_at(10, high)]
    return "\n".join([*_section("HEADER", header), *_section("TABLES", _layers()), *_section("ENTITIES", entities),
                      *_pair(0, "EOF"), ""])  # fmt: skip


def plain(text: str) -> str:
    r"""Return a label without mathtext, in letters that every DXF reader has.

    Example:
        >>> plain("$O_{2}$"), plain(r"$\theta_{4}$ = 30°")
        ('O2', 'theta4 = 30%%d')
    """
    for sign, word in GREEK.items():
        text = text.replace(sign, word)
    text = "".join(c for c in text if c not in "${}_\\\r\n").replace("°", "%%d")
    return text.encode("ascii", "replace").decode()


def _pair(code: int, value: Any) -> Iterator[str]:
    yield str(code)
    yield f"{value:.12g}" if isinstance(value, float) else str(value)


def _at(code: int, point: FloatArray) -> list[str]:
    """Return the lines of a point of the plane; the codes of x, y and z are ten apart."""
    values = (float(point[0]), float(point[1]), 0.0)
    return [text for k, value in enumerate(values) for text in _pair(code + 10 * k, value)]


def _entity(kind: str, layer: str, *parts: Any) -> list[str]:
    lines = [*_pair(0, kind), *_pair(8, layer.upper())]
    for part in parts:
        lines += part if isinstance(part, list) else list(_pair(*part))
    return lines


def _lines(points: FloatArray, layer: str) -> list[str]:
    """Return one LINE from each point to the next; coincident points are skipped."""
    found: list[str] = []
    for first, second in pairwise(points):
        if (first != second).any():
            found += _entity("LINE", layer, _at(10, first), _at(11, second))
    return found


def _section(name: str, lines: list[str]) -> list[str]:
    return [*_pair(0, "SECTION"), *_pair(2, name), *lines, *_pair(0, "ENDSEC")]


def _layers() -> list[str]:
    lines = [*_pair(0, "TABLE"), *_pair(2, "LAYER"), *_pair(70, len(LAYERS))]
    for name, color in LAYERS.items():
        lines += [
            *_pair(0, "LAYER"),
            *_pair(2, name.upper()),
            *_pair(70, 0),
            *_pair(62, color),
            *_pair(6, "CONTINUOUS"),
        ]
    return [*lines, *_pair(0, "ENDTAB")]
