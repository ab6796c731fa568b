"""Chains of three, four or five joints, such as SCARA arms, which reach only some targets.

The chain is completed to six joints by rotations (turns) at its end that must stay at zero. Then it has a closed form
if six joints have one. How far these turns would have to move is how far a target is out of reach.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...kernels.closed_form.solve_six import branches_in
from ...transforms import FloatArray, inverse, plane_basis
from ..chain import Chain
from .axes import Axes, nearest_points
from .completed import CompletedForm, off_plane, plane_of, with_slide, with_turns
from .evidence import why_none
from .form import Answers
from .packing import packed_codes
from .recognition import EXACT, JOINTS, Family, families

FEWEST = 3
ASIDE = np.array([0.48, 0.36, 0.8])  # position of three turns, in sizes of the chain: off every axis


class ShortForm(CompletedForm):
    """The closed form of a chain of fewer than six joints: the turns that complete it stay at zero."""

    def __init__(self, chain: Chain, axes: Axes, scale: FloatArray, family: Family, completed: Axes) -> None:
        self.completed, self.turns_most = completed, np.zeros(len(completed) - len(axes))
        super().__init__(chain, axes, scale, family)
        self.codes = packed_codes(family, completed.size, held=self.turns)

    @property
    def family(self) -> str:
        """The family's name, such as ``"spherical wrist"``."""
        return self.recognised.name if plane_of(self.axes) is None else "joints in a plane"

    def __str__(self) -> str:
        if plane_of(self.axes) is not None:
            return f"Closed form for {self.chain.frame!r}: {self.family}; joints {', '.join(self.joints)}."
        turns = f"{self.turns} turns that stay" if self.turns > 1 else "a turn that stays"
        whole = f"{len(self.axes)} joints and {turns} at zero"
        return f"Closed form for {self.chain.frame!r}: {self.family}, of {whole}; joints {', '.join(self.joints)}."

    def why_none(self, target: FloatArray) -> str:
        """Return why a target (4, 4) has no solution: which condition fails, and by how much."""
        free = self.all(target, limits="ignore")
        if len(free):
            return self._beyond_limits(free.values)
        off = off_plane(self.axes, target, turned=True)
        if off:
            return off
        turns = self._with_turns(target)
        if not len(turns):
            motion = target @ inverse(self.axes.tip)
            if self.recognised.backwards:
                motion = inverse(motion)
            names, branches = (*self.joints, *("no joint",) * self.turns), branches_in(turns.room)
            return why_none(self.recognised, branches, names, motion, "point of the last link that it must move")
        values = turns.record.values[:, len(self.axes) :]
        least = math.degrees(float(np.sqrt((values**2).sum(axis=1)).min()))
        return f"{len(self.axes)} joints cannot rotate the frame freely: it would have to turn {least:.3g}° further"

    def _with_turns(self, target: FloatArray) -> Answers:
        """Return the solutions of a target if the turns that complete the chain may move."""
        room, free = np.empty(self._room), np.full(len(self.axes), np.inf)
        numbers, near = self._padded(-free, free, np.full(self.turns, np.inf)), [one**2 for one in self.tolerance]
        return Answers(self, room, self._put_all(numbers, target, np.empty(0), near[0], near[1], room))


def completions(axes: Axes) -> Iterator[Axes]:
    """Yield a chain of three to five joints completed to six by turns at its end, in several ways.

    Three or four joints must move the point where the turns meet, which may be anywhere on the last link: it is put off
    their axes.
    """
    normal = plane_of(axes) if len(axes) == FEWEST else None
    if normal is not None:  # as an arm with a prismatic joint across the plane that stays at zero
        yield from completions(with_slide(axes, normal))
        return
    missing = JOINTS - len(axes)
    if not 1 <= missing <= JOINTS - FEWEST:
        return
    last = len(axes) - (2 if axes.slides[-1] else 1)  # a slide along the turn before it can be exchanged with it
    h = axes.direction[last]
    basis = plane_basis(h).T
    if len(axes) == FEWEST:
        yield with_turns(axes, np.eye(3), axes.point[last] + axes.size * (ASIDE @ basis))
    elif missing == 2:
        foot = nearest_points(axes, last - 1, last)[1]
        yield with_turns(axes, basis[:2], foot + axes.size * h)
    else:
        foot = nearest_points(axes, last - 1, last)[1]
        for direction in (np.cross(axes.direction[last - 1], h), basis[0]):
            length = np.linalg.norm(direction)
            if length > EXACT:
                yield with_turns(axes, (direction / length)[None], foot)
                yield with_turns(axes, (direction / length)[None], foot + axes.size * h)


def short_form(chain: Chain, axes: Axes, scale: FloatArray) -> ShortForm | str:
    """Return the closed form of a chain of fewer than six joints, or a text on why it has none."""
    for completed in completions(axes):
        for family in families(completed):
            if family.exact(completed.size):
                return ShortForm(chain, axes, scale, family, completed)
    return f"it has {len(axes)} joints, whose axes neither meet nor are parallel as closed forms require"
