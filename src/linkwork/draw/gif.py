"""Write a motion as an animated GIF: the ground is drawn once, the linkage in every frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray
from PIL import Image

from ..transforms import FloatArray
from .panels import FAINT, GREY, GRID, ORANGE, Picture, calm
from .sketch import INK

COLORS = 128
LEAST_DELAY = 2  # [0.01 s]: browsers stretch shorter frames to 0.1 s

Pixels = NDArray[np.uint8]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Shot:
    """One frame of a film: the pose, the index up to which the trail is past, the camera's displacement (3,) [m]."""

    q: FloatArray
    behind: int
    camera: FloatArray


class Filmed(Protocol):
    """Something that can be filmed: it can be shown at any pose, and lists its moving artists."""

    moving: list[Any]

    def show(self, q: FloatArray, *, frame: int, camera: FloatArray) -> None:
        """Move to a pose, with the trail up to a frame."""


def durations(times: FloatArray) -> list[int]:
    """Return the duration of each frame [ms], in the whole hundredths of a second that GIF uses.

    Rounding errors are carried over, so that the whole film keeps its duration. The last frame is shown as long as the
    one before it.

    Example:
        >>> durations(np.array([0.0, 0.025, 0.05, 0.075]))
        [20, 30, 30, 20]
    """
    steps = np.diff(times)
    ends = np.concatenate([times[1:], [times[-1] + (steps[-1] if len(steps) else 1.0)]]) - times[0]
    hundredths = np.diff(np.concatenate([[0], np.round(ends * 100.0).astype(np.int64)]))
    return [int(10 * max(h, LEAST_DELAY)) for h in hundredths]


def frames(figure: Picture, panel: Filmed, shots: Sequence[Shot], progress: Progress | None = None) -> Iterator[Pixels]:
    """Yield the picture of each shot, reusing the ground and the axes; report progress after each.

    A picture has the shape (height, width, 4), and is valid until the next one is requested.
    """
    canvas: Any = figure.canvas
    for artist in panel.moving:
        artist.set_animated(True)
    canvas.draw()
    ground = canvas.copy_from_bbox(figure.bbox)
    layers = sorted(panel.moving, key=lambda artist: artist.get_zorder())
    for done, shot in enumerate(shots, start=1):
        canvas.restore_region(ground)
        panel.show(shot.q, frame=shot.behind, camera=shot.camera)
        with calm():
            for artist in layers:
                if artist.get_visible():
                    if hasattr(artist, "do_3d_projection"):
                        artist.do_3d_projection()
                    artist.draw(canvas.get_renderer())
        yield np.asarray(canvas.buffer_rgba())
        if progress is not None:
            progress(done, len(shots))


def as_image(pixels: Pixels) -> Image.Image:
    """Return pixels as an image without transparency."""
    return Image.fromarray(pixels).convert("RGB")


class Palette:
    """A palette of a few colours for some pixels; white and the colours of thin lines are exact.

    Args:
        pixels: Red, green and blue from 0 to 255, shape (height, width, 3).
    """

    def __init__(self, pixels: NDArray[np.uint8]) -> None:
        fixed = np.array([to_rgb(color) for color in ("white", ORANGE, FAINT, GRID, GREY, INK)]) * 255.0
        self._image = Image.fromarray(pixels).quantize(COLORS - len(fixed), method=Image.Quantize.MEDIANCUT)
        suited = np.array(self._image.getpalette()).reshape(-1, 3)
        self._colors = np.concatenate([fixed.round(), suited]).astype(np.uint8).tobytes()
        self._image.putpalette(self._colors)

    def reduced(self, image: Image.Image) -> Image.Image:
        """Return an image in these colours."""
        indices = np.array(image.quantize(palette=self._image, dither=Image.Dither.NONE))
        indices[(np.asarray(image) == 255).all(axis=2)] = 0  # exact white: Pillow only approximates
        result = Image.fromarray(indices)
        result.putpalette(self._colors)
        return result


def write_gif(
    file: BinaryIO,
    figure: Picture,
    panel: Filmed,
    shots: Sequence[Shot],
    times: FloatArray,
    progress: Progress | None,
) -> None:
    """Write shots at times as a looping GIF with one palette."""
    total = len(shots)
    chosen = [shots[k] for k in sorted({0, total // 3, 2 * total // 3, total - 1})]
    samples = [np.asarray(as_image(pixels)) for pixels in frames(figure, panel, chosen)]
    palette = Palette(np.concatenate(samples))
    images = (palette.reduced(as_image(pixels)) for pixels in frames(figure, panel, shots, progress))
    next(images).save(
        file,
        format="GIF",
        save_all=True,
        append_images=images,
        duration=durations(times) if total > 1 else 1000,
        loop=0,
        optimize=False,
        disposal=1,
    )
