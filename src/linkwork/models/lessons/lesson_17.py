"""Lesson 17: closed loops."""

from __future__ import annotations

import math

from ...explain.mobility import degrees_of_freedom
from ...solvers.closing import close
from ..closed import four_bar, pantograph
from .lesson import Exercise, Lesson


def rocker() -> float:
    """Return the rocker's angle of a four-bar of 0.4, 0.15, 0.35, 0.3 with its crank at 60 degrees [deg]."""
    bars = four_bar(0.4, 0.15, 0.35, 0.3)
    return math.degrees(float(close(bars, bars.pose(crank=math.pi / 3, base="start"), keep=("crank",))[2]))


def stop() -> float:
    """Return the limit of the crank of a four-bar of 0.4, 0.3, 0.25, 0.2, with coupler and rocker in line [deg]."""
    g, a, b, c = 0.4, 0.3, 0.25, 0.2
    return math.degrees(math.acos((a * a + g * g - (b + c) ** 2) / (2.0 * a * g)))


LESSON = Lesson(
    number=17,
    name="loops",
    title="Closed loops",
    section="5.1",
    figures=("four-bar",),
    exercises=(
        Exercise(
            "A four-bar has a ground of 0.4, a crank of 0.15, a coupler of 0.35 and a rocker of 0.3. The crank is at "
            "60 degrees, and the loop is put together as in the stored pose 'start'. At which angle is the rocker?",
            rocker,
            unit="deg",
            tolerance=0.5,
            hint="lw.close with keep=('crank',); or find where two circles meet, about the crank's end and the pivot.",
            why="The crank's end is 0.35 from the pivot, in the direction 158.2°. The triangle's angle there is 64.6°.",
        ),
        Exercise(
            "A pantograph has five links (the board counts) and five revolute joints. How many degrees of freedom does "
            "it have?",
            lambda: float(degrees_of_freedom(pantograph())),
            tolerance=0.1,
            hint="F = 3 (n - 1) - 2 j.",
            why="3·4 - 2·5 = 2: its tracer can go anywhere in the plane, and the pen follows.",
        ),
        Exercise(
            "The crank of a four-bar of 0.4, 0.3, 0.25 and 0.2 (ground, crank, coupler, rocker) cannot make full "
            "turns. At which angle does it stop?",
            stop,
            unit="deg",
            tolerance=0.5,
            hint="Coupler and rocker are in one line, 0.45 long. The law of cosines gives the crank's angle.",
            why="In line, coupler and rocker reach 0.45. Beyond that angle the crank's end is further away.",
        ),
    ),
)
