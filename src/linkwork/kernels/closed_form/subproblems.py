"""The subproblems that closed forms are made of: one joint, one condition on a point.

Paden and Kahan's subproblem 1 turns one point into another (`aligned`). Their third, a point at a distance from
another, and the fourth of Elias and Wen, a point at a height over a plane, are one equation each, ``a cos + b sin =
c``, with two roots (`brought`); the second, two axes that meet, is a height, then an alignment. A slide has the same
conditions.

Every root is chosen by a sign. It comes with how far it is from being there (the miss) and with whether the two roots
are one. Where they are not real, the joint comes as close as it can.
"""

from __future__ import annotations

from .. import inner
from ..lanes import fabs, select, sqrt
from ..rotations import cross, dot, minus, plus, times
from .form_layout import CLOSE, DISTINCT, DOUBLE, FREE, SINGLE

FOLD = 1.0e-12  # roots are one where their half distance, squared, is less: within a millionth of a radian
NEARLY = 1.0e-8  # ... and close where it is less than this
NOTHING = 1.0e-24  # of a squared length: what is left where directions cancel


@inner
def turned(h, pair, v):
    """Return a vector turned about a unit vector: Rodrigues' formula."""
    cosine, sine = pair
    return plus(plus(times(cosine, v), times(sine, cross(h, v))), times((1.0 - cosine) * dot(h, v), h))


@inner
def turned_back(h, pair, v):
    """Return a vector turned the other way."""
    return turned(h, (pair[0], -pair[1]), v)


@inner
def moved(slides, h, c, pair, x):
    """Return a point moved by a joint: turned about its line, or carried along."""
    if slides:
        return plus(x, times(pair[0], h))
    return plus(turned(h, pair, minus(x, c)), c)


@inner
def moved_back(slides, h, c, pair, x):
    """Return a point moved by a joint the other way."""
    if slides:
        return minus(x, times(pair[0], h))
    return plus(turned_back(h, pair, minus(x, c)), c)


@inner
def sameness(rest, square):
    """Return whether two roots, at the sine ``sqrt(rest / square)`` to either side of their middle, are one."""
    return select(rest <= FOLD * square, DOUBLE, select(rest <= NEARLY * square, CLOSE, DISTINCT))


@inner
def root(a, b, c, rest, sign, least, floor):
    """Return the pair with ``a cos + b sin = c``, its miss and whether the roots are one; rest is a² + b² - c².

    The pair (a, b) turned to either side by the angle whose cosine is c over its length, and whose squared sine is no
    less than `floor`. Where the length is less than `least`, squared, every angle serves.
    """
    square = a * a + b * b
    size = sqrt(square)
    free, low = square <= least, floor * square
    real = rest > low
    d = sign * sqrt(select(real, rest, low))
    end = size * sqrt(1.0 - floor)
    nearest = select(real, c, select(c < 0.0, -end, end))
    over = 1.0 / select(free, 1.0, square)
    pair = select(free, 1.0, (a * nearest - b * d) * over), select(free, 0.0, (b * nearest + a * d) * over)
    return pair, fabs(c) - size, select(free, FREE, sameness(rest, square))


@inner
def aligned(h, x, y, least):
    """Return the pair that turns a vector x about h into y, and whether it is free (subproblem 1).

    Only what stands at right angles to h counts. Where that is less than `least`, squared, every angle serves.
    """
    u, v = minus(x, times(dot(h, x), h)), minus(y, times(dot(h, y), h))
    cosine, sine = dot(u, v), dot(h, cross(u, v))
    size = sqrt(cosine * cosine + sine * sine)
    free = size <= least
    over = 1.0 / select(free, 1.0, size)
    return (select(free, 1.0, cosine * over), select(free, 0.0, sine * over)), free


@inner
def turned_onto(sphere, h, c, anchor, x, z, sign, scale, floor):
    """Return the turn that brings x onto the plane, or sphere, about an anchor that goes through z: `root`'s results.

    With w the way from the axis to x: a plane with normal n asks for ``n · R w = n · (z - c)``; a sphere about o for
    ``(c - o) · R w = (|z - o|² - |w|² - |c - o|²) / 2``. The miss is a length. Lengths are compared with `scale`, a
    squared one.
    """
    w = minus(x, c)
    if sphere:
        n, far = minus(c, anchor), minus(z, anchor)
        level = 0.5 * (dot(far, far) - dot(w, w) - dot(n, n))
    else:
        n, far = anchor, z
        level = dot(n, minus(z, c))
    leaning, high = dot(n, h), dot(h, w)
    a, b, level = dot(n, w) - leaning * high, dot(n, cross(h, w)), level - leaning * high
    size = sqrt(a * a + b * b)
    rest = (size - fabs(level)) * (size + fabs(level))
    pair, miss, same = root(a, b, level, rest, sign, NOTHING * dot(n, n) * scale, floor)
    if sphere:  # from half the difference of squares to a length: positive outside, negative where it is too near
        square = dot(far, far)
        reached = square - 2.0 * select(level < 0.0, -miss, miss)
        over = sqrt(square) + sqrt(select(reached > 0.0, reached, 0.0))
        miss = 2.0 * miss / select(over > 0.0, over, 1.0)
    return pair, miss, same


@inner
def slid_onto(sphere, h, anchor, x, z, sign, floor):
    """Return the travel that brings x onto the plane, or sphere, about an anchor that goes through z."""
    if sphere:
        v, u = minus(x, anchor), minus(z, anchor)
        b = dot(h, v)
        foot = minus(v, times(b, h))
        away, radius = dot(foot, foot), dot(u, u)
        rest = radius - away
        low = floor * radius
        travel = sign * sqrt(select(rest > low, rest, low)) - b
        return (travel, 0.0 * travel), sqrt(away) - sqrt(radius), sameness(rest, radius)
    travel = dot(anchor, minus(z, x)) / dot(anchor, h)
    nothing = 0.0 * travel
    return (travel, nothing), nothing, nothing + SINGLE


@inner
def brought(slides, sphere, h, c, anchor, x, z, sign, scale, floor):
    """Return the motion of a joint that brings x onto the plane, or sphere, about an anchor that goes through z."""
    if slides:
        return slid_onto(sphere, h, anchor, x, z, sign, floor)
    return turned_onto(sphere, h, c, anchor, x, z, sign, scale, floor)


@inner
def carried(slides, h, c, x, y, scale):
    """Return the motion of a joint that brings x to y."""
    if slides:
        travel = dot(h, minus(y, x))
        return travel, 0.0 * travel
    pair, _ = aligned(h, minus(x, c), minus(y, c), NOTHING * scale)
    return pair
