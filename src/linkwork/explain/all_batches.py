"""All solutions of many targets of one frame, as arrays with a mask of the valid rows."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ..errors import DeviceError, OptionError
from ..kernels.cards import require_card
from ..kernels.devices import as_library, from_device, on_card
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import APART, PoseLike, start_pose
from ..solvers.batch_work import prepared_batch
from ..solvers.card_sources import card_form
from ..solvers.chain_solver import Prepared, prepared_for
from ..solvers.chain_targets import as_targets, rigid
from ..solvers.closed_form import ClosedForm, NoForm
from ..solvers.options import PrepareOptions, positive, whole
from ..solvers.solutions_batch import SolutionsBatch
from ..transforms import FloatArray
from .all_solutions import fine, search_all

LAST_ROW = np.array([0.0, 0.0, 0.0, 1.0])  # last row of a rigid transform
SEARCHED = 8  # default number of solutions per target, for a search


def solve_all_batch(
    linkage: Linkage,
    frame: str,
    targets: ArrayLike,
    *,
    most: int | None = None,
    start: PoseLike | None = None,
    apart: float = APART,
    device: str = "cpu",
    dtype: DTypeLike | None = None,
    **options: Unpack[PrepareOptions],
) -> SolutionsBatch:
    """Return every distinct pose that brings a frame to each of many targets, as arrays with a mask.

    If the arm has a closed form for such targets, it finds all solutions, for millions of targets per second. Otherwise
    each target is searched from many starts. That takes milliseconds per target and proves nothing: `complete` is then
    False.

    Args:
        linkage: The linkage.
        frame: Name of the frame.
        targets: As in `solve_batch`, shape (n, 4, 4). A target that is not finite or not rigid has no solution; the
            others are not affected.
        most: Largest number of solutions stored for each target; `counts` shows where there were more. By default as
            many as a closed form can have, eight or sixteen, and eight in a search.
        start: Pose (nq,) of the joints outside the chain; the neutral pose by default.
        apart: Least difference of two distinct poses in some value, in a search [rad, m].
        device: ``"cuda"`` for an NVIDIA GPU, for arms of six joints that belong exactly to a family: billions per
            second. Targets in GPU memory, arrays of any library as in `solve_batch`, stay there, and so do the results.
        dtype: ``"float32"`` or ``"float64"``, of targets and poses on a GPU; by default that of the targets. In single
            precision, errors are up to 2e-5 of the arm's size.
        **options: As in `prepare`. Tolerances bound the errors of solutions; actual errors are much smaller.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> found = lw.solve_all_batch(arm, "tip", [[1, 2], [4, 0]], position="xy", orientation=False, most=2)
        >>> found.counts.tolist(), found.mask.tolist()
        ([2, 0], [[True, True], [False, False]])
    """
    check_linkage(linkage)
    positive("apart", apart, finite=True)
    rest = start_pose(linkage, start)
    most = None if most is None else whole("most", most, least=1)
    if rest.ndim != 1:
        raise OptionError(f"start is one pose of shape ({linkage.nq},), got shape {rest.shape}.")
    prepared = prepared_batch(linkage, frame, options).held_at(rest)
    if device != "cpu":
        return _on_card(prepared, targets, rest, most, device, dtype)
    if dtype is not None and np.dtype(dtype) != np.float64:
        raise OptionError(f"all solutions are found in float64 on the processor; dtype={dtype!r} is for device='cuda'.")
    aims = prepared.as_targets(np.asarray(as_targets(targets, frame), np.float64))
    form = prepared.form
    if isinstance(form, ClosedForm):
        return SolutionsBatch(prepared, aims, *_by_form(prepared, form, aims, rest, most))
    shape = (len(aims), most or SEARCHED)
    q, mask, counts = np.full((*shape, linkage.nq), np.nan), np.zeros(shape, np.bool_), np.zeros(len(aims), np.int64)
    answers = q, mask, counts, np.zeros(len(aims), np.bool_), rigid(aims)
    _searched(prepared, aims, rest, apart, answers)
    return SolutionsBatch(prepared, aims, *answers)


Answers = tuple[FloatArray, NDArray[np.bool_], NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]


def _by_form(prepared: Prepared, form: ClosedForm, aims: FloatArray, rest: FloatArray, most: int | None) -> Answers:
    """Return the results of a closed form: poses, mask, counts, complete and valid."""
    found = form.all_many_proven(aims, limits=prepared.settings.limits)
    return _answers(prepared, aims, rest, most, *found)


def _answers(
    prepared: Prepared,
    aims: FloatArray,
    rest: FloatArray,
    most: int | None,
    values: NDArray[Any],
    mask: NDArray[np.bool_],
    complete: NDArray[np.bool_],
) -> Answers:
    """Return poses, mask, counts, complete and valid from a chain's values."""
    counts = _counted(mask)
    valid = counts > 0  # solutions were checked against their targets, so only targets without any need a check
    valid[~valid] = rigid(aims[~valid])
    complete &= valid
    if most is not None and most != mask.shape[1]:
        values, mask = _fitted(values, mask, most)
    chain = prepared.chain
    if prepared.whole:
        return values, mask, counts, complete, valid  # the chain's values are the pose
    q = np.where(mask[..., None], rest, np.nan)
    q[mask] = chain.put(values[mask], q[mask])
    return q, mask, counts, complete, valid


