"""The closed form of any six revolute joints: elimination to one angle, with all of its roots."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.closed_form import general as kernels, general_memory as memory
from ...kernels.rooms import new_room
from ...transforms import FloatArray
from ..chain import Chain
from ..options import Limits
from .axes import Axes
from .form import NEAR, Answers, ClosedForm
from .general import General
from .recognition import Family, Off

NAME = "general six"


class GeneralForm(ClosedForm):
    """A chain of six revolute joints, whose solutions, at most sixteen, are the roots of a polynomial.

    Args:
        chain: The chain.
        axes: The lines of its joints.
        scale: Angle of each joint per unit of its value, shape (6,).
        general: The elimination.
        beside: A family that the arm is slightly off, as a calibrated arm is.
    """

    most = memory.MOST
    on_cards = False

    def __init__(
        self, chain: Chain, axes: Axes, scale: FloatArray, general: General, beside: Family | None = None
    ) -> None:
        super().__init__(chain, axes, scale, Family(NAME, general.axes, False, Off(), np.zeros(3)))
        self.beside = beside
        self.general, self._room = general, (memory.ROOM.size, memory.WIDTH)

    def _put_all(
        self, numbers: FloatArray, target: Any, start: Any, near: float, aligned: float, room: FloatArray
    ) -> int:
        return int(kernels.general_one(self.general.packed, numbers, target, start, near, aligned, room))

    @property
    def off(self) -> tuple[float, float]:
        """Deviation of the arm from the family that it is near [m, rad]; zeros if there is none."""
        return (0.0, 0.0) if self.beside is None else (self.beside.off.length, self.beside.off.angle)

    def __str__(self) -> str:
        length, angle = self.off
        near = (
            ""
            if self.beside is None
            else (f" ({1e3 * length:.3g} mm and {math.degrees(angle):.3g}° off {self.beside.name!r})")
        )
        return f"Closed form for {self.chain.frame!r}: {self.family}{near}; joints {', '.join(self.joints)}."

    def target_of(self, room: FloatArray) -> FloatArray:
        """Return the target (4, 4) of a result."""
        return room[memory.ROOM.target :].reshape(-1)[:16].reshape(4, 4)

    def proves(self, found: Answers) -> bool:
        """Return whether the solutions of a target are proven complete."""
        return bool(room_report(found.room).clear)

    def why_none(self, target: FloatArray) -> str:
        """Return why a target (4, 4) has no solution: the imaginary part of the nearest root, or the limit exceeded."""
        free = self.all(target, limits="ignore")
        if len(free):
            return self._beyond_limits(free.values)
        report = room_report(free.room)
        joint = self.joints[int(report.unknown)]
        return (
            f"all {int(report.all_roots)} solutions of the elimination are complex: "
            f"the angle of {joint} would need an imaginary part of at least {float(report.imaginary):.2g} rad"
        )

    def all_many_proven(
        self, targets: FloatArray, *, limits: Limits = "clamp"
    ) -> tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_]]:
        count, room = len(targets), new_room(self._room)
        values, mask = np.empty((count, memory.MOST, memory.JOINTS)), np.empty((count, memory.MOST), np.uint8)
        clear = np.empty(count, np.uint8)
        numbers = self.unlimited if limits == "ignore" else self.numbers
        aims = np.ascontiguousarray(targets, np.float64).reshape(-1)
        out = values.reshape(-1), mask.reshape(-1), clear
        kernels.general_many(self.general.packed, numbers, aims, self._near, NEAR, room, *out)
        return values[..., : len(self.axes)], mask.view(np.bool_), clear.view(np.bool_)


def room_report(room: FloatArray) -> Any:
    """Return the REPORT in the working memory of the kernels."""
    return memory.REPORT.view(room[memory.ROOM.out :].reshape(-1)[: memory.REPORT.size])
