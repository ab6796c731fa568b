"""Guess the unit of length and the up axis of a BVH file, from bones and motion.

The unit depends only on the lengths of the bones, so that a skeleton always gets the same one. The up axis follows from
the direction from feet to head over the whole motion. The writer chooses a unit that the reader will guess again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..motion.contacts import FOOT
from ..transforms import FloatArray, axis_rotation

SAMPLES = 64  # frames examined
SLIDES = ("xposition", "yposition", "zposition")
NEAR_NOTHING, MOST, ENOUGH = 0.1, 0.9, 5  # fraction of an offset; fraction and number of joints with positions
STRETCHED = 1.45  # length from fingertip to toes along the bones, divided by the height of a person
HEAD = re.compile(r"head|neck|skull", re.IGNORECASE)
USUAL, ON_FLOOR = 0.3, 0.08  # prior score of y; distance of a floor from zero relative to the size of the skeleton
CLEAR = 0.5  # lead in score of the best axis over the next; below that, free fall decides
FALLING = 2.0  # score of free fall
TALLER = 1.5  # smallest ratio of the extents along z and y for z to be up
FLOOR = 0.3  # largest height of the lowest part of a standing skeleton, relative to its size


@dataclass(frozen=True)
class Unit:
    """A unit of length: its name, its length in metres, and the height in units below which it is guessed."""

    name: str
    metres: float
    below: float


UNITS = (
    Unit("metres", 1.0, 8.0),
    Unit("decimetres", 0.1, 21.0),
    Unit("1/0.45 inches, as in the CMU collection", 0.0254 / 0.45, 45.0),
    Unit("inches", 0.0254, 90.0),
    Unit("centimetres", 0.01, 600.0),
    Unit("millimetres", 0.001, np.inf),
)
WRITTEN = (UNITS[4], UNITS[0], UNITS[5])  # the default first


class Bone(Protocol):
    """A joint of a skeleton: its offset from the parent joint, and the offsets of its end sites."""

    name: str
    offset: Any
    channels: Any
    ends: list[Any]


@dataclass(frozen=True, eq=False)
class Flight:
    """Free fall of a body: the direction opposite to the fall, in the axes of the file, and its duration [s]."""

    up: FloatArray
    seconds: float


@dataclass(frozen=True, eq=False)
class Seen:
    """Joints and end sites of a skeleton in the axes of its file, in some frames of its motion.

    Args:
        names: Name of the joint of each point.
        places: Positions, shape (frames, points, 3); the root is the first point.
        size: Height of the skeleton, by its bones.
    """

    names: tuple[str, ...]
    places: FloatArray
    size: float


def channel_values(bones: Sequence[Bone], values: FloatArray | None, chosen: slice | None = None) -> list[FloatArray]:
    """Return the channel values of each joint in some frames, angles in radians, shape (frames, channels).

    Args:
        bones: The joints.
        values: Values of all channels, angles in degrees, shape (frames, channels); None without a motion.
        chosen: The frames; by default samples of the whole motion.
    """
    if values is not None and len(values):
        values = values[some_frames(len(values)) if chosen is None else chosen]
    result, first = [], 0
    for bone in bones:
        last = first + len(bone.channels)
        part = np.zeros((0, last - first)) if values is None else values[:, first:last]
        turns = np.array([what.endswith("rotation") for what in bone.channels], np.bool_)
        result.append(np.where(turns, np.radians(part), part))
        first = last
    return result


def positions_replace(bones: Sequence[Bone], columns: Sequence[FloatArray]) -> bool:
    """Return whether position channels replace the offsets of joints, or are added to them, judged by their size.

    A position that replaces an offset has about its length; one that is added is near zero. The root is no evidence,
    and a few joints are not enough, since they may be sliding joints.
    """
    nothing = []
    for bone, values in zip(bones[1:], columns[1:], strict=True):
        places = [bone.channels.index(what) for what in SLIDES if what in bone.channels]
        length = float(np.linalg.norm(bone.offset))
        if len(places) == len(SLIDES) and length > 0.0 and len(values):
            nothing.append(float(np.median(np.linalg.norm(values[:, places], axis=1))) < NEAR_NOTHING * length)
    return len(nothing) < ENOUGH or sum(nothing) < MOST * len(nothing)


def some_frames(count: int) -> NDArray[np.intp]:
    """Return indices of some of `count` frames, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, SAMPLES).astype(np.intp)) if count else np.zeros(0, np.intp)


def stature(bones: Sequence[Bone], parents: Sequence[int]) -> float:
    """Return the approximate height of a skeleton from its longest path along bones, from fingers to toes.

    The height of a chain without branches is its length.
    """
    reach = np.zeros(len(bones))  # longest path from a joint down to an end
    longest = 0.0
    for i in reversed(range(len(bones))):
        for way in (float(np.linalg.norm(end)) for end in bones[i].ends):
            longest, reach[i] = max(longest, reach[i] + way), max(reach[i], way)
        if parents[i] >= 0:
            way = float(reach[i] + np.linalg.norm(bones[i].offset))
            longest = max(longest, float(reach[parents[i]]) + way)
            reach[parents[i]] = max(reach[parents[i]], way)
    return max(longest / STRETCHED, float(reach[0]))


