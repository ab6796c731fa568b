"""Keep hands out of the body: trunk and thighs are capsules, and goals of hands are pushed to their surface.

Otherwise a body with other proportions would put its hands into its belly or legs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..motion.smoothing import smoothed
from ..transforms import FloatArray
from .names import SIDES
from .outlines import outline
from .skeletons import Skeleton

TRUNK, THIGH = 0.26, 0.16  # least radius over length; also that of bodies without shapes
FATTEST = 0.35  # radius over length, at most
MIDDLE = (0.2, 0.8)  # part of its length over which a shape is measured
SOFT = 0.15  # width of the soft zone in which a hand is turned away, as a fraction of the distance to keep
FORWARD = 0.5  # push to the front of a hand deep inside, as a fraction of the radius
SETTLING = 0.05  # [s]: smoothing time of pushes
Places = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Capsule:
    """A part of the body that hands keep out of.

    Args:
        start: Roles whose mean position is one end.
        end: Roles whose mean position is the other.
        radius: Radius over length.
        solid: Whether shapes define its surface; otherwise hands may be as deep in it as the source's are.
    """

    start: tuple[str, ...]
    end: tuple[str, ...]
    radius: float
    solid: bool

    def ends(self, places: Places) -> tuple[FloatArray, FloatArray]:
        """Return the positions of its ends, (frames, 3) each."""
        start, end = (np.mean([places[role] for role in roles], axis=0) for roles in (self.start, self.end))
        return start, end


def capsules(target: Skeleton) -> list[Capsule]:
    """Return the trunk and the thighs of a body, as far as it has them."""
    hips, shoulders = (tuple(f"{side}_{part}" for side in SIDES) for part in ("hip", "shoulder"))
    parts: list[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], float]]
    parts = [(hips, ("neck",) if "neck" in target else shoulders, ("hips", "spine", "chest"), TRUNK)]
    parts += [((f"{side}_hip",), (f"{side}_knee",), (f"{side}_hip",), THIGH) for side in SIDES]
    result = []
    for start, end, bodies, usual in parts:
        if target.has(*start, *end):
            radius = _measured(target, Capsule(start, end, usual, False), bodies)
            result.append(Capsule(start, end, min(max(radius, usual), FATTEST), radius > 0.0))
    return result


def _measured(target: Skeleton, capsule: Capsule, bodies: tuple[str, ...]) -> float:
    """Return the radius of the shapes of some bodies about a capsule's axis at rest, over its length; 0 without any."""
    start, end = capsule.ends({role: target.place(role) for role in (*capsule.start, *capsule.end)})
    way = end - start
    length = float(np.linalg.norm(way))
    links = {target.body(role) for role in bodies if role in target}
    points = [
        local @ target.world[k][:3, :3].T + target.world[k][:3, 3]
        for k in links
        if len(local := outline(target.linkage, k))
    ]
    if not points or length <= 0.0:
        return 0.0
    rest = np.concatenate(points) - start
    along = rest @ way / length**2
    inside = rest[(along > MIDDLE[0]) & (along < MIDDLE[1])]
    extents = [np.ptp(inside @ axis) / 2.0 for axis in target.axes.T[:2]] if len(inside) else [0.0]
    return float(min(extents)) / length


def kept_out(ends: tuple[FloatArray, FloatArray], hand: FloatArray, ahead: FloatArray, least: FloatArray) -> FloatArray:
    """Return positions of a hand (frames, 3), pushed away from the axis of a capsule.

    A hand nearer than the distance `least` is turned away softly, and comes no nearer than `1 - SOFT` of it.

    Args:
        ends: Positions of the ends of the axis.
        hand: Positions of the hand.
        ahead: Direction that the body faces, (frames, 3).
        least: The distance to keep, (frames,).
    """
    start, way = ends[0], ends[1] - ends[0]
    along = np.clip(((hand - start) * way).sum(axis=1) / np.maximum((way**2).sum(axis=1), 1e-12), 0.0, 1.0)
    foot = start + along[:, None] * way
    out = hand - foot
    far = np.linalg.norm(out, axis=1)
    soft = np.maximum(SOFT * least, 1e-9)
    wanted = least - soft + np.clip(far - least + 2.0 * soft, 0.0, 2.0 * soft) ** 2 / (4.0 * soft)
    deep = np.clip(1.0 - far / np.maximum(least, 1e-9), 0.0, 1.0)
    out = out + (FORWARD * deep * least)[:, None] * ahead
    out = out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)
    return np.where((far < least)[:, None], foot + wanted[:, None] * out, hand)


@dataclass(frozen=True)
class Clearance:
    """Distances that the hands of a target keep from its body.

    Args:
        target: The target.
        capsules: The parts of its body.
        distances: For each part, the least distance of each hand from its axis, over its length: by side, (frames,).
    """

    target: Skeleton
    capsules: Sequence[Capsule]
    distances: Sequence[Mapping[str, FloatArray]]

    @classmethod
    def of(cls, source: Skeleton, target: Skeleton, places: Places) -> Clearance:
        """Return the clearance of a target for a source whose roles are at `places` (frames, 3)."""
        sides = [side for side in SIDES if f"{side}_hand" in source and f"{side}_hand" in target]
        parts = [part for part in capsules(target) if part.solid or source.has(*part.start, *part.end)]
        frames = len(next(iter(places.values())))
        distances = []
        for part in parts:
            kept = np.full(frames, part.radius / (1.0 - SOFT))
            own = {side: np.inf if part.solid else _distance(part, places, places[f"{side}_hand"]) for side in sides}
            distances.append({side: np.minimum(kept, own[side]) for side in sides})
        return cls(target, parts, distances)

    def kept(self, hands: Places, poses: FloatArray, times: FloatArray) -> dict[str, FloatArray]:
        """Return positions of hands by side, kept away from the body in poses (frames, nq)."""
        target, result = self.target, dict(hands)
        hips = target.linkage.forward(poses, frame=target.roles["hips"])[:, :3, :3]
        ahead = hips @ target.anatomy["hips"][:, 0]
        for part, distances in zip(self.capsules, self.distances, strict=True):
            ends = part.ends({role: target.path(role, poses) for role in (*part.start, *part.end)})
            length = np.linalg.norm(ends[1] - ends[0], axis=1)
            for side, hand in result.items():
                least = distances[side] * length
                pushed = kept_out(ends, hand, ahead, least) - hand
                if pushed.any():
                    result[side] = kept_out(ends, hand + smoothed(pushed, times, SETTLING), ahead, least)
        return result


def _distance(capsule: Capsule, places: Places, hand: FloatArray) -> FloatArray:
    """Return the distance of a hand from a capsule's axis, over the capsule's length, (frames,)."""
    start, end = capsule.ends(places)
    way = end - start
    square = np.maximum((way**2).sum(axis=1), 1e-12)
    along = np.clip(((hand - start) * way).sum(axis=1) / square, 0.0, 1.0)
    return np.asarray(np.linalg.norm(hand - start - along[:, None] * way, axis=1) / np.sqrt(square))
