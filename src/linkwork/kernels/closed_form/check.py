"""Check every answer: bring a branch's values within limits, and compute where the actual arm then is.

The family tells how an arm is solved; here the arm is used as it is. Its two ends are carried towards each other, each
by the joints on its side, and compared where they meet: branches share joints, which then move an end once for all of
them. If an arm deviates slightly from its family, or digits were lost, Newton's method corrects the values (`polish`).
"""

from __future__ import annotations

from .. import inner
from ..joint_step import ROUND, ROUND_32, vector
from ..lanes import bits, by_precision, load, select, store
from ..rotations import cross, dot, minus, plus, times
from .form_layout import BRANCH, CODES, GOAL, JOINTS, NUMBERS, OWN_LINE, columns, filled

SLACK = 1.0e-7  # rounding, mostly at folds, by which a value may exceed its limit before it is clamped to it


@inner
def nearest_whole(x):
    """Return the nearest integer."""
    bias = by_precision(x, ROUND, ROUND_32)
    return (x + bias) - bias


@inner
def turn_rows(h, squares, products, cosine, sine):
    """Return the rows of the rotation matrix about a unit vector; `squares` and `products`: see OWN_LINE."""
    left = 1.0 - cosine
    xy, yz, zx = left * products[0], left * products[1], left * products[2]
    sx, sy, sz = sine * h[0], sine * h[1], sine * h[2]
    return (
        (cosine + left * squares[0], xy - sz, zx + sy),
        (xy + sz, cosine + left * squares[1], yz - sx),
        (zx - sy, yz + sx, cosine + left * squares[2]),
    )


@inner
def turn_matrix(h, cosine, sine):
    """Return the rows of the rotation matrix about a unit vector."""
    x, y, z = h
    return turn_rows(h, (x * x, y * y, z * z), (x * y, y * z, z * x), cosine, sine)


@inner
def applied(rows, v):
    """Return a matrix, given by rows, times a vector."""
    return dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)


@inner
def ends(codes, numbers, goal):
    """Return two frames, each as x axis, y axis and origin: the solved joints must bring the first to the second.

    They are tip and target, or target and tip if the arm is seen from its end.
    """
    tx, ty, _, tp = columns(numbers, NUMBERS.tip)
    tip = filled(goal, tx), filled(goal, ty), filled(goal, tp)
    gx, gy, _, gp = columns(goal, GOAL.target)
    if load(codes, CODES.backwards):
        return (gx, gy, gp), tip
    return tip, (gx, gy, gp)


@inner
def carried_along(slides, numbers, joint, pair, frame):
    """Return a frame moved by a solved joint of the actual arm; `pair` is cosine and sine, or a travel."""
    own, (x, y, p) = NUMBERS.own + OWN_LINE.size * joint, frame
    h, c = vector(numbers, own + OWN_LINE.direction), vector(numbers, own + OWN_LINE.point)
    if slides:
        return x, y, plus(p, times(pair[0], h))
    squares, products = vector(numbers, own + OWN_LINE.squares), vector(numbers, own + OWN_LINE.products)
    rows = turn_rows(h, squares, products, pair[0], pair[1])
    return applied(rows, x), applied(rows, y), plus(applied(rows, minus(p, c)), c)


@inner
def carried_back(slides, numbers, joint, pair, frame):
    """Return a frame moved by a solved joint in the opposite direction."""
    back = (-pair[0], pair[1]) if slides else (pair[0], -pair[1])
    return carried_along(slides, numbers, joint, back, frame)


@inner
def put_errors(goal, found, frame, wanted):
    """Write the squared errors of a branch: between one end as moved by the joints, and the other end.

    Only x and y axes were moved, so the deviation of the target's z axis is added.
    """
    away = minus(frame[2], wanted[2])
    store(found, BRANCH.position, dot(away, away))
    store(found, BRANCH.rotation, rotation_error(goal, frame, wanted))


@inner
def rotation_error(goal, frame, wanted):
    """Return the squared rotation error of a frame: half the squared distances between axes."""
    (x, y, _), (a, b, _) = frame, wanted
    dx, dy, dz = minus(x, a), minus(y, b), minus(cross(x, y), cross(a, b))
    return 0.5 * (dot(dx, dx) + dot(dy, dy) + dot(dz, dz)) + load(goal, GOAL.flaw)


@inner
def put_values(codes, numbers, found):
    """Write the values of a branch: of the arm's joints, in their own order and sense."""
    for joint in range(JOINTS):
        amount = load(found, BRANCH.amounts + load(codes, CODES.place + joint))
        store(found, BRANCH.values + joint, amount * load(numbers, NUMBERS.unscale + joint))


@inner
def broken_by(value, lower, upper):
    """Return by how much a value violates its limits; negative within them."""
    over, under = value - upper, lower - value
    return select(over > under, over, under)


@inner
def within_limits(numbers, found, joint, home):
    """Return the copy of a value, whole turns away, nearest to `home` within limits, and by how much it violates them.

    If every copy violates them, it is the one that does so least, clamped to the limit. From a home within limits, the
    nearest copy is within them, or the next one towards the middle is, or none.
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
    """Add to the errors of a branch an upper bound of the effect of a small step of one value."""
    turn = step * load(numbers, NUMBERS.scale + joint)
    added = 2.0 * turn * turn
    for item in (BRANCH.position, BRANCH.rotation):
        extent = load(numbers, NUMBERS.extent) if item == BRANCH.position else 1.0
        error = load(found, item)
        store(found, item, select(added > 0.0, 2.0 * error + added * extent, error))
