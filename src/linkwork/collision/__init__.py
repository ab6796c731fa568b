"""Collision checking: obstacles and worlds, the pairs of links to check, distances between shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import found_later

if TYPE_CHECKING:
    from .bone_shapes import thick_bones as thick_bones
    from .fitting import Fit as Fit, FittedLink as FittedLink, fit as fit
    from .obstacles import Obstacle as Obstacle, World as World
    from .pair_table import Pair as Pair, PairTable as PairTable, find_pairs as find_pairs, pairs as pairs
    from .sweeping import Sweep as Sweep, sweep as sweep

_NAMES = {
    "bone_shapes": "thick_bones",
    "fitting": "Fit FittedLink fit",
    "obstacles": "Obstacle World",
    "sweeping": "Sweep sweep",
    "pair_table": "Pair PairTable find_pairs pairs",
}
__all__ = sorted(" ".join(_NAMES.values()).split())
if not TYPE_CHECKING:
    __getattr__ = found_later(__name__, _NAMES)
