"""Find the closed form of a chain: that of a family, or else elimination, which works for any six revolute joints."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...goals import Reach
from ...linkage.linkage import Linkage, check_linkage
from ..chain import Chain
from .axes import axes_of
from .form import ClosedForm, NoForm
from .general import General
from .general_form import GeneralForm
from .partial import partial_form
from .recognition import JOINTS, recognised
from .seven import seven_form
from .short import short_form


def form_of(chain: Chain) -> ClosedForm | NoForm:
    """Return the closed form of a chain, or why there is none."""
    if chain.free is not None:
        return NoForm(chain.frame, "one of its axes is free, so a goal leaves a continuum of solutions")
    found = axes_of(chain)
    if isinstance(found, str):
        return NoForm(chain.frame, found)
    axes, scale = found
    if len(axes) < JOINTS:
        short = short_form(chain, axes, scale)
        return NoForm(chain.frame, short) if isinstance(short, str) else short
    if len(axes) > JOINTS:
        return NoForm(chain.frame, why_a_continuum(chain, len(axes)))
    family = recognised(axes)
    if not isinstance(family, str) and family.exact(axes.size):
        return ClosedForm(chain, axes, scale, family)
    general = General(axes)
    why_not = general.why_unsound
    if not why_not:  # it also finds all solutions of arms that are slightly off a family
        return GeneralForm(chain, axes, scale, general, None if isinstance(family, str) else family)
    if isinstance(family, str):
        return NoForm(chain.frame, f"{family}; {why_not}")
    return ClosedForm(chain, axes, scale, family)


def why_a_continuum(chain: Chain, joints: int) -> str:
    """Return a text on a chain of more than six joints: which of seven joints may be held for a closed form."""
    seven = seven_form(chain)
    if isinstance(seven, str):
        return f"its {joints} joints leave a continuum of solutions to a goal; {seven}"
    names = dict(zip(*(one.tolist() for one in chain.plain), strict=True))
    held = chain.linkage.coordinates[names[seven.held]] if seven.held in names else "its end joint"
    words = "its 7 joints leave curves of solutions to a goal, which solve_all gives"
    return f"{words}; with {held} held, the others have a closed form, {seven.kind}"


def family_form(chain: Chain) -> ClosedForm | None:
    """Return the closed form of a chain if it belongs to a family, exactly or nearly, else None; this check is fast."""
    found = axes_of(chain) if chain.free is None else ""
    if isinstance(found, str):
        return None
    family = recognised(found[0])
    return None if isinstance(family, str) else ClosedForm(chain, *found, family)


def closed_form(
    linkage: Linkage, frame: str, *, orientation: bool = True, free: ArrayLike | str | None = None
) -> ClosedForm | NoForm:
    """Return the closed form of the chain that moves a frame, or a `NoForm` with the reason; cached on the linkage.

    Args:
        linkage: The linkage.
        frame: Name of the frame that targets are for.
        orientation: Whether its orientation matters; if not, the form is for positions alone.
        free: An axis of the frame, such as ``"z"``, that it may spin about.

    Example:
        >>> import linkwork as lw
        >>> lw.closed_form(lw.models.ur5(), "tool0")
        <ClosedForm 'tool0' of 'ur5': three parallel axes>
    """
    check_linkage(linkage)
    linkage.frame_index(frame)
    found: ClosedForm | NoForm
    if orientation and free is None:
        found = linkage.cache.get("closed form", frame, lambda: form_of(Chain(linkage, frame)))
        return found
    turned = np.eye(3) if orientation else None
    return form_for(linkage, Reach(frame, position=np.zeros(3), orientation=turned, free=free))


def form_for(linkage: Linkage, goal: Reach) -> ClosedForm | NoForm:
    """Return the closed form of partial goals, or a `NoForm` with the reason; cached on the linkage.

    Args:
        linkage: The linkage.
        goal: Such a goal; its target is ignored.
    """
    axis = None if goal.free is None else tuple(goal.free.tolist())
    key = goal.frame, tuple(goal.rows.tolist()), axis
    found: ClosedForm | NoForm = linkage.cache.get(
        "partial form", key, lambda: partial_form(Chain(linkage, goal.frame, goal.free), goal)
    )
    return found
