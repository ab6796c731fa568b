"""Summary of a dataset of answers: statuses, errors, and the distribution of joint values."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..draw.markup import BLUE, Safe, code, joined, styled, table
from ..errors import FormatError, require
from ..formats.atomic_files import write_text
from ..solvers.answer_tables import ERRORS, VALUE
from ..transforms import FloatArray
from .answer_files import format_of
from .answer_format import AnswerFormat
from .places import Place, place_of
from .runs import SUCCESS, Record, read_manifest, read_records

BINS = 40
DECADES = (-12, 4)  # range of the histogram of errors, as powers of ten; its bins are hundredths of a decade
FINE = 100
ROWS = ("restarts", "solutions", "diversity")  # columns with one number per row
SHARES = {"median": 0.5, "99 %": 0.99}


@dataclass
class ColumnSpread:
    """Distribution of the numbers in a column.

    Attributes:
        count: Number of values, without empty cells.
        least: Smallest value.
        largest: Largest value.
        mean: Mean value.
        bins: Histogram: number of values in each of equal bins from `least` to `largest`.
    """

    count: int = 0
    least: float = math.inf
    largest: float = -math.inf
    mean: float = 0.0
    bins: list[int] = field(default_factory=lambda: [0] * BINS)
    shares: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Description:
    """Summary of a dataset of answers.

    Attributes:
        folder: The folder of the answers.
        rows: Number of answers.
        complete: Whether the run is complete.
        counts: Number of rows by status.
        errors: Distribution of the errors, by column: position [m], rotation [rad].
        joints: Distribution of the values of each coordinate.
        restarts: Distribution of the number of restarts.
        solutions: Distribution of the number of solutions per row, if several were requested.
        diversity: Distribution of the distance of the two nearest solutions of a row, from 0 to 1.
    """

    folder: Path | str
    rows: int
    complete: bool
    counts: dict[str, int]
    errors: dict[str, ColumnSpread]
    joints: dict[str, ColumnSpread]
    restarts: ColumnSpread = field(default_factory=ColumnSpread)
    solutions: ColumnSpread = field(default_factory=ColumnSpread)
    diversity: ColumnSpread = field(default_factory=ColumnSpread)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an HTML page with tables and a histogram of every joint."""
        write_text(path, _page(self))

    def __repr__(self) -> str:
        reached = self.counts.get("reached", 0)
        return f"<Description: {reached} of {self.rows} reached, {len(self.joints)} coordinates>"


def describe_dataset(folder: str | os.PathLike[str]) -> Description:
    r"""Summarize a dataset of answers: statuses, errors and joint values.

    Raises:
        RunError: If the folder is not that of a run.
        FormatError: If a file of answers cannot be read.

    Example:
        >>> import linkwork as lw, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "goals.csv").write_text("x,y\n15,10\n-20,5\n")
        >>> _ = lw.solve_dataset(lw.models.planar([15, 10, 5]), "tip", folder / "goals.csv", folder / "out")
        >>> lw.describe_dataset(folder / "out")
        <Description: 2 of 2 reached, 3 coordinates>
    """
    require("pyarrow", "datasets of answers")
    place = place_of(folder)
    manifest = read_manifest(place)
    if manifest.get("kind") != "answers":
        raise FormatError(str(place), "holds motions, not answers; their report is _report.csv.")
    form = format_of(manifest)
    parts = sorted((one for one in read_records(place) if one.item >= 0), key=lambda record: record.item)
    counts: Counter[str] = Counter()
    spreads: dict[str, ColumnSpread] = {}
    asked = manifest.get("errors", ERRORS)  # bodies have columns of errors for every goal
    for columns in _read(form, place, parts, asked):
        counts.update(columns.pop("status", ()))
        for name, values in columns.items():
            _widen(spreads.setdefault(name, ColumnSpread()), values)
    logs: dict[str, Any] = {name: np.zeros((DECADES[1] - DECADES[0]) * FINE, np.int64) for name in asked}
    for columns in _read(form, place, parts, asked):
        for name, spread in spreads.items():
            _count(spread, columns[name])
            if name in logs:
                logs[name] += _decades(columns[name])
    for name in asked:
        if name in spreads:
            spreads[name].shares = {word: _quantile(logs[name], share) for word, share in SHARES.items()}
    joints = {name.removeprefix(VALUE): spread for name, spread in spreads.items() if name.startswith(VALUE)}
    errors = {name: spreads[name] for name in asked if name in spreads}
    complete = place.below(SUCCESS).is_file()
    told = {name: spreads[name] for name in ROWS if name in spreads}
    return Description(place.native, sum(counts.values()), complete, dict(counts), errors, joints, **told)


