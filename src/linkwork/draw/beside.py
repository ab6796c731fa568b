"""Combine several GIFs side by side into one, each under its title."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from io import BytesIO
from itertools import accumulate, pairwise

from matplotlib.font_manager import findfont
from PIL import Image, ImageDraw, ImageFont, ImageSequence

from .labels import FONT

BAND = 26  # height of a title [pixel]


def beside(films: Sequence[bytes], titles: Sequence[str]) -> bytes:
    """Return films as one GIF, side by side and each under its title."""
    rows: list[list[Image.Image]] = []
    ends: list[list[int]] = []  # end time of each frame [ms]; a GIF merges equal frames
    for film in films:
        with Image.open(BytesIO(film)) as image:
            frames = [(frame.convert("RGB"), int(frame.info["duration"])) for frame in ImageSequence.Iterator(image)]
        rows.append([frame for frame, _ in frames])
        ends.append(list(accumulate(duration for _, duration in frames)))
    moments = sorted({end for row in ends for end in row})
    width, height = sum(row[0].width for row in rows), max(row[0].height for row in rows)
    font = ImageFont.truetype(findfont(FONT), 14)
    sheets = []
    for moment in moments:
        sheet = Image.new("RGB", (width, BAND + height), "white")
        pen, left = ImageDraw.Draw(sheet), 0
        for row, times, title in zip(rows, ends, titles, strict=True):
            frame = row[min(bisect_left(times, moment), len(row) - 1)]
            sheet.paste(frame, (left, BAND + (height - frame.height) // 2))
            pen.text((left + frame.width / 2, BAND / 2), title, fill="#333333", font=font, anchor="mm")
            left += frame.width
        sheets.append(sheet.quantize(128, dither=Image.Dither.NONE))
    out, durations = BytesIO(), [end - start for start, end in pairwise([0, *moments])]
    sheets[0].save(out, "GIF", save_all=True, append_images=sheets[1:], duration=durations, loop=0)
    return out.getvalue()
