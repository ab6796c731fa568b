"""Closed forms for partial goals: a position alone, or a frame with a free axis.

Added rotations (turns) at the frame, which may take any value, represent what the goal leaves free: one about the free
axis, three through the point. A chain that has six joints with them has isolated solutions, and the closed form of six
joints gives them all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...goals import Reach
from ...kernels.closed_form.form_layout import CLOSE, FREE
from ...kernels.closed_form.solve_six import branches_in
from ...transforms import FloatArray, as_array, axis_rotation, inverse
from ..chain import Chain
from ..options import Limits
from .axes import Axes, axes_of
from .completed import CompletedForm, off_plane, plane_of, with_slide, with_turns
from .evidence import why_none
from .form import Answers, ClosedForm, NoForm
from .general import General
from .general_form import GeneralForm
from .recognition import EXACT, JOINTS, Family, families, wrists

POINT, AXIS = 3, 1  # number of turns for all orientations, and for a free axis
ALIKE = 1e-8  # values of the chain that differ by less are one solution
# A generic orientation for positions alone, so that the three turns are not aligned.
ANY = axis_rotation(np.array([0.48, 0.36, 0.8]), 1.1) @ axis_rotation(np.array([0.6, -0.8, 0.0]), 0.7)


class PartialForm(CompletedForm):
    """The closed form of a chain whose frame may rotate freely, about one axis or about its point.

    Args:
        chain: The chain.
        axes: The lines of its joints.
        scale: Turn or travel of each joint per unit of its value, shape (n,).
        family: The form that fits the completed chain.
        completed: The lines of the chain and of the joints that complete it.
        most: Largest values of the latter, in either direction.
    """

    on_cards = False

    def __init__(
        self, chain: Chain, axes: Axes, scale: FloatArray, family: Family, completed: Axes, most: FloatArray
    ) -> None:
        self.completed, self.turns_most = completed, most
        super().__init__(chain, axes, scale, family)

    @property
    def point(self) -> bool:
        """Whether goals are positions alone."""
        return self.turns >= POINT

    def all(
        self,
        target: ArrayLike,
        *,
        start: FloatArray | None = None,
        windings: bool = False,
        limits: Limits = "clamp",
        tolerance: tuple[float, float] | None = None,
    ) -> Answers:
        """Return all solutions of a target, a 4x4 matrix or a position; see `ClosedForm.all`."""
        found = super().all(self._aimed(target), start=start, limits=limits, tolerance=tolerance)
        values, records = found.values, found.record.array
        order = np.arange(len(found))
        if start is not None:  # the turns do not count in the distance
            order = np.argsort(((values - start) ** 2).sum(axis=1), kind="stable")
        if self.point:
            order = order[first_of_each(values[order])]
        found = Answers(self, found.room, len(order), records=np.ascontiguousarray(records[order]))
        return self._wound(found, np.empty(0) if start is None else np.asarray(start)) if windings else found

    def _aimed(self, target: ArrayLike) -> Any:
        """Return a target as a whole pose; a position gets an arbitrary orientation."""
        if not self.point:
            return target
        given = as_array(target, f"the target of {self.chain.frame!r}")
        if given.shape not in ((2,), (3,), (4, 4)):
            return target
        aim = np.eye(4)
        aim[:3, :3] = ANY
        place = given[:3, 3] if given.ndim == 2 else given
        aim[: len(place), 3] = place
        return aim

    def all_many_proven(
        self, targets: FloatArray, *, limits: Limits = "clamp"
    ) -> tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return all solutions of targets (m, 4, 4), a mask and whether they are proven; see `ClosedForm`."""
        if not self.point:
            return super().all_many_proven(targets, limits=limits)
        aims = np.array(targets, np.float64)
        aims[:, :3, :3] = ANY
        values, mask, proven = super().all_many_proven(aims, limits=limits)
        apart = np.abs(values[:, :, None] - values[:, None]).max(axis=-1)  # NaN where there is none
        with np.errstate(invalid="ignore"):
            again = np.tril(apart < ALIKE, -1).any(axis=-1)  # three turns make an orientation in two ways
        values[again] = np.nan
        return values, mask & ~again, proven

    def proves(self, found: Answers) -> bool:
        """Return whether the solutions of a target are proven complete; the turns at a point are ignored."""
        if not self.point:
            return super().proves(found)
        branches, near = branches_in(found.room), self.tolerance[0]
        same = branches.same[branches.position <= near**2][:, :2]
        return self.complete and not bool(((same == FREE).any(axis=1) | ((same >= CLOSE).sum(axis=1) > 1)).any())

    def why_none(self, target: FloatArray) -> str:
        """Return why a target (4, 4) has no solution: which condition fails, and by how much."""
        free = self.all(target, limits="ignore")
        if len(free):
            return self._beyond_limits(free.values)
        off = off_plane(self.axes, target, turned=False) if self.point and not self.turns_most[0] else ""
        if off:
            return off
        motion = target @ inverse(self.axes.tip)
        if self.recognised.backwards:
            motion = inverse(motion)
        names = (*self.joints, *("the plane of all joints",) * (self.turns - POINT), *("the free axis",) * POINT)
        point = f"point of {self.chain.frame!r}" if self.point else ""
        return why_none(self.recognised, branches_in(free.room), names, motion, point)

    @property
    def family(self) -> str:
        """The name of the family of the chain with its turns."""
        return (
            "point in a plane"
            if self.turns > POINT
            else "point by three joints"
            if self.point
            else f"{self.recognised.name} with its free axis"
        )

    def __str__(self) -> str:
        asked = "positions" if self.point else "poses with a free axis"
        return f"Closed form for {asked} of {self.chain.frame!r}: {self.family}; joints {', '.join(self.joints)}."


