"""Write a motion as a video: pictures are piped to ffmpeg, the system's or that of imageio-ffmpeg (extra ``video``)."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import IO, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError, MissingExtraError

ENCODERS = {  # best first, with options for good quality
    "libx264": ("-crf", "18", "-preset", "veryfast"),
    "libopenh264": ("-b:v", "4M"),
    "mpeg4": ("-q:v", "3"),
}


def program() -> str:
    """Return the path of ffmpeg: the system's, or that of imageio-ffmpeg.

    Raises:
        MissingExtraError: If there is neither.
    """
    found = shutil.which("ffmpeg")
    if found is not None:
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:  # the package is not installed, or has no program
        raise MissingExtraError("ffmpeg on the path, or imageio-ffmpeg", "video", "an .mp4 film") from error


def encoder(ffmpeg: str) -> str:
    """Return the best encoder that an ffmpeg has."""
    known = subprocess.run([ffmpeg, "-hide_banner", "-encoders"], capture_output=True, check=False).stdout
    words = {line.split()[1] for line in known.decode("utf-8", "replace").splitlines() if len(line.split()) > 1}
    return next((name for name in ENCODERS if name in words), "mpeg4")


def write_mp4(file: BinaryIO, pictures: Iterable[NDArray[np.uint8]], rate: float) -> None:
    """Write pictures of one size, shape (height, width, 3) or with transparency 4, as an MP4 that plays everywhere.

    The video is made in a temporary folder and copied when it is complete. If anything fails, ffmpeg is ended.

    Args:
        file: File to write.
        pictures: At least one; an odd row or column at the edge is dropped, since the encoding needs even sizes.
        rate: Frames per second.
    """
    ffmpeg = program()
    with tempfile.TemporaryDirectory() as folder:
        draft, talk = Path(folder, "film.mp4"), Path(folder, "talk.txt")
        waiting = iter(pictures)
        first = next(waiting)
        height, width = (side - side % 2 for side in first.shape[:2])
        process, pipe = _start(ffmpeg, (height, width, first.shape[2]), rate, draft, talk)
        try:
            rows = (np.ascontiguousarray(picture[:height, :width]).data for picture in chain([first], waiting))
            whole = all(_took(pipe, data) for data in rows) and _took(pipe, None)
            process.wait()  # if it stopped reading, it has ended; its message is reported below
        finally:
            process.kill()  # no effect if it has ended
            _took(pipe, None)
            process.wait()
        if process.returncode != 0 or not whole:
            said = talk.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            raise FormatError(ffmpeg, f"the video could not be made: {' '.join(said) or 'it did not say why'}")
        with draft.open("rb") as made:
            shutil.copyfileobj(made, file)


def _took(pipe: IO[bytes], data: memoryview | None) -> bool:
    """Return whether a program accepted data, or with None the end of it; one that has ended does not.

    A pipe whose other end is closed raises BrokenPipeError, on Windows also other kinds of OSError.
    """
    try:
        pipe.close() if data is None else pipe.write(data)
    except OSError:
        return False
    return True


def _start(
    ffmpeg: str, shape: tuple[int, int, int], rate: float, draft: Path, talk: Path
) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Return an ffmpeg that waits for pictures, and the pipe it reads them from."""
    chosen = encoder(ffmpeg)
    height, width, channels = shape
    kind = ["-f", "rawvideo", "-pix_fmt", "rgb24" if channels == 3 else "rgb0"]
    source = [*kind, "-s", f"{width}x{height}", "-r", f"{rate:.6f}", "-i", "-"]
    video = ["-an", "-c:v", chosen, *ENCODERS[chosen], "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    exact = ["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
    command = [ffmpeg, "-hide_banner", "-loglevel", "error", "-y", *source, *video, *exact, str(draft)]
    with talk.open("wb") as said:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)
    return process, cast(IO[bytes], process.stdin)
