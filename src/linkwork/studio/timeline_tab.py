"""The tab of the timeline: keys, play, loop, scrub, onion skins and curves.

Imports `timeline`, `plots` and `stage`; the studio is a parameter.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..clips import Clip
from .dials import dials
from .plots import COLORS, Curves
from .stage import Figure
from .timeline import KINDS, Timeline

if TYPE_CHECKING:
    from .app import Studio

LEAST_SPAN = 4.0  # seconds that the slider shows at least
TICK = 1.0 / 30.0
SKINS = 5
SKIN = (134, 142, 150)
MOST_CURVES, MOST_KEYS = 8, 200


class TimelineTab:
    """Keys and what plays them.

    Attributes:
        playing: Whether the motion plays.
    """

    def __init__(self, studio: Studio) -> None:
        self.studio, gui, on = studio, studio.gui, studio.on
        self.playing = False
        self._clip: Clip | None = None
        self._made: tuple[Any, ...] = ()
        self._begun = 0.0
        self._skins: list[Figure] = []
        self.time = gui.add_slider("Time [s]", 0.0, LEAST_SPAN, 0.01, 0.0)
        on(self.time.on_update, self._scrub, name="scrub")
        self.play = gui.add_button("Play", color="blue")
        on(self.play.on_click, lambda _: self._toggle())
        self.loop = gui.add_checkbox("Loop", True)
        on(self.loop.on_update, self._set_loop)
        with gui.add_folder("Keys"):
            self.kind = gui.add_dropdown("Leaves its key", KINDS, initial_value="cubic")
            self.what = gui.add_dropdown("Holds", ("pose and goals", "pose", "goals"))
            self.set = gui.add_button("Set a key")
            on(self.set.on_click, lambda _: self._set_key())
            self.keys = gui.add_dropdown("Key", ("-",))
            on(self.keys.on_update, self._go_to)
            self.key_kind = gui.add_dropdown("Its kind", KINDS, initial_value="cubic")
            on(self.key_kind.on_update, self._set_kind)
            self.delete = gui.add_button("Delete key")
            on(self.delete.on_click, lambda _: self._delete())
        with gui.add_folder("Show"):
            self.skins = gui.add_checkbox("Onion skins", False)
            on(self.skins.on_update, lambda _: self._show_skins())
            self.curves = Curves(gui, "joint values over time", across="s", legend=True, height=190)

    def rebuild(self) -> None:
        """Show another timeline."""
        self.playing, self._clip, self._made = False, None, ()
        self.skins.value = False
        self._clear_skins()
        self.play.label = "Play"
        self.refresh()

    # Keys

    def _set_key(self) -> None:
        what = self.what.value
        self.studio.session.set_key(
            float(self.time.value), kind=self.kind.value, pose="pose" in what, places="goals" in what
        )
        self.studio.say(f"Key set at {self.time.value:g} s.")

    def _chosen(self) -> float | None:
        text = self.keys.value
        return None if text == "-" else float(text.split(" s")[0])

    def _go_to(self, _: str) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self._scrub(chosen)

    def _set_kind(self, kind: str) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self._edit(self.studio.session.scene.timeline.with_kind(chosen, kind))

    def _delete(self) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self._edit(self.studio.session.scene.timeline.without(chosen))

    def _edit(self, timeline: Timeline) -> None:
        self.studio.session.edit_timeline(timeline)

    def _set_loop(self, value: bool) -> None:
        line = self.studio.session.scene.timeline
        self._edit(Timeline(line.keys, line.fps, bool(value)))

    # Playing

    def clip(self) -> Clip:
        """Return the motion, made anew only when keys, targets or the method have changed."""
        scene = self.studio.session.scene
        aims = tuple((target.name, target.kind, target.weight, target.active) for target in scene.targets)
        make = (scene.timeline, aims, scene.method, scene.linkage)
        if self._clip is None or len(self._made) != 4 or self._made[0] is not make[0] or self._made[1:] != make[1:]:
            self._clip, self._made = self.studio.session.clip(), make
        return self._clip

    def _scrub(self, value: float) -> None:
        session = self.studio.session
        if self.playing:
            self._begun = time.monotonic() - float(value)
        elif session.scene.timeline.keys:
            session.scrub(float(value))
        else:
            session.change(time=float(value))

    def _toggle(self) -> None:
        if self.playing:
            self.playing = False
            self.play.label = "Play"
            self.studio.session.scrub(self.studio.session.scene.time)
            return
        self.clip()
        at = self.studio.session.scene.time
        self._begun = time.monotonic() - (at if at < self.studio.session.scene.timeline.duration else 0.0)
        self.playing = True
        self.play.label = "Pause"
        self._tick()

    def _tick(self) -> None:
        """Show the frame that is due, and come again."""
        if not self.playing:
            return
        session = self.studio.session
        line, clip = session.scene.timeline, self.clip()
        now = time.monotonic() - self._begun
        at = line.wrapped(now)
        frame = int(np.clip(np.searchsorted(clip.times, at, side="right") - 1, 0, len(clip) - 1))
        session.change(q=clip.poses[frame], time=at)
        session.solution = None
        if not line.loop and now > line.duration:
            self.playing = False
            self.play.label = "Play"
        else:
            self.studio.worker.submit(self._tick, name="play", after=TICK)
        self.studio.show()

    # Showing

    def _clear_skins(self) -> None:
        for skin in self._skins:
            skin.remove()
        self._skins = []

    def _show_skins(self) -> None:
        self._clear_skins()
        if not self.skins.value:
            return
        clip = self.clip()
        for k, frame in enumerate(np.linspace(0, len(clip) - 1, SKINS).round().astype(int).tolist()):
            skin = Figure(self.studio.scene_view, f"/skins/{k}", self.studio.look, color=SKIN, opacity=0.16)
            skin.pose(clip.poses[frame])
            self._skins.append(skin)

    def refresh(self) -> None:
        """Bring slider, list of keys and curves in line with the timeline."""
        scene = self.studio.session.scene
        line = scene.timeline
        self.time.max = max(LEAST_SPAN, round(line.duration, 2))
        self.time.value = min(round(scene.time, 2), self.time.max)
        self.loop.value = line.loop
        listed = tuple(f"{key.time:g} s ({_holds(key)}, {key.kind})" for key in line.keys[:MOST_KEYS])
        if self.keys.options != ("-", *listed):
            self.keys.options = ("-", *listed)
            self.keys.value = next((text for text in listed if text.startswith(f"{scene.time:g} s")), "-")
            self._plot()
        here = line.at(scene.time)
        if here is not None:
            self.key_kind.value = here.kind

    def _plot(self) -> None:
        """Show the values that change most over the motion."""
        line, linkage = self.studio.session.scene.timeline, self.studio.session.linkage
        if len(line.keys) < 2:
            self.curves.show(np.zeros(0), {}, {})
            return
        clip = self.clip()
        rows = {dial.label: np.array([dial.read(q) for q in clip.poses]) for dial in dials(linkage)}
        order = sorted(rows, key=lambda name: -float(np.ptp(rows[name])))[:MOST_CURVES]
        colors = dict(zip(order, COLORS, strict=False))
        self.curves.show(clip.times, {name: rows[name] for name in order}, colors)


def _holds(key: Any) -> str:
    return " and ".join(part for part, there in (("pose", key.pose is not None), ("goals", key.places)) if there)
