"""Reference numbers, computed by other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent / "golden"

# Tables of published arms; pose, frames and Jacobian of each by roboticstoolbox-python 1.5.0 (`fkine_all`, `jacob0`).
DH: dict[str, dict[str, Any]] = json.loads((GOLDEN / "dh.json").read_text(encoding="utf-8"))
COMPUTED = ("q", "T_links", "T_end", "J0")


def dh_table(name: str) -> str:
    """Return only the table of an arm, in the layout of that library."""
    return json.dumps({key: value for key, value in DH[name].items() if key not in COMPUTED})
