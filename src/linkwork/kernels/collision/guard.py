"""A collision-free control cycle: the change nearest to the wanted one that brings nothing below the margin.

Two bodies that are near may approach by a share of the remaining distance to the margin (velocity dampers: Faverjon and
Tournassoud 1987): one row of a quadratic program each. The wanted change is taken if it satisfies the rows. Otherwise,
of all changes that satisfy rows, speeds and limits, the one is taken that brings the frames of the task nearest to
their targets and is otherwise calm: it continues the previous cycle, with decay. So a chain slides along obstacles, and
uses its freedom to go around them. Then distances are checked where the change leads to, since rows hold only for small
changes and one pair of points; violations there become further rows. Finally the path is swept, and shortened if
necessary.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from .. import inner, kernel, part
from ..chain import keep
from ..dense import product
from ..joint_step import BALL, ROW_CODES, STAY, start, step
from ..lanes import beyond, cells, divided, flat
from ..layout import Layout
from ..pose_error import turn_between
from ..quadratic import (
    SOLVED,
    minimize,
    work_size,
    work_sizes as quadratic_sizes,
)
from ..rotations import cross, dot, length, minus, place, plus, times, vector
from ..tree import column as axis_of
from .moving import (
    TWISTS,
    WAY,
    fastest_approach,
    put_change,
    put_frames,
    put_gradient,
    put_pose,
    put_reaches,
    put_twists,
)
from .near import near_pairs
from .piece_layout import HEADER, NEAR, table
from .scene_distance import place_frames
from .support import turned
from .sweep import LEFT, MOST, divided_for as sweep_memory, first_contact, room_size as sweep_room, sum_of

AS_WANTED, AROUND, SHORTENED, HELD = 0, 1, 2, 3  # outcomes
SETTINGS = Layout(
    "margin",
    "aim",  # distance at which two come to rest, a little more than the margin
    "gain",  # share of the remaining distance that a cycle may use
    "slack",  # how much nearer than the margin two may be on the path
)
COLUMN = Layout("value", "lower", "upper", "reach", "weight")  # index in the pose or -1; the weight of its change
# Of a frame: weights of its position along the world's axes, and of rotations; rotations about the given axis of the
# frame do not count, unless it is zero
TASK = Layout(("position", 3), "rotation", ("axis", 3))
REPORT = Layout("before", "after", "near", ("record", NEAR.size))  # smallest distances [m]; pair count, the nearest
ZONE = 0.06  # largest distance beyond the margin within which pairs are sought [m]
ROUNDS = 4  # of checking where a change leads to
ROWS = 3 * MOST
FINE = 1e-6  # tolerance of distances there [m]
LOOKS = 60  # largest number of checks along the path
GIVING = 3  # rounds of yielding to rows
LOOSE, FIRM = 0.5, 0.8  # squared cosine between a row and a frame's motion: below LOOSE, they have little in common
NEARLY = 0.98  # share of a squared error that counts as all of it
KEPT = 0.9  # share of the previous motion that continues, if the task leaves freedom

Guard = namedtuple(
    "Guard",
    (
        "wanted",
        "lean",  # the preferred change if the task leaves freedom
        "frame",
        "error",
        "x",
        "low",
        "high",
        "hessian",
        "gradient",
        "rows",
        "upper",
        "quadratic",
        "twists",
        "task_twists",
        "jacobian",
        "ahead",
        "begun",  # near pairs at the start of the cycle
        "before",  # frames at the start of the cycle
        "sweep",
    ),
)


@inner
def guard_sizes(sweep, frames, rows, n, task_rows, quadratic):
    """Return the size of each part of the memory: for a sweep, frames, their rows, columns and so on."""
    return Guard(
        wanted=n,
        lean=n,
        frame=16,
        error=6,
        x=n,
        low=n,
        high=n,
        hessian=n * n,
        gradient=n,
        rows=ROWS * n,
        upper=ROWS,
        quadratic=quadratic,
        twists=TWISTS * rows,
        task_twists=TWISTS * task_rows,
        jacobian=6 * n,
        ahead=n,
        begun=MOST * NEAR.size,
        before=16 * frames,
        sweep=sweep,
    )


@inner
def divided_for(codes, n, task_rows, room):
    """Return memory divided into the parts of a cycle's workspace; the sweep has the rest."""
    frames = codes[HEADER.frames]
    rows = table(codes, HEADER.starts, codes)[frames]
    return divided(room, guard_sizes(1, frames, rows, n, task_rows, sum_of(quadratic_sizes(n, ROWS))))


