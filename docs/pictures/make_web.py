"""Make the picture of the example page, opened from disk: python docs/pictures/make_web.py, after make web."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "web" / "example.html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SAYS = "document.getElementById('{}-says').innerText.startsWith('reached')"


def main() -> None:
    """Open the page, wait until all three have reached their goals, and take the picture."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 700})
        page.goto(PAGE.as_uri())
        page.click("#methods >> text=ccd")
        for name in ("planar", "panda", "human"):
            page.wait_for_function(SAYS.format(name))
        page.wait_for_timeout(1500)
        shot = page.screenshot()
        browser.close()
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(256).save(HERE / "web.png", optimize=True)


if __name__ == "__main__":
    main()
