"""Several solutions for each of many targets: poses, a mask of solutions, and the distances between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError, require
from ..goals import Reach
from ..kernels.chain_memory import REPORT
from ..kernels.devices import to_host
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .answer_tables import errors_of as columns_of, schema_of, table_of
from .batch_answers import Batch
from .chain_solver import Prepared
from .pose_spread import spacings

AXES = {
    "targets": 2,
    "q": 2,
    "mask": 1,
    "counts": 0,
    "complete": 0,
    "valid": 0,
}  # of each array, after those of targets


@dataclass(frozen=True, eq=False)
class SolutionsBatch:
    """Several solutions of many targets, one row per target.

    Arrays have the leading axes of the targets: one for n targets, as below, or more. ``found[5]`` are the solutions of
    one target, shape (count, nq); ``found[2:9]`` and ``found[found.diversity > 0.1]`` are batches.

    The distance of two solutions is that of the joint that differs most, relative to its largest possible difference:
    half a turn the short way round, or its range if that is less. `diversity` is the distance of the nearest two, from
    0 to 1: at 0.2, any two solutions differ in some joint by at least a fifth of it. `spread` is the mean over all
    pairs.

    Attributes:
        prepared: The chain that was solved.
        targets: The targets, shape (n, 4, 4); None if they stay on a GPU.
        q: Poses, shape (n, k, nq), NaN where the mask is false.
        mask: Which of them are solutions, shape (n, k): within limits, and verified by forward kinematics.
        counts: Number of solutions found for each target, shape (n,); more than k if some did not fit.
        complete: Whether it is proven that a target has no other solutions, shape (n,). It is false if a pose of a
            singular target represents a continuum.
        valid: Whether each target is a finite rigid transform, shape (n,).
        best: One result per target, as from `solve_batch` without `solutions`: if there is no solution, it has the
            closest pose found and the reason. None in results of `solve_all_batch`.

    In results of `solve_all_batch`, the index of a solution is its branch, for arms of a family. For targets on a GPU,
    `q`, `mask` and `complete` stay there, `counts` and `valid` are None, and `complete` is undefined for invalid
    targets.
    """

    prepared: Prepared
    targets: Any
    q: Any
    mask: Any
    counts: Any
    complete: Any
    valid: Any
    best: Batch | None = None

    @property
    def linkage(self) -> Linkage:
        """The linkage."""
        return self.prepared.linkage

    @property
    def goal(self) -> Reach:
        """A goal of the targets' kind; its own target is ignored."""
        return self.prepared.goal

    @property
    def frame(self) -> str:
        """The frame that targets are for."""
        return self.goal.frame

    @property
    def success(self) -> NDArray[np.bool_]:
        """Whether each target has a solution, shape (n,)."""
        return np.asarray(to_host(self.mask).any(axis=-1))

    @property
    def codes(self) -> NDArray[np.int8]:
        """How each target ended, as codes."""
        return self._best.codes

    @property
    def restarts(self) -> NDArray[np.int32]:
        """Number of starts used for the first result of each target."""
        return self._best.restarts

    def reason(self, row: Any) -> str:
        """Return one sentence on how the first result of a target ended; see `Batch.reason`."""
        return self._best.reason(row)

    @property
    def rows(self) -> NDArray[np.int64] | None:
        """The number of each row in the original batch; None if this is the original batch."""
        return self._best.rows

    @property
    def _best(self) -> Batch:
        if self.best is None:
            raise OptionError("only solve_batch(..., solutions=K) has a status for each target; here, use counts.")
        return self.best

    def to_arrow(self) -> Any:
        """Return an Arrow table with one row per target, whose poses and errors are lists, as in datasets.

        Selected rows, as in ``found[found.diversity > 0.1]``, keep their ids.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        require("pyarrow", "a table of Arrow")
        flat = self.reshaped((-1,))
        return table_of(flat, schema_of(self.linkage, columns_of(self.goal), {}, several=True))

    def to_pandas(self) -> Any:
        """Return a pandas data frame with the columns of `to_arrow`.

        Raises:
            MissingExtraError: If pyarrow or pandas is not installed.
        """
        require("pandas", "a data frame")
        return self.to_arrow().to_pandas()

    @property
    def status(self) -> NDArray[np.str_]:
        """How each target ended, as one word; see `Batch`."""
        return self._best.status

    @cached_property
    def residuals(self) -> FloatArray:
        """Position [m] and rotation [rad] errors, as the goal has them, by forward kinematics: shape (n, k, 1 or 2)."""
        mask, goal = to_host(self.mask), self.goal
        errors = np.full((*mask.shape, len(goal.blocks)), np.nan)
        if mask.any():
            errors[mask] = errors_of(self.prepared, self._aims[np.nonzero(mask)[:-1]], to_host(self.q)[mask])
        return errors

    @property
    def _aims(self) -> FloatArray:
        if self.targets is None:
            raise OptionError("residuals need the targets, which stayed on the GPU; pass NumPy arrays.")
        return np.asarray(self.targets, np.float64)

    def reshaped(self, shape: tuple[int, ...]) -> SolutionsBatch:
        """Return the batch with other leading axes."""
        arrays = {
            name: array.reshape(shape + array.shape[array.ndim - axes :])
            for name, axes in AXES.items()
            if (array := getattr(self, name)) is not None
        }
        return replace(self, **arrays, best=None if self.best is None else self.best.reshaped(shape))

    @property
    def diversity(self) -> FloatArray:
        """Distance of the nearest two solutions of each target, from 0 to 1; NaN if there are fewer than two.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.planar([1, 1])
            >>> found = lw.solve_batch(arm, "tip", [[1, 1, 0]], solutions=4, orientation=False, position="xy")
            >>> found.counts.tolist(), found.diversity.round(3).tolist()  # the elbow at +-90 degrees: half a turn apart
            ([2], [1.0])
        """
        return self._spacings[..., 0]

    @property
    def spread(self) -> FloatArray:
        """Mean distance over all pairs of solutions of each target, from 0 to 1; NaN if there are fewer than two."""
        return self._spacings[..., 1]

    @cached_property
    def _spacings(self) -> FloatArray:
        q, mask = np.asarray(to_host(self.q), np.float64), to_host(self.mask)
        found = spacings(self.prepared, q.reshape(-1, *q.shape[-2:]), mask.reshape(-1, mask.shape[-1]))
        return found.reshape(*mask.shape[:-1], 2)

    def __getitem__(self, key: Any) -> Any:
        """Return the solutions of one target, shape (count, nq), or a batch of some rows."""
        mask = self.mask[key]
        if mask.ndim == 1:
            return self.q[key][mask]
        arrays = {name: array[key] for name in AXES if (array := getattr(self, name)) is not None}
        return replace(self, **arrays, best=None if self.best is None else self.best[key])

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        if self.valid is None:
            return f"<SolutionsBatch of {self.frame!r}: solutions of {len(self)} targets, on a GPU>"
        proven = "proven" if self.complete.all() else f"{int(self.complete.sum())} proven complete"
        found = f"{int(self.mask.sum())} solutions of {len(self)} targets"
        return f"<SolutionsBatch of {self.frame!r}: {found}, {proven}>"


def errors_of(prepared: Prepared, aims: FloatArray, poses: FloatArray) -> FloatArray:
    """Return the errors of poses (m, nq) for targets (m, 4, 4), shape (m, 1 or 2)."""
    values, report = prepared.chain.values_of(poses), np.zeros((len(poses), REPORT.size))
    prepared.check(aims, values, report)
    return prepared.residuals(report)
