"""Measure the memory of the history's states; what scenes share counts once."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..linkage.caching import Cache
from .scene import Scene

APART = (type, ModuleType, FunctionType, MethodType, Cache)  # types not owned by a scene, or emptied when it is left


def weight(scene: Scene, before: Scene | None = None) -> int:
    """Return the bytes that a scene holds, without those that it shares with the one before it.

    Example:
        >>> import linkwork as lw
        >>> from dataclasses import replace
        >>> from linkwork.studio.scene import first_scene
        >>> scene = first_scene(lw.models.panda())
        >>> weight(replace(scene, q=np.zeros(7)), scene) < 1000 < weight(scene)
        True
    """
    shared = set() if before is None else {id(part) for part in _parts(before)}
    seen: set[int] = set()
    return sum(_held(part, seen) for part in _parts(scene) if id(part) not in shared) + sys.getsizeof(scene)


def _parts(scene: Scene) -> Iterator[Any]:
    """Yield the parts that scenes can share: the linkage, poses, goals, keys, the world."""
    yield scene.linkage
    yield scene.q
    yield from scene.targets
    yield from scene.poses.values()
    yield scene.around.world
    for line in scene.clips.values():
        yield line.keys
        yield from line.keys


def _held(part: Any, seen: set[int]) -> int:
    """Return the bytes of a part and of all objects it refers to that were not seen before; of a tuple, itself only."""
    if isinstance(part, tuple):
        return sys.getsizeof(part)
    total, left = 0, [part]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, APART):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        if isinstance(one, np.ndarray):
            left += [] if one.base is None else [one.base]
        else:
            left += gc.get_referents(one)
    return total
