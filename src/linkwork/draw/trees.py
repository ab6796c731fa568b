"""Trees of nodes and arcs: their layout, and SVG text for pages and notebooks.

The layout needs only widths and heights, so that any drawing can use it. Subtrees do not overlap, and a parent stands
above the middle of its children.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from ..models.textbook.diagrams import Tree
from ..transforms import FloatArray

Measure = Callable[[str, float], tuple[float, float]]

NODE, ARC, NOTE = 14.0, 14.0, 14.0  # text sizes in nodes, at arcs, and beside nodes [points]
PAD_X, PAD_Y = 11.0, 7.0  # padding inside a node
BETWEEN = 16.0  # distance of neighbours
DROP, ROOT_DROP = 30.0, 34.0  # smallest length of an arc, and of the root arc
BREATH = 11.0  # visible length of an arc above and below its text


@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of a tree in points, y upwards from its lowest node.

    Attributes:
        boxes: Each node's box: middle x, middle y, width, height; shape (n, 4).
        gaps: Height of the text on the arc to each node.
        width: Of the whole.
        height: Of the whole, root arc included.
    """

    boxes: FloatArray
    gaps: FloatArray
    width: float
    height: float

    def arc(self, parent: int, child: int) -> tuple[list[FloatArray], FloatArray]:
        """Return the arc from one node to another as lines (2, 2), and the position (2,) of its text.

        The line is interrupted at the text. The root arc comes from -1.
        """
        x, y, _, height = self.boxes[child]
        end = np.array([x, y + height / 2.0])
        start = np.array([x, self.height])
        if parent >= 0:
            start = self.boxes[parent, :2] - (0.0, self.boxes[parent, 3] / 2.0)
        middle = (start + end) / 2.0
        share = self.gaps[child] / (start[1] - end[1])
        if not share:
            return [np.stack([start, end])], middle
        half = 0.5 * share * (end - start)
        return [np.stack([start, middle - half]), np.stack([middle + half, end])], middle


def layout(tree: Tree, measure: Measure) -> Layout:
    """Return the layout of a tree.

    Args:
        tree: The tree.
        measure: Function that returns width and height of a text at a font size [points].
    """
    count = len(tree.nodes)
    parents = [node.parent for node in tree.nodes]
    depth = np.zeros(count, dtype=np.int64)
    for k, parent in enumerate(parents):
        depth[k] = depth[parent] + 1 if parent >= 0 else 0
    sizes = np.array([measure(node.label, NODE) for node in tree.nodes])
    sizes += np.array([2.0 * PAD_X, 2.0 * PAD_Y])
    arcs = np.array([_arc_size(node.arc, measure) for node in tree.nodes])
    beside = np.array([_arc_size((node.arc_note,), measure) if node.arc_note else (0.0, 0.0) for node in tree.nodes])
    notes = np.array([measure(node.note, NOTE)[0] + 12.0 if node.note else 0.0 for node in tree.nodes])
    left = np.maximum(sizes[:, 0], arcs[:, 0]) / 2.0
    right = np.maximum(sizes[:, 0] / 2.0 + notes, arcs[:, 0] / 2.0 + np.where(beside[:, 0], beside[:, 0] + 14.0, 0.0))
    x = _across(parents, left, right, arcs[:, 0])
    x -= (x - left).min()
    tops = np.zeros(count)
    levels = int(depth.max()) + 1
    y = 0.0
    for level in range(levels):
        here = depth == level
        if level or tree.root_arc:
            written = float(np.maximum(arcs[here, 1], beside[here, 1]).max())
            y -= max(written + 2.0 * BREATH if written else 0.0, DROP if level else ROOT_DROP)
        tall = float(sizes[here, 1].max())
        tops[here] = y - tall / 2.0
        y -= tall
    boxes = np.column_stack([x, tops - y, sizes])
    return Layout(boxes, arcs[:, 1], float((x + right).max()), -y)


def _arc_size(lines: Sequence[str], measure: Measure) -> tuple[float, float]:
    return measure("\n".join(lines), ARC) if lines else (0.0, 0.0)


def _across(parents: Sequence[int], left: FloatArray, right: FloatArray, arcs: FloatArray) -> FloatArray:
    """Return the x of every node: subtrees as close together as possible, parents above the middle of their children.

    The text of an arc is at its middle, so neighbouring texts are half as far apart as the nodes.
    """
    count = len(parents)
    children: list[list[int]] = [[] for _ in range(count)]
    for k, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(k)
    shift = np.zeros(count)  # x of a subtree relative to its parent
    outline: list[tuple[list[float], list[float]]] = [([], []) for _ in range(count)]
    for k in reversed(range(count)):  # parents precede their children
        lows: list[float] = []
        highs: list[float] = []
        places: list[float] = []
        before = k
        for child in children[k]:
            low, high = outline[child]
            at = max((b - a + BETWEEN for a, b in zip(low, highs, strict=False)), default=0.0)
            if places and arcs[before] and arcs[child]:
                at = max(at, places[-1] + float(arcs[before] + arcs[child]) + BETWEEN)
            before = child
            places.append(at)
            lows += [value + at for value in low[len(lows) :]]
            highs[: len(high)] = [value + at for value in high]
            outline[child] = ([], [])
        middle = (places[0] + places[-1]) / 2.0 if places else 0.0
        for child, at in zip(children[k], places, strict=True):
            shift[child] = at - middle
        outline[k] = (
            [-float(left[k]), *(value - middle for value in lows)],
            [float(right[k]), *(value - middle for value in highs)],
        )
    x = np.zeros(count)
    for k, parent in enumerate(parents):
        x[k] = shift[k] + (x[parent] if parent >= 0 else 0.0)
    return x


