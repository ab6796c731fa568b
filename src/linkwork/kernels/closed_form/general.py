"""All solutions of any arm with six revolute joints: elimination to one angle, all its roots, and Newton from each.

`general_elimination` gives a trigonometric polynomial of degree 8 in one joint's angle, times a factor that depends on
the arm only and is divided out. Its coefficients are fitted to the determinant at 24 angles, computed in parallel
lanes. All of its (up to) sixteen complex roots are found at once. Each root near the unit circle gives a pose by linear
equations, which Newton's method refines to full precision and which counts if forward kinematics confirms it.

What is proven: a pose that reaches the goal makes the determinant vanish, and there are at most sixteen roots
(Primrose, 1986), all of them known. What is floating point: roots that lie close together, or where the determinant is
small all around, have fewer digits; a pose is lost if Newton's method does not converge to it from there. So a root
that should be real but gave no pose of its own is a *doubt*, the misfit tells how far the determinants are from a
polynomial of that degree, and an arm has a second *way* of elimination with another unknown angle, which is used as
well if the first leaves a doubt.
"""

from __future__ import annotations

import math

from .. import inner, kernel, part
from ..joint_step import TRANSFORM
from ..lanes import beyond, bits, cells, flat, load, store
from ..rigid import is_rigid
from .angles import atan2
from .form_layout import ANSWER, BRANCH, CLOSE, DISTINCT, DOUBLE, FREE, NUMBERS
from .general_back import put_half_tangents, put_other_joints
from .general_elimination import (
    balance,
    put_aside,
    put_determinants,
    put_goal,
    put_middle,
    put_mirrors,
    put_sides,
    put_still,
    put_turning,
)
from .general_matrices import put_null_vector
from .general_memory import (
    COEFFICIENTS,
    FIGURES,
    JOINTS,
    MISFIT,
    MISFITS,
    MOST,
    NODES,
    REPORT,
    ROOM,
    SOLUTION,
    WAY,
    WIDTH,
)
from .general_polish import polish
from .general_roots import LAST, put_roots
from .solve_six import reaches, settle, sort_in

NEAR = 0.04  # largest distance from the unit circle of roots that are tried
NEAR_ASIDE = (0.3, 0.3, 0.1, 0.1)  # the same for displaced goals, where real roots of the goal may be complex
ACCEPTED = 1.0e-9  # error of a pose, lengths relative to the arm
OWN, OWN_ASIDE = 3.0e-5, 0.3  # largest distance of a pose's angle from its root [rad]
SAME, SAME_FOLDED = 1.0e-6, 1.0e-4  # largest difference of two poses that are the same, and of two folded ones [rad]
ROUNDING, CERTAIN = 1.0e-14, 1.0e3  # of coefficients; values CERTAIN times above this and the misfit are not zero
REGULAR = 1.0e-3  # smallest pivot of a solution that a slightly displaced goal has as well
FOLDED, NEARLY_FOLDED = 3.0e-6, 1.0e-4  # smallest pivot, relative to the largest, of coinciding or close solutions
ATTEMPTS, ASIDE = 6, 3  # largest number of attempts; the first attempt with a displaced goal
COARSE, VANISHED = 1.0e-7, 1.0e-3  # misfit, relative to the largest coefficient, that leaves a doubt


@part
def put_coefficients(fit, values, room, flat_room):
    """Write the coefficients that fit the determinants; return the misfit relative to the largest of them."""
    for k in range(COEFFICIENTS):
        total = values[0] * load(fit, k)
        for node in range(1, NODES):
            total = total + values[node] * load(fit, COEFFICIENTS * node + k)
        store(room, ROOM.coefficients + k, total)
    found = beyond(flat_room, WIDTH * ROOM.coefficients)
    largest, off = 0.0, 0.0
    for k in range(17):
        largest = max(largest, abs(found[k]))
    for k in range(MISFITS):
        off = max(off, abs(found[MISFIT + k]))
    return off / largest if largest > 0.0 else math.inf


