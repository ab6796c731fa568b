"""Retarget a motion from one quadruped to another: trunk, paws, directions of bones, neck, head and tail are goals.

Paths are scaled by the length of the legs. Planted paws stay in place; their distance to the side and to the front of
the trunk is that of the target's legs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..goals import Avoid
from ..linkage.linkage import Frame, Linkage
from ..motion import root_motion
from ..motion.clips import Clip
from ..motion.contacts import Contacts, Mask, Thresholds, Trace, branch, contacts_in, ground_level, mask_of
from ..motion.frame_goals import GoalTrack, Progress, follow
from ..motion.smoothing import SpanMemory, faded, over_spans, smooth_cover, smoothed, turns_smoothed
from ..transforms import FloatArray, axis_rotation, inverse, translation
from .anatomy import levelled
from .feet import BLEND
from .frame_blocks import frame_blocks, part_of
from .names import ENDS, SIDES
from .plans import SETTLING
from .quadrupeds import LEGS, Quadruped, trunk_axes
from .skeletons import Point

# Weights of the goals, per metre and per radian.
PLANTED, PAWS, TRUNK, UPRIGHT, BONES, NECK, STYLE = 20.0, 5.0, 3.0, 1.0, 0.3, 0.3, 0.05
FIELDS = ("heights", "speeds")  # of a trace
LONGEST_LEG = 0.995  # largest extension of a leg over its length: never quite straight


@dataclass(frozen=True)
class Paw:
    """A paw of the target over time.

    Args:
        frame: The frame at its tip.
        places: Goal positions, (frames, 3).
        planted: Whether it is on the ground, (frames,).
        grip: Grip on the ground, smooth from 0 to 1, (frames,).
    """

    frame: str
    places: FloatArray
    planted: Mask
    grip: FloatArray


@dataclass(frozen=True, eq=False)
class GaitPlan:
    """All goals of a four-legged target, before they are solved for.

    Args:
        source: The source.
        target: The target; its linkage has frames at the tips of its legs and at the middle of its trunk.
        motion: The motion of the source.
        poses: The rest pose moved along the path of the trunk, (frames, nq).
        paws: Paws by leg.
        scale: Length of the target's legs over that of the source's.
        goals: Goals of all frames.
    """

    source: Quadruped
    target: Quadruped
    motion: Clip
    poses: FloatArray
    paws: Mapping[tuple[str, str], Paw]
    scale: float
    goals: list[GoalTrack]

    @property
    def linkage(self) -> Linkage:
        """The linkage of the goals."""
        return self.target.linkage


@dataclass(frozen=True, eq=False)
class Stance:
    """A quadruped in poses (frames, nq).

    Args:
        figure: The quadruped.
        poses: The poses.
    """

    figure: Quadruped
    poses: FloatArray

    @cached_property
    def world(self) -> Mapping[str, FloatArray]:
        """world_from_frame of every frame, (frames, 4, 4) each."""
        return self.figure.linkage.forward(self.poses)

    @cached_property
    def uppers(self) -> dict[tuple[str, str], FloatArray]:
        """Positions of the first joints of the legs, (frames, 3) each."""
        return {leg: self.world[self.figure.roles[f"{leg[0]}_{leg[1]}_upper"]][:, :3, 3] for leg in LEGS}

    @cached_property
    def tips(self) -> dict[tuple[str, str], FloatArray]:
        """Positions of the tips of the legs, (frames, 3) each."""
        return {leg: self.figure.tip(*leg).over(self.figure.linkage, self.poses) for leg in LEGS}

    def way(self, side: str, end: str) -> FloatArray:
        """Return the directions from the first joint of a leg to its tip, (frames, 3)."""
        way: FloatArray = self.tips[side, end] - self.uppers[side, end]
        unit: FloatArray = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)
        return unit

    @property
    def bearing(self) -> FloatArray:
        """Direction of the trunk, (frames, 3), without its median slope, which differs between animals."""
        ahead = self.axes[..., 0]
        slope = np.arcsin(np.clip(ahead[:, 2], -1.0, 1.0))
        slope = slope - np.median(slope)
        heading = np.arctan2(ahead[:, 1], ahead[:, 0])
        level = np.cos(slope)
        return np.stack([level * np.cos(heading), level * np.sin(heading), np.sin(slope)], axis=1)

    def end(self, end: str) -> FloatArray:
        """Return the middle between the two legs of an end, (frames, 3)."""
        return (self.uppers["left", end] + self.uppers["right", end]) / 2.0

    @property
    def centre(self) -> FloatArray:
        """The middle between the four legs, (frames, 3)."""
        return (self.end("fore") + self.end("hind")) / 2.0

    @cached_property
    def axes(self) -> FloatArray:
        """Forward, left and up of the trunk, (frames, 3, 3)."""
        return trunk_axes(self.uppers)

    def turned(self, role: str, axes: FloatArray) -> FloatArray:
        """Return axes (3, 3) of the rest pose, rotated with a role, (frames, 3, 3)."""
        return self.with_link(self.figure.roles[role], axes)

    def with_link(self, link: str, axes: FloatArray) -> FloatArray:
        """Return axes (3, 3) of the rest pose, rotated with a link, (frames, 3, 3)."""
        result: FloatArray = self.world[link][:, :3, :3] @ self.figure.world[link][:3, :3].T @ axes
        return result


@dataclass(frozen=True, eq=False)
class Gait:
    """Data of a four-legged source over a whole motion, used by the plan of each part of it.

    Args:
        levels: Heights of its planted paws, by leg.
        planted: Whether they are planted, by leg, (frames,).
        beside: Mean position of the first joint of each leg, relative to the middle of the trunk.
        pitch: Pitch of the target's trunk against the source's [rad].
        memory: Values that are constant over each contact.
    """

    levels: Mapping[tuple[str, str], float]
    planted: Mapping[tuple[str, str], Mask]
    beside: Mapping[tuple[str, str], FloatArray]
    pitch: float
    memory: SpanMemory

    def between(self, rows: slice) -> Gait:
        """Return the gait of some of the frames."""
        return replace(self, planted={leg: mask[rows] for leg, mask in self.planted.items()})


def _scales(source: Quadruped, target: Quadruped) -> dict[tuple[str, str], float]:
    """Return the reach of each leg of a target over the length of the source's."""
    return {leg: target.reach(*leg) / source.length(*leg) for leg in LEGS}


