"""Retarget a motion from one body to another: transfer orientations, then solve for feet, hands, hips and gaze."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import MappingError
from ..goals import Avoid
from ..linkage.joints import Floating
from ..linkage.linkage import Linkage
from ..motion.checks import runs
from ..motion.clips import Clip
from ..motion.contacts import Contacts, Mask
from ..motion.derivatives import jerk
from ..motion.frame_goals import GoalTrack, Progress, follow
from ..motion.smoothing import SpanMemory, smooth_cover, smoothed, turns_smoothed
from ..transforms import FloatArray, rotation_vector
from . import plans, transfer
from .apart import better_ways, kept_apart
from .clearance import Clearance
from .feet import LIFTING, FootPlan, levelling, plan_foot, plan_toes, widened, within_reach
from .names import SIDES
from .skeletons import ARMS, LEGS, Skeleton
from .strides import Footing, Stride, astride, footing_of, strides

# Weights of the goals, per metre and per radian.
PLANTED, HANDS, ANKLES, HIPS, UPRIGHT, TOES, GAZE, STYLE = 40.0, 8.0, 6.0, 2.0, 1.0, 0.3, 0.3, 0.2
SOLES, FLAT, FIRM = 0.1, 2.0, 6.0
TOUCHING = 0.002  # [m]: feet in the ground and hands in the body are corrected from this depth on
CORRECTIONS = 2  # number of rounds of moving feet out of the ground and hands out of the body
JUMP, LEAP = 0.6, 1.0  # [rad]: a larger rotation of hips, or of joints, in one frame is taken as a cut
CALM = 1.2  # hips that shake more than planned by this factor are smoothed


@dataclass(frozen=True)
class Plan:
    """All goals of the target, before they are solved for.

    Args:
        source: The source's skeleton.
        target: The target's skeleton.
        motion: The motion of the source.
        poses: Poses with the source's orientations, as nearly as joints and limits allow, (frames, nq).
        feet: Plans of the feet by side.
        hands: Positions of the hands by side, (frames, 3).
        reaches: Positions of the hands before they were kept out of the body, by side, (frames, 3).
        gaze: Direction that the target's face should point, (frames, 3), or None.
        scale: Length of the target's legs (or arms) over that of the source's.
        hips: Transforms of the hips, (frames, 4, 4).
        clearance: Distances that the hands keep from the body.
        chest: Orientations of the chest, (frames, 3, 3), or None.
        firmness: Factor on the weights of hips and chest.
        avoid: What the target keeps clear of, or None.
    """

    source: Skeleton
    target: Skeleton
    motion: Clip
    poses: FloatArray
    feet: Mapping[str, FootPlan]
    hands: Mapping[str, FloatArray]
    reaches: Mapping[str, FloatArray]
    gaze: FloatArray | None
    scale: float
    hips: FloatArray
    clearance: Clearance
    chest: FloatArray | None = None
    firmness: float = 1.0
    avoid: Avoid | None = None

    @cached_property
    def points(self) -> tuple[Linkage, dict[str, dict[str, str]]]:
        """The target with frames at ankles, toes and hands, and the names of these frames by side."""
        return plans.with_points(self.target, self.feet, self.hands)

    @property
    def linkage(self) -> Linkage:
        """The linkage of the goals: the target with frames at ankles, toes and hands."""
        return self.points[0]

    @cached_property
    def goals(self) -> list[GoalTrack]:
        """Goals of all frames."""
        target, ones = self.target, np.ones(len(self.poses))
        result: list[GoalTrack] = []
        for side, foot in self.feet.items():
            names = self.points[1][side]
            ankle = ANKLES * foot.near_ground(target.length(*LEGS[side]))
            result.append(GoalTrack("place", names["ankle"], foot.ankle, ankle + (PLANTED - ankle) * foot.heel_grip))
            result.append(GoalTrack("place", names["toe"], foot.toe, TOES + (PLANTED - TOES) * foot.toe_grip))
            result.append(GoalTrack("turn", foot.sole.body, foot.rotation, SOLES + (FLAT - SOLES) * foot.heel_grip))
        for side, places in self.hands.items():
            result.append(GoalTrack("place", self.points[1][side]["hand"], places, HANDS * ones))
        upright = np.sqrt(self.firmness) * UPRIGHT * ones
        if self.feet:
            result.append(GoalTrack("place", target.roles["hips"], self.hips[:, :3, 3], self.firmness * HIPS * ones))
            result.append(GoalTrack("turn", target.roles["hips"], self.hips[:, :3, :3], upright))
        if self.chest is not None:
            result.append(GoalTrack("turn", target.roles["chest"], self.chest, upright))
        if self.gaze is not None:
            ahead = target.anatomy["head"][:, 0]
            result.append(GoalTrack("direction", target.body("head"), self.gaze, GAZE * ones, axis=ahead))
        return [*result, GoalTrack("pose", "", self.poses, STYLE * ones)]


@dataclass(frozen=True, eq=False)
class Known:
    """What the plan for a part of a long motion takes from the whole motion, and from the part before.

    Args:
        footing: Contacts of the source's feet, by side, over the frames of the part.
        torsions: Rotation of the feet about their shanks, by side.
        levelling: Rotations that make planted feet level, by side; None for a foot that is never planted.
        memory: Values that are constant over each contact.
        begin: The pose of `Plan.poses` in the first frame, from the part before; None in the first part.
    """

    footing: Mapping[str, Footing]
    torsions: Mapping[str, float]
    levelling: Mapping[str, FloatArray | None]
    memory: SpanMemory
    begin: FloatArray | None = None


def walks(source: Skeleton, target: Skeleton) -> bool:
    """Return whether the feet of a source lead those of a target: both have legs, and the target's root is floating."""
    legs = all(skeleton.has_legs and skeleton.length(*LEGS["left"]) > plans.SHORTEST for skeleton in (source, target))
    return legs and isinstance(target.linkage.root.articulation, Floating)


