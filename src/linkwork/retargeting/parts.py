"""Parts of a body by name: the joints of its arms, legs and head; and layering of motions by part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import MappingError, OptionError
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike
from ..motion.clips import Clip
from ..motion.frame_files import Frames
from ..motion.layers import Weight, columns_of, laid_over
from .frame_blocks import frame_blocks, pose_blocks
from .names import ENDS, FINGERS, SIDES
from .quadrupeds import Quadruped, find_quadruped
from .recognition import recognise
from .skeletons import Skeleton

# Basic parts, by the roles they may begin with: the first that is known counts.
LIMBS: dict[str, tuple[str, ...]] = {"head": ("neck", "head"), "tail": ("tail",)}
for _side in SIDES:
    LIMBS[f"{_side}_arm"] = (f"{_side}_clavicle", f"{_side}_shoulder")
    LIMBS[f"{_side}_leg"] = (f"{_side}_hip",)
    LIMBS[f"{_side}_hand"] = (f"{_side}_hand",)
    for _end in ENDS:
        LIMBS[f"{_side}_{_end}_leg"] = (f"{_side}_{_end}_blade", f"{_side}_{_end}_upper")
GROUPS: dict[str, tuple[str, ...]] = {
    "arms": ("left_arm", "right_arm"),
    "legs": ("left_leg", "right_leg", "left_fore_leg", "right_fore_leg", "left_hind_leg", "right_hind_leg"),
    "fore_legs": ("left_fore_leg", "right_fore_leg"),
    "hind_legs": ("left_hind_leg", "right_hind_leg"),
    "hands": ("left_hand", "right_hand"),
    "fingers": ("left_fingers", "right_fingers"),
    "upper_body": ("trunk", "arms", "head"),
    "lower_body": ("root", "legs"),
}
PARTS = ("root", "trunk", *LIMBS, "left_fingers", "right_fingers", *GROUPS)


def layer(
    base: Clip,
    over: Clip,
    *,
    parts: str | Sequence[str] | None = None,
    joints: Iterable[str] | None = None,
    weight: Weight = 1.0,
    additive: bool = False,
    reference: PoseLike | None = None,
    start: float = 0.0,
    fade: float = 0.0,
    map: Any = None,  # noqa: A002 - the word for it
) -> Clip:
    """Return a motion with another laid over it: a wave of the arms over a walk, a nod added to it.

    Args:
        base: The motion below, whose times the result has.
        over: The motion above, of the same linkage. Before it starts and after it ends, the base is played.
        parts: Parts of the body in which it is laid over: words of `PARTS`, such as ``"arms"``, ``"upper_body"`` or
            ``"left_hand"``, or roles.
        joints: Names of joints, in addition to these; with neither, all but those of the root.
        weight: Weight of `over`: a number from 0 to 1, one for each frame of the base, or a function of the time since
            the start of the base [s].
        additive: Add the difference of `over` from its reference to the base, instead of covering the base. Values are
            clamped to limits.
        reference: The pose that adds nothing; the first of `over` by default.
        start: Start of `over`, after the start of the base [s].
        fade: Time to fade in and out [s].
        map: Known roles of the linkage: link by role, for parts of bodies that are not recognised.

    Example:
        >>> import linkwork as lw
        >>> wave = lw.models.motion("human:floating")
        >>> still = lw.Clip(wave.linkage, wave.times, [wave.poses[0]] * len(wave))
        >>> both = lw.layer(still, wave, parts=["right_arm"], fade=0.2)
        >>> hands = [bool(abs(both.forward(frame=f"{side}_palm") - still.forward(frame=f"{side}_palm")).max() > 0.1)
        ...          for side in ("left", "right")]
        >>> hands
        [False, True]
    """
    for clip in (base, over):
        if not isinstance(clip, Clip):
            raise OptionError(f"layer takes two clips, the one below and the one above; got {type(clip).__name__}.")
    chosen = joints_of(base.linkage, parts, joints, map=map)
    return laid_over(
        base, over, chosen, weight=weight, additive=additive, reference=reference, start=start, fade=fade
    )  # fmt: skip


def joints_of(
    linkage: Linkage,
    parts: str | Sequence[str] | None = None,
    joints: Iterable[str] | None = None,
    *,
    map: Any = None,  # noqa: A002 - the word for it
) -> tuple[str, ...]:
    """Return the names of the joints that move some parts of a body; without any names, all but those of the root.

    Args:
        linkage: The body.
        parts: Parts of the body: words of `PARTS`, such as ``"arms"``, or roles.
        joints: Names of joints, in addition to these.
        map: Known roles of the linkage: link by role.

    Raises:
        MappingError: If the body has no such part.

    Example:
        >>> import linkwork as lw
        >>> joints_of(lw.models.human(), "head")
        ('neck', 'head')
    """
    named = [] if joints is None else [joints] if isinstance(joints, str) else list(joints)
    columns_of(linkage, named)  # refuses names that are not joints, or joints that follow another
    wanted = [] if parts is None else [parts] if isinstance(parts, str) else list(parts)
    if not wanted and not named:
        arcs = set(range(1, len(linkage.arcs)))
    else:
        figure = (find_quadruped(linkage, map) or recognise(linkage, map, what="body")) if wanted else None
        arcs = {i for part in wanted for i in _arcs(figure, part)} if figure is not None else set()
    arcs |= {linkage.arc_index(name) for name in named}
    return tuple(
        arc.name for i, arc in enumerate(linkage.arcs) if i in arcs and linkage.drives[i].nq and arc.mimic is None
    )


def _arcs(figure: Skeleton | Quadruped, part: str) -> set[int]:
    """Return the joints of a part."""
    linkage = figure.linkage
    if part in GROUPS:
        found = [_arcs(figure, one) for one in GROUPS[part] if _known(figure, one)]
        if found:
            return set().union(*found)
    elif part == "root":
        return set(linkage.path_to(figure.roles["hips"])[0])
    elif part == "trunk":
        others = [one for one in ("root", "head", "tail", "arms", "legs") if _known(figure, one)]
        return set(range(len(linkage.arcs))) - set().union(*(_arcs(figure, one) for one in others))
    elif part.endswith("_fingers") and _known(figure, part):
        return {i for link in _finger_links(figure, part) for i in _below(linkage, link)}
    elif part in LIMBS and _known(figure, part):
        return _below(linkage, next(figure.roles[role] for role in LIMBS[part] if role in figure.roles))
    elif part in figure.roles:
        own = figure.body(part) if isinstance(figure, Skeleton) else figure.roles[part]
        path = linkage.path_to(own)[0]
        return set(path[path.index(linkage.link_index(figure.roles[part])) :])
    there = [one for one in PARTS if _known(figure, one)]
    raise MappingError(
        f"no part {part!r} in {linkage.name!r}. It has {', '.join(there)}, and the roles {', '.join(figure.roles)}."
    )


def _known(figure: Skeleton | Quadruped, part: str) -> bool:
    if part in GROUPS:
        return any(_known(figure, one) for one in GROUPS[part])
    if part.endswith("_fingers"):
        return bool(_finger_links(figure, part))
    return part in ("root", "trunk") or any(role in figure.roles for role in LIMBS.get(part, ()))


def _finger_links(figure: Skeleton | Quadruped, part: str) -> list[str]:
    side = part.removesuffix("_fingers")
    return [figure.fingers[role] for role in FINGERS if role in figure.fingers and role.startswith(side)]


def _below(linkage: Linkage, link: str) -> set[int]:
    """Return a link and all its descendants."""
    top = linkage.link_index(link)
    result = {top}
    for i in range(top + 1, len(linkage.links)):
        if linkage.parents[i] in result:
            result.add(i)
    return result


def only_parts(clip: Clip, parts: str | Sequence[str], over: Clip | None, rest: Any, given: Any) -> Clip:
    """Return a motion in some parts of a body only, over another motion or over a resting body.

    Args:
        clip: The motion of the whole body.
        parts: The parts that move.
        over: The motion below, whose times the result has.
        rest: The pose of the other parts, if `over` is None.
        given: Known roles of the body.
    """
    chosen = joints_of(clip.linkage, parts, map=given)
    if over is None:
        frames = Frames(clip.linkage.nq)
        for rows in frame_blocks(len(clip)):
            frames.add(np.repeat(rest[None], rows.stop - rows.start, axis=0))
        still = Clip(clip.linkage, clip.times, frames.array(), name=clip.name)
        return laid_over(still, clip, chosen)
    return laid_over(over, _as_motion_of(over.linkage, clip, chosen), chosen)


def _as_motion_of(linkage: Linkage, clip: Clip, joints: Iterable[str]) -> Clip:
    """Return a motion in some joints as one of a linkage that has the same joints; roots may differ."""
    columns = []
    for name in joints:
        here, there = linkage.arc_index(name), clip.linkage.arc_index(name)
        if linkage.arcs[here].articulation != clip.linkage.arcs[there].articulation:
            raise OptionError(
                f"joint {name!r} of {linkage.name!r} differs from that of {clip.linkage.name!r}: over= must be a motion"
                " of the target."
            )
        columns.append((linkage.drives[here].columns, clip.linkage.drives[there].columns))
    frames = Frames(linkage.nq)
    for block in pose_blocks(clip):
        poses = np.repeat(linkage.neutral()[None], len(block), axis=0)
        for own, others in columns:
            poses[:, own] = block[:, others]
        frames.add(poses)
    return Clip(linkage, clip.times, frames.array())
