"""The project's address in the metadata of what is released: links to it, and a description whose links work.

The one place where the address is written is the line ``repository-code:`` of CITATION.cff; `check.py` refuses to
release without it. Until it is there, packages name no address and the description keeps the links of the checkout.
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
    """Return where the project is published, such as https://github.com/owner/linkwork; None as long as nowhere."""
    found = ADDRESS.search((root / "CITATION.cff").read_text(encoding="utf-8"))
    return None if found is None else found[1]


def linked(text: str, home: str) -> str:
    """Return a page of Markdown whose links into the checkout, and its pictures, lead to the project's address."""
    return LINK.sub(lambda part: f"{part[1]}{part[2]}{home}/{'raw' if part[1] else 'blob'}/main/{part[3]}", text)
