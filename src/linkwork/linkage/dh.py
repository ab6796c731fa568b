"""Linkages made from Denavit-Hartenberg tables; the tables themselves are in `dh_table`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import LinkageError
from ..transforms import as_pair, as_transform
from .dh_table import EPSILON, Convention, DHRow, DHTable, about, as_row, check_convention
from .geometry import bone
from .joints import Joint, Prismatic, Revolute
from .linkage import Linkage
from .tree import Frame, Link


def from_dh(
    rows: DHTable | Sequence[DHRow | Sequence[Any]],
    *,
    convention: Convention = "standard",
    base: Any = None,
    tool: Any = None,
    name: str = "dh",
    joints: Sequence[str] | None = None,
) -> Linkage:
    """Return the linkage of a Denavit-Hartenberg table.

    Args:
        rows: One `DHRow`, or (theta, d, a, alpha[, kind[, limits]]), for each joint; kind ``"R"`` or ``"P"``. A whole
            `DHTable` brings its own convention, base, tool and joint names.
        convention: ``"standard"`` or ``"modified"`` (Craig's).
        base: Transform from the world to the first frame.
        tool: Transform from the last frame to the frame ``"tip"``.
        name: Name of the linkage.
        joints: Names of the joints; ``j1``, ``j2``, ... by default.

    Returns:
        A chain with links ``link0``, ``link1``, ... and the frame ``tip``. Link k moves with frame k of the table; its
        own origin is on the axis of joint k.

    Example:
        >>> arm = from_dh([(0, 0, 2, 0), (0, 0, 1, 0)])
        >>> arm.forward([0, np.pi / 2], frame="tip")[:3, 3].round(6).tolist()
        [2.0, 1.0, 0.0]
    """
    if isinstance(rows, DHTable):
        if any(part is not None for part in (base, tool, joints)):
            raise LinkageError("a DHTable has its own base, tool and joints; change them in the table.")
        convention, base, tool, joints, rows = rows.convention, rows.base, rows.tool, rows.joints, rows.rows
    check_convention(convention)
    if not isinstance(rows, Iterable):
        raise LinkageError(f"a DH table is a list of rows (theta, d, a, alpha), one for each joint; got {rows!r}.")
    table = [as_row(row, k) for k, row in enumerate(rows, start=1)]
    names = [f"j{k}" for k in range(1, len(table) + 1)] if joints is None else list(joints)
    if len(names) != len(table):
        raise LinkageError(f"{len(table)} rows need {len(table)} joint names, got {len(names)}.")
    # The placement of a joint is the part of its row before the joint's motion. In the standard convention X comes
    # after the motion: link k is located at joint k, and frame k of the table is offset from it by X.
    links, arcs, waiting = [Link("link0")], [], np.eye(4)
    for k, (row, joint) in enumerate(zip(table, names, strict=True), start=1):
        before, after = about("z", row.theta, row.d), about("x", row.alpha, row.a)
        if convention == "modified":
            before, after = after @ before, np.eye(4)
        motion = (Revolute if row.kind == "R" else Prismatic)("z", *as_pair(row.limits, f"DH row {k}"))
        arcs.append(Joint(joint, f"link{k - 1}", f"link{k}", motion, waiting @ before))
        links.append(Link(f"link{k}"))
        waiting = after
    end = waiting @ (np.eye(4) if tool is None else as_transform(tool, "tool"))
    ends = [placement[:3, 3] for placement in (*(arc.placement for arc in arcs), end)]
    lengths = np.linalg.norm(ends, axis=1)
    for k in np.flatnonzero(lengths > EPSILON).tolist():
        links[k] = Link(f"link{k}", (bone((0, 0, 0), ends[k], 0.03 * lengths.sum()),))
    root = np.eye(4) if base is None else as_transform(base, "base")
    return Linkage(links, arcs, name=name, frames=[Frame("tip", f"link{len(arcs)}", end)], root=root)
