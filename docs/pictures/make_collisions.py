"""Make the pictures of the page on collisions: python docs/pictures/make_collisions.py.

A Panda before a shelf, without and with `Avoid`; spheres, capsules and hulls in place of its meshes; spheres on a G1.
The robots are those of example-robot-data, which the dev extra brings.
"""

from __future__ import annotations

import runpy
import tempfile
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
from made import recorded
from PIL import Image

import linkwork as lw

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "36_free_of_collisions.py"
ROBOTS = "cmeel.prefix/share/example-robot-data/robots"
PANDA, G1 = "panda_description/urdf/panda.urdf", "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf"
WHITE = (0.93, 0.94, 0.96)
FITS = {"spheres": 60, "capsules": 33, "hulls": 20}


def robot(file: str) -> lw.Linkage:
    """Return a robot that shows the meshes it has for collisions, which need no further reader."""
    found = lw.load(Path(str(distribution("example-robot-data").locate_file(ROBOTS)), file))
    solid = {node.name: [visual for visual in node.visuals if visual.role == "collision"] for node in found.nodes}
    return found.replace(
        links={
            name: {"visuals": [*own, *(lw.Visual(one.shape, one.placement, WHITE) for one in own)]}
            for name, own in solid.items()
        }
    )


def beside(pictures: list[Path], path: Path, height: int) -> None:
    """Put pictures side by side, of one height [pixel], in few colours."""
    tiles = [Image.open(picture).convert("RGB") for picture in pictures]
    tiles = [
        tile.resize((round(tile.width * height / tile.height), height), Image.Resampling.LANCZOS) for tile in tiles
    ]
    sheet = Image.new("RGB", (sum(tile.width for tile in tiles), height), "white")
    for k, tile in enumerate(tiles):
        sheet.paste(tile, (sum(other.width for other in tiles[:k]), 0))
    sheet.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def shelf(folder: Path) -> None:
    """Two poses before the shelf of the example."""
    runpy.run_path(str(EXAMPLE))["main"](folder)
    beside([folder / f"shelf_{name}.png" for name in ("unaware", "free")], HERE / "collisions-shelf.png", 420)


def fits(folder: Path) -> None:
    """Simple shapes half transparent over the meshes that they hold."""
    panda = robot(PANDA)
    q = panda.pose(panda_joint2=-0.4, panda_joint4=-2.0, panda_joint6=1.8)
    for kind, most in FITS.items():
        found = lw.collision.fit(panda, kind, most=most)
        print(f"Panda: {found.count} {kind}, at most {1e3 * found.error:.1f} mm")
        title = f"{found.count} {kind}, {1e3 * found.error:.2g} mm"
        lw.draw.pose(found.linkage, q, collision=True, view=(12, -62), title=title, path=folder / f"{kind}.png")
    beside([folder / f"{kind}.png" for kind in FITS], HERE / "collisions-fit.png", 420)
    body = lw.collision.fit(robot(G1), "spheres", most=260)
    print(f"G1: {body.count} spheres, at most {1e3 * body.error:.1f} mm")
    for name, shown in (("meshes", False), ("veiled", True)):
        q = np.zeros(body.linkage.nq)
        lw.draw.pose(body.linkage, q, collision=shown, view=(10, 30), path=folder / f"g1_{name}.png")
    beside([folder / f"g1_{name}.png" for name in ("meshes", "veiled")], HERE / "collisions-g1.png", 520)


if __name__ == "__main__":
    with recorded(__file__), tempfile.TemporaryDirectory() as temporary:
        shelf(Path(temporary))
        fits(Path(temporary))
