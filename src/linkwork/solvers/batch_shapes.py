"""Batches of targets with several leading axes, or with a frame for each target."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DeviceError, GoalError, OptionError, listed
from ..kernels.devices import on_card
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, start_pose
from ..transforms import FloatArray
from .batch_answers import ARRAYS, Batch
from .progress import reporting

Solve = Callable[..., Batch]


def leading_axes(shape: Sequence[int], orientation: bool) -> tuple[int, ...]:
    """Return the axes before those of one target: a matrix, or a position if the goal has no orientation."""
    own = 2 if tuple(shape[-2:]) == (4, 4) or orientation is not False else 1
    return tuple(shape[: max(len(shape) - own, 0)])


def solved_in_rows(
    solve: Solve,
    linkage: Linkage,
    frame: str,
    targets: NDArray[Any],
    start: PoseLike | None,
    lead: tuple[int, ...],
    options: dict[str, Any],
) -> Batch:
    """Solve targets as rows, and return results with the leading axes of the targets."""
    begin = None if start is None else _start_rows(linkage, start, lead)
    rows = targets.reshape(math.prod(lead), *targets.shape[len(lead) :])
    return solve(linkage, frame, rows, start=begin, **options).reshaped(lead)


def solved_by_frame(
    solve: Solve,
    linkage: Linkage,
    frames: Any,
    targets: NDArray[Any],
    start: PoseLike | None,
    options: dict[str, Any],
) -> Batch:
    """Solve targets that each have a frame, grouped by frame. Results are in the order of the targets.

    Random starts depend on a target's number among those of its frame.

    Args:
        solve: `solve_batch`, for one frame.
        linkage: The linkage.
        frames: A name for each target, with the leading axes of the targets.
        targets: As for `solve_batch`.
        start: As for `solve_batch`.
        options: All other options of `solve_batch`.
    """
    if on_card(targets):
        raise DeviceError("targets on a GPU must all be for one frame; solve those of each frame separately.")
    names = _names(frames)
    lead = leading_axes(targets.shape, options.get("orientation", True))
    if names.shape != lead:
        raise GoalError(f"frames must have one name for each target, shape {lead}; got {names.shape}.")
    if not names.size:
        raise GoalError("there are no targets, so their frame is unknown; give the name of one frame.")
    begin = None if start is None else _start_rows(linkage, start, lead)
    rows = targets.reshape(names.size, *targets.shape[len(lead) :])
    kinds, which = np.unique(names.ravel(), return_inverse=True)
    order = np.argsort(which, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(which[order])) + 1)
    budget, began, done = options.pop("time_budget", None), time.perf_counter(), 0
    found: list[Batch] = []
    with reporting(options.pop("progress", None), names.size) as report:
        for name, part in zip(kinds.tolist(), parts, strict=True):
            left = None if budget is None else max(budget - (time.perf_counter() - began), 1e-9)
            one = begin if begin is None or begin.ndim == 1 else begin[part]
            before = done
            found.append(
                solve(
                    linkage, name, rows[part], start=one, time_budget=left,
                    progress=lambda now, _, before=before: report(before + now), **options,
                )
            )  # fmt: skip
            done += len(part)
    back = np.argsort(order, kind="stable")
    arrays: dict[str, Any] = {n: np.concatenate([getattr(part, n) for part in found])[back] for n in ARRAYS}
    return Batch(linkage, found[0].goal, **arrays, frames=names.ravel()).reshaped(lead)


def _names(frames: Any) -> NDArray[np.str_]:
    """Return the names of frames as an array of strings."""
    given = np.array(frames.tolist() if hasattr(frames, "tolist") else frames, object)
    wrong = [name for name in given.ravel().tolist() if not isinstance(name, str)]
    if wrong:
        raise GoalError(f"a frame is a name, or a name for each target; got {listed([repr(n) for n in wrong])}.")
    return given.astype(np.str_)


def _start_rows(linkage: Linkage, start: PoseLike, lead: tuple[int, ...]) -> FloatArray:
    """Return one start pose (nq,), or one per target as rows (n, nq)."""
    poses = start_pose(linkage, start)
    if poses.shape not in ((linkage.nq,), (*lead, linkage.nq)):
        raise OptionError(f"start has shape ({linkage.nq},) or {(*lead, linkage.nq)}, got {poses.shape}.")
    return poses.reshape(-1, linkage.nq) if poses.ndim > 1 else poses
