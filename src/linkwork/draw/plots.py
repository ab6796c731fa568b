"""Plots: comparisons of methods, workspaces and maps of singularities.

Positions are in inches, so that texts have enough space at any size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Annulus, Circle
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from ..goals import Reach
from ..transforms import FloatArray
from .arguments import goal_point
from .labels import FONT
from .panels import (
    BLUE,
    GREEN,
    GREY,
    LARGE,
    NORMAL,
    ORANGE,
    RED,
    SMALL,
    TEAL,
    Panel,
    PanelOptions,
    Picture,
    Region,
    name_axes,
    new_figure,
    on_page,
    style_axes,
    write,
)
from .sheets import Stage
from .sketch import DEFAULT_VIEW, INK, Extent, Sketch, nice_step

if TYPE_CHECKING:
    from ..explain.races import RaceResult
    from ..explain.workspaces import Workspace
    from ..solvers import Solution

PURPLE, RING_FACE = "#AA3377", "#EAF2F8"
CORNERS = np.array([(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])  # corners of the square around a ring
COLORS = (BLUE, ORANGE, TEAL, PURPLE, "#CCAA22", "#66CCEE", INK)  # also distinct for colour-blind readers
STYLES = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)))  # when all colours are used, they repeat with the next line style
FLOOR = 1e-16  # drawn value of an error of zero, below the frame of the plot
POINT, WHOLE = "#8FB8DA", "#FDF1E3"
VALLEY = 0.05  # share of the largest measure at which a contour is drawn
PLANES = ([0, 1], [1, 2], [0, 2])  # top, front and side view


# A race


@dataclass(frozen=True, eq=False)
class Runner:
    """A method in a race: its solution, its errors, the path of its effector, and its line style."""

    method: str
    solution: Solution
    errors: FloatArray
    path: FloatArray
    style: dict[str, Any]


def race(laps: list[RaceResult], goal: FloatArray | None) -> Picture:
    """Return error against iteration, the effector's path and a table, for laps of which one at least was run."""
    runners = _runners(laps)
    wanted = _reach(runners[0].solution)
    if goal is None and wanted is not None:
        goal = goal_point(wanted.position)
    height = max(4.5, 1.0 + 0.25 * len(laps))
    page = new_figure((13.7, height))
    _errors(page, runners, (0.75, 0.6, 3.3, height - 1.1))
    _paths(page, runners, goal, (5.25, 0.6, 3.5, height - 1.1))
    _table(page, laps, runners, 9.1, height - 0.4)
    for x, title in ((0.75, "Error at every iteration"), (5.25, "Path of the effector")):
        write(page, x, height - 0.36, title, NORMAL, INK, weight="bold")
    return page


def _reach(solution: Solution) -> Reach | None:
    """Return the first goal with a position for a frame."""
    return next((goal for goal in solution.goals if isinstance(goal, Reach)), None)


