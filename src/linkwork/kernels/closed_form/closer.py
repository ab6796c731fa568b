"""Closest poses to goals that a closed form cannot solve: descents from all branches, each as near as it comes.

`closest` does the same from poses of a table, and needs many more of them.
"""

from __future__ import annotations

import math

from .. import kernel, part
from ..chain_memory import CODE, REPORT, chain_of
from ..closest import (
    SLOT,
    STAGE,
    book_sizes,
    choose,
    descend,
    note_sizes,
    slot_at,
    take_goals,
    write_closest,
)
from ..damped import within
from ..lanes import beyond, cells, divided, fill, load, scatter, store
from .answers import BRANCHES, CHOICE, judge
from .form_layout import BRANCH, GOAL, JOINTS, NUMBERS
from .polish import POLISH_ROOM
from .solve_six import WIDTH, gather_goals, put_home, solve_branches


@kernel("i8[] f8[] f8[,] f8[] f8[] f8[,] f8[] f8[]", nogil=True)
def branch_poses(codes, numbers, signs, edge, packed, room, targets, tried):
    """Write the values of all branches of targets (m * 16,), within limits: (m * 8 * 6,); m is at least 8.

    A branch that does not exist comes as near as its roots allow. The other arguments are those of
    `answers.answer_many`.
    """
    count, memory, chain = targets.size // 16, cells(numbers), chain_of(cells(codes), cells(packed), JOINTS)
    goal, found, choice, work = divided(cells(room), (GOAL.size, BRANCHES * BRANCH.size, CHOICE.size, POLISH_ROOM))
    for joint in range(JOINTS):
        store(choice, CHOICE.home + joint, fill(choice, load(memory, NUMBERS.middle + joint)))
    put_home(cells(codes), memory, memory, False, goal)
    for first in range(0, count, WIDTH):
        begin = min(first, count - WIDTH)  # the last block overlaps the one before
        gather_goals(cells(targets), begin, goal)
        solve_branches(cells(codes), memory, cells(signs), 2, goal, found, work)
        for branch in range(BRANCHES):
            own = beyond(found, BRANCH.size * branch)
            judge(memory, chain.settings, cells(edge), choice, own)
            for joint in range(JOINTS):
                item = JOINTS * (BRANCHES * begin + branch) + joint
                scatter(cells(tried), item, JOINTS * BRANCHES, load(own, BRANCH.values + joint))


@part
def put_tried(limits, values, starts, tried, slots):
    """Write the start poses into the slots of a goal."""
    for k in range(starts):
        own = beyond(slots, (SLOT.size + values) * k)
        store(own, SLOT.error, math.inf)
        store(own, SLOT.steps, 0.0)
        for value in range(values):
            store(own, SLOT.size + value, within(limits, value, load(tried, values * k + value)))


@kernel("i8[] f8[] f4[] f8[] f8[] f8[] i8[] f8[,] f4[,] f8[] i8[] f8[] f8[] i8[]", nogil=True)
def closer_many(
    codes, numbers, rough, tried, targets, given, stages, memory, rough_memory, books, notes, poses, report, status
):
    """Bring the poses of missed targets as close as possible, as `closest.closest_many` does.

    `tried` are the start poses, as many for each target as the first stage keeps; if starts are `given`, the first of
    them is the start.
    """
    rows, count, values = codes.size // CODE.size, status.size, poses.size // status.size
    chain, quick = chain_of(cells(codes), cells(numbers), values), chain_of(cells(codes), cells(rough), values)
    starts, at = load(cells(stages), STAGE.kept), 0
    own, slips = divided(cells(books), book_sizes(rows, values, starts)), divided(cells(notes), note_sizes(starts))
    any_given = given.size > 0
    while at < count:
        found, at = take_goals(chain, cells(targets), cells(status), count, at, own, slips.problems)
        for k in range(found):
            first = values * starts * load(slips.problems, k)
            put_tried(chain.limits, values, starts, beyond(cells(tried), first), slot_at(own, values, starts * k))
        tasks = 0
        for stage in range(0, stages.size, STAGE.size):
            tasks, kept, most = 0, load(cells(stages), stage + STAGE.kept), load(cells(stages), stage + STAGE.steps)
            last = stage + STAGE.size == stages.size
            for k in range(found):
                tasks = choose(values, own, k, starts, kept, any_given, last, slips.tasks, tasks)
            if last:
                descend(chain, rows, values, memory, own, slips, starts, tasks, most, True)
            else:
                descend(quick, rows, values, rough_memory, own, slips, starts, tasks, most, False)
        for k in range(found):
            problem = load(slips.problems, k)
            start = beyond(cells(given), values * problem if any_given else 0)
            pose, line = beyond(cells(poses), values * problem), beyond(cells(report), REPORT.size * problem)
            outcome = beyond(cells(status), problem)
            write_closest(chain, values, k, own, slips, starts, tasks, any_given, start, pose, line, outcome)
