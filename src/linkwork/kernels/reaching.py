"""FABRIK's two passes, inward from the goals and outward from the root, through the real joints.

Imports `rotations`, the best turn of `descent` and the rotation error of `error`. Every fit goes by the sum M of
``weight ray place^T`` over rays and the places they should point to: turned by a rotation Q, they agree by
``trace(Q M)``. Arrays come in tuples:

    skeleton    bones (b, 3): bone above (-1: the ground), first turn, end of turns; depth (b, b): how many bones up
                from the first the second is, or -1; offset (b, 3): the point a bone turns about, in the bone above;
                before (t, 3, 3): constant rotation before each turn; axis (t, 3): zero for a ball; low, high (t,);
                holder (k,): bone of each effector, -1 if nothing moves it; tool (k, 4, 4): bone_from_effector
    goals       target (k, 4, 4); asks (k, 2): coordinates of the position, orientation or not; weight (k,);
                load (b,): weight of all goals that a bone carries; reach (k,): length of the chain
    body        angle (t,), turn (t, 3, 3), frame (b, 3, 3), point (b, 3), tip (k, 3)
"""

from __future__ import annotations

import math

import numpy as np

from . import inner, kernel
from .descent import best_turn
from .error import turn_between
from .rotations import (
    across,
    add_ray,
    applied,
    axis_matrix,
    back_product,
    best_rotation,
    copy,
    length,
    minus,
    place,
    plus,
    product,
    product_back,
    quaternion_into,
    scaled_unit,
)

ABOVE, FIRST, END = 0, 1, 2
SWEEPS = 4  # through the turns about one point, each made as well as it can be
STEADY = 1.0e-6  # how much the present orientation counts where the points leave a turn free
BACK = 0.1  # how much the way to the root counts beside what pulls at a bone from outside
ROUND = 1.0e-9
FAR = 1.0e3  # times the reach: where to look for what is out of reach
BEND = 0.5  # [rad] at most, to get out of a straight line
SLANT = (0.36, 0.48, 0.8)  # an axis along which no bone is likely to lie


@inner
def is_ball(axis, t):
    """Return whether a turn is a ball's."""
    return axis[t, 0] == 0.0 and axis[t, 1] == 0.0 and axis[t, 2] == 0.0


@inner
def follow(skeleton, body, b, frame, scratch):
    """Carry the frame of the bone above outward through a bone's turns."""
    bones, _, _, before = skeleton[:4]
    turn, S = body[1], scratch[1]
    for t in range(bones[b, FIRST], bones[b, END]):
        product(frame, before[t], S)
        product(S, turn[t], frame)


@inner
def stand(skeleton, b, frame, point, out):
    """Write the frame that a bone hangs on, and return the point it turns about."""
    bones, _, offset = skeleton[:3]
    above = bones[b, ABOVE]
    if above < 0:
        scaled_unit(1.0, out)
        return offset[b, 0], offset[b, 1], offset[b, 2]
    copy(frame[above], out)
    return plus(point[above], applied(out, offset[b]))


@inner
def put(skeleton, body, scratch):
    """Put every bone and effector where the turns say."""
    bones, holder, tool = skeleton[0], skeleton[7], skeleton[8]
    frame, point, tip = body[2], body[3], body[4]
    for b in range(bones.shape[0]):
        place(stand(skeleton, b, frame, point, scratch[0]), point[b])
        copy(scratch[0], frame[b])
        follow(skeleton, body, b, frame[b], scratch)
    for k in range(holder.shape[0]):
        if holder[k] >= 0:
            b = holder[k]
            place(plus(point[b], applied(frame[b], tool[k, :3, 3])), tip[k])


