"""Anatomical axes of bones, from joint positions: forward, left and up of each bone in the coordinates of its link.

They refer to a pose with arms stretched out sideways, palms down, and legs straight down. They are derived from
positions and orientations in the world, over a motion or in one pose, and from what is constant in a link, so they do
not depend on the rest pose of a file: the position of the next joint, the folding axis of an elbow or a knee, the
direction of the trunk while standing, and what is level while a sole is on the ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..goals import turn_between
from ..motion.contacts import Mask
from ..transforms import FloatArray, cross
from .names import LEG, SIDES

UPRIGHT = 8  # exponent of the weight of frames, by how upright the trunk and how straight the legs are
BENT = 1e-3  # weight of all other frames
FOLDED = 0.02  # mean square sine of a limb's fold, above which the motion itself determines the folding axis
OVERSTRETCHED = 0.5  # sine of the fold below which a limb that folds the wrong way is taken as overstretched
ASIDE = 1e-3  # weight of the axis across the body, for limbs that point the opposite way
SLOPE = 0.5  # [rad]: default slope of a foot from ankle to toes
SHORT = 1e-9  # [m]: shorter vectors have no direction
# Direction of the bone and folding axis of each limb, as (forward, left, up); negated for a right arm.
ARM_OUT, ARM_FOLD = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, -1.0])
LEG_OUT, LEG_FOLD = np.array([0.0, 0.0, -1.0]), np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True, eq=False)
class Sight:
    """Positions and orientations of a skeleton in the world, over the frames of a motion or in a single pose.

    Args:
        places: Positions of the joints, by role, (frames, 3).
        turns: Orientations of the bones, world_from_link by role, (frames, 3, 3).
        up: The up direction, (3,).
        toes: Vectors from the ankle to the toes, by side, (frames, 3), if known.
        flat: Whether the sole is on the ground, by side, (frames,).
        palms: Vectors from the wrist to the knuckles, and from the little finger to the index, by side.
        hinges: Axes of elbows and knees, by role, (frames, 3), if their joints define them.
        folds: The same for joints whose direction of folding is known.
    """

    places: Mapping[str, FloatArray]
    turns: Mapping[str, FloatArray]
    up: FloatArray
    toes: Mapping[str, FloatArray] = field(default_factory=dict)
    flat: Mapping[str, Mask] = field(default_factory=dict)
    palms: Mapping[str, tuple[FloatArray, FloatArray]] = field(default_factory=dict)
    hinges: Mapping[str, FloatArray] = field(default_factory=dict)
    folds: Mapping[str, FloatArray] = field(default_factory=dict)

    def way(self, start: str, end: str) -> FloatArray:
        """Return unit vectors (frames, 3) from one joint to another."""
        return _unit(self.places[end] - self.places[start])

    def length(self, *roles: str) -> float:
        """Return the length of the bones from role to role [m], averaged over the frames."""
        points = [self.places[role] for role in roles]
        return sum(float(np.linalg.norm(b - a, axis=1).mean()) for a, b in pairwise(points))

    @cached_property
    def trunk(self) -> FloatArray:
        """Direction of the trunk, from between the hip joints to the neck or the joint nearest to it, (frames, 3).

        The origin of the hips' link may be anywhere in the pelvis, behind or above the hip joints.
        """
        tops = [["neck"], [f"{side}_shoulder" for side in SIDES], ["head"], ["chest"]]
        feet = [[f"{side}_hip" for side in SIDES], ["hips"]]
        for top in tops:
            for foot in feet:
                if all(role in self.places for role in (*top, *foot)):
                    ends = [np.mean([self.places[role] for role in roles], axis=0) for roles in (foot, top)]
                    if np.linalg.norm(ends[1] - ends[0], axis=1).min() > SHORT:
                        return _unit(ends[1] - ends[0])
        return np.broadcast_to(self.up, next(iter(self.places.values())).shape)

    @cached_property
    def standing(self) -> FloatArray:
        """Score from 0 to 1 for standing upright on straight legs, (frames,)."""
        score = np.clip(self.trunk @ self.up, 0.0, 1.0)
        for side in SIDES:
            leg = [self.places.get(f"{side}_{part}") for part in ("hip", "knee", "ankle")]
            if leg[0] is not None and leg[1] is not None and leg[2] is not None:
                length = np.linalg.norm(leg[1] - leg[0], axis=1) + np.linalg.norm(leg[2] - leg[1], axis=1)
                straight = np.linalg.norm(leg[2] - leg[0], axis=1) / np.maximum(length, SHORT)
                score = score * np.sqrt(straight)
        return np.asarray(score**UPRIGHT)

    @cached_property
    def ahead(self) -> FloatArray:
        """Direction that the body faces, (frames, 3)."""
        return cross(self.across("hip", "knee", "ankle", "shoulder", "elbow"), self.trunk)

    def across(self, *parts: str) -> FloatArray:
        """Return unit vectors (frames, 3) from right to left, by the first of some parts that both sides have."""
        for part in parts:
            pair = [self.places.get(f"{side}_{part}") for side in SIDES]
            if pair[0] is not None and pair[1] is not None:
                way = pair[0] - pair[1]
                if np.linalg.norm(way.mean(axis=0)) > SHORT or np.linalg.norm(way, axis=1).min() > SHORT:
                    return _unit(way)
        return np.zeros_like(self.trunk)


def local_axes(sight: Sight) -> dict[str, FloatArray]:
    """Return the anatomical axes of every role in the coordinates of its bone's link: forward, left, up as columns."""
    axes: dict[str, FloatArray] = {}
    weights = BENT + sight.standing
    hips_across = sight.across("hip", "knee", "shoulder", "clavicle", "elbow")
    chest_across = sight.across("shoulder", "clavicle", "elbow", "hip", "knee")
    for role in ("hips", "spine", "chest", "neck"):
        if role in sight.turns:
            across = hips_across if role in ("hips", "spine") else chest_across
            left, up = (_unit(_mean(sight.turns[role], way, weights)) for way in (across, sight.trunk))
            axes[role] = _frame(left, up - left * (left @ up) if role == "hips" else up)
    first = next(iter(axes), "hips")
    base = {role: sight.turns[role] @ local for role, local in axes.items()}
    chest, hips = (base.get(role, base.get(first)) for role in ("chest", "hips"))
    if chest is None or hips is None:
        chest = hips = _frame(hips_across, sight.trunk)
    if "head" in sight.turns:
        level = _headed(chest[..., 0], sight.up, chest)
        turned = np.swapaxes(sight.turns["head"], -1, -2)
        axes["head"] = nearest_rotation((turned @ (sight.standing[:, None, None] * level + BENT * chest)).sum(axis=0))
    slope = _slope(sight)
    for side in SIDES:
        _arm(sight, side, chest, weights, axes)
        _leg(sight, side, hips, slope, axes)
    for role in sight.turns.keys() - axes.keys():  # a forearm without an upper arm
        axes[role] = mean_axes(sight.turns[role], hips if role.endswith(LEG) else chest, weights)
    return axes


