"""One solution per target by a closed form, in the form of a chain's search; `Prepared` tries it before the search."""

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
MARGIN = 3.0  # times the tolerances: goals nearer to an edge are also searched
ONE_GOAL, MANY_GOALS = branch_signs(1), branch_signs(2)


class Answering:
    """A closed form with the tolerances and limits of a prepared chain.

    Attributes:
        one: The kernel for one goal.
        known: Its first arguments, in order; the working memory, the target and so on follow.
        nearer: The kernel that replaces a pose found by the search with the pose nearest to a start.
        known_nearer: Its first arguments likewise; None if there is no search first, or its result is kept.
        room: Shape of the working memory.
        proves: Whether its result is the nearest to a start, and there is no solution if it finds none.
        near_starts: Whether its results for many goals are near given starts, so that it is used with starts.
        edge_starts: Number of starts that are enough for a goal that it leaves to the search.
        edge_starts_of_many: The same for each of many goals, which have start poses next to an edge; or None.
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
        """Write values (m, n), reports and status of those targets (m, 4, 4) that are unsolved.

        Targets at an edge stay unsolved. With `leave`, errors of targets without a solution are left to the caller.
        """
        count, before = len(status), status.copy()
        arrays: list[Any] = [targets, given.reshape(-1, values.shape[1]), values, report, status]
        if count < WIDTH:  # fill the lanes with the last target
            arrays = [_padded(array) for array in arrays]
        self._answer(*arrays)
        if count < WIDTH:
            values[:], report[:], status[:] = (array[:count] for array in arrays[2:])
        none = np.flatnonzero((status != before) & (status == CLOSEST))
        if len(none):
            self._miss(none, leave, targets, values, report, status)

    def _answer(self, *arrays: Any) -> None:
        """Do the same for at least WIDTH targets."""
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
        """Complete targets without a solution: compute the errors of their poses, and mark those out of reach."""
        prepared = self.prepared
        if not leave:
            poses, lines = values.take(rows, axis=0), report.take(rows, axis=0)
            prepared.check(targets.take(rows, axis=0), poses, lines)
            values[rows], report[rows] = poses, lines
        if prepared.settings.keeps_limits:
            packed, room = prepared.packed(np.float64, bounded=True), np.empty(steps.TRANSFORM.size)
            mark_beyond(prepared.codes, packed, room, targets.reshape(-1), values.reshape(-1), rows, status)


class FamilyAnswering(Answering):
    """The closed form of an arm of six joints that belongs to a family, exactly or nearly.

    For an arm that is only near its family, Newton's method may move every branch away from the solution at a start.
    Goals with a start are then left to the search.
    """

    one = staticmethod(answer_one)

    def __init__(self, prepared: Prepared, form: ClosedForm) -> None:
        self.prepared, self.proves, self.near_starts = prepared, form.exact, form.exact
        limits, settings = memory.LIMITS.view(prepared.kept_limits), prepared.settings
        numbers = packed_numbers(form.recognised, form.axes, form.scale, limits.lower, limits.upper)
        sure = MARGIN if form.exact else np.inf  # an arm off its family may have more solutions
        length, angle = sure * settings.tolerance, sure * settings.rotation_tolerance
        roots = (length, angle, length) if form.codes[0] == PARALLEL else (length, length, angle)
        edge = EDGE.pack(roots=roots, limits=angle)
        self._known = form.codes, numbers, MANY_GOALS, edge, prepared.numbers
        self.known = form.codes, numbers, ONE_GOAL, edge, prepared.numbers
        self.room = answer_room(many=False)
        self.edge_starts = EDGE_STARTS if form.exact else np.inf  # edges are known only for exact arms
        self.edge_starts_of_many = EDGE_STARTS if form.exact else None

    def branches(self, targets: FloatArray) -> FloatArray:
        """Return the values (m, 8, 6) of all branches for targets (m, 4, 4), within limits, as near as possible."""
        aims = _padded(targets) if len(targets) < WIDTH else targets
        tried = np.empty((len(aims), BRANCHES, JOINTS))
        room = new_room(answer_room(many=True))
        branch_poses(*self._known, room, np.ascontiguousarray(aims).reshape(-1), tried.reshape(-1))
        return tried[: len(targets)]

    def _answer(self, *arrays: Any) -> None:
        *numbers, status = arrays
        answer_many(*self._known, new_room(answer_room(many=True)), *(array.reshape(-1) for array in numbers), status)


class SevenAnswering(Answering):
    """The closed form of an arm of seven joints, with one of them tried at many angles.

    A goal with a start is searched first, since the search stays near the start. For arms slightly off their family,
    that result is kept.
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
            numbers[1] = np.array(starts[0])  # one start for all, processed once
        tries = self.form.tries_of_many[starts.size > 0]
        known = self.form.numbers, tries, self.prepared.numbers, zero_room(shape), np.zeros(book, np.int64)
        seven_many(*known, *(array.reshape(-1) for array in numbers), status)


def _padded(array: NDArray[Any]) -> NDArray[Any]:
    """Return rows with the last one repeated, to fill every lane; an empty array stays empty."""
    return np.concatenate([array, np.repeat(array[-1:], WIDTH - len(array), axis=0)]) if len(array) else array


def answering_for(prepared: Prepared) -> Answering | None:
    """Return the closed form that is faster than a search, if a prepared chain has one for its goals."""
    if not prepared.whole_pose:
        return None
    form = family_form(prepared.chain)
    if form is not None:
        return FamilyAnswering(prepared, form)
    seven = seven_form(prepared.chain) if prepared.settings.keeps_limits else ""
    return SevenAnswering(prepared, seven) if isinstance(seven, Seven) else None
