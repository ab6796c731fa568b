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
        image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Draw a four-bar with everything written beside it, and an engine with its polygons."""
    bars = lw.drive(lw.models.four_bar(), "crank", TURN + 0.9, start="start")
    path = HERE / "mechanism-four-bar.png"
    lw.draw.mechanism(bars, trails="point", dimensions=True, path=path)
    smaller(path)
    motor, path = lw.models.engine(), HERE / "mechanism-polygons.png"
    lw.draw.polygons(motor, lw.drive(motor, "crank", [0.8]).poses[0], {"crank": 100.0}, path=path)
    smaller(path)


if __name__ == "__main__":
    main()
