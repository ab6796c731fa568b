"""Pack a recognised arm for the kernels of closed forms."""

from __future__ import annotations

from cmath import phase

import numpy as np
from numpy.typing import NDArray

from ...kernels import joint_step as steps
from ...kernels.closed_form import form_layout as memory
from ...kernels.closed_form.subproblems import NOTHING
from ...transforms import FloatArray, inverse, plane_basis
from .axes import Axes
from .recognition import Condition, Family, Reaching

ROUNDING = 1e-13  # [rad]
SQUARE = 1e-12  # cosine below which axes are at right angles
ENDLESS = 1e300  # the period of a prismatic joint
POLISH, POLISH_OFF = 2, 16  # steps of Newton's method, for arms of the family, and for arms off it
COARSE, COARSE_OFF = 1e-12, 1e-2  # squared errors, as shares of the squared size, that are polished
APART = 8.0  # times an arm's deviation: distance between its roots, as squared sines, before they are polished


def lines(axes: Axes) -> FloatArray:
    """Return a LINE for each joint, flat."""
    return memory.LINE.pack(shape=(len(axes),), direction=axes.direction, point=axes.point).reshape(-1)


def own_lines(family: Family, axes: Axes) -> FloatArray:
    """Return an OWN_LINE for each joint of an arm, flat, in the order and sense in which its family is solved."""
    seen = axes.ordered(family.order)
    h = seen.direction * np.asarray(family.sense)[:, None] * (-1.0 if family.backwards else 1.0)
    packed = memory.OWN_LINE.pack(
        shape=(len(h),), direction=h, point=seen.point, squares=h * h, products=h * np.roll(h, -1, axis=1)
    )
    return packed.reshape(-1)


def packed_codes(family: Family, size: float, held: int = 0) -> NDArray[np.int64]:
    """Return the CODES of an arm's family; `held` is the number of last joints that stay at zero."""
    exact = family.exact(size)
    h = family.axes.direction
    outer = h[3] if family.reaching is not None else h[1]
    reaching = family.reaching or Reaching(False, Condition(False, h[1]), Condition(True, h[1]))
    return memory.CODES.pack(
        dtype=np.int64,
        family=memory.PARALLEL if family.reaching is None else memory.WRIST,
        backwards=family.backwards,
        place=np.argsort(family.order),
        slides=family.axes.slides,
        last=reaching.last,
        first_sphere=reaching.first.sphere,
        second_sphere=reaching.second.sphere,
        square=abs(outer @ h[4]) < SQUARE and abs(h[4] @ h[5]) < SQUARE,
        polish=POLISH if exact else POLISH_OFF,
        merged=not exact,
        level=family.reaching is None and family.off.angle < ROUNDING,
        held=held,
    )


def packed_numbers(family: Family, axes: Axes, scale: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the NUMBERS of an arm's family, lines, scale of values and limits."""
    period = np.where(axes.slides, ENDLESS, 2.0 * np.pi / scale)
    reaching, none, exact = family.reaching, np.zeros(3), family.exact(axes.size)
    aside = plane_basis(family.axes.direction[1])[:, 0]
    ways = np.diff([*axes.point, axes.tip[:3, 3]], axis=0)
    reach = float(np.linalg.norm(ways, axis=1).sum()) or 1.0
    return memory.NUMBERS.pack(
        solved=lines(family.axes),
        centre=family.centre,
        first=none if reaching is None else reaching.first.anchor,
        second=none if reaching is None else reaching.second.anchor,
        across=plane_basis(family.axes.direction[5])[:, 0],
        aside=aside,
        plane=_plane(family, axes, aside) if reaching is None else 0.0,
        sense=family.sense,
        extent=axes.size**2,
        unreach=1.0 / reach,
        coarse=COARSE if exact else COARSE_OFF,
        floor=0.0 if exact else min(APART * family.off.share(axes.size), 0.1),
        own=own_lines(family, axes),
        lines=lines(axes),
        tip=steps.transform(axes.tip),
        untip=steps.transform(inverse(axes.tip)),
        scale=scale,
        unscale=np.asarray(family.sense)[np.argsort(family.order)] / scale,
        lower=lower,
        upper=upper,
        middle=_middle(lower, upper, period),
        period=period,
        frequency=1.0 / period,
    )


def _plane(family: Family, axes: Axes, aside: FloatArray) -> FloatArray:
    """Return the PLANE of an arm of a family with parallel axes; `aside` is a unit vector across them."""
    size, own = axes.size, axes.ordered(family.order).point[1:4]
    h, p = family.axes.direction, family.axes.point
    sides = np.stack([aside, np.cross(h[1], aside)])
    upper, fore, hand = (complex(*(sides @ way)) for way in (p[2] - p[1], p[3] - p[2], family.centre - p[3]))
    straight, leaning = upper * fore.conjugate(), float(h[1] @ h[4]) * float(h[4] @ h[5])
    free = abs(straight) ** 2 <= NOTHING * size**4
    middle = complex(h[1] @ h[5] - leaning, h[1] @ np.cross(h[4], h[5]))
    straight, ahead = (0j, upper) if free else (straight / abs(straight), upper / abs(upper))
    return memory.PLANE.pack(
        hand=(hand.real, hand.imag),
        straight=(straight.real, straight.imag),
        bend=phase(straight),
        upper_length=abs(upper),
        fore_length=abs(fore),
        ahead=(ahead.real, ahead.imag),
        toward=phase(ahead),
        free=free,
        leaning=leaning,
        middle=(middle.real, middle.imag),
        square=abs(middle) ** 2,
        between=phase(middle),
        axes=(own @ sides.T).reshape(-1),
    )


def _middle(lower: FloatArray, upper: FloatArray, period: FloatArray) -> FloatArray:
    """Return a value such that the copy of an angle nearest to it is within limits, if any copy is."""
    half = np.where(period < ENDLESS, period / 2.0, 0.0)
    low, high = np.isfinite(lower), np.isfinite(upper)
    middle = np.where(low, lower + half, np.where(high, upper - half, 0.0))
    with np.errstate(invalid="ignore"):
        return np.where(low & high, (lower + upper) / 2.0, middle)
