"""Make the pictures of the documentation: python docs/pictures/make.py.

Three are drawn here, two come from examples. All are small, so that they can live beside the text.
"""

from __future__ import annotations

import runpy
import tempfile
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from made import recorded
from matplotlib.figure import Figure
from PIL import Image

import linkwork as lw
from linkwork.draw.performances import performances
from linkwork.transforms import transform

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
INK, PAPER, NODE, ARC = "#263238", "white", "#c5cae9", "#37474f"

MIDDLE = {"walk": 3, "wave": 2, "squat": 1, "jump": 2}  # which of five frames shows a motion best
# For each kind of joint: values from where it starts to where it ends.
MOTIONS: dict[str, tuple[Any, Any, Any]] = {
    "Revolute": (lw.Revolute("y", -2, 2), [-1.1], [0.3]),
    "Continuous": (lw.Continuous("z"), [-1.6], [0.6]),
    "Prismatic": (lw.Prismatic("z", 0, 1), [0.0], [0.6]),
    "Screw": (lw.Screw("z", lead=1.2), [0.0], [2.6]),
    "Universal": (lw.Universal("x", "y"), [0.5, -0.9], [-0.2, 0.5]),
    "Planar": (lw.Planar("z"), [-0.5, -0.3, -0.9], [0.4, 0.3, 0.6]),
    "Ball": (lw.Ball(), [0.85, 0.25, -0.4, -0.25], [0.9, -0.2, 0.25, 0.3]),
    "Floating": (lw.Floating(), [-0.6, 0.1, 0, 0.95, 0, -0.3, 0], [0.35, -0.2, 0.4, 0.9, 0.1, 0.3, 0.3]),
}


def tree(path: Path) -> None:
    """Draw nodes and arcs of a figure with two appendages, and what each of them holds."""
    figure = Figure(figsize=(7.6, 3.7))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 7.6), ylim=(0, 3.7))
    axes.axis("off")
    nodes = {
        "body": (2.1, 2.5),
        "upper arm": (1.1, 1.5),
        "forearm": (1.1, 0.5),
        "thigh": (3.1, 1.5),
        "shin": (3.1, 0.5),
    }
    arcs = [
        ("body", "upper arm", "shoulder"),
        ("upper arm", "forearm", "elbow"),
        ("body", "thigh", "hip"),
        ("thigh", "shin", "knee"),
    ]
    style: dict[str, Any] = {"arrowstyle": "-|>", "color": ARC, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 16}
    axes.annotate("", nodes["body"], (2.1, 3.5), arrowprops=style)
    axes.text(2.22, 3.2, "root arc: the world", color=ARC, fontsize=10, style="italic")
    for parent, child, joint in arcs:
        (x0, y0), (x1, y1) = nodes[parent], nodes[child]
        axes.annotate("", (x1, y1), (x0, y0), arrowprops=style)
        side = -1 if x1 < x0 or (x1 == x0 and x1 < 2) else 1
        axes.text(
            (x0 + x1) / 2 + side * 0.12,
            (y0 + y1) / 2,
            joint,
            ha="right" if side < 0 else "left",
            color=ARC,
            fontsize=10,
            style="italic",
        )
    for name, (x, y) in nodes.items():
        axes.text(x, y, name, ha="center", va="center", fontsize=11, color=INK,
                  bbox={"boxstyle": "round,pad=0.45", "facecolor": NODE, "edgecolor": ARC})  # fmt: skip
    lines = [
        ("Node: a link", "what it looks like (shapes, possibly shared)\nnode transform: for drawing, never inherited"),
        ("Arc: a joint", "placement: where the child sits (Lmatrix)\narticulation: how it moves there (Amatrix)"),
        ("Root arc", "places the root link, and so everything,\nin the world; it may move, too"),
    ]
    for k, (title, text) in enumerate(lines):
        axes.text(4.35, 3.15 - 1.1 * k, title, fontsize=11, weight="bold", color=INK, va="bottom")
        axes.text(4.35, 3.08 - 1.1 * k, text, fontsize=10, color=INK, va="top", linespacing=1.4)
    with matplotlib.rc_context({"svg.hashsalt": "linkwork", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(path, metadata={"Date": None}, facecolor=PAPER)


def joints(path: Path) -> None:
    """Draw every kind of joint as a fan of poses: pale where it comes from, full where it goes."""
    figure = Figure(figsize=(9, 4.8))
    shares = (0.0, 1 / 3, 2 / 3, 1.0)
    for k, (name, (motion, start, end)) in enumerate(MOTIONS.items()):
        one = lw.Builder(name).joint("joint", "link", motion).build()
        poses = one.interpolate(one.pose(start), one.pose(end), shares)
        b = lw.Builder(name, shape=lw.Visual(lw.Box((1.3, 1.3, 0.12)), transform((0, 0, -0.25)), (0.45, 0.5, 0.55)))
        for step, share in enumerate(shares):
            mixed = (1 - share) * np.array([0.93, 0.9, 0.85]) + share * np.array([0.95, 0.45, 0.1])
            r, g, blue = mixed.tolist()
            stick = lw.bone((0, 0, 0), (0, 0, 0.8), 0.1, (r, g, blue))
            flag = lw.Visual(lw.Box((0.56, 0.13, 0.18)), transform((0.18, 0, 0.8)), (r, g, blue))
            b.joint(f"joint{step}", f"link{step}", motion, parent="base", shape=(stick, flag))
        fan = b.build()
        axes = figure.add_subplot(2, 4, k + 1, projection="3d")
        lw.draw.pose(fan, poses.ravel(), ax=axes, view=(18, -60))
        axes.set_axis_off()
        axes.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-0.7, 1.3))
        axes.set_box_aspect((1, 1, 1), zoom=1.3)
        axes.text2D(0.5, 0.05, name, transform=axes.transAxes, ha="center", fontsize=12, color=INK)
    figure.subplots_adjust(0, 0, 1, 1, 0, 0)
    figure.savefig(path, dpi=100, facecolor=PAPER)


