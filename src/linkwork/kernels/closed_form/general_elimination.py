"""Elimination for any six revolute joints: from a target to a polynomial in one joint's angle, and back from its roots.

The joints are numbered from 0. With ``E`` the turn of a joint and X the fifth line (joint 4, which leaves it where it
is), ``E0 ... E5 = G`` says that two lines are one:

    E1 E2 E3 X  =  E0^-1 G E5^-1 X

For a line through the point p along the unit vector l, the fourteen numbers ``p, p·p, l, p x l, p·l`` and
``(p·p) l - 2 (p·l) p`` of its left side are *linear* in the cosine and the sine of each of joints 1, 2 and 3, those of
its right side in those of joints 0 and 5 (Raghavan and Roth, 1993): turns are linear maps of these numbers. In a frame
whose z axis is joint 0, six of them do not see that joint, and of the other eight, pairs (x + i y) are only turned by
it. So joints 5 and 0 go:

    six numbers are linear in (1, c5, s5)       two reflections leave four equations without them
    four pairs are e^(-i q0) times the same     the vector at right angles to three columns leaves one complex equation

Six equations remain in joints 1, 2, 3, with half tangents u, v for two of them, quadratic in each. They and u times
them are twelve equations linear in the twelve products of (u³, u², u, 1) and (v², v, 1). The determinant of their
matrix must vanish: it is a trigonometric polynomial in the third angle, the unknown.

What joints 0 and 5 are to each other depends on the goal, which lies between them, and not on the arm: parallel and
meeting neighbours, which spoil other splits, spoil this one only where they are joints 1 to 4.
"""

from __future__ import annotations

import math

from .. import inner, part
from ..joint_step import GENERAL, blend, place, plus, vector
from ..lanes import beyond, fabs, load, select, sqrt, store
from ..rotations import cross, dot, length, minus, times
from .general_memory import COLUMNS, FIGURES, NODES, REFLECTIONS, REST, ROOM, STILL, WIDTH

THIRD, ROOT = 1.0 / 3.0, 1.0 / math.sqrt(3.0)
ROWS, WIDE, REDUCED = 6, 9, 3  # of the block of six equations: rows, columns, and columns that are eliminated
MIDDLE = 6
NEARBY = (2.0e-2, 2.0e-2, 1.0e-3, 1.0e-3)  # how far goals are set aside [rad]


# The goal's side


@part
def put_goal(figures, target, goal):
    """Write the motion that the joints must make, as seen in the way's frame, as a TRANSFORM.

    A target of fewer digits is made a rotation again.
    """
    b, c, o = (target[0], target[4], target[8]), (target[1], target[5], target[9]), (target[3], target[7], target[11])
    b = times(1.0 / length(b), b)
    c = minus(c, times(dot(b, c), b))
    c = times(1.0 / length(c), c)
    d = cross(b, c)
    if figures[FIGURES.turned] != 0.0:
        o = -dot(b, o), -dot(c, o), -dot(d, o)
        b, c, d = (b[0], c[0], d[0]), (b[1], c[1], d[1]), (b[2], c[2], d[2])
    o = times(figures[FIGURES.shrink], o)
    at = FIGURES.before
    x, y, z, p = vector(figures, at), vector(figures, at + 3), vector(figures, at + 6), vector(figures, at + 9)
    p = plus(p, blend(x, y, z, *o))
    x, y, z = blend(x, y, z, *b), blend(x, y, z, *c), blend(x, y, z, *d)
    x, y, z, p = place(GENERAL, figures, FIGURES.after, x, y, z, p)
    for k in range(3):
        goal[k], goal[3 + k], goal[6 + k], goal[9 + k] = x[k], y[k], z[k], p[k]


@part
def put_aside(goal, which):
    """Turn and shift a goal a little."""
    size = NEARBY[which % len(NEARBY)]
    axis = (0.36, 0.48, 0.8) if which % 2 == 0 else (0.64, -0.6, 0.48)  # unit vectors
    c, s = math.cos(size), math.sin(size)
    for k in range(4):
        v = turned(axis, c, s, vector(goal, 3 * k))
        goal[3 * k], goal[3 * k + 1], goal[3 * k + 2] = v


