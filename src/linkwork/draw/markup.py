"""Small pieces of HTML for notebooks: cards, tables and bars, with their style inline.

Notebooks strip style sheets and classes, and have dark and light pages. So text has the page's own colour, and
everything else is a mix with it or an accent that suits both. All text that is not `Safe` is escaped, since names come
from files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

BLUE, ORANGE, GREEN, RED = "#4a7fd0", "#e8710a", "#2f9e44", "#e03131"
FAINT = "rgba(128,128,128,0.35)"
MOST_ROWS = 60
CELL = "text-align:left;padding:1px 10px 1px 0;border:0;white-space:nowrap;vertical-align:middle"


class Safe(str):
    """Text that is HTML already."""

    __slots__ = ()


def safe(text: object) -> Safe:
    """Return anything as HTML: escaped, unless it is HTML already."""
    return text if isinstance(text, Safe) else Safe(escape(str(text)))


def joined(parts: Iterable[object], between: str = "") -> Safe:
    """Return pieces one after another."""
    return Safe(between.join(safe(part) for part in parts))


def styled(text: object, style: str, tag: str = "span") -> Safe:
    """Return a piece with a style of its own."""
    return Safe(f'<{tag} style="{style}">{safe(text)}</{tag}>')


def muted(text: object) -> Safe:
    """Return text in a muted colour."""
    return styled(text, "opacity:0.65")


def code(text: object) -> Safe:
    """Return monospaced text with its spaces."""
    return styled(text, "font-family:monospace;white-space:pre")


def sentence(text: object) -> Safe:
    """Return text for a cell that may take several lines."""
    return styled(text, "display:inline-block;white-space:normal;min-width:160px;max-width:360px;opacity:0.65")


def table(titles: Sequence[object], rows: Iterable[Sequence[object]], *, most: int = MOST_ROWS) -> Safe:
    """Return a table; for a long one, the first rows and the number of omitted rows."""
    every = list(rows)
    head = joined(styled(title, f"{CELL};font-weight:600;border-bottom:1px solid {FAINT}", "th") for title in titles)
    body = joined(Safe(f"<tr>{joined(styled(cell, CELL, 'td') for cell in row)}</tr>") for row in every[:most])
    rest = muted(f"{len(every) - most} more rows") if len(every) > most else Safe("")
    style = "border-collapse:collapse;font-size:12px;margin:4px 0;background:none"
    return Safe(f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}')


def side_by_side(*parts: object) -> Safe:
    """Return pieces side by side, wrapped into further lines if necessary."""
    inner = joined(styled(part, "max-width:100%", "div") for part in parts)
    return styled(inner, "display:flex;flex-wrap:wrap;gap:8px 24px;align-items:flex-start", "div")


def beside(picture: object, words: object) -> Safe:
    """Return a picture with a text beside it, or below it if there is no room."""
    sides = styled(picture, "flex:none;max-width:100%", "div"), styled(words, "flex:1 1 300px;overflow-x:auto", "div")
    return styled(joined(sides), "display:flex;flex-wrap:wrap;gap:8px 24px;align-items:flex-start", "div")


def folded(title: object, inside: object) -> Safe:
    """Return a block that opens when its title is clicked."""
    return Safe(f'<details><summary style="cursor:pointer">{safe(title)}</summary>{safe(inside)}</details>')


def card(title: object, note: object, *parts: object) -> Safe:
    """Return the content of a cell: a line with a title and a note, then pieces."""
    line = joined([styled(title, "font-weight:600"), note if isinstance(note, Safe) else muted(note)], " &nbsp; ")
    return styled(joined([styled(line, "margin-bottom:4px", "div"), *parts]), "max-width:100%", "div")


def badge(good: bool, text: object) -> Safe:
    """Return a word on a green or red background."""
    color = GREEN if good else RED
    return styled(text, f"background:{color};color:#fff;border-radius:3px;padding:0 6px;font-size:12px")


def bar(lower: float, upper: float, value: float) -> Safe:
    """Return a line with a dot that shows a value between its limits, red at an end."""
    share = (value - lower) / (upper - lower) if upper > lower else 0.5
    color = BLUE if 0.001 < share < 0.999 else RED
    x = 4.0 + 92.0 * min(max(share, 0.0), 1.0)
    return Safe(
        '<svg width="100" height="10" viewBox="0 0 100 10" style="vertical-align:middle">'
        f'<line x1="4" y1="5" x2="96" y2="5" stroke="{FAINT}" stroke-width="4" stroke-linecap="round"/>'
        f'<circle cx="{x:.1f}" cy="5" r="4" fill="{color}"/></svg>'
    )