@part
def put_polynomial(way, room, flat_way, flat_room, target, attempt):
    """Write the polynomial of a target, and the data for back substitution of its roots; return the misfit."""
    figures = flat_way
    triple, unity = beyond(way, WAY.triple), beyond(way, WAY.unity)
    goal, sides = beyond(flat_room, WIDTH * ROOM.goal), beyond(flat_room, WIDTH * ROOM.sides)
    mirrors, work = beyond(flat_room, WIDTH * ROOM.reflections), beyond(flat_room, WIDTH * ROOM.middle)
    equations = beyond(room, ROOM.equations)
    put_goal(figures, target, goal)
    aim = beyond(flat_room, WIDTH * ROOM.aim)
    for k in range(TRANSFORM.size):
        aim[k] = goal[k]
    if attempt >= ASIDE:
        put_aside(goal, attempt - ASIDE)
    put_sides(figures, goal, sides)
    put_mirrors(sides, work, mirrors, beyond(goal, 12))
    put_still(triple, unity, sides, mirrors, beyond(room, ROOM.upper), equations)
    put_turning(triple, sides, equations)
    rows = beyond(flat_room, WIDTH * ROOM.equations)
    balance(rows)
    put_determinants(rows, beyond(way, WAY.cosines), beyond(way, WAY.sines), room)
    return put_coefficients(beyond(way, WAY.fit), beyond(flat_room, WIDTH * ROOM.values), room, flat_room)


@part
def value_at(coefficients, degree, c, s):
    """Return the trigonometric polynomial at an angle, given as cosine and sine."""
    total, x, y = coefficients[0], 1.0, 0.0
    for k in range(1, degree + 1):
        x, y = x * c - y * s, x * s + y * c
        total += 2.0 * (coefficients[k] * x - coefficients[8 + k] * y)
    return total


@part
def chosen_roots(coefficients, degree, noise, widest, roots, near, off):
    """Write the pairs of the roots near the unit circle, and how certain each is off it; return their number.

    A root ``r e^(i q)`` is tried from ``q + log r``: of a pair that rounding has moved off the circle, one starts on
    either side. If the polynomial at q is larger than rounding, the root is truly off the circle.
    """
    largest, count = 0.0, 0
    for k in range(17):
        largest = max(largest, abs(coefficients[k]))
    for k in range(2 * degree):
        x, y = roots[k], roots[MOST + k]
        size = math.sqrt(x * x + y * y)
        if abs(size - 1.0) < widest:
            c, s, away = x / size, y / size, size - 1.0
            scale = 1.0 / math.sqrt(1.0 + away * away)
            near[count], near[MOST + count] = (c - s * away) * scale, (s + c * away) * scale
            off[count] = abs(value_at(coefficients, degree, c, s)) / (noise * largest) if largest > 0.0 else 0.0
            count += 1
    return count


@part
def least_imaginary(roots, degree):
    """Return the smallest imaginary part of the angles that are roots: the logarithm of the absolute value of z."""
    least = math.inf
    for k in range(2 * degree):
        square = roots[k] * roots[k] + roots[MOST + k] * roots[MOST + k]
        least = min(least, max(square, 1.0 / square) if square > 0.0 else math.inf)
    return 0.5 * math.log(least)


