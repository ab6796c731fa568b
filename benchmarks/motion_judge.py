"""The judge of retargeting: compares a motion with its source by the positions of their joints, whoever made them.

It is independent of linkwork: it takes positions of parts and returns numbers. Its definitions are those of the
documentation of retargeting (limb directions, sliding, penetration, hands in the body, facing, jerk).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SIDES = ("left", "right")
SEGMENTS = {
    "trunk": ("hips", "neck"),
    **{f"{side}_upper_arm": (f"{side}_shoulder", f"{side}_elbow") for side in SIDES},
    **{f"{side}_forearm": (f"{side}_elbow", f"{side}_hand") for side in SIDES},
    **{f"{side}_thigh": (f"{side}_hip", f"{side}_knee") for side in SIDES},
    **{f"{side}_shank": (f"{side}_knee", f"{side}_ankle") for side in SIDES},
}
LOW, PERCENTILE = 0.05, 5.0  # a foot is on the ground below this share of a leg above this percentile of its height
SLOW = 0.25  # leg lengths per second
LEAST = 0.12  # [s]: shorter contacts do not count
SKATING = 0.01  # [m/s]
DEEP = 0.005  # [m]: allowed depth of a sole below the floor
NEAR_TRUNK = 0.24  # share of the trunk: hands nearer to its axis are in the body
SHAKEN = ("hips", "head", "left_hand", "right_hand", "left_ankle", "right_ankle")


@dataclass(frozen=True)
class Moving:
    """A body in motion: positions of its parts over time, z up, in metres.

    Args:
        times: Times of the frames [s].
        places: Positions (frames, 3) by part; missing "hips" and "neck" are computed from both sides.
        soles: Height of the lowest point of the feet over time; None if the feet have no shape.
    """

    times: Array
    places: Mapping[str, Array]
    soles: Array | None = None

    def __getitem__(self, part: str) -> Array:
        if part not in self.places and part in ("hips", "neck"):
            pair = "hip" if part == "hips" else "shoulder"
            return (self[f"left_{pair}"] + self[f"right_{pair}"]) / 2.0
        return self.places[part]

    def has(self, *parts: str) -> bool:
        """Return whether it has all given parts."""
        return all(part in self.places or (part in ("hips", "neck") and self.has(*_pair(part))) for part in parts)

    @cached_property
    def leg(self) -> float:
        """Length of a leg [m]."""
        return float(np.mean([self.length(f"{s}_thigh") + self.length(f"{s}_shank") for s in SIDES]))

    def length(self, segment: str) -> float:
        """Return the length of a segment [m], as median over time."""
        start, end = SEGMENTS[segment]
        return float(np.median(np.linalg.norm(self[end] - self[start], axis=1)))

    @property
    def left(self) -> Array:
        """Direction from right to left over time, (frames, 3)."""
        return self["left_hip"] - self["right_hip"]


def _pair(part: str) -> tuple[str, str]:
    name = "hip" if part == "hips" else "shoulder"
    return f"left_{name}", f"right_{name}"


@dataclass(frozen=True)
class Contact:
    """A part on the ground from a first to a last frame, inclusive."""

    part: str
    first: int
    last: int


@dataclass(frozen=True)
class Verdict:
    """Comparison of a motion with its source; angles in degrees, lengths in metres.

    Args:
        direction: Angle between a segment and that of the source, mean over frames, by segment.
        missing: Segments that one of the two lacks.
        slide: Largest distance of a planted joint from its median position on the floor, mean over contacts.
        skating: Share of the contact time in which it moves faster than 1 cm/s.
        contacts: Number of contacts of the source.
        penetration: Share of frames with a sole more than 5 mm below the floor; None if unknown.
        deepest: Largest depth of a sole below the floor.
        floating: Median height of the lowest sole above the floor during contacts of the source.
        hands: Share of frames with a hand in the body, and the same for the source.
        facing: Median difference of headings.
        jerk: Root mean square jerk relative to the source, scaled by leg length, median over parts.
    """

    direction: Mapping[str, float]
    missing: tuple[str, ...]
    slide: float
    skating: float
    contacts: int
    penetration: float | None
    deepest: float | None
    floating: float | None
    hands: tuple[float, float]
    facing: float
    jerk: float

    @property
    def mean(self) -> float:
        """Mean angle over segments."""
        return float(np.mean(list(self.direction.values())))


def judge(source: Moving, target: Moving) -> Verdict:
    """Return the comparison of a motion with its source."""
    shared = [name for name, ends in SEGMENTS.items() if source.has(*ends) and target.has(*ends)]
    contacts = list(find_contacts(source))
    slide, skating = sliding(target, contacts)
    planted = np.zeros(len(source.times), bool)
    for one in contacts:
        planted[one.first : one.last + 1] = True
    soles = target.soles
    return Verdict(
        direction={name: float(np.mean(_angles(source, target, name))) for name in shared},
        missing=tuple(name for name in SEGMENTS if name not in shared),
        slide=slide,
        skating=skating,
        contacts=len(contacts),
        penetration=None if soles is None else float(np.mean(soles < -DEEP)),
        deepest=None if soles is None else max(0.0, -float(soles.min())),
        floating=None if soles is None or not planted.any() else float(np.median(soles[planted])),
        hands=(hands_in_body(target), hands_in_body(source)),
        facing=_facing(source, target),
        jerk=_jerk_ratio(source, target),
    )


def _angles(source: Moving, target: Moving, segment: str) -> Array:
    """Return the angles between a segment of two bodies over time [degrees]."""
    start, end = SEGMENTS[segment]
    ways = []
    for body in (source, target):
        way = body[end] - body[start]
        ways.append(way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12))
    sine = np.linalg.norm(np.cross(ways[0], ways[1]), axis=1)
    angles: Array = np.degrees(np.arctan2(sine, (ways[0] * ways[1]).sum(axis=1)))
    return angles


def find_contacts(source: Moving) -> Iterator[Contact]:
    """Yield contacts of the toes and ankles of a source with the ground: low and slow for long enough."""
    step = float(np.median(np.diff(source.times)))
    for part in (f"{side}_{name}" for side in SIDES for name in ("toe", "ankle")):
        if part not in source.places:
            continue
        place = source.places[part]
        low = place[:, 2] < np.percentile(place[:, 2], PERCENTILE) + LOW * source.leg
        speed = np.linalg.norm(np.gradient(place, source.times, axis=0), axis=1)
        standing = np.concatenate([[False], low & (speed < SLOW * source.leg), [False]])
        edges = np.flatnonzero(np.diff(standing.astype(int)))
        for first, last in zip(edges[::2], edges[1::2] - 1, strict=True):
            if (last - first) * step >= LEAST:
                yield Contact(part, int(first), int(last))


def sliding(target: Moving, contacts: list[Contact]) -> tuple[float, float]:
    """Return the slide of planted joints, mean over contacts, and the share of time in which they skate."""
    slides, moving = [], []
    for one in contacts:
        if one.part not in target.places:
            continue
        floor = target.places[one.part][one.first : one.last + 1, :2]
        slides.append(float(np.linalg.norm(floor - np.median(floor, axis=0), axis=1).max()))
        speed = np.linalg.norm(np.diff(floor, axis=0), axis=1) / np.diff(target.times[one.first : one.last + 1])
        moving.append(speed > SKATING)
    return (float(np.mean(slides)), float(np.concatenate(moving).mean())) if slides else (0.0, 0.0)


def hands_in_body(body: Moving) -> float:
    """Return the share of frames in which a hand is in the body: nearer to the axis hips-neck than 0.24 of it."""
    if not body.has("hips", "neck"):
        return 0.0
    start, way = body["hips"], body["neck"] - body["hips"]
    length = np.linalg.norm(way, axis=1)
    inside = np.zeros(len(body.times), bool)
    for hand in (f"{side}_hand" for side in SIDES if f"{side}_hand" in body.places):
        rest = body[hand] - start
        along = np.clip((rest * way).sum(axis=1) / length**2, 0.0, 1.0)
        inside |= np.linalg.norm(rest - along[:, None] * way, axis=1) < NEAR_TRUNK * length
    return float(inside.mean())


def _facing(source: Moving, target: Moving) -> float:
    headings = [np.arctan2(body.left[:, 1], body.left[:, 0]) for body in (source, target)]
    difference = np.angle(np.exp(1j * (headings[1] - headings[0])))
    return float(np.degrees(np.median(np.abs(difference))))


def _jerk_ratio(source: Moving, target: Moving) -> float:
    ratios = []
    for part in SHAKEN:
        if source.has(part) and target.has(part) and len(source.times) > 3:
            before, after = (
                float(np.sqrt((np.diff(body[part], 3, axis=0) ** 2).sum(axis=1).mean())) / body.leg
                for body in (source, target)
            )
            if before > 0.0:
                ratios.append(after / before)
    return float(np.median(ratios)) if ratios else 1.0
