"""The chapter's figures, from the chapter's numbers.

A figure is rows of frames; each row is one motion, 21 frames, the worked example's with one step a frame as the book
made them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import GoalError, NotFoundError, listed
from ..explain.races import RaceResult
from ..goals import Reach
from ..linkage.linkage import Linkage
from ..motion.clips import Clip, interpolate
from ..motion.tracking import track
from ..transforms import FloatArray
from .arms import planar, two_link
from .humans import human

FRAMES = 21
LENGTHS = (15.0, 10.0, 5.0)
START = (math.pi / 8, math.pi / 4, math.pi / 4)
NEAR, FAR = (-20.0, 5.0), (-35.0, 5.0)
LATE = (0, 10, 18, 19, 20)  # the frames that figure 5.21 shows


class FigureNotFoundError(NotFoundError):
    """No figure of that number that is computed: the chapter has none, or one without numbers."""

    def __init__(self, number: object) -> None:
        super().__init__(number, "the chapter", FIGURES)
        what = str(self).partition(" It has ")[0]
        if number in DIAGRAMS:
            what = f"figure {number} of the chapter ({DIAGRAMS[str(number)]}) is a diagram without numbers to compute."
        self.args = (f"{what} Figures that are computed are {listed(self.known)}.",)


@dataclass(frozen=True, eq=False)
class Panel:
    """One row of a figure: a motion, how it was made, and which of its frames are shown.

    Attributes:
        title: What the row shows.
        method: The method that made it, ``"forward"`` for key poses.
        goal: Where the effector should go, or None.
        options: The method's options.
        clip: The motion.
        effector: Name of the frame that should get there.
        shown: Numbers of the frames in the printed row.
    """

    title: str
    method: str
    goal: tuple[float, ...] | None
    options: dict[str, Any]
    clip: Clip
    effector: str
    shown: tuple[int, ...] = (0, 5, 10, 15, 20)

    @property
    def path(self) -> FloatArray:
        """The effector's positions, shape (frames, 2) for a planar arm, else (frames, 3)."""
        points: FloatArray = self.clip.forward(frame=self.effector)[:, :3, 3]
        return points[:, :2] if self.goal is not None and len(self.goal) == 2 else points

    def as_dict(self) -> dict[str, Any]:
        """Return the row as plain numbers, for JSON."""
        return {
            "title": self.title,
            "method": self.method,
            "goal": None if self.goal is None else list(self.goal),
            "options": self.options,
            "poses": self.clip.poses.tolist(),
            "effector": self.path.tolist(),
        }


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of the chapter: its number, what it shows, and its rows."""

    number: str
    caption: str
    panels: tuple[Panel, ...] = ()

    @property
    def title(self) -> str:
        """Number and caption; a picture that is not of the chapter has no number."""
        return f"Figure {self.number}.  {self.caption}" if self.number else self.caption

    def as_dict(self) -> dict[str, Any]:
        """Return the figure as plain numbers, for JSON."""
        return {"figure": self.number, "caption": self.caption, "panels": [panel.as_dict() for panel in self.panels]}


def arm() -> Linkage:
    """Return the worked example's arm: planar, links of 15, 10 and 5."""
    return planar(LENGTHS)


def _row(
    title: str, method: str, goal: tuple[float, float] = NEAR, *, start: Any = START, of: Any = None, **options: Any
) -> Panel:
    """Return one row, by default of the worked example: one step of a method for each of 21 frames along a line."""
    clip = track(
        of or arm(), Reach("tip", position=goal), start=start, frames=FRAMES, method=method, steps=1, **options
    )
    return Panel(title, method, goal, options, clip, "tip")


def _forward_sequence() -> tuple[Panel, ...]:
    clip = interpolate(human(), [(0.0, "stand"), (1.0, "wave")], fps=FRAMES - 1, kind="ease")
    return (Panel("turning a limb's joints, one value each", "forward", None, {}, clip, "right_hand"),)


def _inverse_sequence() -> tuple[Panel, ...]:
    body = human()
    goal = tuple(body.forward("wave", frame="right_hand")[:3, 3].tolist())
    clip = track(body, Reach("right_hand", position=goal), start="stand", frames=FRAMES, method="damped")
    return (Panel("bringing the hand to a place, joints found for it", "damped", goal, {}, clip, "right_hand"),)


def _two_link() -> tuple[Panel, ...]:
    row = partial(_row, method="analytic", goal=(0.9, 1.4), of=two_link(1.5, 1.0), start=(0.2, 0.6))
    return tuple(row(f"elbow {elbow}", elbow=elbow) for elbow in ("down", "up"))