def room_size(codes: NDArray[np.int64], columns: int, task_rows: int) -> int:
    """Return the size of the workspace of a cycle, in numbers."""
    frames = int(codes[HEADER.frames])
    rows, quadratic = int(codes[codes[HEADER.starts] + frames]), work_size(columns, ROWS)
    return int(sum(guard_sizes.py_func(sweep_room(codes), frames, rows, columns, task_rows, quadratic)))


@part
def put_box(columns, n, q, s):
    """Write the bounds of the change, from speeds and limits, and the wanted change within them."""
    for k in range(n):
        column = beyond(columns, COLUMN.size * k)
        reach, value = column[COLUMN.reach], int(column[COLUMN.value])
        low, high = -reach, reach
        if value >= 0:
            low = min(max(column[COLUMN.lower] - q[value], low), high)
            high = max(min(column[COLUMN.upper] - q[value], high), low)
        s.low[k], s.high[k] = low, high
        s.x[k] = s.wanted[k] = min(max(s.wanted[k], low), high)


@part
def put_jacobian(codes, numbers, first, end, ways, n, q, s):
    """Write the Jacobian (6, n) of a frame at the end of rows, linear, then angular; and the frame."""
    x, y, z, p = start(q)
    for row in range(first, end):
        x, y, z, p = step(codes, numbers, row, q, x, y, z, p)
        put_twists(codes, numbers, row, x, y, z, p, beyond(s.task_twists, TWISTS * row))
    keep(s.frame, 0, x, y, z, p)
    for k in range(6 * n):
        s.jacobian[k] = 0.0
    for row in range(first, end):
        code = beyond(codes, ROW_CODES.size * row)
        if code[ROW_CODES.motion] == STAY or ways[WAY.size * code[ROW_CODES.value] + WAY.column] < 0:
            continue
        for i in range(3 if code[ROW_CODES.motion] == BALL else 1):
            column = ways[WAY.size * code[ROW_CODES.value] + WAY.column] + i
            twist = beyond(s.task_twists, TWISTS * row + 6 * i)
            turn = vector(twist, 0)
            slide = plus(vector(twist, 1), cross(turn, p))
            for k in range(3):
                s.jacobian[n * k + column] += slide[k]
                s.jacobian[n * (3 + k) + column] += turn[k]


@part
def put_error(task, target, s):
    """Write the displacement from the frame to its target, and the rotation; return the axis that does not count."""
    for k in range(3):
        s.error[k] = target[4 * k + 3] - s.frame[4 * k + 3]
    own = vector(beyond(task, TASK.axis), 0)
    axis, there = turned(s.frame, own), turned(target, own)
    turn = turn_between(s.frame, target, 4)
    if dot(own, own) > 0.0:
        turn = cross(axis, there)
        sine = length(turn)
        turn = times(math.atan2(sine, dot(axis, there)) / sine if sine > 0.0 else 1.0, turn)
    place(turn, s.error, 1)
    return axis


@part
def weigh(task, axis, n, s):
    """Multiply the rows and errors of a frame by their weights, without rotations about the ignored axis."""
    for j in range(n):
        turn = (s.jacobian[3 * n + j], s.jacobian[4 * n + j], s.jacobian[5 * n + j])
        turn = minus(turn, times(dot(turn, axis), axis))
        for k in range(3):
            s.jacobian[n * k + j] *= task[TASK.position + k]
            s.jacobian[n * (3 + k) + j] = task[TASK.rotation] * turn[k]
    for k in range(3):
        s.error[k] *= task[TASK.position + k]
        s.error[3 + k] *= task[TASK.rotation]


