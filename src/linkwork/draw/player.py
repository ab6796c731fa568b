"""Write a motion as one HTML file that plays in three dimensions from disk, without a network.

The page consists of ``player.html`` in this folder and the element of ``web/film``. This module packs the film for it:
the scene, and the transforms of every visible link in every frame.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from ..collision.obstacles import World
from ..motion.clips import Clip
from . import stage_scene
from .arguments import View
from .film_range import FilmFrames, camera_way
from .scripts import bundle
from .sketch import Sketch
from .stage_scene import numbers, turns_and_places

SCRIPT = "film/film.js"


def page(
    clip: Clip,
    shown: FilmFrames,
    *,
    title: str | None = None,
    trail: str | None = None,
    view: View = None,
    follow: bool | str = False,
    meshes: bool = True,
    world: World | None = None,
) -> str:
    """Return the page that plays the frames of a film.

    Args:
        clip: The motion.
        shown: The frames of the film.
        title: Title above the picture; the linkage's name by default.
        trail: Name of a frame whose path to draw, or None.
        view: Camera; None shows a flat linkage straight from above.
        follow: Whether the camera follows the linkage, or the name of a frame to follow.
        meshes: Whether to include meshes and skins; if not, bones are drawn instead.
        world: Obstacles to show.
    """
    film = packed(clip, shown, title=title, trail=trail, view=view, follow=follow, meshes=meshes, world=world)
    words = {
        "title": escape(film["title"]),
        "script": bundle([SCRIPT]),
        "film": json.dumps(film).replace("<", "\\u003c"),
    }
    return filled_page("player.html", words)


def packed(
    clip: Clip,
    shown: FilmFrames,
    *,
    title: str | None,
    trail: str | None,
    view: View,
    follow: bool | str,
    meshes: bool,
    world: World | None = None,
) -> dict[str, Any]:
    """Return the data for the page's element; arguments as in `page`."""
    linkage, sketch = clip.linkage, Sketch(clip.linkage, meshes=meshes, world=world)
    _, fine = shown.refined(clip)
    trace = None if trail is None else fine.forward(frame=trail)[:, :3, 3]
    way = camera_way(linkage, shown.poses, shown.rate, follow)
    links, frames = stage_scene.moving_links(sketch), sketch.frames(shown.poses)
    name, note = title or linkage.name, f"{len(linkage.links)} links, {linkage.nv} degrees of freedom"
    return {
        "title": name,
        "note": note + f"; {_files(len(sketch.meshes))} not drawn" * bool(sketch.meshes),
        "label": f"{name}: {note}; a film of {len(shown.times)} frames, {shown.times[-1]:.3g} seconds",
        "last": len(clip) - 1,
        "times": numbers(shown.times),
        "numbers": numbers(shown.numbers, "<u4"),
        "links": numbers(links, "<u2"),
        "tracks": numbers(turns_and_places(frames[:, links])),
        "trail": numbers(np.zeros(0) if trace is None else trace),
        "way": numbers([] if way is None else way),
        "scene": stage_scene.scene(sketch, shown.poses, view=view, points=trace, way=way),
    }


def filled_page(name: str, words: Mapping[str, str]) -> str:
    """Return a page of this folder with its ``{{words}}`` filled in."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], text)


def _files(count: int) -> str:
    return "1 mesh is" if count == 1 else f"{count} meshes are"
