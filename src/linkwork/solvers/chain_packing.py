"""Pack settings, limits, numbers, starts and targets for the kernels of a chain's search."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import GoalError, TransformError
from ..goals import Reach
from ..kernels import chain_memory as memory
from ..kernels.rooms import zero_room
from ..kernels.search_many import check_many, room
from ..linkage.caching import Cache
from ..transforms import FloatArray, as_array, plane_basis
from .chain import Chain, shells
from .chain_settings import search_settings, weighted_frames
from .chain_targets import read_targets, unsquared
from .options import Settings

WIDTHS = {np.dtype(np.float64): 8, np.dtype(np.float32): 16}


class PackedChain:
    """A chain, the kind of its goals and the settings of its search, packed for the kernels.

    Args:
        chain: The joints that move the frame.
        goal: A goal of the supported kind; its target is ignored.
        settings: Tolerances and limits.

    Attributes:
        rows: Number of rows of the chain in the kernels' program.
        numbers: Settings, limits and numbers in double precision.
        search_settings: The settings among them.
    """

    rows: int
    numbers: FloatArray
    search_settings: Any

    def __init__(self, chain: Chain, goal: Reach, settings: Settings) -> None:
        self.chain, self.goal, self.settings = chain, goal, settings
        self.codes, self.cache = chain.codes, Cache()
        self.turn = None if goal.free is None else plane_basis(goal.free)

    @property
    def whole_pose(self) -> bool:
        """Whether goals constrain the complete position and orientation."""
        return self.goal.coordinates == 3 and len(self.goal.rows) == 6 and self.goal.free is None

    def packed(self, dtype: Any, *, bounded: bool = False) -> NDArray[Any]:
        """Return settings, limits and numbers in a precision; with `bounded`, goals out of reach are rejected at once.

        Computing the reach of the chain takes a few hundredths of a second, which pays off in a batch.
        """
        kind = np.dtype(dtype)
        return self.cache.get("numbers", (kind, bounded), lambda: self._packed(kind, bounded))

    def _packed(self, kind: np.dtype[Any], bounded: bool) -> NDArray[Any]:
        limits = self.kept_limits
        reach = self.reach if bounded and self.goal.coordinates == 3 and self.settings.limits != "ignore" else None
        settings = search_settings(self.chain, self.goal, self.settings, kind, reach)
        with np.errstate(over="ignore"):
            return np.concatenate([settings, limits.ravel(), self.chain.numbers]).astype(kind)

    @property
    def kept_limits(self) -> FloatArray:
        """The chain's limits as used by the search; infinite if limits are ignored."""
        limits = self.chain.limits.copy()
        if self.settings.limits == "ignore":
            record = memory.LIMITS.view(limits)
            record.lower, record.upper = -np.inf, np.inf
        return limits

    def starts(self, dtype: Any) -> NDArray[Any]:
        """Return the chain's table of starts in a precision, weighted for goals of this kind; see `starts.rank`."""
        kind = np.dtype(dtype)
        return self.cache.get(
            "starts", kind, lambda: memory.search_table(self.frames, self.chain.table[0], kind, WIDTHS[kind])
        )

    @property
    def frames(self) -> FloatArray:
        """The frames of the chain's table, FRAME each, weighted for goals of this kind."""
        return weighted_frames(self.chain, self.goal, self.chain.table[1])

    @cached_property
    def reach(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Centre, point of the last axis and extents; see `linkwork.solvers.chain.shells`."""
        return shells(self.chain)

    def residuals(self, report: FloatArray) -> FloatArray:
        """Return position and rotation errors [m, rad], as far as the goal has them, from kernel reports (..., 4)."""
        errors = memory.REPORT.view(report)
        return unsquared(self.goal, errors.position_error, errors.rotation_error)

    def residuals_at(self, _poses: FloatArray, report: FloatArray) -> FloatArray:
        """Return the residuals of all goals at poses (..., nq): those of the frame, and those added by a subclass."""
        return self.residuals(report)

    def spun(self, targets: FloatArray) -> FloatArray:
        """Return targets with the free axis, if there is one, turned to z."""
        if self.turn is None:
            return targets
        result = targets.copy()
        result[..., :3, :3] = targets[..., :3, :3] @ self.turn
        return result

    def as_target(self, target: ArrayLike) -> FloatArray:
        """Return one target as a contiguous 4x4 array."""
        try:
            one: FloatArray = self.as_targets(as_array(target, f"the target of {self.goal.frame!r}")[None])[0]
        except TransformError as error:
            raise GoalError(str(error)) from error
        return one

    def as_targets(self, targets: FloatArray) -> FloatArray:
        """Return targets (m, 4, 4) from matrices, or from positions or rotations if the goal needs no more."""
        return read_targets(self.goal, targets)

    def check(self, targets: FloatArray, values: FloatArray, report: FloatArray) -> NDArray[np.bool_]:
        """Clamp values (m, n) to limits and write their errors, in double precision, into their reports.

        Return which are within tolerance.
        """
        return self.check_aims(self.spun(targets), values, report)

    def check_aims(self, aims: FloatArray, values: FloatArray, report: FloatArray) -> NDArray[np.bool_]:
        """Same as `check`, for targets returned by `spun`."""
        count, width = len(values), WIDTHS[np.dtype(np.float64)]
        if count < width:  # pad the lanes with the last target
            padded = [np.concatenate([a, np.repeat(a[-1:], width - count, axis=0)]) for a in (aims, values, report)]
            good = self.check_aims(*padded)[:count]
            values[:], report[:] = padded[1][:count], padded[2][:count]
            return good
        lanes = zero_room(room(self.rows, self.chain.values, width)[0])
        check_many(self.codes, self.numbers, aims.reshape(-1), values.reshape(-1), lanes, report.reshape(-1))
        errors, known = memory.REPORT.view(report), self.search_settings
        good_ones: NDArray[np.bool_] = (errors.position_error <= known.near) & (errors.rotation_error <= known.aligned)
        return good_ones
