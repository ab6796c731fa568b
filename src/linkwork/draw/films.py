"""A motion as a film: arguments are checked here; `gif`, `mp4` and `player` write the files."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import FormatError, OptionError
from ..formats.atomic_files import replacing, write_text
from ..motion.clips import Clip
from .arguments import DEFAULT_PANELS, Size, View, checked_size, checked_view, need_matplotlib, output_path
from .film_range import FilmFrames, FilmRange, film_frames, strip_frames
from .pictures import strip
from .sketch import IntArray, Sketch

if TYPE_CHECKING:
    from .panels import Panel, Picture

FILMS = (".html", ".mp4", ".gif", ".png")
FASTEST = {".html": 30.0, ".mp4": 120.0, ".gif": 50.0, ".png": 240.0}  # frames a second; a page fills in between
NAMES = {".html": "a page", ".mp4": "an MP4", ".gif": "a GIF", ".png": "pictures"}
DOTS = {".gif": 100, ".mp4": 200, ".png": 200}  # pixels an inch
FILM_AREA = 3.4  # inches: about 400 pixels across in a GIF
NUMBERED = re.compile(r"%(?:0?[1-9])?d")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class FilmStyle:
    """How a film is drawn: its size [inch], the camera, the frame whose path is drawn, and a title."""

    size: Size
    view: View
    trail: str | None
    title: str | None


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
    title: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Write a motion as a film that runs at the speed of the clip. It is written completely or not at all.

    The suffix says what it is: ``.html``, a page that plays in three dimensions in any browser, from disk and without a
    network; ``.mp4``, a video (needs ffmpeg, or the extra ``video``); ``.gif``, which repeats for ever; ``.png``, a
    strip of frames side by side, or with a number in the name, ``walk_%04d.png``, one picture for each frame.

    Args:
        clip: The motion.
        path: Where to write.
        fps: Frames a second, at most 50 in a GIF and 120 in an MP4; by default every frame of the clip, if it has no
            more than that. A page holds at most 30, and fills in between.
        frames: How many frames, evenly over the film, in place of `fps`; in a strip, how many panels.
        start: Where to begin, in the clip's time [s].
        end: Where to end.
        speed: How fast: 2 is twice as fast as the clip, 0.5 slow motion.
        size: Width and height [inch], of 100 pixels each in a GIF and 200 in an MP4 or PNG. A page fills its window.
        trail: Name of a frame whose path to draw.
        view: Camera, as in `pose`.
        title: A line above the picture.
        progress: Called with the number of frames done and the number of all.
    """
    target, part = output_path(path, FILMS, "a film"), FilmRange(fps, frames, start, end, speed)
    if not isinstance(clip, Clip):
        raise OptionError(f"a film needs a Clip, got {type(clip).__name__}; lw.Clip(linkage, times, poses) makes one.")
    if trail is not None:
        clip.linkage.frame_index(trail)
    style = FilmStyle(checked_size(size), checked_view(view), trail, title)
    if target.suffix.lower() == ".html":
        _write_page(clip, target, part, style)
    else:
        need_matplotlib()
        _draw(clip, target, part, style, progress)


def _draw(clip: Clip, target: Path, part: FilmRange, style: FilmStyle, progress: Progress | None) -> None:
    """Write what matplotlib draws."""
    from . import gif, mp4

    suffix = target.suffix.lower()
    if suffix == ".png" and not NUMBERED.search(target.name):
        strip(clip, frames=strip_frames(clip, part, DEFAULT_PANELS), path=target, **vars(style))
        return
    if suffix == ".png" and target.name.count("%") > 1:
        raise FormatError(target, "a name for many pictures holds one number, as in 'walk_%04d.png', and no other '%'.")
    shown = film_frames(clip, part, most=FASTEST[suffix], what=NAMES[suffix], even=suffix == ".mp4")
    figure, panel, behind = _first_picture(clip, shown, suffix, style)
    if suffix == ".gif":
        with replacing(target) as file:
            gif.write_gif(file, figure, panel, shown.poses, shown.times, behind, progress)
        return
    images = gif.frames(figure, panel, shown.poses, behind, progress)
    if suffix == ".mp4":
        with replacing(target) as file:
            mp4.write_mp4(file, map(np.asarray, images), shown.rate)
        return
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".linkwork-") as folder:  # all of them, or none
        names = [target.name % k for k in range(len(shown.poses))]
        for name, image in zip(names, images, strict=True):
            image.save(Path(folder, name), "PNG")
        for name in names:
            Path(folder, name).replace(target.parent / name)


def _write_page(clip: Clip, target: Path, part: FilmRange, style: FilmStyle) -> None:
    from . import player

    if style.size is not None:
        raise OptionError("a page fills its window; size is for .mp4, .gif and .png.")
    shown = film_frames(clip, part, most=FASTEST[".html"], what=NAMES[".html"], even=False)
    write_text(target, player.page(clip, shown, title=style.title, trail=style.trail, view=style.view))


def _first_picture(clip: Clip, shown: FilmFrames, suffix: str, style: FilmStyle) -> tuple[Picture, Panel, IntArray]:
    """Return a figure of the first frame, its panel, and how much of the trail lies behind at each frame."""
    from . import panels, sheets

    sketch, (splits, fine) = Sketch(clip.linkage), shown.refined(clip)
    path = None if style.trail is None else clip.linkage.forward(fine.poses, frame=style.trail)[:, :3, 3]
    stage = sheets.Stage(sketch, sketch.extent(fine.poses, path), style.view)
    options = panels.PanelOptions(trail=path, fine=False)
    figure, panel = sheets.single(stage, options, shown.poses[0], size=style.size, area=FILM_AREA, title=style.title)
    figure.set_dpi(DOTS[suffix])
    return figure, panel, splits * np.arange(len(shown.times), dtype=np.int64)
