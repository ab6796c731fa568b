"""Draw linkages: poses, strips of frames, films, charts of inverse kinematics and interactive web pages.

matplotlib (extra ``plot``) is loaded when the first picture is made. pyplot is not used, so that no figure stays open
and no display is needed. A linkage that moves in one plane parallel to xy is drawn in two dimensions, any other in
three. Modules are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import found_later
from . import scripts as scripts

if TYPE_CHECKING:
    from .arguments import IMAGES as IMAGES
    from .chapter import figures as figures
    from .charts import (
        figure as figure,
        map as map,  # noqa: A004 - draw.map
        race as race,
        report as report,
        tree as tree,
        workspace as workspace,
    )
    from .clearances import clearance as clearance
    from .embedding import Page as Page
    from .films import FILMS as FILMS, film as film
    from .live_figures import live as live
    from .live_races import live_race as live_race
    from .mechanisms import is_planar as is_planar, mechanism as mechanism, polygons as polygons
    from .mujoco_window import mujoco_viewer as mujoco_viewer
    from .pages import page as page, page_data as page_data
    from .pictures import pose as pose, strip as strip
    from .sketch import is_flat as is_flat

_NAMES = {
    "arguments": "IMAGES",
    "chapter": "figures",
    "charts": "figure map race report tree workspace",
    "clearances": "clearance",
    "embedding": "Page",
    "films": "FILMS film",
    "live_figures": "live",
    "live_races": "live_race",
    "mechanisms": "is_planar mechanism polygons",
    "mujoco_window": "mujoco_viewer",
    "pages": "page page_data",
    "pictures": "pose strip",
    "sketch": "is_flat",
}
__all__ = sorted(" ".join(_NAMES.values()).split())
if not TYPE_CHECKING:
    __getattr__ = found_later(__name__, _NAMES)
