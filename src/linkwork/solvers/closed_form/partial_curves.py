"""Partial goals that leave one dimension: their solutions are curves.

A frame moved by six joints with a free axis has the solutions of six joints at every angle about that axis. A position
alone leaves one of four joints free: the others are solved with that one held.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...goals import Reach
from ...kernels.closed_form.form_layout import ANSWER
from ...kernels.closed_form.solve_six import all_one, answers_room
from ...linkage.poses import wrapped
from ...transforms import FloatArray, axis_rotation
from ..chain import Chain
from .axes import Axes, axes_of
from .finding import closed_form, form_of
from .form import NEAR, NO_START, ONE_GOAL, Answers, ClosedForm
from .one_held import OneHeld
from .packing import packed_codes, packed_numbers
from .partial import ANY, completion, first_of_each
from .recognition import EXACT, JOINTS, wrists

EVEN: FloatArray = np.asarray(0.1 + np.arange(64) * (np.pi / 32.0), np.float64)  # angles at which curves begin
LIKE_ANY, SAME = 0.7, 1e-6  # value of a generic test pose that a form must find, and the largest error [rad, m]


@dataclass(frozen=True, eq=False)
class Spun(OneHeld):
    """The closed form of six joints whose frame has a free axis.

    Args:
        form: The form of whole poses.
        axis: The free axis of the frame, shape (3,).
        last: Whether that is the axis of the last joint, which then only spins the frame.
    """

    form: ClosedForm
    axis: FloatArray
    last: bool

    held = None

    @property
    def kind(self) -> str:
        """The family of the six joints."""
        return self.form.family

    def slices(self, _target: FloatArray) -> FloatArray:
        """Return angles of the spin at which curves begin; one is enough if the last joint makes the spin."""
        return np.zeros(1) if self.last else EVEN

    def at(self, target: FloatArray, angles: FloatArray) -> FloatArray:
        """Return the values (k, 6) of all poses with the frame spun by any of the angles, ignoring limits."""
        return np.concatenate([self._all(target, angle).values for angle in angles.tolist()])

    def proves_for(self, target: FloatArray) -> bool:
        """Return whether the slices of a target are proven to meet all of its curves."""
        return self.last and self._all(target, 0.0).complete

    def why_no_pose(self, target: FloatArray) -> str | None:
        """Return a text on why a target has no pose, if that is proven."""
        return self.form.why_none(target) if self.last else None

    def _all(self, target: FloatArray, angle: float) -> Answers:
        seen = target.copy()
        seen[:3, :3] = target[:3, :3] @ axis_rotation(self.axis, angle)
        return self.form.all(seen, limits="ignore")


@dataclass(frozen=True, eq=False)
class HeldPoint(OneHeld):
    """The closed form of a position alone for four joints, or three in a plane, one of them held.

    Args:
        axes: Lines of all joints.
        scale: Turn or travel of each joint per unit of its value, shape (n,).
        held: Index of the held joint, which is revolute.
        goal: A goal of the kind to solve.
    """

    axes: Axes
    scale: FloatArray
    held: int
    goal: Reach

    kind = "a point by the other joints"

    def slices(self, _target: FloatArray) -> FloatArray:
        """Return angles of the held joint at which curves begin."""
        return EVEN

    def at(self, target: FloatArray, angles: FloatArray) -> FloatArray:
        """Return the values (k, 4) of all poses with the held joint at any of the angles, ignoring limits."""
        aim, found = target.copy(), [np.zeros((0, len(self.axes)))]
        aim[:3, :3] = ANY
        for angle in angles.tolist():
            values = self._others(aim, angle)
            found.append(np.insert(values, self.held, wrapped(np.asarray(angle)) / self.scale[self.held], axis=1))
        return np.concatenate(found)

    def serves(self) -> bool:
        """Return whether it finds the pose from which a target was computed."""
        pose = LIKE_ANY * np.arange(1.0, len(self.axes) + 1.0)
        aim = self.axes.forward(pose)
        aim[:3, :3] = ANY
        found = self._others(aim, float(pose[self.held])) * np.delete(self.scale, self.held)
        away = found - np.delete(pose, self.held)
        away = np.where(np.delete(self.axes.slides, self.held), away, wrapped(away))
        return bool((np.abs(away) < SAME).all(axis=1).any())

    def _others(self, aim: FloatArray, angle: float) -> FloatArray:
        """Return the values (k, n - 1) of the other joints."""
        axes, scale = self.axes.held(self.held, angle), np.delete(self.scale, self.held)
        whole = completion(axes, self.goal)
        if isinstance(whole, str) or len(whole[0]) != JOINTS:
            return np.zeros((0, len(axes)))
        completed, most = whole
        family = next((one for one in wrists(completed, backwards=False) if one.exact(completed.size)), None)
        if family is None:
            return np.zeros((0, len(axes)))
        high, room = np.append(np.full(len(axes), np.inf), most), np.empty(answers_room())
        numbers = packed_numbers(family, completed, np.append(scale, np.ones(len(most))), -high, high)
        codes = packed_codes(family, completed.size)
        count = all_one(codes, numbers, ONE_GOAL, aim, NO_START, NEAR * completed.size**2, NEAR, room)
        records = ANSWER.view(room.reshape(-1)[: max(count, 0) * ANSWER.size].reshape(-1, ANSWER.size))
        values = np.array(records.values[:, : len(axes)])
        return values[first_of_each(values)]


def curves_form(chain: Chain, goal: Reach) -> Spun | HeldPoint | str:
    """Return the closed form of the curves of partial goals like a given one, or a text on why there is none."""
    found = axes_of(chain)
    if isinstance(found, str):
        return found
    axes, scale = found
    whole = completion(axes, goal)
    if isinstance(whole, str) or len(whole[0]) != JOINTS + 1:
        return whole if isinstance(whole, str) else "its goals do not leave exactly one dimension"
    if goal.free is not None:
        return _spun(chain, axes, goal.free)
    for held in (len(axes) - 1, *range(len(axes) - 1)):
        form = HeldPoint(axes, scale, held, goal)
        if not axes.slides[held] and form.serves():
            return form
    return "it has no joint that can be held so that the others have a closed form"


def _spun(chain: Chain, axes: Axes, axis: FloatArray) -> Spun | str:
    whole = chain.linkage, chain.frame
    form = closed_form(*whole) if chain.group is None else form_of(Chain(*whole, None, chain.group, chain.base))
    if not isinstance(form, ClosedForm):
        return str(form)
    direction, place = axes.tip[:3, :3] @ axis, axes.tip[:3, 3] - axes.point[-1]
    off = np.linalg.norm(np.cross(direction, axes.direction[-1])), np.linalg.norm(np.cross(direction, place))
    alike = off[0] <= EXACT and off[1] <= EXACT * axes.size and not axes.slides[-1]
    return Spun(form, axis, bool(alike))
