"""What a BVH file does not say: its unit of length and which axis points up, guessed from bones and motion.

The unit comes from the lengths of the bones alone, so that a skeleton always gets the same one. What is up comes from
where the head is over the feet, over the whole motion. The reader guesses; the writer chooses a unit that the guess
will find again.
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

SAMPLES = 64  # frames that are looked at
SLIDES = ("xposition", "yposition", "zposition")
NEAR_NOTHING, MOST, ENOUGH = 0.1, 0.9, 5  # of an offset; of the joints that have positions; so many at least
STRETCHED = 1.45  # how much longer a person is from a fingertip to the toes, along the bones, than tall
HEAD = re.compile(r"head|neck|skull", re.IGNORECASE)
USUAL, ON_FLOOR = 0.3, 0.08  # how much speaks for y; how near to zero a floor is, in sizes of the skeleton
CLEAR = 0.5  # how much more must speak for an axis than for the next, unless the way a body falls decides
FALLING = 2.0  # how much that speaks
TALLER = 1.5  # how much larger than along y a skeleton must be along z for z to point up
FLOOR = 0.3  # of its size: how near to zero the lowest part of a skeleton that stands is


@dataclass(frozen=True)
class Unit:
    """A unit of length: its name, its metres, and the skeletons that are below so many of them."""

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
WRITTEN = (UNITS[4], UNITS[0], UNITS[5])  # the usual one first


class Bone(Protocol):
    """A joint of a skeleton: its offset from the joint above, and those of its end sites from it."""

    name: str
    offset: Any
    channels: Any
    ends: list[Any]


@dataclass(frozen=True, eq=False)
class Flight:
    """What a body does in the air: the direction against which it falls, in the file's axes, and for how long [s]."""

    up: FloatArray
    seconds: float


@dataclass(frozen=True, eq=False)
class Seen:
    """Joints and ends of a skeleton in the axes of its file, over some frames of its motion.

    Args:
        names: Name of the joint that each point is, or is the end of.
        places: Where they are, (frames, points, 3); the root is the first.
        size: How large the skeleton is, by its bones.
    """

    names: tuple[str, ...]
    places: FloatArray
    size: float


def channel_values(bones: Sequence[Bone], values: FloatArray | None, chosen: slice | None = None) -> list[FloatArray]:
    """Return values of the channels of each joint, angles in radians, (frames, channels), in some frames of a file.

    Args:
        bones: The joints.
        values: Those of all channels, angles in degrees, (frames, channels); None where there are none.
        chosen: Which frames; by default some, over the whole motion.
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
    """Return whether position channels stand for the offsets of joints, or are added to them, as fits the bones.

    What replaces an offset is about as long as that; what is added to it is near nothing. The root says neither, and
    a few joints are not enough: they may slide.
    """
    nothing = []
    for bone, values in zip(bones[1:], columns[1:], strict=True):
        places = [bone.channels.index(what) for what in SLIDES if what in bone.channels]
        length = float(np.linalg.norm(bone.offset))
        if len(places) == len(SLIDES) and length > 0.0 and len(values):
            nothing.append(float(np.median(np.linalg.norm(values[:, places], axis=1))) < NEAR_NOTHING * length)
    return len(nothing) < ENOUGH or sum(nothing) < MOST * len(nothing)


def some_frames(count: int) -> NDArray[np.intp]:
    """Return some frames of so many, evenly over all of them."""
    return np.unique(np.linspace(0, count - 1, SAMPLES).astype(np.intp)) if count else np.zeros(0, np.intp)


def stature(bones: Sequence[Bone], parents: Sequence[int]) -> float:
    """Return about how tall a skeleton is, by its bones alone: by the longest way along them, from fingers to toes.

    A chain without branches is as tall as it is long.
    """
    reach = np.zeros(len(bones))  # from a joint to the end farthest below it
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
    """Return what is seen of a skeleton over its motion, or as it rests if it has none.

    Args:
        bones: Joints, parents before children.
        parents: The joint above each, or -1.
        columns: Values of the channels of each joint, [rad] and in the file's lengths, (frames, channels).
        replaces: Whether position channels stand for the offset, or are added to it.
        chosen: Frames to look at; by default some of all.
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
    """Return the unit in which a skeleton of that size is most like a person.

    Example:
        >>> guess_unit(178.0).name
        'centimetres'
    """
    return next((unit for unit in UNITS if size < unit.below), UNITS[-1])


def choose_unit(size: float) -> Unit:
    """Return the unit to write a skeleton of a size [m] in: centimetres, unless a reader would guess another.

    Example:
        >>> choose_unit(1.8).name, choose_unit(0.3).name, choose_unit(30.0).name
        ('centimetres', 'metres', 'millimetres')
    """
    return next((unit for unit in WRITTEN if guess_unit(size / unit.metres) is unit), WRITTEN[0])


def guess_up(seen: Seen, flight: Callable[[], Flight | None] = lambda: None) -> tuple[str, str]:
    """Return the axis that points up, and why it is thought so.

    A head is over its feet, and the feet are on a floor that is at zero, unless the body was left at the origin. Where
    that is not clear, as for who turns cartwheels, the way a body falls in the air tells. Where nothing does, y is up,
    or z where a skeleton without these names is tall along it and stands on the floor there.

    Args:
        seen: What is seen of a skeleton.
        flight: Gives what its motion tells of gravity, if that is asked for; see `bvh_flight`.
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
            return "xyz"[axis], f"since the head is over the feet along it ({over[axis]:.0%} of the way between them)"
        return _against(fall, likely)
    if (fall := flight()) is not None:
        return _against(fall, np.array([0.0, USUAL, 0.0]))
    if travels and _stands_along_z(seen):
        return "z", "since the skeleton stands and moves along it"
    return "y", "as BVH has it"


def _against(fall: Flight, likely: FloatArray) -> tuple[str, str]:
    """Return the axis against which a body falls, with what else speaks for each, and why."""
    axis = int((likely + FALLING * fall.up).argmax())
    return "xyz"[axis], f"since the body falls against it in the air ({fall.seconds:.2g} s of the motion)"


def _stands_along_z(seen: Seen) -> bool:
    """Return whether a skeleton is tall along z, and stands on the floor there."""
    root = seen.places[:, :1]
    seen_from_root = seen.places - root
    low, high = (np.median(edge(axis=1), axis=0) for edge in (seen_from_root.min, seen_from_root.max))
    _, tall, long = high - low
    _, y, z = root[:, 0].mean(axis=0)
    if long <= TALLER * tall:
        return False
    return bool(z > 0.2 * long and z > TALLER * abs(y) and abs(z + low[2]) < FLOOR * long)
