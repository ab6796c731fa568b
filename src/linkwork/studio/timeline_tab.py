"""The tab of the timeline: keys, play, loop, scrub, onion skins and curves."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import KeyFrameError
from ..motion.clips import KINDS, Clip
from .dials import dials
from .plots import COLORS, Curves
from .session import motion
from .stage import LinkageView, ghost
from .timeline import SceneKey, SceneTimeline

if TYPE_CHECKING:
    from .app import Studio

LEAST_SPAN = 4.0  # seconds that the slider shows at least
TICK = 1.0 / 30.0
SKINS = 5
SKIN = (134, 142, 150)
MOST_CURVES, MOST_KEYS, MOST_POINTS = 8, 200, 200


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
        self._skins: list[LinkageView] = []
        self.time = on(gui.add_slider("Time [s]", 0.0, LEAST_SPAN, 0.01, 0.0), self._scrub, name="scrub")
        self.play = on(gui.add_button("Play", color="blue"), lambda _: self._toggle())
        self.loop = gui.add_checkbox("Loop", True)
        on(self.loop, lambda value: self._take(replace(studio.session.scene.timeline, loop=bool(value))))
        with gui.add_folder("Keys"):
            self.kind = gui.add_dropdown("Leaves its key", KINDS, initial_value="cubic")
            self.what = gui.add_dropdown("Holds", ("pose and goals", "pose", "goals"))
            self.set = on(gui.add_button("Set a key"), lambda _: self._set_key())
            self.keys = on(gui.add_dropdown("Key", ("-",)), self._go_to)
            self.key_kind = gui.add_dropdown("Its kind", KINDS, initial_value="cubic")
            on(self.key_kind, lambda kind: self._edit(lambda line, at: line.with_kind(at, kind)))
            self.move = gui.add_button("Move key to the slider's time")
            on(self.move, lambda _: self._edit(lambda line, at: line.moved(at, float(self.time.value))))
            self.delete = on(gui.add_button("Delete key"), lambda _: self._edit(lambda line, at: line.without(at)))
        with gui.add_folder("Show"):
            self.skins = on(gui.add_checkbox("Onion skins", False), lambda _: self._show_skins())
            self.curves = Curves(studio, "joint values over time", across="s", legend=True, height=190)

    def rebuild(self) -> None:
        """Show another timeline."""
        self._clip, self._made = None, ()
        self.stop()
        self.skins.value = False
        self._clear_skins()
        self.refresh()

    # Keys

    def _set_key(self) -> None:
        what = self.what.value
        self.studio.session.set_key(
            float(self.time.value), kind=self.kind.value, pose="pose" in what, places="goals" in what
        )
        self.studio.say(f"Key set at {self.time.value:g} s.")

    def _chosen(self) -> float | None:
        keys = self.studio.session.scene.timeline.keys[:MOST_KEYS]  # by their text: it shows less than all digits
        return next((key.time for key in keys if _listed(key) == self.keys.value), None)

    def _go_to(self, _: str) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self._scrub(chosen)

    def _edit(self, edit: Callable[[SceneTimeline, float], SceneTimeline]) -> None:
        """Change the timeline at the time of the chosen key, if one is chosen."""
        chosen = self._chosen()
        if chosen is not None:
            self._take(edit(self.studio.session.scene.timeline, chosen))

    def _take(self, timeline: SceneTimeline) -> None:
        self.stop()
        self.studio.session.change(timeline=timeline)
        self.studio.session.commit()

    # Playing

    def _with_clip(self, then: Callable[[Clip], None], *, name: str) -> None:
        """Do something with the motion, made anew only when keys, targets or the method have changed.

        A motion may take a while to make: that is thought out beside the page.
        """
        scene = self.studio.session.scene
        aims = tuple((target.name, target.kind, target.weight, target.active) for target in scene.targets)
        make = (id(scene.timeline), aims, scene.method, id(scene.linkage))
        if self._clip is not None and self._made == make:
            then(self._clip)
            return

        def made() -> Callable[[], None]:
            clip = motion(scene)
            return lambda: self._keep(clip, make, then)

        self.studio.think(made, name=name)

    def _keep(self, clip: Clip, make: tuple[Any, ...], then: Callable[[Clip], None]) -> None:
        if clip.linkage is self.studio.session.linkage:
            self._clip, self._made = clip, make
            then(clip)

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
            self.stop()
            self.studio.session.scrub(self.studio.session.scene.time)
        elif not self.studio.session.scene.timeline.keys:
            raise KeyFrameError("there is nothing to play; set a key first.")
        else:
            self._with_clip(lambda _: self._start(), name="play")

    def _start(self) -> None:
        scene = self.studio.session.scene
        self._begun = time.monotonic() - (scene.time if scene.time < scene.timeline.duration else 0.0)
        self.playing = True
        self.play.label = "Pause"
        self._tick()

    def stop(self) -> None:
        """Stand still."""
        self.playing = False
        self.play.label = "Play"

    def _tick(self) -> None:
        """Show the frame that is due, and come again."""
        clip, session = self._clip, self.studio.session
        if not self.playing or clip is None:
            return
        line = session.scene.timeline
        now = time.monotonic() - self._begun
        at = line.wrapped(now)
        frame = int(np.clip(np.searchsorted(clip.times, at, side="right") - 1, 0, len(clip) - 1))
        session.change(q=clip.poses[frame], time=at)
        session.solution = None
        if not line.loop and now > line.duration:
            self.stop()
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
        if self.skins.value:
            self._with_clip(self._draw_skins, name="skins")

    def _draw_skins(self, clip: Clip) -> None:
        self._clear_skins()
        for k, frame in enumerate(np.linspace(0, len(clip) - 1, SKINS).round().astype(int).tolist()):
            self._skins.append(ghost(self.studio, f"/skins/{k}", clip.poses[frame], color=SKIN, opacity=0.16))

    def refresh(self) -> None:
        """Bring slider, list of keys and curves in line with the timeline."""
        scene = self.studio.session.scene
        line = scene.timeline
        self.time.max = max(LEAST_SPAN, round(line.duration, 2))
        self.time.value = min(round(scene.time, 2), self.time.max)
        self.loop.value = line.loop
        listed = tuple(map(_listed, line.keys[:MOST_KEYS]))
        if self.keys.options != ("-", *listed):
            self.keys.options = ("-", *listed)
            self.keys.value = next((text for text in listed if text.startswith(f"{scene.time:g} s")), "-")
            self._plot()
        here = line.at(scene.time)
        if here is not None:
            self.key_kind.value = here.kind

    def _plot(self) -> None:
        """Show the values that change most over the motion."""
        if len(self.studio.session.scene.timeline.keys) < 2:
            self.curves.show(np.zeros(0), {}, {})
        else:
            self._with_clip(self._draw_curves, name="curves")

    def _draw_curves(self, clip: Clip) -> None:
        some = slice(None, None, max(1, len(clip) // MOST_POINTS))
        rows = {dial.label: np.array([dial.read(q) for q in clip.poses[some]]) for dial in dials(clip.linkage)}
        order = sorted(rows, key=lambda name: -float(np.ptp(rows[name])))[:MOST_CURVES]
        colors = dict(zip(order, COLORS, strict=False))
        self.curves.show(clip.times[some], {name: rows[name] for name in order}, colors)


def _listed(key: SceneKey) -> str:
    holds = " and ".join(part for part, there in (("pose", key.pose is not None), ("goals", key.places)) if there)
    return f"{key.time:g} s ({holds}, {key.kind})"
