"""Planar mechanisms drawn as in a textbook: a picture, a film or a DXF drawing. Arguments are checked here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import OptionError
from ..formats.atomic_files import replacing, write_text
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike
from ..motion.clips import Clip
from ..transforms import FloatArray, is_whole
from .arguments import (
    IMAGES,
    Size,
    Target,
    checked_size,
    frame_names,
    need_matplotlib,
    one_pose,
    output_path,
    picture_path,
    saved,
)
from .assembled import open_by, open_text, say_if_open
from .schemes import Scheme
from .sketch import IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .mechanism_panels import MechanismPanel
    from .panels import Picture

AREA = 4.6  # inches, about, along a side
MOVING, DRAWING = (".gif", ".mp4"), ".dxf"
DOTS = {".gif": 110, ".mp4": 200}  # pixels an inch
TICKS = 24  # of a whole motion


def mechanism(
    motion: Linkage | Clip,
    q: PoseLike | None = None,
    *,
    frame: int = 0,
    trails: str | Sequence[str] = (),
    ticks: int | None = None,
    ghosts: int = 0,
    labels: bool | Mapping[str, str] = True,
    dimensions: bool = False,
    title: str | None = None,
    fps: float | None = None,
    size: Size = None,
    path: Target = None,
) -> Figure:
    """Draw a planar mechanism as a textbook does.

    Fixed pivots stand on hatched ground, sliders are blocks between hatched guides or on the rod of another link, pins
    of joints and loops are circles, links with three pins or more are plates. All of it follows from joints, loops and
    frames; shapes of links are not looked at.

    Args:
        motion: A linkage, or a clip such as `linkwork.drive` gives.
        q: The pose of a linkage: an array (nq,) or the name of a stored one. By default one that is closed.
        frame: Which frame of a clip is drawn.
        trails: Frames of a clip whose paths are drawn, such as the coupler's point.
        ticks: How many ticks at equal times a trail has; 24 by default, 0 for none.
        ghosts: How many poses of a clip to draw faintly behind it.
        labels: Name pins (fixed pivots with the number of their link) and number links; or texts by the names of
            joints, loops and frames. Films are drawn without.
        dimensions: Give lengths and angles letters, and write their values below.
        title: A line above the picture.
        fps: Frames a second of a film; those of the clip by default.
        size: Width and height of the picture [inch].
        path: Save it there too: .png, .svg, .pdf; .dxf for a drawing in metres with layers; .gif, .mp4 for a film of a
            clip.

    Raises:
        OptionError: If the linkage moves in no plane, or its loops are open in the pose.

    Example:
        >>> import linkwork as lw
        >>> clip = lw.drive(lw.models.four_bar(), "crank", np.linspace(0, 2 * np.pi, 73), start="start")
        >>> figure = mechanism(clip, trails="point", dimensions=True)
        >>> [text.get_text() for text in figure.texts][0]
        '$a$ = 0.15 m    $b$ = 0.35 m    $c$ = 0.2136 m    $d$ = 0.2136 m'
    """
    counts = (_count("ticks", TICKS if ticks is None else ticks), _count("ghosts", ghosts))
    look = _Look(trails, *counts, labels, dimensions, title, fps, checked_size(size))
    return _drawn(motion, _poses(motion, q, frame), look, path)


@dataclass(frozen=True, eq=False)
class _Look:
    """What `mechanism` was asked to show."""

    trails: str | Sequence[str]
    ticks: int
    ghosts: int
    labels: bool | Mapping[str, str]
    dimensions: bool
    title: str | None
    fps: float | None
    size: Size


def _drawn(motion: Linkage | Clip, taken: tuple[Linkage, FloatArray, int], look: _Look, path: Target) -> Figure:
    """Draw one of the poses that a linkage takes, or a film of them, and save it."""
    linkage, poses, number = taken
    names = frame_names(linkage, look.trails)
    if not isinstance(motion, Clip) and (names or look.ghosts):
        raise OptionError("a trail or a ghost needs a motion; give a clip, as lw.drive(linkage, joint, values) does.")
    target = None if path is None else output_path(path, (*IMAGES, DRAWING, *MOVING), "a drawing of a mechanism")
    suffix = "" if target is None else target.suffix.lower()
    scheme = Scheme(linkage, poses)
    need_matplotlib()
    from .dimensions import written
    from .mechanism_panels import MechanismPanel, Trail, mechanism_page, resized

    times = motion.times if isinstance(motion, Clip) else np.zeros(1)
    paths = [Trail(scheme.path(name), _ticks(times, look.ticks)) for name in names]
    faint = poses[np.linspace(0, len(poses) - 1, look.ghosts + 1).round().astype(int)[:-1]]
    if target is not None and suffix in MOVING:
        panel = MechanismPanel(scheme, poses, paths, faint)
        page = resized(mechanism_page(panel, AREA, (), look.title), panel, look.size)
        return _film(motion, page, panel, target, look.fps)
    q = poses[number]
    panel = MechanismPanel(scheme, q[None], paths, faint)
    notes = written(scheme, q, look.labels, look.dimensions)
    panel.make_room(notes)
    page = resized(mechanism_page(panel, AREA, notes.values, look.title), panel, look.size)
    panel.draw(q)
    panel.write(q, notes, panel.room())
    if target is not None and suffix == DRAWING:
        from .dxf import drawing

        write_text(target, drawing(scheme, q, notes, [(trail.points, trail.ticks) for trail in paths]))
        return page
    return saved(page, target)


def polygons(
    linkage: Linkage,
    q: PoseLike | None,
    speeds: str | Mapping[str, ArrayLike],
    *,
    accelerations: Mapping[str, ArrayLike] | None = None,
    title: str | None = None,
    path: Target = None,
) -> Figure:
    """Draw a planar mechanism with its velocity polygon and its acceleration polygon.

    Vectors lead from the pole o to the image of each pin; sides are the images of links. In the acceleration polygon,
    dashed arrows are the normal part ``-w² r`` and the tangential part ``e × r`` of what one pin of a link does
    relative to another. Rates are exact, by `linkwork.loop_rates`; vector lengths are written below.

    Args:
        linkage: A linkage with loops.
        q: Its pose: an array (nq,) or the name of a stored one; by default one that is closed.
        speeds: The joint that drives, at 1 rad/s (or m/s), or speeds by the names of joints.
        accelerations: Of the joints that drive, by name; none by default.
        title: A line above everything.
        path: Save it there too: .png, .svg or .pdf.

    Example:
        >>> import linkwork as lw
        >>> figure = polygons(lw.models.four_bar(), "start", {"crank": 2.0})
        >>> next(text.get_text() for text in figure.texts if "v_" in text.get_text())
        '$v_{A}$ = 0.3 m/s    $v_{B}$ = 0.2514 m/s'
    """
    linkage, poses, _ = _poses(linkage, q, 0)
    target = picture_path(path)
    from ..solvers.loop_rates import loop_rates
    from .polygon_pages import polygon_page
    from .rate_polygons import rate_polygons

    scheme = Scheme(linkage, poses)
    velocity, acceleration = rate_polygons(scheme, loop_rates(linkage, poses[0], speeds, accelerations=accelerations))
    both = [("Velocities", "v", "m/s", velocity), ("Accelerations", "a", "m/s²", acceleration)]
    return saved(polygon_page(scheme, both, title), target)


def _count(name: str, value: int) -> int:
    if not is_whole(value) or value < 0:
        raise OptionError(f"{name} is a whole number from 0 on, got {value!r}.")
    return int(value)


def _poses(motion: Linkage | Clip, q: PoseLike | None, frame: int) -> tuple[Linkage, FloatArray, int]:
    """Return the linkage, the poses that it takes, and which of them is drawn."""
    if isinstance(motion, Clip):
        if q is not None:
            raise OptionError("a clip has its poses; frame= says which is drawn.")
        if not is_whole(frame) or not -len(motion) <= frame < len(motion):
            raise OptionError(f"no frame {frame!r}; the motion has frames 0 to {len(motion) - 1}.")
        say_if_open(motion.linkage, motion.poses)
        return motion.linkage, motion.poses, int(frame) % len(motion)
    check_linkage(motion)
    values = one_pose(motion, q)
    if gap := open_by(motion, values[None]):
        raise OptionError(open_text(motion, gap))
    return motion, values[None], 0


def _ticks(times: FloatArray, count: int) -> IntArray:
    """Return the frames of a clip that are nearest to equally spaced times, that of the end left out."""
    if not count or len(times) < 2:
        return np.zeros(0, np.int64)
    wanted = times[0] + (times[-1] - times[0]) * np.arange(count) / count
    return np.unique(np.abs(times[:, None] - wanted).argmin(axis=0)).astype(np.int64)


def _film(motion: Linkage | Clip, page: Picture, panel: MechanismPanel, target: Path, fps: float | None) -> Figure:
    """Write a film of a clip; trails grow as it goes on."""
    if not isinstance(motion, Clip):
        raise OptionError("a film needs a motion; give a clip, as lw.drive(linkage, joint, values) does.")
    from . import gif, mp4
    from .film_range import FilmRange, film_frames

    suffix = target.suffix.lower()
    video = suffix == ".mp4"
    shown = film_frames(motion, FilmRange(fps=fps), most=120.0 if video else 50.0, what="a film", even=video)
    behind = np.abs(motion.times[:, None] - shown.times).argmin(axis=0)
    shots = [gif.Shot(q, int(k), np.zeros(3)) for q, k in zip(shown.poses, behind, strict=True)]
    panel.draw(shown.poses[0], pens=True)
    page.set_dpi(DOTS[suffix])
    with replacing(target) as file:
        if suffix == ".gif":
            gif.write_gif(file, page, panel, shots, shown.times, None)
        else:
            mp4.write_mp4(file, gif.frames(page, panel, shots), shown.rate)
    return page
