"""The textbook's loop: forward kinematics, Jacobian, error, step, limits and tolerance, until a goal is reached.

The compiled form of `linkwork.solvers.iterate`, for one problem after another; the reasons for each rule are there.
"""

from __future__ import annotations

import math

from . import inner, kernel, part
from .chain import flaw
from .lanes import beyond, divided, flat
from .progress import ACTIVE, DIVERGED, REACHED, STALLED, judged
from .rigid import is_rigid
from .textbook_goals import measure_pose
from .textbook_plan import HEAD, OPTIONS, PROGRESS, RECORD, REPORT, desk_sizes, plan_of
from .textbook_pose import keep_within, keeps_limits, move, turn_back
from .textbook_steps import copy_pose, propose

DONE, SINGULAR, BAD_START, BAD_TARGET = 0, 1, 2, 3  # results of `walk`
RESTLESS = 1.0e-12  # change of a pose below which it is only rounding


@inner
def at_progress(desk, place):
    """Return a number of the progress of a walk, as memory."""
    return beyond(desk.progress, place)


@part
def strays(plan, desk):
    """Return whether a step deviates from the straight line to the goals by more than allowed."""
    most, weights, rows = plan.options[OPTIONS.stray], plan.reals.weights, plan.head[HEAD.errors]
    if most == math.inf:
        return False
    gone_along, length, off = 0.0, 0.0, 0.0
    for i in range(rows):
        way, gone = desk.before[i] * weights[i], (desk.before[i] - desk.error[i]) * weights[i]
        gone_along += gone * way
        length += way * way
    along = gone_along / max(length, 1.0e-300)
    for i in range(rows):
        way, gone = desk.before[i] * weights[i], (desk.before[i] - desk.error[i]) * weights[i]
        off += (gone - along * way) * (gone - along * way)
    return math.sqrt(off) > most


@part
def note_step(plan, q, note, desk, trace, k):
    """Write the record of a step: its note, the pose, its residuals and the velocity."""
    nq, nv, blocks = plan.head[HEAD.nq], plan.head[HEAD.nv], plan.head[HEAD.blocks]
    record = beyond(trace, (RECORD.size + nq + blocks + nv) * k)
    record[RECORD.note] = note
    pose, errors, velocity = divided(beyond(record, RECORD.size), (nq, blocks, nv))
    copy_pose(q, nq, pose)
    copy_pose(desk.residuals, blocks, errors)
    copy_pose(desk.change, nv, velocity)


@part
def judge_length(plan, before, cost, q, desk):
    """Decide why steps of a given length make no progress: too long, so that errors grow, or short but still moving."""
    p, nq, nv = desk.progress, plan.head[HEAD.nq], plan.head[HEAD.nv]
    grew = cost > before * (1.0 + RESTLESS)
    p[PROGRESS.growths] += 1.0 if grew else 0.0
    kept = (grew or p[PROGRESS.grew] != 0.0) and p[PROGRESS.waiting] > 0.0
    p[PROGRESS.grew] = 1.0 if kept else 0.0
    if p[PROGRESS.status] != STALLED:
        return
    most, moved = 0.0, 0.0
    for v in range(nv):
        most = max(most, abs(desk.change[v]))
    for k in range(nq):
        moved = max(moved, abs(q[k] - desk.begin[k]))
    if kept or most > math.pi:
        p[PROGRESS.status] = DIVERGED
    elif moved > RESTLESS:
        p[PROGRESS.status], p[PROGRESS.waiting] = ACTIVE, 0.0


@part
def take_step(plan, targets, cost, q, desk):
    """Take the proposed step, halved while the error would grow, and update the progress; return the cost."""
    head = plan.head
    copy_pose(q, head[HEAD.nq], desk.begin)
    copy_pose(desk.error, head[HEAD.errors], desk.before)
    halvings, factor = head[HEAD.halvings], 1.0
    move(plan, desk.begin, desk.change, factor, q)
    now, reached = measure_pose(plan, targets, q, desk)
    for halving in range(halvings):
        grows = now > cost
        if not (grows or strays(plan, desk)):
            break
        factor = 1.0 if grows and halving == halvings - 1 else factor / 2.0  # a detour may lead uphill
        move(plan, desk.begin, desk.change, factor, q)
        now, reached = measure_pose(plan, targets, q, desk)
    costs = at_progress(desk, PROGRESS.best), at_progress(desk, PROGRESS.first), at_progress(desk, PROGRESS.mark)
    counts = (
        at_progress(desk, PROGRESS.waiting),
        at_progress(desk, PROGRESS.count),
        at_progress(desk, PROGRESS.status),
    )
    judged(q, head[HEAD.nq], now, reached, desk.best, *costs, *counts, head[HEAD.patience])
    if head[HEAD.overshoots]:
        judge_length(plan, cost, now, q, desk)
    return now


