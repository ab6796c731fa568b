"""The motion of a figure of the chapter as a GIF: its rows side by side, in one scale, each with its goal and path."""

from __future__ import annotations

from io import BytesIO

import numpy as np

from ..errors import OptionError
from ..models.textbook import Figure
from ..transforms import FloatArray
from .beside import beside
from .films import FILM_AREA
from .gif import Shot, write_gif
from .panels import PanelOptions
from .rows import Row, shared_extent
from .sheets import Stage, single

FPS = 12.0  # slow enough to follow each step
STAY = 0.5  # time on the last frame [s]
DOTS = 100  # pixels per inch


def figure_film(figure: Figure, *, fps: float | None = None) -> bytes:
    """Return the motion of a figure as a GIF.

    Args:
        figure: The result of `textbook.figure`.
        fps: Frames per second, `FPS` by default; a lower one leaves frames out and keeps the time.
    """
    if not figure.panels:
        raise OptionError(f"figure {figure.number} does not move; save it as .png, .svg or .pdf.")
    rows = [Row.of(panel) for panel in figure.panels]
    extent = shared_extent(rows)
    films = []
    for row in rows:
        options = PanelOptions(trail=row.trail, goal=row.goal, fine=False)
        numbers, times = _shown(len(row.trail), FPS if fps is None else min(fps, FPS))
        poses = row.panel.clip.poses
        page, panel = single(Stage(row.sketch, extent, row.panel.view), options, poses[0], area=FILM_AREA)
        page.set_dpi(DOTS)
        shots = [Shot(poses[k], k, np.zeros(3)) for k in numbers]
        film = BytesIO()
        write_gif(film, page, panel, shots, times, None)
        films.append(film.getvalue())
    return films[0] if len(films) == 1 else beside(films, [row.panel.title for row in rows])


def _shown(count: int, fps: float) -> tuple[list[int], FloatArray]:
    """Return the frames that a film shows, with the last one repeated, and their times [s]."""
    step = max(1, round(FPS / fps))
    numbers = sorted({*range(0, count, step), count - 1})
    times = np.array(numbers) / FPS
    return [*numbers, numbers[-1]], np.append(times, times[-1] + STAY)
