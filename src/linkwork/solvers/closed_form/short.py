"""Chains of three, four or five joints: SCARA and the like, which reach some targets only.

The chain is completed to six by turns at its end that must stay at zero. Then it has a closed form where six joints
have one; and by how much these turns would have to move is what a target is beyond the chain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...kernels.closed_form.solve_six import branches_in
from ...transforms import FloatArray, inverse, plane_basis
from ..chain import Chain
from .axes import Axes, nearest_points
from .evidence import why_none
from .form import Answers, ClosedForm
from .packing import packed_codes, packed_numbers
from .recognition import EXACT, JOINTS, Family, families

FEWEST = 3
ASIDE = np.array([0.48, 0.36, 0.8])  # where three turns are put, in sizes of the chain: off every axis


class ShortForm(ClosedForm):
    """The closed form of a chain of fewer than six joints.

    Args:
        chain: The chain.
        axes: The lines of its joints.
        scale: Turn or travel of each joint per unit of its value, shape (n,).
        family: The form that fits the completed chain.
        completed: The lines of the chain and of the turns that complete it.
    """

    def __init__(self, chain: Chain, axes: Axes, scale: FloatArray, family: Family, completed: Axes) -> None:
        self.completed = completed
        super().__init__(chain, axes, scale, family)
        self.codes = packed_codes(family, completed.size, held=self.held)

    @property
    def held(self) -> int:
        """How many turns complete the chain."""
        return len(self.completed) - len(self.axes)

    def __str__(self) -> str:
        turns = f"{self.held} turns that stay" if self.held > 1 else "a turn that stays"
        whole = f"{len(self.axes)} joints and {turns} at zero"
        return f"Closed form for {self.chain.frame!r}: {self.family}, of {whole}; joints {', '.join(self.joints)}."

    def _packed(self, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return the form's numbers with some limits (n,); the turns that complete the chain stay at zero."""
        return self._padded(lower, upper, 0.0)

    def _padded(self, lower: FloatArray, upper: FloatArray, most: float) -> FloatArray:
        size = 0, self.held
        scale = np.pad(self.scale, size, constant_values=1.0)
        low, high = np.pad(lower, size, constant_values=-most), np.pad(upper, size, constant_values=most)
        return packed_numbers(self.recognised, self.completed, scale, low, high)

    def _put_all(
        self, numbers: FloatArray, target: Any, start: Any, near: float, aligned: float, room: FloatArray
    ) -> int:
        given = np.pad(start, (0, self.held)) if start.size else start
        return super()._put_all(numbers, target, given, near, aligned, room)

    def why_none(self, target: FloatArray) -> str:
        """Return why a target (4, 4) has no solution: which condition fails, and by how much."""
        free = self.all(target, limits="ignore")
        if len(free):
            return self._beyond_limits(free.values)
        turns = self._with_turns(target)
        if not len(turns):
            motion = target @ inverse(self.axes.tip)
            if self.recognised.backwards:
                motion = inverse(motion)
            names, branches = (*self.joints, *("no joint",) * self.held), branches_in(turns.room)
            return why_none(self.recognised, branches, names, motion, "point of the last link that it must move")
        values = turns.record.values[:, len(self.axes) :]
        least = math.degrees(float(np.sqrt((values**2).sum(axis=1)).min()))
        return f"{len(self.axes)} joints turn the frame in some ways only: it would have to turn {least:.3g}° further"

    def _with_turns(self, target: FloatArray) -> Answers:
        """Return what reaches a target where the turns that complete the chain may move."""
        room, free = np.empty(self._room), np.full(len(self.axes), np.inf)
        numbers, near = self._padded(-free, free, np.inf), [one**2 for one in self.tolerance]
        return Answers(self, room, self._put_all(numbers, target, np.empty(0), near[0], near[1], room))


def completions(axes: Axes) -> Iterator[Axes]:
    """Yield chains of three to five joints with turns at their ends that make them six.

    Three joints, and a fourth, must move the point where the turns meet, which may be anywhere on the last link: it is
    put off their axes.
    """
    missing = JOINTS - len(axes)
    if not 1 <= missing <= JOINTS - FEWEST:
        return
    last = len(axes) - (2 if axes.slides[-1] else 1)  # a slide along the turn before it can come before that
    h = axes.direction[last]
    basis = plane_basis(h).T
    if len(axes) == FEWEST:
        yield _with(axes, np.eye(3), axes.point[last] + axes.size * (ASIDE @ basis))
    elif missing == 2:
        foot = nearest_points(axes, last - 1, last)[1]
        yield _with(axes, basis[:2], foot + axes.size * h)
    else:
        foot = nearest_points(axes, last - 1, last)[1]
        for direction in (np.cross(axes.direction[last - 1], h), basis[0]):
            length = np.linalg.norm(direction)
            if length > EXACT:
                yield _with(axes, (direction / length)[None], foot)
                yield _with(axes, (direction / length)[None], foot + axes.size * h)


def _with(axes: Axes, directions: FloatArray, point: FloatArray) -> Axes:
    count = len(directions)
    return Axes(
        np.concatenate([axes.direction, directions]),
        np.concatenate([axes.point, np.tile(point, (count, 1))]),
        np.concatenate([axes.slides, np.zeros(count, np.bool_)]),
        axes.tip,
    )


def short_form(chain: Chain, axes: Axes, scale: FloatArray) -> ShortForm | str:
    """Return the closed form of a chain of fewer than six joints, or why it has none."""
    for completed in completions(axes):
        for family in families(completed):
            if family.exact(completed.size):
                return ShortForm(chain, axes, scale, family, completed)
    return f"it has {len(axes)} joints, whose axes neither meet nor are parallel as closed forms ask for"
