"""The command animate: films of motions."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..errors import OptionError
from .commands import command, flag, takes, writes
from .console import named_after, print_json, progress, say, writing
from .options import AsJson, ClipName, FrameCount, MotionOperand, MoverName, Size, View, WorldFile
from .output import save_clip
from .parsing import read_size, read_view
from .reading import FileOptions

if TYPE_CHECKING:
    from ..motion.clips import Clip


@command(
    "animate human:floating -o walk.html",
    "animate planar:15,10,5 -o arm.mp4 --trail tip --size 960x540",
    "animate human:floating -o walk.mp4 --follow --until 0.2 --size 320x320",
    "animate snake:9 -o snake_%04d.png --frames 6",
    "animate panda -o panda.glb --speed 0.5",
)
def animate(
    motion: MotionOperand,
    output: Annotated[Path | None, writes("Film (.html, .mp4, .gif, .png) or motion (.glb, .bvh, .usd, ...).")] = None,
    clip: ClipName = None,
    linkage: MoverName = None,
    fps: Annotated[
        float | None, takes("RATE", "Frames per second; by default those of the motion, or 30 for .mp4.", "--fps")
    ] = None,
    frames: FrameCount = None,
    start: Annotated[float | None, takes("S", "Start time [s].", "--from")] = None,
    end: Annotated[float | None, takes("S", "End time [s].", "--until")] = None,
    speed: Annotated[float, takes("FACTOR", "Playback speed: 2 is twice as fast.", "--speed")] = 1.0,
    size: Size = None,
    view: View = None,
    trail: Annotated[str | None, takes("FRAME", "Draw the path of a frame.", "--trail")] = None,
    follow: Annotated[bool, flag("--follow", "Let the camera follow the motion.")] = False,
    follow_frame: Annotated[str | None, takes("FRAME", "Let the camera follow a frame.", "--follow-frame")] = None,
    title: Annotated[str | None, takes("TEXT", "Title above the picture.", "--title")] = None,
    world: WorldFile = None,
    *,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Make a film of a motion.

    Writes NAME.html if no file is given: a page that plays in 3D in any browser and works offline. A .mp4 needs ffmpeg,
    or the extra video. A .png is a strip of frames; with a number in its name, walk_%04d.png, it is one picture per
    frame. With -o - the page goes to stdout.

    The motion is that of the file or the ready-made model. A file without a motion moves through its stored poses.
    """
    from .. import draw, formats
    from ..draw.film_range import FilmRange, film_frames

    moving = reading.motion(motion, clip=clip, linkage=linkage, poses=True)
    target = output or named_after(moving.linkage.name, ".html")
    with writing(target, (*draw.FILMS, *formats.suffixes("clips", "writes"))) as path:
        suffix, part = path.suffix.lower(), FilmRange(fps, frames, start, end, speed)
        if suffix in draw.FILMS:
            with progress("drawing") as report:
                draw.film(
                    moving, path, **vars(part), view=read_view(view), trail=trail, title=title,
                    follow=follow_frame or follow, size=read_size(size, suffix), world=reading.world(world),
                    progress=lambda done, all_: report(done / all_, f"frame {done}"),
                )  # fmt: skip
        elif size or view or trail or title or follow or follow_frame or world:
            options = "--size, --view, --trail, --follow, --title and --world"
            raise OptionError(f"a {suffix} holds the motion itself: {options} do not apply")
        else:
            shown = film_frames(moving, part, most=1000.0, what=f"a {suffix}", even=False)
            save_clip(shown.as_clip(moving), path)
    if str(output) != "-":
        _report(moving, target, as_json)


def _report(clip: Clip, target: Path, as_json: bool) -> None:
    from ..draw.films import NUMBERED

    every = [target]
    if NUMBERED.search(target.name):
        pattern = NUMBERED.sub("*", glob.escape(target.name))
        every = [*target.parent.glob(pattern)]
    size = sum(path.stat().st_size for path in every)
    if as_json:
        motion = {"frames": len(clip), "seconds": clip.duration}
        print_json({"file": str(target), "bytes": size, "linkage": clip.linkage.name, "motion": motion})
    else:
        say(f"the film of {clip.linkage.name!r} is in {target} ({size / 1e3:.0f} kB)")
