"""Adds a pack of kernels to a wheel and tags the wheel for its platform; without a pack, the wheel is for any platform.

`wheels.py` sets LINKWORK_PACK, the folder of the pack, and LINKWORK_TAG, the platform tag. For every wheel it also sets
LINKWORK_CARDS, the file of GPU kernels, and LINKWORK_WEB, the folder of kernels for web pages. Every wheel contains the
scripts of web pages and the pages of lessons.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MADE = ("linkwork.inline", "linkwork.view", "example.", "test/", "node_modules/")  # built, or not for pages


class PackHook(BuildHookInterface):  # type: ignore[type-arg]
    """Hatchling's hook."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the pack, the web scripts and the lessons to a wheel."""
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
