"""What a BVH file does not say: its unit of length and which axis points up, guessed from the skeleton.

The reader guesses; the writer chooses a unit that the guess will find again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..transforms import FloatArray

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
    Unit("1/0.45 inches, as in the CMU collection", 0.0254 / 0.45, 45.0),
    Unit("inches", 0.0254, 90.0),
    Unit("centimetres", 0.01, 600.0),
    Unit("millimetres", 0.001, np.inf),
)
WRITTEN = (UNITS[3], UNITS[0], UNITS[4])  # the usual one first


class Bone(Protocol):
    """A joint of a skeleton: its offset from the joint above, and those of its end sites from it."""

    offset: Any
    ends: list[Any]


def spread(bones: Sequence[Bone], parents: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest x, y, z of a skeleton at rest, from its root; parents stand before children."""
    places: FloatArray = np.zeros((len(bones), 3))
    for i, parent in enumerate(parents):
        if parent >= 0:
            places[i] = places[parent] + bones[i].offset
    ends = [place + end for place, bone in zip(places, bones, strict=True) for end in bone.ends]
    places = np.concatenate([places, np.reshape(ends, (-1, 3))])
    return places.min(axis=0), places.max(axis=0)


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


def guess_up(low: FloatArray, high: FloatArray, root: FloatArray | None) -> str:
    """Return the axis that points up: y, or z where the skeleton is tall along it and stands on the floor there.

    Args:
        low: The lowest x, y, z of the skeleton at rest, from its root.
        high: The highest.
        root: Where its root is over time, shape (frames, 3), if it moves.
    """
    _, tall, long = high - low
    if root is None or len(root) == 0 or long <= TALLER * tall:
        return "y"
    _, y, z = root.mean(axis=0)
    stands = z > 0.2 * long and z > TALLER * abs(y) and abs(z + low[2]) < FLOOR * long
    return "z" if stands else "y"
