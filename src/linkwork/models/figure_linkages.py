"""The linkages of live figures, packed for web pages; a figure asks for them by these names.

A new one is one line of `LINKAGES`: how it is built, and the goals that its solver knows. Each is a few kilobytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..goals import Reach
from .arms import planar

if TYPE_CHECKING:
    from ..linkage.linkage import Linkage


def point(frame: str = "tip") -> Reach:
    """Return a goal for the place of a frame in the plane; where it is to be comes later."""
    return Reach(frame, position=(0.0, 0.0))


def flat(*lengths: float) -> Callable[[], tuple[Linkage, Any]]:
    """Return how a planar arm with a goal for its tip is made."""
    return lambda: (planar(list(lengths)), point())


LINKAGES: dict[str, Callable[[], tuple[Linkage, Any]]] = {
    "planar-2": flat(15, 10),
    "planar-3": flat(15, 10, 5),  # the chapter's worked example
    "planar-4": flat(10, 8, 7, 5),
}


def linkage(name: str) -> Linkage:
    """Return a linkage of the live figures.

    Example:
        >>> linkage("planar-3").nq
        3
    """
    return LINKAGES[name]()[0]


def packs() -> dict[str, str]:
    """Return all linkages of the live figures, packed: JSON texts by name."""
    made = {name: make() for name, make in LINKAGES.items()}
    return {name: linkage.pack(goals).to_json() for name, (linkage, goals) in made.items()}