def look(
    bones: Sequence[Bone],
    parents: Sequence[int],
    columns: Sequence[FloatArray],
    replaces: bool,
    chosen: NDArray[np.intp] | None = None,
) -> Seen:
    """Return positions of joints and ends over a motion, or at rest if there is none.

    Args:
        bones: Joints, parents before children.
        parents: Index of the parent of each joint, or -1.
        columns: Channel values of each joint, in radians and units of the file, shape (frames, channels).
        replaces: Whether position channels replace offsets, or are added to them.
        chosen: Frames to use; by default evenly spaced samples.
    """
    frames = len(columns[0]) if len(columns) else 0
    chosen = some_frames(frames) if chosen is None else chosen
    count = max(len(chosen), 1)
    turns = np.empty((len(bones), count, 3, 3))
    places = np.empty((len(bones), count, 3))
    ends: list[tuple[str, FloatArray]] = []
    for i, (bone, parent) in enumerate(zip(bones, parents, strict=True)):
        turn, way = np.broadcast_to(np.eye(3), (count, 3, 3)), np.tile(np.array(bone.offset, float), (count, 1))
        for what, values in zip(bone.channels, columns[i][chosen].T if frames else (), strict=False):
            axis = "xyz".index(what[0].lower())
            if what.lower().endswith("rotation"):
                turn = turn @ axis_rotation(np.eye(3)[axis], values)
            else:
                way[:, axis] = values if replaces else way[:, axis] + values
        if parent >= 0:
            way = places[parent] + np.einsum("tij,tj->ti", turns[parent], way)
            turn = turns[parent] @ turn
        places[i], turns[i] = way, turn
        ends += [(bone.name, way + turn @ np.array(end, float)) for end in bone.ends]
    names = (*(bone.name for bone in bones), *(name for name, _ in ends))
    points = np.concatenate([places, np.reshape([place for _, place in ends], (-1, count, 3))])
    return Seen(names, np.swapaxes(points, 0, 1), stature(bones, parents))


def guess_unit(size: float) -> Unit:
    """Return the unit in which a skeleton of this height is most like a person.

    Example:
        >>> guess_unit(178.0).name
        'centimetres'
    """
    return next((unit for unit in UNITS if size < unit.below), UNITS[-1])


def choose_unit(size: float) -> Unit:
    """Return the unit for writing a skeleton of a height [m]: centimetres, unless a reader would guess another.

    Example:
        >>> choose_unit(1.8).name, choose_unit(0.3).name, choose_unit(30.0).name
        ('centimetres', 'metres', 'millimetres')
    """
    return next((unit for unit in WRITTEN if guess_unit(size / unit.metres) is unit), WRITTEN[0])


def guess_up(seen: Seen, flight: Callable[[], Flight | None] = lambda: None) -> tuple[str, str]:
    """Return the up axis, and the reason.

    The head is above the feet, and the feet are on a floor at zero, unless the body stays at the origin. If that is not
    clear, as in cartwheels, free fall decides. Without any evidence, y is up, or z for a skeleton without these names
    that is tall along z and stands on the floor there.

    Args:
        seen: Positions of a skeleton over its motion.
        flight: Returns the up direction from free fall, called only if needed; see `bvh_flight`.
    """
    heads = [k for k, name in enumerate(seen.names) if HEAD.search(name)]
    feet = [k for k, name in enumerate(seen.names) if FOOT.search(name)]
    travels = float(np.abs(seen.places[:, 0]).max()) > ON_FLOOR * seen.size
    if heads and feet:
        way = seen.places[:, heads].mean(axis=1) - seen.places[:, feet].mean(axis=1)
        way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)
        over = way.mean(axis=0)
        floor = np.percentile(seen.places[:, feet].min(axis=1), 5.0, axis=0)
        stands = np.exp(-((floor / max(ON_FLOOR * seen.size, 1e-12)) ** 2)) if travels else np.zeros(3)
        likely = over + stands + np.array([0.0, USUAL, 0.0])
        axis = int(likely.argmax())
        if likely[axis] - np.sort(likely)[-2] >= CLEAR or (fall := flight()) is None:
            return "xyz"[axis], f"since the head is above the feet along it ({over[axis]:.0%} of the distance)"
        return _against(fall, likely)
    if (fall := flight()) is not None:
        return _against(fall, np.array([0.0, USUAL, 0.0]))
    if travels and _stands_along_z(seen):
        return "z", "since the skeleton stands and moves along it"
    return "y", "as usual in BVH"


def _against(fall: Flight, likely: FloatArray) -> tuple[str, str]:
    """Return the up axis by free fall and the other scores, and the reason."""
    axis = int((likely + FALLING * fall.up).argmax())
    return "xyz"[axis], f"since the body falls against it in flight ({fall.seconds:.2g} s of the motion)"


def _stands_along_z(seen: Seen) -> bool:
    """Return whether a skeleton is tall along z and stands on the floor there."""
    root = seen.places[:, :1]
    seen_from_root = seen.places - root
    low, high = (np.median(edge(axis=1), axis=0) for edge in (seen_from_root.min, seen_from_root.max))
    _, tall, long = high - low
    _, y, z = root[:, 0].mean(axis=0)
    if long <= TALLER * tall:
        return False
    return bool(z > 0.2 * long and z > TALLER * abs(y) and abs(z + low[2]) < FLOOR * long)
