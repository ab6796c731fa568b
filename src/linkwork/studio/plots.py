"""Curves in the page: a few lines over a common axis, each in its own colour.

Imports viser's uPlot elements through the page's own interface, a parameter; the colours of methods are fixed here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..solvers import METHODS
from ..transforms import FloatArray

# Twelve colours that can be told apart, one for each method.
COLORS = (
    "#e03131", "#f76707", "#1c7ed6", "#0ca678", "#ae3ec9", "#f59f00",
    "#4263eb", "#74b816", "#d6336c", "#1098ad", "#845ef7", "#495057",
)  # fmt: skip
METHOD_COLORS = dict(zip(METHODS, COLORS, strict=False))
LEAST = 1e-9  # what a logarithmic axis shows of zero


def rgb(color: str) -> tuple[int, int, int]:
    """Return red, green and blue from 0 to 255 of a colour such as ``#1c7ed6``."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


class Curves:
    """A plot of several lines.

    Args:
        gui: The page's controls.
        title: What stands above it.
        logarithmic: Whether its upright axis is.
        across: What stands below it.
        height: Its height [pixels].
    """

    def __init__(self, gui: Any, title: str, *, across: str, logarithmic: bool = False, height: int = 150) -> None:
        self._gui, self._logarithmic = gui, logarithmic
        scales: dict[str, Any] = {"x": {"time": False}}
        if logarithmic:
            scales["y"] = {"distr": 3, "log": 10}
        self.handle = gui.add_uplot(
            (np.zeros(1), np.zeros(1)),
            ({"label": across}, {"label": "-"}),
            title=title,
            scales=scales,
            legend={"show": False},
            height=height,
            axes=({"label": across, "labelSize": 16, "size": 30}, {"size": 52}),
            visible=False,
        )

    def show(self, across: FloatArray, rows: dict[str, FloatArray], colors: dict[str, str]) -> None:
        """Show lines over a common axis; none hides the plot."""
        if not rows or not len(across):
            self.handle.visible = False
            return
        lines = [np.asarray(row, np.float64) for row in rows.values()]
        if self._logarithmic:
            lines = [np.maximum(line, LEAST) for line in lines]
        series: list[dict[str, Any]] = [{"label": "x"}]
        series += [{"label": plain(name), "stroke": colors.get(name, "#495057"), "width": 2} for name in rows]
        with self._gui_atomic():
            if len(self.handle.series) == len(series):
                self.handle.data = (np.asarray(across, np.float64), *lines)
                self.handle.series = tuple(series)
            else:  # data and series must agree at every moment
                self.handle.visible = False
                self.handle.series = tuple(series)
                self.handle.data = (np.asarray(across, np.float64), *lines)
            self.handle.visible = True

    def _gui_atomic(self) -> Any:
        return self._gui._websock_interface.atomic()


def plain(text: str) -> str:
    """Return a text without anything that a page could take for markup."""
    return "".join(letter for letter in text if letter not in "<>&\"'")
