"""A pose as a picture, and a motion as a strip of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ..collision.obstacles import World
from ..errors import OptionError
from ..goals import Reach
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike
from ..motion.clips import Clip
from ..transforms import FloatArray
from .arguments import (
    Size,
    Target,
    View,
    checked_size,
    checked_view,
    frame_names,
    frame_numbers,
    goal_point,
    linkage_and_poses,
    one_pose,
    picture_path,
    saved,
)
from .assembled import say_if_open
from .sketch import Sketch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from . import panels, sheets


def pose(
    linkage: Linkage,
    q: PoseLike | None = None,
    *,
    frames: bool | Sequence[str] = (),
    limits: bool = False,
    labels: bool = False,
    shapes: bool = True,
    collision: bool = False,
    world: World | None = None,
    view: View = None,
    title: str | None = None,
    ax: Any = None,
    size: Size = None,
    path: Target = None,
) -> Figure:
    """Draw a linkage in one pose.

    Args:
        linkage: The linkage.
        q: A pose (nq,), the name of a stored one, or None for the stored pose ``"ready"``, else the first stored one,
            else the neutral pose; these with loops closed. A given pose with open loops is drawn as it is, and a
            warning is logged.
        frames: Names of frames to draw as triads (x red, y green, z blue); True draws all.
        limits: Show the range of every joint, and in red those at or beyond a limit.
        labels: Write the names of joints and of the frames drawn.
        shapes: Draw the shapes of links; False draws bones throughout. Links without shapes are always bones.
        collision: Also draw the collision shapes of links, half transparent.
        world: Obstacles to draw as well; a floor is the ground, any other half-space a square.
        view: Elevation and azimuth of the camera [deg], or ``"front"`` (from +x), ``"side"`` (from -y) or ``"top"``.
            A flat linkage is then drawn in three dimensions.
        title: Title above the picture.
        ax: Axes of your own to draw on (3-D ones for a linkage in space), instead of a new figure.
        size: Width and height of the figure [inch]; by default chosen for the linkage.
        path: Also save the figure there: .png, .svg or .pdf.

    Returns:
        The figure. A notebook displays it.

    Example:
        >>> import linkwork as lw
        >>> figure = pose(lw.models.planar([15, 10, 5]), [0.4, 0.8, 0.8], labels=True)
        >>> figure.axes[0].get_xlabel()
        'x [m]'
    """
    check_linkage(linkage)
    target, names = picture_path(path), frame_names(linkage, frames)
    values, view, size = one_pose(linkage, q), checked_view(view), checked_size(size)
    if q is not None:
        say_if_open(linkage, values[None])
    if ax is not None and size is not None:
        raise OptionError("size= is for a new figure; with ax=, set the size of its figure instead.")
    from . import panels, sheets

    sketch = Sketch(linkage, shapes=shapes, world=world, collision=collision)
    options = panels.PanelOptions(frames=names, limits=limits, labels=labels)
    stage = sheets.Stage(sketch, sheets.with_marks(sketch, options, values), view)
    if ax is not None:
        return saved(_on_axes(stage, options, values, ax, title), target)
    return saved(sheets.single(stage, options, values, size=size, title=title)[0], target)


def strip(
    motion: Clip | Sequence[ArrayLike] | FloatArray,
    *,
    frames: Sequence[int] | None = None,
    linkage: Linkage | None = None,
    trail: str | None = None,
    goal: ArrayLike | Reach | None = None,
    limits: bool = False,
    labels: bool = False,
    shapes: bool = True,
    world: World | None = None,
    view: View = None,
    title: str | None = None,
    size: Size = None,
    path: Target = None,
) -> Figure:
    """Draw a motion as a strip: panels side by side, the frame number below each, the same limits in all.

    Args:
        motion: A clip, or poses one after another together with `linkage`.
        frames: Frame numbers to show, counted from 0; five evenly spaced ones by default.
        linkage: The linkage of a motion that is not a clip.
        trail: Name of a frame whose path to draw: the past in full colour, the future faintly.
        goal: Position (x, y) or (x, y, z) to mark with a cross; or a `Reach`, whose ranges are drawn too: a box of
            allowed positions, and sectors of allowed rotations.
        limits: Show the range of every joint, as in `pose`.
        labels: Write the names of joints.
        shapes: Draw the shapes of links; False draws bones throughout.
        world: Obstacles to draw as well.
        view: Camera, as in `pose`.
        title: Title above the panels.
        size: Width and height of the figure [inch].
        path: Also save the figure there: .png, .svg or .pdf.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([15, 10, 5])
        >>> clip = lw.interpolate(arm, [(0, [0.4, 0.8, 0.8]), (1, [2.1, 1.4, 0.7])], fps=20)
        >>> len(strip(clip, frames=[0, 5, 10, 15, 20], trail="tip", goal=(-20, 5)).axes)
        5
    """
    target = picture_path(path)
    linkage, values = linkage_and_poses(motion, linkage)
    say_if_open(linkage, values)
    numbers = frame_numbers(frames, len(values))
    view, size = checked_view(view), checked_size(size)
    from . import panels, sheets

    sketch = Sketch(linkage, shapes=shapes, world=world)
    path_of = None if trail is None else linkage.forward(values, frame=trail)[:, :3, 3]
    mark = goal_point(goal)
    extent = sketch.extent(values, path_of, mark)
    wanted = goal if isinstance(goal, Reach) else None
    options = panels.PanelOptions(limits=limits, labels=labels, trail=path_of, goal=mark, wanted=wanted)
    figure = sheets.strip(sheets.Stage(sketch, extent, view), options, values, numbers, size=size, title=title)
    return saved(figure, target)


def _on_axes(stage: sheets.Stage, options: panels.PanelOptions, q: FloatArray, ax: Any, title: str | None) -> Figure:
    """Draw on the caller's axes, which keep their position."""
    if hasattr(ax, "get_zlim") == stage.flat:
        kind = "plain axes" if stage.flat else "axes with projection='3d'"
        raise OptionError(f"linkage {stage.sketch.linkage.name!r} needs {kind} here, got {type(ax).__name__}.")
    panel = stage.panel(ax, options)
    panel.fit(None)
    panel.show(q)
    if options.labels:
        panel.write(q)
    if title is not None:
        ax.set_title(title)
    figure: Figure = ax.get_figure().figure  # the whole figure, even for axes in a subfigure
    return figure
