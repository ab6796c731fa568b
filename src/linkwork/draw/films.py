"""A motion on film: what is asked for is checked here, and each kind of file is handed to what writes it.

Imports `cuts` and what stands before it; matplotlib for pictures, when one is made. `films` writes GIFs, `videos` MP4s,
`player` pages.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FormatError, OptionError
from ..formats.atomic_files import replacing, write_text
from ..motion.clips import Clip
from ..transforms import FloatArray
from . import film_range as cuts
from .film_range import Cut, Wish
from .sketch import IntArray, Sketch

if TYPE_CHECKING:
    from PIL import Image

    from .panels import Panel, Picture

FILMS = (".html", ".mp4", ".gif", ".png")
FASTEST = {".html": 30.0, ".mp4": 120.0, ".gif": 50.0, ".png": 240.0}  # frames a second; a page fills in between
NAMES = {".html": "a page", ".mp4": "an MP4", ".gif": "a GIF", ".png": "pictures"}
DOTS = {".gif": 100, ".mp4": 200, ".png": 200}  # pixels an inch
FILM_AREA = 3.4  # inches: about 400 pixels across in a GIF
PANELS = 5
NUMBERED = re.compile(r"%(?:0?[1-9])?d")

Progress = Callable[[int, int], None]


def film(
    clip: Clip,
    path: str | os.PathLike[str],
    *,
    fps: float | None = None,
    frames: int | None = None,
    start: float | None = None,
    end: float | None = None,
    speed: float = 1.0,
    size: tuple[float, float] | None = None,
    trail: str | None = None,
    view: tuple[float, float] | str | None = None,
    title: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Write a motion as a film, which runs at the speed of the clip. It is written whole or not at all.

    The name says what it is: ``.html``, a page that plays in three dimensions in any browser, from disk and without a
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
    from . import _need_matplotlib, _size, _target, _view

    target, wish = _target(path, FILMS, "a film"), Wish(fps, frames, start, end, speed)
    if not isinstance(clip, Clip):
        raise OptionError(f"a film needs a Clip, got {type(clip).__name__}; lw.Clip(linkage, times, poses) makes one.")
    if trail is not None:
        clip.linkage.frame_index(trail)
    look: dict[str, Any] = {"size": _size(size), "view": _view(view), "trail": trail, "title": title}
    if target.suffix.lower() == ".html":
        _write_page(clip, target, wish, **look)
    else:
        _need_matplotlib()
        _draw(clip, target, wish, look, progress)


def _draw(clip: Clip, target: Path, wish: Wish, look: dict[str, Any], progress: Progress | None) -> None:
    """Write what matplotlib draws."""
    from . import gif as films, strip

    suffix = target.suffix.lower()
    if suffix == ".png" and not NUMBERED.search(target.name):
        strip(clip, frames=cuts.panels(clip, wish, PANELS), path=target, **look)
        return
    if suffix == ".png" and target.name.count("%") > 1:
        raise FormatError(target, "a name for many pictures holds one number, as in 'walk_%04d.png', and no other '%'.")
    cut = cuts.cut(clip, wish, most=FASTEST[suffix], what=NAMES[suffix], even=suffix == ".mp4")
    figure, panel, behind = _drawing(clip, cut, suffix, **look)
    if suffix == ".gif":
        with replacing(target) as file:
            films.write_gif(file, figure, panel, cut.poses, cut.times, behind, progress)
    else:
        _write_pictures(target, figure, panel, cut.poses, behind, cut.rate, progress)


def _write_page(clip: Clip, target: Path, wish: Wish, *, size: Any, **look: Any) -> None:
    from . import player

    if size is not None:
        raise OptionError("a page fills its window; size is for .mp4, .gif and .png.")
    cut = cuts.cut(clip, wish, most=FASTEST[".html"], what=NAMES[".html"], even=False)
    write_text(target, player.page(clip, cut, **look))


def _drawing(
    clip: Clip, cut: Cut, suffix: str, *, size: Any, view: Any, trail: str | None, title: str | None
) -> tuple[Picture, Panel, IntArray]:
    """Return a figure of the first frame, its panel, and how much of the trail lies behind at each frame."""
    from . import panels, sheets

    sketch, (splits, fine) = Sketch(clip.linkage), cut.refined(clip)
    path = None if trail is None else clip.linkage.forward(fine.poses, frame=trail)[:, :3, 3]
    stage = sheets.Stage(sketch, sketch.extent(fine.poses, path), view)
    look = panels.Look(trail=path, fine=False)
    figure, panel = sheets.single(stage, look, cut.poses[0], size=size, area=FILM_AREA, title=title)
    figure.set_dpi(DOTS[suffix])
    return figure, panel, splits * np.arange(len(cut.times), dtype=np.int64)


def _write_pictures(
    target: Path,
    figure: Picture,
    panel: Panel,
    poses: FloatArray,
    behind: IntArray,
    rate: float,
    progress: Progress | None,
) -> None:
    """Write an MP4, or numbered pictures."""
    from . import gif as films, mp4 as videos

    def pictures() -> Iterator[Image.Image]:
        for done, image in enumerate(films.frames(figure, panel, poses, behind), start=1):
            yield image
            if progress is not None:
                progress(done, len(poses))

    if target.suffix.lower() == ".mp4":
        with replacing(target) as file:
            videos.write_mp4(file, (np.asarray(image) for image in pictures()), rate)
        return
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".linkwork-") as folder:  # all of them, or none
        for k, image in enumerate(pictures()):
            image.save(Path(folder, target.name % k), "PNG")
        for k in range(len(poses)):
            Path(folder, target.name % k).replace(target.parent / (target.name % k))
