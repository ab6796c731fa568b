"""Write a pose as a small SVG of a few kilobytes, without matplotlib and without reading meshes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..linkage.geometry import Polyline
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from . import surfaces
from .markup import BLUE, ORANGE, Safe
from .parts import Points
from .sketch import DEFAULT_VIEW, Extent, Sketch

WIDTH, HEIGHT, MARGIN = 220, 190, 14
MOST = 300  # largest number of pieces of a kind
GHOST = 0.25  # opacity of further poses
LEAST_SIZE = 1e-9
EDGE = "#33445a"


@dataclass(frozen=True)
class Paper:
    """The projection of the world onto a picture.

    Attributes:
        camera: The directions to the right, up and towards the eye, as rows.
        scale: Pixels per metre.
        origin: Position of the world's origin [pixels], y down from the top.
        height: Of the picture [pixels].
    """

    camera: FloatArray
    scale: float
    origin: FloatArray
    height: int

    def at(self, points: FloatArray) -> FloatArray:
        """Return pixels (..., 2) of points (..., 3)."""
        seen: FloatArray = points @ self.camera[:2].T * (self.scale, -self.scale) + self.origin
        return seen


def still(linkage: Linkage, poses: FloatArray, *, goals: Sequence[FloatArray] = (), width: int = WIDTH) -> Safe:
    """Return a picture of a linkage.

    Args:
        linkage: The linkage.
        poses: The poses, shape (n, nq): the last is drawn in full, those before it faintly.
        goals: Positions to mark, shape (3,) each.
        width: Of the picture [pixels].
    """
    sketch = Sketch(linkage, meshes=False)
    marks = np.array(goals, dtype=np.float64).reshape(-1, 3)
    paper = _paper(sketch.extent(poses, marks), _camera(sketch.flat), width)
    drawn = []
    for k, frames in enumerate(sketch.frames(poses)):
        opacity = 1.0 if k == len(poses) - 1 else GHOST
        inside = "".join((*_solids(sketch, frames, paper), *_skeleton(sketch, frames, paper)))
        drawn.append(f'<g opacity="{opacity}">{inside}</g>')
    drawn += [_goal(x, y) for x, y in paper.at(marks).tolist()]
    return Safe(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{paper.height}" '
        f'viewBox="0 0 {width} {paper.height}" style="max-width:100%" stroke-linecap="round" '
        f'stroke-linejoin="round">{"".join(drawn)}</svg>'
    )


def _camera(flat: bool) -> FloatArray:
    if flat:
        return np.eye(3)
    up, around = np.radians(DEFAULT_VIEW)
    side = np.array([-np.sin(around), np.cos(around), 0.0])
    towards = np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    return np.array([side, np.cross(towards, side), towards])


def _paper(extent: Extent, camera: FloatArray, width: int) -> Paper:
    """Return a page that fits a linkage, no taller than necessary."""
    seen = extent.points @ camera[:2].T
    low, high = seen.min(axis=0), seen.max(axis=0)
    span, tallest = np.maximum(high - low, LEAST_SIZE), HEIGHT * width / WIDTH
    scale = float(min((width - 2 * MARGIN) / span[0], (tallest - 2 * MARGIN) / span[1]))
    height = int(np.ceil(max(scale * span[1] + 2 * MARGIN, 4 * MARGIN)))
    middle = (low + high) / 2.0
    return Paper(camera, scale, np.array([width, height]) / 2.0 - scale * middle * (1.0, -1.0), height)


def _solids(sketch: Sketch, frames: FloatArray, paper: Paper) -> Iterator[str]:
    """Yield the solids of links as filled outlines, the furthest first."""
    solids = [part for part in sketch.parts if not isinstance(part.shape, Polyline)]
    found = []
    for part, points in list(zip(solids, sketch.casting(), strict=True))[:MOST]:
        world = points.at(frames)
        seen = paper.at(world)
        color = "#" + "".join(f"{round(255.0 * x):02x}" for x in part.color)
        piece = f'<polygon points="{_path(seen[surfaces.outline(seen)])}" fill="{color}" stroke="{EDGE}"/>'
        found.append((float((world @ paper.camera[2]).mean()), piece))
    yield from (piece for _, piece in sorted(found))


def _skeleton(sketch: Sketch, frames: FloatArray, paper: Paper) -> Iterator[str]:
    """Yield bones, wires and joints of links that have no solids."""
    lines = [*sketch.bones.at(frames), *(points.at(frames) for _, points in sketch.wires())]
    for line in lines[:MOST]:
        yield f'<polyline points="{_path(paper.at(line))}" fill="none" stroke="{BLUE}" stroke-width="3.5"/>'
    for line in sketch.rails.at(frames)[:MOST]:
        yield f'<polyline points="{_path(paper.at(line))}" stroke="{BLUE}" stroke-width="2" stroke-dasharray="2 4"/>'
    for x, y in paper.at(_bare(sketch, sketch.round_joints).at(frames))[:MOST].tolist():
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="#fff" stroke="{BLUE}" stroke-width="1.6"/>'
    for x, y in paper.at(_bare(sketch, sketch.prismatic_joints).at(frames))[:MOST].tolist():
        place = f'x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"'
        yield f'<rect {place} fill="#fff" stroke="{BLUE}" stroke-width="1.6"/>'


def _bare(sketch: Sketch, joints: Points) -> Points:
    """Return the joints next to links that are drawn as bones."""
    above = np.maximum(np.array(sketch.linkage.parents)[joints.owners], 0)
    kept = sketch.bare[joints.owners] | sketch.bare[above]
    return Points(joints.owners[kept], joints.local[kept])


def _goal(x: float, y: float) -> str:
    cross = f"M{x - 9:.1f},{y:.1f}h18M{x:.1f},{y - 9:.1f}v18"
    ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="none" stroke="{ORANGE}" stroke-width="2"/>'
    return f'<path d="{cross}" stroke="{ORANGE}" stroke-width="1.4"/>{ring}'


def _path(points: FloatArray) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points.tolist())
