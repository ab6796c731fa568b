"""Results of synthesis: a four-bar, its errors and its defects."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...linkage.linkage import Linkage
from ...transforms import FloatArray
from .four_bars import TURN, FourBar

SAME = 1e-3  # designs that differ by less, relative to the sum of their lengths, count as the same
BACKWARD = 0.02  # [rad]: a crank that turns back by less between two positions counts as standing still


@dataclass(frozen=True, eq=False)
class Design:
    """A four-bar that synthesis found.

    Attributes:
        four_bar: Its dimensions.
        angles: Crank angle from the ground line at each given point, position or pair, in order [rad].
        errors: Error at each of them: metres for paths and motions, radians for functions.
        defects: Reasons why it cannot pass through them in one continuous motion; empty if it can.
        unit: The unit of the errors, "m" or "rad".

    Example:
        >>> import linkwork as lw
        >>> bars = lw.synthesis.FourBar(np.array([0, 0, 0.4, 0, 0.15, 0.35, 0.3, 0.2, 0.1]))
        >>> best = lw.synthesis.path(bars.path(np.linspace(0, 6, 30)))[0]
        >>> best.error < 1e-6, best.kind, best.defects
        (True, 'crank-rocker', ())
    """

    four_bar: FourBar
    angles: FloatArray
    errors: FloatArray
    defects: tuple[str, ...] = ()
    unit: str = "m"

    @property
    def error(self) -> float:
        """Root mean square of the errors."""
        return float(np.sqrt(np.mean(self.errors**2)))

    @property
    def worst(self) -> float:
        """The largest error."""
        return float(self.errors.max())

    @property
    def kind(self) -> str:
        """Type by Grashof's rule, such as "crank-rocker"."""
        return self.four_bar.kind

    @cached_property
    def transmission(self) -> float:
        """The smallest transmission angle along the motion [rad]; below about 40 degrees it runs badly under load."""
        return float(self.four_bar.transmission(self.four_bar.span(self.angles)).min())

    @cached_property
    def linkage(self) -> Linkage:
        """The design as a linkage; its pose ``"start"`` is at the first given point, position or pair."""
        return self.four_bar.linkage(float(self.angles[0]))

    def __str__(self) -> str:
        ground, crank, coupler, rocker = (f"{length:.4g}" for length in self.four_bar.lengths)
        text = f"{self.kind}: ground {ground}, crank {crank}, coupler {coupler}, rocker {rocker} m; "
        text += f"error {self.error:.2g} {self.unit}, at worst {self.worst:.2g}; "
        text += f"transmission angle at least {math.degrees(self.transmission):.0f} degrees"
        return text + "".join(f"; {defect}" for defect in self.defects)

    def __repr__(self) -> str:
        return f"<Design {self}>"


def defects_of(four_bar: FourBar, angles: FloatArray, sides: FloatArray | None = None) -> tuple[str, ...]:
    """Return why a four-bar cannot pass positions in one motion, in their order; empty if it can.

    Args:
        four_bar: Its dimensions.
        angles: Angles of the crank from the line of the ground at the positions [rad], shape (n,).
        sides: Sign of its assembly mode in each position, if that may differ.
    """
    found = []
    if sides is not None and (np.sign(sides) != np.sign(sides[0])).any():
        found.append("branch: it has to be taken apart between positions")
    if not four_bar.turns and four_bar.middle == math.pi / 2.0 and np.ptp(np.sign(np.sin(angles))) == 2.0:
        found.append("circuit: the crank cannot turn from one position to another")
    if not in_order(four_bar, angles):
        found.append("order: the crank passes the positions in another order")
    return tuple(found)


def in_order(four_bar: FourBar, angles: FloatArray) -> bool:
    """Return whether a crank passes angles in order, in one direction and in less than a turn."""
    if not four_bar.turns:
        steps = np.diff(np.angle(np.exp(1j * (angles - four_bar.middle))))
        return bool((steps > -BACKWARD).all() or (steps < BACKWARD).all())
    steps = np.diff(angles) % TURN
    ways = (steps, (TURN - steps) % TURN)
    return any(np.where(way > TURN - BACKWARD, 0.0, way).sum() < TURN + BACKWARD for way in ways)


def different(designs: list[Design], count: int) -> tuple[Design, ...]:
    """Return the first designs that are not nearly the same as one before."""
    kept: list[Design] = []
    for design in designs:
        if len(kept) == count:
            break
        numbers = design.four_bar.numbers
        scale = sum(design.four_bar.lengths)
        if all(np.abs(numbers - other.four_bar.numbers).max() > SAME * scale for other in kept):
            kept.append(design)
    return tuple(kept)
