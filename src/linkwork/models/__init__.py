"""Ready-made linkages, written from facts and dimensions, and the table of them.

A new model is one function in a file of this package and one row of `MODELS` in `catalogue`, which the command line,
the gallery and the tests go through.

    >>> from linkwork import models
    >>> models.build("planar:15,10,5")
    <Linkage 'planar': 4 links, 3 joints, nq=3, nv=3>
    >>> models.motion("engine:4")
    <Clip of 'engine': 49 frames, 2 s>
"""

from __future__ import annotations

from .animals import quadruped, snake
from .arms import panda, planar, scara, stanford, two_link, ur5
from .catalogue import CATEGORIES, MODELS, Model, build, motion
from .classics import bennett, klann, peaucellier, scissor
from .closed import four_bar, jansen_leg, pantograph
from .coupled import cam_follower, gear_train, geneva, planetary, scotch_yoke
from .hands import hand
from .humans import human
from .mechanisms import engine, engine_pose, ferris_wheel, planets, pogo_stick
from .parallel import delta, five_bar, stewart
from .sliders import quick_return, slider_crank

__all__ = [
    "CATEGORIES",
    "MODELS",
    "Model",
    "bennett",
    "build",
    "cam_follower",
    "delta",
    "engine",
    "engine_pose",
    "ferris_wheel",
    "five_bar",
    "four_bar",
    "gear_train",
    "geneva",
    "hand",
    "human",
    "jansen_leg",
    "klann",
    "motion",
    "panda",
    "pantograph",
    "peaucellier",
    "planar",
    "planetary",
    "planets",
    "pogo_stick",
    "quadruped",
    "quick_return",
    "scara",
    "scissor",
    "scotch_yoke",
    "slider_crank",
    "snake",
    "stanford",
    "stewart",
    "two_link",
    "ur5",
]
