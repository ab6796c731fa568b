"""Settings of the compiled search of a chain: weights of errors, tolerances, damping and reach."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..goals import Reach
from ..kernels import chain_memory as memory
from ..kernels.joint_step import TRANSFORM
from ..transforms import FloatArray
from .chain import Chain
from .options import Settings

# Damping of the search; lengths are shares of the chain's length.
DAMPING_GAIN, LEAST_DAMPING = 0.05, {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-6}
MOST_STEPS, CHECK_AFTER, STALLED, CLOSE, START_BOUND, CAUTION = 20.0, 5.5, 0.7, 0.022, 12.0, 0.5
SHARP = 1.0 - 1e-9  # tolerances are tightened slightly to allow for rounding
UNBOUNDED = np.array([[0.0, np.inf], [0.0, np.inf]])
Extent = tuple[FloatArray, FloatArray, FloatArray]  # centre, point of the last axis and extents, from `chain.shells`


def search_settings(
    chain: Chain, goal: Reach, settings: Settings, kind: np.dtype[Any], reach: Extent | None
) -> FloatArray:
    """Return `SETTINGS` for goals of one kind, in a precision; goals outside the reach are rejected at once."""
    length = chain.length
    turned = len(goal.rows) > goal.coordinates
    single = 0.9 if kind == np.float32 else 1.0  # results in single precision are checked in double
    angle = min(settings.rotation_tolerance, math.pi)
    centre, point, shells = (0.0, 0.0, UNBOUNDED) if reach is None else _shells(goal, settings, reach)
    return memory.SETTINGS.pack(
        position_weights=[k in goal.rows for k in range(3)],
        rotation_weight=length / 4.0 if turned else 0.0,
        spin=float(goal.free is not None),
        damping_gain=DAMPING_GAIN,
        damping_least=LEAST_DAMPING[kind] * length**2,
        near=single * SHARP * settings.tolerance**2,
        aligned=single * SHARP * (2.0 * math.sin(angle / 2.0)) ** 2 if turned else np.inf,
        most_steps=MOST_STEPS,
        check_after=CHECK_AFTER,
        stalled=STALLED,
        close=(CLOSE * length) ** 2,
        start_bound=START_BOUND * length,
        centre=centre,
        shell=shells[0],
        point=point,
        point_shell=shells[1],
        caution=CAUTION * length,
        arm=length / 4.0,
        carriers=chain.carriers,
    )


def _shells(goal: Reach, settings: Settings, reach: Extent) -> tuple[Any, Any, FloatArray]:
    """Return the centre, the point of the last axis, and the squared radii of the reach."""
    centre, point, extents = reach
    near = settings.tolerance
    squared = np.maximum(extents + np.array([-near, near]), 0.0) ** 2
    if len(goal.rows) == 6 and goal.free is None:
        return centre, point, squared
    return centre, 0.0, np.stack([squared[0], UNBOUNDED[1]])


def weighted_frames(chain: Chain, goal: Reach, reached: FloatArray) -> FloatArray:
    """Return goals (n, 12), reached by poses of a chain, as FRAME (n, 13), weighted for goals of one kind.

    Displacements by a mobile base are ignored, since the base is moved separately.
    """
    goals, (asked, weights) = reached.copy(), frame_weights(chain, goal)
    origins = TRANSFORM.view(goals).origin
    origins -= origins @ chain.travel.T @ chain.travel
    return memory.FRAME.pack(
        shape=(len(goals),),
        constant=(asked * TRANSFORM.view(goals).origin ** 2).sum(axis=1),
        factors=goals * weights,
    )


def frame_weights(chain: Chain, goal: Reach) -> tuple[FloatArray, FloatArray]:
    """Return which axes of a position a goal constrains, shape (3,), and the weights of the numbers of frames."""
    turned = (chain.length / 4.0) ** 2 if len(goal.rows) > goal.coordinates else 0.0
    asked = np.array([float(k in goal.rows) for k in range(3)])
    weights = TRANSFORM.pack(axes=np.repeat([0.0 if goal.free is not None else turned, turned], [6, 3]), origin=asked)
    return asked, -weights * TRANSFORM.pack(axes=1.0, origin=2.0)
