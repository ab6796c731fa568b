"""Retarget a clip to another linkage: recognise roles, plan goals, solve poses."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from .. import formats
from ..errors import MappingError, OptionError
from ..goals import Avoid, as_avoid
from ..goals.avoid import AvoidLike
from ..linkage.joints import Fixed, Floating
from ..linkage.linkage import Linkage, check_linkage
from ..motion.checks import has_stray_first_frame, without_first_frame
from ..motion.clips import Clip
from ..motion.contacts import Contacts, Thresholds
from ..motion.frame_files import frames_in
from ..motion.frame_goals import Progress
from ..transforms import is_number
from . import body
from .apart import as_wish, shaken, touching
from .arm import HandPlan, arm_of, plan_hand
from .core import core_of
from .detached import with_detached_feet
from .gaits import GaitPlan
from .kin import Kinship, kinship
from .maps import as_map
from .measures import measure
from .names import ROLES
from .onto_bodies import Manner, Pair, onto_body
from .onto_quadrupeds import onto_quadruped
from .parts import PARTS, only_parts
from .quadrupeds import Quadruped, find_quadruped
from .quaternion_form import converted, without_angles
from .recognition import recognise
from .report import Report
from .rest_poses import RestLike, excerpt, sampled, stands, with_rest
from .skeletons import Skeleton

SMOOTH = 0.01
LEADING = "right_hand"
LEAST_JOINTS = 3  # of an arm
STRAY = "frame 0 left out: it is a separate pose, not part of the motion; first='keep' (--keep-first) keeps it"
ITSELF = "the target is the source's own skeleton: the motion is copied unchanged"
LYING = "the source lies or bends in most frames; if its file has another axis up, set it with up=... (--up)"
UPRIGHT = 0.5  # least height of an upright trunk over its length

MapLike = Mapping[str, Any] | str | os.PathLike[str] | None
Choice = Literal["auto", "keep"]


class RetargetOptions(TypedDict, total=False):
    """The options of `retarget_with_report`, for calls that pass them on."""

    map: MapLike
    role: str | None
    frame: str | None
    root: Choice
    smooth: float | None
    first: Choice
    contacts: Contacts | None
    in_place: bool
    rest: RestLike
    target_rest: RestLike
    parts: str | Sequence[str] | None
    over: Clip | None
    avoid: AvoidLike


def manner_of(
    contacts: Contacts | None, smooth: float | None, progress: Progress | None, avoid: Avoid | None
) -> Manner:
    """Return the options of retargeting, with defaults filled in."""
    rules = Thresholds() if contacts is None else contacts
    return Manner(rules, SMOOTH if smooth is None else smooth, progress, as_wish(avoid))


@dataclass(frozen=True, eq=False)
class Outcome:
    """A retargeted motion and how it was made.

    Args:
        clip: The motion of the target.
        source: The roles of the source's links.
        target: Those of the target's; None for an arm that follows a hand.
        plan: The goals that were solved for; None for a long motion, which is solved in stretches.
        frame: The frame of an arm that follows the source.
        remarks: Sentences on changes to the source, and on problems.
        whole: The motion of the whole target, if `clip` has only some parts of it; the report is about this one.
        measured: The report, if there is no plan.
    """

    clip: Clip
    source: Skeleton | Quadruped
    target: Skeleton | Quadruped | None
    plan: body.Plan | HandPlan | GaitPlan | None
    frame: str = ""
    remarks: tuple[str, ...] = ()
    whole: Clip | None = None
    measured: Report | None = None

    @cached_property
    def report(self) -> Report:
        """Quality of the motion, measured on first use."""
        if self.measured is not None:
            return self.measured
        if self.plan is None:
            raise OptionError("an outcome without a plan needs a measured report.")
        return measure(self.plan, self.clip if self.whole is None else self.whole)

    def only(self, parts: str | Sequence[str] | None, over: Clip | None, given: Mapping[str, Any]) -> Outcome:
        """Return the outcome with a clip that moves only some parts, over another motion of the target."""
        if parts is None and over is None:
            return self
        if self.target is None:
            raise OptionError("parts= and over= are for bodies; an arm follows one hand as a whole.")
        if parts is None:
            raise OptionError(f"over= needs parts=, the parts that are laid over it: {', '.join(PARTS)}, or roles.")
        return replace(self, clip=only_parts(self.clip, parts, over, self.target.rest, given), whole=self.clip)

    def finished(self, name: str, source: str, remarks: tuple[str, ...], *, in_place: bool) -> Outcome:
        """Return the outcome with the name and source of its clip set, and in place on request."""
        clip = self.clip.in_place() if in_place else self.clip
        whole = self.clip if in_place and self.whole is None else self.whole
        return replace(self, clip=clip.named(name, source=source), remarks=(*remarks, *self.remarks), whole=whole)


def retarget(
    clip: Clip, linkage: Linkage, *, progress: Progress | None = None, **options: Unpack[RetargetOptions]
) -> Clip:
    """Transfer a motion of one skeleton to another body or to a robot arm.

    Links get their roles in the body by name and shape. Orientations are transferred bone by bone; feet, hands, hips
    and gaze are goals; planted feet stay where they are and limits hold. A robot arm follows one hand.

    Args:
        clip: The motion.
        linkage: The body or robot that should move. Its ground is z = 0.
        progress: Called with the number of frames solved and of all frames.
        **options: As in `retarget_with_report`: map, role, frame, root, smooth, first, contacts, in_place,
            rest, target_rest, parts, over, avoid.

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
    smooth: float | None = None,
    first: Choice = "auto",
    contacts: Contacts | None = None,
    in_place: bool = False,
    rest: RestLike = None,
    target_rest: RestLike = None,
    parts: str | Sequence[str] | None = None,
    over: Clip | None = None,
    avoid: AvoidLike = None,
    progress: Progress | None = None,
) -> Outcome:
    """Retarget a motion as `retarget` does, and return roles and a report in addition to the clip.

    Args:
        clip: The motion.
        linkage: The body or robot that should move. Its ground is z = 0.
        map: Known roles: ``{"source": {role: link}, "target": {...}}``, or a YAML file of that; None removes a role.
        role: Body part that an arm follows, ``"right_hand"`` by default; a body given a role is treated as an arm.
        frame: The frame of an arm that follows; ``"tip"`` or its last link by default.
        root: ``"auto"`` gives a body with legs a floating root, in a new linkage; ``"keep"`` leaves it fixed.
        smooth: Time over which the motion is smoothed [s], 0.01 by default; 0 turns smoothing off.
        first: ``"auto"`` drops a first frame that is not part of the motion, such as a T-pose; ``"keep"`` keeps it.
        contacts: Contacts of the feet: thresholds to detect them, or a list as `Clip.contacts` returns.
        in_place: Keep the root above its starting point; see `Clip.in_place`.
        rest: An upright reference pose of the source that defines its bones, instead of the whole motion: a frame
            number, ``"t-pose"`` or ``"a-pose"`` (searched for), ``"rest"`` (the file's rest pose) or a pose.
        target_rest: Reference pose of the target, instead of its skin's bind pose or its rest pose.
        parts: Parts of the body to move, such as ``"arms"``; the others rest, or move as in `over`.
        over: A motion of the target that these parts are laid over.
        avoid: An `Avoid` or `World` that the target keeps clear of; remarks report frames where it does not, or jumps.
        progress: Called with the number of frames solved and of all frames.

    A target with the source's own skeleton gets a copy, unless `smooth`, `contacts`, `avoid` or a rest pose is given.

    Raises:
        MappingError: If the roles of a skeleton cannot be found.
    """
    _check(clip, linkage, role, root, smooth, first)
    given, whole, apart = as_map(map), clip, as_avoid(avoid)
    (clip, origin, remarks), how = _begun(clip, first), manner_of(contacts, smooth, progress, apart)
    asked = bool(smooth) or any(one is not None for one in (contacts, rest, target_rest, avoid))
    if (beasts := _four_legged(clip, linkage, given)) is not None:
        made = _on_four_legs(clip, *beasts, None if asked else kinship(clip, linkage), how)
    else:
        source = _seen(clip, whole, given["source"], rest)
        if role is None and frame is None and (body_like := _body(linkage, given["target"])) is not None:
            target, own = _known(clip, body_like, root, target_rest)
            made = _onto_body(clip, source, target, None if asked else own, how)
        else:
            made = _onto_arm(clip, source, linkage, role or LEADING, frame, how)
    remarks += () if apart is None else (*touching(made.clip, apart), *shaken(made.clip, made.report.jerk))
    return made.only(parts, over, given["target"]).finished(clip.name, origin, remarks, in_place=in_place)


