"""Feet and the ground: which frames are feet, where the ground is, when a foot is planted, and what goes wrong there.

Imports `contacts`, `findings` and what stands before them. The ground is a height along the world's z axis.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import OptionError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from . import root_motion as roots
from .checks import Finding, extent, runs
from .clips import Clip
from .contacts import Mask, Thresholds, find_contacts, ground_level

FOOT = re.compile(r"foot|feet|sole|toe|ankle", re.IGNORECASE)
# A foot stands while it is as low and as slow as this, in sizes of the figure. It leaves at once and no gap is closed,
# so that neither the first centimetres of a step nor the noise of a recording are slides.
STANDING = Thresholds(height=0.03, leave_height=0.03, speed=0.15, leave_speed=0.15, gap=0.0)
LOWER = 5.0  # of the frames, how many a foot may be below the ground in [%]
SLIDE, DEPTH = 0.012, 0.012  # what is let pass, in sizes of the figure: 2 cm for a person


def feet_of(linkage: Linkage) -> tuple[str, ...]:
    """Return the frames whose names say that they are feet, or parts of them."""
    return tuple(name for name in linkage.frames if FOOT.search(name))


def planted(clip: Clip, foot: str) -> Mask:
    """Return in which frames a foot stands: about as low as it gets, and slow, for a while."""
    places = clip.forward(frame=foot)[:, :3, 3]
    ground = ground_level(places[:, 2], LOWER)
    return find_contacts(places, clip.times, leg=extent(clip), ground=ground, rules=STANDING)


def slides(clip: Clip, feet: Sequence[str], allowed: float | None) -> list[Finding]:
    """Return planted feet that move along the ground by more than is allowed."""
    found = []
    most_allowed = SLIDE * extent(clip) if allowed is None else allowed
    for foot in feet:
        places = clip.forward(frame=foot)[:, :2, 3]
        for first, last in runs(planted(clip, foot)):
            away = np.linalg.norm(places[first : last + 1] - np.median(places[first : last + 1], axis=0), axis=1)
            if away.max() > most_allowed:
                text = f"{foot} is planted and slides up to {away.max():.3g} m from its place."
                found.append(Finding("slide", first, last, foot, float(away.max()), "m", text))
    return found


def below(clip: Clip, ground: float, allowed: float | None) -> list[Finding]:
    """Return links that are below the ground by more than is allowed."""
    found, linkage = [], clip.linkage
    depth = DEPTH * extent(clip) if allowed is None else allowed
    heights = clip.forward().array[..., 2, 3]
    for k, name in enumerate(linkage.frames):
        under: FloatArray = ground - heights[:, k]
        for first, last in runs(under > depth):
            most = float(under[first : last + 1].max())
            text = f"{name} is up to {most:.3g} m below the ground at {ground:.3g} m."
            found.append(Finding("ground", first, last, name, most, "m", text))
    return found


def settled(clip: Clip, ground: Any, feet: Any) -> tuple[float | None, tuple[str, ...]]:
    """Return the ground's height and the feet that a report should look at, None and none where there are none.

    Without being told, only a linkage whose root floats is thought to walk; the ground is where its feet are lowest.
    """
    if feet is None:
        names = feet_of(clip.linkage) if roots.floats(clip.linkage) else ()
    else:
        names = (feet,) if isinstance(feet, str) else tuple(feet)
        for name in names:
            clip.linkage.frame_index(name)
    if ground is None:
        return min((ground_level(clip.forward(frame=name)[:, 2, 3], LOWER) for name in names), default=None), names
    if isinstance(ground, bool) or not isinstance(ground, int | float | np.number) or not np.isfinite(ground):
        raise OptionError(f"the ground is a height in metres, got {ground!r}.")
    return float(ground), names
