"""The subproblems that closed forms are made of: one joint, one condition on a point.

Paden and Kahan's subproblem 1 rotates one point onto another (`aligned`). Their third, a point at a distance from
another, and the fourth of Elias and Wen, a point at a height above a plane, are one equation each,
``a cos + b sin = c``, with two roots (`brought`); the second, two intersecting axes, is a height, then an alignment.
Prismatic joints have the same conditions.

A sign selects the root. Each root comes with a miss, how far it is from being real, and with whether the two roots
coincide. If they are not real, the joint comes as close as it can.
"""

from __future__ import annotations

from collections import namedtuple

from .. import inner
from ..lanes import bits, fabs, load, select, sqrt
from ..rotations import cross, dot, minus, plus, times
from .angles import unit
from .form_layout import CLOSE, DISTINCT, DOUBLE, FREE, NUMBERS, SINGLE, pair_at_home

FOLD = 1.0e-12  # roots coincide if half their distance, squared, is less: within a millionth of a radian
NEARLY = 1.0e-8  # ... and are close if it is less than this
NOTHING = 1.0e-24  # relative to a squared length: what is left if directions cancel


Size = namedtuple("Size", "extent unreach floor")


@inner
def measures(numbers):
    """Return the scales of lengths and roots: the squared size of the arm and so on, see NUMBERS."""
    extent, unreach = load(numbers, NUMBERS.extent), load(numbers, NUMBERS.unreach)
    return Size(extent, unreach, load(numbers, NUMBERS.floor))


@inner
def turned(h, pair, v):
    """Return a vector rotated about a unit vector (Rodrigues' formula)."""
    cosine, sine = pair
    return plus(plus(times(cosine, v), times(sine, cross(h, v))), times((1.0 - cosine) * dot(h, v), h))


@inner
def turned_back(h, pair, v):
    """Return a vector rotated the other way."""
    return turned(h, (pair[0], -pair[1]), v)


@inner
def moved(slides, h, c, pair, x):
    """Return a point moved by a joint: rotated about its axis, or translated along it."""
    if slides:
        return plus(x, times(pair[0], h))
    return plus(turned(h, pair, minus(x, c)), c)


@inner
def moved_back(slides, h, c, pair, x):
    """Return a point moved by a joint in the opposite direction."""
    if slides:
        return minus(x, times(pair[0], h))
    return plus(turned_back(h, pair, minus(x, c)), c)


@inner
def sameness(rest, square):
    """Return whether two roots, at the sine ``sqrt(rest / square)`` on either side of their middle, coincide."""
    return select(rest <= FOLD * square, DOUBLE, select(rest <= NEARLY * square, CLOSE, DISTINCT))


@inner
def opened(square, c, rest, floor):
    """Return cosine and sine, times a length, of the angle with cosine c / length; `rest` is the squared length - c².

    Its squared sine is at least `floor`: if it is not real, it is the closest real one.
    """
    low = floor * square
    real = rest > low
    end = sqrt(square) * sqrt(1.0 - floor)
    return select(real, c, select(c < 0.0, -end, end)), sqrt(select(real, rest, low))


@inner
def root(a, b, c, rest, sign, least, floor):
    """Return the pair with ``a cos + b sin = c``, its miss and whether the roots coincide; rest is a² + b² - c².

    It is the pair (a, b) rotated to either side by the angle with cosine c / length, whose squared sine is at least
    `floor`. If the squared length is less than `least`, every angle is a solution.
    """
    square = a * a + b * b
    free = square <= least
    nearest, aside = opened(square, c, rest, floor)
    d, over = sign * aside, 1.0 / select(free, 1.0, square)
    pair = select(free, 1.0, (a * nearest - b * d) * over), select(free, 0.0, (b * nearest + a * d) * over)
    return pair, fabs(c) - sqrt(square), select(free, FREE, sameness(rest, square))


@inner
def aligned(h, x, y, least):
    """Return the pair that rotates a vector x about h onto y, and whether it is free (subproblem 1).

    Only the components perpendicular to h count. If these are smaller than `least`, squared, every angle is a solution.
    """
    u, v = minus(x, times(dot(h, x), h)), minus(y, times(dot(h, y), h))
    cosine, sine = dot(u, v), dot(h, cross(u, v))
    size = sqrt(cosine * cosine + sine * sine)
    free = size <= least
    over = 1.0 / select(free, 1.0, size)
    return (select(free, 1.0, cosine * over), select(free, 0.0, sine * over)), free


@inner
def spun_to(h, u, y):
    """Return the pair that rotates u, a unit vector perpendicular to h, onto y, as far as possible."""
    return unit((dot(u, y), dot(cross(h, u), y)))


@inner
def turned_onto(sphere, h, c, anchor, x, z, sign, size):
    """Return the rotation that brings x onto the plane or sphere about an anchor that contains z: results of `root`.

    With w the vector from the axis to x: a plane with normal n requires ``n · R w = n · (z - c)``; a sphere about o,
    ``(c - o) · R w = (|z - o|² - |w|² - |c - o|²) / 2``. The miss is a length. See `measures` for the size.
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
    span = sqrt(a * a + b * b)
    rest = (span - fabs(level)) * (span + fabs(level))
    pair, miss, same = root(a, b, level, rest, sign, NOTHING * dot(n, n) * size.extent, size.floor)
    if sphere:  # half a difference of squares; the difference of lengths is at least this
        miss = miss * size.unreach
    return pair, miss, same


@inner
def slid_onto(sphere, h, anchor, x, z, sign, size):
    """Return the travel that brings x onto the plane or sphere about an anchor that contains z: results of `root`."""
    if sphere:
        v, u = minus(x, anchor), minus(z, anchor)
        b = dot(h, v)
        foot = minus(v, times(b, h))
        away, radius = dot(foot, foot), dot(u, u)
        rest = radius - away
        low = size.floor * radius
        travel = sign * sqrt(select(rest > low, rest, low)) - b
        return (travel, 0.0 * travel), sqrt(away) - sqrt(radius), sameness(rest, radius)
    travel = dot(anchor, minus(z, x)) / dot(anchor, h)
    nothing = 0.0 * travel
    return (travel, nothing), nothing, nothing + SINGLE


@inner
def brought(slides, sphere, h, c, anchor, x, z, sign, size):
    """Return the motion of a joint that brings x onto the plane or sphere about an anchor that contains z."""
    if slides:
        return slid_onto(sphere, h, anchor, x, z, sign, size)
    return turned_onto(sphere, h, c, anchor, x, z, sign, size)


@inner
def carried(slides, h, c, x, y, size):
    """Return the motion of a joint that brings x to y, and FREE if x is on its axis, else DISTINCT."""
    if slides:
        travel = dot(h, minus(y, x))
        nothing = 0.0 * travel
        return (travel, nothing), nothing + DISTINCT
    pair, free = aligned(h, minus(x, c), minus(y, c), NOTHING * size.extent)
    return pair, select(free, FREE, DISTINCT)


@inner
def kept_home(same, pair, goal, joint):
    """Return the pair of a solved joint; if every value is a solution, its home value."""
    free = same > DOUBLE
    if bits(free) != 0:
        home = pair_at_home(goal, joint)
        return select(free, home[0], pair[0]), select(free, home[1], pair[1])
    return pair