def _seen(clip: Clip, whole: Clip, given: Mapping[str, Any], rest: RestLike) -> Skeleton:
    """Return the skeleton of a source, judged by a rest pose or its motion; `whole` includes a left-out first frame."""
    source = with_detached_feet(recognise(clip.linkage, given, what="source", seen=sampled(clip)))
    return replace(with_rest(replace(source, seen=whole), rest, "rest"), seen=excerpt(clip))


def _onto_arm(
    clip: Clip,
    source: Skeleton,
    linkage: Linkage,
    role: str,
    frame: str | None,
    how: Manner,
) -> Outcome:
    """Return the motion of an arm that follows the path of a part of the source."""
    path = plan_hand(
        clip,
        source,
        linkage,
        role=role,
        frame=frame,
        smooth=how.smooth,
        progress=how.progress,
        avoid=how.avoid,
    )
    return Outcome(Clip(linkage, clip.times, path.poses), source, None, path, path.frame)


def _begun(clip: Clip, first: Choice) -> tuple[Clip, str, tuple[str, ...]]:
    """Return a clip without a first frame that is not part of it, the source text of the result, and a remark."""
    origin = f"retargeted from {clip.source or clip.linkage.name}"
    if first == "keep" or not has_stray_first_frame(clip):
        return clip, origin, ()
    return without_first_frame(clip), f"{origin} without its first frame", (STRAY,)


