"""Check the arguments of `draw` functions before anything is drawn, and save pictures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import FormatError, KeyFrameError, MissingExtraError, OptionError, PoseShapeError
from ..formats.atomic_files import replacing
from ..goals import Reach
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..transforms import FloatArray, as_array, as_vector, is_whole
from .assembled import assembled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IMAGES = (".png", ".svg", ".pdf")
NAMED_VIEWS = ("front", "side", "top")
DEFAULT_PANELS = 5

Target = str | os.PathLike[str] | None
View = tuple[float, float] | str | None
Size = tuple[float, float] | None


def need_matplotlib() -> None:
    """Raise MissingExtraError unless matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "drawing") from error


def picture_path(path: Target) -> Path | None:
    """Return the path of a picture, after checking that it can be made and saved there."""
    target = None if path is None else output_path(path, IMAGES, "a picture")
    need_matplotlib()
    return target


def output_path(path: str | os.PathLike[str], suffixes: tuple[str, ...], what: str) -> Path:
    """Return a path whose suffix is known and whose folder exists."""
    target = Path(path)
    if target.suffix.lower() not in suffixes:
        got = f"not {target.suffix!r}" if target.suffix else "and this name has no suffix"
        raise FormatError(target, f"{what} is saved as {' or '.join(suffixes)}, {got}.")
    if not target.parent.is_dir():
        raise FormatError(target, f"there is no folder {str(target.parent)!r}; make it first.")
    return target


def one_pose(linkage: Linkage, q: Any) -> FloatArray:
    """Return the pose to draw; by default a stored or the neutral pose, with loops closed."""
    if q is None:
        usual = next((name for name in ("ready", *linkage.poses) if name in linkage.poses), None)
        return assembled(linkage, linkage.pose(usual))
    values = linkage.pose(q)
    if values.ndim != 1:
        raise PoseShapeError(linkage.nq, values.shape, linkage.name, what="single pose")
    return values


def frame_names(linkage: Linkage, frames: bool | Sequence[str]) -> tuple[str, ...]:
    """Return the names of the frames to draw; True means all."""
    if isinstance(frames, bool):
        return linkage.frames if frames else ()
    names = (frames,) if isinstance(frames, str) else tuple(frames)
    for name in names:
        linkage.frame_index(name)
    return names


def checked_view(view: Any) -> View:
    """Return a camera: elevation and azimuth [deg], a name, or None."""
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


def checked_size(size: Any) -> Size:
    """Return width and height [inch], or None."""
    if size is None:
        return None
    numbers = as_array(size, "size")
    if numbers.shape != (2,) or not np.isfinite(numbers).all() or not (numbers > 0.0).all():
        raise OptionError(f"size is (width, height) in inches, both positive, got {size!r}.")
    return float(numbers[0]), float(numbers[1])


def goal_point(goal: ArrayLike | Reach | None) -> FloatArray | None:
    """Return a point in space from one in space or in the plane, or from a goal; None if there is none."""
    given: Any = goal.position if isinstance(goal, Reach) else goal
    if given is None:
        return None
    position = as_array(given, "goal")
    return as_vector(np.append(position, 0.0) if position.shape == (2,) else position, "goal")


def linkage_and_poses(motion: Any, linkage: Linkage | None) -> tuple[Linkage, FloatArray]:
    """Return the linkage and the poses (n, nq) of a clip, or of poses given with a linkage."""
    if isinstance(motion, Clip):
        if linkage is not None and linkage is not motion.linkage:
            raise OptionError("a clip has its own linkage; linkage= is for a sequence of poses.")
        return motion.linkage, motion.poses
    if linkage is None:
        raise OptionError(f"a motion is a Clip, or poses together with linkage=; got {type(motion).__name__} alone.")
    values = [one_pose(linkage, q) for q in motion]
    if not values:
        raise KeyFrameError("a motion needs at least one pose.")
    return linkage, np.stack(values)


def frame_numbers(frames: Sequence[int] | None, count: int) -> list[int]:
    """Return the frames of a strip, by default a few evenly spaced ones."""
    if frames is None:
        return sorted({round(k) for k in np.linspace(0, count - 1, DEFAULT_PANELS).tolist()})
    numbers = list(frames)
    if not numbers:
        raise KeyFrameError("there are no frames to show; give at least one frame number.")
    for number in numbers:
        if not is_whole(number) or not 0 <= number < count:
            raise KeyFrameError(f"no frame {number!r}; the motion has frames 0 to {count - 1}.")
    return [int(number) for number in numbers]


def saved(figure: Figure, target: Path | None) -> Figure:
    """Return a figure, saved if a path is given; the same figure always gives the same bytes."""
    if target is not None:
        import matplotlib

        suffix = target.suffix.lower()[1:]
        dates: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        with (
            matplotlib.rc_context({"svg.hashsalt": "linkwork", "pdf.fonttype": 42}),
            replacing(target) as file,
        ):
            figure.savefig(file, format=suffix, dpi=200, metadata=dates.get(suffix, {}))
    return figure
