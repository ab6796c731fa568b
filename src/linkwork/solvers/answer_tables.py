"""Results of batches as Arrow tables: their columns, for `Batch.to_arrow` and for datasets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..goals import Reach
from ..kernels.devices import on_card, to_host
from ..linkage.linkage import Linkage
from .chain_solution import NAMES

if TYPE_CHECKING:
    from .batch_answers import Batch
    from .body_answers import BodyBatch
    from .solutions_batch import SolutionsBatch

ID, VALUE = "id", "q."
SUCCESS, STATUS, RESTARTS = OUTCOME = ("success", "status", "restarts")
SEVERAL = ("solutions", "complete", "diversity")  # columns of rows with several solutions
ERRORS = ("position_error", "rotation_error")
UNITS = dict(zip(("m", "rad"), ERRORS, strict=True))
RESERVED = (VALUE[:-1], *OUTCOME, *ERRORS, *SEVERAL)  # copied columns cannot have these names
STATUSES = tuple(NAMES[code] for code in range(len(NAMES)))
INVALID = STATUSES.index("invalid")
GOAL_STATUSES = ("reached", "missed", "wish", "invalid", "unsolved")  # of one goal, for rows with several


def errors_of(goal: Reach) -> tuple[str, ...]:
    """Return the columns with the errors of answers to a goal."""
    return tuple(UNITS[block.unit] for block in goal.blocks)


def taken_names(names: Iterable[str], linkage: Linkage, more: Sequence[str]) -> list[str]:
    """Return the names that columns of answers already have.

    Args:
        names: Names of columns to copy.
        linkage: The linkage of the poses.
        more: Columns of these answers in addition to `RESERVED` and the poses: errors and statuses of several goals.
    """
    own = {*RESERVED, *more, *(VALUE + name for name in linkage.coordinates)}
    return [name for name in names if name in own or name.startswith(VALUE)]


@contextmanager
def known_rows(row: Any, shape: tuple[int, ...]) -> Iterator[None]:
    """Turn an error about a missing row into one that names the existing rows."""
    try:
        yield
    except IndexError as error:
        have = f"rows 0 to {shape[0] - 1}" if len(shape) == 1 and shape[0] else f"the shape {shape}"
        raise OptionError(f"there is no row {row!r}: the batch has {have}.") from error


def picked_rows(rows: NDArray[np.int64] | None, shape: tuple[int, ...], key: Any) -> NDArray[np.int64]:
    """Return the original numbers of rows that are selected from a batch.

    Args:
        rows: The numbers of the batch's rows; None for an original batch.
        shape: Its leading axes.
        key: The index, of NumPy or of a GPU library.
    """
    if rows is None and len(shape) == 1 and isinstance(key, slice):
        return np.arange(*key.indices(shape[0]))
    every = np.arange(math.prod(shape)).reshape(shape) if rows is None else rows
    parts = [to_host(part) if on_card(part) else part for part in (key if isinstance(key, tuple) else (key,))]
    some: NDArray[np.int64] = every[tuple(parts) if isinstance(key, tuple) else parts[0]]
    return some


def body_columns(batch: BodyBatch) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns with the errors of the goals of bodies, and those with the status of each goal."""
    blocks = [(name, block.unit) for name, goal in zip(batch.names, batch.goals, strict=True) for block in goal.blocks]
    return tuple(f"{name}.{UNITS[unit]}" for name, unit in blocks), tuple(f"{name}.status" for name in batch.names)


def schema_of(
    linkage: Linkage,
    errors: Sequence[str],
    types: Mapping[str, Any],
    store: str = "float64",
    *,
    several: bool = False,
    statuses: Sequence[str] = (),
) -> Any:
    """Return the columns of answers: id, pose, status, errors, and copied columns.

    Args:
        linkage: The linkage of the poses.
        errors: The errors in `ERRORS` that the goals have.
        types: Types of the copied columns by name, including ids if there are any.
        store: Number type: ``"float64"`` or ``"float32"``.
        several: Whether rows have several solutions; poses and errors are then lists of that length.
        statuses: Columns with the status of single goals, if rows have several.
    """
    import pyarrow as pa

    number = pa.float32() if store == "float32" else pa.float64()
    value = pa.list_(number) if several else number
    more = (pa.int32(), pa.bool_(), number) if several else ()
    return pa.schema(
        [
            (ID, types.get(ID, pa.int64())),
            *((VALUE + name, value) for name in linkage.coordinates),
            (SUCCESS, pa.bool_()),
            (STATUS, pa.string()),
            *((name, value) for name in errors),
            *((name, pa.string()) for name in statuses),
            (RESTARTS, pa.int32()),
            *zip(SEVERAL, more, strict=False),
            *((name, kind) for name, kind in types.items() if name != ID),
        ]
    )


