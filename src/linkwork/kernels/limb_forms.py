"""Legs of parallel robots in closed form: the values of two or three joints that bring the end of a leg to a point.

Lines are those of the leg's joints with all values at zero; a turn of a joint by ``value / scale`` is one about its
line. Every function serves numbers and lanes. Two signs choose among the solutions; where a point is out of reach, what
is found is near it, and whoever asks must look.

    ROD        a revolute joint, then a rod on two axes that meet, as the arms of a Delta
    TELESCOPE  two axes that meet, then a slide, as the legs of a Stewart platform
    ELBOW      two parallel axes and a point in the plane across them, as the cranks of a five-bar
    SLIDES     three slides, as the platform of a Delta has
    FLOATING   a floating joint, as the platform of a Stewart platform has; it takes a whole frame
"""

from __future__ import annotations

from . import inner
from .closed_form.angles import atan2
from .joint_step import ROUND, vector
from .lanes import load, select, sqrt
from .layout import Layout
from .rotations import cross, dot, minus, plus, times

ROD, TELESCOPE, ELBOW, SLIDES, FLOATING = range(5)  # kinds
LIMB = Layout("kind", "count", ("places", 3))  # how many values, and where in the pose
FIGURES = Layout(
    ("axes", 9),  # directions of the lines; of slides: what to multiply a way by for their values
    ("base", 3),  # on the first line; where a telescope stands; where the frame of slides is at zero
    ("arm", 3),  # from there to where the rod begins
    ("end", 3),  # from there to the end
    ("scale", 3),  # values for a radian or a metre
    ("turn", 3),  # whole turns of values, 0 for slides
    ("lower", 3),
    ("upper", 3),
    ("point", 3),  # of the platform that the end is joined to: as seen from its frame
    "square",  # of the robot's size
    ("before", 12),  # a floating joint is the product of this, a target and the next
    ("after", 12),
)
OUTSIDE = 1.0e6  # what a value beyond its limits counts beside ways to a start
MISSED = 1.0e9  # what being out of reach counts, squared and as a share of the robot's size
NARROW = 1.0e-300


@inner
def angle_about(axis, a, b):
    """Return the angle by which a vector turns about an axis to another."""
    return atan2(dot(axis, cross(a, b)), dot(a, b) - dot(a, axis) * dot(b, axis))


@inner
def root(square):
    """Return the square root, or zero of what is negative, and how negative that is."""
    there = square > 0.0
    return sqrt(select(there, square, 0.0)), select(there, 0.0 * square, -square)


@inner
def on_two_axes(one, two, end, wanted, sign):
    """Return the angles about two axes, first `one`, that turn an end, as seen from where they meet, to a wanted place.

    And by how much that cannot be. In between, the end is at ``z = a one + b two + c (one x two)``: as far along `two`
    as before, and along `one` as after.
    """
    length, there = dot(end, end), dot(wanted, wanted)
    wanted = times(sqrt(length / select(there > NARROW, there, NARROW)), wanted)  # out of reach, the way there counts
    k, g, f = dot(one, two), dot(wanted, one), dot(end, two)
    det = 1.0 - k * k
    a, b = (g - k * f) / det, (f - k * g) / det
    c, missing = root((length - a * a - b * b - 2.0 * k * a * b) / det)
    z = plus(plus(times(a, one), times(b, two)), times(sign * c, cross(one, two)))
    return angle_about(one, z, wanted), angle_about(two, end, z), missing


@inner
def around(m, to, rod, flat, sign):
    """Return cosine and sine of the first joint of a leg, and the way of its rod with that joint turned back.

    The rod begins on a circle, ``arm`` turned, and ends at `to`, as seen from the first line, `rod` squared away. By
    how much that cannot be comes last.
    """
    axis, arm = vector(m, FIGURES.axes), vector(m, FIGURES.arm)
    if flat:
        to = minus(to, times(dot(axis, to), axis))
    high = dot(axis, arm)
    u = minus(arm, times(high, axis))
    w = cross(axis, u)
    x, y = dot(u, to), dot(w, to)
    d = 0.5 * (dot(to, to) + dot(arm, arm) - rod) - high * dot(axis, to)  # x cos + y sin = d
    square = x * x + y * y
    square = select(square > NARROW, square, NARROW)
    s, missing = root(square - d * d)
    far, s = sqrt(square), sign * s
    d = select(d > far, far, select(d < -far, -far, d))  # out of reach, the arm points there or away
    cosine, sine = (x * d - y * s) / square, (y * d + x * s) / square
    way = minus(to, plus(times(high, axis), plus(times(cosine, u), times(sine, w))))
    along = dot(axis, way)
    back = minus(times(cosine, way), times(sine, cross(axis, way)))
    return cosine, sine, plus(back, times((1.0 - cosine) * along, axis)), missing / dot(u, u)


@inner
def limb_angles(kind, m, to, one, two):
    """Return what three joints of a leg do, in radians and metres, for its end to be at a point; two signs choose.

    And how far, in squared metres, that is out of reach.
    """
    first, second, third = vector(m, FIGURES.axes), vector(m, FIGURES.axes + 3), vector(m, FIGURES.axes + 6)
    to, end = minus(to, vector(m, FIGURES.base)), vector(m, FIGURES.end)
    if kind == TELESCOPE:
        b = dot(end, third)
        slide, short = root(b * b - dot(end, end) + dot(to, to))
        slide = one * slide - b
        a, c, missing = on_two_axes(first, second, plus(end, times(slide, third)), to, two)
        return a, c, slide, missing + short
    if kind == ROD:
        cosine, sine, way, short = around(m, to, dot(end, end), False, one)
        a, c, missing = on_two_axes(second, third, end, way, two)
        return atan2(sine, cosine), a, c, missing + short
    cosine, sine, way, short = around(m, to, dot(end, end), True, one)
    return atan2(sine, cosine), angle_about(second, end, way), 0.0 * sine, short


@inner
def settled(m, k, amount, near):
    """Return the value of joint k for what it does, whole turns from a value nearby but within limits if it can be."""
    value, turn = amount * load(m, FIGURES.scale + k), load(m, FIGURES.turn + k)
    if turn > 0.0:
        value = value + turn * (((near - value) / turn + ROUND) - ROUND)
        value = select(value < load(m, FIGURES.lower + k), value + turn, value)
        value = select(value > load(m, FIGURES.upper + k), value - turn, value)
    return value


@inner
def beyond_limits(m, k, value):
    """Return OUTSIDE where a value is beyond its limits, else zero."""
    inside = (value >= load(m, FIGURES.lower + k)) & (value <= load(m, FIGURES.upper + k))
    return select(inside, 0.0 * value, 0.0 * value + OUTSIDE)


@inner
def slid(m, to):
    """Return what three slides do for a frame to be at a point."""
    way = minus(to, vector(m, FIGURES.base))
    a, b, c = vector(m, FIGURES.axes), vector(m, FIGURES.axes + 3), vector(m, FIGURES.axes + 6)
    return dot(a, way), dot(b, way), dot(c, way)
