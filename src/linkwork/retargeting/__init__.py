"""Retargeting: a motion of one skeleton made one of another, of any figure or robot arm.

Imports the modules of this folder: `names` and `topology` tell what the links of a linkage are in a body, `skeletons`
holds it, `transfer` hands over orientations, `corrections` smooth and fade, `plans` says where feet, hips and hands go,
`figures` and `hands` put it together, `wishes` solves it, `turns` keeps it free of gimbal lock, `report` judges it and
`maps` reads and writes joint maps.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import MappingError, OptionError
from ..linkage.joints import Fixed
from ..linkage.linkage import Linkage
from ..motion.checks import has_stray_first_frame, without_first_frame
from ..motion.clips import Clip
from ..motion.contacts import Thresholds, find_contacts
from . import body as figures
from .arm import HandPlan, arm_of, plan_hand
from .frame_goals import Progress
from .maps import as_map, read_map, write_map
from .names import ROLES
from .quaternion_form import with_angles, without_angles
from .report import Report, measure
from .skeletons import Skeleton, recognise

__all__ = [
    "ROLES",
    "Outcome",
    "Report",
    "Skeleton",
    "Thresholds",
    "find_contacts",
    "read_map",
    "recognise",
    "retarget",
    "retarget_file",
    "transferred",
    "write_map",
]

SMOOTH = 0.01
LEADING = "right_hand"
LEAST_JOINTS = 3  # of an arm
ALONE = "frame 0 left out: it is a pose of its own, not of the motion"
MapLike = Mapping[str, Any] | str | os.PathLike[str] | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """A retargeted motion and how it came about.

    Args:
        clip: The motion of the target.
        source: The roles of the source's links.
        target: Those of the target's; None for an arm that follows a hand.
        plan: What it should do.
        frame: The frame that follows the source, of an arm.
        remarks: What was done to the source that nobody asked for, in words.
    """

    clip: Clip
    source: Skeleton
    target: Skeleton | None
    plan: figures.Plan | HandPlan
    frame: str = ""
    remarks: tuple[str, ...] = ()

    @cached_property
    def report(self) -> Report:
        """How good it is, measured when it is first asked for."""
        return measure(self.plan, self.clip)


def retarget(
    clip: Clip,
    linkage: Linkage,
    *,
    map: MapLike = None,  # noqa: A002 - the word for it
    role: str | None = None,
    frame: str | None = None,
    root: str = "auto",
    smooth: float = SMOOTH,
    first: str = "auto",
    contacts: Thresholds | None = None,
    progress: Progress | None = None,
) -> Clip:
    """Return a motion of one skeleton as a motion of another.

    Which link is which part of the body is told from names and shape. Orientations are handed over bone by bone; feet,
    hands, hips and gaze are goals; planted feet stay where they are and limits hold. An arm that is no figure follows
    one hand.

    Args:
        clip: The motion.
        linkage: The figure or robot that should move so. Its ground is z = 0.
        map: Roles that are known: ``{"source": {role: link}, "target": {...}}``, or a YAML file of that. A link that is
            None takes the role away.
        role: What of the source leads an arm, ``"right_hand"`` by default; given for a figure, it is treated as an arm.
        frame: What of an arm is led; ``"tip"`` or its last link by default.
        root: ``"auto"`` lets a figure with legs that is fixed to the ground float, in a linkage of its own;
            ``"keep"`` leaves it fixed.
        smooth: Over which time the motion is smoothed [s]; what shakes faster is noise. 0 leaves it as it is.
        first: ``"auto"`` leaves out a first frame that is a pose of its own, such as a T-pose, from which the motion
            jumps away at once; ``"keep"`` takes it as part of the motion.
        contacts: What counts as a planted foot.
        progress: Told how many frames of how many are solved.

    Raises:
        MappingError: If the parts of a skeleton cannot be told.

    Example:
        >>> import linkwork as lw
        >>> wave = lw.models.motion("human:floating")
        >>> lw.retarget(wave, lw.models.human(height=1.2, root="floating"))
        <Clip of 'human': 55 frames, 2.25 s>
    """
    return transferred(
        clip, linkage, map=map, role=role, frame=frame, root=root, smooth=smooth, first=first, contacts=contacts,
        progress=progress,
    ).clip  # fmt: skip


def transferred(
    clip: Clip,
    linkage: Linkage,
    *,
    map: MapLike = None,  # noqa: A002
    role: str | None = None,
    frame: str | None = None,
    root: str = "auto",
    smooth: float = SMOOTH,
    first: str = "auto",
    contacts: Thresholds | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Do what `retarget` does, and return the maps and a report beside the motion."""
    _check(clip, linkage, role, root, smooth, first)
    origin = f"retargeted from {clip.source or clip.linkage.name}"
    remarks: tuple[str, ...] = ()
    if first == "auto" and has_stray_first_frame(clip):
        clip, origin, remarks = without_first_frame(clip), f"{origin} without its first frame", (ALONE,)
    given = as_map(map)
    source = recognise(clip.linkage, given["source"], what="source")
    target = None
    if role is None and frame is None:
        target = _figure(linkage, given["target"])
    if target is None:
        path = plan_hand(clip, source, linkage, role=role or LEADING, frame=frame, smooth=smooth, progress=progress)
        result = Clip(linkage, clip.times, path.poses, name=clip.name, source=origin)
        return Outcome(result, source, None, path, path.frame, remarks)
    if root == "auto" and target.has_legs and isinstance(linkage.root.articulation, Fixed):
        target = Skeleton(linkage.replace(root="floating"), target.roles, target.reasons)
    solved = Skeleton(without_angles(target.linkage), target.roles, target.reasons)
    plan = figures.plan(clip, source, solved, contacts or Thresholds(), smooth)
    poses = with_angles(target.linkage, solved.linkage, figures.solve(plan, progress))
    result = Clip(target.linkage, clip.times, poses, name=clip.name, source=origin)
    return Outcome(result, source, target, plan, remarks=remarks)


