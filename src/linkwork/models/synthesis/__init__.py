"""Dimensional synthesis: four-bars found from what they are to do.

`path` finds those whose coupler point follows a path, `motion` those whose coupler passes through positions (`dyads`
are what these are made of), `function` those whose rocker turns as a function of the crank.

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

__all__ = ["Design", "Dyads", "FourBar", "dyads", "function", "motion", "path", "spaced"]