@inner
def fit(skeleton, angle, turn, first, end, outward, base, M, frame, scratch):
    """Make the turns between two bones, outward or inward, that bring the rays in M nearest to their places.

    The turns are changed in place; `frame` becomes that of the bone they lead to. Inward, each is undone in reverse
    order, about its axis the other way round.
    """
    before, axis, low, high = skeleton[3], skeleton[4], skeleton[5], skeleton[6]
    Q, S, T, N, V = scratch
    for _ in range(SWEEPS if end - first > 1 else 1):
        copy(base, frame)
        for step in range(end - first):
            t = first + step if outward else end - 1 - step
            if outward:
                product(frame, before[t], S)
                copy(S, frame)
            if is_ball(axis, t):
                best_rotation(M, N, V, Q)
            else:
                a = applied(frame, axis[t])
                if not outward:
                    a = -a[0], -a[1], -a[2]
                u = applied(M, a)
                cosine = M[0, 0] + M[1, 1] + M[2, 2] - (a[0] * u[0] + a[1] * u[1] + a[2] * u[2])
                sine = a[0] * (M[1, 2] - M[2, 1]) + a[1] * (M[2, 0] - M[0, 2]) + a[2] * (M[0, 1] - M[1, 0])
                change = best_turn(cosine, sine, low[t] - angle[t], high[t] - angle[t])
                angle[t] += change
                axis_matrix(a, change, Q)
            product(Q, M, S)
            copy(S, M)
            if outward:
                product(frame, turn[t], S)
                product(Q, S, T)
                back_product(frame, T, turn[t])
                copy(T, frame)
            else:
                product_back(frame, turn[t], S)
                product(Q, S, T)
                back_product(T, frame, turn[t])
                product_back(T, before[t], frame)


@inner
def loosen(skeleton, goals, body, scratch):
    """Bend the chains that lie, with their goal, on one line, out of which no pass would move a point."""
    bones, axis, low, high, holder = skeleton[0], skeleton[4], skeleton[5], skeleton[6], skeleton[7]
    target, asks, reach = goals[0], goals[1], goals[4]
    angle, turn, _, point, tip = body
    bent = False
    for k in range(holder.shape[0]):
        if holder[k] < 0 or bones[holder[k], ABOVE] < 0 or not reach[k] > 0.0 or asks[k, 0] == 0:
            continue
        root, count = holder[k], 1
        while bones[root, ABOVE] >= 0:
            root, count = bones[root, ABOVE], count + 1
        aim = wanted_place(target, asks, tip, k)
        ray, gap = minus(aim, point[root]), length(minus(aim, tip[k]))
        if length(minus(tip[k], point[root])) > length(ray):
            ray = minus(tip[k], point[root])
        b, off, largest = holder[k], across(ray, minus(tip[k], point[root])), length(ray)
        off = max(off, across(ray, minus(aim, point[root])))
        while b != root:
            off = max(off, across(ray, minus(point[b], point[root])))
            largest = max(largest, length(minus(point[b], point[root])))
            b = bones[b, ABOVE]
        if off > ROUND * largest * largest:
            continue
        amount = min(math.sqrt(24.0 * gap / reach[k]) / count, BEND)  # an arc that is shorter by the gap
        b, bent = holder[k], True
        while b >= 0:
            for t in range(bones[b, FIRST], bones[b, END]):
                if is_ball(axis, t):
                    axis_matrix(SLANT, amount, scratch[0])
                    product(turn[t], scratch[0], scratch[1])
                    copy(scratch[1], turn[t])
                else:
                    angle[t] += amount if angle[t] + amount <= high[t] else max(-amount, low[t] - angle[t])
                    axis_matrix(axis[t], angle[t], turn[t])
            b = bones[b, ABOVE]
    if bent:
        put(skeleton, body, scratch)


@inner
def wanted_place(target, asks, tip, k):
    """Return where an effector should be; a coordinate that its goal leaves alone stays as it is."""
    x = target[k, 0, 3] if asks[k, 0] > 0 else tip[k, 0]
    y = target[k, 1, 3] if asks[k, 0] > 1 else tip[k, 1]
    z = target[k, 2, 3] if asks[k, 0] > 2 else tip[k, 2]
    return x, y, z


