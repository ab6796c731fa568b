"""FABRIK's two passes, inward from the goals and outward from the root, respecting the real joints.

Every fit uses the sum M of ``weight ray place^T`` over rays and the points they should point to: rotated by Q, they
agree by ``trace(Q M)``. Memory is passed as named tuples of arrays; a vector has three numbers, a matrix nine.
"""

from __future__ import annotations

import math

from . import inner, kernel, part
from .fabrik_layout import Goals, Skeleton, slice_memory  # noqa: F401 - the signature names two of them
from .lanes import all_flat, beyond, flat
from .pose_error import turn_between
from .rotations import (
    add_ray,
    applied,
    axis_matrix,
    back_product,
    best_rotation,
    best_turn,
    copy,
    cross,
    length,
    matrix,
    minus,
    place,
    plus,
    product,
    product_back,
    quaternion_into,
    scaled_unit,
    times,
    turn_terms,
    vector,
)

SWEEPS = 4  # passes over the rotations about one point, each optimized in turn
STEADY = 1.0e-6  # weight of the present orientation if the points leave a rotation free
BACK = 0.1  # weight of the rays towards the root, relative to the outward pulls at a bone
ROUND = 1.0e-9
FAR = 1.0e3  # times the reach: distance of the aim for goals out of reach
BEND = 0.5  # [rad]: largest bend to leave a straight line
GOOD = 0.12  # share of the cost before: a trial at about a third of the distance, or nearer, ends the search
SLANT = (0.36, 0.48, 0.8)  # an axis unlikely to be parallel to a bone


@inner
def is_ball(s, t):
    """Return whether a rotation is that of a ball joint."""
    return s.axis[3 * t] == 0.0 and s.axis[3 * t + 1] == 0.0 and s.axis[3 * t + 2] == 0.0


@part
def hang(s, turns, b, body, base, S):
    """Attach a bone to its parent in `body`: write its parent frame, its point, and its frame after the given turns."""
    offset, up, frame = vector(s.offset, b), s.above[b], matrix(body.frame, b)
    scaled_unit(1.0, base)
    if up >= 0:
        copy(matrix(body.frame, up), base)
        offset = plus(vector(body.point, up), applied(base, offset))
    place(offset, body.point, b)
    copy(base, frame)
    for t in range(s.first[b], s.end[b]):
        product(frame, matrix(s.before, t), S)
        product(S, matrix(turns, t), frame)


@part
def put_tips(s, body):
    """Write the positions of the effectors from their bones."""
    for k in range(s.effectors):
        b = s.holder[k]
        if b >= 0:
            place(plus(vector(body.point, b), applied(matrix(body.frame, b), vector(s.grip, k))), body.tip, k)


@part
def put(s, body, work):
    """Write the positions of all bones and effectors from the turns (forward kinematics)."""
    for b in range(s.count):
        hang(s, body.turn, b, body, work.base, work.S)
    put_tips(s, body)


@part
def fit(s, angle, turns, first, end, outward, base, frame, work):
    """Fit the turns between two bones, outward or inward, so that the rays in M best match their points.

    The turns are changed in place; `frame` becomes that of the bone they lead to. Inward, they are undone in reverse
    order, about the negated axes.
    """
    M, Q, S, T = work.M, work.Q, work.S, work.T
    for _ in range(SWEEPS if end - first > 1 else 1):
        copy(base, frame)
        for step in range(end - first):
            t = first + step if outward else end - 1 - step
            before, turn = matrix(s.before, t), matrix(turns, t)
            if outward:
                product(frame, before, S)
                copy(S, frame)
            if is_ball(s, t):
                best_rotation(M, work.room, Q)
            else:
                a = times(1.0 if outward else -1.0, applied(frame, vector(s.axis, t)))
                cosine, sine = turn_terms(M, a)
                change = best_turn(cosine, sine, s.low[t] - angle[t], s.high[t] - angle[t])
                angle[t] += change
                axis_matrix(a, change, Q)
            product(Q, M, S)
            copy(S, M)
            if outward:
                product(frame, turn, S)
                product(Q, S, T)
                back_product(frame, T, turn)
                copy(T, frame)
            else:
                product_back(frame, turn, S)
                product(Q, S, T)
                back_product(T, frame, turn)
                product_back(T, before, frame)


