"""Newton's method on the values of a branch, for arms that deviate slightly from their family, or if digits were lost.

The columns of the Jacobian come from the present joint axes; ``dq = J^T (J J^T + damping)^-1 e``. A step that increases
the error is not taken.
"""

from __future__ import annotations

from .. import inner, part
from ..joint_step import blend, sine_cosine, vector
from ..lanes import beyond, bits, fill, load, select, sqrt, store
from ..rotations import cross, dot, minus, plus, times
from .check import applied, turn_matrix
from .form_layout import BRANCH, CODES, GOAL, JOINTS, NUMBERS, columns, line

# Damping of the normal matrix, relative to its mean: initial, largest, and factors after a step that increases the
# error, and after one that does not
DAMPING, STRONGEST, MORE, LESS = 1.0e-8, 1.0, 30.0, 0.1
FINE = 1.0e-24  # squared error, relative to the arm's squared size, below which no polish is needed
POLISH_ROOM = JOINTS * JOINTS + JOINTS * JOINTS + 2 * JOINTS


@inner
def squared_error(goal, x, y, p):
    """Return the squared errors of a frame: of the distance, and of 2 sin(half the angle)."""
    gx, gy, gz, gp = columns(goal, GOAL.target)
    away, a, b, c = minus(p, gp), minus(x, gx), minus(y, gy), minus(cross(x, y), gz)
    return dot(away, away), 0.5 * (dot(a, a) + dot(b, b) + dot(c, c))


@inner
def sweep(codes, numbers, found, work):
    """Return the tip's frame at the values of a branch; store the axis and point of every joint in `work`, 6 each."""
    one, zero = fill(found, 1.0), fill(found, 0.0)
    x, y, z, o = (one, zero, zero), (zero, one, zero), (zero, zero, one), (zero, zero, zero)
    for joint in range(JOINTS):
        h, c = line(numbers, NUMBERS.lines, joint)
        axis, point = blend(x, y, z, *h), plus(o, blend(x, y, z, *c))
        for k in range(3):
            store(work, JOINTS * joint + k, axis[k])
            store(work, JOINTS * joint + 3 + k, point[k])
        amount = load(found, BRANCH.values + joint) * load(numbers, NUMBERS.scale + joint)
        if load(codes, CODES.slides + load(codes, CODES.place + joint)):
            o = plus(o, times(amount, axis))
        else:
            sine, cosine = sine_cosine(amount)
            turn = turn_matrix(axis, cosine, sine)
            x, y, z = applied(turn, x), applied(turn, y), applied(turn, z)
            o = plus(point, applied(turn, minus(o, point)))
    tx, ty, tz, tp = columns(numbers, NUMBERS.tip)
    return blend(x, y, z, *tx), blend(x, y, z, *ty), blend(x, y, z, *tz), plus(o, blend(x, y, z, *tp))


@inner
def put_columns(codes, numbers, arm, p, work):
    """Replace axes and points by columns of the Jacobian; a radian counts as the arm's length."""
    for joint in range(JOINTS):
        axis, point = vector(work, JOINTS * joint), vector(work, JOINTS * joint + 3)
        scale = load(numbers, NUMBERS.scale + joint)
        slides = load(codes, CODES.slides + load(codes, CODES.place + joint))
        turns = 0.0 if slides else scale
        way = times(scale, axis) if slides else times(scale, cross(axis, minus(p, point)))
        turn = times(turns * arm, axis)
        for k in range(3):
            store(work, JOINTS * joint + k, way[k])
            store(work, JOINTS * joint + 3 + k, turn[k])


@inner
def put_normal(work, matrix, damping):
    """Write the lower half of ``J J^T`` with damping."""
    trace = fill(work, 0.0)
    for i in range(JOINTS):
        for j in range(i + 1):
            total = fill(work, 0.0)
            for joint in range(JOINTS):
                total = total + load(work, JOINTS * joint + i) * load(work, JOINTS * joint + j)
            store(matrix, JOINTS * i + j, total)
            if i == j:
                trace = trace + total
    for i in range(JOINTS):
        at = (JOINTS + 1) * i
        store(matrix, at, load(matrix, at) + trace * damping * (1.0 / JOINTS))


