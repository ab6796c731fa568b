"""Rows of `Avoid` goals: push apart the nearest pairs of bodies that are closer than wanted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import inner, part
from .body_layout import HEADER, table
from .body_state import add_to_row
from .collision.near import near_pairs, work_size
from .collision.piece_layout import NEAR
from .goal_layout import AIM, AVOID_AIM, AVOID_ITEM, GOAL
from .goal_rows import NOTHING, explicit_row
from .lanes import beyond
from .rotations import times, vector

MOST = 16  # pairs that get a row; the nearest pair is always included, so no violation is missed


def near_size(frames: int, codes: NDArray[np.int64]) -> int:
    """Return the workspace, in numbers, for finding the near pairs of a scene."""
    return 16 * frames + NEAR.size * MOST + work_size(codes)


@inner
def avoid_items(codes, goal):
    """Return the items of a goal: AVOID_ITEM, offsets of its scene, then the body frame of each frame of the scene."""
    return beyond(table(codes, HEADER.goal_items, codes), goal[GOAL.item])


@part
def leave_near(codes, numbers, goal, within, scratch):
    """Find the nearest pairs of a goal's scene that are closer than `within`; return their number and their records."""
    items, count = avoid_items(codes, goal), goal[GOAL.count]
    scene = beyond(table(codes, HEADER.scene_codes, codes), items[AVOID_ITEM.code])
    constants = beyond(table(codes, HEADER.scene_numbers, numbers), items[AVOID_ITEM.number])
    frames = scratch.near
    for k in range(count):
        own = 16 * items[AVOID_ITEM.size + k]
        for i in range(16):
            frames[16 * k + i] = scratch.world[own + i]
    records = beyond(frames, 16 * count)
    return near_pairs(scene, constants, frames, within, MOST, records, beyond(records, NEAR.size * MOST)), records


@part
def avoid_goal(codes, numbers, goal, aim, scratch):
    """Write the errors and explicit rows of an Avoid goal: for each near pair, the wanted distance minus the actual."""
    wanted, weight, items = aim[AVOID_AIM.wanted], aim[AIM.metres], avoid_items(codes, goal)
    found, records = leave_near(codes, numbers, goal, wanted, scratch)
    for k in range(MOST):
        record = beyond(records, NEAR.size * k)
        error = max(wanted - record[NEAR.distance], 0.0) if k < found else 0.0
        scratch.errors[goal[GOAL.error] + k] = error
        row = explicit_row(codes, goal, k, weight * error, scratch)
        if error > 0.0:
            force = times(weight, vector(beyond(record, NEAR.normal), 0))
            back, a, b = times(-1.0, force), vector(beyond(record, NEAR.a), 0), vector(beyond(record, NEAR.b), 0)
            push(codes, items, record[NEAR.frame_b], force, b, row, scratch)
            push(codes, items, record[NEAR.frame_a], back, a, row, scratch)


@inner
def push(codes, items, frame, force, at, row, scratch):
    """Add to a row the generalized force of a force at a point of a scene frame; a frame of -1 is the fixed world."""
    own = int(frame)
    if own >= 0:
        add_to_row(codes, scratch.twists, row, items[AVOID_ITEM.size + own], NOTHING, force, at)


@inner
def avoids_with(codes, goal, column, scratch):
    """Return whether a column (degree of freedom) moves any pair that is too near at the pose evaluated last."""
    n, found = codes[HEADER.columns], False
    for k in range(MOST):
        found = found or scratch.rows[n * (goal[GOAL.row] + k) + column] != 0.0
    return found
