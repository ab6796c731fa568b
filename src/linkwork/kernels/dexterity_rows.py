"""Rows of `Dexterity` goals: the velocity ellipsoid of a frame, and the derivative of its measure by every joint.

Its half axes are the square roots of the eigenvalues of ``J J^T``. A velocity j rotates everything below it about its
axis a_j and moves the frame by l_j. So a column (l_i, a_i) of a joint at or beyond it changes by
``(a_j x l_i, a_j x a_i)``, and one before it by ``(a_i x l_j, 0)``. With g the derivative of the measure by each
column, the derivative by velocity j is ``a_j . sum_(i >= j) (l_i x g_l + a_i x g_a) + l_j . sum_(i < j) g_l x a_i``:
two sums along the chain. The three axes of a ball move with it, and count as one place of the chain.
"""

from __future__ import annotations

import math

from . import inner, part
from .body_layout import HEADER, quaternion_at, table
from .body_state import clear, origin
from .goal_layout import AIM, BY_CONDITION, DEXTERITY_AIM, GOAL
from .goal_rows import NOTHING, explicit_row
from .lanes import beyond
from .rotations import cross, dot, plus, times, vector

SWEEPS = 16  # largest number, of Jacobi's method
SETTLED = 1.0e-30  # relative to the squared trace: largest remaining off-diagonal part
FLAT = 1.0e-24  # lower bound of eigenvalues, relative to the largest


@part
def turn_plane(a, u, i, j):
    """Rotate axes i and j of a symmetric 6x6 matrix to make their entry zero, and accumulate the rotation in `u`."""
    if a[6 * i + j] == 0.0:
        return
    ratio = (a[7 * j] - a[7 * i]) / (2.0 * a[6 * i + j])
    t = (1.0 if ratio >= 0.0 else -1.0) / (abs(ratio) + math.sqrt(ratio * ratio + 1.0))
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for k in range(6):
        first, second = a[6 * k + i], a[6 * k + j]
        a[6 * k + i], a[6 * k + j] = c * first - s * second, s * first + c * second
    for k in range(6):
        first, second = a[6 * i + k], a[6 * j + k]
        a[6 * i + k], a[6 * j + k] = c * first - s * second, s * first + c * second
        first, second = u[6 * k + i], u[6 * k + j]
        u[6 * k + i], u[6 * k + j] = c * first - s * second, s * first + c * second


@part
def diagonalize(a, u):
    """Write the eigenvalues of a symmetric 6x6 matrix to its diagonal, and its eigenvectors to the columns of `u`."""
    clear(u, 36)
    for i in range(6):
        u[7 * i] = 1.0
    for _ in range(SWEEPS):
        beside, trace = 0.0, 0.0
        for i in range(6):
            trace += a[7 * i]
            for j in range(i):
                beside += a[6 * i + j] * a[6 * i + j]
        if beside <= SETTLED * trace * trace:
            break
        for i in range(5):
            for j in range(i + 1, 6):
                turn_plane(a, u, i, j)


@inner
def rank_of(a, i):
    """Return the rank of an eigenvalue, 0 for the largest."""
    count = 0
    for j in range(6):
        if a[7 * j] > a[7 * i] or (a[7 * j] == a[7 * i] and j < i):
            count += 1
    return count


@inner
def counts(codes, goal, column):
    """Return whether a column is one of those that count for the goal."""
    items = beyond(table(codes, HEADER.goal_items, codes), goal[GOAL.item])
    found = False
    for k in range(goal[GOAL.count]):
        found = found or items[k] == column
    return found


@inner
def place_size(codes, column):
    """Return how many motions ending with that of a column share a place of the chain: three of a ball, else one."""
    size = 1
    for k in range(codes[HEADER.balls]):
        size = 3 if quaternion_at(codes, HEADER.ball_codes, k)[1] + 2 == column else size
    for k in range(codes[HEADER.cones]):
        size = 3 if quaternion_at(codes, HEADER.cone_codes, k)[1] + 2 == column else size
    return size


@inner
def row_weight(mask, aim, k):
    """Return the weight of a row of the Jacobian: 1 for metres, a length for radians, 0 for rows that do not count."""
    if not (mask >> k) & 1:
        return 0.0
    return 1.0 if k < 3 else aim[DEXTERITY_AIM.arm]


@inner
def velocity_at(twists, motion, p):
    """Return the velocity of a point due to a motion."""
    return plus(vector(twists, 2 * motion + 1), cross(vector(twists, 2 * motion), p))


@part
def leave_columns(codes, goal, aim, p, scratch, columns):
    """Write the weighted columns of the frame's Jacobian that count, six numbers each."""
    rates, before = table(codes, HEADER.rates, codes), table(codes, HEADER.before, codes)
    clear(columns, 6 * codes[HEADER.columns])
    motion = table(codes, HEADER.last, codes)[goal[GOAL.frame]]
    while motion >= 0:
        if counts(codes, goal, rates[motion]):
            own, turn = velocity_at(scratch.twists, motion, p), vector(scratch.twists, 2 * motion)
            at = 6 * rates[motion]
            for k in range(3):
                columns[at + k] += row_weight(goal[GOAL.mask], aim, k) * own[k]
                columns[at + 3 + k] += row_weight(goal[GOAL.mask], aim, 3 + k) * turn[k]
        motion = before[motion]