@inner
def solve_normal(matrix, e):
    """Solve for the vector e in place; the factors ``L D L^T`` replace the matrix."""
    for i in range(JOINTS):
        for j in range(i + 1):
            total = load(matrix, JOINTS * i + j)
            for k in range(j):
                total = total - (
                    load(matrix, JOINTS * i + k) * load(matrix, JOINTS * j + k) * load(matrix, (JOINTS + 1) * k)
                )
            store(matrix, JOINTS * i + j, total if i == j else total / load(matrix, (JOINTS + 1) * j))
    for i in range(JOINTS):
        total = load(e, i)
        for k in range(i):
            total = total - load(matrix, JOINTS * i + k) * load(e, k)
        store(e, i, total)
    for back in range(JOINTS):
        i = JOINTS - 1 - back
        total = load(e, i) / load(matrix, (JOINTS + 1) * i)
        for k in range(i + 1, JOINTS):
            total = total - load(matrix, JOINTS * k + i) * load(e, k)
        store(e, i, total)


@inner
def keep_better(found, before, position, rotation, arm):
    """Keep the values of a branch if they are better than those before, else restore these; update the errors."""
    was = load(found, BRANCH.position) + load(found, BRANCH.rotation) * (arm * arm)
    better = position + rotation * (arm * arm) < was
    for joint in range(JOINTS):
        value = select(better, load(found, BRANCH.values + joint), load(before, joint))
        store(found, BRANCH.values + joint, value)
    store(found, BRANCH.position, select(better, position, load(found, BRANCH.position)))
    store(found, BRANCH.rotation, select(better, rotation, load(found, BRANCH.rotation)))
    return better


@part
def polish(codes, numbers, goal, found, work):
    """Take Newton steps from the values of a branch, in all lanes, at most as many as the codes allow."""
    square = load(numbers, NUMBERS.extent)
    arm = sqrt(square)
    matrix, e = beyond(work, JOINTS * JOINTS), beyond(work, 2 * JOINTS * JOINTS)
    before = beyond(e, JOINTS)
    gx, gy, gz, gp = columns(goal, GOAL.target)
    damping = fill(work, DAMPING)
    for _ in range(load(codes, CODES.polish)):
        x, y, z, p = sweep(codes, numbers, found, work)
        put_columns(codes, numbers, arm, p, work)
        put_normal(work, matrix, damping)
        way, turn = minus(gp, p), plus(plus(cross(x, gx), cross(y, gy)), cross(z, gz))
        for k in range(3):
            store(e, k, way[k])
            store(e, 3 + k, turn[k] * (0.5 * arm))
        solve_normal(matrix, e)
        for joint in range(JOINTS):
            step = fill(work, 0.0)
            for k in range(JOINTS):
                step = step + load(work, JOINTS * joint + k) * load(e, k)
            store(before, joint, load(found, BRANCH.values + joint))
            store(found, BRANCH.values + joint, load(found, BRANCH.values + joint) + step)
        x, y, _, p = sweep(codes, numbers, found, work)
        position, rotation = squared_error(goal, x, y, p)
        better = keep_better(found, before, position, rotation, arm)
        damping = select(better, damping * LESS, damping * MORE)
        damping = select(damping > STRONGEST, STRONGEST, damping)
        if bits(needs_polish(numbers, found)) == 0:
            return


@inner
def needs_polish(numbers, found):
    """Return the lanes of a branch that are near the goal, but not at full precision."""
    square = load(numbers, NUMBERS.extent)
    error = load(found, BRANCH.position) + load(found, BRANCH.rotation) * square
    return (error > FINE * square) & (error < load(numbers, NUMBERS.coarse) * square)