def limb_way(role: str) -> FloatArray:
    """Return the direction of a limb's bone in anatomical axes: sideways for an arm, down for a leg."""
    if role.endswith(LEG):
        return LEG_OUT
    return ARM_OUT if role.startswith("left") else -ARM_OUT


def _arm(sight: Sight, side: str, chest: FloatArray, weights: FloatArray, axes: dict[str, FloatArray]) -> None:
    """Add the axes of collar bone, upper arm, forearm and hand of a side."""
    clavicle, shoulder, elbow, hand = (f"{side}_{part}" for part in ("clavicle", "shoulder", "elbow", "hand"))
    sign = 1.0 if side == "left" else -1.0
    before = _limb(sight, (shoulder, elbow, hand), sign * ARM_OUT, sign * ARM_FOLD, chest, axes)
    if clavicle in sight.turns:
        axes[clavicle] = mean_axes(sight.turns[clavicle], chest, weights)
    if hand not in sight.turns:
        return
    if side in sight.palms:
        out, ahead = (_mean(sight.turns[hand], way) for way in sight.palms[side])
        axes[hand] = _placed(out, cross(out, ahead), sign * ARM_OUT, sign * ARM_FOLD)
    else:
        axes[hand] = mean_axes(sight.turns[hand], before)


def _slope(sight: Sight) -> float:
    """Return the slope of feet from ankle to toes while soles are flat [rad]; the default if no sole ever is."""
    ways = [sight.toes[side][flat] for side, flat in sight.flat.items() if side in sight.toes and flat.any()]
    if not ways:
        return SLOPE
    down = -np.concatenate(ways) @ sight.up
    length = np.linalg.norm(np.concatenate(ways), axis=1)
    return float(np.arcsin(np.clip(down.sum() / max(length.sum(), SHORT), -1.0, 1.0)))


