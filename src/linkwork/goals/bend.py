"""`Bend`: the direction in which a knee or an elbow points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .base import Goal, as_frame, as_place, placed, position_of, unit

STRAIGHT = 1e-6  # share of a limb's length: a limb bent by less has no direction of bending


@dataclass(frozen=True, eq=False)
class Bend(Goal):
    """Point the knee or elbow of a limb towards a pole, as far as the two ends of the limb allow.

    The error is the angle about the line from root to end by which the middle must rotate into the half plane of the
    pole. It is zero if the limb is straight or the pole lies on the line.

    Args:
        root: Name of the frame at the limb's root: the thigh, the upper arm.
        middle: The frame at the knee or elbow: the shin, the forearm.
        end: The frame at its end: the foot, the hand.
        towards: The pole: a point of the world [m], or the name of a frame.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> pole = lw.Bend("left_thigh", "left_shin", "left_foot", towards=(2, 0.5, 0.5))
        >>> lw.solve(figure, [pole, lw.Reach("left_foot", position=(0.1, 0.1, 0.2))]).success
        True
    """

    units = (("rad", 1),)
    about = ("root", "middle", "end", "towards")

    root: str
    middle: str
    end: str
    towards: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in (self.root, self.middle, self.end):
            as_frame(name, "root, middle or end of a Bend goal")
        self._set(towards=as_place(self.towards, f"pole of {self.middle!r}"))

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the angle from the middle to the pole about the line from root to end."""
        root, middle, end, pole = (position_of(linkage, place, q) for place in self.places)
        line, middle, pole = unit(end - root)[0], middle - root, pole - root
        across, aside = _aside(line, middle), _aside(line, pole)
        angle = np.arctan2((line * np.cross(across, aside)).sum(axis=-1), (across * aside).sum(axis=-1))
        return np.where(self._undefined(end - root, middle, pole), 0.0, angle)[..., None]

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the angular rate of the middle about the line, minus that of the pole."""
        (root, base), (middle, m), (end, e), (pole, p) = (placed(linkage, place, q) for place in self.places)
        line, length = unit(end - root)
        swings = []
        for point, motion in ((middle - root, m - base), (pole - root, p - base)):
            outward, radius = unit(_aside(line, point))
            along = (point * line).sum(axis=-1) / np.maximum(length, 1e-300)
            way = np.cross(line, outward) / np.maximum(radius, 1e-300)[..., None]  # the line itself tilts with the end
            swings.append(way[..., None, :] @ (motion - along[..., None, None] * (e - base)))
        none = self._undefined(end - root, middle - root, pole - root)
        return np.where(none[..., None, None], 0.0, swings[0] - swings[1])

    def _undefined(self, limb: FloatArray, middle: FloatArray, pole: FloatArray) -> NDArray[np.bool_]:
        """Return where the limb is straight or has no length, or the pole is on its line."""
        line, length = unit(limb)
        result = length < STRAIGHT * np.linalg.norm(middle, axis=-1)
        for point in (middle, pole):
            result |= np.linalg.norm(_aside(line, point), axis=-1) <= STRAIGHT * np.linalg.norm(point, axis=-1)
        return np.asarray(result)


def _aside(line: FloatArray, points: FloatArray) -> FloatArray:
    """Return the component of vectors (..., 3) perpendicular to unit vectors."""
    result: FloatArray = points - line * (line * points).sum(axis=-1, keepdims=True)
    return result
