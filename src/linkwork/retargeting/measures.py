"""Measure a retargeted motion: errors of limbs and hands, feet that slide or sink, jerk, limits and flips."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..motion.checks import runs
from ..motion.clips import Clip
from ..motion.contacts import Mask
from ..transforms import FloatArray
from .arm import HandPlan
from .body import Plan
from .frame_blocks import frame_blocks, part_of
from .gaits import GaitPlan, Stance
from .likeness import LimbError, apart, hands_in_body, limb_errors
from .report import DEEP, Report
from .skeletons import Point, Skeleton

SHAKEN = ("hips", "head", "left_hand", "right_hand", "left_ankle", "right_ankle")
FLIP = 0.6  # [rad]: a joint that turns by this much more in a frame than any bone of the source has flipped
BEYOND = 1e-9
LEAD = 3  # frames before a part that its jerk needs too
Paths = list[tuple[FloatArray, FloatArray]]  # wanted and actual positions
Plans = Plan | HandPlan | GaitPlan


def measure(plan: Plans, result: Clip) -> Report:
    """Return a report on how well a motion follows its plan."""
    tally = Tally()
    if not isinstance(plan, HandPlan):
        tally.add(Part(plan, slice(0, len(result)), plan.motion, result, 0), last=True)
        return tally.report()
    for rows in frame_blocks(len(result)):
        wider = slice(max(rows.start - LEAD, 0), rows.stop)
        both = part_of(plan.motion, wider), part_of(result, wider)
        tally.add(Part(plan, rows, *both, rows.start - wider.start), last=rows.stop == len(result))
    return tally.report()


@dataclass(frozen=True, eq=False)
class Part:
    """Frames of a retargeted motion, with some frames before them that were measured already.

    Args:
        plan: The plan, for these frames and others around them.
        rows: These frames in the plan.
        source: The source's motion, with `lead` frames before these.
        done: The result, likewise.
        lead: Number of frames before these.
    """

    plan: Plans
    rows: slice
    source: Clip
    done: Clip
    lead: int

    def after(self, frames: int) -> tuple[Clip, Clip]:
        """Return source and result with at most this number of frames before these."""
        spare = self.lead - min(frames, self.lead)
        if not spare:
            return self.source, self.done
        return part_of(self.source, slice(spare, None)), part_of(self.done, slice(spare, None))


class Moves:
    """Slide of planted points on the floor, from the middle of each contact; contacts may continue in the next part."""

    def __init__(self) -> None:
        self.farthest, self.contacts = 0.0, 0
        self._open: list[FloatArray] = []

    def add(self, places: FloatArray, mask: Mask, *, last: bool) -> None:
        """Add positions (frames, 3), whether they are planted (frames,), and whether these are the last frames."""
        if self._open and not (len(mask) and mask[0]):
            self._close()
        for first, end in runs(mask):
            self._open.append(places[first : end + 1, :2].copy())
            if end + 1 < len(mask) or last:
                self._close()

    def _close(self) -> None:
        floor = np.concatenate(self._open)
        self.farthest = max(self.farthest, float(np.linalg.norm(floor - np.median(floor, axis=0), axis=1).max()))
        self.contacts += 1
        self._open = []


class Tally:
    """Sums for a report, collected part by part over a motion of any length."""

    def __init__(self) -> None:
        self.scale, self.frames = 1.0, 0
        self.limbs: dict[str, LimbError] = {}
        self.missing: tuple[str, ...] = ()
        self.toes: dict[Any, Moves] = defaultdict(Moves)
        self.heels: dict[Any, Moves] = defaultdict(Moves)
        self.counts: Counter[str] = Counter()  # of frames, or of values
        self.jerks = np.zeros(2)  # squares, of source and result
        self.deepest, self.worst, self.misses, self.hands, self.shaped = 0.0, 0.0, 0.0, 0, True

    def add(self, part: Part, *, last: bool) -> None:
        """Add a part, which follows the one before; `last` if it is the last one."""
        motion, result = part.after(0)
        self.scale = part.plan.scale
        if isinstance(part.plan, GaitPlan):
            hands, shaken = _add_gait(self, part.plan, part, motion, result, last)
        elif isinstance(part.plan, HandPlan):
            hands, shaken = _add_hand(self, part.plan, part, result)
        else:
            hands, shaken = _add_body(self, part.plan, part, motion, result, last)
        for wanted, place in hands:
            miss = np.linalg.norm(place - wanted, axis=1)
            self.worst, self.misses = max(self.worst, float(miss.max())), self.misses + float(miss.sum())
            self.hands += len(miss)
        for pair in shaken if len(part.done) > LEAD else ():
            self.jerks += [float((np.diff(one, 3, axis=0) ** 2).sum()) for one in pair]
        lower, upper = result.linkage.lower - BEYOND, result.linkage.upper + BEYOND
        self.counts["outside"] += int(((result.poses < lower) | (result.poses > upper)).sum())
        self.frames += len(result)

    def add_limbs(self, limbs: Mapping[str, LimbError], missing: tuple[str, ...], frames: int) -> None:
        """Add the errors of limbs in the next frames; a limb that is missing in one part counts as missing."""
        self.missing = tuple(dict.fromkeys((*self.missing, *missing)))
        before = self.frames
        joined = {}
        for limb, error in limbs.items():
            known = self.limbs.get(limb)
            if before and known is None:
                continue
            own = replace(error, frame=error.frame + before)
            if known is not None:
                mean = (known.mean * before + error.mean * frames) / (before + frames)
                own = replace(known if known.worst >= own.worst else own, mean=mean)
            joined[limb] = own
        self.limbs = joined

    def add_heights(self, lowest: FloatArray) -> None:
        """Add the heights of the lowest points of feet, (frames,)."""
        self.counts["deep"] += int((lowest < -DEEP).sum())
        self.deepest = max(self.deepest, -float(lowest.min()))

    def report(self) -> Report:
        """Return the report on all parts."""
        before, after = np.sqrt(self.jerks)
        slides = [max((one.farthest for one in moves.values()), default=0.0) for moves in (self.toes, self.heels)]
        return Report(
            frames=self.frames,
            scale=self.scale,
            limbs=self.limbs,
            missing=self.missing,
            contacts=sum(one.contacts for one in self.toes.values()),
            slide=max(slides),
            toe_slide=slides[0],
            heel_slide=slides[1],
            penetration=self.counts["deep"] / self.frames,
            depth=self.deepest,
            hands=self.worst,
            hands_mean=self.misses / self.hands if self.hands else 0.0,
            hands_in_body=self.counts["inside"] / self.frames,
            hands_in_body_before=self.counts["inside before"] / self.frames,
            jerk=float(after / before) if before > 0.0 else 1.0,
            outside=self.counts["outside"],
            flips=self.counts["flips"],
            shaped=self.shaped,
        )


def _add_body(tally: Tally, plan: Plan, part: Part, motion: Clip, result: Clip, last: bool) -> tuple[Paths, Paths]:
    """Add frames of a body; return paths of hands, and the paths whose jerk is compared."""
    rows = part.rows
    tally.add_limbs(*limb_errors(plan.source, motion, plan.target, result), len(result))
    lowest = np.zeros(len(result))
    for side, foot in plan.feet.items():
        toe, ankle = (
            Point(foot.sole.body, at).over(result.linkage, result.poses) for at in (foot.sole.toe, foot.sole.ankle)
        )
        tally.toes[side].add(toe, foot.planted[rows], last=last)
        tally.heels[side].add(ankle, foot.still[rows], last=last)
        lowest = np.minimum(lowest, foot.sole.reached(result.linkage, result.poses))
    tally.add_heights(lowest)
    tally.shaped = any(foot.sole.shapes for foot in plan.feet.values())
    tally.counts["inside"] += hands_in_body(plan.target, result)
    tally.counts["inside before"] += hands_in_body(plan.source, motion)
    tally.counts["flips"] += _flips([plan.source.body(role) for role in plan.source.roles], *part.after(1))
    roles = [role for role in SHAKEN if role in plan.source and role in plan.target]
    hands = [(places[rows], _path(plan.target, f"{side}_hand", result)) for side, places in plan.hands.items()]
    pairs = [
        (plan.scale * _path(plan.source, role, part.source), _path(plan.target, role, part.done)) for role in roles
    ]
    return hands, pairs


def _add_hand(tally: Tally, plan: HandPlan, part: Part, result: Clip) -> tuple[Paths, Paths]:
    """Add frames of an arm that follows a hand; return as `_add_body` does."""
    done, poses = part.done, part.after(1)[1].poses
    steps = np.abs(done.linkage.difference(poses[:-1], poses[1:])).max(axis=-1, initial=0.0)
    tally.counts["flips"] += int((steps > FLIP).sum())
    wanted = slice(part.rows.start - part.lead, part.rows.stop)
    hands = [(plan.places[part.rows], result.forward(frame=plan.frame)[:, :3, 3])]
    return hands, [(plan.places[wanted], done.forward(frame=plan.frame)[:, :3, 3])]


def _add_gait(tally: Tally, plan: GaitPlan, part: Part, motion: Clip, result: Clip, last: bool) -> tuple[Paths, Paths]:
    """Add frames of a quadruped; return as `_add_body` does."""
    rows = part.rows
    seen = Stance(plan.source, motion.poses)
    done = Stance(replace(plan.target, linkage=result.linkage), result.poses)
    limbs = {"trunk": apart(seen.bearing, done.bearing)}
    limbs |= {f"{side}_{end}_leg": apart(seen.way(side, end), done.way(side, end)) for side, end in plan.paws}
    tally.add_limbs(limbs, (), len(result))
    for leg, paw in plan.paws.items():
        tally.toes[leg].add(done.tips[leg], paw.planted[rows], last=last)
    tally.add_heights(np.min([tip[:, 2] for tip in done.tips.values()], axis=0))
    tally.counts["flips"] += _flips([plan.source.roles[role] for role in plan.source.roles], *part.after(1))
    shaken = [
        (
            plan.scale * part.source.forward(frame=plan.source.roles[role])[:, :3, 3],
            part.done.forward(frame=plan.target.roles[role])[:, :3, 3],
        )
        for role in SHAKEN
        if role in plan.source and role in plan.target
    ]
    return [(paw.places[rows], done.tips[leg]) for leg, paw in plan.paws.items()], shaken


def _path(skeleton: Skeleton, role: str, clip: Clip) -> FloatArray:
    """Return the path of a role over a clip, whose linkage may store rotations differently from the skeleton's."""
    return skeleton.point(role).over(clip.linkage, clip.poses)


