"""Pictures of linkages: a pose, a strip of frames, a film.

Imports `clips` and what stands before it; matplotlib (extra ``plot``) when the first picture is made, and never pyplot,
so that no figure stays behind and no screen is needed. A linkage that moves in one plane parallel to xy is drawn in two
dimensions, any other in three.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import FormatError, KeyFrameError, MissingExtraError, OptionError, PoseShapeError
from ..formats.atomic_files import replacing
from ..linkage.linkage import Linkage, check_linkage
from ..motion.clips import Clip
from ..transforms import FloatArray, as_array, as_vector
from .charts import figure, map, race, report, workspace  # noqa: A004 - draw.map
from .films import FILMS as FILMS, film
from .sketch import Sketch, is_flat

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from . import panels, sheets

__all__ = ["figure", "film", "is_flat", "map", "pose", "race", "report", "strip", "workspace"]

IMAGES = (".png", ".svg", ".pdf")
NAMED_VIEWS = ("front", "side", "top")
DEFAULT_PANELS = 5


def pose(
    linkage: Linkage,
    q: ArrayLike | str | None = None,
    *,
    frames: bool | Sequence[str] = (),
    limits: bool = False,
    labels: bool = False,
    shapes: bool = True,
    view: tuple[float, float] | str | None = None,
    title: str | None = None,
    ax: Any = None,
    size: tuple[float, float] | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw a linkage in one pose.

    Args:
        linkage: The linkage.
        q: A pose (nq,), the name of a stored one, or None for the stored pose ``"ready"``, else the first stored one,
            else the neutral pose.
        frames: Names of frames to draw as triads (x red, y green, z blue); True draws all.
        limits: Show the range of every joint, and in red those at or beyond a limit.
        labels: Write the names of joints and of the frames drawn.
        shapes: Draw the shapes of links; False draws bones throughout. Links without shapes are always bones.
        view: Elevation and azimuth of the camera [deg], or ``"front"`` (from +x), ``"side"`` (from -y) or ``"top"``.
            Given for a flat linkage, it asks for the picture in three dimensions.
        title: A line above the picture.
        ax: Axes of your own to draw on (3-D ones for a linkage in space), instead of a new figure.
        size: Width and height of the figure [inch]; chosen to suit the linkage by default.
        path: Save the figure there too: .png, .svg or .pdf.

    Returns:
        The figure. A notebook shows it by itself.

    Example:
        >>> import linkwork as lw
        >>> figure = pose(lw.models.planar([15, 10, 5]), [0.4, 0.8, 0.8], labels=True)
        >>> figure.axes[0].get_xlabel()
        'x [m]'
    """
    check_linkage(linkage)
    target = None if path is None else _target(path, IMAGES, "a picture")
    values = _one_pose(linkage, q)
    names = _frame_names(linkage, frames)
    view, size = _view(view), _size(size)
    _need_matplotlib()
    from . import panels, sheets

    sketch = Sketch(linkage, shapes=shapes)
    look = panels.Look(frames=names, limits=limits, labels=labels)
    stage = sheets.Stage(sketch, sheets.with_marks(sketch, look, values), view)
    if ax is not None:
        if size is not None:
            raise OptionError("size is for a new figure; with ax= the figure has one, set it there.")
        figure = _on_axes(stage, look, values, ax, title)
    else:
        figure, _ = sheets.single(stage, look, values, size=size, title=title)
    return _saved(figure, target)


