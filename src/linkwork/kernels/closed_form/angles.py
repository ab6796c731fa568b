"""Angles as pairs of cosine and sine, and the angle of a pair.

Closed forms work on pairs throughout: rotations are applied, inverted and added without their angles, which are
computed once, at the end.
"""

from __future__ import annotations

from .. import inner
from ..lanes import fabs, select, sqrt

EIGHTH = 0.41421356237309504880  # tan(pi / 8)
QUARTER, HALF, WHOLE = 0.78539816339744830962, 1.57079632679489661923, 3.14159265358979323846
QUARTER_REST, HALF_REST, WHOLE_REST = 3.061616997868383e-17, 6.123233995736766e-17, 1.2246467991473532e-16


@inner
def atan2(y, x):
    """Return the angle of the point (x, y), in [-pi, pi], accurate to two units in the last place; zero for the origin.

    The smaller absolute value divided by the larger is a tangent up to 1; above tan(pi/8), the angle relative to pi/4
    is used instead, ``(t - 1) / (t + 1)``, before the one division. A minimax polynomial of degree 10 in the square,
    evaluated by even and odd powers, gives the angle, which is then moved to its octant.
    """
    across, up = fabs(x), fabs(y)
    steep = up > across
    low, high = select(steep, across, up), select(steep, up, across)
    wide = low > high * EIGHTH
    above, below = select(wide, low - high, low), select(wide, low + high, high)
    t = above / select(below <= 0.0, 1.0, below)
    z = t * t
    w = z * z
    even = ((-1.9176885636496072e-2 * w - 5.085449696036013e-2) * w - 6.664511446460125e-2) * w
    even = ((even - 9.090904578121085e-2) * w - 1.4285714284666542e-1) * w - 3.333333333333333e-1
    odd = ((3.923165708499979e-2 * w + 5.858148904794421e-2) * w + 7.692183190760643e-2) * w
    odd = (odd + 1.1111111015256292e-1) * w + 1.999999999999552e-1
    angle = t + t * (z * (even + z * odd))
    angle = select(wide, QUARTER + (angle + QUARTER_REST), angle)
    angle = select(steep, HALF - (angle - HALF_REST), angle)
    angle = select(x < 0.0, WHOLE - (angle - WHOLE_REST), angle)
    return select(y < 0.0, -angle, angle)


@inner
def added(a, b):
    """Return the pair of the sum of two angles."""
    return a[0] * b[0] - a[1] * b[1], a[1] * b[0] + a[0] * b[1]


@inner
def subtracted(a, b):
    """Return the pair of the difference of two angles."""
    return a[0] * b[0] + a[1] * b[1], a[1] * b[0] - a[0] * b[1]


@inner
def scaled(factor, pair):
    """Return a multiple of a pair."""
    return factor * pair[0], factor * pair[1]


@inner
def unit(pair):
    """Return a pair normalized to length one."""
    return scaled(1.0 / sqrt(pair[0] * pair[0] + pair[1] * pair[1]), pair)
