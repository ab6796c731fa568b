"""Repair poses that reach a goal but touch something: move them until they are free, without leaving the goal.

Every step is a damped step for the error of the tip and for the violations of the margin by the nearest pairs,
together: a redundant chain moves within its self-motion, and comes to rest where both vanish. This finds narrow places,
which random poses miss.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from .. import inner, kernel, part
from ..chain_memory import CODE, ENDS, REPORT, SETTINGS, chain_of
from ..damped import columns, row_velocity, tip_error, within
from ..dense import eliminate
from ..joint_step import ROW_NUMBERS, TRANSFORM
from ..lanes import beyond, cells, divided, flat, load
from ..rotations import dot, vector
from ..search_many import INVALID, REACHED, UNSOLVED
from ..search_one import answer_places
from ..starts import read_goal
from .near import near_pairs, work_size
from .piece_layout import HEADER, NEAR
from .scene_distance import place_frames

MOST = 16  # largest number of pairs in a step
STEPS = 60
BAND = 0.02  # distance beyond the margin within which pairs are considered [m]
AIM, LESS = 1.0e-3, 0.8  # how far beyond the margin a step aims [m], and the factor on this after each step
LARGEST = 0.3  # largest change of a value in a step
LOOSE = 1.0e-6  # damping of steps besides that of the chain
Repair = namedtuple("Repair", "goal q pose frames axes columns records gradient matrix change work")


@inner
def repair_sizes(values, rows, whole, frames, work):
    """Return the size of each part of the memory, in numbers."""
    return Repair(
        TRANSFORM.size, values, whole, 16 * frames, 6 * rows, 6 * rows, NEAR.size * MOST, values, values * values,
        values, work,
    )  # fmt: skip


@part
def put_gradient(chain, moves, record, axes, gradient, values):
    """Write the gradient of the distance of a pair by each of the chain's values.

    `moves` holds, for each frame of the scene, how many of the chain's joints, from the first on, move it.
    """
    frame_a, frame_b = int(record[NEAR.frame_a]), int(record[NEAR.frame_b])
    first, second = moves[frame_a], moves[frame_b] if frame_b >= 0 else 0
    a, b = vector(beyond(record, NEAR.a), 0), vector(beyond(record, NEAR.b), 0)
    normal = vector(beyond(record, NEAR.normal), 0)
    for value in range(values):
        gradient[value] = 0.0
    for row in range(max(first, second)):
        value = load(chain.codes, CODE.size * row + CODE.value)
        multiplier = load(chain.numbers, ENDS.size + ROW_NUMBERS.size * row + ROW_NUMBERS.multiplier)
        if row < second:
            gradient[value] += multiplier * dot(normal, row_velocity(chain.codes, chain.numbers, row, b, axes)[0])
        if row < first:
            gradient[value] -= multiplier * dot(normal, row_velocity(chain.codes, chain.numbers, row, a, axes)[0])


@part
def add_row(gradient, wanted, values, matrix, change):
    """Add a row with a wanted change to the normal equations."""
    for i in range(values):
        change[i] += gradient[i] * wanted
        for j in range(values):
            matrix[values * i + j] += gradient[i] * gradient[j]


@part
def take_step(chain, values, moves, margin, aim, count, error, damping, memory):
    """Move the values by one step for the tip's error and the pairs below the margin; return whether it is finite."""
    matrix, change, gradient = memory.matrix, memory.change, memory.gradient
    for i in range(values):
        change[i] = 0.0
        for j in range(values):
            matrix[values * i + j] = damping if i == j else 0.0
    for k in range(6):
        for value in range(values):
            gradient[value] = memory.columns[6 * value + k]
        add_row(gradient, error[k], values, matrix, change)
    for k in range(count):
        record = beyond(memory.records, NEAR.size * k)
        lacking = margin + aim - record[NEAR.distance]
        if lacking > 0.0:
            put_gradient(chain, moves, record, memory.axes, gradient, values)
            add_row(gradient, lacking, values, matrix, change)
    if not eliminate(matrix, change, values):
        return False
    largest = 0.0
    for value in range(values):
        largest = max(largest, abs(change[value]))
    scale = min(1.0, LARGEST / max(largest, 1.0e-300))
    for value in range(values):
        memory.q[value] = within(chain.limits, value, memory.q[value] + scale * change[value])
    return largest == largest


@part
def repair(chain, rows, values, scene, numbers, margin, places, moves, memory):
    """Move values until they reach the goal and are free; return whether they do, and the squared errors."""
    aim, settings = AIM, chain.settings
    for _ in range(STEPS):
        for value in range(values):
            memory.pose[places[value]] = memory.q[value]
        place_frames(scene, numbers, memory.pose, memory.frames)
        z, tip, e, p, r = tip_error(chain.codes, chain.numbers, rows, settings, memory.goal, memory.q, memory.axes)
        count = near_pairs(scene, numbers, memory.frames, margin + BAND, MOST, memory.records, memory.work)
        least = memory.records[NEAR.distance] if count > 0 else math.inf
        if p <= load(settings, SETTINGS.near) and r <= load(settings, SETTINGS.aligned) and least >= margin:
            return True, p, r
        for k in range(6 * rows):
            memory.columns[k] = memory.axes[k]
        columns(chain.codes, chain.numbers, rows, settings, tip, z, memory.columns)
        w = load(settings, SETTINGS.rotation_weight)
        damping = (p + r * w * w) * load(settings, SETTINGS.damping_gain) + load(settings, SETTINGS.damping_least)
        if not take_step(chain, values, moves, margin, aim, count, e, damping + LOOSE, memory):
            break
        aim *= LESS
    return False, 0.0, 0.0


@kernel("i8[] f8[] i8[] f8[] f8 i8[] i8[] f8[] f8[] f8[,] f8[] i8 f8[] -> i8", nogil=True)
def free_repair_one(codes, packed, scene, shapes, margin, places, moves, base, room, target, kept, count, out):
    """Repair `count` poses of a chain, stored in `kept`, until one is free; write it into `out`.

    `out` has the layout of `search_one.search_one`; `moves` is that of `put_gradient`; `room` is workspace of
    `repair_room` numbers. Return REACHED, UNSOLVED or INVALID.
    """
    rows, values, header = codes.size // CODE.size, places.size, cells(scene)
    chain, cell = chain_of(cells(codes), cells(packed), values), cells(out)
    memory = divided(cells(room), repair_sizes(values, rows, header[HEADER.values], header[HEADER.frames], 0))
    to_report, _, _, _ = answer_places(values)
    if not read_goal(chain.numbers, load(chain.settings, SETTINGS.spin), flat(target), 0, memory.goal):
        return INVALID
    for value in range(base.size):
        memory.pose[value] = base[value]
    for k in range(count):
        for value in range(values):
            memory.q[value] = kept[values * k + value]
        good, p, r = repair(chain, rows, values, header, cells(shapes), margin, cells(places), cells(moves), memory)
        if good:
            for value in range(values):
                cell[value] = memory.q[value]
            cell[to_report + REPORT.position_error], cell[to_report + REPORT.rotation_error] = p, r
            return REACHED
    return UNSOLVED


def repair_room(codes: NDArray[np.int64], rows: int, values: int) -> int:
    """Return the size of the workspace of a repair, in numbers."""
    sizes = repair_sizes.py_func(values, rows, int(codes[HEADER.values]), int(codes[HEADER.frames]), work_size(codes))
    return int(sum(sizes))