@part
def leave_shares(goal, aim, a):
    """Return the measure; store its derivative by each half axis, divided by that half axis.

    That of eigenvalue i is stored at ``a[i, i + 1]``, which is no longer needed.
    """
    rank, most, least, product = aim[DEXTERITY_AIM.rank], 0.0, 0.0, 1.0
    for i in range(6):
        most = max(most, a[7 * i])
    for i in range(6):
        place, value = rank_of(a, i), max(a[7 * i], FLAT * most)
        if place < rank:
            product *= math.sqrt(value)
        if place == rank - 1.0:
            least = value
    by_condition = goal[GOAL.mask] & BY_CONDITION
    measure = math.sqrt(least / max(most, 1.0e-300)) if by_condition else product / aim[DEXTERITY_AIM.best]
    for i in range(6):
        place, value, share = rank_of(a, i), max(a[7 * i], FLAT * most, 1.0e-300), 0.0
        if by_condition:
            share += measure / value if place == rank - 1.0 else 0.0
            share -= measure / value if place == 0 else 0.0
        elif place < rank:
            share = measure / value
        a[6 * i + (i + 1) % 6] = share
    return measure


@part
def slope(codes, goal, aim, column, a, u, columns):
    """Return the derivative of the measure by the linear and the angular half of a column of the Jacobian."""
    force, torque = NOTHING, NOTHING
    if not counts(codes, goal, column):
        return force, torque
    mask, own = goal[GOAL.mask], beyond(columns, 6 * column)
    for i in range(6):
        along = 0.0
        for k in range(6):
            along += u[6 * k + i] * own[k]
        along *= a[6 * i + (i + 1) % 6]
        force = plus(force, times(along, (u[i], u[6 + i], u[12 + i])))
        torque = plus(torque, times(along, (u[18 + i], u[24 + i], u[30 + i])))
    linear = (row_weight(mask, aim, 0), row_weight(mask, aim, 1), row_weight(mask, aim, 2))
    angular = (row_weight(mask, aim, 3), row_weight(mask, aim, 4), row_weight(mask, aim, 5))
    force = (linear[0] * force[0], linear[1] * force[1], linear[2] * force[2])
    return force, (angular[0] * torque[0], angular[1] * torque[1], angular[2] * torque[2])


@part
def dexterity_goal(codes, goal, aim, scratch):
    """Write the error and the explicit row of a Dexterity goal."""
    p = origin(scratch.world, goal[GOAL.frame])
    a, u, columns = scratch.ellipsoid, beyond(scratch.ellipsoid, 36), beyond(scratch.ellipsoid, 72)
    leave_columns(codes, goal, aim, p, scratch, columns)
    clear(a, 36)
    for c in range(codes[HEADER.columns]):
        own = beyond(columns, 6 * c)
        for i in range(6):
            for j in range(6):
                a[6 * i + j] += own[i] * own[j]
    diagonalize(a, u)
    error = max(aim[DEXTERITY_AIM.enough] - leave_shares(goal, aim, a), 0.0)
    weight = aim[AIM.radians]
    scratch.errors[goal[GOAL.error]] = error
    row = explicit_row(codes, goal, 0, weight * error, scratch)
    if error > 0.0:
        add_slopes(codes, goal, aim, p, weight, row, scratch)


@part
def add_slopes(codes, goal, aim, p, weight, row, scratch):
    """Write the derivative of the measure by every joint: two sums along the chain, from the frame to the root."""
    a, u, columns = scratch.ellipsoid, beyond(scratch.ellipsoid, 36), beyond(scratch.ellipsoid, 72)
    rates, before = table(codes, HEADER.rates, codes), table(codes, HEADER.before, codes)
    last = table(codes, HEADER.last, codes)[goal[GOAL.frame]]
    inner_sum, outer_sum = NOTHING, NOTHING
    motion = last
    while motion >= 0:
        force, _ = slope(codes, goal, aim, rates[motion], a, u, columns)
        inner_sum = plus(inner_sum, cross(force, vector(scratch.twists, 2 * motion)))
        motion = before[motion]
    motion = last
    while motion >= 0:
        first, size = motion, place_size(codes, rates[motion])
        for _ in range(size):
            force, torque = slope(codes, goal, aim, rates[motion], a, u, columns)
            turn, own = vector(scratch.twists, 2 * motion), velocity_at(scratch.twists, motion, p)
            inner_sum = plus(inner_sum, times(-1.0, cross(force, turn)))
            outer_sum = plus(outer_sum, plus(cross(own, force), cross(turn, torque)))
            motion = before[motion]
        for _ in range(size):
            turn, own = vector(scratch.twists, 2 * first), velocity_at(scratch.twists, first, p)
            row[rates[first]] += weight * (dot(turn, outer_sum) + dot(own, inner_sum))
            first = before[first]
