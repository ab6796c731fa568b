"""One free pose of any chain: rounds of eight starts, in parallel lanes, until one that arrives is free.

A given start is tried first, then starts around it, and of the free poses of a round the nearest is taken. The descents
are those of `search_one`. Poses that arrive but touch something are kept: `free_repair` starts from them.
"""

from __future__ import annotations

from collections import namedtuple

from .. import inner, kernel, part
from ..aim import travels
from ..chain_memory import BEST, CODE, FRAME, FRAMES, REPORT, SETTINGS, Tables, chain_of, lane_sizes
from ..joint_step import TRANSFORM
from ..lanes import beyond, cells, divided, flat, load, store
from ..search_many import INVALID, REACHED, UNSOLVED, turn_back
from ..search_one import (
    AROUND,
    GIVEN,
    NEW,
    WIDTH,
    aim_round,
    answer_places,
    fill_round,
    first_bit,
    keep_goal,
    nearest,
    run_round,
    tables_place,
)
from ..starts import read_goal
from .free import free_lanes, free_of, put_base
from .outcomes import COLLIDES

KEPT = 8  # poses that reach the goal but touch something, for the repair
HOPELESS = 64  # number of starts after which, if none arrives, the goal counts as not reachable
Search = namedtuple("Search", "chain rows values tables lanes q moved turned best one aiming free")


@part
def put_poses(search):
    """Copy the poses of all lanes to the memory of the check."""
    for value in range(search.values):
        store(search.free.pose, load(search.free.places, value), load(search.lanes.q, value))


@part
def write_lane(search, lane, pose, report):
    """Write the pose of a lane and its errors."""
    for value in range(search.values):
        store(pose, value, load(search.q, WIDTH * value + lane))
    store(report, REPORT.position_error, load(search.moved, lane))
    store(report, REPORT.rotation_error, load(search.turned, lane))


@part
def search_free(search, seed, tries, given, start, pose, report, kept):
    """Search until a pose that reaches the goal, which is already in the lanes, is free; write it and its report.

    With zero tries, only a given start is tried. Return REACHED; COLLIDES if only poses that touch something were
    found, the first of which are in `kept`; or UNSOLVED if no pose reaches the goal. The report holds the number of
    poses that reach it.
    """
    chain, lanes, values = search.chain, search.lanes, search.values
    begun, taken, looked, mode = 0, 0, 0, GIVEN if given else NEW
    outcome = UNSOLVED
    while outcome != REACHED and (mode == GIVEN or (begun < tries and (looked > 0 or begun < HOPELESS))):
        store(lanes.steps, 0, 0.0)
        fill_round(chain, search.tables, values, mode, seed, begun, search.one, search.best, start, search.q)
        if travels(chain.settings):
            aim_round(chain, search.rows, values, mode, search.one, search.aiming, search.q)
        near, steps = run_round(chain, search.rows, values, lanes, AROUND)
        taken += steps
        if mode == GIVEN and near:
            near = 1  # all lanes have the same pose
        if near:
            put_poses(search)
            left = free_lanes(search.free, near)
            for lane in range(WIDTH):
                if (near >> lane) & 1:
                    if left == 0 and looked < KEPT:
                        write_lane(search, lane, beyond(kept, values * looked), report)
                    looked += 1
            outcome = COLLIDES
            if left:
                winner = nearest(left, chain.limits, values, start, search.q) if given else first_bit(left)
                write_lane(search, winner, pose, report)
                outcome = REACHED
        if mode == NEW:
            begun += WIDTH
        mode = AROUND if mode == GIVEN else NEW
    store(report, REPORT.starts, float(looked))
    store(report, REPORT.steps, float(taken))
    if outcome == REACHED and given:
        turn_back(chain.limits, values, start, pose)
    return outcome


@inner
def search_of(codes, packed, values, free, room):
    """Return the memory of a search; arrays are those of `search_one`."""
    rows, to_tables = codes.size // CODE.size, tables_place(codes.size // CODE.size, values)
    lanes = divided(cells(room), lane_sizes(rows, values, 1))
    _, _, moved, turned, q, _, _, scores = divided(flat(room), lane_sizes(rows, values, WIDTH))
    poses = beyond(flat(packed), to_tables * WIDTH + FRAME.size * FRAMES)
    tables = Tables(beyond(cells(packed), to_tables), poses, lanes.ranks, scores)
    best = beyond(scores, 2 * WIDTH)
    one = beyond(best, BEST.size + values)
    chain = chain_of(cells(codes), flat(packed), values)
    return Search(chain, rows, values, tables, lanes, q, moved, turned, best, one, beyond(one, TRANSFORM.size), free)


@kernel("i8[] f8[,] i8[] f8[] f8 i8[] f8[] f8[,] f8[,] f8[] f8[,] i8 i8 b1 f8[] -> i8")
def free_search_one(
    codes, packed, scene, shapes, margin, places, base, room, check_room, kept, target, seed, tries, given, out
):
    """Search for a free pose for one target (4, 4); write it into `out`, as `search_one.search_one` does.

    `kept` has memory for KEPT poses of the chain. The scene, places and base are those of `free_seven.free_seven_one`.
    """
    values = places.size
    to_report, to_start, to_target, _ = answer_places(values)
    free = free_of(scene, shapes, margin, places, check_room)
    search, cell = search_of(codes, packed, values, free, room), cells(out)
    chain = search.chain
    if not read_goal(chain.numbers, load(chain.settings, SETTINGS.spin), flat(target), 0, search.one):
        return INVALID
    for value in range(values if given else 0):
        if load(cell, to_start + value) - load(cell, to_start + value) != 0.0:
            return UNSOLVED
    keep_goal(flat(target), search.one, beyond(cell, to_target), search.lanes.goal)
    put_base(free, base, 0)
    start = beyond(cell, to_start)
    return search_free(search, seed, tries, given, start, cell, beyond(cell, to_report), cells(kept))


@kernel("i8[] f8[,] i8[] f8[] f8 i8[] f8[] f8[,] f8[,] f8[] f8[] f8[] i8 i8 i8 f8[] f8[] i8[]", nogil=True)
def free_search_many(
    codes, packed, scene, shapes, margin, places, bases, room, check_room, kept, targets, given, first, seed, tries,
    poses, report, status,
):  # fmt: skip
    """Do the same for targets (m * 16,) whose status (m,) is UNSOLVED: write poses (m * n,), reports and status.

    `given` holds a start for each, or is empty; `bases` the whole pose of each, or one for all; `first` is the number
    of the first target, on which its random starts depend.
    """
    values, ends, any_given = places.size, cells(status), given.size > 0
    free = free_of(scene, shapes, margin, places, check_room)
    search = search_of(codes, packed, values, free, room)
    spin, lanes = load(search.chain.settings, SETTINGS.spin), search.lanes
    put_base(free, bases, 0)
    for problem in range(status.size):
        if load(ends, problem) != UNSOLVED:
            continue
        if not read_goal(search.chain.numbers, spin, cells(targets), 16 * problem, search.one):
            store(ends, problem, INVALID)
            continue
        for k in range(TRANSFORM.size):
            store(lanes.goal, k, load(search.one, k))
        if bases.size > free.values:
            put_base(free, bases, problem)
        start = beyond(cells(given), values * problem if any_given else 0)
        pose, line = beyond(cells(poses), values * problem), beyond(cells(report), REPORT.size * problem)
        number = seed + (first + problem << 20)
        store(ends, problem, search_free(search, number, tries, any_given, start, pose, line, cells(kept)))
