"""Notes and curves in the page: a few lines over a common axis, each in its own colour.

The colours of methods are fixed here.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..solvers import METHODS
from ..transforms import FloatArray

if TYPE_CHECKING:
    from .app import Studio

# Colours that can be told apart, one for each method; they begin again where there are more methods.
COLORS = (
    "#e03131", "#f76707", "#1c7ed6", "#0ca678", "#ae3ec9", "#f59f00", "#f06595",
    "#74b816", "#d6336c", "#845ef7", "#1098ad", "#495057", "#a0522d",
)  # fmt: skip
METHOD_COLORS = {name: COLORS[k % len(COLORS)] for k, name in enumerate(METHODS)}
LEAST = 1e-9  # the least whose power of ten is shown


def rgb(color: str) -> tuple[int, int, int]:
    """Return red, green and blue from 0 to 255 of a colour such as ``#1c7ed6``."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


class Curves:
    """A plot of several lines.

    Args:
        studio: Whose page it is on.
        title: What stands above it.
        across: What stands below it.
        powers: Whether powers of ten are shown in place of the values.
        legend: Whether the names of the lines are listed below.
        height: Its height [pixels].
    """

    def __init__(
        self, studio: Studio, title: str, *, across: str, powers: bool = False, legend: bool = False, height: int = 150
    ) -> None:
        gui, self._atomic, self._powers = studio.gui, studio.server.atomic, powers
        self.handle = gui.add_uplot(
            (np.zeros(1), np.zeros(1)),
            ({"label": across}, {"label": "-"}),
            title=f"{title}, powers of ten" if powers else title,
            scales={"x": {"time": False}},
            legend={"show": False},
            height=height,
            axes=({"label": across, "labelSize": 16, "size": 30}, {"size": 46}),
            visible=False,
        )
        self._legend = gui.add_html("", visible=legend)

    def show(self, across: FloatArray, rows: dict[str, FloatArray], colors: dict[str, str]) -> None:
        """Show lines over a common axis; none hides the plot."""
        if not rows or not len(across):
            self.handle.visible, self._legend.content = False, ""
            return
        x, lines = np.asarray(across, np.float64), [np.asarray(row, np.float64) for row in rows.values()]
        if self._powers:
            lines = [np.log10(np.maximum(line, LEAST)) for line in lines]
        hidden = {"show": False}
        series: list[dict[str, Any]] = [{"label": "x"}]
        series += [
            {"label": plain(name), "stroke": colors.get(name, "#495057"), "width": 2, "points": hidden} for name in rows
        ]
        low, high = float(np.nanmin(lines)), float(np.nanmax(lines))
        room = 0.08 * (high - low) or 0.5
        with self._atomic():  # data and series must agree at every moment
            self.handle.series, self.handle.data = tuple(series), (x, *lines)
            self.handle.scales = {
                "x": {"time": False, "auto": False, "range": (float(x[0]), float(x[-1]) or 1.0)},
                "y": {"auto": False, "range": (low - room, high + room)},
            }
            self.handle.visible = True
        dots = (f'<span style="color:{colors.get(name, "#495057")}">&#9632;</span> {escape(name)}' for name in rows)
        content = f'<div style="font-size:12px;padding:0 14px">{" &ensp; ".join(dots)}</div>'
        if self._legend.visible and self._legend.content != content:
            self._legend.content = content


def note(text: str) -> str:
    """Return a line of small text for the page."""
    return f'<div style="padding:4px 14px;font-size:12px;color:#495057">{escape(text)}</div>'


def plain(text: str) -> str:
    """Return a text without anything that a page could take for markup."""
    return "".join(letter for letter in text if letter not in "<>&\"'")
