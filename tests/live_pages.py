"""Pages in a browser without a screen: opened from disk, offline, and at the end nothing must have gone wrong."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOFTWARE = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
ELEMENT = "document.querySelector('linkwork-figure')"


@contextmanager
def running_browser() -> Iterator:
    """Give a Chromium without a screen and without a graphics card; skip where there is none."""
    driver = pytest.importorskip("playwright.sync_api", reason="the browser's driver, playwright, is not installed")
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        pytest.skip("no Chromium on this machine; install it as a package of the system")
    with driver.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=SOFTWARE)
        yield browser
        browser.close()


@contextmanager
def quiet_page(browser, *, width: int = 900, height: int = 700, **options) -> Iterator:
    """Give a page that is offline; afterwards no error, no message and no request beyond the disk may have happened."""
    wrong: list[str] = []
    settings = {"locale": "en-US", "offline": True, "reduced_motion": "reduce", **options}
    context = browser.new_context(viewport={"width": width, "height": height}, **settings)
    page = context.new_page()
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else wrong.append(r.url))
    yield page
    context.close()
    assert wrong == []


class LiveFigure:
    """A live figure in an open page, and the hands of a reader."""

    def __init__(self, page, path: Path) -> None:
        self.page = page
        page.goto(path.as_uri())
        page.evaluate(f"{ELEMENT}.ready")

    def state(self) -> dict:
        """Return the numbers that the figure shows."""
        return self.page.evaluate(f"{ELEMENT}.state()")

    def drag(self, right: float, up: float, *, nth: int = 0) -> None:
        """Drag the nth handle by pixels, with the mouse, in three moves."""
        handle = self.page.locator(".goal .touch").nth(nth)
        handle.scroll_into_view_if_needed()
        box = handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + right, y - up, steps=3)
        self.page.mouse.up()

    def slide(self, label: str, value: float) -> None:
        """Set a slider by its label."""
        self.page.get_by_label(label, exact=True).fill(str(value))

    def press(self, word: str, times: int = 1) -> None:
        """Click the button with this word, once with the mouse; more often by its script, which takes less time."""
        button = self.page.get_by_role("button", name=word, exact=True)
        button.click()
        button.evaluate("(button, more) => { while (more-- > 0) button.click(); }", times - 1)
