"""How good a retargeted motion is: feet that slide, hands that miss, jerk, limits and flips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..motion.checks import runs
from ..motion.clips import Clip
from ..motion.contacts import Mask
from ..motion.derivatives import jerk
from ..transforms import FloatArray
from .arm import HandPlan
from .body import Plan
from .gaits import GaitPlan
from .skeletons import Skeleton

SHAKEN = ("hips", "head", "left_hand", "right_hand", "left_ankle", "right_ankle")
FLIP = 0.6  # [rad]: a joint that turns that much more in a frame than any bone of the source has flipped
BEYOND = 1e-9


@dataclass(frozen=True)
class Report:
    """Numbers that say how well a motion was retargeted.

    Args:
        frames: Number of frames.
        scale: What lengths were multiplied by.
        contacts: How many times a foot was planted.
        slide: Farthest that a planted point of a foot is from where it was planted [m].
        hands: Farthest that a hand, or a paw of four, is from its scaled place [m].
        hands_mean: The same on average.
        jerk: Root mean square jerk of hips, head, hands and ankles over the source's, scaled.
        outside: How many values are outside their limits.
        flips: How many frames a joint flips in.
    """

    frames: int
    scale: float
    contacts: int
    slide: float
    hands: float
    hands_mean: float
    jerk: float
    outside: int
    flips: int


def measure(plan: Plan | HandPlan | GaitPlan, result: Clip) -> Report:
    """Return how well a motion does what was planned."""
    if isinstance(plan, GaitPlan):
        count, slide, hands = _paws(plan, result)
        roles = [role for role in SHAKEN if role in plan.source and role in plan.target]
        shaken = [
            tuple(
                clip.forward(frame=figure.roles[role])[:, :3, 3] * factor
                for figure, clip, factor in ((plan.source, plan.motion, plan.scale), (plan.target, result, 1.0))
            )
            for role in roles
        ]
        flips = _flips([plan.source.roles[role] for role in plan.source.roles], plan.motion, result)
    elif isinstance(plan, HandPlan):
        count, slide = 0, 0.0
        hands = shaken = [(plan.places, result.forward(frame=plan.frame)[:, :3, 3])]
        steps = np.abs(result.linkage.difference(result.poses[:-1], result.poses[1:])).max(axis=-1, initial=0.0)
        flips = int((steps > FLIP).sum())
    else:
        count, slide = _slide(plan, result)
        hands = [(places, _path(plan.target, f"{side}_hand", result)) for side, places in plan.hands.items()]
        shaken = _shaken(plan, result)
        flips = _flips([plan.source.body(role) for role in plan.source.roles], plan.motion, result)
    misses = [np.linalg.norm(found - wanted, axis=1) for wanted, found in hands]
    before, after = (float(np.linalg.norm([jerk(pair[k], result.times) for pair in shaken])) for k in (0, 1))
    lower, upper = result.linkage.lower - BEYOND, result.linkage.upper + BEYOND
    return Report(
        frames=len(result),
        scale=plan.scale,
        contacts=count,
        slide=slide,
        hands=max((float(miss.max()) for miss in misses), default=0.0),
        hands_mean=float(np.mean(misses)) if misses else 0.0,
        jerk=after / before if before > 0.0 else 1.0,
        outside=int(((result.poses < lower) | (result.poses > upper)).sum()),
        flips=flips,
    )


def _slide(plan: Plan, result: Clip) -> tuple[int, float]:
    count, farthest = 0, 0.0
    for foot in plan.feet.values():
        world = result.forward(frame=foot.sole.body)
        for point, mask in ((foot.sole.toe, foot.planted), (foot.sole.ankle, foot.flat)):
            farthest = max(farthest, _moved(world[:, :3, :3] @ point + world[:, :3, 3], mask))
        count += len(runs(foot.planted))
    return count, farthest


def _moved(places: FloatArray, mask: Mask) -> float:
    """Return how far places (frames, 3) get from the middle of each stretch of a mask, at most."""
    away = [places[first : last + 1] - np.median(places[first : last + 1], axis=0) for first, last in runs(mask)]
    return max((float(np.linalg.norm(steps, axis=1).max()) for steps in away), default=0.0)


def _paws(plan: GaitPlan, result: Clip) -> tuple[int, float, list[tuple[FloatArray, FloatArray]]]:
    """Return how often paws are planted, how far they slide, and where each should be and is."""
    count, farthest, pairs = 0, 0.0, []
    for leg, paw in plan.paws.items():
        places = plan.target.tip(*leg).over(result.linkage, result.poses)
        count, farthest = count + len(runs(paw.planted)), max(farthest, _moved(places, paw.planted))
        pairs.append((paw.places, places))
    return count, farthest, pairs


def _shaken(plan: Plan, result: Clip) -> list[tuple[FloatArray, FloatArray]]:
    """Return the places of what shows jerk, in the source, scaled, and in the result."""
    roles = [role for role in SHAKEN if role in plan.source and role in plan.target]
    before = [plan.scale * _path(plan.source, role, plan.motion) for role in roles]
    return list(zip(before, [_path(plan.target, role, result) for role in roles], strict=True))


def _path(skeleton: Skeleton, role: str, clip: Clip) -> FloatArray:
    """Return where a role is over a clip; its linkage may write joints as angles that were solved for otherwise."""
    return skeleton.point(role).over(clip.linkage, clip.poses)


def _flips(bones: Sequence[str], motion: Clip, result: Clip) -> int:
    """Return in how many frames a joint of the result jumps though no bone of the source's motion does.

    A joint's jump is the angle by which it turns, so that Euler angles which pass a gimbal lock count as what they do.
    """
    if len(result) < 2:
        return 0
    linkage = result.linkage
    world = result.forward()
    jumps = np.zeros(len(result) - 1)
    for link, parent in enumerate(linkage.parents):
        turned = world[linkage.links[link]][:, :3, :3]
        if parent >= 0:
            turned = np.swapaxes(world[linkage.links[parent]][:, :3, :3], -1, -2) @ turned
        jumps = np.maximum(jumps, _steps(turned))
    before = motion.forward()
    turns = [_steps(before[bone][:, :3, :3]) for bone in bones]
    return int((jumps > np.max(turns, axis=0) + FLIP).sum())


def _steps(rotations: FloatArray) -> FloatArray:
    """Return the angles between rotations (frames, 3, 3) that follow each other."""
    trace = (rotations[:-1] * rotations[1:]).sum(axis=(1, 2))
    return np.asarray(np.arccos(np.clip((trace - 1.0) / 2.0, -1.0, 1.0)))
