"""One answer to each target by a closed form, as a chain's search gives it: what `Prepared` asks before it searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...kernels import chain_memory as memory, joint_step as steps
from ...kernels.closed_form.answers import EDGE, answer_many, answer_one, answer_room, mark_beyond
from ...kernels.closed_form.closer import branch_poses
from ...kernels.closed_form.form_layout import BRANCHES, JOINTS, PARALLEL
from ...kernels.closed_form.seven_answers import answer_room as seven_room, seven_one, tries_in_lanes
from ...kernels.closed_form.seven_batch import batch_room, seven_many
from ...kernels.closed_form.seven_nearest import near_room, seven_nearest
from ...kernels.closed_form.solve_six import WIDTH, branch_signs
from ...kernels.rooms import new_room, zero_room
from ...kernels.search_many import CLOSEST
from ...transforms import FloatArray
from .finding import family_form
from .form import ClosedForm
from .packing import packed_numbers
from .seven import Seven, seven_form

if TYPE_CHECKING:
    from ..chain_solver import Prepared

EDGE_STARTS = 16
MARGIN = 3.0  # times the tolerances: how near to an edge a goal must be for a search to have its say
ONE_GOAL, MANY_GOALS = branch_signs(1), branch_signs(2)


class Answering:
    """A closed form with the tolerances and limits of a prepared chain.

    Attributes:
        one: The kernel for one goal.
        known: What it reads, in its order; the room to work in, the target and so on follow.
        nearer: The kernel that puts the pose nearest to a start in place of one that a search has found.
        known_nearer: What it reads likewise; None where a search is not asked, or its answer stays.
        room: The shape of that room.
        proves: Whether its answer is the nearest to a start, and it is certain that there is none where it has none.
        near_starts: Whether its answers to many goals are near to starts, where there are some, so that it is asked.
        edge_starts: How many starts are enough for a goal that it leaves to a search.
        edge_starts_of_many: The same for each of many goals, which have poses to begin with, next to an edge; or None.
    """

    one: ClassVar[Any]
    proves: bool
    near_starts: bool
    edge_starts: float = EDGE_STARTS
    edge_starts_of_many: int | None
    prepared: Prepared
    known: tuple[Any, ...]
    room: tuple[int, int]
    nearer: ClassVar[Any]
    known_nearer: tuple[Any, ...] | None = None

    def many(
        self,
        targets: FloatArray,
        given: FloatArray,
        values: FloatArray,
        report: FloatArray,
        status: Any,
        *,
        leave: bool = False,
    ) -> None:
        """Write values (m, n), reports and status of targets (m, 4, 4) whose status says that they are unsolved.

        Those at an edge stay unsolved. With `leave`, the errors of targets without an answer are left to the caller.
        """
        count, before = len(status), status.copy()
        arrays: list[Any] = [targets, given.reshape(-1, values.shape[1]), values, report, status]
        if count < WIDTH:  # fill the lanes with the last one
            arrays = [_padded(array) for array in arrays]
        self._answer(*arrays)
        if count < WIDTH:
            values[:], report[:], status[:] = (array[:count] for array in arrays[2:])
        none = np.flatnonzero((status != before) & (status == CLOSEST))
        if len(none):
            self._miss(none, leave, targets, values, report, status)

    def _answer(self, *arrays: Any) -> None:
        """Do the same for at least as many targets as there are lanes."""
        raise NotImplementedError

    def _miss(
        self,
        rows: NDArray[np.int64],
        leave: bool,
        targets: FloatArray,
        values: FloatArray,
        report: FloatArray,
        status: Any,
    ) -> None:
        """See to targets without an answer: the errors of the poses that they have, and which are out of reach."""
        prepared = self.prepared
        if not leave:
            poses, lines = values.take(rows, axis=0), report.take(rows, axis=0)
            prepared.check(targets.take(rows, axis=0), poses, lines)
            values[rows], report[rows] = poses, lines
        if prepared.settings.keeps_limits:
            packed, room = prepared.packed(np.float64, bounded=True), np.empty(steps.TRANSFORM.size)
            mark_beyond(prepared.codes, packed, room, targets.reshape(-1), values.reshape(-1), rows, status)


class FamilyAnswering(Answering):
    """The closed form of an arm of six joints that is of a family, or nearly so.

    For an arm that is only near its family, Newton's method may lead every branch away from the solution at a start.
    Goals with a start are then left to the search.
    """

    one = staticmethod(answer_one)

    def __init__(self, prepared: Prepared, form: ClosedForm) -> None:
        self.prepared, self.proves, self.near_starts = prepared, form.exact, form.exact
        limits, settings = memory.LIMITS.view(prepared.kept_limits), prepared.settings
        numbers = packed_numbers(form.recognised, form.axes, form.scale, limits.lower, limits.upper)
        sure = MARGIN if form.exact else np.inf  # an arm a little off its family may have what the family has not
        length, angle = sure * settings.tolerance, sure * settings.rotation_tolerance
        roots = (length, angle, length) if form.codes[0] == PARALLEL else (length, length, angle)
        edge = EDGE.pack(roots=roots, limits=angle)
        self._known = form.codes, numbers, MANY_GOALS, edge, prepared.numbers
        self.known = form.codes, numbers, ONE_GOAL, edge, prepared.numbers
        self.room = answer_room(many=False)
        self.edge_starts = EDGE_STARTS if form.exact else np.inf  # the form knows but the edges of exact arms
        self.edge_starts_of_many = EDGE_STARTS if form.exact else None

    def branches(self, targets: FloatArray) -> FloatArray:
        """Return the values (m, 8, 6) of all branches of targets (m, 4, 4), within limits, as near as each comes."""
        aims = _padded(targets) if len(targets) < WIDTH else targets
        tried = np.empty((len(aims), BRANCHES, JOINTS))
        room = new_room(answer_room(many=True))
        branch_poses(*self._known, room, np.ascontiguousarray(aims).reshape(-1), tried.reshape(-1))
        return tried[: len(targets)]

    def _answer(self, *arrays: Any) -> None:
        *numbers, status = arrays
        answer_many(*self._known, new_room(answer_room(many=True)), *(array.reshape(-1) for array in numbers), status)


class SevenAnswering(Answering):
    """The closed form of an arm of seven joints, one of them tried at many angles.

    A goal with a start is searched first, for the search stays near the start. For arms a little off their family, that
    answer is kept.
    """

    one, nearer = staticmethod(seven_one), staticmethod(seven_nearest)
    proves = False
    near_starts = True
    edge_starts = 64
    edge_starts_of_many = EDGE_STARTS

    def __init__(self, prepared: Prepared, form: Seven) -> None:
        self.prepared, self.form = prepared, form
        self.known = prepared.codes, form.numbers, tries_in_lanes(form.tries), prepared.numbers
        self.room = max(seven_room(), near_room())
        if form.exact:
            self.known_nearer = form.numbers, prepared.numbers

    def _answer(self, *arrays: Any) -> None:
        (shape, book), (*numbers, status) = batch_room(), arrays
        starts = numbers[1]
        if starts.size and starts.strides[0] == 0 and np.isfinite(starts[0]).all():
            numbers[1] = np.array(starts[0])  # one for all, which is seen to once
        tries = self.form.tries_of_many[starts.size > 0]
        known = self.form.numbers, tries, self.prepared.numbers, zero_room(shape), np.zeros(book, np.int64)
        seven_many(*known, *(array.reshape(-1) for array in numbers), status)


def _padded(array: NDArray[Any]) -> NDArray[Any]:
    """Return rows with the last one repeated, so that there is one for every lane; no rows stay none."""
    return np.concatenate([array, np.repeat(array[-1:], WIDTH - len(array), axis=0)]) if len(array) else array


def answering_for(prepared: Prepared) -> Answering | None:
    """Return the closed form that is quicker than a search, if a prepared chain has one that serves its goals."""
    if not prepared.whole_pose:
        return None
    form = family_form(prepared.chain)
    if form is not None:
        return FamilyAnswering(prepared, form)
    seven = seven_form(prepared.chain) if prepared.settings.keeps_limits else ""
    return SevenAnswering(prepared, seven) if isinstance(seven, Seven) else None
