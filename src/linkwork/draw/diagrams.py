"""Diagrams of the chapter on a sheet: linkages with marks, trees, code and formulas, in rows under a caption.

The size of every plate is known before it is drawn; rows are as high as their highest plate.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch

from ..models.textbook.diagrams import Diagram, Formulas, Listing, Plate, Stack, Tree
from ..transforms import FloatArray
from . import trees
from .labels import FONT, text_size
from .marks import AMBER, LETTERS, SLATE, Marks
from .panels import Panel, PanelOptions, Picture, new_figure
from .rows import blue
from .sheets import Stage
from .sketch import INK, Sketch

CAPTION, TITLE, WORDS, CODE = 16.0, 13.0, 13.0, 12.0  # text sizes [point]
MARGIN, GAP, BELOW_CAPTION, BELOW_TITLE = 0.22, 0.55, 0.16, 0.1  # inch
PAD = 0.27  # margin around a linkage, for its labels [inch]
WIDEST, LEAST = 12.0, 6.4  # largest and smallest width of a page [inch]
FADE = 0.72  # share of white in the colours of faint poses
NODE_FACE, NODE_EDGE, NOW_FACE, DONE_FACE = "#E4EEF7", "#3D6E9E", "#FBD9B5", "#F1F3F5"
MONOSPACE = "DejaVu Sans Mono"


class Block(Protocol):
    """A plate that is ready for a page."""

    size: tuple[float, float]

    def draw(self, page: Picture, left: float, bottom: float) -> None:
        """Draw it with its lower left corner at a position in inches."""


def sheet(title: str, rows: Sequence[Sequence[Plate]]) -> Picture:
    """Return rows of plates on one page, the title on top."""
    blocks = [[_block(plate) for plate in row] for row in rows]
    titles = [[plate.title for plate in row] for row in rows]
    over = [_title_height(row) for row in titles]
    heights = [max(block.size[1] for block in row) + above for row, above in zip(blocks, over, strict=True)]
    widths = [
        [_width(block, name) for block, name in zip(*pair, strict=True)] for pair in zip(blocks, titles, strict=True)
    ]
    width = max(LEAST, 2.0 * MARGIN + max(sum(row) + GAP * (len(row) - 1) for row in widths))
    caption = _wrapped(title, width - 2.0 * MARGIN)
    top = MARGIN + text_size(caption, CAPTION)[1] / 72.0 + BELOW_CAPTION
    height = top + sum(heights) + GAP * (len(rows) - 1) * 0.6 + MARGIN
    page = new_figure((width, height))
    text(page, MARGIN, height - MARGIN, caption, CAPTION, va="top", linespacing=1.25)
    y = height - top
    for row, names, sizes, above, tall in zip(blocks, titles, widths, over, heights, strict=True):
        free = width - 2.0 * MARGIN - sum(sizes)
        space = max(GAP, free / (len(row) + 1))
        x = MARGIN + (free - space * (len(row) - 1)) / 2.0
        for block, name, wide in zip(row, names, sizes, strict=True):
            if name:
                text(page, x + wide / 2.0, y, name, TITLE, ha="center", va="top", weight="bold")
            room = tall - above
            block.draw(page, x + (wide - block.size[0]) / 2.0, y - above - (room + block.size[1]) / 2.0)
            x += wide + space
        y -= tall + 0.6 * GAP
    return page


def _title_height(titles: Sequence[str]) -> float:
    tall = max((text_size(name, TITLE, "bold")[1] / 72.0 for name in titles if name), default=0.0)
    return tall + BELOW_TITLE if tall else 0.0


def _width(block: Block, title: str) -> float:
    return max(block.size[0], text_size(title, TITLE, "bold")[0] / 72.0 if title else 0.0)


def _wrapped(title: str, width: float) -> str:
    """Return a caption broken into lines that fit a width in inches."""
    wide = text_size(title, CAPTION)[0] / 72.0
    if wide <= width:
        return title
    return "\n".join(textwrap.wrap(title, int(0.96 * len(title) * width / wide)))


def text(page: Picture, x: float, y: float, words: str, size: float, **style: Any) -> None:
    """Write a text at a position in inches."""
    look: dict[str, Any] = {"color": INK, "fontfamily": FONT, "zorder": 40.0} | style
    page.text(x, y, words, transform=page.dpi_scale_trans, fontsize=size, **look)


def _block(plate: Plate) -> Block:
    if isinstance(plate, Diagram):
        return DiagramBlock(plate)
    if isinstance(plate, Tree):
        return TreeBlock(plate)
    if isinstance(plate, Stack):
        return StackBlock(plate)
    return WordsBlock(plate)


# A linkage with marks


def faint(sketch: Sketch) -> Sketch:
    """Return a sketch in colours near white, for a pose in the background."""
    mixed = [tuple(c + FADE * (1.0 - c) for c in part.color) for part in sketch.parts]
    sketch.parts = [replace(part, color=color) for part, color in zip(sketch.parts, mixed, strict=True)]  # type: ignore[arg-type]
    return sketch


class DiagramBlock:
    """A linkage at a pose, with its marks."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.sketch = blue(Sketch(diagram.linkage))
        poses = np.stack([diagram.q, *diagram.ghosts])
        self.extent = self.sketch.extent(poses, *(mark.points() for mark in diagram.marks))
        self.size = self._size()

    def _panel(self, page: Picture, sketch: Sketch) -> Panel:
        stage = Stage(sketch, self.extent, self.diagram.view)
        panel = stage.panel(stage.add_axes(page), PanelOptions(ticks=False, ground=False))
        panel.fit(None)
        return panel

    def _size(self) -> tuple[float, float]:
        panel = self._panel(new_figure((4.0, 4.0)), self.sketch)
        height = self.diagram.height
        if self.diagram.scale is not None:
            low, high = panel.window()
            height = self.diagram.scale * float(high[1] - low[1])
        return height * panel.shape() + 2.0 * PAD, height + 2.0 * PAD

    def draw(self, page: Picture, left: float, bottom: float) -> None:
        """Draw faint poses first, then the linkage, then its marks."""
        width, height = self.size
        region = (left + PAD, bottom + PAD, width - 2.0 * PAD, height - 2.0 * PAD)
        for ghost in self.diagram.ghosts:
            behind = self._panel(page, faint(blue(Sketch(self.diagram.linkage))))
            behind.fit(region)
            behind.show(ghost)
            behind.ax.set_zorder(0.5)
            for artist in behind.moving[:]:
                if isinstance(artist, Line2D):
                    artist.set_alpha(0.3)
        panel = self._panel(page, self.sketch)
        panel.fit(region)
        panel.show(self.diagram.q)
        panel.ax.set_zorder(1.0)
        room = 72.0 * np.array([left - 0.1, bottom, left + width + 0.1, bottom + height])
        Marks(page, panel).draw(self.diagram.marks, (self.diagram.q, *self.diagram.ghosts), room)


