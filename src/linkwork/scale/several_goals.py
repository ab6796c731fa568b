"""Goals of a dataset with several per row: those with target columns, and those that are the same in all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..errors import GoalError, listed
from ..goals import Avoid, Goal
from ..transforms import FloatArray
from .engine import avoid_facts


@dataclass(frozen=True)
class SeveralGoals:
    """The goals of a dataset with several goals per row.

    Attributes:
        asked: Frames by name, or goals with a frame, whose targets are in columns.
        also: Goals that are the same in all rows.
    """

    asked: tuple[str | Goal, ...]
    also: tuple[Goal, ...]

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames whose names columns begin with."""
        return tuple(one if isinstance(one, str) else one.__dict__["frame"] for one in self.asked)

    def keyed(self, targets: Mapping[str, FloatArray]) -> dict[str | Goal, FloatArray]:
        """Return arrays by frame, or by goal if one was given in place of a frame, for `solve_batch`."""
        return {one: targets[frame] for one, frame in zip(self.asked, self.frames, strict=True)}

    def facts(self) -> dict[str, Any]:
        """Return the settings that determine the answers, as plain data."""
        asked = [one if isinstance(one, str) else goal_facts(one) for one in self.asked]
        return {"frame": asked, "also": [goal_facts(goal) for goal in self.also]}


def several_goals(asked: Sequence[str | Goal], also: Sequence[Goal]) -> SeveralGoals:
    """Return the goals of a dataset; raise GoalError if they are invalid."""
    wrong = [one for one in asked if not (isinstance(one, str) or isinstance(getattr(one, "frame", None), str))]
    if wrong or not asked:
        what = "nothing" if not asked else repr(wrong[0])
        raise GoalError(f"frame lists frame names, or goals that have a frame, got {what}; pass other goals as also=.")
    if isinstance(also, Goal) or not all(isinstance(goal, Goal) for goal in also):
        raise GoalError(f"also is a list of goals such as [Balance()], got {also!r}.")
    found = SeveralGoals(tuple(asked), tuple(also))
    if len({*found.frames}) < len(found.frames):
        raise GoalError(
            f"each goal of a row needs a frame of its own, but one is there twice: {listed(found.frames)}; add a frame "
            "with another name, linkage.add_frame(...)."
        )
    return found


def goal_facts(goal: Goal) -> dict[str, Any]:
    """Return an identifier of a goal, as plain data."""
    if isinstance(goal, Avoid):
        return {"kind": "Avoid", **avoid_facts(goal)}
    names = {*(one.name for one in fields(goal)), *type(goal).__annotations__}
    return {"kind": type(goal).__name__, **{name: _plain(getattr(goal, name, None)) for name in sorted(names)}}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | None) else repr(value)
