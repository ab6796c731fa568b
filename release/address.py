"""Puts the address of the project into the metadata of packages: its links, and a description whose links work.

The address is written only in the line ``repository-code:`` of CITATION.cff; `check.py` refuses to release without it.
Until then, packages have no address and the description keeps its relative links.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ADDRESS = re.compile(r"^repository-code: *[\"']?(https://[^\s\"']+?)/*[\"']?$", re.MULTILINE)
LINK = re.compile(r"(!?)(\[[^\]]*\]\()(?!https?:|#|mailto:)([^)\s]+\))")
PAGES = {
    "Source": "",
    "Documentation": "/blob/main/docs/index.md",
    "Changelog": "/blob/main/CHANGELOG.md",
    "Issues": "/issues",
}


class AddressHook(MetadataHookInterface):
    """Hatchling's hook."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add links and the description."""
        home = address(Path(self.root))
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": text if home is None else linked(text, home)}
        if home is not None:
            metadata["urls"] = {name: home + page for name, page in PAGES.items()}


def address(root: Path) -> str | None:
    """Return where the project is published, such as https://github.com/owner/linkwork; None if it is not yet."""
    found = ADDRESS.search((root / "CITATION.cff").read_text(encoding="utf-8"))
    return None if found is None else found[1]


def linked(text: str, home: str) -> str:
    """Return Markdown text whose relative links and pictures lead to the address of the project."""
    return LINK.sub(lambda part: f"{part[1]}{part[2]}{home}/{'raw' if part[1] else 'blob'}/main/{part[3]}", text)
