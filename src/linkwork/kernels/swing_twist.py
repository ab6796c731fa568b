"""Ball joints with limits of swing and twist: the directions that leave the limits, and the projection back.

The compiled form of `linkwork.linkage.swing_twist`; the formulas are in its docstrings.
"""

from __future__ import annotations

import math

from . import inner, part
from .lanes import beyond
from .layout import Layout
from .rotations import cross, dot, length, minus, place, plus, times, vector
from .starts import uniform

CONE = Layout(("axis", 3), "swing", "low", "high")  # twist axis in the child's frame; largest swing; twist range
TINY = 1.0e-12
OPEN = 1.0e300  # larger values mean no limit


@inner
def axis_of(cone):
    """Return the twist axis."""
    return vector(beyond(cone, CONE.axis), 0)


@inner
def parts_of(axis, q):
    """Return w, and the parts of the quaternion's vector along and across the axis; the sign is such that w >= 0."""
    sign = -1.0 if q[0] < 0.0 else 1.0
    v = times(sign, (q[1], q[2], q[3]))
    along = dot(v, axis)
    return sign * q[0], along, minus(v, times(along, axis))


@part
def swing_twist(cone, q):
    """Return the angles of swing and twist [rad]."""
    w, along, across = parts_of(axis_of(cone), q)
    both = math.sqrt(w * w + along * along)
    twist = 2.0 * math.atan2(along, w) if both > TINY else 0.0
    return 2.0 * math.atan2(length(across), both), twist


@inner
def aside_of(axis):
    """Return a unit vector perpendicular to an axis."""
    other = (1.0, 0.0, 0.0) if abs(axis[0]) < 0.6 else (0.0, 1.0, 0.0)
    normal = cross(axis, other)
    return times(1.0 / length(normal), normal)


@part
def cone_axes(cone, q, out):
    """Write three perpendicular axes of the ball's angular velocity: increasing swing, increasing twist, the third.

    Return the rate of the twist along the second.
    """
    axis = axis_of(cone)
    w, along, across = parts_of(axis, q)
    aside = cross(axis, across)
    turns = plus(times(w * w + along * along, axis), plus(times(w, aside), times(along, across)))
    size = length(turns)
    second = times(1.0 / size, turns) if size > TINY else axis
    grows = minus(times(w, across), times(along, aside))
    first = times(1.0 / length(grows), grows) if length(grows) > TINY else aside_of(second)
    place(first, out, 0)
    place(second, out, 1)
    place(cross(first, second), out, 2)
    return size / max(w * w + along * along, TINY)


@part
def cone_bounds(cone, q, work, low, high):
    """Write how far the ball may rotate about each of its three axes [rad]."""
    rate = cone_axes(cone, q, work)
    swing, twist = swing_twist(cone, q)
    low[0], high[0] = -math.inf, max(cone[CONE.swing] - swing, 0.0)
    low[1], high[1] = min((cone[CONE.low] - twist) / rate, 0.0), max((cone[CONE.high] - twist) / rate, 0.0)
    low[2], high[2] = -math.inf, math.inf


@part
def compose(cone, swing, twist, swing_axis, out):
    """Write the quaternion of a swing about an axis perpendicular to the cone's, times a twist about the latter."""
    cs, ss, ct, st = math.cos(0.5 * swing), math.sin(0.5 * swing), math.cos(0.5 * twist), math.sin(0.5 * twist)
    axis = axis_of(cone)
    v = plus(times(cs * st, axis), plus(times(ss * ct, swing_axis), times(ss * st, cross(swing_axis, axis))))
    out[0] = cs * ct
    place(v, beyond(out, 1), 0)


@inner
def apart(a, b):
    """Return the distance between two angles, the shorter way round."""
    turns = (a - b + math.pi) / (2.0 * math.pi)
    return abs((turns - math.floor(turns)) * 2.0 * math.pi - math.pi)


@part
def back_to_cone(cone, q):
    """Project a quaternion beyond its limits onto the cone and to the nearer end of its twist range."""
    swing, twist = swing_twist(cone, q)
    if swing <= cone[CONE.swing] and cone[CONE.low] <= twist <= cone[CONE.high]:
        return
    axis = axis_of(cone)
    w, along, across = parts_of(axis, q)
    turned = plus(times(w, across), times(along, cross(axis, across)))
    about = turned if w * w + along * along > TINY * TINY else across
    about = times(1.0 / length(about), about) if length(about) > TINY else (0.0, 0.0, 0.0)
    if not cone[CONE.low] <= twist <= cone[CONE.high]:
        twist = cone[CONE.low] if apart(twist, cone[CONE.low]) < apart(twist, cone[CONE.high]) else cone[CONE.high]
    compose(cone, min(swing, cone[CONE.swing]), twist, about, q)


@part
def random_in_cone(cone, seed, problem, attempt, v, q):
    """Write a random rotation within a cone: swing direction uniform on the sphere, twist uniform in its range."""
    least = math.cos(min(cone[CONE.swing], math.pi))
    swing = math.acos(min(max(least + (1.0 - least) * uniform(seed, problem, attempt, v), -1.0), 1.0))
    low, high = (cone[CONE.low], cone[CONE.high]) if cone[CONE.low] > -OPEN else (-math.pi, math.pi)
    twist = low + (high - low) * uniform(seed, problem, attempt, v + 1)
    turn = 2.0 * math.pi * uniform(seed, problem, attempt, v + 2)
    first = aside_of(axis_of(cone))
    second = cross(axis_of(cone), first)
    compose(cone, swing, twist, plus(times(math.cos(turn), first), times(math.sin(turn), second)), q)
