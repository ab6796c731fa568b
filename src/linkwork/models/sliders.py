"""Mechanisms with sliders in the xy plane: the slider-crank and the quick return of a shaper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import LinkageError
from ..linkage.builder import Builder
from ..linkage.geometry import Cylinder, Visual, bone
from ..linkage.linkage import Linkage
from ..transforms import is_number
from .closed import bar, direction, pins, unit
from .parts import BLUE, GREEN, ORANGE, SILVER, SKY, STEEL, box, checked_size


def slider_crank(crank: Any = 0.15, rod: Any = 0.4, offset: Any = 0.0) -> Linkage:
    """Return a slider-crank: a crank at the origin, a rod, and a slider on a line along x.

    Joints ``crank``, ``rod`` and ``slide``. With crank r at angle t, rod l and offset e, the slider is at
    ``r cos(t) + sqrt(l² - (r sin(t) - e)²)``. Frame ``"pin"`` is on the slider.

    Args:
        crank: Length of the crank [m].
        rod: Length of the rod.
        offset: Distance of the slider's line above the crank's pivot.

    Example:
        >>> import linkwork as lw
        >>> pump = slider_crank(0.1, 0.3)
        >>> [round(one.value, 3) for one in lw.singular_positions(pump, "slide", start="start")]
        [0.2, 0.4]
    """
    r, length = checked_size(crank, "the crank of a slider-crank"), checked_size(rod, "the rod of a slider-crank")
    if not is_number(offset) or not math.isfinite(offset):
        raise LinkageError(f"the offset of a slider-crank must be a finite number, got {offset!r}.")
    if length <= r + abs(offset):
        raise LinkageError(
            f"a slider-crank with a crank of {r:g}, a rod of {length:g} and an offset of {offset:g} m cannot be turned "
            f"all the way round: its rod must be longer than crank and offset together."
        )
    e, radius = float(offset), 0.03 * r + 0.01 * length
    far = r + length
    guide = bone((0.0, e, 0), (far, e, 0), 0.5 * radius, SILVER)
    build = Builder("slider_crank", base="ground", shape=[*pins([(0, 0)], 1.5 * radius), guide])
    build.continuous("crank", "crank", shape=bar((r, 0), ORANGE, radius))
    build.continuous("rod", "rod", at=(r, 0, 0), shape=bar((length, 0), BLUE, radius)).frame(
        "rod_end", at=(length, 0, 0)
    )
    block = [box((8.0 * radius, 5.0 * radius, 3.0 * radius), (0, 0, 0), SKY), *pins([(0, 0)], radius)]
    build.prismatic("slide", "slider", axis="x", parent="ground", at=(0, e, 0), shape=block).frame("pin")
    build.loop("pin", "rod_end", "pin")
    for name, angle in (("start", 1.0), ("back", 2.6)):
        pin = r * unit(angle)
        slide = float(pin[0]) + math.sqrt(length**2 - (pin[1] - e) ** 2)
        build.pose(name, crank=angle, rod=direction(np.array([slide, e]) - pin) - angle, slide=slide)
    return build.build()


def quick_return(ground: Any = 0.3, crank: Any = 0.12, lever: Any = 0.6) -> Linkage:
    """Return the quick return of a shaper: a crank's pin slides along a lever and swings it.

    The lever's pivot is below the crank's. With a crank shorter than the ground, the lever swings by ``2 asin(crank /
    ground)``, slowly while the pin is above and quickly while it is below; with a longer one it turns all the way round
    (Whitworth). Joints ``crank``, ``lever`` and ``slide``; frame ``"tip"`` is the lever's end.

    Args:
        ground: Distance of the two pivots [m].
        crank: Length of the crank.
        lever: Length of the lever.

    Example:
        >>> import linkwork as lw
        >>> shaper = quick_return(0.2, 0.1)
        >>> ends = [one.value for one in lw.singular_positions(shaper, "lever", start="start")]
        >>> round(float(np.degrees(ends[1] - ends[0])), 3)
        60.0
    """
    given = {"ground": ground, "crank": crank, "lever": lever}
    g, r, length = (checked_size(size, f"the {name} of a quick return") for name, size in given.items())
    if math.isclose(g, r, rel_tol=1e-9):
        raise LinkageError(
            f"a quick return with a crank as long as its ground, {g:g} m, slides its block onto the pivot."
        )
    radius = 0.02 * length
    base = [*pins([(0, 0), (0, -g)], 1.5 * radius), bone((0, 0, 0), (0, -g, 0), 0.5 * radius, SILVER)]
    build = Builder("quick_return", base="ground", shape=base)
    build.continuous("crank", "crank", shape=bar((r, 0), ORANGE, radius)).frame("crank_pin", at=(r, 0, 0))
    build.continuous("lever", "lever", parent="ground", at=(0, -g, 0), shape=bar((length, 0), GREEN, radius))
    build.frame("tip", at=(length, 0, 0))
    block = [box((6.0 * radius, 4.0 * radius, 3.0 * radius), (0, 0, 0), STEEL), Visual(Cylinder(radius, 4.0 * radius))]
    build.prismatic("slide", "block", axis="x", parent="lever", shape=block).frame("center")
    build.loop("pin", "crank_pin", "center")
    for name, angle in (("start", 0.5), ("low", -1.2)):
        way = r * unit(angle) + (0.0, g)
        build.pose(name, crank=angle, lever=direction(way), slide=float(np.hypot(*way)))
    return build.build()
