"""Elimination for any six revolute joints: from a target to the determinant whose roots are one joint's angles.

The joints are numbered from 0. With ``E`` the rotation of a joint and X the fifth line (joint 4, which leaves it in
place), ``E0 ... E5 = G`` means that two lines are equal:

    E1 E2 E3 X  =  E0^-1 G E5^-1 X

For a line through the point p along the unit vector l, the fourteen numbers ``p, p·p, l, p x l, p·l`` and
``(p·p) l - 2 (p·l) p`` of its left side are *linear* in the cosine and the sine of each of joints 1, 2 and 3, those of
its right side in those of joints 0 and 5 (Raghavan and Roth, 1993): rotations are linear maps of these numbers. In a
frame whose z axis is joint 0, six of them do not depend on that joint, and of the other eight, pairs (x + i y) are only
rotated by it. So joints 5 and 0 can be eliminated:

    six numbers are linear in (1, c5, s5)       two reflections leave four equations without them
    four pairs are e^(-i q0) times the same     the vector perpendicular to three columns leaves one complex equation

Six equations remain in joints 1, 2, 3, with half tangents u, v for two of them, quadratic in each. They and u times
them are twelve equations linear in the twelve products of (u³, u², u, 1) and (v², v, 1). The determinant of their
matrix must vanish: it is a trigonometric polynomial in the third angle, the unknown.

The relation of joints 0 and 5 depends on the goal, which lies between them, and not on the arm: parallel and
intersecting neighbours, which spoil other splits, spoil this one only if they are joints 1 to 4.
"""

from __future__ import annotations

import math

from .. import inner, part
from ..joint_step import GENERAL, blend, place, vector
from ..lanes import beyond, load, store
from ..rotations import cross, dot, length, minus, plus, times
from .general_matrices import eliminated
from .general_memory import COLUMNS, FIGURES, NODES, REFLECTIONS, REST, ROOM, STILL, WIDTH

THIRD, ROOT = 1.0 / 3.0, 1.0 / math.sqrt(3.0)
ROWS, WIDE, REDUCED = 6, 9, 3  # of the block of six equations: rows, columns, and eliminated columns
MIDDLE = 6
NEARBY = (2.0e-2, 2.0e-2, 1.0e-3, 1.0e-3)  # displacements of goals [rad]


# The goal's side


@part
def put_goal(figures, target, goal):
    """Write the motion that the joints must make, in the frame of the elimination, as a TRANSFORM.

    A target with fewer digits is orthonormalized.
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


@inner
def turned(h, c, s, v):
    """Return a vector rotated about a unit vector."""
    across, along = cross(h, v), dot(h, v) * (1.0 - c)
    return (
        v[0] * c + across[0] * s + h[0] * along,
        v[1] * c + across[1] * s + h[1] * along,
        v[2] * c + across[2] * s + h[2] * along,
    )


@part
def put_aside(goal, which):
    """Rotate and shift a goal slightly."""
    size = NEARBY[which % len(NEARBY)]
    axis = (0.36, 0.48, 0.8) if which % 2 == 0 else (0.64, -0.6, 0.48)  # unit vectors
    c, s = math.cos(size), math.sin(size)
    for k in range(4):
        v = turned(axis, c, s, vector(goal, 3 * k))
        goal[3 * k], goal[3 * k + 1], goal[3 * k + 2] = v


@inner
def numbers_of(p, l):  # noqa: E741
    """Return the fourteen numbers of a line: six invariant to rotation about z, four x parts, four y parts."""
    pp, pl = dot(p, p), dot(p, l)
    m, w = cross(p, l), minus(times(pp, l), times(2.0 * pl, p))
    return p[2], pp, l[2], m[2], pl, w[2], p[0], l[0], m[0], w[0], p[1], l[1], m[1], w[1]


@part
def put_sides(figures, goal, sides):
    """Write the right side: each equation's coefficients of 1 and of the cosine and sine of joint 5."""
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


# Elimination of joints 5 and 0


@inner
def put_reflection(column, first, out):
    """Write the Householder reflection that clears a column below an item, and its factor; return the new item."""
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
    """Reflect a column of numbers, in place."""
    share = 0.0
    for k in range(STILL):
        share += mirror[k] * column[k]
    share *= mirror[STILL]
    for k in range(STILL):
        column[k] -= share * mirror[k]


@part
def put_mirrors(sides, columns, mirrors, rest):
    """Eliminate the cosine and sine of joint 5 from the first six equations: two reflections and a triangle.

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
    """Write the four equations that remain of the first six. `still` is workspace for six rows of 27 columns."""
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
    """Return the complex number of an equation that joint 0 rotates: its coefficient of 1, cosine or sine."""
    return complex(sides[3 * (6 + k) + part_of], sides[3 * (10 + k) + part_of])


@part
def put_turning(triple, sides, equations):
    """Write the two equations that remain of the other eight, real and imaginary part of one."""
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
    """Scale the six equations to norm one."""
    for row in range(ROWS):
        one, square = beyond(flat_equations, WIDTH * COLUMNS * row), 0.0
        for k in range(27):
            square += one[k] * one[k]
        scale = 1.0 / math.sqrt(square) if square > 0.0 else 0.0
        for k in range(27):
            one[k] *= scale


# The matrix at an angle, one angle in each lane


@part
def put_block(equations, c, s, upper, lower):
    """Write the six equations at an angle, by decreasing powers of u; in `lower` the last power comes first."""
    for row in range(ROWS):
        one = beyond(equations, WIDTH * COLUMNS * row)
        for k in range(WIDE):
            x = one[k] + one[WIDE + k] * c + one[2 * WIDE + k] * s
            store(upper, WIDE * row + k, x)
            store(lower, WIDE * row + (k + REDUCED) % WIDE, x)


@part
def put_middle(equations, c, s, room):
    """Write the remaining 6x6 matrix of the products with u² and u at an angle; return the other factor of det.

    Of the twelve equations, u times the six have no 1 and the six have no u³: each half eliminates three columns alone.
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
