"""The command that makes films: animate."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ClipNotFoundError, OptionError
from .console import is_file, print_json, progress, read_model, read_motion, read_pair, say, writing
from .ik import AsJson, examples, takes
from .output import save_clip

if TYPE_CHECKING:
    from ..draw.film_range import FilmRange
    from ..motion.clips import Clip

MotionOperand = Annotated[str, typer.Argument(metavar="MOTION", help="A file, or a ready-made model.")]
PIXELS = re.compile(r"(\d{2,4})x(\d{2,4})")

ANIMATE_EXAMPLES = examples(
    "animate human:floating -o walk.html",
    "animate planar:15,10,5 -o arm.mp4 --trail tip --size 960x540",
    "animate snake:9 -o snake_%04d.png --frames 6",
    "animate panda -o panda.glb --speed 0.5",
)


def animate(
    motion: MotionOperand,
    output: Annotated[
        Path | None, takes("FILE", "A .html, .mp4, .gif or .png, or a motion: .glb, .bvh, .usd, ...", "--output", "-o")
    ] = None,
    clip: Annotated[str | None, takes("NAME", "Which motion, where a file has several.", "--clip")] = None,
    linkage: Annotated[str | None, takes("MODEL", "Whose motion it is, for numbers alone (.csv).", "--linkage")] = None,
    fps: Annotated[float | None, takes("RATE", "Frames a second; by default those of the motion.", "--fps")] = None,
    frames: Annotated[int | None, takes("N", "How many frames, in place of --fps.", "--frames")] = None,
    start: Annotated[float | None, takes("S", "Where to begin [s].", "--start")] = None,
    end: Annotated[float | None, takes("S", "Where to end [s].", "--end")] = None,
    speed: Annotated[float, takes("FACTOR", "2 is twice as fast, 0.5 slow motion.", "--speed")] = 1.0,
    size: Annotated[str | None, takes("WxH", "Width and height: 960x540 pixels.", "--size")] = None,
    view: Annotated[str | None, takes("VIEW", "front, side, top, or elevation and azimuth: 20,-60.", "--view")] = None,
    trail: Annotated[str | None, takes("FRAME", "Draw the path of a frame.", "--trail")] = None,
    title: Annotated[str | None, takes("TEXT", "A line above the picture.", "--title")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a film of a motion.

    Writes NAME.html if no file is given: a page that plays in three dimensions in any browser, from disk and without a
    network. A .mp4 needs ffmpeg, or the extra video. A .png is a strip of frames, or with a number in its name,
    walk_%04d.png, one picture for each frame. With -o - the page goes to stdout.

    The motion is that of the file or the ready-made model; a file without one goes through its stored poses.
    """
    from .. import draw, formats
    from ..draw.film_range import FilmRange

    moving = _motion(motion, clip, linkage)
    target = output or Path(f"{moving.linkage.name}.html")
    with writing(target, (*draw.FILMS, *formats.suffixes("clips", "writes"))) as path:
        suffix, part = path.suffix.lower(), FilmRange(fps, frames, start, end, speed)
        if suffix in draw.FILMS:
            camera = read_pair("--view", view) if view and "," in view else view
            with progress("drawing") as report:
                draw.film(
                    moving, path, **vars(part), view=camera, trail=trail, title=title, size=_size(size, suffix),
                    progress=lambda done, all_: report(done / all_, f"frame {done}"),
                )  # fmt: skip
        elif size or view or trail or title:
            raise OptionError(f"a {suffix} holds the motion itself: --size, --view, --trail and --title do not matter")
        else:
            _write_motion(moving, path, part)
    if str(output) != "-":
        _report(moving, target, as_json)


def _motion(text: str, name: str | None, linkage: str | None) -> Clip:
    """Return the motion of a file or a model, by name where there are several."""
    from .. import formats

    if name is None and linkage is None:
        return read_motion(text, read_model(text))
    if not is_file(text):
        raise OptionError(f"--clip and --linkage are for a file; the model {text!r} has one motion, its own")
    clips = formats.read(text, linkage=None if linkage is None else read_model(linkage)).clips
    if not clips or (name is not None and name not in clips):
        raise ClipNotFoundError(name, text, clips)
    return clips[name] if name is not None else next(iter(clips.values()))


def _size(text: str | None, suffix: str) -> tuple[float, float] | None:
    """Return a size in inches from one in pixels."""
    from ..draw.films import DOTS

    if text is None:
        return None
    found = PIXELS.fullmatch(text)
    if found is None:
        raise OptionError(f"--size takes width and height in pixels, 10x10 to 9999x9999, such as 960x540; got {text!r}")
    dots = DOTS.get(suffix, 100)
    return int(found[1]) / dots, int(found[2]) / dots


def _write_motion(clip: Clip, path: Path, part: FilmRange) -> None:
    """Write the piece of the motion that is asked for, in a format for motions."""
    from ..draw.film_range import film_frames

    shown = film_frames(clip, part, most=1000.0, what=f"a {path.suffix.lower()}", even=False)
    save_clip(shown.as_clip(clip), path)


def _report(clip: Clip, target: Path, as_json: bool) -> None:
    from ..draw.films import NUMBERED

    every = target.parent.glob(NUMBERED.sub("*", target.name)) if NUMBERED.search(target.name) else [target]
    size = sum(path.stat().st_size for path in every)
    if as_json:
        motion = {"frames": len(clip), "seconds": float(clip.times[-1] - clip.times[0])}
        print_json({"file": str(target), "bytes": size, "linkage": clip.linkage.name, "motion": motion})
    else:
        say(f"the film of {clip.linkage.name!r} is in {target} ({size / 1e3:.0f} kB)")


COMMANDS: dict[Callable[..., None], str] = {animate: ANIMATE_EXAMPLES}
