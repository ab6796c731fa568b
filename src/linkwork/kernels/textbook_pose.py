"""Poses of the textbook's loop: integrate a velocity within limits, and shift angles by whole turns at the end."""

from __future__ import annotations

import math

from . import inner, part
from .lanes import beyond
from .rotations import quaternion_product
from .swing_twist import CONE, back_to_cone
from .textbook_plan import HEAD, VALUE

SHORT = 1.0e-8  # half angles below this equal their sine
TURN = 2.0 * math.pi


@inner
def vector_quaternion(x, y, z):
    """Return the quaternion of a rotation vector."""
    half = 0.5 * math.sqrt(x * x + y * y + z * z)
    share = 0.5 * math.sin(half) / half if half > SHORT else 0.5
    return math.cos(half), share * x, share * y, share * z


@part
def keep_within(plan, q):
    """Clamp a pose to its limits, and project balls onto their cones; fixed values have no limits."""
    head, wholes, reals = plan.head, plan.wholes, plan.reals
    for k in range(head[HEAD.nq]):
        value = beyond(reals.values, VALUE.size * k)
        q[k] = min(max(q[k], value[VALUE.lower]), value[VALUE.upper])
    for k in range(head[HEAD.cones]):
        back_to_cone(beyond(reals.cones, CONE.size * k), beyond(q, wholes.cones[k]))


@part
def move(plan, begin, change, factor, q):
    """Write the pose after a share of a velocity, applied for unit time, within limits."""
    head, wholes = plan.head, plan.wholes
    for k in range(head[HEAD.nq]):
        q[k] = begin[k]
    for v in range(head[HEAD.nv]):
        if wholes.value[v] >= 0:
            q[wholes.value[v]] += factor * change[v]
    for k in range(head[HEAD.balls]):
        at, v = wholes.balls[2 * k], wholes.balls[2 * k + 1]
        if wholes.moving[v]:
            now = q[at], q[at + 1], q[at + 2], q[at + 3]
            turn = vector_quaternion(factor * change[v], factor * change[v + 1], factor * change[v + 2])
            w, x, y, z = quaternion_product(now, turn)
            size = math.sqrt(w * w + x * x + y * y + z * z)
            q[at], q[at + 1], q[at + 2], q[at + 3] = w / size, x / size, y / size, z / size
    if head[HEAD.limited]:
        keep_within(plan, q)


@part
def turn_back(plan, start, q):
    """Replace every angle by its copy, whole turns away, that is nearest to a start within limits."""
    wholes, reals = plan.wholes, plan.reals
    for k in range(plan.head[HEAD.periodic]):
        at = wholes.periodic[k]
        value = beyond(reals.values, VALUE.size * at)
        low, high = value[VALUE.lower], value[VALUE.upper]
        found = q[at] + TURN * math.floor((start[at] - q[at]) / TURN + 0.5)
        found += TURN * math.ceil(max(low - found, 0.0) / TURN)
        found -= TURN * math.ceil(max(found - high, 0.0) / TURN)
        if low <= found <= high:
            q[at] = found


@part
def keeps_limits(plan, q):
    """Return whether a pose is within all limits."""
    kept = True
    for k in range(plan.head[HEAD.nq]):
        value = beyond(plan.reals.values, VALUE.size * k)
        kept &= value[VALUE.lower] <= q[k] <= value[VALUE.upper]
    return kept