def _changes() -> tuple[Panel, ...]:
    row = _row("axis × (tip − joint): a column of the Jacobian for each", "pseudoinverse")
    return (replace(row, shown=(0, 10, 20)),)


def _singular() -> tuple[Panel, ...]:
    starts = {"fully extended: singular": (0.0, 0.0, 0.0), "nearly extended": (0.0, 0.02, 0.02)}
    return tuple(_row(title, "pseudoinverse", (22.0, 0.0), start=start) for title, start in starts.items())


def _damping(goal: tuple[float, float]) -> tuple[Panel, ...]:
    return (
        _row("(a) pseudoinverse", "pseudoinverse", goal),
        _row("(b) damped least squares, lambda = 5", "damped", goal, damping=5.0),
    )


def _control() -> tuple[Panel, ...]:
    return tuple(
        _row(f"gains {gains}", "control", gains=list(gains), desired=[0.0, 0.0, 0.0])
        for gains in ((0.1, 0.5, 0.1), (0.1, 0.1, 0.5))
    )


FIGURES: dict[str, tuple[str, Callable[[], tuple[Panel, ...]]]] = {
    "5.1": ("Forward kinematics: the joints of a limb are turned.", _forward_sequence),
    "5.2": ("Inverse kinematics: the hand goes to its goal and the joints follow.", _inverse_sequence),
    "5.14": ("A two-link arm reaches a point with its elbow down and up.", _two_link),
    "5.18": ("Instantaneous changes of the tip's position, one for each joint.", _changes),
    "5.19": ("A singular configuration: every joint moves the tip across the way to the goal.", _singular),
    "5.20": ("Pseudoinverse without and with damping, goal within reach.", lambda: _damping(NEAR)),
    "5.21": ("The same, goal out of reach.", lambda: tuple(replace(row, shown=LATE) for row in _damping(FAR))),
    "5.22": ("Control expression: stiffer joints stay straighter.", _control),
    "5.23": ("Alternative Jacobian: the goal is pulled to the tip.", lambda: (_row("alternative", "alternative"),)),
    "5.24": ("Transpose of the Jacobian, with the best-fitting scale.", lambda: (_row("transpose", "transpose"),)),
    "5.25": ("Cyclic coordinate descent.", lambda: (_row("ccd", "ccd"),)),
}


DIAGRAMS = {  # the others, by what they show
    "5.3": "the two basic joints of one degree of freedom",
    "5.4": "complex joints as several simple ones",
    "5.5": "a hierarchy as a tree",
    "5.6": "arc and node",
    "5.7": "a hierarchical model",
    "5.8": "its tree",
    "5.9": "variable rotations at the joints",
    "5.10": "the hierarchy with joint rotations",
    "5.11": "a hierarchy with two appendages",
    "5.12": "its tree",
    "5.13": "pseudocode of forward kinematics",
    "5.15": "formulas of the two-link arm",
    "5.16": "velocities that a joint's rotation induces",
    "5.17": "a planar arm of three joints; it is that of 5.18",
}


def figure(number: str) -> Figure:
    """Return a figure of the chapter, computed.

    Example:
        >>> import numpy as np
        >>> figure("5.20").panels[0].clip.poses[-1].round(4).tolist()
        [2.1311, 1.371, 0.6588]
    """
    if number not in FIGURES:
        raise FigureNotFoundError(number)
    caption, make = FIGURES[number]
    return Figure(number, caption, make())


def of_race(laps: Sequence[RaceResult]) -> Figure:
    """Return a race as rows of frames: for each method that served, five iterations from its first to its last."""
    panels = []
    for lap in laps:
        if lap.solution is None:
            continue
        poses, reached = lap.poses, "reached" if lap.solution.success else lap.solution.status
        goal = next(goal for goal in lap.solution.goals if isinstance(goal, Reach))
        place = None if goal.position is None else tuple(goal.position.tolist())
        clip = Clip(lap.solution.linkage, np.arange(len(poses), dtype=np.float64), poses)
        shown = tuple(sorted({round(k) for k in np.linspace(0, len(poses) - 1, 5).tolist()}))
        title = f"{lap.method}: {reached}, {lap.solution.iterations} iterations"
        panels.append(Panel(title, lap.method, place, {}, clip, goal.frame, shown))
    if not panels:
        raise GoalError("no method of this race serves its goal; there is nothing to show.")
    return Figure("", "The same problem by every method, from its first iteration to its last.", tuple(panels))


def largest_step(clip: Clip) -> float:
    """Return the largest change of one joint value from one frame to the next."""
    return float(np.abs(clip.linkage.difference(clip.poses[:-1], clip.poses[1:])).max())