@inner
def aim_beyond(skeleton, goals, body, overshoot, stretch, aims):
    """Write where to reach for: beyond the goals, further on from the tips; or far out from the root.

    What is out of reach is sought out there, where the bones lie on one line: the plain passes would come to that ever
    more slowly.
    """
    bones, holder = skeleton[0], skeleton[7]
    target, asks, reach = goals[0], goals[1], goals[4]
    point, tip = body[3], body[4]
    for k in range(holder.shape[0]):
        if holder[k] < 0:
            continue
        aim = wanted_place(target, asks, tip, k)
        root = holder[k]
        while bones[root, ABOVE] >= 0:
            root = bones[root, ABOVE]
        ray = minus(aim, point[root])
        size = length(ray)
        factor = overshoot
        if stretch and asks[k, 0] > 0 and size > 0.0 and size >= reach[k] * (1.0 - ROUND):
            factor = FAR * reach[k] / size
        else:
            ray = minus(aim, tip[k])
        place((aim[0] + factor * ray[0], aim[1] + factor * ray[1], aim[2] + factor * ray[2]), aims[k])


@inner
def toward_root(skeleton, body, b, moved, origin, towards, weight, foresight, M):
    """Add the rays from a point to the places of a bone and those above it, which would rather not move."""
    bones, point = skeleton[0], body[3]
    a = b
    while a >= 0:
        ray = minus(point[a], origin)
        if moved is not None:
            ray = applied(moved, ray)
        add_ray(M, weight, ray, minus(point[a], towards))
        weight *= foresight
        a = bones[a, ABOVE]


@inner
def through(skeleton, body, size, b, c, foresight, want_frame, want_point, spare, scratch):
    """Write the frame of a bone drawn after its only child, through the joint between them."""
    bones, before = skeleton[0], skeleton[3]
    turn, frame, point = body[1], body[2], body[3]
    first, end = bones[c, FIRST], bones[c, END]
    moved, M = spare[2], spare[3]
    copy(want_frame[c], moved)
    for step in range(end - first):
        t = end - 1 - step
        product_back(moved, turn[t], scratch[1])
        product_back(scratch[1], before[t], moved)
    product_back(moved, frame[b], scratch[1])
    copy(scratch[1], moved)
    for i in range(3):
        for j in range(3):
            M[i, j] = STEADY * size * size * moved[i, j]
    toward_root(skeleton, body, b, moved, point[c], want_point[c], 1.0, foresight, M)
    for t in range(first, end):
        spare[0][t] = body[0][t]
        copy(turn[t], spare[1][t])
    fit(skeleton, spare[0], spare[1], first, end, False, want_frame[c], M, want_frame[b], scratch)


@inner
def between(skeleton, goals, body, size, b, foresight, aims, want_frame, want_point, spare, scratch):
    """Write the frame of a bone that branches or effectors pull at.

    Return the middle of the points they pull at, in the bone, and the middle of where they want them: the sub-base.
    """
    bones, _, offset = skeleton[:3]
    holder, tool = skeleton[7], skeleton[8]
    weight, load = goals[2], goals[3]
    now, M = body[2][b], spare[3]
    mid, center = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(holder.shape[0]):
        if holder[k] == b:
            w = weight[k] / load[b]
            mid = plus(mid, (w * tool[k, 0, 3], w * tool[k, 1, 3], w * tool[k, 2, 3]))
            center = plus(center, (w * aims[k, 0], w * aims[k, 1], w * aims[k, 2]))
    for c in range(b + 1, bones.shape[0]):
        if bones[c, ABOVE] == b:
            w = load[c] / load[b]
            mid = plus(mid, (w * offset[c, 0], w * offset[c, 1], w * offset[c, 2]))
            center = plus(center, (w * want_point[c, 0], w * want_point[c, 1], w * want_point[c, 2]))
    scaled_unit(STEADY * size * size, M)
    toward_root(skeleton, body, b, None, plus(body[3][b], applied(now, mid)), center, BACK, foresight, M)
    for k in range(holder.shape[0]):
        if holder[k] == b:
            ray = applied(now, minus(tool[k, :3, 3], mid))
            add_ray(M, weight[k] / load[b], ray, minus(aims[k], center))
    for c in range(b + 1, bones.shape[0]):
        if bones[c, ABOVE] == b:
            add_ray(M, load[c] / load[b], applied(now, minus(offset[c], mid)), minus(want_point[c], center))
    best_rotation(M, scratch[3], scratch[4], scratch[0])
    product(scratch[0], now, want_frame[b])
    return mid, center


