"""The chapter's figures, from the chapter's numbers.

A figure consists of rows of frames, diagrams, or both. Each row is one motion of 21 frames; the worked example's rows
have one step per frame, as in the book. Diagrams are linkages with marks, trees, code and formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...errors import GoalError, NotFoundError, listed
from ...explain.races import RaceResult
from ...goals import Reach
from ...motion.clips import Clip, interpolate
from ...motion.tracking import track
from ...transforms import FloatArray
from ..arms import two_link
from ..humans import human
from . import hierarchies, linkages, reaching
from .diagrams import (
    Angle,
    Arrow,
    Axes,
    Diagram,
    Formulas,
    Length,
    Listing,
    Mark,
    Plate,
    RightAngle,
    Ring,
    Spot,
    Stack,
    Tree,
    TreeNode,
    hierarchy,
)  # fmt: skip
from .linkages import FAR, LENGTHS, NEAR, START, arm

__all__ = [
    "FAR",
    "FIGURES",
    "FRAMES",
    "LENGTHS",
    "NEAR",
    "START",
    "Angle",
    "Arrow",
    "Axes",
    "Diagram",
    "Entry",
    "Figure",
    "FigureNotFoundError",
    "Formulas",
    "Length",
    "Listing",
    "Mark",
    "Panel",
    "Plate",
    "RightAngle",
    "Ring",
    "Spot",
    "Stack",
    "Tree",
    "TreeNode",
    "arm",
    "figure",
    "hierarchy",
    "largest_step",
    "of_race",
]

FRAMES = 21
RAISED, BENT = np.radians([-75.0, 70.0]).tolist()
HAND = (0.55, -0.12, 1.5)  # goal of the hand in figure 5.2
VIEW = (12.0, -48.0)
LATE = (0, 10, 18, 19, 20)  # the frames that figure 5.21 shows


class FigureNotFoundError(NotFoundError):
    """The chapter has no figure of that number."""

    def __init__(self, number: object) -> None:
        super().__init__(number, "the chapter", FIGURES)
        what = str(self).partition(" It has ")[0]
        self.args = (f"{what} Its figures are {listed(self.known)}.",)


@dataclass(frozen=True, eq=False)
class Panel:
    """One row of a figure: a motion, how it was made, and which of its frames are shown.

    Attributes:
        title: Title of the row.
        method: Name of the method that made it, ``"forward"`` for key poses.
        goal: Target position of the effector, or None.
        options: The method's options.
        clip: The motion.
        effector: Name of the frame that should reach the goal.
        shown: Indices of the frames in the printed row.
        view: Camera for a linkage in space, elevation and azimuth [deg].
        notes: Texts below these frames, if any.
        marks: Marks drawn over the first of these frames.
    """

    title: str
    method: str
    goal: tuple[float, ...] | None
    options: dict[str, Any]
    clip: Clip
    effector: str
    shown: tuple[int, ...] = (0, 5, 10, 15, 20)
    view: tuple[float, float] | None = None
    notes: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()

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
    """A figure of the chapter.

    Attributes:
        number: Its number, such as ``"5.20"``; empty for a picture that is not from the chapter.
        caption: Its caption.
        panels: Rows of frames: the motion of the figure, if it has one.
        plates: Rows of diagrams; if there are any, they are drawn instead of the frames.
    """

    number: str
    caption: str
    panels: tuple[Panel, ...] = ()
    plates: tuple[tuple[Plate, ...], ...] = ()

    @property
    def title(self) -> str:
        """Number and caption; a picture that is not from the chapter has no number."""
        return f"Figure {self.number}.  {self.caption}" if self.number else self.caption

    def as_dict(self) -> dict[str, Any]:
        """Return the figure as plain numbers, for JSON."""
        plates = [plate.as_dict() for row in self.plates for plate in row]
        panels = [panel.as_dict() for panel in self.panels]
        return {"figure": self.number, "caption": self.caption, "panels": panels, "diagrams": plates}


@dataclass(frozen=True)
class Entry:
    """A row of `FIGURES`: the caption, the function for the motion, and the function for the diagrams."""

    caption: str
    panels: Callable[[], tuple[Panel, ...]] | None = None
    plates: Callable[[], tuple[tuple[Plate, ...], ...]] | None = None


def _row(
    title: str, method: str, goal: tuple[float, float] = NEAR, *, start: Any = START, of: Any = None, **options: Any
) -> Panel:
    """Return one row, by default of the worked example: one step of a method in each of 21 frames."""
    clip = track(
        of or arm(), Reach("tip", position=goal), start=start, frames=FRAMES, method=method, steps=1, **options
    )
    marks = reaching.lengths(clip.linkage, clip.poses[0]) if of is None else ()
    return Panel(title, method, goal, options, clip, "tip", marks=marks)


def _forward_sequence() -> tuple[Panel, ...]:
    """Return a row in which a limb is posed joint by joint: first the shoulder, then the elbow."""
    body = human()
    raised = body.pose({"right_shoulder.ry": RAISED, "right_shoulder.rx": 0.0}, base="stand")
    bent = body.pose({"right_elbow": BENT}, base=raised)
    clip = interpolate(body, [(0.0, "stand"), (0.5, raised), (1.0, bent)], fps=FRAMES - 1, kind="ease")
    row = Panel("the animator turns the shoulder, then the elbow", "forward", None, {}, clip, "right_hand", view=VIEW)
    places = [body.coordinates.index(name) for name in ("right_shoulder.ry", "right_elbow")]
    angles = np.abs(np.degrees(clip.poses[list(row.shown)][:, places])).round().astype(int).tolist()
    return (replace(row, notes=tuple(f"shoulder {first}°\nelbow {second}°" for first, second in angles)),)


def _inverse_sequence() -> tuple[Panel, ...]:
    """Return a row in which the hand of the same limb moves to a goal; all other joints keep their values."""
    body = linkages.human_arm()
    clip = track(body, Reach("right_hand", position=HAND), start="stand", frames=FRAMES, method="damped")
    row = Panel(
        "the hand goes to the cross, its joints are solved for", "damped", HAND, {}, clip, "right_hand", view=VIEW
    )
    left = np.linalg.norm(row.path[list(row.shown)] - HAND, axis=1)
    return (replace(row, notes=tuple(f"{100.0 * one:.0f} cm to go" for one in left)),)


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
        _row("(b) damped least squares, λ = 5", "damped", goal, damping=5.0),
    )


def _control() -> tuple[Panel, ...]:
    """Return two rows that differ in which joint has the larger gain, with the angles of both joints."""
    rows = []
    for gains in ((0.1, 0.5, 0.1), (0.1, 0.1, 0.5)):
        row = _row(f"gains {gains}", "control", gains=list(gains), desired=[0.0, 0.0, 0.0])
        angles = np.degrees(row.clip.poses[list(row.shown), 1:]).round().astype(int).tolist()
        rows.append(replace(row, notes=tuple(f"θ₂ = {second}°,  θ₃ = {third}°" for second, third in angles)))
    return tuple(rows)


def _out_of_reach() -> tuple[Panel, ...]:
    """Return the rows of figure 5.20 with a goal out of reach, and the largest change of a joint between frames."""
    rows = []
    for row in _damping(FAR):
        turns = np.degrees(np.abs(np.diff(row.clip.poses, axis=0)).max(axis=1)).round().astype(int).tolist()
        notes = tuple(f"turned by {turns[k - 1]}°" if k else "" for k in LATE)
        rows.append(replace(row, shown=LATE, notes=notes))
    return tuple(rows)


FIGURES: dict[str, Entry] = {
    "5.1": Entry("Forward kinematics: the joints of a limb are turned.", _forward_sequence),
    "5.2": Entry("Inverse kinematics: the hand goes to its goal and the joints follow.", _inverse_sequence),
    "5.3": Entry("Two joints of one degree of freedom.", None, hierarchies.one_degree),
    "5.4": Entry("Joints of several degrees of freedom.", None, hierarchies.several_degrees),
    "5.5": Entry("A figure and the tree of its hierarchy.", None, hierarchies.figure_and_tree),
    "5.6": Entry("What an arc holds and what a node holds.", None, hierarchies.arc_and_node),
    "5.7": Entry("A hierarchical model: each link is placed relative to another.", None, hierarchies.three_links),
    "5.8": Entry("The tree of figure 5.7, and where a vertex of each link is.", None, hierarchies.tree_at_rest),
    "5.9": Entry("Rotations at the joints.", None, hierarchies.turned),
    "5.10": Entry("The tree with the rotations of figure 5.9 at its arcs.", None, hierarchies.tree_with_rotations),
    "5.11": Entry("A hierarchy with two appendages.", None, hierarchies.two_appendages),
    "5.12": Entry("The tree of figure 5.11 branches at its root node.", None, hierarchies.branching_tree),
    "5.13": Entry("Forward kinematics: the tree is walked depth first.", None, hierarchies.listing),
    "5.14": Entry("A two-link arm, and what it can reach.", _two_link, reaching.two_links),
    "5.15": Entry("The two-link arm solved by analysis.", None, reaching.analysis),
    "5.16": Entry("Velocities that a joint gives to the end effector.", None, reaching.induced_velocities),
    "5.17": Entry("A planar arm of three joints.", None, reaching.three_joints),
    "5.18": Entry("Instantaneous changes of position, one for each joint.", _changes, reaching.changes),
    "5.19": Entry(
        "A singular configuration: every joint moves the end effector across the way to the goal.",
        _singular,
        reaching.singular,
    ),
    "5.20": Entry("Pseudoinverse without and with damping, goal within reach.", lambda: _damping(NEAR)),
    "5.21": Entry("Goal out of reach: how far a joint turns in one frame.", _out_of_reach),
    "5.22": Entry("Control expression: stiffer joints stay straighter.", _control),
    "5.23": Entry(
        "Alternative Jacobian: the goal is pulled to the end effector.",
        lambda: (_row("alternative Jacobian", "alternative"),),
    ),
    "5.24": Entry(
        "Transpose of the Jacobian, with the best-fitting scale.",
        lambda: (_row("transpose of the Jacobian", "transpose"),),
    ),
    "5.25": Entry("Cyclic coordinate descent.", lambda: (_row("cyclic coordinate descent", "ccd"),)),
}


def figure(number: str) -> Figure:
    """Return a figure of the chapter, computed.

    Args:
        number: Number of the figure, such as ``"5.20"``.

    Raises:
        FigureNotFoundError: If the chapter has no figure of that number.

    Example:
        >>> import numpy as np
        >>> figure("5.20").panels[0].clip.poses[-1].round(4).tolist()
        [2.1311, 1.371, 0.6588]
    """
    if number not in FIGURES:
        raise FigureNotFoundError(number)
    entry = FIGURES[number]
    panels = () if entry.panels is None else entry.panels()
    plates = () if entry.plates is None else entry.plates()
    return Figure(number, entry.caption, panels, plates)


def of_race(laps: Sequence[RaceResult]) -> Figure:
    """Return a race as rows of frames: for each method with a solution, five iterations from first to last."""
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
        raise GoalError("no method of this race supports its goal, so there is nothing to show.")
    return Figure("", "The same problem by every method, from its first iteration to its last.", tuple(panels))


def largest_step(clip: Clip) -> float:
    """Return the largest change of one joint value from one frame to the next [rad, m]."""
    return float(np.abs(clip.linkage.difference(clip.poses[:-1], clip.poses[1:])).max())
