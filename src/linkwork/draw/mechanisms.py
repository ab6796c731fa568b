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
from ..transforms import FloatArray, as_array, is_whole
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
from .parts import IntArray
from .schemes import Scheme, plane_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .dimensions import Notes
    from .mechanism_panels import MechanismPanel, Trail

AREA = 4.6  # side of the square that has the area of a picture [inch]
MOVING, DRAWING, PAGE = (".gif", ".mp4", ".html"), ".dxf", ".html"
DOTS = {".gif": 110, ".mp4": 200}  # pixels per inch
TICKS, FEWEST = 24, 3  # default number of ticks of a path, and smallest number for a short path
APART = 0.4  # smallest mean distance between ticks, in units of the symbols


def mechanism(
    motion: Linkage | Clip,
    q: PoseLike | None = None,
    *,
    frame: int | Sequence[int] = 0,
    trails: str | Sequence[str] = (),
    ticks: int | None = None,
    ghosts: int = 0,
    marks: ArrayLike | None = None,
    labels: bool | Mapping[str, str] = True,
    dimensions: bool = False,
    driver: str | None = None,
    driven: str | None = None,
    title: str | None = None,
    fps: float | None = None,
    size: Size = None,
    path: Target = None,
) -> Figure:
    """Draw a planar mechanism in textbook style.

    Fixed pivots stand on hatched ground, sliders are blocks between hatched guides or on the rod of another link, pins
    of joints and loops are circles, links with three pins or more are plates. The drawing is made from joints, loops
    and frames; shapes are used only for the outlines of gears and cams.

    Args:
        motion: A linkage, or a clip, as `linkwork.drive` returns it.
        q: The pose of a linkage: an array (nq,) or the name of a stored one. By default one with closed loops.
        frame: Number of the clip's frame to draw; several are drawn side by side.
        trails: Frames of a clip whose paths are drawn, such as the coupler's point.
        ticks: Number of ticks on a trail, at equal time steps; by default 24, or fewer on a short trail; 0 for none.
        ghosts: Number of poses of a clip to draw faintly behind it.
        marks: Points to mark, shape (n, 2), such as those that a path should pass; or with an angle [rad], shape
            (n, 3). Coordinates are to the right and up on the page [m].
        labels: Name pins (fixed pivots with the number of their link) and number links; or texts by the names of
            joints, loops and frames. In films only pins and points are named.
        dimensions: Label lengths and angles with letters, and write their values below.
        driver: Input joint of a clip: a page (.html) then also shows rates, transmission angle and dead centres.
        driven: Output joint, for the transmission angle on that page; by default the first other joint on the ground.
        title: Title above the picture.
        fps: Frames per second of a film; those of the clip by default.
        size: Width and height of the picture [inch].
        path: Also save it there: .png, .svg, .pdf; .dxf for a drawing in metres with layers; .gif, .mp4, .html for a
            film of a clip.

    Raises:
        OptionError: If the linkage does not move in one plane, or its loops are open in the pose.

    Example:
        >>> import linkwork as lw
        >>> clip = lw.drive(lw.models.four_bar(), "crank", np.linspace(0, 2 * np.pi, 73), start="start")
        >>> figure = mechanism(clip, trails="point", dimensions=True)
        >>> [text.get_text() for text in figure.texts][0]
        '$a$ = 0.15 m    $b$ = 0.35 m    $c$ = 0.2136 m    $d$ = 0.2136 m'
    """
    counts = (None if ticks is None else _count("ticks", ticks), _count("ghosts", ghosts))
    look = _Look(trails, *counts, _marks(marks), labels, dimensions, (driver, driven), title, fps, checked_size(size))
    return _drawn(motion, _poses(motion, q, frame), look, path)


@dataclass(frozen=True, eq=False)
class _Look:
    """The contents requested from `mechanism`."""

    trails: str | Sequence[str]
    ticks: int | None
    ghosts: int
    marks: FloatArray
    labels: bool | Mapping[str, str]
    dimensions: bool
    joints: tuple[str | None, str | None]  # driver and driven joint
    title: str | None
    fps: float | None
    size: Size


