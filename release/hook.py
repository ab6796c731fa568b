"""Puts a pack of kernels into a wheel and makes it one for that platform; without a pack the wheel is for any.

`wheels.py` sets LINKWORK_PACK, a folder, and LINKWORK_TAG, the platform's tag; and what every wheel holds:
LINKWORK_CARDS, the file of kernels for graphics cards, and LINKWORK_WEB, the folder of those for web pages. The scripts
of web pages and the lessons' pages are in every wheel, whoever builds it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MADE = ("linkwork.inline", "linkwork.view", "example.", "test/", "node_modules/")  # what is built, or not for pages


class PackHook(BuildHookInterface):  # type: ignore[type-arg]
    """Hatchling's hook."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the pack to what is put into a wheel."""
        folder, tag = os.environ.get("LINKWORK_PACK"), os.environ.get("LINKWORK_TAG")
        cards, web = os.environ.get("LINKWORK_CARDS"), os.environ.get("LINKWORK_WEB")
        if version == "editable":
            return
        included = build_data["force_include"]
        for path in sorted((Path(self.root) / "web").rglob("*.js")):
            name = path.relative_to(Path(self.root) / "web").as_posix()
            if not name.startswith(MADE):
                included[str(path)] = f"linkwork/draw/web/{name}"
        for path in sorted((Path(self.root) / "docs" / "learn").glob("[0-9]*.md")):
            included[str(path)] = f"linkwork/models/lessons/texts/{path.name}"
        if cards:
            included[cards] = f"linkwork/kernels/pack/{Path(cards).name}"
        if web:
            included |= {str(path): f"linkwork/kernels/pack/web/{path.name}" for path in sorted(Path(web).iterdir())}
        if not folder or not tag:
            return
        included |= {str(path): f"linkwork/kernels/pack/{path.name}" for path in sorted(Path(folder).iterdir())}
        build_data["tag"], build_data["pure_python"] = f"py3-none-{tag}", False