def _onto_body(
    clip: Clip,
    source: Skeleton,
    target: Skeleton,
    own: Clip | None,
    how: Manner,
) -> Outcome:
    """Return a motion retargeted to a body; `own` is the motion as one of the target, if it needs no solving."""
    made = onto_body(clip, Pair(source, target, *_solvable(target)), how, own)
    remarks: tuple[str, ...] = (ITSELF,)
    if own is None:
        lies = source.has_legs and source.posed is None and float(np.median(source.sight.trunk[:, 2])) < UPRIGHT
        remarks = (LYING,) if lies else ()
    return Outcome(made.clip, source, target, made.plan, remarks=remarks, measured=made.report)


def _solvable(target: Skeleton) -> tuple[Skeleton, Skeleton]:
    """Return a target in the form used for solving, and its core; cached in its linkage for further motions."""

    def make() -> tuple[Skeleton, Skeleton]:
        solved = _in(without_angles(target.linkage), target)
        return solved, core_of(solved)

    if target.seen is not None:  # specific to one motion
        return make()
    points = tuple((role, point.link, point.place.tobytes()) for role, point in target.points.items())
    hinges = tuple((role, axis.tobytes()) for role, axis in target.hinges.items())
    posed = None if target.posed is None else target.posed.tobytes()
    key = (*target.roles.items(), *target.fingers.items(), points, hinges, posed)
    return target.linkage.cache.get("solvable", key, make)


def _known(clip: Clip, target: Skeleton, root: Choice, target_rest: RestLike) -> tuple[Skeleton, Clip | None]:
    """Return a target with what defines its anatomy, and the motion if the target is the source's own skeleton.

    The anatomy comes from the rest pose or, if that is not a standing pose and the target has the source's joints and
    axes, from the motion.
    """
    target, linkage = with_rest(target, target_rest, "target_rest"), target.linkage
    own = kinship(clip, linkage)
    if own is None and root == "auto" and target.has_legs and isinstance(linkage.root.articulation, Fixed):
        free = linkage.cache.get("set free", "floating", lambda: linkage.replace(root="floating"))
        target = _in(free, target)
        own = kinship(clip, target.linkage)
    if own is None:
        return target, None
    if target_rest is None and not stands(target, target.rest):
        target = replace(target, seen=excerpt(own.clip))
    return target, own.clip if own.same and own.within_limits else None


