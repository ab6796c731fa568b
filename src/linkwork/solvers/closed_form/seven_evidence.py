"""Texts on why a goal of an arm of seven joints has no pose: it is out of reach at every angle, or beyond a limit."""

from __future__ import annotations

import math

import numpy as np

from ...transforms import FloatArray
from .recognition import in_words
from .seven import TURN, Seven
from .tracing import Tracer, Whole

ANGLES = 720  # number of angles of the held joint that are tried
ROUNDS, PARTS = 4, 16  # rounds, and parts per round, of the search for the pose that violates limits least


def why_no_pose(form: Seven, target: FloatArray, names: tuple[str, ...]) -> str:
    """Return a text on the part that is out of reach at every angle of the held joint, and by how much at the best."""
    angles = np.arange(ANGLES) * TURN / ANGLES
    distance, (low, high) = form.distances(target, angles), form.reach
    held, a, b = (names[form.order[k]] for k in range(3))
    what = "shoulder" if form.backwards else "wrist"
    far, near = float(distance.min()) - high, low - float(distance.max())
    if max(far, near) > 0.0:
        side = "too far from" if far > near else "too near to"
        missed = in_words(max(far, near))
        return f"the {what} is {missed} {side} where the axes of {a} and {b} meet, whatever the angle of {held} may be"
    u, v, square = form.discriminants(target, angles)
    real = square >= 0.0
    rooms = np.abs(v[real]) * np.sqrt(square[real]) + u[real]
    missed = in_words(math.sqrt(max(-float(rooms.max(initial=-np.inf)), 0.0)))
    return f"{a} and {b} cannot bring the {what} to its place, whatever the angle of {held}: they miss it by {missed}"


def why_beyond_limits(tracer: Tracer, wholes: list[Whole], names: tuple[str, ...]) -> str:
    """Return a text on the pose that violates limits least, and by how much."""
    best = [beyond(tracer, whole.pieces.values).max(axis=(1, 2)) for whole in wholes]
    whole = wholes[int(np.argmin([one.min() for one in best]))]
    along = whole.pieces.along
    k = int(np.argmin(beyond(tracer, whole.pieces.values).max(axis=(1, 2))))
    begin, end = along[max(k - 1, 0)], along[min(k + 1, len(along) - 1)]
    for _ in range(ROUNDS):
        places = np.linspace(begin, end, PARTS + 1)
        broken = beyond(tracer, tracer.exact(whole.pieces, places))
        k = int(np.argmin(broken.max(axis=(1, 2))))
        begin, end = places[max(k - 1, 0)], places[min(k + 1, PARTS)]
    side, joint = np.unravel_index(int(np.argmax(broken[k])), broken[k].shape)
    most = float(broken[k].max())
    sliding = tracer.prepared.chain.sliding[joint]
    amount = in_words(most * tracer.scales[joint]) if sliding else f"{math.degrees(most):.3g}°"
    which = ("lower", "upper")[int(side)]
    return f"every pose breaks a limit; the nearest has {names[joint]} {amount} beyond its {which} one"


def beyond(tracer: Tracer, values: FloatArray) -> FloatArray:
    """Return how far values (m, n) are below lower and above upper limits, in `scales`, shape (m, 2, n)."""
    limited = tracer.turning & np.isfinite(tracer.lower) & np.isfinite(tracer.upper)
    middle = 0.5 * np.where(limited, tracer.lower, 0.0) + 0.5 * np.where(limited, tracer.upper, 0.0)
    values = values + TURN * np.where(limited, np.rint((middle - values) / TURN), 0.0)
    return np.stack([(tracer.lower - values) / tracer.scales, (values - tracer.upper) / tracer.scales], axis=1)