@part
def give_in(n, count, s):
    """Remove from the error the part that leads into an obstacle that the frame, or what it holds, is touching.

    A row whose points move as the frame does forbids its motion along the normal. The task would push against it in
    every cycle, and the chain would turn back and forth for a minimal gain.
    """
    ahead = s.ahead
    for _ in range(GIVING):
        for k in range(count):
            row, normal = beyond(s.rows, n * k), vector(beyond(s.begun, NEAR.size * k + NEAR.normal), 0)
            for j in range(n):
                ahead[j] = dot(normal, (s.jacobian[j], s.jacobian[n + j], s.jacobian[2 * n + j]))
            along, size = product(row, ahead, n), product(row, row, n) * product(ahead, ahead, n)
            if along == 0.0 or not size > 0.0:
                continue
            way = times(math.copysign(1.0, along), normal)
            over = dot(way, vector(s.error, 0)) - max(s.upper[k], 0.0)
            share = min(max((along * along / size - LOOSE) / (FIRM - LOOSE), 0.0), 1.0)
            if over > 0.0:
                place(minus(vector(s.error, 0), times(share * over, way)), s.error, 0)


@part
def no_further(n, s):
    """Shorten the error of a frame to the motion of the wanted change, as speeds allow; return whether it had to."""
    way = 0.0
    for r in range(6):
        way += product(beyond(s.jacobian, n * r), s.wanted, n) ** 2
    size = product(s.error, s.error, 6)
    if size > way:
        for r in range(6):
            s.error[r] *= math.sqrt(way / size)
    return size * NEARLY > way


@part
def put_objective(job, columns, n, ways, q, near, s):
    """Write matrix and gradient of ``|J x - error|^2 + weight |x - lean|^2``, halved.

    Return whether speeds keep the frames from their targets.
    """
    starts, codes, numbers, tasks, targets, count = job
    late = False
    for i in range(n):
        weight = columns[COLUMN.size * i + COLUMN.weight]
        for j in range(n):
            s.hessian[n * i + j] = weight if i == j else 0.0
        s.gradient[i] = -weight * s.lean[i]
    for t in range(count):
        task = beyond(tasks, TASK.size * t)
        put_jacobian(codes, numbers, starts[t], starts[t + 1], ways, n, q, s)
        axis = put_error(task, beyond(targets, 16 * t), s)
        weigh(task, axis, n, s)
        give_in(n, near, s)
        late |= no_further(n, s)
        for r in range(6):
            row = beyond(s.jacobian, n * r)
            for i in range(n):
                s.gradient[i] -= row[i] * s.error[r]
                for j in range(i + 1):
                    s.hessian[n * i + j] += row[i] * row[j]
    return late


@part
def put_dampers(codes, ways, n, count, settings, s):
    """Write a row for every near pair; return whether the wanted change satisfies all of them."""
    kept = True
    for k in range(count):
        record, row = beyond(s.begun, NEAR.size * k), beyond(s.rows, n * k)
        put_gradient(codes, ways, n, s.twists, record, row)
        for j in range(n):
            row[j] = -row[j]
        s.upper[k] = settings[SETTINGS.gain] * (record[NEAR.distance] - settings[SETTINGS.aim])
        kept &= product(row, s.x, n) <= s.upper[k]
    return kept


@part
def put_x(n, rows, s):
    """Write the change that satisfies the rows; if none does, rows that push apart only forbid coming nearer."""
    work = divided(s.quadratic, quadratic_sizes(n, rows))
    if minimize(n, rows, s.hessian, s.gradient, s.low, s.high, s.rows, s.upper, work, s.x) != SOLVED:
        for k in range(rows):
            s.upper[k] = max(s.upper[k], 0.0)
        minimize(n, rows, s.hessian, s.gradient, s.low, s.high, s.rows, s.upper, work, s.x)


