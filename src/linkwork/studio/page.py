"""The files served by HTTP. All are part of the library; no other files of the machine are served."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from .server import File

HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>linkwork studio</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/studio.css">
<link rel="preload" href="/linkwork.wasm" as="fetch" crossorigin>
</head>
<body>
<linkwork-studio></linkwork-studio>
<noscript>The studio needs JavaScript: it solves in the browser.</noscript>
<script src="/studio.js"></script>
</body>
</html>
"""
STYLE = "html, body { height: 100%; margin: 0; overflow: hidden; } linkwork-studio { display: block; height: 100%; }"
ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M6 26 14 10l11 6" fill="none"
stroke="#3b6fd4" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/><circle cx="6" cy="26" r="3.4"
fill="#3b6fd4"/><circle cx="14" cy="10" r="3.4"
fill="#3b6fd4"/><circle cx="25" cy="16" r="4.2" fill="#e8730c"/></svg>"""


def asset(path: str) -> File | None:
    """Return the file at a path, or None.

    Raises:
        PageError: If it cannot be made from this installation.
    """
    make = _ASSETS.get(path)
    return None if make is None else make()


@cache
def _script() -> File:
    from ..draw import scripts

    return File(scripts.bundle(["studio/studio.js"]).encode(), "text/javascript; charset=utf-8")


@cache
def _code() -> File:
    from ..kernels.web import web_code

    return File(web_code(), "application/wasm")


_ASSETS: dict[str, Callable[[], File]] = {
    "/": lambda: File(HTML.encode(), "text/html; charset=utf-8"),
    "/studio.css": lambda: File(STYLE.encode(), "text/css; charset=utf-8"),
    "/icon.svg": lambda: File(ICON.encode(), "image/svg+xml"),
    "/studio.js": _script,
    "/linkwork.wasm": _code,
}
PREPARED = ("/studio.js", "/linkwork.wasm")  # files that take a moment to make
