"""Chains completed to six joints at their end, for shorter chains and for partial goals.

They are completed by rotations, and by a translation if the joints move everything in a plane.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...transforms import FloatArray, inverse
from .axes import Axes
from .form import ClosedForm
from .packing import packed_numbers
from .recognition import EXACT, in_words

SLIGHT = 1e-6  # share of a chain's size by which targets may be off its plane


class CompletedForm(ClosedForm):
    """The closed form of a chain with added rotations (turns) at its end.

    Attributes:
        completed: The lines of the chain and of the turns that complete it; set before the base class is initialised.
        turns_most: Largest angle of each turn in either direction, zero or infinity, shape (turns,) [rad].
    """

    completed: Axes
    turns_most: FloatArray

    @property
    def turns(self) -> int:
        """Number of turns that complete the chain."""
        return len(self.completed) - len(self.axes)

    def _packed(self, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return the form's numbers with given limits (n,) of the chain's own joints."""
        return self._padded(lower, upper, self.turns_most)

    def _padded(self, lower: FloatArray, upper: FloatArray, most: FloatArray) -> FloatArray:
        scale = np.append(self.scale, np.ones(self.turns))
        low, high = np.append(lower, -most), np.append(upper, most)
        return packed_numbers(self.recognised, self.completed, scale, low, high)

    def _put_all(
        self, numbers: FloatArray, target: Any, start: Any, near: float, aligned: float, room: FloatArray
    ) -> int:
        given = np.pad(start, (0, self.turns)) if start.size else start
        return super()._put_all(numbers, target, given, near, aligned, room)


def with_turns(axes: Axes, directions: FloatArray, point: FloatArray) -> Axes:
    """Return a chain's lines and, after them, turns about directions (k, 3) through a point (3,)."""
    count = len(directions)
    return Axes(
        np.concatenate([axes.direction, directions]),
        np.concatenate([axes.point, np.tile(point, (count, 1))]),
        np.concatenate([axes.slides, np.zeros(count, np.bool_)]),
        axes.tip,
    )


def off_plane(axes: Axes, target: FloatArray, *, turned: bool) -> str:
    """Return a text on how a target (4, 4) leaves the plane in which a chain moves its frame; empty if it does not.

    With `turned`, the orientation is checked too.
    """
    normal = plane_of(axes)
    if normal is None:
        return ""
    plane, motion = "the plane in which the joints move the frame", target @ inverse(axes.tip)
    away = abs(float(normal @ (target[:3, 3] - axes.tip[:3, 3])))
    if away > SLIGHT * axes.size:
        return f"the target is {in_words(away)} off {plane}"
    leans = math.atan2(
        float(np.linalg.norm(np.cross(normal, motion[:3, :3] @ normal))), normal @ motion[:3, :3] @ normal
    )
    return f"the target leans {math.degrees(leans):.3g}° out of {plane}" if turned and leans > SLIGHT else ""


def plane_of(axes: Axes) -> FloatArray | None:
    """Return the normal (3,) of the plane in which the joints move everything; None if there is none."""
    if axes.slides.any() or len(axes) < 2:
        return None
    off = np.linalg.norm(np.cross(axes.direction[1:], axes.direction[0]), axis=1)
    return axes.direction[0] if off.max() <= EXACT else None


def with_slide(axes: Axes, direction: FloatArray) -> Axes:
    """Return a chain's lines followed by a prismatic joint that leaves the plane in which they move."""
    return Axes(
        np.concatenate([axes.direction, direction[None]]),
        np.concatenate([axes.point, axes.point[-1:]]),
        np.append(axes.slides, True),
        axes.tip,
    )
