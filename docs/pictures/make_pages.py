"""Make the pictures that pages show as what their own blocks write: python docs/pictures/make_pages.py.

The blocks of Python on a page run one after the other, in a folder of their own, until all of its pictures are there.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from made import recorded
from make import shrink
from PIL import Image

HERE = Path(__file__).parent
PAGES = {  # their pictures, and how many pixels wide each is at most
    "drawing.md": {"drawing-arm": 700, "drawing-panda": 700, "drawing-strip": 1100, "drawing-human": 1100},
    "film.md": {"film-strip": 2200},
}
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Run the pages, keep what they show and say how large it is."""
    for page, wanted in PAGES.items():
        blocks = BLOCK.findall((HERE.parent / page).read_text(encoding="utf-8"))
        names: dict[str, object] = {}
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            while not all(Path(f"{name}.png").exists() for name in wanted):
                exec(compile(blocks.pop(0), page, "exec"), names)
            for name, width in wanted.items():
                path = HERE / f"{name}.png"
                with Image.open(path.name) as image:
                    image.thumbnail((width, image.height), Image.Resampling.LANCZOS)
                    image.save(path)
                shrink(path)
                print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
            os.chdir(HERE)


if __name__ == "__main__":
    with recorded(__file__):
        main()