@inner
def numbers_of(p, l):  # noqa: E741
    """Return the fourteen numbers of a line: six that a turn about z leaves, four x parts, four y parts."""
    pp, pl = dot(p, p), dot(p, l)
    m, w = cross(p, l), minus(times(pp, l), times(2.0 * pl, p))
    return p[2], pp, l[2], m[2], pl, w[2], p[0], l[0], m[0], w[0], p[1], l[1], m[1], w[1]


@part
def put_sides(figures, goal, sides):
    """Write the right side: each equation's parts of 1, of the cosine and of the sine of joint 5."""
    x, y, z, o = vector(goal, 0), vector(goal, 3), vector(goal, 6), vector(goal, 9)
    for turn in range(3):
        at = FIGURES.fifth + 3 * turn
        p = plus(blend(x, y, z, *vector(figures, at)), o)
        found = numbers_of(p, blend(x, y, z, *vector(figures, at + 9)))
        for k in range(14):
            sides[3 * k + turn] = found[k]
    for k in range(14):
        a, b, c = sides[3 * k], sides[3 * k + 1], sides[3 * k + 2]
        sides[3 * k], sides[3 * k + 1] = THIRD * (a + b + c), THIRD * (2.0 * a - b - c)
        sides[3 * k + 2] = ROOT * (b - c)


# Joints 5 and 0 go


@inner
def put_reflection(column, first, out):
    """Write the reflection that clears a column below an item, and its factor; return what the item becomes."""
    size = 0.0
    for k in range(STILL):
        out[k] = column[k] if k >= first else 0.0
        size += out[k] * out[k]
    length = math.copysign(math.sqrt(size), -column[first])
    out[first] -= length
    square = size - column[first] * column[first] + out[first] * out[first]
    out[STILL] = 2.0 / square if square > 0.0 else 0.0
    return length


@inner
def reflected(mirror, column):
    """Reflect a column of numbers."""
    share = 0.0
    for k in range(STILL):
        share += mirror[k] * column[k]
    share *= mirror[STILL]
    for k in range(STILL):
        column[k] -= share * mirror[k]


@part
def put_mirrors(sides, columns, mirrors, rest):
    """Take the columns of cosine and sine of joint 5 out of the first six equations: two reflections and a triangle.

    The longer column goes first.
    """
    long, short = 0.0, 0.0
    for k in range(STILL):
        long += sides[3 * k + 1] * sides[3 * k + 1]
        short += sides[3 * k + 2] * sides[3 * k + 2]
    swapped = 1 if short > long else 0
    other = beyond(columns, STILL)
    for k in range(STILL):
        columns[k], other[k] = sides[3 * k + 1 + swapped], sides[3 * k + 2 - swapped]
    rest[REST.swapped] = swapped
    rest[REST.triangle] = put_reflection(columns, 0, beyond(mirrors, REFLECTIONS.first))
    reflected(beyond(mirrors, REFLECTIONS.first), other)
    rest[REST.triangle + 1] = other[0]
    rest[REST.triangle + 2] = put_reflection(other, 1, beyond(mirrors, REFLECTIONS.second))


@part
def put_still(triple, unity, sides, mirrors, still, equations):
    """Write the four equations that are left of the first six. `still` is room for six rows of 27 columns."""
    for g in range(COLUMNS):
        one = load(unity, g)
        for k in range(STILL):
            store(still, k, load(triple, COLUMNS * k + g) - sides[3 * k] * one)
        for m in range(2):
            mirror = beyond(mirrors, REFLECTIONS.second * m)
            share = mirror[0] * load(still, 0)
            for k in range(1, STILL):
                share = share + mirror[k] * load(still, k)
            share = share * mirror[STILL]
            for k in range(STILL):
                store(still, k, load(still, k) - mirror[k] * share)
        for k in range(2, STILL):
            store(equations, COLUMNS * (k - 2) + g, load(still, k))


@inner
def pair(sides, k, part_of):
    """Return the complex number of an equation that joint 0 turns, its part of 1, cosine or sine."""
    return complex(sides[3 * (6 + k) + part_of], sides[3 * (10 + k) + part_of])


