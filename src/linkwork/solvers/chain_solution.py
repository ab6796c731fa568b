"""Result of the compiled search for one target."""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..goals import Reach
from ..kernels.chain_memory import REPORT
from ..kernels.collision.outcomes import COLLIDES
from ..kernels.search_many import BEYOND, CLOSEST, INVALID, REACHED, UNSOLVED
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .options import Settings
from .solution import Solution, Status

if TYPE_CHECKING:
    from .chain_solver import Prepared
    from .groups import Group

NAMES: dict[int, Status] = {
    REACHED: "reached",
    CLOSEST: "closest",
    BEYOND: "beyond",
    COLLIDES: "collides",
    INVALID: "invalid",
    UNSOLVED: "time",
}


class Found(Solution):
    """A solution of the compiled search; rarely used values are computed on access."""

    prepared: Prepared
    out: FloatArray
    outcome = REACHED  # defaults of the class, to be overridden by instances
    success = True
    proven = False  # whether a closed form proves that it is nearest to the start, or that there is no solution
    method = "robust"
    trace = ()
    options = MappingProxyType[str, Any]({})

    @cached_property
    def linkage(self) -> Linkage:
        return self.prepared.linkage

    @cached_property
    def group(self) -> Group | None:
        return self.prepared.group

    @cached_property
    def target(self) -> FloatArray:
        """Target transform of the frame, 4x4."""
        return self.out[self.prepared.answer.target].reshape(4, 4)

    @cached_property
    def start(self) -> FloatArray:
        return self.out[self.prepared.answer.start]

    @cached_property
    def report(self) -> FloatArray:
        return self.out[self.prepared.answer.report]

    @cached_property
    def goals(self) -> tuple[Reach, ...]:
        return (self.prepared.goal.moved(self.target),)

    @cached_property
    def residuals(self) -> FloatArray:
        return self.prepared.residuals(self.report)

    @cached_property
    def iterations(self) -> int:
        return int(REPORT.view(self.report).steps)

    @property
    def starts(self) -> int:
        """Number of starts, without the given one."""
        return int(REPORT.view(self.report).starts)

    @property
    def cost(self) -> float:
        """The squared error, with weighted rotations, for comparing poses that miss."""
        errors, weight = REPORT.view(self.report), self.prepared.search_settings.rotation_weight
        return float(errors.position_error + errors.rotation_error * weight**2)

    @cached_property
    def status(self) -> Status:
        return NAMES[self.outcome]

    @cached_property
    def settings(self) -> Settings:
        return self.prepared.settings
