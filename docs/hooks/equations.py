"""Equations in pages: ``$...$`` and ``$$...$$`` become MathML when the site is built, so that no script is needed."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

DISPLAY = r"\$\$(.+?)\$\$"
INLINE = r"(?<![\\$\w])\$(?=[^\s$])([^$\n]+?)(?<=[^\s\\])\$(?![\w$])"
FUNCTIONS = "arccos|arcsin|arctan|atan2|cos|det|exp|ln|log|max|min|rank|sin|tan"
NARROW = '<mspace width="0.167em"></mspace>'
ABOVE_CODE = 185  # priority: below backticks (190), above escapes, links and emphasis


def mathml(text: str, *, display: bool) -> str:
    """Return an equation as MathML.

    Raises:
        ValueError: If it has an unknown command, which would be shown literally.
    """
    source = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", " ".join(text.split()))
    made = convert(source, display="block" if display else "inline")
    unknown = re.search(r"\\[a-zA-Z]+", made)
    if unknown:
        raise ValueError(f"the equation {text.strip()!r} has {unknown[0]}, which is not known.")
    return spaced(made.replace("<mi>&</mi>", "").replace("<mtable ", '<mtable class="aligned" '))


def spaced(made: str) -> str:
    """Return MathML with narrow spaces around functions: 2 sin x; none before a bracket."""
    before = re.sub(rf"(</m(?:i|n|sub|sup)>)(<mi>(?:{FUNCTIONS})</mi>)", rf"\1{NARROW}\2", made)
    return re.sub(rf"(<mi>(?:{FUNCTIONS})</mi>)(?=<m(?:i|n|sub|sup|subsup|frac|mover|row)>)", rf"\1{NARROW}", before)


class _Equation(InlineProcessor):
    """Finds equations, and protects them from other Markdown rules."""

    def __init__(self, pattern: str, md: Markdown, *, display: bool) -> None:
        super().__init__(pattern, md)
        self.display = display

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # type: ignore[override]  # noqa: ARG002, N802
        return self.md.htmlStash.store(mathml(m[1], display=self.display)), m.start(0), m.end(0)


class Equations(Extension):
    """Markdown with equations."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        patterns: Any = md.inlinePatterns
        patterns.register(_Equation(DISPLAY, md, display=True), "display-equation", ABOVE_CODE + 1)
        patterns.register(_Equation(INLINE, md, display=False), "equation", ABOVE_CODE)
