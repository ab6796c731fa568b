"""Dimensional synthesis: mechanisms for a given path, motion, function or stroke.

`path` finds those whose coupler point follows a path, `motion` those whose coupler passes through positions (`dyads`
are what these are made of), `function` those whose rocker turns as a function of the crank, `crank_rocker` those whose
rocker swings with a time ratio. `slider_crank` and `quick_return` have a stroke and a time ratio.

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
