"""From a clip and a linkage to a clip of that linkage: roles recognised, goals planned, poses solved."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypedDict, Unpack

from .. import formats
from ..errors import MappingError, OptionError
from ..linkage.joints import Fixed, Floating
from ..linkage.linkage import Linkage, check_linkage
from ..motion.checks import has_stray_first_frame, without_first_frame
from ..motion.clips import Clip
from ..motion.contacts import Thresholds
from ..transforms import is_number
from . import body
from .arm import HandPlan, arm_of, plan_hand
from .core import core_of, widened
from .finger_motion import move_fingers
from .frame_goals import Progress
from .gaits import GaitPlan, plan_gait, solve_gait
from .maps import as_map
from .names import ROLES
from .quadrupeds import Quadruped, find_quadruped
from .quaternion_form import with_angles, without_angles
from .recognition import recognise
from .report import Report, measure
from .skeletons import Skeleton
from .twists import share_twist

SMOOTH = 0.01
LEADING = "right_hand"
LEAST_JOINTS = 3  # of an arm
STRAY = "frame 0 left out: it is a pose of its own, not of the motion"

MapLike = Mapping[str, Any] | str | os.PathLike[str] | None
Choice = Literal["auto", "keep"]


class RetargetOptions(TypedDict, total=False):
    """The options of `retarget_with_report`, for calls that pass them on."""

    map: MapLike
    role: str | None
    frame: str | None
    root: Choice
    smooth: float
    first: Choice
    contacts: Thresholds | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """A retargeted motion and how it was made.

    Args:
        clip: The motion of the target.
        source: The roles of the source's links.
        target: Those of the target's; None for an arm that follows a hand.
        plan: The goals that were solved for.
        frame: The frame of an arm that follows the source.
        remarks: What was changed in the source without being asked for, in words.
    """

    clip: Clip
    source: Skeleton | Quadruped
    target: Skeleton | Quadruped | None
    plan: body.Plan | HandPlan | GaitPlan
    frame: str = ""
    remarks: tuple[str, ...] = ()

    @cached_property
    def report(self) -> Report:
        """How good it is, measured on first use."""
        return measure(self.plan, self.clip)


def retarget(
    clip: Clip, linkage: Linkage, *, progress: Progress | None = None, **options: Unpack[RetargetOptions]
) -> Clip:
    """Return a motion of one skeleton as a motion of another.

    Links get their roles in the body by name and shape. Orientations are transferred bone by bone; feet, hands, hips
    and gaze are goals; planted feet stay where they are and limits hold. A robot arm follows one hand.

    Args:
        clip: The motion.
        linkage: The body or robot that should move. Its ground is z = 0.
        progress: Called with the number of frames solved and of all frames.
        **options: As in `retarget_with_report`: map, role, frame, root, smooth, first, contacts.

    Raises:
        MappingError: If the roles of a skeleton cannot be found.

    Example:
        >>> import linkwork as lw
        >>> wave = lw.models.motion("human:floating")
        >>> lw.retarget(wave, lw.models.human(height=1.2, root="floating"))
        <Clip of 'human': 55 frames, 2.25 s>
    """
    return retarget_with_report(clip, linkage, progress=progress, **options).clip


def retarget_with_report(
    clip: Clip,
    linkage: Linkage,
    *,
    map: MapLike = None,  # noqa: A002 - the word for it
    role: str | None = None,
    frame: str | None = None,
    root: Choice = "auto",
    smooth: float = SMOOTH,
    first: Choice = "auto",
    contacts: Thresholds | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Do what `retarget` does, and return the roles and a report beside the motion.

    Args:
        clip: The motion.
        linkage: The body or robot that should move. Its ground is z = 0.
        map: Known roles: ``{"source": {role: link}, "target": {...}}``, or a YAML file of that. A link of None removes
            the role.
        role: The part of the source that leads an arm, ``"right_hand"`` by default; given for a body, the body is
            treated as an arm.
        frame: The frame of an arm that is led; ``"tip"`` or its last link by default.
        root: ``"auto"`` gives a body with legs and a fixed root a floating one, in a linkage of its own; ``"keep"``
            leaves it fixed.
        smooth: Time over which the motion is smoothed [s]; 0 leaves it as it is.
        first: ``"auto"`` drops a first frame that is not part of the motion, such as a T-pose; ``"keep"`` keeps it.
        contacts: What counts as a planted foot.
        progress: Called with the number of frames solved and of all frames.

    Raises:
        MappingError: If the roles of a skeleton cannot be found.
    """
    _check(clip, linkage, role, root, smooth, first)
    origin = f"retargeted from {clip.source or clip.linkage.name}"
    remarks: tuple[str, ...] = ()
    if first == "auto" and has_stray_first_frame(clip):
        clip, origin, remarks = without_first_frame(clip), f"{origin} without its first frame", (STRAY,)
    given = as_map(map)
    beast, other = find_quadruped(clip.linkage, given["source"]), find_quadruped(linkage, given["target"])
    if beast is not None and other is not None:
        return _on_four_legs(clip, beast, other, contacts or Thresholds(), smooth, origin, remarks, progress)
    if beast is not None or other is not None:
        pair = (clip.linkage, linkage) if beast is not None else (linkage, clip.linkage)
        raise MappingError(
            f"{pair[0].name!r} stands on four legs, {pair[1].name!r} does not. Motions go from four legs to four and"
            " from two to two; a map (map=, --map) that names arms and legs treats a four-legged figure as a person."
        )
    source = replace(recognise(clip.linkage, given["source"], what="source"), seen=clip)
    target = _body(linkage, given["target"]) if role is None and frame is None else None
    if target is None:
        path = plan_hand(clip, source, linkage, role=role or LEADING, frame=frame, smooth=smooth, progress=progress)
        result = Clip(linkage, clip.times, path.poses, name=clip.name, source=origin)
        return Outcome(result, source, None, path, path.frame, remarks)
    if root == "auto" and target.has_legs and isinstance(linkage.root.articulation, Fixed):
        target = replace(target, linkage=linkage.replace(root="floating"))
    solved = replace(target, linkage=without_angles(target.linkage))
    core = core_of(solved)
    plan = body.plan(clip, source, core, contacts or Thresholds(), smooth)
    poses = widened(solved, core.linkage, body.solve(plan, progress))
    poses = share_twist(solved, move_fingers(clip, source, solved, poses))
    poses = with_angles(target.linkage, solved.linkage, poses)
    result = Clip(target.linkage, clip.times, poses, name=clip.name, source=origin)
    return Outcome(result, source, target, plan, remarks=remarks)


