"""Check collision-free motions between their frames: find, measure and report paths that come too near."""

from __future__ import annotations

import logging

import numpy as np

from ..collision.clearance import clearance_in
from ..collision.sweeping import sweep
from ..goals import Avoid
from ..linkage.linkage import Linkage
from ..linkage.poses import advance
from ..transforms import FloatArray

_LOG = logging.getLogger("linkwork")
SAMPLES = 33  # number of poses that measure the clearance of a motion that comes too near


def judged_between(linkage: Linkage, poses: FloatArray, avoid: Avoid, residuals: FloatArray) -> FloatArray:
    """Return the errors of frames (n, k); the last one, that of `avoid`, includes the motion to each frame.

    Between frames every joint moves at constant speed. Violations of the margin, in or between frames, are logged.
    """
    if avoid.tolerance is not None or len(poses) < 2:
        return residuals
    met = sweep(linkage, poses[:-1], poses[1:], avoid.world, self=avoid.self, margin=avoid.margin, links=avoid.links)
    entered = np.flatnonzero(~met.free)
    if not len(entered):
        return residuals
    shares = np.linspace(0.0, 1.0, SAMPLES)
    steps = met.change[entered, None] * shares[:, None]
    near = clearance_in(met.scene, advance(linkage, np.repeat(poses[entered, None], SAMPLES, axis=1), steps))
    least = near.distance.min(axis=1)
    result = residuals.copy()
    result[entered + 1, -1] = np.maximum(result[entered + 1, -1], avoid.wanted - np.minimum(least, avoid.margin))
    worst = int(least.argmin())
    pair = near.pair[worst, int(near.distance[worst].argmin())]
    _LOG.warning(
        "%d of %d frames come nearer than the margin of %.3g mm, or do so on the way to the next: at worst %r and %r, "
        "%.3g mm between frames %d and %d.",
        len(entered), len(poses), 1e3 * avoid.margin, *pair, 1e3 * least[worst], entered[worst], entered[worst] + 1,
    )  # fmt: skip
    return result
