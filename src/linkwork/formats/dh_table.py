"""Read Denavit-Hartenberg tables in JSON or YAML files.

Two forms are read: linkwork's own, and that of the Robotics Toolbox (``mdh``, ``qlim``, ``offset``, ``flip``).
docs/dh.md describes the file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..errors import FormatError, LinkworkError, listed
from ..linkage.dh import from_dh
from ..linkage.dh_table import DHRow, DHTable
from ..linkage.linkage import Linkage
from ..transforms import as_angle, as_length, as_pair
from . import yaml_json

TABLE_KEYS = ("name", "model", "convention", "mdh", "n", "rows", "base", "tool", "joints")
ROW_KEYS = ("theta", "d", "a", "alpha", "kind", "joint", "limits", "qlim", "offset", "flip", "mdh")
MAX_ROWS = 2_000
CONVENTIONS = {False: "standard", True: "modified"}


def is_table(document: Any) -> bool:
    """Return whether a document is a DH table, not a scene."""
    return isinstance(document, dict) and "rows" in document and "linkwork" not in document


def linkage(document: Mapping[str, Any], text: str, where: object) -> Linkage:
    """Return the linkage of a table.

    Args:
        document: The content of the file.
        text: Its text, for line numbers in errors.
        where: Its name in error messages.

    Raises:
        FormatError: If it is not a valid table; the message names the row and the line.
    """
    place: list[str | int] = []
    try:
        _only(document, TABLE_KEYS, "a table of DH rows")
        name = document.get("name", document.get("model", "dh"))
        convention = _convention(document, "standard")
        if not isinstance(name, str) or not isinstance(document["rows"], list):
            raise ValueError("a table needs a text as its name and a list of rows")
        if len(document["rows"]) > MAX_ROWS:
            raise ValueError(f"a table has at most {MAX_ROWS:,} rows, got {len(document['rows']):,}")
        rows, flipped = [], []
        for k, raw in enumerate(document["rows"]):
            place[:] = ["rows", k]
            row, flip = _row(raw, convention)
            rows.append(row)
            flipped += [k] * flip
        place.clear()
        parts = {key: document[key] for key in ("base", "tool") if document.get(key) is not None}
        joints = tuple(document.get("joints") or (f"j{k}" for k in range(1, len(rows) + 1)))
        result = from_dh(DHTable(tuple(rows), convention, joints=joints, **parts), name=name)  # type: ignore[arg-type]
        return result.replace(joints={joints[k]: {"axis": "-z"} for k in flipped})
    except (LinkworkError, ValueError, TypeError) as error:
        spot = f"rows[{place[1]}]: " if place else ""
        message = f"{spot}{str(error).rstrip('.')}."
        raise FormatError(where, message, line=yaml_json.line_of(text, tuple(place)) if place else None) from error


def _only(given: Any, known: tuple[str, ...], what: str) -> None:
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} is a mapping of {listed(known)}, got {type(given).__name__}")
    for key in given:
        if key not in known:
            raise ValueError(f"{what} has no field {key!r}; it has {listed(known)}")


def _convention(given: Mapping[str, Any], default: str) -> str:
    modified = given.get("mdh")
    if modified is not None and not isinstance(modified, bool):
        raise TypeError(f"mdh is true or false, got {modified!r}")
    return str(given.get("convention", default if modified is None else CONVENTIONS[modified]))


def _row(raw: Any, convention: str) -> tuple[DHRow, bool]:
    """Return a row that includes its offset, and whether its joint axis is flipped."""
    _only(raw, ROW_KEYS, "a DH row")
    if _convention({key: raw[key] for key in ("mdh",) if key in raw}, convention) != convention:
        raise ValueError(f"this row has another convention than the table, which is {convention}")
    kind = raw.get("kind", raw.get("joint", "R"))
    limits, flip, offset = raw.get("limits", raw.get("qlim")), raw.get("flip", False), raw.get("offset", 0.0)
    if not isinstance(flip, bool):
        raise TypeError(f"flip is true or false, got {flip!r}")
    theta, d = as_angle(raw.get("theta", 0.0)), as_length(raw.get("d", 0.0))
    if kind == "P":
        d += as_length(offset)
    else:
        theta += as_angle(offset)
    lower, upper = as_pair(limits, "a DH row")
    bounds = None if limits is None else (-math.inf if lower is None else lower, math.inf if upper is None else upper)
    return DHRow(theta, d, as_length(raw.get("a", 0.0)), as_angle(raw.get("alpha", 0.0)), kind, bounds), flip