def _on_four_legs(
    clip: Clip,
    source: Quadruped,
    target: Quadruped,
    rules: Thresholds,
    smooth: float,
    origin: str,
    remarks: tuple[str, ...],
    progress: Progress | None,
) -> Outcome:
    """Return the motion of one four-legged figure given to another."""
    if not isinstance(target.linkage.root.articulation, Floating):
        target = replace(target, linkage=target.linkage.replace(root="floating"))
    solved = replace(target, linkage=without_angles(target.linkage))
    plan = plan_gait(clip, source, solved, rules, smooth)
    poses = with_angles(target.linkage, solved.linkage, solve_gait(plan, progress))
    result = Clip(target.linkage, clip.times, poses, name=clip.name, source=origin)
    return Outcome(result, source, target, plan, remarks=remarks)


def _check(clip: Any, linkage: Any, role: Any, root: Any, smooth: Any, first: Any) -> None:
    if not isinstance(clip, Clip):
        raise OptionError(f"retarget takes a clip and then a linkage; got {type(clip).__name__} first.")
    check_linkage(linkage)
    if role is not None and role not in ROLES:
        raise MappingError(f"no role {role!r}; roles are {', '.join(ROLES)}.")
    for name, value in (("root", root), ("first", first)):
        if value not in ("auto", "keep"):
            raise OptionError(f"{name} is 'auto' or 'keep', got {value!r}.")
    if not is_number(smooth) or not 0.0 <= smooth < 10.0:
        raise OptionError(f"smooth is a time from 0 to 10 seconds, got {smooth!r}.")


def _body(linkage: Linkage, given: Mapping[str, Any]) -> Skeleton | None:
    """Return the roles of a body, or None for a single arm."""
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
    **options: Unpack[RetargetOptions],
) -> Outcome:
    """Retarget the motion in a file and write it to another, completely or not at all.

    Args:
        source: A file with a motion.
        target: The body or robot.
        output: The file to write, in the format of its suffix.
        clip: Name of the motion, if the file holds several; the first by default.
        **options: As in `retarget`.
    """
    outcome = retarget_with_report(formats.load_clip(source, name=clip), target, **options)
    formats.save(outcome.clip, output)
    return outcome
