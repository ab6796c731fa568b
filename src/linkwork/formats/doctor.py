"""Examine the content of a file: the assumptions of its reader, and oddities of the linkage itself.

All findings are `Remark` objects; nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..goals import closings
from ..linkage import swing_twist as cones
from ..linkage.couplings import coupling_text
from ..linkage.geometry import Inertia
from ..linkage.joints import ONE_DOF
from ..linkage.linkage import Linkage, Loop
from ..transforms import FloatArray
from . import Content, Remark

OPEN = 1e-6  # smallest gap of a loop that is not a rounding error [m or rad]
SLACK = 1e-9  # largest excess over a limit due to rounding [rad or m]
TRIANGLE_TOLERANCE = 1e-6


def examine(content: Content) -> tuple[Remark, ...]:
    """Return the remarks of the reader, then those on joints, masses, poses and motions.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.Builder("arm").revolute("elbow", "hand", limits=(0.5, 0.5)).build()
        >>> [(remark.kind, remark.where) for remark in examine(Content(arm))]
        [('zero-range', 'elbow')]
    """
    linkage = content.linkage
    checks = (_limits(linkage), _masses(linkage), _poses(linkage), _loops(linkage), _clips(content))
    return content.remarks + tuple(remark for check in checks for remark in check)


def _limits(linkage: Linkage) -> Iterator[Remark]:
    """Yield remarks on joints that cannot move, and on revolute and prismatic joints without limits."""
    for joint in linkage.arcs:
        lower, upper = joint.articulation.limits
        for name, low, high in zip(joint.coordinates, lower.tolist(), upper.tolist(), strict=True):
            if low == high:
                yield Remark("zero-range", f"{name!r} cannot move: both limits are {low:.6g}.", where=name)
            elif joint.articulation.kind in ONE_DOF and joint.mimic is None and not np.isfinite([low, high]).all():
                sides = "no limits" if np.isinf([low, high]).all() else "a limit on one side only"
                yield Remark("no-limits", f"{name!r} ({joint.articulation.kind}) has {sides}.", where=name)


def _masses(linkage: Linkage) -> Iterator[Remark]:
    """Yield remarks on links with an impossible mass or inertia."""
    for node in linkage.nodes:
        if node.inertia is not None and (problem := _mass_problem(node.inertia)):
            yield Remark("inertia", f"link {node.name!r} {problem}.", where=node.name)


def _mass_problem(inertia: Inertia) -> str | None:
    moments = np.linalg.eigvalsh(inertia.matrix)
    size = float(np.abs(moments).max())
    if inertia.mass == 0.0:
        return "has moments of inertia but no mass" if size > 0.0 else None
    if moments[0] < -TRIANGLE_TOLERANCE * size:
        return f"has a negative moment of inertia, {moments[0]:.4g} kg m²"
    if moments[0] + moments[1] < moments[2] - TRIANGLE_TOLERANCE * size:
        shown = ", ".join(f"{moment:.4g}" for moment in moments)
        return f"has moments of inertia {shown} kg m²; for a real body, none exceeds the sum of the other two"
    return None


def _poses(linkage: Linkage) -> Iterator[Remark]:
    for name, pose in linkage.poses.items():
        for k, excess in _beyond(linkage, pose[None]):
            coordinate = linkage.coordinates[k]
            text = f"pose {name!r} exceeds the limits of {coordinate!r} by {_amount(linkage, k, excess)}."
            yield Remark("pose-beyond-limits", text, where=coordinate)


def _clips(content: Content) -> Iterator[Remark]:
    for name, clip in content.clips.items():
        for k, excess in _beyond(clip.linkage, clip.poses):
            coordinate, frames = clip.linkage.coordinates[k], np.flatnonzero(excess)
            count = f"{len(frames)} of {len(clip)} frames, the first at {clip.times[frames[0]]:.4g} s"
            most = _amount(clip.linkage, k, excess)
            text = f"motion {name!r} exceeds the limits of {coordinate!r} by up to {most} in {count}."
            yield Remark("unreachable-key", text, where=coordinate)


def _amount(linkage: Linkage, k: int, excess: FloatArray) -> str:
    """Return the largest excess of a coordinate, with its unit."""
    return f"{excess.max():.4g} {linkage.table.units[k] or 'rad'}"


def _beyond(linkage: Linkage, poses: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """Yield the coordinates that exceed their limits, and their excess in each of the poses (n, nq)."""
    excess = np.maximum(linkage.lower - poses, poses - linkage.upper)
    for cone in linkage.cones:
        excess[:, cone.q] = cones.excess(cone, poses)
    excess = np.where(excess > SLACK, excess, 0.0)
    for k in np.flatnonzero(excess.any(axis=0)).tolist():
        yield k, excess[:, k]


def _loops(linkage: Linkage) -> Iterator[Remark]:
    for goal in closings(linkage):
        part = goal.part
        if isinstance(part, Loop):
            kind, text = "loop", f"{part.first!r} and {part.second!r} close a loop ({part.kind})"
        else:
            kind, text = "coupling", f"{coupling_text(part)} is a coupling"
        yield Remark(kind, f"{text}: solves close it, but a pose may leave it open.", where=part.name)
        for name, pose in linkage.poses.items():
            gap = float(np.abs(goal.error(linkage, pose)).max())
            if gap > OPEN:
                yield Remark(f"open-{kind}", f"pose {name!r} leaves {kind} {part.name!r} open by {gap:.4g}.", part.name)