def plan(
    motion: Clip, source: Skeleton, target: Skeleton, rules: Contacts, smooth: float = 0.0, known: Known | None = None
) -> Plan:
    """Return the goals that make the target move like the source.

    Args:
        motion: The motion of the source.
        source: The source.
        target: The target.
        rules: Criteria for a planted foot.
        smooth: Smoothing time of the source [s].
        known: Data of the longer motion, if this is a part of one.
    """
    if not any(role in target and role.endswith(("_hand", "_ankle", "_elbow", "_knee")) for role in source.roles):
        raise MappingError(
            f"{source.linkage.name!r} and {target.linkage.name!r} have no limb in common: the source has"
            f" {', '.join(source.roles)}; the target has {', '.join(target.roles)}. Give the missing roles by map="
            f" (--map); --write-map writes what was found."
        )
    times = motion.times
    axes = transfer.anatomical_motion(motion, source)
    axes = transfer.without_torsion(transfer.torsions(target, axes) if known is None else known.torsions, axes)
    axes = {role: turns_smoothed(axes.pop(role), times, smooth) for role in tuple(axes)}
    places = {role: smoothed(source.path(role, motion.poses), times, smooth) for role in source.roles}
    free = isinstance(target.linkage.root.articulation, Floating)
    if not free:
        axes, places = _seen_from_hips(target, axes, places)
    wanted = transfer.wanted_rotations(target, axes)
    feet: dict[str, FootPlan] = {}
    scale = _scale(source, target)
    if walks(source, target):
        steps = strides(motion, source, footing_of(motion, source, rules) if known is None else known.footing, smooth)
        steps = astride(steps, axes["hips"], _hip_width(target) / scale - _hip_width(source))
        feet = {side: _foot(target, side, step, axes, scale, times, known) for side, step in steps.items()}
        wanted |= _feet_wanted(target, feet, axes, times)
    poses = transfer.joint_values(target, wanted, None if known is None else known.begin)
    for side, foot in feet.items():
        reached = target.linkage.forward(poses, frame=foot.sole.body)[:, :3, :3]
        feet[side] = within_reach(foot, reached, times, side, None if known is None else known.memory)
    if feet:
        centre = scale * (middle := (places["left_hip"] + places["right_hip"]) / 2.0)
        level = np.mean([steps[side].footing.level for side in SIDES])
        ankles = np.mean([foot.sole.height for foot in feet.values()])
        centre[:, 2] = scale * (middle[:, 2] - level) + ankles
        plans.plan_hips(target, poses, centre, feet, times)
    elif free:
        transfer.place_root(target, poses, ["hips"], scale * places["hips"])
    hands = plans.plan_hands(source, target, places, poses, times)
    for side, goal in hands.items() if feet else ():
        goal[:, 2] = plans.above_ground(goal[:, 2], scale * (places[f"{side}_hand"][:, 2] - level) + ankles)
    clearance = Clearance.of(source, target, places)
    kept = clearance.kept(hands, poses, times)
    gaze = axes["head"][:, :, 0] if "head" in axes and "head" in target else None
    hips = target.linkage.forward(poses, frame=target.roles["hips"])
    return Plan(source, target, motion, poses, feet, kept, hands, gaze, scale, hips, clearance, wanted.get("chest"))


