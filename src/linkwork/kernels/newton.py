"""Newton's method within limits, in parallel lanes: the closest poses to goals that may be out of reach.

The objective is ``|p - goal|² + (w · 2 sin(angle / 2))²``: the squared distance, and the squared chord of the remaining
angle, times the rotation weight. Far from a goal the curvature of the chain matters as much as its Jacobian, so exact
second derivatives are used; they cost a cross product for each pair of joints:

    d²p / dqi dqj = wi x dp/dqj          d²c / dqi dqj = wi x (wj x c)          joint i before joint j, c an axis

Damping is added until the matrix is positive definite and a step helps; joints that push against a limit are held. The
result of a lane does not depend on its neighbours. The arrays are laid out in `chain_memory`.
"""

from __future__ import annotations

from collections import namedtuple

from . import inner, part
from .chain_memory import CODE, ENDS, SETTINGS
from .damped import axes_of, error_at, gate, row_velocity, sweep_tip, within
from .joint_step import ROW_NUMBERS, TRANSFORM, blend, vector
from .lanes import bits, by_precision, fill, load, select, store
from .rotations import cross, dot, minus, plus, times

FIRST_DAMPING, LESS, MORE, LEAST, LARGEST = 0.2, 0.2, 4.0, 1.0e-9, 1.0e6  # relative to the metric
LACK = 1.5  # factor on the damping that a matrix lacks to be positive definite
PIVOT = 1.0e-9  # smallest pivot that counts as positive, relative to the metric
DONE, ROUGHLY_DONE = 1.0e-10, 1.0e-6  # relative gain in squared error below which a descent ends; in single precision
FINEST = 1.0e-10  # errors below this count as zero
Newton = namedtuple(
    "Newton",
    (
        "goal",
        "q",  # the pose
        "axes",  # and origins of its joints, 6 for each row; then the frame of its tip, a TRANSFORM
        "trial",  # the pose after a step
        "ahead",  # axes of the pose after a step
        "work",  # linear and angular velocity of the tip due to each row
        "matrix",  # of second derivatives, then its factors
        "gradient",
        "metric",
        "change",
        "damping",
        "error",  # squared
        "moved",  # its position part
        "turned",  # its rotation part
        "ranks",
    ),
)


@part
def look(chain, rows, memory, q, axes):
    """Sweep to a pose and store its axes and tip. Return the squared position, rotation and weighted total error."""
    settings, w = chain.settings, load(chain.settings, SETTINGS.rotation_weight)
    x, y, z, tip = sweep_tip(chain.codes, chain.numbers, rows, load(settings, SETTINGS.spin), q, axes)
    for k in range(3):
        at = 6 * rows + k
        store(axes, at, x[k])
        store(axes, at + 3, y[k])
        store(axes, at + 6, z[k])
        store(axes, at + 9, tip[k])
    _, p, r = error_at(settings, memory.goal, x, y, z, tip)
    return p, r, p + r * (w * w)


@part
def assemble(chain, rows, values, memory):
    """Compute gradient, matrix of second derivatives and metric of half the squared error at the pose `q`."""
    codes, numbers, settings, _ = chain
    goal, q, axes, _, _, work, matrix, gradient, metric, _, _, _, _, _, _ = memory
    spin, w = load(settings, SETTINGS.spin), load(settings, SETTINGS.rotation_weight)
    arm, weights = load(settings, SETTINGS.arm), vector(settings, SETTINGS.position_weights)
    x, y, z, tip = axes_of(axes, 6 * rows)
    gx, gy, gz, there = axes_of(goal, 0)
    away = minus(there, tip)
    force = away[0] * weights[0], away[1] * weights[1], away[2] * weights[2]
    torque, trace = plus(plus(cross(x, gx), cross(y, gy)), cross(z, gz)), dot(x, gx) + dot(y, gy) + dot(z, gz)
    gain = 0.5
    if spin != 0.0:
        torque, trace, gain = cross(z, gz), dot(z, gz), 1.0
    gain = gain * w * w
    zero = fill(q, 0.0)
    for k in range(values):
        store(gradient, k, zero)
        store(metric, k, zero)
    for k in range(values * values):
        store(matrix, k, zero)
    for j in range(rows):
        multiplier = load(numbers, ENDS.size + ROW_NUMBERS.size * j + ROW_NUMBERS.multiplier)
        linear, angular = row_velocity(codes, numbers, j, tip, axes)
        linear, angular = times(multiplier, linear), times(multiplier, angular)
        put_velocity(work, j, linear, angular)
        value = load(codes, CODE.size * j + CODE.value)
        slope = dot(linear, force) + gain * dot(angular, torque)
        store(gradient, value, load(gradient, value) - slope)
        slide = select(dot(angular, angular) > 0.0, arm * arm * dot(angular, angular), dot(linear, linear))
        store(metric, value, load(metric, value) + slide)
        turned = times(dot(gz, angular), z)
        if spin == 0.0:
            turned = blend(x, y, z, dot(gx, angular), dot(gy, angular), dot(gz, angular))
        bend = minus(cross(force, linear), times(gain, minus(turned, times(trace, angular))))
        pull = linear[0] * weights[0], linear[1] * weights[1], linear[2] * weights[2]
        for i in range(j + 1):
            other = load(codes, CODE.size * i + CODE.value)
            h = dot(vector(work, 6 * i), pull) + dot(vector(work, 6 * i + 3), bend)
            if i < j and other == value:  # leader and follower share a value
                h = h + h
            at = values * max(other, value) + min(other, value)
            store(matrix, at, load(matrix, at) + h)


