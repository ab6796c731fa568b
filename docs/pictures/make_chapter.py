"""Make the pictures of the page on the chapter's figures: python docs/pictures/make_chapter.py [NUMBER ...].

All come from `lw.draw.figure`, small enough to live beside the text.
"""

from __future__ import annotations

import sys
from pathlib import Path

from made import recorded
from make import shrink
from PIL import Image

import linkwork as lw

FOLDER = Path(__file__).parent / "chapter"
WIDTH = 1000  # pixels at most
DOTS, FINEST = 220, 110  # dots per inch: as drawn, and at most as shown


def main() -> None:
    """Make them all, or those that are asked for, and say how large they are."""
    FOLDER.mkdir(exist_ok=True)
    total = 0
    for number in sys.argv[1:] or lw.textbook.FIGURES:
        path = FOLDER / f"figure-{number}.png"
        page = lw.draw.figure(lw.textbook.figure(number))
        page.savefig(path, dpi=DOTS)
        with Image.open(path) as image:
            small = min(1.0, WIDTH / image.width, FINEST / DOTS)
            image.convert("RGB").resize(
                (round(image.width * small), round(image.height * small)), Image.Resampling.LANCZOS
            ).save(path)
        shrink(path)
        total += path.stat().st_size
    print(f"{total / 1000:.0f} kB in {FOLDER}")


if __name__ == "__main__":
    with recorded(__file__):
        main()
