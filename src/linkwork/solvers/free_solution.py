"""What a chain that keeps clear gives back for one target."""

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
    """A solution that keeps clear: reached and free, or why not. What is seldom looked at is worked out when it is."""

    prepared: FreeChain
    hopeless = ""  # why no pose of the chain is free, in words, where that is plain

    @cached_property
    def clearance(self) -> Clearance:
        """How far the pose is from anything that it avoids: distance, the two that are nearest, points and normal."""
        return clearance_in(self.prepared.scene, self.q)

    @cached_property
    def goals(self) -> tuple[Any, ...]:
        return (self.prepared.goal.moved(self.target), self.prepared.avoid)

    @cached_property
    def residuals(self) -> FloatArray:
        """Position [m] and rotation [rad] errors, those asked for, and what the clearance lacks to the margin [m]."""
        return self.prepared.residuals_at(self.q, self.report)

    @property
    def looked(self) -> int:
        """How many poses that reach the target were looked at before this one was taken."""
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
            f"not free: {self.looked} poses reach the target and all of them collide; {sure}. At the one that is "
            f"nearest to being free, {touching_in_words(near.pair, near.distance, self.prepared.avoid.margin)}."
        )
