"""How good a retargeted motion is: feet that slide, hands that miss, jerk, limits and flips."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..motion.checks import runs
from ..motion.clips import Clip
from ..motion.derivatives import jerk
from ..transforms import FloatArray
from .arm import HandPlan
from .body import Plan

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
        hands: Farthest that a hand is from its scaled place [m].
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


def measure(plan: Plan | HandPlan, result: Clip) -> Report:
    """Return how well a motion does what was planned."""
    if isinstance(plan, HandPlan):
        return _measure_hand(plan, result)
    count, slide = _slide(plan, result)
    misses = [
        np.linalg.norm(result.forward(frame=plan.target.roles[f"{side}_hand"])[:, :3, 3] - places, axis=1)
        for side, places in plan.hands.items()
    ]
    return Report(
        frames=len(result),
        scale=plan.scale,
        contacts=count,
        slide=slide,
        hands=max((float(miss.max()) for miss in misses), default=0.0),
        hands_mean=float(np.mean(misses)) if misses else 0.0,
        jerk=_jerk_ratio(plan, result),
        outside=_outside(result),
        flips=_flips(plan, result),
    )


def _measure_hand(plan: HandPlan, result: Clip) -> Report:
    places = result.forward(frame=plan.frame)[:, :3, 3]
    misses = np.linalg.norm(places - plan.places, axis=1)
    before, after = jerk(plan.places, result.times), jerk(places, result.times)
    steps = np.abs(result.linkage.difference(result.poses[:-1], result.poses[1:])).max(axis=-1, initial=0.0)
    return Report(
        frames=len(result),
        scale=plan.scale,
        contacts=0,
        slide=0.0,
        hands=float(misses.max()),
        hands_mean=float(misses.mean()),
        jerk=after / before if before > 0.0 else 1.0,
        outside=_outside(result),
        flips=int((steps > FLIP).sum()),
    )


def _outside(result: Clip) -> int:
    lower, upper = result.linkage.lower - BEYOND, result.linkage.upper + BEYOND
    return int(((result.poses < lower) | (result.poses > upper)).sum())


def _slide(plan: Plan, result: Clip) -> tuple[int, float]:
    count, farthest = 0, 0.0
    for foot in plan.feet.values():
        world = result.forward(frame=foot.sole.body)
        for point, mask in ((foot.sole.toe, foot.planted), (foot.sole.ankle, foot.flat)):
            places = world[:, :3, :3] @ point + world[:, :3, 3]
            for first, last in runs(mask):
                inside = places[first : last + 1]
                farthest = max(farthest, float(np.linalg.norm(inside - np.median(inside, axis=0), axis=1).max()))
        count += len(runs(foot.planted))
    return count, farthest


def _jerk_ratio(plan: Plan, result: Clip) -> float:
    shared = [role for role in SHAKEN if role in plan.source and role in plan.target]
    if not shared or len(result) < 4:
        return 1.0
    before = [jerk(plan.motion.forward(frame=plan.source.roles[role])[:, :3, 3], result.times) for role in shared]
    after = [jerk(result.forward(frame=plan.target.roles[role])[:, :3, 3], result.times) for role in shared]
    calm = float(np.sqrt(np.mean(np.square(before)))) * plan.scale
    return float(np.sqrt(np.mean(np.square(after)))) / calm if calm > 0.0 else 1.0


def _flips(plan: Plan, result: Clip) -> int:
    """Return in how many frames a joint of the result jumps though no bone of the source does.

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
    before = plan.motion.forward()
    turns = [_steps(before[plan.source.body(role)][:, :3, :3]) for role in plan.source.roles]
    return int((jumps > np.max(turns, axis=0) + FLIP).sum())


def _steps(rotations: FloatArray) -> FloatArray:
    """Return the angles between rotations (frames, 3, 3) that follow each other."""
    trace = (rotations[:-1] * rotations[1:]).sum(axis=(1, 2))
    return np.asarray(np.arccos(np.clip((trace - 1.0) / 2.0, -1.0, 1.0)))