@inner
def moved_back(frame, world, before, p):
    """Return where a point of a frame, given in the world, was before; frame -1 is the world."""
    if frame < 0:
        return p
    here, there = beyond(world, 16 * frame), beyond(before, 16 * frame)
    off = p[0] - here[3], p[1] - here[7], p[2] - here[11]
    own = dot(axis_of(here, 0), off), dot(axis_of(here, 1), off), dot(axis_of(here, 2), off)
    rows = (there[0], there[1], there[2]), (there[4], there[5], there[6]), (there[8], there[9], there[10])
    return there[3] + dot(rows[0], own), there[7] + dot(rows[1], own), there[11] + dot(rows[2], own)


@part
def wanted_distance(record, count, settings, m, s):
    """Return the wanted distance of two after a cycle.

    The two points that are nearest there were apart before too, by at least the distance of the pair: dampers apply to
    them as to those that were nearest. So a face comes to rest on another as a corner does, without tilting from corner
    to corner. Pairs that are already too near should not come nearer.
    """
    aim, gain, before = settings[SETTINGS.aim], settings[SETTINGS.gain], math.inf
    for k in range(count):
        other = beyond(s.begun, NEAR.size * k)
        if record[NEAR.owner_a] == other[NEAR.owner_a] and record[NEAR.owner_b] == other[NEAR.owner_b]:
            before = other[NEAR.distance]
    a = moved_back(int(record[NEAR.frame_a]), m.world, s.before, vector(beyond(record, NEAR.a), 0))
    b = moved_back(int(record[NEAR.frame_b]), m.world, s.before, vector(beyond(record, NEAR.b), 0))
    apart = dot(vector(beyond(record, NEAR.normal), 0), minus(b, a))
    if before == math.inf or apart > before:
        before = apart
    return before - gain * max(before - aim, 0.0)


@part
def add_missed(codes, numbers, ways, n, q, within, count, rows, settings, m, s):
    """Add a row for every pair that is nearer than wanted where the change leads to; return the number of rows.

    The row linearizes the distance at that pose, as the first rows did at the start.
    """
    put_pose(ways, codes[HEADER.values], q, s.x, 1.0, m.pose)
    put_frames(codes, numbers, m.pose, m.world, s.twists)
    found = near_pairs(codes, numbers, m.world, within, MOST, m.records, m.near)
    for k in range(found):
        record = beyond(m.records, NEAR.size * k)
        missed = wanted_distance(record, count, settings, m, s) - record[NEAR.distance]
        if missed > FINE and rows < ROWS:
            row = beyond(s.rows, n * rows)
            put_gradient(codes, ways, n, s.twists, record, row)
            for j in range(n):
                row[j] = -row[j]
            s.upper[rows] = product(row, s.x, n) - missed
            rows += 1
    return rows


@part
def swept(codes, numbers, ways, n, q, count, settings, m, s):
    """Shorten the change to what the sweep finds clear; return whether it had to."""
    for k in range(count * NEAR.size):
        m.inside[k] = s.begun[k]
    margin, slack = settings[SETTINGS.margin], settings[SETTINGS.slack]
    clear, contact = first_contact(codes, numbers, ways, q, s.x, margin, slack, LOOKS, count, m)
    if contact == math.inf:
        return False
    for k in range(n):
        s.x[k] *= clear
    return True


@inner
def nothing_near(out):
    """Write a report for the case that nothing is near."""
    out[REPORT.near], out[REPORT.before], out[REPORT.after] = 0.0, math.inf, math.inf


@part
def report_of(codes, numbers, within, count, out, m, s):
    """Write the near pairs before, and the smallest distance at the new pose, to a report."""
    out[REPORT.near] = float(count)
    out[REPORT.before] = s.begun[NEAR.distance] if count > 0 else math.inf
    place_frames(codes, numbers, m.pose, m.world)
    found = near_pairs(codes, numbers, m.world, within, 1, m.records, m.near)
    out[REPORT.after] = m.records[NEAR.distance] if found > 0 else math.inf
    for k in range(NEAR.size):
        out[REPORT.record + k] = m.records[k] if found > 0 else -1.0


