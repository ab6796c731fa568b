"""An atlas of coupler curves: thousands of four-bars with a turning crank, to find curves similar to a path.

Curves are compared by shape, independent of position, size, orientation and starting point. Closed curves are compared
by one product of Fourier descriptors; open paths are compared with arcs of the curves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ...transforms import FloatArray
from .closed_form import ComplexArray, place
from .four_bars import TURN

CURVES, SAMPLES, SEED = 3000, 96, 1955
POOR = np.sin(np.radians(12.0)) ** 2  # squared sine of the smallest transmission angle of a four-bar in the atlas
ARCS, EVERY, KNOTS = (10, 16, 24, 34, 48, 64, 80, 95), 4, 12
PHASES = 18


@dataclass(frozen=True)
class Atlas:
    """Four-bars: rows (n, 9), sides (n,); their curves at equal steps of length (n, 96), and crank angles there."""

    rows: FloatArray
    side: FloatArray
    curves: ComplexArray
    angles: FloatArray
    descriptors: ComplexArray


@dataclass(frozen=True)
class Match:
    """The atlas fitted to a path: similarity of each entry (1 is equal), and angles of its crank at the points."""

    likeness: FloatArray
    angles: FloatArray


@cache
def atlas() -> Atlas:
    """Return the atlas; it is made once, in a tenth of a second."""
    rng = np.random.default_rng(SEED)
    lengths = np.exp(rng.uniform(np.log(0.4), np.log(4.0), (20 * CURVES, 4)))
    ground, crank, coupler, rocker = lengths.T
    turns = (np.abs(ground - crank) > np.abs(coupler - rocker)) & (ground + crank < coupler + rocker)
    lengths = lengths[turns]
    ground, crank, coupler, rocker = lengths.T
    ends = np.stack([np.abs(ground - crank), ground + crank])
    cosine = (coupler**2 + rocker**2 - ends**2) / (2.0 * coupler * rocker)
    lengths = lengths[(1.0 - cosine**2 > POOR).all(axis=0)][:CURVES]
    count = len(lengths)
    point = lengths[:, 2:3] * np.stack([rng.uniform(-1.0, 2.0, count), rng.uniform(-1.5, 1.5, count)], axis=1)
    zero = np.zeros((count, 1))
    rows = np.concatenate([zero, zero, lengths[:, :1], zero, lengths[:, 1:], point], axis=1)
    side = rng.choice([-1.0, 1.0], count)
    angles = np.linspace(0.0, TURN, 2 * SAMPLES + 1)
    curves = place(rows, side, np.broadcast_to(angles, (count, len(angles)))).point
    even = np.array([evenly(curve, SAMPLES, closed=True) for curve in curves])
    at = np.array([np.interp(knots, np.arange(len(angles)), angles) for knots in even])
    curves = place(rows, side, at).point
    return Atlas(rows, side, curves, at, np.fft.fft(shape_of(curves), axis=-1))


def evenly(curve: ComplexArray, count: int, *, closed: bool) -> FloatArray:
    """Return positions at equal steps along a curve, as sample indices; those of a closed curve without its end."""
    length = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(curve)))])
    wanted = np.linspace(0.0, length[-1], count, endpoint=not closed)
    return np.interp(wanted, length, np.arange(len(curve)))


def shape_of(curves: ComplexArray) -> ComplexArray:
    """Return curves centred on their mean, with size one."""
    centred = curves - curves.mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.maximum(np.linalg.norm(centred, axis=-1, keepdims=True), 1e-300))


def along(points: ComplexArray, count: int, *, closed: bool) -> tuple[ComplexArray, FloatArray]:
    """Return a path at equal steps of its length, and the positions of its points, in steps."""
    whole = np.append(points, points[:1]) if closed else points
    knots = evenly(whole, count, closed=closed)
    index = np.arange(len(whole))
    even = np.interp(knots, index, whole.real) + 1j * np.interp(knots, index, whole.imag)
    length = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(whole)))])
    steps = count if closed else count - 1
    return even, length[: len(points)] / length[-1] * steps


def closed_matches(points: ComplexArray) -> list[Match]:
    """Return the atlas fitted to a closed path, in both directions."""
    book, found = atlas(), []
    even, where = along(points, SAMPLES, closed=True)
    for forward in (True, False):
        path = even if forward else even[-np.arange(SAMPLES)]
        product = np.fft.ifft(np.fft.fft(shape_of(path)) * np.conj(book.descriptors), axis=-1)
        shift = np.abs(product).argmax(axis=1)
        knots = (where if forward else -where)[None] - shift[:, None]
        found.append(Match(np.abs(product).max(axis=1), _angles(knots)))
    return found


def open_matches(points: ComplexArray) -> list[Match]:
    """Return arcs of the atlas fitted to an open path, in both directions."""
    book, found = atlas(), []
    even, where = along(points, KNOTS, closed=False)
    path = np.conj(shape_of(even))
    begin = np.arange(0, SAMPLES, EVERY)
    for arc in ARCS:
        for way in (1, -1):
            knots = begin[:, None] + way * np.round(np.linspace(0.0, arc, KNOTS)).astype(int)
            pieces = shape_of(book.curves[:, knots % SAMPLES])
            likeness = np.abs(pieces @ path)
            places = begin[likeness.argmax(axis=1), None] + way * arc * where[None] / (KNOTS - 1)
            found.append(Match(likeness.max(axis=1), _angles(places)))
    return found


def timed_matches(points: ComplexArray, timing: FloatArray) -> list[Match]:
    """Return the atlas fitted to a path with given crank angles, for start angles over a full turn."""
    book, found = atlas(), []
    path = np.conj(shape_of(points))
    for phase in np.linspace(0.0, TURN, PHASES, endpoint=False):
        angles = np.broadcast_to(timing + phase, (len(book.rows), len(timing)))
        likeness = np.abs(shape_of(place(book.rows, book.side, angles).point) @ path)
        found.append(Match(likeness, angles))
    return found


def _angles(knots: FloatArray) -> FloatArray:
    """Return crank angles at positions along all curves of the atlas, interpolated linearly between its samples."""
    entry = np.arange(len(knots))[:, None]
    low = np.floor(knots).astype(int)
    share = knots - low
    first = atlas().angles[entry, low % SAMPLES]
    second = atlas().angles[entry, (low + 1) % SAMPLES]
    return np.asarray(first + share * ((second - first) % TURN))
