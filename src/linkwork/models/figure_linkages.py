"""The linkages of live figures, packed for web pages, by name.

To add one, add a line to `LINKAGES`: a function that builds it and the goals of its solver. Each is a few kilobytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..goals import Balance, Goal, Hold, Reach, Rest
from ..linkage.builder import Builder
from ..linkage.mass import masses
from ..transforms import transform
from .arms import panda, planar
from .humans import human

if TYPE_CHECKING:
    from ..linkage.linkage import Linkage

HALF_TURN = ((-1, 0, 0), (0, -1, 0), (0, 0, 1))  # about z


def point(frame: str = "tip") -> Reach:
    """Return a goal for the position of a frame in the plane; its target is set later."""
    return Reach(frame, position=(0.0, 0.0))


def flat(*lengths: float) -> Callable[[], tuple[Linkage, Any]]:
    """Return the recipe of a planar arm with a goal for its tip."""
    return lambda: (planar(list(lengths)), point())


def robot() -> tuple[Linkage, Any]:
    """Return a Panda with goals for its tip: position, with or without orientation."""
    return panda(), {"tip": "tip", "point": Reach("tip", position=(0.0, 0.0, 0.0))}


def standing_human() -> tuple[Linkage, Any]:
    """Return a human on its feet with goals for its hands: after feet and balance, beside them, and without balance."""
    soles = [f"{side}_{part}" for side in ("left", "right") for part in ("heel", "ball")]

    def goals(level: int, *, balance: bool = True) -> list[Goal]:
        feet = [Hold(f"{side}_foot") for side in ("left", "right")]
        hands = [Reach(f"{side}_hand", position=(0.0, 0.0, 1.0), priority=level) for side in ("left", "right")]
        return [*feet, *([Balance(over=soles)] if balance else []), *hands, Rest("stand", priority=level, weight=0.01)]

    return human(root="floating"), {"first": goals(1), "alike": goals(0), "unbalanced": goals(1, balance=False)}


def two_arms() -> tuple[Linkage, Any]:
    """Return a trunk with two arms of two links each, free to move in the plane: the chapter's figure 5.11."""
    b = Builder("two-arms", base="link0", root="planar")
    b.revolute("j1", "link1", at=(3, 6, 0))
    b.revolute("j11", "link11", at=(7, 0, 0))
    b.frame("tip1", at=(5, 0, 0))
    b.revolute("j2", "link2", parent="link0", at=transform((-3, 6, 0), HALF_TURN))
    b.revolute("j21", "link21", at=(7, 0, 0))
    b.frame("tip2", at=(5, 0, 0))
    return b.build(), ()


def slide_arm() -> tuple[Linkage, Any]:
    """Return a planar arm with both basic joints: it turns, slides and turns."""
    b = Builder("slide-arm", base="link0")
    b.revolute("j1", "link1")
    b.prismatic("j2", "link2", at=(6, 0, 0), axis="x", limits=(0, 8))
    b.revolute("j3", "link3", at=(4, 0, 0))
    b.frame("tip", at=(6, 0, 0))
    return b.build(), point()


LINKAGES: dict[str, Callable[[], tuple[Linkage, Any]]] = {
    "human": standing_human,
    "panda": robot,
    "planar-2": flat(15, 10),
    "planar-3": flat(15, 10, 5),  # the chapter's worked example
    "planar-4": flat(10, 8, 7, 5),
    "slide-arm": slide_arm,
    "two-arms": two_arms,
}
WEIGHED = {"human"}  # these include their masses


def linkage(name: str) -> Linkage:
    """Return a linkage of the live figures.

    Example:
        >>> linkage("planar-3").nq
        3
    """
    return LINKAGES[name]()[0]


@cache
def packed(name: str) -> str:
    """Return a linkage of the live figures, packed, as JSON text; it is cached, since many pages contain it."""
    linkage, goals = LINKAGES[name]()
    made = linkage.pack(goals)
    more = {"masses": shares(linkage)} if name in WEIGHED else {}
    return replace(made, data={**made.data, **more}).to_json()


def shares(linkage: Linkage) -> dict[str, Any]:
    """Return the links with a mass, their shares of the total mass, and their centres of mass."""
    heavy = masses(linkage)
    return {"links": list(heavy.links), "shares": heavy.masses / heavy.total, "centers": np.ravel(heavy.centers)}