def _in(linkage: Linkage, skeleton: Skeleton) -> Skeleton:
    """Return a skeleton in a linkage with the same links, whose joints may store rotations differently."""
    posed, seen = skeleton.posed, skeleton.seen
    return replace(
        skeleton,
        linkage=linkage,
        posed=None if posed is None else converted(linkage, skeleton.linkage, posed[None])[0],
        seen=None if seen is None else Clip(linkage, seen.times, converted(linkage, skeleton.linkage, seen.poses)),
    )


def _four_legged(
    clip: Clip, target: Linkage, given: Mapping[str, Mapping[str, Any]]
) -> tuple[Quadruped, Quadruped] | None:
    """Return source and target as quadrupeds, or None if neither is one; a single one is refused."""
    source = clip.linkage
    beast = find_quadruped(source, given["source"], seen=sampled(clip))
    key = tuple(given["target"].items())
    (other,) = target.cache.get("four legs", key, lambda: (find_quadruped(target, given["target"]),))
    if beast is not None and other is not None:
        return beast, other
    if beast is None and other is None:
        return None
    pair = (source, target) if beast is not None else (target, source)
    raise MappingError(
        f"{pair[0].name!r} stands on four legs, {pair[1].name!r} does not. Motions go from four legs to four and"
        " from two to two; a map (map=, --map) that names arms and legs treats a four-legged figure as a person."
    )


def _on_four_legs(
    clip: Clip,
    source: Quadruped,
    target: Quadruped,
    own: Kinship | None,
    how: Manner,
) -> Outcome:
    """Return the motion of one quadruped retargeted to another; `own` is set if both have the same joints."""
    free = target
    if not isinstance(target.linkage.root.articulation, Floating):
        free = replace(target, linkage=target.linkage.replace(root="floating"))
    if own is not None and own.same:
        made, plan, report = onto_quadruped(clip, source, free, how, own.clip)
        return Outcome(made, source, target, plan, remarks=(ITSELF,), measured=report)
    made, plan, report = onto_quadruped(clip, source, free, how)
    return Outcome(made, source, free, plan, measured=report)


def _check(clip: Any, linkage: Any, role: Any, root: Any, smooth: Any, first: Any) -> None:
    if not isinstance(clip, Clip):
        raise OptionError(f"retarget takes a clip and then a linkage; got {type(clip).__name__} first.")
    check_linkage(linkage)
    if role is not None and role not in ROLES:
        raise MappingError(f"no role {role!r}; roles are {', '.join(ROLES)}.")
    for name, value in (("root", root), ("first", first)):
        if value not in ("auto", "keep"):
            raise OptionError(f"{name} is 'auto' or 'keep', got {value!r}.")
    if smooth is not None and (not is_number(smooth) or not 0.0 <= smooth < 10.0):
        raise OptionError(f"smooth is a time from 0 to 10 seconds, got {smooth!r}.")


def _body(linkage: Linkage, given: Mapping[str, Any]) -> Skeleton | None:
    """Return the roles of a body, or None for a single arm."""
    try:
        return linkage.cache.get("body", tuple(given.items()), lambda: recognise(linkage, given, what="target"))
    except MappingError:
        turning = sum(linkage.arcs[arc].articulation.nv > 0 for arc in arm_of(linkage))
        if given or turning < LEAST_JOINTS or linkage.root.articulation.nv:  # not a serial arm with one tool
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
    with frames_in(Path(output).absolute().parent):
        outcome = retarget_with_report(formats.load_clip(source, name=clip), target, **options)
    formats.save(outcome.clip, output)
    return outcome
