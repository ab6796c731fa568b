"""Picture of a report on a motion: its faults over time, above curves of speeds, heights and errors.

Positions are in inches; all parts share their axis of frames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..linkage.poses import between
from ..motion.checks import runs
from ..motion.contacts import planted
from ..motion.inspection import errors
from .labels import FONT
from .panels import BLUE, GREEN, GREY, LARGE, ORANGE, RED, SMALL, TEAL, Picture, name_axes, new_figure, write
from .plots import COLORS, PURPLE, new_axes
from .sketch import INK

if TYPE_CHECKING:
    from ..motion.inspection import Report

COLOR = {"flip": RED, "spike": ORANGE, "limit": PURPLE, "slide": BLUE, "ground": GREEN, "overlap": INK, "path": TEAL}
WORDS = {"slide": "foot slide", "ground": "below ground", "path": "path error"}  # other kinds use their own names
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 9.6, 2.1, 0.3, 0.62, 0.6  # width and margins of the page [inch]
ROW, PANEL, GAP, MOST = 0.2, 1.3, 0.34, 24
NARROWEST = 0.004  # smallest width of a finding over the width, so that a single frame is visible


def report(found: Report) -> Picture:
    """Return the picture of a report: a row of bars for every joint and kind, then the measured curves."""
    rows = list(dict.fromkeys((finding.kind, finding.where) for finding in found.findings))
    shown = rows[:MOST]
    missed = errors(found.clip, found.options.get("goals"))
    panels = [_speeds, *([_heights] if found.feet else []), *([_errors] if missed else [])]
    bars = max(1, len(shown)) * ROW
    height = TOP + bars + len(panels) * (PANEL + GAP) + BOTTOM
    page, y = new_figure((WIDTH, height)), height - TOP - bars
    clip = found.clip
    name = clip.name or clip.linkage.name
    write(page, 0.25, height - 0.32, f"{name}: {len(clip)} frames, {clip.duration:.3g} s", LARGE, INK)
    _legend(page, found, height - 0.32)
    wide = WIDTH - LEFT - RIGHT
    axes = [new_axes(page, (LEFT, y, wide, bars))]
    _bars(axes[0], found, shown)
    if len(rows) > MOST:
        write(page, 0.25, y - 0.17, f"and {len(rows) - MOST} more", SMALL, GREY)
    for draw in panels:
        y -= PANEL + GAP
        axes.append(new_axes(page, (LEFT, y, wide, PANEL)))
        draw(axes[-1], found)
    for ax in axes:
        ax.set_xlim(0, max(1, len(clip) - 1))
        ax.tick_params(labelbottom=ax is axes[-1])
    name_axes(axes[-1], "frame", axes[-1].get_ylabel())
    return page


def _legend(page: Picture, found: Report, y: float) -> None:
    x = WIDTH - RIGHT
    for kind, count in reversed(found.counts.items()):
        if count:
            text = f"{WORDS.get(kind, kind)} {count}"
            write(page, x, y, text, SMALL, COLOR[kind], ha="right", weight="bold")
            x -= 0.35 + 0.085 * len(text)


def _bars(ax: Any, found: Report, rows: list[tuple[str, str]]) -> None:
    ax.set_ylim(max(1, len(rows)) - 0.5, -0.5)
    ax.set_yticks(range(len(rows)), [where for _, where in rows], fontfamily=FONT, fontsize=SMALL)
    ax.grid(visible=False, axis="y")
    if found.ok:
        centred = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "nothing wrong", color=GREEN, fontfamily=FONT, fontsize=SMALL, **centred)
    least = NARROWEST * len(found.clip)
    for finding in found.findings:
        place = (finding.kind, finding.where)
        if place in rows:
            width = max(finding.last - finding.first, least)
            middle = (finding.first + finding.last) / 2.0
            ax.barh(rows.index(place), width, left=middle - width / 2.0, height=0.62, color=COLOR[finding.kind])


def _speeds(ax: Any, found: Report) -> None:
    """Draw the largest step of any value between frames, and mark flips and spikes."""
    clip = found.clip
    name_axes(ax, "", "largest step\n[rad, m]")
    if len(clip) < 2:
        return
    steps = np.abs(between(clip.linkage, clip.poses[:-1], clip.poses[1:], wrap=False)).max(axis=1, initial=0.0)
    at = np.arange(len(steps)) + 0.5
    ax.plot(at, steps, color=INK, linewidth=1.0)
    for kind in ("flip", "spike"):
        ends = sorted({k for f in found.of(kind) for k in range(f.first, max(f.last, f.first + 1)) if k < len(steps)})
        ax.plot(at[ends], steps[ends], "o", color=COLOR[kind], markersize=3.5)
    ax.set_ylim(bottom=0.0)


def _heights(ax: Any, found: Report) -> None:
    """Draw the heights of the feet, thick while they are planted, and the ground."""
    clip = found.clip
    for k, foot in enumerate(found.feet):
        height, color = clip.forward(frame=foot)[:, 2, 3], COLORS[k % len(COLORS)]
        ax.plot(height, color=color, linewidth=0.8, label=foot)
        for first, last in runs(planted(clip, foot)):
            ax.plot(range(first, last + 1), height[first : last + 1], color=color, linewidth=2.6)
    if found.ground is not None:
        ax.axhline(found.ground, color=GREY, linewidth=1.0, linestyle=(0, (4, 2)))
    name_axes(ax, "", "height of feet\n[m]")
    _key(ax)


def _errors(ax: Any, found: Report) -> None:
    """Draw the errors of goals over their tolerances."""
    for k, ((where, unit), row) in enumerate(errors(found.clip, found.options.get("goals")).items()):
        allowed = found.options["rotation_tolerance" if unit == "rad" else "tolerance"]
        ax.plot(np.maximum(row / allowed, 1e-6), color=COLORS[k % len(COLORS)], linewidth=1.0, label=f"{where} {unit}")
    ax.axhline(1.0, color=GREY, linewidth=1.0, linestyle=(0, (4, 2)))
    ax.set_yscale("log")
    name_axes(ax, "", "error /\ntolerance")
    _key(ax)


def _key(ax: Any) -> None:
    """Write the names of the lines, in their colours, above the panel."""
    ax.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=8, prop={"family": FONT, "size": 6.5}, frameon=False,
        labelcolor="linecolor", handlelength=0.0, borderaxespad=0.0, columnspacing=0.4,
    )  # fmt: skip