@inner
def root_of(s, b):
    """Return the root bone above a bone, and the number of bones from one to the other, both included."""
    count = 1
    while s.above[b] >= 0:
        b, count = s.above[b], count + 1
    return b, count


@inner
def wanted_place(goals, tip, k):
    """Return the wanted position of an effector; coordinates that its goal does not constrain stay as they are."""
    asked, spot, now = goals.coordinates[k], vector(goals.spot, k), vector(tip, k)
    return spot[0] if asked > 0 else now[0], spot[1] if asked > 1 else now[1], spot[2] if asked > 2 else now[2]


@part
def is_straight(s, body, b, root, aim, tip):
    """Return whether the points from a bone to the root are on one line with the tip and its aim."""
    start = vector(body.point, root)
    ray, other = minus(aim, start), minus(tip, start)
    if length(other) > length(ray):
        ray, other = other, ray
    off, largest = length(cross(ray, other)), length(ray)
    while b != root:
        way = minus(vector(body.point, b), start)
        off, largest = max(off, length(cross(ray, way))), max(largest, length(way))
        b = s.above[b]
    return off <= ROUND * largest * largest


@part
def bend(s, body, b, amount, work):
    """Rotate every joint from a bone to the root by an amount [rad], within its limits."""
    while b >= 0:
        for t in range(s.first[b], s.end[b]):
            turn = matrix(body.turn, t)
            if is_ball(s, t):
                axis_matrix(SLANT, amount, work.Q)
                product(turn, work.Q, work.S)
                copy(work.S, turn)
            else:
                angle = body.angle[t]
                body.angle[t] += amount if angle + amount <= s.high[t] else max(-amount, s.low[t] - angle)
                axis_matrix(vector(s.axis, t), body.angle[t], turn)
        b = s.above[b]


@part
def loosen(s, goals, body, work):
    """Bend chains that are on one line with their goal, since no pass would move a point off that line."""
    bent = False
    for k in range(s.effectors):
        b = s.holder[k]
        if b < 0 or s.above[b] < 0 or not goals.reach[k] > 0.0 or goals.coordinates[k] == 0:
            continue
        aim, tip = wanted_place(goals, body.tip, k), vector(body.tip, k)
        root, count = root_of(s, b)
        if is_straight(s, body, b, root, aim, tip):
            arc = math.sqrt(24.0 * length(minus(aim, tip)) / goals.reach[k])  # shorter than straight by that much
            bend(s, body, b, min(arc / count, BEND), work)
            bent = True
    if bent:
        put(s, body, work)


@part
def aim_beyond(s, goals, body, overshoot, stretch, aims):
    """Write the aims of the effectors: extrapolated beyond the goals, or far out from the root if out of reach.

    For a goal out of reach the bones end on one line, to which plain passes converge ever more slowly; a far aim gets
    there at once.
    """
    for k in range(s.effectors):
        if s.holder[k] >= 0:
            aim, factor = wanted_place(goals, body.tip, k), overshoot
            ray = minus(aim, vector(body.tip, k))
            root, _ = root_of(s, s.holder[k])
            out = minus(aim, vector(body.point, root))
            size = length(out)
            if stretch and goals.coordinates[k] > 0 and size > 0.0 and size >= goals.reach[k] * (1.0 - ROUND):
                ray, factor = out, FAR * goals.reach[k] / size
            place(plus(aim, times(factor, ray)), aims, k)


@part
def toward_root(s, body, b, moved, origin, towards, weight, foresight, M):
    """Add the rays from a point to the bones from `b` up to the root, which should move as little as possible."""
    while b >= 0:
        point = vector(body.point, b)
        add_ray(M, weight, applied(moved, minus(point, origin)), minus(point, towards))
        weight *= foresight
        b = s.above[b]


@part
def through(s, goals, body, b, c, foresight, want, work):
    """Write the frame of a bone drawn after its only child, through the joint between them."""
    first, end = s.first[c], s.end[c]
    moved, frame = work.moved, matrix(want.frame, c)
    copy(frame, moved)
    for step in range(end - first):
        t = end - 1 - step
        want.angle[t] = body.angle[t]
        copy(matrix(body.turn, t), matrix(want.turn, t))
        product_back(moved, matrix(body.turn, t), work.S)
        product_back(work.S, matrix(s.before, t), moved)
    product_back(moved, matrix(body.frame, b), work.S)
    copy(work.S, moved)
    for i in range(9):
        work.M[i] = STEADY * goals.size * goals.size * moved[i]
    toward_root(s, body, b, moved, vector(body.point, c), vector(want.point, c), 1.0, foresight, work.M)
    fit(s, want.angle, want.turn, first, end, False, frame, matrix(want.frame, b), work)


