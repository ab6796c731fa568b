"""Closed forms as sources of free poses: the kernels that try their solutions one after another, and what they read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .chain_solver import Prepared

ANGLES = 1024  # of the held joint of an arm of seven, at most


@dataclass(frozen=True, eq=False)
class FreeForm:
    """A closed form that gives poses until one is free.

    Attributes:
        one: The kernel for one target.
        many: The kernel for many.
        known: What both read first, in order; the scene follows.
        more: What they read after the scene.
        room: The shape of the room that they work in.
        nearest: Whether its answer is the nearest free one to a start.
        proves: Whether it is certain that no pose is free where it has none.
    """

    one: Any
    many: Any
    known: tuple[Any, ...]
    more: tuple[Any, ...]
    room: tuple[int, int]
    nearest: bool
    proves: bool


def free_form(prepared: Prepared) -> FreeForm | None:
    """Return the closed form of a prepared chain as a source of free poses; None where it has none."""
    answering = prepared._answering
    if answering is None:
        return None
    from .closed_form.answering import FamilyAnswering  # other chains do without closed forms

    if isinstance(answering, FamilyAnswering):
        from ..kernels.collision.free_six import free_six_many, free_six_one, six_room

        exact = answering.proves
        return FreeForm(free_six_one, free_six_many, answering.known, (), six_room(), exact, exact)
    from ..kernels.collision.free_seven import free_seven_many, free_seven_one, seven_room

    return FreeForm(free_seven_one, free_seven_many, answering.known, (ANGLES,), seven_room(), False, False)
