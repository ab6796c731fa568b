"""Every answer checked: a branch's values, turned into the limits, and where the arm itself then is.

The family says how an arm is solved; here stands the arm as it is. Where it is not quite of the family, or digits were
lost, Newton's method brings the values to it (`polish`).
"""

from __future__ import annotations

from .. import inner
from ..joint_step import ROUND, ROUND_32
from ..lanes import bits, by_precision, load, select, store
from ..rotations import cross, dot, minus, plus, times
from .form_layout import BRANCH, CODES, GOAL, JOINTS, NUMBERS, columns, filled, line

SLACK = 1.0e-7  # what a value may be beyond its limit by rounding, most of it at folds, and is then put on it


@inner
def nearest_whole(x):
    """Return the nearest whole number."""
    bias = by_precision(x, ROUND, ROUND_32)
    return (x + bias) - bias


@inner
def squared_error(goal, x, y, p):
    """Return the squared errors of a frame: the distance, and 2 sin(half the angle)."""
    gx, gy, gz, gp = columns(goal, GOAL.target)
    away, a, b, c = minus(p, gp), minus(x, gx), minus(y, gy), minus(cross(x, y), gz)
    return dot(away, away), 0.5 * (dot(a, a) + dot(b, b) + dot(c, c))


@inner
def turn_matrix(h, cosine, sine):
    """Return the rows of the rotation about a unit vector."""
    left = 1.0 - cosine
    xy, yz, zx = left * (h[0] * h[1]), left * (h[1] * h[2]), left * (h[2] * h[0])
    sx, sy, sz = sine * h[0], sine * h[1], sine * h[2]
    return (
        (cosine + left * (h[0] * h[0]), xy - sz, zx + sy),
        (xy + sz, cosine + left * (h[1] * h[1]), yz - sx),
        (zx - sy, yz + sx, cosine + left * (h[2] * h[2])),
    )


@inner
def applied(rows, v):
    """Return a matrix, given by rows, times a vector."""
    return dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)


@inner
def check_branch(codes, numbers, goal, found):
    """Write the values of a branch and its squared errors, from where its pairs take the arm's tip."""
    x, y, _, p = columns(numbers, NUMBERS.tip)
    x, y, p = filled(found, x), filled(found, y), filled(found, p)
    for step in range(JOINTS):
        joint = JOINTS - 1 - step
        solved = load(codes, CODES.place + joint)
        h, c = line(numbers, NUMBERS.lines, joint)
        sense = load(numbers, NUMBERS.sense + solved)
        much = load(found, BRANCH.amounts + solved)
        store(found, BRANCH.values + joint, much * (sense * load(numbers, NUMBERS.unscale + joint)))
        cosine = load(found, BRANCH.pairs + 2 * solved)
        if load(codes, CODES.slides + solved):
            travel = sense * cosine
            p = plus(p, times(travel, h))
        else:
            sine = sense * load(found, BRANCH.pairs + 2 * solved + 1)
            rows = turn_matrix(h, cosine, sine)
            x, y, p = applied(rows, x), applied(rows, y), plus(applied(rows, minus(p, c)), c)
    position, rotation = squared_error(goal, x, y, p)
    store(found, BRANCH.position, position)
    store(found, BRANCH.rotation, rotation)


@inner
def broken_by(value, lower, upper):
    """Return by how much a value breaks its limits; negative within them."""
    over, under = value - upper, lower - value
    return select(over > under, over, under)


@inner
def within_limits(numbers, found, joint, home):
    """Return a value in its copy, whole turns away, nearest to `home` within limits, and by how much it breaks them.

    Where every copy breaks them, it is the one that breaks them least, put on the limit. Seen from a home within
    limits, the nearest copy is within them, or the next one towards the middle is, or none.
    """
    value, period = load(found, BRANCH.values + joint), load(numbers, NUMBERS.period + joint)
    lower, upper = load(numbers, NUMBERS.lower + joint), load(numbers, NUMBERS.upper + joint)
    home = select(home > upper, upper, select(home < lower, lower, home))
    near = value + period * nearest_whole((home - value) * load(numbers, NUMBERS.frequency + joint))
    broken = broken_by(near, lower, upper)
    if bits(broken > SLACK) != 0:
        other = select(near > upper, near - period, near + period)
        less = broken_by(other, lower, upper)
        better = (broken > SLACK) & (less < broken)
        near, broken = select(better, other, near), select(better, less, broken)
    if bits(broken > 0.0) != 0:
        kept = select(near > upper, upper, select(near < lower, lower, near))
        count_in(numbers, found, joint, select(broken <= SLACK, kept - near, 0.0))
        near = kept
    return near, broken


@inner
def count_in(numbers, found, joint, step):
    """Add what a small step of one value may do to the errors of a branch: no more than this."""
    turn = step * load(numbers, NUMBERS.scale + joint)
    added = 2.0 * turn * turn
    for item in (BRANCH.position, BRANCH.rotation):
        extent = load(numbers, NUMBERS.extent) if item == BRANCH.position else 1.0
        error = load(found, item)
        store(found, item, select(added > 0.0, 2.0 * error + added * extent, error))
