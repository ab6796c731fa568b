"""Make the picture of the example page, opened from disk: python docs/pictures/make_web.py, after make web."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

from made import recorded
from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "web" / "example.html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
READY = "Promise.all([...document.querySelectorAll('linkwork-view')].map((view) => view.ready.then(() => 1)))"
PULL = """([name, frame, way]) => {
  const view = document.getElementById(name), { session } = view, m = session.take(frame).target;
  session.pull([m[3] + way[0], m[7] + way[1], m[11] + way[2]]);
  session.held = false;
  view.draw();
}"""
PULLS = (("planar", "tip", (-6, -9, 0)), ("panda", "tip", (0.1, 0.2, 0.1)), ("human", "left_hand", (0.35, 0.1, 0.55)))


def main() -> None:
    """Open the page, pull at all three, and take the picture."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as play:
        arguments = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        browser = play.chromium.launch(executable_path=found, args=arguments)
        page = browser.new_page(viewport={"width": 1400, "height": 660})
        page.goto(PAGE.as_uri())
        page.evaluate(READY)
        for pull in PULLS:
            page.evaluate(PULL, list(pull))
        page.wait_for_timeout(2000)
        shot = page.screenshot()
        browser.close()
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(256).save(HERE / "web.png", optimize=True)


if __name__ == "__main__":
    with recorded(__file__):
        main()
