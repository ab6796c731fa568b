"""Interactive pages: one HTML file in which a linkage can be dragged, with the machine code inside."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from html import escape
from itertools import product
from typing import Any

import numpy as np

from ..collision.obstacles import World
from ..goals import Reach
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike
from ..linkage.program import reach
from ..solvers.closing import close
from ..transforms import FloatArray
from . import scripts
from .arguments import View, checked_view, frame_names, one_pose, output_path
from .assembled import assembled
from .embedding import Page
from .holds import FEET, begin, standing, with_ends
from .sketch import Sketch
from .stage_scene import scene as stage_scene

HEIGHT = 620  # in a notebook [pixel]
ROOM = 1.5  # initial field of view over the size of the pose
TURNS = 6  # smallest number of joints of an arm whose hand keeps its orientation when dragged
HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>html, body {{ height: 100%; margin: 0; }} linkwork-view {{ display: block; height: 100%; }}</style>
</head>
<body>
<linkwork-view data="linkwork-scene"></linkwork-view>
<noscript>This page needs JavaScript: it solves in the browser.</noscript>
<script type="application/json" id="linkwork-scene">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def page(
    linkage: Linkage,
    path: str | os.PathLike[str] | None = None,
    *,
    goals: Iterable[str] | None = None,
    pins: Iterable[str] | None = None,
    start: PoseLike | None = None,
    title: str | None = None,
    meshes: bool = False,
    world: World | None = None,
    view: View = None,
) -> Page:
    """Make a web page in which a linkage can be dragged and is solved live, offline and without Python.

    The frames at the ends of limbs are marked; any link can be dragged at any point. Users can pin frames, move joints
    with sliders, and run the textbook methods step by step. The page runs the same compiled code as this library and
    gives the same poses.

    Args:
        linkage: The linkage. Its loops are kept closed; couplings other than mimic joints are ignored, and the page
            reports that.
        path: File to write, ``.html``; None only returns the page.
        goals: Frames to mark and to drag; the ends of limbs by default.
        pins: Frames that are pinned at first; by default the feet of a body with a floating root.
        start: The first pose: by default a stored one, preferably ``"ready"`` or ``"home"``; else all joints at zero,
            with a single arm bent.
        title: Title above the picture; the linkage's name by default.
        meshes: Whether to show the meshes and the skin of its file; they make up most of the size of a page.
        world: Obstacles to show; the page does not keep clear of them.
        view: Camera, as in `draw.pose`.

    Returns:
        The page: a notebook shows it, and `save` writes it.

    Example:
        >>> import linkwork as lw
        >>> page(lw.models.planar([15, 10, 5]), title="An arm in the plane").title
        'An arm in the plane'
    """
    check_linkage(linkage)
    target = None if path is None else output_path(path, (".html",), "a page")
    name = title or linkage.name
    data = page_data(linkage, goals=goals, pins=pins, start=start, title=name, meshes=meshes, world=world, view=view)
    script = scripts.bundle(["view/view.js"], code=True).replace("</", "<\\/")
    made = Page(HTML.format(title=escape(name), data=data.replace("<", "\\u003c"), script=script), name, HEIGHT)
    if target is not None:
        made.save(target)
    return made


def page_data(
    linkage: Linkage,
    *,
    goals: Iterable[str] | None = None,
    pins: Iterable[str] | None = None,
    start: PoseLike | None = None,
    title: str | None = None,
    meshes: bool = False,
    world: World | None = None,
    view: View = None,
    methods: bool = True,
) -> str:
    """Return the data of a ``<linkwork-view>`` as JSON: the packed linkage, its appearance, and the frames to drag.

    Arguments are those of `page`. Without `methods`, the textbook methods are left out, which are most of the data.
    """
    check_linkage(linkage)
    if goals is None:
        linkage, ends = with_ends(linkage)
    else:
        ends = list(frame_names(linkage, list(goals)))
    q = begin(linkage, ends) if start is None else one_pose(linkage, start)
    if linkage.constrained:
        q = close(linkage, q) if start is not None else assembled(linkage, q)
    held = standing(linkage, q, ends) if pins is None else list(frame_names(linkage, list(pins)))
    sketch = Sketch(linkage, meshes=meshes, world=world)
    flat = sketch.flat and view is None
    single = len(ends) == 1 and not held and not flat
    turned = [name for name in ends if single and _joints(linkage, name) >= TURNS]
    free = bool(standing(linkage, q, ends))
    solvers = {} if free or linkage.constrained or not methods else _solvers(ends, turned, 2 if flat else 3)
    content = {
        "title": title or linkage.name,
        "start": q.tolist(),
        "flat": flat,
        "handles": [{"frame": name, "turn": name in turned} for name in ends],
        "pins": [{"frame": name, "turn": len(held) <= FEET and not flat} for name in held],
        "leans": free,
        "reach": {name: _reach(linkage, name) for name in ends},
        "missing": len(sketch.meshes),
        "loose": len(linkage.couplings),
        "stage": stage_scene(sketch, q[None], view=checked_view(view), points=_room(linkage, q, ends, flat)),
    }
    packed = linkage.pack(solvers).to_json()
    return f'{json.dumps(content)[:-1]}, "pack": {packed}}}'


def _solvers(ends: list[str], turned: list[str], coordinates: int) -> dict[str, Any]:
    """Return the solvers of single frames: for positions, and for whole poses."""
    points = {name: Reach(name, position=np.zeros(coordinates)) for name in ends}
    return points | {f"{name}, turned": Reach(name, pose=np.eye(4)) for name in turned}


def _joints(linkage: Linkage, frame: str) -> int:
    path, _ = linkage.path_to(frame)
    return sum(linkage.arcs[k].articulation.nv for k in path)


def _reach(linkage: Linkage, frame: str) -> dict[str, Any] | None:
    """Return the origin of a frame's chain with its least and largest reach; None if the reach is unbounded."""
    origin, least, most, joint = reach(linkage, frame)
    return {"numbers": [*origin.tolist(), least, most], "joint": joint} if np.isfinite(most) else None


def _room(linkage: Linkage, q: FloatArray, ends: list[str], flat: bool) -> FloatArray:
    """Return points for the initial camera beside the pose, so that there is room for dragging."""
    places = linkage.forward(q).array[:, :3, 3]
    middle, half = (places.max(axis=0) + places.min(axis=0)) / 2.0, np.ptp(places, axis=0) / 2.0
    corners = np.array(list(product((-1.0, 1.0), repeat=3)))
    if flat and len(ends) == 1 and not linkage.constrained and (far := _reach(linkage, ends[0])) is not None:
        x, y, z, _, most = far["numbers"]
        seen: FloatArray = np.array([x, y, z]) + 1.03 * most * corners * [1.0, 1.0, 0.0]
        return seen
    points: FloatArray = middle + ROOM * corners * half
    points[:, 2] = np.maximum(points[:, 2], min(0.0, float(places[:, 2].min())))
    return points
