"""The device functions that the kernels of a GPU search need, however they are made; and the memory passed to them."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

# the data of a chain: codes, numbers and tables are laid out in `chain_memory`, the rest in `cuda_generic`; `rough` are
# the numbers in the precision of the descents
CardChain = namedtuple("CardChain", "codes numbers rough table facts extras")


class Answers(NamedTuple):
    """Memory for answers, flat, by problem: on a GPU or on the host."""

    q: Any
    residuals: Any
    restarts: Any
    codes: Any
    reached: Any

    def rows(self, first: int, count: int, widths: tuple[int, ...]) -> Answers:
        """Return the memory of some problems, given the number of items per problem."""
        return Answers(*(a[w * first : w * (first + count)] for a, w in zip(self, widths, strict=True)))


class Parts:
    """Device functions. The first argument of all but the last four is a card: the data of a chain.

    Attributes:
        key: Identifies what they were made from.
        dtype: Precision of descents.
        step: A step in the descents' precision: maps a pose and a goal to the pose after it and the squared errors
            before.
        exact_step: The same in double precision, with a caution.
        exact_error: Squared errors of a pose, in double precision.
        within: A pose clamped to its limits.
        read: Maps targets, a problem and settings to a goal, whether it is valid, and whether it may be in reach.
        write: Writes the whole pose of a problem's answer, from a chain's values and the start poses.
        refuse: Writes the start pose of a problem.
        ranked: Maps a goal to the narrow table's nearest frames, four to a number, nearest first.
        random_start: Maps settings and limits, seed, problem and start to a random start.
        take: Reads the pose at an index of memory.
        put: Writes a pose to an index of memory.
        given_up: Whether a descent has taken too many steps, or no longer makes progress.
        weight, exact_weight: Weight of a squared rotation error, in the descents' precision and in double.
        caution: The caution of closing in.
        given: Whether each target has its own start.
        asked: Whether position and rotation count.
        ranked_widely: Like `ranked`, from a goal, a table, and the range of its blocks.
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
    """Return the types of the kernels' arguments by name, for a precision of descents; see `cuda.kernel`."""
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