def _leg(sight: Sight, side: str, hips: FloatArray, slope: float, axes: dict[str, FloatArray]) -> None:
    """Add the axes of thigh, shank, foot and toes of a side; a foot that is never flat gets the usual slope of feet."""
    hip, knee, ankle, toe = (f"{side}_{part}" for part in ("hip", "knee", "ankle", "toe"))
    aside = None  # for a straight leg, the foot tells where the knee points
    if side in sight.toes and knee in sight.places:
        aside = cross(_unit(sight.toes[side]), sight.way(knee, ankle))
    shank = _limb(sight, (hip, knee, ankle), LEG_OUT, LEG_FOLD, hips, axes, aside)
    if ankle not in sight.turns:
        return
    flat = sight.flat[side].astype(float)
    ahead = sight.toes.get(side)
    if flat.any():
        level = _headed(shank[..., 0] if ahead is None else ahead, sight.up, shank)
    else:  # never on the ground: perpendicular to the shank, or with the usual slope of feet
        flat = np.ones_like(flat)
        level = shank if ahead is None else _sloping(_unit(ahead), cross(shank[..., 2], ahead), slope)
    axes[ankle] = mean_axes(sight.turns[ankle], level, flat)
    if toe in sight.turns:
        axes[toe] = mean_axes(sight.turns[toe], sight.turns[ankle] @ axes[ankle], flat)


def _sloping(toes: FloatArray, left: FloatArray, slope: float) -> FloatArray:
    """Return axes (frames, 3, 3) of feet whose unit vectors to the toes point below the horizontal by an angle."""
    left = _unit(left)
    up = cross(toes, left)
    return _frame(left, np.cos(slope) * up - np.sin(slope) * toes)


def _limb(
    sight: Sight,
    roles: tuple[str, str, str],
    out: FloatArray,
    fold: FloatArray,
    base: FloatArray,
    axes: dict[str, FloatArray],
    aside: FloatArray | None = None,
) -> FloatArray:
    """Add the axes of the two bones of a limb, and return those of the last one in the world, (frames, 3, 3).

    A bone points from its joint to the next. Its twist is such that the limb folds about the right axis: forward at an
    elbow, backward at a knee. The twist of a limb that never folds is taken from its foot, or from the shortest
    rotation out of the anatomical pose.

    Args:
        sight: Positions and orientations of the skeleton.
        roles: The joints at both ends and in the middle.
        out: Direction of the bones in anatomical axes.
        fold: The folding axis in anatomical axes.
        base: Axes of the trunk, (frames, 3, 3).
        axes: Axes found so far, by role; those of the limb are added.
        aside: Expected folding axis, (frames, 3), if the foot determines it.
    """
    first, middle, last = roles
    if first not in sight.turns or middle not in sight.places:
        return base
    upper = sight.way(first, middle)
    bone = _mean(sight.turns[first], upper)
    guess, trust = _untwisted(base, upper, out)
    expected = _mean(sight.turns[first], guess @ fold, trust) if aside is None else _mean(sight.turns[first], aside)
    expected = expected + ASIDE * _mean(sight.turns[first], base @ fold)
    hinge = expected
    if last in sight.places:
        bend = cross(upper, sight.way(middle, last))
        size = np.linalg.norm(bend, axis=1)
        hinge = _mean(sight.turns[first], bend * size[:, None])
        if hinge @ expected < 0.0 and np.percentile(size, 95.0) < OVERSTRETCHED:
            hinge = -hinge  # such as badly fitted knees
        hinge = hinge + FOLDED * np.exp(-float((size**2).mean()) / FOLDED) * expected
    if middle in sight.folds:
        hinge = _mean(sight.turns[first], sight.folds[middle])
    elif middle in sight.hinges:
        real = _mean(sight.turns[first], sight.hinges[middle])
        hinge = real * (1.0 if real @ hinge >= 0.0 else -1.0)
    axes[first] = _placed(bone, hinge, out, fold)
    before = sight.turns[first] @ axes[first]
    if middle not in sight.turns or last not in sight.places:
        if middle in sight.turns:
            axes[middle] = mean_axes(sight.turns[middle], before)
        return before
    turned = sight.turns[middle]
    lower = _mean(turned, sight.way(middle, last))
    axes[middle] = _placed(lower, _mean(turned, before @ fold), out, fold)
    return np.asarray(turned @ axes[middle])