def _drawn(motion: Linkage | Clip, taken: tuple[Linkage, FloatArray, list[int]], look: _Look, path: Target) -> Figure:
    """Draw poses of a linkage, or a film of them, and save it."""
    linkage, poses, numbers = taken
    names = frame_names(linkage, look.trails)
    target = None if path is None else output_path(path, (*IMAGES, DRAWING, *MOVING), "a drawing of a mechanism")
    suffix = "" if target is None else target.suffix.lower()
    _check(motion, look, suffix, len(numbers))
    scheme = Scheme(linkage, poses)
    need_matplotlib()
    from .mechanism_panels import MechanismPanel, Trail

    times = motion.times if isinstance(motion, Clip) else np.zeros(1)
    ways = {name: scheme.path(name) for name in names}
    paths = {name: Trail(way, _ticks(times, _fitting(way, scheme.unit, look.ticks))) for name, way in ways.items()}
    faint = poses[np.linspace(0, len(poses) - 1, look.ghosts + 1).round().astype(int)[:-1]]
    trails = list(paths.values())
    if target is not None and isinstance(motion, Clip) and suffix in MOVING:
        if suffix == PAGE:
            from .mechanism_films import mechanism_film

            panel = MechanismPanel(scheme, poses, trails, marks=look.marks)
            driver, driven = look.joints
            film = mechanism_film(motion, panel, names, look.labels, title=look.title, driver=driver, driven=driven)
            write_text(target, film)
        else:
            return _film(motion, MechanismPanel(scheme, poses, trails, faint, look.marks), look, target)
    if len(numbers) > 1:
        return saved(_strip(scheme, poses[numbers], trails, look), target)
    page, notes = _still(MechanismPanel(scheme, poses[numbers], trails, faint, look.marks), poses[numbers[0]], look)
    if target is not None and suffix == DRAWING:
        from .dxf import drawing

        q = poses[numbers[0]]
        write_text(target, drawing(scheme, q, notes, [(trail.points, trail.ticks) for trail in trails]))
    return page if suffix in (DRAWING, PAGE) else saved(page, target)


def _check(motion: Linkage | Clip, look: _Look, suffix: str, count: int) -> None:
    """Raise OptionError for options that do not apply to a picture, a film, a page or a strip."""
    if not isinstance(motion, Clip):
        needs = "a trail or a ghost" if look.trails or look.ghosts else "a film" if suffix in MOVING else ""
        if needs:
            raise OptionError(f"{needs} needs a motion; give a clip, as lw.drive(linkage, joint, values) does.")
    if any(look.joints) and suffix != PAGE:
        text = "are for a page" if look.joints[1] else "is for a page"
        names = "driver= and driven=" if look.joints[1] else "driver="
        raise OptionError(f"{names} {text} (.html), which shows rates; give its path, or use lw.drive_rates.")
    if count > 1 and (look.dimensions or look.ghosts or suffix in (DRAWING, *MOVING)):
        raise OptionError(
            "several frames side by side are a picture without dimensions and ghosts: .png, .svg or .pdf."
        )


def _still(panel: MechanismPanel, q: FloatArray, look: _Look) -> tuple[Figure, Notes]:
    """Return a picture of one pose, and its texts."""
    from .dimensions import written
    from .mechanism_panels import mechanism_page

    notes = written(panel.scheme, q, look.labels, look.dimensions)
    panel.make_room(notes)
    page = mechanism_page(panel, AREA, notes.values, look.title, look.size)
    panel.draw(q)
    panel.write(q, notes, panel.room())
    return page, notes


def _strip(scheme: Scheme, poses: FloatArray, trails: list[Trail], look: _Look) -> Figure:
    """Return a picture of several poses side by side."""
    from .dimensions import written
    from .mechanism_panels import MechanismPanel, strip_page

    panels = [MechanismPanel(scheme, poses, trails, marks=look.marks) for _ in poses]
    page = strip_page(panels, AREA, look.title, look.size)
    for panel, q in zip(panels, poses, strict=True):
        panel.draw(q)
        panel.write(q, written(scheme, q, look.labels, dimensions=False), panel.room())
    return page


