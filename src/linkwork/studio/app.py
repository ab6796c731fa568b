"""The studio as one thing: a session, the page that shows it, and the two threads that do all the work.

Every tab of every browser shows the same session. What a page asks for is done by one worker, one thing after another,
so that tabs cannot corrupt each other; what takes long (explanations, clouds of points, films) is thought out by a
second one, on a copy that never changes, and handed back.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from ..draw import is_flat
from ..draw.embedding import window
from ..draw.sketch import Sketch
from ..errors import LinkworkError
from ..explain.mobility import degrees_of_freedom
from ..formats import Remark
from ..goals import Hold, Reach
from ..solvers import Solution, solve
from . import stage, viser_privates
from .files_tab import FilesTab
from .gizmos import Gizmos
from .inside_tab import InsideTab
from .overlays import Overlays
from .posing_tab import PosingTab
from .race_tab import RaceTab
from .saving import UPLOAD_LIMIT
from .serving import make_server, quiet
from .session import TIME_BUDGET, Scene, Session, Why, explain, sentence
from .timeline_tab import TimelineTab
from .view_tab import ViewTab
from .worker import Worker

FRAME = 1.0 / 50.0  # seconds between pictures at least: solves go on meanwhile
SLOW = 0.12  # seconds between refreshes of what is not the stage: sliders, sentences, curves
FOLLOWING = (PosingTab, InsideTab, TimelineTab)  # tabs whose controls follow the pose
IN_NOTEBOOK = 640  # pixels: its height there
TONES = {"good": "#2b8a3e", "bad": "#c92a2a", "plain": "#495057"}


class Studio:
    """A page for one linkage, served until it is closed.

    Args:
        scene: What to begin with.
        remarks: What is to be known about the file it came from.
        path: The scene file that may be saved over, if one was opened.
        host: The address to bind.
        port: The port.

    Attributes:
        session: What the page shows.
    """

    def __init__(
        self,
        scene: Scene,
        *,
        remarks: tuple[Remark, ...] = (),
        path: Path | None = None,
        host: str = "127.0.0.1",
        port: int = 8080,
    ) -> None:
        self.server = make_server(host, port, label="linkwork studio", upload_limit=UPLOAD_LIMIT)
        self.session, self.path = Session(scene.linkage), path
        self._closed = threading.Event()
        self._refreshed, self._shown = 0.0, 0.0
        self.linkage_view: Any = None
        self._explanation: tuple[Solution, Why] | None = None
        self._told: tuple[Solution | None, str] = None, ""
        self.worker, self.thinker = (Worker(f"linkwork {name}", self._failed) for name in ("studio", "thinking"))
        self.gui, self.scene_view = self.server.gui, self.server.scene
        self.server.on_client_connect(lambda client: self.do(lambda: self.aim(client), name=f"aim {client.client_id}"))
        self._build()
        self.open_scene(scene, remarks)
        self.think(lambda: warm_up(scene), name="warm up")

    # The page

    def _build(self) -> None:
        self.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(54, 79, 199))
        self.scene_view.configure_default_lights(True, cast_shadow=True)
        self.scene_view.world_axes.visible = False
        self.gui.main_panel.dock_right()
        self.gui.main_panel.set_width(380)
        self.status = self.gui.add_html("")
        self.history_buttons = self.on(self.gui.add_button_group("History", ("Undo", "Redo")), self._step_history)
        tabs = self.gui.add_tab_group()
        self.gizmos, self.overlays = Gizmos(self), Overlays(self)
        self.tabs: list[Any] = []
        for title, kind in (
            ("Pose", PosingTab),
            ("Race", RaceTab),
            ("Inside", InsideTab),
            ("Time", TimelineTab),
            ("Files", FilesTab),
            ("View", ViewTab),
        ):
            with tabs.add_tab(title):
                self.tabs.append(kind(self))

    def tab(self, kind: type[Any]) -> Any:
        """Return the tab of a kind."""
        return next(tab for tab in self.tabs if isinstance(tab, kind))

    def open_scene(self, scene: Scene, remarks: tuple[Remark, ...] = ()) -> None:
        """Show another scene: everything in the page is made anew."""
        self.session.load(scene, remarks)
        self.size = stage.size_of(scene.linkage, scene.q)
        self.flat = is_flat(scene.linkage)
        self.view = stage.view_of(scene.linkage, scene.q)
        self.look = stage.dressed(scene.linkage, self.size)
        with self.server.atomic():
            self.scene_view.set_up_direction("+y" if self.flat else "+z")
            if self.linkage_view is not None:
                self.linkage_view.remove()
            self.linkage_view = stage.LinkageView(self.scene_view, "/linkage", self.look)
            self._ground()
            camera, view = self.server.initial_camera, self.view
            camera.position, camera.look_at, camera.up, camera.fov = view.position, view.look_at, view.up, view.fov
            camera.near, camera.far = view.distance / 100.0, view.distance * 100.0
            self.overlays.rebuild()
            self.gizmos.rebuild()
        for tab in self.tabs:
            tab.rebuild()
        for client in self.server.get_clients().values():
            self.aim(client)
        freedom = degrees_of_freedom(scene.linkage)
        self.say(
            f"{scene.linkage.name}: {freedom} degree{'' if freedom == 1 else 's'} of freedom. Add a goal and drag it."
        )
        self.show(now=True)

    def _ground(self) -> None:
        cell = stage.round_up(self.size / 8.0)
        low = 0.0 if self.flat else float(Sketch(self.look).extent(self.session.q[None]).low[2])
        height = -0.02 * self.size if self.flat else min(0.0, low) if low > -0.5 * self.size else low
        self.ground = self.scene_view.add_grid(
            "/ground",
            width=40 * cell,
            height=40 * cell,
            cell_size=cell,
            section_size=5 * cell,
            cell_color=(225, 228, 232),
            section_color=(196, 202, 209),
            fade_distance=12.0 * self.view.distance if self.flat else 6.0 * self.size,
            shadow_opacity=0.0 if self.flat else 0.15,
            position=(0.0, 0.0, height),
        )

    def aim(self, client: Any) -> None:
        """Let one page look at the linkage as the stage wants it."""
        camera, view = client.camera, self.view
        with client.atomic():
            camera.near, camera.far, camera.fov = view.distance / 100.0, view.distance * 100.0, view.fov
            camera.up_direction, camera.position, camera.look_at = view.up, view.position, view.look_at

    # Doing and showing

    def do(self, work: Callable[[], None], *, name: str | None = None, show: bool = True) -> None:
        """Have a change made by the worker, and what came of it shown. Of one name only the newest is done."""

        def done() -> None:
            work()
            if show:
                self.show()

        self.worker.submit(done, name=name)

    def on(self, control: Any, work: Callable[[Any], None], *, name: str | None = None) -> Any:
        """Return a control; when a person changes it, not the studio itself, work is done with the new value."""

        async def asked(event: Any) -> None:  # asynchronous: what one page asks for is done in its order
            if event.client is not None:
                value = event.target.value
                self.do(lambda: work(value), name=name)

        (control.on_click if hasattr(control, "on_click") else control.on_update)(asked)
        return control

    def think(self, work: Callable[[], Callable[[], None] | None], *, name: str) -> None:
        """Have something long worked out; what it returns is then done by the worker."""

        def thought() -> None:
            result = work()
            if result is not None:
                self.do(result)

        self.thinker.submit(thought, name=name)

    def show(self, *, now: bool = False) -> None:
        """Bring the page in line with the session: the stage many times a second, the rest a few times."""
        clock = time.monotonic()
        if not now and clock - self._shown < FRAME:
            self.worker.submit(self.show, name="show", after=FRAME)
            return
        self._shown = clock
        with self.server.atomic():
            self.linkage_view.pose(self.session.q)
            self.gizmos.refresh()
        if now or clock - self._refreshed > SLOW:
            self._refreshed = clock
            self.explain_now()
            self.overlays.refresh()
            for kind in FOLLOWING:
                self.tab(kind).refresh()
        else:
            self.worker.submit(lambda: self.show(now=True), name="refresh", after=SLOW)

    def say(self, text: str, tone: str = "plain") -> None:
        """Write the line at the top of the controls."""
        style = f"color:{TONES[tone]};padding:6px 14px;font-size:13px;max-height:110px;overflow-y:auto"
        content = f'<div class="linkwork-status" style="{style}">{escape(text)}</div>'
        if self.status.content != content:
            self.status.content = content

    def _failed(self, error: Exception) -> None:
        """Say what went wrong; the studio goes on."""
        known = isinstance(error, LinkworkError)
        self.say(str(error) if known else f"{type(error).__name__}: {error}", "bad")

    # Saying why

    def explain_now(self) -> None:
        """Show how the last solve ended; if it failed and nothing is dragged, find out why."""
        solution = self.session.solution
        if solution is None:
            self.overlays.show_why(None)
            return
        known = self._explanation is not None and self._explanation[0] is solution
        why = self._explanation[1] if known and self._explanation is not None else sentence(solution)
        if self._told[0] is not solution or self._told[1] != why.text:  # what else was said since stays
            self._told = solution, why.text
            self.say(why.text, "good" if solution.success else "bad")
        self.overlays.show_why(why)
        if not known and not solution.success and not self.gizmos.dragging:
            self.think(lambda: self._explained(solution), name="explain")

    def _explained(self, solution: Solution) -> Callable[[], None]:
        why = explain(solution)

        def keep() -> None:
            if self.session.solution is solution:
                self._explanation = solution, why

        return keep

    # What pages ask for

    def _step_history(self, what: str) -> None:
        history = self.session.history
        if not (history.can_undo if what == "Undo" else history.can_redo):
            self.say(f"There is nothing to {what.lower()}.")
            return
        before = self.session.linkage
        self.tab(TimelineTab).stop()
        self.session.undo() if what == "Undo" else self.session.redo()
        if self.session.linkage is not before:
            self.open_scene(self.session.scene, self.session.remarks)
        self.gizmos.rebuild()
        self.tab(PosingTab).rebuild_targets()
        self.say(f"{what}: done.")

    # Life and death

    @property
    def url(self) -> str:
        """Where the page is."""
        host = self.server.get_host()
        shown = "127.0.0.1" if host == "0.0.0.0" else f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.server.get_port()}"

    def wait(self) -> None:
        """Serve until interrupted or closed."""
        while not self._closed.wait(3600.0):
            continue

    def idle(self, timeout: float) -> bool:
        """Wait until nothing is left to do, and return whether that came about in time [s]."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            left = max(0.0, end - time.monotonic())
            if self.worker.idle(left) and self.thinker.idle(left) and self.worker.idle(0.0) and self.thinker.idle(0.0):
                return True
        return False

    def close(self) -> None:
        """End the server and its threads."""
        if self._closed.is_set():
            return
        self._closed.set()
        self.worker.close()
        self.thinker.close()
        with quiet():
            viser_privates.stop(self.server)

    def _repr_html_(self) -> str:
        """Return the page in a frame, for a notebook."""
        if self._closed.is_set():
            return "<em>This studio is closed; lw.studio.open_studio(...) opens another.</em>"
        return window(self.url, "linkwork studio", IN_NOTEBOOK)

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def warm_up(scene: Scene) -> None:
    """Have the kernels compiled that the first drag will need, while the page is still opening."""
    linkage, frame = scene.linkage, scene.linkage.frames[-1]
    reach = Reach(frame, position=linkage.forward(scene.q, frame=frame)[:3, 3])
    for goals in ([reach], [reach, Hold(frame)]):
        with contextlib.suppress(LinkworkError):  # a linkage without joints, for one
            solve(linkage, goals, start=scene.q, time_budget=TIME_BUDGET)
