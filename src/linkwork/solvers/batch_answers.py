"""Results of a batch of solves: poses, status and errors, one row per target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError, listed, require
from ..goals import Reach
from ..kernels.devices import on_card, to_host
from ..linkage.linkage import Linkage
from ..linkage.showing import Shown
from ..transforms import FloatArray
from .answer_tables import errors_of, known_rows, picked_rows, schema_of, table_of
from .chain_solution import NAMES
from .solution import Status, ending, errors_in_words

ARRAYS = ("q", "success", "residuals", "restarts", "codes")
OPTIONAL = ("frames", "rows")  # arrays that may be absent
POSES = ("q", "residuals")  # arrays with an axis of their own


@dataclass(frozen=True, eq=False)
class BatchRow:
    """Result of one target of a batch; true if it succeeded.

    Attributes:
        linkage: The linkage.
        goal: A goal of the target's kind; its own target is ignored.
        q: The pose (nq,): a solution, or the closest found.
        success: Whether it is within tolerance and limits.
        status: How it ended, as in `Batch`.
        residuals: Position [m] and rotation [rad] error, as far as the goal has them.
        restarts: Number of starts used.
        frame: The frame that the target is for.
    """

    linkage: Linkage
    goal: Reach
    q: FloatArray
    success: bool
    status: Status
    residuals: FloatArray
    restarts: int
    frame: str

    @property
    def residual(self) -> float:
        """The largest of the residuals."""
        return float(self.residuals.max())

    @property
    def reason(self) -> str:
        """One sentence, with numbers, on how it ended."""
        errors = errors_in_words(self.residuals, [block.unit for block in self.goal.blocks])
        return ending(self.status, errors, f"{self.restarts} starts")

    def __bool__(self) -> bool:
        return self.success

    def __repr__(self) -> str:
        return f"<BatchRow of {self.frame!r}: {self.reason.rstrip('.')}>"


@dataclass(frozen=True, eq=False)
class Batch(Shown):
    """Result of a batch of solves, one row per target.

    Arrays have the leading axes of the targets: one for n targets, as below, or more. ``batch[5]`` is a `BatchRow`;
    ``batch[2:9]`` and ``batch[~batch.success]`` are batches; iterating gives the rows.

    Attributes:
        linkage: The linkage.
        goal: A goal of the targets' kind; its own target is ignored.
        q: Poses, shape (n, nq): solutions, or the closest found; the neutral pose where a target is invalid.
        success: Whether each is within tolerance and limits, shape (n,).
        residuals: Position [m] and rotation [rad] errors, as far as the goal has them, shape (n, 1 or 2); NaN where
            invalid.
        restarts: Number of starts used for each, shape (n,).
        status: ``reached``, ``closest``, ``beyond`` (reach), ``collides`` (reached, but every pose found collides with
            what ``avoid`` lists), ``invalid`` (not a finite rigid transform) or ``time`` (time was up).
        frames: The frame of each target, shape (n,); None if all targets are for one frame.
        rows: The number of each row in the original batch, shape (n,), which is its id in tables; None if this is the
            original batch, with rows counted from 0.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> batch = lw.solve_batch(arm, "tip", [[2, 1, 0], [0, 2.5, 0], [9, 0, 0]], orientation=False)
        >>> batch[:2], batch[2].status, batch.to_arrow().column_names[:3]
        (<Batch of 'tip': 2 of 2 reached>, 'beyond', ['id', 'q.j1', 'q.j2'])
    """

    linkage: Linkage
    goal: Reach
    q: FloatArray
    success: NDArray[np.bool_]
    residuals: FloatArray
    restarts: NDArray[np.int32]
    codes: NDArray[np.int8]
    frames: NDArray[np.str_] | None = None
    rows: NDArray[np.int64] | None = None

    @property
    def frame(self) -> str:
        """The frame of all targets.

        Raises:
            OptionError: If targets are for several frames; see `frames`.
        """
        names = self.frame_names
        if len(names) > 1:
            raise OptionError(f"targets are for several frames, {listed(names)}; see frames, one for each target.")
        return names[0]

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of the frames that have targets."""
        if self.frames is None or not self.frames.size:
            return (self.goal.frame,)
        return tuple(dict.fromkeys(self.frames.ravel().tolist()))

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes of the targets: (n,) for n of them."""
        return tuple(self.codes.shape)

    @property
    def status(self) -> NDArray[np.str_]:
        """How each solve ended, in one word."""
        words = np.array([NAMES[code] for code in range(len(NAMES))])
        result: NDArray[np.str_] = words[to_host(self.codes)]
        return result

    @property
    def residual(self) -> FloatArray:
        """The largest of each row's residuals."""
        largest: FloatArray = to_host(self.residuals).max(axis=-1)
        return largest

    def reason(self, row: Any) -> str:
        """Return one sentence on how a row ended.

        Raises:
            OptionError: If there is no such row, or the index is not a single row.
        """
        with known_rows(row, self.shape):
            found: BatchRow | Batch = self[row]
        if isinstance(found, Batch):
            raise OptionError(f"reason takes a single row; {row!r} selects rows of shape {found.shape}.")
        return found.reason

    def to_arrow(self) -> Any:
        """Return an Arrow table with one row per target and the columns of datasets (docs/batches.md).

        Invalid rows have no pose: their cells are empty. Several leading axes are flattened. Selected rows, as in
        ``batch[~batch.success]``, keep their ids.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        require("pyarrow", "a table of Arrow")
        import pyarrow as pa

        flat = self.on_host().reshaped((-1,))
        carried = {} if flat.frames is None else {"frame": pa.array(flat.frames.tolist(), pa.string())}
        types = {name: column.type for name, column in carried.items()}
        return table_of(flat, schema_of(self.linkage, errors_of(self.goal), types), carried=carried)

    def to_pandas(self) -> Any:
        """Return a pandas data frame with the columns of `to_arrow`.

        Raises:
            MissingExtraError: If pyarrow or pandas is not installed.
        """
        require("pandas", "a data frame")
        return self.to_arrow().to_pandas()

    def on_host(self) -> Batch:
        """Return the batch with NumPy arrays; the batch itself if it has them."""
        if not on_card(self.q):
            return self
        arrays: dict[str, Any] = {name: to_host(getattr(self, name)) for name in ARRAYS}
        return replace(self, **arrays)

    def reshaped(self, shape: tuple[int, ...]) -> Batch:
        """Return the batch with other leading axes."""
        arrays = {
            name: array.reshape(shape + array.shape[-1:] if name in POSES else shape)
            for name, array in ((name, getattr(self, name)) for name in ARRAYS)
        }
        told: dict[str, Any] = {n: None if (x := getattr(self, n)) is None else x.reshape(shape) for n in OPTIONAL}
        return replace(self, **arrays, **told)

    def __getitem__(self, key: Any) -> Any:
        """Return a row, or the batch of some rows; for arrays on a GPU, indexed as by their library."""
        if not hasattr(self.q, "__getitem__"):  # GPU arrays without a library
            return self.on_host()[key]
        deep = (*key, slice(None)) if isinstance(key, tuple) and any(part is ... for part in key) else key
        some = {name: getattr(self, name)[deep if name in POSES else key] for name in ARRAYS}
        frames = None if self.frames is None else self.frames[key]
        if np.ndim(some["codes"]):
            return replace(self, **some, frames=frames, rows=picked_rows(self.rows, self.shape, key))
        one = {name: to_host(array) for name, array in some.items()}
        frame = self.goal.frame if frames is None else str(frames)
        told = bool(one["success"]), NAMES[int(one["codes"])], one["residuals"], int(one["restarts"]), frame
        return BatchRow(self.linkage, self.goal, one["q"], *told)

    def __iter__(self) -> Iterator[Any]:
        host = self.on_host()
        return (host[k] for k in range(len(host)))

    def __bool__(self) -> bool:
        if self.shape != (1,):
            raise OptionError(f"{len(self)} answers have no common truth value; use success.all() or success.any().")
        return bool(to_host(self.success)[0])

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        names = listed([repr(name) for name in self.frame_names])
        good = to_host(self.success)
        return f"<Batch of {names}: {int(good.sum())} of {good.size} reached>"
