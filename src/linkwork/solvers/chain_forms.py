"""The closed forms of a prepared chain, imported only when one is used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .chain_packing import PackedChain
from .groups import Group

if TYPE_CHECKING:
    from .closed_form import ClosedForm, NoForm
    from .closed_form.answering import Answering
    from .closed_form.elimination import NearestSolution


class FormedChain(PackedChain):
    """A packed chain with its closed forms.

    Attributes:
        linkage: The linkage.
        group: The joints that may move, or None for all of them.
    """

    linkage: Linkage
    group: Group | None
    _room: tuple[int, int]

    @cached_property
    def form(self) -> ClosedForm | NoForm:
        """The chain's closed form for goals of this kind, or a `NoForm` with the reason, which is false."""
        from .closed_form.finding import closed_form, form_for, form_of
        from .closed_form.partial import partial_form

        if not self.whole_pose:
            return form_for(self.linkage, self.goal) if self.group is None else partial_form(self.chain, self.goal)
        return closed_form(self.linkage, self.goal.frame) if self.group is None else form_of(self.chain)

    @cached_property
    def _answering(self) -> Answering | None:
        """The closed form, if it is faster than a search; it is then tried first.

        It shares the working memory of the search, and may need more of it, so access this before allocating memory.
        """
        if not self.whole_pose:
            return None
        from .closed_form.answering import answering_for

        whole: Any = self
        answering = answering_for(whole)
        if answering is not None:
            self._room = max(self._room, answering.room)
        return answering

    @cached_property
    def _eliminate(self) -> NearestSolution | None:
        """Function that writes the solution nearest to a start by elimination; None if elimination does not apply."""
        if not self.whole_pose or self._answering is not None:
            return None
        from .closed_form.elimination import nearest_by_elimination

        whole: Any = self
        return nearest_by_elimination(whole)

    @cached_property
    def _first_tries(self) -> int:
        """Number of starts after which elimination decides a goal that the search missed; zero if it does not apply."""
        if not self.whole_pose or self._answering is not None:
            return 0
        from .closed_form.elimination import FEW, may_eliminate

        whole: Any = self
        return FEW if may_eliminate(whole) else 0

    def _settle(self, *arrays: Any) -> None:
        """Decide targets that a few starts missed; see `closed_form.elimination.settle_missed`."""
        from .closed_form.elimination import settle_missed

        whole: Any = self
        settle_missed(whole, *arrays)

    @property
    def knows_nearest(self) -> bool:
        """Whether a closed form gives the solution nearest to a start, not just one near it."""
        answering = self._answering
        return self._eliminate is not None if answering is None else answering.proves or self.looks_nearer

    @property
    def looks_nearer(self) -> bool:
        """Whether a search along curves of solutions replaces a solution near the start by the nearest."""
        return self._answering is not None and self._answering.known_nearer is not None

    @property
    def has_form(self) -> bool:
        """Whether a closed form is tried before the search."""
        return self._answering is not None

    @property
    def branches(self) -> Callable[[FloatArray], FloatArray] | None:
        """Function from targets (m, 4, 4) to all branches, valid or not, as values (m, 8, 6); None without a form."""
        found: Callable[[FloatArray], FloatArray] | None = getattr(self._answering, "branches", None)
        return found
