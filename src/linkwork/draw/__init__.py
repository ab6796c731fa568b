"""Pictures of linkages: a pose, a strip of frames, a film, charts of inverse kinematics; and pages that solve.

matplotlib (extra ``plot``) is loaded when the first picture is made, and never pyplot, so that no figure stays open and
no screen is needed. A linkage that moves in one plane parallel to xy is drawn in two dimensions, any other in three.
"""

from __future__ import annotations

from .arguments import IMAGES
from .chapter import figures
from .charts import figure, map, race, report, tree, workspace  # noqa: A004 - draw.map
from .embedding import Page
from .films import FILMS, film
from .live_figures import live
from .live_races import live_race
from .mechanisms import is_planar, mechanism, polygons
from .pages import page, page_data
from .pictures import pose, strip
from .sketch import is_flat

__all__ = [
    "FILMS",
    "IMAGES",
    "Page",
    "figure",
    "figures",
    "film",
    "is_flat",
    "is_planar",
    "live",
    "live_race",
    "map",
    "mechanism",
    "page",
    "page_data",
    "polygons",
    "pose",
    "race",
    "report",
    "strip",
    "tree",
    "workspace",
]