def is_planar(linkage: Linkage) -> bool:
    """Return whether a linkage moves in one plane, so that `mechanism` can draw it.

    Example:
        >>> import linkwork as lw
        >>> is_planar(lw.models.four_bar()), is_planar(lw.models.bennett())
        (True, False)
    """
    check_linkage(linkage)
    try:
        plane_of(linkage)
    except OptionError:
        return False
    return True


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
    dashed arrows are the normal part ``-w² r`` and the tangential part ``e × r`` of the acceleration of one pin of a
    link relative to another. Rates are exact, from `linkwork.loop_rates`; vector lengths are written below.

    Args:
        linkage: A linkage with loops.
        q: Its pose: an array (nq,) or the name of a stored one; by default one with closed loops.
        speeds: The input joint, at 1 rad/s (or m/s), or speeds by joint name.
        accelerations: Accelerations of the input joints, by name; zero by default.
        title: Title above everything.
        path: Also save it there: .png, .svg or .pdf.

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


def _marks(marks: ArrayLike | None) -> FloatArray:
    """Return positions to mark, (n, 2) or (n, 3)."""
    found = np.zeros((0, 2)) if marks is None else as_array(marks, "marks")
    if found.ndim != 2 or found.shape[1] not in (2, 3) or not np.isfinite(found).all():
        raise OptionError(f"marks are finite points (n, 2), or points with angles (n, 3), got shape {found.shape}.")
    return found


def _count(name: str, value: int) -> int:
    if not is_whole(value) or value < 0:
        raise OptionError(f"{name} is a whole number from 0 on, got {value!r}.")
    return int(value)


def _poses(
    motion: Linkage | Clip, q: PoseLike | None, frame: int | Sequence[int]
) -> tuple[Linkage, FloatArray, list[int]]:
    """Return the linkage, its poses, and the indices of those to draw."""
    if isinstance(motion, Clip):
        if q is not None:
            raise OptionError("q= is for a linkage; choose the pose of a clip with frame=.")
        numbers = [frame] if is_whole(frame) or isinstance(frame, str) or not np.iterable(frame) else list(frame)
        for one in numbers:
            if not is_whole(one) or not -len(motion) <= one < len(motion):
                raise OptionError(f"no frame {one!r}; the motion has frames 0 to {len(motion) - 1}.")
        if not numbers:
            raise OptionError("frame= is empty; give at least one frame number.")
        say_if_open(motion.linkage, motion.poses)
        return motion.linkage, motion.poses, [int(one) % len(motion) for one in numbers]
    check_linkage(motion)
    values = one_pose(motion, q)
    if gap := open_by(motion, values[None]):
        raise OptionError(open_text(motion, gap))
    return motion, values[None], [0]


def _fitting(way: FloatArray, unit: float, count: int | None) -> int:
    """Return the number of ticks of a path: as requested, or by default so many that they do not touch."""
    if count is not None:
        return count
    length = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
    return next((few for few in (TICKS, TICKS // 2, TICKS // 4) if length >= few * unit * APART), FEWEST)


def _ticks(times: FloatArray, count: int) -> IntArray:
    """Return the frames of a clip nearest to equally spaced times, without the end."""
    if not count or len(times) < 2:
        return np.zeros(0, np.int64)
    wanted = times[0] + (times[-1] - times[0]) * np.arange(count) / count
    return np.unique(np.abs(times[:, None] - wanted).argmin(axis=0)).astype(np.int64)


def _film(motion: Clip, panel: MechanismPanel, look: _Look, target: Path) -> Figure:
    """Write a film of a clip, with growing trails and with names that follow their pins."""
    from . import gif, mp4
    from .dimensions import named
    from .film_range import FilmRange, film_frames
    from .mechanism_panels import mechanism_page

    suffix = target.suffix.lower()
    video = suffix == ".mp4"
    shown = film_frames(motion, FilmRange(fps=look.fps), most=120.0 if video else 50.0, what="a film", even=video)
    behind = np.abs(motion.times[:, None] - shown.times).argmin(axis=0)
    shots = [gif.Shot(q, int(k), np.zeros(3)) for q, k in zip(shown.poses, behind, strict=True)]
    page = mechanism_page(panel, AREA, (), look.title, look.size)
    panel.draw(shown.poses[0], pens=True)
    panel.carry(named(panel.scheme, look.labels), shown.poses)
    page.set_dpi(DOTS[suffix])
    with replacing(target) as file:
        if suffix == ".gif":
            gif.write_gif(file, page, panel, shots, shown.times, None)
        else:
            mp4.write_mp4(file, gif.frames(page, panel, shots), shown.rate)
    return page
