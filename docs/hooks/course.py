"""Pages of the course: equations as MathML, exercises that check themselves, and the script of the live figures.

MkDocs calls the functions ``on_...`` while it builds the site; nothing here runs in a reader's browser.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from equations import Equations
from mkdocs.structure.files import File

from linkwork.draw.live_figures import names, script
from linkwork.models import lessons

SCRIPT = "assets/live.js"
LESSONS = "<!-- lessons -->"
FIGURE = re.compile(r"^<linkwork-figure\b([^>]*)></linkwork-figure>$", re.MULTILINE)
EXERCISE = re.compile(r"^<!-- exercise ([\d.]+) -->$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """Add equations to the Markdown extensions."""
    config.markdown_extensions.append(Equations())
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the script of the live figures, with linkages and machine code inside, to the site."""
    files.append(File.generated(config, SCRIPT, content=script()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put figures, exercises and the list of lessons into a page."""
    where = page.file.src_uri
    markdown = markdown.replace(LESSONS, contents()) if LESSONS in markdown else markdown
    return FIGURE.sub(lambda m: figure(m[1], where), EXERCISE.sub(lambda m: exercise(m[1]), markdown))


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Load the script in pages with live parts."""
    if "<linkwork-" not in html:
        return html
    up = "../" * page.file.src_uri.count("/")
    return f'{html}\n<script src="{up}{SCRIPT}" defer></script>\n'


def contents() -> str:
    """Return the list of lessons as a table."""
    rows = [f"| {one.number} | [{one.title}]({one.page}) | {one.section} |" for one in lessons.all_lessons()]
    return "\n".join(["| | Lesson | In the chapter |", "|--:|---|---|", *rows])


def figure(attributes: str, where: str) -> str:
    """Return a live figure as a block, with a text for readers without scripts."""
    found = re.search(r'\bname="([^"]*)"', attributes)
    name = found[1] if found else ""
    if name not in names():
        raise ValueError(f"{where}: there is no live figure {name!r}; there are {', '.join(names())}.")
    return f'<div class="live"><linkwork-figure{attributes}>This figure needs JavaScript.</linkwork-figure></div>'


def exercise(number: str) -> str:
    """Return an exercise with a field for the answer."""
    found = lessons.exercise(number)
    data = {
        "answer": ", ".join(repr(value) for value in found.values()),
        "tolerance": repr(found.tolerance),
        "unit": found.unit,
        "hint": found.hint,
        "why": found.why,
    }
    words = " ".join(f'{name}="{escape(value)}"' for name, value in data.items())
    ask = f"<p><strong>Exercise {number}.</strong> {escape(found.ask)}</p>"
    return f'<div class="live"><linkwork-exercise number="{number}" {words}>{ask}</linkwork-exercise></div>'
