"""Solve many targets with the compiled search, in blocks distributed to threads.

Results do not depend on the number of threads. Memory beyond targets and results is that of a few blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ..errors import OptionError
from ..kernels.cards import at_card
from ..kernels.devices import on_card
from ..linkage.couplings import couplings_of, followed
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, start_pose
from ..transforms import FloatArray
from .batch_answers import ARRAYS, Batch
from .batch_shapes import leading_axes, solved_by_frame, solved_in_rows
from .batch_work import CardWork, Work, effort_of, work_on
from .body_answers import BodyBatch
from .chain_targets import as_targets
from .legs import solved_on_legs
from .options import BodyTargetOptions, Closest, PrepareOptions, TargetOptions, positive, whole, yes_or_no
from .progress import Progress
from .solve_bodies import solve_bodies

if TYPE_CHECKING:
    from .solutions_batch import SolutionsBatch

MOST_SOLUTIONS = 256  # upper bound of `solutions`
DEFAULTS: TargetOptions = {
    "device": "cpu",
    "threads": None,
    "dtype": None,
    "time_budget": None,
    "progress": None,
    "first": 0,
    "closest": "quick",
    "nearest": False,
}


@overload
def solve_batch(
    linkage: Linkage,
    frame: str | Sequence[str],
    targets: ArrayLike,
    *,
    solutions: None = None,
    apart: None = None,
    **options: Unpack[TargetOptions],
) -> Batch: ...
@overload
def solve_batch(
    linkage: Linkage,
    frame: str | Sequence[str],
    targets: ArrayLike,
    *,
    solutions: int,
    apart: float | None = None,
    **options: Unpack[TargetOptions],
) -> SolutionsBatch: ...
@overload
def solve_batch(
    linkage: Linkage, frame: Mapping[Any, ArrayLike], **options: Unpack[BodyTargetOptions]
) -> BodyBatch: ...
def solve_batch(
    linkage: Linkage,
    frame: str | Sequence[str] | Mapping[Any, ArrayLike],
    targets: ArrayLike | None = None,
    *,
    solutions: int | None = None,
    apart: float | None = None,
    start: PoseLike | None = None,
    **options: Any,
) -> Batch | SolutionsBatch | BodyBatch:
    """Return poses that bring a frame to each of many targets, or several frames at once to their own targets.

    A parallel robot, whose loops join legs to the frame's link, is solved leg by leg, with all loops closed.

    Args:
        linkage: The linkage.
        frame: Name of the frame, or a name for each target. For several frames at once, targets by frame with one row
            per problem: ``{"left_hand": poses, "head": points}``; the shape tells poses (n, 4, 4), rotations (n, 3, 3)
            and positions (n, 3) apart. A goal can replace a name: ``{lw.LookAt("eyes", at=(1, 0, 0)): points}``. It may
            be any goal with a target (see `BodySolver.batch`), and has its own weight, tolerance and priority.
        targets: Targets of one frame, shape (n, 4, 4). With ``orientation=False`` also positions (n, 3), with
            ``position=False`` rotations (n, 3, 3). A target that is not finite or not rigid fails; the others are not
            affected. Results have the leading axes of the targets, one or more.
        solutions: Return up to this many distinct solutions per target, far apart from each other, as a
            `SolutionsBatch`.
        apart: Smallest difference of two solutions in some joint [rad, m], ignoring whole turns: 0.01 by default.
            Isolated solutions of a closed form are always distinct.
        start: Start pose (nq,), the name of a stored one, or a start pose for each row (n, nq).
        **options: As in `TargetOptions`, for several frames as in `BodyTargetOptions`; and as in `prepare`: position,
            orientation, free, tolerance, rotation_tolerance, limits, restarts, seed, joints, avoid (results are then
            collision-free).

    Returns:
        A `Batch`; for several frames at once a `BodyBatch`, with a status and errors for every goal of every row.

    Example:
        >>> import linkwork as lw
        >>> arm, body = lw.models.panda(), lw.models.human(root="floating")
        >>> lw.solve_batch(arm, "tip", arm.forward(arm.random_pose(0, 1000), frame="tip"))
        <Batch of 'tip': 1000 of 1000 reached>
        >>> at = body.forward(body.random_pose(0, 200))
        >>> both = {"left_hand": at["left_hand"], "right_hand": at["right_hand"][:, :3, 3]}
        >>> lw.solve_batch(body, both, also=[lw.LookAt("eyes", at=(2, 0, 1))], start="stand")
        <BodyBatch of left_hand, right_hand, eyes: 200 of 200 reached>
    """
    check_linkage(linkage)
    several = _asked(solutions, apart)
    if isinstance(frame, Mapping):
        if targets is not None:
            raise OptionError("targets of several frames are given in the mapping; leave out the argument targets.")
        return solve_bodies(linkage, frame, start, several | options)
    return _solved(linkage, frame, targets, start, {**DEFAULTS, **several, **options})


def _asked(solutions: int | None, apart: float | None) -> dict[str, Any]:
    """Return the options for several solutions, after checks; empty if one solution is enough."""
    if solutions is None and apart is None:
        return {}
    if solutions is None:
        raise OptionError(f"apart={apart!r} needs solutions=, the largest number of solutions of a target.")
    if apart is not None:
        positive("apart", apart, finite=True)
    return {"solutions": whole("solutions", solutions, least=1, most=MOST_SOLUTIONS), "apart": apart}


def _solved(
    linkage: Linkage, frame: str | Sequence[str], targets: Any, start: Any, every: dict[str, Any]
) -> Batch | SolutionsBatch:
    """Return the results for targets of any shape, all for one frame or each for its own frame."""
    there = on_card(targets)
    array = targets if there else as_targets(targets, frame if isinstance(frame, str) else "frames")
    if not isinstance(frame, str):
        _refuse_several(every, "a frame for each target; solve the targets of each frame separately")
        return solved_by_frame(solve_batch, linkage, frame, array, start, every)
    lead = () if there else leading_axes(array.shape, every.get("orientation", True))
    if len(lead) > 1:
        return solved_in_rows(solve_batch, linkage, frame, array, start, lead, every)
    if linkage.loops or couplings_of(linkage, frame):
        _refuse_several(every, "loops or curved couplings; solve_all(arm, goal) finds all poses of a platform on legs")
        found: Batch = solved_on_legs(solve_batch, linkage, frame, as_targets(array, frame), start, every)
        return found
    options: Any = dict(every)
    device, dtype, threads = (options.pop(name) for name in ("device", "dtype", "threads"))
    budget, progress, first, closest = (options.pop(n) for n in ("time_budget", "progress", "first", "closest"))
    several, nearest = (options.pop("solutions", None), options.pop("apart", None)), options.pop("nearest")
    work = work_on(device, linkage, frame, dtype, threads, budget, options)
    work.first, work.closest, work.nearest = whole("first", first), effort_of(closest), yes_or_no("nearest", nearest)
    if isinstance(work, CardWork) and there:
        _refuse_several(every, "an array on a graphics card; pass NumPy arrays, or use solve_all_batch for six joints")
        return work.solve_there(array, start)
    array, stiff = as_targets(array, frame), work.prepared.stiff
    base = _starts(linkage, start, len(array))
    if base.ndim == 1 or stiff is None or len(base) < 2 or (base[:, stiff] == base[0, stiff]).all():
        given = array, base, start is not None, progress
        return work.solve(*given) if several[0] is None else work.solve_several(*given, *several)
    _refuse_several(every, "held joints that move the frame and differ between starts")
    return _solved_apart(work, array, base, stiff, progress)


def _refuse_several(every: dict[str, Any], why: str) -> None:
    """Raise OptionError if several solutions are requested where only one is supported."""
    if "solutions" in every:
        raise OptionError(f"solutions= does not support {why}.")


def _solved_apart(
    work: Work, targets: NDArray[Any], starts: FloatArray, stiff: NDArray[np.int64], progress: Progress
) -> Batch:
    """Return the results for starts whose held joints differ; starts with equal values are solved together."""
    _, which = np.unique(starts[:, stiff], axis=0, return_inverse=True)
    order = np.argsort(which, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(which[order])) + 1)
    done = [work.solve(targets[rows], starts[rows], True, False) for rows in parts]
    if callable(progress):
        progress(len(targets), len(targets))
    back = np.argsort(order, kind="stable")
    arrays = [np.concatenate([getattr(part, name) for part in done])[back] for name in ARRAYS]
    return Batch(done[0].linkage, done[0].goal, *arrays)


def solve_blocks(
    linkage: Linkage,
    frame: str,
    blocks: Iterable[ArrayLike],
    *,
    device: str = "cpu",
    threads: int | None = None,
    dtype: DTypeLike | None = None,
    closest: Closest = "quick",
    **options: Unpack[PrepareOptions],
) -> Iterator[Batch]:
    """Yield a batch for each block of targets as it arrives; only one block is in memory at a time.

    Random starts are drawn as if all blocks were one batch, so the results are the same.

    Args:
        linkage: The linkage.
        frame: Name of the frame of all targets.
        blocks: Arrays of targets, each as in `solve_batch`.
        device: ``"cpu"`` or ``"cuda"``, as in `solve_batch`.
        threads: Number of threads; by default the number of cores.
        dtype: ``"float64"`` or ``"float32"``, as in `solve_batch`.
        closest: How to find the closest pose to targets that were missed, as in `solve_batch`.
        **options: As in `prepare`.
    """
    check_linkage(linkage)
    work = work_on(device, linkage, frame, dtype, threads, None, options)
    work.closest = effort_of(closest)
    for block in blocks:
        targets = as_targets(block, frame)
        yield work.solve(targets, linkage.neutral(), False, False)
        work.first += len(targets)


def settle_card(
    linkage: Linkage,
    frame: str,
    targets: NDArray[Any],
    start: FloatArray | None,
    coming: int,
    *,
    device: str,
    dtype: DTypeLike | None = None,
    closest: Closest = "quick",  # noqa: ARG001  # accepted for the same signature; no effect here
    **options: Unpack[PrepareOptions],
) -> None:
    """Choose the kernels of a GPU once for a given number of coming targets.

    Without this, kernels are chosen as targets arrive, so results could depend on what was solved before.
    `targets` and `start` are examples of those to come.
    """
    if linkage.loops or couplings_of(linkage, frame):
        return
    work = work_on(device, linkage, frame, dtype, None, None, options)
    if isinstance(work, CardWork) and not work.prepared.chain.carriers:
        base = _starts(linkage, start, len(targets)) if start is not None else linkage.neutral()
        work.prepared = work.prepared.held_at(base if base.ndim == 1 else base[0])
        with at_card(work.number):
            work.card.engine(targets.shape[1:], start is not None).settle(coming)


def _starts(linkage: Linkage, start: PoseLike | None, count: int) -> FloatArray:
    if start is None:
        return linkage.neutral()
    poses = start_pose(linkage, start)
    if poses.shape not in ((linkage.nq,), (count, linkage.nq)):
        raise OptionError(f"start has shape ({linkage.nq},) or ({count}, {linkage.nq}), got {poses.shape}.")
    return followed(linkage, poses) if linkage.couplings else poses
