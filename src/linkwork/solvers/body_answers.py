"""Results of many problems of one body: poses, status, and the error of each goal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError, require
from ..goals import Goal
from ..kernels.search_many import INVALID, UNSOLVED
from ..linkage.linkage import Linkage
from ..linkage.showing import Shown
from ..transforms import FloatArray
from .answer_tables import GOAL_STATUSES, body_columns, known_rows, picked_rows, schema_of, table_of
from .chain_solution import NAMES
from .problem import goal_names
from .solution import ending, errors_in_words

UNITS = ("m", "rad")  # units of the two parts of an error
ARRAYS = ("q", "success", "residuals", "restarts", "codes", "valid")
SERVED, MISSED, WISH, WRONG, LEFT = range(len(GOAL_STATUSES))


@dataclass(frozen=True, eq=False)
class BodyBatch(Shown):
    """Result of many problems of one body, one row per problem.

    Attributes:
        linkage: The linkage.
        goals: One goal of each kind, in order; if targets are arrays, its own target is ignored.
        q: Poses, shape (n, nq): solutions, or the closest found; the start where a target is invalid.
        success: Whether each meets all its goals within limits, shape (n,).
        residuals: Norm of each block of errors [m, rad], shape (n, blocks); NaN where a row is invalid.
        restarts: Number of starts used for each, shape (n,).
        status: How each row ended: ``reached``, ``closest``, ``invalid`` (a target is not finite or not rigid) or
            ``time``.
        valid: Whether each target is finite and rigid, shape (n, goals).
        tolerances: Tolerance of each block.
        rows: The number of each row in the original batch, shape (n,), which is its id in tables; None if this is the
            original batch, with rows counted from 0.

    Example:
        >>> import numpy as np
        >>> import linkwork as lw
        >>> body = lw.models.human()
        >>> left, right = np.array([[0.4, 0.3, 1.1], [3.0, 0.0, 0.0]]), np.array([[0.4, -0.3, 1.1]] * 2)
        >>> batch = lw.solve_batch(body, {"left_hand": left, "right_hand": right}, start="stand")
        >>> batch
        <BodyBatch of left_hand, right_hand: 1 of 2 reached>
        >>> batch.status.tolist(), batch.goal_status[1].tolist()
        (['reached', 'closest'], ['missed', 'reached'])
        >>> batch.errors.shape  # rows, goals, metres and radians
        (2, 2, 2)
    """

    linkage: Linkage
    goals: tuple[Goal, ...]
    q: FloatArray
    success: NDArray[np.bool_]
    residuals: FloatArray
    restarts: NDArray[np.int32]
    codes: NDArray[np.int8]
    valid: NDArray[np.bool_]
    tolerances: FloatArray
    rows: NDArray[np.int64] | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each goal: its frame, or its kind if it has none."""
        return goal_names(self.goals)

    @property
    def status(self) -> NDArray[np.str_]:
        """How each row ended, in one word."""
        words = np.array([NAMES[code] for code in range(len(NAMES))])
        result: NDArray[np.str_] = words[self.codes]
        return result

    @property
    def errors(self) -> FloatArray:
        """Errors of goals [m], [rad], shape (n, goals, 2); NaN where a goal has no such part or a row is invalid."""
        result = np.full((len(self), len(self.goals), 2), np.nan)
        for block, (goal, part) in enumerate(self.places):
            result[:, goal, part] = self.residuals[:, block]
        return result

    @property
    def goal_codes(self) -> NDArray[np.int8]:
        """How each goal of each row ended, shape (n, goals), as indices in `GOAL_STATUSES`."""
        near = self.residuals <= self.tolerances
        missed = np.zeros(self.valid.shape, np.bool_)
        wish = np.ones(len(self.goals), np.bool_)
        for block, (goal, _) in enumerate(self.places):
            missed[:, goal] |= ~near[:, block]
            wish[goal] &= bool(np.isinf(self.tolerances[block]))
        codes = np.where(wish, WISH, np.where(missed, MISSED, SERVED)).astype(np.int8)
        codes[np.isin(self.codes, (INVALID, UNSOLVED))] = LEFT
        codes[~self.valid] = WRONG
        return codes

    @property
    def goal_status(self) -> NDArray[np.str_]:
        """How each goal of each row ended, shape (n, goals).

        It is ``reached``, ``missed``, ``invalid``, ``wish`` (a goal that does not affect success) or ``unsolved``
        (another goal of the row is invalid, or time was up).
        """
        result: NDArray[np.str_] = np.array(GOAL_STATUSES)[self.goal_codes]
        return result

    @property
    def residual(self) -> FloatArray:
        """The largest residual of each row, without wishes."""
        judged = np.isfinite(self.tolerances)
        largest: FloatArray = self.residuals[:, judged].max(axis=1, initial=0.0)
        return largest

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """The goal of each block of errors, and which part of the goal's error it is."""
        blocks = ((k, block.unit) for k, goal in enumerate(self.goals) for block in goal.blocks)
        return tuple((k, UNITS.index(unit)) for k, unit in blocks)

    def reason(self, row: int) -> str:
        """Return one sentence on how a row ended, with the errors of the missed goals, or of all if none is missed.

        Raises:
            OptionError: If there is no such row.
        """
        with known_rows(row, (len(self),)):
            words = self[row].goal_status[0].tolist()
        wrong = [name for name, word in zip(self.names, words, strict=True) if word == "invalid"]
        if wrong:
            return f"not reached: the target of {', '.join(wrong)} is not a finite rigid transform."
        told = [k for k, word in enumerate(words) if word == "missed"]
        told = told or [k for k, word in enumerate(words) if word == "reached"]
        errors = "; ".join(self._errors(row, k) for k in told)
        return ending(NAMES[int(self.codes[row])], errors, f"{int(self.restarts[row])} starts")

    def _errors(self, row: int, goal: int) -> str:
        own = [(self.residuals[row, b], UNITS[part]) for b, (k, part) in enumerate(self.places) if k == goal]
        return f"{self.names[goal]}: {errors_in_words(*zip(*own, strict=True))}"

    def to_arrow(self) -> Any:
        """Return an Arrow table with one row per problem and the columns of datasets (docs/batches.md).

        Selected rows, as in ``batch[~batch.success]``, keep their ids.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        require("pyarrow", "a table of Arrow")
        errors, statuses = body_columns(self)
        return table_of(self, schema_of(self.linkage, errors, {}, statuses=statuses))

    def to_pandas(self) -> Any:
        """Return a pandas data frame with the columns of `to_arrow`.

        Raises:
            MissingExtraError: If pyarrow or pandas is not installed.
        """
        require("pandas", "a data frame")
        return self.to_arrow().to_pandas()

    def __getitem__(self, key: Any) -> BodyBatch:
        """Return the batch of some rows, or of one row, whose truth value is its success."""
        some = [key] if np.ndim(key) == 0 and not isinstance(key, slice) else key
        arrays = {name: getattr(self, name)[some] for name in ARRAYS}
        return replace(self, **arrays, rows=picked_rows(self.rows, self.codes.shape, some))

    def __iter__(self) -> Iterator[BodyBatch]:
        return (self[k] for k in range(len(self)))

    def __bool__(self) -> bool:
        if len(self) != 1:
            raise OptionError(f"{len(self)} answers have no common truth value; use success.all() or success.any().")
        return bool(self.success[0])

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        return f"<BodyBatch of {', '.join(self.names)}: {int(self.success.sum())} of {len(self)} reached>"
