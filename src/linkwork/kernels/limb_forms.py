"""Closed forms of the legs of parallel robots: values of two or three joints that bring the end of a leg to a point.

Axes are those of the leg's joints with all values at zero; a joint rotates by ``value / scale`` about its axis. Every
function works on numbers and on lanes. Two signs select among the solutions. If a point is out of reach, the result is
only near it, and the caller must check.

    ROD        a revolute joint, then a rod on two axes that meet, as the arms of a Delta
    TELESCOPE  two axes that meet, then a prismatic joint, as the legs of a Stewart platform
    ELBOW      two parallel axes and a point in the plane across them, as the cranks of a five-bar
    SLIDES     three prismatic joints, as the platform of a Delta has
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
LIMB = Layout("kind", "count", ("places", 3))  # number of values, and their indices in the pose
FIGURES = Layout(
    ("axes", 9),  # directions of the axes; of SLIDES: rows that map a displacement to their values
    ("base", 3),  # point on the first axis; foot of a telescope; position of the frame of SLIDES at zero
    ("arm", 3),  # from there to the start of the rod
    ("end", 3),  # from there to the end
    ("scale", 3),  # value per radian or metre
    ("turn", 3),  # one turn in units of the value, 0 for prismatic joints
    ("lower", 3),
    ("upper", 3),
    ("point", 3),  # attachment point of the end, in the frame of the platform
    "square",  # squared size of the robot
    ("before", 12),  # the transform of a floating joint is before * target * after
    ("after", 12),
)
OUTSIDE = 1.0e6  # penalty of a value beyond its limits, compared with squared distances to a start
MISSED = 1.0e9  # penalty of being out of reach, times the squared distance relative to the robot's size
NARROW = 1.0e-300


@inner
def angle_about(axis, a, b):
    """Return the angle by which a vector rotates about an axis to another."""
    return atan2(dot(axis, cross(a, b)), dot(a, b) - dot(a, axis) * dot(b, axis))


@inner
def root(square):
    """Return the square root, or zero if the argument is negative, and the size of the negative part."""
    there = square > 0.0
    return sqrt(select(there, square, 0.0)), select(there, 0.0 * square, -square)


@inner
def on_two_axes(one, two, end, wanted, sign):
    """Return the angles about two axes, first `one`, that rotate `end`, seen from their intersection, to `wanted`.

    The last item is by how much that is impossible. In between, the end is at ``z = a one + b two + c (one x two)``:
    with the component along `two` of `end`, and the component along `one` of `wanted`.
    """
    length, there = dot(end, end), dot(wanted, wanted)
    wanted = times(sqrt(length / select(there > NARROW, there, NARROW)), wanted)  # if out of reach, use its direction
    k, g, f = dot(one, two), dot(wanted, one), dot(end, two)
    det = 1.0 - k * k
    a, b = (g - k * f) / det, (f - k * g) / det
    c, missing = root((length - a * a - b * b - 2.0 * k * a * b) / det)
    z = plus(plus(times(a, one), times(b, two)), times(sign * c, cross(one, two)))
    return angle_about(one, z, wanted), angle_about(two, end, z), missing


@inner
def around(m, to, rod, flat, sign):
    """Return cosine and sine of the first joint of a leg, and the vector of its rod with that joint rotated back.

    The rod starts on a circle, ``arm`` rotated, and ends at `to`, seen from the first axis; its squared length is
    `rod`. The last item is by how much that is impossible.
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
    d = select(d > far, far, select(d < -far, -far, d))  # if out of reach, the arm points there or away
    cosine, sine = (x * d - y * s) / square, (y * d + x * s) / square
    way = minus(to, plus(times(high, axis), plus(times(cosine, u), times(sine, w))))
    along = dot(axis, way)
    back = minus(times(cosine, way), times(sine, cross(axis, way)))
    return cosine, sine, plus(back, times((1.0 - cosine) * along, axis)), missing / dot(u, u)


@inner
def limb_angles(kind, m, to, one, two):
    """Return the motions of three joints of a leg [rad, m] that bring its end to a point; two signs select a solution.

    The last item is how far that is out of reach [m²].
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
    """Return the value of joint k for a motion, plus whole turns: near a given value, and within limits if possible."""
    value, turn = amount * load(m, FIGURES.scale + k), load(m, FIGURES.turn + k)
    if turn > 0.0:
        value = value + turn * (((near - value) / turn + ROUND) - ROUND)
        value = select(value < load(m, FIGURES.lower + k), value + turn, value)
        value = select(value > load(m, FIGURES.upper + k), value - turn, value)
    return value


@inner
def beyond_limits(m, k, value):
    """Return OUTSIDE if a value is beyond its limits, else zero."""
    inside = (value >= load(m, FIGURES.lower + k)) & (value <= load(m, FIGURES.upper + k))
    return select(inside, 0.0 * value, 0.0 * value + OUTSIDE)


@inner
def slid(m, to):
    """Return the values of three prismatic joints that bring a frame to a point."""
    way = minus(to, vector(m, FIGURES.base))
    a, b, c = vector(m, FIGURES.axes), vector(m, FIGURES.axes + 3), vector(m, FIGURES.axes + 6)
    return dot(a, way), dot(b, way), dot(c, way)
