"""A recognised arm as the kernels of closed forms read it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernels import joint_step as steps
from ...kernels.closed_form import form_layout as memory
from ...transforms import FloatArray, inverse, plane_basis
from .axes import Axes
from .recognition import Condition, Family, Reaching

SQUARE = 1e-12  # cosine of axes that count as at right angles
ENDLESS = 1e300  # the period of a slide


def lines(axes: Axes) -> FloatArray:
    """Return LINE for each joint, flat."""
    return memory.LINE.pack(shape=(len(axes),), direction=axes.direction, point=axes.point).reshape(-1)


def packed_codes(family: Family) -> NDArray[np.int64]:
    """Return the CODES of a family."""
    h = family.axes.direction
    outer = h[3] if family.reaching is not None else h[1]
    reaching = family.reaching or Reaching(False, Condition(False, h[1]), Condition(True, h[1]))
    return memory.CODES.pack(
        dtype=np.int64,
        family=memory.PARALLEL if family.reaching is None else memory.WRIST,
        backwards=family.backwards,
        slides=family.axes.slides,
        last=reaching.last,
        first_sphere=reaching.first.sphere,
        second_sphere=reaching.second.sphere,
        square=abs(outer @ h[4]) < SQUARE and abs(h[4] @ h[5]) < SQUARE,
        polish=0,
    )


def packed_numbers(family: Family, axes: Axes, scale: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the NUMBERS of an arm's family, lines, scale of values and limits."""
    period = np.where(axes.slides, ENDLESS, 2.0 * np.pi / scale)
    reaching, none = family.reaching, np.zeros(3)
    return memory.NUMBERS.pack(
        solved=lines(family.axes),
        centre=family.centre,
        first=none if reaching is None else reaching.first.anchor,
        second=none if reaching is None else reaching.second.anchor,
        across=plane_basis(family.axes.direction[5])[:, 0],
        aside=plane_basis(family.axes.direction[1])[:, 0],
        sense=family.sense,
        extent=axes.size**2,
        lines=lines(axes),
        tip=steps.transform(axes.tip),
        untip=steps.transform(inverse(axes.tip)),
        scale=scale,
        lower=lower,
        upper=upper,
        middle=_middle(lower, upper, period),
        period=period,
    )


def _middle(lower: FloatArray, upper: FloatArray, period: FloatArray) -> FloatArray:
    """Return a place such that the copy of an angle nearest to it is within limits, if any copy is."""
    half = np.where(period < ENDLESS, period / 2.0, 0.0)
    low, high = np.isfinite(lower), np.isfinite(upper)
    middle = np.where(low, lower + half, np.where(high, upper - half, 0.0))
    with np.errstate(invalid="ignore"):
        return np.where(low & high, (lower + upper) / 2.0, middle)
