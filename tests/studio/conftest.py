"""A studio with a Panda in a browser, for all tests of the page; whatever goes wrong in the page fails its test."""

from __future__ import annotations

import pytest

import linkwork as lw
from live_pages import running_browser
from studio_hand import ELEMENT, Hand, fresh

ROOM = {"width": 900, "height": 640}
COARSE = 0.5  # pixels drawn for one of the page: software draws them, and the layout is the same


@pytest.fixture(scope="package")
def browser():
    with running_browser() as made:
        yield made


@pytest.fixture(scope="package")
def shown(browser):
    """A page of a studio, with a list of what went wrong in it."""
    pytest.importorskip("websockets")
    wrong: list[str] = []
    with lw.studio.open_studio("panda", port=0) as studio:
        context = browser.new_context(viewport=ROOM, device_scale_factor=COARSE, reduced_motion="reduce")
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("request", lambda r: None if r.url.startswith((studio.url, "data:", "blob:")) else wrong.append(r.url))
        page.goto(studio.url)
        page.evaluate(f"{ELEMENT}.ready")
        yield Hand(studio, page), wrong
        context.close()


@pytest.fixture
def opened(shown):
    """A person at the page, as the test before has left it."""
    hand, wrong = shown
    yield hand
    found, wrong[:] = list(wrong), []
    assert found == []


@pytest.fixture
def hand(opened):
    """A person before a fresh Panda."""
    return fresh(opened)