def _counted(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of true entries in each row, eight at a time: much faster than a sum along short rows."""
    eights = np.ascontiguousarray(mask).view(np.uint64)
    counts = np.bitwise_count(eights[:, 0]).astype(np.int64)
    for k in range(1, eights.shape[1]):
        counts += np.bitwise_count(eights[:, k])
    return counts


def _on_card(
    prepared: Prepared, targets: Any, rest: FloatArray, most: int | None, device: str, dtype: DTypeLike | None
) -> SolutionsBatch:
    """Return the results of a closed form on a GPU."""
    if device != "cuda":
        raise OptionError(f"device is 'cpu' or 'cuda', got {device!r}.")
    require_card()
    form = prepared.form
    if isinstance(form, NoForm):
        raise DeviceError(f"{form} Others are searched for on the processor only; leave out device='cuda'.")
    if on_card(targets):
        return _staying_there(prepared, form, targets, most, dtype)
    aims = prepared.as_targets(as_targets(targets, prepared.goal.frame))
    values, mask, complete = card_form(prepared, form, dtype or aims.dtype).all(aims)
    strange = (aims[:, 3] != LAST_ROW).any(axis=1)  # GPU kernels do not read the last row
    values[strange], mask[strange] = np.nan, False
    told = _answers(prepared, np.asarray(aims, np.float64), rest, most, values, mask, complete)
    return SolutionsBatch(prepared, aims, *told)


def _staying_there(
    prepared: Prepared, form: ClosedForm, targets: Any, most: int | None, dtype: DTypeLike | None
) -> SolutionsBatch:
    """Return the solutions of targets on a GPU, as arrays on the GPU."""
    memory, shape = from_device(targets)
    if shape[1:] != (4, 4) or (dtype is not None and np.dtype(dtype) != memory.dtype):
        raise OptionError(
            f"targets on a GPU must have shape (n, 4, 4) and the requested dtype; got {memory.dtype} {shape}."
        )
    if not prepared.whole or most is not None:
        raise DeviceError(
            "targets on a GPU need a linkage whose every joint moves the frame, and no most=; leave out most=, or pass "
            "NumPy arrays."
        )
    found = card_form(prepared, form, memory.dtype).all_there(memory, shape[0])
    q, mask, complete = (as_library(array, targets) for array in found)
    return SolutionsBatch(prepared, None, q, mask, None, complete, None)


def _fitted(values: FloatArray, mask: NDArray[np.bool_], most: int) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return values (m, k, n) and mask (m, k) resized to another number of solutions, with solutions first."""
    order = np.argsort(~mask, axis=1, kind="stable")[:, :most]
    count, room, joints = values.shape
    q, there = np.full((count, most, joints), np.nan), np.zeros((count, most), np.bool_)
    q[:, :room] = np.take_along_axis(values, order[..., None], axis=1)
    there[:, :room] = np.take_along_axis(mask, order, axis=1)
    return q, there


def _searched(prepared: Prepared, aims: FloatArray, rest: FloatArray, apart: float, answers: Answers) -> None:
    """Write the results of searches for single targets."""
    q, mask, counts, _, valid = answers
    given, most = (prepared.linkage, prepared.goal, fine(prepared.linkage, prepared.settings.limits)), mask.shape[1]
    search = prepared_for(*given, 1, prepared.seed, prepared.group, rest).resting_at(rest)
    for k in np.flatnonzero(valid).tolist():
        found = search_all(search, prepared.goal.moved(aims[k]), apart, most).q
        counts[k], kept = len(found), found[:most]
        q[k, : len(kept)], mask[k, : len(kept)] = kept, True
