"""One answer of a closed form, for one goal or for many, written in the format of the chain search.

Of the solutions within limits it is the nearest to a start, whole turns included; without a start, the nearest to the
middle of the limits. If there is none, that is certain, except for goals at an edge: with its tolerance, a search may
reach what the exact form does not. Such goals are left to the search.
"""

from __future__ import annotations

import math

from .. import inner, kernel, part
from ..chain_memory import REPORT, SETTINGS, chain_of
from ..joint_step import TRANSFORM
from ..lanes import beyond, bits, cells, divided, fill, flat, gather, load, select, store
from ..layout import Layout
from ..search_many import BEYOND, CLOSEST, INVALID, REACHED, UNSOLVED
from ..search_one import answer_places
from ..starts import in_reach, read_goal
from .check import SLACK, within_limits
from .form_layout import BRANCH, FREE, GOAL, JOINTS, NUMBERS
from .polish import POLISH_ROOM
from .solve_six import ROOTS, WIDTH, gather_goals, put_home, solve_branches

BRANCHES = 8
EXACT = 1.0e-16  # squared errors of exact solutions, not merely within tolerance; lengths relative to the arm's extent
FAR = 1.0e9
EDGE = Layout(("roots", ROOTS), "limits")  # margins within which goals are left to a search: of roots, and of limits
# in lanes: the start, the answer so far, whether a search may find one, and the closest values
CHOICE = Layout(
    ("home", JOINTS), "away", ("values", JOINTS), "position", "rotation", "doubt", "least", ("closest", JOINTS)
)


@inner
def judge(numbers, settings, edge, choice, found):
    """Return which lanes of a branch are solutions, their distance from the start, and which a search may make ones.

    Values are brought within limits. Solutions only within tolerance count as further away than all exact ones. A root
    that is real, or nearly so, and close to where two roots coincide has other poses around it that a tolerance allows;
    so has one that violates limits by little.
    """
    away, worst = fill(found, 0.0), fill(found, -1.0)
    for joint in range(JOINTS):
        home = load(choice, CHOICE.home + joint)
        value, broken = within_limits(numbers, found, joint, home)
        store(found, BRANCH.values + joint, value)
        away = away + (value - home) * (value - home)
        worst = select(broken > worst, broken, worst)
    real, folded = worst > -2.0, worst < -2.0
    for stage in range(ROOTS):
        miss, room = load(found, BRANCH.miss + stage), load(edge, EDGE.roots + stage)
        free = load(found, BRANCH.same + stage) > FREE - 0.5
        real, folded = real & ((miss <= room) | free), folded | (miss >= -room) | free
    near, aligned = load(settings, SETTINGS.near), load(settings, SETTINGS.aligned)
    position, rotation = load(found, BRANCH.position), load(found, BRANCH.rotation)
    reached = (position <= near) & (rotation <= aligned)
    exact = (position <= EXACT * load(numbers, NUMBERS.extent)) & (rotation <= EXACT)
    away = select(exact, away, away + FAR)
    return reached & (worst <= SLACK), away, real & (folded | (worst <= load(edge, EDGE.limits)))


@inner
def squared(found, weight):
    """Return the squared error of a branch, with weighted rotation."""
    return load(found, BRANCH.position) + load(found, BRANCH.rotation) * (weight * weight)


@part
def write_report(report, position, rotation):
    """Write the report of an answer that needed no starts and no steps."""
    store(report, REPORT.position_error, position)
    store(report, REPORT.rotation_error, rotation)
    store(report, REPORT.starts, 0.0)
    store(report, REPORT.steps, 0.0)


@kernel("i8[] f8[] f8[,] f8[] f8[] f8[,] f8[,] b1 f8[] -> i8")
def answer_one(codes, numbers, signs, edge, packed, room, target, given, out):
    """Write the answer to a target (4, 4) into `out`, as `search_one` does; return the status.

    UNSOLVED leaves the target to a search. Branches are in lanes. `packed` are settings, limits and numbers of the
    chain; `edge` is EDGE; `room` has the shape `answer_room`.
    """
    to_report, to_start, to_target, _ = answer_places(JOINTS)
    goal, found, choice, work = divided(cells(room), (GOAL.size, BRANCH.size, CHOICE.size, POLISH_ROOM))
    flow = divided(flat(room), (WIDTH * GOAL.size, WIDTH * BRANCH.size, WIDTH * CHOICE.size, WIDTH * POLISH_ROOM))
    aim, cell, memory = flat(target), cells(out), cells(numbers)
    chain, one = chain_of(cells(codes), cells(packed), JOINTS), flow[2]
    if not read_goal(chain.numbers, 0.0, aim, 0, one):
        return INVALID
    possible = in_reach(chain.settings, one)
    for k in range(16):
        store(cell, to_target + k, load(aim, k))
    for row in range(3):
        for column in range(4):
            store(goal, GOAL.target + 3 * column + row, fill(goal, load(aim, 4 * row + column)))
    for joint in range(JOINTS):
        home = load(cell, to_start + joint) if given else load(memory, NUMBERS.middle + joint)
        if home - home != 0.0:
            return UNSOLVED
        store(choice, CHOICE.home + joint, fill(choice, home))
    put_home(cells(codes), memory, beyond(choice, CHOICE.home), True, goal)
    solve_branches(cells(codes), memory, cells(signs), 1, goal, found, work)
    good, away, doubt = judge(memory, chain.settings, cells(edge), choice, found)
    solved = bits(good)
    if not solved and bits(doubt):
        return UNSOLVED
    weight = load(chain.settings, SETTINGS.rotation_weight)
    store(choice, CHOICE.away, away if solved else squared(found, weight))
    lane, least = 0, math.inf
    for k in range(WIDTH):
        far = load(flow[2], WIDTH * CHOICE.away + k)
        if ((solved >> k) & 1 or not solved) and far < least:
            lane, least = k, far
    for joint in range(JOINTS):
        store(cell, joint, load(flow[1], WIDTH * (BRANCH.values + joint) + lane))
    position, rotation = load(flow[1], WIDTH * BRANCH.position + lane), load(flow[1], WIDTH * BRANCH.rotation + lane)
    write_report(beyond(cell, to_report), position, rotation)
    return REACHED if solved else CLOSEST if possible else BEYOND


