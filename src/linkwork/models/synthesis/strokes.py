"""Synthesis by stroke and time ratio: slider-cranks, and the quick return of a shaper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import GoalError
from ...linkage.linkage import Linkage
from ...transforms import FloatArray
from .. import sliders
from .time_ratio import EVEN, LONGEST, checked_length, imbalance, least

ON_LEVER = 0.9  # default fraction of the lever that the block reaches


@dataclass(frozen=True)
class SliderCrank:
    """A slider-crank that synthesis found.

    Attributes:
        crank: Length of the crank [m].
        rod: Length of the rod [m].
        offset: Distance of the slider's line from the crank's pivot [m].

    Example:
        >>> design = slider_crank(0.1, 1.2)
        >>> round(design.stroke, 9), round(design.ratio, 9)
        (0.1, 1.2)
    """

    crank: float
    rod: float
    offset: float

    @property
    def stroke(self) -> float:
        """Stroke of the slider [m]."""
        far, near = (math.sqrt(reach**2 - self.offset**2) for reach in self._reaches)
        return far - near

    @property
    def ratio(self) -> float:
        """Time ratio: duration of the slow stroke over that of the quick one."""
        far, near = (math.asin(self.offset / reach) for reach in self._reaches)
        return (math.pi + near - far) / (math.pi - near + far)

    @property
    def transmission(self) -> float:
        """Smallest transmission angle, between the rod and the normal of the slider's line [rad]."""
        return math.acos((self.crank + self.offset) / self.rod)

    @property
    def _reaches(self) -> tuple[float, float]:
        return self.rod + self.crank, self.rod - self.crank

    @cached_property
    def linkage(self) -> Linkage:
        """The design as a linkage, as from `linkwork.models.slider_crank`."""
        return sliders.slider_crank(self.crank, self.rod, self.offset)

    def __str__(self) -> str:
        text = f"slider-crank: crank {self.crank:.4g}, rod {self.rod:.4g}, offset {self.offset:.4g} m; stroke "
        text += f"{self.stroke:.4g} m, time ratio {self.ratio:.4g}; transmission angle at least "
        return text + f"{math.degrees(self.transmission):.0f} degrees"


@dataclass(frozen=True)
class QuickReturn:
    """A quick return with a slotted lever that synthesis found.

    Attributes:
        ground: Distance of the pivots of crank and lever [m].
        crank: Length of the crank [m].
        lever: Length of the lever [m].
    """

    ground: float
    crank: float
    lever: float

    @property
    def swing(self) -> float:
        """Angle by which the lever swings [rad]."""
        return 2.0 * math.asin(self.crank / self.ground)

    @property
    def stroke(self) -> float:
        """Distance between the two end positions of the lever's tip [m]."""
        return 2.0 * self.lever * math.sin(self.swing / 2.0)

    @property
    def ratio(self) -> float:
        """Time ratio: duration of the slow stroke over that of the quick one."""
        return (math.pi + self.swing) / (math.pi - self.swing)

    @cached_property
    def linkage(self) -> Linkage:
        """The design as a linkage, as from `linkwork.models.quick_return`."""
        return sliders.quick_return(self.ground, self.crank, self.lever)

    def __str__(self) -> str:
        text = f"quick return: ground {self.ground:.4g}, crank {self.crank:.4g}, lever {self.lever:.4g} m; stroke "
        return text + f"{self.stroke:.4g} m, time ratio {self.ratio:.4g}"


