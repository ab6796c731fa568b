"""Fast closest poses for unreachable targets, started from precomputed poses at the boundary of the workspace.

Most descents from arbitrary poses end in a local minimum. Poses that are closest to other unreachable targets start
near the global one: four of them are as good as a dozen others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..kernels import chain_memory as memory
from ..kernels.closest_quick import PLAN, closest_quickly, edge_table, quick_room
from ..kernels.joint_step import TRANSFORM
from ..kernels.rooms import zero_room
from ..kernels.search_many import BEYOND, CLOSEST, REACHED
from ..transforms import FloatArray, quaternion_matrix
from .chain_settings import weighted_frames

if TYPE_CHECKING:
    from .chain_solver import Prepared

POSES, WITH_FORM = 1024, 256  # size of the table; with a closed form, which gives a near pose, a smaller one is enough
ROUNDS = 2  # how often poses of the table are brought closer to the targets that they are learnt from
SOMEWHERE, SEED = 4096, 19  # number of targets to learn from, reached or not, and their seed
FEW = 8  # starts of their search, without a closed form
WIDER = 1.1  # radius of the targets, as a multiple of that of the chain's poses
NEAR = 0.5  # targets out of reach below this share of the reach are too near, not too far
ALMOST = 4e-3  # share of a quarter of the chain's length: poses that miss by less may still reach their targets
OUTSIDE = PLAN.pack(dtype=np.int64, shares=4, met=0, finalists=2, sweeps=1, first=1, last=3, rounds=2)
INSIDE = PLAN.pack(dtype=np.int64, shares=12, met=1, finalists=4, sweeps=1, first=4, last=4, rounds=2)
MET = PLAN.pack(dtype=np.int64, shares=2, met=1, finalists=1, sweeps=1, first=2, last=3, rounds=2)  # with a near pose


def serves(prepared: Prepared) -> bool:
    """Return whether this method supports the chain: its goals have whole positions, and it has no mobile base."""
    return prepared.goal.coordinates in (0, 3) and not prepared.chain.carriers


def bring_near(
    prepared: Prepared, aims: FloatArray, status: NDArray[np.int64], values: FloatArray, report: FloatArray
) -> NDArray[np.int64]:
    """Bring the values (m, n) of missed targets near to these, and write their reports.

    Return the indices of those that almost reach their targets. For arguments, see `chain_closest.bring_closer`.
    """
    table = prepared.cache.get("edges", None, lambda: _learnt(prepared))
    beyond = np.flatnonzero(status == BEYOND)
    near = _too_near(prepared, aims[:, :3, 3].take(beyond, axis=0))
    rows = np.concatenate([beyond[~near], beyond[near], np.flatnonzero(status == CLOSEST)])
    far = len(beyond) - int(near.sum())
    aims, ends = aims.take(rows, axis=0), status.take(rows)
    poses, lines = values.take(rows, axis=0), report.take(rows, axis=0)
    descend(prepared, table, OUTSIDE, aims[:far], ends[:far], poses[:far], lines[:far])
    descend(prepared, table, MET if prepared.has_form else INSIDE, aims[far:], ends[far:], poses[far:], lines[far:])
    status[rows], values[rows], report[rows] = ends, poses, lines
    errors, known = memory.REPORT.view(lines), prepared.search_settings
    off = errors.position_error + known.rotation_weight**2 * errors.rotation_error
    return np.asarray(rows[(ends != REACHED) & (off < (ALMOST * known.arm) ** 2)])


def _too_near(prepared: Prepared, places: FloatArray) -> NDArray[np.bool_]:
    """Return which unreachable targets (n, 3) are too near to the base; there, local minima are common."""
    centre, _, extents = prepared.reach
    away = places - centre
    return np.asarray((away * away).sum(axis=1) < (NEAR * extents[0, 1]) ** 2)


def _learnt(prepared: Prepared) -> NDArray[np.float32]:
    """Return a table of the poses closest to targets in and around the reach that the search missed."""
    chain, targets = prepared.chain, _somewhere(prepared)
    most = WITH_FORM if prepared.has_form else POSES
    status = np.zeros(len(targets), np.int64)
    starts = None if prepared.has_form else FEW
    values, report = prepared.search(targets, status, bounded=True, leave=True, restarts=starts)
    missed = np.flatnonzero((status == CLOSEST) | (status == BEYOND))[:most]
    aims, ends, poses, lines = prepared.spun(targets[missed]), status[missed], values[missed], report[missed]
    table = edge_table(prepared.frames, chain.table[0])
    for _ in range(ROUNDS):
        descend(prepared, table, INSIDE, aims, ends.copy(), poses, lines)
        every = np.concatenate([poses, chain.table[0]])[:most]
        whole = chain.put(every, np.tile(chain.rest, (len(every), 1)))
        reached = chain.goals(chain.linkage.forward(whole, frame=chain.frame))
        table = edge_table(weighted_frames(chain, prepared.goal, reached), every)
    return table


def _somewhere(prepared: Prepared) -> FloatArray:
    """Return targets (n, 4, 4) with random orientations, spread over a ball slightly larger than the reach."""
    generator = np.random.default_rng(SEED)
    seen = TRANSFORM.view(prepared.chain.table[1]).origin
    centre = seen.mean(axis=0)
    radius = WIDER * np.linalg.norm(seen - centre, axis=1).max()
    way = generator.normal(size=(SOMEWHERE, 3))
    way *= radius * np.cbrt(generator.random((SOMEWHERE, 1))) / np.linalg.norm(way, axis=1, keepdims=True)
    targets = np.tile(np.eye(4), (SOMEWHERE, 1, 1))
    targets[:, :3, :3] = quaternion_matrix(generator.normal(size=(SOMEWHERE, 4)))
    targets[:, :3, 3] = centre + way
    return targets


def descend(
    prepared: Prepared,
    table: NDArray[np.float32],
    plan: NDArray[np.int64],
    aims: FloatArray,
    status: NDArray[np.int64],
    values: FloatArray,
    report: FloatArray,
) -> None:
    """Improve values by a plan; values, reports and status are overwritten."""
    if not len(status):
        return
    newton, kept, queue, one, notes = quick_room(prepared.rows, prepared.chain.values)
    closest_quickly(
        prepared.codes,
        prepared.numbers,
        prepared.packed(np.float32),
        table,
        aims.reshape(-1),
        plan,
        zero_room(newton, np.float32),
        zero_room(kept, np.float32),
        zero_room(queue, np.float32),
        zero_room(one),
        np.zeros(notes, np.int64),
        values.reshape(-1),
        status,
    )
    status[prepared.check_aims(aims, values, report)] = REACHED
    starts, own = memory.REPORT.view(report).starts, PLAN.view(plan)
    starts[starts == 0.0] = own.shares + own.met  # targets that the search skipped
