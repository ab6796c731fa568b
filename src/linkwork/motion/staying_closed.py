"""Close the loops of poses that are interpolated between closed poses."""

from __future__ import annotations

import logging

import numpy as np

from ..linkage.linkage import Linkage
from ..transforms import FloatArray

_LOG = logging.getLogger("linkwork")
OPEN = 1e-6  # share of the loops' size: if the given poses are open by more, nothing is closed


def closed_between(linkage: Linkage, given: FloatArray, poses: FloatArray) -> FloatArray:
    """Return poses (n, nq), interpolated between given poses, with loops closed if the given poses are closed.

    Each pose is replaced by the nearest closed one. If there is none nearby, as between poses far apart, the pose stays
    open, and the gap is logged.
    """
    if not linkage.constrained or not len(poses):
        return poses
    from ..solvers.loops import Closure

    closure = Closure(linkage)
    if np.max(closure.gap(given)) > OPEN * max(closure.size, 1.0):
        return poses
    result, closed = closure.closed_poses(poses)
    if not closed.all():
        far = float(np.max(closure.gap(poses[~closed])))
        said = "%d of %d poses of %r between those given are up to %.3g m (rad) open: these are too far apart."
        _LOG.warning(said, int((~closed).sum()), len(poses), linkage.name, far)
    return result