def levelled(axes: FloatArray) -> FloatArray:
    """Return axes (..., 3, 3) made upright, with the same heading."""
    ahead = axes[..., :, 0] * (1.0, 1.0, 0.0)
    length = np.linalg.norm(ahead, axis=-1, keepdims=True)
    ahead = np.where(length > 1e-6, ahead / np.maximum(length, 1e-6), (1.0, 0.0, 0.0))
    up = np.broadcast_to((0.0, 0.0, 1.0), ahead.shape)
    return np.stack([ahead, cross(up, ahead), up], axis=-1)


def _untwisted(base: FloatArray, way: FloatArray, out: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the trunk's axes after the shortest rotation of a bone onto a direction, and how certain they are."""
    from scipy.spatial.transform import Rotation

    straight = base @ out
    turn = Rotation.from_rotvec(turn_between(straight, way)).as_matrix()
    return turn @ base, (1.0 + (straight * way).sum(axis=1)) / 2.0


def _mean(turns: FloatArray, ways: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the mean (3,) of world vectors (frames, 3) in the coordinates of a link; long vectors weigh more."""
    seen = np.einsum("tji,tj->ti", turns, ways)
    return np.asarray(np.average(seen, axis=0, weights=_some(weights)))


def mean_axes(turns: FloatArray, axes: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the mean (3, 3) of world axes (frames, 3, 3) in the coordinates of a link."""
    return nearest_rotation(np.average(np.swapaxes(turns, -1, -2) @ axes, axis=0, weights=_some(weights)))


def _some(weights: FloatArray | None) -> FloatArray | None:
    """Return weights, or None if all of them are zero."""
    return None if weights is None or not weights.any() else weights


def nearest_rotation(matrix: FloatArray) -> FloatArray:
    """Return the rotation nearest to a matrix (3, 3)."""
    u, _, vt = np.linalg.svd(matrix)
    return np.asarray(u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt)


def _unit(ways: FloatArray) -> FloatArray:
    return np.asarray(ways / np.maximum(np.linalg.norm(ways, axis=-1, keepdims=True), SHORT))


def _frame(left: FloatArray, up: FloatArray) -> FloatArray:
    """Return axes (..., 3, 3) whose third points up and whose second points as nearly left as possible."""
    ahead, up = cross(left, up), _unit(up)
    length = np.linalg.norm(ahead, axis=-1, keepdims=True)
    aside = cross(np.eye(3)[np.abs(up).argmin(axis=-1)], up)
    ahead = _unit(np.where(length > SHORT, ahead, aside))
    return np.stack([ahead, cross(up, ahead), up], axis=-1)


def _headed(ahead: FloatArray, up: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Return upright axes (frames, 3, 3) that point ahead; `otherwise` in frames where ahead is vertical."""
    level = ahead - (ahead @ up)[:, None] * up
    steep = np.linalg.norm(level, axis=1) < 0.05 * np.linalg.norm(ahead, axis=1)
    made = _frame(cross(up, level), np.broadcast_to(up, level.shape))
    return np.where(steep[:, None, None], otherwise, made)


def _placed(bone: FloatArray, hinge: FloatArray, out: FloatArray, fold: FloatArray) -> FloatArray:
    """Return the axes in which a bone has the anatomical direction `out`, and a hinge as nearly as possible `fold`."""
    x = _unit(bone)
    y = hinge - x * (x @ hinge)
    if np.linalg.norm(y) < SHORT:
        y = cross(x, np.eye(3)[np.abs(x).argmin()])
    y = _unit(y)
    here, there = np.stack([x, y, cross(x, y)], axis=1), np.stack([out, fold, cross(out, fold)], axis=1)
    return np.asarray(here @ there.T)