def slider_crank(stroke: float, ratio: float = 1.0, *, rod: float | None = None) -> SliderCrank:
    """Return the slider-crank with a given stroke and time ratio that has the best transmission angle.

    With crank r, rod l, imbalance b and stroke s, the triangle of the crank's pivot and the slider's two ends gives
    ``s² = 4 l² sin²(b/2) + 4 r² cos²(b/2)`` and the offset ``(l² - r²) sin(b) / s``. One length is free: it is chosen
    for the best transmission angle, with a rod of at most five cranks, or by `rod`.

    Args:
        stroke: Stroke of the slider [m].
        ratio: Time ratio, slow stroke over quick one, 1 to 3.
        rod: Length of the rod [m]; by default chosen for the best transmission angle.

    Raises:
        GoalError: If no such mechanism exists.

    Example:
        >>> pump = slider_crank(0.1, 1.2)
        >>> [round(length, 3) for length in (pump.crank, pump.rod, pump.offset)], round(math.degrees(pump.transmission))
        ([0.047, 0.128, 0.04], 47)
    """
    size, half = checked_length(stroke, "a stroke"), imbalance(ratio) / 2.0
    if 2.0 * half < EVEN:
        r, length, offset = size / 2.0, LONGEST * size / 2.0 if rod is None else checked_length(rod, "a rod"), 0.0
    else:
        r = _best_crank(size, half) if rod is None else _crank(size, half, checked_length(rod, "a rod"))
        length, offset = (float(one) for one in _rod_and_offset(np.asarray(r), size, half))
    if not r + offset < length:  # also refuses NaN
        more = "" if rod is None else f" and a rod of {rod:g} m"
        raise GoalError(
            f"no slider-crank with a stroke of {size:g} m, a time ratio of {ratio:g}{more} turns all the way round."
        )
    return SliderCrank(r, length, offset)


def _crank(stroke: float, half: float, rod: float) -> float:
    """Return the crank for a rod and half an imbalance; NaN if there is none."""
    room = (stroke / 2.0) ** 2 - (rod * math.sin(half)) ** 2
    return math.sqrt(room) / math.cos(half) if room > 0.0 else math.nan


def _rod_and_offset(crank: FloatArray, stroke: float, half: float) -> tuple[FloatArray, FloatArray]:
    """Return rods and offsets for cranks and half an imbalance."""
    rod = np.sqrt(np.maximum((stroke / 2.0) ** 2 - (crank * math.cos(half)) ** 2, 0.0)) / math.sin(half)
    return rod, (rod**2 - crank**2) * math.sin(2.0 * half) / stroke


def _best_crank(stroke: float, half: float) -> float:
    """Return the crank with the best transmission angle, for which the rod leans least."""

    def lean(crank: FloatArray) -> FloatArray:
        rod, offset = _rod_and_offset(crank, stroke, half)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(rod > crank, (crank + offset) / rod, np.inf)

    # For the shortest crank, the rod is LONGEST cranks long.
    shortest = stroke / 2.0 / math.hypot(LONGEST * math.sin(half), math.cos(half))
    return least(lean, shortest, stroke / 2.0)


def quick_return(stroke: float, ratio: float, *, ground: float | None = None) -> QuickReturn:
    """Return the crank and slotted lever of a shaper for a given stroke and time ratio.

    The lever swings by the imbalance of the crank, and the crank is ``ground · sin(swing / 2)``.

    Args:
        stroke: Distance between the two end positions of the lever's tip [m].
        ratio: Time ratio, slow stroke over quick one, more than 1 and less than 3.
        ground: Distance of the two pivots [m]; by default so long that the block stays on nine tenths of the lever.

    Raises:
        GoalError: If the block would leave the lever.

    Example:
        >>> print(quick_return(0.3, 2.0, ground=0.18))
        quick return: ground 0.18, crank 0.09, lever 0.3 m; stroke 0.3 m, time ratio 2
    """
    swing = imbalance(ratio)
    if swing < EVEN:
        raise GoalError("a lever with a time ratio of 1 does not swing; give a ratio above 1.")
    share = math.sin(swing / 2.0)
    lever = checked_length(stroke, "a stroke") / 2.0 / share
    base = ON_LEVER * lever / (1.0 + share) if ground is None else checked_length(ground, "a ground")
    if base * (1.0 + share) > lever:
        raise GoalError(
            f"the block of a quick return with a ground of {base:g} m would leave its lever, which is {lever:.4g} m "
            f"long; the ground may be {lever / (1.0 + share):.4g} m."
        )
    return QuickReturn(base, base * share, lever)
