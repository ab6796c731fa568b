"""What a BVH file does not say: its unit of length and which axis points up, guessed from the skeleton.

Imports `transforms`. The reader guesses; the writer chooses a unit that the guess will find again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..transforms import FloatArray

TALLER = 1.5  # how much larger than along y a skeleton must be along z for z to point up


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
_BY_NAME = {unit.name: unit for unit in UNITS}
WRITTEN = tuple(_BY_NAME[name] for name in ("centimetres", "metres", "millimetres"))  # the usual one first

# world_from_file: a turn that takes the file's up axis to z.
UP: dict[str, FloatArray] = {
    "x": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}


def extents(offsets: Sequence[ArrayLike], parents: Sequence[int]) -> FloatArray:
    """Return how large a skeleton at rest is along x, y, z; every part comes after the one above it."""
    places: FloatArray = np.array(offsets, np.float64).reshape(-1, 3)
    for i, parent in enumerate(parents):
        places[i] = places[parent] + places[i] if parent >= 0 else 0.0
    result: FloatArray = np.ptp(places, axis=0)
    return result


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


def guess_up(size: FloatArray, root: FloatArray | None) -> str:
    """Return the axis that points up: y, or z where both the skeleton and its root's height say so.

    Args:
        size: How large the skeleton is along x, y, z.
        root: Where its root is over time, shape (frames, 3), if it moves.
    """
    if root is None or len(root) == 0 or size[2] <= TALLER * size[1]:
        return "y"
    _, y, z = root.mean(axis=0)
    return "z" if z > 0.2 * size[2] and z > TALLER * abs(y) else "y"
