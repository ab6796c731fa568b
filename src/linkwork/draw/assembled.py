"""Close the loops of a mechanism before it is drawn, or warn that they are open."""

from __future__ import annotations

import logging

from ..errors import LoopError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray

_LOG = logging.getLogger("linkwork")
OPEN = 1e-6  # largest invisible gap between pins, over the mechanism's size


def open_by(linkage: Linkage, poses: FloatArray) -> float:
    """Return the largest gap of loops at poses (n, nq) [m, rad]; zero if it is too small to be visible."""
    if not linkage.constrained:
        return 0.0
    from ..solvers.loops import Closure

    closure = Closure(linkage)
    gaps = closure.gap(poses)
    worst = int(gaps.argmax())
    seen = float(gaps[worst]) > OPEN * closure.size and not closure.closed(poses[worst])
    return float(gaps[worst]) if seen else 0.0


def assembled(linkage: Linkage, q: FloatArray) -> FloatArray:
    """Return the default pose to draw: closed and near a given pose, or that pose if its loops cannot be closed."""
    if not open_by(linkage, q[None]):
        return q
    from ..solvers.closing import assemble, close

    try:
        return close(linkage, q)
    except LoopError:
        pass  # no solution from this start; try the next one
    try:
        return assemble(linkage, start=q, most=1)[0]
    except LoopError as error:
        _LOG.warning("%s is drawn as it is: %s", linkage.name, error)
        return q


def say_if_open(linkage: Linkage, poses: FloatArray) -> None:
    """Log a warning if loops are open at requested poses (n, nq)."""
    gap = open_by(linkage, poses)
    if gap:
        _LOG.warning("%s", open_text(linkage, gap))


def open_text(linkage: Linkage, gap: float) -> str:
    """Return a text on open loops."""
    return f"loops of linkage {linkage.name!r} are open by {gap:.3g} m in this pose; lw.close(linkage, q) closes them."
