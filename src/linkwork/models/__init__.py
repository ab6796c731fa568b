"""Ready-made linkages, and the table of them.

To add a model, write one function in a file of this package and add one row to `MODELS` in `catalogue`. The command
line, the gallery and the tests use this table.

    >>> from linkwork import models
    >>> models.build("planar:15,10,5")
    <Linkage 'planar': 4 links, 3 joints, nq=3, nv=3>
    >>> models.motion("engine:4")
    <Clip of 'engine': 49 frames, 2 s>
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import found_later

if TYPE_CHECKING:
    from .animals import quadruped as quadruped, snake as snake
    from .arms import (
        panda as panda,
        planar as planar,
        scara as scara,
        stanford as stanford,
        two_link as two_link,
        ur5 as ur5,
    )
    from .catalogue import CATEGORIES as CATEGORIES, MODELS as MODELS, Model as Model, build as build, motion as motion
    from .classics import bennett as bennett, klann as klann, peaucellier as peaucellier, scissor as scissor
    from .closed import four_bar as four_bar, jansen_leg as jansen_leg, pantograph as pantograph
    from .coupled import (
        cam_follower as cam_follower,
        gear_train as gear_train,
        geneva as geneva,
        planetary as planetary,
        scotch_yoke as scotch_yoke,
    )
    from .hands import hand as hand
    from .humans import human as human
    from .mechanisms import (
        engine as engine,
        engine_pose as engine_pose,
        ferris_wheel as ferris_wheel,
        planets as planets,
        pogo_stick as pogo_stick,
    )
    from .parallel import delta as delta, five_bar as five_bar, stewart as stewart
    from .sliders import quick_return as quick_return, slider_crank as slider_crank

_NAMES = {
    "animals": "quadruped snake",
    "arms": "panda planar scara stanford two_link ur5",
    "catalogue": "CATEGORIES MODELS Model build motion",
    "classics": "bennett klann peaucellier scissor",
    "closed": "four_bar jansen_leg pantograph",
    "coupled": "cam_follower gear_train geneva planetary scotch_yoke",
    "hands": "hand",
    "humans": "human",
    "mechanisms": "engine engine_pose ferris_wheel planets pogo_stick",
    "parallel": "delta five_bar stewart",
    "sliders": "quick_return slider_crank",
}
__all__ = sorted(" ".join(_NAMES.values()).split())
NAMED = frozenset(__all__) - {*_NAMES["catalogue"].split(), "engine_pose"}  # known without importing the catalogue
if not TYPE_CHECKING:
    __getattr__ = found_later(__name__, _NAMES)
