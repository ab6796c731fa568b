"""Make the picture of what cells of a notebook show: python docs/pictures/make_notebook.py."""

from __future__ import annotations

import io
import shutil
import tempfile
from html import escape
from pathlib import Path

from made import recorded
from PIL import Image
from playwright.sync_api import sync_playwright

import linkwork as lw

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
STYLE = """body { margin: 18px; font: 14px system-ui, sans-serif; width: 760px; color: #1c2733 }
pre { background: #f2f4f6; border: 1px solid #dde2e7; border-radius: 4px; padding: 6px 10px; margin: 14px 0 8px }"""
CELLS = (
    'panda = lw.models.panda()\nlw.solve(panda, lw.Reach("tip", position=(0.4, 0.1, 0.5)))',
    'arm, goal = lw.models.planar([15, 10, 5]), lw.Reach("tip", position=(12, 15))\n'
    'lw.race(arm, goal, methods=("damped", "ccd", "fabrik"))',
    'lw.models.motion("human")',
)


def main() -> None:
    """Run the cells, put them below each other and take the picture."""
    names: dict[str, object] = {"lw": lw}
    page = ["<!doctype html><meta charset=utf-8>", f"<style>{STYLE}</style>"]
    for cell in CELLS:
        *before, last = cell.splitlines()
        exec("\n".join(before), names)
        page += [f"<pre>{escape(cell)}</pre>", eval(last, names)._repr_html_()]  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        path = Path(folder, "cells.html")
        path.write_text("".join(page), encoding="utf-8")
        found = next(filter(None, map(shutil.which, BROWSERS)), None)
        browser = play.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        )
        view = browser.new_page(viewport={"width": 800, "height": 600})
        view.goto(path.as_uri())
        view.wait_for_timeout(2500)
        shot = view.screenshot(full_page=True, timeout=180_000)  # software draws it
        browser.close()
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(256).save(HERE / "notebook.png", optimize=True)


if __name__ == "__main__":
    with recorded(__file__):
        main()
