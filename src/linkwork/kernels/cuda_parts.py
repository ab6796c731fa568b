"""What the kernels of a search on a graphics card are made of, whoever makes it; and the memory they are handed."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

# what is known of a chain: `chain_memory` says what codes, numbers and tables are, `cuda_generic` the rest; `rough` are
# the numbers in the descents' precision
CardChain = namedtuple("CardChain", "codes numbers rough table facts extras")


class Answers(NamedTuple):
    """Memory for answers, flat, by problem: of a card, or of the host."""

    q: Any
    residuals: Any
    restarts: Any
    codes: Any
    reached: Any

    def rows(self, first: int, count: int, widths: tuple[int, ...]) -> Answers:
        """Return the memory of some problems, each with so many numbers."""
        return Answers(*(a[w * first : w * (first + count)] for a, w in zip(self, widths, strict=True)))


class Parts:
    """Device functions. All but the last four are handed a card first: what is known of a chain.

    Attributes:
        key: What they were made from.
        dtype: Precision of descents.
        step: A step in the descents' precision: of a pose and a goal, the pose after it and the squared errors before.
        exact_step: The same in double precision, with a caution.
        exact_error: Squared errors of a pose, in double precision.
        within: A pose brought within limits.
        read: Of targets, a problem and settings: a goal, whether it is one, whether it may be in reach.
        write: Write the whole pose of a problem's answer, of a chain's values and the poses it started with.
        refuse: Write the pose a problem started with.
        ranked: Of a goal: the narrow table's nearest frames, four to a number, nearest first.
        random_start: Of settings and limits, seed, problem and start: a random start.
        take: The pose at a place of memory.
        put: Write a pose to a place of memory.
        given_up: Whether a descent has taken too many steps, or no longer comes closer.
        weight, exact_weight: What a squared error of the rotation counts, in the descents' precision and in double.
        caution: That of closing in.
        given: Whether each target has a start of its own.
        asked: Whether position and rotation are asked for.
        ranked_widely: As `ranked`, of a goal, a table, and the range of its blocks.
        exact, single: A pose in double precision, and in that of the descents.
        rounded: A goal in the descents' precision.
    """

    key: str
    dtype: Any
    step: Any
    exact_step: Any
    exact_error: Any
    within: Any
    read: Any
    write: Any
    refuse: Any
    ranked: Any
    random_start: Any
    take: Any
    put: Any
    given_up: Any
    weight: Any
    exact_weight: Any
    caution: Any
    given: Any
    asked: Any
    ranked_widely: Any
    exact: Any
    single: Any
    rounded: Any


def arguments(real: str) -> dict[str, Any]:
    """Return what the arguments of the kernels hold, by their names, in a precision of descents; see `cuda.kernel`."""
    numbers = ("best", "nearest", "targets", "known", "base", "given")
    places = ("listed", "following", "allowed", "begun", "keys", "found", "counters")
    kinds: dict[str, Any] = dict.fromkeys(numbers, "f8[]") | dict.fromkeys(places, "i4[]")
    kinds |= dict.fromkeys(("goal", "pose", "error", "poses", "table"), f"{real}[]")
    return kinds | {
        "order": "i8[]",
        "codes": "i1[]",
        "near_to": real,
        "aligned_to": real,
        "out": Answers("f8[]", "f8[]", "i4[]", "i1[]", "b1[]"),
        "card": CardChain("i8[]", "f8[]", f"{real}[]", f"{real}[]", "i8[]", "f8[]"),
    }
