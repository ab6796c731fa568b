"""The option ``solve --all``: every pose that reaches a goal, and whether there may be others."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ..errors import OptionError, listed
from .console import print_columns, print_json

if TYPE_CHECKING:
    from ..explain.all_solutions import Branches
    from ..linkage.linkage import Linkage

TAKEN = ("joints", "limits", "seed", "avoid")  # options of a solve that also apply to --all
Form = Literal["json", "csv", "text"]


def find_all(
    linkage: Linkage, problems: Sequence[Sequence[Any]], start: Any, settings: Mapping[str, Any], *, windings: bool
) -> list[Branches]:
    """Return all solutions of every goal; options that do not apply are refused."""
    from ..explain.all_solutions import solve_all

    strange = [name for name in settings if name not in TAKEN]
    if strange:
        raise OptionError(f"--all does not take the options {listed(strange)}")
    if any(len(goals) != 1 for goals in problems):
        raise OptionError("--all solves one goal at a time; a nested list holds goals to be reached together")
    return [solve_all(linkage, goal, start=start, windings=windings, **settings) for (goal,) in problems]


def all_data(branches: Branches) -> dict[str, Any]:
    """Return all solutions of a goal as plain data."""
    names = branches.linkage.coordinates
    return {
        "frame": branches.goal.frame,
        "count": len(branches),
        "complete": branches.complete,
        "family": branches.family or None,
        "evidence": branches.evidence,
        "dimension": branches.dimension,
        "starts": branches.starts,
        "dropped": branches.dropped,
        "curves": [
            {"length": curve.length, "closed": curve.closed, "begins": curve.ends[0], "ends": curve.ends[1]}
            for curve in branches.curves
        ],
        "solutions": [
            {"pose": dict(zip(names, q, strict=True)), "double": double}
            for q, double in zip(branches.q.tolist(), branches.doubles.tolist(), strict=True)
        ],
    }


def print_all(found: Sequence[Branches], many: bool, form: Form) -> None:
    """Print all solutions of goals."""
    if form == "json":
        results = [all_data(branches) for branches in found]
        print_json(results if many else results[0])
    elif form == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows(_rows(found))
    else:
        for k, branches in enumerate(found):
            print(f"{f'goal {k}: ' * many}{in_words(branches)}")
            for number, curve in enumerate(branches.curves):
                ends = "closed" if curve.closed else f"from {curve.ends[0]} to {curve.ends[1]}"
                print(f"curve {number}: {curve.length:.3g} rad, {ends}")
            if len(branches):
                titles = ("", *branches.linkage.coordinates)
                rows = [(str(i), *(f"{x:.6g}" for x in q)) for i, q in enumerate(branches.q.tolist())]
                print_columns([titles, *rows])


def in_words(branches: Branches) -> str:
    """Return the number of solutions in words, and whether they are proven to be all."""
    count = f"{len(branches)} solution{'s' * (len(branches) != 1)}" if len(branches) else "no solution"
    if branches.dimension > 0:
        count = f"{len(branches)} samples of a {branches.dimension}-dimensional set of solutions"
    if branches.curves:
        count = (
            f"{len(branches)} samples of {len(branches.curves)} curve{'s' * (len(branches.curves) != 1)} of solutions"
        )
    doubles = int(branches.doubles.sum())
    told = f", {doubles} of them next to a singular pose" if doubles else ""
    if branches.dropped and not branches.curves:
        told += f"; {branches.dropped} more collide{'s' * (branches.dropped == 1)}"
    if branches.complete:
        why = "" if branches.evidence is None else f" ({branches.evidence})"
        return f"{count}{told}; proven, by the closed form of the family {branches.family!r}{why}"
    if branches.proof and not branches.starts:
        return f"{count}{told}; {branches.proof}"
    return f"{count}{told}; found from {branches.starts} starts, others cannot be excluded"


def _rows(found: Sequence[Branches]) -> Iterator[list[Any]]:
    """Yield the rows of a table of all solutions, titles first."""
    yield ["goal", "solution", "complete", *found[0].linkage.coordinates]
    for k, branches in enumerate(found):
        for i, q in enumerate(branches.q.tolist()):
            yield [k, i, str(branches.complete).lower(), *q]
