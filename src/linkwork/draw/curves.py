"""Curves over the frames of a film, as SVG for a page, with a cursor that the page moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import ClassVar

import numpy as np

from ..transforms import FloatArray

MOST = 2000  # largest number of points of a curve
NOTHING = 1e-9  # values below this share of the largest one in a chart are zero


@dataclass(frozen=True, eq=False)
class Series:
    """Numbers over the frames of a film, with a name and a colour; missing numbers are NaN."""

    name: str
    values: FloatArray
    color: str

    def plain(self, smallest: float = 0.0) -> list[float | None]:
        """Return the numbers for a page, with five digits; numbers up to `smallest` become zero."""
        return [
            None if np.isnan(value) else float(f"{value:.5g}") if abs(value) > smallest else 0.0
            for value in self.values
        ]


@dataclass(frozen=True, eq=False)
class Curves:
    """A chart of series of one unit.

    Attributes:
        title: The title, with the unit.
        series: The curves.
        low: Lower end of the axis, unless values are smaller; by default the smallest value.
    """

    title: str
    series: Sequence[Series]
    low: float | None = None
    LEFT: ClassVar[float] = 46.0
    RIGHT: ClassVar[float] = 474.0
    TOP: ClassVar[float] = 8.0
    BOTTOM: ClassVar[float] = 142.0

    def plain(self) -> list[list[float | None]]:
        """Return the numbers of all series for a page; numbers that are negligible beside the largest become zero."""
        largest = max((float(np.nanmax(np.abs(one.values), initial=0.0)) for one in self.series), default=0.0)
        return [one.plain(NOTHING * largest) for one in self.series]

    def drawn(self, first: int, marks: Sequence[float] = ()) -> str:
        """Return the chart as HTML.

        Args:
            first: Index of its first series among all series of the page.
            marks: Positions to mark, as shares of the film.
        """
        low, high = self._range()
        legend = "".join(
            f'<li><i style="background:{one.color}"></i>{escape(one.name)} <b data-series="{first + k}"></b></li>'
            for k, one in enumerate(self.series)
        )
        parts = [f'<svg viewBox="0 0 480 150" role="img" aria-label="{escape(self.title)}">']
        for value in sorted({low, high} | ({0.0} if low < 0.0 < high else set())):
            y = self._height(value, low, high)
            parts.append(f'<line class="axis" x1="{self.LEFT}" x2="{self.RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            text = f"{value:.3g}" if value else "0"
            parts.append(f'<text x="{self.LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        for share in marks:
            x = self.LEFT + share * (self.RIGHT - self.LEFT)
            parts.append(f'<line class="dead" x1="{x:.1f}" x2="{x:.1f}" y1="{self.TOP}" y2="{self.BOTTOM}"/>')
        for one in self.series:
            parts.append(
                f'<path d="{self._path(one, low, high)}" fill="none" stroke="{one.color}" stroke-width="1.8"/>'
            )
        parts.append(
            f'<line class="cursor" x1="{self.LEFT}" x2="{self.LEFT}" y1="{self.TOP}" y2="{self.BOTTOM}"/></svg>'
        )
        return f'<div><h2>{escape(self.title)}</h2><ul class="legend">{legend}</ul>{"".join(parts)}</div>'

    def _range(self) -> tuple[float, float]:
        values = np.concatenate([one.values[np.isfinite(one.values)] for one in self.series])
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        low = low if self.low is None else min(self.low, low)
        if high - low < 1e-9 * max(abs(high), abs(low)) or high == low:
            low, high = low - 0.5 * max(abs(low), 1.0), high + 0.5 * max(abs(high), 1.0)
        return low, high

    def _height(self, value: float, low: float, high: float) -> float:
        return self.BOTTOM - (value - low) / (high - low) * (self.BOTTOM - self.TOP)

    def _path(self, one: Series, low: float, high: float) -> str:
        """Return a curve as an SVG path that leaves out values that are not finite."""
        count = len(one.values)
        chosen = np.unique(np.linspace(0, count - 1, min(count, MOST)).round().astype(int))
        parts, gap = [], True
        for k in chosen.tolist():
            value = float(one.values[k])
            if not np.isfinite(value):
                gap = True
                continue
            x = self.LEFT + (self.RIGHT - self.LEFT) * k / max(count - 1, 1)
            parts.append(f"{'M' if gap else 'L'}{x:.1f} {self._height(value, low, high):.1f}")
            gap = False
        return "".join(parts)
