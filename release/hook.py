"""Puts a pack of kernels into a wheel and makes it one for that platform; without a pack the wheel is for any.

`wheels.py` sets LINKWORK_PACK, a folder, and LINKWORK_TAG, the platform's tag; and LINKWORK_CARDS, the file of kernels
for graphics cards, which every wheel holds.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackHook(BuildHookInterface):  # type: ignore[type-arg]
    """Hatchling's hook."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the pack to what is put into a wheel."""
        folder, tag = os.environ.get("LINKWORK_PACK"), os.environ.get("LINKWORK_TAG")
        cards = os.environ.get("LINKWORK_CARDS")
        if cards and version != "editable":
            build_data["force_include"][cards] = f"linkwork/kernels/pack/{Path(cards).name}"
        if version == "editable" or not folder or not tag:
            return
        for path in sorted(Path(folder).iterdir()):
            build_data["force_include"][str(path)] = f"linkwork/kernels/pack/{path.name}"
        build_data["tag"], build_data["pure_python"] = f"py3-none-{tag}", False
