"""Goals of frames at a pose: their errors and the Jacobian of these."""

from __future__ import annotations

from . import part
from .chain import columns, keep, sweep_axes
from .joint_step import ROW_CODES, ROW_NUMBERS
from .lanes import beyond
from .pose_error import turn_between
from .progress import measured
from .rotations import cross
from .textbook import ALTERNATIVE
from .textbook_plan import HEAD, ROW


@part
def measure_pose(plan, targets, q, desk):
    """Compute the frames at a pose, all error rows and residuals; return the cost, and whether all goals are reached.

    `targets` has a matrix for each goal.
    """
    head, wholes, reals = plan.head, plan.wholes, plan.reals
    for g in range(head[HEAD.goals]):
        first, world, target = wholes.first[g], beyond(desk.world, 16 * g), beyond(targets, 16 * g)
        codes, numbers = beyond(wholes.codes, ROW_CODES.size * first), beyond(reals.numbers, ROW_NUMBERS.size * first)
        axes = beyond(desk.axes, 6 * wholes.owned[g])
        x, y, z, p = sweep_axes(codes, numbers, wholes.first[g + 1] - first, q, axes)
        keep(world, 0, x, y, z, p)
        way = beyond(desk.way, 6 * g)
        for k in range(3):
            way[k] = target[4 * k + 3] - p[k]
        if wholes.oriented[g]:
            way[3], way[4], way[5] = turn_between(world, target, 4)
    for i in range(head[HEAD.errors]):
        row = beyond(wholes.row, ROW.size * i)
        desk.error[i] = desk.way[6 * row[ROW.goal] + row[ROW.six]]
    count, blocks = head[HEAD.errors], head[HEAD.blocks]
    return measured(desk.error, count, reals.weights, wholes.block, blocks, reals.tolerances, desk.residuals)


@part
def put_six(plan, desk):
    """Write the Jacobians of the frames, six rows each, at the pose measured last."""
    head, wholes, reals = plan.head, plan.wholes, plan.reals
    for g in range(head[HEAD.goals]):
        first, world = wholes.first[g], beyond(desk.world, 16 * g)
        codes, numbers = beyond(wholes.codes, ROW_CODES.size * first), beyond(reals.numbers, ROW_NUMBERS.size * first)
        rates, axes = beyond(wholes.rates, wholes.owned[g]), beyond(desk.axes, 6 * wholes.owned[g])
        jac, tip = beyond(desk.six, 6 * head[HEAD.nv] * g), (world[3], world[7], world[11])
        columns(codes, numbers, wholes.first[g + 1] - first, rates, axes, tip, jac, head[HEAD.nv])


@part
def move_to_goals(plan, desk):
    """Convert the Jacobians of the effectors to those of the points that are now at the positions of the goals.

    A point offset from the effector by a lever arm is faster by the angular velocity times the lever arm.
    """
    head, wholes, nv = plan.head, plan.wholes, plan.head[HEAD.nv]
    for g in range(head[HEAD.goals]):
        jac, asked = beyond(desk.six, 6 * nv * g), (0.0, 0.0, 0.0)
        for i in range(head[HEAD.errors]):
            row = beyond(wholes.row, ROW.size * i)
            if row[ROW.goal] == g:  # unconstrained coordinates have no lever arm
                six = row[ROW.six]
                asked = (asked[0] + (six == 0), asked[1] + (six == 1), asked[2] + (six == 2))
        way = beyond(desk.way, 6 * g)
        lever = (asked[0] * way[0], asked[1] * way[1], asked[2] * way[2])
        for v in range(nv):
            more = cross((jac[3 * nv + v], jac[4 * nv + v], jac[5 * nv + v]), lever)
            for k in range(3):
                jac[nv * k + v] += more[k]


@part
def put_jacobian(plan, desk):
    """Write the weighted Jacobian J and the weighted error V of the rows and velocities that can change."""
    head, wholes, reals = plan.head, plan.wholes, plan.reals
    put_six(plan, desk)
    if head[HEAD.method] == ALTERNATIVE:
        move_to_goals(plan, desk)
    nv, n = head[HEAD.nv], head[HEAD.free]
    for i in range(head[HEAD.errors]):
        row, weight = beyond(wholes.row, ROW.size * i), reals.weights[i]
        place = row[ROW.place]
        if place < 0:
            continue
        desk.wanted[place] = weight * desk.error[i]
        six = beyond(desk.six, nv * (6 * row[ROW.goal] + row[ROW.six]))
        for j in range(n):
            v = wholes.columns[j]
            desk.jacobian[n * place + j] = weight * six[v] * reals.measures[v]