@part
def put_turning(triple, sides, equations):
    """Write the two equations that are left of the other eight, real and imaginary part of one."""
    a0, a1, a2, a3 = pair(sides, 0, 0), pair(sides, 1, 0), pair(sides, 2, 0), pair(sides, 3, 0)
    b0, b1, b2, b3 = pair(sides, 0, 1), pair(sides, 1, 1), pair(sides, 2, 1), pair(sides, 3, 1)
    c0, c1, c2, c3 = pair(sides, 0, 2), pair(sides, 1, 2), pair(sides, 2, 2), pair(sides, 3, 2)
    m01, m02, m03 = b0 * c1 - b1 * c0, b0 * c2 - b2 * c0, b0 * c3 - b3 * c0
    m12, m13, m23 = b1 * c2 - b2 * c1, b1 * c3 - b3 * c1, b2 * c3 - b3 * c2
    n = (
        a1 * m23 - a2 * m13 + a3 * m12,
        a2 * m03 - a0 * m23 - a3 * m02,
        a0 * m13 - a1 * m03 + a3 * m01,
        a1 * m02 - a0 * m12 - a2 * m01,
    )
    square = 0.0
    for k in range(4):
        square += n[k].real * n[k].real + n[k].imag * n[k].imag
    scale = 1.0 / math.sqrt(square) if square > 0.0 else 0.0
    for g in range(COLUMNS):
        x, y = load(triple, COLUMNS * 6 + g), load(triple, COLUMNS * 10 + g)
        real, imaginary = n[0].real * x - n[0].imag * y, n[0].imag * x + n[0].real * y
        for k in range(1, 4):
            x, y = load(triple, COLUMNS * (6 + k) + g), load(triple, COLUMNS * (10 + k) + g)
            real = real + (n[k].real * x - n[k].imag * y)
            imaginary = imaginary + (n[k].imag * x + n[k].real * y)
        store(equations, COLUMNS * 4 + g, real * scale)
        store(equations, COLUMNS * 5 + g, imaginary * scale)


@part
def balance(flat_equations):
    """Bring the six equations to one size."""
    for row in range(ROWS):
        one, square = beyond(flat_equations, WIDTH * COLUMNS * row), 0.0
        for k in range(27):
            square += one[k] * one[k]
        scale = 1.0 / math.sqrt(square) if square > 0.0 else 0.0
        for k in range(27):
            one[k] *= scale


# The matrix at an angle, in lanes: one angle a lane


@part
def put_block(equations, c, s, upper, lower):
    """Write the six equations at an angle, powers of u down from 2; in `lower` the last power first."""
    for row in range(ROWS):
        one = beyond(equations, WIDTH * COLUMNS * row)
        for k in range(WIDE):
            x = one[k] + one[WIDE + k] * c + one[2 * WIDE + k] * s
            store(upper, WIDE * row + k, x)
            store(lower, WIDE * row + (k + REDUCED) % WIDE, x)


@inner
def pivoted(matrix, rows, columns, k):
    """Bring the largest number below an item of the diagonal to it, lane by lane; return it, and the sign."""
    sign = 1.0 + 0.0 * load(matrix, columns * k + k)
    for i in range(k + 1, rows):
        swap = fabs(load(matrix, columns * i + k)) > fabs(load(matrix, columns * k + k))
        sign = select(swap, -sign, sign)
        for j in range(k, columns):
            a, b = load(matrix, columns * k + j), load(matrix, columns * i + j)
            store(matrix, columns * k + j, select(swap, b, a))
            store(matrix, columns * i + j, select(swap, a, b))
    return load(matrix, columns * k + k), sign


@inner
def cleared(matrix, rows, columns, k, pivot):
    """Take a row out of all below it."""
    share = 1.0 / select(fabs(pivot) > 0.0, pivot, 1.0)
    for i in range(k + 1, rows):
        factor = load(matrix, columns * i + k) * share
        for j in range(k + 1, columns):
            store(matrix, columns * i + j, load(matrix, columns * i + j) - factor * load(matrix, columns * k + j))


@part
def eliminated(matrix, rows, columns, steps):
    """Eliminate the first columns of a matrix, with pivots; return the product of these, with its sign."""
    product, sign = pivoted(matrix, rows, columns, 0)
    cleared(matrix, rows, columns, 0, product)
    product = product * sign
    for k in range(1, steps):
        pivot, sign = pivoted(matrix, rows, columns, k)
        cleared(matrix, rows, columns, k, pivot)
        product = product * (pivot * sign)
    return product


