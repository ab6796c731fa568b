"""Make the pictures of mechanisms: python docs/pictures/make_mechanisms.py."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from made import recorded
from PIL import Image

import linkwork as lw

HERE = Path(__file__).parent
TURN = np.linspace(0.0, 2.0 * np.pi, 97)


def smaller(path: Path) -> None:
    """Put a picture into few colours."""
    with Image.open(path) as image:
        image.convert("RGB").quantize(200, dither=Image.Dither.NONE).save(path, optimize=True)


def beside(pictures: list[Image.Image]) -> Image.Image:
    """Return pictures of one height side by side."""
    sheet = Image.new("RGB", (sum(image.width for image in pictures), pictures[0].height), "white")
    left = 0
    for image in pictures:
        sheet.paste(image, (left, 0))
        left += image.width
    return sheet


def drawn(clip: lw.Clip, size: tuple[float, float], **look: Any) -> Image.Image:
    """Return a picture of a mechanism."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "mechanism.png")
        lw.draw.mechanism(clip, size=size, path=file, **look)
        with Image.open(file) as image:
            return image.convert("RGB")


def rows(path: Path) -> None:
    """Draw mechanisms in two rows, with the paths of their points."""
    bars = lw.drive(lw.models.four_bar(), "crank", TURN + 0.9, start="start")
    leg = lw.drive(lw.models.jansen_leg(), "crank", TURN, start="start")
    motor = lw.drive(lw.models.engine(), "crank", TURN + 0.9)
    other = lw.drive(lw.models.klann(), "crank", TURN + 0.6, start="start")
    first = [
        drawn(bars, (4.7, 4.0), trails="point"),
        drawn(leg, (3.7, 4.0), trails=["foot", "shin_end"]),
        drawn(motor, (1.8, 4.0)),
        drawn(lw.models.motion("pantograph"), (3.0, 4.0), trails=["tracer", "pen"]),
    ]
    second = [
        drawn(other, (3.6, 4.0), trails="foot"),
        drawn(lw.models.motion("peaucellier"), (3.6, 4.0), trails="pen", frame=12),
        drawn(lw.models.motion("quick_return"), (3.4, 4.0), trails="tip"),
        drawn(lw.models.motion("scissor"), (2.6, 4.0), trails="top", frame=24),
    ]
    both = [beside(first), beside(second)]
    sheet = Image.new("RGB", (both[0].width, 2 * both[0].height), "white")
    for k, image in enumerate(both):
        sheet.paste(image, (0, k * image.height))
    sheet.resize((sheet.width * 3 // 4, sheet.height * 3 // 4), Image.Resampling.LANCZOS).save(path)
    smaller(path)


def coupled(path: Path) -> None:
    """Draw gears, planets, a cam and a Geneva drive."""
    train = lw.drive(lw.models.gear_train((20, 40, 30)), "gear1", TURN)
    planets = lw.drive(lw.models.planetary(24, 18), "sun", TURN + 1.0)
    valve = lw.drive(lw.models.cam_follower(0.02, "oscillating"), "cam", TURN + 1.2)
    wheel = lw.drive(lw.models.geneva(6), "crank", TURN + 0.5)
    pictures = [
        drawn(train, (4.4, 3.4), labels=False),
        drawn(planets, (3.4, 3.4), labels=False),
        drawn(valve, (2.8, 3.4), labels=False),
        drawn(wheel, (3.8, 3.4), labels=False),
    ]
    sheet = beside(pictures)
    sheet.resize((sheet.width * 3 // 4, sheet.height * 3 // 4), Image.Resampling.LANCZOS).save(path)
    smaller(path)


def synthesised(path: Path) -> None:
    """Draw mechanisms that were found, with what was asked of them."""
    line = [(0.2, 0.05 * k) for k in range(4, 10)]
    best = lw.synthesis.path(line)[0]
    passing = lw.drive(best.linkage, "crank", best.angles[0] + TURN, start="start")
    positions = [(0.0, 0.0, 0.0), (1.0, 0.2, 0.3), (2.0, 1.0, 0.8), (2.4, 2.0, 1.5)]
    carrier = lw.synthesis.motion(positions)[0]
    carried = lw.drive(carrier.linkage, "crank", np.linspace(*carrier.angles[[0, -1]], 49), start="start")
    pump = lw.drive(lw.synthesis.slider_crank(0.1, 1.2).linkage, "crank", TURN + 0.8, start="start")
    pictures = [
        drawn(passing, (3.6, 3.4), trails="point", marks=line),
        drawn(carried, (3.6, 3.4), trails="point", marks=positions),
        drawn(pump, (4.2, 3.4), dimensions=True),
    ]
    sheet = beside(pictures)
    sheet.resize((sheet.width * 3 // 4, sheet.height * 3 // 4), Image.Resampling.LANCZOS).save(path)
    smaller(path)


def page(path: Path) -> None:
    """Open the page of a four-bar in a browser, and keep what it looks like."""
    from playwright.sync_api import sync_playwright

    bars = lw.drive(lw.models.four_bar(), "crank", TURN + 0.9, start="start")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        file = Path(folder, "bars.html")
        lw.draw.mechanism(bars, trails="point", driver="crank", path=file)
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_context(viewport={"width": 1000, "height": 760}, reduced_motion="reduce").new_page()
        tab.goto(file.as_uri())
        tab.evaluate("const t = document.getElementById('time'); t.value = 20; t.dispatchEvent(new Event('input'))")
        tab.screenshot(path=path, full_page=True)
        browser.close()
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
    rows(HERE / "mechanisms.png")
    synthesised(HERE / "synthesis.png")
    coupled(HERE / "couplings.png")
    page(HERE / "mechanism-page.png")


if __name__ == "__main__":
    with recorded(__file__):
        main()