def _read(form: AnswerFormat, folder: Place, parts: list[Record], errors: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield columns for some rows at a time: texts, and finite numbers without empty cells."""
    wanted = [*(VALUE + name for name in form.coordinates), *errors, "status", *ROWS]
    for part in parts:
        for rows in form.read(folder, part, wanted):
            yield {name: _values(name, rows.column(name)) for name in rows.schema.names}


def _values(name: str, column: Any) -> Any:
    if name == "status":
        return column.to_pylist()
    if hasattr(column, "flatten") and hasattr(column.type, "value_type"):  # several values per row
        column = column.flatten()
    values = np.asarray(column.drop_null().to_numpy(zero_copy_only=False), np.float64)
    return values[np.isfinite(values)]


def _widen(spread: ColumnSpread, values: FloatArray) -> None:
    if len(values):
        total = spread.count + len(values)
        spread.mean += (float(values.mean()) - spread.mean) * len(values) / total
        spread.count = total
        spread.least, spread.largest = min(spread.least, float(values.min())), max(spread.largest, float(values.max()))


def _count(spread: ColumnSpread, values: FloatArray) -> None:
    if len(values):
        wide = max(spread.largest - spread.least, 1e-300)
        places = np.minimum(((values - spread.least) / wide * BINS).astype(np.int64), BINS - 1)
        spread.bins = (np.array(spread.bins) + np.bincount(places, minlength=BINS)).tolist()


def _decades(values: FloatArray) -> Any:
    """Return the number of errors in each hundredth of a decade."""
    logs = np.log10(np.maximum(values, 10.0 ** DECADES[0]))
    places = np.clip(((logs - DECADES[0]) * FINE).astype(np.int64), 0, (DECADES[1] - DECADES[0]) * FINE - 1)
    return np.bincount(places, minlength=(DECADES[1] - DECADES[0]) * FINE)


def _quantile(bins: Any, share: float) -> float:
    total = int(bins.sum())
    if not total:
        return math.nan
    at = int(np.searchsorted(np.cumsum(bins), share * total))
    return float(10.0 ** (DECADES[0] + (at + 0.5) / FINE))


# The page


def _page(found: Description) -> str:
    rows = max(found.rows, 1)
    ended = table(("status", "rows", "share"), [
        (name, f"{count:,}", f"{100.0 * count / rows:.4g} %") for name, count in Counter(found.counts).most_common()
    ])  # fmt: skip
    missed = table(("error", *SHARES, "mean", "largest"), [
        (name, *(f"{spread.shares[word]:.3g}" for word in SHARES), f"{spread.mean:.3g}", f"{spread.largest:.3g}")
        for name, spread in found.errors.items()
    ])  # fmt: skip
    joints = table(("coordinate", "least", "mean", "largest", "spread"), [
        (code(name), f"{one.least:.4g}", f"{one.mean:.4g}", f"{one.largest:.4g}", _bars(one))
        for name, one in found.joints.items()
    ], most=500)  # fmt: skip
    title = f"{found.folder}: {found.rows:,} answers{'' if found.complete else ', not complete'}"
    several = table(("per row", "least", "mean", "largest", "spread"), [
        (name, f"{one.least:.4g}", f"{one.mean:.4g}", f"{one.largest:.4g}", _bars(one))
        for name, one in (("solutions", found.solutions), ("diversity", found.diversity))
    ])  # fmt: skip
    said = {"Statuses": ended, "Errors [m, rad]": missed}
    said |= {"Solutions per row, and their distances": several} if found.solutions.count else {}
    said |= {"Joint values [rad, m]": joints}
    parts = [part for head, body in said.items() for part in (_head(head), body)]
    style = "font-family:system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color-scheme:light dark"
    body = styled(joined([styled(title, "font-size:20px;margin:0", "h1"), *parts]), style, "main")
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<meta name="color-scheme" content="light dark"><title>Answers</title></head><body>{body}</body></html>\n'
    )


def _head(text: str) -> Safe:
    return styled(text, "font-size:15px;margin:1.6em 0 0.3em", "h2")


def _bars(spread: ColumnSpread) -> Safe:
    """Return the histogram of a column as SVG."""
    most = max(max(spread.bins), 1)
    bars = "".join(
        f'<rect x="{5 * k}" y="{30.0 * (1.0 - count / most):.1f}" width="4" height="{30.0 * count / most:.1f}"/>'
        for k, count in enumerate(spread.bins)
        if count
    )
    return Safe(f'<svg width="{5 * BINS}" height="30" fill="{BLUE}" role="img">{bars}</svg>')