def strip(
    motion: Clip | Sequence[ArrayLike] | FloatArray,
    *,
    frames: Sequence[int] | None = None,
    linkage: Linkage | None = None,
    trail: str | None = None,
    goal: ArrayLike | None = None,
    limits: bool = False,
    labels: bool = False,
    shapes: bool = True,
    view: tuple[float, float] | str | None = None,
    title: str | None = None,
    size: tuple[float, float] | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw a motion as a strip: panels side by side, the frame number below each, the same limits in all.

    Args:
        motion: A clip, or poses one after another together with `linkage`.
        frames: Frame numbers to show, counted from 0; five evenly spaced ones by default.
        linkage: The linkage of a motion that is not a clip.
        trail: Name of a frame whose path to draw: what lies behind in full colour, what lies ahead faintly.
        goal: A target (x, y) or (x, y, z) to mark with a cross.
        limits: Show the range of every joint, as in `pose`.
        labels: Write the names of joints.
        shapes: Draw the shapes of links; False draws bones throughout.
        view: Camera, as in `pose`.
        title: A line above the panels.
        size: Width and height of the figure [inch].
        path: Save the figure there too: .png, .svg or .pdf.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([15, 10, 5])
        >>> clip = lw.interpolate(arm, [(0, [0.4, 0.8, 0.8]), (1, [2.1, 1.4, 0.7])], fps=20)
        >>> len(strip(clip, frames=[0, 5, 10, 15, 20], trail="tip", goal=(-20, 5)).axes)
        5
    """
    target = None if path is None else _target(path, IMAGES, "a picture")
    linkage, values = _motion(motion, linkage)
    numbers = _frame_numbers(frames, len(values))
    view, size = _view(view), _size(size)
    _need_matplotlib()
    from . import panels, sheets

    sketch = Sketch(linkage, shapes=shapes)
    path_of = None if trail is None else linkage.forward(values, frame=trail)[:, :3, 3]
    mark = None if goal is None else _goal(goal)
    extent = sketch.extent(values, path_of, mark)
    look = panels.Look(limits=limits, labels=labels, trail=path_of, goal=mark)
    figure = sheets.strip(sheets.Stage(sketch, extent, view), look, values, numbers, size=size, title=title)
    return _saved(figure, target)


# What is given, checked before anything is drawn


def _need_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "drawing") from error


def _target(path: str | os.PathLike[str], suffixes: tuple[str, ...], what: str) -> Path:
    target = Path(path)
    if target.suffix.lower() not in suffixes:
        got = f"not {target.suffix!r}" if target.suffix else "and this name has no suffix"
        raise FormatError(target, f"{what} is saved as {' or '.join(suffixes)}, {got}.")
    if not target.parent.is_dir():
        raise FormatError(target, f"there is no folder {str(target.parent)!r}; make it first.")
    return target


def _one_pose(linkage: Linkage, q: Any) -> FloatArray:
    if q is None and linkage.poses:
        q = "ready" if "ready" in linkage.poses else next(iter(linkage.poses))
    values = linkage.pose(q)
    if values.ndim != 1:
        raise PoseShapeError(linkage.nq, values.shape, linkage.name, what="single pose")
    return values


def _frame_names(linkage: Linkage, frames: bool | Sequence[str]) -> tuple[str, ...]:
    if isinstance(frames, bool):
        return linkage.frames if frames else ()
    names = (frames,) if isinstance(frames, str) else tuple(frames)
    for name in names:
        linkage.frame_index(name)
    return names


def _view(view: Any) -> tuple[float, float] | str | None:
    if view is None:
        return None
    if isinstance(view, str):
        if view in NAMED_VIEWS:
            return view
    else:
        angles = as_array(view, "a view")
        if angles.shape == (2,) and np.isfinite(angles).all():
            return float(angles[0]), float(angles[1])
    raise OptionError(f"a view is (elevation, azimuth) in degrees or one of {', '.join(NAMED_VIEWS)}, got {view!r}.")


def _size(size: Any) -> tuple[float, float] | None:
    if size is None:
        return None
    numbers = as_array(size, "size")
    if numbers.shape != (2,) or not np.isfinite(numbers).all() or not (numbers > 0.0).all():
        raise OptionError(f"size is (width, height) in inches, both positive, got {size!r}.")
    return float(numbers[0]), float(numbers[1])


def _goal(goal: ArrayLike) -> FloatArray:
    position = as_array(goal, "goal")
    return as_vector(np.append(position, 0.0) if position.shape == (2,) else position, "goal")


def _motion(motion: Any, linkage: Linkage | None) -> tuple[Linkage, FloatArray]:
    if isinstance(motion, Clip):
        if linkage is not None and linkage is not motion.linkage:
            raise OptionError("a clip has its linkage; linkage= is for a sequence of poses.")
        return motion.linkage, motion.poses
    if linkage is None:
        raise OptionError(f"a motion is a Clip, or poses together with linkage=; got {type(motion).__name__} alone.")
    values = [_one_pose(linkage, q) for q in motion]
    if not values:
        raise KeyFrameError("a motion needs at least one pose.")
    return linkage, np.stack(values)


def _frame_numbers(frames: Sequence[int] | None, count: int) -> list[int]:
    if frames is None:
        return sorted({round(k) for k in np.linspace(0, count - 1, DEFAULT_PANELS).tolist()})
    numbers = list(frames)
    if not numbers:
        raise KeyFrameError("there are no frames to show; give at least one frame number.")
    for number in numbers:
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not whole or not 0 <= number < count:
            raise KeyFrameError(f"no frame {number!r}; the motion has frames 0 to {count - 1}.")
    return [int(number) for number in numbers]


# What comes out


def _on_axes(stage: sheets.Stage, look: panels.Look, q: FloatArray, ax: Any, title: str | None) -> Figure:
    """Draw on axes of the caller's, which keep their place."""
    if hasattr(ax, "get_zlim") == stage.flat:
        kind = "plain axes" if stage.flat else "axes with projection='3d'"
        raise OptionError(f"linkage {stage.sketch.linkage.name!r} needs {kind} here, got {type(ax).__name__}.")
    panel = stage.panel(ax, look)
    panel.fit(None)
    panel.show(q)
    if look.labels:
        panel.write(q)
    if title is not None:
        ax.set_title(title)
    figure: Figure = ax.get_figure().figure  # of a subfigure too, the whole
    return figure


def _saved(figure: Figure, target: Path | None) -> Figure:
    if target is not None:
        import matplotlib

        suffix = target.suffix.lower()[1:]
        dates: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        with (
            matplotlib.rc_context({"svg.hashsalt": "linkwork", "pdf.fonttype": 42}),  # the same bytes every time
            replacing(target) as file,
        ):
            figure.savefig(file, format=suffix, dpi=200, metadata=dates.get(suffix, {}))
    return figure
