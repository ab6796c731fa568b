"""Draw the clearance of a pose: the nearest pairs in red, connected by lines with their length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..collision.clearance import NearPair, clearance as measured
from ..collision.obstacles import World
from ..errors import OptionError
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike
from ..transforms import FloatArray, as_number, is_whole
from .arguments import Size, Target, View, checked_size, checked_view, one_pose, picture_path, saved
from .assembled import say_if_open
from .sketch import Sketch

RED = "#CC3311"
SIDEWAYS, ROOM = 9.0, (52.0, 15.0)  # distance of a text from its line, and between texts along x and y [point]

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .panels import Panel


def clearance(
    linkage: Linkage,
    q: PoseLike | None = None,
    world: World | None = None,
    *,
    self: bool = True,
    margin: float = 0.0,
    most: int = 1,
    collision: bool = False,
    view: View = None,
    title: str | None = None,
    size: Size = None,
    path: Target = None,
) -> Figure:
    """Draw a pose among obstacles, with red lines between the nearest pairs and their distances.

    Links and obstacles nearer than the margin are red. If two overlap, the length of the line is their penetration
    depth.

    Args:
        linkage: The linkage.
        q: The pose, as in `pose`.
        world: The obstacles.
        self: Whether pairs of links are included, besides pairs of links and obstacles.
        margin: Distance below which a pair is red [m].
        most: Number of pairs to show, nearest first.
        collision: Also draw the collision shapes of links, half transparent.
        view: Camera, as in `pose`.
        title: Title above the picture; by default the nearest pair and its distance.
        size: Width and height of the figure [inch].
        path: Also save the figure there: .png, .svg or .pdf.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([0.3, 0.2])
        >>> post = lw.Obstacle(lw.Cylinder(0.05, 0.2), (0.3, 0.3, 0.0), name="post")
        >>> figure = clearance(arm, [0.0, 0.9], lw.World([post]))
    """
    check_linkage(linkage)
    if not is_whole(most) or most < 1:
        raise OptionError(f"most is how many pairs to show, 1 or more, got {most!r}.")
    limit, target = as_number(margin, "margin"), picture_path(path)
    values = one_pose(linkage, q)
    if q is not None:
        say_if_open(linkage, values[None])
    view, size = checked_view(view), checked_size(size)
    pairs = measured(linkage, values, world, self=self).all[:most]
    marked = {name for pair in pairs if pair.distance < limit for name in pair.names}
    from . import panels, sheets

    sketch = Sketch(linkage, world=world, collision=collision, marked=marked)
    lines = np.array([pair.points for pair in pairs]).reshape(-1, 2, 3)
    options = panels.PanelOptions(near=lines)
    stage = sheets.Stage(sketch, sketch.extent(values[None], lines), view)
    words = sentence(pairs[0]) if pairs else "nothing is near"
    figure, panel = sheets.single(stage, options, values, size=size, title=words if title is None else title)
    _write(panel, lines, [length(pair.distance) for pair in pairs])
    return saved(figure, target)


def sentence(pair: NearPair) -> str:
    """Return the distance of a pair in words.

    Example:
        >>> sentence(NearPair((), ("hand", "shelf"), -0.0182, np.zeros((2, 3)), np.zeros(3)))
        'hand is 18.2 mm inside shelf'
    """
    first, second = pair.names
    if pair.distance == 0.0:
        return f"{first} touches {second}"
    return f"{first} is {length(abs(pair.distance))} {'from' if pair.distance > 0.0 else 'inside'} {second}"


def length(metres: float) -> str:
    """Return a length as text, in millimetres below a metre.

    Example:
        >>> length(0.20391), length(-0.0142), length(2.5)
        ('204 mm', '-14.2 mm', '2.5 m')
    """
    return f"{metres:.3g} m" if abs(metres) >= 0.9995 else f"{1e3 * metres:.3g} mm"


def _write(panel: Panel, lines: FloatArray, texts: list[str]) -> None:
    """Write the lengths beside the lines, on a light background, stacked where they would overlap."""
    from .labels import FONT

    figure = panel.ax.get_figure()
    width, height = 72.0 * figure.get_size_inches()
    plate = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    taken: list[tuple[float, float]] = []
    for line, text in zip(lines, texts, strict=True):
        x, y = panel.to_points(line).mean(axis=0).tolist()
        left = x > width / 2.0  # put the text towards the middle of the page, where there is room
        x, y = (x - SIDEWAYS if left else x + SIDEWAYS), y + SIDEWAYS
        while any(abs(x - other) < ROOM[0] and abs(y - above) < ROOM[1] for other, above in taken):
            y += ROOM[1]
        taken.append((x, y))
        side = "right" if left else "left"
        figure.text(x / width, y / height, text, fontfamily=FONT, fontsize=9.0, color=RED, ha=side, bbox=plate)