@part
def solve(plan, targets, start, desk, trace, most, q):
    """Iterate from a start until the goals are reached or progress ends; write the best pose, and its residuals.

    Return the status; -SINGULAR if a printed form meets a matrix without an inverse.
    """
    head, p, nq = plan.head, desk.progress, plan.head[HEAD.nq]
    copy_pose(start, nq, q)
    if head[HEAD.limited]:
        keep_within(plan, q)
    cost, reached = measure_pose(plan, targets, q, desk)
    copy_pose(q, nq, desk.best)
    for k in range(PROGRESS.size):
        p[k] = 0.0
    p[PROGRESS.best], p[PROGRESS.first], p[PROGRESS.mark] = cost, cost, cost
    p[PROGRESS.status] = REACHED if reached else ACTIVE
    for v in range(head[HEAD.nv]):
        desk.last[v] = -1.0
    for iteration in range(head[HEAD.iterations]):
        if p[PROGRESS.status] != ACTIVE:
            break
        note = propose(plan, targets, q, iteration, desk)
        if math.isnan(note):
            return -SINGULAR
        if iteration < most:
            note_step(plan, q, note, desk, trace, iteration)
        if flaw(desk.change, head[HEAD.nv]) != 0.0:
            p[PROGRESS.status] = DIVERGED
            break
        cost = take_step(plan, targets, cost, q, desk)
    turn_back(plan, start, desk.best)
    copy_pose(desk.best, nq, q)
    _, reached = measure_pose(plan, targets, q, desk)
    if reached and keeps_limits(plan, q):
        return REACHED
    status = int(p[PROGRESS.status])
    if status == ACTIVE and 10.0 * p[PROGRESS.growths] > p[PROGRESS.count]:
        return DIVERGED
    return STALLED if status == REACHED else status


@part
def follow(plan, targets, steps, first, desk, trace, most, q):
    """Take a number of plain steps, without halving or judging; return the total number of steps, or -SINGULAR.

    A step that is not finite is not taken. `first` is the number of steps before.
    """
    for iteration in range(steps):
        measure_pose(plan, targets, q, desk)
        note = propose(plan, targets, q, iteration, desk)
        if math.isnan(note):
            return -SINGULAR
        if first + iteration < most:
            note_step(plan, q, note, desk, trace, first + iteration)
        if flaw(desk.change, plan.head[HEAD.nv]) == 0.0:
            copy_pose(q, plan.head[HEAD.nq], desk.begin)
            move(plan, desk.begin, desk.change, 1.0, q)
    return first + steps


@kernel("i8[] f8[] f8[,,,] i8 f8[,] f8[] f8[,] f8[,] f8[,] -> i8")
def walk(wholes, reals, targets, steps, start, memory, q, report, trace):
    """Write a pose for every row of targets (n, goals, 4, 4), and a report for each.

    If `steps` is 0, each row is a separate problem, solved by the loop from its own start or the only one. Otherwise
    the rows are frames: the first pose is the start, and `steps` plain steps lead from each to the next. `memory` is
    workspace; `trace` has a record for each step to be recorded. Return DONE, or an error code.
    """
    plan, aims, poses = plan_of(flat(wholes), flat(reals)), flat(targets), flat(q)
    desk = divided(flat(memory), desk_sizes(flat(wholes)))
    nq, size, taken = q.shape[1], 16 * targets.shape[1], 0
    if flaw(flat(start), start.size) != 0.0:
        return BAD_START
    for k in range(targets.shape[0] * targets.shape[1]):
        if not is_rigid(aims, 16 * k):
            return BAD_TARGET
    for v in range(plan.head[HEAD.nv]):
        desk.last[v] = -1.0
    for i in range(q.shape[0]):
        pose, target = beyond(poses, nq * i), beyond(aims, size * i)
        found = beyond(flat(report), (REPORT.size + plan.head[HEAD.blocks]) * i)
        if steps == 0:
            begin = beyond(flat(start), nq * i if start.shape[0] > 1 else 0)
            target = target if targets.shape[0] > 1 else aims
            ended = solve(plan, target, begin, desk, flat(trace), trace.shape[0], pose)
            found[REPORT.status], found[REPORT.iterations] = ended, desk.progress[PROGRESS.count]
        else:
            copy_pose(beyond(poses, nq * (i - 1)) if i else flat(start), nq, pose)
            taken = follow(plan, target, steps if i else 0, taken, desk, flat(trace), trace.shape[0], pose)
            measure_pose(plan, target, pose, desk)
            found[REPORT.status], found[REPORT.iterations], ended = ACTIVE, taken, taken
        if ended < 0:
            return SINGULAR
        copy_pose(desk.residuals, plan.head[HEAD.blocks], beyond(found, REPORT.size))
    return DONE
