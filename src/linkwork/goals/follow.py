"""`Follow`: keep a coupled joint at the value set by its drivers. A solve has one for each coupling."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import GoalError
from ..linkage.couplings import Coupling, CouplingRow
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .base import Block, blocks_of
from .closing import Closing
from .joint_goal import JointGoal


@dataclass(frozen=True, eq=False)
class Follow(Closing, JointGoal):
    """Hold a coupling: bring its follower to the value set by its drivers.

    Every solve holds the linkage's own couplings; there is no need to list them.

    Args:
        coupling: The coupling, one of ``linkage.couplings``.
        tolerance: Largest error of a held coupling [m, rad]; the coupling's own by default.

    Example:
        >>> import linkwork as lw
        >>> drive = lw.models.geneva(4)
        >>> lw.Follow(drive.couplings[0]).error(drive, np.array([1.0, 0.0])).round(4).tolist()
        [-0.7854]
    """

    coupling: Coupling
    tolerance: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.coupling, Coupling):
            raise GoalError(f"a Follow goal takes a Coupling, one of linkage.couplings, got {self.coupling!r}.")
        if self.tolerance is None:
            self._set(tolerance=self.coupling.tolerance)
        super().__post_init__()

    @property
    def part(self) -> Coupling:
        """The coupling."""
        return self.coupling

    @property
    def signature(self) -> tuple[Any, ...]:
        """The coupling itself."""
        return "Follow", self.coupling, *self.common

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One number, in the follower's unit."""
        return blocks_of((self._known("row").unit, 1))

    @property
    def linear(self) -> bool:
        """Whether it is a sum of joint values."""
        return self.coupling.curve is None

    def _found(self, linkage: Linkage) -> dict[str, Any]:
        for row in linkage.coupling_rows:
            if row.coupling == self.coupling:
                matrix = np.zeros((1, linkage.nv))
                matrix[0, row.v] = 1.0
                np.subtract.at(matrix[0], row.rates, row.ratios)
                return {"row": row, "matrix": matrix}
        names = ", ".join(coupling.name for coupling in linkage.couplings) or "none"
        raise GoalError(f"linkage {linkage.name!r} has no such coupling as {self.coupling!r}; it has {names}.")

    def _row(self, linkage: Linkage, q: FloatArray) -> CouplingRow:
        row: CouplingRow = self.resolve(linkage, q)._known("row")
        return row

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the error of the follower, shape (..., 1)."""
        poses, row = np.asarray(q, np.float64), self._row(linkage, q)
        return (row.value(poses) - poses[..., row.q])[..., None]

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the follower's velocity minus the one set by its drivers, shape (..., 1, nv)."""
        poses, row = np.asarray(q, np.float64), self._row(linkage, q)
        result = np.zeros((*poses.shape[:-1], 1, linkage.nv))
        slopes = row.slope(poses)
        for rate, ratio in zip(row.rates, row.ratios, strict=True):
            result[..., 0, rate] -= ratio * slopes
        result[..., 0, row.v] = 1.0
        return result

    def drift(self, linkage: Linkage, q: FloatArray, velocity: FloatArray) -> FloatArray:
        """Return the acceleration of the error due to the curve's second derivative."""
        poses, row = np.asarray(q, np.float64), self._row(linkage, q)
        speed = velocity[..., row.rates] @ row.ratios
        return np.asarray(-row.bend(poses) * speed**2)[..., None]

    def tangent(self, linkage: Linkage, q: FloatArray) -> Tangent:
        """Return the goal with the curve replaced by its tangent at a pose (nq,)."""
        row = self._row(linkage, q)
        slope = float(row.slope(q))
        offset = float(row.value(q)) - slope * float(q[row.values] @ row.ratios)
        straight = replace(self.coupling, curve=None, phase=0.0, offset=offset)
        made = row._replace(coupling=straight, ratios=slope * row.ratios, shifts=np.zeros(len(row.shifts)))
        matrix = np.zeros((1, linkage.nv))
        matrix[0, row.v] = 1.0
        np.subtract.at(matrix[0], made.rates, made.ratios)
        goal = Tangent(self.coupling, tolerance=self.tolerance, weight=self.weight, priority=self.priority)
        return goal._with(linkage=linkage, row=made, matrix=matrix)

    def gap_text(self, linkage: Linkage, q: FloatArray) -> str:
        """Return a text with the error of the follower at a pose (nq,)."""
        row, off = self._row(linkage, q), float(self.error(linkage, q)[0])
        return f"{self.coupling.follower!r} stays {abs(off):.4g} {row.unit} off what {self.coupling.name!r} asks for."


@dataclass(frozen=True, eq=False)
class Tangent(Follow):
    """A curved coupling linearised at a pose, as the kernels support it; see `Follow.tangent`."""

    @property
    def signature(self) -> tuple[Any, ...]:
        """The coupling itself; the point of tangency belongs to the target."""
        return "Tangent", *super().signature[1:]

    @property
    def linear(self) -> bool:
        """Whether it is a sum of joint values."""
        return True
