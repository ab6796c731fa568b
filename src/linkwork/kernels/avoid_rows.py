"""What `Avoid` asks for: of the pairs of bodies that are too near to each other, the nearest ones further apart."""

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

MOST = 16  # pairs that have a row; the nearest is always among them, so that none is overlooked


def near_size(frames: int, codes: NDArray[np.int64]) -> int:
    """Return how many numbers it takes to find the pairs of a scene that are near."""
    return 16 * frames + NEAR.size * MOST + work_size(codes)


@inner
def avoid_items(codes, goal):
    """Return where the scene of a goal begins, then the frames of the body that its frames are."""
    return beyond(table(codes, HEADER.goal_items, codes), goal[GOAL.item])


@part
def leave_near(codes, numbers, goal, within, scratch):
    """Leave the nearest pairs of a goal's scene; return how many there are, and their records."""
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
    """Write the errors and the explicit rows of an Avoid goal: how far pairs are nearer than wanted."""
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
    """Add to a row what a force at a point of a scene's frame means for the joints above it; the world stays."""
    own = int(frame)
    if own >= 0:
        add_to_row(codes, scratch.twists, row, items[AVOID_ITEM.size + own], NOTHING, force, at)


@inner
def avoids_with(codes, goal, column, scratch):
    """Return whether a column moves a pair that is too near at the pose evaluated last."""
    n, found = codes[HEADER.columns], False
    for k in range(MOST):
        found = found or scratch.rows[n * (goal[GOAL.row] + k) + column] != 0.0
    return found
