"""An HTML page as a value: it can be saved, and notebooks show it in a frame of its own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ..formats.atomic_files import write_text
from .arguments import output_path

HEIGHT = 480  # height of a frame in a notebook [pixel]
STYLE = "display:block;border:0;border-radius:6px;max-width:100%"


@dataclass(frozen=True)
class Page:
    """A self-contained HTML page that needs no network and no server.

    A notebook (JupyterLab, VS Code, Colab) shows it as the result of a cell.

    Attributes:
        html: The HTML text.
        title: The title.
        height: Height in a notebook [pixels]; the width is that of the cell.

    Example:
        >>> Page("<p>An arm.</p>", "arm")
        <Page 'arm': 14 bytes; save("page.html") writes it>
    """

    html: str
    title: str = "page"
    height: int = HEIGHT

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file that any browser opens, and return its path."""
        target = output_path(path, (".html",), "a page")
        write_text(target, self.html)
        return target

    def _repr_html_(self) -> str:
        return embedded(self.html, self.title, self.height)

    def __repr__(self) -> str:
        size = len(self.html.encode())
        text = f"{size} bytes" if size < 1000 else f"{size / 1e3:.0f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"
        return f'<{type(self).__name__} {self.title!r}: {text}; save("page.html") writes it>'


def embedded(html: str, title: str, height: int = HEIGHT) -> str:
    """Return a frame that holds a whole page.

    The page runs in a sandbox: its scripts cannot reach the notebook around it, whatever the file that its names come
    from.
    """
    page = html.replace("&", "&amp;").replace("'", "&#39;")  # scripts have fewer single quotes than double ones
    return (
        f"<iframe srcdoc='{page}' "
        f'title="{escape(title)}" width="100%" height="{height}" loading="lazy" '
        'sandbox="allow-scripts allow-downloads" allowfullscreen '
        f'style="{STYLE}"></iframe>'
    )


def window(url: str, title: str, height: int = HEIGHT) -> str:
    """Return a frame that shows a page which this machine serves, and a link for notebooks that refuse such frames."""
    where, name = escape(url), escape(title)
    frame = f'<iframe src="{where}" title="{name}" width="100%" height="{height}" style="{STYLE}"></iframe>'
    return f'{frame}<div>{name}: <a href="{where}" target="_blank" rel="noopener">{where}</a></div>'