class PartialGeneralForm(PartialForm, GeneralForm):
    """The same by elimination.

    Args:
        chain: The chain.
        axes: The lines of its revolute joints.
        scale: Angle of each joint per unit of its value, shape (n,).
        general: The elimination of the completed chain.
    """

    def __init__(self, chain: Chain, axes: Axes, scale: FloatArray, general: General) -> None:
        self.completed, self.turns_most = general.axes, np.full(len(general.axes) - len(axes), np.inf)
        GeneralForm.__init__(self, chain, axes, scale, general)

    def why_none(self, target: FloatArray) -> str:
        """Return why a target (4, 4) has no solution: the imaginary part of the nearest root, or the limit exceeded."""
        return GeneralForm.why_none(self, target)

    def proves(self, found: Answers) -> bool:
        """Return whether the solutions of a target are proven complete."""
        return GeneralForm.proves(self, found)


def first_of_each(values: FloatArray) -> list[int]:
    """Return the indices of the distinct rows of values (k, n), the first of each."""
    kept: list[int] = []
    for k, row in enumerate(values):
        if not any(np.abs(row - values[other]).max() < ALIKE for other in kept):
            kept.append(k)
    return kept


def completion(axes: Axes, goal: Reach) -> tuple[Axes, FloatArray] | str:
    """Return the lines of a chain completed for a goal, and the largest values of the added joints; or why not.

    Joints that move everything in a plane get a prismatic joint across it; for a goal in space, that stays at zero.
    """
    place = axes.tip[:3, 3]
    if goal.ranges is not None or goal.masked or not goal.coordinates:
        return "its goals constrain only a part of the position"
    if goal.free is not None:
        return with_turns(axes, (axes.tip[:3, :3] @ goal.free)[None], place), np.full(AXIS, np.inf)
    if len(goal.rows) > goal.coordinates:
        return "its goals constrain a whole pose"
    normal, anywhere = plane_of(axes), np.full(POINT, np.inf)
    if normal is not None:
        across = 0.0 if goal.coordinates == POINT else np.inf
        if across and abs(normal[2]) < 1.0 - EXACT:
            return "its goals constrain only a part of the position"
        return with_turns(with_slide(axes, normal), np.eye(POINT), place), np.append(across, anywhere)
    if goal.coordinates != POINT:
        return "its goals constrain only a part of the position"
    return with_turns(axes, np.eye(POINT), place), anywhere


def partial_form(chain: Chain, goal: Reach) -> ClosedForm | NoForm:
    """Return the closed form of partial goals like a given one, or a `NoForm` with the reason."""
    found = axes_of(chain)
    if isinstance(found, str):
        return NoForm(chain.frame, found)
    axes, scale = found
    whole = completion(axes, goal)
    if isinstance(whole, str):
        return NoForm(chain.frame, whole)
    completed, most = whole
    turns = len(completed) - len(axes)
    if len(completed) != JOINTS:
        joints = f"{len(axes)} joints and {'a free axis' if turns == AXIS else 'a position alone'}"
        curves = "leave curves of solutions, which solve_all gives; joints needed for isolated ones:"
        few = curves if len(completed) == JOINTS + 1 else "leave no isolated solutions; joints needed for those:"
        return NoForm(chain.frame, f"{joints} {few} {JOINTS - turns}")
    if turns >= POINT and not _moves_point(axes):
        return NoForm(chain.frame, "its last joint does not move the point")
    forms = wrists(completed, backwards=False) if turns >= POINT else families(completed)
    for family in forms:
        if family.exact(completed.size):
            return PartialForm(chain, axes, scale, family, completed, most)
    general = General(completed)
    if not general.why_unsound:
        return PartialGeneralForm(chain, axes, scale, general)
    return NoForm(chain.frame, "its axes neither meet nor are parallel as closed forms require")


def _moves_point(axes: Axes) -> bool:
    """Return whether the last joint moves the point of the frame."""
    away = np.cross(axes.direction[-1], axes.tip[:3, 3] - axes.point[-1])
    return bool(axes.slides[-1] or np.linalg.norm(away) > EXACT * axes.size)
