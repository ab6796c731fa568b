"""Make the pictures of mechanisms: python docs/pictures/make_mechanisms.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

import linkwork as lw

HERE = Path(__file__).parent
TURN = np.linspace(0.0, 2.0 * np.pi, 97)


def smaller(path: Path) -> None:
    """Put a picture into few colours."""
    with Image.open(path) as image:
        image.convert("RGB").quantize(200, dither=Image.Dither.NONE).save(path, optimize=True)


def row(path: Path) -> None:
    """Draw mechanisms side by side, with the paths of their points."""
    bars = lw.drive(lw.models.four_bar(), "crank", TURN + 0.9, start="start")
    leg = lw.drive(lw.models.jansen_leg(), "crank", TURN, start="start")
    motor = lw.drive(lw.models.engine(), "crank", TURN + 0.9)
    board = lw.models.motion("pantograph")
    images = []
    for clip, trails, width in (
        (bars, ["point"], 4.7),
        (leg, ["foot", "shin_end"], 3.7),
        (motor, [], 1.8),
        (board, ["tracer", "pen"], 3.0),
    ):
        lw.draw.mechanism(clip, trails=trails, size=(width, 4.0), path=path)
        with Image.open(path) as image:
            images.append(image.convert("RGB"))
    sheet = Image.new("RGB", (sum(image.width for image in images), images[0].height), "white")
    left = 0
    for image in images:
        sheet.paste(image, (left, 0))
        left += image.width
    sheet.resize((sheet.width * 3 // 4, sheet.height * 3 // 4), Image.Resampling.LANCZOS).save(path)
    smaller(path)


def main() -> None:
    """Draw a four-bar with everything written beside it, and an engine with its polygons."""
    bars = lw.drive(lw.models.four_bar(), "crank", TURN + 0.9, start="start")
    path = HERE / "mechanism-four-bar.png"
    lw.draw.mechanism(bars, trails="point", dimensions=True, path=path)
    smaller(path)
    motor, path = lw.models.engine(), HERE / "mechanism-polygons.png"
    lw.draw.polygons(motor, lw.drive(motor, "crank", [0.8]).poses[0], {"crank": 100.0}, path=path)
    smaller(path)
    path = HERE / "five-bar-workspace.png"
    lw.draw.workspace(lw.explain.workspace(lw.models.five_bar(), "tip", start="ready", samples=4000), path=path)
    smaller(path)
    row(HERE / "mechanisms.png")


if __name__ == "__main__":
    main()