@part
def between(s, goals, body, b, foresight, want, work):
    """Write the frame of a bone with several children or with effectors.

    Return the weighted mean of their attachment points, in the bone, and the mean of their wanted positions: the
    sub-base.
    """
    now, M, load = matrix(body.frame, b), work.M, goals.load
    mid, center = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(s.effectors):
        if s.holder[k] == b:
            w = goals.weight[k] / load[b]
            mid, center = plus(mid, times(w, vector(s.grip, k))), plus(center, times(w, vector(want.tip, k)))
    for c in range(b + 1, s.count):
        if s.above[c] == b:
            w = load[c] / load[b]
            mid, center = plus(mid, times(w, vector(s.offset, c))), plus(center, times(w, vector(want.point, c)))
    scaled_unit(1.0, work.moved)
    scaled_unit(STEADY * goals.size * goals.size, M)
    middle = plus(vector(body.point, b), applied(now, mid))
    toward_root(s, body, b, work.moved, middle, center, BACK, foresight, M)
    for k in range(s.effectors):
        if s.holder[k] == b:
            ray = applied(now, minus(vector(s.grip, k), mid))
            add_ray(M, goals.weight[k] / load[b], ray, minus(vector(want.tip, k), center))
    for c in range(b + 1, s.count):
        if s.above[c] == b:
            ray = applied(now, minus(vector(s.offset, c), mid))
            add_ray(M, load[c] / load[b], ray, minus(vector(want.point, c), center))
    best_rotation(M, work.room, work.Q)
    product(work.Q, now, matrix(want.frame, b))
    return mid, center


@part
def inward(s, goals, body, foresight, want, work):
    """Inward pass: put the effectors on their aims and draw the bones after them, the root last."""
    for step in range(s.count):
        b = s.count - 1 - step
        pinned, held, children, child = -1, 0, 0, -1
        for k in range(s.effectors):
            if s.holder[k] == b:
                held += 1
                if pinned < 0 and goals.oriented[k]:
                    pinned = k
        for c in range(b + 1, s.count):
            if s.above[c] == b:
                children, child = children + 1, c
        if pinned >= 0:
            product_back(matrix(goals.aim, pinned), matrix(s.tool, pinned), matrix(want.frame, b))
            mid, center = vector(s.grip, pinned), vector(want.tip, pinned)
        elif children == 1 and held == 0:
            through(s, goals, body, b, child, foresight, want, work)
            mid, center = vector(s.offset, child), vector(want.point, child)
        else:
            mid, center = between(s, goals, body, b, foresight, want, work)
        place(minus(center, applied(matrix(want.frame, b), mid)), want.point, b)


@part
def outward(s, goals, body, foresight, want, new, work):
    """Outward pass: put the root back in place and rotate bone after bone towards the wanted points."""
    M, moved, S = work.M, work.moved, work.S
    steady = goals.size * goals.size
    for b in range(s.count):
        frame, point = matrix(new.frame, b), vector(body.point, b)
        hang(s, body.turn, b, new, work.base, S)
        origin = vector(new.point, b)
        product_back(frame, matrix(body.frame, b), moved)
        scaled_unit(STEADY * steady, M)
        for c in range(b + 1, s.count):
            deep = s.depth[s.count * c + b]
            if deep > 0:
                ray = applied(moved, minus(vector(body.point, c), point))
                add_ray(M, goals.load[c] * foresight ** (deep - 1), ray, minus(vector(want.point, c), origin))
        for k in range(s.effectors):
            holder = s.holder[k]
            if holder >= 0 and s.depth[s.count * holder + b] >= 0:
                pull = goals.weight[k] * foresight ** s.depth[s.count * holder + b]
                if goals.coordinates[k] > 0:
                    ray = applied(moved, minus(vector(body.tip, k), point))
                    add_ray(M, pull, ray, minus(vector(want.tip, k), origin))
                if goals.oriented[k]:
                    product(moved, matrix(body.frame, holder), S)
                    product_back(S, matrix(want.frame, holder), work.T)
                    for i in range(9):
                        M[i] += pull * steady * work.T[i]
        fit(s, body.angle, body.turn, s.first[b], s.end[b], True, work.base, frame, work)
    put_tips(s, new)


