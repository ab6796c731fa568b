"""Sources of several solutions per target on a GPU; the CPU chooses which to keep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import OptionError
from ..kernels.cards import at_card, current_card, require_card
from ..kernels.search_many import REACHED
from ..transforms import FloatArray
from .chain_solver import Prepared, prepared_for
from .closed_form import ClosedForm
from .solution_sources import Candidates, FormSource, SearchSource, Source, source_for, whole_poses

KINDS = (np.dtype(np.float32), np.dtype(np.float64))
TOGETHER = 1 << 18  # targets and starts copied to the GPU at once


class CardFormSource(FormSource):
    """All solutions of an arm of six joints that belongs exactly to a family."""

    together = TOGETHER // 4

    def __init__(self, prepared: Prepared, form: ClosedForm, dtype: DTypeLike, number: int | None) -> None:
        super().__init__(prepared, form)
        self.dtype, self.number = dtype, number

    def candidates(self, _turn: int, aims: FloatArray, base: FloatArray, _numbers: NDArray[np.int64]) -> Candidates:
        with at_card(self.number):
            values, good, complete = card_form(self.prepared, self.form, self.dtype).all(aims)
        values = np.asarray(values, np.float64)[..., : self.prepared.chain.values]
        if self.prepared.settings.keeps_limits:  # single precision may round values beyond limits
            values = np.clip(values, self.form.lower, self.form.upper)
        return whole_poses(self.prepared, values, good, base), good, complete


class CardSearchSource(SearchSource):
    """Solutions that the search on the GPU finds from starts spread over all joints, with one descent each.

    Results do not depend on the numbers of targets, because no random starts are used.
    """

    def __init__(self, prepared: Prepared, solutions: int, dtype: DTypeLike, number: int | None) -> None:
        super().__init__(prepared, solutions)
        self.dtype, self.number, self.together = np.dtype(dtype), number, max(1, TOGETHER // self.first)
        given = prepared.linkage, prepared.goal, prepared.settings
        self.alone = prepared_for(*given, 1, prepared.seed, prepared.group, prepared.rest)

    def candidates(self, turn: int, aims: FloatArray, base: FloatArray, numbers: NDArray[np.int64]) -> Candidates:
        starts = self.starts(turn, numbers)
        shape = starts.shape[:2]
        poses = self.prepared.put(starts, np.broadcast_to(base[:, None], (*shape, base.shape[1])))
        targets = np.repeat(aims, shape[1], axis=0)
        with at_card(self.number):
            card = card_of(self.alone, self.dtype, self.number)
            found = card.solve(targets, poses.reshape(len(targets), -1), 0)
        good = (found.codes == REACHED).reshape(shape)
        return found.q.reshape(*shape, -1), good, np.zeros(len(aims), np.bool_)


def card_source(prepared: Prepared, solutions: int, dtype: DTypeLike, number: int | None) -> Source:
    """Return the source of several solutions on a GPU of a number; None stands for the current GPU of the thread.

    Forms without GPU kernels are solved by the CPU: those by elimination, which give all solutions, and those of seven
    joints, whose solutions are further apart than those of descents.
    """
    source = source_for(prepared, solutions)
    if isinstance(source, FormSource) and source.form.exact and source.form.on_cards:
        return CardFormSource(prepared, source.form, dtype, number)
    return CardSearchSource(prepared, solutions, dtype, number) if isinstance(source, SearchSource) else source


def card_of(prepared: Prepared, dtype: np.dtype[Any], number: int | None) -> Any:
    """Return a prepared chain on a GPU; it is cached."""
    require_card()
    from .cuda_batch import Card

    avoid, there = prepared.avoid, current_card() if number is None else number
    key = None if avoid is None else (avoid.world, avoid.self, avoid.margin, avoid.links)
    return prepared.cache.get("card", (there, dtype, key), lambda: Card(prepared, dtype))


def card_form(prepared: Prepared, form: ClosedForm, dtype: DTypeLike) -> Any:
    """Return the form on the current GPU of the thread; it is cached."""
    from .closed_form.card import CardForm

    kind, limits = np.dtype(dtype), prepared.settings.keeps_limits
    if kind not in KINDS:
        raise OptionError(f"a card solves in float32 or float64, got {kind}.")
    return prepared.cache.get("card form", (current_card(), kind, limits), lambda: CardForm(form, kind, limits=limits))
