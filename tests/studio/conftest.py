"""A studio with a Panda in a browser, shared by all tests of the page; any error in the page fails the test."""

from __future__ import annotations

import pytest

import linkwork as lw
from live_pages import running_browser
from studio_hand import ELEMENT, Hand, fresh

ROOM = {"width": 900, "height": 640}
COARSE = 0.5  # device pixel ratio: few pixels, since drawing is in software; the layout is the same


@pytest.fixture(scope="package")
def browser():
    with running_browser() as made:
        yield made


@pytest.fixture(scope="package")
def shown(browser):
    """A page of a studio, and the list of its errors."""
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
    """A user of the page, in the state that the last test left."""
    hand, wrong = shown
    yield hand
    found, wrong[:] = list(wrong), []
    assert found == []


@pytest.fixture
def hand(opened):
    """A user of the page with a fresh Panda."""
    return fresh(opened)
