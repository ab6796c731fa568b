"""One free pose of a six-joint arm in closed form: all its poses for a goal are in the lanes.

Of the free ones it is the nearest to a start, whole turns included. If none is free there is no other, except for goals
at an edge, where with its tolerance a search may reach what the exact form does not.
"""

from __future__ import annotations

import math
from collections import namedtuple

from .. import inner, kernel, part
from ..chain_memory import REPORT, chain_of
from ..closed_form.answers import CHOICE, judge
from ..closed_form.form_layout import BRANCH, GOAL, JOINTS, NUMBERS
from ..closed_form.polish import POLISH_ROOM
from ..closed_form.solve_six import WIDTH, put_home, solve_branches
from ..joint_step import TRANSFORM
from ..lanes import beyond, bits, cells, divided, fill, flat, load, store
from ..search_many import INVALID, REACHED, UNSOLVED
from ..search_one import answer_places
from ..starts import read_goal
from .free import free_lanes, free_of, put_base
from .outcomes import COLLIDES

Rooms = namedtuple("Rooms", "goal found choice work one")
Six = namedtuple("Six", "codes numbers signs edge settings free lanes flow")


@inner
def room_sizes(width):
    """Return the sizes of the parts of the workspace: in vectors of lanes if `width` is 1, else in numbers."""
    goal = -(-TRANSFORM.size // WIDTH)
    return Rooms(GOAL.size * width, BRANCH.size * width, CHOICE.size * width, POLISH_ROOM * width, goal * width)


@part
def answer(six, aim, given, start, pose, report):
    """Write the nearest free pose for a target (16,), and its report.

    Return REACHED; COLLIDES if poses reach it but none is free, with the nearest of them written; UNSOLVED if a search
    may find others.
    """
    goal, found, choice, work, _ = six.lanes
    for row in range(3):
        for column in range(4):
            store(goal, GOAL.target + 3 * column + row, fill(goal, load(aim, 4 * row + column)))
    for joint in range(JOINTS):
        home = load(start, joint) if given else load(six.numbers, NUMBERS.middle + joint)
        store(choice, CHOICE.home + joint, fill(choice, home))
    put_home(six.codes, six.numbers, beyond(choice, CHOICE.home), True, goal)
    solve_branches(six.codes, six.numbers, six.signs, 1, goal, found, work)
    good, away, doubt = judge(six.numbers, six.settings, six.edge, choice, found)
    reached, doubtful = bits(good), bits(doubt)
    store(choice, CHOICE.away, away)
    for joint in range(JOINTS):
        store(six.free.pose, load(six.free.places, joint), load(found, BRANCH.values + joint))
    free = free_lanes(six.free, reached) if reached else 0
    lane, least, count = 0, math.inf, 0
    for k in range(WIDTH):
        count += (reached >> k) & 1
        far = load(six.flow.choice, WIDTH * CHOICE.away + k)
        if ((free if free else reached) >> k) & 1 and far < least:
            lane, least = k, far
    for joint in range(JOINTS):
        store(pose, joint, load(six.flow.found, WIDTH * (BRANCH.values + joint) + lane))
    store(report, REPORT.position_error, load(six.flow.found, WIDTH * BRANCH.position + lane))
    store(report, REPORT.rotation_error, load(six.flow.found, WIDTH * BRANCH.rotation + lane))
    store(report, REPORT.starts, float(count))
    store(report, REPORT.steps, 0.0)
    if free:
        return REACHED
    return UNSOLVED if doubtful or not reached else COLLIDES


@inner
def six_of(codes, numbers, signs, edge, chain, free, room):
    """Return the memory of a form; `room` has the shape `six_room`."""
    lanes, flow = divided(cells(room), room_sizes(1)), divided(flat(room), room_sizes(WIDTH))
    return Six(cells(codes), cells(numbers), cells(signs), cells(edge), chain.settings, free, lanes, flow)


@kernel("i8[] f8[] f8[,] f8[] f8[] i8[] f8[] f8 i8[] f8[] f8[,] f8[,] f8[,] b1 f8[] -> i8")
def free_six_one(
    codes, numbers, signs, edge, packed, scene, shapes, margin, places, base, room, check_room, target, given, out
):
    """Write a free answer to a target (4, 4) into `out`, as `answers.answer_one` does; return the status.

    The scene, places and base are those of `free_seven.free_seven_one`.
    """
    to_report, to_start, to_target, _ = answer_places(JOINTS)
    chain, aim, cell = chain_of(cells(codes), cells(packed), JOINTS), flat(target), cells(out)
    free = free_of(scene, shapes, margin, places, check_room)
    six = six_of(codes, numbers, signs, edge, chain, free, room)
    if not read_goal(chain.numbers, 0.0, aim, 0, six.flow.one):
        return INVALID
    for k in range(16):
        store(cell, to_target + k, load(aim, k))
    for joint in range(JOINTS if given else 0):
        if load(cell, to_start + joint) - load(cell, to_start + joint) != 0.0:
            return UNSOLVED
    put_base(free, base, 0)
    return answer(six, aim, given, beyond(cell, to_start), cell, beyond(cell, to_report))


@kernel("i8[] f8[] f8[,] f8[] f8[] i8[] f8[] f8 i8[] f8[] f8[,] f8[,] f8[] f8[] f8[] f8[] i8[]", nogil=True)
def free_six_many(
    codes, numbers, signs, edge, packed, scene, shapes, margin, places, bases, room, check_room, targets, given, poses,
    report, status,
):  # fmt: skip
    """Do the same for targets (m * 16,) whose status (m,) is UNSOLVED: write poses (m * 6,), reports and status.

    `given` holds a start for each, or is empty; `bases` the whole pose of each, or one for all.
    """
    chain, aims, ends = chain_of(cells(codes), cells(packed), JOINTS), cells(targets), cells(status)
    free, any_given = free_of(scene, shapes, margin, places, check_room), given.size > 0
    six = six_of(codes, numbers, signs, edge, chain, free, room)
    put_base(free, bases, 0)
    for problem in range(status.size):
        if load(ends, problem) != UNSOLVED:
            continue
        if not read_goal(chain.numbers, 0.0, aims, 16 * problem, six.flow.one):
            store(ends, problem, INVALID)
            continue
        if bases.size > free.values:
            put_base(free, bases, problem)
        start = beyond(cells(given), JOINTS * problem if any_given else 0)
        pose, line = beyond(cells(poses), JOINTS * problem), beyond(cells(report), REPORT.size * problem)
        store(ends, problem, answer(six, beyond(aims, 16 * problem), any_given, start, pose, line))


def six_room() -> tuple[int, int]:
    """Return the shape of the workspace of a form."""
    return sum(room_sizes.py_func(1)), WIDTH
