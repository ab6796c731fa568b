"""The tab for posing: the method, the goals in a list, and a slider for every value of the pose."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..solvers import METHODS
from .dials import FEW, Dial, dials
from .targets import KINDS, Target

if TYPE_CHECKING:
    from .app import Studio

STROKE = 1.0  # seconds: a slider that moves again within that is still the same change, undone at once
PREFERRED = ("tip", "right_hand", "hand", "nose")


class PosingTab:
    """Method, goals, stored poses, sliders."""

    def __init__(self, studio: Studio) -> None:
        self.studio, gui = studio, studio.gui
        self.method = studio.on(gui.add_dropdown("Method", tuple(METHODS), initial_value="robust"), self._set_method)
        with gui.add_folder("Goals") as self._list:
            self.kind = gui.add_dropdown("Kind", tuple(KINDS))
            self.frame = gui.add_dropdown("Frame", ("",))
            self.add = studio.on(gui.add_button("Add goal"), lambda _: self._add())
        self._targets: dict[str, dict[str, Any]] = {}
        with gui.add_folder("Pose") as self._pose:
            self.stored = studio.on(gui.add_dropdown("Stored pose", ("-",)), self._take_stored)
            self.degrees = studio.on(gui.add_checkbox("Degrees", True), lambda _: self._rebuild_sliders())
        self._stroke: tuple[str, float, Any] = ("", 0.0, None)  # the slider turned last, when, and the state it left
        self._folders: list[Any] = []
        self._sliders: list[tuple[Dial, Any]] = []

    # Made anew

    def rebuild(self) -> None:
        """Show another linkage."""
        linkage = self.studio.session.linkage
        self.method.value = self.studio.session.scene.method
        extra = [frame.name for frame in linkage.extra_frames]
        self.frame.options = (*extra, *linkage.links)
        self.frame.value = next((name for name in PREFERRED if name in linkage.frames), [*extra, linkage.links[-1]][0])
        self.stored.options = ("-", *linkage.poses)
        self.stored.value = "-"
        self._rebuild_sliders()
        self.rebuild_targets()

    def _rebuild_sliders(self) -> None:
        """Make a slider for every value, in folders by limb where there are many."""
        for folder in self._folders:
            folder.remove()
        self._folders, self._sliders = [], []
        gui, every = self.studio.gui, dials(self.studio.session.linkage)
        groups: dict[str, list[Dial]] = {}
        for dial in every:
            groups.setdefault(dial.group if len(every) > FEW else "", []).append(dial)
        with self._pose:
            for group, members in groups.items():
                folder = gui.add_folder(group or "Joints", expand_by_default=len(every) <= FEW)
                self._folders.append(folder)
                with folder:
                    self._sliders += [(dial, self._slider(dial)) for dial in members]

    def _slider(self, dial: Dial) -> Any:
        scale = dial.scaled(self.degrees.value)
        digits = 1 if scale > 1.0 else 3
        low, high = round(dial.low * scale, 6), round(dial.high * scale, 6)
        value = min(max(round(dial.read(self.studio.session.q) * scale, digits), low), high)
        slider = self.studio.gui.add_slider(dial.label, low, high, 10.0**-digits, value)
        return self.studio.on(slider, lambda value: self._turn(dial, value / scale), name=f"turn {dial.label}")

    def rebuild_targets(self) -> None:
        """Show the targets as they are listed now."""
        for controls in self._targets.values():
            controls["folder"].remove()
        self._targets = {}
        with self._list:
            for target in self.studio.session.scene.targets:
                self._targets[target.name] = self._controls(target)

    def _controls(self, target: Target) -> dict[str, Any]:
        gui, on = self.studio.gui, self.studio.on
        with gui.add_folder(target.name, expand_by_default=len(self.studio.session.scene.targets) <= 2) as folder:
            fields: dict[str, Any] = {
                "active": gui.add_checkbox("On", target.active),
                "weight": gui.add_number("Weight", float(target.weight), min=0.01, max=100.0, step=0.01),
                "priority": gui.add_number("Priority", target.priority, min=0, max=9, step=1),
            }
            if target.kind == "reach":
                fields["turn"] = gui.add_checkbox("Orientation too", target.turn)
            remove = on(gui.add_button("Remove"), lambda _: self._remove(target.name))
        for field, control in fields.items():
            on(control, partial(self._change, target.name, field))
        return {"folder": folder, "remove": remove, **fields}

    # What a person does

    def _set_method(self, name: str) -> None:
        self.studio.session.set_method(name)
        self.studio.session.solve()

    def _add(self) -> None:
        self.studio.session.add_target(self.kind.value, self.frame.value)
        self._listed()

    def _remove(self, name: str) -> None:
        self.studio.session.remove_target(name)
        self._listed()

    def _listed(self) -> None:
        self.rebuild_targets()
        self.studio.gizmos.rebuild()
        self.studio.say("Drag a goal on the stage: the body follows." if self._targets else "There are no goals.")

    def _change(self, name: str, field: str, value: Any) -> None:
        session = self.studio.session
        target = session.target(name)
        values = {field: {"weight": float, "priority": int}.get(field, bool)(value)}
        if field == "turn" and value:  # the orientation asked for is the one it has
            place = np.array(target.place)
            place[:3, :3] = session.linkage.forward(session.q, frame=target.frame)[:3, :3]
            values["place"] = place
        session.change_target(name, **values)
        session.commit()
        self.studio.gizmos.rebuild()
        session.solve()

    def _take_stored(self, name: str) -> None:
        if name != "-":
            session = self.studio.session
            session.set_pose(name)
            session.settle()
            self._hold()

    def _turn(self, dial: Dial, value: float) -> None:
        session = self.studio.session
        session.turn(dial.write(session.q, value), dial.joint)
        session.settle()
        (label, when, left), now = self._stroke, time.monotonic()
        self._hold(instead=label == dial.label and now - when < STROKE and left is session.history.present)
        self._stroke = dial.label, now, session.history.present

    def _hold(self, *, instead: bool = False) -> None:
        """After a pose was set, let what is pinned pull the body back into place."""
        session = self.studio.session
        if any(target.active and target.kind == "pin" for target in session.scene.targets):
            session.solve()
        session.commit(instead=instead)

    def refresh(self) -> None:
        """Bring the sliders in line with the pose."""
        q = self.studio.session.q
        self.method.value = self.studio.session.scene.method
        for dial, slider in self._sliders:
            digits = 1 if slider.step > 0.01 else 3
            shown = round(dial.read(q) * dial.scaled(self.degrees.value), digits)
            value = min(max(shown, slider.min), slider.max)
            if abs(slider.value - value) > 0.5 * slider.step:
                slider.value = value