# As SVG


def estimate(text: str, size: float) -> tuple[float, float]:
    """Return the approximate size of a text, without a font."""
    lines = [plain(line) for line in text.split("\n")]
    return 0.6 * size * max(map(len, lines)), 1.3 * size * len(lines)


def plain(label: str) -> str:
    r"""Return a label without mathtext markup.

    Example:
        >>> plain(r"$R_{1,1}(\theta_{1,1})$")
        'R1,1(θ1,1)'
    """
    return "".join(text for text, _ in _pieces(label))


def svg(tree: Tree) -> str:
    """Return a tree as SVG text in the colours of the page around it, for HTML and notebooks.

    Labels are escaped, since names may come from any file.

    Example:
        >>> from linkwork.models import planar
        >>> from linkwork.models.textbook.diagrams import hierarchy
        >>> svg(hierarchy(planar(2))).count("<rect")
        3
    """
    found = layout(tree, estimate)
    width, height = found.width + 4.0, found.height + 4.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'style="max-width:100%;height:auto" role="img" aria-label="{escape(tree.title or "tree", quote=True)}" '
        'font-family="system-ui,sans-serif" fill="currentColor">'
    ]
    for k, node in enumerate(tree.nodes):
        x, y, wide, tall = found.boxes[k].tolist()
        y = found.height - y
        if node.parent >= 0 or tree.root_arc:
            pieces, middle = found.arc(node.parent, k)
            for (x0, y0), (x1, y1) in pieces:
                parts.append(
                    f'<line x1="{x0:.1f}" y1="{found.height - y0:.1f}" x2="{x1:.1f}" y2="{found.height - y1:.1f}" '
                    'stroke="currentColor" stroke-opacity=".5"/>'
                )
            parts += _svg_lines(node.arc, float(middle[0]), found.height - float(middle[1]), ARC - 2.0)
        parts.append(
            f'<rect x="{x - wide / 2.0:.1f}" y="{y - tall / 2.0:.1f}" width="{wide:.1f}" height="{tall:.1f}" rx="6" '
            'fill="#3d7fc1" fill-opacity=".16" stroke="#3d7fc1"/>'
        )
        parts += _svg_lines(node.label.split("\n"), x, y, NODE - 1.0)
        if node.arc_note:
            _, middle = found.arc(node.parent, k)
            at = float(middle[0]) + _arc_size(node.arc, estimate)[0] / 2.0 + 14.0
            parts += _svg_lines(
                node.arc_note.split("\n"), at, found.height - float(middle[1]), NOTE - 1.0, anchor="start"
            )
        if node.note:
            parts += _svg_lines(node.note.split("\n"), x + wide / 2.0 + 10.0, y, NOTE - 1.0, anchor="start")
    return "".join((*parts, "</svg>"))


def _svg_lines(lines: Sequence[str], x: float, y: float, size: float, anchor: str = "middle") -> list[str]:
    """Return lines of text centred vertically about a position."""
    found = []
    for k, line in enumerate(lines):
        at = y + (k - (len(lines) - 1) / 2.0) * 1.25 * size + 0.35 * size
        spans = "".join(
            f'<tspan font-size="{0.72 * size:.1f}" dy="{0.25 * size:.1f}">{escape(text)}</tspan>'
            f'<tspan dy="{-0.25 * size:.1f}">\u200b</tspan>'
            if low
            else f"<tspan>{escape(text)}</tspan>"
            for text, low in _pieces(line)
        )
        found.append(f'<text x="{x:.1f}" y="{at:.1f}" font-size="{size:g}" text-anchor="{anchor}">{spans}</text>')
    return found


def _pieces(label: str) -> list[tuple[str, bool]]:
    """Return a label as pieces of text with a flag for subscripts."""
    if "$" not in label:
        return [(label, False)]
    text = label.replace("$", "")
    for name, letter in ((r"\theta", "θ"), (r"\,", " "), (r"\;", " "), (r"\cdots", "⋯")):
        text = text.replace(name, letter)
    text = re.sub(r"\\mathrm\{(\w+)\}", r"\1", text)
    found = []
    for piece in re.split(r"(_\{[^}]*\}|_\w)", text):
        if piece.startswith("_"):
            found.append((piece[1:].strip("{}"), True))
        elif piece:
            found.append((piece, False))
    return found
