"""Targets: goals as users handle them, with a name, a place to drag and an on/off switch.

A new kind of target is one function and one row in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import GoalError, OptionError, listed
from ..goals import Balance, Bend, Goal, Hold, LookAt, Reach
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, as_transform, read_only

LEAST_WEIGHT, MOST_WEIGHT = 1e-3, 1e3
APART = 1e-9  # frames closer than this, over the linkage's length, are in one place


@dataclass(frozen=True, eq=False)
class Target:
    """A target: a goal with a name and a place.

    Args:
        name: Its unique name.
        kind: One of `KINDS`.
        frame: Its frame: the one that reaches, is pinned, looks, or is the knee of a pole.
        place: Place of its gizmo, world_from_target, shape (4, 4).
        turn: Whether a reach includes the orientation.
        weight: Weight relative to other targets.
        priority: Priority level, 0 first.
        active: Whether it is switched on.
    """

    name: str
    kind: str
    frame: str
    place: FloatArray
    turn: bool = field(default=False, kw_only=True)
    weight: float = field(default=1.0, kw_only=True)
    priority: int = field(default=0, kw_only=True)
    active: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise OptionError(f"no kind of target {self.kind!r}; there are {listed(list(KINDS))}.")
        if not isinstance(self.weight, int | float) or not LEAST_WEIGHT <= self.weight <= MOST_WEIGHT:
            raise OptionError(
                f"weight of {self.name!r} goes from {LEAST_WEIGHT} to {MOST_WEIGHT}, got {self.weight!r}."
            )
        object.__setattr__(self, "place", read_only(np.array(as_transform(self.place, f"place of {self.name!r}"))))

    def moved(self, place: FloatArray) -> Target:
        """Return the same target at another place (4, 4)."""
        return replace(self, place=place)

    def goal(self, linkage: Linkage) -> Goal:
        """Return the goal of the target."""
        return KINDS[self.kind](linkage, self)


def _common(target: Target) -> dict[str, Any]:
    return {"weight": float(target.weight), "priority": target.priority}


def _reach(linkage: Linkage, target: Target) -> Goal:
    point = target.place[:3, 3]
    flat = not linkage.evaluator.moving_rows(target.frame)[2]  # the frame of a planar arm cannot change its height
    turned = target.place[:3, :3] if target.turn else None
    return Reach(target.frame, position=point[:2] if flat else point, orientation=turned, **_common(target))


def _pole(linkage: Linkage, target: Target) -> Goal:
    root, middle, end = limb(linkage, target.frame)
    return Bend(root, middle, end, towards=target.place[:3, 3], **_common(target))


KINDS: dict[str, Callable[[Linkage, Target], Goal]] = {
    "reach": _reach,
    "pin": lambda _, target: Hold(target.frame, pose=target.place, **_common(target)),
    "look at": lambda _, target: LookAt(target.frame, target.place[:3, 3], **_common(target)),
    "pole": _pole,
    "balance": lambda _, target: Balance(target.place[:3, 3], **_common(target)),
}


def limb(linkage: Linkage, frame: str) -> tuple[str, str, str]:
    """Return the three frames of the limb that bends at a link: the link before it, itself, and the one after it.

    Raises:
        GoalError: If there is none before it, or none after it, at a distance.

    Example:
        >>> import linkwork as lw
        >>> limb(lw.models.human(), "left_shin")
        ('left_thigh', 'left_shin', 'left_tarsus')
    """
    path, _ = linkage.path_to(frame)
    index = path[-1]
    places = linkage.forward(linkage.neutral())
    near = APART * max(linkage.length, 1.0)
    here = places[linkage.links[index]][:3, 3]

    def apart(name: str) -> bool:
        return bool(np.linalg.norm(places[name][:3, 3] - here) > near)

    before = next((linkage.links[k] for k in reversed(path[:-1]) if apart(linkage.links[k])), None)
    below = [linkage.links[k] for k in linkage.children[index]]
    own = [extra.name for extra in linkage.extra_frames if extra.link == linkage.links[index]]
    after = next((name for name in (*below, *own) if apart(name)), None)
    if before is None or after is None:
        raise GoalError(f"{frame!r} is neither a knee nor an elbow: a pole needs a link before it and one after it.")
    return before, linkage.links[index], after


def new_target(linkage: Linkage, q: FloatArray, kind: str, frame: str, taken: tuple[str, ...]) -> Target:
    """Return a target for a frame, at its place in a pose, so that nothing moves until it is dragged."""
    world = np.array(linkage.forward(q, frame=frame))
    frames = linkage.forward(linkage.neutral()).array[:, :3, 3]
    size = max(0.25 * float(np.linalg.norm(np.ptp(frames, axis=0))), 1e-3)
    place = np.eye(4)
    place[:3, 3] = world[:3, 3]
    if kind in ("reach", "pin"):
        place = world
    elif kind == "look at":
        place[:3, 3] += size * world[:3, 0]
    elif kind == "pole":
        root, _, end = limb(linkage, frame)
        ends = [linkage.forward(q, frame=name)[:3, 3] for name in (root, end)]
        out = world[:3, 3] - (ends[0] + ends[1]) / 2.0
        length = float(np.linalg.norm(out))
        place[:3, 3] += size * (out / length if length > 1e-6 else world[:3, 0])
    elif kind == "balance":
        from ..linkage.mass import center_of_mass

        place[:3, 3] = center_of_mass(linkage, q) * [1.0, 1.0, 0.0]
    stem = frame if kind == "reach" else f"{kind} {frame}"
    names = (stem, *(f"{stem} {k}" for k in range(2, len(taken) + 2)))
    target = Target(next(name for name in names if name not in taken), kind, frame, place)
    target.goal(linkage)  # raises now if it is invalid
    return target
