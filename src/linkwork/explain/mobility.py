"""Degrees of freedom of a linkage, computed at a closed pose and by the Gruebler-Kutzbach count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, start_pose
from ..transforms import FloatArray

if TYPE_CHECKING:  # not imported at run time: most linkages have no loops and need no solver
    from ..solvers.loops import Closure

POSES = 5  # number of closed poses to evaluate if none is given


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom of a linkage.

    Attributes:
        degrees: Its degrees of freedom: the number of velocities minus the constraints of its closed loops.
        count: The same by the rule of Gruebler and Kutzbach, which counts joints and loops and ignores lengths.
        shaky: Whether it has only an infinitesimal motion: it gives way to first order, but cannot move further.

    Example:
        >>> import linkwork as lw
        >>> print(lw.mobility(lw.models.four_bar()))
        1 degree of freedom
    """

    degrees: int
    count: int
    shaky: bool = False

    @property
    def overconstrained(self) -> int:
        """Number of redundant constraints."""
        return self.degrees - self.count

    def __str__(self) -> str:
        text = f"{self.degrees} degree{'' if self.degrees == 1 else 's'} of freedom"
        if self.overconstrained > 0:
            text += f", overconstrained by {self.overconstrained} (Gruebler-Kutzbach counts {self.count})"
        return text + (", shaky: it has only an infinitesimal motion" if self.shaky else "")


def mobility(linkage: Linkage, *, at: PoseLike | None = None) -> Mobility:
    """Return the mobility of a linkage, with its loops closed.

    Args:
        linkage: The linkage.
        at: A closed pose, or the name of a stored one. By default all stored poses that are closed, or assembled poses;
            of several, the smallest number is taken, since the others are singular.

    Raises:
        LoopError: If the loops cannot be closed.

    Example:
        >>> import linkwork as lw
        >>> lw.mobility(lw.models.jansen_leg())
        Mobility(degrees=1, count=1, shaky=False)
    """
    check_linkage(linkage)
    if not linkage.constrained:
        return Mobility(linkage.nv, linkage.nv)
    from ..solvers.loops import Closure

    closure = Closure(linkage)
    poses = _poses(closure, at)
    free = np.ones(linkage.nv, np.bool_)
    degrees = [len(closure.ways(pose, free)) for pose in poses]
    best = int(np.argmin(degrees))
    moving = closure.freedom(poses[best], free)
    return Mobility(moving, closure.count(), shaky=moving < degrees[best])


def degrees_of_freedom(linkage: Linkage, *, at: PoseLike | None = None) -> int:
    """Return the degrees of freedom of a linkage: its velocities minus the constraints of its closed loops.

    Args:
        linkage: The linkage.
        at: A closed pose; see `mobility`, which returns more.

    Example:
        >>> import linkwork as lw
        >>> [lw.degrees_of_freedom(lw.models.build(text)) for text in ("four_bar", "pantograph", "jansen_leg", "panda")]
        [1, 2, 1, 7]
    """
    return mobility(linkage, at=at).degrees


def _poses(closure: Closure, at: PoseLike | None) -> FloatArray:
    """Return the closed poses to evaluate, (n, nq)."""
    from ..solvers.closing import assemble

    linkage = closure.linkage
    if at is not None:
        return start_pose(linkage, at).reshape(-1, linkage.nq)
    closed = [pose for pose in linkage.poses.values() if closure.closed(pose)]
    rng = np.random.default_rng(0)  # the neutral pose is often singular, with all links in line
    starts = [linkage.random_pose(rng) for _ in range(0 if closed else POSES)]
    return np.array(closed or [assemble(linkage, start=start, most=1)[0] for start in starts])