def loops(path: Path) -> None:
    """Draw the planar mechanisms with closed loops side by side."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = []
        for name in ("four_bar", "pantograph", "jansen_leg"):
            mechanism, file = lw.models.build(name), Path(folder, f"{name}.png")
            lw.draw.pose(mechanism, next(iter(mechanism.poses.values())), path=file, size=(3.6, 3.6))
            drawn.append(Image.open(file).convert("RGB").resize((360, 360), Image.Resampling.LANCZOS))
    sheet = Image.new("RGB", (1080, 360), PAPER)
    for k, picture in enumerate(drawn):
        sheet.paste(picture, (360 * k, 0))
    sheet.save(path)


def from_example(example: str, picture: str, path: Path) -> None:
    """Run an example and keep one of its pictures."""
    with tempfile.TemporaryDirectory() as folder:
        runpy.run_path(str(EXAMPLES / example))["main"](Path(folder))
        path.write_bytes((Path(folder) / picture).read_bytes())


def shrink(path: Path) -> None:
    """Keep 128 colours of a picture, which is plenty for drawings."""
    Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def bodies(path: Path) -> None:
    """Draw four motions, each in the middle of it, on four bodies."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, clips in performances():
            if len(clips) == 1:
                continue
            row = []
            for clip in clips.values():
                target = Path(folder, "%d.png")
                lw.draw.film(clip, target, frames=5, follow=True, view=(14, -42), size=(0.9, 1.15))
                with Image.open(Path(folder, f"{MIDDLE[name]}.png")) as image:
                    row.append(np.asarray(image))
            rows.append(np.concatenate(row, axis=1))
    half = len(rows) // 2
    Image.fromarray(np.concatenate([np.concatenate(pair, axis=1) for pair in (rows[:half], rows[half:])])).save(path)


def main() -> None:
    """Make them all and say how large they are."""
    tree(HERE / "tree.svg")
    joints(HERE / "joints.png")
    loops(HERE / "loops.png")
    from_example("05_gimbal_lock.py", "gimbal_lock.png", HERE / "gimbal.png")
    from_example("08_key_poses.py", "key_poses.png", HERE / "interpolations.png")
    from_example("16_keys_and_pins.py", "pinned.png", HERE / "pinned.png")
    from_example("16_keys_and_pins.py", "report.png", HERE / "report.png")
    bodies(HERE / "film-bodies.png")
    for name in ("joints", "loops", "gimbal", "interpolations", "pinned", "report", "film-bodies"):
        shrink(HERE / f"{name}.png")
    names = (
        "tree.svg",
        "joints.png",
        "loops.png",
        "gimbal.png",
        "interpolations.png",
        "pinned.png",
        "report.png",
        "film-bodies.png",
    )
    for name in names:
        print(f"{name}: {(HERE / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    with recorded(__file__):
        main()
