"""A format: Denavit-Hartenberg table as text, four numbers per line: theta [deg], d [m], a [m], alpha [deg]."""

from __future__ import annotations

import math
from pathlib import PurePath
from typing import Any

import linkwork as lw
from linkwork.errors import FormatError, Remark
from linkwork.formats import Content, Format, Options, read_text, write_text

FORMAT = Format("linkwork_shop.dh_tables", "DH table")  # this module reads and writes it


def read(path: Any, options: Options) -> Content:  # noqa: ARG001  # no option applies to a table
    """Return the arm of a table.

    Raises:
        FormatError: If a line does not have four numbers.
    """
    rows = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            theta, d, a, alpha = map(float, words)
        except ValueError as error:
            raise FormatError(path, f"a line has four numbers, got {line!r}.", line=number) from error
        rows.append((math.radians(theta), d, a, math.radians(alpha)))
    if not rows:
        raise FormatError(path, "has no row.")
    return Content(lw.from_dh(rows, name=PurePath(path).stem))


def write(content: Content, path: Any) -> tuple[Remark, ...]:
    """Write an arm as a table, and return what the file cannot hold."""
    lines = ["# theta [deg], d [m], a [m], alpha [deg]"]
    for row in content.linkage.as_dh().rows:
        lines.append(f"{math.degrees(row.theta):.17g} {row.d:.17g} {row.a:.17g} {math.degrees(row.alpha):.17g}")
    write_text(path, "\n".join(lines) + "\n")
    return (Remark("dropped", "a DH table holds no limits, shapes or names of joints."),)