@part
def put_velocity(work, row, linear, angular):
    """Store the velocities of a row, 6 items."""
    for k in range(3):
        store(work, 6 * row + k, linear[k])
        store(work, 6 * row + 3 + k, angular[k])


@part
def factor_held(chain, values, memory):
    """Factor matrix plus damping, L D L^T in place, without held joints; the diagonal stores the reciprocal of D.

    Return the damping that is missing to make it positive definite; zero if it is.
    """
    q, matrix, gradient, metric, change = memory.q, memory.matrix, memory.gradient, memory.metric, memory.change
    lack, shift = fill(q, 0.0), load(memory.damping, 0)
    for k in range(values):
        store(change, k, gate(chain.limits, k, load(q, k), -load(gradient, k)))
    for k in range(values):
        free, at = load(change, k), values * k
        least = PIVOT * load(metric, k)
        for i in range(k):
            total = load(matrix, at + i) * free * load(change, i)
            for m in range(i):  # so far, the row holds L D
                total = total - load(matrix, at + m) * load(matrix, values * i + m)
            store(matrix, at + i, total)
        pivot = select(free > 0.0, load(matrix, at + k) + shift * load(metric, k), 1.0)
        for i in range(k):
            scaled = load(matrix, at + i) * load(matrix, values * i + i)
            pivot = pivot - scaled * load(matrix, at + i)
            store(matrix, at + i, scaled)
        positive = pivot > least
        first = (lack <= 0.0) & (pivot <= least)
        lack = select(first, (least + least - pivot) / load(metric, k), lack)
        store(matrix, at + k, 1.0 / select(positive, pivot, 1.0))
    for k in range(values):
        store(change, k, -load(gradient, k) * load(change, k))
    return lack


@part
def solve_held(values, matrix, change):
    """Solve with the factors of `factor_held`, in place."""
    for k in range(values):
        total = load(change, k)
        for i in range(k):
            total = total - load(matrix, values * k + i) * load(change, i)
        store(change, k, total)
    for k in range(values - 1, -1, -1):
        total = load(change, k) * load(matrix, values * k + k)
        for i in range(k + 1, values):
            total = total - load(matrix, values * i + k) * load(change, i)
        store(change, k, total)


@part
def look_at_all(chain, rows, memory):
    """Evaluate the poses `q` of all lanes; store their axes and errors."""
    p, r, total = look(chain, rows, memory, memory.q, memory.axes)
    store(memory.error, 0, total)
    store(memory.moved, 0, p)
    store(memory.turned, 0, r)


@part
def newton_step(chain, rows, values, memory):
    """Take one step in all lanes where it helps; return, as bits, which lanes no longer improve."""
    _, q, axes, trial, ahead, _, matrix, gradient, _, change, damping, error, moved, turned, _ = memory
    arm = load(chain.settings, SETTINGS.arm)
    assemble(chain, rows, values, memory)
    lack = factor_held(chain, values, memory)
    solve_held(values, matrix, change)
    gain = fill(q, 0.0)  # predicted by the model
    for k in range(values):
        gain = gain - load(gradient, k) * load(change, k)
        store(trial, k, within(chain.limits, k, load(q, k) + load(change, k)))
    before, shift, positive = load(error, 0), load(damping, 0), lack <= 0.0
    p, r, after = look(chain, rows, memory, trial, ahead)
    better = positive & (after < before)
    for k in range(values):
        store(q, k, select(better, load(trial, k), load(q, k)))
    for k in range(6 * rows + TRANSFORM.size):
        store(axes, k, select(better, load(ahead, k), load(axes, k)))
    store(error, 0, select(better, after, before))
    store(moved, 0, select(better, p, load(moved, 0)))
    store(turned, 0, select(better, r, load(turned, 0)))
    lower, higher = shift * LESS, select(shift > LEAST, shift, LEAST) * MORE
    enough = shift + LACK * lack
    higher = select(enough > higher, enough, higher)
    store(damping, 0, select(better, select(lower > LEAST, lower, LEAST), higher))
    least = by_precision(before, DONE, ROUGHLY_DONE) * (before + FINEST * arm * arm)
    return bits((positive & (gain <= least)) | (shift >= LARGEST))


@inner
def newton_sizes(rows, values, width):
    """Return the sizes of the parts of the memory: in vectors of lanes if `width` is 1, else in numbers."""
    one, axes = width * values, width * (6 * rows + TRANSFORM.size)
    goal, work = width * TRANSFORM.size, 6 * width * rows
    return Newton(goal, one, axes, one, axes, work, one * values, one, one, one, width, width, width, width, 0)