@inner
def inward(skeleton, goals, body, size, foresight, aims, want_frame, want_point, spare, scratch):
    """Put the effectors on their aims and draw the bones after them, the root last."""
    bones, _, offset = skeleton[:3]
    holder, tool = skeleton[7], skeleton[8]
    target, asks = goals[0], goals[1]
    for step in range(bones.shape[0]):
        b = bones.shape[0] - 1 - step
        pinned, held, children, child = -1, 0, 0, -1
        for k in range(holder.shape[0]):
            if holder[k] == b:
                held += 1
                if pinned < 0 and asks[k, 1]:
                    pinned = k
        for c in range(b + 1, bones.shape[0]):
            if bones[c, ABOVE] == b:
                children, child = children + 1, c
        if pinned >= 0:
            product_back(target[pinned], tool[pinned], want_frame[b])
            mid = tool[pinned, 0, 3], tool[pinned, 1, 3], tool[pinned, 2, 3]
            center = aims[pinned, 0], aims[pinned, 1], aims[pinned, 2]
        elif children == 1 and held == 0:
            through(skeleton, body, size, b, child, foresight, want_frame, want_point, spare, scratch)
            mid = offset[child, 0], offset[child, 1], offset[child, 2]
            center = want_point[child, 0], want_point[child, 1], want_point[child, 2]
        else:
            mid, center = between(
                skeleton, goals, body, size, b, foresight, aims, want_frame, want_point, spare, scratch
            )
        place(minus(center, applied(want_frame[b], mid)), want_point[b])


@inner
def outward(skeleton, goals, body, size, foresight, aims, want_frame, want_point, new, spare, scratch):
    """Put the root back in its place and turn bone after bone towards what was wanted."""
    bones, depth, holder, tool = skeleton[0], skeleton[1], skeleton[7], skeleton[8]
    asks, weight, load = goals[1], goals[2], goals[3]
    frame, point, tip = body[2], body[3], body[4]
    new_frame, new_point = new[0], new[1]
    base, moved, M = spare[4], spare[2], spare[3]
    for b in range(bones.shape[0]):
        origin = stand(skeleton, b, new_frame, new_point, base)
        place(origin, new_point[b])
        copy(base, new_frame[b])
        follow(skeleton, body, b, new_frame[b], scratch)
        product_back(new_frame[b], frame[b], moved)
        scaled_unit(STEADY * size * size, M)
        for c in range(b + 1, bones.shape[0]):
            if depth[c, b] > 0:
                ray = applied(moved, minus(point[c], point[b]))
                add_ray(M, load[c] * foresight ** (depth[c, b] - 1), ray, minus(want_point[c], origin))
        for k in range(holder.shape[0]):
            if holder[k] >= 0 and depth[holder[k], b] >= 0:
                pull = weight[k] * foresight ** depth[holder[k], b]
                if asks[k, 0] > 0:
                    add_ray(M, pull, applied(moved, minus(tip[k], point[b])), minus(aims[k], origin))
                if asks[k, 1]:
                    product(moved, frame[holder[k]], scratch[1])
                    product_back(scratch[1], want_frame[holder[k]], scratch[2])
                    for i in range(3):
                        for j in range(3):
                            M[i, j] += pull * size * size * scratch[2][i, j]
        fit(skeleton, body[0], body[1], bones[b, FIRST], bones[b, END], True, base, M, new_frame[b], scratch)
    for k in range(holder.shape[0]):
        if holder[k] >= 0:
            b = holder[k]
            place(plus(new_point[b], applied(new_frame[b], tool[k, :3, 3])), new[2][k])