# Trees


def _measure(words: str, size: float) -> tuple[float, float]:
    return text_size(words, size)


class TreeBlock:
    """A tree of nodes and arcs."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.layout = trees.layout(tree, _measure)
        self.size = (self.layout.width / 72.0, self.layout.height / 72.0)

    def draw(self, page: Picture, left: float, bottom: float) -> None:
        """Draw arcs, nodes, and the notes beside them."""
        move = np.array([left, bottom])
        for k, node in enumerate(self.tree.nodes):
            x, y, width, height = self.layout.boxes[k] / 72.0
            if node.parent >= 0 or self.tree.root_arc:
                pieces, middle = self.layout.arc(node.parent, k)
                for piece in pieces:
                    self._line(page, piece / 72.0 + move)
                self._arc_words(page, node.arc, middle / 72.0 + move)
            box(page, (left + x - width / 2.0, bottom + y - height / 2.0), (width, height), node.tone)
            text(page, left + x, bottom + y, node.label, trees.NODE, ha="center", va="center", linespacing=1.2)
            if node.arc_note:
                _, middle = self.layout.arc(node.parent, k)
                beside = max([text_size(line, trees.ARC)[0] for line in node.arc], default=0.0) / 2.0 + 14.0
                place = move + (middle + np.array([beside, 0.0])) / 72.0
                text(
                    page,
                    float(place[0]),
                    float(place[1]),
                    node.arc_note,
                    trees.NOTE,
                    va="center",
                    color=SLATE,
                    linespacing=1.3,
                )
            if node.note:
                at = left + x + width / 2.0 + 12.0 / 72.0
                text(page, at, bottom + y, node.note, trees.NOTE, va="center", color=SLATE, linespacing=1.3)

    def _line(self, page: Picture, ends: FloatArray) -> None:
        line = Line2D(*ends.T, color=SLATE, linewidth=1.8, transform=page.dpi_scale_trans, zorder=1.0)
        page.add_artist(line)

    def _arc_words(self, page: Picture, lines: Sequence[str], middle: FloatArray) -> None:
        """Write the constant matrix first, and the variable one in another colour."""
        tall = [text_size(line, trees.ARC)[1] / 72.0 for line in lines]
        y = float(middle[1]) + sum(tall) / 2.0
        for k, (line, height) in enumerate(zip(lines, tall, strict=True)):
            color = INK if k == 0 else AMBER if "$" in line else SLATE
            text(page, float(middle[0]), y - height / 2.0, line, trees.ARC, ha="center", va="center", color=color)
            y -= height


def box(page: Picture, corner: tuple[float, float], size: tuple[float, float], tone: str = "plain") -> None:
    """Draw a rounded box at a position in inches."""
    face = {"plain": NODE_FACE, "now": NOW_FACE, "done": DONE_FACE}[tone]
    edge = {"plain": NODE_EDGE, "now": AMBER, "done": SLATE}[tone]
    patch = FancyBboxPatch(
        corner, *size, boxstyle="round,pad=0,rounding_size=0.08", facecolor=face, edgecolor=edge, linewidth=1.6,
        transform=page.dpi_scale_trans, mutation_aspect=1.0, zorder=2.0,
    )  # fmt: skip
    page.add_artist(patch)


class StackBlock:
    """A stack of matrices beside the traversed tree."""

    CELL = 0.36

    def __init__(self, stack: Stack) -> None:
        self.stack, self.tree = stack, TreeBlock(stack.tree)
        self.cell = max(0.7, max(text_size(entry, LETTERS)[0] for entry in stack.entries) / 72.0 + 0.15)
        self.current = f"matrix: {stack.current}"
        wide = max(self.tree.size[0] + 0.2 + self.cell, text_size(self.current, LETTERS)[0] / 72.0)
        self.size = (wide, max(self.tree.size[1], 3.0 * self.CELL) + 0.45)

    def draw(self, page: Picture, left: float, bottom: float) -> None:
        """Draw the tree, the stack beside it, and the current matrix below."""
        width, _ = self.size
        spare = (width - self.tree.size[0] - 0.2 - self.cell) / 2.0
        self.tree.draw(page, left + spare, bottom + 0.45)
        x = left + width - self.cell - spare
        for k, entry in enumerate(self.stack.entries):
            y = bottom + 0.75 + k * self.CELL
            box(page, (x, y), (self.cell, self.CELL - 0.04), "done")
            text(page, x + self.cell / 2.0, y + self.CELL / 2.0 - 0.02, entry, LETTERS, ha="center", va="center")
        text(page, x + self.cell / 2.0, bottom + 0.7, "stack", WORDS, ha="center", va="top", color=SLATE)
        text(page, left + width / 2.0, bottom + 0.18, self.current, LETTERS, ha="center", va="center", color=AMBER)


# Code and formulas


class WordsBlock:
    """Lines of code, or of mathtext and words."""

    def __init__(self, plate: Listing | Formulas) -> None:
        self.code = isinstance(plate, Listing)
        self.lines = [self._style(line) for line in plate.lines]
        sizes = [text_size(line or " ", size, family=family) for line, size, family in self.lines]
        self.steps = [
            1.45 * size if self.code else 0.6 * size if not line else max(1.75 * size, tall + 0.4 * size)
            for (line, size, _), (_, tall) in zip(self.lines, sizes, strict=True)
        ]
        pad = 0.2 if self.code else 0.05
        wide = max(self._wide(line, size, family) for line, size, family in self.lines)
        self.pad = pad
        self.size = (wide / 72.0 + 2.0 * pad, sum(self.steps) / 72.0 + 2.0 * pad)

    def _style(self, line: str) -> tuple[str, float, str]:
        if self.code:
            return line, CODE, MONOSPACE
        if line.startswith("`"):
            return line[1:], WORDS, MONOSPACE
        return line, LETTERS if "$" in line else WORDS, FONT

    def _wide(self, line: str, size: float, family: str) -> float:
        if family == MONOSPACE:  # blanks count too
            return 1.05 * len(line) * text_size("m" * 10, size, family=family)[0] / 9.9  # hinting may widen letters
        return text_size(line or " ", size, family=family)[0]

    def draw(self, page: Picture, left: float, bottom: float) -> None:
        """Write the lines; code is in a box, with comments in another colour."""
        width, height = self.size
        if self.code:
            box(page, (left, bottom), (width, height), "done")
        y = bottom + height - self.pad
        for (line, size, family), step in zip(self.lines, self.steps, strict=True):
            at, style = y - step / 144.0, {"va": "center", "fontfamily": family}
            words, mark, remark = line.partition("#") if self.code else (line, "", "")
            if words.strip():
                text(page, left + self.pad, at, words, size, **style)
            if mark:  # padded with blanks, so that both have the same width at any resolution
                text(page, left + self.pad, at, " " * len(words) + mark + remark, size, color=AMBER, **style)
            y -= step / 72.0