@part
def put_middle(equations, c, s, room):
    """Write the 6x6 matrix of the products with u² and u that is left at an angle; return what det has beside its own.

    Of the twelve equations, u times the six have no 1 and the six have no u³: each takes three columns out alone.
    """
    upper, lower, middle = beyond(room, ROOM.upper), beyond(room, ROOM.lower), beyond(room, ROOM.middle)
    put_block(equations, c, s, upper, lower)
    product = eliminated(upper, ROWS, WIDE, REDUCED) * eliminated(lower, ROWS, WIDE, REDUCED)
    for i in range(REDUCED):
        for j in range(MIDDLE):
            store(middle, MIDDLE * i + j, load(upper, WIDE * (REDUCED + i) + REDUCED + j))
            store(middle, MIDDLE * (REDUCED + i) + j, load(lower, WIDE * (REDUCED + i) + REDUCED + j))
    return product


@part
def put_determinants(equations, cosines, sines, room):
    """Write the determinant of the twelve equations at all nodes."""
    for g in range(NODES // WIDTH):
        product = put_middle(equations, load(cosines, g), load(sines, g), room)
        own = eliminated(beyond(room, ROOM.middle), MIDDLE, MIDDLE, MIDDLE)
        store(room, ROOM.values + g, product * own)


# Back from a root, in lanes: one root a lane


@part
def put_null_vector(middle, labels, out):
    """Write the vector that a 6x6 matrix makes least, all pivots sought in rows and columns."""
    for j in range(MIDDLE):
        store(labels, j, float(j))
    for k in range(MIDDLE - 1):
        for j in range(k + 1, MIDDLE):  # columns: the largest number of each decides
            one, other = fabs(load(middle, MIDDLE * k + k)), fabs(load(middle, MIDDLE * k + j))
            for i in range(k + 1, MIDDLE):
                a, b = fabs(load(middle, MIDDLE * i + k)), fabs(load(middle, MIDDLE * i + j))
                one, other = select(a > one, a, one), select(b > other, b, other)
            swap = other > one
            for i in range(MIDDLE):
                a, b = load(middle, MIDDLE * i + k), load(middle, MIDDLE * i + j)
                store(middle, MIDDLE * i + k, select(swap, b, a))
                store(middle, MIDDLE * i + j, select(swap, a, b))
            a, b = load(labels, k), load(labels, j)
            store(labels, k, select(swap, b, a))
            store(labels, j, select(swap, a, b))
        pivot, _ = pivoted(middle, MIDDLE, MIDDLE, k)
        cleared(middle, MIDDLE, MIDDLE, k, pivot)
    x5 = 1.0 + 0.0 * load(middle, 0)
    store(out, MIDDLE - 1, x5)
    for back in range(1, MIDDLE):
        k = MIDDLE - 1 - back
        total = -load(middle, MIDDLE * k + MIDDLE - 1)
        for j in range(k + 1, MIDDLE - 1):
            total = total - load(middle, MIDDLE * k + j) * load(out, j)
        pivot = load(middle, MIDDLE * k + k)
        store(out, k, total / select(fabs(pivot) > 0.0, pivot, 1.0))
    for j in range(MIDDLE):  # `middle` is done with: the vector in the order of its columns
        found = 0.0 * x5
        for k in range(MIDDLE):
            label = load(labels, k)
            found = select((label > j - 0.5) & (label < j + 0.5), load(out, k), found)
        store(middle, j, found)
    for j in range(MIDDLE):
        store(out, j, load(middle, j))


@inner
def unit_pair(c, s):
    """Return a pair brought to length one."""
    square = c * c + s * s
    scale = 1.0 / sqrt(select(square > 0.0, square, 1.0))
    return select(square > 0.0, c * scale, 1.0), s * scale


@part
def put_half_tangents(figures, found, pairs):
    """Write the pairs of the joints u and v from the products (u² v², u² v, u², u v², u v, u).

    With ``a = u b`` for two rows a and b, the pair of the angle is ``(b·b - a·a, 2 a·b)``.
    """
    c, s = 0.0 * load(found, 0), 0.0 * load(found, 0)
    for j in range(3):
        a, b = load(found, j), load(found, 3 + j)
        c, s = c + (b * b - a * a), s + 2.0 * a * b
    put_joint(pairs, int(figures[FIGURES.order + 1]), unit_pair(c, s), figures, FIGURES.ahead)
    c, s = 0.0 * c, 0.0 * s
    for j in (0, 1, 3, 4):
        a, b = load(found, j), load(found, j + 1)
        c, s = c + (b * b - a * a), s + 2.0 * a * b
    put_joint(pairs, int(figures[FIGURES.order + 2]), unit_pair(c, s), figures, FIGURES.ahead + 2)


@inner
def put_joint(pairs, joint, angle, figures, ahead):
    """Write a joint's pair, turned on by what the elimination turned it back."""
    c, s = figures[ahead], figures[ahead + 1]
    store(pairs, 2 * joint, angle[0] * c - angle[1] * s)
    store(pairs, 2 * joint + 1, angle[1] * c + angle[0] * s)


@inner
def turned(h, c, s, v):
    """Return a vector turned about a unit vector."""
    across, along = cross(h, v), dot(h, v) * (1.0 - c)
    return (
        v[0] * c + across[0] * s + h[0] * along,
        v[1] * c + across[1] * s + h[1] * along,
        v[2] * c + across[2] * s + h[2] * along,
    )


@part
def put_other_joints(figures, sides, mirrors, goal, pairs):
    """Write the pairs of joints 5, 0 and 4, joints 1, 2 and 3 known: where their line is says the first two."""
    lines = beyond(figures, FIGURES.lines)
    zero = 0.0 * load(pairs, 2)
    l, p = vector(lines, 24), vector(lines, 27)  # noqa: E741
    l, p = (l[0] + zero, l[1] + zero, l[2] + zero), (p[0] + zero, p[1] + zero, p[2] + zero)  # noqa: E741
    for back in range(3):
        joint = 3 - back
        h, at, c, s = (
            vector(lines, 6 * joint),
            vector(lines, 6 * joint + 3),
            load(pairs, 2 * joint),
            load(pairs, 2 * joint + 1),
        )
        l, p = turned(h, c, s, l), plus(at, turned(h, c, s, minus(p, at)))  # noqa: E741
    left = numbers_of(p, l)
    c5, s5 = sixth_joint(sides, mirrors, beyond(goal, 12), left)
    store(pairs, 10, c5)
    store(pairs, 11, s5)
    real, imaginary = zero, zero
    for k in range(4):
        ax = sides[3 * (6 + k)] + sides[3 * (6 + k) + 1] * c5 + sides[3 * (6 + k) + 2] * s5
        ay = sides[3 * (10 + k)] + sides[3 * (10 + k) + 1] * c5 + sides[3 * (10 + k) + 2] * s5
        bx, by = left[6 + k], left[10 + k]
        real, imaginary = real + (bx * ax + by * ay), imaginary + (by * ax - bx * ay)
    c0, s0 = unit_pair(real, -imaginary)
    store(pairs, 0, c0)
    store(pairs, 1, s0)
    v = vector(figures, FIGURES.across)
    w = turned(vector(lines, 30), c5, -s5, (v[0] + zero, v[1] + zero, v[2] + zero))
    w = blend(vector(goal, 0), vector(goal, 3), vector(goal, 6), *w)
    for joint in range(4):
        w = turned(vector(lines, 6 * joint), load(pairs, 2 * joint), -load(pairs, 2 * joint + 1), w)
    c4, s4 = unit_pair(dot(w, v), dot(w, cross(vector(lines, 24), v)))
    store(pairs, 8, c4)
    store(pairs, 9, s4)


@inner
def sixth_joint(sides, mirrors, rest, left):
    """Return the pair of joint 5 that fits the first six equations best."""
    a, b = left[0] - sides[0], left[1] - sides[3]
    one, two = mirrors[REFLECTIONS.first + 0] * a, mirrors[REFLECTIONS.first + 1] * b
    share = one + two
    for k in range(2, STILL):
        share = share + mirrors[REFLECTIONS.first + k] * (left[k] - sides[3 * k])
    share = share * mirrors[REFLECTIONS.first_factor]
    total = 0.0 * share
    for k in range(1, STILL):
        total = total + mirrors[REFLECTIONS.second + k] * (
            left[k] - sides[3 * k] - share * mirrors[REFLECTIONS.first + k]
        )
    total = total * mirrors[REFLECTIONS.second_factor]
    first = a - share * mirrors[REFLECTIONS.first]
    second = b - share * mirrors[REFLECTIONS.first + 1] - total * mirrors[REFLECTIONS.second + 1]
    corner, side, end = rest[REST.triangle], rest[REST.triangle + 1], rest[REST.triangle + 2]
    y = second / (end if end != 0.0 else 1.0)
    x = (first - side * y) / (corner if corner != 0.0 else 1.0)
    if rest[REST.swapped] != 0.0:
        return unit_pair(y, x)
    return unit_pair(x, y)