def gait_of(motion: Clip, source: Quadruped, target: Quadruped, rules: Contacts) -> Gait:
    """Return the gait of a source over a motion of any length.

    If the proportions of fore and hind legs differ, the trunk of the target is pitched accordingly.

    Args:
        motion: The motion.
        source: The source.
        target: The target.
        rules: Criteria for a planted paw.
    """
    traces: dict[tuple[str, str], list[Trace]] = {leg: [] for leg in LEGS}
    seen: dict[str, list[FloatArray]] = {"fore": [], "hind": [], "slope": []}
    beside = {leg: np.zeros(3) for leg in LEGS}
    for rows in frame_blocks(len(motion)):
        first, last = max(rows.start - 1, 0), min(rows.stop + 1, len(motion))  # speeds need a frame before and after
        part, inner = part_of(motion, slice(first, last)), slice(rows.start - first, rows.stop - first)
        stance = Stance(source, part.poses)
        for leg, tip in stance.tips.items():
            trace = Trace.of(tip, part.times)
            traces[leg].append(Trace(trace.heights[inner].copy(), trace.speeds[inner]))
            way = (stance.uppers[leg] - stance.centre)[inner]
            beside[leg] += np.einsum("tji,tj->i", levelled(stance.axes)[inner], way) / len(motion)
        for end in ENDS:
            seen[end].append(stance.end(end)[inner, 2].copy())
        seen["slope"].append(np.arcsin(stance.axes[inner, 2, 0]))
    whole = {leg: Trace(*(np.concatenate([getattr(t, k) for t in ts]) for k in FIELDS)) for leg, ts in traces.items()}
    levels, scales = {leg: ground_level(trace.heights) for leg, trace in whole.items()}, _scales(source, target)
    ground = float(np.mean(list(levels.values())))
    fore, hind, slope = (np.concatenate(parts) for parts in seen.values())
    sizes = {end: np.mean([scales[side, end] for side in SIDES]) for end in ENDS}
    own = Stance(target, target.rest[None])
    length = float(np.linalg.norm(own.end("fore") - own.end("hind")))
    rise = float(np.median(sizes["fore"] * (fore - ground) - sizes["hind"] * (hind - ground))) / length
    pitch = float(np.arcsin(np.clip(rise, -0.9, 0.9)) - np.median(slope))
    planted = {leg: _planted(source, leg, trace, motion.times, rules) for leg, trace in whole.items()}
    return Gait(levels, planted, beside, pitch, SpanMemory())


