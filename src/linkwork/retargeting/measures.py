"""A retargeted motion measured: limbs that are off, feet that slide or sink, hands that miss, jerk, limits, flips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..motion.checks import runs
from ..motion.clips import Clip
from ..motion.contacts import Mask
from ..motion.derivatives import jerk
from ..transforms import FloatArray
from .arm import HandPlan
from .body import Plan
from .gaits import GaitPlan, Stance
from .likeness import apart, hands_in_body, limb_errors
from .report import DEEP, Report
from .skeletons import Point, Skeleton

SHAKEN = ("hips", "head", "left_hand", "right_hand", "left_ankle", "right_ankle")
FLIP = 0.6  # [rad]: a joint that turns that much more in a frame than any bone of the source has flipped
BEYOND = 1e-9
Paths = list[tuple[FloatArray, FloatArray]]  # where things should be, and where they are


def measure(plan: Plan | HandPlan | GaitPlan, result: Clip) -> Report:
    """Return how well a motion does what was planned."""
    if isinstance(plan, GaitPlan):
        found, hands, shaken = _of_gait(plan, result)
    elif isinstance(plan, HandPlan):
        found, hands, shaken = _of_hand(plan, result)
    else:
        found, hands, shaken = _of_body(plan, result)
    misses = [np.linalg.norm(place - wanted, axis=1) for wanted, place in hands]
    before, after = (float(np.linalg.norm([jerk(pair[k], result.times) for pair in shaken])) for k in (0, 1))
    lower, upper = result.linkage.lower - BEYOND, result.linkage.upper + BEYOND
    nothing: dict[str, Any] = {
        "limbs": {},
        "missing": (),
        "contacts": 0,
        "toe_slide": 0.0,
        "heel_slide": 0.0,
        "penetration": 0.0,
    }
    nothing |= {"depth": 0.0, "hands_in_body": 0.0, "hands_in_body_before": 0.0}
    found = nothing | found
    return Report(
        frames=len(result),
        scale=plan.scale,
        slide=max(found["toe_slide"], found["heel_slide"]),
        hands=max((float(miss.max()) for miss in misses), default=0.0),
        hands_mean=float(np.mean(misses)) if misses else 0.0,
        jerk=after / before if before > 0.0 else 1.0,
        outside=int(((result.poses < lower) | (result.poses > upper)).sum()),
        **found,
    )


def _of_body(plan: Plan, result: Clip) -> tuple[dict[str, Any], Paths, Paths]:
    limbs, missing = limb_errors(plan.source, plan.motion, plan.target, result)
    toes, heels = [0.0], [0.0]
    lowest = np.zeros(len(result))
    for foot in plan.feet.values():
        toe, ankle = (
            Point(foot.sole.body, at).over(result.linkage, result.poses) for at in (foot.sole.toe, foot.sole.ankle)
        )
        toes.append(_moved(toe, foot.planted))
        heels.append(_moved(ankle, foot.still))
        lowest = np.minimum(lowest, foot.sole.reached(result.linkage, result.poses))
    roles = [role for role in SHAKEN if role in plan.source and role in plan.target]
    found = {
        "limbs": limbs,
        "missing": missing,
        "contacts": sum(len(runs(foot.planted)) for foot in plan.feet.values()),
        "toe_slide": max(toes),
        "heel_slide": max(heels),
        "penetration": float((lowest < -DEEP).mean()),
        "depth": max(0.0, -float(lowest.min())),
        "shaped": any(foot.sole.shapes for foot in plan.feet.values()),
        "hands_in_body": hands_in_body(plan.target, result),
        "hands_in_body_before": hands_in_body(plan.source, plan.motion),
        "flips": _flips([plan.source.body(role) for role in plan.source.roles], plan.motion, result),
    }
    hands = [(places, _path(plan.target, f"{side}_hand", result)) for side, places in plan.hands.items()]
    shaken = [(plan.scale * _path(plan.source, role, plan.motion), _path(plan.target, role, result)) for role in roles]
    return found, hands, shaken


def _of_hand(plan: HandPlan, result: Clip) -> tuple[dict[str, Any], Paths, Paths]:
    paths = [(plan.places, result.forward(frame=plan.frame)[:, :3, 3])]
    steps = np.abs(result.linkage.difference(result.poses[:-1], result.poses[1:])).max(axis=-1, initial=0.0)
    return {"flips": int((steps > FLIP).sum())}, paths, paths


def _of_gait(plan: GaitPlan, result: Clip) -> tuple[dict[str, Any], Paths, Paths]:
    seen = Stance(plan.source, plan.motion.poses)
    done = Stance(replace(plan.target, linkage=result.linkage), result.poses)
    limbs = {"trunk": apart(seen.bearing, done.bearing)}
    limbs |= {f"{side}_{end}_leg": apart(seen.way(side, end), done.way(side, end)) for side, end in plan.paws}
    paws = [(paw.places, done.tips[leg]) for leg, paw in plan.paws.items()]
    lowest = np.min([tip[:, 2] for tip in done.tips.values()], axis=0)
    found: dict[str, Any] = {
        "limbs": limbs,
        "contacts": sum(len(runs(paw.planted)) for paw in plan.paws.values()),
        "toe_slide": max(_moved(done.tips[leg], paw.planted) for leg, paw in plan.paws.items()),
        "penetration": float((lowest < -DEEP).mean()),
        "depth": max(0.0, -float(lowest.min())),
    }
    shaken = [
        (
            plan.scale * plan.motion.forward(frame=plan.source.roles[role])[:, :3, 3],
            result.forward(frame=plan.target.roles[role])[:, :3, 3],
        )
        for role in SHAKEN
        if role in plan.source and role in plan.target
    ]
    found["flips"] = _flips([plan.source.roles[role] for role in plan.source.roles], plan.motion, result)
    return found, paws, shaken


def _moved(places: FloatArray, mask: Mask) -> float:
    """Return how far places (frames, 3) get on the floor from the middle of each stretch of a mask, at most."""
    floor = places[:, :2]
    away = [floor[first : last + 1] - np.median(floor[first : last + 1], axis=0) for first, last in runs(mask)]
    return max((float(np.linalg.norm(steps, axis=1).max()) for steps in away), default=0.0)


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