def _flips(bones: Sequence[str], motion: Clip, result: Clip) -> int:
    """Return the number of frames in which a joint of the result jumps though no bone of the source does.

    A jump is measured by the angle of the joint's rotation, so that passing a gimbal lock in Euler angles is not one.
    """
    if len(result) < 2:
        return 0
    linkage, count = result.linkage, 0
    for rows in frame_blocks(len(result), overlap=1):
        if rows.stop - rows.start < 2:  # the last frame alone was in the block before
            continue
        world = linkage.forward(result.poses[rows])
        jumps = np.zeros(rows.stop - rows.start - 1)
        for link, parent in enumerate(linkage.parents):
            turned = world[linkage.links[link]][:, :3, :3]
            if parent >= 0:
                turned = np.swapaxes(world[linkage.links[parent]][:, :3, :3], -1, -2) @ turned
            jumps = np.maximum(jumps, _steps(turned))
        before = motion.linkage.forward(motion.poses[rows])
        turns = [_steps(before[bone][:, :3, :3]) for bone in bones]
        count += int((jumps > np.max(turns, axis=0) + FLIP).sum())
    return count


def _steps(rotations: FloatArray) -> FloatArray:
    """Return the angles between rotations (frames, 3, 3) that follow each other."""
    trace = (rotations[:-1] * rotations[1:]).sum(axis=(1, 2))
    return np.asarray(np.arccos(np.clip((trace - 1.0) / 2.0, -1.0, 1.0)))