def _planted(source: Quadruped, leg: tuple[str, str], trace: Trace, times: FloatArray, rules: Contacts) -> Mask:
    """Return whether a paw of a source is planted, (frames,)."""
    if isinstance(rules, Thresholds):
        return contacts_in(trace, times, leg=source.length(*leg), rules=rules)
    own = branch(source.linkage, source.tip(*leg).link)
    return mask_of([one for one in rules if branch(source.linkage, one.frame) == own], None, times)


@dataclass(frozen=True, eq=False)
class Crossing:
    """A source over its motion and a target at rest, side by side.

    Args:
        seen: The source.
        own: The target, whose linkage has a frame at the tip of each leg and in the middle of its trunk.
        frames: Names of these frames, by leg and ``("trunk", "")``.
        times: Times of the motion.
        smooth: Smoothing time of the source [s].
        gait: The gait of the source over the whole motion.
    """

    seen: Stance
    own: Stance
    frames: Mapping[tuple[str, str], str]
    times: FloatArray
    smooth: float
    gait: Gait

    @cached_property
    def scales(self) -> dict[tuple[str, str], float]:
        """Reach of each leg of the target over the length of the source's."""
        return _scales(self.seen.figure, self.own.figure)

    @cached_property
    def scale(self) -> float:
        """Mean of the scales of all legs."""
        return float(np.mean(list(self.scales.values())))

    @cached_property
    def heights(self) -> dict[str, FloatArray]:
        """Wanted height of each end of the target's trunk above the ground, (frames,)."""
        ground = float(np.mean(list(self.gait.levels.values())))
        return {
            end: np.mean([self.scales[side, end] for side in SIDES]) * (self.seen.end(end)[:, 2] - ground)
            for end in ENDS
        }

    @cached_property
    def axes(self) -> FloatArray:
        """Wanted axes of the target's trunk, (frames, 3, 3)."""
        seen, roles = self.seen, self.own.figure.roles
        trunk = seen.axes if roles["hips"] == roles["chest"] else seen.turned("hips", seen.figure.axes)
        lean = axis_rotation(np.array([0.0, 1.0, 0.0]), -self.gait.pitch)
        return turns_smoothed(trunk @ lean, self.times, self.smooth)

    @cached_property
    def centre(self) -> FloatArray:
        """Goal positions of the middle of the target's trunk, (frames, 3); lowered where a leg would be too short."""
        result = self.scale * smoothed(self.seen.centre, self.times, self.smooth)
        result[:, 2] = smoothed((self.heights["fore"] + self.heights["hind"]) / 2.0, self.times, self.smooth)
        drop = np.zeros(len(result))
        for leg, paw in self.paws.items():
            own = self.own.axes[0].T @ (self.own.uppers[leg][0] - self.own.centre[0])
            way = result + self.axes @ own - paw.places
            reach = LONGEST_LEG * self.own.figure.reach(*leg)
            room = np.sqrt(np.maximum(reach**2 - way[:, 0] ** 2 - way[:, 1] ** 2, 0.0))
            drop = np.maximum(drop, np.clip(way[:, 2] - room, 0.0, 0.2 * reach))
        return result - smooth_cover(drop, self.times, SETTLING)[:, None] * (0.0, 0.0, 1.0)

    @cached_property
    def paws(self) -> dict[tuple[str, str], Paw]:
        """Paws of the target by leg."""
        return {leg: self._paw(leg) for leg in LEGS}

    def _paw(self, leg: tuple[str, str]) -> Paw:
        """Return the plan of a paw: its scaled path, moved beside the target's trunk, still while planted."""
        seen, own, times = self.seen, self.own, self.times
        tip = smoothed(seen.tips[leg], times, self.smooth)
        planted = self.gait.planted[leg]
        heading = levelled(seen.axes)
        theirs = self.scale * self.gait.beside[leg]
        ours = levelled(own.axes[0]).T @ (own.uppers[leg][0] - own.centre[0])
        places = self.scale * tip + heading @ ((ours - theirs) * (1.0, 1.0, 0.0))
        sole = own.figure.sole(*leg)
        places[:, 2] = self.scales[leg] * np.maximum(tip[:, 2] - self.gait.levels[leg], 0.0) + sole
        memory = self.gait.memory
        kept = over_spans(places, planted, lambda part: part.mean(axis=0)[None], " ".join(leg), memory)
        kept[planted, 2] = sole
        blend = max(2, round(BLEND / float(np.median(np.diff(times))))) if len(times) > 1 else 2
        grip = faded(np.ones((len(times), 1)), planted, blend)[:, 0].clip(0.0, 1.0)
        return Paw(self.frames[leg], places + faded(kept - places, planted, blend), planted, grip)

    @cached_property
    def poses(self) -> FloatArray:
        """The rest pose of the target moved along the path of its trunk, (frames, nq)."""
        figure = self.own.figure
        linkage, rest = figure.linkage, figure.world[figure.roles["hips"]]
        world = np.tile(np.eye(4), (len(self.times), 1, 1))
        turn = self.axes @ self.own.axes[0].T
        world[:, :3, :3] = turn @ rest[:3, :3]
        world[:, :3, 3] = self.centre + turn @ (rest[:3, 3] - self.own.centre[0])
        still = Clip(linkage, self.times, np.repeat(figure.rest[None], len(self.times), axis=0))
        return root_motion.replaced(still, world @ inverse(rest) @ figure.world[linkage.links[0]]).poses

    @cached_property
    def goals(self) -> list[GoalTrack]:
        """Goals of all frames."""
        ones, target = np.ones(len(self.times)), self.own.figure
        paws = [
            GoalTrack("place", paw.frame, paw.places, PAWS + (PLANTED - PAWS) * paw.grip) for paw in self.paws.values()
        ]
        trunk = GoalTrack("place", self.frames["trunk", ""], self.centre, TRUNK * ones)
        turns = []
        for link, wanted, weight in self._turned_links():
            rotation = wanted @ self.own.axes[0].T @ target.world[link][:3, :3]
            turns.append(GoalTrack("turn", link, rotation, weight * ones))
        bones = [track for leg in LEGS for track in self._bones(leg)]
        return [*paws, trunk, *turns, *bones, GoalTrack("pose", "", self.poses, STYLE * ones)]

    def _turned_links(self) -> Iterator[tuple[str, FloatArray, float]]:
        """Yield links of trunk, neck, head and tail, their wanted axes, and the weights of these."""
        source, target = self.seen.figure, self.own.figure
        yield target.roles["hips"], self.axes, UPRIGHT
        pairs = [
            (target.roles[role], source.roles[role])
            for role in ("chest", "neck", "head")
            if role in source and role in target and target.roles[role] != target.roles["hips"]
        ]
        tails = target.tail, source.tail
        if all(tails):
            last = max(len(tails[0]) - 1, 1)
            pairs += [(link, tails[1][round(k * (len(tails[1]) - 1) / last)]) for k, link in enumerate(tails[0])]
        for link, other in pairs:
            yield link, turns_smoothed(self.seen.with_link(other, source.axes), self.times, self.smooth), NECK

    def _bones(self, leg: tuple[str, str]) -> list[GoalTrack]:
        """Return goals for the directions of a leg's bones; none if the two legs differ in their number of bones."""
        source, target = self.seen.figure, self.own.figure
        points, theirs = target.points(*leg), source.points(*leg)
        result = []
        for k, point in enumerate(points[:-1] if len(points) == len(theirs) else ()):
            way = points[k + 1].over(target.linkage, target.rest) - point.over(target.linkage, target.rest)
            bone = theirs[k + 1].over(source.linkage, self.seen.poses) - theirs[k].over(source.linkage, self.seen.poses)
            length = float(np.linalg.norm(way))
            if length > 0.0 and float(np.linalg.norm(bone, axis=1).min()) > 0.0:
                axis = target.world[point.link][:3, :3].T @ way / length
                wanted, weights = smoothed(bone, self.times, self.smooth), np.full(len(bone), BONES)
                result.append(GoalTrack("direction", point.link, wanted, weights, axis=axis))
        return result