@part
def keep_clear(codes, numbers, ways, job, columns, n, settings, poses, around, s, out):
    """Write the pose and a report of one cycle; return the outcome.

    If the previous cycle went around something, so does this one until the frames are at their targets: otherwise the
    wanted change at full speed and the one around would alternate.
    """
    m, values, (before, q, wanted) = sweep_memory(codes, s.sweep), codes[HEADER.values], poses
    put_change(ways, values, q, wanted, s.wanted)
    put_change(ways, values, before, q, s.lean)
    for k in range(n):
        s.lean[k] *= KEPT
    put_box(columns, n, q, s)
    put_frames(codes, numbers, q, m.world, s.twists)
    for k in range(16 * codes[HEADER.frames]):
        s.before[k] = m.world[k]
    put_reaches(codes, numbers, m.reaches)
    fastest = fastest_approach(codes, numbers, ways, q, s.x, m.reaches)
    most = settings[SETTINGS.aim] + min(ZONE, fastest / settings[SETTINGS.gain] + LEFT)
    count = near_pairs(codes, numbers, m.world, most, MOST, s.begun, m.near)
    ended, rows = AS_WANTED, count
    if count == 0 and fastest <= ZONE:  # nothing can come near
        put_pose(ways, values, q, s.x, 1.0, out)
        nothing_near(beyond(out, values))
        return AS_WANTED
    kept = put_dampers(codes, ways, n, count, settings, s)
    if around or not kept:
        late = put_objective(job, columns, n, ways, q, count, s)
        if late or not kept:
            put_x(n, rows, s)
            ended = AROUND
    for _ in range(ROUNDS):
        more = add_missed(codes, numbers, ways, n, q, most, count, rows, settings, m, s)
        if more == rows:
            break
        if ended == AS_WANTED and not around:
            put_objective(job, columns, n, ways, q, count, s)
        ended, rows = AROUND, more
        put_x(n, rows, s)
    if swept(codes, numbers, ways, n, q, count, settings, m, s):
        ended = SHORTENED
    moved = 0.0
    for k in range(n):
        moved = max(moved, abs(s.x[k]))
    put_pose(ways, values, q, s.x, 1.0, out)
    put_pose(ways, values, q, s.x, 1.0, m.pose)
    report_of(codes, numbers, most, count, beyond(out, values), m, s)
    return HELD if ended != AS_WANTED and moved == 0.0 else ended


@kernel("i8[] f8[] i8[] i8[] i8[] f8[] f8[] f8[,] f8[] f8[] f8[] f8[] f8[] b1 f8[] f8[] -> i8")
def guard_one(
    codes,
    numbers,
    ways,
    starts,
    rows,
    constants,
    tasks,
    targets,
    columns,
    settings,
    before,
    q,
    wanted,
    around,
    room,
    out,
):
    """Run one collision-free control cycle: write the pose (nq,), then a REPORT, into `out`; return the outcome.

    Args:
        codes: The scene.
        numbers: Likewise.
        ways: A WAY for every value of the pose.
        starts: First row of each frame of the task, and the end of the last.
        rows: These rows, from the world: codes.
        constants: Their numbers.
        tasks: A TASK for each of them.
        targets: Their targets, 4x4, one below the other.
        columns: A COLUMN for each.
        settings: SETTINGS.
        before: The previous pose.
        q: The current pose.
        wanted: The wanted next pose.
        around: Whether the previous cycle went around something.
        room: Workspace of `room_size` numbers.
        out: Receives the pose and the report.
    """
    n, scene = columns.size // COLUMN.size, cells(codes)
    s = divided_for(scene, n, rows.size // ROW_CODES.size, cells(room))
    job = cells(starts), cells(rows), cells(constants), cells(tasks), flat(targets), tasks.size // TASK.size
    poses = cells(before), cells(q), cells(wanted)
    given = cells(columns), n, cells(settings), poses, around
    return keep_clear(scene, cells(numbers), cells(ways), job, *given, s, cells(out))