@part
def choose_branches(numbers, settings, edge, choice, found):
    """Write to `choice` the nearest solution of every lane, and the closest branch; branches follow one another."""
    weight = load(settings, SETTINGS.rotation_weight)
    away, least, doubt = fill(choice, math.inf), fill(choice, math.inf), fill(choice, 0.0)
    for branch in range(BRANCHES):
        own = beyond(found, BRANCH.size * branch)
        good, far, may = judge(numbers, settings, edge, choice, own)
        error = squared(own, weight)
        nearer, closer = good & (far < away), error < least
        away, least = select(nearer, far, away), select(closer, error, least)
        doubt = select(may, 1.0, doubt)
        for joint in range(JOINTS):
            value = load(own, BRANCH.values + joint)
            store(choice, CHOICE.values + joint, select(nearer, value, load(choice, CHOICE.values + joint)))
            store(choice, CHOICE.closest + joint, select(closer, value, load(choice, CHOICE.closest + joint)))
        for k in range(2):
            item, error = CHOICE.position + k, load(own, BRANCH.position + k)
            store(choice, item, select(nearer, error, load(choice, item)))
    store(choice, CHOICE.away, away)
    store(choice, CHOICE.least, least)
    store(choice, CHOICE.doubt, doubt)


@part
def write_lane(chain, flow, lane, targets, one, pose, report, problem, status):
    """Write the answer of a lane, or its closest branch; `flow` is the choice as single numbers."""
    if not read_goal(chain.numbers, 0.0, targets, 16 * problem, one):
        store(status, problem, INVALID)
        return
    solved = load(flow, WIDTH * CHOICE.away + lane) < math.inf
    values = CHOICE.values if solved else CHOICE.closest
    for joint in range(JOINTS):
        store(pose, joint, load(flow, WIDTH * (values + joint) + lane))
    if solved:
        position, rotation = load(flow, WIDTH * CHOICE.position + lane), load(flow, WIDTH * CHOICE.rotation + lane)
        write_report(report, position, rotation)
        store(status, problem, REACHED)
    elif load(flow, WIDTH * CHOICE.doubt + lane) < 0.5:
        store(status, problem, CLOSEST)


@kernel("i8[] f8[] f8[,] f8[] f8[] f8[,] f8[] f8[] f8[] f8[] i8[]", nogil=True)
def answer_many(codes, numbers, signs, edge, packed, room, targets, given, poses, report, status):
    """Write the answers to targets (m * 16,) whose status (m,) is UNSOLVED: poses (m * 6,), reports and status.

    Targets left to a search stay UNSOLVED. Goals are in lanes; there are at least as many as lanes. `given` holds a
    start for each, or is empty; the other arguments are those of `answer_one`.
    """
    count, memory, chain = status.size, cells(numbers), chain_of(cells(codes), cells(packed), JOINTS)
    goal, found, choice, work = divided(cells(room), (GOAL.size, BRANCHES * BRANCH.size, CHOICE.size, POLISH_ROOM))
    head = GOAL.size + BRANCHES * BRANCH.size
    flow, one = beyond(flat(room), WIDTH * head), beyond(flat(room), WIDTH * (head + CHOICE.size + POLISH_ROOM))
    for first in range(0, count, WIDTH):
        begin = min(first, count - WIDTH)  # the last block overlaps the one before
        gather_goals(cells(targets), begin, goal)
        for joint in range(JOINTS):
            home = fill(choice, load(memory, NUMBERS.middle + joint))
            if given.size > 0:
                home = gather(cells(given), JOINTS * begin + joint, JOINTS)
            store(choice, CHOICE.home + joint, home)
        put_home(cells(codes), memory, beyond(choice, CHOICE.home), True, goal)
        solve_branches(cells(codes), memory, cells(signs), 2, goal, found, work)
        choose_branches(memory, chain.settings, cells(edge), choice, found)
        for lane in range(WIDTH):
            problem = begin + lane
            if load(cells(status), problem) == UNSOLVED:
                pose, line = beyond(cells(poses), JOINTS * problem), beyond(cells(report), REPORT.size * problem)
                write_lane(chain, flow, lane, cells(targets), one, pose, line, problem, cells(status))


@kernel("i8[] f8[] f8[] f8[] f8[] i8[] i8[]", nogil=True)
def mark_beyond(codes, packed, room, targets, poses, rows, status):
    """Mark the targets (m * 16,) that are out of reach, of those without an answer, given by their indices `rows`.

    `packed` are settings, with the shells of the reach, limits and numbers of the chain; `room` is workspace for a
    transform.
    """
    chain, one = chain_of(cells(codes), cells(packed), poses.size // status.size), cells(room)
    for k in range(rows.size):
        problem = load(cells(rows), k)
        read_goal(chain.numbers, 0.0, cells(targets), 16 * problem, one)
        if not in_reach(chain.settings, one):
            store(cells(status), problem, BEYOND)


def answer_room(many: bool) -> tuple[int, int]:
    """Return the shape of the workspace, for one goal or for many."""
    goal = -(-TRANSFORM.size // WIDTH)
    return (GOAL.size + (BRANCHES if many else 1) * BRANCH.size + CHOICE.size + POLISH_ROOM + goal, WIDTH)