def _runners(laps: list[RaceResult]) -> list[Runner]:
    found = []
    for k, lap in enumerate(laps):
        if lap.solution is None:
            continue
        wanted = _reach(lap.solution)
        path = np.zeros((0, 3))
        if wanted is not None:
            path = lap.solution.linkage.forward(lap.poses, frame=wanted.frame)[:, :3, 3]
        style = {"color": COLORS[k % len(COLORS)], "linestyle": STYLES[k // len(COLORS) % len(STYLES)]}
        found.append(Runner(lap.method, lap.solution, lap.errors, path, style))
    return found


def _errors(page: Picture, runners: list[Runner], region: Region) -> None:
    ax = new_axes(page, region)
    for runner in runners:
        errors = np.maximum(runner.errors, FLOOR)
        ax.plot(np.arange(len(errors)), errors, linewidth=1.7, label=runner.method, **runner.style)
    _scale_errors(ax, runners)


def _scale_errors(ax: Any, runners: list[Runner]) -> None:
    """Set the scales of the plot of errors, and mark tolerances and curves that end below its frame."""
    solution = runners[0].solution
    units = list(dict.fromkeys(block.unit for goal in solution.goals for block in goal.blocks))
    settings = solution.settings
    tolerances = {"m": settings.tolerance, "rad": settings.rotation_tolerance}
    tight = min(tolerances[unit] for unit in units)
    every = np.concatenate([runner.errors for runner in runners])
    every = every[np.isfinite(every)]
    least = float(every.min()) if len(every) else tight
    if least < 30.0 * tight:  # close enough to include the tolerance
        least = min(least, tight)
    most = max(float(every.max(initial=0.0)), 30.0 * tight)
    ax.set_yscale("log")
    floor = max(least / 3.0, 1e-3 * tight)
    ax.set_ylim(floor, 3.0 * most)
    longest = max(len(runner.errors) - 1 for runner in runners)
    across = "iteration"
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    if longest > 50:
        ax.set_xscale("symlog", linthresh=10.0, linscale=1.0)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        across = "iteration (logarithmic from 10 on)"
    ax.set_xlim(0.0, max(1.05 * longest, 1.0))
    for runner in runners:
        if runner.errors[-1] < floor:  # the curve ends below the frame
            mark = {"marker": "v", "markersize": 6.0, "clip_on": False, "color": runner.style["color"], "zorder": 6.0}
            ax.plot([len(runner.errors) - 1], [floor], **mark)
    for value in dict.fromkeys(tolerances[unit] for unit in units):
        if value > ax.get_ylim()[0]:
            _mark_tolerance(ax, value, ", ".join(unit for unit in units if tolerances[unit] == value))
    name_axes(ax, across, f"largest error [{' or '.join(units)}]")


def _mark_tolerance(ax: Any, tolerance: float, unit: str) -> None:
    """Draw a tolerance as a line, with its value beside the axes."""
    ax.axhline(tolerance, color=GREY, linewidth=0.9, linestyle=":", zorder=1.0)
    style = {"fontfamily": FONT, "fontsize": SMALL, "color": GREY, "va": "center"}
    place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    ax.annotate(f"tolerance\n{tolerance:g} {unit}", (1.0, tolerance), (4.0, 0.0), **place, **style)


def _paths(page: Picture, runners: list[Runner], goal: FloatArray | None, region: Region) -> None:
    solution = runners[0].solution
    sketch = Sketch(solution.linkage)
    extent = sketch.extent(solution.start[None], *(runner.path for runner in runners), goal)
    stage = Stage(sketch, extent, None)
    left, bottom, right, top = (0.0, 0.0, 0.0, 0.0) if stage.flat else stage.room()
    x, y, width, height = region
    region = (x + left, y + bottom, width - left - right, height - bottom - top)
    panel = _placed(page, stage, region, solution.start, goal)
    for k, runner in enumerate(runners):  # wide strokes first, so that coinciding paths stay visible
        stroke = 1.2 + 1.6 * (len(runners) - 1 - k) / len(runners)
        points = runner.path.T[: panel.dimensions]
        panel.ax.plot(*points, linewidth=stroke, zorder=15.0 + 0.1 * k, label=runner.method, **runner.style)


def _table(page: Picture, laps: list[RaceResult], runners: list[Runner], left: float, top: float) -> None:
    """Write one line for each method: stroke, name, status, iterations, last error and time."""
    styles = {runner.method: runner.style for runner in runners}
    width, height = page.get_size_inches()
    columns = (left + 0.4, left + 1.85, left + 3.0, left + 3.65, left + 4.35)
    for x, text in zip(columns, ("method", "ended", "steps", "error", "ms"), strict=True):
        write(page, x, top + 0.04, text, NORMAL, INK, weight="bold", ha="left" if x < columns[2] else "right")
    for k, lap in enumerate(laps):
        y = top - 0.25 * (k + 1)
        found = lap.solution
        color: Any = GREY if found is None else INK
        write(page, columns[0], y, lap.method, NORMAL, color)
        if found is None:
            write(page, columns[1], y, "refused this goal", NORMAL, GREY, style="italic")
            continue
        ends = ([left / width, (left + 0.3) / width], [(y + 0.05) / height] * 2)
        page.add_artist(Line2D(*ends, linewidth=2.0, **styles[lap.method]))
        ended = "budget spent" if found.status in ("iterations", "time") else found.status
        write(page, columns[1], y, ended, NORMAL, GREEN if found.success else RED)
        write(page, columns[2], y, f"{found.iterations}", NORMAL, INK, ha="right")
        write(page, columns[3], y, f"{float(found.residual):.1e}", NORMAL, INK, ha="right")
        write(page, columns[4], y, f"{1e3 * lap.seconds:.3g}", NORMAL, INK, ha="right")


# A workspace


def workspace(space: Workspace) -> Picture:
    """Return where a frame can be: one panel for a plane, else a view in space and three projections."""
    sketch = Sketch(space.linkage)
    return _flat_space(space, sketch) if space.planar and sketch.flat else _deep_space(space, sketch)


def _groups(space: Workspace) -> list[tuple[str, FloatArray, str, float]]:
    """Return the points in groups, each with name, colour and size [points]."""
    size = float(np.clip(3.0 * math.sqrt(4000.0 / len(space.points)), 1.0, 4.0))
    if space.dexterity is None:
        return [(f"reached in {len(space.points)} sampled poses", space.points, POINT, size)]
    all_ways = space.dexterity >= 1.0
    return [
        ("reached, in some orientations", space.points[~all_ways], POINT, size),
        ("in every orientation tried", space.points[all_ways], ORANGE, 1.2 * size),
    ]


def _scatter(ax: Any, points: FloatArray, columns: list[int], color: str, size: float, **more: Any) -> None:
    style = {"linestyle": "none", "marker": "o", "markersize": size, "markeredgewidth": 0.0, "rasterized": True}
    ax.plot(*points.T[columns], color=color, **(style | more))


def _flat_space(space: Workspace, sketch: Sketch) -> Picture:
    neutral = space.pose
    ring = None if space.annulus is None else space.center + space.annulus[1] * CORNERS
    extent = sketch.extent(neutral[None], space.points, ring)
    page = new_figure((6.4, 6.9))
    panel = _placed(page, Stage(sketch, extent, None), (0.75, 0.85, 5.45, 5.55), neutral)
    for _, points, color, size in _groups(space):
        _scatter(panel.ax, points, [0, 1], color, size, zorder=2.0)
    if space.annulus is not None:
        add_ring(panel.ax, space.center[:2], *space.annulus)
    if space.dexterity is not None:
        for least, most in space.dexterous_rings or ():
            add_ring(panel.ax, space.center[:2], least, most, fill=WHOLE, edge=RED)
    if space.curves is not None:
        for points, color in (
            (space.curves.stretched, RED),
            (space.curves.limited, GREY),
            (space.curves.loose, PURPLE),
        ):
            _scatter(panel.ax, points, [0, 1], color, 1.8, zorder=4.0)
    _legend(page, space, 0.75, 6.55, _exactly(space))
    return page


def _exactly(space: Workspace) -> str:
    """Return a text on the dashed circles, or on the curves of a parallel robot."""
    if space.curves is not None:
        return "Red: a leg is stretched or folded. Purple: the drivers do not hold the platform."
    if space.annulus is None:
        return ""
    text = "Dashed: exact, from {:.4g} to {:.4g} m".format(*space.annulus)
    if space.dexterity is None or space.dexterous_rings is None:
        return f"{text}."
    rings = " and ".join("{:.4g} to {:.4g} m".format(*ring) for ring in space.dexterous_rings)
    return f"{text}; {f'in every orientation {rings}' if rings else 'nowhere in every orientation'}."


def _deep_space(space: Workspace, sketch: Sketch) -> Picture:
    neutral = space.pose
    extent = sketch.extent(neutral[None], space.points)
    page = new_figure((12.2, 6.9))
    panel = _placed(page, Stage(sketch, extent, DEFAULT_VIEW), (0.45, 1.15, 5.2, 5.0), neutral)
    for _, points, color, size in _groups(space):
        _scatter(panel.ax, points, [0, 1, 2], color, 0.8 * size, alpha=0.35, zorder=3.0)
    places = ((6.75, 3.85), (9.75, 3.85), (6.75, 0.75))
    for name, columns, place in zip(("from above", "from the front", "from the side"), PLANES, places, strict=True):
        ax = new_axes(page, (*place, 2.25, 2.25))
        _project(ax, space, sketch.frames(neutral), columns, extent)
        write(page, place[0], place[1] + 2.33, name, NORMAL, INK, weight="bold")
    _legend(page, space, 0.35, 6.5)
    return page


def _project(ax: Any, space: Workspace, frames: FloatArray, columns: list[int], extent: Extent) -> None:
    """Draw the points and the linkage's bones along two axes, with limits shared by all such plots."""
    for _, points, color, size in _groups(space):
        _scatter(ax, points, columns, color, 0.6 * size, zorder=2.0)
    for i, parent in enumerate(space.linkage.parents):
        if parent >= 0:
            ax.plot(*frames[[parent, i], :3, 3].T[columns], color=INK, linewidth=2.0, zorder=5.0)
    half = 0.54 * float((extent.high - extent.low).max())
    middle = ((extent.low + extent.high) / 2.0)[columns]
    step = nice_step(half / 2.5)
    ax.set_aspect("equal")
    ax.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MultipleLocator(step))
    name_axes(ax, *(f"{'xyz'[k]} [m]" for k in columns))


def _legend(page: Picture, space: Workspace, left: float, top: float, exact: str = "") -> None:
    """Write the title, and the key of colours at the bottom of the page."""
    write(page, left, top, f"Where {space.frame!r} of {space.linkage.name!r} can be", LARGE, INK)
    (width, height), groups = page.get_size_inches(), _groups(space)
    for k, (name, points, color, _) in enumerate(groups):
        x = left + 2.9 * k
        text = name if len(groups) == 1 else f"{name}: {len(points)}"
        dot: dict[str, Any] = {"marker": "o", "markersize": 6.0, "color": color, "linestyle": "none"}
        page.add_artist(Line2D([(x + 0.05) / width], [0.285 / height], **dot))
        write(page, x + 0.17, 0.24, text, SMALL, INK)
    note = "" if space.linkage.loops else "The linkage is in its neutral pose."
    write(page, left, 0.06, f"{exact} {note}".strip(), SMALL, GREY)


# A map of manipulability


def heat_map(first: FloatArray, second: FloatArray, measure: FloatArray, names: list[str]) -> Picture:
    """Return the measure over two joints, the border of its valleys as a line, and a bar of colours."""
    page = new_figure((6.6, 5.4))
    ax = new_axes(page, (0.85, 0.75, 4.45, 4.2), grid=False)
    most = float(measure.max())
    mesh = ax.pcolormesh(first, second, measure.T, cmap="cividis", shading="gouraud", vmin=0.0, rasterized=True)
    if 0.0 <= float(measure.min()) < VALLEY * most:
        ax.contour(first, second, measure.T, levels=[VALLEY * most], colors="white", linewidths=1.1, linestyles="--")
        note = f"Dashed: {100.0 * VALLEY:g} % of the largest value. Where the measure is zero, the pose is singular."
        write(page, 0.85, 0.09, note, SMALL, GREY)
    for axis, values, name in ((ax.xaxis, first, names[0]), (ax.yaxis, second, names[1])):
        if "[" not in name and np.ptp(values) > math.pi and np.abs(values).max() < 7.0:
            axis.set_major_locator(MultipleLocator(math.pi / 2.0))
            axis.set_major_formatter(FuncFormatter(_in_turns))
    labels = [name if "[" in name else f"{name} [rad]" for name in names]
    name_axes(ax, *labels)
    bar = page.colorbar(mesh, cax=new_axes(page, (5.5, 0.75, 0.2, 4.2), grid=False))
    bar.ax.tick_params(labelsize=SMALL, labelfontfamily=FONT, labelcolor=INK, colors=GREY)
    bar.set_label("manipulability, √det(J Jᵀ)", fontfamily=FONT, fontsize=NORMAL, color=INK)
    write(page, 0.85, 5.08, f"Manipulability over {names[0]} and {names[1]}", LARGE, INK)
    return page


def _in_turns(value: float, _: Any = None) -> str:
    """Return an angle as a multiple of π: ``π/2``, ``-π``."""
    halves = round(2.0 * value / math.pi)
    sign, halves = ("\u2212" if halves < 0 else ""), abs(halves)
    if halves == 0:
        return "0"
    times = "" if halves in (1, 2) else f"{halves // 2 if halves % 2 == 0 else halves}"
    return f"{sign}{times}π{'/2' if halves % 2 else ''}"


# Shared


def _placed(page: Picture, stage: Stage, region: Region, q: FloatArray, goal: FloatArray | None = None) -> Panel:
    """Return a panel in a region of the page [inch] that shows a pose."""
    panel = stage.panel(stage.add_axes(page), PanelOptions(goal=goal))
    panel.fit(region)
    panel.show(q)
    return panel


def new_axes(page: Picture, region: Region, *, grid: bool = True) -> Any:
    """Return new axes at a place in inches, styled like the pictures."""
    ax = page.add_axes(on_page(page, region))
    style_axes(ax, grid=grid)
    return ax


def add_ring(ax: Any, center: FloatArray, least: float, most: float, fill: str = RING_FACE, edge: str = GREY) -> None:
    """Draw the exact ring of positions an arm reaches: lightly filled, with both circles."""
    x, y = (float(value) for value in center)
    line = {"fill": False, "edgecolor": edge, "linewidth": 0.9, "linestyle": "--", "zorder": 4.0}
    if least > 1e-9 * most:
        ax.add_patch(Annulus((x, y), most, most - least, facecolor=fill, edgecolor="none", zorder=0.5))
        ax.add_patch(Circle((x, y), least, **line))
    else:
        ax.add_patch(Circle((x, y), most, facecolor=fill, edgecolor="none", zorder=0.5))
    ax.add_patch(Circle((x, y), most, **line))
