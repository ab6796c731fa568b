"""Live figures: interactive drawings of the course, each as one page that opens from disk.

The figures are modules of ``web/figures``; they compute with the machine code inside the page.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from html import escape

from ..errors import OptionError
from ..formats.packed import PackedLinkage
from ..models import figure_linkages
from ..models.textbook import FIGURES
from . import scripts
from .embedding import Page
from .live_chapter import LIVE, PAGES
from .pages import page as linkage_page

ENTRY = "figures/element.js"
TABLE = "figures/index.js"
HEIGHT = 640  # in a notebook [pixel]
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0 auto; padding: 16px; max-width: 1180px; font-family: system-ui, sans-serif;
  background: light-dark(#f6f7f8, #14171b); color: light-dark(#24313f, #e6eaee); }}
h1 {{ font-size: 20px; font-weight: 600; margin: 0 0 12px; }}
</style>
</head>
<body>
<h1>{title}</h1>
<linkwork-figure {attributes}>This figure needs JavaScript.</linkwork-figure>
<script>
{script}</script>
</body>
</html>
"""


@cache
def names() -> tuple[str, ...]:
    """Return the names of all live figures.

    Example:
        >>> "jacobian-columns" in names()
        True
    """
    text = (scripts.folder() / TABLE).read_text(encoding="utf-8")
    table = text[text.index("FIGURES = {") :]
    return tuple(re.findall(r"^  \"?([a-z0-9-]+)\"?[:,]", table, re.MULTILINE))


def live(
    name: str,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    packs: Mapping[str, PackedLinkage] | None = None,
    **attributes: object,
) -> Page:
    """Return a live figure as a self-contained page, which works offline and without Python.

    A notebook shows the page as the result of a cell.

    Args:
        name: One of `names`, such as ``"jacobian-columns"``, or a figure of the chapter by its number, ``"5.18"``.
        path: Also save the page there, ending in ``.html``.
        title: Heading of the page; by default `title_of` the figure.
        packs: Packed linkages of your own, by the names that the figure uses.
        attributes: Options of the figure, such as ``pose=(0.4, 0.8, 0.8)``; underscores stand for hyphens.

    Raises:
        OptionError: If there is no such figure.

    Example:
        >>> "<linkwork-figure" in live("jacobian-columns", pose=(0.4, 0.8, 0.8)).html
        True
    """
    if name in FIGURES:
        title = title or f"Figure {name}. {FIGURES[name].caption}"
    if name in PAGES:
        make, held = PAGES[name]
        return linkage_page(make(), path, goals=held, title=title)
    if name in LIVE:
        name, options = LIVE[name]
        attributes = options | attributes
    if name not in names():
        raise OptionError(f"there is no live figure {name!r}; there are {', '.join(names())}.")
    said = {"name": name} | {key.replace("_", "-"): _text(value) for key, value in attributes.items()}
    words = " ".join(f'{key}="{escape(value)}"' for key, value in said.items())
    heading = escape(title or title_of(name))
    code = script(_linkages(name, said)) + _added(packs or {})
    page = Page(PAGE.format(title=heading, attributes=words, script=code), name, HEIGHT)
    if path is not None:
        page.save(path)
    return page


def title_of(name: str) -> str:
    """Return the title of a figure, one sentence: the first words of its module.

    Example:
        >>> title_of("ccd-turns")
        'Cyclic coordinate descent, one joint at a time'
    """
    text = (scripts.folder() / "figures" / f"{name}.js").read_text(encoding="utf-8")
    found = re.search(r"/\*\*\s*\*?\s*(.+?)\.?\s*(?:\*/|\n)", text)
    return found[1] if found else name


@cache
def script(linkages: tuple[str, ...] | None = None) -> str:
    """Return everything that pages with live figures need as one plain script, with the machine code inside.

    Args:
        linkages: Names of the packed linkages to include; all by default.
    """
    chosen = figure_linkages.LINKAGES if linkages is None else linkages
    packs = {name: figure_linkages.packed(name) for name in chosen}
    return f"var linkworkPacks = {_texts(packs)};\n{scripts.bundle([ENTRY], code=True)}"


def _linkages(name: str, said: Mapping[str, str]) -> tuple[str, ...]:
    """Return the linkages that a figure uses: those named in its module, or in its options."""
    module = (scripts.folder() / "figures" / f"{name}.js").read_text(encoding="utf-8")
    return tuple(pack for pack in figure_linkages.LINKAGES if f'"{pack}"' in module or pack in said.values())


def _added(packs: Mapping[str, PackedLinkage]) -> str:
    """Return the script that adds linkages to a page."""
    texts = {name: packed.to_json() for name, packed in packs.items()}
    return f"Object.assign(linkworkPacks, {_texts(texts)});\n" if texts else ""


def _texts(packs: Mapping[str, str]) -> str:
    """Return packed linkages, JSON texts by name, as an object of a script."""
    return f"{{{','.join(f'{json.dumps(name)}:{text}' for name, text in packs.items())}}}".replace("<", "\\u003c")


def _text(value: object) -> str:
    """Return an option as the figure reads it: numbers separated by commas."""
    if isinstance(value, str):
        return value
    try:
        return ", ".join(repr(float(part)) for part in value)  # type: ignore[attr-defined]
    except TypeError:
        return str(value)
