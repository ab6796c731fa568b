"""Live page of a race: every method moves a planar arm to the same goal, which can be dragged."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..errors import OptionError
from ..goals import Reach
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, start_pose
from .embedding import Page
from .live_figures import live
from .sketch import is_flat


def live_race(
    linkage: Linkage,
    goal: Reach,
    *,
    start: PoseLike | None = None,
    methods: Sequence[str] = (),
    path: str | os.PathLike[str] | None = None,
) -> Page:
    """Return a web page in which methods solve the same goal, side by side and step by step.

    Args:
        linkage: A linkage that moves in the plane of x and y.
        goal: Position goal of a frame.
        start: The start pose of all methods.
        methods: The methods shown at first; by default all that can solve the linkage.
        path: Also save the page there, ending in ``.html``.

    Raises:
        OptionError: If the linkage does not move in the xy plane, or the goal is not a position alone.

    Example:
        >>> import linkwork as lw
        >>> page = live_race(lw.models.planar([3, 2, 1]), lw.Reach("tip", position=(-2, 3)), methods=["damped", "ccd"])
        >>> 'methods="damped, ccd"' in page.html
        True
    """
    if not is_flat(linkage):
        raise OptionError(
            f"a live race is drawn in the xy plane, but linkage {linkage.name!r} moves out of it; save a picture, "
            "such as race.png."
        )
    if goal.position is None or goal.orientation is not None:
        raise OptionError("a live race needs a position goal; leave the orientation out, or save a picture.")
    place = Reach(goal.frame, position=goal.position[:2])
    options: dict[str, object] = {"start": start_pose(linkage, start), "goal": goal.position[:2]}
    if methods:
        options["methods"] = ", ".join(methods)
    packs = {"raced": linkage.pack(place)}
    return live("race", path, title=f"{linkage.name}: a race", packs=packs, linkage="raced", **options)
