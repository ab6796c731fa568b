"""Result of a collision-free chain for one target."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..collision.clearance import Clearance, clearance_in
from ..kernels.chain_memory import REPORT
from ..transforms import FloatArray
from .chain_solution import Found
from .free_hopes import touching_in_words

if TYPE_CHECKING:
    from .free_chain import FreeChain


class FreeFound(Found):
    """Result of a collision-free solve. Rarely used values are computed on access."""

    prepared: FreeChain
    hopeless = ""  # a text on why no pose of the chain is collision-free, if that is certain

    @cached_property
    def clearance(self) -> Clearance:
        """Clearance of the pose from everything that it avoids: distance, nearest pair, points and normal."""
        return clearance_in(self.prepared.scene, self.q)

    @cached_property
    def goals(self) -> tuple[Any, ...]:
        return (self.prepared.goal.moved(self.target), self.prepared.avoid)

    @cached_property
    def residuals(self) -> FloatArray:
        """Position [m] and rotation [rad] errors, as far as the goal has them, and the violation of the margin [m]."""
        return self.prepared.residuals_at(self.q, self.report)

    @property
    def looked(self) -> int:
        """Number of poses that reach the target that were tried before this one was returned."""
        return int(REPORT.view(self.report).starts)

    @cached_property
    def reason(self) -> str:
        """One sentence, with numbers, on how it ended."""
        if self.status != "collides":
            return super().reason
        if self.hopeless:
            return f"not free: {self.hopeless}."
        near, sure = self.clearance, "there are no others" if self.proven else "no other was found"
        return (
            f"not free: {self.looked} poses reach the target and all of them collide; {sure}. At the one with the "
            f"largest clearance, {touching_in_words(near.pair, near.distance, self.prepared.avoid.margin)}."
        )
