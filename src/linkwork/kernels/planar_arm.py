"""The textbook's analytic solution: two links by the law of cosines, and three links with a direction of the last.

The compiled form of `linkwork.solvers.closed_forms` and of its `PlanarArm`; the formulas are in their docstrings. In
the plane, with angles about the first axis, the angle of link k is its angle at zero plus the rotations so far.
"""

from __future__ import annotations

import math

from . import inner, part
from .lanes import beyond
from .layout import Layout
from .rotations import cross, dot, vector

PLACES = Layout("links", ("value", 3), "elbow", "directed", "turned")  # elbow: DOWN, UP or NEAREST
FIGURES = Layout(
    ("signs", 3),
    ("lengths", 3),
    ("zeros", 3),
    ("across", 3),  # the axes of the plane
    ("along", 3),
    ("corner", 2),  # position of the first joint
    ("axis", 3),
    ("tip", 9),  # orientation of the tip with all angles zero
    "direction",  # of the last link, if given
)
DOWN, UP, NEAREST = 0, 1, 2
STEPS = 180  # number of directions tried if the first choice violates a limit: to both sides, the nearest first
TURN = 2.0 * math.pi
SLACK = 1.0e-12


@inner
def wrapped(angle):
    """Return an angle wrapped to [-pi, pi)."""
    if abs(angle) < math.pi:
        return angle
    return angle + math.pi - TURN * math.floor((angle + math.pi) / TURN) - math.pi


@inner
def half_angle(opposite, adjacent):
    """Return the angle a with ``tan²(a / 2) = opposite / adjacent``; negative arguments count as zero."""
    return 2.0 * math.atan2(math.sqrt(max(opposite, 0.0)), math.sqrt(max(adjacent, 0.0)))


@part
def two_links(upper, lower, x, y, facing, side):
    """Return the shoulder and elbow angles, elbow down or up; if out of reach, those of the closest pose."""
    r = math.sqrt(x * x + y * y)
    far, near = upper + lower, upper - lower
    bend = half_angle((far - r) * (far + r), (r - near) * (r + near))
    towards, lift = facing, 0.0
    if r > 0.0:
        towards, lift = math.atan2(y, x), math.atan2(lower * math.sin(bend), upper + lower * math.cos(bend))
    return (wrapped(towards - lift), bend) if side == DOWN else (wrapped(towards + lift), -bend)


@part
def last_link(first, second, third, x, y, facing, side):
    """Return the direction of the last of three links: from the base to the target, or as near to that as possible."""
    r = math.sqrt(x * x + y * y)
    nearest, farthest = abs(r - third), r + third
    wrist = min(max(nearest, abs(first - second)), farthest)
    off = half_angle(wrist**2 - nearest**2, farthest**2 - wrist**2) if r * third > 0.0 else 0.0
    towards = math.atan2(y, x) if r > 0.0 else facing
    return towards + off if side == DOWN else towards - off


@part
def angle_about(axis, target, tip):
    """Return the angle about an axis that comes nearest to the rotation from a tip (3, 3) to a target (4, 4)."""
    twist, trace, kept = (0.0, 0.0, 0.0), 0.0, 0.0
    for k in range(3):  # columns of both: the wanted direction of a frame axis, and its direction at zero
        wanted, now = (target[k], target[4 + k], target[8 + k]), (tip[k], tip[3 + k], tip[6 + k])
        normal = cross(now, wanted)
        twist = (twist[0] + normal[0], twist[1] + normal[1], twist[2] + normal[2])
        trace += dot(wanted, now)
        kept += dot(axis, wanted) * dot(now, axis)
    return math.atan2(dot(axis, twist), trace - kept)


@part
def nearest_turn(angle, near, low, high):
    """Return an angle plus whole turns, within limits if possible, and as near to another angle as possible."""
    turns = (near - angle) / TURN
    whole = math.floor(turns + 0.5)
    if turns - math.floor(turns) == 0.5 and whole % 2.0 != 0.0:
        whole -= 1.0  # of two equally near, the even one, as Python rounds
    angle += TURN * whole
    best, least = angle, math.inf
    for k in (0.0, 1.0, -1.0, 2.0, -2.0):
        choice = angle + TURN * k
        if low - SLACK <= choice <= high + SLACK:
            return min(max(choice, low), high)
        beyond_it = max(low - choice, choice - high)
        if beyond_it < least:
            best, least = choice, beyond_it
    return best


@inner
def shift_of(k):
    """Return the rotation of the last link in trial number k [rad]."""
    return (1.0 if k % 2 else -1.0) * TURN * ((k + 1) // 2) / STEPS


@part
def put_values(places, figures, angles, start, low, high, q):
    """Write the joint values for the angle of the first link and the angles between links."""
    before = 0.0
    for k in range(places[PLACES.links]):
        zero, at = figures[FIGURES.zeros + k], places[PLACES.value + k]
        value = figures[FIGURES.signs + k] * (angles[k] - (zero - before))
        q[at] = nearest_turn(value, start[at], low[at], high[at])
        before = zero


@part
def put_arm(places, figures, target, start, low, high, side, shift, q):
    """Write the pose, with the elbow to one side, that reaches a target or comes closest; `shift` turns the last link.

    `low` and `high` hold limits for every value of the pose.
    """
    point = target[3], target[7], target[11]
    x = dot(vector(beyond(figures, FIGURES.across), 0), point) - figures[FIGURES.corner]
    y = dot(vector(beyond(figures, FIGURES.along), 0), point) - figures[FIGURES.corner + 1]
    upper, lower, third = vector(beyond(figures, FIGURES.lengths), 0)
    facing = figures[FIGURES.signs] * start[places[PLACES.value]] + figures[FIGURES.zeros]
    if places[PLACES.links] == 3:
        if places[PLACES.turned]:
            axis = vector(beyond(figures, FIGURES.axis), 0)
            end = angle_about(axis, target, beyond(figures, FIGURES.tip)) + figures[FIGURES.zeros + 2]
        elif places[PLACES.directed]:
            end = figures[FIGURES.direction]
        else:
            end = last_link(upper, lower, third, x, y, facing, side)
        end += shift
        first, second = two_links(upper, lower, x - third * math.cos(end), y - third * math.sin(end), facing, side)
        put_values(places, figures, (first, second, end - first - second), start, low, high, q)
        return
    first, second = two_links(upper, lower, x, y, facing, side)
    put_values(places, figures, (first, second, 0.0), start, low, high, q)
    elbow = places[PLACES.value + 1]
    if not low[elbow] <= q[elbow] <= high[elbow]:
        held = min(max(q[elbow], low[elbow]), high[elbow])
        bend = figures[FIGURES.signs + 1] * held + figures[FIGURES.zeros + 1] - figures[FIGURES.zeros]
        lift = math.atan2(lower * math.sin(bend), upper + lower * math.cos(bend))
        put_values(places, figures, (math.atan2(y, x) - lift, bend, 0.0), start, low, high, q)
