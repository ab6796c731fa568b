"""Dimensional synthesis: mechanisms for a given path, motion, function or stroke.

`path` finds four-bars whose coupler point follows a path, `motion` those whose coupler passes through positions (built
from `dyads`), `function` those whose rocker angle is a function of the crank angle, and `crank_rocker` those with a
given swing and time ratio. `slider_crank` and `quick_return` find mechanisms with a given stroke and time ratio.

    >>> import numpy as np
    >>> import linkwork as lw
    >>> watt = lw.synthesis.path([[0, 0], [0, 1], [0, 2], [0, 3], [0, 4]])[0]
    >>> watt.linkage.joints
    ('crank', 'coupler', 'rocker')
"""

from __future__ import annotations

from .designs import Design
from .four_bars import FourBar
from .function import function, spaced
from .motion import Dyads, dyads, motion
from .path import path
from .strokes import QuickReturn, SliderCrank, quick_return, slider_crank
from .swings import crank_rocker

__all__ = [
    "Design",
    "Dyads",
    "FourBar",
    "QuickReturn",
    "SliderCrank",
    "crank_rocker",
    "dyads",
    "function",
    "motion",
    "path",
    "quick_return",
    "slider_crank",
    "spaced",
]