@inner
def cost_of(skeleton, goals, new, radius, scratch, out):
    """Return how far the effectors are from their goals, as the loop weighs it."""
    holder, tool = skeleton[7], skeleton[8]
    target, asks, weight = goals[0], goals[1], goals[2]
    total = 0.0
    for k in range(holder.shape[0]):
        if holder[k] < 0:
            continue
        for i in range(asks[k, 0]):
            total += (weight[k] * (target[k, i, 3] - new[2][k, i])) ** 2
        if asks[k, 1]:
            product(new[0][holder[k]], tool[k], scratch[1])
            turn_between(scratch[1], target[k], out)
            total += (weight[k] * radius) ** 2 * (out[3] ** 2 + out[4] ** 2 + out[5] ** 2)
    return total


@kernel
def reach_many(skeleton, goals, sizes, indices, q, trials, change, chosen):
    """Write the change of pose (n, nv) that the best of several trials (foresight, overshoot) of both passes asks for.

    `sizes` holds the mean length of the bones and the metres that a radian counts; `indices` (t, 2) the places of a
    turn's value in the pose and of its velocity; `chosen` (n,) tells which trial was the best.
    """
    b, t, k = len(skeleton[0]), len(skeleton[4]), len(skeleton[7])
    begin, body, new = bodies(b, t, k)
    want_frame, want_point, aims, out = np.empty((b, 3, 3)), np.empty((b, 3)), np.empty((k, 3)), np.empty(6)
    scratch = (np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((4, 4)), np.empty((4, 4)))
    spare = (np.empty(t), np.empty((t, 3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)))
    far = 0.0
    for trial in range(len(trials)):
        far = max(far, trials[trial, 1])
    for i in range(len(q)):
        begin_at(skeleton, indices, q[i], begin)
        least = np.inf
        for trial in range(len(trials)):
            foresight, overshoot = trials[trial, 0], trials[trial, 1]
            for part in range(t):
                body[0][part] = begin[0][part]
                copy(begin[1][part], body[1][part])
            put(skeleton, body, scratch)
            loosen(skeleton, goals, body, scratch)
            aim_beyond(skeleton, goals, body, overshoot, overshoot == far, aims)
            inward(skeleton, goals, body, sizes[0], foresight, aims, want_frame, want_point, spare, scratch)
            outward(skeleton, goals, body, sizes[0], foresight, aims, want_frame, want_point, new, spare, scratch)
            cost = cost_of(skeleton, goals, new, sizes[1], scratch, out)
            if cost < least or trial == 0:
                least, chosen[i] = cost, trial
                write_change(skeleton, indices, begin, body, scratch, out, change[i])


@inner
def bodies(b, t, k):
    """Return room for three bodies: as it begins, as it is turned, and where that leaves it."""
    begin = (np.empty(t), np.empty((t, 3, 3)))
    body = (np.empty(t), np.empty((t, 3, 3)), np.empty((b, 3, 3)), np.empty((b, 3)), np.empty((k, 3)))
    return begin, body, (np.empty((b, 3, 3)), np.empty((b, 3)), np.empty((k, 3)))


@inner
def begin_at(skeleton, indices, q, begin):
    """Read the turns of a pose."""
    axis = skeleton[4]
    for t in range(len(axis)):
        at = indices[t, 0]
        if is_ball(axis, t):
            begin[0][t] = 0.0
            quaternion_into(q[at], q[at + 1], q[at + 2], q[at + 3], begin[1][t])
        else:
            begin[0][t] = q[at]
            axis_matrix(axis[t], q[at], begin[1][t])


@inner
def write_change(skeleton, indices, begin, body, scratch, out, change):
    """Write the velocity that leads from one set of turns to another."""
    axis = skeleton[4]
    for t in range(len(axis)):
        at = indices[t, 1]
        if is_ball(axis, t):
            back_product(begin[1][t], body[1][t], scratch[0])
            scaled_unit(1.0, scratch[1])
            turn_between(scratch[1], scratch[0], out)
            change[at], change[at + 1], change[at + 2] = out[3], out[4], out[5]
        else:
            change[at] = body[0][t] - begin[0][t]