def _check(clip: Any, linkage: Any, role: Any, root: Any, smooth: Any, first: Any) -> None:
    if not isinstance(clip, Clip):
        raise OptionError(f"retarget takes a clip and then a linkage; got {type(clip).__name__} first.")
    if not isinstance(linkage, Linkage):
        raise OptionError(f"retarget takes a linkage to move; got {type(linkage).__name__}.")
    if role is not None and role not in ROLES:
        raise MappingError(f"no role {role!r}; roles are {', '.join(ROLES)}.")
    if root not in ("auto", "keep"):
        raise OptionError(f"root is 'auto' or 'keep', got {root!r}.")
    if first not in ("auto", "keep"):
        raise OptionError(f"first is 'auto' or 'keep', got {first!r}.")
    if isinstance(smooth, bool) or not isinstance(smooth, int | float | np.number) or not 0.0 <= smooth < 10.0:
        raise OptionError(f"smooth is a time from 0 to 10 seconds, got {smooth!r}.")


def _figure(linkage: Linkage, given: Mapping[str, Any]) -> Skeleton | None:
    """Return the roles of a figure, or None for a single arm."""
    try:
        return recognise(linkage, given, what="target")
    except MappingError:
        turning = sum(linkage.arcs[arc].articulation.nv > 0 for arc in arm_of(linkage))
        if given or turning < LEAST_JOINTS or linkage.root.articulation.nv:  # no chain of joints that ends in one tool
            raise
        return None


def retarget_file(
    source: str | os.PathLike[str],
    target: Linkage,
    output: str | os.PathLike[str],
    *,
    clip: str | None = None,
    **options: Any,
) -> Outcome:
    """Retarget the motion in a file and write it to another, whole or not at all.

    Args:
        source: A file with a motion.
        target: The figure or robot.
        output: The file to write; its suffix says how.
        clip: Which motion, where a file holds several; the first by default.
        **options: As in `retarget`.
    """
    from .. import formats

    outcome = transferred(formats.load_clip(source, name=clip), target, **options)
    formats.save(outcome.clip, output)
    return outcome