@part
def cost_of(s, goals, new, S):
    """Return the weighted squared distance of the effectors from their goals."""
    total = 0.0
    for k in range(s.effectors):
        b = s.holder[k]
        if b < 0:
            continue
        square = 0.0
        for i in range(goals.coordinates[k]):
            gap = goals.spot[3 * k + i] - new.tip[3 * k + i]
            square += gap * gap
        if goals.oriented[k]:
            product(matrix(new.frame, b), matrix(s.tool, k), S)
            turn = goals.radius * length(turn_between(S, matrix(goals.aim, k), 3))
            square += turn * turn
        total += goals.weight[k] * goals.weight[k] * square
    return total


@part
def begin_at(s, q, begin):
    """Read the angles and rotations of a pose."""
    for t in range(s.turns):
        at, turn = s.value[t], matrix(begin.turn, t)
        begin.angle[t] = q[at]
        if is_ball(s, t):
            quaternion_into(q[at], q[at + 1], q[at + 2], q[at + 3], turn)
        else:
            axis_matrix(vector(s.axis, t), q[at], turn)


@part
def write_change(s, begin, body, work, change):
    """Write the change, in velocity coordinates, that leads from one set of turns to another."""
    for t in range(s.turns):
        at = s.rate[t]
        if is_ball(s, t):
            back_product(matrix(begin.turn, t), matrix(body.turn, t), work.Q)
            scaled_unit(1.0, work.S)
            change[at], change[at + 1], change[at + 2] = turn_between(work.S, work.Q, 3)
        else:
            change[at] = body.angle[t] - begin.angle[t]


@inner
def copy_turns(s, body, other):
    """Copy the turns of a body to another."""
    for t in range(s.turns):
        other.angle[t] = body.angle[t]
        copy(matrix(body.turn, t), matrix(other.turn, t))


@part
def best_trial(s, goals, q, trials, count, bodies, work, change):
    """Run trials from a pose until one is good; write the change of the best, and return its number."""
    begin, body, want, new = bodies
    far, least, best = 0.0, math.inf, 0
    for trial in range(count):
        far = max(far, trials[2 * trial + 1])
    begin_at(s, q, begin)
    copy_turns(s, begin, body)
    put(s, body, work)
    enough = GOOD * cost_of(s, goals, body, work.S)
    for k in range(s.effectors):
        if goals.oriented[k]:  # a quick gain often ends where the frame can no longer be rotated
            enough = 0.0
    loosen(s, goals, body, work)
    copy_turns(s, body, new)  # common start of all trials: a trial changes the turns of its body, not the points
    for trial in range(count):
        foresight, overshoot = trials[2 * trial], trials[2 * trial + 1]
        copy_turns(s, new, body)
        aim_beyond(s, goals, body, overshoot, overshoot == far, want.tip)
        inward(s, goals, body, foresight, want, work)
        outward(s, goals, body, foresight, want, new, work)
        cost = cost_of(s, goals, new, work.S)
        if cost < least or trial == 0:
            least, best = cost, trial
            write_change(s, begin, body, work, change)
        if least <= enough:
            break
    return best


@kernel(
    "Skeleton(i8 i8 i8 i8[] i8[] i8[] i8[,] f8[,] i8[] i8[] f8[,,] f8[,] f8[] f8[] i8[] f8[,,] f8[,]) "
    "Goals(i8[] i8[] f8[,,] f8[,] f8[] f8[] f8[] f8 f8) f8[,] f8[,] f8[] f8[,] i8[]",
    nogil=True,
)
def reach(skeleton, goals, q, trials, memory, change, chosen):
    """Write the change of pose (n, nv) found by the best of several trials (foresight, overshoot) of both passes.

    `skeleton` and `goals` are a `Skeleton` and `Goals` of arrays, `memory` is workspace of `memory_size` numbers;
    `chosen` (n,) receives the number of the best trial.
    """
    bones, wanted = all_flat(skeleton), all_flat(goals)
    bodies, work = slice_memory(bones, flat(memory))
    nq, nv = q.shape[1], change.shape[1]
    for i in range(q.shape[0]):
        pose, own = beyond(flat(q), nq * i), beyond(flat(change), nv * i)
        chosen[i] = best_trial(bones, wanted, pose, flat(trials), trials.shape[0], bodies, work, own)
