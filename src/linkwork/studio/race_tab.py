"""The tab for the race: every method as a ghost after the same target, and how each fares."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ..errors import GoalError
from ..solvers import METHODS
from .plots import METHOD_COLORS, Curves, note, rgb
from .racing import CURVES, Chase, way_through_singularity
from .stage import LinkageView, ghost

if TYPE_CHECKING:
    from .app import Studio

FIRST = ("pseudoinverse", "damped", "selectively-damped", "transpose", "ccd", "fabrik", "robust")
TICK, FRAMES = 1.0 / 30.0, 150


class RaceTab:
    """Who runs, the start button, curves and a table.

    Attributes:
        chase: The race that is on, or None.
    """

    def __init__(self, studio: Studio) -> None:
        self.studio, gui = studio, studio.gui
        self.chase: Chase | None = None
        self._ghosts: dict[str, LinkageView] = {}
        self._frame = 0
        self._plotted = -1
        self._places: tuple[bytes, ...] = ()
        self.note = gui.add_html(note("Every method follows the first goal as a ghost, one step at a time."))
        self.start = studio.on(gui.add_button("Race", color="blue"), lambda _: self._toggle(through=False))
        self.through = studio.on(gui.add_button("Through a singularity"), lambda _: self._toggle(through=True))
        self.table = gui.add_html("")
        titles = {CURVES[2]: "joint speed [rad a step]", CURVES[0]: "error [m]", CURVES[1]: "smallest singular value"}
        self.curves = {
            what: Curves(studio, title, across="step", powers=True, height=130) for what, title in titles.items()
        }
        with gui.add_folder("Who runs", expand_by_default=False):
            self.boxes = {name: gui.add_checkbox(name, name in FIRST) for name in METHODS}
        self._through = False

    def rebuild(self) -> None:
        """A new linkage ends the race."""
        self.stop()

    def stop(self) -> None:
        """End the race and take the ghosts away."""
        self.studio.worker.drop("race")
        for one in self._ghosts.values():
            one.remove()
        self._ghosts, self.chase = {}, None
        self.start.label = "Race"
        self.studio.linkage_view.root.visible = True

    def _toggle(self, *, through: bool) -> None:
        if self.chase is not None:
            self.stop()
            if not through or self._through:
                return
        session = self.studio.session
        goals = session.goals
        if not goals:
            raise GoalError("a race needs a goal to follow; add one in the tab Pose.")
        names = [name for name, box in self.boxes.items() if box.value]
        self.chase = Chase(session.linkage, goals, session.q, methods=names)
        self._through, self._frame, self._plotted = through, 0, -1
        self._home = next((target for target in session.scene.targets if target.active), None)
        for k, name in enumerate(self.chase.runners):
            color = rgb(METHOD_COLORS[name])
            self._ghosts[name] = ghost(self.studio, f"/ghosts/{k}", session.q, color=color, opacity=0.55)
        self.studio.linkage_view.root.visible = False
        self.start.label = "Stop"
        self.studio.session.solution = None
        self.studio.say("The race is on: drag the goal, and every method follows it.")
        self.studio.worker.submit(self._tick, name="race", after=TICK)

    def _tick(self) -> None:
        """Let everyone take a step, and come again."""
        chase, session = self.chase, self.studio.session
        if chase is None:
            return
        if self._through and self._home is not None:
            self._frame += 1
            place = way_through_singularity(session.linkage, self._home, self._frame / FRAMES)
            session.change_target(self._home.name, place=place if self._frame < FRAMES else self._home.place)
            if self._frame >= FRAMES:
                self._through = False
        places = tuple(target.place.tobytes() for target in session.scene.targets)
        if places == self._places and chase.settled:  # nobody moves: the curves stay as they are
            self.studio.worker.submit(self._tick, name="race", after=3.0 * TICK)
            return
        self._places = places
        chase.step(session.goals)
        with self.studio.server.atomic():
            for name, ghost in self._ghosts.items():
                ghost.pose(chase.runners[name].q)
            self.studio.gizmos.refresh()
        if chase.steps - self._plotted >= 6:
            self._plotted = chase.steps
            self._plot(chase)
        self.studio.worker.submit(self._tick, name="race", after=TICK)

    def _plot(self, chase: Chase) -> None:
        for what, curves in self.curves.items():
            steps, rows = chase.curve(what)
            curves.show(steps, rows, METHOD_COLORS)
        content = _table(chase)
        if self.table.content != content:
            self.table.content = content


def _table(chase: Chase) -> str:
    """Return the runners as a table: colour, name, error, and the largest step of late."""
    rows = []
    for name, runner in chase.runners.items():
        dot = f'<span style="color:{METHOD_COLORS[name]}">&#9632;</span>'
        error, speed = runner.curves[CURVES[0]][-1], max(runner.curves[CURVES[2]])
        rows.append(f"<tr><td>{dot} {escape(name)}</td><td>{error:.2g}</td><td>{speed:.2g}</td></tr>")
    for name, why in chase.refusals.items():
        if name not in chase.runners:
            rows.append(f'<tr><td style="color:#868e96" title="{escape(why, quote=True)}">{escape(name)}</td>'
                        '<td colspan="2" style="color:#868e96">cannot serve these goals</td></tr>')  # fmt: skip
    head = "<tr><th align=left>method</th><th align=left>error</th><th align=left>fastest</th></tr>"
    style = "width:100%;font-size:12px;padding:0 14px;border-spacing:0 1px"
    return f'<table class="linkwork-race" style="{style}">{head}{"".join(rows)}</table>'
