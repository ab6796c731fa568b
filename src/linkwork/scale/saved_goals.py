"""Write arrays of goals as a dataset, with the columns that `solve_dataset` reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import FormatError, GoalError, OptionError, listed, require
from ..explain.sampled_goals import SampledGoals
from ..linkage.linkage import Linkage
from ..transforms import matrix_quaternion
from .goal_columns import POSITION, QUATERNION, START
from .goal_files import SUFFIXES
from .places import place_of

GROUP = 2**18  # rows of a row group


def save_goals(
    path: str | os.PathLike[str],
    goals: SampledGoals | ArrayLike,
    *,
    columns: Mapping[str, ArrayLike] | None = None,
    starts: Linkage | None = None,
) -> None:
    """Write goals as a dataset that `solve_dataset` and ``linkwork batch`` read.

    Args:
        path: A file that ends in ``.parquet`` or ``.csv``, or a URL of one.
        goals: Transforms (n, 4, 4), positions (n, 3) or rotations (n, 3, 3). For goals from `sample_goals`, the
            columns ``reachable`` and, with a world, ``free`` and ``touching`` are written as well.
        columns: More columns, such as ``id``, by name; the option ``keep`` of `solve_dataset` copies them to answers.
        starts: The linkage of sampled goals, to write the poses that were found for them too, as columns
            ``start.COORDINATE``.

    Raises:
        FormatError: If the file cannot be written.

    Example:
        >>> import linkwork as lw, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "goals.csv"
        >>> lw.save_goals(path, [[0.5, 0.0, 0.4], [0.4, 0.1, 0.5]], columns={"id": ["a", "b"]})
        >>> path.read_text().split()
        ['"x","y","z","id"', '0.5,0,0.4,"a"', '0.4,0.1,0.5,"b"']
    """
    require("pyarrow", "datasets of goals")
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    place = place_of(path)
    if place.suffix not in SUFFIXES:
        raise FormatError(str(place), f"is not the name of a dataset of goals: it must end in {listed(SUFFIXES)}.")
    named = dict(_columns(goals, starts))
    more = dict(columns or {})
    twice = [name for name in more if name in named]
    if twice:
        raise OptionError(f"goals already have the columns {listed(list(named))}; rename {listed(twice)}.")
    count = len(next(iter(named.values())))
    wrong = [f"{name} ({np.shape(values)})" for name, values in more.items() if np.shape(values)[:1] != (count,)]
    if wrong:
        raise OptionError(f"a column has one value for each of the {count} goals; got {listed(wrong)}.")
    table = pa.table({**named, **{name: pa.array(values) for name, values in more.items()}})
    with place.writing() as file:
        if place.suffix == ".csv":
            pyarrow.csv.write_csv(table, file)
        else:
            pq.write_table(table, file, row_group_size=GROUP, compression="zstd")


def _columns(goals: SampledGoals | ArrayLike, starts: Linkage | None) -> Iterator[tuple[str, Any]]:
    """Yield the columns of goals, by name."""
    drawn = goals if isinstance(goals, SampledGoals) else None
    targets: NDArray[Any] = np.asarray(goals.targets if isinstance(goals, SampledGoals) else goals)
    own = targets.shape[1:]
    if own not in ((4, 4), (3,), (3, 3)) or targets.dtype.kind not in "fiu":
        raise GoalError(
            f"goals are numbers of shape (n, 4, 4), (n, 3) or (n, 3, 3), got {targets.dtype} {targets.shape}."
        )
    if own != (3, 3):
        yield from zip(POSITION, (targets if own == (3,) else targets[:, :3, 3]).T.astype(np.float64), strict=True)
    if own != (3,):
        yield from zip(QUATERNION, matrix_quaternion(targets[:, :3, :3].astype(np.float64)).T, strict=True)
    if drawn is None:
        if starts is not None:
            raise OptionError("starts needs goals from sample_goals; give other starts as columns start.COORDINATE.")
        return
    yield "reachable", drawn.reachable
    if drawn.free is not None:
        yield "free", drawn.free
    if drawn.touching is not None:
        yield "touching", drawn.touching.tolist()
    if starts is not None:
        yield from ((START + name, drawn.q[:, k]) for k, name in enumerate(starts.coordinates))
