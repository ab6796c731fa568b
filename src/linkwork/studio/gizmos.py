"""Gizmos: handles on the stage to drag targets with. The newest place of each is what counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..transforms import FloatArray
from .stage import place_of, wxyz_of
from .targets import Target

if TYPE_CHECKING:
    from .app import Studio

SCALE, SMALL = 0.16, 0.09  # of the size of the linkage: what is dragged, and what mostly stays
PATIENCE = 0.5  # seconds for the solve after a drag


class Gizmos:
    """The handles of all targets.

    Attributes:
        dragging: The names of the targets that are being dragged.
    """

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.handles: dict[str, Any] = {}
        self.dragging: set[str] = set()
        self._made: dict[str, tuple[Any, ...]] = {}

    def rebuild(self) -> None:
        """Make the handles of all targets anew where they have changed their make, and forget the others."""
        wanted = {target.name: target for target in self.studio.session.scene.targets if target.active}
        for name in list(self.handles):
            if name not in wanted or self._make(wanted[name]) != self._made[name]:
                self.handles.pop(name).remove()
                self._made.pop(name)
                self.dragging.discard(name)
        for name, target in wanted.items():
            if name not in self.handles:
                self._add(target)

    def _make(self, target: Target) -> tuple[Any, ...]:
        return target.kind, target.turn, self.studio.flat, self.studio.size

    def _add(self, target: Target) -> None:
        flat, name = self.studio.flat, target.name
        handle = self.studio.scene_view.add_transform_controls(
            f"/targets/{len(self._made)}-{abs(hash(name)) % 10**6}",
            scale=(SCALE if target.kind == "reach" else SMALL) * self.studio.size,
            line_width=3.0,
            active_axes=(True, True, not flat),
            disable_rotations=not turns(target),
            depth_test=False,
            opacity=0.9,
            wxyz=_shown_turn(target),
            position=target.place[:3, 3],
        )
        self.handles[name], self._made[name] = handle, self._make(target)

        async def moved(event: Any) -> None:  # asynchronous: its phases come in order
            place = place_of(event.target)
            if event.phase == "start":
                self.dragging.add(name)
            elif event.phase == "end":
                self.dragging.discard(name)
            if name in self.dragging:
                self.studio.do(lambda: self._drag(name, place), name=f"drag {name}")
            else:  # let go, or a page that still had a place to send
                self.studio.do(lambda: self._drop(name, place), name=f"drag {name}")

        handle.on_update(moved)

    def _drag(self, name: str, place: FloatArray) -> None:
        session = self.studio.session
        target = next((target for target in session.scene.targets if target.name == name), None)
        if target is None:  # meanwhile it was removed
            return
        if not turns(target):
            place[:3, :3] = target.place[:3, :3]
        session.drag(name, place)

    def _drop(self, name: str, place: FloatArray) -> None:
        self._drag(name, place)
        session = self.studio.session
        if session.solution is not None and session.solution.status == "time":  # now there is more of it
            session.solve(time_budget=PATIENCE)
        session.commit()

    def refresh(self) -> None:
        """Put the handles where their targets stand, but for those in someone's hand."""
        for target in self.studio.session.scene.targets:
            handle = self.handles.get(target.name)
            if handle is None or target.name in self.dragging:
                continue
            if not np.allclose(np.asarray(handle.position), target.place[:3, 3], atol=1e-9 * self.studio.size):
                handle.position = target.place[:3, 3]
            turn = _shown_turn(target)
            if abs(float(np.asarray(handle.wxyz) @ turn)) < 1.0 - 1e-9:
                handle.wxyz = turn


def turns(target: Target) -> bool:
    """Return whether the handle of a target turns it, and does not only move it."""
    return target.kind == "pin" or (target.kind == "reach" and target.turn)


def _shown_turn(target: Target) -> FloatArray:
    """Return how a handle stands: as its target, or along the world's axes where it only moves it."""
    return wxyz_of(target.place) if turns(target) else np.array([1.0, 0.0, 0.0, 0.0])
