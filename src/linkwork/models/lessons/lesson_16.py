"""Lesson 16: whole bodies."""

from __future__ import annotations

from ...goals import Balance, Hold, Reach
from ...solvers import solve
from ..arms import planar
from ..humans import human
from .lesson import Exercise, Lesson

SOLES = ("left_heel", "left_ball", "right_heel", "right_ball")


def freedom() -> float:
    """Return the number of degrees of freedom of a floating human with two held feet."""
    return float(human(root="floating").nv - 2 * 6)


def short_by() -> float:
    """Return the distance of a hand from a goal too far ahead, if feet and balance have priority [cm]."""
    body = human(root="floating")
    first = [Hold("left_foot"), Hold("right_foot"), Balance(over=SOLES)]
    hand = Reach("right_hand", position=(1.2, -0.25, 1.2), priority=1)
    return 100.0 * float(solve(body, [*first, hand], start="stand").residuals[-1])


def compromise() -> float:
    """Return the least-squares x of a tip with two goals of weights 1 and 3."""
    arm = planar([15, 10, 5])
    pulls = [Reach("tip", position=(10.0, 10.0)), Reach("tip", position=(20.0, 10.0), weight=3.0)]
    return float(arm.forward(solve(arm, pulls, start=[0.3, 0.5, 0.5]).q, frame="tip")[0, 3])


LESSON = Lesson(
    number=16,
    name="bodies",
    title="Whole bodies",
    section="5.3",
    figures=("body-goals",),
    exercises=(
        Exercise(
            "lw.models.human(root='floating') has 55 degrees of freedom. Both feet are held, in position and "
            "orientation. How many are left?",
            freedom,
            tolerance=0.1,
            hint="A frame held in space costs 3 for its position and 3 for its orientation.",
            why="55 - 2·6 = 43. All other motion of the body uses these.",
        ),
        Exercise(
            "A standing human is to bring its right hand to (1.2, -0.25, 1.2). Feet and balance are on the first "
            "level, as in the lesson, the hand is on the second. How many centimetres is the hand short?",
            short_by,
            unit="cm",
            tolerance=0.5,
            hint="Take the function goals of the lesson with priority=1, and look at the last entry of residuals.",
            why="The body leans as far as its balance allows. On one level it would have come nearer, and fallen.",
        ),
        Exercise(
            "Two goals pull at one tip: (10, 10) with weight 1 and (20, 10) with weight 3. At which x does it end up?",
            compromise,
            unit="m",
            tolerance=0.05,
            hint="Make (x - 10)² + (3 (x - 20))² smallest. Weights count squared.",
            why="The derivative 2 (x - 10) + 18 (x - 20) is zero at x = 19: a tenth of the way back.",
        ),
    ),
)