def _foot(
    target: Skeleton,
    side: str,
    step: Stride,
    axes: Mapping[str, FloatArray],
    scale: float,
    times: FloatArray,
    known: Known | None,
) -> FootPlan:
    """Return the plan of a foot of the target, from the stride and the axes of the source."""
    own = axes[f"{side}_ankle"]
    turn = levelling(own, step.footing.flat) if known is None else known.levelling[side]
    memory = None if known is None else known.memory
    return plan_foot(target, side, step, own if turn is None else own @ turn, scale, times, memory)


def _feet_wanted(
    target: Skeleton, feet: Mapping[str, FootPlan], axes: Mapping[str, FloatArray], times: FloatArray
) -> dict[str, FloatArray]:
    """Return the wanted orientations of feet and toes by role, (frames, 3, 3)."""
    result = {f"{side}_ankle": foot.rotation for side, foot in feet.items()}
    for side, foot in feet.items():
        if f"{side}_toe" in target:
            bend = np.swapaxes(axes[f"{side}_ankle"], -1, -2) @ axes.get(f"{side}_toe", axes[f"{side}_ankle"])
            result[f"{side}_toe"] = plan_toes(target, side, foot, bend, times)
    return result


def _hip_width(skeleton: Skeleton) -> float:
    """Return the distance of the hip joints [m]."""
    return skeleton.length("left_hip", "right_hip")


def _scale(source: Skeleton, target: Skeleton) -> float:
    """Return the length of legs, or else of arms, of the target over that of the source."""
    for chains in (tuple(LEGS.values()), *((roles,) for roles in ARMS.values())):
        if all(skeleton.has(*roles) for skeleton in (source, target) for roles in chains):
            lengths = [sum(skeleton.length(*chain) for chain in chains) for skeleton in (source, target)]
            if min(lengths) > 0.0:
                return lengths[1] / lengths[0]
    return 1.0


