"""A text description of a linkage: its tree, and the axes and limits of its joints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .joints import Joint

if TYPE_CHECKING:
    from .linkage import Linkage


def tree_rows(linkage: Linkage, *, unicode: bool) -> Iterator[tuple[str, ...]]:
    """Yield one row for each link: drawn in the tree, then its joint, kind, axis and limits.

    An only child is drawn straight below its parent, so that long chains stay narrow.
    """
    branch, last, bar, dot = ("├─", "╰─", "│ ", "● ") if unicode else ("|-", "`-", "| ", "o ")
    yield ("link", "joint", "kind", "axis", "limits")
    stack = [(0, "", "")]
    while stack:
        i, lead, below = stack.pop()
        joint, children = linkage.arcs[i], linkage.children[i]
        words = (joint.name, joint.articulation.kind, axis_text(joint), limit_text(joint))
        moves = i > 0 or joint.articulation.nq > 0
        yield (lead + dot + linkage.nodes[i].name, *(words if moves else ("",) * 4))
        if len(children) == 1:
            stack.append((children[0], below, below))
        else:
            ends = [(branch, bar)] * (len(children) - 1) + [(last, "  ")]
            stack += [(child, below + a, below + b) for child, (a, b) in zip(children, ends, strict=False)][::-1]


def axis_text(joint: Joint) -> str:
    """Return the axes of a joint in words: ``z``, ``-y``, ``0.6,0,0.8``, or how a ball stores its rotation."""
    motion = joint.articulation
    if hasattr(motion, "euler"):
        return f"euler {motion.euler}" if motion.euler else "quaternion" * (motion.kind == "ball")
    words = []
    for axis in (getattr(motion, name) for name in ("axis", "second") if hasattr(motion, name)):
        along = [k for k in range(3) if axis[k]]
        plain = "-" * (axis[along[0]] < 0.0) + "xyz"[along[0]]
        words.append(plain if len(along) == 1 else ",".join(f"{x:.3g}" for x in axis))
    return " ".join(words)


def limit_text(joint: Joint) -> str:
    """Return the limits of a joint as text, angles in degrees, or the equation that it follows."""
    if joint.mimic is not None:
        factor, offset = joint.mimic.multiplier, joint.mimic.offset
        times = "" if factor == 1.0 else "-" if factor == -1.0 else f"{factor:g} * "
        plus = f" {'-' if offset < 0.0 else '+'} {abs(offset):g}" if offset else ""
        return f"= {times}{joint.mimic.joint}{plus}"
    units, (swing, twist) = joint.articulation.units, (getattr(joint.articulation, n, None) for n in ("swing", "twist"))
    words = [] if swing is None else [f"swing {math.degrees(swing):.5g} deg"]
    words += [] if twist is None else ["twist {:.5g} .. {:.5g} deg".format(*map(math.degrees, twist))]
    for k, bounds in enumerate(zip(*(end.tolist() for end in joint.articulation.limits), strict=True)):
        low, high = bounds if units[k] == "m" else map(math.degrees, bounds)
        text = f"{low:.5g} .. {high:.5g} {'m' if units[k] == 'm' else 'deg'}"
        if math.isfinite(low) or math.isfinite(high):
            words.append(f"{joint.articulation.coordinates[k]} {text}".strip())
    return ", ".join(words)