def plan_gait(motion: Clip, source: Quadruped, target: Quadruped, gait: Gait, smooth: float) -> GaitPlan:
    """Return the goals that make a four-legged target move like the source.

    Args:
        motion: The motion of the source.
        source: The source.
        target: The target, on a floating root.
        gait: The gait of the source over the whole motion that this is, or is a part of.
        smooth: Smoothing time of the source [s].
    """
    target, frames = _with_frames(target)
    own = Stance(target, target.rest[None])
    both = Crossing(Stance(source, motion.poses), own, frames, motion.times, smooth, gait)
    return GaitPlan(source, target, motion, both.poses, both.paws, both.scale, both.goals)


def solve_gait(
    plan: GaitPlan,
    progress: Progress | None = None,
    avoid: Avoid | None = None,
    start: FloatArray | None = None,
    known: FloatArray | None = None,
) -> FloatArray:
    """Return the poses (frames, nq) that fulfil a plan best.

    Args:
        plan: The plan.
        progress: Called with the number of frames that are done and the number of all.
        avoid: What to keep clear of.
        start: Start pose; by default the last known pose, or the first of the plan.
        known: Poses of the first frames, which are kept.
    """
    known = plan.poses[:0] if known is None else known
    if start is None:
        start = known[-1] if len(known) else plan.poses[0]
    tracks = [track.between(slice(len(known), None)) for track in plan.goals]
    return np.concatenate([known, follow(plan.linkage, tracks, start, progress, avoid=avoid)])


def level_paws(plan: GaitPlan, poses: FloatArray) -> dict[str, FloatArray]:
    """Return rotations (frames, 3, 3) of the ends of legs by link: as at rest, turned by the heading of the trunk."""
    target = plan.target
    heading = levelled(Stance(target, poses).axes) @ levelled(target.axes).T
    return {tip.link: heading @ target.world[tip.link][:3, :3] for tip in target.tips.values()}


def _with_frames(target: Quadruped) -> tuple[Quadruped, dict[tuple[str, str], str]]:
    """Return a target with frames at the tips of its legs and in the middle of its trunk, and their names."""
    trunk = target.world[target.roles["hips"]]
    centre = trunk[:3, :3].T @ (Stance(target, target.rest[None]).centre[0] - trunk[:3, 3])
    points = {leg: target.tip(*leg) for leg in LEGS} | {("trunk", ""): Point(target.roles["hips"], centre)}
    frames, names = list(target.linkage.extra_frames), {}
    for leg, point in points.items():
        name = f"{' '.join(leg).strip()} of the gait"
        while name in target.linkage.frames:
            name += "'"
        frames.append(Frame(name, point.link, translation(point.place)))
        names[leg] = name
    return replace(target, linkage=target.linkage.replace(frames=frames)), names
