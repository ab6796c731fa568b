"""Closed forms as sources of collision-free poses: kernels that try their solutions in turn, with their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .chain_solver import Prepared

ANGLES = 1024  # largest number of angles of the held joint, for arms with seven joints


@dataclass(frozen=True, eq=False)
class FreeForm:
    """A closed form whose solutions are tried until one is collision-free.

    Attributes:
        one: The kernel for one target.
        many: The kernel for many targets.
        known: First arguments of both kernels; the scene follows.
        more: Arguments after the scene.
        room: Shape of their working memory.
        nearest: Whether the result is the collision-free solution nearest to a start.
        proves: Whether no pose is collision-free if it finds none.
    """

    one: Any
    many: Any
    known: tuple[Any, ...]
    more: tuple[Any, ...]
    room: tuple[int, int]
    nearest: bool
    proves: bool


def free_form(prepared: Prepared) -> FreeForm | None:
    """Return the closed form of a prepared chain as a source of collision-free poses; None if it has none."""
    answering = prepared._answering
    if answering is None:
        return None
    from .closed_form.answering import FamilyAnswering  # other chains do not need closed forms

    if isinstance(answering, FamilyAnswering):
        from ..kernels.collision.free_six import free_six_many, free_six_one, six_room

        exact = answering.proves
        return FreeForm(free_six_one, free_six_many, answering.known, (), six_room(), exact, exact)
    from ..kernels.collision.free_seven import free_seven_many, free_seven_one, seven_room

    return FreeForm(free_seven_one, free_seven_many, answering.known, (ANGLES,), seven_room(), False, False)
