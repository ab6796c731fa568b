"""All roots of a self-reciprocal polynomial at once, in parallel lanes (Ehrlich-Aberth iteration).

A real trigonometric polynomial ``sum C_k e^(i k q)``, ``C_-k`` the conjugate of ``C_k``, is a polynomial in
``z = e^(i q)``: its real zeros are the roots on the unit circle, the others come in pairs z, 1 / conj(z).
"""

from __future__ import annotations

import math

from .. import inner, part
from ..lanes import bits, load, select, store
from .general_memory import MOST, WIDTH

LAST = 60  # largest number of steps; about ten are usual
STILL = 1.0e-28  # squared length of a step, relative to the root, that counts as zero
SMALL, SHRINKS = 1.0e-10, 0.04  # a step that is small and not shorter than the last by this factor is rounding
GROUPS = MOST // WIDTH
HIGHEST = 8


@part
def put_first_roots(flat_roots, count):
    """Write start values: near the unit circle, and not symmetric to it, since symmetry would persist."""
    for k in range(MOST):
        angle = 2.0 * math.pi * (k + 0.35) / count
        radius = 1.0 + (0.21 if k % 2 else -0.17)
        flat_roots[k], flat_roots[MOST + k] = radius * math.cos(angle), radius * math.sin(angle)


@inner
def newton(coefficients, degree, x, y):
    """Return P and P' of the polynomial by Horner's rule, as real and imaginary parts."""
    a, b = coefficients[degree] + 0.0 * x, coefficients[HIGHEST + degree] + 0.0 * x
    da, db = 0.0 * x, 0.0 * x
    for k in range(1, 2 * degree + 1):
        power = degree - k
        da, db = da * x - db * y + a, da * y + db * x + b
        a, b = a * x - b * y, a * y + b * x
        if power > 0:
            a, b = a + coefficients[power], b + coefficients[HIGHEST + power]
        elif power < 0:
            a, b = a + coefficients[-power], b - coefficients[HIGHEST - power]
        else:
            a = a + coefficients[0]
    return a, b, da, db


@inner
def pull(roots, flat_roots, count, g):
    """Return the sum of ``1 / (z - other)`` over all other roots."""
    x, y = load(roots, g), load(roots, GROUPS + g)
    px, py = 0.0 * x, 0.0 * x
    for j in range(count):
        dx, dy = x - flat_roots[j], y - flat_roots[MOST + j]
        square = dx * dx + dy * dy
        share = select(square > 0.0, 1.0 / select(square > 0.0, square, 1.0), 0.0)
        px, py = px + dx * share, py - dy * share
    return px, py


@part
def put_roots(coefficients, degree, roots, flat_roots):
    """Write all roots, real and imaginary parts, and their last steps; return the number of steps, LAST if too few.

    Each root takes Newton's step for the polynomial divided by the other roots' factors: ``P / (P' - P sum)``.
    """
    count = 2 * degree
    put_first_roots(flat_roots, count)
    groups = (count + WIDTH - 1) // WIDTH
    for g in range(groups):
        store(roots, 2 * GROUPS + g, 1.0)
    for step in range(LAST):
        moving = 0
        for g in range(groups):
            x, y = load(roots, g), load(roots, GROUPS + g)
            a, b, da, db = newton(coefficients, degree, x, y)
            px, py = pull(roots, flat_roots, count, g)
            da, db = da - (a * px - b * py), db - (a * py + b * px)
            square = da * da + db * db
            share = select(square > 0.0, 1.0 / select(square > 0.0, square, 1.0), 0.0)
            mx, my = (a * da + b * db) * share, (b * da - a * db) * share
            store(roots, g, x - mx)
            store(roots, GROUPS + g, y - my)
            share = (mx * mx + my * my) / (x * x + y * y)
            before = load(roots, 2 * GROUPS + g)
            store(roots, 2 * GROUPS + g, share)
            moved = bits((share > STILL) & ((share > SMALL) | (share < SHRINKS * before)))
            if g == groups - 1 and count % WIDTH:
                moved &= (1 << (count % WIDTH)) - 1
            moving |= moved
        if moving == 0:
            return step + 1
    return LAST
