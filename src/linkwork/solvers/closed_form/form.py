"""The closed form of a chain: every pose that brings its frame to a target, exactly, and which form that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...kernels import chain_memory as memory
from ...kernels.closed_form.form_layout import ANSWER, BRANCHES, DOUBLE, FREE
from ...kernels.closed_form.solve_six import all_many, all_one, answers_room, branch_signs, many_room
from ...linkage.linkage import Linkage, check_linkage
from ...transforms import FloatArray
from ..chain import Chain
from .axes import Axes, axes_of
from .packing import packed_codes, packed_numbers
from .recognition import EXACT, Family, recognised

NEAR = 1e-12  # squared errors of solutions, for lengths as a share of the arm's size [rad]
ONE_GOAL, MANY_GOALS = branch_signs(1), branch_signs(2)
NO_START = np.empty(0)
LEAST = 8  # targets that the kernel for many takes


@dataclass(frozen=True, eq=False)
class NoForm:
    """Why a chain has no closed form here; it is false where a form is true.

    Attributes:
        frame: The frame at the chain's end.
        reason: In words: which axes are how far from what.
    """

    frame: str
    reason: str

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"No closed form for {self.frame!r}: {self.reason}."


class Answers:
    """All solutions of one target.

    Attributes:
        values: The chain's values, one row a solution, shape (k, n).
    """

    __slots__ = ("_records", "_room", "form")

    def __init__(self, form: ClosedForm, room: FloatArray, count: int) -> None:
        self.form, self._room = form, room
        self._records = room.reshape(-1)[: ANSWER.size * count].reshape(count, ANSWER.size)

    def __len__(self) -> int:
        return len(self._records)

    @property
    def values(self) -> FloatArray:
        """The chain's values, one row a solution, shape (k, n); nearest to the start first."""
        return self._records[:, : len(self.form.axes)]

    @property
    def residuals(self) -> FloatArray:
        """Errors of position and rotation [m, rad], from forward kinematics, shape (k, 2)."""
        return self._records[:, ANSWER.position : ANSWER.position + 2]

    @property
    def doubles(self) -> NDArray[np.bool_]:
        """Which are two solutions in one, where branches meet, shape (k,)."""
        return np.asarray(self._records[:, ANSWER.same] % 2.0 == DOUBLE)

    @property
    def continua(self) -> NDArray[np.bool_]:
        """Which stand for a continuum: a joint may have any value if another makes up for it, shape (k,)."""
        return np.asarray(self._records[:, ANSWER.same] == FREE)


class ClosedForm:
    """A chain's closed form.

    Values are those of the chain, in its order (`Chain.values_of` and `Chain.put` know their places in poses).

    Args:
        chain: The chain.
        axes: Its lines.
        scale: By how much each joint turns, or slides, for its value, shape (n,).
        family: The form that fits it.

    Attributes:
        complete: Whether it finds every solution there is: always, where arms are exactly of the family.
    """

    complete: ClassVar[bool] = True

    def __init__(self, chain: Chain, axes: Axes, scale: FloatArray, family: Family) -> None:
        self.chain, self.axes, self.scale, self.recognised = chain, axes, scale, family
        limits = memory.LIMITS.view(chain.limits)
        self.lower, self.upper = np.array(limits.lower), np.array(limits.upper)
        self._codes = packed_codes(family)
        self._numbers = packed_numbers(family, axes, scale, self.lower, self.upper)
        self._room, self._square = answers_room(), axes.size**2

    def all(self, target: FloatArray, start: FloatArray = NO_START) -> Answers:
        """Return all solutions of a target (4, 4) within limits."""
        room = np.empty(self._room)
        near = NEAR * self._square
        count = all_one(self._codes, self._numbers, ONE_GOAL, target, start, near, NEAR, room)
        return Answers(self, room, count)

    def all_many(self, targets: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return all solutions of targets (m, 4, 4) within limits: values (m, 8, n), NaN where there is none; a mask.

        A solution stands at the place of its branch.
        """
        count = len(targets)
        aims = np.ascontiguousarray(np.concatenate([targets, np.tile(np.eye(4), (max(0, LEAST - count), 1, 1))]))
        values, mask = np.empty((len(aims), BRANCHES, len(self.axes))), np.empty((len(aims), BRANCHES), np.uint8)
        near = NEAR * self._square
        all_many(
            self._codes,
            self._numbers,
            MANY_GOALS,
            aims.reshape(-1),
            near,
            NEAR,
            np.empty(many_room()),
            values.reshape(-1),
            mask.reshape(-1),
        )
        return values[:count], mask[:count].view(np.bool_)

    @property
    def family(self) -> str:
        """The family's name, such as ``"spherical wrist"``."""
        return self.recognised.name

    @property
    def off(self) -> tuple[float, float]:
        """How far the arm is from the family [m, rad]: zeros for an arm that is not calibrated."""
        return self.recognised.off.length, self.recognised.off.angle

    @property
    def exact(self) -> bool:
        """Whether the arm is of the family to rounding; else its answers are polished by Newton's method."""
        return self.recognised.off.share(self.axes.size) <= EXACT

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """Names of the coordinates that it gives values to, in its order."""
        places = dict(zip(*(one.tolist() for one in self.chain.plain), strict=True))
        names = self.chain.linkage.coordinates
        return tuple(names[places[k]] if k in places else f"{self.chain.frame}.{k}" for k in range(len(self.axes)))

    def __str__(self) -> str:
        length, angle = self.off
        apart = "" if self.exact else f", {1e3 * length:.3g} mm and {math.degrees(angle):.3g}° off it, so polished"
        return f"Closed form for {self.chain.frame!r}: {self.family}{apart}; joints {', '.join(self.joints)}."

    def __repr__(self) -> str:
        return f"<ClosedForm {self.chain.frame!r} of {self.chain.linkage.name!r}: {self.family}>"


def form_of(chain: Chain) -> ClosedForm | NoForm:
    """Return the closed form of a chain, or why there is none."""
    if chain.free is not None:
        return NoForm(chain.frame, "an axis of it is free, so that a goal leaves a continuum")
    found = axes_of(chain)
    if isinstance(found, str):
        return NoForm(chain.frame, found)
    axes, scale = found
    family = recognised(axes)
    return NoForm(chain.frame, family) if isinstance(family, str) else ClosedForm(chain, axes, scale, family)


def closed_form(linkage: Linkage, frame: str) -> ClosedForm | NoForm:
    """Return the closed form of the chain that moves a frame, or why it has none; it is kept on the linkage.

    Example:
        >>> import linkwork as lw
        >>> print(repr(closed_form(lw.models.ur5(), "tool0")))
        <ClosedForm 'tool0' of 'ur5': three parallel axes>
    """
    check_linkage(linkage)
    linkage.frame_index(frame)
    found: ClosedForm | NoForm = linkage.cache.get("closed form", frame, lambda: form_of(Chain(linkage, frame)))
    return found
