"""Pages in a headless browser, opened from disk, offline; errors in a page fail the test."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOFTWARE = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
ELEMENT = "document.querySelector('linkwork-figure')"
DRAWN = """() => new Promise(done => {{
    const look = () => {stage}.asked ? requestAnimationFrame(look) : done();
    requestAnimationFrame(() => requestAnimationFrame(look)); }})"""


RUNNING: list = []  # the running browser of this process: its driver cannot start twice


@contextmanager
def running_browser() -> Iterator:
    """Yield this process's Chromium, headless and without a GPU; skip the test if it is not installed."""
    if RUNNING:
        yield RUNNING[0]
        return
    driver = pytest.importorskip("playwright.sync_api", reason="the browser's driver, playwright, is not installed")
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        pytest.skip("no Chromium on this machine; install it as a package of the system")
    with driver.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=SOFTWARE)
        RUNNING.append(browser)
        yield browser
        RUNNING.clear()
        browser.close()


@contextmanager
def site(html: str) -> Iterator[int]:
    """Serve a page with this body as another site on this machine, and yield its port."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(f"<!doctype html><body>{html}</body>".encode())

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, name="another site")
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def quiet_page(browser, *, width: int = 900, height: int = 700, **options) -> Iterator:
    """Yield an offline page; fail if it logs an error or message, or requests anything that is not on disk."""
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


def wait_until_drawn(page, stage: str) -> None:
    """Wait until a stage, by its name in the page, has drawn everything; sizes are known one frame later."""
    page.evaluate(DRAWN.format(stage=stage))


def wait_for(page, expression: str, arg: object = None, seconds: float = 60.0) -> None:
    """Wait until an expression is true in a page or a frame.

    The expression is polled from outside: `wait_for_function` evaluates inside the page, where a content security
    policy refuses it from the second time on.
    """
    end = time.monotonic() + seconds
    while not page.evaluate(expression, arg):
        assert time.monotonic() < end, f"not within {seconds:g} s: {expression}"
        page.wait_for_timeout(20)


class LiveFigure:
    """A live figure in an open page, and the actions of a reader."""

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
        """Click a button by its label: once with the mouse, then by script, which is faster."""
        button = self.page.get_by_role("button", name=word, exact=True)
        button.click()
        button.evaluate("(button, more) => { while (more-- > 0) button.click(); }", times - 1)