def table_of(
    batch: Batch | SolutionsBatch | BodyBatch, schema: Any, first: int = 0, carried: Mapping[str, Any] | None = None
) -> Any:
    """Return answers as a table; rows without an id have their number, and invalid ones have no pose.

    Rows selected from a batch keep their numbers.

    Args:
        batch: The answers.
        schema: The columns.
        first: Number of the first row.
        carried: Columns to copy, as Arrow arrays, including ids.
    """
    import pyarrow as pa

    more, invalid = dict(carried or {}), batch.codes == INVALID
    none = invalid if invalid.any() else None
    ids = more.pop(ID, None)
    poses, errors, own = _lists(batch, schema, invalid) if hasattr(batch, "mask") else _numbers(batch, schema)
    arrays = [
        first + (np.arange(len(batch)) if batch.rows is None else batch.rows) if ids is None else ids,
        *poses,
        batch.success,
        pa.array(STATUSES).take(pa.array(batch.codes)),
        *errors,
        *_words(batch),
        batch.restarts,
        *own,
        *more.values(),
    ]
    columns = [
        pa.array(np.ascontiguousarray(x), field.type, mask=none if pa.types.is_floating(field.type) else None)
        if isinstance(x, np.ndarray)
        else x
        for x, field in zip(arrays, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _words(batch: Any) -> list[Any]:
    """Return one column per goal with its status, if rows have several goals."""
    import pyarrow as pa

    if not hasattr(batch, "goal_codes"):
        return []
    return [pa.array(GOAL_STATUSES).take(pa.array(codes)) for codes in np.ascontiguousarray(batch.goal_codes.T)]


Parts = tuple[Iterable[Any], Iterable[Any], Iterable[Any]]


def _numbers(batch: Any, schema: Any) -> Parts:
    """Return the columns of poses and errors, for one pose per row."""
    number = schema.field(VALUE + batch.linkage.coordinates[0]).type.to_pandas_dtype()
    return _poses(batch.q, number, batch.linkage), _columns(batch.residuals, number), ()


def _lists(batch: Any, schema: Any, invalid: NDArray[np.bool_]) -> Parts:
    """Return the columns of poses and errors as lists, and those about all solutions, for several poses per row."""
    import pyarrow as pa

    kind, shown = schema.field(VALUE + batch.linkage.coordinates[0]).type, batch.mask.sum(axis=1)
    ends, none = pa.array(np.append(0, np.cumsum(shown)), pa.int32()), pa.array(invalid)

    number = kind.value_type.to_pandas_dtype()

    def lists(columns: NDArray[Any]) -> list[Any]:
        return [pa.ListArray.from_arrays(ends, pa.array(column), kind, mask=none) for column in columns]

    alone = np.isnan(batch.diversity)
    apart = pa.array(batch.diversity, schema.field(SEVERAL[-1]).type, mask=alone)
    every = batch.complete & (batch.counts == shown)
    poses, errors = _poses(batch.q[batch.mask], number, batch.linkage), _columns(batch.residuals[batch.mask], number)
    return lists(poses), lists(errors), (shown.astype(np.int32), every, apart)


def _poses(q: NDArray[Any], number: type, linkage: Linkage) -> NDArray[Any]:
    """Return the columns of poses; rounding does not move values beyond limits.

    A value can only round beyond a limit if the limit itself rounds outwards, and then it rounds to that limit.
    """
    columns = _columns(q, number)
    if columns.dtype == q.dtype:
        return columns
    for column, exact, lower, upper in zip(columns, q.T, linkage.lower, linkage.upper, strict=True):
        for limit, other, outwards in ((lower, upper, -1.0), (upper, lower, 1.0)):
            if not np.isfinite(limit):
                continue
            with np.errstate(over="ignore"):  # a limit may exceed the range of the type
                edge = columns.dtype.type(limit)
            inner = np.nextafter(edge, columns.dtype.type(-outwards * np.inf))
            fits = (float(inner) - other) * outwards >= 0.0  # else no number of the type is between the limits
            if (float(edge) - limit) * outwards > 0.0 and fits:
                column[(column == edge) & ((exact - limit) * outwards <= 0.0)] = inner
    return columns


def _columns(rows: NDArray[Any], number: type) -> NDArray[Any]:
    """Return the columns of rows, each contiguous and of the stored type, so that Arrow does not copy them."""
    columns: NDArray[Any] = np.empty(rows.T.shape, number)
    columns[:] = rows.T
    return columns