@part
def put_poses(figures, room, flat_room, group):
    """Write the poses of eight chosen roots, polished, as pairs."""
    c, s = load(room, ROOM.near + group), load(room, ROOM.near + MOST // WIDTH + group)
    sides, mirrors = beyond(flat_room, WIDTH * ROOM.sides), beyond(flat_room, WIDTH * ROOM.reflections)
    goal, pairs = beyond(flat_room, WIDTH * ROOM.goal), beyond(room, ROOM.pairs)
    put_middle(beyond(flat_room, WIDTH * ROOM.equations), c, s, room)
    put_null_vector(beyond(room, ROOM.middle), beyond(room, ROOM.labels), beyond(room, ROOM.vector))
    unknown = int(figures[FIGURES.order])
    store(pairs, 2 * unknown, c)
    store(pairs, 2 * unknown + 1, s)
    put_half_tangents(figures, beyond(room, ROOM.vector), pairs)
    put_other_joints(figures, sides, mirrors, goal, pairs)
    polish(figures, beyond(flat_room, WIDTH * ROOM.aim), room)


@inner
def known(out, angles, pivot, lane):
    """Return the index of the solution that equals a pose of a lane, or -1; coinciding solutions are less exact."""
    for k in range(int(out[REPORT.count])):
        one, apart = beyond(out, REPORT.size + SOLUTION.size * k), 0.0
        for joint in range(JOINTS):
            away = abs(one[joint] - angles[WIDTH * joint + lane])
            apart = max(apart, min(away, 2.0 * math.pi - away))
        if apart < SAME or (apart < SAME_FOLDED and max(pivot, one[SOLUTION.pivot]) < FOLDED):
            return k
    return -1


@inner
def keep(figures, angles, lane, moved, missing, pivot, attempt, out):
    """Add a pose of a lane to the solutions; return whether it is a doubt: another root of this attempt gave it.

    Two roots may give one pose only if two solutions coincide.
    """
    k = known(out, angles, pivot, lane)
    if k < 0 and out[REPORT.count] >= MOST:
        return True
    new = k < 0
    if new:
        k = int(out[REPORT.count])
        out[REPORT.count] += 1.0
    one = beyond(out, REPORT.size + SOLUTION.size * k)
    one[SOLUTION.roots] = one[SOLUTION.roots] + 1.0 if not new and one[SOLUTION.seen] == attempt else 1.0
    one[SOLUTION.seen] = attempt
    if new:
        for joint in range(JOINTS):
            one[SOLUTION.angles + joint] = angles[WIDTH * joint + lane]
        one[SOLUTION.position_error] = moved / figures[FIGURES.shrink]
        one[SOLUTION.rotation_error] = missing
        one[SOLUTION.pivot] = pivot
    return one[SOLUTION.roots] > (2.0 if one[SOLUTION.pivot] < FOLDED else 1.0)


@part
def keep_poses(figures, room, flat_room, group, count, attempt, out):
    """Add the confirmed poses of eight roots to the solutions; count the roots that gave none of their own."""
    turned = figures[FIGURES.turned] != 0.0
    for joint in range(JOINTS):  # the axes are no longer needed: their memory holds the angles
        at = ROOM.pairs + 2 * joint
        place = JOINTS - 1 - joint if turned else joint
        store(room, ROOM.axes + place, atan2(load(room, at + 1), load(room, at)))
    pairs, angles = beyond(flat_room, WIDTH * ROOM.pairs), beyond(flat_room, WIDTH * ROOM.axes)
    errors, near = beyond(flat_room, WIDTH * ROOM.errors), beyond(flat_room, WIDTH * ROOM.near)
    off = beyond(flat_room, WIDTH * ROOM.off)
    unknown, own = int(figures[FIGURES.order]), OWN if attempt < ASIDE else OWN_ASIDE
    for lane in range(min(WIDTH, count - WIDTH * group)):
        moved, missing = math.sqrt(errors[lane]), math.sqrt(errors[WIDTH + lane])
        root = WIDTH * group + lane
        dc = pairs[WIDTH * 2 * unknown + lane] - near[root]
        ds = pairs[WIDTH * (2 * unknown + 1) + lane] - near[MOST + root]
        reached, away = moved <= ACCEPTED and missing <= ACCEPTED, dc * dc + ds * ds > own * own
        doubt = away or not reached
        if reached:
            again = keep(figures, angles, lane, moved, missing, errors[2 * WIDTH + lane], attempt, out)
            doubt |= again
            if again and not away:
                off[root] = 0.0  # two roots that should give a pose each
        if doubt and off[root] < 1.0:
            out[REPORT.doubts] += 1.0


@part
def seen_in(attempt, out):
    """Return how many solutions an attempt has found; folded ones count twice."""
    total = 0
    for k in range(int(out[REPORT.count])):
        one = beyond(out, REPORT.size + SOLUTION.size * k)
        if one[SOLUTION.seen] == attempt:
            total += 2 if one[SOLUTION.pivot] < FOLDED else 1
    return total


@part
def all_regular(attempt, out):
    """Return whether an attempt found all solutions and none is near a fold, so that nearby goals have the same."""
    for k in range(int(out[REPORT.count])):
        one = beyond(out, REPORT.size + SOLUTION.size * k)
        if one[SOLUTION.seen] != attempt or one[SOLUTION.pivot] < REGULAR:
            return False
    return True


@part
def go_one_way(way, flat_way, room, flat_room, target, attempt, out):
    """Add the solutions that an attempt finds; return whether it leaves no doubt."""
    out[REPORT.doubts] = 0.0
    misfit = put_polynomial(way, room, flat_way, flat_room, target, attempt)
    degree = int(flat_way[FIGURES.degree])
    coefficients, roots = beyond(flat_room, WIDTH * ROOM.coefficients), beyond(flat_room, WIDTH * ROOM.roots)
    near, off = beyond(flat_room, WIDTH * ROOM.near), beyond(flat_room, WIDTH * ROOM.off)
    steps = put_roots(coefficients, degree, beyond(room, ROOM.roots), roots)
    widest, noise = NEAR, CERTAIN * (ROUNDING + misfit)
    if attempt >= ASIDE:  # complex roots of a displaced goal may be real at the goal
        widest, noise = NEAR_ASIDE[attempt - ASIDE], math.inf
    count = chosen_roots(coefficients, degree, noise, widest, roots, near, off)
    for k in range(count, WIDTH * ((count + WIDTH - 1) // WIDTH)):
        near[k], near[MOST + k] = near[0], near[MOST]
    for group in range((count + WIDTH - 1) // WIDTH):
        put_poses(flat_way, room, flat_room, group)
        keep_poses(flat_way, room, flat_room, group, count, attempt, out)
    out[REPORT.roots], out[REPORT.misfit], out[REPORT.steps] = count, misfit, steps
    unknown = flat_way[FIGURES.order]
    out[REPORT.unknown] = JOINTS - 1 - unknown if flat_way[FIGURES.turned] != 0.0 else unknown
    out[REPORT.all_roots], out[REPORT.imaginary] = 2 * degree, least_imaginary(roots, degree)
    out[REPORT.attempts] += 1.0
    if attempt < ASIDE and misfit > VANISHED:
        out[REPORT.vanished] = 1.0
    even = seen_in(attempt, out) % 2 == 0 and (attempt < ASIDE or all_regular(attempt, out))
    return out[REPORT.doubts] == 0.0 and misfit < COARSE and steps < LAST and even


@part
def go_all_ways(packed, flat_packed, ways, room, flat_room, target, out):
    """Write all solutions of a target.

    Each way of elimination is tried once; while doubts remain, again with slightly displaced goals, which avoid special
    poses (perpendicular joints, aligned axes), and near which every solution that is not folded has a neighbour.
    """
    for k in range(REPORT.size):
        out[k] = 0.0
    for attempt in range(1, ATTEMPTS + 1):
        k = (attempt - 1) % ways
        way, flat_way = beyond(packed, WAY.size * k), beyond(flat_packed, WIDTH * WAY.size * k)
        if go_one_way(way, flat_way, room, flat_room, target, attempt, out):
            out[REPORT.clear] = 1.0
            break


# Answers in the format of other closed forms: within limits, near a start


@part
def put_answers(numbers, start, given, near, aligned, raw, found, flat_found, out):
    """Write the solutions that have a copy within limits, nearest to a start first; return their number."""
    count, written, solutions = int(raw[REPORT.count]), 0, beyond(raw, REPORT.size)
    for first in range(0, count, WIDTH):
        for lane in range(WIDTH):
            one = beyond(solutions, SOLUTION.size * min(first + lane, count - 1))
            for joint in range(JOINTS):
                value = one[SOLUTION.angles + joint] / numbers[NUMBERS.scale + joint]
                flat_found[WIDTH * (BRANCH.values + joint) + lane] = value
            flat_found[WIDTH * BRANCH.position + lane] = one[SOLUTION.position_error] ** 2
            flat_found[WIDTH * BRANCH.rotation + lane] = one[SOLUTION.rotation_error] ** 2
        inside, away = settle(numbers, found, start, given)
        store(found, BRANCH.same, away)
        left = bits(inside & reaches(found, near, aligned))
        for lane in range(min(WIDTH, count - first)):
            if (left >> lane) & 1:
                pivot = solutions[SOLUTION.size * (first + lane) + SOLUTION.pivot]
                kind = DISTINCT if pivot > NEARLY_FOLDED else CLOSE
                if pivot < FOLDED:
                    kind = FREE if raw[REPORT.vanished] != 0.0 else DOUBLE
                sort_in(lane, flat_found, flat_found[WIDTH * BRANCH.same + lane], kind, out, written)
                written += 1
    return written


@inner
def answered(packed, numbers, target, start, given, near, aligned, room):
    """Write the answers for a target; return their number."""
    lanes, plain, ways = cells(room), flat(room), packed.shape[0] // WAY.size
    raw, found, aim = beyond(plain, WIDTH * ROOM.out), beyond(lanes, ROOM.branch), beyond(plain, WIDTH * ROOM.target)
    for k in range(16):
        aim[k] = target[k]
    go_all_ways(cells(packed), flat(packed), ways, lanes, plain, aim, raw)
    records = beyond(plain, WIDTH * ROOM.branch)
    return put_answers(cells(numbers), start, given, near, aligned, raw, found, records, plain)


@kernel("f8[,] f8[] f8[,] f8[] f8 f8 f8[,] -> i8")
def general_one(packed, numbers, target, start, near, aligned, room):
    """Write all solutions of a target, nearest to a start (if not empty) first; return their number.

    It is -1 if the target is not a rigid transform (4, 4).

    `packed` holds the arm's ways of elimination, `numbers` its NUMBERS. Squared errors may be up to `near` and
    `aligned`. `room` has ROOM.size rows; it begins with the answers, and keeps the target and a REPORT.
    """
    if target.shape[0] != 4 or target.shape[1] != 4 or not is_rigid(flat(target), 0):
        return -1
    return answered(packed, numbers, flat(target), cells(start), start.size > 0, near, aligned, room)


@kernel("f8[,] f8[] f8[] f8 f8 f8[,] f8[] u1[] u1[]", nogil=True)
def general_many(packed, numbers, targets, near, aligned, room, values, mask, clear):
    """Write all solutions of targets (m * 16,): values (m * 16 * 6,), NaN if unused, and a mask (m * 16,).

    `clear` (m,) tells for which targets it is certain that all were found; a target that is not rigid has none.
    """
    answers, report = flat(room), beyond(flat(room), WIDTH * ROOM.out)
    for k in range(targets.size // 16):
        target = beyond(cells(targets), 16 * k)
        rigid, count = is_rigid(target, 0), 0
        if rigid:
            count = answered(packed, numbers, target, cells(numbers), False, near, aligned, room)
        for one in range(MOST):
            mask[MOST * k + one] = one < count
            for joint in range(JOINTS):
                value = answers[ANSWER.size * one + ANSWER.values + joint] if one < count else math.nan
                values[JOINTS * (MOST * k + one) + joint] = value
        clear[k] = rigid and report[REPORT.clear] != 0.0


@kernel("f8[,] f8[,] f8[,] f8[] -> f8")
def general_roots(packed, target, room, out):
    """Write the roots of a target for the first way of elimination, 16 real and imaginary parts; return the misfit."""
    way, flat_way, lanes, numbers = cells(packed), flat(packed), cells(room), flat(room)
    misfit = put_polynomial(way, lanes, flat_way, numbers, flat(target), 1)
    degree, roots = int(flat_way[FIGURES.degree]), beyond(numbers, WIDTH * ROOM.roots)
    put_roots(beyond(numbers, WIDTH * ROOM.coefficients), degree, beyond(lanes, ROOM.roots), roots)
    for k in range(2 * MOST):
        out[k] = roots[k]
    return misfit
