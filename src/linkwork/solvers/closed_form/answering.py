"""One answer to each target by a closed form, as a chain's search gives it: what `Prepared` asks before it searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...kernels import chain_memory as memory
from ...kernels.closed_form.answers import EDGE, WIDTH, answer_many, answer_one, answer_room
from ...kernels.closed_form.form_layout import PARALLEL
from ...kernels.closed_form.solve_six import branch_signs
from ...transforms import FloatArray
from .finding import family_form
from .form import ClosedForm
from .packing import packed_numbers

if TYPE_CHECKING:
    from ..chain_solver import Prepared

MARGIN = 3.0  # times the tolerances: how near to an edge a goal must be for a search to have its say
ONE_GOAL, MANY_GOALS = branch_signs(1), branch_signs(2)


class Answering:
    """A closed form with the tolerances and limits of a prepared chain.

    Args:
        prepared: The chain.
        form: Its closed form.

    Attributes:
        known: What the kernel for one goal reads, in its order.
    """

    def __init__(self, prepared: Prepared, form: ClosedForm) -> None:
        self.prepared, self.form = prepared, form
        limits, settings = memory.LIMITS.view(prepared.kept_limits), prepared.settings
        numbers = packed_numbers(form.recognised, form.axes, form.scale, limits.lower, limits.upper)
        sure = MARGIN if form.exact else np.inf  # an arm a little off its family may have what the family has not
        length, angle = sure * settings.tolerance, sure * settings.rotation_tolerance
        codes = form.codes
        roots = (length, angle, length) if codes[0] == PARALLEL else (length, length, angle)
        self._edge = EDGE.pack(roots=roots, limits=angle)
        self._head = codes, numbers
        self.known = (codes, numbers, ONE_GOAL, self._edge, prepared.numbers)
        self.room = answer_room(many=False)

    one = staticmethod(answer_one)

    def many(self, targets: FloatArray, given: FloatArray, values: FloatArray, report: FloatArray, status: Any) -> None:
        """Write values (m, n), reports and status of targets (m, 4, 4) whose status says that they are unsolved.

        Those at an edge stay unsolved.
        """
        count = len(status)
        if count < WIDTH:  # fill the lanes with the last one
            arrays = [_padded(a) for a in (targets, given.reshape(-1, values.shape[1]), values, report, status)]
            self.many(*arrays)
            for mine, theirs in zip((values, report, status), arrays[2:], strict=True):
                mine[:] = theirs[:count]
            return
        packed, room = self.prepared.packed(np.float64, bounded=True), np.empty(answer_room(many=True))
        flat = (array.reshape(-1) for array in (targets, given, values, report))
        answer_many(*self._head, MANY_GOALS, self._edge, packed, room, *flat, status)


def _padded(array: NDArray[Any]) -> NDArray[Any]:
    """Return rows with the last one repeated, so that there is one for every lane; no rows stay none."""
    return np.concatenate([array, np.repeat(array[-1:], WIDTH - len(array), axis=0)]) if len(array) else array


def answering_for(prepared: Prepared) -> Answering | None:
    """Return the closed form of a prepared chain if it is of a family, whose roots take less time than a search."""
    form = family_form(prepared.chain) if prepared.whole_pose else None
    return None if form is None else Answering(prepared, form)