def _seen_from_hips(
    target: Skeleton, axes: dict[str, FloatArray], places: dict[str, FloatArray]
) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Return axes and positions relative to the hips, for a target with fixed hips."""
    turn = target.axes @ np.swapaxes(axes["hips"], -1, -2)
    return (
        {role: turn @ value for role, value in axes.items()},
        {role: (turn @ (value - places["hips"])[..., None])[..., 0] for role, value in places.items()},
    )


def solve(
    plan: Plan,
    progress: Progress | None = None,
    start: FloatArray | None = None,
    calm: bool | None = None,
    known: FloatArray | None = None,
) -> FloatArray:
    """Return the poses (frames, nq) that fulfil a plan best.

    Where feet are still in the ground, or hands in the body, their goals are moved out by that depth, and the frames
    around them are solved again.

    Args:
        plan: The plan.
        progress: Called with the number of frames that are done and the number of all.
        start: Start pose; by default the first pose of the plan.
        calm: Smooth the trunk; by default if it shakes, see `shakes`.
        known: Poses of the first frames, which are kept.
    """
    cuts, known = _cuts(plan), plan.poses[:0] if known is None else known
    poses = _first(plan, cuts, progress, start, known)
    if calm or (calm is None and is_shaken(shakes(plan, poses))):
        plan, poses = _calm(plan, poses, cuts, progress, known)
    for _ in range(CORRECTIONS):
        plan, touched = _corrected(plan, poses)
        if not touched.any():
            break
        again = widened(touched, plan.motion.times)
        again[: len(known)] = False
        for first, last in runs(again):
            part = slice(first, last + 1)
            begins = {frame - first: poses[frame] for frame in cuts if first < frame <= last}
            tracks = [track.between(part) for track in plan.goals]
            poses[part] = follow(plan.linkage, tracks, poses[first], anew=begins, avoid=plan.avoid)
    if plan.avoid is None:
        return poses
    new = slice(len(known), None)
    tracks, cuts = [track.between(new) for track in plan.goals], [cut - len(known) for cut in cuts if cut > len(known)]
    found = better_ways(plan.linkage, tracks, plan.poses[new], poses[new], plan.avoid, cuts, joined=bool(len(known)))
    return np.concatenate([known, kept_apart(plan.linkage, tracks, found, plan.motion.times[new], plan.avoid)])


def _corrected(plan: Plan, poses: FloatArray) -> tuple[Plan, Mask]:
    """Return a plan with feet moved out of the ground and hands out of the body, judged by poses, and which frames."""
    times, feet, touched = plan.motion.times, dict(plan.feet), np.zeros(len(poses), np.bool_)
    for side, foot in plan.feet.items():
        depth = -foot.sole.reached(plan.target.linkage, poses) - TOUCHING
        if depth.max() > 0.0:
            higher = smooth_cover(depth, times, LIFTING)
            feet[side], touched = foot.lifted(higher), touched | (higher > 0.0)
    hands = plan.clearance.kept(plan.reaches, poses, times)
    for side, places in hands.items():
        touched |= np.linalg.norm(places - plan.hands[side], axis=1) > TOUCHING
    return replace(plan, feet=feet, hands=hands), touched


def _first(
    plan: Plan,
    cuts: Sequence[int],
    progress: Progress | None = None,
    start: FloatArray | None = None,
    known: FloatArray | None = None,
) -> FloatArray:
    """Return the poses (frames, nq) that fulfil the goals of a plan, without corrections."""
    known = plan.poses[:0] if known is None else known
    return _after(known, plan, plan.poses[0] if start is None else start, plan.poses, cuts, progress)


def _after(
    known: FloatArray,
    plan: Plan,
    start: FloatArray,
    begins: FloatArray,
    cuts: Sequence[int],
    progress: Progress | None,
) -> FloatArray:
    """Return known poses followed by those that fulfil the goals of a plan, (frames, nq).

    Args:
        known: Poses of the first frames.
        plan: The plan.
        start: Start pose, if no poses are known.
        begins: Start poses after cuts, (frames, nq).
        cuts: Frames to which the motion jumps.
        progress: Called with the number of frames that are done and the number of all.
    """
    count = len(known)
    tracks = [track.between(slice(count, None)) for track in plan.goals]
    anew = {cut - count: begins[cut] for cut in cuts if cut >= count}
    start = known[-1] if count else start
    return np.concatenate([known, follow(plan.linkage, tracks, start, progress, anew, plan.avoid)])


def shakes(plan: Plan, poses: FloatArray | None = None) -> FloatArray:
    """Return the jerk of hips and head (2, 2) [m/s³], each in poses and as planned; zero without feet.

    Args:
        plan: The plan.
        poses: Poses that fulfil its goals; solved for by default.
    """
    poses = _first(plan, _cuts(plan)) if poses is None else poses
    if not plan.feet or len(poses) < 4:
        return np.zeros((2, 2))
    linkage, roles, times = plan.target.linkage, plan.target.roles, plan.motion.times
    top = roles.get("head", roles["hips"])
    return np.array(
        [
            [jerk(linkage.forward(q, frame=name)[:, :3, 3], times) for q in (poses, plan.poses)]
            for name in (roles["hips"], top)
        ]
    )


def is_shaken(found: FloatArray) -> bool:
    """Return whether hips or head shake more than planned, by the result of `shakes`."""
    return bool((found[:, 0] > CALM * found[:, 1]).any())


def _calm(
    plan: Plan, poses: FloatArray, cuts: Sequence[int], progress: Progress | None, known: FloatArray
) -> tuple[Plan, FloatArray]:
    """Return a plan with a smoothed trunk, and the poses that fulfil its goals best.

    Where limits prevent the planned motion of the trunk, it leaves its path abruptly and comes back abruptly. So its
    actual path is smoothed, and everything is solved again with a trunk that keeps to the smoothed path.
    """
    linkage, roles, times = plan.target.linkage, plan.target.roles, plan.motion.times
    hips = linkage.forward(poses, frame=roles["hips"])
    calm = plan.hips.copy()
    calm[:, :3, 3] += smoothed(hips[:, :3, 3] - plan.hips[:, :3, 3], times, plans.GIVING_WAY)
    calm[:, :3, :3] = _calmed(hips[:, :3, :3], plan.hips[:, :3, :3], times)
    chest = plan.chest
    if chest is not None:
        chest = _calmed(linkage.forward(poses, frame=roles["chest"])[:, :3, :3], chest, times)
    firm = replace(plan, hips=calm, chest=chest, firmness=FIRM)
    return firm, _after(known, firm, poses[0], poses, cuts, progress)


def _cuts(plan: Plan) -> list[int]:
    """Return the frames to which hips or limbs jump, such as after a T-pose at the beginning.

    They are solved from new starts, because a body cannot follow half a turn from one frame to the next.
    """
    hips = plan.hips[:, :3, :3]
    turns = np.linalg.norm(rotation_vector(hips[:-1].swapaxes(1, 2) @ hips[1:]), axis=1)
    root = plan.target.linkage.root.articulation.nv
    bends = np.abs(plan.target.linkage.difference(plan.poses[:-1], plan.poses[1:]))[:, root:].max(axis=1, initial=0.0)
    return [int(frame) for frame in np.flatnonzero((turns > JUMP) | (bends > LEAP)) + 1]


def _calmed(turned: FloatArray, planned: FloatArray, times: FloatArray) -> FloatArray:
    """Return planned rotations (frames, 3, 3), moved smoothly towards those that were possible."""
    from scipy.spatial.transform import Rotation

    away = rotation_vector(turned @ np.swapaxes(planned, -1, -2))
    result: FloatArray = Rotation.from_rotvec(smoothed(away, times, plans.GIVING_WAY)).as_matrix() @ planned
    return result
