"""Write a motion as a film. Arguments are checked here; `gif`, `mp4` and `player` write the files."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..collision.obstacles import World
from ..errors import FormatError, OptionError
from ..formats.atomic_files import replacing, write_text
from ..motion.clips import Clip
from .arguments import DEFAULT_PANELS, Size, View, checked_size, checked_view, need_matplotlib, output_path
from .assembled import say_if_open
from .film_range import FilmFrames, FilmRange, camera_way, film_frames, strip_frames
from .pictures import strip
from .sketch import Sketch

if TYPE_CHECKING:
    from .gif import Shot
    from .panels import Panel, Picture

FILMS = (".html", ".mp4", ".gif", ".png")
FASTEST = {".html": 30.0, ".mp4": 120.0, ".gif": 50.0, ".png": 240.0}  # largest frame rates [1/s]; a page interpolates
VIDEO_RATE = 30.0  # default frame rate of a video [1/s]
NAMES = {".html": "a page", ".mp4": "an MP4", ".gif": "a GIF", ".png": "pictures"}
DOTS = {".gif": 100, ".mp4": 200, ".png": 200}  # pixels per inch
FILM_AREA = 3.4  # side of the square that has the area of a film [inch]: about 400 pixels in a GIF
NUMBERED = re.compile(r"%(?:0?[1-9])?d")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class FilmStyle:
    """How a film is drawn: its size [inch], the camera, the frame whose path is drawn, a title, and the world."""

    size: Size
    view: View
    trail: str | None
    title: str | None
    follow: bool | str = False
    world: World | None = None


def film(
    clip: Clip,
    path: str | os.PathLike[str],
    *,
    fps: float | None = None,
    frames: int | None = None,
    start: float | None = None,
    end: float | None = None,
    speed: float = 1.0,
    size: Size = None,
    trail: str | None = None,
    view: View = None,
    follow: bool | str = False,
    title: str | None = None,
    world: World | None = None,
    progress: Progress | None = None,
) -> None:
    """Write a motion as a film, completely or not at all.

    The suffix determines the format: ``.html``, a page that plays in 3D in any browser and works offline; ``.mp4``, a
    video (needs ffmpeg, or the extra ``video``); ``.gif``, which loops; ``.png``, a strip of frames side by side, or
    with a number in the name, ``walk_%04d.png``, one picture for each frame.

    Args:
        clip: The motion.
        path: File to write.
        fps: Frames per second, at most 50 in a GIF and 120 in an MP4. By default 30 in an MP4, and elsewhere every
            frame of the clip, up to these limits. A page holds at most 30 and interpolates between them.
        frames: Number of frames, evenly spaced over the film, instead of `fps`; in a strip, the number of panels.
        start: Start time in the clip [s].
        end: End time in the clip [s].
        speed: Playback speed: 2 is twice as fast as the clip, 0.5 slow motion.
        size: Width and height [inch], of 100 pixels each in a GIF and 200 in an MP4 or PNG. A page fills its window.
        trail: Name of a frame whose path to draw.
        view: Camera, as in `pose`.
        follow: Whether the camera smoothly follows the linkage over the ground; or the name of a frame to follow.
        title: Title above the picture.
        world: Obstacles to draw as well.
        progress: Called with the number of frames done and the total number.
    """
    target, part = output_path(path, FILMS, "a film"), FilmRange(fps, frames, start, end, speed)
    if not isinstance(clip, Clip):
        raise OptionError(f"a film needs a Clip, got {type(clip).__name__}; lw.Clip(linkage, times, poses) makes one.")
    for name in (trail, follow):
        if isinstance(name, str):
            clip.linkage.frame_index(name)
    say_if_open(clip.linkage, clip.poses)
    style = FilmStyle(checked_size(size), checked_view(view), trail, title, follow, world)
    if target.suffix.lower() == ".html":
        _write_page(clip, target, part, style)
    else:
        need_matplotlib()
        _draw(clip, target, part, style, progress)


def _draw(clip: Clip, target: Path, part: FilmRange, style: FilmStyle, progress: Progress | None) -> None:
    """Write a film that matplotlib draws: a GIF, a video or pictures."""
    from . import gif, mp4

    suffix = target.suffix.lower()
    if suffix == ".png" and not NUMBERED.search(target.name):
        if style.follow:
            raise OptionError("a strip of pictures has one camera; follow is for films.")
        numbers = strip_frames(clip, part, DEFAULT_PANELS)
        view, trail, world = style.view, style.trail, style.world
        strip(
            clip, frames=numbers, size=style.size, view=view, trail=trail, title=style.title, world=world, path=target
        )
        return
    if suffix == ".png" and target.name.count("%") > 1:
        raise FormatError(target, "a name for many pictures needs one number, as in 'walk_%04d.png', and no other '%'.")
    if suffix == ".mp4" and part.fps is None and part.frames is None:
        part = replace(part, fps=VIDEO_RATE)
    shown = film_frames(clip, part, most=FASTEST[suffix], what=NAMES[suffix], even=suffix == ".mp4")
    figure, panel, shots = _first_picture(clip, shown, suffix, style)
    if suffix == ".gif":
        with replacing(target) as file:
            gif.write_gif(file, figure, panel, shots, shown.times, progress)
        return
    pictures = gif.frames(figure, panel, shots, progress)
    if suffix == ".mp4":
        with replacing(target) as file:
            mp4.write_mp4(file, pictures, shown.rate)
        return
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".linkwork-") as folder:  # write all pictures or none
        names = [target.name % k for k in range(len(shown.poses))]
        for name, pixels in zip(names, pictures, strict=True):
            gif.as_image(pixels).save(Path(folder, name), "PNG")
        for name in names:
            Path(folder, name).replace(target.parent / name)


def _write_page(clip: Clip, target: Path, part: FilmRange, style: FilmStyle) -> None:
    from . import player

    if style.size is not None:
        raise OptionError("a page fills its window; size is for .mp4, .gif and .png.")
    shown = film_frames(clip, part, most=FASTEST[".html"], what=NAMES[".html"], even=False)
    trail, view, follow, world = style.trail, style.view, style.follow, style.world
    page = player.page(clip, shown, title=style.title, trail=trail, view=view, follow=follow, world=world)
    write_text(target, page)


def _first_picture(clip: Clip, shown: FilmFrames, suffix: str, style: FilmStyle) -> tuple[Picture, Panel, list[Shot]]:
    """Return a figure of the first frame, its panel, and a list of what each frame shows."""
    from . import panels, sheets
    from .gif import Shot

    sketch, (splits, fine) = Sketch(clip.linkage, world=style.world), shown.refined(clip)
    path = None if style.trail is None else clip.linkage.forward(fine.poses, frame=style.trail)[:, :3, 3]
    way = camera_way(clip.linkage, fine.poses, splits * shown.rate, style.follow)
    extent = sketch.extent(fine.poses, path) if way is None else sketch.extent(fine.poses, camera=way)
    options = panels.PanelOptions(trail=path, ticks=way is None, fine=False, follows=way is not None)
    # A camera that follows a planar linkage looks from above.
    view = "top" if sketch.flat and style.view is None and way is not None else style.view
    stage, places = sheets.Stage(sketch, extent, view), np.zeros((len(fine), 3)) if way is None else way
    shots = [Shot(q, splits * k, places[splits * k]) for k, q in enumerate(shown.poses)]
    figure, panel = sheets.single(stage, options, shown.poses[0], size=style.size, area=FILM_AREA, title=style.title)
    figure.set_dpi(DOTS[suffix])
    return figure, panel, shots
