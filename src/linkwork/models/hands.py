"""A hand with five fingers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import LinkageError
from ..linkage.builder import Builder
from ..linkage.geometry import bone
from ..linkage.joints import Mimic
from ..linkage.linkage import Linkage
from ..transforms import transform
from .parts import SKIN, posed, standing, universal_joint

NAIL = (0.95, 0.82, 0.74)

# For each finger: position of its knuckle in a right hand (y towards the thumb, z up), and lengths of its bones [m].
FINGERS = {
    "index": ((0.034, 0.092), (0.043, 0.025, 0.019)),
    "middle": ((0.0115, 0.097), (0.047, 0.029, 0.020)),
    "ring": ((-0.0105, 0.092), (0.044, 0.028, 0.020)),
    "little": ((-0.031, 0.083), (0.035, 0.020, 0.018)),
}
THUMB = (0.045, 0.033, 0.026)


def hand(side: str = "right", *, root: str = "fixed") -> Linkage:
    """Return a life-size hand: fingers up, palm facing x, wrist at the origin.

    A finger has a universal joint ``index_knuckle`` (curl, spread towards the thumb), a revolute joint
    ``index_middle`` and a last joint ``index_end`` that follows the middle one. Positive values curl. The thumb has
    ``thumb_base`` (curl, lift off the palm), ``thumb_knuckle`` and ``thumb_end``. Frames ``thumb_tip``, ``index_tip``,
    ``middle_tip``, ``ring_tip``, ``little_tip`` and ``palm_center`` are end effectors.

    Args:
        side: ``"right"`` or ``"left"``.
        root: How the palm is connected to the world: ``"fixed"``, ``"planar"`` or ``"floating"``.

    Example:
        >>> right = hand()
        >>> right.forward(right.stored_pose("open"), frame="middle_tip")[2, 3].round(3).item()
        0.201
    """
    if side not in ("right", "left"):
        raise LinkageError(f"side of a hand is 'right' or 'left', got {side!r}.")
    to_thumb = 1.0 if side == "right" else -1.0
    metacarpals = [
        bone((0, to_thumb * 0.55 * y, 0.012), (0, to_thumb * y, z - 0.004), 0.0125, SKIN)
        for (y, z), _ in FINGERS.values()
    ]
    heel = bone((0, -0.02, 0.014), (0, 0.02, 0.014), 0.015, SKIN)
    b = Builder("hand", base="palm", root=standing(root, "palm", (0, 0, 0)), shape=[*metacarpals, heel])
    b.frame("palm_center", at=(0.012, 0, 0.055))
    for name, ((y, z), lengths) in FINGERS.items():
        _finger(b, name, to_thumb, (0.0, to_thumb * y, z), lengths)
    _thumb(b, to_thumb)
    return posed(b.build(), _poses())


def _finger(
    b: Builder, name: str, to_thumb: float, at: tuple[float, float, float], lengths: tuple[float, float, float]
) -> None:
    first, second, third = lengths
    spread = universal_joint("y", "-x" if to_thumb > 0 else "x", (-20, 90), (-15, 15))
    looks = [bone((0, 0, 0), (0, 0, s), r, SKIN) for s, r in zip(lengths, (0.0098, 0.009, 0.0082), strict=True)]
    b.joint(f"{name}_knuckle", f"{name}_proximal", spread, parent="palm", at=at, shape=looks[0])
    b.revolute(
        f"{name}_middle", f"{name}_medial", axis="y", limits=("0deg", "105deg"), at=(0, 0, first), shape=looks[1]
    )
    nail = bone((-0.006, 0, 0.6 * third), (-0.006, 0, third), 0.0045, NAIL)
    b.revolute(
        f"{name}_end", f"{name}_distal", axis="y", at=(0, 0, second), shape=(looks[2], nail),
        mimic=Mimic(f"{name}_middle", 0.67),
    )  # fmt: skip
    b.frame(f"{name}_tip", at=(0, 0, third + 0.0082))


def _thumb(b: Builder, to_thumb: float) -> None:
    first, second, third = THUMB
    along = np.array([0.22, to_thumb * 0.70, 0.68])
    across = np.array([1.0, to_thumb * -0.75, 0.25])  # towards the palm
    z = along / np.linalg.norm(along)
    y = np.cross(z, across)
    y /= np.linalg.norm(y)
    placement = transform((0.006, to_thumb * 0.022, 0.022), np.stack([np.cross(y, z), y, z], axis=1))
    looks = [bone((0, 0, 0), (0, 0, s), r, SKIN) for s, r in zip(THUMB, (0.0145, 0.0115, 0.0102), strict=True)]
    base = universal_joint("y", "-x" if to_thumb > 0 else "x", (-25, 45), (-30, 30))
    b.joint("thumb_base", "thumb_metacarpal", base, parent="palm", at=placement, shape=looks[0])
    b.revolute("thumb_knuckle", "thumb_proximal", axis="y", limits=("-5deg", "60deg"), at=(0, 0, first), shape=looks[1])
    nail = bone((-0.0075, 0, 0.55 * third), (-0.0075, 0, third), 0.0055, NAIL)
    b.revolute(
        "thumb_end", "thumb_distal", axis="y", limits=("-10deg", "80deg"), at=(0, 0, second), shape=(looks[2], nail)
    )
    b.frame("thumb_tip", at=(0, 0, third + 0.0102))


def _poses() -> Mapping[str, Mapping[str, Any]]:
    fan = dict(zip(FINGERS, ("8deg", "1deg", "-6deg", "-12deg"), strict=True))
    opened: dict[str, Any] = {f"{name}_knuckle": (0.0, fan[name]) for name in FINGERS}
    curled = {name: {f"{name}_knuckle": ("85deg", 0.0), f"{name}_middle": "100deg"} for name in FINGERS}
    tucked = {"thumb_base": ("32deg", "0deg"), "thumb_knuckle": "50deg", "thumb_end": "55deg"}
    fist = curled["index"] | curled["middle"] | curled["ring"] | curled["little"] | tucked
    straight = {name: {f"{name}_knuckle": (0.0, fan[name]), f"{name}_middle": 0.0} for name in FINGERS}
    pinch = {"index_knuckle": ("53deg", "4deg"), "index_middle": "45deg"}
    pinch |= {"thumb_base": ("21deg", "-4deg"), "thumb_knuckle": "20deg", "thumb_end": "20deg"}
    return {
        "open": opened,
        "fist": fist,
        "point": fist | straight["index"],
        "victory": fist | straight["index"] | straight["middle"],
        "pinch": opened | pinch,
    }
