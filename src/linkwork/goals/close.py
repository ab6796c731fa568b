"""`Close`: bring the two frames of a loop together. A solve has one for each loop, with priority over all goals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..linkage.couplings import Coupling
from ..linkage.linkage import Linkage, Loop
from ..linkage.tree import CLOSED
from ..transforms import FloatArray
from .base import Block, blocks_of, moving_rows, pose_error, turn_between, without
from .closing import Closing
from .follow import Follow


@dataclass(frozen=True, eq=False)
class Close(Closing):
    """Close a loop: bring its first frame to its second, by origins, by origins and z axes, or completely.

    Every solve closes the linkage's own loops; there is no need to list them.

    Args:
        loop: The loop, such as one of ``linkage.loops``.
        tolerance: Largest gap of a closed loop [m, rad]; the loop's own by default.

    Example:
        >>> import linkwork as lw
        >>> bars = lw.models.four_bar()
        >>> gap = lw.Close(bars.loops[0]).error(bars, bars.stored_pose("start"))
        >>> bool(abs(gap).max() < 1e-9)
        True
    """

    loop: Loop
    tolerance: Any = field(default=None, kw_only=True)
    fixed = ("loop",)

    def __post_init__(self) -> None:
        if not isinstance(self.loop, Loop):
            raise GoalError(f"a Close goal takes a Loop, such as one of linkage.loops, got {self.loop!r}.")
        if self.tolerance is None:
            self._set(tolerance=self.loop.tolerance)
        super().__post_init__()

    @property
    def part(self) -> Loop:
        """The loop."""
        return self.loop

    @property
    def frame(self) -> str:
        """The frame to move: the loop's first."""
        return self.loop.first

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Metres of the gap, then radians of the remaining rotation, if the loop constrains it."""
        return blocks_of(("m", 3), ("rad", 0 if self.loop.kind == "point" else 3))

    @property
    def places(self) -> tuple[str, str]:
        """The two frames of the loop."""
        return self.loop.first, self.loop.second

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the offset from the first frame to the second in the world: metres, then a rotation vector."""
        first, second = (linkage.forward(q, frame=name) for name in self.places)
        if self.loop.kind not in ("point", "axis"):
            return pose_error(first, second)
        gap: FloatArray = second[..., :3, 3] - first[..., :3, 3]
        if self.loop.kind == "point":
            return gap
        return np.concatenate([gap, turn_between(first[..., :3, 2], second[..., :3, 2])], axis=-1)

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the velocity of the first frame minus that of the second, without their spin about a common axis."""
        motion: FloatArray = linkage.jacobian(q, self.loop.first) - linkage.jacobian(q, self.loop.second)
        if self.loop.kind == "point":
            return motion[..., :3, :]
        if self.loop.kind == "axis":
            axis = linkage.forward(q, frame=self.loop.first)[..., :3, 2]
            motion[..., 3:, :] = without(motion[..., 3:, :], axis)
        return motion

    def drift(self, linkage: Linkage, q: FloatArray, velocity: FloatArray) -> FloatArray:
        """Return the acceleration of the first frame minus that of the second at zero joint acceleration.

        It is ``jacobian_dot @ velocity``. With a common axis ``z``, a spin ``s z`` between the frames remains; it
        rotates with them, so ``s z'`` does not open the loop.
        """
        names, speed = self.places, velocity[..., None]
        first, second = (linkage.jacobian_dot(q, velocity, name) for name in names)
        found: FloatArray = ((first - second) @ speed)[..., 0]
        if self.loop.kind == "point":
            return found[..., :3]
        if self.loop.kind == "axis":
            axis = linkage.forward(q, frame=names[0])[..., :3, 2]
            turns = [(linkage.jacobian(q, name)[..., 3:, :] @ speed)[..., 0] for name in names]
            spin = (axis * (turns[0] - turns[1])).sum(axis=-1, keepdims=True)
            found[..., 3:] = without(found[..., 3:, None], axis)[..., 0] - spin * np.cross(turns[0], axis)
        return found

    def gap_text(self, linkage: Linkage, q: FloatArray) -> str:
        """Return a text with the distance of the two frames at a pose (nq,)."""
        apart = float(np.linalg.norm(self.error(linkage, q)[:3]))
        return f"{self.loop.first!r} and {self.loop.second!r} of {self.loop.name!r} stay {apart:.4g} m apart."

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which rows one of the frames can change."""
        return moving_rows(linkage, *self.places)[: self.blocks[-1].rows.stop]


def closings(linkage: Linkage, tolerance: float | None = None) -> tuple[Closing, ...]:
    """Return the goals of a linkage's loops, then of its couplings, with a given tolerance or their own.

    The default tolerance is proportional to the size of the loops.
    """
    if tolerance is not None:
        return _closings(linkage, tolerance)
    return linkage.cache.get("closings", None, lambda: _closings(linkage, None))


def _closings(linkage: Linkage, tolerance: float | None) -> tuple[Closing, ...]:
    def near(part: Loop | Coupling) -> Any:
        usual = CLOSED * linkage.loop_size, CLOSED
        own = usual if part.tolerance == CLOSED else part.tolerance
        return own if tolerance is None else tolerance

    loops = [Close(loop, tolerance=near(loop)) for loop in linkage.loops]
    followers = [Follow(coupling, tolerance=near(coupling)) for coupling in linkage.couplings]
    anywhere = np.zeros(linkage.nq)
    return (*loops, *(follower.resolve(linkage, anywhere) for follower in followers))
