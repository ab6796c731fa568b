"""Arms of seven joints of no family, or slightly off one, with an end joint held: six joints with a closed form.

Only the target depends on the angle of the held joint, so one form is enough for all angles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...linkage.poses import wrapped
from ...transforms import FloatArray, inverse
from ..chain import Chain
from ..groups import group_of
from .axes import Axes, axes_of
from .finding import form_of
from .form import ClosedForm
from .one_held import OneHeld
from .seven import JOINTS, Seven

AROUND, CLOSE = 0.02, 9  # range [rad] and number of angles around each fold of a family that an arm is slightly off
SLICES = 64  # angles of the held joint at which curves begin


@dataclass(frozen=True, eq=False)
class Held(OneHeld):
    """The closed form of the other six joints.

    Args:
        form: The form of the chain with one joint at its rest angle.
        axes: Lines of all seven joints.
        held: Index of the held joint: the first or the last.
        rest: The angle of the held joint in the form.
        beside: A family of arms of seven joints that the arm is slightly off; its folds show where curves may be short.
    """

    form: ClosedForm
    axes: Axes
    held: int
    rest: float
    beside: Seven | None = None

    @property
    def kind(self) -> str:
        """The family of the other six joints."""
        return self.form.family

    def slices(self, target: FloatArray) -> FloatArray:
        """Return angles of the held joint at which curves begin: equally spaced, and between known folds."""
        even = np.asarray(0.1 + np.arange(SLICES) * (2.0 * np.pi / SLICES), np.float64)
        if self.beside is None:
            return even
        folds = self.beside.folds(target)
        near = (folds[:, None] + np.linspace(-AROUND, AROUND, CLOSE)).reshape(-1)  # this arm's folds are nearby
        return np.concatenate([self.beside.slices(target), near, even])

    def at(self, target: FloatArray, angles: FloatArray) -> FloatArray:
        """Return the values (k, 7) of all poses with the held joint at any of the angles, ignoring limits."""
        found = []
        tip = self.axes.tip
        for angle in angles:
            turn = self.axes.motion(self.held, float(angle) - self.rest)
            seen = inverse(turn) @ target if self.held == 0 else target @ inverse(tip) @ inverse(turn) @ tip
            values = self.form.all(np.ascontiguousarray(seen), limits="ignore").values
            found.append(np.insert(values, self.held, wrapped(np.asarray(angle)), axis=1))
        return np.concatenate(found)


def held_of(chain: Chain, beside: Seven | None = None) -> Held | str:
    """Return the form of a chain of seven revolute joints with an end joint held, or a text on why there is none."""
    found = axes_of(chain)
    if isinstance(found, str):
        return found
    axes, scale = found
    if len(axes) != JOINTS or axes.slides.any() or np.any(scale != 1.0) or chain.group is not None:
        return "it is not a chain of seven revolute joints that may all move"
    names = [chain.linkage.coordinates[place] for place in chain.plain[1]]
    for held in (JOINTS - 1, 0) if beside is None else (beside.held,):
        others = [name for k, name in enumerate(names) if k != held]
        six = Chain(chain.linkage, chain.frame, None, group_of(chain.linkage, others), chain.rest)
        form = form_of(six)
        if isinstance(form, ClosedForm):
            return Held(form, axes, held, float(chain.values_of(chain.rest)[held]), beside)
    return str(form)
