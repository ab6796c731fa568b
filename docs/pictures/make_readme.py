"""Make the pictures of the README: python docs/pictures/make_readme.py.

A film of the arm that paints a curve, and a sheet of ready-made models.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from made import recorded
from PIL import Image

import linkwork as lw

HERE = Path(__file__).parent
SHEET = ("panda", "human", "quadruped", "hand", "engine", "ferris_wheel", "planets", "snake")
TILE = 300


def hero(path: Path) -> None:
    """A Panda follows a curve in space; its joints are solved for at every frame."""
    arm = lw.models.panda()
    ready = arm.stored_pose("ready")
    world = arm.forward(ready, frame="tip")
    angles = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    curve = np.stack([0 * angles, 0.28 * np.sin(angles), 0.14 * np.sin(2 * angles)], axis=1)
    goals = [lw.Reach("tip", position=world[:3, 3] + p, orientation=world[:3, :3]) for p in curve]
    first = lw.solve(arm, goals[0], start=ready).q
    clip = lw.track(arm, goals, start=first, method="damped", fps=20)
    lw.draw.film(clip, path, size=(4.2, 3.6), trail="tip", view=(18, -52))


def sheet(path: Path) -> None:
    """Eight models, one picture."""
    page = Image.new("RGB", (4 * TILE, 2 * TILE), "white")
    with tempfile.TemporaryDirectory() as folder:
        for k, name in enumerate(SHEET):
            model, picture = lw.models.MODELS[name], Path(folder) / f"{name}.png"
            linkage = model.function()
            motion = model.motion(linkage)
            lw.draw.pose(linkage, motion.poses[len(motion) // 5], path=picture)
            tile = Image.open(picture).convert("RGB")
            tile.thumbnail((TILE - 10, TILE - 10))
            row, column = divmod(k, 4)
            place = (column * TILE + (TILE - tile.width) // 2, row * TILE + (TILE - tile.height) // 2)
            page.paste(tile, place)
    page.quantize(128).save(path, optimize=True)


if __name__ == "__main__":
    with recorded(__file__):
        hero(HERE / "hero.gif")
        sheet(HERE / "models.png")
