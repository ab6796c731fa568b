"""One browser for all tests of pages, since it takes seconds to start, and live figures in it."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

import linkwork as lw
from live_pages import LiveFigure, quiet_page, running_browser


@pytest.fixture(scope="session")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture
def figure(browser, tmp_path):
    """Return a function that opens a live figure from disk."""
    with ExitStack() as stack:

        def opened(name, *, screen=None, **attributes):
            path = tmp_path / f"{name}.html"
            lw.draw.live(name, path, **attributes)
            return LiveFigure(stack.enter_context(quiet_page(browser, **(screen or {}))), path)

        yield opened
