"""Make the pictures of films and pages as a browser shows them: python docs/pictures/make_screens.py."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from made import recorded
from PIL import Image
from playwright.sync_api import sync_playwright

import linkwork as lw

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FILMS = {  # what the examples write, by rows of the picture, and when to look [share of the film]
    "ride": ("20_ride", 0.4),
    "snake": ("26_snake", 0.7),
    "painting": ("25_painting", 0.6),
    "walking": ("23_walking", 0.5),
    "pogo_stick": ("21_pogo_stick", 0.7),
    "reaching": ("24_reaching", 0.6),
}
COLUMNS, WIDTH, HEIGHT, GAP, BAR = 3, 396, 277, 11, 62  # of the picture of six films; the bar below each is left out
PULL = """([name, way]) => {
  const view = document.querySelector("linkwork-view"), { session } = view, m = session.take(name).target;
  session.pull([m[3] + way[0], m[7] + way[1], m[11] + way[2]]);
  session.held = false;
  view.draw();
}"""


def shot(browser: Any, path: Path, size: tuple[int, int], *, at: float | None = None, pull: Any = None) -> Image.Image:
    """Return a page as the browser shows it, a film at a share of its time, a linkage pulled somewhere."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(path.as_uri())
    if at is not None:
        last = float(page.locator("#scrub").get_attribute("max"))
        page.locator("#scrub").fill(f"{at * last:.3f}")
        page.locator("#scrub").blur()  # no ring about it
    if pull is not None:
        page.evaluate("document.querySelector('linkwork-view').ready.then(() => 1)")
        page.evaluate(PULL, pull)
    page.wait_for_timeout(3000)
    picture = Image.open(io.BytesIO(page.screenshot(timeout=180_000))).convert("RGB")  # software draws it
    page.close()
    return picture


def examples(browser: Any, folder: Path) -> Image.Image:
    """Return six films of the examples, above and beside each other."""
    rows = -(-len(FILMS) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * (WIDTH + GAP) - GAP, rows * (HEIGHT + GAP) - GAP), "white")
    for k, (name, (script, at)) in enumerate(FILMS.items()):
        subprocess.run([sys.executable, EXAMPLES / f"{script}.py", folder], check=True, stdout=subprocess.DEVNULL)
        scale = 2
        size = (scale * WIDTH, scale * HEIGHT + BAR)
        picture = shot(browser, folder / f"{name}.html", size, at=at).crop((0, 0, size[0], scale * HEIGHT))
        picture.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        sheet.paste(picture, (k % COLUMNS * (WIDTH + GAP), k // COLUMNS * (HEIGHT + GAP)))
    return sheet


def main() -> None:
    """Write films and a page, open them and take the pictures."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as play:
        folder = Path(name)
        arguments = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        browser = play.chromium.launch(executable_path=found, args=arguments)
        walk, body = lw.models.motion("human:floating"), lw.models.human(root="floating")
        lw.draw.film(walk, folder / "walk.html", trail="right_hand", title="A walk")
        lw.draw.page(body, folder / "human.html")
        pictures = {
            "film-player": shot(browser, folder / "walk.html", (900, 560), at=0.4),
            "page": shot(browser, folder / "human.html", (1100, 620), pull=["left_hand", [0.3, 0.3, 0.8]]),
            "film-examples": examples(browser, folder),
        }
        browser.close()
    for name, picture in pictures.items():
        picture.quantize(256).save(HERE / f"{name}.png", optimize=True)
        print(f"{name}.png: {(HERE / f'{name}.png').stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    with recorded(__file__):
        main()
